//! The redo log: records, log files, group flush, reading for recovery.
#![forbid(unsafe_code)]

mod error;
mod log;

pub use error::RedoError;
pub use log::RedoLog;
