//! [`RealDisk`]: the operating system's files below a root directory.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Access, FallocateFlags, FlockOperation, OFlags};
use rustix::io::Errno;

use crate::temporary::TEMPORARY_PREFIX;
use crate::{Directory, Disk, DiskError, DiskErrorKind, DiskResult, File, FileLock, OpenMode};

/// What messages call a file without a name.
const UNNAMED: &str = "(temporary file)";

/// Rights of directories: the server's account, and its group to look.
const DIRECTORY_MODE: u32 = 0o750;
/// Rights of files: the same.
const FILE_MODE: u32 = 0o640;
/// Rights of files that hold secrets.
const PRIVATE_MODE: u32 = 0o600;

/// Files of the operating system.
pub struct RealDisk {
    root: PathBuf,
}

impl RealDisk {
    /// A disk whose paths are relative to `root`. The directory is created by `create_directory` of the empty path.
    pub fn new(root: &Path) -> RealDisk {
        RealDisk { root: root.to_path_buf() }
    }

    fn full(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    fn open_with(&self, path: &Path, mode: OpenMode, direct: bool) -> std::io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.read(true).write(mode != OpenMode::ReadOnly).mode(FILE_MODE);
        match mode {
            OpenMode::Existing | OpenMode::ReadOnly | OpenMode::ExistingDirect => {}
            OpenMode::CreateNew => {
                options.create_new(true);
            }
            OpenMode::CreateIfMissing => {
                options.create(true).truncate(false);
            }
            OpenMode::CreatePrivate => {
                options.create(true).truncate(false).mode(PRIVATE_MODE);
            }
        }
        let mut flags = if direct { OFlags::DIRECT } else { OFlags::empty() };
        // The open of a pipe for reading would wait for somebody to write into it.
        flags.set(OFlags::NONBLOCK, mode == OpenMode::ReadOnly);
        options.custom_flags(flags.bits().cast_signed());
        let file = options.open(self.full(path))?;
        if mode == OpenMode::ReadOnly && file.metadata()?.file_type().is_fifo() {
            // It has no positions to read from.
            return Err(Errno::SPIPE.into());
        }
        if mode == OpenMode::CreatePrivate {
            // The file may have been there with other rights.
            file.set_permissions(std::fs::Permissions::from_mode(PRIVATE_MODE))?;
        }
        Ok(file)
    }

    /// A file without a name; where the file system knows none, one whose name is removed at once.
    fn open_unnamed(&self, directory: &Path) -> DiskResult<RealFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(PRIVATE_MODE).custom_flags(OFlags::TMPFILE.bits().cast_signed());
        match options.open(self.full(directory)) {
            Ok(file) => Ok(RealFile { file, path: directory.join(UNNAMED) }),
            // EISDIR is what kernels say that do not know the flag.
            Err(error) if is_one_of(&error, &[Errno::OPNOTSUPP, Errno::ISDIR, Errno::NOSYS]) => {
                self.open_and_unlink(directory)
            }
            Err(error) => Err(disk_error(error, "create temporary file in", directory)),
        }
    }

    fn open_and_unlink(&self, directory: &Path) -> DiskResult<RealFile> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{TEMPORARY_PREFIX}{number}"));
            match self.open_with(&path, OpenMode::CreateNew, false) {
                Ok(file) => {
                    self.remove(&path)?;
                    return Ok(RealFile { file, path });
                }
                // Left by a process that was killed between the two steps.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(disk_error(error, "create temporary file", &path)),
            }
        }
    }
}

fn is_one_of(error: &std::io::Error, numbers: &[Errno]) -> bool {
    numbers.iter().any(|number| error.raw_os_error() == Some(number.raw_os_error()))
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> DiskResult<Arc<dyn File>> {
        let direct = mode == OpenMode::ExistingDirect;
        let file = match self.open_with(path, mode, direct) {
            // Some file systems (tmpfs of old kernels, network file systems) know no direct access.
            Err(error) if direct && error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                self.open_with(path, mode, false)
            }
            outcome => outcome,
        };
        let file = file.map_err(|error| disk_error(error, "open", path))?;
        Ok(Arc::new(RealFile { file, path: path.to_path_buf() }))
    }

    fn remove(&self, path: &Path) -> DiskResult<()> {
        std::fs::remove_file(self.full(path)).map_err(|error| disk_error(error, "remove", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> DiskResult<()> {
        std::fs::rename(self.full(from), self.full(to)).map_err(|error| disk_error(error, "rename", from))
    }

    fn list(&self, directory: &Path) -> DiskResult<Vec<String>> {
        let failed = |error| disk_error(error, "list", directory);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.full(directory)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Names that are not UTF-8 are none of ours.
            if let Ok(mut name) = entry.file_name().into_string() {
                let kind = entry.file_type().map_err(failed)?;
                // A schema's directory may lie on another disk. A link that leads nowhere is none.
                let leads_to_one = || std::fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
                if kind.is_dir() || kind.is_symlink() && leads_to_one() {
                    name.push('/');
                }
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn directory_exists(&self, path: &Path) -> DiskResult<bool> {
        match std::fs::metadata(self.full(path)) {
            Ok(metadata) => Ok(metadata.is_dir()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(disk_error(error, "stat", path)),
        }
    }

    fn may_write_in(&self, path: &Path) -> bool {
        let is_allowed = || rustix::fs::access(self.full(path), Access::READ_OK | Access::WRITE_OK).is_ok();
        self.directory_exists(path).unwrap_or(false) && is_allowed()
    }

    fn create_directory(&self, path: &Path) -> DiskResult<()> {
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(DIRECTORY_MODE).create(self.full(path));
        made.map_err(|error| disk_error(error, "create directory", path))
    }

    fn real_path(&self, path: &Path) -> DiskResult<PathBuf> {
        std::fs::canonicalize(self.full(path)).map_err(|error| disk_error(error, "resolve", path))
    }

    fn remove_directory(&self, path: &Path) -> DiskResult<()> {
        std::fs::remove_dir(self.full(path)).map_err(|error| disk_error(error, "remove directory", path))
    }

    fn directory(&self, path: &Path) -> DiskResult<Arc<dyn Directory>> {
        let file = std::fs::File::open(self.full(path));
        let file = file.map_err(|error| disk_error(error, "open directory", path))?;
        Ok(Arc::new(RealDirectory { file, path: path.to_path_buf() }))
    }

    fn create_temporary(&self, directory: &Path) -> DiskResult<Arc<dyn File>> {
        let mut outcome = self.open_unnamed(directory);
        if outcome.as_ref().is_err_and(|error| error.kind == DiskErrorKind::NotFound) {
            self.create_directory(directory)?;
            outcome = self.open_unnamed(directory);
        }
        Ok(Arc::new(outcome?))
    }

    fn lock(&self, path: &Path) -> DiskResult<Box<dyn FileLock>> {
        let file = self
            .open_with(path, OpenMode::CreateIfMissing, false)
            .map_err(|error| disk_error(error, "lock", path))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Box::new(RealLock { _file: file })),
            Err(Errno::WOULDBLOCK) => Err(DiskError::new(DiskErrorKind::Locked, "lock", path)),
            Err(errno) => Err(disk_error(errno.into(), "lock", path)),
        }
    }

    fn display_path(&self, path: &Path) -> PathBuf {
        self.full(path)
    }
}

struct RealFile {
    file: std::fs::File,
    /// What it was called when it was opened.
    path: PathBuf,
}

impl RealFile {
    fn failed(&self, operation: &'static str) -> impl Fn(std::io::Error) -> DiskError + '_ {
        move |error| disk_error(error, operation, &self.present_path())
    }

    /// What the file is called by now: many get their names only when they are whole, and tables are renamed.
    fn present_path(&self) -> PathBuf {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        let names: Vec<_> = link.iter().flat_map(|link| link.components()).collect();
        // Renaming keeps how deep a file lies below the root.
        let depth = self.path.components().count();
        let present: PathBuf = names[names.len().saturating_sub(depth)..].iter().collect();
        // Without it, or of a file that was removed, the old name says more.
        let is_there = self.file.metadata().is_ok_and(|metadata| metadata.nlink() > 0);
        if names.is_empty() || !is_there || self.path.is_absolute() { self.path.clone() } else { present }
    }
}

impl File for RealFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> DiskResult<()> {
        self.file.read_exact_at(bytes, offset).map_err(self.failed("read"))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> DiskResult<()> {
        self.file.write_all_at(bytes, offset).map_err(self.failed("write"))
    }

    fn sync_data(&self) -> DiskResult<()> {
        self.file.sync_data().map_err(|error| failed_sync(self.failed("fdatasync")(error)))
    }

    fn sync_all(&self) -> DiskResult<()> {
        self.file.sync_all().map_err(|error| failed_sync(self.failed("fsync")(error)))
    }

    fn allocate(&self, offset: u64, length: u64) -> DiskResult<()> {
        loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), offset, length) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => return self.allocate_by_writing(offset, length),
                Err(errno) => return Err(disk_error(errno.into(), "allocate", &self.path)),
            }
        }
    }

    fn set_len(&self, length: u64) -> DiskResult<()> {
        self.file.set_len(length).map_err(self.failed("set length"))
    }

    fn discard(&self, offset: u64, length: u64) -> DiskResult<()> {
        if length == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        loop {
            match rustix::fs::fallocate(&self.file, flags, offset, length) {
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(disk_error(errno.into(), "discard", &self.path)),
            }
        }
    }

    fn len(&self) -> DiskResult<u64> {
        Ok(self.file.metadata().map_err(self.failed("stat"))?.len())
    }
}

impl RealFile {
    /// For file systems without fallocate: writes zeroes past the present end (never over data).
    fn allocate_by_writing(&self, offset: u64, length: u64) -> DiskResult<()> {
        const CHUNK_BYTES: u64 = 1 << 20;
        let end = offset.saturating_add(length);
        let mut position = self.len()?;
        let zeroes = vec![0; CHUNK_BYTES as usize];
        while position < end {
            let count = CHUNK_BYTES.min(end - position);
            self.write_at(&zeroes[..count as usize], position)?;
            position += count;
        }
        Ok(())
    }
}

struct RealDirectory {
    file: std::fs::File,
    path: PathBuf,
}

impl Directory for RealDirectory {
    fn sync(&self) -> DiskResult<()> {
        self.file.sync_all().map_err(|error| failed_sync(disk_error(error, "sync directory", &self.path)))
    }
}

/// The lock lives as long as the open file.
struct RealLock {
    _file: std::fs::File,
}

impl FileLock for RealLock {}

/// What a sync that fails has lost does not come back with more room (I2): for callers it is no full disk, whatever the operating system
/// calls it.
fn failed_sync(error: DiskError) -> DiskError {
    DiskError { kind: DiskErrorKind::Other, ..error }
}

fn disk_error(error: std::io::Error, operation: &'static str, path: &Path) -> DiskError {
    use std::io::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::NotFound => DiskErrorKind::NotFound,
        ErrorKind::AlreadyExists => DiskErrorKind::AlreadyExists,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => DiskErrorKind::NoSpace,
        ErrorKind::UnexpectedEof => DiskErrorKind::UnexpectedEnd,
        ErrorKind::PermissionDenied => DiskErrorKind::PermissionDenied,
        _ if is_one_of(&error, &[Errno::MFILE, Errno::NFILE]) => DiskErrorKind::TooManyFiles,
        _ => DiskErrorKind::Other,
    };
    DiskError { kind, operation, path: path.to_path_buf(), errno: error.raw_os_error().unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_across_file_systems_is_told_apart() {
        let error = |errno: Errno| disk_error(errno.into(), "rename", Path::new("file"));
        assert!(error(Errno::XDEV).is_across_file_systems());
        assert!(!error(Errno::NOSPC).is_across_file_systems());
    }

    #[test]
    fn a_failed_sync_is_no_full_disk() {
        for errno in [Errno::NOSPC, Errno::DQUOT, Errno::FBIG, Errno::IO] {
            let failed = || disk_error(errno.into(), "fsync", Path::new("file"));
            assert_eq!(failed().kind == DiskErrorKind::NoSpace, errno != Errno::IO);
            let error = failed_sync(failed());
            assert_eq!((error.kind, error.errno), (DiskErrorKind::Other, errno.raw_os_error()));
        }
    }
}
