//! Changing rows that have long values, or get some: the values are written before the row that refers to them, and what a row no
//! longer refers to is noted. See rules L1 to L6 in README.md. Rows without long values never come here.

use super::change::live;
use super::entry::{Action, EntryChange};
use super::insert::RowWriter;
use super::rows::UpdateOutcome;
use crate::lob::{ChunkWriter, LobReference, Wanted, references_of};
use crate::read::WaitPolicy;
use crate::transaction::Transaction;
use engine_error::{EngineError, EngineResult};
use entry::{FittingRow, OwnedRow, RowForm, row_bytes_max};
use std::borrow::Cow;
use std::sync::Arc;
use tables::Table;
use txn::locks::LockMode;
use txn::{Old, UndoRecord};
use undo::Writer;
use values::row::{ColumnSet, Piece, REFERENCE_BYTES, RowView};

/// A long value that a transaction writes, piece by piece.
pub struct ValueWriter<'t> {
    transaction: &'t Transaction,
    writer: &'t Arc<Writer>,
    chunks: ChunkWriter<'t>,
}

impl ValueWriter<'_> {
    /// Adds bytes. Errors: NoSpace, Killed, OutOfResources beyond 4 GiB - 1.
    pub fn push(&mut self, bytes: &[u8]) -> EngineResult<()> {
        let (transaction, writer) = (self.transaction, self.writer);
        self.chunks.push(bytes, &mut || {
            transaction.check_kill()?;
            transaction.engine.pool.check_writable()?;
            Ok(transaction.engine.undo.save_long_undo(writer)?)
        })
    }

    /// Ends the value. Returns what stands in the row. Errors as of [`ValueWriter::push`].
    pub fn finish(self) -> EngineResult<LobReference> {
        self.chunks.finish()
    }
}

impl<'t> RowWriter<'t> {
    /// Makes a new row fit its entry: long values are written now.
    pub(crate) fn fitting_row<'r>(&self, key: &[u8], row: &'r [u8]) -> EngineResult<FittingRow<'r>> {
        let bytes_max = row_bytes_max(key);
        if row.len() <= bytes_max && !self.table.view(row)?.has_outside() {
            return Ok(FittingRow { bytes: Cow::Borrowed(row), form: RowForm::WHOLE });
        }
        self.fit(row, bytes_max)
    }

    fn fit<'r>(&self, row: &'r [u8], bytes_max: usize) -> EngineResult<FittingRow<'r>> {
        let mut writer = None;
        self.transaction.engine.values.fit(self.table, row, bytes_max, &mut |value| {
            let writer = match &writer {
                Some(writer) => writer,
                None => writer.insert(self.begin_values()?),
            };
            let mut value_writer = self.value_writer(writer)?;
            value_writer.push(value)?;
            value_writer.finish()
        })
    }

    /// Notes in the undo list that values from the next number on go when it is undone.
    pub(super) fn begin_values(&self) -> EngineResult<&'t Arc<Writer>> {
        self.transaction.engine.pool.check_writable()?;
        let writer = self.writer()?;
        self.transaction.engine.undo.save_long_undo(writer)?;
        let key = writer.next_value().to_be_bytes();
        let index = self.table.lob_tree()?.id().index;
        let record = UndoRecord {
            index,
            key: &key,
            old: Old::Lobs,
            version: false,
            tombstone: false,
            dead: &[],
            jumps: &[],
        };
        let mini = self.transaction.engine.pool.mini_transaction();
        self.transaction.engine.undo.commit_with_undo(writer, mini, record, &mut Vec::new(), 1);
        Ok(writer)
    }

    pub(super) fn value_writer(&self, writer: &'t Arc<Writer>) -> EngineResult<ValueWriter<'t>> {
        let used_up = EngineError::OutOfResources("too many long values in one transaction");
        let sequence = writer.take_value_number().ok_or(used_up)?;
        let chunks =
            ChunkWriter::new(&self.transaction.engine.pool, self.table.lob_tree()?, writer.id, sequence);
        Ok(ValueWriter { transaction: self.transaction, writer, chunks })
    }

    /// `row` with what the row of that key has in the columns `kept`.
    pub(crate) fn row_with_kept<'r>(
        &self,
        key: &[u8],
        row: &RowView<'r>,
        kept: &ColumnSet,
    ) -> EngineResult<Cow<'r, [u8]>> {
        if kept.is_none() {
            return Ok(Cow::Borrowed(row.as_bytes()));
        }
        let old = self.lock_row(key)?;
        let mut whole = Vec::new();
        self.transaction.engine.values.fetch(
            self.table,
            old.as_stored(),
            Wanted::whole(kept),
            &mut whole,
        )??;
        let mut merged = Vec::new();
        merge(self.table, &self.table.view(&whole)?, row, kept, &mut merged)?;
        Ok(Cow::Owned(merged))
    }

    /// Replaces a row where long values are concerned. Values that stay the same stay where they are.
    pub(crate) fn update_long(
        &self,
        key: &[u8],
        row: &RowView<'_>,
        kept: &ColumnSet,
    ) -> EngineResult<UpdateOutcome> {
        let old = self.lock_row(key)?;
        let old_row = self.transaction.engine.values.row_with_references(self.table, old.as_stored())??;
        let old_view = self.table.view(&old_row)?;
        let new_row = self.row_beside(&old_view, row, kept)?;
        if new_row == *old_row {
            return Ok(UpdateOutcome::Unchanged);
        }
        let fitting = self.fit(&new_row, row_bytes_max(key))?;
        let dead = dead_values(&old, &old_view, Some(&self.table.view(&new_row)?));
        let change = EntryChange { dead: &dead, ..EntryChange::clustered(self.table, key) };
        self.transaction
            .change_entry(change, &mut |current| live(current).map(|_| Action::Put(fitting.as_stored())))?;
        self.note_dead(&dead)?;
        let old_keys =
            self.transaction.engine.values.key_source(self.table, old.as_stored(), &self.table.indexed)?;
        let new_keys = self.transaction.engine.values.key_source(
            self.table,
            fitting.as_stored(),
            &self.table.indexed,
        )?;
        self.update_all_secondary(&self.table.view(&old_keys)?, &self.table.view(&new_keys)?, key)?;
        Ok(UpdateOutcome::Changed)
    }

    /// Whether a change would leave the row as it is. Locks the row. Error: RowNotFound.
    pub(super) fn is_same_row(&self, key: &[u8], row: &[u8], kept: &ColumnSet) -> EngineResult<bool> {
        let old = self.lock_row(key)?;
        let old_row = self.transaction.engine.values.row_with_references(self.table, old.as_stored())??;
        let new_row = self.row_beside(&self.table.view(&old_row)?, &self.table.view(row)?, kept)?;
        Ok(new_row == *old_row)
    }

    /// `new` with what `old` has in the columns `kept`, and where a long value is the same.
    fn row_beside(&self, old: &RowView<'_>, new: &RowView<'_>, kept: &ColumnSet) -> EngineResult<Vec<u8>> {
        let same = self.same_values(old, new, kept)?;
        let mut row = Vec::new();
        merge(self.table, old, new, &same, &mut row)?;
        Ok(row)
    }

    /// Marks a row that has long values as deleted. Returns what its index keys are made of.
    pub(crate) fn mark_long(&self, key: &[u8]) -> EngineResult<Vec<u8>> {
        let old = self.lock_row(key)?;
        let old_row = self.transaction.engine.values.row_with_references(self.table, old.as_stored())??;
        let dead = dead_values(&old, &self.table.view(&old_row)?, None);
        let change = EntryChange { dead: &dead, ..EntryChange::clustered(self.table, key) };
        self.transaction.change_entry(change, &mut |current| live(current).map(|_| Action::Mark))?;
        self.note_dead(&dead)?;
        Ok(self
            .transaction
            .engine
            .values
            .key_source(self.table, old.as_stored(), &self.table.indexed)?
            .into_owned())
    }

    /// Locks a row and copies it as it stands. Error: RowNotFound.
    fn lock_row(&self, key: &[u8]) -> EngineResult<OwnedRow> {
        let mut row = None;
        let mode = LockMode::EXCLUSIVE_RECORD;
        self.transaction
            .get_locked(self.table, key, mode, WaitPolicy::Wait, &mut |found| row = Some(found.to_owned()))?;
        row.ok_or(EngineError::RowNotFound)
    }

    /// The columns `kept`, and those whose long value in the old row is what the new row has.
    fn same_values(&self, old: &RowView<'_>, new: &RowView<'_>, kept: &ColumnSet) -> EngineResult<ColumnSet> {
        let mut same = Vec::new();
        for column in self.table.layout.variable_columns() {
            let is_same = match (old.piece(column), new.piece(column)) {
                _ if kept.contains(column) => true,
                (Piece::Outside(reference), Piece::Here(value)) => {
                    self.transaction.engine.values.is_value(self.table, reference, value)?
                }
                _ => false,
            };
            same.extend(is_same.then_some(column));
        }
        Ok(ColumnSet::of(same))
    }

    /// Notes values that a change, which is made, has taken out of a row.
    fn note_dead(&self, dead: &[u8]) -> EngineResult<()> {
        let engine = &self.transaction.engine;
        match self.transaction.id() {
            Some(id) if !dead.is_empty() && !self.table.is_temporary() => {
                engine.values.garbage.add(&engine.pool, id, self.table.clustered().id(), dead)
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
