//! Facade of the storage layer: tables, cursors, transactions, recovery, data dictionary.
//! The SQL layers use this crate and nothing below it. Rows cross the boundary encoded by `values::row`, keys by
//! `values::key`. See README.md for the numbered rules (W1, C1 ...).
#![forbid(unsafe_code)]

mod alter;
mod auto_increment;
mod auto_increment_limit;
mod background;
mod before;
mod bulk;
mod check;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod check_tests;
mod commit;
mod cut_keys;
mod damage;
mod ddl;
mod ddl_turn;
mod dictionary;
mod dictionary_store;
mod engine;
mod entry;
mod error;
mod file_checks;
mod file_names;
mod filling;
mod forced;
mod hidden_table;
mod insert_many;
mod leavings;
mod lob;
mod locking;
mod long_rows;
mod losers;
mod open;
mod options;
mod purge;
mod read;
mod records;
mod rows;
mod rows_undo;
mod run;
mod scan;
mod scan_run;
mod sorted_entries;
mod start_times;
mod statistics;
mod status;
mod table;
mod table_entry;
mod table_files;
mod touched;
mod transaction;
mod undo_saving;
mod undo_store;
mod visit;
mod write;
mod writer;

pub use crate::dictionary::Dictionary;
pub use alter::ConvertRow;
pub use auto_increment::{AutoIncrement, AutoIncrementRange, AutoIncrementRequest};
pub use engine::Engine;
pub use entry::entry_text;
pub use error::{DuplicateKey, EngineError, EngineResult, FailedRename};
pub use lob::LobReference;
pub use long_rows::ValueWriter;
pub use options::{EngineOptions, FlushLevel, ForceRecovery, Isolation, TransactionOptions};
pub use records::logical_record_text;
pub use redo::FlushWaiter;
pub use rows::UpdateOutcome;
pub use scan::{Direction, KEY_BYTES_MAX, KeyRange, ReadMode, RowBatch, Scan, ScanOptions, WaitPolicy};
pub use statistics::{Distribution, TableStatistics};
pub use status::{EngineStatus, WriterStatus};
pub use table::{Index, Table};
pub use transaction::{Mark, Reader, Transaction};
pub use txn::{Extent, KillFlag, SpillError, SpillFile};
