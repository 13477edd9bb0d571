//! A transaction as the SQL layers hold it. Main type: [`Transaction`].
//! All methods take `&self`; one thread at a time uses it, which costs no locked instruction, and [`Transaction::reader`] gives others its
//! snapshot.
//! Dropping an unfinished transaction rolls it back. Its locks are in `locking.rs`, reads of single rows in `get.rs`, scans in
//! `scan.rs`, its end in `end.rs`; how it changes rows is in `write`.

mod auto_increment;
mod end;
mod entry_locks;
mod get;
mod leaf_locks;
mod locking;
mod recovered;
mod scan;

pub(crate) use locking::Conflict;

pub use auto_increment::TableCounter;
pub use recovered::RecoveredTransaction;

use crate::inner::EngineInner;
use crate::read::{Reader, View};
use engine_error::{EngineError, EngineResult};
use engine_types::{Isolation, TransactionOptions};
use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::sync::Arc;
use std::time::Duration;
use stdx::ids::{CommitTimestamp, Lsn, TransactionId};
use tables::Index;
use txn::locks::Owner;
use txn::{ChangedTables, Snapshot, TableStamp};
use undo::Writer;

/// A transaction. See the module's text.
#[derive(Debug)]
pub struct Transaction {
    pub(crate) engine: Arc<EngineInner>,
    pub(crate) options: TransactionOptions,
    /// Present once it has written.
    pub(crate) writer: OnceCell<Arc<Writer>>,
    /// The writer of the session's temporary tables, once it has changed one.
    pub(crate) temporary: OnceCell<Arc<Writer>>,
    /// Present once it has asked for a lock.
    pub(crate) owner: OnceCell<Arc<Owner>>,
    snapshot: RefCell<Arc<Snapshot>>,
    /// Newest commit that a locking read or a write has met.
    pub(crate) seen: Cell<u64>,
    /// The mark behind which the statement's own locks lie: `unlock_row` leaves earlier ones.
    pub(crate) statement_locks: Cell<u64>,
    /// The tables that it has changed, but for temporary ones.
    pub(crate) changed: ChangedTables,
    /// Limit of a row lock wait in milliseconds; [`u64::MAX`] for the engine's.
    lock_wait_timeout_ms: Cell<u64>,
    /// Committed or rolled back.
    pub(crate) ended: Cell<bool>,
    /// See [`Transaction::prepare`].
    is_prepared: bool,
}

/// A point that the transaction can be rolled back to: statement marks and savepoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Length of the undo list.
    pub(crate) logged: u64,
    /// The same of temporary tables.
    pub(crate) temporary: u64,
}

fn milliseconds(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)
}

impl Transaction {
    pub(crate) fn new(engine: Arc<EngineInner>, options: TransactionOptions) -> Transaction {
        Transaction {
            lock_wait_timeout_ms: Cell::new(options.lock_wait_timeout.map_or(u64::MAX, milliseconds)),
            snapshot: RefCell::new(engine.system.new_snapshot()),
            engine,
            options,
            writer: OnceCell::new(),
            temporary: OnceCell::new(),
            owner: OnceCell::new(),
            seen: Cell::new(0),
            statement_locks: Cell::new(0),
            changed: ChangedTables::default(),
            ended: Cell::new(false),
            is_prepared: false,
        }
    }

    /// Begins the next transaction of a session in the place of one that has ended: what costs to make, and to give back, is kept.
    pub fn begin_again(&mut self, options: TransactionOptions) {
        assert!(self.ended.get(), "a transaction begins again before its end");
        self.lock_wait_timeout_ms.set(options.lock_wait_timeout.map_or(u64::MAX, milliseconds));
        self.options = options;
        self.writer.take();
        self.temporary.take();
        self.owner.take();
        self.seen.set(0);
        self.statement_locks.set(0);
        self.ended.set(false);
        self.is_prepared = false;
    }

    /// Changes the limit of row lock waits that begin from now on (SET innodb_lock_wait_timeout in a transaction).
    pub fn set_lock_wait_timeout(&self, timeout: Duration) {
        self.lock_wait_timeout_ms.set(milliseconds(timeout));
    }

    /// The limit of row lock waits; None for the engine's.
    pub(crate) fn lock_wait_timeout(&self) -> Option<Duration> {
        let ms = self.lock_wait_timeout_ms.get();
        (ms != u64::MAX).then(|| Duration::from_millis(ms))
    }

    /// The isolation level.
    pub fn isolation(&self) -> Isolation {
        self.options.isolation
    }

    /// Whether the long values of rows that consistent reads show stay where they are, and can be read later: not without a snapshot,
    /// nor by force, where rows whose values cannot be read are left out.
    pub fn keeps_long_values(&self) -> bool {
        self.options.isolation != Isolation::ReadUncommitted && !self.engine.shared.is_forced()
    }

    /// The id, given at the first write.
    pub fn id(&self) -> Option<TransactionId> {
        self.writer.get().map(|writer| writer.id)
    }

    /// Whether reads are repeatable (above READ COMMITTED): there is one snapshot to the end, and locking reads keep others from inserting
    /// where they have looked.
    pub(crate) fn repeats_reads(&self) -> bool {
        matches!(self.options.isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Begins a statement: READ COMMITTED and READ UNCOMMITTED get a new snapshot at their next consistent read. Returns
    /// the mark to roll back to when the statement fails.
    pub fn begin_statement(&self) -> Mark {
        if !self.repeats_reads() {
            self.end_snapshot();
        }
        if let Some(owner) = self.owner.get() {
            self.statement_locks.set(owner.lock_mark());
        }
        self.mark()
    }

    /// Takes the snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT), unless the transaction has one.
    pub fn take_snapshot(&self) -> EngineResult<()> {
        self.view().map(|_| ())
    }

    /// A point to roll back to (SAVEPOINT). Cheap; names are the session's business.
    pub fn mark(&self) -> Mark {
        let length = |writer: Option<&Arc<Writer>>| writer.map_or(0, |writer| writer.undo().list.len());
        Mark { logged: length(self.writer.get()), temporary: length(self.temporary.get()) }
    }

    /// What the reply to the current statement must wait for: the newest commit that the transaction has seen and that
    /// need not be durable yet (own session's last commit, rows met under lock, AUTO_INCREMENT limits). 0 if none.
    pub fn reply_lsn(&self) -> Lsn {
        let seen = self.seen.get();
        if self.engine.pool.redo().durable_lsn().0 >= seen { Lsn(0) } else { Lsn(seen) }
    }

    /// The reply waits until the log is durable up to there.
    #[inline]
    pub(crate) fn wait_for(&self, lsn: u64) {
        self.seen.set(self.seen.get().max(lsn));
    }

    /// Whether the transaction has written anything that is not undone, in temporary tables apart.
    pub fn has_written(&self) -> bool {
        self.mark().logged > 0
    }

    /// Whether the engine rolled this transaction back (deadlock victim). The session must begin a new one.
    pub fn is_rolled_back(&self) -> bool {
        self.ended.get()
    }

    /// The snapshot for other threads (parallel scans). Keeps old versions alive until it is dropped.
    pub fn reader(&self) -> EngineResult<Reader> {
        let view = self.view()?;
        let snapshot = view.snapshot.map(|_| self.snapshot_slot().clone());
        Ok(Reader::new(self.engine.reads.clone(), view, snapshot))
    }

    /// What consistent reads see; takes the snapshot if there is none.
    pub(crate) fn view(&self) -> EngineResult<View> {
        self.check_alive()?;
        let own = self.id().unwrap_or_default();
        if self.options.isolation == Isolation::ReadUncommitted {
            return Ok(View { snapshot: None, own });
        }
        let mut slot = self.snapshot_slot();
        let timestamp = match slot.timestamp() {
            Some(timestamp) => timestamp,
            None => self.register_snapshot(&mut slot)?,
        };
        Ok(View { snapshot: Some(timestamp), own })
    }

    /// Whether the transaction's snapshot, if it has one, can read an index: asked at the start of every read, locking ones
    /// included as in InnoDB. A snapshot that is taken later is younger than any index that was found before it.
    /// Error: TableDefinitionChanged.
    pub(crate) fn check_snapshot_reads(&self, index: &Index) -> EngineResult<()> {
        let timestamp = self.snapshot_slot().timestamp();
        timestamp.map_or(Ok(()), |timestamp| index.check_readable(timestamp))
    }

    /// The moment that consistent reads read at; takes the snapshot if there is none. None at READ UNCOMMITTED.
    pub fn reads_at(&self) -> EngineResult<Option<CommitTimestamp>> {
        Ok(self.view()?.snapshot)
    }

    /// Whether what a snapshot of `then` has read of tables with these stamps is what this transaction would read. Takes the snapshot if
    /// there is none.
    pub fn reads_the_same(&self, stamps: &[Arc<TableStamp>], then: CommitTimestamp) -> EngineResult<bool> {
        let Some(now) = self.reads_at()? else { return Ok(false) };
        let is_same = |stamp: &Arc<TableStamp>| stamp.is_same(then, now) && !self.changed.may_have(stamp);
        Ok(self.engine.system.any_table.is_same(then, now) && stamps.iter().all(is_same))
    }

    fn register_snapshot(&self, slot: &mut Arc<Snapshot>) -> EngineResult<CommitTimestamp> {
        let engine = &self.engine;
        // What it has met under lock is not newer than what it reads from now on.
        let at_least = self.options.sees_at_least.0.max(self.seen.get());
        let newest = || match engine.system.visible() {
            visible if visible.0 >= at_least => visible,
            // The session's own last commit is not durable yet. It must be seen, so the reply must wait for what is seen with it.
            _ => engine.system.visible_undurable(),
        };
        self.register(slot, newest)
    }

    /// Takes a snapshot into a slot; the reply waits for what it sees.
    fn register(
        &self,
        slot: &mut Arc<Snapshot>,
        newest: impl Fn() -> CommitTimestamp,
    ) -> EngineResult<CommitTimestamp> {
        // Only readers have it beside the transaction, and only while it is in use.
        let timestamp = Arc::get_mut(slot).and_then(|own| own.take(newest));
        let timestamp = timestamp.ok_or(EngineError::OutOfResources("too many snapshots in use"))?;
        self.wait_for(timestamp.0);
        Ok(timestamp)
    }

    /// What is committed now, durable or not, whatever the transaction's own snapshot sees; of use as long as `snapshot`, which is nobody else's.
    pub(crate) fn view_of_now(&self, snapshot: &mut Arc<Snapshot>) -> EngineResult<View> {
        let timestamp = self.register(snapshot, || self.engine.system.newest_committed())?;
        Ok(View { snapshot: Some(timestamp), own: self.id().unwrap_or_default() })
    }

    /// Ends the use of the snapshot. Readers that have it keep it.
    pub(crate) fn end_snapshot(&self) {
        let mut slot = self.snapshot_slot();
        if slot.timestamp().is_some() {
            match Arc::get_mut(&mut slot) {
                Some(own) => own.end(),
                None => *slot = self.engine.system.new_snapshot(),
            }
        }
    }

    fn snapshot_slot(&self) -> RefMut<'_, Arc<Snapshot>> {
        self.snapshot.borrow_mut()
    }

    pub(crate) fn check_alive(&self) -> EngineResult<()> {
        if self.is_rolled_back() { Err(EngineError::Deadlock) } else { Ok(()) }
    }

    pub(crate) fn check_kill(&self) -> EngineResult<()> {
        if self.options.kill.is_raised() { Err(EngineError::Killed) } else { Ok(()) }
    }
}
