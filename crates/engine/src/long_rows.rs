//! Changing rows that have long values, or get some: the values are written before the row that refers to them, and what a row no
//! longer refers to is noted. See rules L1 to L6 in README.md. Rows without long values never come here.

use crate::engine::EngineInner;
use crate::entry::CLUSTERED_HEADER_BYTES;
use crate::error::{EngineError, EngineResult};
use crate::lob::{ChunkWriter, FittingRow, LobReference, OwnedRow, RowForm, Wanted, references_of};
use crate::rows::{UpdateOutcome, live};
use crate::scan::WaitPolicy;
use crate::table::Table;
use crate::transaction::Transaction;
use crate::write::{Action, EntryChange};
use crate::writer::Writer;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use txn::locks::LockMode;
use txn::{Old, UndoRecord};
use values::row::{ColumnSet, Piece, REFERENCE_BYTES, RowView};

/// Rows of up to so many bytes stand in their entries whole, whatever their key.
pub(crate) fn row_bytes_min() -> usize {
    page::CELL_BYTES_MAX - page::CELL_OVERHEAD_BYTES - CLUSTERED_HEADER_BYTES - page::KEY_BYTES_MAX
}

/// Bytes that a row may have to stand in its entry whole.
pub(crate) fn row_bytes_max(key: &[u8]) -> usize {
    page::CELL_BYTES_MAX - page::CELL_OVERHEAD_BYTES - CLUSTERED_HEADER_BYTES - key.len()
}

/// A long value that a transaction writes, piece by piece.
pub struct ValueWriter<'t> {
    transaction: &'t Transaction,
    writer: Arc<Writer>,
    chunks: ChunkWriter<'t>,
}

impl ValueWriter<'_> {
    /// Adds bytes. Errors: NoSpace, Killed, OutOfResources beyond 4 GiB - 1.
    pub fn push(&mut self, bytes: &[u8]) -> EngineResult<()> {
        let (transaction, writer) = (self.transaction, &self.writer);
        self.chunks.push(bytes, &mut || {
            transaction.check_kill()?;
            transaction.engine.pool.check_writable()?;
            transaction.engine.save_long_undo(writer)
        })
    }

    /// Ends the value. Returns what stands in the row. Errors as of [`ValueWriter::push`].
    pub fn finish(self) -> EngineResult<LobReference> {
        self.chunks.finish()
    }
}

impl Transaction {
    /// Makes a new row fit its entry: long values are written now.
    pub(crate) fn fitting_row<'r>(
        &self,
        table: &Table,
        key: &[u8],
        row: &'r [u8],
    ) -> EngineResult<FittingRow<'r>> {
        let bytes_max = row_bytes_max(key);
        if row.len() <= bytes_max && !table.view(row)?.has_outside() {
            return Ok(FittingRow { bytes: Cow::Borrowed(row), form: RowForm::WHOLE });
        }
        self.fit(table, row, bytes_max)
    }

    fn fit<'r>(&self, table: &Table, row: &'r [u8], bytes_max: usize) -> EngineResult<FittingRow<'r>> {
        let mut writer = None;
        self.engine.fit(table, row, bytes_max, &mut |value| {
            let writer = match &writer {
                Some(writer) => writer,
                None => writer.insert(self.begin_values(table)?),
            };
            let mut value_writer = self.value_writer(table, Arc::clone(writer))?;
            value_writer.push(value)?;
            value_writer.finish()
        })
    }

    /// Begins a value that is written before its row: the row has the reference that comes of it. What a failed statement has
    /// written goes with it; a row that is not put in after all needs a rollback to the mark before.
    pub fn begin_value<'t>(&'t self, table: &'t Table) -> EngineResult<ValueWriter<'t>> {
        self.check_may_write(table)?;
        self.value_writer(table, self.begin_values(table)?)
    }

    /// Appends those bytes of a long value of a row that the transaction reads, under its snapshot or a lock.
    pub fn read_value(
        &self,
        table: &Table,
        reference: &LobReference,
        range: Range<u64>,
        out: &mut Vec<u8>,
    ) -> EngineResult<()> {
        Ok(self.engine.read_value(table, reference, range, out)??)
    }

    /// Notes in the undo list that values from the next number on go when it is undone.
    fn begin_values(&self, table: &Table) -> EngineResult<Arc<Writer>> {
        self.engine.pool.check_writable()?;
        let writer = self.writer()?;
        self.engine.save_long_undo(&writer)?;
        let key = writer.next_value().to_be_bytes();
        let index = table.lob_tree()?.id().index;
        let record =
            UndoRecord { index, key: &key, old: Old::Lobs, version: false, tombstone: false, dead: &[] };
        let mini = self.engine.pool.mini_transaction();
        self.engine.commit_with_undo(&writer, mini, record, &mut Vec::new());
        Ok(writer)
    }

    fn value_writer<'t>(&'t self, table: &'t Table, writer: Arc<Writer>) -> EngineResult<ValueWriter<'t>> {
        let used_up = EngineError::OutOfResources("too many long values in one transaction");
        let sequence = writer.take_value_number().ok_or(used_up)?;
        let chunks = ChunkWriter::new(&self.engine, table.lob_tree()?, writer.id, sequence);
        Ok(ValueWriter { transaction: self, writer, chunks })
    }

    /// `row` with what the row of that key has in the columns `kept`.
    pub(crate) fn row_with_kept<'r>(
        &self,
        table: &Table,
        key: &[u8],
        row: &RowView<'r>,
        kept: &ColumnSet,
    ) -> EngineResult<Cow<'r, [u8]>> {
        if kept.is_none() {
            return Ok(Cow::Borrowed(row.as_bytes()));
        }
        let old = self.lock_row(table, key)?;
        let mut whole = Vec::new();
        self.engine.fetch(table, old.as_stored(), Wanted::whole(kept), &mut whole)??;
        let mut merged = Vec::new();
        merge(table, &table.view(&whole)?, row, kept, &mut merged)?;
        Ok(Cow::Owned(merged))
    }

    /// Replaces a row where long values are concerned. Values that stay the same stay where they are.
    pub(crate) fn update_long(
        &self,
        table: &Table,
        key: &[u8],
        row: &RowView<'_>,
        kept: &ColumnSet,
    ) -> EngineResult<UpdateOutcome> {
        let old = self.lock_row(table, key)?;
        let old_row = self.engine.row_with_references(table, old.as_stored())??;
        let old_view = table.view(&old_row)?;
        let new_row = self.row_beside(table, &old_view, row, kept)?;
        if new_row == *old_row {
            return Ok(UpdateOutcome::Unchanged);
        }
        let fitting = self.fit(table, &new_row, row_bytes_max(key))?;
        let dead = dead_values(&old, &old_view, Some(&table.view(&new_row)?));
        let change = EntryChange { dead: &dead, ..table.clustered_entry(key) };
        self.change_entry(change, &mut |current| live(current).map(|_| Action::Put(fitting.as_stored())))?;
        self.note_dead(table, &dead)?;
        let old_keys = self.engine.key_source(table, old.as_stored(), &table.indexed)?;
        let new_keys = self.engine.key_source(table, fitting.as_stored(), &table.indexed)?;
        self.update_all_secondary(table, &table.view(&old_keys)?, &table.view(&new_keys)?, key)?;
        Ok(UpdateOutcome::Changed)
    }

    /// Whether `update_keeping` with the same arguments would leave the row as it is. Locks the row; its long values are compared where
    /// they stand. Error: RowNotFound.
    pub fn is_same_row(&self, table: &Table, key: &[u8], row: &[u8], kept: &ColumnSet) -> EngineResult<bool> {
        let old = self.lock_row(table, key)?;
        let old_row = self.engine.row_with_references(table, old.as_stored())??;
        let new_row = self.row_beside(table, &table.view(&old_row)?, &table.view(row)?, kept)?;
        Ok(new_row == *old_row)
    }

    /// `new` with what `old` has in the columns `kept`, and where a long value is the same.
    fn row_beside(
        &self,
        table: &Table,
        old: &RowView<'_>,
        new: &RowView<'_>,
        kept: &ColumnSet,
    ) -> EngineResult<Vec<u8>> {
        let same = self.same_values(table, old, new, kept)?;
        let mut row = Vec::new();
        merge(table, old, new, &same, &mut row)?;
        Ok(row)
    }

    /// Marks a row that has long values as deleted. Returns what its index keys are made of.
    pub(crate) fn mark_long(&self, table: &Table, key: &[u8]) -> EngineResult<Vec<u8>> {
        let old = self.lock_row(table, key)?;
        let old_row = self.engine.row_with_references(table, old.as_stored())??;
        let dead = dead_values(&old, &table.view(&old_row)?, None);
        let change = EntryChange { dead: &dead, ..table.clustered_entry(key) };
        self.change_entry(change, &mut |current| live(current).map(|_| Action::Mark))?;
        self.note_dead(table, &dead)?;
        Ok(self.engine.key_source(table, old.as_stored(), &table.indexed)?.into_owned())
    }

    /// Locks a row and copies it as it stands. Error: RowNotFound.
    fn lock_row(&self, table: &Table, key: &[u8]) -> EngineResult<OwnedRow> {
        let mut row = None;
        let mode = LockMode::EXCLUSIVE_RECORD;
        self.get_locked(table, key, mode, WaitPolicy::Wait, &mut |found| row = Some(found.to_owned()))?;
        row.ok_or(EngineError::RowNotFound)
    }

    /// The columns `kept`, and those whose long value in the old row is what the new row has.
    fn same_values(
        &self,
        table: &Table,
        old: &RowView<'_>,
        new: &RowView<'_>,
        kept: &ColumnSet,
    ) -> EngineResult<ColumnSet> {
        let mut same = Vec::new();
        for column in table.layout.variable_columns() {
            let is_same = match (old.piece(column), new.piece(column)) {
                _ if kept.contains(column) => true,
                (Piece::Outside(reference), Piece::Here(value)) => {
                    self.engine.is_value(table, reference, value)?
                }
                _ => false,
            };
            same.extend(is_same.then_some(column));
        }
        Ok(ColumnSet::of(same))
    }

    /// Notes values that a change, which is made, has taken out of a row.
    fn note_dead(&self, table: &Table, dead: &[u8]) -> EngineResult<()> {
        match self.id() {
            Some(id) if !dead.is_empty() => {
                self.engine.garbage.add(&self.engine.pool, id, table.clustered().id(), dead)
            }
            _ => Ok(()),
        }
    }
}

/// `new` with what `old` has in the columns `kept`.
pub(crate) fn merge(
    table: &Table,
    old: &RowView<'_>,
    new: &RowView<'_>,
    kept: &ColumnSet,
    out: &mut Vec<u8>,
) -> EngineResult<()> {
    let piece = |column| if kept.contains(column) { old.piece(column) } else { new.piece(column) };
    let pieces: Vec<Piece<'_>> = table.layout.variable_columns().map(piece).collect();
    table.layout.rewrite(new, &pieces, out).map_err(|error| table.corrupt(error))
}

/// References of an old row that the new one has not. If the row itself stood outside, it goes in any case.
fn dead_values(old: &OwnedRow, old_row: &RowView<'_>, new_row: Option<&RowView<'_>>) -> Vec<u8> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    references_of(old_row, &mut before);
    if let Some(row) = new_row {
        references_of(row, &mut after);
    }
    let still = after.as_chunks::<REFERENCE_BYTES>().0;
    let gone = before.as_chunks::<REFERENCE_BYTES>().0.iter().filter(|one| !still.contains(one));
    let mut dead: Vec<u8> = gone.flatten().copied().collect();
    if old.form.is_row_outside() {
        dead.extend_from_slice(&old.bytes);
    }
    dead
}

impl EngineInner {
    /// Undoes the writing of values: the record's and those after it, whose rows are undone already.
    pub(crate) fn undo_values(&self, writer: &Writer, record: UndoRecord<'_>) -> EngineResult<()> {
        if let Some(lobs) = self.open_index(record.index)? {
            if self.pass_over_undo(writer, lobs.tree.id().space, &record)? {
                return Ok(());
            }
            let from = record.key.try_into().map(u32::from_be_bytes);
            let from = from.map_err(|_| EngineError::Corrupt("undo record of long values".to_owned()))?;
            self.remove_values_from(&lobs.tree, writer.id, from)?;
        }
        self.pop_without_page(writer);
        Ok(())
    }
}
