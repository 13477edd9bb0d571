//! The storage of tables: files, trees, and the notes in the dictionary by which a start finds what a crash left of them (rules D1
//! and D2 in the engine's README).

use crate::{Table, Tables};
use btree::Tree;
use buffer::{StorageError, TABLES_DIRECTORY, space_path};
use dictionary::TableDefinition;
use dictionary_store::{Change, DictionaryStore, TableRecord, tree_count};
use engine_error::{EngineError, EngineResult};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use stdx::ids::{IndexId, PageNumber, SpaceId, TableId};

impl Tables {
    /// Makes file and empty trees for a table.
    pub fn build_storage(&self, mut definition: TableDefinition) -> EngineResult<TableRecord> {
        let tree_count = tree_count(&definition) as u64;
        definition.id = TableId(self.store.take_ids(&self.pool, "table", 1)?);
        let first = self.store.take_ids(&self.pool, "index", tree_count)?;
        number_indexes(&mut definition, first);
        let space = self.take_space_number()?;
        self.store.put_leftover(&self.pool, space)?;
        // The ids must be taken for good before a file carries them.
        self.pool.redo().flush_to(self.pool.redo().end_lsn())?;
        let made = self.pool.create_space(space, buffer::SpaceKind::Table, &space_path(space));
        let store_id = match made {
            Ok(store_id) => store_id,
            Err(StorageError::SpaceExists(_)) => {
                // It is somebody else's.
                self.store.remove_leftover(&self.pool, space)?;
                return Err(EngineError::FileExists(Box::new(definition.name)));
            }
            Err(error) => return Err(error.into()),
        };
        match (first..first + tree_count).map(|id| self.create_tree(space, IndexId(id))).collect() {
            Ok(roots) => Ok(TableRecord { definition, space, store_id, roots }),
            Err(error) => {
                self.abandon_storage(space)?;
                Err(error)
            }
        }
    }

    /// A number that no space has had.
    pub(crate) fn take_space_number(&self) -> EngineResult<SpaceId> {
        let number = u32::try_from(self.store.take_ids(&self.pool, "space", 1)?);
        number.map(SpaceId).map_err(|_| EngineError::OutOfResources("tablespace numbers are used up"))
    }

    /// Removes storage that became no table's. Its note stays where a power cut may bring the file back.
    pub fn abandon_storage(&self, space: SpaceId) -> EngineResult<()> {
        match self.pool.remove_space(space) {
            Err(error) if error.is_lack_of_descriptors() => Ok(()),
            removed => {
                removed?;
                self.store.remove_leftover(&self.pool, space)
            }
        }
    }

    /// Makes an empty tree in a space; its id and root.
    pub fn create_tree(&self, space: SpaceId, index: IndexId) -> EngineResult<(IndexId, PageNumber)> {
        let mut mini = self.pool.mini_transaction();
        let root = Tree::create(&mut mini, space, index)?;
        mini.commit();
        Ok((index, root))
    }

    /// The changes that drop these tables; their files are noted as ours to remove.
    pub fn removals(&self, tables: &[Arc<Table>]) -> EngineResult<Vec<Change>> {
        let removal = |table: &Arc<Table>| {
            self.store.put_leftover(&self.pool, table.space)?;
            Ok(Change::Remove(DictionaryStore::table_key(table.id())))
        };
        tables.iter().map(removal).collect()
    }

    /// Removes the storage of a table that the dictionary does not have any more.
    pub fn discard(&self, table: &Table) -> EngineResult<()> {
        // A file of another server that only has the number is left alone. What cannot be looked at now is the table's by its name.
        let _ = table.look_at_file();
        let has_file = self.pool.has_file(table.space);
        table.set_gone();
        for tree in table.trees() {
            self.dictionary.remove_index(tree.id().index);
        }
        self.store.forget_table(&self.pool, table.id())?;
        self.store.forget_damage(&self.pool, table.space)?;
        match has_file {
            true => self.abandon_storage(table.space),
            false => self.store.remove_leftover(&self.pool, table.space),
        }
    }

    /// Removes the file of a table whose dictionary change failed. Not after a failed log: the commit may still turn out to be
    /// in it, so the next start decides, which removes files that the dictionary does not know.
    pub fn forget_storage(&self, space: SpaceId, error: &EngineError) -> EngineResult<()> {
        if matches!(error, EngineError::Io(_) | EngineError::Stopped) {
            return Ok(());
        }
        self.abandon_storage(space)
    }

    /// Gives the pages of an index back to the tablespace. What a crash in between leaves is freed at the next start, because
    /// the space is noted as unfinished.
    pub fn free_tree(&self, table: &Table, id: IndexId) -> EngineResult<()> {
        let Some(index) = table.indexes.iter().find(|index| index.id() == id) else { return Ok(()) };
        index.tree.clear(&self.pool)?;
        let mut mini = self.pool.mini_transaction();
        index.tree.free_root(&mut mini)?;
        mini.commit();
        Ok(())
    }

    /// Takes back the notes of files that are gone now. A process that was killed may have removed one and not made that durable: then a
    /// power cut would bring back a file that nobody knows.
    pub fn forget_leftovers(&self, leftovers: &[SpaceId]) -> EngineResult<()> {
        if leftovers.is_empty() {
            return Ok(());
        }
        match self.pool.sync_names_in(Path::new(TABLES_DIRECTORY)) {
            // The next start does it.
            Err(error) if error.is_lack_of_descriptors() => return Ok(()),
            synced => synced?,
        }
        leftovers.iter().try_for_each(|space| self.store.remove_leftover(&self.pool, *space))
    }

    /// Frees the pages that an interrupted ADD or DROP INDEX has left in a space.
    pub fn finish_alter(&self, space: SpaceId) -> EngineResult<()> {
        let Some(table) = self.dictionary.table_in(space) else {
            return self.store.remove_unfinished(&self.pool, space);
        };
        table.look_at_file()?;
        if table.is_closed() {
            return Ok(());
        }
        let mut in_use = HashSet::new();
        for tree in table.trees() {
            match tree.check(&self.pool) {
                Ok(report) if report.faults.is_empty() => in_use.extend(report.pages),
                // A damaged index may hide pages that it uses: nothing is given away.
                Ok(_) | Err(StorageError::Corrupt { .. } | StorageError::PageOutOfRange(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        match btree::free_unreachable(&self.pool, space, &in_use) {
            Ok(_) => {}
            Err(StorageError::Corrupt { .. } | StorageError::PageOutOfRange(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        self.store.remove_unfinished(&self.pool, space)
    }
}

/// Gives the indexes their ids; the first is the hidden key's where there is one.
pub(crate) fn number_indexes(definition: &mut TableDefinition, first: u64) {
    let hidden = u64::from(definition.primary_key().is_none());
    for (at, index) in (hidden..).zip(&mut definition.indexes) {
        index.id = IndexId(first + at);
    }
}
