//! The pool as a whole, on a simulated disk: pages, spaces, eviction, damage, full disks. Crashes: `crash_tests`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use env::Environment;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use page::{PageOperation, SpaceKind};
use redo::RedoError;
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

use crate::{BufferPool, CheckpointParticipant, NoLogicalRecords, NothingNeeded, PoolOptions, StorageError};

const SPACE: SpaceId = SpaceId(1);
const PATH: &str = "shop/item.ibd";
const BODY: u16 = 24;

fn open_with(disk: &SimulatedDisk, options: PoolOptions) -> Result<Arc<BufferPool>, StorageError> {
    let pool = BufferPool::open(Environment::simulated(disk.clone(), 1), options, &mut NoLogicalRecords)?;
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    Ok(pool)
}

fn open(disk: &SimulatedDisk, frames: u64) -> Arc<BufferPool> {
    open_with(disk, PoolOptions::small(frames)).unwrap()
}

fn new_pool(frames: u64) -> (SimulatedDisk, Arc<BufferPool>) {
    let disk = SimulatedDisk::new(1);
    let pool = open(&disk, frames);
    pool.create_space(SPACE, SpaceKind::Table, Path::new(PATH)).unwrap();
    (disk, pool)
}

fn id(number: u32) -> PageId {
    PageId { space: SPACE, number: PageNumber(number) }
}

/// Allocates a page and writes `value` into its body.
fn add_page(pool: &BufferPool, value: u32) -> Result<PageId, StorageError> {
    let mut mini = pool.mini_transaction();
    let slot = mini.allocate(SPACE)?;
    assert!(mini.bytes(slot)[usize::from(BODY)..].iter().all(|byte| *byte == 0));
    mini.apply(slot, &PageOperation::SetBytes { offset: BODY, bytes: &value.to_le_bytes() });
    let page = mini.page_id(slot);
    mini.commit();
    Ok(page)
}

fn set(pool: &BufferPool, page: PageId, value: u32) {
    let mut mini = pool.mini_transaction();
    let slot = mini.latch(page).unwrap();
    mini.apply(slot, &PageOperation::SetBytes { offset: BODY, bytes: &value.to_le_bytes() });
    mini.commit();
}

fn value(pool: &BufferPool, page: PageId) -> Result<u32, StorageError> {
    let shared = pool.shared(page)?;
    Ok(u32::from_le_bytes(shared[usize::from(BODY)..][..4].try_into().unwrap()))
}

#[test]
fn pages_come_back_from_memory_disk_and_log() {
    let (disk, pool) = new_pool(64);
    let page = add_page(&pool, 77).unwrap();
    assert_eq!(page, id(1));
    assert_eq!(value(&pool, page).unwrap(), 77);
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    let pool = open(&disk, 64);
    assert_eq!(pool.spaces(), [(SPACE, PATH.into())]);
    assert_eq!(value(&pool, page).unwrap(), 77, "from the log");
    pool.shutdown().unwrap();
    drop(pool);
    let pool = open(&disk.restart_with_durable_state(), 64);
    // Nothing but what this start logged.
    assert_eq!(pool.redo().checkpoint_lsn(), pool.redo().epoch().1);
    assert_eq!(value(&pool, page).unwrap(), 77, "from the file");
}

#[test]
fn a_small_pool_serves_many_pages() {
    let (_, pool) = new_pool(16);
    let pages: Vec<PageId> = (0..200).map(|number| add_page(&pool, number).unwrap()).collect();
    for round in 0..3 {
        for (number, page) in pages.iter().enumerate() {
            assert_eq!(value(&pool, *page).unwrap(), number as u32 + round * 1000);
            set(&pool, *page, number as u32 + (round + 1) * 1000);
        }
    }
    assert!(pool.page_counts().0 <= 16);
}

#[test]
fn freed_pages_are_used_again() {
    let (_, pool) = new_pool(64);
    let pages: Vec<PageId> = (0..5).map(|number| add_page(&pool, number).unwrap()).collect();
    for page in &pages[1..3] {
        let mut mini = pool.mini_transaction();
        let slot = mini.latch(*page).unwrap();
        mini.free(slot).unwrap();
        mini.commit();
    }
    assert_eq!(add_page(&pool, 9).unwrap(), pages[2]);
    assert_eq!(add_page(&pool, 9).unwrap(), pages[1]);
    assert_eq!(add_page(&pool, 9).unwrap(), id(6));
}

#[test]
fn a_dropped_mini_transaction_leaves_no_trace() {
    let (_, pool) = new_pool(64);
    let page = add_page(&pool, 1).unwrap();
    let mut mini = pool.mini_transaction();
    let slot = mini.latch(page).unwrap();
    mini.free(slot).unwrap();
    mini.commit();
    for _ in 0..3 {
        let end = pool.redo().end_lsn();
        let mut mini = pool.mini_transaction();
        let first = mini.allocate(SPACE).unwrap();
        let second = mini.allocate(SPACE).unwrap();
        assert_eq!((mini.page_id(first), mini.page_id(second)), (id(1), id(2)));
        drop(mini);
        assert_eq!(pool.redo().end_lsn(), end);
    }
    assert_eq!(add_page(&pool, 5).unwrap(), id(1));
    assert_eq!(add_page(&pool, 6).unwrap(), id(2));
    assert_eq!((value(&pool, id(1)).unwrap(), value(&pool, id(2)).unwrap()), (5, 6));
}

#[test]
fn allocating_and_freeing_in_one_mini_transaction() {
    let (disk, pool) = new_pool(64);
    let mut mini = pool.mini_transaction();
    let slots: Vec<_> = (0..4).map(|_| mini.allocate(SPACE).unwrap()).collect();
    mini.apply(slots[0], &PageOperation::SetBytes { offset: BODY, bytes: &[1] });
    mini.free(slots[1]).unwrap();
    mini.free(slots[3]).unwrap();
    let end = mini.commit();
    pool.redo().flush_to(end).unwrap();
    drop(pool);
    let pool = open(&disk.restart_with_durable_state(), 64);
    assert_eq!(value(&pool, id(1)).unwrap(), 1);
    assert_eq!(value(&pool, id(3)).unwrap(), 0);
    assert_eq!(add_page(&pool, 1).unwrap(), id(4));
    assert_eq!(add_page(&pool, 1).unwrap(), id(2));
    assert_eq!(add_page(&pool, 1).unwrap(), id(5));
}

#[test]
fn spaces_are_created_renamed_closed_and_removed() {
    let (disk, pool) = new_pool(64);
    let page = add_page(&pool, 3).unwrap();
    assert!(matches!(
        pool.create_space(SPACE, SpaceKind::Table, Path::new("a.ibd")),
        Err(StorageError::SpaceExists(_))
    ));
    assert!(matches!(
        pool.create_space(SpaceId(2), SpaceKind::Table, Path::new(PATH)),
        Err(StorageError::SpaceExists(_))
    ));
    assert!(pool.name_by_space([SPACE].into_iter()).unwrap().is_empty());
    assert_eq!(pool.spaces(), [(SPACE, crate::space_path(SPACE))]);
    assert_eq!(value(&pool, page).unwrap(), 3);
    pool.close_space(SPACE).unwrap();
    assert!(matches!(pool.shared(page), Err(StorageError::SpaceMissing(SPACE))));
    pool.open_space(SPACE, &crate::space_path(SPACE)).unwrap();
    assert_eq!(value(&pool, page).unwrap(), 3);
    set(&pool, page, 4);
    pool.remove_space(SPACE).unwrap();
    assert!(matches!(pool.shared(page), Err(StorageError::SpaceMissing(SPACE))));
    pool.create_space(SpaceId(2), SpaceKind::Table, Path::new(PATH)).unwrap();
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    drop(pool);
    let pool = open(&disk.restart_with_durable_state(), 64);
    assert_eq!(pool.spaces(), [(SpaceId(2), PATH.into())], "redo of the removed space is skipped");
}

#[test]
fn damaged_pages_are_never_served() {
    let (disk, pool) = new_pool(64);
    let pages: Vec<PageId> = (0..3).map(|number| add_page(&pool, number).unwrap()).collect();
    pool.shutdown().unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    disk.corrupt(Path::new(PATH), 16384 + 9000, &[1]);
    let third = disk.contents(Path::new(PATH)).unwrap()[3 * 16384..4 * 16384].to_vec();
    disk.corrupt(Path::new(PATH), 2 * 16384, &third);
    let copies = disk.contents(Path::new("redo/doublewrite")).unwrap().len();
    disk.corrupt(Path::new("redo/doublewrite"), 0, &vec![0; copies]);
    let pool = open(&disk, 64);
    assert!(matches!(pool.shared(pages[0]), Err(StorageError::Corrupt { .. })), "checksum");
    assert!(matches!(pool.shared(pages[1]), Err(StorageError::Corrupt { .. })), "misplaced write");
    assert_eq!(value(&pool, pages[2]).unwrap(), 2, "others go on");
    assert!(matches!(pool.shared(id(100_000)), Err(StorageError::PageOutOfRange(_))));
    assert!(matches!(pool.shared(PageId { space: SpaceId(9), ..id(1) }), Err(StorageError::SpaceMissing(_))));
}

#[test]
fn torn_pages_are_repaired_and_foreign_files_left_alone() {
    let (disk, pool) = new_pool(64);
    let page = add_page(&pool, 7).unwrap();
    pool.checkpoint().unwrap();
    set(&pool, page, 8);
    add_page(&pool, 9).unwrap();
    pool.shutdown().unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    disk.corrupt(Path::new(PATH), 16384 + 512, &[0xAA; 512]);
    disk.corrupt(Path::new(PATH), 600, &[0xAA; 512]);
    for name in ["strange.ibd", "shop/half.ibd.new"] {
        let file = env::Disk::open(&disk, Path::new(name), env::OpenMode::CreateNew).unwrap();
        file.write_at(&[3; 20_000], 0).unwrap();
    }
    let pool = open(&disk, 64);
    assert_eq!(value(&pool, page).unwrap(), 8);
    assert_eq!(pool.damaged_files(), [("strange.ibd".into(), crate::FileFault::Damaged)]);
    assert!(disk.contents(Path::new("strange.ibd")).is_some());
    assert!(disk.contents(Path::new("shop/half.ibd.new")).is_none());
}

/// Changes a byte of a page on disk, and its checksum with it.
fn rewrite(disk: &SimulatedDisk, page: u32, at: usize, byte: u8) {
    let start = page as usize * page::PAGE_BYTES;
    let mut bytes = disk.contents(Path::new(PATH)).unwrap()[start..start + page::PAGE_BYTES].to_vec();
    bytes[at] = byte;
    crate::page_transform::seal(&mut bytes);
    disk.corrupt(Path::new(PATH), start, &bytes);
}

#[test]
fn what_this_server_does_not_know_is_left_alone() {
    // Feature masks 1 and 2, the log's id, the kind; the third mask may have any bits.
    for (at, is_ours) in [(44, false), (59, false), (68, false), (84, false), (60, true)] {
        let (disk, pool) = new_pool(64);
        let page = add_page(&pool, 7).unwrap();
        pool.shutdown().unwrap();
        drop(pool);
        let disk = disk.restart_with_durable_state();
        let header = disk.contents(Path::new(PATH)).unwrap()[..page::PAGE_BYTES].to_vec();
        rewrite(&disk, 0, at, header[at] ^ 0x80);
        let pool = open(&disk, 64);
        assert_eq!(value(&pool, page).is_ok(), is_ours, "byte {at}");
        assert_eq!(pool.damaged_files().is_empty(), is_ours, "byte {at}");
    }
    let (disk, pool) = new_pool(64);
    let pages: Vec<PageId> = (0..2).map(|number| add_page(&pool, number).unwrap()).collect();
    pool.shutdown().unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    rewrite(&disk, 1, 21, 1);
    let pool = open(&disk, 64);
    assert!(matches!(pool.shared(pages[0]), Err(StorageError::Corrupt { .. })), "encrypted");
    assert_eq!(value(&pool, pages[1]).unwrap(), 1);
}

#[test]
fn the_first_write_of_a_new_page_needs_no_copy() {
    let (disk, pool) = new_pool(64);
    let copies = || disk.contents(Path::new("redo/doublewrite")).unwrap();
    let before = copies();
    let page = add_page(&pool, 7).unwrap();
    let copies_of_page = || {
        let bytes = copies();
        let pages = bytes[crate::flush::HEADER_BYTES..].chunks(page::PAGE_BYTES);
        pages.filter(|copy| page::page_id(copy) == page).count()
    };
    pool.checkpoint().unwrap();
    assert!(copies() != before && copies_of_page() == 0);
    set(&pool, page, 8);
    pool.checkpoint().unwrap();
    assert_eq!(copies_of_page(), 1);
}

/// A pool with pages of value 1 in one batch, then of 2, of which the last batch has only the first page again.
fn pool_with_stale_copies() -> (SimulatedDisk, Vec<PageId>) {
    let (disk, pool) = new_pool(64);
    let pages: Vec<PageId> = (0..5).map(|_| add_page(&pool, 1).unwrap()).collect();
    for value in [1, 2] {
        pool.checkpoint().unwrap();
        pages.iter().for_each(|page| set(&pool, *page, value));
    }
    pool.checkpoint().unwrap();
    set(&pool, pages[0], 3);
    pool.checkpoint().unwrap();
    pool.shutdown().unwrap();
    (disk.restart_with_durable_state(), pages)
}

#[test]
fn a_copy_of_an_earlier_batch_repairs_nothing() {
    let (disk, pages) = pool_with_stale_copies();
    for page in &pages {
        disk.corrupt(Path::new(PATH), page.number.0 as usize * 16384 + 700, &[0xAA; 9]);
    }
    let pool = open(&disk, 64);
    assert_eq!(value(&pool, pages[0]).unwrap(), 3);
    for page in &pages[1..] {
        assert!(matches!(pool.shared(*page), Err(StorageError::Corrupt { .. })), "{page:?}");
    }
}

#[test]
fn copies_from_before_doublewrite_was_switched_off_repair_nothing() {
    let (disk, pages) = pool_with_stale_copies();
    let off = PoolOptions { doublewrite: false, ..PoolOptions::small(64) };
    let pool = open_with(&disk, off).unwrap();
    set(&pool, pages[0], 4);
    pool.shutdown().unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    disk.corrupt(Path::new(PATH), pages[0].number.0 as usize * 16384 + 700, &[0xAA; 9]);
    let pool = open(&disk, 64);
    assert!(matches!(pool.shared(pages[0]), Err(StorageError::Corrupt { .. })));
}

#[test]
fn a_longer_file_keeps_the_copies_for_the_repair() {
    for operation in 0..8 {
        let (disk, pages) = pool_with_stale_copies();
        let path = Path::new("redo/doublewrite");
        // As of a pool of fewer frames.
        let file = env::Disk::open(&disk, path, env::OpenMode::Existing).unwrap();
        file.set_len(disk.contents(path).unwrap().len() as u64 - 2 * 16384).unwrap();
        disk.corrupt(Path::new(PATH), pages[0].number.0 as usize * 16384 + 700, &[0xAA; 9]);
        disk.crash_at(disk.counts().mutations + operation);
        drop(open_with(&disk, PoolOptions::small(64)));
        let pool = open(&disk.restart(operation), 64);
        assert_eq!(value(&pool, pages[0]).unwrap(), 3, "crash at {operation}");
    }
}

/// Threads that hold one page for a millisecond again and again, so that somebody always does. They stop when it is written.
#[test]
fn a_page_that_is_always_read_can_be_written() {
    const WANTED: u8 = 20;
    const ROUNDS: u32 = 2_000;
    let (_disk, pool) = new_pool(64);
    let page = add_page(&pool, 0).unwrap();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let pool = pool.clone();
            let until_written = move || {
                for _ in 0..ROUNDS {
                    let shared = pool.shared(page).unwrap();
                    if shared[usize::from(BODY)] == WANTED {
                        return;
                    }
                    env::Clock::sleep(&env::RealClock, std::time::Duration::from_millis(1));
                }
                panic!("the writer waited for the end of all readers");
            };
            env::Threads::spawn(&env::RealThreads, "reader", Box::new(until_written))
        })
        .collect();
    (1..=WANTED).for_each(|value| set(&pool, page, value.into()));
    assert!(readers.into_iter().all(env::JoinHandle::join));
}

/// Eight threads read one page without a pause. What is bounded is how many reads come before a write that waits. A writer that
/// loses its processor before it has asked is charged all reads of that time slice (hundreds, on two cores in nearly half of the
/// writes), so only the quarter with the fewest is held to the latch's own figure, and the rest to some slices; the times are
/// printed (on an idle machine the worst is below 5 ms).
#[test]
fn eight_readers_in_a_loop_let_a_writer_come() {
    const WRITES: u32 = 200;
    let (_disk, pool) = new_pool(64);
    let page = add_page(&pool, 0).unwrap();
    let clock = env::RealClock;
    let now = || env::Clock::monotonic(&clock);
    let reads = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (pool, reads) = (pool.clone(), Arc::clone(&reads));
            let until_written = move || {
                while value(&pool, page).unwrap() < WRITES {
                    let shared = pool.shared(page).unwrap();
                    reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    (0..3000).for_each(|_| std::hint::spin_loop());
                    drop(shared);
                }
            };
            env::Threads::spawn(&env::RealThreads, "reader", Box::new(until_written))
        })
        .collect();
    let (mut waits, mut passed) = (Vec::new(), Vec::new());
    let count = || reads.load(std::sync::atomic::Ordering::Relaxed);
    for number in 1..=WRITES {
        let (began, before) = (now(), count());
        let mut mini = pool.mini_transaction();
        mini.latch(page).unwrap();
        waits.push(now() - began);
        drop(mini);
        set(&pool, page, number);
        passed.push(count() - before);
        env::Clock::sleep(&clock, std::time::Duration::from_micros(200));
    }
    assert!(readers.into_iter().all(env::JoinHandle::join));
    waits.sort_unstable();
    passed.sort_unstable();
    let at = |percent: usize| WRITES as usize * percent / 100 - 1;
    println!(
        "waits {:?}, 95% {:?}, worst {:?}; reads before a write {}, 95% {}, most {}",
        waits[at(50)],
        waits[at(95)],
        waits[at(100)],
        passed[at(50)],
        passed[at(95)],
        passed[at(100)]
    );
    assert!(passed[at(25)] <= 16 && passed[at(95)] <= 10_000, "{passed:?}");
}

#[test]
fn a_larger_pool_starts_on_a_full_disk() {
    let (disk, pool) = new_pool(64);
    let page = add_page(&pool, 7).unwrap();
    pool.shutdown().unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    disk.set_capacity_bytes(Some(disk.used_bytes()));
    let pool = open(&disk, 512);
    set(&pool, page, 8);
    pool.checkpoint().unwrap();
    assert_eq!(value(&pool, page).unwrap(), 8);
}

#[test]
fn a_full_disk_is_an_error_and_passes() {
    let (disk, pool) = new_pool(64);
    disk.set_capacity_bytes(Some(disk.used_bytes() + 4 * 16384));
    let mut added = Vec::new();
    let error = loop {
        match add_page(&pool, added.len() as u32) {
            Ok(page) => added.push(page),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StorageError::NoSpace(SPACE)));
    assert_eq!(added.len(), 11, "the smallest growth was tried");
    for (number, page) in added.iter().enumerate() {
        assert_eq!(value(&pool, *page).unwrap(), number as u32);
        set(&pool, *page, 100 + number as u32);
    }
    pool.checkpoint().unwrap();
    disk.set_capacity_bytes(None);
    add_page(&pool, 1).unwrap();
}

/// Takes a page of a space, as [`add_page`].
fn take_page(pool: &BufferPool, space: SpaceId) -> Result<(), StorageError> {
    let mut mini = pool.mini_transaction();
    mini.allocate(space)?;
    mini.commit();
    Ok(())
}

#[test]
fn a_file_that_finds_no_room_leaves_what_there_is_to_others() {
    let (disk, pool) = new_pool(64);
    let other = SpaceId(SPACE.0 + 1);
    pool.create_space(other, SpaceKind::Table, Path::new("d/other.ibd")).unwrap();
    while pool.space_pages(SPACE).unwrap() < 1000 {
        take_page(&pool, SPACE).unwrap();
    }
    pool.checkpoint().unwrap();
    // Its next step is of a quarter, more than there is room for.
    disk.set_capacity_bytes(Some(disk.used_bytes() + 200 * 16384));
    let before = pool.space_pages(SPACE).unwrap();
    while pool.space_pages(SPACE).unwrap() == before {
        take_page(&pool, SPACE).unwrap();
    }
    let taken = pool.space_pages(SPACE).unwrap() - before;
    assert!(taken < 50, "{taken}");
    for page in 0..100 {
        take_page(&pool, other).unwrap_or_else(|error| panic!("page {page} of the other one: {error}"));
    }
}

#[test]
fn a_disk_that_fills_up_refuses_few_steps() {
    let (disk, pool) = new_pool(64);
    while pool.space_pages(SPACE).unwrap() < 2000 {
        take_page(&pool, SPACE).unwrap();
    }
    pool.checkpoint().unwrap();
    disk.set_capacity_bytes(Some(disk.used_bytes() + 400 * 16384));
    let (before, allocations) = (pool.space_pages(SPACE).unwrap(), disk.counts().allocations);
    while take_page(&pool, SPACE).is_ok() {}
    assert!(pool.space_pages(SPACE).unwrap() >= before + 396, "all but a step is used");
    let allocations = disk.counts().allocations - allocations;
    assert!(allocations < 50, "{allocations}");
    // Once there is room again, steps get larger again.
    disk.set_capacity_bytes(None);
    let (before, allocations) = (pool.space_pages(SPACE).unwrap(), disk.counts().allocations);
    while pool.space_pages(SPACE).unwrap() < before + 3000 {
        take_page(&pool, SPACE).unwrap();
    }
    let allocations = disk.counts().allocations - allocations;
    assert!(allocations < 70, "{allocations}");
}

#[test]
fn without_descriptors_nothing_is_begun_and_nothing_stops() {
    const SPACES: u32 = 20;
    let disk = SimulatedDisk::new(1);
    let pool = open_with(&disk, PoolOptions { open_files_max: 3, ..PoolOptions::small(64) }).unwrap();
    let (own, path_of) = (disk.open_files(), |space: u32| format!("d{}/t{space}.ibd", space % 3));
    let page_of = |space: u32| PageId { space: SpaceId(space), number: PageNumber(1) };
    for space in 1..=SPACES {
        pool.create_space(SpaceId(space), SpaceKind::Table, Path::new(&path_of(space))).unwrap();
        let mut mini = pool.mini_transaction();
        let slot = mini.allocate(SpaceId(space)).unwrap();
        assert_eq!(mini.page_id(slot), page_of(space));
        mini.commit();
    }
    // One batch has pages of all files.
    (1..=SPACES).for_each(|space| set(&pool, page_of(space), space));
    disk.set_open_files_max(Some(own + 3));
    pool.checkpoint().unwrap();
    assert!(disk.open_files() <= own + 3);
    // A directory, the new file, and what the log needs: files are closed for them.
    pool.create_space(SpaceId(50), SpaceKind::Table, Path::new("d/t50.ibd")).unwrap();
    assert!(pool.name_by_space([SpaceId(50)].into_iter()).unwrap().is_empty());
    pool.remove_space(SpaceId(50)).unwrap();

    (1..=SPACES).for_each(|space| set(&pool, page_of(space), space + 100));
    disk.set_open_files_max(Some(0));
    let refused = [
        pool.create_space(SpaceId(51), SpaceKind::Table, Path::new("new/t51.ibd")).unwrap_err(),
        pool.name_by_space([SpaceId(1)].into_iter()).unwrap().remove(0).1,
        pool.remove_space(SpaceId(2)).unwrap_err(),
        pool.checkpoint().unwrap_err(),
    ];
    assert!(refused.iter().all(StorageError::is_lack_of_descriptors), "{refused:?}");
    pool.refill_reserve().unwrap();
    assert!(!pool.redo().exceed_capacity(4 << 20).unwrap() && pool.redo().is_starved());
    assert!(!pool.is_stopped());
    disk.set_open_files_max(Some(own + 3));
    pool.checkpoint().unwrap();
    drop(pool);
    let pool = open(&disk.restart_with_durable_state(), 64);
    for space in (1..=SPACES).filter(|space| *space != 2) {
        assert_eq!(value(&pool, page_of(space)).unwrap(), space + 100);
    }
}

#[test]
fn a_failed_page_write_stops_the_pool() {
    // A sync that says that the disk is full has lost as much as any other (I2).
    let faults = [
        (OperationClass::Write, FaultKind::InputOutput),
        (OperationClass::Sync, FaultKind::InputOutput),
        (OperationClass::Sync, FaultKind::NoSpace),
    ];
    for (class, kind) in faults {
        // The first write is that of the control record.
        for nth in 0..if class == OperationClass::Write { 3 } else { 2 } {
            let (disk, pool) = new_pool(64);
            let page = add_page(&pool, 8).unwrap();
            pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
            let counts = disk.counts();
            let base = if class == OperationClass::Write { counts.writes } else { counts.syncs };
            disk.add_fault(Fault { class, nth: base + nth, kind });
            let refused = pool.checkpoint().unwrap_err();
            let is_stop = matches!(refused, StorageError::Stopped | StorageError::Log(RedoError::Failed(_)));
            assert!(is_stop, "{class:?} {nth}: {refused:?}");
            assert!(pool.is_stopped() && pool.check_writable().is_err());
            let operations = disk.counts().mutations;
            set(&pool, page, 9);
            assert!(pool.redo().flush_to(pool.redo().end_lsn()).is_err());
            assert!(pool.checkpoint().is_err());
            assert_eq!(disk.counts().mutations, operations, "nothing is retried");
        }
    }
}

#[test]
fn the_log_goes_round_and_the_checkpoint_follows() {
    let (disk, pool) = new_pool(32);
    let pages: Vec<PageId> = (0..20).map(|number| add_page(&pool, number).unwrap()).collect();
    let mut bytes = [0; 4096];
    for round in 0_u32..3000 {
        bytes[..4].copy_from_slice(&round.to_le_bytes());
        let mut mini = pool.mini_transaction();
        let slot = mini.latch(pages[round as usize % pages.len()]).unwrap();
        mini.apply(slot, &PageOperation::SetBytes { offset: BODY, bytes: &bytes });
        mini.commit();
    }
    let log_files = env::Disk::list(&disk, Path::new("redo")).unwrap().len();
    assert!(log_files <= 8 + 2, "{log_files} files");
    assert!(pool.redo().end_lsn().0 > 12_000_000);
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    drop(pool);
    let pool = open(&disk.restart_with_durable_state(), 32);
    for (index, page) in pages.iter().enumerate() {
        assert_eq!(value(&pool, *page).unwrap(), 2980 + index as u32);
    }
}

/// Needs the log from where it was told to stop on.
struct Pin(AtomicU64);

impl CheckpointParticipant for Pin {
    fn oldest_needed_lsn(&self, log_end: Lsn) -> Lsn {
        log_end.min(Lsn(self.0.load(Ordering::SeqCst)))
    }
}

fn fill_log(pool: &BufferPool, page: PageId, bytes: u64) {
    let until = pool.redo().end_lsn().0 + bytes;
    while pool.redo().end_lsn().0 < until {
        let mut mini = pool.mini_transaction();
        let slot = mini.latch(page).unwrap();
        mini.apply(slot, &PageOperation::SetBytes { offset: BODY, bytes: &[1; 4096] });
        mini.commit();
    }
}

#[test]
fn a_pinned_log_grows_and_shrinks_again() {
    let (disk, pool) = new_pool(32);
    let page = add_page(&pool, 1).unwrap();
    let pin = Arc::new(Pin(AtomicU64::new(pool.redo().end_lsn().0)));
    pool.set_checkpoint_participant(pin.clone());
    fill_log(&pool, page, 3 << 20);
    let pinned = env::Disk::list(&disk, Path::new("redo")).unwrap().len();
    assert!(pinned > 20, "{pinned} files");
    assert_eq!(pool.redo().checkpoint_lsn().0, pin.0.load(Ordering::SeqCst));
    pin.0.store(u64::MAX, Ordering::SeqCst);
    pool.checkpoint().unwrap();
    pool.redo().prepare_files(1).unwrap();
    assert!(env::Disk::list(&disk, Path::new("redo")).unwrap().len() <= 8 + 2);
}

#[test]
fn a_full_disk_with_a_pinned_log_refuses_writers_in_time() {
    let (disk, pool) = new_pool(32);
    let page = add_page(&pool, 1).unwrap();
    let pin = Arc::new(Pin(AtomicU64::new(pool.redo().end_lsn().0)));
    pool.set_checkpoint_participant(pin.clone());
    disk.set_capacity_bytes(Some(disk.used_bytes()));
    let mut refused = false;
    for _ in 0..1000 {
        match pool.check_writable() {
            Ok(()) => fill_log(&pool, page, 4096),
            Err(error) => {
                assert!(matches!(error, StorageError::LogFull), "{error}");
                refused = true;
                break;
            }
        }
    }
    assert!(refused && !pool.is_stopped());
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    assert!(value(&pool, page).is_ok(), "reads go on");
    pin.0.store(u64::MAX, Ordering::SeqCst);
    pool.check_writable().unwrap();
    fill_log(&pool, page, 1 << 20);
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
}

#[test]
fn recovery_needs_no_room() {
    let (disk, pool) = new_pool(32);
    let page = add_page(&pool, 1).unwrap();
    fill_log(&pool, page, 600 << 10);
    set(&pool, page, 5);
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    drop(pool);
    let disk = disk.restart_with_durable_state();
    disk.set_capacity_bytes(Some(disk.used_bytes()));
    let pool = open(&disk, 32);
    assert_eq!(value(&pool, page).unwrap(), 5);
    assert_eq!(disk.counts().allocations, 0);
}

#[test]
fn a_failed_read_concerns_that_page_only() {
    let (disk, pool) = new_pool(16);
    let pages: Vec<PageId> = (0..40).map(|number| add_page(&pool, number).unwrap()).collect();
    pool.checkpoint().unwrap();
    let fault = Fault { class: OperationClass::Read, nth: disk.counts().reads, kind: FaultKind::InputOutput };
    disk.add_fault(fault);
    assert!(matches!(value(&pool, pages[0]), Err(StorageError::Disk(_))));
    assert_eq!(value(&pool, pages[1]).unwrap(), 1);
    assert_eq!(value(&pool, pages[0]).unwrap(), 0, "the next read may succeed");
}

#[test]
fn the_flusher_stops_the_pool_when_a_write_fails() {
    let disk = SimulatedDisk::new(1);
    let pool = open_with(&disk, PoolOptions { background: true, ..PoolOptions::small(32) }).unwrap();
    pool.create_space(SPACE, SpaceKind::Table, Path::new(PATH)).unwrap();
    let page = add_page(&pool, 1).unwrap();
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    disk.crash();
    set(&pool, page, 2);
    for _ in 0..5000 {
        if pool.is_stopped() {
            break;
        }
        pool.flusher_signal.wake();
        std::thread::yield_now();
        pool.environment().clock.sleep(std::time::Duration::from_millis(200));
    }
    assert!(pool.is_stopped());
    assert!(pool.redo().flush_to(pool.redo().end_lsn()).is_err());
}

#[test]
fn a_real_disk_keeps_pages_over_a_restart() {
    let name = format!("iruka-buffer-{:016x}", env::Random::next_u64(&env::RealRandom));
    let directory = std::env::temp_dir().join(name);
    let options = || PoolOptions { background: true, ..PoolOptions::small(32) };
    let open = || {
        let pool = BufferPool::open(Environment::real(&directory), options(), &mut NoLogicalRecords).unwrap();
        pool.set_checkpoint_participant(Arc::new(NothingNeeded));
        pool
    };
    let pool = open();
    pool.create_space(SPACE, SpaceKind::Table, Path::new(PATH)).unwrap();
    let pages: Vec<PageId> = (0..100).map(|number| add_page(&pool, number).unwrap()).collect();
    pool.redo().flush_to(pool.redo().end_lsn()).unwrap();
    let second = BufferPool::open(Environment::real(&directory), options(), &mut NoLogicalRecords);
    assert!(second.is_err(), "the directory is locked");
    pool.flusher_signal.stop();
    let thread = stdx::sync::lock(&pool.flusher_thread).take();
    assert!(thread.is_none_or(env::JoinHandle::join));
    drop(pool);
    for shut_down in [false, true] {
        let pool = open();
        for (number, page) in pages.iter().enumerate() {
            assert_eq!(value(&pool, *page).unwrap(), number as u32, "after shutdown: {shut_down}");
        }
        pool.shutdown().unwrap();
    }
    #[allow(clippy::disallowed_methods)]
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn threads_share_pages_and_the_flusher_keeps_up() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 2000;
    let disk = SimulatedDisk::new(1);
    let options = PoolOptions { background: true, ..PoolOptions::small(24) };
    let pool = open_with(&disk, options).unwrap();
    pool.create_space(SPACE, SpaceKind::Table, Path::new(PATH)).unwrap();
    let pages: Vec<PageId> = (0..60).map(|_| add_page(&pool, 0).unwrap()).collect();
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (pool, pages) = (Arc::clone(&pool), pages.clone());
            let body = move || {
                for round in 0..ROUNDS {
                    let page = pages[((round * 7 + thread * 13) % 60) as usize];
                    if round % 2 == 0 {
                        let mut mini = pool.mini_transaction();
                        let slot = mini.latch(page).unwrap();
                        let old = &mini.bytes(slot)[usize::from(BODY)..][..4];
                        let next = u32::from_le_bytes(old.try_into().unwrap()) + 1;
                        let operation = PageOperation::SetBytes { offset: BODY, bytes: &next.to_le_bytes() };
                        mini.apply(slot, &operation);
                        mini.commit();
                    } else {
                        value(&pool, page).unwrap();
                    }
                }
            };
            env::Threads::spawn(&env::RealThreads, "worker", Box::new(body))
        })
        .collect();
    assert!(threads.into_iter().all(env::JoinHandle::join));
    let sum: u32 = pages.iter().map(|page| value(&pool, *page).unwrap()).sum();
    assert_eq!(sum, THREADS * ROUNDS / 2);
    pool.shutdown().unwrap();
}
