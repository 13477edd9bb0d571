//! Undoing rows that a run has inserted (rule B2 in README.md): their secondary entries first, then the clustered one. May be
//! cut short anywhere and begun again: what is gone or belongs to another writer is passed over.

use super::{NO_WRITER, Rollback};
use btree::Tree;
use engine_error::{EngineError, EngineResult};
use entry::{Entry, EntryKind, bad_header, load_head};
use stdx::ids::TransactionId;
use tables::Table;
use txn::{KeyList, UndoRecord};
use undo::Writer;

impl Rollback {
    /// Undoes the insertion of the rows of a record and takes the record off the list.
    pub(crate) fn undo_rows(&self, writer: &Writer, record: UndoRecord<'_>) -> EngineResult<()> {
        // Without a table (it was dropped) nothing is left to restore.
        if let Some(table) = self.tables.open_index(record.index)?.and_then(|index| index.table) {
            if self.pass_over_undo(writer, table.space)? {
                return Ok(());
            }
            let keys = KeyList::decode(record.key)
                .ok_or_else(|| EngineError::Corrupt("undo record of rows does not decode".to_owned()))?;
            let mut row = Vec::new();
            for key in keys.iter().rev() {
                // As for other records: without room it goes on all the same.
                self.undo.try_room_to_undo(writer);
                self.undo_row(writer.id, &table, key, &mut row)?;
            }
        }
        self.undo.pop_without_page(writer);
        Ok(())
    }

    fn undo_row(
        &self,
        writer: TransactionId,
        table: &Table,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> EngineResult<()> {
        row.clear();
        let clustered = &table.clustered().tree;
        if clustered.get(&self.pool, key, |value| row.extend_from_slice(value))?.is_none() {
            return Ok(());
        }
        let entry = Entry::parse(EntryKind::Clustered, row).ok_or_else(bad_header)?;
        if entry.writer != writer {
            return Ok(());
        }
        let view = table.view(entry.row)?;
        let mut entry_key = Vec::new();
        for index in table.indexes.iter().skip(1) {
            for element in index.elements(&view)? {
                entry_key.clear();
                match index.own_key(&view, element, &mut entry_key) {
                    Ok(()) => {}
                    // What cannot be made was not inserted.
                    Err(EngineError::TooBig { .. }) => continue,
                    Err(error) => return Err(error),
                }
                entry_key.extend_from_slice(key);
                if entry_key.len() <= page::KEY_BYTES_MAX {
                    self.remove_own_entry(writer, &index.tree, &entry_key)?;
                }
            }
        }
        self.remove_own_entry(writer, clustered, key)
    }

    /// Removes an entry if that writer has written it.
    fn remove_own_entry(&self, writer: TransactionId, tree: &Tree, key: &[u8]) -> EngineResult<()> {
        let mut value = Vec::new();
        let mut mini = self.pool.mini_transaction();
        let mut edit = tree.edit(&mut mini, key)?;
        if load_head(&edit, &mut value)?.transpose()?.is_none_or(|head| head.writer != writer) {
            return Ok(());
        }
        let underfull = edit.remove(NO_WRITER)?;
        mini.commit();
        if underfull {
            tree.merge_at(&self.pool, key)?;
        }
        Ok(())
    }
}
