//! What all statements that change rows share: the row as bytes, and the errors of rows that cannot be written.
//! Every inserted or updated row passes [`encoded`]; generated columns, CHECK and foreign keys belong there.

use super::long_columns::LongColumns;
use super::storing::key_text;
use crate::run::{Run, engine_error};
use engine::{DuplicateKey, EngineError, Table, UpdateOutcome};
use errors::{SqlError, SqlResult, sql_error};
use expression::EvaluationContext;
use plan::TargetTable;
use values::Value;

/// A row in the table's layout.
pub fn encoded(table: &Table, row: &[Value], out: &mut Vec<u8>) -> SqlResult<()> {
    out.clear();
    table.layout().encode_into(row, out).map_err(|error| row_error(table, error))
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

/// Error 1062 for a row.
pub fn duplicate_error(
    table: &Table,
    duplicate: &DuplicateKey,
    row: &[Value],
    run: &Run<'_, '_>,
) -> SqlError {
    let definition = table.definition();
    let position = definition.indexes.iter().enumerate().find_map(|(position, _)| {
        (table.index_of_definition(position) == duplicate.index).then_some(position)
    });
    let position = position.unwrap_or(0);
    let name = definition.indexes.get(position).map_or("PRIMARY", |index| index.name.as_str());
    let key = format!("{}.{name}", definition.name.table);
    // MySQL sends the number of the plain message with the text that names the key.
    let named = sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, key_text(definition, position, row, run), key);
    errors::code::ER_DUP_ENTRY.message(named.message())
}

/// Replaces a row; Ok(false) when the row is gone or a duplicate was ignored.
pub fn update_row(
    target: &TargetTable,
    key: &[u8],
    row: &[Value],
    long: &LongColumns,
    ignore: bool,
    run: &mut Run<'_, '_>,
) -> SqlResult<bool> {
    let table = &target.table;
    let transaction = run.statement.transaction;
    let mark = transaction.mark();
    let mut bytes = Vec::new();
    match long.is_empty() {
        true => encoded(table, row, &mut bytes)?,
        false => bytes = long.encoded(table, row, run)?,
    }
    let outcome = transaction.update_keeping(table, key, &bytes, &target.kept);
    if !long.is_empty() && outcome.is_err() {
        // Nothing refers to its values.
        transaction.rollback_to(mark).map_err(|error| engine_error(error, table))?;
    }
    match outcome {
        Ok(UpdateOutcome::Unchanged) => Ok(false),
        Ok(_) => Ok(true),
        Err(EngineError::RowNotFound) => Ok(false),
        Err(EngineError::DuplicateKey(duplicate)) => {
            let error = duplicate_error(table, &duplicate, row, run);
            if !ignore {
                return Err(error);
            }
            run.diagnostics().warning(error);
            Ok(false)
        }
        Err(error) => Err(engine_error(error, table)),
    }
}
