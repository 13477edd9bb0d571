//! Times point reads, appends, random inserts, updates in place and scans of one warm tree, single thread.
//! `cargo run --release -p btree --example tree_speed [rows]`. Figures are nanoseconds per operation.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use btree::{Cursor, CursorRange, Direction, Placed, Taken, Tree, TreeId};
use buffer::{BufferPool, NoLogicalRecords, NothingNeeded, PoolOptions, SpaceKind};
use env::Environment;
use stdx::ids::{IndexId, SpaceId};

const SPACE: SpaceId = SpaceId(9);
const VALUE: [u8; 190] = [0; 190];

fn open_pool(directory: &Path) -> Arc<BufferPool> {
    let options = PoolOptions { pool_bytes: 2 << 30, log_buffer_bytes: 64 << 20, ..PoolOptions::default() };
    let pool = BufferPool::open(Environment::real(directory), options, &mut NoLogicalRecords).unwrap();
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    pool.create_space(SPACE, SpaceKind::Table, Path::new("speed.ibd")).unwrap();
    pool
}

fn new_tree(pool: &BufferPool, index: u64) -> Tree {
    let mut mini = pool.mini_transaction();
    let root = Tree::create(&mut mini, SPACE, IndexId(index)).unwrap();
    mini.commit();
    Tree::open(TreeId { space: SPACE, root, index: IndexId(index) }, |_| true)
}

fn insert(tree: &Tree, pool: &BufferPool, key: u64) {
    let key = key.to_be_bytes();
    loop {
        let mut mini = pool.mini_transaction();
        let placed = tree.edit(&mut mini, &key).unwrap().insert(&VALUE, 7).unwrap();
        if placed == Placed::Done {
            mini.commit();
            return;
        }
        drop(mini);
        tree.make_room(pool, &key, VALUE.len()).unwrap();
    }
}

/// A number that looks random and is different for each `number`.
fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

/// Nanoseconds that this thread has run on a CPU.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn report(name: &str, count: u64, start: Instant, cpu_start: u64) {
    let (wall, cpu) = (start.elapsed().as_nanos() as f64, (cpu_ns() - cpu_start) as f64);
    println!("{name:<24} {:>8.1} ns wall {:>8.1} ns CPU", wall / count as f64, cpu / count as f64);
}

fn time(name: &str, count: u64, mut step: impl FnMut(u64)) {
    let (start, cpu_start) = (Instant::now(), cpu_ns());
    for number in 0..count {
        step(number);
    }
    report(name, count, start, cpu_start);
}

fn main() {
    let rows: u64 = std::env::args().nth(1).map_or(1_000_000, |rows| rows.parse().unwrap());
    let directory = std::env::temp_dir().join(format!("tree_speed.{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let pool = open_pool(&directory);
    // Frames are used once before anything is timed: fresh memory costs page faults.
    let warm = new_tree(&pool, 3);
    (0..2 * rows).for_each(|number| insert(&warm, &pool, number));
    warm.clear(&pool).unwrap();
    let ascending = new_tree(&pool, 1);
    time("append", rows, |number| insert(&ascending, &pool, number));
    let random = new_tree(&pool, 2);
    time("random insert", rows, |number| insert(&random, &pool, scramble(number)));
    for pass in ["point get", "point get again"] {
        time(pass, rows, |number| {
            let key = (scramble(number) % rows).to_be_bytes();
            assert!(ascending.get(&pool, &key, |value| value.len()).unwrap().is_some());
        });
    }
    time("point get, random keys", rows, |number| {
        let key = scramble(scramble(number) % rows).to_be_bytes();
        assert!(random.get(&pool, &key, |value| value.len()).unwrap().is_some());
    });
    time("patch in place", rows, |number| {
        let mut mini = pool.mini_transaction();
        let key = (scramble(number) % rows).to_be_bytes();
        ascending.edit(&mut mini, &key).unwrap().patch(8, &number.to_le_bytes(), 8).unwrap();
        mini.commit();
    });
    let mut cursor = Cursor::new(CursorRange::all(), Direction::Forward);
    let mut seen = 0;
    let (start, cpu_start) = (Instant::now(), cpu_ns());
    while let Some(sum) = cursor
        .next_leaf(&ascending, &pool, |view| {
            let live = (0..view.len()).filter(|at| view.entry(*at).unwrap().1[9] < 255).count();
            (Taken::All, live)
        })
        .unwrap()
    {
        seen += sum as u64;
    }
    report("scan, per row", seen, start, cpu_start);
    drop(pool);
    std::fs::remove_dir_all(&directory).unwrap();
}
