//! The way of a row into its table, out of it, or from one form to another, whichever statement it is: [`insert`], [`update`],
//! [`delete`]. With [`complete`] and [`follow`], which come before, they are the one place that says the order of steps; all of it
//! is in the crate's README, "The way of a row".

use super::assigning::Assigning;
use super::auto_increment::{GeneratedIds, raise_counter};
use super::cascades::{Event, locked_row, settle_children};
use super::checks::meets_checks;
use super::generated::generate;
use super::long_columns::LongColumns;
use super::parents::has_parents;
use crate::run::{Run, engine_error};
use crate::storing::Storing;
use engine::{DuplicateKey, EngineError, Table, UpdateOutcome};
use errors::{ErrorCode, SqlError, SqlResult, code, sql_error};
use expression::EvaluationContext;
use plan::{Steps, Target, key_text};
use std::sync::Arc;
use values::Value;

/// The steps of a new row between its values and its encoding.
#[inline]
pub fn complete(
    target: &Target,
    row: &mut [Value],
    ids: &mut GeneratedIds,
    storing: (Storing, u64),
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    if target.steps.has(Steps::AUTO_INCREMENT) {
        ids.fill(target, row, storing, run)?;
    }
    Ok(())
}

/// The steps of a changed row between its values and its encoding: what follows its assigned columns. `seen` is the row that assignments
/// read.
#[inline]
pub fn follow(
    assigning: &Assigning<'_>,
    seen: &mut [Value],
    row: &mut [Value],
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    if assigning.target.steps.has(Steps::STAMPS) {
        assigning.carry_out(&assigning.target.on_update, seen, row, run)?;
    }
    if assigning.target.steps.has(Steps::GENERATED) {
        let columns = &assigning.target.table.definition().columns;
        let at = (assigning.storing, assigning.row_number);
        generate(&assigning.target.own.generated, columns, row, at, run)?;
        assigning.show_generated(row, seen, run);
    }
    Ok(())
}

/// A row in the table's layout; its long values are written.
pub fn encoded(table: &Table, row: &[Value], long: &LongColumns, run: &Run<'_, '_>) -> SqlResult<Vec<u8>> {
    if !long.is_empty() {
        return long.encoded(table, row, run);
    }
    let mut bytes = Vec::new();
    table.layout().encode_into(row, &mut bytes).map_err(|error| row_error(table, error))?;
    Ok(bytes)
}

/// Puts an encoded row in; the row that is in its way, if one is.
pub fn insert(target: &Target, bytes: &[u8], run: &Run<'_, '_>) -> SqlResult<Option<Box<DuplicateKey>>> {
    match run.statement.transaction.insert(&target.table, bytes) {
        Ok(_) => Ok(None),
        Err(EngineError::DuplicateKey(duplicate)) => Ok(Some(duplicate)),
        Err(error) => Err(engine_error(error, &target.table)),
    }
}

/// A row that takes the place of the one with that key.
#[derive(Clone, Copy)]
pub struct Change<'a> {
    pub key: &'a [u8],
    pub row: &'a [Value],
    pub long: &'a LongColumns,
    /// Whether a duplicate is a warning.
    pub ignore: bool,
}

/// What became of a changed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    Changed,
    /// It is as it was, or it is gone.
    Same,
    /// It may not be so, or another row has its key; IGNORE.
    Left,
}

/// Replaces a row.
pub fn update(target: &Target, change: Change<'_>, run: &mut Run<'_, '_>) -> SqlResult<Updated> {
    let Change { key, row, long, ignore } = change;
    if !meets_checks(target, row, ignore, run)? {
        return Ok(Updated::Left);
    }
    let table = &target.table;
    let transaction = run.statement.transaction;
    let mark = transaction.mark();
    if target.steps.has_references() {
        let looked_at = &target.references.columns;
        let Some(before) = locked_row(target, key, looked_at, run)? else { return Ok(Updated::Same) };
        if !has_parents(target, row, Some(&before), ignore, run)?
            || !lets_go(target, (key, &before), Event::Updated(row), ignore, run)?
        {
            return Ok(Updated::Left);
        }
    }
    let bytes = encoded(table, row, long, run)?;
    let outcome = transaction.update_keeping(table, key, &bytes, &target.kept);
    if (!long.is_empty() || target.steps.has(Steps::CHILDREN)) && outcome.is_err() {
        // Nothing refers to its values, and rows that refer to it are as they were.
        transaction.rollback_to(mark).map_err(|error| engine_error(error, table))?;
    }
    match outcome {
        Ok(UpdateOutcome::Unchanged) | Err(EngineError::RowNotFound) => return Ok(Updated::Same),
        Ok(_) => {}
        Err(EngineError::DuplicateKey(duplicate)) => {
            let error = duplicate_error(table, &duplicate, row, run);
            if !ignore {
                return Err(stopped_by(table, &duplicate, error, run));
            }
            run.diagnostics().warning(error);
            return Ok(Updated::Left);
        }
        Err(error) => return Err(engine_error(error, table)),
    }
    if let Some(column) = target.auto_increment
        && target.steps.has(Steps::COUNTER)
    {
        raise_counter(table, &row[column], run)?;
    }
    Ok(Updated::Changed)
}

/// What becomes of a row that is taken out.
#[derive(Clone, Copy)]
pub struct Removal<'a> {
    pub key: &'a [u8],
    pub event: Event<'a>,
    /// Whether it is a warning that rows refer to it.
    pub ignore: bool,
}

/// Whether rows that refer to a row let that happen to it; those that must have changed. Error 1451; with IGNORE that is a warning, and
/// nothing has changed.
fn lets_go(
    target: &Target,
    (key, row): (&[u8], &[Value]),
    event: Event<'_>,
    ignore: bool,
    run: &mut Run<'_, '_>,
) -> SqlResult<bool> {
    if !target.steps.has(Steps::CHILDREN) {
        return Ok(true);
    }
    let transaction = run.statement.transaction;
    let mark = transaction.mark();
    match settle_children(target, (key, row), event, run) {
        Ok(()) => Ok(true),
        Err(error) if ignore && IGNORED.iter().any(|code| error.is(code)) => {
            transaction.rollback_to(mark).map_err(|failed| engine_error(failed, &target.table))?;
            run.diagnostics().warning(error);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// What IGNORE makes a warning of the errors of rows that refer to one.
const IGNORED: [&ErrorCode; 2] = [&code::ER_ROW_IS_REFERENCED_2, &code::ER_NO_REFERENCED_ROW_2];

/// Takes a row out; whether it was there and may go.
pub fn delete(target: &Target, removal: Removal<'_>, run: &mut Run<'_, '_>) -> SqlResult<bool> {
    let Removal { key, event, ignore } = removal;
    if target.steps.has(Steps::CHILDREN) {
        let looked_at = &target.references.columns;
        let Some(before) = locked_row(target, key, looked_at, run)? else { return Ok(false) };
        if !lets_go(target, (key, &before), event, ignore, run)? {
            return Ok(false);
        }
    }
    match run.statement.transaction.delete(&target.table, key) {
        Ok(()) => Ok(true),
        Err(EngineError::RowNotFound) => Ok(false),
        Err(error) => Err(engine_error(error, &target.table)),
    }
}

/// Why a row cannot be encoded, for the client.
pub fn row_error(table: &Table, error: values::row::RowError) -> SqlError {
    match error {
        values::row::RowError::Null(column) => {
            sql_error!(ER_BAD_NULL_ERROR, table.definition().columns[column].name)
        }
        other => errors::code::ER_UNKNOWN_ERROR.message(format!("a row cannot be stored: {other}")),
    }
}

/// The error of a statement that a row stops, which is locked.
pub fn stopped_by(
    table: &Arc<Table>,
    duplicate: &DuplicateKey,
    error: SqlError,
    run: &Run<'_, '_>,
) -> SqlError {
    match run.statement.transaction.keep_duplicate(table, duplicate) {
        Ok(()) => error,
        Err(lock) => engine_error(lock, table),
    }
}

/// The key that another row has as well: its name, and its value as messages show it.
pub(super) fn duplicate_key<'t>(
    table: &'t Table,
    duplicate: &DuplicateKey,
    row: &[Value],
    run: &Run<'_, '_>,
) -> (&'t str, String) {
    let definition = table.definition();
    let mut indexes = definition.indexes.iter().enumerate();
    match indexes.find(|(position, _)| table.index_of_definition(*position) == duplicate.index) {
        Some((_, index)) => {
            let zone = &run.statement.facts.time_zone;
            let value_of = |column: usize| row[column].clone();
            (index.name.as_str(), key_text(index, &definition.columns, value_of, zone))
        }
        // The hidden key is nobody's.
        None => ("PRIMARY", String::new()),
    }
}

/// Error 1062 for a row.
pub fn duplicate_error(
    table: &Table,
    duplicate: &DuplicateKey,
    row: &[Value],
    run: &Run<'_, '_>,
) -> SqlError {
    let (name, value) = duplicate_key(table, duplicate, row, run);
    let key = format!("{}.{name}", table.definition().name.table);
    // MySQL sends the number of the plain message with the text that names the key.
    let named = sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, value, key);
    errors::code::ER_DUP_ENTRY.message(named.message())
}
