//! What a session locks: tables for its transaction, names for a change of definitions, LOCK TABLES, and the server against
//! FLUSH TABLES WITH READ LOCK. What it holds is in `catalog`'s `HeldLocks`; here is when it takes and gives back.

use crate::foreign_key_locks::with_relatives;
use crate::locks_needed::locks_needed;
use crate::prepared_parameters::SettledTypes;
use crate::session::Session;
use accounts::Privileges;
use catalog::{HeldMark, Intent, LockKey, LockMode, LockedTable, TableLock, TableLocks};
use errors::code;
use errors::{ErrorCode, SqlError, SqlResult, sql_error};
use instance::{lock_limit as limit, lock_owner as owner};
use parser::ast::{LockTable, QueryBody, Statement, TableLockMode};
use std::collections::HashSet;
use std::time::Duration;
use wire::result::ResultSink;

/// What MySQL finds wrong before all tables of a statement are open, or even before any is.
const OF_OPENING: &[&ErrorCode] = &[
    &code::ER_DBACCESS_DENIED_ERROR,
    &code::ER_BAD_DB_ERROR,
    &code::ER_NONUNIQ_TABLE,
    &code::ER_UNKNOWN_TABLE,
    &code::ER_TABLEACCESS_DENIED_ERROR,
    &code::ER_NO_SUCH_TABLE,
    &code::ER_PARTITION_CLAUSE_ON_NONPARTITIONED,
    &code::ER_UNRESOLVED_TABLE_LOCK,
];

/// Whether a statement that was only planned has failed in opening its tables: it keeps no metadata lock then. After any other error
/// what it has locked stays so to the end of the transaction.
pub(crate) fn is_of_opening(error: &SqlError) -> bool {
    OF_OPENING.iter().any(|code| error.is(code))
}

impl Session {
    /// lock_wait_timeout.
    fn lock_timeout(&self) -> Duration {
        self.settings().metadata_lock_timeout
    }

    /// The metadata locks that a statement of this session needs.
    pub(crate) fn locks_needed(&self, statement: &Statement) -> TableLocks {
        locks_needed((&self.instance, &self.temporary), statement, self.schema.as_deref())
    }

    /// Takes metadata locks to the end of the transaction, after LOCK TABLES had its say.
    pub(crate) fn take_table_locks(&mut self, needed: &TableLocks) -> SqlResult<()> {
        if !self.handlers.is_empty() {
            crate::handler::give_way(self);
        }
        let timeout = self.lock_timeout();
        let (owner, limit) = (owner(&self.instance, &self.shared), limit(&self.shared, timeout));
        self.locks.take_tables(owner, limit, needed)
    }

    /// Takes a metadata lock to the end of the transaction. Errors: 1205, 1213, 1317.
    pub(crate) fn lock_metadata(&mut self, key: &LockKey, mode: LockMode) -> SqlResult<()> {
        let timeout = self.lock_timeout();
        let (owner, limit) = (owner(&self.instance, &self.shared), limit(&self.shared, timeout));
        self.locks.take(owner, limit, key, mode)
    }

    /// Gives back the metadata locks of the transaction; those of LOCK TABLES and of the running statement stay.
    pub(crate) fn release_transaction_locks(&mut self) {
        self.locks.release_transaction(owner(&self.instance, &self.shared));
    }

    /// Gives back what was locked for the transaction since the mark was made.
    pub(crate) fn release_locks_since(&mut self, mark: HeldMark) {
        self.locks.release_since(owner(&self.instance, &self.shared), mark);
    }

    /// Runs a change of definitions under locks on the names that it needs, which are given back at its end, and while nobody holds
    /// the lock for backup.
    pub(crate) fn with_definition_locks<T>(
        &mut self,
        mut wanted: Vec<(LockKey, LockMode)>,
        change: impl FnOnce(&mut Session) -> SqlResult<T>,
    ) -> SqlResult<T> {
        wanted.push((LockKey::backup(), LockMode::Intention));
        self.with_intent(Intent::Statement, |session| {
            let outcome = session.lock_for_statement(wanted).and_then(|()| change(session));
            session.release_statement_locks();
            outcome
        })
    }

    /// More locks for the running change of definitions, taken in the order of their keys.
    pub(crate) fn lock_for_statement(&mut self, wanted: Vec<(LockKey, LockMode)>) -> SqlResult<()> {
        if !self.handlers.is_empty() {
            crate::handler::close_locked(self, &wanted);
            crate::handler::give_way(self);
        }
        let timeout = self.lock_timeout();
        let (owner, limit) = (owner(&self.instance, &self.shared), limit(&self.shared, timeout));
        self.locks.take_for_statement(owner, limit, wanted)
    }

    fn release_statement_locks(&mut self) {
        self.locks.release_statement(owner(&self.instance, &self.shared));
    }

    /// Runs something that changes the server, while nobody holds the global read lock.
    /// Errors: 1205, 1213, 1317; 1223 if this session holds it.
    pub(crate) fn with_intent<T>(
        &mut self,
        intent: Intent,
        change: impl FnOnce(&mut Session) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.locks.intends(owner(&self.instance, &self.shared), intent) {
            return change(self);
        }
        let timeout = self.lock_timeout();
        let limit = limit(&self.shared, timeout);
        self.locks.intend(owner(&self.instance, &self.shared), limit, intent)?;
        let outcome = change(self);
        self.locks.relent(owner(&self.instance, &self.shared), intent);
        outcome
    }

    /// The end of a session or of a statement that panicked: nothing that belongs to a statement stays.
    pub(crate) fn abandon_statement(&mut self) {
        crate::handler::end_reading(self);
        self.locks.abandon_statement(owner(&self.instance, &self.shared));
    }

    /// LOCK TABLES: commits, gives earlier locks back, takes all locks or none.
    pub(crate) fn lock_tables(&mut self, tables: &[LockTable], sink: &mut dyn ResultSink) -> SqlResult<()> {
        // Nobody else can have the session's own.
        let is_shared = |table: &&LockTable| !self.names_temporary(&table.table);
        let shared: Vec<LockTable> = tables.iter().filter(is_shared).cloned().collect();
        self.lock_base_tables(&shared, sink)
    }

    /// The same for FLUSH TABLES WITH READ LOCK, to which a name means the base table or the view.
    pub(crate) fn lock_base_tables(
        &mut self,
        tables: &[LockTable],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let mut wanted: Vec<LockedTable> = Vec::new();
        let mut seen = HashSet::with_capacity(tables.len());
        // Views may read what is named as well.
        let (mut views, mut read_by_views) = (Vec::new(), HashSet::new());
        for table in tables {
            self.shared.check_killed()?;
            let name = self.table_name(&table.table)?;
            self.user.require_schema(&self.instance, Privileges::LOCK_TABLES, &name.schema)?;
            self.user.require_table_or_columns(&self.instance, Privileges::SELECT, &name)?;
            let mode = match table.mode {
                TableLockMode::Read | TableLockMode::ReadLocal => LockMode::ReadOnly,
                TableLockMode::Write | TableLockMode::LowPriorityWrite => LockMode::NoReadWrite,
            };
            let key = LockKey::table(&name.schema, &name.table);
            let alias = table.alias.clone().unwrap_or(name.table);
            if !seen.insert((name.schema, alias.clone())) {
                return Err(sql_error!(ER_NONUNIQ_TABLE, alias));
            }
            wanted.push(LockedTable { key: key.clone(), alias, mode });
            // What a view reads is locked with it.
            let query = sysviews::plain_query(QueryBody::Table(table.table.clone()));
            let query = Statement::Query(Box::new(query));
            let read = self.locks_needed(&query);
            if read.uses.iter().any(|used| used.by_program) {
                views.push(query);
            }
            for used in read.uses.into_iter().filter(|used| used.by_program && used.key != key) {
                if read_by_views.insert((used.key.schema_name().to_owned(), used.alias.clone())) {
                    wanted.push(LockedTable { key: used.key, alias: used.alias, mode });
                }
            }
        }
        self.add_relatives(&mut wanted);
        // In the order of their keys, the stronger lock of a table first.
        wanted.sort_by(|left, right| {
            left.key.cmp(&right.key).then(right.mode.covers(left.mode).cmp(&left.mode.covers(right.mode)))
        });
        if wanted.iter().any(|locked| locked.mode == LockMode::NoReadWrite) {
            self.refuse_read_only_session()?;
            self.refuse_read_only_server()?;
        }
        self.commit_implicitly()?;
        self.unlock_tables();
        for view in &views {
            self.require_locks_of_views(view)?;
        }
        if let Err(error) = self.take_explicit_locks(wanted) {
            self.unlock_tables();
            return Err(error);
        }
        self.see_all_commits();
        self.send_ok(sink)
    }

    /// Error 1356 unless the user, or those by whose rights views go, may lock the tables that a query reads by them.
    fn require_locks_of_views(&mut self, query: &Statement) -> SqlResult<()> {
        let planned = self.planned(query, &SettledTypes::none(0))?;
        let needed = planned.prepared.plan().privileges.to_lock_within_views();
        needed.iter().try_for_each(|[as_user, as_definer]| {
            let allowed = self.user.require_plan(&self.instance, as_user);
            allowed.or_else(|_| self.user.require_plan(&self.instance, as_definer))
        })
    }

    /// Tables that foreign keys lead to from those that are locked for writing are locked with them, where they exist, by their own names.
    fn add_relatives(&self, wanted: &mut Vec<LockedTable>) {
        let written = wanted.iter().filter(|locked| locked.mode == LockMode::NoReadWrite);
        let written: Vec<TableLock> =
            written.map(|locked| TableLock::new(locked.key.clone(), LockMode::Write)).collect();
        let count = written.len();
        for TableLock { key, mode, .. } in with_relatives(&self.instance, written).split_off(count) {
            let mode = if mode == LockMode::Write { LockMode::NoReadWrite } else { LockMode::ReadOnly };
            let alias = key.object_name().to_owned();
            if self.instance.engine().dictionary().has_table(key.schema_name(), &alias) {
                wanted.push(LockedTable { key, alias, mode });
            }
        }
    }

    /// Takes what LOCK TABLES asks for; on an error some of it is held.
    fn take_explicit_locks(&mut self, wanted: Vec<LockedTable>) -> SqlResult<()> {
        crate::handler::give_way(self);
        let timeout = self.lock_timeout();
        let (owner, limit) = (owner(&self.instance, &self.shared), limit(&self.shared, timeout));
        let instance = &self.instance;
        self.locks.take_explicitly(owner, limit, wanted, |key| {
            let (schema, table) = (key.schema_name(), key.object_name());
            if sysviews::table_exists(instance, schema, table) {
                return Ok(());
            }
            Err(match sysviews::schema_exists(instance, schema) {
                true => sql_error!(ER_NO_SUCH_TABLE, schema, table),
                false => sql_error!(ER_BAD_DB_ERROR, schema),
            })
        })
    }

    /// UNLOCK TABLES as a statement: commits if LOCK TABLES was in force.
    pub(crate) fn unlock_tables_statement(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if self.locks.explicit.in_force() {
            self.commit_open()?;
        }
        self.unlock_tables();
        self.unlock_global();
        self.send_ok(sink)
    }

    /// Gives back what LOCK TABLES took.
    pub(crate) fn unlock_tables(&mut self) {
        self.locks.unlock_tables(owner(&self.instance, &self.shared));
    }

    /// FLUSH TABLES WITH READ LOCK: commits, waits for statements that change something and for commits.
    pub(crate) fn lock_global(&mut self) -> SqlResult<()> {
        let timeout = self.lock_timeout();
        let (owner, limit) = (owner(&self.instance, &self.shared), limit(&self.shared, timeout));
        let locked = self.locks.lock_global(owner, limit);
        self.see_all_commits();
        locked
    }

    /// LOCK INSTANCE FOR BACKUP. Errors: 1205, 1213, 1317.
    pub(crate) fn lock_instance(&mut self) -> SqlResult<()> {
        let timeout = self.lock_timeout();
        let (owner, limit) = (owner(&self.instance, &self.shared), limit(&self.shared, timeout));
        self.locks.lock_instance(owner, limit)
    }

    /// UNLOCK INSTANCE.
    pub(crate) fn unlock_instance(&mut self) {
        self.locks.unlock_instance(owner(&self.instance, &self.shared));
    }

    /// Gives back the global read lock.
    pub(crate) fn unlock_global(&mut self) {
        self.locks.unlock_global(owner(&self.instance, &self.shared));
    }
}
