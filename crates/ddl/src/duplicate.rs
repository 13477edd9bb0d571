//! What is said of two rows that a change of a table would give one unique key. Main type: [`Duplicates`].

use super::table_error;
use dictionary::{IndexDefinition, TableDefinition};
use engine::{DuplicateKey, Engine, EngineError, ReadMode, Table};
use errors::{SqlError, sql_error};
use expression::TimeZone;
use std::sync::Arc;
use values::row::{RowLayout, RowView};

/// A change of a table that duplicates end.
pub(super) struct Duplicates<'a> {
    /// The table as it is.
    pub table: &'a Arc<Table>,
    /// As it was to be, its indexes as the engine numbers them.
    pub new: &'a TableDefinition,
    pub engine: &'a Engine,
    /// In which TIMESTAMPs are shown.
    pub time_zone: &'a TimeZone,
}

impl Duplicates<'_> {
    /// Error 1062 with the key's values for a duplicate, the engine's own error otherwise.
    pub fn error(&self, error: EngineError) -> SqlError {
        let EngineError::DuplicateKey(duplicate) = error else { return table_error(error, &self.new.name) };
        match self.entry(&duplicate) {
            Some((shown, key)) => sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, shown, key),
            None => sql_error!(ER_DUP_KEY, self.new.name.table),
        }
    }

    /// Error 1062 in MySQL's words for a copy whose rows got AUTO_INCREMENT values.
    pub fn resequenced(&self, duplicate: &DuplicateKey) -> SqlError {
        let Some((shown, key)) = self.entry(duplicate) else {
            return sql_error!(ER_DUP_KEY, self.new.name.table);
        };
        let worded = sql_error!(ER_DUP_ENTRY_AUTOINCREMENT_CASE, shown, key);
        errors::code::ER_DUP_ENTRY.message(worded.message())
    }

    /// The values and the key as messages show them; None for the hidden key.
    fn entry(&self, duplicate: &DuplicateKey) -> Option<(String, String)> {
        let index = index_of(duplicate, self.new)?;
        let key = format!("{}.{}", self.new.name.table, index.name);
        let mut shown = None;
        match &duplicate.copied_row {
            Some(row) => {
                let columns = self.new.columns.iter().map(|column| (&column.column_type, column.nullable));
                shown = self.key_text(row, &RowLayout::new(columns), index);
            }
            // An index that is added to the table as it is: the row stays, and its columns have their places.
            None => {
                let transaction = self.engine.begin(engine::TransactionOptions::default());
                let row_key = &duplicate.existing_key;
                let _ = transaction.get(self.table, 0, row_key, ReadMode::Consistent, &mut |row| {
                    shown = self.key_text(row, self.table.layout(), index);
                });
            }
        }
        // Without the row the message names the key only.
        Some((shown.unwrap_or_default(), key))
    }

    fn key_text(&self, row: &[u8], layout: &RowLayout, index: &IndexDefinition) -> Option<String> {
        let view = RowView::new(layout, row).ok()?;
        let value_of = |column: usize| view.value(column);
        Some(plan::key_text(index, &self.new.columns, value_of, self.time_zone))
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
