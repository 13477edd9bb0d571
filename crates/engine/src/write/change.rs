//! Updating and deleting rows with all their index entries. See rules W1 to W6 in README.md.

use super::entry::{Action, EntryChange};
use super::insert::RowWriter;
use super::long_rows::merge;
use super::rows::UpdateOutcome;
use engine_error::{EngineError, EngineResult};
use entry::{Entry, StoredRow, append_clustered_key, row_bytes_max};
use std::cell::RefCell;
use std::collections::BTreeSet;
use tables::{Element, Index};
use values::row::{ColumnSet, RowView};

impl RowWriter<'_> {
    /// Replaces a row; the columns `kept` stay as they are.
    pub(super) fn update_entries(
        &self,
        key: &[u8],
        row: &[u8],
        kept: &ColumnSet,
    ) -> EngineResult<UpdateOutcome> {
        let view = self.table.view(row)?;
        if !self.table.has_hidden_key() {
            let mut new_key = Vec::with_capacity(key.len());
            self.table.primary_key_of(&view, &mut new_key)?;
            if new_key != key {
                let whole = self.row_with_kept(key, &view, kept)?;
                self.delete_entries(key)?;
                self.insert_entries(&whole)?;
                return Ok(UpdateOutcome::Moved(new_key));
            }
        }
        let bytes_max = row_bytes_max(key);
        if row.len() > bytes_max || view.has_outside() {
            return self.update_long(key, &view, kept);
        }
        let merged = RefCell::new(Vec::new());
        let write = |new: &mut Vec<u8>| new.extend_from_slice(&merged.borrow());
        let mut old = Vec::new();
        let (mut changed, mut is_short) = (false, true);
        self.transaction.change_entry(EntryChange::clustered(self.table, key), &mut |current| {
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
            merge(self.table, &self.table.view(entry.row)?, &view, kept, merged)?;
            changed = entry.row != merged;
            is_short = merged.len() <= bytes_max;
            Ok(if changed && is_short { Action::Write(&write) } else { Action::Leave })
        })?;
        if !is_short {
            return self.update_long(key, &view, kept);
        }
        if !changed {
            return Ok(UpdateOutcome::Unchanged);
        }
        let merged = merged.into_inner();
        let new = if kept.is_none() { view } else { self.table.view(&merged)? };
        self.update_all_secondary(&self.table.view(&old)?, &new, key)?;
        Ok(UpdateOutcome::Changed)
    }

    pub(crate) fn update_all_secondary(
        &self,
        old: &RowView<'_>,
        new: &RowView<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        for (number, index) in self.table.indexes.iter().enumerate().skip(1) {
            self.update_secondary(number, index, old, new, clustered_key)?;
        }
        Ok(())
    }

    fn update_secondary(
        &self,
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
        if index.is_multi_valued() {
            return self.update_elements((number, index), old, new, clustered_key);
        }
        let (mut old_key, mut new_key) = (Vec::new(), Vec::new());
        index.own_key(old, Element::Only, &mut old_key)?;
        index.own_key(new, Element::Only, &mut new_key)?;
        if old_key != new_key {
            append_clustered_key(&mut old_key, 0, clustered_key)?;
            self.mark_secondary(index, &old_key)?;
            return self.insert_secondary(number, index, new, clustered_key);
        }
        append_clustered_key(&mut new_key, 0, clustered_key)?;
        self.replace_stored(index, new, &new_key)
    }

    /// For an entry whose key stays the same, but not what it keeps beside it (letter case under a ci collation).
    fn replace_stored(&self, index: &Index, new: &RowView<'_>, key: &[u8]) -> EngineResult<()> {
        let mut stored = Vec::new();
        index.entry_row(new, key.len(), &mut stored)?;
        self.transaction.change_entry(EntryChange::secondary(self.table, index, key), &mut |_| {
            Ok(Action::Put(StoredRow::whole(&stored)))
        })
    }

    /// Takes away the entries that the row has no more, then puts in those that it did not have.
    fn update_elements(
        &self,
        (number, index): (usize, &Index),
        old: &RowView<'_>,
        new: &RowView<'_>,
        clustered_key: &[u8],
    ) -> EngineResult<()> {
        let keys_of = |row: &RowView<'_>| -> EngineResult<BTreeSet<Vec<u8>>> {
            let key_of = |element| {
                let mut key = Vec::new();
                index.own_key(row, element, &mut key)?;
                append_clustered_key(&mut key, 0, clustered_key)?;
                Ok(key)
            };
            index.elements(row)?.map(key_of).collect()
        };
        let (old_keys, new_keys) = (keys_of(old)?, keys_of(new)?);
        for key in old_keys.difference(&new_keys) {
            self.transaction.check_kill()?;
            self.mark_secondary(index, key)?;
        }
        let is_same = |column: &usize| old.raw(*column) == new.raw(*column);
        let (keeps_stored, mut stored) = (index.row_columns.iter().all(is_same), Vec::new());
        for key in &new_keys {
            self.transaction.check_kill()?;
            if !old_keys.contains(key) {
                let own_bytes = key.len() - clustered_key.len();
                self.put_entry((number, index), new, (key, own_bytes), &mut stored)?;
            } else if !keeps_stored {
                self.replace_stored(index, new, key)?;
            }
        }
        Ok(())
    }

    fn mark_secondary(&self, index: &Index, key: &[u8]) -> EngineResult<()> {
        self.transaction.change_entry(EntryChange::secondary(self.table, index, key), &mut |current| {
            match current {
                Some(entry) if !entry.deleted => Ok(Action::Mark),
                // The index lacks an entry that the row must have.
                _ => Err(EngineError::Corrupt(format!("index {} lacks an entry of a row", index.id()))),
            }
        })
    }

    /// Marks a row and its entries as deleted.
    pub(super) fn delete_entries(&self, key: &[u8]) -> EngineResult<()> {
        let mut old = Vec::new();
        let mut is_whole = true;
        self.transaction.change_entry(EntryChange::clustered(self.table, key), &mut |current| {
            let entry = live(current)?;
            is_whole = entry.form().is_whole();
            old.clear();
            old.extend_from_slice(entry.row);
            Ok(if is_whole { Action::Mark } else { Action::Leave })
        })?;
        if !is_whole {
            old = self.mark_long(key)?;
        }
        let view = self.table.view(&old)?;
        for index in self.table.indexes.iter().skip(1) {
            let mut entry_key = Vec::new();
            for element in index.elements(&view)? {
                if index.is_multi_valued() {
                    self.transaction.check_kill()?;
                }
                entry_key.clear();
                index.own_key(&view, element, &mut entry_key)?;
                append_clustered_key(&mut entry_key, 0, key)?;
                self.mark_secondary(index, &entry_key)?;
            }
        }
        Ok(())
    }
}

/// The entry, if it is a row. Error: RowNotFound.
pub(crate) fn live(current: Option<Entry<'_>>) -> EngineResult<Entry<'_>> {
    current.filter(|entry| !entry.deleted).ok_or(EngineError::RowNotFound)
}
