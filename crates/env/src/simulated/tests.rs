//! Each crash effect and each fault of the simulated disk fires, and a forgotten sync is seen.

use std::path::Path;
use std::sync::Arc;

use super::{Fault, FaultKind, OperationClass, SimulatedDisk};
use crate::{Disk, DiskErrorKind, File, OpenMode};

const NAME: &str = "data";

fn disk_with_file(length: u64) -> (SimulatedDisk, Arc<dyn File>) {
    let disk = SimulatedDisk::new(1);
    let file = disk.open(Path::new(NAME), OpenMode::CreateNew).unwrap();
    file.set_len(length).unwrap();
    file.sync_all().unwrap();
    disk.sync_directory(Path::new("")).unwrap();
    (disk, file)
}

fn contents_after(disk: &SimulatedDisk, seed: u64) -> Vec<u8> {
    disk.restart(seed).contents(Path::new(NAME)).unwrap()
}

#[test]
fn synced_writes_survive_every_crash() {
    let (disk, file) = disk_with_file(8192);
    file.write_at(&[7; 8192], 0).unwrap();
    file.sync_data().unwrap();
    for seed in 0..100 {
        assert_eq!(contents_after(&disk, seed), [7; 8192]);
    }
}

#[test]
fn unsynced_writes_vanish_survive_tear_and_reorder() {
    let (disk, file) = disk_with_file(16384);
    file.write_at(&[1; 16384], 0).unwrap();
    file.write_at(&[2; 16384], 0).unwrap();
    let (mut none, mut all, mut torn_512, mut torn_4096, mut reordered) = (0, 0, 0, 0, 0);
    for seed in 0..300 {
        let contents = contents_after(&disk, seed);
        let mixed_at =
            |unit: usize| contents.chunks(unit).any(|part| part.iter().any(|byte| *byte != part[0]));
        none += i32::from(contents == [0; 16384]);
        all += i32::from(contents == [2; 16384]);
        torn_512 += i32::from(mixed_at(4096));
        torn_4096 += i32::from(!mixed_at(4096) && contents != [contents[0]; 16384]);
        reordered += i32::from(contents == [1; 16384]);
        assert!(!mixed_at(512), "no tear within a sector");
    }
    assert!(none > 0 && all > 0 && torn_512 > 0 && torn_4096 > 0 && reordered > 0);
}

#[test]
fn unsynced_growth_can_vanish() {
    let (disk, file) = disk_with_file(512);
    file.allocate(0, 4096).unwrap();
    let lengths: Vec<usize> = (0..100).map(|seed| contents_after(&disk, seed).len()).collect();
    assert!(lengths.contains(&512) && lengths.contains(&4096));
}

#[test]
fn directory_changes_need_a_directory_sync() {
    let disk = SimulatedDisk::new(1);
    let file = disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    file.sync_all().unwrap();
    let exists =
        |disk: &SimulatedDisk, seed, name: &str| disk.restart(seed).contents(Path::new(name)).is_some();
    assert!((0..50).any(|seed| exists(&disk, seed, "a")) && (0..50).any(|seed| !exists(&disk, seed, "a")));
    let disk = SimulatedDisk::new(1);
    disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    disk.sync_directory(Path::new("")).unwrap();
    disk.rename(Path::new("a"), Path::new("b")).unwrap();
    for seed in 0..50 {
        assert!(exists(&disk, seed, "a") != exists(&disk, seed, "b"), "a rename is atomic");
    }
    let disk = SimulatedDisk::new(1);
    disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    disk.rename(Path::new("a"), Path::new("b")).unwrap();
    disk.sync_directory(Path::new("")).unwrap();
    let disk = disk.restart_with_durable_state();
    assert!(disk.contents(Path::new("b")).is_some());
    disk.remove(Path::new("b")).unwrap();
    assert!((0..50).any(|seed| exists(&disk, seed, "b")) && (0..50).any(|seed| !exists(&disk, seed, "b")));
}

#[test]
fn a_directory_that_was_not_synced_takes_its_files_along() {
    let disk = SimulatedDisk::new(1);
    disk.create_directory(Path::new("shop")).unwrap();
    let file = disk.open(Path::new("shop/item"), OpenMode::CreateNew).unwrap();
    file.sync_all().unwrap();
    disk.sync_directory(Path::new("shop")).unwrap();
    let kept = (0..50).filter(|seed| disk.restart(*seed).contents(Path::new("shop/item")).is_some()).count();
    assert!(kept > 0 && kept < 50);
    let disk = SimulatedDisk::new(1);
    disk.create_directory(Path::new("shop")).unwrap();
    disk.sync_directory(Path::new("")).unwrap();
    assert!(disk.restart_with_durable_state().directory_exists(Path::new("shop")).unwrap());
}

#[test]
fn faults_strike_the_operation_they_name() {
    let (disk, file) = disk_with_file(512);
    let counts = disk.counts();
    let fault = |class, nth, kind| disk.add_fault(Fault { class, nth, kind });
    fault(OperationClass::Write, counts.writes + 1, FaultKind::InputOutput);
    fault(OperationClass::Write, counts.writes + 2, FaultKind::NoSpace);
    fault(OperationClass::Write, counts.writes + 3, FaultKind::ShortWrite);
    fault(OperationClass::Read, counts.reads, FaultKind::InputOutput);
    file.write_at(&[1; 512], 0).unwrap();
    assert_eq!(file.write_at(&[2; 512], 0).unwrap_err().errno, 5);
    assert_eq!(file.write_at(&[3; 512], 0).unwrap_err().kind, DiskErrorKind::NoSpace);
    assert_eq!(disk.contents(Path::new(NAME)).unwrap(), [1; 512]);
    assert_eq!(file.write_at(&[4; 512], 0).unwrap_err().kind, DiskErrorKind::NoSpace);
    assert_eq!(disk.contents(Path::new(NAME)).unwrap()[254..258], [4, 4, 1, 1]);
    assert!(file.read_at(&mut [0; 4], 0).is_err());
    assert!(file.read_at(&mut [0; 4], 0).is_ok());
}

#[test]
fn a_failed_sync_loses_writes_for_good() {
    let mut lost = 0;
    for seed in 0..50 {
        let disk = SimulatedDisk::new(seed);
        let file = disk.open(Path::new(NAME), OpenMode::CreateNew).unwrap();
        disk.sync_directory(Path::new("")).unwrap();
        file.set_len(512).unwrap();
        file.sync_all().unwrap();
        file.write_at(&[9; 512], 0).unwrap();
        let nth = disk.counts().syncs;
        disk.add_fault(Fault { class: OperationClass::Sync, nth, kind: FaultKind::InputOutput });
        assert!(file.sync_data().is_err());
        assert!(file.sync_data().is_ok(), "the second one lies, as Linux does");
        lost += i32::from(disk.restart(1).contents(Path::new(NAME)).unwrap() != [9; 512]);
    }
    assert!(lost > 0 && lost < 50);
}

#[test]
fn a_planted_skipped_sync_is_seen() {
    let (disk, file) = disk_with_file(512);
    let nth = disk.counts().syncs;
    disk.add_fault(Fault { class: OperationClass::Sync, nth, kind: FaultKind::SilentlySkipped });
    file.write_at(&[9; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert!((0..50).any(|seed| contents_after(&disk, seed) != [9; 512]));
}

#[test]
fn after_the_crash_everything_fails() {
    let (disk, file) = disk_with_file(512);
    disk.crash_at(disk.counts().mutations + 1);
    file.write_at(&[1; 512], 0).unwrap();
    assert!(file.sync_data().unwrap_err().is_crash());
    assert!(file.read_at(&mut [0; 4], 0).unwrap_err().is_crash());
    assert!(disk.list(Path::new("")).unwrap_err().is_crash());
    assert!(disk.has_crashed());
    assert_eq!(disk.restart_after_kill().contents(Path::new(NAME)).unwrap(), [1; 512]);
    assert_eq!(disk.restart_with_durable_state().contents(Path::new(NAME)).unwrap(), [0; 512]);
}

#[test]
fn a_full_disk_refuses_growth_and_recovers() {
    let (disk, file) = disk_with_file(512);
    disk.set_capacity_bytes(Some(1024));
    file.allocate(0, 1024).unwrap();
    assert_eq!(file.allocate(0, 1536).unwrap_err().kind, DiskErrorKind::NoSpace);
    assert_eq!(file.write_at(&[1], 1024).unwrap_err().kind, DiskErrorKind::NoSpace);
    file.write_at(&[1], 1023).unwrap();
    disk.set_capacity_bytes(Some(1200));
    assert_eq!(file.allocate(0, 1536).unwrap_err().kind, DiskErrorKind::NoSpace);
    assert_eq!(file.len().unwrap(), 1200, "what was left is taken");
    disk.set_capacity_bytes(None);
    file.allocate(0, 1536).unwrap();
}

#[test]
fn locks_exclude_until_dropped() {
    let (disk, _) = disk_with_file(0);
    let held = disk.lock(Path::new("lock")).unwrap();
    assert_eq!(disk.lock(Path::new("lock")).err().map(|error| error.kind), Some(DiskErrorKind::Locked));
    drop(held);
    assert!(disk.lock(Path::new("lock")).is_ok());
}

#[test]
fn lists_name_files_and_directories() {
    let (disk, _) = disk_with_file(0);
    disk.create_directory(Path::new("shop")).unwrap();
    disk.open(Path::new("shop/item.ibd"), OpenMode::CreateNew).unwrap();
    assert_eq!(disk.list(Path::new("")).unwrap(), ["data", "shop/"]);
    assert_eq!(disk.list(Path::new("shop")).unwrap(), ["item.ibd"]);
    assert_eq!(disk.list(Path::new("none")).unwrap_err().kind, DiskErrorKind::NotFound);
}

#[test]
fn temporary_files_hold_blocks_fail_and_are_lost() {
    let disk = SimulatedDisk::new(1);
    let file = disk.create_temporary(Path::new("t")).unwrap();
    file.write_at(&[7; 12288], 100).unwrap();
    assert_eq!((file.len().unwrap(), disk.used_bytes()), (12388, 16384));
    file.discard(50, 8142).unwrap();
    assert_eq!(disk.used_bytes(), 12288, "one block lies wholly in the range");
    let mut bytes = [9; 3];
    file.read_at(&mut bytes, 8190).unwrap();
    assert_eq!(bytes, [0, 0, 7]);
    assert_eq!(file.read_at(&mut bytes, 12386).unwrap_err().kind, DiskErrorKind::UnexpectedEnd);

    disk.set_capacity_bytes(Some(disk.used_bytes() + 4096));
    assert_eq!(file.write_at(&[1; 8192], 16384).unwrap_err().kind, DiskErrorKind::NoSpace);
    file.write_at(&[1; 4096], 16384).unwrap();
    disk.add_fault(Fault {
        class: OperationClass::Read,
        nth: disk.counts().reads,
        kind: FaultKind::InputOutput,
    });
    assert_eq!(file.read_at(&mut bytes, 8190).unwrap_err().kind, DiskErrorKind::Other);
    file.set_len(0).unwrap();
    assert_eq!(disk.used_bytes(), 0);
    file.write_at(&[1; 10], 0).unwrap();

    let killed = disk.restart_after_kill();
    assert_eq!((killed.used_bytes(), killed.list(Path::new("t")).unwrap().len()), (0, 0));
    assert_eq!(file.write_at(&[1], 0).unwrap_err().kind, DiskErrorKind::Crashed);
}

#[test]
fn a_disk_without_descriptors_opens_nothing_and_changes_nothing() {
    let disk = SimulatedDisk::new(1);
    let file = disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    let directory = disk.directory(Path::new("")).unwrap();
    disk.set_open_files_max(Some(2));
    let refused = [
        disk.open(Path::new("a"), OpenMode::Existing).err().unwrap(),
        disk.open(Path::new("b"), OpenMode::CreateIfMissing).err().unwrap(),
        disk.directory(Path::new("")).err().unwrap(),
        disk.create_temporary(Path::new("")).err().unwrap(),
        disk.list(Path::new("")).unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.kind == DiskErrorKind::TooManyFiles && error.errno == 24));
    // What is open works.
    file.write_at(&[1], 0).unwrap();
    directory.sync().unwrap();
    drop(file);
    assert_eq!(disk.list(Path::new("")).unwrap(), ["a"]);
    drop(disk.create_temporary(Path::new("")).unwrap());
    assert_eq!(disk.open_files(), 1);
}
