//! The redo log: groups of records at byte offsets of one endless log, kept in recycled files.
//!
//! [`RedoLog`] appends and flushes, [`LogReader`] reads groups for recovery, [`RedoLog::open`] finds the last
//! checkpoint. What a group means is the buffer pool's business. Formats and rules: this crate's README.
#![forbid(unsafe_code)]

mod control;
mod error;
mod group;
mod log;
mod reader;
mod segments;
#[cfg(test)]
mod tests;
mod turns;

pub use control::{FEATURES, Features, Lineage};
pub use error::{RedoError, WITHOUT_LOG_HINT};
pub use group::{GROUP_BYTES_MAX, GROUP_HEADER_BYTES, GroupRange};
pub use log::{OpenedLog, RedoLog, RedoOptions, new_group};
pub use reader::LogReader;
pub use turns::FlushWaiter;

/// The directory of the log, below the data directory.
pub const LOG_DIRECTORY: &str = "redo";
/// All writes to log files start and end at multiples of this, so that a power cut cannot tear what is not written.
pub const BLOCK_BYTES: u64 = 4096;
/// Where a new log starts: 0 means "no LSN".
pub const FIRST_LSN: u64 = BLOCK_BYTES;
