//! The temporary tables of a session, by name: made, emptied, rebuilt, removed. Main type: [`TemporaryTables`]. See "Temporary tables"
//! in README.md.

use crate::ddl::ConvertRow;
use crate::inner::EngineInner;
use crate::read::{ReadMode, RowBatch, ScanOptions};
use crate::transaction::Transaction;
use buffer::StorageError;
use dictionary::{TableDefinition, TableName};
use engine_error::{DuplicateKey, EngineError, EngineResult};
use engine_types::TransactionOptions;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use stdx::ids::{Lsn, SpaceId, TransactionId};
use stdx::sync::lock;
use tables::{AutoIncrement, Table, no_such_table};
use txn::KillFlag;
use undo::Writer;

/// Rows of a batch of the copying scan.
const COPY_ROWS: usize = 1024;

/// The temporary tables of a session, by name. They go with it. Used by one thread at a time.
pub struct TemporaryTables {
    engine: Arc<EngineInner>,
    session_id: u64,
    /// How many there are: most sessions have none, and every name is looked for here first.
    count: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tables: BTreeMap<TableName, Arc<Table>>,
    /// What their definitions take.
    definition_bytes: u64,
    /// Made with the first table.
    space: Option<Space>,
}

impl State {
    fn remove(&mut self, name: &TableName) -> Option<Arc<Table>> {
        let removed = self.tables.remove(name)?;
        self.definition_bytes -= removed.definition.memory_bytes();
        Some(removed)
    }
}

/// Where a session's temporary tables are.
#[derive(Clone)]
struct Space {
    number: SpaceId,
    writer: Arc<Writer>,
}

impl std::fmt::Debug for TemporaryTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemporaryTables").field("count", &self.count).finish_non_exhaustive()
    }
}

impl TemporaryTables {
    /// Those of a session: none yet.
    pub(crate) fn new(engine: Arc<EngineInner>, session_id: u64) -> TemporaryTables {
        TemporaryTables { engine, session_id, count: AtomicUsize::new(0), state: Mutex::default() }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// The table of that name.
    #[inline]
    pub fn table(&self, schema: &str, table: &str) -> Option<Arc<Table>> {
        if self.is_empty() { None } else { self.find(schema, table) }
    }

    #[cold]
    fn find(&self, schema: &str, table: &str) -> Option<Arc<Table>> {
        let name = TableName { schema: schema.to_owned(), table: table.to_owned() };
        lock(&self.state).tables.get(&name).cloned()
    }

    /// Whether there is a table of that name.
    #[inline]
    pub fn has(&self, name: &TableName) -> bool {
        !self.is_empty() && lock(&self.state).tables.contains_key(name)
    }

    /// Makes an empty table, which is found by the name in its definition. Errors: TableExists, NoSpace, Io, OutOfResources.
    pub fn create(&self, definition: TableDefinition) -> EngineResult<Arc<Table>> {
        let found_as = definition.name.clone();
        self.create_found_as(found_as, definition)
    }

    /// Makes an empty table that is found in its schema by another name, until [`TemporaryTables::show`] is called. Errors: as of
    /// `create`.
    pub fn create_as(&self, found_as: &str, definition: TableDefinition) -> EngineResult<Arc<Table>> {
        let name = TableName { schema: definition.name.schema.clone(), table: found_as.to_owned() };
        self.create_found_as(name, definition)
    }

    fn create_found_as(&self, name: TableName, definition: TableDefinition) -> EngineResult<Arc<Table>> {
        if self.has(&name) {
            return Err(EngineError::TableExists(name.table));
        }
        let table = self.build(definition)?;
        self.publish(&[], name, &table);
        Ok(table)
    }

    /// Lets a table be found by its own name.
    pub fn show(&self, schema: &str, found_as: &str) {
        let mut state = lock(&self.state);
        let name = TableName { schema: schema.to_owned(), table: found_as.to_owned() };
        if let Some(table) = state.tables.remove(&name) {
            state.tables.insert(table.definition.name.clone(), table);
        }
    }

    /// Removes a table with its rows, also those of an unfinished transaction. False if there is none of that name.
    pub fn drop_table(&self, name: &TableName) -> bool {
        let removed = lock(&self.state).remove(name);
        if let Some(table) = &removed {
            self.count.fetch_sub(1, Ordering::Relaxed);
            self.discard(table);
        }
        removed.is_some()
    }

    /// Removes all tables, and what they took.
    pub fn drop_all(&self) {
        let State { space, tables, .. } = std::mem::take(&mut *lock(&self.state));
        self.count.store(0, Ordering::Relaxed);
        let Some(space) = space else { return };
        let temporary = &self.engine.tables.temporary;
        for table in tables.values() {
            table.set_gone();
            temporary.remove(table);
        }
        // A number whose space could not be removed is not used again.
        if self.engine.pool.remove_temporary_space(space.number).is_ok() {
            temporary.give_back_number(space.number);
        }
    }

    /// Empties a table; its counter starts anew. Errors: NoSuchTable, NoSpace, Io.
    pub fn truncate(&self, name: &TableName) -> EngineResult<()> {
        let old = self.table(&name.schema, &name.table).ok_or_else(|| no_such_table(name))?;
        let mut definition = old.definition.clone();
        definition.options.auto_increment = None;
        let new = self.build(definition)?;
        self.publish(&[&old], name.clone(), &new);
        Ok(())
    }

    /// As [`crate::Engine::rebuild_table`] for a table that is one of these; the new one may have another name. Outside of transactions.
    /// Errors: what `convert` returns; DuplicateKey; TableExists; NoSpace; Killed. On error the old table is untouched.
    pub fn rebuild<E: From<EngineError>>(
        &self,
        old: &Arc<Table>,
        definition: TableDefinition,
        kill: &KillFlag,
        counter: &AutoIncrement,
        convert: &mut ConvertRow<'_, E>,
    ) -> Result<(Arc<Table>, u64), E> {
        let new_name = &definition.name;
        if *new_name != old.definition.name && self.has(new_name) {
            return Err(EngineError::TableExists(new_name.table.clone()).into());
        }
        let new = self.build(definition)?;
        match self.copy_rows(old, &new, kill, convert) {
            Ok(rows) => {
                new.auto_increment.raise_to(counter.peek());
                self.publish(&[old], new.definition.name.clone(), &new);
                Ok((new, rows))
            }
            Err(error) => {
                self.discard(&new);
                Err(error)
            }
        }
    }

    fn copy_rows<E: From<EngineError>>(
        &self,
        old: &Arc<Table>,
        new: &Arc<Table>,
        kill: &KillFlag,
        convert: &mut ConvertRow<'_, E>,
    ) -> Result<u64, E> {
        let options = TransactionOptions { kill: kill.clone(), ..TransactionOptions::default() };
        let transaction = Transaction::new(self.engine.clone(), options);
        let mut scan = transaction.scan(old, ScanOptions::default())?;
        let (mut batch, mut rows) = (RowBatch::new(), 0);
        while scan.next_batch(&transaction, &mut batch, COPY_ROWS)? {
            let mut converted = vec![Vec::new(); batch.len()];
            for (at, row) in converted.iter_mut().enumerate() {
                convert(batch.row(at), row)?;
            }
            let converted: Vec<&[u8]> = converted.iter().map(Vec::as_slice).collect();
            let inserted = transaction.insert_many(new, &converted);
            inserted.map_err(|error| with_copied_row(error, &transaction, new))?;
            rows += batch.len() as u64;
        }
        transaction.commit()?;
        Ok(rows)
    }

    /// Makes an empty table that has no name yet.
    fn build(&self, definition: TableDefinition) -> EngineResult<Arc<Table>> {
        let space = self.space()?;
        self.engine.tables.build_temporary(definition, space.number, &space.writer)
    }

    /// The space, made if there is none. Errors: NoSpace, Io, OutOfResources, ReadOnlyEngine, ReadOnlyMode.
    fn space(&self) -> EngineResult<Space> {
        let mut state = lock(&self.state);
        if let Some(space) = &state.space {
            return Ok(space.clone());
        }
        let EngineInner { shared, tables, pool, system, .. } = &*self.engine;
        shared.check_may_define()?;
        let number = tables.take_temporary_number()?;
        pool.create_temporary_space(number).inspect_err(|error| {
            if !matches!(error, StorageError::SpaceExists(_)) {
                tables.temporary.give_back_number(number);
            }
        })?;
        let owner = system.locks.owner(self.session_id);
        let writer = Arc::new(Writer::new(TransactionId::default(), owner, Lsn(u64::MAX)));
        Ok(state.space.insert(Space { number, writer }).clone())
    }

    /// Lets a table be found, in the place of others.
    fn publish(&self, replaced: &[&Arc<Table>], name: TableName, table: &Arc<Table>) {
        let mut state = lock(&self.state);
        for old in replaced {
            state.remove(&old.definition.name);
        }
        state.definition_bytes += table.definition.memory_bytes();
        state.tables.insert(name, table.clone());
        self.count.store(state.tables.len(), Ordering::Relaxed);
        drop(state);
        replaced.iter().for_each(|old| self.discard(old));
    }

    /// Removes a table. Pages that cannot be given back go with the space.
    fn discard(&self, table: &Table) {
        table.set_gone();
        let EngineInner { tables, pool, .. } = &*self.engine;
        tables.temporary.remove(table);
        for tree in table.trees() {
            let freed = tree.clear(pool).and_then(|_| {
                let mut mini = pool.mini_transaction();
                tree.free_root(&mut mini)?;
                mini.commit();
                Ok(())
            });
            if freed.is_err() {
                return;
            }
        }
    }

    /// What the definitions of all these tables take in memory.
    pub fn definition_bytes(&self) -> u64 {
        lock(&self.state).definition_bytes
    }

    /// Pages of the space's file; 0 without one.
    pub fn pages(&self) -> u32 {
        let state = lock(&self.state);
        state.space.as_ref().map_or(0, |space| self.engine.pool.space_pages(space.number).unwrap_or(0))
    }
}

impl Drop for TemporaryTables {
    fn drop(&mut self) {
        self.drop_all();
    }
}

/// Adds to a duplicate the row that is there: its table will be gone.
fn with_copied_row(mut error: EngineError, transaction: &Transaction, table: &Arc<Table>) -> EngineError {
    if let EngineError::DuplicateKey(duplicate) = &mut error {
        let DuplicateKey { existing_key, copied_row, .. } = &mut **duplicate;
        // Without it the message names the key only.
        let _ = transaction.get(table, 0, existing_key, ReadMode::Consistent, &mut |row| {
            *copied_row = Some(row.to_vec());
        });
    }
    error
}
