//! [`SortedLoad`] fills an index that nobody else sees yet (ADD INDEX, ALTER by copy) from entries in any order.

use crate::inner::EngineInner;
use crate::lob::{ChunkWriter, Wanted};
use btree::{BulkAppend, SortedEntries};
use engine_error::{DuplicateKey, EngineError, EngineResult};
use entry::{
    EntryKind, FittingRow, UndoAddress, append_clustered_key, clustered_header, parse_entry, row_bytes_max,
    secondary_header,
};
use stdx::ids::TransactionId;
use tables::{Element, Index, Table};
use txn::KillFlag;
use values::row::{ColumnSet, RowView};

/// Bytes of entries that are sorted at once.
const SORT_BYTES_MAX: usize = 64 << 20;
/// Entries that are written or looked up before the kill flag is looked at again.
const ENTRIES_BETWEEN_CHECKS: usize = 256;
/// Writer of entries that everyone may see as soon as the dictionary shows their index.
const EVERYONE: TransactionId = TransactionId(0);

/// Fills an index from entries in any order.
pub(crate) struct SortedLoad<'a> {
    engine: &'a EngineInner,
    table: &'a Table,
    index: &'a Index,
    number: usize,
    pending: SortedEntries,
    /// Greatest key written so far.
    last: Option<Vec<u8>>,
    /// Number of the next long value: the table is new, and nobody else writes any.
    next_value: u32,
    /// Ends sorting and writing.
    kill: &'a KillFlag,
}

impl<'a> SortedLoad<'a> {
    pub(crate) fn new(
        engine: &'a EngineInner,
        table: &'a Table,
        number: usize,
        kill: &'a KillFlag,
    ) -> EngineResult<SortedLoad<'a>> {
        Ok(SortedLoad {
            engine,
            table,
            index: table.index(number)?,
            number,
            pending: SortedEntries::default(),
            last: None,
            next_value: 0,
            kill,
        })
    }

    /// Adds the clustered entry of a row.
    pub(crate) fn push_clustered(&mut self, key: &[u8], row: &[u8]) -> EngineResult<()> {
        let fitting = self.fitting_row(key, row)?;
        let (start, bytes) = self.pending.begin();
        bytes.extend_from_slice(key);
        let header = clustered_header(EVERYONE, fitting.form.flags(), UndoAddress::default());
        let (key_bytes, bytes) = self.pending.end_key(start, &header);
        bytes.extend_from_slice(&fitting.bytes);
        self.finish_entry(start, key_bytes, key_bytes)
    }

    /// Makes a row fit its entry: long values are written now.
    fn fitting_row<'r>(&mut self, key: &[u8], row: &'r [u8]) -> EngineResult<FittingRow<'r>> {
        let (engine, table, kill) = (self.engine, self.table, self.kill);
        engine.values.fit(table, row, row_bytes_max(key), &mut |value| {
            let sequence = self.next_value;
            let used_up = EngineError::OutOfResources("too many long values in one table");
            self.next_value = sequence.checked_add(1).ok_or(used_up)?;
            let mut chunks = ChunkWriter::new(&engine.pool, table.lob_tree()?, EVERYONE, sequence);
            let pause = &mut || if kill.is_raised() { Err(EngineError::Killed) } else { Ok(()) };
            chunks.push(value, pause)?;
            chunks.finish()
        })
    }

    /// Adds the secondary entries of a row.
    pub(crate) fn push_secondary(&mut self, view: &RowView<'_>, clustered_key: &[u8]) -> EngineResult<()> {
        self.index.elements(view)?.try_for_each(|element| self.push_element(view, element, clustered_key))
    }

    fn push_element(
        &mut self,
        view: &RowView<'_>,
        element: Element<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        let (start, key) = self.pending.begin();
        self.index.own_key(view, element, key)?;
        let own_bytes = key.len() - start;
        append_clustered_key(key, start, clustered_key)?;
        let unique_bytes = if self.index.unique && !self.index.has_null(view) { own_bytes } else { 0 };
        let (key_bytes, row) = self.pending.end_key(start, &secondary_header(EVERYONE, false));
        self.index.entry_row(view, key_bytes, row)?;
        self.finish_entry(start, key_bytes, unique_bytes)
    }

    fn finish_entry(&mut self, start: usize, key_bytes: usize, unique_bytes: usize) -> EngineResult<()> {
        self.pending.end_entry(start, key_bytes, unique_bytes, 0);
        if self.pending.bytes() >= SORT_BYTES_MAX { self.flush() } else { Ok(()) }
    }

    /// Writes what is pending.
    pub(crate) fn finish(&mut self) -> EngineResult<()> {
        self.flush()
    }

    /// The row of a clustered key that was pushed, if it can be read.
    pub(crate) fn row(&self, key: &[u8]) -> EngineResult<Option<Vec<u8>>> {
        let pending = self.pending.iter().map(|(entry, _)| entry).find(|entry| entry.key == key);
        let value = match pending {
            Some(entry) => entry.value.to_vec(),
            None => {
                let mut mini = self.engine.pool.mini_transaction();
                let edit = self.index.tree.edit(&mut mini, key)?;
                let Some(value) = edit.value()? else { return Ok(None) };
                value.to_vec()
            }
        };
        let mut row = Vec::new();
        let stored = parse_entry(EntryKind::Clustered, &value)?.stored_row();
        let fetched =
            self.engine.values.fetch(self.table, stored, Wanted::whole(&ColumnSet::All), &mut row)?;
        Ok(fetched.is_ok().then_some(row))
    }

    fn flush(&mut self) -> EngineResult<()> {
        if !self.pending.sort_unless(|| self.kill.is_raised()) {
            return Err(EngineError::Killed);
        }
        self.check_unique()?;
        self.engine.tables.note_cut_keys(self.table, self.index)?;
        let mut load = BulkAppend::new(&self.index.tree, &self.engine.pool, EVERYONE.0);
        for (at, (entry, _)) in self.pending.iter().enumerate() {
            self.check_kill(at)?;
            load.push(entry.key, entry.value)?;
        }
        load.finish()?;
        if let Some(last) = self.pending.len().checked_sub(1) {
            let greatest = self.pending.entry(last).0.key.to_vec();
            self.last = self.last.take().max(Some(greatest));
        }
        self.pending.clear();
        Ok(())
    }

    /// Looks at the flag once in a while.
    fn check_kill(&self, at: usize) -> EngineResult<()> {
        let is_time = at.is_multiple_of(ENTRIES_BETWEEN_CHECKS);
        if is_time && self.kill.is_raised() { Err(EngineError::Killed) } else { Ok(()) }
    }

    /// Looks for two entries with one unique key, within what is pending and against what is written.
    fn check_unique(&self) -> EngineResult<()> {
        let mut before: &[u8] = &[];
        for (entry, _) in self.pending.iter() {
            let unique = &entry.key[..entry.unique_bytes];
            if !unique.is_empty() && before.starts_with(unique) {
                return Err(self.duplicate(entry.key));
            }
            before = entry.key;
        }
        let Some(last) = &self.last else { return Ok(()) };
        let unique_entries = self.pending.iter().filter(|(entry, _)| entry.unique_bytes > 0);
        for (at, (entry, _)) in unique_entries.enumerate() {
            self.check_kill(at)?;
            let unique = &entry.key[..entry.unique_bytes];
            if unique > last.as_slice() {
                break;
            }
            if self.written_has(unique)? {
                return Err(self.duplicate(entry.key));
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
                copied_row: None,
            })),
            Err(error) => error,
        }
    }
}
