//! AUTO_INCREMENT values for a statement's rows, and the AUTO-INC lock of a table, which keeps them together (innodb_autoinc_lock_mode 0
//! and 1; rule A2 in README.md). Main type: [`TableCounter`].

use super::Transaction;
use super::locking::Conflict;
use crate::read::WaitPolicy;
use dictionary::{AutoIncrementLockMode, AutoIncrementRange, AutoIncrementRequest, InsertKind};
use engine_error::EngineResult;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::IndexId;
use tables::{AutoIncrement, Table};
use txn::locks::LockMode;

/// In the lock table AUTO-INC locks are on entries of an index that does not exist; its keys are tables' ids.
const AUTO_INC_LOCKS: IndexId = IndexId(u64::MAX);

/// The counter of a table in the hands of a transaction's statement.
#[derive(Clone, Copy, Debug)]
pub struct TableCounter<'t> {
    transaction: &'t Transaction,
    table: &'t Arc<Table>,
    kind: InsertKind,
}

impl<'t> TableCounter<'t> {
    /// For an INSERT of that kind.
    pub fn new(transaction: &'t Transaction, table: &'t Arc<Table>, kind: InsertKind) -> TableCounter<'t> {
        TableCounter { transaction, table, kind }
    }

    /// Reserves AUTO_INCREMENT values. They are never handed out again, even if the transaction rolls back or the machine
    /// crashes, provided the reply waits for [`Transaction::reply_lsn`]. May wait for the AUTO-INC lock: no latch may be held.
    /// Errors: AutoIncrementExhausted, lock errors.
    pub fn reserve(&self, request: AutoIncrementRequest) -> EngineResult<AutoIncrementRange> {
        let range = self.with_lock(|counter| counter.take(request))?;
        self.cover()?;
        Ok(range)
    }

    /// The next value, which stays the next until the counter is raised: for traditional locking, under which a row that does not go
    /// in uses up none. Errors: as `reserve`.
    pub fn next(&self, request: AutoIncrementRequest) -> EngineResult<AutoIncrementRange> {
        self.with_lock(|counter| counter.next(request))
    }

    /// Tells the counter of a value that an INSERT gave a row itself. May wait for the AUTO-INC lock.
    pub fn raise(&self, value: u64) -> EngineResult<()> {
        let column_max = self.table.definition.auto_increment_max();
        let next = value.saturating_add(1).min(column_max);
        if value <= column_max && next > self.table.auto_increment.peek() {
            self.with_lock(|counter| {
                counter.raise_above(value, column_max);
                Ok(())
            })?;
        }
        self.cover()
    }

    /// The same of an UPDATE, which asks for no lock, as in MySQL.
    pub fn raise_unlocked(&self, value: u64) -> EngineResult<()> {
        self.transaction.check_may_write(self.table)?;
        self.table.auto_increment.raise_above(value, self.table.definition.auto_increment_max());
        self.cover()
    }

    /// How the counter is shared, as the server was started.
    pub fn lock_mode(&self) -> AutoIncrementLockMode {
        let settings = &self.transaction.engine.shared.settings;
        AutoIncrementLockMode::of(settings.auto_increment_lock_mode.load(Ordering::Relaxed))
    }

    /// The statement ends, or has failed: gives back the AUTO-INC lock, if it has it.
    pub fn give_back(&self) {
        if self.lock_mode() != AutoIncrementLockMode::Interleaved
            && let Some(owner) = self.transaction.owner.get()
        {
            let locks = &self.transaction.engine.system.locks;
            locks.unlock(owner, AUTO_INC_LOCKS, &lock_key(self.table), 0);
        }
    }

    fn cover(&self) -> EngineResult<()> {
        let transaction = self.transaction;
        transaction.engine.tables.cover(self.table).map(|limit| transaction.wait_for(limit.0))
    }

    /// Uses the counter as the lock mode says. Looking whether others have the lock and using the counter is one step for simple inserts, and
    /// so is asking for the lock: or they would take values from the middle of a bulk insert's.
    fn with_lock<R>(&self, act: impl FnOnce(&AutoIncrement) -> EngineResult<R>) -> EngineResult<R> {
        let (transaction, counter) = (self.transaction, &self.table.auto_increment);
        transaction.check_may_write(self.table)?;
        let mode = self.lock_mode();
        if mode == AutoIncrementLockMode::Interleaved || self.table.is_temporary() {
            return act(counter);
        }
        let key = lock_key(self.table);
        loop {
            let one_step = counter.lock_step();
            let locks = &transaction.engine.system.locks;
            if !mode.always_locks(self.kind) && !locks.others_lock(transaction.owner(), AUTO_INC_LOCKS, &key)
            {
                return act(counter);
            }
            let exclusive = LockMode::EXCLUSIVE_RECORD;
            match transaction.request_lock(AUTO_INC_LOCKS, &key, exclusive, None, WaitPolicy::Wait)? {
                Some(Conflict::Wait) => drop(one_step),
                // Nothing is skipped, and no row says who has the lock.
                _ => return act(counter),
            }
            transaction.wait_for_lock()?;
        }
    }
}

fn lock_key(table: &Table) -> [u8; 8] {
    table.id().0.to_be_bytes()
}
