//! Foreign keys of a row that is put in or changed: step 5 of the way of a row. Main function: [`has_parents`].
//! A parent is locked for sharing, so that it stays to the end of the transaction; where there is none the gap stays closed, as in MySQL.

use super::referring::{clause, key_prefix};
use crate::run::{Run, engine_error};
use dictionary::TableDefinition;
use engine::{KeyRange, ReadMode, RowBatch, ScanOptions, Table, WaitPolicy};
use errors::{SqlError, SqlResult, code, sql_error};
use expression::EvaluationContext;
use plan::{ParentKey, ReferredIndex, Steps, Target};
use std::sync::Arc;
use values::Value;
use values::row::{ColumnSet, RowView};

/// Whether a row, as it is stored, has the parents that its foreign keys ask for; `before` is the row that it takes the place of. Error 1452
/// names the first key without one; with IGNORE that is a warning, and the row is left as it was.
#[inline]
pub fn has_parents(
    target: &Target,
    row: &[Value],
    before: Option<&[Value]>,
    ignore: bool,
    run: &mut Run<'_, '_>,
) -> SqlResult<bool> {
    if !target.steps.has(Steps::PARENTS) || !run.statement.settings.foreign_key_checks {
        return Ok(true);
    }
    match first_orphan(target, row, before, None, run)? {
        None => Ok(true),
        Some(error) if ignore => {
            run.diagnostics().warning(error);
            Ok(false)
        }
        Some(error) => Err(error),
    }
}

/// The error of the first key of a row that has no parent. `except`: the number of a key whose parent is about to be what the row says.
pub(super) fn first_orphan(
    target: &Target,
    row: &[Value],
    before: Option<&[Value]>,
    except: Option<usize>,
    run: &mut Run<'_, '_>,
) -> SqlResult<Option<SqlError>> {
    for parent in &target.references.parents {
        if Some(parent.key) == except || before.is_some_and(|before| is_kept(target, parent, row, before)) {
            continue;
        }
        let definition = target.table.definition();
        if !has_parent(definition, parent, row, ReadMode::Shared(WaitPolicy::Wait), run)? {
            return Ok(Some(orphan_error(definition, parent.key, run)));
        }
    }
    Ok(None)
}

/// Whether a changed row refers to what it referred to, and stays where it is: then nobody asks.
fn is_kept(target: &Target, parent: &ParentKey, row: &[Value], before: &[Value]) -> bool {
    let definition = target.table.definition();
    let own = definition.foreign_keys[parent.key].columns.iter().copied();
    let place = definition.primary_key().into_iter().flat_map(|index| &index.parts);
    own.chain(place.map(|part| part.column)).all(|column| row[column] == before[column])
}

/// Whether a row of a table has a parent by one of its keys, which is read in that mode.
pub(super) fn has_parent(
    definition: &TableDefinition,
    parent: &ParentKey,
    row: &[Value],
    mode: ReadMode,
    run: &Run<'_, '_>,
) -> SqlResult<bool> {
    let key = &definition.foreign_keys[parent.key];
    let values: Vec<&Value> = key.columns.iter().map(|column| &row[*column]).collect();
    if values.contains(&&Value::Null) {
        return Ok(true);
    }
    let Some(referred) = &parent.referred else { return Ok(false) };
    let from = |at: usize| &definition.columns[key.columns[at]].column_type;
    let Some(prefix) = key_prefix(&referred.table, referred.index, &referred.columns, &values, from) else {
        return Ok(false);
    };
    if parent.is_own && refers_to_itself(referred, row, &prefix) {
        return Ok(true);
    }
    find(&referred.table, referred.index, &prefix, mode, &referred.columns, run)
}

/// Whether a row is the one that it refers to.
fn refers_to_itself(referred: &ReferredIndex, row: &[Value], prefix: &[u8]) -> bool {
    let table = &referred.table;
    let own: Vec<&Value> = referred.columns.iter().map(|column| &row[*column]).collect();
    let from = |at: usize| &table.definition().columns[referred.columns[at]].column_type;
    key_prefix(table, referred.index, &referred.columns, &own, from).is_some_and(|own| own == prefix)
}

/// Whether an index has a row whose key begins so, which is locked then.
pub(super) fn find(
    table: &Arc<Table>,
    index: usize,
    prefix: &[u8],
    mode: ReadMode,
    columns: &[usize],
    run: &Run<'_, '_>,
) -> SqlResult<bool> {
    let transaction = run.statement.transaction;
    let failed = |error| engine_error(error, table);
    let definition = &table.indexes()[index];
    let is_whole = definition.holds_whole(prefix);
    if index == 0 && is_whole && definition.key_columns().len() == columns.len() {
        let wanted = ColumnSet::none();
        return transaction.get_columns(table, 0, prefix, mode, &wanted, &mut |_| {}).map_err(failed);
    }
    let mut scan = transaction.scan(table, beginning(table, index, prefix, mode, columns)).map_err(failed)?;
    let mut batch = RowBatch::new();
    while scan.next_batch(transaction, &mut batch, 1).map_err(failed)? {
        if (0..batch.len())
            .any(|at| is_whole || begins_with(table, index, batch.row(at), prefix, columns.len()))
        {
            return Ok(true);
        }
        run.check_killed()?;
    }
    Ok(false)
}

/// A scan of the keys that begin so, as far as the index holds them.
pub(super) fn beginning(
    table: &Table,
    index: usize,
    prefix: &[u8],
    mode: ReadMode,
    columns: &[usize],
) -> ScanOptions {
    let mut from = prefix.to_vec();
    table.indexes()[index].fit_range(&mut from, &mut None);
    let (range, columns) = (KeyRange::prefix(&from), ColumnSet::of(columns.iter().copied()));
    ScanOptions { index, range, mode, columns, ..ScanOptions::default() }
}

/// Whether the key of a row begins with those bytes, of which the index holds less.
pub(super) fn begins_with(table: &Table, index: usize, row: &[u8], prefix: &[u8], parts: usize) -> bool {
    let index = &table.indexes()[index];
    let mut key = Vec::new();
    RowView::new(table.layout(), row).is_ok_and(|view| {
        index.key_layout().encode_row(&view, &index.key_columns()[..parts], &mut key).is_ok()
    }) && key == prefix
}

/// Error 1452; who has no privilege on the parent does not hear of it.
pub(super) fn orphan_error(definition: &TableDefinition, key: usize, run: &Run<'_, '_>) -> SqlError {
    let parent = &definition.foreign_keys[key].parent;
    match run.statement.privileges.sees_table(&parent.schema, &parent.table) {
        true => sql_error!(ER_NO_REFERENCED_ROW_2, clause(definition, key)),
        false => code::ER_NO_REFERENCED_ROW_2.message(code::ER_NO_REFERENCED_ROW.format),
    }
}
