//! The traits [`Disk`], [`File`] and [`Directory`], and [`DiskError`]. No implementation.
//!
//! All calls are synchronous and may be made from any thread. Nothing is durable before a sync says so: file
//! contents need `sync_data` (or `sync_all`), directory entries need a sync of their directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What disk calls return.
pub type DiskResult<T> = Result<T, DiskError>;

/// Files and directories below one root. Paths are relative to it.
pub trait Disk: Send + Sync {
    /// Opens a file for reading and writing.
    fn open(&self, path: &Path, mode: OpenMode) -> DiskResult<Arc<dyn File>>;
    /// Removes a file. Durable after a sync of its directory.
    fn remove(&self, path: &Path) -> DiskResult<()>;
    /// Renames a file, replacing `to` if it exists. Durable after a sync of both directories.
    fn rename(&self, from: &Path, to: &Path) -> DiskResult<()>;
    /// The names of the files and directories in `directory`, sorted. Directories end in `/`.
    fn list(&self, directory: &Path) -> DiskResult<Vec<String>>;
    /// Whether a directory exists.
    fn directory_exists(&self, path: &Path) -> DiskResult<bool>;
    /// Whether there is a directory in which this process may make files. Disks without rights know of none that it may not.
    fn may_write_in(&self, path: &Path) -> bool {
        self.directory_exists(path).unwrap_or(false)
    }
    /// Creates a directory and its missing parents. No error if it exists.
    fn create_directory(&self, path: &Path) -> DiskResult<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> DiskResult<()>;
    /// Opens a directory whose entries are to be made durable; the root is the empty path. Who changes entries has this first: an
    /// open that fails (no descriptor is left) then fails something that was not begun, and is no failed sync.
    fn directory(&self, path: &Path) -> DiskResult<Arc<dyn Directory>>;
    /// Opens a directory and syncs it: for starts, where either failure ends the start.
    fn sync_directory(&self, path: &Path) -> DiskResult<()> {
        self.directory(path)?.sync()
    }
    /// Makes an empty file without a name in `directory`, which is made if it is missing. The file is gone with the last
    /// handle of it or with the process, however that ends: nothing of it is ever found again. Never sync it.
    fn create_temporary(&self, directory: &Path) -> DiskResult<Arc<dyn File>>;
    /// Takes the exclusive lock that the file at `path` stands for; `Locked` if another process has it. It is
    /// released when the returned value is dropped.
    fn lock(&self, path: &Path) -> DiskResult<Box<dyn FileLock>>;
    /// Where a path leads once every symbolic link on it is followed, as an absolute path. `NotFound` if nothing is there.
    /// Disks without links give the path back.
    fn real_path(&self, path: &Path) -> DiskResult<PathBuf> {
        Ok(path.to_path_buf())
    }
    /// The path as the operating system knows it, for messages to people.
    fn display_path(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }
}

/// An open file.
pub trait File: Send + Sync {
    /// Fills `bytes` from `offset`. `UnexpectedEnd` if the file is shorter.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> DiskResult<()>;
    /// Writes all of `bytes` at `offset`, growing the file if it must. After an error any part may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> DiskResult<()>;
    /// Makes earlier writes and the file's length durable. After an error nothing about earlier writes is known,
    /// and calling it again proves nothing (I2): it is never `NoSpace` or another kind that says "later".
    fn sync_data(&self) -> DiskResult<()>;
    /// As `sync_data`, with all metadata.
    fn sync_all(&self) -> DiskResult<()>;
    /// Reserves real blocks for `length` bytes from `offset` and grows the file to their end. `NoSpace` leaves the
    /// file usable with at least its earlier length, and may leave it all the blocks that there were (ext4): who does not
    /// want these cuts the file.
    fn allocate(&self, offset: u64, length: u64) -> DiskResult<()>;
    /// Cuts or extends (with a hole) the file.
    fn set_len(&self, length: u64) -> DiskResult<()>;
    /// Gives the blocks that lie wholly in a range back to the file system; the range reads as zeroes and the length stays.
    /// Where the file system cannot, nothing happens: what the range reads as afterwards must not matter.
    fn discard(&self, offset: u64, length: u64) -> DiskResult<()>;
    /// The length in bytes.
    fn len(&self) -> DiskResult<u64>;
    /// Whether the length is 0.
    fn is_empty(&self) -> DiskResult<bool> {
        Ok(self.len()? == 0)
    }
}

/// An open directory.
pub trait Directory: Send + Sync {
    /// Makes earlier creations, renames and removals in it durable. After an error nothing about them is known (I2).
    fn sync(&self) -> DiskResult<()>;
}

/// Holds an exclusive lock until it is dropped.
pub trait FileLock: Send + Sync {}

/// How [`Disk::open`] treats existence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// The file must exist.
    Existing,
    /// As `Existing`, for reading only: files of the administrator and of clients, which this process may not change.
    ReadOnly,
    /// The file must not exist.
    CreateNew,
    /// Opened if it exists, else created empty.
    CreateIfMissing,
    /// As `CreateIfMissing`, readable by nobody but the account that the process runs under: keys.
    CreatePrivate,
    /// As `Existing`, past the operating system's cache where the file system can (buffers, offsets and lengths must
    /// then be multiples of 4096 bytes, buffers 4096-aligned); opened normally where it cannot.
    ExistingDirect,
}

/// A failed disk call.
#[derive(Clone, Debug)]
pub struct DiskError {
    /// What callers decide by.
    pub kind: DiskErrorKind,
    /// The call, for messages.
    pub operation: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The operating system's number, 0 if there is none.
    pub errno: i32,
}

/// The kinds of failure that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskErrorKind {
    /// No such file or directory.
    NotFound,
    /// The file exists already.
    AlreadyExists,
    /// The disk or the quota is full.
    NoSpace,
    /// The file ends before the bytes asked for.
    UnexpectedEnd,
    /// Another process holds the lock.
    Locked,
    /// The operating system refuses access.
    PermissionDenied,
    /// The process or the machine has no descriptor left. Nothing was done, and it may work later.
    TooManyFiles,
    /// The simulated machine has crashed: no later call succeeds.
    Crashed,
    /// An input/output error, or anything else.
    Other,
}

impl DiskError {
    /// An error without an operating system number.
    pub fn new(kind: DiskErrorKind, operation: &'static str, path: &Path) -> DiskError {
        DiskError { kind, operation, path: path.to_path_buf(), errno: 0 }
    }

    /// Whether something was to be renamed to where another file system is.
    pub fn is_across_file_systems(&self) -> bool {
        self.errno == rustix::io::Errno::XDEV.raw_os_error()
    }

    /// Whether the simulated machine has crashed.
    pub fn is_crash(&self) -> bool {
        self.kind == DiskErrorKind::Crashed
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of '{}' failed: ", self.operation, self.path.display())?;
        if self.errno != 0 {
            return write!(f, "{}", std::io::Error::from_raw_os_error(self.errno));
        }
        f.write_str(match self.kind {
            DiskErrorKind::NotFound => "no such file or directory",
            DiskErrorKind::AlreadyExists => "file exists",
            DiskErrorKind::NoSpace => "no space left on device",
            DiskErrorKind::UnexpectedEnd => "file is too short",
            DiskErrorKind::Locked => "locked by another process",
            DiskErrorKind::PermissionDenied => "permission denied",
            DiskErrorKind::TooManyFiles => "too many open files",
            DiskErrorKind::Crashed => "the simulated machine has crashed",
            DiskErrorKind::Other => "input/output error",
        })
    }
}

impl std::error::Error for DiskError {}
