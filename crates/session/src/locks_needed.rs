//! Which metadata locks a statement needs, those of the programs that it calls among them. Main function: [`locks_needed`].

use crate::foreign_key_locks::{missing_relatives, strengthen};
use crate::nested::program_of;
use crate::session::Session;
use catalog::{LockKey, LockMode, LockUse, TableLock, TableLocks};
use dictionary::{TableName, ViewDefinition};
use engine::TemporaryTables;
use errors::SqlResult;
use expression::Routine;
use instance::{Instance, names_used, system_schemas, table_name, view_query};
use parser::ast::Statement;
use std::sync::Arc;

/// Collects the locks of a statement and of the programs that it calls.
struct Needs<'i> {
    instance: &'i Instance,
    temporary: &'i TemporaryTables,
    locks: TableLocks,
    /// The programs that were looked into.
    programs: Vec<Arc<Routine>>,
    /// The views that were looked into.
    views: Vec<Arc<ViewDefinition>>,
}

impl Needs<'_> {
    /// What a statement uses by itself, and by calls. `by_program`: it is one of a program's.
    fn add(&mut self, statement: &Statement, schema: Option<&str>, by_program: bool) {
        let used = names_used(statement);
        for found in used.tables {
            let Ok(full) = table_name(&found.name, schema) else { continue };
            if system_schemas::is_system_schema(&full.schema) {
                continue;
            }
            // Nobody else has it.
            if !by_program && self.temporary.has(&full) {
                self.locks.uses_temporary = true;
                continue;
            }
            let key = LockKey::table(&full.schema, &full.table);
            match self.locks.locks.iter_mut().find(|known| known.key == key) {
                Some(known) if known.mode.covers(found.mode) => {}
                Some(known) => known.mode = found.mode,
                None => self.locks.locks.push(TableLock::new(key.clone(), found.mode)),
            }
            self.locks.uses.push(LockUse { key, alias: found.alias, mode: found.mode, by_program });
            self.add_view(&full, found.mode);
        }
        self.add_relatives(statement);
        for call in used.functions {
            let schema = call.schema.as_deref().or(schema);
            if let Some(routine) = schema.and_then(|schema| self.instance.routines().find(schema, &call.name))
            {
                self.add_program(routine);
            }
        }
    }

    /// Tables that foreign keys lead to from those that a statement changes.
    fn add_relatives(&mut self, statement: &Statement) {
        loop {
            let missing = missing_relatives(self.instance, statement, &self.locks.locks);
            if missing.is_empty() {
                return;
            }
            strengthen(&mut self.locks.locks, missing);
        }
    }

    /// What a view reads, if the name is one's: locked as the view is.
    fn add_view(&mut self, name: &TableName, mode: LockMode) {
        let Some(view) = self.instance.engine().dictionary().views.get(&name.schema, &name.table) else {
            return;
        };
        if self.views.iter().any(|known| Arc::ptr_eq(known, &view)) {
            return;
        }
        self.views.push(Arc::clone(&view));
        // A text that is no good is told of when it is bound.
        let Ok(query) = view_query(&view) else { return };
        let first = self.locks.uses.len();
        self.add(&Statement::Query(Box::new(query)), Some(&name.schema), true);
        if mode == LockMode::Write {
            self.locks.uses[first..].iter_mut().for_each(|used| used.mode = mode);
            let uses = &self.locks.uses[first..];
            let is_used = |lock: &&mut TableLock| uses.iter().any(|used| used.key == lock.key);
            self.locks.locks.iter_mut().filter(is_used).for_each(|lock| lock.mode = mode);
        }
    }

    fn add_program(&mut self, routine: Arc<Routine>) {
        if self.programs.iter().any(|known| Arc::ptr_eq(known, &routine)) {
            return;
        }
        self.programs.push(Arc::clone(&routine));
        for nested in program_of(&routine).iter().flat_map(|program| &program.statements) {
            self.add(&nested.statement, Some(&routine.schema), true);
        }
    }
}

/// The metadata locks that a statement needs, those of the programs that it calls among them. Tables of system schemas
/// and the session's temporary tables need none.
pub(crate) fn locks_needed(
    (instance, temporary): (&Instance, &TemporaryTables),
    statement: &Statement,
    schema: Option<&str>,
) -> TableLocks {
    let (locks, programs, views) = (TableLocks::default(), Vec::new(), Vec::new());
    let mut needs = Needs { instance, temporary, locks, programs, views };
    needs.add(statement, schema, false);
    let mut needed = needs.locks;
    needed.locks.sort_by(|left, right| left.key.cmp(&right.key));
    needed
}

/// The locks of a statement whose views were redefined, or whose tables were given foreign keys, while it waited for those that it held to
/// be enough: more are taken until they cover what is read and changed now. What is locked does not change any more. None if nothing is
/// missing.
pub(crate) fn cover(
    session: &mut Session,
    statement: &Statement,
    locks: &TableLocks,
) -> SqlResult<Option<TableLocks>> {
    let reads_views = locks.uses.iter().any(|used| used.by_program);
    if !reads_views && missing_relatives(&session.instance, statement, &locks.locks).is_empty() {
        return Ok(None);
    }
    let mut taken: Option<TableLocks> = None;
    loop {
        let needed = session.locks_needed(statement);
        let held = taken.as_ref().unwrap_or(locks);
        let is_held = |wanted: &TableLock| {
            held.locks.iter().any(|lock| lock.key == wanted.key && lock.mode.covers(wanted.mode))
        };
        if needed.locks.iter().all(is_held) {
            return Ok(taken);
        }
        session.take_table_locks(&needed)?;
        taken = Some(needed);
    }
}
