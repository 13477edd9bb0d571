//! The temporary tables of all sessions, which the dictionary does not know, and their storage. Main type: [`TemporaryIndexes`].
//! See "Temporary tables" in the engine's README.

use crate::storage::number_indexes;
use crate::{OpenIndex, Table, Tables};
use dictionary::TableDefinition;
use dictionary_store::{TableRecord, tree_count};
use engine_error::EngineResult;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use stdx::ids::{IndexId, SpaceId, TableId};
use stdx::sync::lock;
use undo::Writer;

/// The temporary tables of all sessions, as undo finds them.
#[derive(Default)]
pub struct TemporaryIndexes {
    /// By the ids of all their trees.
    indexes: Mutex<HashMap<IndexId, Arc<Table>>>,
    /// Ids handed out, of tables and of trees.
    ids: AtomicU64,
    /// Numbers of spaces that were given back.
    unused_spaces: Mutex<Vec<SpaceId>>,
}

impl TemporaryIndexes {
    /// As [`Tables::open_index`].
    pub(crate) fn open_index(&self, index: IndexId) -> Option<OpenIndex> {
        lock(&self.indexes).get(&index).cloned()?.open_index(index)
    }

    fn take_ids(&self, count: u64) -> u64 {
        IndexId::FIRST_TEMPORARY.0 + self.ids.fetch_add(count, Ordering::Relaxed)
    }

    fn add(&self, table: &Arc<Table>) {
        let mut indexes = lock(&self.indexes);
        indexes.extend(table.trees().map(|tree| (tree.id().index, table.clone())));
    }

    /// Forgets a table.
    pub fn remove(&self, table: &Table) {
        let mut indexes = lock(&self.indexes);
        table.trees().for_each(|tree| drop(indexes.remove(&tree.id().index)));
    }

    /// A number that no space has any more.
    pub fn give_back_number(&self, space: SpaceId) {
        lock(&self.unused_spaces).push(space);
    }

    /// Closes the tables of a session, whose rows could not be brought back to what they were.
    pub fn close_all(&self, writer: &Arc<Writer>) {
        let indexes = lock(&self.indexes);
        let is_its =
            |table: &&Arc<Table>| table.temporary.as_ref().is_some_and(|own| Arc::ptr_eq(own, writer));
        indexes.values().filter(is_its).for_each(|table| table.set_gone());
    }
}

impl Tables {
    /// Makes an empty temporary table in a space, for that writer.
    pub fn build_temporary(
        &self,
        mut definition: TableDefinition,
        space: SpaceId,
        writer: &Arc<Writer>,
    ) -> EngineResult<Arc<Table>> {
        let tree_count = tree_count(&definition) as u64;
        let first = self.temporary.take_ids(1 + tree_count) + 1;
        definition.id = TableId(first - 1);
        number_indexes(&mut definition, first);
        let mut roots = Vec::new();
        for id in first..first + tree_count {
            roots.push(self.create_tree(space, IndexId(id))?);
        }
        let mut table = Table::open(TableRecord { definition, space, store_id: 0, roots });
        table.temporary = Some(writer.clone());
        // Nothing outlives the process that would have to be above all values.
        table.auto_increment.limit.store(u64::MAX, Ordering::Release);
        let table = Arc::new(table);
        self.temporary.add(&table);
        Ok(table)
    }

    /// A number for a temporary space: one that was given back, or a new one. Numbers of a process are never those of another's tables.
    pub fn take_temporary_number(&self) -> EngineResult<SpaceId> {
        let unused = lock(&self.temporary.unused_spaces).pop();
        unused.map_or_else(|| self.take_space_number(), Ok)
    }
}
