//! ALTER TABLE that touches storage: adding and dropping indexes, rebuilding by copy. See `mod.rs` for the order of steps.

use super::bulk::SortedLoad;
use crate::engine::Engine;
use crate::read::{RowBatch, ScanOptions};
use dictionary::{IndexDefinition, TableDefinition, TableName, same_name};
use dictionary_store::{DdlTurn, TableRecord, need_short_new_name};
use engine_error::{EngineError, EngineResult};
use engine_types::TransactionOptions;
use std::sync::Arc;
use stdx::ids::IndexId;
use tables::{AutoIncrement, Table};
use txn::KillFlag;
use values::row::{ColumnSet, RowView};

/// Gets a row in the old layout and appends it in the new layout.
pub type ConvertRow<'a, E> = dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), E> + 'a;
/// Gets clustered key and row.
type VisitRow<'a, E> = dyn FnMut(&[u8], &[u8]) -> Result<(), E> + 'a;

/// Rows of a batch of the copying scan.
const COPY_ROWS: usize = 1024;

/// The number of an index of a definition that the table has not got yet.
const TO_BE_MADE: IndexId = IndexId(0);

impl Engine {
    /// ADD INDEX by scan, sort and bulk load. Returns the new table. Errors: as [`Engine::change_indexes`].
    pub fn add_indexes(
        &self,
        name: &TableName,
        indexes: Vec<IndexDefinition>,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        let mut definition = self.inner.tables.need_table(name)?.definition.clone();
        definition
            .indexes
            .extend(indexes.into_iter().map(|index| IndexDefinition { id: TO_BE_MADE, ..index }));
        self.change_indexes(name, definition, Vec::new(), kill)
    }

    /// DROP INDEX of secondary indexes by name. Returns the new table. Errors: NoSuchIndex.
    pub fn drop_indexes(
        &self,
        name: &TableName,
        indexes: &[String],
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        let mut definition = self.inner.tables.need_table(name)?.definition.clone();
        for dropped in indexes {
            let found = definition.indexes.iter().position(|index| same_name(&index.name, dropped));
            let at = found.ok_or_else(|| EngineError::NoSuchIndex(dropped.clone()))?;
            definition.indexes.remove(at);
        }
        self.change_indexes(name, definition, Vec::new(), kill)
    }

    /// Gives a table other secondary indexes, and whatever else its new definition says of what is no row, in one step. Indexes of that
    /// definition that have a number are the table's own, under other names maybe; the others are made by scan, sort and bulk load; those of the
    /// table that it has not got go. `followers` are definitions of other tables that change with it and keep their storage. Returns the new
    /// table. On error nothing has changed. Errors: DuplicateKey (its `existing_key` is the clustered key of a row whose key another row has too),
    /// TooBig, NoSpace, Killed.
    pub fn change_indexes(
        &self,
        name: &TableName,
        definition: TableDefinition,
        followers: Vec<TableDefinition>,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        self.inner.rollback.finish_losers_of(&[self.inner.tables.need_table(name)?], kill)?;
        let turn = self.ddl_turn(kill)?;
        let old = self.inner.tables.need_table(name)?;
        let made = definition.indexes.iter().filter(|index| index.id == TO_BE_MADE).count();
        if made > 0 {
            self.inner.shared.check_may_copy()?;
        }
        if !old.definition.has_columns_stored_as(&definition) || !keeps_primary_key(&old, &definition) {
            return Err(EngineError::Unsupported("ALTER that changes rows without a copy"));
        }
        // Before anything is built that an error would have to take back.
        self.inner.tables.need_free_constraints(&[old.id()], &[&definition])?;
        old.look_at_file()?;
        let first = match made {
            0 => 0,
            _ => self.inner.tables.store.take_ids(&self.inner.pool, "index", made as u64)?,
        };
        self.inner.tables.store.put_unfinished(&self.inner.pool, old.space)?;
        // All that are there, and the new ones behind them.
        let mut definition = TableDefinition { id: old.definition.id, ..definition };
        let (first_new, mut roots) = (old.indexes.len(), old.roots());
        let mut whole = old.definition.clone();
        let is_new = |index: &&mut IndexDefinition| index.id == TO_BE_MADE;
        for (at, (id, index)) in
            (first_new..).zip((first..).zip(definition.indexes.iter_mut().filter(is_new)))
        {
            index.id = IndexId(id);
            roots.insert(at, self.inner.tables.create_tree(old.space, index.id)?);
            whole.indexes.push(index.clone());
        }
        let (space, store_id) = (old.space, old.store_id);
        let built =
            Table::open(TableRecord { definition: whole.clone(), space, store_id, roots: roots.clone() });
        let turn = match made {
            0 => Ok(turn),
            _ => {
                drop(turn);
                let filled = self.fill_indexes(&old, &built, first_new, kill);
                filled.and_then(|()| self.turn_for(&old, kill))
            }
        };
        let pairs = turn.and_then(|turn| Ok((turn, self.with_tables(followers)?)));
        let (_turn, followers) = match pairs {
            Ok(pairs) => pairs,
            Err(error) => {
                for index in &built.indexes[first_new..] {
                    self.inner.tables.free_tree(&built, index.id())?;
                }
                self.inner.tables.store.remove_unfinished(&self.inner.pool, space)?;
                return Err(error);
            }
        };
        let place = |index: &IndexDefinition| whole.indexes.iter().position(|known| known.id == index.id);
        definition.indexes.sort_by_key(place);
        self.put_indexes(&old, TableRecord { definition, space, store_id, roots }, followers)
    }

    /// Puts a record with other indexes in the place of a table's, whose own that it has not got go.
    fn put_indexes(
        &self,
        old: &Arc<Table>,
        mut record: TableRecord,
        followers: Vec<(Arc<Table>, TableDefinition)>,
    ) -> EngineResult<Arc<Table>> {
        let stays = |id: IndexId| record.definition.indexes.iter().any(|index| index.id == id);
        let known = old.definition.indexes.iter().map(|index| index.id);
        let gone: Vec<IndexId> = known.filter(|id| !stays(*id)).collect();
        record.roots.retain(|(id, _)| !gone.contains(id));
        let (mut olds, mut records) = (Vec::new(), Vec::new());
        for (follower, definition) in followers {
            records.push(TableRecord { definition, ..follower.record() });
            olds.push(follower);
        }
        olds.push(Arc::clone(old));
        records.push(record);
        let table = self.one_table(self.replace_records(&olds, records)?)?;
        for id in gone {
            self.inner.tables.dictionary.remove_index(id);
            self.inner.tables.free_tree(old, id)?;
        }
        self.inner.tables.store.remove_unfinished(&self.inner.pool, table.space)?;
        Ok(table)
    }

    /// Fills the indexes from that number on with the rows of the table.
    fn fill_indexes(
        &self,
        source: &Arc<Table>,
        target: &Table,
        first: usize,
        kill: &KillFlag,
    ) -> EngineResult<()> {
        let mut loads = (first..target.indexes.len())
            .map(|number| SortedLoad::new(&self.inner, target, number, kill))
            .collect::<EngineResult<Vec<_>>>()?;
        let held = target.indexes[first..]
            .iter()
            .flat_map(|index| index.key_columns.iter().chain(&index.row_columns));
        let columns = ColumnSet::of(held.copied());
        self.for_each_row(source, columns, kill, &mut |key, row| -> EngineResult<()> {
            let view = target.view(row)?;
            loads.iter_mut().try_for_each(|load| load.push_secondary(&view, key))
        })?;
        loads.iter_mut().try_for_each(SortedLoad::finish)
    }

    /// ALTER by copy: builds a table of the new definition from the rows of the old one and puts it in its place. `convert` gets each row in the
    /// old layout and appends the row in the new layout to the buffer, and raises `counter` to what the table's AUTO_INCREMENT goes on
    /// with. `followers` are definitions of other tables that change with it and keep their storage. Returns the new table and the number
    /// of rows.
    /// Errors: what `convert` returns; DuplicateKey; NoSpace; Killed. On error the old table is untouched.
    pub fn rebuild_table<E: From<EngineError>>(
        &self,
        name: &TableName,
        definition: TableDefinition,
        followers: Vec<TableDefinition>,
        kill: &KillFlag,
        counter: &AutoIncrement,
        convert: &mut ConvertRow<'_, E>,
    ) -> Result<(Arc<Table>, u64), E> {
        self.inner.rollback.finish_losers_of(&[self.inner.tables.need_table(name)?], kill)?;
        let turn = self.ddl_turn(kill)?;
        self.inner.shared.check_may_copy()?;
        let old = self.inner.tables.need_table(name)?;
        let new_name = definition.name.clone();
        self.need_place(name, &new_name)?;
        let record = self.inner.tables.build_storage(definition)?;
        drop(turn);
        let built = Table::open(record.clone());
        let copied = self.copy_rows(&old, &built, kill, convert).and_then(|rows| {
            let turn = self.turn_for(&old, kill)?;
            self.need_place(name, &new_name)?;
            Ok((rows, turn))
        });
        let (rows, _turn) = match copied {
            Ok(copied) => copied,
            Err(error) => {
                self.inner.tables.abandon_storage(record.space)?;
                return Err(error);
            }
        };
        let table = self.swap_storage(&old, record, counter.peek(), followers)?;
        Ok((table, rows))
    }

    /// The turn to put something in the place of a table that was worked on without it. Errors: Killed;
    /// TableDefinitionChanged if the table is not that one any more, which metadata locks prevent.
    fn turn_for(&self, old: &Arc<Table>, kill: &KillFlag) -> EngineResult<DdlTurn> {
        let turn = self.ddl_turn(kill)?;
        match self.inner.tables.need_table(&old.definition.name) {
            Ok(now) if Arc::ptr_eq(&now, old) => Ok(turn),
            _ => Err(EngineError::TableDefinitionChanged),
        }
    }

    /// Checks that a table may get that name. Errors: NoSuchSchema, TableExists, RenameFailed.
    fn need_place(&self, old: &TableName, new: &TableName) -> EngineResult<()> {
        if new != old {
            self.inner.tables.need_free_name(new)?;
            need_short_new_name(old, new)?;
        }
        self.inner.tables.need_schema(&new.schema).map(|_| ())
    }

    fn copy_rows<E: From<EngineError>>(
        &self,
        old: &Arc<Table>,
        new: &Table,
        kill: &KillFlag,
        convert: &mut ConvertRow<'_, E>,
    ) -> Result<u64, E> {
        let mut loads = (0..new.indexes.len())
            .map(|number| SortedLoad::new(&self.inner, new, number, kill))
            .collect::<EngineResult<Vec<_>>>()?;
        let (mut rows, mut row, mut key) = (0u64, Vec::new(), Vec::new());
        self.for_each_row(old, ColumnSet::All, kill, &mut |_, old_row| -> Result<(), E> {
            row.clear();
            convert(old_row, &mut row)?;
            rows += 1;
            key.clear();
            let view = new.view(&row)?;
            if new.has_hidden_key() {
                key.extend_from_slice(&rows.to_be_bytes());
            } else {
                new.primary_key_of(&view, &mut key)?;
            }
            push_row(&mut loads, &view, &key, &row)?;
            Ok(())
        })?;
        for at in 0..loads.len() {
            loads[at].finish().map_err(|error| with_copied_row(error, &loads))?;
        }
        Ok(rows)
    }

    /// Calls `visit` with clustered key and row of every committed row; it looks at these columns only. The flag ends it between
    /// batches.
    fn for_each_row<E: From<EngineError>>(
        &self,
        table: &Arc<Table>,
        columns: ColumnSet,
        kill: &KillFlag,
        visit: &mut VisitRow<'_, E>,
    ) -> Result<(), E> {
        let sees_at_least = self.inner.system.last_commit();
        let options =
            TransactionOptions { sees_at_least, kill: kill.clone(), ..TransactionOptions::default() };
        let transaction = self.begin(options);
        let mut scan = transaction.scan(table, ScanOptions { columns, ..ScanOptions::default() })?;
        let mut batch = RowBatch::new();
        while scan.next_batch(&transaction, &mut batch, COPY_ROWS)? {
            for at in 0..batch.len() {
                visit(batch.key(at), batch.row(at))?;
            }
        }
        Ok(())
    }

    fn one_table(&self, mut tables: Vec<Arc<Table>>) -> EngineResult<Arc<Table>> {
        tables.pop().ok_or(EngineError::TableDefinitionChanged)
    }
}

/// Whether rows stay where they are.
fn keeps_primary_key(old: &Table, definition: &TableDefinition) -> bool {
    let of = |definition: &TableDefinition| definition.primary_key().map(|index| index.id);
    of(&old.definition) == of(definition)
}

/// Adds the entries of a row to all indexes.
fn push_row(loads: &mut [SortedLoad<'_>], view: &RowView<'_>, key: &[u8], row: &[u8]) -> EngineResult<()> {
    let Some((clustered, secondary)) = loads.split_first_mut() else { return Ok(()) };
    let pushed = clustered
        .push_clustered(key, row)
        .and_then(|()| secondary.iter_mut().try_for_each(|load| load.push_secondary(view, key)));
    pushed.map_err(|error| with_copied_row(error, loads))
}

/// Adds to a duplicate the row that is there: its table will be gone.
fn with_copied_row(mut error: EngineError, loads: &[SortedLoad<'_>]) -> EngineError {
    if let (EngineError::DuplicateKey(duplicate), Some(clustered)) = (&mut error, loads.first()) {
        duplicate.copied_row = clustered.row(&duplicate.existing_key).ok().flatten();
    }
    error
}
