//! The metadata locks that a statement needs of tables which foreign keys lead to: parents of rows that it puts in or changes, and rows
//! that refer to those that it changes. Main function: [`missing_relatives`].
//!
//! They are looked for before anything is locked, and once more when all is: who makes a key has the names of both tables
//! exclusively, so that from then on there are no others.

use catalog::{LockKey, LockMode, TableLock};
use dictionary::TableName;
use instance::Instance;
use parser::ast::{LoadDuplicates, Statement};

/// What a statement does to the rows of a table, as far as foreign keys have to do with it.
#[derive(Clone, Copy)]
struct Reach {
    /// It gives rows values that may need parents.
    assigns: bool,
    /// Rows go, or their keys change.
    changes_keys: bool,
}

fn reach(statement: &Statement) -> Option<Reach> {
    let reach = |assigns, changes_keys| Some(Reach { assigns, changes_keys });
    match statement {
        Statement::Insert(insert) => reach(true, insert.replace || !insert.on_duplicate.is_empty()),
        Statement::Load(load) => reach(true, load.duplicates == LoadDuplicates::Replace),
        Statement::Update(_) => reach(true, true),
        Statement::Delete(_) => reach(false, true),
        _ => None,
    }
}

/// The locks that a statement needs of tables which foreign keys lead to, and that are not among those locks, or too weak there. What these
/// lead to further is asked again with them.
pub(crate) fn missing_relatives(
    instance: &Instance,
    statement: &Statement,
    locks: &[TableLock],
) -> Vec<TableLock> {
    reach(statement).map_or(Vec::new(), |reach| missing_for(instance, reach, locks))
}

/// Those locks with what LOCK TABLES takes besides: the tables that foreign keys lead to from those that are locked for writing, whatever a
/// statement changes there.
pub(crate) fn with_relatives(instance: &Instance, mut locks: Vec<TableLock>) -> Vec<TableLock> {
    let any = Reach { assigns: true, changes_keys: true };
    loop {
        let missing = missing_for(instance, any, &locks);
        if missing.is_empty() {
            return locks;
        }
        strengthen(&mut locks, missing);
    }
}

/// Adds locks to those of other tables, or puts them in the place of weaker ones.
pub(crate) fn strengthen(locks: &mut Vec<TableLock>, stronger: Vec<TableLock>) {
    for lock in stronger {
        match locks.iter_mut().find(|known| known.key == lock.key) {
            Some(known) => known.mode = lock.mode,
            None => locks.push(lock),
        }
    }
}

fn missing_for(instance: &Instance, first: Reach, locks: &[TableLock]) -> Vec<TableLock> {
    let mut missing: Vec<TableLock> = Vec::new();
    let mut need = |name: &TableName, mode: LockMode| {
        let key = LockKey::table(&name.schema, &name.table);
        let is_there = |lock: &TableLock| lock.key == key && lock.mode.covers(mode);
        if !locks.iter().chain(&missing).any(is_there) {
            missing.retain(|lock| lock.key != key);
            missing.push(TableLock::new(key, mode));
        }
    };
    for lock in locks.iter().filter(|lock| lock.mode == LockMode::Write) {
        let name =
            TableName { schema: lock.key.schema_name().to_owned(), table: lock.key.object_name().to_owned() };
        relatives(instance, &name, first, &mut need);
    }
    missing
}

/// Calls `need` for the tables that a table's keys lead to, and those that lead to it.
fn relatives(
    instance: &Instance,
    name: &TableName,
    reach: Reach,
    need: &mut dyn FnMut(&TableName, LockMode),
) {
    let dictionary = instance.engine().dictionary();
    let Some(table) = dictionary.table(&name.schema, &name.table) else { return };
    if reach.assigns {
        table.definition().foreign_keys.iter().for_each(|key| need(&key.parent, LockMode::Read));
    }
    if !reach.changes_keys {
        return;
    }
    for (child, ordinal) in dictionary.referring(name) {
        let Some(found) = dictionary.table(&child.schema, &child.table) else { continue };
        let Some(key) = found.definition().foreign_keys.iter().find(|key| key.ordinal == ordinal) else {
            continue;
        };
        let changes = key.on_delete.changes_rows() || key.on_update.changes_rows();
        need(&child, if changes { LockMode::Write } else { LockMode::Read });
        if key.may_assign() {
            // The row may have other parents by the same columns.
            found.definition().foreign_keys.iter().for_each(|key| need(&key.parent, LockMode::Read));
        }
    }
}
