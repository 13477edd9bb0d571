//! Facade of the storage layer: tables, cursors, transactions, recovery, data dictionary.
//! The SQL layers use this crate and nothing below it. Rows cross the boundary encoded by `values::row`, keys by
//! `values::key`. See README.md for the numbered rules (W1, C1 ...).
#![forbid(unsafe_code)]

mod background;
mod check;
mod ddl;
mod engine;
mod inner;
mod lob;
mod purge;
mod read;
mod rollback;
mod start;
mod statistics;
mod sweep;
mod temporary;
mod transaction;
mod transaction_system;
mod write;

pub use ::dictionary::{AutoIncrementLockMode, AutoIncrementRange, AutoIncrementRequest, InsertKind};
pub use ddl::ConvertRow;
pub use engine::{Engine, LockHolder, LockViews};
pub use engine_error::{DuplicateKey, EngineError, EngineResult, FailedRename};
pub use engine_types::{
    Distribution, EngineOptions, EngineStatus, FlushLevel, ForceRecovery, Isolation, TableStatistics,
    TransactionOptions, WriterStatus,
};
pub use entry::entry_text;
pub use lob::LobReference;
pub use read::{
    Direction, KEY_BYTES_MAX, KeyRange, ReadMode, Reader, RowBatch, Scan, ScanOptions, WaitPolicy,
};
pub use redo::FlushWaiter;
pub use tables::{AutoIncrement, Dictionary, Index, Table};
pub use temporary::TemporaryTables;
pub use transaction::{Mark, RecoveredTransaction, TableCounter, Transaction};
pub use txn::locks;
pub use txn::{CycleMember, Extent, KillFlag, SpillError, SpillFile, TableStamp, WaitRequest};
pub use undo::logical_record_text;
pub use write::{UpdateOutcome, ValueWriter};
