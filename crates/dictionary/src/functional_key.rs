//! Functional key parts: each is the value of a generated column that no statement can name. Its own name tells which part of which
//! index it is: [`key_column_name`], [`index_of_key_column`].

use crate::table::{ColumnDefinition, IndexDefinition, TableDefinition};
use std::borrow::Cow;
use values::ColumnType;

const BEFORE: &str = "!hidden!";
const BEHIND: &str = "!0";

/// The name of the column of a part, by its place in the index as it was declared.
pub fn key_column_name(index: &str, place: usize) -> String {
    format!("{BEFORE}{index}!{place}{BEHIND}")
}

/// The index and the place of which the name was made.
pub fn index_of_key_column(name: &str) -> Option<(&str, usize)> {
    let (index, place) = name.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?.rsplit_once('!')?;
    Some((index, place.parse().ok()?))
}

impl ColumnDefinition {
    /// The expression of a functional key part; None for a column that statements can name.
    pub fn key_expression(&self) -> Option<&str> {
        self.generated.as_ref().filter(|generated| generated.is_key_part).map(|generated| &*generated.text)
    }

    /// What a plan shows that reads it.
    pub fn shown_name(&self) -> Cow<'_, str> {
        match self.key_expression() {
            Some(expression) => Cow::Owned(expression.replace('`', "")),
            None => Cow::Borrowed(&self.name),
        }
    }

    /// Whether MySQL computes its values when they are read.
    pub fn is_virtual(&self) -> bool {
        self.generated.as_ref().is_some_and(|generated| !generated.stored)
    }

    /// The type of the elements of a multi-valued key part.
    pub fn element_type(&self) -> Option<&ColumnType> {
        self.generated.as_ref()?.element_type.as_ref()
    }

    /// The type of what an index holds of it: the elements, or the value.
    pub fn key_type(&self) -> &ColumnType {
        self.element_type().unwrap_or(&self.column_type)
    }

    /// Whether no statement can name it.
    pub fn is_hidden(&self) -> bool {
        self.key_expression().is_some()
    }
}

impl TableDefinition {
    /// The columns that statements can name. Those of functional key parts stand behind them.
    pub fn named_columns(&self) -> &[ColumnDefinition] {
        let hidden = self.columns.iter().rev().take_while(|column| column.is_hidden()).count();
        &self.columns[..self.columns.len() - hidden]
    }

    /// Whether rows have an entry for each element of an array in that index: any number of them, or none.
    pub fn is_multi_valued(&self, index: &IndexDefinition) -> bool {
        index.parts.iter().any(|part| self.columns[part.column].element_type().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_index_and_place() {
        for index in ["k", "a!b", "!hidden!k!0!0", ""] {
            assert_eq!(index_of_key_column(&key_column_name(index, 12)), Some((index, 12)));
        }
        for name in ["k", "!hidden!k", "!hidden!k!x!0", "!hidden!!0"] {
            assert_eq!(index_of_key_column(name), None, "{name}");
        }
    }
}
