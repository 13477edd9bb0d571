//! What is said of two rows that a change of a table would give one unique key. Main function: [`duplicate_or`].

use super::table_error;
use dictionary::{IndexDefinition, IndexPart, TableDefinition};
use engine::{DuplicateKey, Engine, EngineError, ReadMode, Table};
use errors::{SqlError, sql_error};
use expression::text::prefix_bytes;
use std::sync::Arc;
use values::ValueRef;
use values::convert::quoted_text;
use values::row::{RowLayout, RowView};

/// Error 1062 with the key's values for a duplicate, the engine's own error otherwise.
pub(super) fn duplicate_or(
    error: EngineError,
    table: &Arc<Table>,
    new: &TableDefinition,
    engine: &Engine,
) -> SqlError {
    match error {
        EngineError::DuplicateKey(duplicate) => duplicate_error(&duplicate, table, new, engine),
        other => table_error(other, &new.name),
    }
}

/// The index of a duplicate; None for the hidden key.
fn index_of<'d>(duplicate: &DuplicateKey, new: &'d TableDefinition) -> Option<&'d IndexDefinition> {
    let position =
        if new.primary_key().is_some() { Some(duplicate.index) } else { duplicate.index.checked_sub(1) };
    position.and_then(|position| new.indexes.get(position))
}

/// Whether AUTO_INCREMENT values are duplicates.
pub(super) fn leads_with_counter(duplicate: &DuplicateKey, new: &TableDefinition) -> bool {
    let column = index_of(duplicate, new).and_then(|index| index.parts.first()).map(|part| part.column);
    column.is_some() && column == new.auto_increment_column()
}

/// Error 1062 in MySQL's words for a copy whose rows got AUTO_INCREMENT values.
pub(super) fn resequenced_error(
    duplicate: &DuplicateKey,
    table: &Arc<Table>,
    new: &TableDefinition,
    engine: &Engine,
) -> SqlError {
    let Some((shown, key)) = duplicate_entry(duplicate, table, new, engine) else {
        return sql_error!(ER_DUP_KEY, new.name.table);
    };
    let worded = sql_error!(ER_DUP_ENTRY_AUTOINCREMENT_CASE, shown, key);
    errors::code::ER_DUP_ENTRY.message(worded.message())
}

fn duplicate_error(
    duplicate: &DuplicateKey,
    table: &Arc<Table>,
    new: &TableDefinition,
    engine: &Engine,
) -> SqlError {
    match duplicate_entry(duplicate, table, new, engine) {
        Some((shown, key)) => sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, shown, key),
        None => sql_error!(ER_DUP_KEY, new.name.table),
    }
}

/// The values and the key of a duplicate as messages show them; None for the hidden key.
fn duplicate_entry(
    duplicate: &DuplicateKey,
    table: &Arc<Table>,
    new: &TableDefinition,
    engine: &Engine,
) -> Option<(String, String)> {
    let index = index_of(duplicate, new)?;
    let key = format!("{}.{}", new.name.table, index.name);
    // Without the row the message names the key only.
    let shown = match &duplicate.copied_row {
        Some(row) => {
            let columns = new.columns.iter().map(|column| (&column.column_type, column.nullable));
            key_text(row, &RowLayout::new(columns), new, &index.parts)
        }
        // An index that is added to the table as it is: the row stays, and its columns have their places.
        None => {
            let transaction = engine.begin(engine::TransactionOptions::default());
            let mut shown = None;
            let _ = transaction.get(table, 0, &duplicate.existing_key, ReadMode::Consistent, &mut |row| {
                shown = key_text(row, table.layout(), table.definition(), &index.parts);
            });
            shown
        }
    };
    Some((shown.unwrap_or_default(), key))
}

/// The parts of a key of a row.
fn key_text(
    row: &[u8],
    layout: &RowLayout,
    definition: &TableDefinition,
    parts: &[IndexPart],
) -> Option<String> {
    let view = RowView::new(layout, row).ok()?;
    let texts = parts.iter().map(|part| {
        let column_type = &definition.columns[part.column].column_type;
        let value = view.value(part.column);
        match (value.as_ref(), part.prefix_length) {
            (ValueRef::Bytes(bytes), Some(length)) => {
                let kept = prefix_bytes(bytes, length as usize, column_type.collation);
                quoted_text(ValueRef::Bytes(&bytes[..kept]), column_type)
            }
            (value, _) => quoted_text(value, column_type),
        }
    });
    Some(texts.collect::<Vec<_>>().join("-"))
}
