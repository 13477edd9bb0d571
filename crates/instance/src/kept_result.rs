//! A query's result as it is kept for others who ask the same. Main type: [`KeptResult`].

use crate::planned::StatementTraits;
use catalog::TableLocks;
use engine::TableStamp;
use exec::Prepared;
use plan::PrivilegesNeeded;
use std::sync::Arc;
use stdx::ids::CommitTimestamp;
use values::Value;
use wire::recorded::RecordedRows;
use wire::result::EncodedColumns;

/// A result, and what has to hold for it to be served.
pub struct KeptResult {
    /// What its statement is.
    pub traits: StatementTraits,
    /// Its tables, as they were.
    pub locks: TableLocks,
    /// Of the same tables: they have not changed between that moment and the reader's.
    pub stamps: Vec<Arc<TableStamp>>,
    /// What its snapshot saw.
    pub read_at: CommitTimestamp,
    /// What it depends on of the clock.
    pub clock: Option<ClockValues>,
    /// A constant TIME becomes a DATETIME by the date: the session's day must be this.
    pub day: i64,
    /// What its user had to be allowed to do.
    pub privileges: PrivilegesNeeded,
    /// Columns, ready to be sent.
    pub columns: EncodedColumns,
    /// Rows, ready to be sent.
    pub rows: RecordedRows,
    /// How many they are.
    pub rows_sent: u64,
    /// FOUND_ROWS() afterwards.
    pub found_rows: Option<u64>,
}

/// Expressions of the clock, and what they were.
pub struct ClockValues {
    /// A query of one row for them.
    pub prepared: Prepared,
    /// The row.
    pub values: Vec<Value>,
}

impl KeptResult {
    /// Memory that it takes beside itself, bytes, where the statement's key has so many; roughly, as names are shared with others.
    pub fn bytes(&self, key_bytes: usize) -> usize {
        const LOCK_BYTES: usize = 192;
        const PRIVILEGES_BYTES: usize = 512;
        /// A plan for each byte of text that an expression takes.
        const PLAN_BYTES: usize = 32;
        let clock_bytes = self.clock.as_ref().map_or(0, |_| PLAN_BYTES * key_bytes);
        // Privileges name columns as the definitions do.
        let privileges_bytes = PRIVILEGES_BYTES + self.columns.bytes();
        self.rows.bytes()
            + self.columns.bytes()
            + self.locks.locks.len() * LOCK_BYTES
            + privileges_bytes
            + clock_bytes
    }

    /// Whether it may be right for anybody: none of its tables has changed since, in rows or definition.
    pub fn may_be_right(&self) -> bool {
        self.locks.are_current() && self.stamps.iter().all(|stamp| stamp.is_same(self.read_at, self.read_at))
    }
}
