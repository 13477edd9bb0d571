//! Times the paths that everything else stands on: shared access, small mini-transactions, durable commits, start-up.
//! Shows time by the clock and processor time of the measuring thread, which a busy machine distorts less.
//! Run: cargo run --profile quick -p buffer --example speed -- DIRECTORY

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buffer::{BufferPool, NoLogicalRecords, NothingNeeded, PoolOptions};
use env::Environment;
use page::{PageOperation, SpaceKind};
use stdx::ids::{PageId, PageNumber, SpaceId};

const SPACE: SpaceId = SpaceId(1);

fn main() {
    let Some(directory) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: speed DIRECTORY (new or empty)");
        return;
    };
    let environment = Environment::real(&directory);
    let clock = Arc::clone(&environment.clock);
    let start = clock.monotonic();
    let options = PoolOptions { pool_bytes: 256 << 20, ..PoolOptions::default() };
    let pool =
        BufferPool::open(environment.clone(), options.clone(), &mut NoLogicalRecords).expect("pool opens");
    println!("first start: {:?}", clock.monotonic() - start);
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    pool.create_space(SPACE, SpaceKind::Table, Path::new("speed.ibd")).expect("space is created");
    fill(&pool, 4000);
    let time = |name: &str, count: u64, run: &mut dyn FnMut(u64)| {
        let (start, processor_start) = (clock.monotonic(), processor_time());
        (0..count).for_each(run);
        let processor = processor_time() - processor_start;
        report(name, count, clock.monotonic() - start);
        println!("    {:.1} ns on the processor", processor.as_nanos() as f64 / count as f64);
    };
    let page = |number: u64| PageId { space: SPACE, number: PageNumber(1 + (number % 4000) as u32) };
    time("shared access, one page", 20_000_000, &mut |_| {
        std::hint::black_box(&pool.shared(page(7)).expect("page is there")[100]);
    });
    time("shared access, 4000 pages", 20_000_000, &mut |number| {
        std::hint::black_box(&pool.shared(page(number * 31)).expect("page is there")[100]);
    });
    let mut small = |number: u64| {
        let mut mini = pool.mini_transaction();
        let slot = mini.latch(page(number)).expect("page is there");
        mini.apply(slot, &PageOperation::SetBytes { offset: 24, bytes: &number.to_le_bytes() });
        mini.commit();
    };
    time("mini-transaction of one small operation", 2_000_000, &mut small);
    time("durable commit", 2000, &mut |number| {
        small(number);
        pool.redo().flush_to(pool.redo().end_lsn()).expect("log is written");
    });
    for threads in [2, 8, 32] {
        durable_commits(&pool, threads, &clock);
    }
    let start = clock.monotonic();
    pool.shutdown().expect("shutdown");
    println!("shutdown: {:?}", clock.monotonic() - start);
    drop(pool);
    let start = clock.monotonic();
    let pool = BufferPool::open(environment, options, &mut NoLogicalRecords).expect("pool opens");
    println!("second start: {:?}", clock.monotonic() - start);
    drop(pool);
}

/// What the calling thread has used.
#[allow(clippy::disallowed_methods)]
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn fill(pool: &BufferPool, pages: u32) {
    for _ in 0..pages {
        let mut mini = pool.mini_transaction();
        let slot = mini.allocate(SPACE).expect("disk has room");
        mini.apply(slot, &PageOperation::SetBytes { offset: 24, bytes: &[1; 100] });
        mini.commit();
    }
}

fn durable_commits(pool: &Arc<BufferPool>, threads: u32, clock: &Arc<dyn env::Clock>) {
    const COMMITS: u64 = 1000;
    let (start, flushes) = (clock.monotonic(), pool.redo().flush_count());
    let spawn = |thread: u32| {
        let pool = Arc::clone(pool);
        let body = move || {
            let page = PageId { space: SPACE, number: PageNumber(1 + thread) };
            for number in 0..COMMITS {
                let mut mini = pool.mini_transaction();
                let slot = mini.latch(page).expect("page is there");
                mini.apply(slot, &PageOperation::SetBytes { offset: 24, bytes: &number.to_le_bytes() });
                let end = mini.commit();
                pool.redo().flush_to(end).expect("log is written");
            }
        };
        env::Threads::spawn(&env::RealThreads, "committer", Box::new(body))
    };
    let handles: Vec<_> = (0..threads).map(spawn).collect();
    assert!(handles.into_iter().all(env::JoinHandle::join));
    let count = COMMITS * u64::from(threads);
    report(&format!("durable commit, {threads} threads"), count, clock.monotonic() - start);
    println!("    {:.1} commits a flush", count as f64 / (pool.redo().flush_count() - flushes) as f64);
}

fn report(name: &str, count: u64, elapsed: Duration) {
    println!("{name}: {:.1} ns", elapsed.as_nanos() as f64 / count as f64);
}
