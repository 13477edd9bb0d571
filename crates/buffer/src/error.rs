//! [`StorageError`]: what can go wrong below the transaction layer. Environment faults only: bugs are assertions.

use std::fmt;
use std::path::PathBuf;

use env::{DiskError, DiskErrorKind};
use page::CorruptPage;
use redo::RedoError;
use stdx::ids::{PageId, SpaceId};

/// A failed storage call. Nothing was changed by the call that returns it.
#[derive(Clone, Debug)]
pub enum StorageError {
    /// A disk call failed.
    Disk(DiskError),
    /// The disk is full; reads go on, and writes succeed again when there is room (I4).
    NoSpace(SpaceId),
    /// A page does not hold together: it is never served as data.
    Corrupt {
        /// The page.
        page: PageId,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A page beyond the end of its file was asked for.
    PageOutOfRange(PageId),
    /// No file is open for the space.
    SpaceMissing(SpaceId),
    /// The space, or a file of that name, exists already.
    SpaceExists(SpaceId),
    /// Two files claim to be the same space: nobody can tell which one is right.
    SpaceTwice(SpaceId, PathBuf, PathBuf),
    /// There is no redo log, but a data file: the directory is not new, and without its log the file cannot be trusted.
    LogMissing(PathBuf),
    /// All frames are latched or cannot be written.
    PoolExhausted,
    /// The redo log failed, or cannot be read.
    Log(RedoError),
    /// The disk is full and the redo log cannot be emptied; as `NoSpace`, for all spaces.
    LogFull,
    /// The wait for a page's latch was given up: what the thread does shall end (`env::blocking`).
    Interrupted,
    /// A write or sync of a durable file failed: the engine stops, and nothing is retried (I2).
    Stopped,
}

impl StorageError {
    /// Whether the simulated machine has crashed.
    pub fn is_crash(&self) -> bool {
        match self {
            StorageError::Disk(error) => error.is_crash(),
            StorageError::Log(error) => error.is_crash(),
            _ => false,
        }
    }

    /// Whether there would be no error if the disk had room.
    pub fn is_full_disk(&self) -> bool {
        match self {
            StorageError::NoSpace(_) | StorageError::LogFull => true,
            StorageError::Disk(error) => error.kind == DiskErrorKind::NoSpace,
            _ => false,
        }
    }

    /// Whether there would be no error if the process had a descriptor left.
    pub fn is_lack_of_descriptors(&self) -> bool {
        matches!(self, StorageError::Disk(error) if error.kind == DiskErrorKind::TooManyFiles)
    }

    /// What is wrong with a page that cannot be used because of what is, or is not, in its file; None for other errors.
    pub fn damage(&self) -> Option<&'static str> {
        match self {
            StorageError::Corrupt { reason, .. } => Some(reason),
            StorageError::PageOutOfRange(_) => Some("its file ends before it"),
            _ => None,
        }
    }

    /// The error of page `page` for what `page::verify` and the readers of nodes find.
    pub fn corrupt(page: PageId, error: CorruptPage) -> StorageError {
        StorageError::Corrupt { page, reason: error.reason }
    }

    /// A full disk is told apart from the other failures of a space's file.
    pub(crate) fn in_space(space: SpaceId, error: DiskError) -> StorageError {
        if error.kind == DiskErrorKind::NoSpace {
            StorageError::NoSpace(space)
        } else {
            StorageError::Disk(error)
        }
    }
}

impl From<DiskError> for StorageError {
    fn from(error: DiskError) -> Self {
        StorageError::Disk(error)
    }
}

impl From<RedoError> for StorageError {
    fn from(error: RedoError) -> Self {
        StorageError::Log(error)
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Disk(error) => error.fmt(f),
            StorageError::NoSpace(space) => write!(f, "disk full while growing tablespace {space}"),
            StorageError::Corrupt { page, reason } => write!(f, "page {page} is corrupt: {reason}"),
            StorageError::PageOutOfRange(page) => write!(f, "page {page} lies beyond the end of its file"),
            StorageError::SpaceMissing(space) => write!(f, "tablespace {space} has no file"),
            StorageError::SpaceExists(space) => write!(f, "tablespace {space} exists already"),
            StorageError::SpaceTwice(space, one, other) => write!(
                f,
                "tablespace {space} is in two files, '{}' and '{}': move the one that is a copy out of the data directory",
                one.display(),
                other.display()
            ),
            StorageError::LogMissing(file) => write!(
                f,
                "the redo log ('{}/control') is missing, but '{}' shows that the data directory was in use. {}",
                redo::LOG_DIRECTORY,
                file.display(),
                redo::WITHOUT_LOG_HINT
            ),
            StorageError::PoolExhausted => f.write_str("no free page in the buffer pool"),
            StorageError::Log(error) => error.fmt(f),
            StorageError::LogFull => f.write_str("disk full: no room in the redo log"),
            StorageError::Interrupted => f.write_str("interrupted while a page was waited for"),
            StorageError::Stopped => f.write_str("storage stopped after a failed write"),
        }
    }
}

impl std::error::Error for StorageError {}
