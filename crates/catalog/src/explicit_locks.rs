//! What LOCK TABLES and FLUSH TABLES WITH READ LOCK hold. Main type: [`ExplicitLocks`].

use crate::{LockKey, LockMode, TableLocks};
use errors::{SqlResult, sql_error};

/// Tables that LOCK TABLES holds, and the global read lock.
#[derive(Debug, Default)]
pub struct ExplicitLocks {
    /// None while LOCK TABLES is not in force.
    pub(crate) tables: Option<Vec<LockedTable>>,
    /// Schemas of the tables that are locked for writing.
    pub(crate) schemas: Vec<LockKey>,
    /// FLUSH TABLES WITH READ LOCK.
    pub global: bool,
    /// LOCK INSTANCE FOR BACKUP.
    pub instance: bool,
}

/// One item of LOCK TABLES.
#[derive(Clone, Debug)]
pub struct LockedTable {
    /// The table.
    pub key: LockKey,
    /// Statements use the table by this name only, each item once.
    pub alias: String,
    /// How it is locked.
    pub mode: LockMode,
}

impl ExplicitLocks {
    fn of(&self, key: &LockKey) -> impl Iterator<Item = &LockedTable> {
        self.tables.iter().flatten().filter(move |locked| locked.key == *key)
    }

    /// How LOCK TABLES holds a table.
    pub(crate) fn modes_of(&self, key: &LockKey) -> impl Iterator<Item = LockMode> {
        self.of(key).map(|locked| locked.mode)
    }

    /// Whether LOCK TABLES is in force and has that table locked strongly enough.
    #[inline]
    pub fn covers(&self, key: &LockKey, mode: LockMode) -> bool {
        self.tables.is_some() && self.of(key).any(|locked| locked.mode.covers(mode))
    }

    /// Whether LOCK TABLES is in force.
    #[inline]
    pub fn in_force(&self) -> bool {
        self.tables.is_some()
    }

    /// Errors 1099 and 1100: a change of definitions may use only what LOCK TABLES named, by whatever alias.
    pub fn check(&self, key: &LockKey, mode: LockMode) -> SqlResult<()> {
        if !self.in_force() || self.of(key).any(|locked| allows(locked.mode, mode)) {
            return Ok(());
        }
        match self.of(key).next() {
            None => Err(sql_error!(ER_TABLE_NOT_LOCKED, key.object_name())),
            Some(_) => Err(sql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, key.object_name())),
        }
    }

    /// Error 1099 where a table is locked for reading only: FLUSH TABLES would close it.
    pub fn check_all_written(&self) -> SqlResult<()> {
        let mut read = self.tables.iter().flatten().filter(|locked| locked.mode != LockMode::NoReadWrite);
        match read.next() {
            Some(locked) => Err(sql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, locked.key.object_name())),
            None => Ok(()),
        }
    }

    /// The same for the tables of a query or row change: each use needs an item of its own with the use's alias,
    /// those of programs that it calls any with it. 1100 goes before 1099, also for a table that foreign keys lead to.
    #[inline]
    pub fn check_uses(&self, needed: &TableLocks) -> SqlResult<()> {
        let Some(tables) = &self.tables else { return Ok(()) };
        let mut free: Vec<&LockedTable> = tables.iter().collect();
        let mut too_weak = None;
        for table in &needed.uses {
            let fits = |locked: &&LockedTable| {
                locked.key == table.key && locked.alias.eq_ignore_ascii_case(&table.alias)
            };
            let found = match table.by_program {
                true => tables.iter().find(fits),
                false => free.iter().position(fits).map(|at| free.remove(at)),
            };
            let Some(locked) = found else { return Err(sql_error!(ER_TABLE_NOT_LOCKED, table.alias)) };
            if !allows(locked.mode, table.mode) {
                too_weak.get_or_insert(&table.alias);
            }
        }
        let Some(alias) = too_weak else { return Ok(()) };
        match needed.locks.iter().find(|lock| self.of(&lock.key).next().is_none()) {
            Some(lock) => Err(sql_error!(ER_TABLE_NOT_LOCKED, lock.key.object_name())),
            None => Err(sql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, alias)),
        }
    }

    /// Error 1192: LOCK TABLES has no words for what the statement would change.
    pub fn refuse(&self) -> SqlResult<()> {
        match self.in_force() {
            true => Err(sql_error!(ER_LOCK_OR_ACTIVE_TRANSACTION)),
            false => Ok(()),
        }
    }
}

/// A table that is locked for writing may be changed and redefined, the others only read.
fn allows(locked: LockMode, mode: LockMode) -> bool {
    locked == LockMode::NoReadWrite || locked.covers(mode)
}
