//! Tests of whole trees over a buffer pool: against a map, by several threads, by check, by replay.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use buffer::{BufferPool, NoLogicalRecords, NothingNeeded, PoolOptions, SpaceKind, StorageError};
use env::Environment;
use env::simulated::SimulatedDisk;
use page::{CELL_BYTES_MAX, CELL_OVERHEAD_BYTES};
use stdx::ids::{IndexId, SpaceId};

use crate::{BulkAppend, Cursor, CursorRange, Direction, LeafSums, Placed, Taken, Tree, TreeId, fits};

const SPACE: SpaceId = SpaceId(5);
const INDEX: IndexId = IndexId(77);

/// A small generator (splitmix64), so that a failing seed can be run again.
pub(crate) struct Generator(pub u64);

impl Generator {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn bytes(&mut self, length: u64, alphabet: u64) -> Vec<u8> {
        (0..length).map(|_| self.below(alphabet) as u8).collect()
    }
}

/// Entries whose first byte is odd count as deleted.
fn is_live(value: &[u8]) -> bool {
    value.first().is_none_or(|flag| flag % 2 == 0)
}

fn new_tree(pool: &BufferPool) -> Tree {
    let mut mini = pool.mini_transaction();
    let root = Tree::create(&mut mini, SPACE, INDEX).unwrap();
    mini.commit();
    Tree::open(TreeId { space: SPACE, root, index: INDEX }, is_live)
}

fn put(tree: &Tree, pool: &BufferPool, key: &[u8], value: &[u8]) -> bool {
    loop {
        let mut mini = pool.mini_transaction();
        let mut edit = tree.edit(&mut mini, key).unwrap();
        let found = edit.found();
        let placed = if found { edit.replace(value, 3).unwrap() } else { edit.insert(value, 3).unwrap() };
        if placed == Placed::Done {
            mini.commit();
            return found;
        }
        drop(mini);
        tree.make_room(pool, key, value.len()).unwrap();
    }
}

fn remove(tree: &Tree, pool: &BufferPool, key: &[u8]) -> bool {
    let mut mini = pool.mini_transaction();
    let mut edit = tree.edit(&mut mini, key).unwrap();
    if !edit.found() {
        return false;
    }
    let underfull = edit.remove(4).unwrap();
    mini.commit();
    if underfull {
        tree.merge_at(pool, key).unwrap();
    }
    true
}

fn patch(tree: &Tree, pool: &BufferPool, key: &[u8], offset: usize, bytes: &[u8]) {
    let mut mini = pool.mini_transaction();
    let mut edit = tree.edit(&mut mini, key).unwrap();
    edit.patch(offset, bytes, 9).unwrap();
    mini.commit();
}

fn value_of(tree: &Tree, pool: &BufferPool, key: &[u8]) -> Option<Vec<u8>> {
    tree.get(pool, key, |value| value.to_vec()).unwrap()
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Reads a range leaf by leaf; takes `step` entries of a leaf at a time (0: all).
fn walk(tree: &Tree, pool: &BufferPool, range: &CursorRange, direction: Direction, step: usize) -> Entries {
    let mut cursor = Cursor::new(range.clone(), direction);
    let mut entries = Vec::new();
    loop {
        let shown = cursor.next_leaf(tree, pool, |view| {
            let taken = if step == 0 { view.len() } else { step.min(view.len()) };
            let read = (0..taken).try_for_each(|at| {
                let mut key = Vec::new();
                view.key_into(at, &mut key)?;
                entries.push((key, view.entry(at)?.1.to_vec()));
                Ok::<_, StorageError>(())
            });
            (if step == 0 { Taken::All } else { Taken::First(step) }, read)
        });
        match shown.unwrap() {
            Some(read) => read.unwrap(),
            None => return entries,
        }
    }
}

fn check_sound(tree: &Tree, pool: &BufferPool, model: Option<&BTreeMap<Vec<u8>, Vec<u8>>>) {
    let report = tree.check(pool).unwrap();
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    if let Some(model) = model {
        assert_eq!(report.entries, model.len() as u64);
        assert_eq!(report.live_entries, model.values().filter(|value| is_live(value)).count() as u64);
    }
}

/// Sizes of keys and values of one run.
#[derive(Clone, Copy)]
struct Shape {
    key_bytes_max: u64,
    alphabet: u64,
    value_bytes_max: u64,
}

fn random_range(random: &mut Generator, shape: Shape) -> CursorRange {
    let mut bound = || {
        let length = random.below(shape.key_bytes_max + 1);
        let key = random.bytes(length, shape.alphabet);
        match random.below(3) {
            0 => Bound::Unbounded,
            1 => Bound::Included(key),
            _ => Bound::Excluded(key),
        }
    };
    CursorRange { lower: bound(), upper: bound() }
}

fn expected(model: &BTreeMap<Vec<u8>, Vec<u8>>, range: &CursorRange) -> Entries {
    let inside = |key: &[u8]| {
        (match &range.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => key >= &lower[..],
            Bound::Excluded(lower) => key > &lower[..],
        }) && match &range.upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => key <= &upper[..],
            Bound::Excluded(upper) => key < &upper[..],
        }
    };
    model.iter().filter(|(key, _)| inside(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Counts by leaf counters where the newest writer is not `changed`, by entries elsewhere.
fn count_by_sums(tree: &Tree, pool: &BufferPool, changed: u64) -> u64 {
    let (mut sums, mut rest, mut count) = (LeafSums::new(), Vec::new(), 0);
    while let Some(sum) = sums.step(tree, pool, |writer| writer != changed, &mut rest).unwrap() {
        count += sum;
    }
    for range in &rest {
        let entries = walk(tree, pool, range, Direction::Forward, 0);
        count += entries.iter().filter(|(_, value)| is_live(value)).count() as u64;
    }
    count
}

fn check_ranges(
    tree: &Tree,
    pool: &BufferPool,
    model: &BTreeMap<Vec<u8>, Vec<u8>>,
    random: &mut Generator,
    shape: Shape,
) {
    let live = model.values().filter(|value| is_live(value)).count() as u64;
    // 9 is the writer of patches: only leaves that were ever patched are counted by entries.
    assert_eq!((count_by_sums(tree, pool, 9), count_by_sums(tree, pool, 0)), (live, live));
    for _ in 0..4 {
        let range = random_range(random, shape);
        let step = random.below(4) as usize;
        let forward = expected(model, &range);
        assert!(walk(tree, pool, &range, Direction::Forward, step) == forward, "{range:?}");
        let mut backward = walk(tree, pool, &range, Direction::Backward, step);
        backward.reverse();
        assert!(backward == forward, "backward {range:?}");
        let estimate = tree.estimate(pool, &range).unwrap();
        assert!(estimate.rows >= 0.0 && (!estimate.exact || estimate.rows == forward.len() as f64));
        let parts = tree.partition(pool, &range, 5).unwrap();
        let together: Entries =
            parts.iter().flat_map(|part| walk(tree, pool, part, Direction::Forward, 0)).collect();
        assert!(together == forward, "parts of {range:?}");
    }
}

fn run_model(pool: &BufferPool, seed: u64, shape: Shape, steps: u64) {
    let tree = new_tree(pool);
    let mut random = Generator(seed);
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for step in 0..steps {
        let length = random.below(shape.key_bytes_max + 1);
        let key = random.bytes(length, shape.alphabet);
        // Growing, level and shrinking phases.
        let removes = [1, 4, 8][(step * 6 / steps % 3) as usize];
        if random.below(10) < removes {
            assert_eq!(remove(&tree, pool, &key), model.remove(&key).is_some());
        } else if let Some(value) = model.get_mut(&key)
            && random.below(2) == 0
        {
            let offset = random.below(value.len() as u64 + 1) as usize;
            let patch_length = random.below((value.len() - offset) as u64 + 1);
            let bytes = random.bytes(patch_length, 4);
            patch(&tree, pool, &key, offset, &bytes);
            value[offset..offset + bytes.len()].copy_from_slice(&bytes);
        } else {
            let fitting = (CELL_BYTES_MAX - CELL_OVERHEAD_BYTES - key.len()) as u64;
            let value_length = random.below(shape.value_bytes_max.min(fitting) + 1);
            let mut value = random.bytes(value_length, 4);
            // Sometimes nearly the value that is there.
            if let Some(old) = model.get(&key).filter(|old| !old.is_empty() && random.below(2) == 0) {
                value = old.clone();
                for _ in 0..random.below(7) {
                    let at = random.below(value.len() as u64) as usize;
                    value[at] = random.next() as u8;
                }
            }
            assert_eq!(put(&tree, pool, &key, &value), model.insert(key, value).is_some());
        }
        if random.below(steps / 20) == 0 {
            check_sound(&tree, pool, Some(&model));
            check_ranges(&tree, pool, &model, &mut random, shape);
        }
        let length = random.below(shape.key_bytes_max + 1);
        let probe = random.bytes(length, shape.alphabet);
        assert_eq!(value_of(&tree, pool, &probe), model.get(&probe).cloned());
    }
    check_sound(&tree, pool, Some(&model));
    tree.clear(pool).unwrap();
    let report = tree.check(pool).unwrap();
    assert_eq!((report.entries, report.pages.len()), (0, 1));
}

#[test]
fn short_keys_match_a_map() {
    let shape = Shape { key_bytes_max: 6, alphabet: 5, value_bytes_max: 120 };
    for seed in 0..3 {
        run_model(&test_pool(), seed, shape, 12_000);
    }
}

#[test]
fn long_keys_and_values_match_a_map() {
    let shape = Shape { key_bytes_max: 3500, alphabet: 200, value_bytes_max: 6000 };
    for seed in 10..13 {
        run_model(&test_pool(), seed, shape, 1500);
    }
}

#[test]
fn long_keys_with_long_common_prefixes_match_a_map() {
    let shape = Shape { key_bytes_max: 3000, alphabet: 1, value_bytes_max: 800 };
    run_model(&test_pool(), 20, shape, 5000);
    let shape = Shape { key_bytes_max: 400, alphabet: 2, value_bytes_max: 200 };
    run_model(&test_pool(), 21, shape, 6000);
}

#[test]
fn ascending_inserts_fill_leaves() {
    let pool = test_pool();
    let tree = new_tree(&pool);
    let count = 60_000_u64;
    for number in 0..count {
        put(&tree, &pool, &number.to_be_bytes(), &[0; 180]);
    }
    check_sound(&tree, &pool, None);
    let report = tree.check(&pool).unwrap();
    assert_eq!(report.entries, count);
    // 180 bytes of value, 10 of overhead and a few of key in leaves that are filled to 15/16.
    assert!(report.leaf_pages * 15_000 < count * 196, "{} leaves", report.leaf_pages);
    let key = |number: u64| number.to_be_bytes().to_vec();
    let range = CursorRange { lower: Bound::Included(key(5000)), upper: Bound::Excluded(key(35_000)) };
    let estimate = tree.estimate(&pool, &range).unwrap();
    assert!((27_000.0..33_000.0).contains(&estimate.rows), "{estimate:?}");
    for number in 0..count {
        assert!(remove(&tree, &pool, &number.to_be_bytes()));
    }
    let report = tree.check(&pool).unwrap();
    assert!(report.faults.is_empty() && report.pages.len() < 8, "{report:?}");
}

#[test]
fn leaves_that_merge_between_two_steps_are_counted_once() {
    let pool = test_pool();
    for kept in [1, 7, 30] {
        let tree = new_tree(&pool);
        let key = |number: u64| number.to_be_bytes();
        for number in 0..20_000 {
            put(&tree, &pool, &key(number), &[0; 180]);
        }
        let (mut sums, mut rest) = (LeafSums::new(), Vec::new());
        let counted = sums.step(&tree, &pool, |_| true, &mut rest).unwrap().unwrap();
        assert!(counted > 0 && counted < 15_000 && rest.is_empty());
        // On both sides of where the next step starts.
        for number in counted - 300..counted + 300 {
            if number % kept != 0 || kept == 1 && number >= counted {
                remove(&tree, &pool, &key(number));
            }
        }
        let left = walk(&tree, &pool, &CursorRange::all(), Direction::Forward, 0);
        let behind = left.iter().filter(|(found, _)| found[..] >= key(counted)[..]).count() as u64;
        let mut count = counted;
        while let Some(sum) = sums.step(&tree, &pool, |_| true, &mut rest).unwrap() {
            count += sum;
        }
        for range in &rest {
            count += walk(&tree, &pool, range, Direction::Forward, 0).len() as u64;
        }
        assert_eq!(count, counted + behind, "one of {kept} stays");
    }
}

#[test]
fn bulk_append_builds_the_same_contents() {
    let pool = test_pool();
    let tree = new_tree(&pool);
    let mut model = BTreeMap::new();
    let mut random = Generator(5);
    for start in [1_u32, 0] {
        let mut bulk = BulkAppend::new(&tree, &pool, 12);
        for number in (start..40_000).step_by(2) {
            let length = if random.below(500) == 0 { 5000 } else { random.below(100) };
            let value = random.bytes(length, 4);
            bulk.push(&number.to_be_bytes(), &value).unwrap();
            model.insert(number.to_be_bytes().to_vec(), value);
        }
        bulk.finish().unwrap();
        check_sound(&tree, &pool, Some(&model));
    }
    let all = walk(&tree, &pool, &CursorRange::all(), Direction::Forward, 0);
    assert!(all == model.into_iter().collect::<Vec<_>>());
}

#[test]
fn writers_and_readers_at_once_leave_a_sound_tree() {
    let pool = test_pool();
    let tree = Arc::new(new_tree(&pool));
    let threads: Vec<_> = (0..4_u64)
        .map(|thread| {
            let (pool, tree) = (pool.clone(), tree.clone());
            // The test needs real threads; product code takes them from the environment.
            #[allow(clippy::disallowed_methods)]
            std::thread::spawn(move || stress(&pool, &tree, thread))
        })
        .collect();
    let models: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let model: BTreeMap<_, _> = models.into_iter().flatten().collect();
    check_sound(&tree, &pool, Some(&model));
    let all = walk(&tree, &pool, &CursorRange::all(), Direction::Forward, 0);
    assert!(all == model.into_iter().collect::<Vec<_>>());
}

/// One thread's keys end in its number, so that each knows what it must find while all share the leaves.
fn stress(pool: &BufferPool, tree: &Tree, thread: u64) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut random = Generator(thread + 100);
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for step in 0..12_000_u64 {
        let mut key = (random.below(4000)).to_be_bytes()[5..].to_vec();
        key.push(thread as u8);
        let shrinking = step / 3000 % 2 == 1;
        if random.below(10) < if shrinking { 8 } else { 2 } {
            assert_eq!(remove(tree, pool, &key), model.remove(&key).is_some());
        } else {
            let length = if random.below(200) == 0 { 5000 } else { random.below(300) };
            let value = random.bytes(length, 4);
            assert_eq!(put(tree, pool, &key, &value), model.insert(key, value).is_some());
        }
        if step % 500 == 0 {
            let direction = if step % 1000 == 0 { Direction::Forward } else { Direction::Backward };
            let mut seen = walk(tree, pool, &CursorRange::all(), direction, 0);
            if direction == Direction::Backward {
                seen.reverse();
            }
            assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "walk is out of order");
            seen.retain(|(key, _)| key.last() == Some(&(thread as u8)));
            assert!(seen == model.clone().into_iter().collect::<Vec<_>>(), "walk misses own entries");
        }
    }
    model
}

#[test]
fn successor_crosses_leaves() {
    let pool = test_pool();
    let tree = new_tree(&pool);
    for number in 0..3000_u32 {
        put(&tree, &pool, &(number * 2).to_be_bytes(), &[0; 100]);
    }
    let mut successor = Vec::new();
    for number in 0..6000_u32 {
        let mut mini = pool.mini_transaction();
        let key = number.to_be_bytes();
        let edit = tree.edit(&mut mini, &key).unwrap();
        assert_eq!(edit.found(), number % 2 == 0);
        let next = (number / 2 + 1) * 2;
        assert_eq!(edit.successor(&mut successor).unwrap(), next < 6000);
        if next < 6000 {
            assert_eq!(successor, next.to_be_bytes());
        }
    }
}

#[test]
fn runs_that_come_at_once_fill_their_leaves() {
    let pool = test_pool();
    let tree = new_tree(&pool).filled_in_runs();
    let mut model = BTreeMap::new();
    for number in 0..200_u32 {
        for run in [3_u8, 1, 2] {
            let key = [&[run][..], &number.to_be_bytes()].concat();
            put(&tree, &pool, &key, &[run; 5000]);
            model.insert(key, vec![run; 5000]);
        }
    }
    check_sound(&tree, &pool, Some(&model));
    let report = tree.check(&pool).unwrap();
    assert!(report.leaf_pages <= 600 / 3 + 6, "{} leaves for 600 values", report.leaf_pages);
}

/// Leaves that are full to the last bytes, and fences of all lengths.
#[test]
fn runs_of_any_size_are_cut_where_they_fit() {
    for seed in 0..40_u64 {
        let pool = test_pool();
        let tree = new_tree(&pool).filled_in_runs();
        let (mut model, mut random) = (BTreeMap::new(), seed * 2 + 1);
        let mut below = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for _ in 0..60 {
            let (run, number) = (below(6) as u8, below(40) as u8);
            for chunk in 0..below(7) as u8 {
                // What tells two keys of a run apart comes last, so that fences within it are long, and short beside it.
                let key = [&[run][..], &vec![5; usize::from(run) * 40], &[number, chunk]].concat();
                let longest = (CELL_BYTES_MAX - CELL_OVERHEAD_BYTES - key.len()) as u64;
                let bytes = if below(4) > 0 { longest - below(80) } else { below(longest) };
                put(&tree, &pool, &key, &vec![run; bytes as usize]);
                model.insert(key, vec![run; bytes as usize]);
            }
        }
        check_sound(&tree, &pool, Some(&model));
    }
}

/// Keys that begin alike for long, in descending order and then one behind all: its leaf is full, and gets a long fence.
#[test]
fn full_leaves_take_long_fences() {
    for seed in 0..24_u64 {
        let pool = test_pool();
        let tree = if seed % 2 == 0 { new_tree(&pool) } else { new_tree(&pool).filled_in_runs() };
        let (mut model, mut random) = (BTreeMap::new(), Generator(seed));
        let lengths = [random.below(3000), random.below(900), random.below(90)];
        for _ in 0..12 {
            let family = random.below(3) as u8;
            let start = vec![family; lengths[usize::from(family)] as usize];
            let (first, count) = (random.below(90_000), random.below(60));
            let numbers: Vec<u64> = match random.below(3) {
                0 => (first..first + count).rev().collect(),
                1 => (first..first + count).collect(),
                _ => (0..count).map(|_| random.below(90_000)).collect(),
            };
            for number in numbers.into_iter().chain([99_999 + random.below(9)]) {
                let key = [&start[..], format!("{number:06}").as_bytes()].concat();
                let value = vec![family; random.below(40) as usize];
                put(&tree, &pool, &key, &value);
                model.insert(key, value);
            }
        }
        check_sound(&tree, &pool, Some(&model));
    }
}

#[test]
#[should_panic(expected = "value of 5380 bytes")]
fn a_value_that_does_not_fit_a_cell_is_refused() {
    let pool = test_pool();
    let tree = new_tree(&pool);
    let longest = CELL_BYTES_MAX - CELL_OVERHEAD_BYTES - 11;
    assert!(fits(11, longest) && !fits(11, longest + 1));
    put(&tree, &pool, b"key of this", &vec![7; longest]);
    put(&tree, &pool, b"key of this", &vec![7; longest + 1]);
}

fn test_pool() -> Arc<BufferPool> {
    let environment = Environment::simulated(SimulatedDisk::new(1), 1);
    let options = PoolOptions { pool_bytes: 64 << 20, ..PoolOptions::default() };
    let pool = BufferPool::open(environment, options, &mut NoLogicalRecords).unwrap();
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    pool.create_space(SPACE, SpaceKind::Table, Path::new("test.ibd")).unwrap();
    pool
}
