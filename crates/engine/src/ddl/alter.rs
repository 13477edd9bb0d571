//! ALTER TABLE that touches storage: adding and dropping indexes, rebuilding by copy. See `mod.rs` for the order of steps.

use super::bulk::SortedLoad;
use crate::engine::Engine;
use crate::read::{RowBatch, ScanOptions};
use dictionary::{IndexDefinition, IndexKind, TableDefinition, TableName};
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

impl Engine {
    /// ADD INDEX by scan, sort and bulk load. Returns the new table. On error nothing has changed.
    /// Errors: DuplicateKey (its `existing_key` is the clustered key of a row whose key another row has too), TooBig, NoSpace,
    /// Killed.
    pub fn add_indexes(
        &self,
        name: &TableName,
        indexes: Vec<IndexDefinition>,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        self.inner.rollback.finish_losers_of(&[self.inner.tables.need_table(name)?], kill)?;
        let turn = self.ddl_turn(kill)?;
        self.inner.shared.check_may_copy()?;
        if indexes.iter().any(|index| index.kind == IndexKind::Primary) {
            return Err(EngineError::Unsupported("adding a primary key without a copy"));
        }
        let old = self.inner.tables.need_table(name)?;
        old.look_at_file()?;
        let first = self.inner.tables.store.take_ids(&self.inner.pool, "index", indexes.len() as u64)?;
        self.inner.tables.store.put_unfinished(&self.inner.pool, old.space)?;
        let mut definition = old.definition.clone();
        let mut roots = old.roots();
        let first_new = old.indexes.len();
        for (at, (id, mut index)) in (first_new..).zip((first..).zip(indexes)) {
            index.id = IndexId(id);
            roots.insert(at, self.inner.tables.create_tree(old.space, index.id)?);
            definition.indexes.push(index);
        }
        let record = TableRecord { definition, space: old.space, store_id: old.store_id, roots };
        let built = Table::open(record.clone());
        drop(turn);
        let filled = self.fill_indexes(&old, &built, first_new, kill);
        let turn = filled.and_then(|()| self.turn_for(&old, kill));
        if let Err(error) = &turn {
            for index in &built.indexes[first_new..] {
                self.inner.tables.free_tree(&built, index.id())?;
            }
            self.inner.tables.store.remove_unfinished(&self.inner.pool, built.space)?;
            return Err(error.clone());
        }
        let table = self.one_table(self.replace_records(&[old], vec![record])?)?;
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

    /// DROP INDEX of secondary indexes by name. Returns the new table. Errors: NoSuchIndex.
    pub fn drop_indexes(
        &self,
        name: &TableName,
        indexes: &[String],
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        self.inner.rollback.finish_losers_of(&[self.inner.tables.need_table(name)?], kill)?;
        let _turn = self.ddl_turn(kill)?;
        let old = self.inner.tables.need_table(name)?;
        let dropped =
            |index: &IndexDefinition| indexes.iter().any(|name| name.eq_ignore_ascii_case(&index.name));
        for name in indexes {
            let found = old.definition.indexes.iter().find(|index| index.name.eq_ignore_ascii_case(name));
            match found {
                None => return Err(EngineError::NoSuchIndex(name.clone())),
                Some(index) if index.kind == IndexKind::Primary => {
                    return Err(EngineError::Unsupported("dropping a primary key without a copy"));
                }
                Some(_) => {}
            }
        }
        old.look_at_file()?;
        let mut definition = old.definition.clone();
        let gone: Vec<IndexId> =
            definition.indexes.iter().filter(|index| dropped(index)).map(|index| index.id).collect();
        definition.indexes.retain(|index| !dropped(index));
        let roots = old.roots().into_iter().filter(|(id, _)| !gone.contains(id)).collect();
        let record = TableRecord { definition, space: old.space, store_id: old.store_id, roots };
        self.inner.tables.store.put_unfinished(&self.inner.pool, old.space)?;
        let table = self.one_table(self.replace_records(std::slice::from_ref(&old), vec![record])?)?;
        for id in gone {
            self.inner.tables.dictionary.remove_index(id);
            self.inner.tables.free_tree(&old, id)?;
        }
        self.inner.tables.store.remove_unfinished(&self.inner.pool, table.space)?;
        Ok(table)
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
