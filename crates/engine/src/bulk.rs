//! Many entries at once. [`SortedLoad`] fills an index that nobody else sees yet (ADD INDEX, ALTER by copy);
//! [`Transaction::insert_many`] inserts the rows of one statement with sorted secondary entries.

use crate::engine::EngineInner;
use crate::entry::header;
use crate::error::{DuplicateKey, EngineError, EngineResult};
use crate::rows::append_clustered_key;
use crate::run::RunEntry;
use crate::table::{Index, Table};
use crate::transaction::Transaction;
use btree::BulkAppend;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::TransactionId;
use values::row::RowView;

/// Bytes of entries that are sorted at once.
const SORT_BYTES_MAX: usize = 64 << 20;
/// Rows after which the secondary entries of a multi-row insert are sorted and written.
const BATCH_ROWS_MAX: usize = 4096;
/// Writer of entries that everyone may see as soon as the dictionary shows their index.
const EVERYONE: TransactionId = TransactionId(0);

/// Entries waiting to be sorted.
#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    entries: Vec<Place>,
}

/// Where an entry is in the bytes.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    key_end: usize,
    end: usize,
    /// Bytes of the key that no other entry may have; 0 if any may.
    unique_bytes: usize,
}

impl Pending {
    fn key(&self, place: &Place) -> &[u8] {
        &self.bytes[place.start..place.key_end]
    }

    fn value(&self, place: &Place) -> &[u8] {
        &self.bytes[place.key_end..place.end]
    }

    fn unique(&self, place: &Place) -> &[u8] {
        &self.bytes[place.start..place.start + place.unique_bytes]
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| bytes[a.start..a.key_end].cmp(&bytes[b.start..b.key_end]));
    }
}

/// Fills an index from entries in any order.
pub(crate) struct SortedLoad<'a> {
    engine: &'a EngineInner,
    index: &'a Index,
    number: usize,
    pending: Pending,
    /// Greatest key written so far.
    last: Option<Vec<u8>>,
}

impl<'a> SortedLoad<'a> {
    pub(crate) fn new(
        engine: &'a EngineInner,
        table: &'a Table,
        number: usize,
    ) -> EngineResult<SortedLoad<'a>> {
        Ok(SortedLoad {
            engine,
            index: table.index(number)?,
            number,
            pending: Pending::default(),
            last: None,
        })
    }

    /// Adds the clustered entry of a row.
    pub(crate) fn push_clustered(&mut self, key: &[u8], row: &[u8]) -> EngineResult<()> {
        let start = self.pending.bytes.len();
        self.pending.bytes.extend_from_slice(key);
        self.finish_entry(start, key.len(), key.len(), row)
    }

    /// Adds the secondary entry of a row.
    pub(crate) fn push_secondary(&mut self, view: &RowView<'_>, clustered_key: &[u8]) -> EngineResult<()> {
        let start = self.pending.bytes.len();
        let mut key = Vec::new();
        self.index.own_key(view, &mut key)?;
        let unique_bytes = if self.index.unique && !self.index.has_null(view) { key.len() } else { 0 };
        append_clustered_key(&mut key, clustered_key)?;
        let mut row = Vec::new();
        self.index.stored_row(view, &mut row)?;
        self.pending.bytes.extend_from_slice(&key);
        self.finish_entry(start, key.len(), unique_bytes, &row)
    }

    fn finish_entry(
        &mut self,
        start: usize,
        key_bytes: usize,
        unique_bytes: usize,
        row: &[u8],
    ) -> EngineResult<()> {
        let pending = &mut self.pending;
        pending.bytes.extend_from_slice(&header(EVERYONE, false));
        pending.bytes.extend_from_slice(row);
        let end = pending.bytes.len();
        pending.entries.push(Place { start, key_end: start + key_bytes, end, unique_bytes });
        if end >= SORT_BYTES_MAX { self.flush() } else { Ok(()) }
    }

    /// Writes what is pending.
    pub(crate) fn finish(mut self) -> EngineResult<()> {
        self.flush()
    }

    fn flush(&mut self) -> EngineResult<()> {
        self.pending.sort();
        self.check_unique()?;
        let tree = &self.index.tree;
        let mut load = BulkAppend::new(tree, &self.engine.pool, EVERYONE.0);
        for place in &self.pending.entries {
            load.push(self.pending.key(place), self.pending.value(place))?;
        }
        load.finish()?;
        if let Some(greatest) = self.pending.entries.last().map(|place| self.pending.key(place).to_vec()) {
            self.last = self.last.take().max(Some(greatest));
        }
        self.pending.bytes.clear();
        self.pending.entries.clear();
        Ok(())
    }

    /// Looks for two entries with one unique key, within what is pending and against what is written.
    fn check_unique(&self) -> EngineResult<()> {
        let pending = &self.pending;
        for pair in pending.entries.windows(2) {
            if pair[1].unique_bytes > 0 && pending.unique(&pair[0]) == pending.unique(&pair[1]) {
                return Err(self.duplicate(pending.key(&pair[1])));
            }
        }
        let Some(last) = &self.last else { return Ok(()) };
        for place in pending.entries.iter().filter(|place| place.unique_bytes > 0) {
            let unique = pending.unique(place);
            if unique > last.as_slice() {
                break;
            }
            if self.written_has(unique)? {
                return Err(self.duplicate(pending.key(place)));
            }
        }
        Ok(())
    }

    fn written_has(&self, unique: &[u8]) -> EngineResult<bool> {
        let mut next = Vec::new();
        let mut mini = self.engine.pool.mini_transaction();
        let edit = self.index.tree.edit(&mut mini, unique)?;
        Ok(edit.found() || (edit.successor(&mut next)? && next.starts_with(unique)))
    }

    fn duplicate(&self, key: &[u8]) -> EngineError {
        let existing_key = if self.number == 0 { Ok(key) } else { self.index.clustered_key(key) };
        match existing_key {
            Ok(key) => EngineError::DuplicateKey(Box::new(DuplicateKey {
                index: self.number,
                existing_key: key.to_vec(),
                row_ordinal: 0,
            })),
            Err(error) => error,
        }
    }
}

impl Transaction {
    /// Inserts many rows of one statement: entries of secondary indexes are sorted and merged per batch.
    /// Same outcome as inserting one by one; on error the rows of this call are partly in: roll back to the
    /// statement mark. The error's `row_ordinal` counts from 0 within `rows`.
    pub fn insert_many(&self, table: &Arc<Table>, rows: &[&[u8]]) -> EngineResult<()> {
        table.check_usable()?;
        let mut done = 0;
        for batch in rows.chunks(BATCH_ROWS_MAX) {
            self.check_kill()?;
            self.engine.pool.check_writable()?;
            let mark = self.mark();
            match self.insert_batch(table, batch) {
                Ok(()) => {}
                // Which row fails first, and by which index, only the order of the rows can tell.
                Err(EngineError::DuplicateKey(_)) => {
                    self.rollback_to(mark)?;
                    self.insert_in_order(table, batch, done)?;
                }
                Err(error) => return Err(error),
            }
            done += batch.len() as u64;
        }
        self.engine.counters.rows_inserted.fetch_add(rows.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn insert_batch(&self, table: &Table, rows: &[&[u8]]) -> EngineResult<()> {
        let writer = self.writer()?;
        let mut keys = Vec::with_capacity(rows.len());
        for row in rows {
            let mut key = Vec::with_capacity(16);
            if table.has_hidden_key() {
                key.extend_from_slice(&self.engine.next_row_id(table)?.to_be_bytes());
            } else {
                table.primary_key_of(&table.view(row)?, &mut key)?;
            }
            keys.push(key);
        }
        let head = header(writer.id, false);
        let entry = |key: &[u8], row: &[u8], unique_bytes| RunEntry {
            key: key.to_vec(),
            value: [&head[..], row].concat(),
            unique_bytes,
        };
        let mut entries: Vec<RunEntry> = keys.iter().zip(rows).map(|(key, row)| entry(key, row, 0)).collect();
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        self.insert_runs(&writer, table, 0, &entries)?;
        let mut stored = Vec::new();
        for (number, index) in table.indexes.iter().enumerate().skip(1) {
            entries.clear();
            for (row, clustered_key) in rows.iter().zip(&keys) {
                let (view, mut key) = (table.view(row)?, Vec::with_capacity(32));
                index.own_key(&view, &mut key)?;
                let unique_bytes = if index.unique && !index.has_null(&view) { key.len() } else { 0 };
                append_clustered_key(&mut key, clustered_key)?;
                stored.clear();
                index.stored_row(&view, &mut stored)?;
                entries.push(entry(&key, &stored, unique_bytes));
            }
            entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
            self.insert_runs(&writer, table, number, &entries)?;
        }
        Ok(())
    }

    fn insert_in_order(&self, table: &Table, rows: &[&[u8]], first_ordinal: u64) -> EngineResult<()> {
        for (ordinal, row) in (first_ordinal..).zip(rows) {
            let mark = self.mark();
            if let Err(mut error) = self.insert_entries(table, row) {
                self.rollback_to(mark)?;
                if let EngineError::DuplicateKey(duplicate) = &mut error {
                    duplicate.row_ordinal = ordinal;
                }
                return Err(error);
            }
        }
        Ok(())
    }
}
