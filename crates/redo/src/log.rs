//! [`RedoLog`]: the endless log. Signatures first; the bodies follow.

use stdx::ids::Lsn;

use crate::RedoError;

/// The redo log of an engine. Shared by all threads.
pub struct RedoLog {
    _private: (),
}

impl RedoLog {
    /// Everything before this LSN survives a power cut.
    pub fn durable_lsn(&self) -> Lsn {
        unreachable!("follows")
    }

    /// The LSN at which the next record will start.
    pub fn end_lsn(&self) -> Lsn {
        unreachable!("follows")
    }

    /// Returns when everything before `lsn` is durable. Whoever comes first writes and syncs for all who wait.
    pub fn flush_to(&self, lsn: Lsn) -> Result<(), RedoError> {
        unreachable!("follows {lsn}")
    }

    /// Returns when everything before `lsn` was handed to the operating system: survives the end of the process only.
    pub fn write_to(&self, lsn: Lsn) -> Result<(), RedoError> {
        unreachable!("follows {lsn}")
    }
}
