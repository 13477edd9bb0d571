//! The metadata locks that a statement needs. Main types: [`TableLocks`], [`LockUse`].

use crate::{LockKey, LockMode, SeenCell, TableLock};

/// The metadata locks of a statement.
#[derive(Debug, Default)]
pub struct TableLocks {
    /// Each table once with its strongest mode, in the order in which they are locked.
    pub locks: Vec<TableLock>,
    /// Each use of a table: LOCK TABLES wants them one by one, by alias.
    pub uses: Vec<LockUse>,
    /// Temporary tables are used as well: they are the session's own, and have no locks.
    pub uses_temporary: bool,
}

/// A table as it is used at one place of a statement.
#[derive(Clone, Debug)]
pub struct LockUse {
    /// The table.
    pub key: LockKey,
    /// What the statement calls it there.
    pub alias: String,
    /// How it is used.
    pub mode: LockMode,
    /// A program that the statement calls uses it, not the statement itself.
    pub by_program: bool,
}

impl LockUse {
    /// Whether its rows are changed there, or locked as if they were.
    pub fn changes(&self) -> bool {
        self.mode == LockMode::Write
    }
}

impl TableLocks {
    /// Whether rows are changed, or locked as if they were.
    #[inline]
    pub fn write(&self) -> bool {
        self.locks.iter().any(|lock| lock.mode == LockMode::Write)
    }

    /// Whether no table is used, a temporary one neither.
    #[inline]
    pub fn uses_none(&self) -> bool {
        self.locks.is_empty() && !self.uses_temporary
    }

    /// Whether rows of temporary tables alone may be changed.
    pub fn changes_own_only(&self) -> bool {
        self.uses_temporary && !self.write()
    }

    /// Those of a locking read whose rows nobody reads: EXPLAIN.
    pub fn only_read(&mut self) {
        self.locks.iter_mut().for_each(|lock| lock.mode = LockMode::Read);
        self.uses.iter_mut().for_each(|used| used.mode = LockMode::Read);
    }

    /// What PREPARE locks, and EXECUTE does not need: only that the tables stay what they are. LOCK TABLES of others does not matter.
    pub fn to_prepare(&self) -> TableLocks {
        let lock = |lock: &TableLock| TableLock::new(lock.key.clone(), LockMode::Shared);
        let uses = self.uses.iter().map(|used| LockUse { mode: LockMode::Shared, ..used.clone() });
        let uses_temporary = self.uses_temporary;
        TableLocks { locks: self.locks.iter().map(lock).collect(), uses: uses.collect(), uses_temporary }
    }

    /// Whether a plan that was made under these locks may still be used.
    #[inline]
    pub fn are_current(&self) -> bool {
        self.locks.iter().all(TableLock::is_current)
    }

    /// The same locks, without the uses that LOCK TABLES asks for.
    pub fn copy(&self) -> TableLocks {
        TableLocks { locks: self.locks.clone(), uses: Vec::new(), uses_temporary: self.uses_temporary }
    }

    /// The same of tables that were seen so.
    pub fn seen_as(&self, seen: &[SeenCell]) -> TableLocks {
        let mut locks = self.copy();
        locks.remember(seen.to_vec());
        locks
    }

    /// What the plan was made for, that is kept with these locks.
    #[inline]
    pub fn remember(&mut self, seen: Vec<SeenCell>) {
        self.locks.iter_mut().zip(seen).for_each(|(lock, seen)| lock.seen = Some(seen));
    }
}
