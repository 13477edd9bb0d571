//! What a statement locks: tables for its transaction, names for a change of definitions, and the server against
//! FLUSH TABLES WITH READ LOCK. Main type: [`HeldLocks`].
//! All that is taken for one statement is given back in one place, however the statement ends.

use crate::session::Session;
use catalog::{
    CellId, Intent, LockDuration, LockKey, LockMode, LockRequest, SLOTS, SessionLocks, SlotTaken, TableLock,
    WaitEnd, WaitLimit,
};
use errors::{SqlResult, sql_error};
use instance::TableLocks;
use std::sync::Arc;

/// A session keeps room for so many locks between transactions.
const KEPT_LOCKS_MAX: usize = 16;

/// Metadata locks that a session holds, but for those of LOCK TABLES.
#[derive(Default)]
pub struct HeldLocks {
    /// To the end of the transaction, in queues.
    transaction: Vec<(LockKey, LockMode)>,
    /// To the end of the transaction, each in the slot of its place.
    slots: Vec<(CellId, LockMode)>,
    /// To the end of the statement.
    statement: Vec<LockKey>,
    /// Slots and intentions; made when the session first needs intentions, or slots for the second time: many sessions run one
    /// statement only, and a queue costs less than a place for slots.
    own: Option<Arc<SessionLocks>>,
    wanted_slot: bool,
}

impl HeldLocks {
    /// For [`Session::release_locks_since`].
    pub fn mark(&self) -> usize {
        self.transaction.len()
    }
}

impl Session {
    /// Waits at most as long as lock_wait_timeout says. Errors: 1205, 1213, 1317.
    pub(crate) fn acquire(&self, key: &LockKey, mode: LockMode, duration: LockDuration) -> SqlResult<()> {
        let shared = &self.shared;
        let limit = WaitLimit { timeout: self.settings().metadata_lock_timeout, kill: &shared.kill };
        let request = LockRequest { session: shared.id, key, mode, duration };
        self.instance.metadata_locks().acquire(&request, limit).into_sql()
    }

    /// Takes metadata locks to the end of the transaction, after LOCK TABLES had its say.
    pub(crate) fn take_table_locks(&mut self, needed: &TableLocks) -> SqlResult<()> {
        self.explicit_locks.check_uses(&needed.uses)?;
        needed.locks.iter().try_for_each(|lock| {
            if self.lock_in_slot(lock) { Ok(()) } else { self.lock_metadata(&lock.key, lock.mode) }
        })
    }

    /// Takes the lock of a kept plan to the end of the transaction, if that can be done without its queue.
    #[inline]
    fn lock_in_slot(&mut self, lock: &TableLock) -> bool {
        let Some(seen) = lock.seen.as_ref().filter(|_| !self.explicit_locks.in_force()) else { return false };
        if !std::mem::replace(&mut self.locks.wanted_slot, true) {
            return false;
        }
        self.enrol();
        let held = &mut self.locks;
        let Some(own) = &held.own else { return false };
        if let Some((slot, (_, mode))) =
            held.slots.iter_mut().enumerate().find(|(_, (id, _))| *id == seen.id())
        {
            let is_enough = mode.covers(lock.mode) || own.strengthen(slot, lock.mode);
            if is_enough && !mode.covers(lock.mode) {
                *mode = lock.mode;
            }
            return is_enough;
        }
        let slot = held.slots.len();
        if slot == SLOTS {
            return false;
        }
        match own.take(slot, seen, lock.mode) {
            SlotTaken::Held => held.slots.push((seen.id(), lock.mode)),
            SlotTaken::InQueue => held.transaction.push((lock.key.clone(), lock.mode)),
            SlotTaken::Refused => return false,
        }
        true
    }

    /// Takes a metadata lock to the end of the transaction.
    pub(crate) fn lock_metadata(&mut self, key: &LockKey, mode: LockMode) -> SqlResult<()> {
        if self.explicit_locks.covers(key, mode) {
            return Ok(());
        }
        let held = self.locks.transaction.iter().position(|(held, _)| held == key);
        if held.is_some_and(|at| self.locks.transaction[at].1.covers(mode)) {
            return Ok(());
        }
        self.acquire(key, mode, LockDuration::Transaction)?;
        match held {
            Some(at) => self.locks.transaction[at].1 = mode,
            None => self.locks.transaction.push((key.clone(), mode)),
        }
        Ok(())
    }

    /// Gives back the metadata locks of the transaction; those of LOCK TABLES and of the running statement stay.
    pub(crate) fn release_transaction_locks(&mut self) {
        let (session, locks) = (self.shared.id, self.instance.metadata_locks());
        if let Some(own) = &self.locks.own {
            (0..self.locks.slots.len()).for_each(|slot| locks.release_slot(own, slot));
            self.locks.slots.clear();
        }
        while let Some((key, _)) = self.locks.transaction.pop() {
            locks.release(session, &key, LockDuration::Transaction);
        }
        // The memory is for the next transaction, unless this one was of an uncommon size.
        self.locks.transaction.shrink_to(KEPT_LOCKS_MAX);
    }

    /// Gives back the metadata locks that were taken in queues for the transaction since the mark was made. None if there are slots:
    /// a lock that moved from one to its queue would go with them.
    pub(crate) fn release_locks_since(&mut self, mark: usize) {
        while self.locks.slots.is_empty()
            && self.locks.transaction.len() > mark
            && let Some((key, _)) = self.locks.transaction.pop()
        {
            self.instance.metadata_locks().release(self.shared.id, &key, LockDuration::Transaction);
        }
    }

    /// Runs a change of definitions under locks on the names that it needs, which are given back at its end.
    pub(crate) fn with_definition_locks<T>(
        &mut self,
        wanted: Vec<(LockKey, LockMode)>,
        change: impl FnOnce(&mut Session) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.with_intent(Intent::Statement, |session| {
            let outcome = session.lock_for_statement(wanted).and_then(|()| change(session));
            session.release_statement_locks();
            outcome
        })
    }

    /// More locks for the running change of definitions, taken in the order of their keys.
    pub(crate) fn lock_for_statement(&mut self, wanted: Vec<(LockKey, LockMode)>) -> SqlResult<()> {
        let mut wanted = wanted;
        wanted.sort_by(|(left, _), (right, _)| left.cmp(right));
        for (key, mode) in wanted {
            self.acquire(&key, mode, LockDuration::Statement)?;
            self.locks.statement.push(key);
        }
        Ok(())
    }

    /// Gives one name back before the statement ends.
    pub(crate) fn unlock_for_statement(&mut self, key: &LockKey) {
        self.locks.statement.retain(|held| held != key);
        let session = self.shared.id;
        self.instance.metadata_locks().release(session, key, LockDuration::Statement);
    }

    /// Gives back the locks of the running statement.
    pub(crate) fn release_statement_locks(&mut self) {
        for key in std::mem::take(&mut self.locks.statement) {
            let session = self.shared.id;
            self.instance.metadata_locks().release(session, &key, LockDuration::Statement);
        }
    }

    /// Runs something that changes the server, while nobody holds the global read lock.
    /// Errors: 1205, 1213, 1317; 1223 if this session holds it.
    pub(crate) fn with_intent<T>(
        &mut self,
        intent: Intent,
        change: impl FnOnce(&mut Session) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.enrol().has(intent) {
            return change(self);
        }
        self.intend(intent)?;
        let outcome = change(self);
        self.relent(intent);
        outcome
    }

    /// LOCK TABLES .. WRITE changes the server for as long as it is in force.
    pub(crate) fn intend_locked_tables(&mut self) -> SqlResult<()> {
        self.intend(Intent::LockedTables)
    }

    fn intend(&mut self, intent: Intent) -> SqlResult<()> {
        if self.explicit_locks.global && intent != Intent::Commit {
            return Err(sql_error!(ER_CANT_UPDATE_WITH_READLOCK));
        }
        self.enrol();
        let Some(own) = &self.locks.own else { return Ok(()) };
        let limit = WaitLimit { timeout: self.settings().metadata_lock_timeout, kill: &self.shared.kill };
        self.instance.metadata_locks().intend(own, intent, limit).into_sql()
    }

    fn enrol(&mut self) -> &Arc<SessionLocks> {
        let (id, instance) = (self.shared.id, &self.instance);
        self.locks.own.get_or_insert_with(|| instance.metadata_locks().enrol(id))
    }

    /// Gives an intention back if it is held: the end of LOCK TABLES, and of a statement that panicked.
    pub(crate) fn relent(&mut self, intent: Intent) {
        if let Some(intents) = self.locks.own.as_ref().filter(|intents| intents.has(intent)) {
            self.instance.metadata_locks().relent(intents, intent);
        }
    }

    /// The end of a session or of a statement that panicked: nothing that belongs to a statement stays.
    pub(crate) fn abandon_statement(&mut self) {
        self.release_statement_locks();
        self.relent(Intent::Statement);
        self.relent(Intent::Commit);
    }

    /// The session ends.
    pub(crate) fn forget_intents(&mut self) {
        if self.locks.own.take().is_some() {
            self.instance.metadata_locks().leave(self.shared.id);
        }
    }

    /// FLUSH TABLES WITH READ LOCK: commits, waits for statements that change something and for commits.
    pub(crate) fn lock_global(&mut self) -> SqlResult<()> {
        let shared = &self.shared;
        let limit = WaitLimit { timeout: self.settings().metadata_lock_timeout, kill: &shared.kill };
        let end = self.instance.metadata_locks().lock_global(shared.id, limit);
        self.explicit_locks.global = end == WaitEnd::Granted;
        self.see_all_commits();
        end.into_sql()
    }
}
