//! Rows on their way into a table, encoded one behind the other. Main type: [`RowBuffer`].

use super::row::row_error;
use engine::Table;
use errors::SqlResult;
use values::Value;
use values::row::RowView;

/// Encoded rows.
#[derive(Debug, Default)]
pub struct RowBuffer {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl RowBuffer {
    /// Adds a row of stored values.
    pub fn push(&mut self, table: &Table, row: &[Value]) -> SqlResult<()> {
        table.layout().encode_into(row, &mut self.bytes).map_err(|error| row_error(table, error))?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all rows.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// All rows.
    pub fn rows(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let row = |end: &usize| &self.bytes[std::mem::replace(&mut start, *end)..*end];
        self.ends.iter().map(row).collect()
    }

    /// Forgets the rows, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// The values of an encoded row.
pub fn stored_values(table: &Table, row: &[u8]) -> Vec<Value> {
    // What was encoded by this layout can be read by it.
    RowView::new(table.layout(), row).map(|view| view.values()).unwrap_or_default()
}
