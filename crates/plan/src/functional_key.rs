//! Functional key parts: the type of the hidden column of an expression, and what is told where its value cannot be computed or kept:
//! statements do not know the column, so it is the index. Main functions: [`key_part_type`], [`told_of_index`].

use dictionary::{ColumnDefinition, index_of_key_column};
use errors::{ErrorCode, SqlError, code, sql_error};
use expression::{ResultType, TablePurpose, ValueSource, table_type};
use values::ColumnType;

/// The type of the column that keeps values of that type for an index.
pub fn key_part_type(result: &ResultType) -> ColumnType {
    table_type(result, ValueSource::Function, TablePurpose::Created)
}

/// The condition in the place of one about the hidden column. None if that one does not name it.
pub fn told_of_index(error: &SqlError, column: &ColumnDefinition, row: u64) -> Option<SqlError> {
    let (index, _) = index_of_key_column(&column.name)?;
    let is = |code: ErrorCode| error.number() == code.number;
    Some(match () {
        () if is(code::ER_TRUNCATED_WRONG_VALUE) || is(code::WARN_DATA_TRUNCATED) => {
            sql_error!(ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX, index, row)
        }
        () if is(code::ER_WARN_DATA_OUT_OF_RANGE) => {
            sql_error!(ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX, index, row)
        }
        () if is(code::ER_DATA_TOO_LONG) => sql_error!(ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG, index),
        () if is(code::ER_INVALID_JSON_VALUE_FOR_CAST) => {
            sql_error!(ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX, index)
        }
        () if is(code::ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE) => {
            sql_error!(ER_JSON_VALUE_OUT_OF_RANGE_FOR_FUNC_INDEX, index)
        }
        () => return None,
    })
}
