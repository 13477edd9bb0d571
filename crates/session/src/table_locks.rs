//! LOCK TABLES, UNLOCK TABLES and FLUSH TABLES WITH READ LOCK. Main type: [`ExplicitLocks`].

use crate::accounts::Privileges;
use crate::metadata_lock::{LockKey, LockMode};
use crate::session::Session;
use errors::{SqlResult, sql_error};
use parser::ast::{LockTable, TableLockMode};
use std::collections::BTreeMap;
use wire::result::ResultSink;

/// Tables that LOCK TABLES holds, and the global read lock.
#[derive(Debug, Default)]
pub struct ExplicitLocks {
    /// None while LOCK TABLES is not in force.
    tables: Option<BTreeMap<LockKey, LockMode>>,
    /// FLUSH TABLES WITH READ LOCK.
    pub global: bool,
}

impl ExplicitLocks {
    /// Whether LOCK TABLES is in force and has that table locked strongly enough.
    pub fn is_some_and_covering(&self, key: &LockKey, mode: LockMode) -> bool {
        let held = self.tables.as_ref().and_then(|tables| tables.get(key));
        held.is_some_and(|held| *held == LockMode::Exclusive || mode == LockMode::Read)
    }

    /// Whether LOCK TABLES holds that table.
    pub fn contains(&self, key: &LockKey) -> bool {
        self.tables.as_ref().is_some_and(|tables| tables.contains_key(key))
    }

    /// Whether LOCK TABLES is in force.
    pub fn in_force(&self) -> bool {
        self.tables.is_some()
    }

    /// Errors 1099 and 1100: a statement may use only what LOCK TABLES named.
    pub fn check(&self, key: &LockKey, mode: LockMode) -> SqlResult<()> {
        let Some(tables) = &self.tables else { return Ok(()) };
        match tables.get(key) {
            None => Err(sql_error!(ER_TABLE_NOT_LOCKED, key.table_name())),
            Some(LockMode::ReadOnly) if mode != LockMode::Read => {
                Err(sql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, key.table_name()))
            }
            Some(_) => Ok(()),
        }
    }
}

impl Session {
    /// LOCK TABLES: commits, gives earlier locks back, takes all locks or none.
    pub(crate) fn lock_tables(&mut self, tables: &[LockTable], sink: &mut dyn ResultSink) -> SqlResult<()> {
        let mut wanted = BTreeMap::new();
        for table in tables {
            let name = self.table_name(&table.table)?;
            self.require_table(
                Privileges::LOCK_TABLES.with(Privileges::SELECT),
                &name.schema,
                &name.table,
                "LOCK TABLES",
            )?;
            if !self.table_exists(&name.schema, &name.table) {
                return Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table));
            }
            let mode = match table.mode {
                TableLockMode::Read | TableLockMode::ReadLocal => LockMode::ReadOnly,
                TableLockMode::Write | TableLockMode::LowPriorityWrite => LockMode::Exclusive,
            };
            let entry = wanted.entry(LockKey::table(&name.schema, &name.table)).or_insert(mode);
            *entry = (*entry).max(mode);
        }
        self.commit_open()?;
        self.unlock_tables();
        let timeout = self.settings().metadata_lock_timeout;
        for (key, mode) in &wanted {
            let shared = &self.state.shared;
            let locks = self.state.instance.metadata_locks();
            if let Err(error) = locks.acquire(shared.id, key, *mode, timeout, &shared.kill) {
                wanted.keys().take_while(|held| *held != key).for_each(|held| locks.release(shared.id, held));
                return Err(error);
            }
        }
        self.explicit_locks.tables = Some(wanted);
        self.send_ok(sink)
    }

    /// UNLOCK TABLES as a statement: commits if LOCK TABLES was in force.
    pub(crate) fn unlock_tables_statement(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if self.explicit_locks.in_force() {
            self.commit_open()?;
        }
        self.unlock_tables();
        self.unlock_global();
        self.send_ok(sink)
    }

    /// Gives back what LOCK TABLES took.
    pub(crate) fn unlock_tables(&mut self) {
        for key in self.explicit_locks.tables.take().into_iter().flatten().map(|(key, _)| key) {
            self.state.instance.metadata_locks().release(self.state.shared.id, &key);
        }
    }

    /// Gives back the global read lock.
    pub(crate) fn unlock_global(&mut self) {
        if std::mem::take(&mut self.explicit_locks.global) {
            self.state.instance.metadata_locks().unlock_global(self.state.shared.id);
        }
    }

    /// FLUSH TABLES WITH READ LOCK.
    pub(crate) fn lock_global(&mut self) -> SqlResult<()> {
        self.commit_open()?;
        let timeout = self.settings().metadata_lock_timeout;
        let shared = &self.state.shared;
        self.state.instance.metadata_locks().lock_global(shared.id, timeout, &shared.kill)?;
        self.explicit_locks.global = true;
        Ok(())
    }
}
