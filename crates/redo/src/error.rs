//! [`RedoError`]: a log that cannot be written, read or trusted.

use std::fmt;
use std::path::PathBuf;

use env::DiskError;
use stdx::ids::Lsn;

use crate::LOG_DIRECTORY;

/// A failed log call.
#[derive(Clone, Debug)]
pub enum RedoError {
    /// A disk call failed while the log was opened or read.
    Disk(DiskError),
    /// The control file is missing, but a log file was written: the directory is not new. The text names that file.
    ControlMissing(PathBuf),
    /// The control file is damaged.
    ControlDamaged,
    /// The log was written in an older format, which this server does not read.
    OldVersion(u32),
    /// The log was written in a newer format, or with features that this server does not know.
    NewerVersion {
        /// The format.
        version: u32,
        /// The features that are not known, as bits.
        features: u64,
    },
    /// A write or sync failed earlier. The log is latched: nothing is written or acknowledged any more (I2).
    Failed(DiskError),
    /// A group is damaged or missing, and a later one shows that it was durable: to go on without what follows would lose
    /// commits that were acknowledged.
    Hole {
        /// Where the damage is.
        lsn: Lsn,
        /// The log file, and the offset there.
        file: PathBuf,
        /// Bytes from the start of the file.
        offset: u64,
        /// The group that shows it.
        later: Lsn,
    },
    /// The log ends before a place that is known to have been durable.
    EndsEarly {
        /// Where it ends.
        lsn: Lsn,
        /// The log file, and the offset there.
        file: PathBuf,
        /// Bytes from the start of the file.
        offset: u64,
    },
    /// A log file is missing, though later ones are there or recovery begins in it.
    FileMissing {
        /// The file.
        file: PathBuf,
        /// Recovery begins in it: there is nothing before it that could be read.
        is_first: bool,
    },
    /// A log file is shorter than all are made.
    FileShort {
        /// The file.
        file: PathBuf,
        /// Bytes that it has.
        bytes: u64,
        /// Bytes that it was made with.
        made: u64,
    },
    /// A directory stands where a file belongs, or a file in the place of the log's directory.
    Misplaced {
        /// Its path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The log and its control file do not fit, or what it says makes no sense.
    Corrupt {
        /// What is wrong.
        reason: &'static str,
        /// Where.
        lsn: Lsn,
    },
}

/// How to go on by force, and what is lost.
const FORCE_HINT: &str = "All changes behind this place are lost, unless the file can be put back as it was. \
     innodb_force_recovery=1 serves what was there before it, for reading only: dump it, and load the dump into a new directory";

/// The same where there is nothing to begin with.
pub const WITHOUT_LOG_HINT: &str = "innodb_force_recovery=6 shows the data files as they are, for reading only, without what \
     the log has and they lack: dump them, and load the dump into a new directory";

impl RedoError {
    /// Whether the log was read and found damaged: it can be read up to there.
    pub fn is_damage(&self) -> bool {
        use RedoError::{Corrupt, EndsEarly, FileMissing, FileShort, Hole};
        matches!(
            self,
            Hole { .. }
                | EndsEarly { .. }
                | Corrupt { .. }
                | FileShort { .. }
                | FileMissing { is_first: false, .. }
        )
    }

    /// Whether the simulated machine has crashed.
    pub fn is_crash(&self) -> bool {
        matches!(self, RedoError::Disk(error) | RedoError::Failed(error) if error.is_crash())
    }
}

impl From<DiskError> for RedoError {
    fn from(error: DiskError) -> Self {
        RedoError::Disk(error)
    }
}

impl fmt::Display for RedoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedoError::Disk(error) => write!(f, "redo log: {error}"),
            RedoError::ControlMissing(file) => write!(
                f,
                "'{LOG_DIRECTORY}/control' is missing, but '{}' shows that the data directory was in use. {WITHOUT_LOG_HINT}",
                file.display()
            ),
            RedoError::ControlDamaged => {
                write!(
                    f,
                    "'{LOG_DIRECTORY}/control' is damaged: nothing says where the log begins. {WITHOUT_LOG_HINT}"
                )
            }
            RedoError::OldVersion(version) => write!(
                f,
                "the data directory has format version {version}: dump it with mysqldump from the server that wrote it, and \
                 load the dump into a new directory"
            ),
            RedoError::NewerVersion { version, features } => write!(
                f,
                "the data directory was written by a newer server (format version {version}, unknown features {features:#x})"
            ),
            RedoError::Hole { lsn, file, offset, later } => write!(
                f,
                "redo log is damaged: the group at LSN {lsn}, byte {offset} of '{}', was durable once, as the group at LSN \
                 {later} shows. {FORCE_HINT}",
                file.display()
            ),
            RedoError::EndsEarly { lsn, file, offset } => write!(
                f,
                "redo log is damaged: the group at LSN {lsn}, which begins at byte {offset} of '{}' and may reach into the next file, is \
                 not whole, and was durable once. {FORCE_HINT}",
                file.display()
            ),
            RedoError::FileMissing { file, is_first } => {
                let hint = if *is_first { WITHOUT_LOG_HINT } else { FORCE_HINT };
                write!(f, "redo log: '{}' is missing: put it back. {hint}", file.display())
            }
            RedoError::FileShort { file, bytes, made } => write!(
                f,
                "redo log: '{}' has {bytes} of {made} bytes: put it back as it was. {FORCE_HINT}",
                file.display()
            ),
            RedoError::Misplaced { path, what } => {
                write!(f, "redo log: '{}' is {what}: move it out of the data directory", path.display())
            }
            RedoError::Failed(error) => write!(f, "redo log stopped: {error}"),
            RedoError::Corrupt { reason, lsn } => {
                write!(f, "redo log is corrupt at LSN {lsn}: {reason}. {FORCE_HINT}")
            }
        }
    }
}

impl std::error::Error for RedoError {}
