//! Temporary spaces: more pages than frames, no log, no checkpoint that waits, nothing left.

use std::sync::Arc;

use env::Environment;
use env::simulated::SimulatedDisk;
use page::PageOperation;
use stdx::ids::{PageId, SpaceId};

use crate::{BufferPool, NoLogicalRecords, NothingNeeded, PoolOptions, StorageError};

const SPACE: SpaceId = SpaceId(7);
const BODY: u16 = 24;

fn open(disk: &SimulatedDisk) -> Arc<BufferPool> {
    let environment = Environment::simulated(disk.clone(), 1);
    let pool = BufferPool::open(environment, PoolOptions::small(16), &mut NoLogicalRecords).unwrap();
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    pool
}

fn write(pool: &BufferPool, page: Option<PageId>, value: u32) -> PageId {
    let mut mini = pool.mini_transaction();
    let slot = match page {
        Some(page) => mini.latch(page).unwrap(),
        None => mini.allocate(SPACE).unwrap(),
    };
    mini.apply(slot, &PageOperation::SetBytes { offset: BODY, bytes: &value.to_le_bytes() });
    let page = mini.page_id(slot);
    mini.commit();
    page
}

fn value(pool: &BufferPool, page: PageId) -> Result<u32, StorageError> {
    let shared = pool.shared(page)?;
    Ok(u32::from_le_bytes(shared[usize::from(BODY)..][..4].try_into().unwrap()))
}

#[test]
fn pages_come_back_from_the_file_and_leave_nothing_in_the_log() {
    let disk = SimulatedDisk::new(1);
    let pool = open(&disk);
    let end = pool.redo().end_lsn();
    pool.create_temporary_space(SPACE).unwrap();
    let pages: Vec<PageId> = (0..200).map(|number| write(&pool, None, number)).collect();
    for round in 1..4 {
        for (number, page) in pages.iter().enumerate() {
            assert_eq!(value(&pool, *page).unwrap(), number as u32 + (round - 1) * 1000);
            write(&pool, Some(*page), number as u32 + round * 1000);
        }
    }
    assert_eq!(pool.redo().end_lsn(), end);
    assert!(pool.page_counts().1 > 0, "what fits stays where it is");
    assert_eq!(pool.checkpoint().unwrap(), end, "no checkpoint waits for it");
    let mut mini = pool.mini_transaction();
    let slot = mini.latch(pages[3]).unwrap();
    mini.free(slot).unwrap();
    mini.commit();
    assert_eq!(write(&pool, None, 5), pages[3], "freed pages are used again");
    pool.remove_temporary_space(SPACE).unwrap();
    assert!(matches!(value(&pool, pages[0]), Err(StorageError::SpaceMissing(SPACE))));
    assert_eq!(pool.page_counts(), (0, 0));
    // The number can be used again, and what it meant is forgotten.
    pool.create_temporary_space(SPACE).unwrap();
    let page = write(&pool, None, 9);
    assert_eq!((page, value(&pool, page).unwrap()), (pages[0], 9));
}

#[test]
fn a_dropped_mini_transaction_takes_no_page() {
    let pool = open(&SimulatedDisk::new(1));
    pool.create_temporary_space(SPACE).unwrap();
    let mut mini = pool.mini_transaction();
    let first = mini.allocate(SPACE).unwrap();
    let page = mini.page_id(first);
    drop(mini);
    assert_eq!(write(&pool, None, 1), page);
}

#[test]
fn a_start_knows_nothing_of_them() {
    let disk = SimulatedDisk::new(1);
    let pool = open(&disk);
    pool.create_temporary_space(SPACE).unwrap();
    let pages: Vec<PageId> = (0..100).map(|number| write(&pool, None, number)).collect();
    drop(pool);
    let pool = open(&disk.restart_with_durable_state());
    assert!(pool.spaces().is_empty());
    assert!(value(&pool, pages[0]).is_err());
}
