//! The engine's figures. Main types: [`EngineStatus`], [`WriterStatus`].

use buffer::LogRoomWaits;
use stdx::ids::{CommitTimestamp, Lsn, TransactionId};
use txn::CommitTableSize;

/// The engine's figures at one moment (read one by one: not a snapshot).
#[derive(Clone, Debug, Default)]
pub struct EngineStatus {
    /// Old versions that purge has not dropped yet.
    pub old_versions: u64,
    /// Memory that those take, in bytes.
    pub old_version_bytes: u64,
    /// Of those, in the temporary file.
    pub spilled_versions: u64,
    /// Bytes of these.
    pub spilled_version_bytes: u64,
    /// Writes to the temporary file that failed: what they were to write stayed in memory.
    pub spill_failures: u64,
    /// Undo records of committed transactions that purge has not worked off (history list length).
    pub history_list_length: u64,
    /// Snapshots in use.
    pub snapshots: usize,
    /// Unfinished transactions that have written.
    pub writers: Vec<WriterStatus>,
    /// What the table of transaction ids takes.
    pub commit_table: CommitTableSize,
    /// The next transaction id.
    pub next_transaction: TransactionId,
    /// Ids below this are visible to everyone.
    pub watermark: TransactionId,
    /// The newest commit.
    pub last_commit: CommitTimestamp,
    /// End of the log.
    pub log_end: Lsn,
    /// Durable log.
    pub log_durable: Lsn,
    /// Waits for room in the log.
    pub log_room_waits: LogRoomWaits,
}

/// An unfinished transaction that has written.
#[derive(Clone, Debug)]
pub struct WriterStatus {
    /// Its id.
    pub id: TransactionId,
    /// Its connection.
    pub session_id: u64,
    /// It waits for somebody to commit it or to roll it back.
    pub is_prepared: bool,
    /// Entries changed.
    pub undo_records: u64,
    /// Of those, copied to the undo tree because the log must not keep them.
    pub undo_records_saved: u64,
    /// Lock objects.
    pub lock_objects: usize,
}
