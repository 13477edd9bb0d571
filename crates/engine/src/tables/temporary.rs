//! Temporary tables: each is one session's, in a space that the session's tables share. Main types: [`TemporarySpace`],
//! [`TemporaryTables`]. See "Temporary tables" in README.md.

use super::{OpenIndex, Table, Tables};
use crate::engine::Engine;
use crate::inner::EngineInner;
use dictionary::TableDefinition;
use dictionary_store::{TableRecord, tree_count};
use engine_error::{EngineError, EngineResult};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use stdx::ids::{IndexId, Lsn, SpaceId, TableId, TransactionId};
use stdx::sync::lock;
use undo::Writer;

/// The temporary tables of all sessions, as undo finds them.
#[derive(Default)]
pub(crate) struct TemporaryTables {
    /// By the ids of all their trees.
    indexes: Mutex<HashMap<IndexId, Arc<Table>>>,
    /// Ids handed out, of tables and of trees.
    ids: AtomicU64,
    /// Numbers of spaces that were given back.
    unused_spaces: Mutex<Vec<SpaceId>>,
}

impl TemporaryTables {
    /// As [`Tables::open_index`].
    pub(super) fn open_index(&self, index: IndexId) -> Option<OpenIndex> {
        let table = lock(&self.indexes).get(&index).cloned()?;
        let tree = table.trees().find(|tree| tree.id().index == index).cloned()?;
        let is_clustered = table.clustered().id() == index;
        Some(OpenIndex { tree, table: is_clustered.then_some(table) })
    }

    fn take_ids(&self, count: u64) -> u64 {
        IndexId::FIRST_TEMPORARY.0 + self.ids.fetch_add(count, Ordering::Relaxed)
    }

    fn add(&self, table: &Arc<Table>) {
        let mut indexes = lock(&self.indexes);
        indexes.extend(table.trees().map(|tree| (tree.id().index, table.clone())));
    }

    fn remove(&self, table: &Table) {
        let mut indexes = lock(&self.indexes);
        table.trees().for_each(|tree| drop(indexes.remove(&tree.id().index)));
    }

    /// Closes the tables of a session, whose rows could not be brought back to what they were.
    pub(crate) fn close_all(&self, writer: &Arc<Writer>) {
        let indexes = lock(&self.indexes);
        let is_its = |table: &&Arc<Table>| table.temporary.as_ref().is_some_and(|own| Arc::ptr_eq(own, writer));
        indexes.values().filter(is_its).for_each(|table| table.set_gone());
    }
}

/// Where a session's temporary tables are. They go with it.
pub struct TemporarySpace {
    engine: Arc<EngineInner>,
    space: SpaceId,
    writer: Arc<Writer>,
}

impl std::fmt::Debug for TemporarySpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemporarySpace").field("space", &self.space).finish_non_exhaustive()
    }
}

impl Engine {
    /// Makes room for the temporary tables of a session. Errors: NoSpace, Io, OutOfResources.
    pub fn temporary_space(&self, session_id: u64) -> EngineResult<TemporarySpace> {
        let engine = self.inner.clone();
        let space = engine.tables.take_temporary_number()?;
        if let Err(error) = engine.pool.create_temporary_space(space) {
            lock(&engine.tables.temporary.unused_spaces).push(space);
            return Err(error.into());
        }
        let owner = engine.system.locks.owner(session_id);
        let writer = Arc::new(Writer::new(TransactionId::default(), owner, Lsn(u64::MAX)));
        Ok(TemporarySpace { engine, space, writer })
    }
}

impl TemporarySpace {
    /// Makes an empty table; its name is the caller's business. Errors: NoSpace, Io.
    pub fn create_table(&self, mut definition: TableDefinition) -> EngineResult<Arc<Table>> {
        let EngineInner { tables, .. } = &*self.engine;
        let hidden = u64::from(definition.primary_key().is_none());
        let tree_count = tree_count(&definition) as u64;
        let first = tables.temporary.take_ids(1 + tree_count) + 1;
        definition.id = TableId(first - 1);
        for (at, index) in (hidden..).zip(&mut definition.indexes) {
            index.id = IndexId(first + at);
        }
        let mut roots = Vec::new();
        for id in first..first + tree_count {
            roots.push(tables.create_tree(self.space, IndexId(id))?);
        }
        let mut table = Table::open(TableRecord { definition, space: self.space, store_id: 0, roots });
        table.temporary = Some(self.writer.clone());
        // Nothing outlives the process that would have to be above all values.
        table.auto_increment.limit.store(u64::MAX, Ordering::Release);
        let table = Arc::new(table);
        tables.temporary.add(&table);
        Ok(table)
    }

    /// Pages of the space's file.
    pub fn pages(&self) -> EngineResult<u32> {
        Ok(self.engine.pool.space_pages(self.space)?)
    }

    /// Removes a table of this space with its rows, also those of an unfinished transaction. Errors: Corrupt, Io; the table is gone all
    /// the same, and its pages go with the space.
    pub fn drop_table(&self, table: &Table) -> EngineResult<()> {
        let EngineInner { tables, pool, .. } = &*self.engine;
        table.set_gone();
        tables.temporary.remove(table);
        for tree in table.trees() {
            tree.clear(pool)?;
            let mut mini = pool.mini_transaction();
            tree.free_root(&mut mini)?;
            mini.commit();
        }
        Ok(())
    }
}

impl Drop for TemporarySpace {
    fn drop(&mut self) {
        let TemporaryTables { indexes, unused_spaces, .. } = &self.engine.tables.temporary;
        lock(indexes).retain(|_, table| {
            let is_other = table.space != self.space;
            if !is_other {
                table.set_gone();
            }
            is_other
        });
        // A number whose space could not be removed is not used again.
        if self.engine.pool.remove_temporary_space(self.space).is_ok() {
            lock(unused_spaces).push(self.space);
        }
    }
}

impl Tables {
    /// A number for a temporary space: one that was given back, or a new one. Numbers of a process are never those of another's tables.
    fn take_temporary_number(&self) -> EngineResult<SpaceId> {
        if let Some(space) = lock(&self.temporary.unused_spaces).pop() {
            return Ok(space);
        }
        let number = self.store.take_ids(&self.pool, "space", 1)?;
        let number = u32::try_from(number);
        Ok(SpaceId(number.map_err(|_| EngineError::OutOfResources("tablespace numbers are used up"))?))
    }
}
