//! Inserting, updating and deleting rows with all their index entries. See rules W1 to W6 in README.md.
//! The clustered entry is written first: its writer id locks the row, and so the row's secondary entries, which need no locks.

use crate::entry::Entry;
use crate::error::{DuplicateKey, EngineError, EngineResult};
use crate::lob::StoredRow;
use crate::locking::Conflict;
use crate::long_rows::{merge, row_bytes_max};
use crate::scan::WaitPolicy;
use crate::table::{Index, Table};
use crate::transaction::Transaction;
use crate::write::Action;
use metrics::Counter;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;
use txn::locks::LockMode;
use values::row::{ColumnSet, RowView};

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

/// What a look at a unique key finds.
enum Unique {
    /// Nobody has it.
    Free,
    /// The row with that clustered key has it.
    Taken(Vec<u8>),
    /// An unfinished transaction has put it there or taken it away: a lock request is queued.
    Wait,
}

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
        let result = self.insert_entries(table, row);
        match &result {
            Ok(_) => {
                Counter::RowsInserted.increment();
            }
            Err(_) => self.rollback_to(mark)?,
        }
        result
    }

    pub(crate) fn insert_entries(&self, table: &Table, row: &[u8]) -> EngineResult<Vec<u8>> {
        let mut key = Vec::with_capacity(16);
        if table.has_hidden_key() {
            key.extend_from_slice(&self.engine.next_row_id(table)?.to_be_bytes());
        } else {
            table.primary_key_of(&table.view(row)?, &mut key)?;
        }
        self.insert_entries_at(table, &key, row)?;
        Ok(key)
    }

    /// Inserts a row, whose clustered key is known, with all its index entries.
    pub(crate) fn insert_entries_at(&self, table: &Table, key: &[u8], row: &[u8]) -> EngineResult<()> {
        let view = table.view(row)?;
        self.engine.note_cut_keys(table, table.clustered())?;
        let fitting = self.fitting_row(table, key, row)?;
        self.change_entry(table.clustered_entry(key), &mut |current| match current {
            Some(entry) if !entry.deleted => Err(duplicate(0, key.to_vec())),
            _ => Ok(Action::Put(fitting.as_stored())),
        })?;
        let source = match view.has_outside() {
            true => self.engine.key_source(table, fitting.as_stored(), &table.indexed)?,
            false => Cow::Borrowed(row),
        };
        let view = table.view(&source)?;
        for (number, index) in table.indexes.iter().enumerate().skip(1) {
            self.insert_secondary(table, number, index, &view, key)?;
        }
        Ok(())
    }

    /// Writes a secondary entry of a new row, or of a row whose key in this index changed.
    fn insert_secondary(
        &self,
        table: &Table,
        number: usize,
        index: &Index,
        view: &RowView<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        let mut buffers = BUFFERS.take();
        let result = self.insert_secondary_with(table, number, index, view, clustered_key, &mut buffers);
        BUFFERS.set(buffers);
        result
    }

    fn insert_secondary_with(
        &self,
        table: &Table,
        number: usize,
        index: &Index,
        view: &RowView<'_>,
        clustered_key: &[u8],
        buffers: &mut EntryBuffers,
    ) -> EngineResult<()> {
        let EntryBuffers { key, row } = buffers;
        key.clear();
        row.clear();
        index.own_key(view, key)?;
        let own_bytes = key.len();
        append_clustered_key(key, 0, clustered_key)?;
        index.entry_row(view, key.len(), row)?;
        let unique_bytes = if index.unique && !index.has_null(view) { own_bytes } else { 0 };
        self.put_secondary(table, number, key, unique_bytes, row)
    }

    /// Writes a secondary entry, unless another row has the first `unique_bytes` of its key.
    pub(crate) fn put_secondary(
        &self,
        table: &Table,
        number: usize,
        key: &[u8],
        unique_bytes: usize,
        row: &[u8],
    ) -> EngineResult<()> {
        let index = table.index(number)?;
        self.engine.note_cut_keys(table, index)?;
        let change = index.entry(key);
        let put = &mut |_: Option<Entry<'_>>| Ok(Action::Put(StoredRow::whole(row)));
        if unique_bytes == 0 {
            return self.change_entry(change, put);
        }
        loop {
            let guard = self.engine.unique_guard(index.id(), &key[..unique_bytes]);
            match self.look_up_unique(table, index, &key[..unique_bytes])? {
                Unique::Free => return self.change_entry(change, put),
                Unique::Taken(existing) => return Err(duplicate(number, existing)),
                Unique::Wait => {
                    drop(guard);
                    self.wait_for_lock()?;
                }
            }
        }
    }

    /// Looks whether a live entry begins with that key. Unfinished writers of such entries are waited for.
    fn look_up_unique(&self, table: &Table, index: &Index, own_key: &[u8]) -> EngineResult<Unique> {
        let pool = &self.engine.pool;
        let mut next = Vec::new();
        let mut at = own_key.to_vec();
        loop {
            {
                let mut mini = pool.mini_transaction();
                let edit = index.tree.edit(&mut mini, &at)?;
                if !edit.successor(&mut next)? || !next.starts_with(own_key) {
                    return Ok(Unique::Free);
                }
            }
            std::mem::swap(&mut at, &mut next);
            let clustered_key = index.clustered_key(&at)?;
            let state = index.tree.get(pool, &at, |value| {
                let entry = crate::read::parse_head(value)?;
                if Some(entry.writer) != self.id()
                    && let Some(writer) = self.engine.unfinished_writer(entry.writer)?
                {
                    // The writer has the row's clustered entry locked. This is not under that entry's latch: only a lock that is
                    // waited for behind the writer is safe from other writers, and none is asked for once it ended.
                    let id = table.clustered().id();
                    let mode = LockMode::SHARED_RECORD;
                    let conflict =
                        self.request_lock(id, clustered_key, mode, Some(&writer), WaitPolicy::Wait)?;
                    return Ok((conflict, entry.deleted));
                }
                self.note_seen(entry.writer);
                Ok::<_, EngineError>((Some(Conflict::None), entry.deleted))
            })?;
            match state.transpose()? {
                Some((Some(Conflict::Wait | Conflict::Skip), _)) => return Ok(Unique::Wait),
                Some((None, _)) => own_key.clone_into(&mut at),
                Some((Some(Conflict::None), false)) => return Ok(Unique::Taken(clustered_key.to_vec())),
                // A delete mark, or an entry that went away meanwhile.
                Some((Some(Conflict::None), true)) | None => {}
            }
        }
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
        let result = self.update_entries(table, key, row, kept);
        match &result {
            Ok(UpdateOutcome::Unchanged) => {}
            Ok(_) => {
                Counter::RowsUpdated.increment();
            }
            Err(_) => self.rollback_to(mark)?,
        }
        result
    }

    fn update_entries(
        &self,
        table: &Table,
        key: &[u8],
        row: &[u8],
        kept: &ColumnSet,
    ) -> EngineResult<UpdateOutcome> {
        let view = table.view(row)?;
        if !table.has_hidden_key() {
            let mut new_key = Vec::with_capacity(key.len());
            table.primary_key_of(&view, &mut new_key)?;
            if new_key != key {
                let whole = self.row_with_kept(table, key, &view, kept)?;
                self.delete_entries(table, key)?;
                self.insert_entries(table, &whole)?;
                return Ok(UpdateOutcome::Moved(new_key));
            }
        }
        let bytes_max = row_bytes_max(key);
        if row.len() > bytes_max || view.has_outside() {
            return self.update_long(table, key, &view, kept);
        }
        let merged = RefCell::new(Vec::new());
        let write = |new: &mut Vec<u8>| new.extend_from_slice(&merged.borrow());
        let mut old = Vec::new();
        let (mut changed, mut is_short) = (false, true);
        self.change_entry(table.clustered_entry(key), &mut |current| {
            let entry = live(current)?;
            is_short = entry.form().is_whole();
            if !is_short {
                return Ok(Action::Leave);
            }
            old.clear();
            old.extend_from_slice(entry.row);
            if kept.is_none() {
                changed = entry.row != row;
                return Ok(if changed { Action::Put(StoredRow::whole(row)) } else { Action::Leave });
            }
            let merged = &mut *merged.borrow_mut();
            merged.clear();
            merge(table, &table.view(entry.row)?, &view, kept, merged)?;
            changed = entry.row != merged;
            is_short = merged.len() <= bytes_max;
            Ok(if changed && is_short { Action::Write(&write) } else { Action::Leave })
        })?;
        if !is_short {
            return self.update_long(table, key, &view, kept);
        }
        if !changed {
            return Ok(UpdateOutcome::Unchanged);
        }
        let merged = merged.into_inner();
        let new = if kept.is_none() { view } else { table.view(&merged)? };
        self.update_all_secondary(table, &table.view(&old)?, &new, key)?;
        Ok(UpdateOutcome::Changed)
    }

    pub(crate) fn update_all_secondary(
        &self,
        table: &Table,
        old: &RowView<'_>,
        new: &RowView<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        for (number, index) in table.indexes.iter().enumerate().skip(1) {
            self.update_secondary(table, number, index, old, new, clustered_key)?;
        }
        Ok(())
    }

    fn update_secondary(
        &self,
        table: &Table,
        number: usize,
        index: &Index,
        old: &RowView<'_>,
        new: &RowView<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        let touched = index
            .key_columns
            .iter()
            .chain(&index.row_columns)
            .any(|column| old.raw(*column) != new.raw(*column));
        if !touched {
            return Ok(());
        }
        let (mut old_key, mut new_key) = (Vec::new(), Vec::new());
        index.own_key(old, &mut old_key)?;
        index.own_key(new, &mut new_key)?;
        if old_key != new_key {
            append_clustered_key(&mut old_key, 0, clustered_key)?;
            self.mark_secondary(index, &old_key)?;
            return self.insert_secondary(table, number, index, new, clustered_key);
        }
        // The key is the same, but what the entry keeps beside it (letter case under a ci collation) is not.
        append_clustered_key(&mut new_key, 0, clustered_key)?;
        let mut stored = Vec::new();
        index.entry_row(new, new_key.len(), &mut stored)?;
        self.change_entry(index.entry(&new_key), &mut |_| Ok(Action::Put(StoredRow::whole(&stored))))
    }

    fn mark_secondary(&self, index: &Index, key: &[u8]) -> EngineResult<()> {
        self.change_entry(index.entry(key), &mut |current| match current {
            Some(entry) if !entry.deleted => Ok(Action::Mark),
            // The index lacks an entry that the row must have.
            _ => Err(EngineError::Corrupt(format!("index {} lacks an entry of a row", index.id()))),
        })
    }

    /// Deletes the row with that clustered key. Takes its X lock if the transaction has not got it.
    /// Errors: RowNotFound, lock errors, NoSpace.
    pub fn delete(&self, table: &Arc<Table>, key: &[u8]) -> EngineResult<()> {
        self.check_may_write(table)?;
        let _reserve = buffer::use_reserve();
        self.writer()?.set_frees_room(true);
        let mark = self.mark();
        let result = self.delete_entries(table, key);
        match &result {
            Ok(()) => {
                Counter::RowsDeleted.increment();
            }
            Err(_) => self.rollback_to(mark)?,
        }
        result
    }

    fn delete_entries(&self, table: &Table, key: &[u8]) -> EngineResult<()> {
        let mut old = Vec::new();
        let mut is_whole = true;
        self.change_entry(table.clustered_entry(key), &mut |current| {
            let entry = live(current)?;
            is_whole = entry.form().is_whole();
            old.clear();
            old.extend_from_slice(entry.row);
            Ok(if is_whole { Action::Mark } else { Action::Leave })
        })?;
        if !is_whole {
            old = self.mark_long(table, key)?;
        }
        let view = table.view(&old)?;
        for index in table.indexes.iter().skip(1) {
            let mut entry_key = Vec::new();
            index.own_key(&view, &mut entry_key)?;
            append_clustered_key(&mut entry_key, 0, key)?;
            self.mark_secondary(index, &entry_key)?;
        }
        Ok(())
    }
}

pub(crate) fn live(current: Option<Entry<'_>>) -> EngineResult<Entry<'_>> {
    current.filter(|entry| !entry.deleted).ok_or(EngineError::RowNotFound)
}

pub(crate) fn duplicate(index: usize, existing_key: Vec<u8>) -> EngineError {
    EngineError::DuplicateKey(Box::new(DuplicateKey { index, existing_key, row_ordinal: 0 }))
}

/// Completes the key of a secondary entry, which begins at `start`.
pub(crate) fn append_clustered_key(
    key: &mut Vec<u8>,
    start: usize,
    clustered_key: &[u8],
) -> EngineResult<()> {
    key.extend_from_slice(clustered_key);
    let bytes = key.len() - start;
    if bytes > page::KEY_BYTES_MAX {
        return Err(EngineError::TooBig { bytes, bytes_max: page::KEY_BYTES_MAX });
    }
    Ok(())
}
