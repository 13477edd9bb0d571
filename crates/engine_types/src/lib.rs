//! What the engine is asked for, and what it gives: options of a start and of a transaction, ranges of keys, read modes, batches of rows,
//! what a start took. No pages, no locks. Main types: [`EngineOptions`], [`TransactionOptions`], [`KeyRange`], [`ReadMode`], [`RowBatch`].

#![forbid(unsafe_code)]

mod distribution;
mod gap;
mod key_range;
mod modes;
mod options;
mod row_batch;
mod start_times;

pub use distribution::Distribution;
pub use gap::Gap;
pub use key_range::KeyRange;
pub use modes::{Direction, ReadMode, WaitPolicy};
pub use options::{EngineOptions, FlushLevel, ForceRecovery, Isolation, TransactionOptions};
pub use row_batch::RowBatch;
pub use start_times::StartTimes;
