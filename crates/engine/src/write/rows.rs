//! What callers change in a transaction: rows, one or many, values before their rows, AUTO_INCREMENT counters. What a change does is
//! in [`RowWriter`].

use super::ValueWriter;
use super::insert::RowWriter;
use super::insert_many::batch_rows;
use crate::lob::{LobReference, Wanted};
use crate::read::{KeyRange, ReadMode, RowBatch, ScanOptions, View, WaitPolicy};
use crate::transaction::Transaction;
use engine_error::{DuplicateKey, EngineResult};
use metrics::Counter;
use std::ops::Range;
use std::sync::Arc;
use tables::{Element, Table};
use values::row::ColumnSet;

/// What an update did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The row is the same, nothing was written.
    Unchanged,
    /// Changed in place.
    Changed,
    /// The clustered key changed: this is the row's key now.
    Moved(Vec<u8>),
}

impl Transaction {
    /// Inserts a row (in the table's layout) with all its index entries. Returns its clustered key.
    /// On any error nothing of the row is left behind. Errors: DuplicateKey (the lowest-numbered index that has the key,
    /// clustered first), lock errors, NoSpace, TooBig, ReadOnlyTransaction.
    pub fn insert(&self, table: &Arc<Table>, row: &[u8]) -> EngineResult<Vec<u8>> {
        self.check_may_write(table)?;
        if let Some(writer) = self.writer.get() {
            writer.set_frees_room(false);
        }
        let mark = self.mark();
        let result = RowWriter::new(self, table).insert_entries(row);
        match &result {
            Ok(_) => {
                Counter::RowsInserted.increment();
            }
            Err(_) => self.rollback_to(mark)?,
        }
        result
    }

    /// Replaces the row with that clustered key by another (both in the table's layout). Takes the row's X lock if the
    /// transaction has not got it. Changes the newest row, whatever the snapshot sees.
    /// Errors: RowNotFound, DuplicateKey (nothing is changed then), lock errors, NoSpace, TooBig.
    pub fn update(&self, table: &Arc<Table>, key: &[u8], row: &[u8]) -> EngineResult<UpdateOutcome> {
        self.update_keeping(table, key, row, &ColumnSet::none())
    }

    /// As `update`, but the columns `kept` hold on to what they have: what `row` says of them is not looked at. They are
    /// variable columns, and none is part of the primary key. Long values among them are neither read nor copied.
    pub fn update_keeping(
        &self,
        table: &Arc<Table>,
        key: &[u8],
        row: &[u8],
        kept: &ColumnSet,
    ) -> EngineResult<UpdateOutcome> {
        self.check_may_write(table)?;
        if let Some(writer) = self.writer.get() {
            writer.set_frees_room(false);
        }
        let mark = self.mark();
        let result = RowWriter::new(self, table).update_entries(key, row, kept);
        match &result {
            Ok(UpdateOutcome::Unchanged) => {}
            Ok(_) => {
                Counter::RowsUpdated.increment();
            }
            Err(_) => self.rollback_to(mark)?,
        }
        result
    }

    /// Deletes the row with that clustered key. Takes its X lock if the transaction has not got it.
    /// Errors: RowNotFound, lock errors, NoSpace.
    pub fn delete(&self, table: &Arc<Table>, key: &[u8]) -> EngineResult<()> {
        self.check_may_write(table)?;
        let _reserve = buffer::use_reserve();
        let rows = RowWriter::new(self, table);
        rows.writer()?.set_frees_room(true);
        let mark = self.mark();
        let result = rows.delete_entries(key);
        match &result {
            Ok(()) => {
                Counter::RowsDeleted.increment();
            }
            Err(_) => self.rollback_to(mark)?,
        }
        result
    }

    /// Inserts many rows of one statement. Same outcome as inserting one by one; on error the rows of this call are partly
    /// in: roll back to the statement mark. The error's `row_ordinal` counts from 0 within `rows`.
    pub fn insert_many(&self, table: &Arc<Table>, rows: &[&[u8]]) -> EngineResult<()> {
        self.check_may_write(table)?;
        let mut rest = rows;
        while !rest.is_empty() {
            let (batch, next) = rest.split_at(batch_rows(rest));
            if !RowWriter::new(self, table).insert_or_nothing(batch)? {
                RowWriter::new(self, table).insert_in_order(batch, (rows.len() - rest.len()) as u64)?;
            }
            rest = next;
        }
        Counter::RowsInserted.add(rows.len() as u64);
        Ok(())
    }

    /// Locks the row whose primary key has stopped a statement, or the entry of another unique index, as MySQL does: who is told of it finds it
    /// to the transaction's end. Errors: lock errors.
    pub fn keep_duplicate(&self, table: &Arc<Table>, found: &DuplicateKey) -> EngineResult<()> {
        let (shared, row_key) = (ReadMode::Shared(WaitPolicy::Wait), &*found.existing_key);
        if found.index == 0 {
            return self.get(table, 0, row_key, shared, &mut |_| ()).map(|_| ());
        }
        let index = table.index(found.index)?;
        // Which of its entries was met is not known: the row stands for them.
        if index.is_multi_valued() {
            return self.get(table, 0, row_key, shared, &mut |_| ()).map(|_| ());
        }
        let mut row = Vec::new();
        let view = View { snapshot: None, own: self.id().unwrap_or_default() };
        let show = &mut |bytes: &[u8]| row.extend_from_slice(bytes);
        if self
            .engine
            .reads
            .get_visible(view, table, row_key, Wanted::for_keys(&index.columns), show)?
            .is_none()
        {
            return Ok(());
        }
        let mut key = Vec::new();
        index.own_key(&table.view(&row)?, Element::Only, &mut key)?;
        let (index, range) = (found.index, KeyRange::prefix(&key));
        let options = ScanOptions { index, range, mode: shared, covering: true, ..Default::default() };
        self.scan(table, options)?.next_batch(self, &mut RowBatch::new(), 1).map(|_| ())
    }

    /// As `insert_many`, but where rows that are there already are no error: false if there was a duplicate key; nothing is
    /// inserted then. For INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE, which must go row by row then.
    pub fn try_insert_many(&self, table: &Arc<Table>, rows: &[&[u8]]) -> EngineResult<bool> {
        self.check_may_write(table)?;
        let mark = self.mark();
        let mut rest = rows;
        while !rest.is_empty() {
            let (batch, next) = rest.split_at(batch_rows(rest));
            if !RowWriter::new(self, table).insert_or_nothing(batch)? {
                self.rollback_to(mark)?;
                return Ok(false);
            }
            rest = next;
        }
        Counter::RowsInserted.add(rows.len() as u64);
        Ok(true)
    }

    /// Begins a value that is written before its row: the row has the reference that comes of it. What a failed statement has
    /// written goes with it; a row that is not put in after all needs a rollback to the mark before.
    pub fn begin_value<'t>(&'t self, table: &'t Table) -> EngineResult<ValueWriter<'t>> {
        self.check_may_write(table)?;
        let rows = RowWriter::new(self, table);
        rows.value_writer(rows.begin_values()?)
    }

    /// Appends those bytes of a long value of a row that the transaction reads, under its snapshot or a lock.
    pub fn read_value(
        &self,
        table: &Table,
        reference: &LobReference,
        range: Range<u64>,
        out: &mut Vec<u8>,
    ) -> EngineResult<()> {
        Ok(self.engine.values.read_value(table, reference, range, out)??)
    }

    /// Whether `update_keeping` with the same arguments would leave the row as it is. Locks the row; its long values are compared where
    /// they stand. Error: RowNotFound.
    pub fn is_same_row(&self, table: &Table, key: &[u8], row: &[u8], kept: &ColumnSet) -> EngineResult<bool> {
        RowWriter::new(self, table).is_same_row(key, row, kept)
    }
}
