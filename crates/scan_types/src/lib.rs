//! What a scan of the engine is asked for, and what it gives: ranges of keys, read modes, batches of rows. No pages, no locks. Main types:
//! [`KeyRange`], [`ReadMode`], [`RowBatch`].

#![forbid(unsafe_code)]

mod key_range;
mod modes;
mod row_batch;

pub use key_range::KeyRange;
pub use modes::{Direction, ReadMode, WaitPolicy};
pub use row_batch::RowBatch;
