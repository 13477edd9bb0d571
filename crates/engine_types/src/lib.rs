//! What the engine is asked for, and what it gives: options of a start, of a transaction and of a scan, ranges of keys, read modes, batches
//! of rows, statistics and figures. No pages, no locks. Main types: [`EngineOptions`], [`TransactionOptions`], [`ScanOptions`],
//! [`KeyRange`], [`ReadMode`], [`RowBatch`].

#![forbid(unsafe_code)]

mod gap;
mod key_range;
mod modes;
mod options;
mod row_batch;
mod scan_options;
mod statistics;
mod status;

pub use gap::Gap;
pub use key_range::KeyRange;
pub use modes::{Direction, ReadMode, WaitPolicy};
pub use options::{EngineOptions, FlushLevel, ForceRecovery, Isolation, TransactionOptions};
pub use row_batch::RowBatch;
pub use scan_options::ScanOptions;
pub use statistics::{Distribution, TableStatistics};
pub use status::{EngineStatus, WriterStatus};
