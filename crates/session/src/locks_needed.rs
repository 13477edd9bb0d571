//! Which metadata locks a statement needs, those of the programs that it calls among them. Main function: [`locks_needed`].

use crate::foreign_key_locks::missing_relatives;
use crate::nested::program_of;
use catalog::{LockKey, TableLock};
use catalog::{LockUse, TableLocks};
use expression::Routine;
use instance::names_used;
use instance::{Instance, system_schemas, table_name};
use parser::ast::Statement;
use std::sync::Arc;

/// Collects the locks of a statement and of the programs that it calls.
struct Needs<'i> {
    instance: &'i Instance,
    locks: TableLocks,
    /// The programs that were looked into.
    programs: Vec<Arc<Routine>>,
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
            let key = LockKey::table(&full.schema, &full.table);
            match self.locks.locks.iter_mut().find(|known| known.key == key) {
                Some(known) if known.mode.covers(found.mode) => {}
                Some(known) => known.mode = found.mode,
                None => self.locks.locks.push(TableLock::new(key.clone(), found.mode)),
            }
            self.locks.uses.push(LockUse { key, alias: found.alias, mode: found.mode, by_program });
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
            for lock in missing {
                match self.locks.locks.iter_mut().find(|known| known.key == lock.key) {
                    Some(known) => known.mode = lock.mode,
                    None => self.locks.locks.push(lock),
                }
            }
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
/// need none.
pub(crate) fn locks_needed(instance: &Instance, statement: &Statement, schema: Option<&str>) -> TableLocks {
    let mut needs = Needs { instance, locks: TableLocks::default(), programs: Vec::new() };
    needs.add(statement, schema, false);
    let mut needed = needs.locks;
    needed.locks.sort_by(|left, right| left.key.cmp(&right.key));
    needed
}
