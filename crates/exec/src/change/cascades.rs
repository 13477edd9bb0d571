//! Rows that refer to one that goes or whose key changes: step 8 of the way of a row. They go or change first, in the order in which the keys
//! were made, with the rows that refer to them. Main function: [`settle_children`].

use super::checks::meets_checks;
use super::generated::generate;
use super::parents::{beginning, begins_with, find, first_orphan};
use super::referring::{clause, fitting, key_prefix};
use super::row::{duplicate_key, row_error};
use super::row_buffer::stored_values;
use crate::batch::RowBatch as KeyBatch;
use crate::run::{Run, engine_error};
use crate::spill::{RowCursor, RowStore};
use crate::storing::Storing;
use dictionary::{ForeignKeyDefinition, ReferenceAction};
use engine::{DuplicateKey, EngineError, ReadMode, RowBatch, WaitPolicy};
use errors::{SqlError, SqlResult, code, sql_error};
use expression::EvaluationContext;
use plan::{ChildKey, Steps, Target};
use stdx::ids::TableId;
use values::row::ColumnSet;
use values::{RowRef, Value, ValueRef};

/// Rows that may go or change one because of the other, the first one counted.
const DEPTH_MAX: usize = 15;
/// Rows that are asked for at once.
const ROWS_AT_ONCE: usize = 1024;

/// What happens to a row that others may refer to.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// It goes.
    Deleted,
    /// It becomes this one.
    Updated(&'a [Value]),
    /// It goes, and this one comes in its place: who refers to a key that stays does not notice.
    Replaced(&'a [Value]),
}

impl Event<'_> {
    fn new_row(&self) -> Option<&[Value]> {
        match self {
            Event::Deleted => None,
            Event::Updated(row) | Event::Replaced(row) => Some(row),
        }
    }
}

/// Does what the foreign keys that refer to the row of that key ask for before that happens to it. Errors: 1451; 1452, 1761, 3008 and 3819 of
/// rows that refer to it, near or far. An error leaves part of it done.
#[inline]
pub fn settle_children(
    target: &Target,
    (key, row): (&[u8], &[Value]),
    event: Event<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    if !run.statement.settings.foreign_key_checks {
        return Ok(());
    }
    let goes = !matches!(event, Event::Updated(_));
    let chain = Chain { table: target.table.id(), key, goes, depth: 1, before: None };
    settle(target, row, event, &chain, run)
}

/// The rows that go or change because of one another, last one first.
struct Chain<'a> {
    table: TableId,
    key: &'a [u8],
    /// Whether it goes.
    goes: bool,
    depth: usize,
    before: Option<&'a Chain<'a>>,
}

impl<'a> Chain<'a> {
    /// That row, if it is one of them: keys that go round lead back to it. Whether it goes.
    fn find(&self, table: TableId, key: &[u8]) -> Option<bool> {
        if self.table == table && self.key == key {
            return Some(self.goes);
        }
        self.before.and_then(|before| before.find(table, key))
    }

    fn with(&'a self, table: TableId, key: &'a [u8], goes: bool) -> Chain<'a> {
        Chain { table, key, goes, depth: self.depth + 1, before: Some(self) }
    }
}

fn settle(
    target: &Target,
    row: &[Value],
    event: Event<'_>,
    chain: &Chain<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    let plan = run.plan;
    for child in &target.references.children {
        let values: Vec<&Value> = child.columns.iter().map(|column| &row[*column]).collect();
        let stays =
            |new: &[Value]| child.columns.iter().zip(&values).all(|(column, old)| new[*column] == **old);
        if values.contains(&&Value::Null) || event.new_row().is_some_and(stays) {
            continue;
        }
        let key = child.definition(&plan.cascades);
        let referring = Referring { parent: target, child, target: child.child(&plan.cascades), key, values };
        let is_update = matches!(event, Event::Updated(_));
        let action = if is_update { key.on_update } else { key.on_delete };
        if action.changes_rows() && !(is_update && child.is_own) {
            referring.change_all(action, event, chain, run)?;
        } else if referring.is_there(chain, run)? {
            return Err(referring.error(run));
        }
    }
    Ok(())
}

/// The rows that refer to one by a key.
struct Referring<'a> {
    parent: &'a Target,
    child: &'a ChildKey,
    /// Their table.
    target: &'a Target,
    key: &'a ForeignKeyDefinition,
    /// The values that they refer to.
    values: Vec<&'a Value>,
}

impl Referring<'_> {
    /// Error 1451; who has no privilege on the table that refers does not hear of it.
    fn error(&self, run: &Run<'_, '_>) -> SqlError {
        let definition = self.target.table.definition();
        match run.statement.privileges.sees_table(&definition.name.schema, &definition.name.table) {
            true => sql_error!(ER_ROW_IS_REFERENCED_2, clause(definition, self.child.key)),
            false => code::ER_ROW_IS_REFERENCED_2.message(code::ER_ROW_IS_REFERENCED.format),
        }
    }

    /// The beginning of their keys in the child's index; None if no row can refer to the values.
    fn prefix(&self) -> Option<Vec<u8>> {
        let from = |at: usize| &self.parent.table.definition().columns[self.child.columns[at]].column_type;
        key_prefix(&self.target.table, self.child.index, &self.key.columns, &self.values, from)
    }

    /// Whether there is one. Of rows that go because of others MySQL does not count what refers to itself.
    fn is_there(&self, chain: &Chain<'_>, run: &Run<'_, '_>) -> SqlResult<bool> {
        let mode = ReadMode::Shared(WaitPolicy::Wait);
        if self.child.is_own && chain.depth > 1 {
            let mut found = false;
            self.each_key(mode, run, &mut |key| {
                found |= chain.find(self.target.table.id(), key) != Some(true);
                Ok(!found)
            })?;
            return Ok(found);
        }
        let Some(prefix) = self.prefix() else { return Ok(false) };
        find(&self.target.table, self.child.index, &prefix, mode, &self.key.columns, run)
    }

    /// Deletes or changes them all. They are found first: what happens to one may be that another goes too.
    fn change_all(
        &self,
        action: ReferenceAction,
        event: Event<'_>,
        chain: &Chain<'_>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let Some(keys) = self.keys(run)? else { return Ok(()) };
        if chain.depth == DEPTH_MAX {
            return Err(sql_error!(ER_FK_DEPTH_EXCEEDED, DEPTH_MAX));
        }
        let (mut cursor, mut batch) = (RowCursor::new(), KeyBatch::new());
        while cursor.next(&keys, keys.len(), &mut batch)? {
            for at in 0..batch.len() {
                run.check_killed()?;
                let ValueRef::Bytes(key) = batch.row(at).get(0) else { continue };
                let key = key.to_vec();
                self.change_one(&key, action, event, chain, run)?;
            }
        }
        Ok(())
    }

    /// The clustered keys of them all, which are locked; None if there are none.
    fn keys(&self, run: &Run<'_, '_>) -> SqlResult<Option<RowStore>> {
        let mut keys = None;
        self.each_key(ReadMode::Exclusive(WaitPolicy::Wait), run, &mut |key| {
            let key = [Value::Bytes(key.to_vec())];
            keys.get_or_insert_with(|| run.row_store()).push(RowRef::Values(&key))?;
            Ok(true)
        })?;
        Ok(keys)
    }

    /// Calls `visit` with the clustered key of each of them, until it says false. They are read, and locked, in that mode.
    fn each_key(
        &self,
        mode: ReadMode,
        run: &Run<'_, '_>,
        visit: &mut dyn FnMut(&[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let Some(prefix) = self.prefix() else { return Ok(()) };
        let (table, index, columns) = (&self.target.table, self.child.index, &self.key.columns);
        let is_whole = table.indexes()[index].holds_whole(&prefix);
        let transaction = run.statement.transaction;
        let failed = |error| engine_error(error, table);
        let mut scan =
            transaction.scan(table, beginning(table, index, &prefix, mode, columns)).map_err(failed)?;
        let mut batch = RowBatch::new();
        while scan.next_batch(transaction, &mut batch, ROWS_AT_ONCE).map_err(failed)? {
            run.check_killed()?;
            for at in 0..batch.len() {
                let refers = is_whole || begins_with(table, index, batch.row(at), &prefix, columns.len());
                if refers && !visit(batch.key(at))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Deletes or changes one of them, unless it has gone or changed meanwhile.
    fn change_one(
        &self,
        key: &[u8],
        action: ReferenceAction,
        event: Event<'_>,
        chain: &Chain<'_>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let target = self.target;
        let table = target.table.id();
        let goes = action == ReferenceAction::Cascade && !matches!(event, Event::Updated(_));
        match chain.find(table, key) {
            // Whatever else it should become.
            Some(true) => return Ok(()),
            Some(false) => return Err(self.error(run)),
            None => {}
        }
        let chain = &chain.with(table, key, goes);
        if goes {
            let row = locked_row(target, key, &target.references.columns, run)?;
            return row.map_or(Ok(()), |row| delete(target, (key, &row), chain, run));
        }
        let Some(before) = locked_row(target, key, &all_but_kept(target), run)? else { return Ok(()) };
        let row = self.changed(&before, event, run)?;
        if self.key.columns.iter().all(|column| row[*column] == before[*column]) {
            return Ok(());
        }
        self.update((key, &before), row, chain, run)
    }

    /// What a row that refers becomes: it follows a changed key, or refers to nothing. Error 1451 for a value that its column cannot hold.
    fn changed(&self, before: &[Value], event: Event<'_>, run: &Run<'_, '_>) -> SqlResult<Vec<Value>> {
        let mut row = before.to_vec();
        let new = match event {
            Event::Updated(new) if self.key.on_update == ReferenceAction::Cascade => new,
            _ => {
                self.key.columns.iter().for_each(|column| row[*column] = Value::Null);
                return Ok(row);
            }
        };
        let (parent, child) = (self.parent.table.definition(), self.target.table.definition());
        for (column, source) in self.key.columns.iter().zip(&self.child.columns) {
            let (from, to) = (&parent.columns[*source], &child.columns[*column]);
            let fitted = fitting(&new[*source], &from.column_type, &to.column_type)
                .filter(|value| has_room(value, &to.column_type))
                .filter(|value| to.nullable || **value != Value::Null);
            let Some(value) = fitted else { return Err(self.error(run)) };
            row[*column] = value.into_owned();
        }
        Ok(row)
    }

    /// Puts a changed row in the place of one that refers.
    fn update(
        &self,
        (key, before): (&[u8], &[Value]),
        mut row: Vec<Value>,
        chain: &Chain<'_>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let target = self.target;
        let table = &target.table;
        if target.steps.has(Steps::GENERATED) {
            let storing = Storing::new(run, false, true);
            generate(&target.own.generated, &table.definition().columns, &mut row, (storing, 1), run)?;
        }
        meets_checks(target, &row, false, run)?;
        if let Some(error) = first_orphan(target, &row, Some(before), Some(self.child.key), run)? {
            return Err(error);
        }
        settle(target, before, Event::Updated(&row), chain, run)?;
        let mut bytes = Vec::new();
        let encoded = table.layout().encode_into(&row, &mut bytes);
        encoded.map_err(|error| row_error(table, error))?;
        match run.statement.transaction.update_keeping(table, key, &bytes, &target.kept) {
            Ok(_) | Err(EngineError::RowNotFound) => Ok(()),
            Err(EngineError::DuplicateKey(duplicate)) => Err(self.duplicate(&row, &duplicate, run)),
            Err(error) => Err(engine_error(error, table)),
        }
    }

    /// Error 1761 for a key that another row of the child has.
    fn duplicate(&self, row: &[Value], duplicate: &DuplicateKey, run: &Run<'_, '_>) -> SqlError {
        let (name, value) = duplicate_key(&self.target.table, duplicate, row, run);
        let parent = &self.parent.table.definition().name.table;
        let child = &self.target.table.definition().name.table;
        sql_error!(ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO, parent, value, child, name)
    }
}

/// Deletes a row that refers, after those that refer to it.
fn delete(
    target: &Target,
    (key, row): (&[u8], &[Value]),
    chain: &Chain<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    settle(target, row, Event::Deleted, chain, run)?;
    match run.statement.transaction.delete(&target.table, key) {
        Ok(()) | Err(EngineError::RowNotFound) => Ok(()),
        Err(error) => Err(engine_error(error, &target.table)),
    }
}

/// The columns of a row that is encoded anew.
fn all_but_kept(target: &Target) -> ColumnSet {
    if target.kept.is_none() {
        return ColumnSet::All;
    }
    let columns = 0..target.table.definition().columns.len();
    ColumnSet::of(columns.filter(|column| !target.kept.contains(*column)))
}

/// Those columns of the newest state of a row, which is locked: long values of others stay on disk.
pub(super) fn locked_row(
    target: &Target,
    key: &[u8],
    wanted: &ColumnSet,
    run: &Run<'_, '_>,
) -> SqlResult<Option<Vec<Value>>> {
    let table = &target.table;
    let mode = ReadMode::Exclusive(WaitPolicy::Wait);
    let mut row = None;
    let copy = &mut |found: &[u8]| row = Some(stored_values(table, found));
    let is_there = run.statement.transaction.get_columns(table, 0, key, mode, wanted, copy);
    is_there.map_err(|error| engine_error(error, table))?;
    Ok(row)
}

/// Whether a text fits a column that may be shorter than the one that it comes from.
fn has_room(value: &Value, to: &values::ColumnType) -> bool {
    let (Value::Bytes(bytes), Some(length)) = (value, to.length) else { return true };
    match to.kind.is_text() {
        true => to.collation.charset().character_count(bytes) <= length as usize,
        false => bytes.len() <= length as usize,
    }
}
