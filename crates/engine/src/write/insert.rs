//! Inserting a row with all its index entries. Main type: [`RowWriter`]. See rules W1 to W6 in README.md.
//! The clustered entry is written first: its writer id locks the row, and so the row's secondary entries, which need no locks.

use super::entry::{Action, EntryChange};
use super::unique_key::Unique;
use crate::transaction::{Conflict, Transaction};
use engine_error::{DuplicateKey, EngineError, EngineResult};
use entry::{Entry, StoredRow, append_clustered_key};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;
use tables::{Element, Index, Table};
use undo::Writer;
use values::row::RowView;

thread_local! {
    /// Key and row buffers of the calling thread, so that a row's entries need no allocation.
    static BUFFERS: RefCell<EntryBuffers> = RefCell::default();
}

/// Buffers for one secondary entry.
#[derive(Debug, Default)]
struct EntryBuffers {
    key: Vec<u8>,
    row: Vec<u8>,
}

/// Changes rows of one table, with all their entries, for a transaction.
#[derive(Clone, Copy)]
pub(super) struct RowWriter<'t> {
    pub(super) transaction: &'t Transaction,
    pub(super) table: &'t Table,
}

impl<'t> RowWriter<'t> {
    pub(super) fn new(transaction: &'t Transaction, table: &'t Table) -> RowWriter<'t> {
        RowWriter { transaction, table }
    }

    /// Who changes the table's rows.
    pub(super) fn writer(&self) -> EngineResult<&'t Arc<Writer>> {
        self.transaction.writer_or(self.table.temporary.as_ref())
    }
}

impl RowWriter<'_> {
    pub(crate) fn insert_entries(&self, row: &[u8]) -> EngineResult<Vec<u8>> {
        let mut key = Vec::with_capacity(16);
        if self.table.has_hidden_key() {
            key.extend_from_slice(&self.transaction.engine.tables.next_row_id(self.table)?.to_be_bytes());
        } else {
            self.table.primary_key_of(&self.table.view(row)?, &mut key)?;
        }
        self.insert_entries_at(&key, row)?;
        Ok(key)
    }

    /// Inserts a row, whose clustered key is known, with all its index entries.
    pub(crate) fn insert_entries_at(&self, key: &[u8], row: &[u8]) -> EngineResult<()> {
        let view = self.table.view(row)?;
        self.transaction.engine.tables.note_cut_keys(self.table, self.table.clustered())?;
        let fitting = self.fitting_row(key, row)?;
        self.transaction.change_entry(
            EntryChange::clustered(self.table, key),
            &mut |current| match current {
                Some(entry) if !entry.deleted => Err(duplicate(0, key.to_vec())),
                _ => Ok(Action::Put(fitting.as_stored())),
            },
        )?;
        let source = match view.has_outside() {
            true => self.transaction.engine.values.key_source(
                self.table,
                fitting.as_stored(),
                &self.table.indexed,
            )?,
            false => Cow::Borrowed(row),
        };
        let view = self.table.view(&source)?;
        for (number, index) in self.table.indexes.iter().enumerate().skip(1) {
            self.insert_secondary(number, index, &view, key)?;
        }
        Ok(())
    }

    /// Writes the secondary entries of a new row, or of a row whose key in this index changed.
    pub(super) fn insert_secondary(
        &self,
        number: usize,
        index: &Index,
        view: &RowView<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        let mut buffers = BUFFERS.take();
        let mut insert = |element| {
            if index.is_multi_valued() {
                self.transaction.check_kill()?;
            }
            self.insert_secondary_with((number, index), view, element, clustered_key, &mut buffers)
        };
        let result = index.elements(view).and_then(|mut elements| elements.try_for_each(&mut insert));
        BUFFERS.set(buffers);
        result
    }

    fn insert_secondary_with(
        &self,
        (number, index): (usize, &Index),
        view: &RowView<'_>,
        element: Element<'_>,
        clustered_key: &[u8],
        buffers: &mut EntryBuffers,
    ) -> EngineResult<()> {
        let EntryBuffers { key, row } = buffers;
        key.clear();
        index.own_key(view, element, key)?;
        let own_bytes = key.len();
        append_clustered_key(key, 0, clustered_key)?;
        self.put_entry((number, index), view, (key, own_bytes), row)
    }

    /// Writes a secondary entry of a row under that key, of which the first bytes are the index's own. `row` is a buffer.
    pub(super) fn put_entry(
        &self,
        (number, index): (usize, &Index),
        view: &RowView<'_>,
        (key, own_bytes): (&[u8], usize),
        row: &mut Vec<u8>,
    ) -> EngineResult<()> {
        row.clear();
        index.entry_row(view, key.len(), row)?;
        let unique_bytes = if index.unique && !index.has_null(view) { own_bytes } else { 0 };
        self.put_secondary(number, key, unique_bytes, row)
    }

    /// Writes a secondary entry, unless another row has the first `unique_bytes` of its key.
    pub(crate) fn put_secondary(
        &self,
        number: usize,
        key: &[u8],
        unique_bytes: usize,
        row: &[u8],
    ) -> EngineResult<()> {
        let index = self.table.index(number)?;
        self.transaction.engine.tables.note_cut_keys(self.table, index)?;
        let change = EntryChange::secondary(self.table, index, key);
        let put = &mut |_: Option<Entry<'_>>| Ok(Action::Put(StoredRow::whole(row)));
        if unique_bytes == 0 {
            return self.transaction.change_entry(change, put);
        }
        loop {
            let guard = self.transaction.engine.system.unique_guard(index.id(), &key[..unique_bytes]);
            let conflict = match self.look_up_unique(index, &key[..unique_bytes])? {
                Unique::Free => self.transaction.try_change_entry(change, put)?,
                Unique::Taken(existing) => return Err(duplicate(number, existing)),
                Unique::Wait => Conflict::Wait,
            };
            drop(guard);
            match conflict {
                Conflict::Wait => self.transaction.wait_for_lock()?,
                _ => return Ok(()),
            }
        }
    }
}

pub(crate) fn duplicate(index: usize, existing_key: Vec<u8>) -> EngineError {
    EngineError::DuplicateKey(Box::new(DuplicateKey {
        index,
        existing_key,
        row_ordinal: 0,
        copied_row: None,
    }))
}
