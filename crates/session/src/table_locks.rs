//! LOCK TABLES, UNLOCK TABLES and FLUSH TABLES WITH READ LOCK. Main type: [`ExplicitLocks`].

use crate::session::Session;
use accounts::Privileges;
use catalog::{Intent, LockDuration, LockKey, LockMode};
use errors::{SqlResult, sql_error};
use instance::LockUse;
use parser::ast::{LockTable, TableLockMode};
use std::collections::BTreeSet;
use wire::result::ResultSink;

/// Tables that LOCK TABLES holds, and the global read lock.
#[derive(Debug, Default)]
pub struct ExplicitLocks {
    /// None while LOCK TABLES is not in force.
    tables: Option<Vec<LockedTable>>,
    /// Schemas of the tables that are locked for writing.
    schemas: Vec<LockKey>,
    /// FLUSH TABLES WITH READ LOCK.
    pub global: bool,
}

/// One item of LOCK TABLES.
#[derive(Clone, Debug)]
struct LockedTable {
    key: LockKey,
    /// Statements use the table by this name only, each item once.
    alias: String,
    mode: LockMode,
}

impl ExplicitLocks {
    fn of(&self, key: &LockKey) -> impl Iterator<Item = &LockedTable> {
        self.tables.iter().flatten().filter(move |locked| locked.key == *key)
    }

    /// Whether LOCK TABLES is in force and has that table locked strongly enough.
    pub fn covers(&self, key: &LockKey, mode: LockMode) -> bool {
        self.tables.is_some() && self.of(key).any(|locked| locked.mode.covers(mode))
    }

    /// Whether LOCK TABLES is in force.
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
    /// those of programs that it calls any with it.
    pub(crate) fn check_uses(&self, uses: &[LockUse]) -> SqlResult<()> {
        let Some(tables) = &self.tables else { return Ok(()) };
        let mut free: Vec<&LockedTable> = tables.iter().collect();
        for table in uses {
            let fits = |locked: &&LockedTable| {
                locked.key == table.key && locked.alias.eq_ignore_ascii_case(&table.alias)
            };
            if table.by_program {
                match tables.iter().find(fits) {
                    Some(locked) if allows(locked.mode, table.mode) => continue,
                    Some(_) => return Err(sql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, table.alias)),
                    None => return Err(sql_error!(ER_TABLE_NOT_LOCKED, table.alias)),
                }
            }
            let Some(at) = free.iter().position(fits) else {
                return Err(sql_error!(ER_TABLE_NOT_LOCKED, table.alias));
            };
            if !allows(free.swap_remove(at).mode, table.mode) {
                return Err(sql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, table.alias));
            }
        }
        Ok(())
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

impl Session {
    /// LOCK TABLES: commits, gives earlier locks back, takes all locks or none.
    pub(crate) fn lock_tables(&mut self, tables: &[LockTable], sink: &mut dyn ResultSink) -> SqlResult<()> {
        let mut wanted: Vec<LockedTable> = Vec::new();
        for table in tables {
            let name = self.table_name(&table.table)?;
            self.require_schema(Privileges::LOCK_TABLES, &name.schema)?;
            self.require_table_or_columns(Privileges::SELECT, &name)?;
            let mode = match table.mode {
                TableLockMode::Read | TableLockMode::ReadLocal => LockMode::ReadOnly,
                TableLockMode::Write | TableLockMode::LowPriorityWrite => LockMode::NoReadWrite,
            };
            let key = LockKey::table(&name.schema, &name.table);
            let alias = table.alias.clone().unwrap_or(name.table);
            if wanted.iter().any(|other| other.alias == alias && other.key.schema_name() == name.schema) {
                return Err(sql_error!(ER_NONUNIQ_TABLE, alias));
            }
            wanted.push(LockedTable { key, alias, mode });
        }
        // In the order of their keys, the stronger lock of a table first.
        wanted.sort_by(|left, right| {
            left.key.cmp(&right.key).then(right.mode.covers(left.mode).cmp(&left.mode.covers(right.mode)))
        });
        let writes = wanted.iter().any(|locked| locked.mode == LockMode::NoReadWrite);
        if writes {
            self.refuse_read_only_session()?;
            self.refuse_read_only_server()?;
        }
        self.commit_implicitly()?;
        self.unlock_tables();
        self.explicit_locks.tables = Some(Vec::new());
        if let Err(error) = self.take_explicit_locks(wanted, writes) {
            self.unlock_tables();
            return Err(error);
        }
        self.see_all_commits();
        self.send_ok(sink)
    }

    /// Takes what LOCK TABLES asks for; on an error some of it is held.
    fn take_explicit_locks(&mut self, wanted: Vec<LockedTable>, writes: bool) -> SqlResult<()> {
        if writes {
            self.intend_locked_tables()?;
        }
        let written = wanted.iter().filter(|locked| locked.mode == LockMode::NoReadWrite);
        let schemas: BTreeSet<LockKey> =
            written.map(|locked| LockKey::schema(locked.key.schema_name())).collect();
        for key in schemas {
            self.acquire(&key, LockMode::Intention, LockDuration::Explicit)?;
            self.explicit_locks.schemas.push(key);
        }
        for locked in wanted {
            self.acquire(&locked.key, locked.mode, LockDuration::Explicit)?;
            let (schema, table) = (locked.key.schema_name(), locked.key.object_name());
            let missing = (!self.table_exists(schema, table)).then(|| match self.schema_exists(schema) {
                true => sql_error!(ER_NO_SUCH_TABLE, schema, table),
                false => sql_error!(ER_BAD_DB_ERROR, schema),
            });
            self.explicit_locks.tables.get_or_insert_default().push(locked);
            missing.map_or(Ok(()), Err)?;
        }
        Ok(())
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
        let tables = self.explicit_locks.tables.take().into_iter().flatten().map(|locked| locked.key);
        for key in tables.chain(std::mem::take(&mut self.explicit_locks.schemas)) {
            self.release_explicit(&key);
        }
        self.relent(Intent::LockedTables);
    }

    fn release_explicit(&self, key: &LockKey) {
        let session = self.shared.id;
        self.instance.metadata_locks().release(session, key, LockDuration::Explicit);
    }

    /// A table that LOCK TABLES holds is gone.
    pub(crate) fn forget_locked_table(&mut self, key: &LockKey) {
        if let Some(tables) = &mut self.explicit_locks.tables {
            tables.retain(|locked| locked.key != *key);
            self.release_explicit(key);
        }
    }

    /// A table that LOCK TABLES holds has another name, which this session has locked exclusively for the statement.
    pub(crate) fn rename_locked_table(&mut self, from: &LockKey, to: &LockKey) -> SqlResult<()> {
        let Some(mut tables) = self.explicit_locks.tables.take() else { return Ok(()) };
        let mut outcome = Ok(());
        for locked in tables.iter_mut().filter(|locked| locked.key == *from) {
            outcome = outcome.and_then(|()| self.acquire(to, locked.mode, LockDuration::Explicit));
            locked.key = to.clone();
            locked.alias = to.object_name().to_owned();
        }
        self.explicit_locks.tables = Some(tables);
        self.release_explicit(from);
        outcome
    }

    /// Gives back the global read lock.
    pub(crate) fn unlock_global(&mut self) {
        if std::mem::take(&mut self.explicit_locks.global) {
            self.instance.metadata_locks().unlock_global(self.shared.id);
        }
    }
}
