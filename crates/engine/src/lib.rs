//! Facade of the storage layer: tables, cursors, transactions, recovery, data dictionary.
//! The SQL layers use this crate and nothing below it. Rows cross the boundary encoded by `values::row`, keys by
//! `values::key`. See README.md for the numbered rules (R1 ...).
#![forbid(unsafe_code)]

mod auto_increment;
mod ddl;
mod dictionary;
mod engine;
mod error;
mod options;
mod scan;
mod statistics;
mod table;
mod transaction;

pub use crate::dictionary::Dictionary;
pub use auto_increment::{AutoIncrement, AutoIncrementRange, AutoIncrementRequest};
pub use engine::Engine;
pub use error::{DuplicateKey, EngineError, EngineResult};
pub use options::{EngineOptions, FlushLevel, Isolation, TransactionOptions};
pub use scan::{Direction, KEY_BYTES_MAX, KeyRange, ReadMode, RowBatch, Scan, ScanOptions, WaitPolicy};
pub use statistics::TableStatistics;
pub use table::{Index, Table};
pub use transaction::{Mark, Reader, Transaction, UpdateOutcome};
pub use txn::KillFlag;
