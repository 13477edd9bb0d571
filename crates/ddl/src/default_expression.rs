//! DEFAULT (expression): the columns that it may name, and that are held by it. Main functions: [`check_defaults`], [`check_held_columns`].

use super::alter_checks::ChangedColumn;
use super::stored_expression::{columns_of, named_columns, parsed};
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition};
use errors::{SqlResult, sql_error};

fn expression_of(column: &ColumnDefinition) -> Option<&str> {
    match &column.default {
        ColumnDefault::Expression(text) => Some(text),
        _ => None,
    }
}

/// Whether all default expressions can be computed column by column. Errors: 1054, 3767, 3768, 3773.
pub(super) fn check_defaults(definition: &TableDefinition) -> SqlResult<()> {
    for (at, column) in definition.columns.iter().enumerate() {
        let Some(expression) = expression_of(column).and_then(parsed) else { continue };
        let mut named = Vec::new();
        named_columns(&expression, &mut named);
        for reference in named {
            let Some(position) = definition.column_position(reference.name) else {
                return Err(sql_error!(ER_BAD_FIELD_ERROR, reference.name, "default value expression"));
            };
            let other = &definition.columns[position];
            if other.auto_increment {
                return Err(sql_error!(ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC, column.name));
            }
            let is_computed = expression_of(other).is_some();
            if is_computed && reference.is_default {
                return Err(sql_error!(ER_DEFAULT_AS_VAL_GENERATED));
            }
            if is_computed && position >= at {
                return Err(sql_error!(ER_DEFAULT_VAL_GENERATED_NON_PRIOR, column.name));
            }
        }
    }
    Ok(())
}

/// Error 3766 for a column that goes or gets another name and that the default of one that stays names.
pub(super) fn check_held_columns(
    old: &TableDefinition,
    new: &TableDefinition,
    changed: &[ChangedColumn],
) -> SqlResult<()> {
    for column in &new.columns {
        let Some(text) = expression_of(column) else { continue };
        let is_kept = old.columns.iter().any(|before| expression_of(before) == Some(text));
        let named = if is_kept { columns_of(text, old) } else { Vec::new() };
        if let Some(held) = changed.iter().find(|one| named.contains(&one.column)) {
            let name = &old.columns[held.column].name;
            return Err(sql_error!(ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE, name, old.name.table));
        }
    }
    Ok(())
}
