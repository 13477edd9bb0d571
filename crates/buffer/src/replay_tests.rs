//! Replaying in one lane and in several: the same files, byte by byte, also when replays are cut short, pages are damaged and files
//! are gone.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use env::Environment;
use env::simulated::{SimulatedDisk, SimulatedRandom};
use page::{PageOperation, SpaceKind};
use stdx::ids::{Lsn, PageId, SpaceId};

use crate::{BufferPool, NeededPage, NothingNeeded, PoolOptions, RecoveryHandler, StorageError};

const SPACES: u32 = 3;
const LANES: usize = 4;
const BODY: u64 = 24;
const PAGE_BYTES: u64 = 16_384;

/// A pool that is smaller than its files, so that the log is read several times. The fewest frames that four lanes need.
const SMALL: u64 = LANES as u64 * 8;
/// A pool that holds all pages, with a log that is several batches long.
const LARGE: u64 = 256;

fn options(frames: u64, lanes: usize) -> PoolOptions {
    PoolOptions {
        log_segment_bytes: 64 << 10,
        log_capacity_bytes: 8 << 20,
        replay_lanes: lanes,
        ..PoolOptions::small(frames)
    }
}

/// Logical records, in the order in which they came.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl RecoveryHandler for Numbers {
    fn logical_record(&mut self, kind: u8, payload: &[u8], _start: Lsn) -> Result<(), StorageError> {
        assert_eq!(kind, 9);
        self.0.push(u64::from_le_bytes(payload.try_into().unwrap()));
        Ok(())
    }
}

fn open(
    disk: &SimulatedDisk,
    frames: u64,
    lanes: usize,
) -> Result<(Arc<BufferPool>, Vec<u64>), StorageError> {
    let mut numbers = Numbers::default();
    let environment = Environment::simulated(disk.clone(), 1);
    let pool = BufferPool::open(environment, options(frames, lanes), &mut numbers)?;
    Ok((pool, numbers.0))
}

fn path(space: u32) -> PathBuf {
    PathBuf::from(format!("shop/item{space}.ibd"))
}

/// One mini-transaction on some pages.
fn step(
    pool: &BufferPool,
    random: &SimulatedRandom,
    number: u64,
    pages: &mut BTreeMap<PageId, ()>,
) -> Result<(), StorageError> {
    let mut mini = pool.mini_transaction();
    let used: Vec<PageId> = pages.keys().copied().collect();
    let mut chosen: Vec<PageId> =
        (0..1 + random.below(4)).map(|_| used[random.below(used.len() as u64) as usize]).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let mut slots = Vec::new();
    for page in &chosen {
        slots.push(mini.latch(*page)?);
    }
    if random.one_in(20) && used.len() > 50 {
        let slot = slots.remove(0);
        mini.free(slot)?;
        pages.remove(&chosen[0]);
    } else if random.one_in(20) {
        let slot = mini.allocate(chosen[0].space)?;
        pages.insert(mini.page_id(slot), ());
        slots.push(slot);
    }
    // Several changes of a page in one group, which overlap, and pages in turn: what is applied in another order shows.
    for turn in 0..1 + random.below(3) {
        for slot in &slots {
            let offset = (BODY + random.below(200) * 3) as u16;
            let bytes = [number << 8 | turn; 12].map(u64::to_le_bytes).concat();
            mini.apply(*slot, &PageOperation::SetBytes { offset, bytes: &bytes });
        }
    }
    mini.log(9, &number.to_le_bytes());
    mini.commit();
    Ok(())
}

/// A run up to a crash.
fn history(seed: u64, damage: u64) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    let random = SimulatedRandom::new(seed);
    let (pool, _) = open(&disk, SMALL, 1).unwrap();
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    let mut pages = BTreeMap::new();
    for space in 1..=SPACES {
        pool.create_space(SpaceId(space), SpaceKind::Table, &path(space)).unwrap();
        let mut mini = pool.mini_transaction();
        let slot = mini.allocate(SpaceId(space)).unwrap();
        pages.insert(mini.page_id(slot), ());
        mini.commit();
    }
    let steps = 1500 + random.below(1500);
    for number in 0..steps {
        step(&pool, &random, number, &mut pages).unwrap();
        match random.below(100) {
            0..5 => drop(pool.flush_some().unwrap()),
            5..8 => pool.redo().flush_to(pool.redo().end_lsn()).unwrap(),
            8 if number < steps / 3 => drop(pool.checkpoint().unwrap()),
            _ => {}
        }
        if number == steps * 2 / 3 && random.one_in(2) {
            pool.remove_space(SpaceId(SPACES)).unwrap();
            pages.retain(|page, ()| page.space != SpaceId(SPACES));
        }
    }
    disk.restart(damage)
}

/// What a start makes of a disk.
#[derive(PartialEq, Eq)]
struct Outcome {
    files: BTreeMap<PathBuf, Vec<u8>>,
    numbers: Vec<u64>,
    passed_over: Vec<NeededPage>,
    needed: Vec<NeededPage>,
}

fn outcome(disk: &SimulatedDisk, frames: u64, lanes: usize) -> Outcome {
    let (pool, numbers) = open(disk, frames, lanes).unwrap();
    let report = pool.recovery_report();
    assert!(report.lanes == lanes && (report.passes > 1) == (frames == SMALL), "{report:?}");
    // The checkpoint must not pass what is not written.
    let marks = pool.frames.headers().iter().filter_map(crate::frames::FrameHeader::oldest_change);
    assert_eq!(pool.dirty.oldest(&pool.frames), marks.min());
    let passed_over = pool.passed_over_pages();
    let needed = pool.needed_pages_of(&(1..=SPACES).map(SpaceId).collect(), &Default::default()).unwrap();
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    pool.shutdown().unwrap();
    let files = pool.spaces().into_iter().map(|(_, path)| {
        let bytes = disk.contents(&path).unwrap();
        (path, bytes)
    });
    Outcome { files: files.collect(), numbers, passed_over, needed }
}

fn assert_same(one: &Outcome, other: &Outcome, what: &str) {
    assert_eq!(one.numbers, other.numbers, "{what}");
    assert_eq!(one.passed_over, other.passed_over, "{what}");
    assert_eq!(one.needed, other.needed, "{what}");
    assert!(one.files.keys().eq(other.files.keys()), "{what}");
    for (path, bytes) in &one.files {
        let pages = bytes.chunks(PAGE_BYTES as usize).zip(other.files[path].chunks(PAGE_BYTES as usize));
        let differing = pages.enumerate().find(|(_, (one, other))| one != other).map(|(number, _)| number);
        assert!(*bytes == other.files[path], "{what}: {} differs from page {differing:?} on", path.display());
    }
}

#[test]
fn several_lanes_leave_the_bytes_that_one_leaves() {
    let mut changes = 0;
    for seed in 0..8 {
        let one = outcome(&history(seed, seed), SMALL, 1);
        for frames in [SMALL, LARGE] {
            let several = outcome(&history(seed, seed), frames, LANES);
            assert_same(&one, &several, &format!("seed {seed}, {frames} frames"));
        }
        changes += one.numbers.len();
    }
    assert!(changes > 3000, "{changes} groups were replayed");
}

#[test]
fn a_replay_that_is_cut_short_again_and_again_ends_in_the_same_bytes() {
    let mut cut = 0;
    for seed in 20..26 {
        let expected = outcome(&history(seed, 1), LARGE, 1);
        let random = SimulatedRandom::new(seed);
        let mut disk = history(seed, 1);
        for attempt in 0..6 {
            disk.crash_at(1 + random.below(20));
            // It may come through if it has little to write.
            cut += u32::from(open(&disk, SMALL, LANES).is_err());
            disk = disk.restart(attempt);
        }
        assert_same(&expected, &outcome(&disk, SMALL, LANES), &format!("seed {seed}"));
    }
    assert!(cut > 12, "{cut} of 36 replays were cut short");
}

#[test]
fn damage_is_found_alike_in_one_lane_and_in_several() {
    let mut passed_over = 0;
    for seed in 40..50 {
        let damaged = || {
            let disk = history(seed, seed);
            let random = SimulatedRandom::new(seed);
            for _ in 0..5 {
                let path = path(1 + random.below(2) as u32);
                let pages = disk.contents(&path).unwrap().len() as u64 / PAGE_BYTES;
                let offset = (1 + random.below(pages - 1)) * PAGE_BYTES + 600;
                disk.corrupt(&path, offset as usize, &[0xAA; 64]);
            }
            disk
        };
        let one = outcome(&damaged(), LARGE, 1);
        passed_over += one.passed_over.len();
        assert_same(&one, &outcome(&damaged(), SMALL, LANES), &format!("seed {seed}"));
    }
    assert!(passed_over > 5, "{passed_over} pages were passed over");
}

#[test]
fn a_disk_that_fails_in_a_lane_ends_the_start() {
    use env::simulated::{Fault, FaultKind, OperationClass};
    let expected = outcome(&history(3, 3), SMALL, 1);
    let reads = {
        let counted = history(3, 3);
        outcome(&counted, SMALL, LANES);
        counted.counts().reads
    };
    let mut of_pages = 0;
    for part in 2..9 {
        let disk = history(3, 3);
        disk.add_fault(Fault {
            class: OperationClass::Read,
            nth: reads * part / 10,
            kind: FaultKind::InputOutput,
        });
        match open(&disk, SMALL, LANES) {
            Err(StorageError::Disk(_)) => of_pages += 1,
            Err(StorageError::Log(_)) => {}
            other => panic!("read {part}: {:?}", other.map(|(_, numbers)| numbers)),
        }
        // Nobody holds the directory any more.
        disk.clear_faults();
        assert_same(&expected, &outcome(&disk, LARGE, LANES), "after the failure");
    }
    assert!(of_pages > 0);
}
