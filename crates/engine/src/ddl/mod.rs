//! DDL: every change is one dictionary transaction, atomic over a crash. When a call returns, the change is durable.
//! The caller holds metadata locks: no other session uses the tables meanwhile. Order of each statement (rules D1 and D6 in
//! README.md): make files, commit the dictionary, make it durable, publish, remove files. Whatever a crash leaves of files is brought
//! in line at the next start. `kill` ends the wait for other DDL, and what the method says besides.

mod alter;
mod bulk;
mod hidden_table;

pub use alter::ConvertRow;

use crate::engine::Engine;
use crate::write::change_dictionary;
use dictionary::{SchemaDefinition, TableDefinition, TableName, ViewDefinition};
use dictionary_store::{
    Change, DdlTurn, DictionaryStore, TableRecord, encoded, is_too_long, need_short_name, need_short_new_name,
};
use engine_error::{EngineError, EngineResult};
use engine_types::TransactionOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use stdx::ids::{Lsn, TableId};
use tables::{Table, no_such_table};
use txn::KillFlag;

impl Engine {
    /// CREATE DATABASE. Errors: SchemaExists.
    pub fn create_schema(&self, definition: SchemaDefinition, kill: &KillFlag) -> EngineResult<()> {
        let _ddl = self.ddl_turn(kill)?;
        if self.inner.tables.dictionary.schema(&definition.name).is_some() {
            return Err(EngineError::SchemaExists(definition.name));
        }
        let directory = encoded(&definition.name);
        if is_too_long(Path::new(&directory)) {
            return Err(EngineError::SchemaNameTooLong(format!("./{directory}")));
        }
        self.put_schema(definition)
    }

    /// ALTER DATABASE. Errors: NoSuchSchema.
    pub fn alter_schema(&self, definition: SchemaDefinition, kill: &KillFlag) -> EngineResult<()> {
        let _ddl = self.ddl_turn(kill)?;
        self.inner.tables.need_schema(&definition.name)?;
        self.put_schema(definition)
    }

    fn put_schema(&self, definition: SchemaDefinition) -> EngineResult<()> {
        let key = DictionaryStore::schema_key(&definition.name);
        self.commit_changes(vec![Change::Put(key, dictionary::encode_schema(&definition))])?;
        self.inner.tables.dictionary.put_schema(definition);
        Ok(())
    }

    /// DROP DATABASE with all its tables and views, in one step. Returns the number of both. Errors: NoSuchSchema.
    pub fn drop_schema(&self, name: &str, kill: &KillFlag) -> EngineResult<usize> {
        self.inner.rollback.finish_losers_of_dropped(&self.inner.tables.dictionary.tables(name), kill)?;
        let _ddl = self.ddl_turn(kill)?;
        self.inner.tables.need_schema(name)?;
        let tables = self.inner.tables.dictionary.tables(name);
        let mut changes = vec![Change::Remove(DictionaryStore::schema_key(name))];
        changes.extend(self.inner.tables.removals(&tables)?);
        let views = self.inner.tables.dictionary.views.names(name);
        changes.extend(self.inner.tables.dictionary.views.changes(&views, &[])?);
        self.commit_changes(changes)?;
        self.inner.tables.dictionary.remove_schema(name);
        self.discard_all(&tables)?;
        // The directory may hold files of other programs: then it stays.
        let _ = self.inner.shared.environment.disk.remove_directory(Path::new(&encoded(name)));
        Ok(tables.len() + views.len())
    }

    /// Removes views and puts others in their place, in one step. Errors: NoSuchSchema, NoSuchTable, TableExists.
    pub fn change_views(
        &self,
        removed: &[TableName],
        added: Vec<ViewDefinition>,
        kill: &KillFlag,
    ) -> EngineResult<()> {
        let _ddl = self.ddl_turn(kill)?;
        let tables = &self.inner.tables;
        for name in added.iter().map(|view| &view.shape.name).filter(|name| !removed.contains(name)) {
            tables.need_schema(&name.schema)?;
            tables.need_free_name(name)?;
        }
        self.commit_changes(tables.dictionary.views.changes(removed, &added)?)?;
        tables.dictionary.views.replace(removed, added);
        Ok(())
    }

    /// CREATE TABLE. Ids in the definition are given by the engine; `options.auto_increment` starts the counter.
    /// Errors: TableExists, CheckExists, ForeignKeyExists, NoSuchSchema, NoSpace, NameTooLong, FileExists.
    pub fn create_table(&self, definition: TableDefinition, kill: &KillFlag) -> EngineResult<Arc<Table>> {
        let _ddl = self.ddl_turn(kill)?;
        self.inner.tables.need_schema(&definition.name.schema)?;
        self.inner.tables.need_free_name(&definition.name)?;
        self.inner.tables.need_free_constraints(&[], &[&definition])?;
        need_short_name(&definition.name)?;
        let record = self.inner.tables.build_storage(definition)?;
        let put = Change::Put(DictionaryStore::table_key(record.definition.id), record.encode());
        let table = self.open_committed(record, vec![put])?;
        self.inner.tables.dictionary.replace_tables(&[], vec![table.clone()]);
        Ok(table)
    }

    /// DROP TABLE of all those tables, in one step. Errors: NoSuchTable (then none is dropped).
    pub fn drop_tables(&self, names: &[TableName], kill: &KillFlag) -> EngineResult<()> {
        let known: Vec<_> = names.iter().filter_map(|name| self.inner.tables.need_table(name).ok()).collect();
        self.inner.rollback.finish_losers_of_dropped(&known, kill)?;
        let _ddl = self.ddl_turn(kill)?;
        let tables =
            names.iter().map(|name| self.inner.tables.need_table(name)).collect::<EngineResult<Vec<_>>>()?;
        self.commit_changes(self.inner.tables.removals(&tables)?)?;
        let removed: Vec<_> = names.iter().map(|name| (name.schema.clone(), name.table.clone())).collect();
        self.inner.tables.dictionary.replace_tables(&removed, Vec::new());
        self.discard_all(&tables)
    }

    /// RENAME TABLE of (old, new) pairs from left to right, in one step. Errors: NoSuchTable, TableExists, NoSuchSchema,
    /// RenameFailed.
    pub fn rename_tables(&self, renames: &[(TableName, TableName)], kill: &KillFlag) -> EngineResult<()> {
        let _ddl = self.ddl_turn(kill)?;
        // Names as they are after the steps so far: which table stands behind each changed one.
        let mut moved: BTreeMap<TableName, Arc<Table>> = BTreeMap::new();
        let mut vacated: BTreeSet<TableName> = BTreeSet::new();
        for (old, new) in renames {
            if kill.is_raised() {
                return Err(EngineError::Killed);
            }
            self.inner.tables.need_schema(&new.schema)?;
            let table = match moved.remove(old) {
                Some(table) => table,
                None if vacated.contains(old) => return Err(no_such_table(old)),
                None => self.inner.tables.need_table(old)?,
            };
            let taken = moved.contains_key(new)
                || (!vacated.contains(new) && new != old && self.inner.tables.need_free_name(new).is_err());
            if taken {
                return Err(EngineError::TableExists(new.table.clone()));
            }
            vacated.insert(old.clone());
            vacated.remove(new);
            moved.insert(new.clone(), table);
        }
        let mut pairs = Vec::with_capacity(moved.len());
        for (name, table) in moved {
            let definition = table.definition.renamed(name);
            pairs.push((table, definition));
        }
        self.follow_parents(&mut pairs)?;
        self.replace_definitions(pairs).map(|_| ())
    }

    /// Foreign keys follow the tables that they refer to where these get other names.
    fn follow_parents(&self, pairs: &mut Vec<(Arc<Table>, TableDefinition)>) -> EngineResult<()> {
        let names = pairs.iter().map(|(table, new)| (table.definition.name.clone(), new.name.clone()));
        let renamed: BTreeMap<TableName, TableName> = names.filter(|(old, new)| old != new).collect();
        for parent in renamed.keys() {
            for (child, _) in self.inner.tables.dictionary.referring(parent) {
                if pairs.iter().all(|(table, _)| table.definition.name != child) {
                    let child = self.inner.tables.need_table(&child)?;
                    let definition = child.definition.clone();
                    pairs.push((child, definition));
                }
            }
        }
        for key in pairs.iter_mut().flat_map(|(_, definition)| &mut definition.foreign_keys) {
            if let Some(name) = renamed.get(&key.parent) {
                key.parent.clone_from(name);
            }
        }
        Ok(())
    }

    /// Gives the foreign keys of a definition that are new their place among all that were ever made.
    pub fn number_foreign_keys(&self, definition: &mut TableDefinition, kill: &KillFlag) -> EngineResult<()> {
        let new: Vec<_> = definition.foreign_keys.iter_mut().filter(|key| key.ordinal == 0).collect();
        if new.is_empty() {
            return Ok(());
        }
        let _ddl = self.ddl_turn(kill)?;
        let first = self.inner.tables.store.take_ids(&self.inner.pool, "foreign key", new.len() as u64)?;
        for (ordinal, key) in (first..).zip(new) {
            key.ordinal = ordinal;
        }
        Ok(())
    }

    /// TRUNCATE TABLE: the table gets new, empty storage; its counter starts again. Returns the new table.
    pub fn truncate_table(&self, name: &TableName, kill: &KillFlag) -> EngineResult<Arc<Table>> {
        self.inner.rollback.finish_losers_of_dropped(&[self.inner.tables.need_table(name)?], kill)?;
        let _ddl = self.ddl_turn(kill)?;
        let old = self.inner.tables.need_table(name)?;
        let mut definition = old.definition.clone();
        definition.options.auto_increment = None;
        let record = self.inner.tables.build_storage(definition)?;
        self.swap_storage(&old, record, 1, Vec::new())
    }

    /// ALTER that only changes what the dictionary says (comments, defaults, names of columns and indexes, index visibility,
    /// table options): columns keep number, order and storage; indexes keep number, order and parts.
    /// The definition's name may differ (RENAME TO). `followers` are definitions of other tables that change with it in the same way.
    /// Returns the new table. Errors: NoSuchTable, TableExists.
    pub fn alter_metadata(
        &self,
        name: &TableName,
        definition: TableDefinition,
        followers: Vec<TableDefinition>,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        let _ddl = self.ddl_turn(kill)?;
        let old = self.inner.tables.need_table(name)?;
        if definition.name != *name {
            self.inner.tables.need_schema(&definition.name.schema)?;
            self.inner.tables.need_free_name(&definition.name)?;
        }
        if !old.definition.has_storage_of(&definition) {
            return Err(EngineError::Unsupported("ALTER that changes storage without a copy"));
        }
        let mut definition = TableDefinition { id: old.definition.id, ..definition };
        for (new, old) in definition.indexes.iter_mut().zip(&old.definition.indexes) {
            new.id = old.id;
        }
        let mut pairs = self.with_tables(followers)?;
        pairs.push((old, definition));
        let mut tables = self.replace_definitions(pairs)?;
        tables.pop().ok_or(EngineError::TableDefinitionChanged)
    }

    /// The tables of those definitions, with them.
    fn with_tables(
        &self,
        definitions: Vec<TableDefinition>,
    ) -> EngineResult<Vec<(Arc<Table>, TableDefinition)>> {
        let with_table =
            |definition: TableDefinition| Ok((self.inner.tables.need_table(&definition.name)?, definition));
        definitions.into_iter().map(with_table).collect()
    }

    /// Puts new storage in the place of a table's, whose counter goes on with `next`: TRUNCATE and ALTER by copy. `followers` are
    /// definitions of other tables that change with it and keep their storage.
    pub(crate) fn swap_storage(
        &self,
        old: &Arc<Table>,
        record: TableRecord,
        next: u64,
        followers: Vec<TableDefinition>,
    ) -> EngineResult<Arc<Table>> {
        let free = self.inner.tables.need_free_constraints(&[old.id()], &[&record.definition]);
        let followers = match free.and_then(|()| self.with_tables(followers)) {
            Ok(followers) => followers,
            Err(error) => {
                self.inner.tables.abandon_storage(record.space)?;
                return Err(error);
            }
        };
        let mut changes = self.inner.tables.removals(std::slice::from_ref(old))?;
        let id = record.definition.id;
        changes.push(Change::Put(DictionaryStore::table_key(id), record.encode()));
        // With the table or not at all: a crash in between would hand out values that rows have.
        changes.push(Change::Put(DictionaryStore::auto_increment_key(id), next.to_le_bytes().to_vec()));
        let followers: Vec<(Arc<Table>, TableRecord)> = followers
            .into_iter()
            .map(|(table, definition)| (table.clone(), TableRecord { definition, ..table.record() }))
            .collect();
        changes.extend(followers.iter().map(|(_, record)| {
            Change::Put(DictionaryStore::table_key(record.definition.id), record.encode())
        }));
        let table = self.open_committed(record, changes)?;
        table.auto_increment.restore(next);
        let name_of =
            |table: &Table| (table.definition.name.schema.clone(), table.definition.name.table.clone());
        let (mut removed, mut added) = (vec![name_of(old)], vec![table.clone()]);
        for (follower, record) in followers {
            removed.push(name_of(&follower));
            added.push(self.successor(&follower, record, Lsn(table.clustered().readable_from())));
        }
        self.inner.tables.dictionary.replace_tables(&removed, added);
        self.discard_all(std::slice::from_ref(old))?;
        Ok(table)
    }

    /// Commits the changes that make new storage a table, and opens it.
    fn open_committed(&self, record: TableRecord, changes: Vec<Change>) -> EngineResult<Arc<Table>> {
        let committed = self.commit_changes(changes);
        let commit = committed
            .or_else(|error| self.inner.tables.forget_storage(record.space, &error).and(Err(error)))?;
        // The table is committed: to fail now would leave the caller with the old one. The note does it no harm, and the next start
        // takes it back.
        let _ = self.inner.tables.store.remove_leftover(&self.inner.pool, record.space);
        let table = Table::open(record);
        self.inner.tables.recall_cut_keys(&table);
        table.note_commit(commit, None);
        Ok(Arc::new(table))
    }

    /// Gives tables new definitions over the same storage, in one step.
    pub(crate) fn replace_definitions(
        &self,
        pairs: Vec<(Arc<Table>, TableDefinition)>,
    ) -> EngineResult<Vec<Arc<Table>>> {
        let records: Vec<TableRecord> = pairs
            .iter()
            .map(|(old, definition)| TableRecord { definition: definition.clone(), ..old.record() })
            .collect();
        let olds: Vec<Arc<Table>> = pairs.into_iter().map(|(old, _)| old).collect();
        self.replace_records(&olds, records)
    }

    /// As `replace_definitions`, where indexes may have come and gone.
    pub(crate) fn replace_records(
        &self,
        olds: &[Arc<Table>],
        records: Vec<TableRecord>,
    ) -> EngineResult<Vec<Arc<Table>>> {
        let replaced: Vec<TableId> = olds.iter().map(|old| old.id()).collect();
        let definitions: Vec<&TableDefinition> = records.iter().map(|record| &record.definition).collect();
        self.inner.tables.need_free_constraints(&replaced, &definitions)?;
        let mut changes: Vec<Change> = records
            .iter()
            .map(|record| Change::Put(DictionaryStore::table_key(record.definition.id), record.encode()))
            .collect();
        // A counter that ALTER TABLE has set stands in the definition alone, which the next one writes anew.
        for (old, record) in olds.iter().zip(&records) {
            let next = counter_of(old, &record.definition);
            if next > old.auto_increment.limit() && next > 1 {
                let key = DictionaryStore::auto_increment_key(old.id());
                changes.push(Change::Put(key, next.to_le_bytes().to_vec()));
            }
        }
        for (old, record) in olds.iter().zip(&records) {
            need_short_new_name(&old.definition.name, &record.definition.name)?;
        }
        let commit = self.commit_changes(changes)?;
        let mut removed = Vec::new();
        let mut added = Vec::new();
        for (old, record) in olds.iter().zip(records) {
            let name = &old.definition.name;
            removed.push((name.schema.clone(), name.table.clone()));
            added.push(self.successor(old, record, commit));
        }
        self.inner.tables.dictionary.replace_tables(&removed, added.clone());
        Ok(added)
    }

    /// The table that takes the place of one by a record that was committed, over the same storage.
    fn successor(&self, old: &Arc<Table>, record: TableRecord, commit: Lsn) -> Arc<Table> {
        let table = Table::open(record);
        self.inner.tables.recall_cut_keys(&table);
        carry_over(old, &table);
        table.note_commit(commit, Some(old));
        table.set_state(old.state());
        old.set_gone();
        Arc::new(table)
    }

    /// Removes the storage of tables that the dictionary does not have any more: of all, whatever fails. What could not be removed
    /// is left to the next start.
    fn discard_all(&self, tables: &[Arc<Table>]) -> EngineResult<()> {
        let discarded = |table: &Arc<Table>| {
            self.note_leftover(
                self.inner.tables.discard(table),
                "The storage of a dropped table could not be removed",
            )
        };
        let result = tables.iter().map(discarded).fold(Ok(()), EngineResult::and);
        self.inner.rollback.end_losers_of_nothing();
        result
    }

    /// What goes wrong behind a commit is for the error log: the statement has done what it says. But for an engine that has
    /// stopped, of which nothing more can be said.
    fn note_leftover(&self, result: EngineResult<()>, what: &str) -> EngineResult<()> {
        match result {
            Ok(()) => Ok(()),
            Err(EngineError::Stopped) => Err(EngineError::Stopped),
            Err(error) => {
                self.inner.shared.tell(format!("{what}: {error}. The next start tries it again."));
                Ok(())
            }
        }
    }

    /// The right to change the dictionary. Errors: Killed, ReadOnlyEngine, ReadOnlyMode.
    pub(crate) fn ddl_turn(&self, kill: &KillFlag) -> EngineResult<DdlTurn> {
        self.inner.shared.check_may_define()?;
        self.inner.ddl.take(kill)
    }

    /// Makes changes of the dictionary in one transaction, durable on return. Returns its place in the order of commits.
    pub(crate) fn commit_changes(&self, changes: Vec<Change>) -> EngineResult<Lsn> {
        let transaction = self.begin(TransactionOptions::default());
        for change in &changes {
            change_dictionary(&transaction, change)?;
        }
        let lsn = transaction.commit()?;
        self.sync_log(lsn)?;
        Ok(lsn)
    }
}

/// The counter of a table under a new definition: it never goes down.
fn counter_of(old: &Table, new: &TableDefinition) -> u64 {
    old.auto_increment.peek().max(new.options.auto_increment.unwrap_or(1))
}

/// Takes the live counters of a table over to its successor, and what is known of the indexes that it keeps.
fn carry_over(old: &Table, new: &Table) {
    // The change has written the counter where it was above the limit.
    new.take_over_counters(old, counter_of(old, &new.definition));
    let mut statistics = old.statistics.lock().unwrap_or_else(PoisonError::into_inner).stored.clone();
    if let Some(statistics) = &mut statistics
        && !old.definition.has_columns_of(&new.definition)
    {
        statistics.column_values.clear();
    }
    new.statistics.lock().unwrap_or_else(PoisonError::into_inner).stored = statistics;
}
