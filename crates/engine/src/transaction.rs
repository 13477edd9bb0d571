//! A transaction as the SQL layers hold it. Main type: [`Transaction`].
//! All methods take `&self`; one session thread uses it, and [`Transaction::reader`] gives other threads its snapshot.
//! Dropping an unfinished transaction rolls it back.

use crate::auto_increment::{AutoIncrementRange, AutoIncrementRequest};
use crate::engine::EngineInner;
use crate::error::{EngineError, EngineResult};
use crate::options::{Isolation, TransactionOptions};
use crate::scan::{KeyRange, ReadMode, RowBatch, Scan, ScanOptions};
use crate::table::Table;
use std::sync::Arc;
use stdx::ids::{Lsn, TransactionId};

/// A transaction. See the module's text.
#[derive(Debug)]
pub struct Transaction {
    pub(crate) engine: Arc<EngineInner>,
    pub(crate) options: TransactionOptions,
}

/// A point that the transaction can be rolled back to: statement marks and savepoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub(crate) u64);

/// What an update did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The row is the same, nothing was written.
    Unchanged,
    /// Changed in place.
    Changed,
    /// The clustered key changed: this is the row's key now.
    Moved(Vec<u8>),
}

impl Transaction {
    /// The isolation level.
    pub fn isolation(&self) -> Isolation {
        self.options.isolation
    }

    /// The id, given at the first write.
    pub fn id(&self) -> Option<TransactionId> {
        None
    }

    /// Begins a statement: READ COMMITTED and READ UNCOMMITTED get a new snapshot at their next consistent read. Returns
    /// the mark to roll back to when the statement fails.
    pub fn begin_statement(&self) -> Mark {
        self.mark()
    }

    /// Takes the snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn take_snapshot(&self) {}

    /// A point to roll back to (SAVEPOINT). Cheap; names are the session's business.
    pub fn mark(&self) -> Mark {
        Mark(0)
    }

    /// Undoes all writes made since the mark. Row locks stay, as in InnoDB.
    pub fn rollback_to(&self, _mark: Mark) -> EngineResult<()> {
        Err(EngineError::Unsupported("rollback"))
    }

    /// Commits: the commit record is in the log when this returns, and other transactions may see and lock the rows. The
    /// client may hear of it when [`crate::Engine::durable_lsn`] is at least the returned LSN (0 if nothing was written).
    pub fn commit(self) -> EngineResult<Lsn> {
        Err(EngineError::Unsupported("commit"))
    }

    /// Undoes all writes and releases all locks.
    pub fn rollback(self) -> EngineResult<()> {
        Err(EngineError::Unsupported("rollback"))
    }

    /// Commits and begins a new transaction with the same options (COMMIT AND CHAIN is the caller's choice).
    /// What the reply to the current statement must wait for: the newest commit that the transaction has seen and that
    /// need not be durable yet (own session's last commit, rows read under lock, AUTO_INCREMENT limits). 0 if none.
    pub fn reply_lsn(&self) -> Lsn {
        Lsn(0)
    }

    /// Whether the transaction has written anything.
    pub fn has_written(&self) -> bool {
        self.id().is_some()
    }

    /// Whether the engine rolled this transaction back (deadlock victim). The session must begin a new one.
    pub fn is_rolled_back(&self) -> bool {
        false
    }

    /// Reads one row by its whole clustered key (`index` 0) or its whole key of a unique index without NULL. Calls `found` with the
    /// row in the table's layout (no copy: a page is latched while it runs, so it must neither block nor call the
    /// engine). False if there is no such row.
    pub fn get(
        &self,
        _table: &Arc<Table>,
        _index: usize,
        _key: &[u8],
        _mode: ReadMode,
        _found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        Err(EngineError::Unsupported("get"))
    }

    /// Starts a scan.
    pub fn scan(&self, table: &Arc<Table>, options: ScanOptions) -> EngineResult<Scan> {
        Ok(Scan { table: table.clone(), options, done: false })
    }

    pub(crate) fn scan_next(
        &self,
        _scan: &mut Scan,
        _batch: &mut RowBatch,
        _rows_max: usize,
    ) -> EngineResult<bool> {
        Err(EngineError::Unsupported("scan"))
    }

    /// Counts the rows of a range that the transaction's snapshot sees, without decoding them.
    pub fn count(&self, _table: &Arc<Table>, _index: usize, _range: &KeyRange) -> EngineResult<u64> {
        Err(EngineError::Unsupported("count"))
    }

    /// The snapshot for other threads (parallel scans). Keeps old versions alive until it is dropped.
    pub fn reader(&self) -> EngineResult<Reader> {
        Err(EngineError::Unsupported("reader"))
    }

    /// Inserts a row (in the table's layout) with all its index entries. Returns its clustered key.
    /// On any error nothing of the row is left behind. Errors: DuplicateKey (the lowest-numbered index that has the key,
    /// clustered first), lock errors, NoSpace, TooBig, ReadOnlyTransaction.
    pub fn insert(&self, _table: &Arc<Table>, _row: &[u8]) -> EngineResult<Vec<u8>> {
        Err(EngineError::Unsupported("insert"))
    }

    /// Inserts many rows of one statement: entries of secondary indexes are sorted and merged per batch.
    /// Same outcome as inserting one by one; on error the rows of this call are partly in: roll back to the
    /// statement mark. The error's `row_ordinal` counts from 0 within `rows`.
    pub fn insert_many(&self, _table: &Arc<Table>, _rows: &[&[u8]]) -> EngineResult<()> {
        Err(EngineError::Unsupported("insert_many"))
    }

    /// Replaces the row with that clustered key by another (both in the table's layout). Takes the row's X lock if the
    /// transaction has not got it. Changes the newest row, whatever the snapshot sees.
    /// Errors: RowNotFound, DuplicateKey (nothing is changed then), lock errors, NoSpace, TooBig.
    pub fn update(&self, _table: &Arc<Table>, _key: &[u8], _row: &[u8]) -> EngineResult<UpdateOutcome> {
        Err(EngineError::Unsupported("update"))
    }

    /// Deletes the row with that clustered key. Takes its X lock if the transaction has not got it.
    /// Errors: RowNotFound, lock errors, NoSpace.
    pub fn delete(&self, _table: &Arc<Table>, _key: &[u8]) -> EngineResult<()> {
        Err(EngineError::Unsupported("delete"))
    }

    /// Gives back the lock of a row that a locking read returned and that the statement does not want after all (READ COMMITTED).
    /// Does nothing if the row was locked or written before that statement.
    pub fn unlock_row(&self, _table: &Arc<Table>, _key: &[u8]) {}

    /// Reserves AUTO_INCREMENT values. They are never handed out again, even if the transaction rolls back.
    pub fn reserve_auto_increment(
        &self,
        _table: &Arc<Table>,
        _request: AutoIncrementRequest,
    ) -> EngineResult<AutoIncrementRange> {
        Err(EngineError::Unsupported("auto_increment"))
    }

    /// Tells the counter of an explicitly given value, before the row that holds it is inserted.
    pub fn raise_auto_increment(&self, _table: &Arc<Table>, _value: u64) -> EngineResult<()> {
        Err(EngineError::Unsupported("auto_increment"))
    }
}

/// A snapshot for consistent reads from any thread. Clone it for each worker.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) _engine: Arc<EngineInner>,
}
