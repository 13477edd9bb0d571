//! Columns with computed values, DEFAULT (expression) and GENERATED ALWAYS AS: what they may name, and what is held by them. Main functions:
//! [`check_computed`], [`check_held_columns`].

use super::alter_checks::ChangedColumn;
use super::functional_key::index_of;
use super::stored_expression::{NamedColumn, columns_of, named_columns, parsed};
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition};
use errors::{SqlResult, sql_error};

fn default_of(column: &ColumnDefinition) -> Option<&str> {
    match &column.default {
        ColumnDefault::Expression(text) => Some(text),
        _ => None,
    }
}

fn generated_of(column: &ColumnDefinition) -> Option<&str> {
    column.generated.as_ref().map(|generated| generated.text.as_str())
}

/// Whether all values can be computed, column by column. Errors: 1054, 3107, 3109, 3754, 3767, 3768, 3773.
pub(super) fn check_computed(definition: &TableDefinition) -> SqlResult<()> {
    for (at, column) in definition.columns.iter().enumerate() {
        let is_generated = column.generated.is_some();
        let text = generated_of(column).or_else(|| default_of(column));
        let Some(expression) = text.and_then(parsed) else { continue };
        let mut named = Vec::new();
        named_columns(&expression, &mut named);
        for reference in named {
            let Some(position) = definition.column_position(reference.name) else {
                let clause = match is_generated {
                    _ if column.is_hidden() => "functional index",
                    true => "generated column function",
                    false => "default value expression",
                };
                return Err(sql_error!(ER_BAD_FIELD_ERROR, reference.name, clause));
            };
            match is_generated {
                true => check_generated_reference(definition, at, position, reference)?,
                false => check_default_reference(definition, at, position, reference)?,
            }
        }
    }
    Ok(())
}

/// Errors 3107, 3109, 3754, 3773.
fn check_generated_reference(
    definition: &TableDefinition,
    at: usize,
    position: usize,
    reference: NamedColumn<'_>,
) -> SqlResult<()> {
    let other = &definition.columns[position];
    if other.auto_increment {
        return Err(match index_of(definition, at).filter(|_| definition.columns[at].is_hidden()) {
            Some(index) => sql_error!(ER_FUNCTIONAL_INDEX_REF_AUTO_INCREMENT, index.name),
            None => sql_error!(ER_GENERATED_COLUMN_REF_AUTO_INC, definition.columns[at].name),
        });
    }
    let is_computed = other.generated.is_some() || default_of(other).is_some();
    if is_computed && position >= at && !reference.is_default {
        return Err(sql_error!(ER_GENERATED_COLUMN_NON_PRIOR));
    }
    match reference.is_default && default_of(other).is_some() {
        true => Err(sql_error!(ER_DEFAULT_AS_VAL_GENERATED)),
        false => Ok(()),
    }
}

/// Errors 3767, 3768, 3773.
fn check_default_reference(
    definition: &TableDefinition,
    at: usize,
    position: usize,
    reference: NamedColumn<'_>,
) -> SqlResult<()> {
    let (column, other) = (&definition.columns[at], &definition.columns[position]);
    if other.auto_increment {
        return Err(sql_error!(ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC, column.name));
    }
    let has_default = default_of(other).is_some();
    if has_default && reference.is_default {
        return Err(sql_error!(ER_DEFAULT_AS_VAL_GENERATED));
    }
    match (has_default || other.generated.is_some()) && position >= at {
        true => Err(sql_error!(ER_DEFAULT_VAL_GENERATED_NON_PRIOR, column.name)),
        false => Ok(()),
    }
}

/// Errors 3108, 3766 and 3837 for a column that goes or gets another name and that a computed one that stays names.
pub(super) fn check_held_columns(
    old: &TableDefinition,
    new: &TableDefinition,
    changed: &[ChangedColumn],
) -> SqlResult<()> {
    let held_by = |text: &str| {
        let named = columns_of(text, old);
        changed.iter().find(|one| named.contains(&one.column)).map(|one| &old.columns[one.column].name)
    };
    let is_kept = |text: &str, text_of: fn(&ColumnDefinition) -> Option<&str>| {
        old.columns.iter().any(|before| text_of(before) == Some(text))
    };
    for column in &new.columns {
        let generated = generated_of(column).filter(|text| is_kept(text, generated_of));
        if let Some(name) = generated.and_then(held_by) {
            return Err(match column.is_hidden() {
                true => sql_error!(ER_DEPENDENT_BY_FUNCTIONAL_INDEX, name),
                false => sql_error!(ER_DEPENDENT_BY_GENERATED_COLUMN, name),
            });
        }
        let default = default_of(column).filter(|text| is_kept(text, default_of));
        if let Some(name) = default.and_then(held_by) {
            return Err(sql_error!(ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE, name, old.name.table));
        }
    }
    Ok(())
}

/// Error 3106 for a column that is VIRTUAL before or after a change and not both, or that becomes a generated one.
pub(super) fn check_status(before: &ColumnDefinition, after: &ColumnDefinition) -> SqlResult<()> {
    let is_allowed = match (&before.generated, &after.generated) {
        (Some(before), Some(after)) => before.stored == after.stored,
        (Some(before), None) => before.stored,
        (None, Some(after)) => after.stored,
        (None, None) => true,
    };
    match is_allowed {
        true => Ok(()),
        false => Err(sql_error!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, "Changing the STORED status")),
    }
}
