//! The operating system's files behave as the traits promise.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};

use stdx::aligned::AlignedBuffer;

use crate::{Disk, DiskErrorKind, OpenMode, Random, RealDisk, RealRandom};

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        Scratch(std::env::temp_dir().join(format!("iruka-env-{:016x}", RealRandom.next_u64())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn kind<T>(outcome: Result<T, crate::DiskError>) -> Option<DiskErrorKind> {
    outcome.err().map(|error| error.kind)
}

#[test]
fn files_are_written_read_grown_and_cut() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    disk.create_directory(Path::new("")).unwrap();
    let file = disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    assert!(file.is_empty().unwrap());
    file.write_at(b"hello", 3).unwrap();
    assert_eq!(file.len().unwrap(), 8);
    let mut bytes = [9; 6];
    file.read_at(&mut bytes, 2).unwrap();
    assert_eq!(&bytes, b"\0hello");
    assert_eq!(kind(file.read_at(&mut bytes, 3)), Some(DiskErrorKind::UnexpectedEnd));
    file.allocate(0, 1 << 20).unwrap();
    assert_eq!(file.len().unwrap(), 1 << 20);
    file.allocate(0, 10).unwrap();
    assert_eq!(file.len().unwrap(), 1 << 20, "never shorter");
    file.set_len(100).unwrap();
    assert_eq!(file.len().unwrap(), 100);
    file.sync_data().unwrap();
    file.sync_all().unwrap();
}

#[test]
fn names_come_and_go() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    disk.create_directory(Path::new("x/y")).unwrap();
    assert!(
        disk.directory_exists(Path::new("x/y")).unwrap() && !disk.directory_exists(Path::new("z")).unwrap()
    );
    assert_eq!(kind(disk.open(Path::new("a"), OpenMode::Existing)), Some(DiskErrorKind::NotFound));
    disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    assert_eq!(kind(disk.open(Path::new("a"), OpenMode::CreateNew)), Some(DiskErrorKind::AlreadyExists));
    disk.open(Path::new("a"), OpenMode::CreateIfMissing).unwrap();
    assert_eq!(disk.list(Path::new("")).unwrap(), ["a", "x/"]);
    disk.rename(Path::new("a"), Path::new("x/b")).unwrap();
    disk.sync_directory(Path::new("")).unwrap();
    disk.sync_directory(Path::new("x")).unwrap();
    assert_eq!(disk.list(Path::new("x")).unwrap(), ["b", "y/"]);
    disk.remove(Path::new("x/b")).unwrap();
    assert_eq!(kind(disk.remove(Path::new("x/b"))), Some(DiskErrorKind::NotFound));
    disk.remove_directory(Path::new("x/y")).unwrap();
    assert!(disk.list(Path::new("x")).unwrap().is_empty());
    assert!(disk.display_path(Path::new("x")).starts_with(&scratch.0));
}

#[test]
fn errors_name_files_as_they_are_called_by_now() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    disk.create_directory(Path::new("x")).unwrap();
    let file = disk.open(Path::new("x/a.new"), OpenMode::CreateNew).unwrap();
    let named = || file.read_at(&mut [0], 0).unwrap_err().path;
    assert_eq!(named(), Path::new("x/a.new"));
    disk.rename(Path::new("x/a.new"), Path::new("x/b")).unwrap();
    assert_eq!(named(), Path::new("x/b"));
    disk.create_directory(Path::new("y")).unwrap();
    disk.rename(Path::new("x/b"), Path::new("y/c")).unwrap();
    assert_eq!(named(), Path::new("y/c"));
    disk.remove(Path::new("y/c")).unwrap();
    assert_eq!(named(), Path::new("x/a.new"));
    let temporary = disk.create_temporary(Path::new("x")).unwrap();
    assert!(temporary.read_at(&mut [0], 0).unwrap_err().to_string().contains("temporary"));
}

#[test]
fn a_second_lock_is_refused() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    disk.create_directory(Path::new("")).unwrap();
    let held = disk.lock(Path::new("lock")).unwrap();
    assert_eq!(kind(disk.lock(Path::new("lock"))), Some(DiskErrorKind::Locked));
    drop(held);
    assert!(disk.lock(Path::new("lock")).is_ok());
}

#[test]
fn direct_access_works_or_falls_back() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    disk.create_directory(Path::new("")).unwrap();
    let file = disk.open(Path::new("a"), OpenMode::CreateNew).unwrap();
    file.allocate(0, 16384).unwrap();
    let direct = disk.open(Path::new("a"), OpenMode::ExistingDirect).unwrap();
    let mut buffer = AlignedBuffer::zeroed(8192);
    buffer.fill(7);
    direct.write_at(&buffer, 4096).unwrap();
    let mut bytes = [0; 8192];
    file.read_at(&mut bytes, 4096).unwrap();
    assert_eq!(bytes, [7; 8192]);
}

#[test]
fn entropy_differs() {
    assert_ne!(RealRandom.next_u64(), RealRandom.next_u64());
    let mut long = [0; 1000];
    RealRandom.fill(&mut long);
    assert!(long.iter().filter(|byte| **byte == 0).count() < 100);
}

#[test]
fn rights_keep_others_out() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let root = scratch.0.join("made");
    let disk = RealDisk::new(&root);
    disk.create_directory(Path::new("x")).unwrap();
    disk.open(Path::new("plain"), OpenMode::CreateNew).unwrap();
    std::fs::write(root.join("key"), b"old").unwrap();
    disk.open(Path::new("key"), OpenMode::CreatePrivate).unwrap();
    disk.open(Path::new("new key"), OpenMode::CreatePrivate).unwrap();
    let rights =
        |name: &str| std::fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o777 & !0o022;
    assert_eq!(["", "x"].map(rights), [0o750 & !0o022; 2]);
    assert_eq!(rights("plain") & 0o007, 0);
    assert_eq!(["key", "new key"].map(rights), [0o600; 2]);
}

#[test]
fn real_paths_follow_links() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    std::fs::create_dir_all(scratch.0.join("folder")).unwrap();
    std::fs::write(scratch.0.join("folder/file"), b"x").unwrap();
    std::os::unix::fs::symlink(scratch.0.join("folder"), scratch.0.join("link")).unwrap();
    let real = disk.real_path(Path::new("folder/file")).unwrap();
    assert_eq!(disk.real_path(Path::new("link/file")).unwrap(), real);
    assert_eq!(disk.real_path(Path::new("link/../folder/file")).unwrap(), real);
    assert_eq!(kind(disk.real_path(Path::new("link/none"))), Some(DiskErrorKind::NotFound));
    // What a link leads to counts in lists too.
    for (target, name) in [("nowhere", "lost"), ("loop", "loop"), ("folder/file", "to_file")] {
        std::os::unix::fs::symlink(target, scratch.0.join(name)).unwrap();
    }
    assert_eq!(disk.list(Path::new("")).unwrap(), ["folder/", "link/", "loop", "lost", "to_file"]);
    assert_eq!(disk.list(Path::new("link")).unwrap(), ["file"]);
}

#[test]
fn temporary_files_have_no_name_and_give_blocks_back() {
    use std::os::unix::fs::MetadataExt;
    let scratch = Scratch::new();
    let environment = crate::Environment::real(&scratch.0);
    let file = environment.temporary_file().unwrap();
    file.write_at(&[7; 1 << 20], 0).unwrap();
    file.discard(0, 1 << 19).unwrap();
    let mut bytes = [1; 2];
    file.read_at(&mut bytes, (1 << 19) - 1).unwrap();
    assert_eq!((file.len().unwrap(), bytes[1]), (1 << 20, 7));
    file.set_len(0).unwrap();
    assert!(file.is_empty().unwrap());
    let directory = scratch.0.join(crate::TEMPORARY_DIRECTORY);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    assert!(std::fs::metadata(&directory).unwrap().mode() & 0o100 != 0);

    // What a kill between creating and unlinking leaves, and a stranger's file.
    std::fs::write(directory.join("temporary_0"), b"left").unwrap();
    std::fs::write(directory.join("other"), b"kept").unwrap();
    environment.remove_temporary_leftovers().unwrap();
    assert_eq!(environment.disk.list(Path::new(crate::TEMPORARY_DIRECTORY)).unwrap(), ["other"]);
}

#[test]
fn a_pipe_is_refused_at_once() {
    let scratch = Scratch::new();
    let disk = RealDisk::new(&scratch.0);
    std::fs::create_dir_all(&scratch.0).unwrap();
    let path = scratch.0.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    // Nobody writes into it: an open that waits for that would never end.
    assert!(disk.open(Path::new("pipe"), OpenMode::ReadOnly).is_err());
}
