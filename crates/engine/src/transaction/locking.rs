//! Row locks of a transaction: asking under a latch, waiting without one. See rules L1 to L6 in txn's README.

use super::Transaction;
use crate::read::{Direction, Gap, KeyRange, ReadMode, WaitPolicy};
use btree::Taken;
use engine_error::{EngineError, EngineResult};
use engine_types::ForceRecovery;
use entry::{Entry, parse_head};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::{IndexId, TransactionId};
use tables::{Index, Table};
use txn::TransactionState;
use txn::locks::{Hold, LockMode, Owner, Request, WaitEnd, WaitOptions};
use undo::Writer;

/// What stands between a transaction and a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Nothing: the row is its own, or locked for it now.
    None,
    /// Another transaction: the request is queued. Drop the latch, wait, look again.
    Wait,
    /// Another transaction, and the policy says not to wait for it.
    Skip,
}

impl Transaction {
    /// This transaction in the lock table.
    pub(crate) fn owner(&self) -> &Arc<Owner> {
        self.owner.get_or_init(|| self.engine.system.locks.owner(self.options.session_id))
    }

    /// This transaction as a writer: gets its id now if it has none. Error: Deadlock, if it was rolled back: nothing would undo
    /// what it writes then.
    pub(crate) fn writer(&self) -> EngineResult<&Arc<Writer>> {
        self.check_alive()?;
        if let Some(writer) = self.writer.get() {
            return Ok(writer);
        }
        if self.options.read_only {
            return Err(EngineError::ReadOnlyTransaction);
        }
        let id = self.engine.system.allocate_id()?;
        let owner = self.owner();
        owner.transaction.store(id.0, Ordering::Release);
        // Every record of this transaction enters the log behind this LSN.
        let needed = self.engine.pool.redo().end_lsn();
        let writer = Arc::new(Writer::new(id, owner.clone(), needed));
        self.engine.undo.writers.insert(writer.clone());
        Ok(self.writer.get_or_init(|| writer))
    }

    /// Who changes a table: the writer of the session's temporary tables, if it is one of these. Errors: as of `writer`.
    pub(crate) fn writer_or(&self, temporary: Option<&Arc<Writer>>) -> EngineResult<&Arc<Writer>> {
        let Some(writer) = temporary else { return self.writer() };
        self.check_alive()?;
        Ok(self.temporary.get_or_init(|| writer.clone()))
    }

    /// Whether rows of a table may be written, which is noted: the commit tells whoever keeps what was read of the table. Errors: those of
    /// [`Table::check_usable`], ForcedRecovery, ReadOnlyTables.
    pub(crate) fn check_may_write(&self, table: &Table) -> EngineResult<()> {
        if !table.is_temporary() {
            self.changed.add(&table.stamp);
        }
        match self.engine.shared.settings.force_recovery {
            _ if self.engine.shared.settings.read_only_option => Err(EngineError::ReadOnlyTables),
            ForceRecovery::Off => table.check_usable(),
            _ => Err(EngineError::ForcedRecovery),
        }
    }

    /// Whether rows may be read in that mode. Error: ReadOnlyTransaction for X locks.
    pub(crate) fn check_may_lock(&self, mode: ReadMode) -> EngineResult<()> {
        match mode {
            ReadMode::Exclusive(_) if self.options.read_only => Err(EngineError::ReadOnlyTransaction),
            _ => Ok(()),
        }
    }

    /// Asks for a row lock under the row's latch. None: the writer that was in the way (`implicit`) has just ended; look again
    /// who wrote the entry.
    pub(crate) fn request_lock(
        &self,
        index: IndexId,
        key: &[u8],
        mode: LockMode,
        implicit: Option<&Arc<Owner>>,
        policy: WaitPolicy,
    ) -> EngineResult<Option<Conflict>> {
        let owner = self.owner();
        let may_wait = policy == WaitPolicy::Wait;
        match self.engine.system.locks.request(owner, index, key, mode, implicit, may_wait) {
            Request::Granted | Request::Held => Ok(Some(Conflict::None)),
            Request::Queued => Ok(Some(Conflict::Wait)),
            Request::WriterEnded => Ok(None),
            Request::Refused if policy == WaitPolicy::NoWait => Err(EngineError::LockNotAvailable),
            Request::Refused => Ok(Some(Conflict::Skip)),
        }
    }

    /// Sees to it that nobody else has the row locked. Called under the leaf's exclusive latch.
    pub(crate) fn lock_for_write(
        &self,
        index: IndexId,
        key: &[u8],
        current: Option<Entry<'_>>,
    ) -> EngineResult<Conflict> {
        if index.is_temporary() {
            return Ok(Conflict::None);
        }
        let (own, owner) = (self.id(), self.owner());
        loop {
            let implicit = match current {
                Some(entry) if Some(entry.writer) != own => {
                    let unfinished = self.engine.system.unfinished_writer(entry.writer)?;
                    if unfinished.is_none() {
                        // Not before it is known to have ended: it may end at any moment.
                        self.note_seen(entry.writer);
                        self.check_seen_by_strict_snapshot(entry.writer)?;
                    }
                    unfinished
                }
                _ => None,
            };
            if implicit.is_none() && !self.engine.system.locks.others_lock(owner, index, key) {
                return Ok(Conflict::None);
            }
            let mode = LockMode::EXCLUSIVE_RECORD;
            if let Some(conflict) =
                self.request_lock(index, key, mode, implicit.as_ref(), WaitPolicy::Wait)?
            {
                return Ok(conflict);
            }
        }
    }

    /// Sees to it that nobody else has an entry locked that is to be changed; its row is locked. Called under the leaf's exclusive latch.
    pub(crate) fn lock_entry_for_write(&self, index: IndexId, key: &[u8]) -> EngineResult<Conflict> {
        if index.is_temporary() || !self.engine.system.locks.others_lock(self.owner(), index, key) {
            return Ok(Conflict::None);
        }
        let asked = self.request_lock(index, key, LockMode::EXCLUSIVE_RECORD, None, WaitPolicy::Wait)?;
        Ok(asked.unwrap_or(Conflict::None))
    }

    /// Keeps others from inserting where a locking read has looked, to this transaction's end, and tells where; not at READ COMMITTED and
    /// below. Called under the latch of the leaf.
    pub(crate) fn close_gap(
        &self,
        index: &Index,
        seen: impl FnOnce() -> EngineResult<Gap>,
    ) -> EngineResult<Option<Gap>> {
        if !self.repeats_reads() {
            return Ok(None);
        }
        let gap = seen()?;
        let range = (&*gap.from, gap.to.as_deref());
        self.engine.system.locks.lock_range(self.owner(), index.id(), range, Hold::Gap, 0);
        Ok(Some(gap))
    }

    /// Locks the row or entry of a key by a range, and no gap; as [`txn::locks::LockManager::lock_range`].
    pub(crate) fn lock_key_by_range(&self, index: IndexId, key: &[u8], hold: Hold, rows: u64) -> bool {
        let behind = [key, &[0]].concat();
        self.engine.system.locks.lock_range(self.owner(), index, (key, Some(&behind)), hold, rows)
    }

    /// As `close_gap`, for a look at one key that has found no row. False if there is one now: look again.
    pub(crate) fn close_gap_at(&self, index: &Index, key: &[u8]) -> EngineResult<bool> {
        if !self.repeats_reads() {
            return Ok(true);
        }
        let bound = || Bound::Included(key.to_vec());
        let mut cursor = KeyRange { lower: bound(), upper: bound() }.cursor().showing_empty();
        let is_closed = cursor.next_leaf(&index.tree, &self.engine.pool, |leaf| {
            let close = || {
                if !leaf.is_empty() {
                    let entry = parse_head(leaf.entry(0)?.1)?;
                    let is_others = Some(entry.writer) != self.id()
                        && self.engine.system.commits.state(entry.writer) == TransactionState::Active;
                    if !entry.deleted || is_others {
                        return Ok(false);
                    }
                }
                self.close_gap(index, || Gap::seen(&KeyRange::all(), Direction::Forward, leaf, Taken::All))?;
                Ok(true)
            };
            (Taken::All, close())
        })?;
        is_closed.unwrap_or(Ok(true))
    }

    /// Keeps closed what a look for a unique key has met, as MySQL does: the gap before its entries and, where no row has it, the one behind.
    /// Not at READ COMMITTED and below: nothing is promised there that this would keep.
    pub(crate) fn close_unique_gap(&self, index: &Index, own_key: &[u8], is_taken: bool) -> EngineResult<()> {
        if !self.repeats_reads() || index.id().is_temporary() {
            return Ok(());
        }
        let mut scan = KeyRange::prefix(own_key).cursor().showing_empty();
        while let Some(closed) = scan.next_leaf(&index.tree, &self.engine.pool, |leaf| {
            let passed = if is_taken { Taken::First(leaf.len()) } else { Taken::All };
            let seen = || Gap::seen(&KeyRange::all(), Direction::Forward, leaf, passed);
            (Taken::All, self.close_gap(index, seen))
        })? {
            closed?;
        }
        Ok(())
    }

    /// First updater wins, where that was asked for: whoever's snapshot does not see the committed writer of a row has read an older
    /// state of it, or none, and neither locks nor changes it. Error: RecordChanged.
    #[inline]
    pub(crate) fn check_seen_by_strict_snapshot(&self, writer: TransactionId) -> EngineResult<()> {
        let is_strict = self.options.strict_snapshot && self.repeats_reads();
        let snapshot = if is_strict { self.snapshot_slot().timestamp() } else { None };
        let sees = |snapshot| self.engine.system.commits.is_visible(writer, snapshot);
        if snapshot.is_none_or(sees) { Ok(()) } else { Err(EngineError::RecordChanged) }
    }

    /// Waits for the queued request. Called without latches. A deadlock victim is rolled back here, and with innodb_rollback_on_timeout
    /// whoever waited too long.
    pub(crate) fn wait_for_lock(&self) -> EngineResult<()> {
        let settings = &self.engine.shared.settings;
        let options = WaitOptions {
            timeout: self.lock_wait_timeout().unwrap_or_else(|| settings.lock_wait_timeout()),
            kill: self.options.kill.clone(),
            deadlock_detect: settings.deadlock_detect.load(Ordering::Relaxed),
        };
        let clock = &self.engine.shared.environment.clock;
        let now_us = || clock.monotonic().as_micros() as u64;
        match self.engine.system.locks.wait(self.owner(), &options, now_us) {
            WaitEnd::Granted => Ok(()),
            WaitEnd::TimedOut => {
                if settings.rollback_on_timeout {
                    self.roll_back_all()?;
                }
                Err(EngineError::LockWaitTimeout)
            }
            WaitEnd::Killed => Err(EngineError::Killed),
            WaitEnd::Victim => {
                self.roll_back_all()?;
                Err(EngineError::Deadlock)
            }
        }
    }

    /// Notes a commit that this transaction has seen and that may not be durable yet: the reply must wait for it.
    #[inline]
    pub(crate) fn note_seen(&self, writer: TransactionId) {
        let TransactionState::Committed(timestamp) = self.engine.system.commits.state(writer) else { return };
        // What is committed since long ago for snapshots need not be durable.
        let commit = if timestamp.0 == 0 { self.engine.system.newest_shown() } else { timestamp.0 };
        let durable = self.engine.pool.redo().durable_lsn().0;
        if commit > durable {
            self.wait_for(commit);
        }
    }
}

/// The lock that a read takes on its rows, and what it does where they are locked; None for one that takes none. `gives_back`: it is a
/// scan of a clustered index that gives back rows that are not wanted.
pub(super) fn lock_of(mode: ReadMode, gives_back: bool) -> Option<(LockMode, WaitPolicy)> {
    let (lock, policy) = match mode {
        ReadMode::Consistent => return None,
        ReadMode::Shared(policy) => (LockMode::SHARED_RECORD, policy),
        ReadMode::Exclusive(policy) => (LockMode::EXCLUSIVE_RECORD, policy),
    };
    let waits = policy == WaitPolicy::LastCommitted && !gives_back;
    Some((lock, if waits { WaitPolicy::Wait } else { policy }))
}
