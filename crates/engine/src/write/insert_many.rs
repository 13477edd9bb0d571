//! Inserting many rows of one statement: [`Transaction::insert_many`], [`Transaction::try_insert_many`]. All entries of one
//! index are sorted and put into the tree leaf by leaf (`run.rs`). See rules B1 to B4 in README.md.

use super::insert::RowWriter;
use btree::SortedEntries;
use engine_error::{EngineError, EngineResult};
use entry::{UndoAddress, append_clustered_key, clustered_header, secondary_header};
use tables::{Index, Table};
use undo::Writer;

/// Rows that are sorted together.
const BATCH_ROWS_MAX: usize = 1 << 18;
/// Bytes of rows that are sorted together, but for a single row that is longer.
const BATCH_BYTES_MAX: usize = 64 << 20;
/// Rows that are inserted one by one to find the first that fails.
const SEARCHED_ROWS_MAX: usize = 64;
/// Parts into which a batch is cut in that search.
const SEARCH_PARTS: usize = 8;

/// The rows of a batch with their clustered keys.
struct Batch<'a> {
    rows: &'a [&'a [u8]],
    keys: Vec<u8>,
    key_ends: Vec<usize>,
    /// Rows that were inserted on their own, with all their entries, because they met something.
    done: Vec<bool>,
}

impl Batch<'_> {
    fn key(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.key_ends[before]);
        &self.keys[start..self.key_ends[at]]
    }
}

impl RowWriter<'_> {
    /// Inserts a batch; false if there was a duplicate, and nothing of the batch is in.
    pub(super) fn insert_or_nothing(&self, rows: &[&[u8]]) -> EngineResult<bool> {
        self.transaction.check_kill()?;
        self.transaction.engine.pool.check_writable()?;
        let mark = self.transaction.mark();
        match self.insert_batch(rows) {
            Ok(()) => Ok(true),
            Err(EngineError::DuplicateKey(_)) => self.transaction.rollback_to(mark).map(|()| false),
            Err(error) => Err(error),
        }
    }

    fn insert_batch(&self, rows: &[&[u8]]) -> EngineResult<()> {
        let writer = self.writer()?;
        let mut entries = SortedEntries::default();
        let mut batch = self.clustered_entries(writer, rows, &mut entries)?;
        self.insert_clustered_runs(writer, &entries, &mut |ordinal| {
            batch.done[ordinal] = true;
            // Under the key that it has in the batch: row ids follow the order of the rows.
            self.insert_entries_at(batch.key(ordinal), rows[ordinal])
        })?;
        // What may fail comes first: a duplicate then costs least.
        let secondary = || self.table.indexes.iter().enumerate().skip(1);
        let unique = secondary().filter(|(_, index)| index.unique);
        let plain = secondary().filter(|(_, index)| !index.unique);
        for (number, index) in unique.chain(plain) {
            let mut next = 0;
            while next < rows.len() {
                entries.clear();
                next = secondary_entries((self.table, index), writer, &batch, next, &mut entries)?;
                entries.sort();
                self.insert_secondary_runs(writer, number, &entries)?;
            }
        }
        Ok(())
    }

    /// Makes the clustered entries of all rows, in key order.
    fn clustered_entries<'a>(
        &self,
        writer: &Writer,
        rows: &'a [&'a [u8]],
        entries: &mut SortedEntries,
    ) -> EngineResult<Batch<'a>> {
        let head = clustered_header(writer.id, 0, UndoAddress::default());
        let (mut keys, mut key_ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for (ordinal, row) in rows.iter().enumerate() {
            let before = keys.len();
            if self.table.has_hidden_key() {
                keys.extend_from_slice(
                    &self.transaction.engine.tables.next_row_id(self.table)?.to_be_bytes(),
                );
            } else {
                self.table.primary_key_of(&self.table.view(row)?, &mut keys)?;
            }
            key_ends.push(keys.len());
            let (start, bytes) = entries.begin();
            bytes.extend_from_slice(&keys[before..]);
            let (key_bytes, bytes) = entries.end_key(start, &head);
            bytes.extend_from_slice(row);
            entries.end_entry(start, key_bytes, 0, ordinal);
        }
        entries.sort();
        Ok(Batch { rows, keys, key_ends, done: vec![false; rows.len()] })
    }

    /// Inserts rows in their order, as far as the first that fails; its error has its ordinal.
    pub(super) fn insert_in_order(&self, rows: &[&[u8]], first_ordinal: u64) -> EngineResult<()> {
        if rows.len() > SEARCHED_ROWS_MAX {
            let mut ordinal = first_ordinal;
            for part in rows.chunks(rows.len().div_ceil(SEARCH_PARTS)) {
                if !self.insert_or_nothing(part)? {
                    self.insert_in_order(part, ordinal)?;
                }
                ordinal += part.len() as u64;
            }
            return Ok(());
        }
        for (ordinal, row) in (first_ordinal..).zip(rows) {
            let mark = self.transaction.mark();
            if let Err(mut error) = self.insert_entries(row) {
                self.transaction.rollback_to(mark)?;
                if let EngineError::DuplicateKey(duplicate) = &mut error {
                    duplicate.row_ordinal = ordinal;
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// How many of the first rows make a batch.
pub(super) fn batch_rows(rows: &[&[u8]]) -> usize {
    let mut bytes = 0;
    let fitting = rows.iter().take(BATCH_ROWS_MAX).take_while(|row| {
        bytes += row.len();
        bytes <= BATCH_BYTES_MAX
    });
    fitting.count().max(1)
}

/// Makes the entries of a secondary index for the rows from the `first` on, but for rows that have theirs: of all rows, or of as many as
/// fill a batch where a row has many. Returns the first row that has to wait.
fn secondary_entries(
    (table, index): (&Table, &Index),
    writer: &Writer,
    batch: &Batch<'_>,
    first: usize,
    entries: &mut SortedEntries,
) -> EngineResult<usize> {
    let head = secondary_header(writer.id, false);
    for (ordinal, row) in
        batch.rows.iter().enumerate().skip(first).filter(|(ordinal, _)| !batch.done[*ordinal])
    {
        if index.is_multi_valued() && entries.bytes() > BATCH_BYTES_MAX {
            return Ok(ordinal);
        }
        let view = table.view(row)?;
        for element in index.elements(&view)? {
            let (start, key) = entries.begin();
            index.own_key(&view, element, key)?;
            let own_bytes = key.len() - start;
            let unique_bytes = if index.unique && !index.has_null(&view) { own_bytes } else { 0 };
            append_clustered_key(key, start, batch.key(ordinal))?;
            let (key_bytes, stored) = entries.end_key(start, &head);
            index.entry_row(&view, key_bytes, stored)?;
            entries.end_entry(start, key_bytes, unique_bytes, ordinal);
        }
    }
    Ok(batch.rows.len())
}
