//! Filling a batch from a leaf whose rows may have long values. Main type: [`Filling`]. Rows are copied as they stand while the leaf
//! is latched; their values are fetched afterwards, and counted from the start.

use super::{ConsistentReads, RowBatch, View};
use crate::lob::{Wanted, bytes_to_fetch};
use buffer::StorageError;
use engine_error::EngineResult;
use entry::{RowForm, StoredRow};
use tables::Table;
use values::row::ColumnSet;

/// The rows that a leaf adds to a batch.
pub(crate) struct Filling<'a> {
    table: &'a Table,
    /// Columns that the reader looks at.
    columns: &'a ColumnSet,
    /// Places in the batch of rows that wait for their long values.
    waiting: Vec<(usize, RowForm)>,
    /// Bytes of these values.
    bytes: u64,
}

impl<'a> Filling<'a> {
    pub(crate) fn new(table: &'a Table, columns: &'a ColumnSet) -> Filling<'a> {
        Filling { table, columns, waiting: Vec::new(), bytes: 0 }
    }

    /// Whether the batch has room for another row.
    pub(crate) fn has_room(&self, batch: &RowBatch, rows_max: usize) -> bool {
        batch.has_room(rows_max, self.bytes)
    }

    /// Adds a row whose key `write_key` appends.
    #[inline]
    pub(crate) fn push(
        &mut self,
        batch: &mut RowBatch,
        row: StoredRow<'_>,
        write_key: impl FnOnce(&mut Vec<u8>) -> Result<(), StorageError>,
    ) -> EngineResult<()> {
        if let Some(bytes) = bytes_to_fetch(&row, self.table, self.columns)? {
            self.waiting.push((batch.len(), row.form));
            self.bytes = self.bytes.saturating_add(bytes);
        }
        batch.push_with(row.bytes, write_key)
    }

    /// Takes rows out again, but for the first of the batch.
    pub(crate) fn truncate(&mut self, batch: &mut RowBatch, rows: usize) {
        batch.truncate(rows);
        self.waiting.retain(|(at, _)| *at < rows);
        if self.waiting.is_empty() {
            self.bytes = 0;
        }
    }

    /// Fetches the long values, once the leaf's latch is given back. Without a view (a locking read) the rows are locked.
    pub(crate) fn complete(
        self,
        reads: &ConsistentReads,
        view: Option<View>,
        batch: &mut RowBatch,
    ) -> EngineResult<()> {
        let wanted = Wanted::whole(self.columns);
        // From the last to the first: rows that turn out to be gone are taken out on the way.
        for (at, form) in self.waiting.into_iter().rev() {
            let stored = batch.row(at).to_vec();
            let stored = StoredRow { bytes: &stored, form };
            let gone =
                match batch.replace_row(at, |out| reads.values.fetch(self.table, stored, wanted, out))?? {
                    Ok(()) => continue,
                    Err(gone) => gone,
                };
            if reads.shared.is_forced() {
                batch.remove(at);
                continue;
            }
            let Some(view) = view.filter(|view| view.snapshot.is_none()) else { return Err(gone.into()) };
            let (key, mut row) = (batch.key(at).to_vec(), Vec::new());
            let show = &mut |bytes: &[u8]| row.extend_from_slice(bytes);
            match reads.get_visible(view, self.table, &key, wanted, show)? {
                Some(_) => batch.replace_row(at, |out| out.extend_from_slice(&row))?,
                None => batch.remove(at),
            }
        }
        Ok(())
    }
}
