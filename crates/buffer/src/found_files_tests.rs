//! Files that a start finds by their names: opened when they are asked for, told apart when they are no file of the space.

use std::path::Path;
use std::sync::Arc;

use env::Environment;
use env::simulated::SimulatedDisk;
use page::{PageOperation, SpaceKind};
use stdx::ids::{PageId, PageNumber, SpaceId};

use crate::{BufferPool, FileFault, NoLogicalRecords, NothingNeeded, PoolOptions, StorageError, space_path};

const SPACES: u32 = 5;

fn open(disk: &SimulatedDisk) -> Result<Arc<BufferPool>, StorageError> {
    let environment = Environment::simulated(disk.clone(), 1);
    // Copies of pages would have their files opened.
    let options = PoolOptions { doublewrite: false, ..PoolOptions::small(64) };
    let pool = BufferPool::open(environment, options, &mut NoLogicalRecords)?;
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    Ok(pool)
}

fn page(space: u32) -> PageId {
    PageId { space: SpaceId(space), number: PageNumber(1) }
}

fn set(pool: &BufferPool, space: u32, value: u32) {
    let mut mini = pool.mini_transaction();
    let slot = mini.latch(page(space)).unwrap();
    mini.apply(slot, &PageOperation::SetBytes { offset: 100, bytes: &value.to_le_bytes() });
    let end = mini.commit();
    pool.redo().flush_to(end).unwrap();
}

fn value(pool: &BufferPool, space: u32) -> Result<u32, StorageError> {
    let shared = pool.shared(page(space))?;
    Ok(u32::from_le_bytes(shared[100..104].try_into().unwrap()))
}

/// Spaces whose page 1 holds their number, after a clean end.
fn directory() -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let pool = open(&disk).unwrap();
    for space in 1..=SPACES {
        pool.create_space(SpaceId(space), SpaceKind::Table, &space_path(SpaceId(space))).unwrap();
        let mut mini = pool.mini_transaction();
        mini.allocate(SpaceId(space)).unwrap();
        mini.commit();
        set(&pool, space, space);
    }
    pool.shutdown().unwrap();
    disk.restart_with_durable_state()
}

fn path_of(space: u32) -> std::path::PathBuf {
    space_path(SpaceId(space))
}

#[test]
fn a_start_opens_what_the_log_speaks_of() {
    let disk = directory();
    let pool = open(&disk).unwrap();
    assert!((1..=SPACES).all(|space| pool.has_file(SpaceId(space)) && !pool.has_opened(SpaceId(space))));
    assert_eq!(pool.spaces().len(), SPACES as usize);
    // Nobody has looked whose file it is.
    assert!(matches!(value(&pool, 2), Err(StorageError::SpaceMissing(SpaceId(2)))));
    for _ in 0..2 {
        assert_eq!(pool.open_found_space(SpaceId(2)).unwrap(), None);
        assert_eq!(value(&pool, 2).unwrap(), 2);
    }
    set(&pool, 2, 20);
    drop(pool);
    let pool = open(&disk.restart_with_durable_state()).unwrap();
    assert!(pool.has_opened(SpaceId(2)) && !pool.has_opened(SpaceId(3)));
    assert_eq!(value(&pool, 2).unwrap(), 20);
    // They go unopened, and their numbers are free of files then.
    pool.remove_space(SpaceId(3)).unwrap();
    assert!(!pool.has_file(SpaceId(3)));
    assert!(matches!(pool.open_found_space(SpaceId(3)), Err(StorageError::SpaceMissing(_))));
    let aside = pool.set_space_aside(SpaceId(4)).unwrap();
    assert_eq!((aside.as_path(), pool.has_file(SpaceId(4))), (Path::new("#lost+found/#tables.4.ibd"), false));
}

#[test]
fn faults_show_when_a_file_is_opened() {
    let disk = directory();
    disk.corrupt(&path_of(1), 100, &[0x5A; 64]);
    // A copy under another space's name.
    let bytes = disk.contents(&path_of(3)).unwrap();
    disk.corrupt(&path_of(2), 0, &bytes);
    let stranger = directory_of_another_server();
    disk.corrupt(&path_of(3), 0, &stranger);
    disk.deny(&path_of(4));
    let pool = open(&disk).unwrap();
    assert_eq!(pool.open_found_space(SpaceId(1)).unwrap(), Some(FileFault::Damaged));
    assert_eq!(pool.open_found_space(SpaceId(2)).unwrap(), Some(FileFault::Damaged));
    assert_eq!(pool.open_found_space(SpaceId(3)).unwrap(), Some(FileFault::Foreign));
    assert!(matches!(pool.open_found_space(SpaceId(4)).unwrap(), Some(FileFault::Unreadable(_))));
    let left: Vec<bool> = (1..=SPACES).map(|space| pool.has_file(SpaceId(space))).collect();
    assert_eq!(left, [true, true, false, false, true]);
    pool.open_damaged_space(SpaceId(1), &path_of(1)).unwrap();
    pool.remove_space(SpaceId(1)).unwrap();
    assert!(disk.contents(&path_of(1)).is_none() && disk.contents(&path_of(3)).unwrap() == stranger);
    disk.set_open_files_max(Some(0));
    assert!(pool.open_found_space(SpaceId(5)).unwrap_err().is_lack_of_descriptors());
    disk.set_open_files_max(None);
    assert_eq!(pool.open_found_space(SpaceId(5)).unwrap(), None);
    assert_eq!(value(&pool, 5).unwrap(), 5);
}

/// Who asks for a file that others are opening finds it open, not missing, though nobody keeps them apart.
#[test]
fn many_threads_may_open_a_file_at_once() {
    let disk = directory();
    for _ in 0..200 {
        let pool = open(&disk).unwrap();
        let start = std::sync::Barrier::new(4);
        let look = || {
            (1..=SPACES).map(|space| {
                start.wait();
                (pool.open_found_space(SpaceId(space)), value(&pool, space))
            })
        };
        let found = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| look().collect::<Vec<_>>()));
            threads.map(|thread| thread.join().unwrap())
        });
        for (space, (fault, value)) in found.into_iter().flat_map(|found| (1..=SPACES).zip(found)) {
            assert_eq!((fault.unwrap(), value.unwrap()), (None, space));
        }
    }
}

fn directory_of_another_server() -> Vec<u8> {
    let disk = SimulatedDisk::new(9);
    let environment = Environment::simulated(disk.clone(), 9);
    let pool = BufferPool::open(environment, PoolOptions::small(64), &mut NoLogicalRecords).unwrap();
    pool.create_space(SpaceId(3), SpaceKind::Table, &path_of(3)).unwrap();
    disk.contents(&path_of(3)).unwrap()
}

#[test]
fn a_copy_under_any_other_name_is_refused() {
    for name in ["#tables/copy.ibd", "#tables/02.ibd", "#tables/2 (copy).ibd", "schema/t.ibd", "2.ibd"] {
        let disk = directory();
        let bytes = disk.contents(&path_of(2)).unwrap();
        env::Disk::create_directory(&disk, Path::new("schema")).unwrap();
        let file = env::Disk::open(&disk, Path::new(name), env::OpenMode::CreateNew).unwrap();
        file.write_at(&bytes, 0).unwrap();
        let refused = open(&disk).err().unwrap();
        assert!(matches!(&refused, StorageError::SpaceTwice(SpaceId(2), ..)), "{name}: {refused:?}");
    }
}
