//! DDL: every change is one dictionary transaction, atomic over a crash. When a call returns, the change is durable.
//! The caller holds metadata locks: no other session uses the tables meanwhile. Order of each statement (rules D1 and D6 in
//! README.md): make files, commit the dictionary, make it durable, publish, remove files. Whatever a crash leaves of files is brought
//! in line at the next start. `kill` ends the wait for other DDL, and what the method says besides.

use crate::ddl_turn::DdlTurn;
use crate::dictionary_store::{DictionaryStore, TableRecord, has_parts, part_key, parts_of};
use crate::engine::{Engine, EngineInner, lock};
use crate::error::{EngineError, EngineResult};
use crate::file_names::{encoded, is_too_long, need_short_name, need_short_new_name};
use crate::lob::StoredRow;
use crate::options::TransactionOptions;
use crate::table::Table;
use crate::transaction::Transaction;
use crate::write::{Action, EntryChange};
use btree::Tree;
use buffer::{StorageError, space_path};
use dictionary::{SchemaDefinition, TableDefinition, TableName};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use stdx::ids::{IndexId, Lsn, PageNumber, SpaceId, TableId};
use txn::KillFlag;

/// A change of one dictionary entry: put these bytes, or remove the entry.
pub(crate) enum Change {
    Put(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
}

impl Engine {
    /// CREATE DATABASE. Errors: SchemaExists.
    pub fn create_schema(&self, definition: SchemaDefinition, kill: &KillFlag) -> EngineResult<()> {
        let _ddl = self.inner.ddl_turn(kill)?;
        if self.inner.dictionary.schema(&definition.name).is_some() {
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
        let _ddl = self.inner.ddl_turn(kill)?;
        self.inner.need_schema(&definition.name)?;
        self.put_schema(definition)
    }

    fn put_schema(&self, definition: SchemaDefinition) -> EngineResult<()> {
        let key = DictionaryStore::schema_key(&definition.name);
        self.commit_changes(vec![Change::Put(key, dictionary::encode_schema(&definition))])?;
        self.inner.dictionary.put_schema(definition);
        Ok(())
    }

    /// DROP DATABASE with all its tables, in one step. Returns the number of tables. Errors: NoSuchSchema.
    pub fn drop_schema(&self, name: &str, kill: &KillFlag) -> EngineResult<usize> {
        self.inner.finish_losers_of_dropped(&self.inner.dictionary.tables(name), kill)?;
        let _ddl = self.inner.ddl_turn(kill)?;
        self.inner.need_schema(name)?;
        let tables = self.inner.dictionary.tables(name);
        let mut changes = vec![Change::Remove(DictionaryStore::schema_key(name))];
        changes.extend(self.removals(&tables)?);
        self.commit_changes(changes)?;
        self.inner.dictionary.remove_schema(name);
        self.discard_all(&tables)?;
        // The directory may hold files of other programs: then it stays.
        let _ = self.inner.environment.disk.remove_directory(Path::new(&encoded(name)));
        Ok(tables.len())
    }

    /// CREATE TABLE. Ids in the definition are given by the engine; `options.auto_increment` starts the counter.
    /// Errors: TableExists, NoSuchSchema, NoSpace, NameTooLong, FileExists.
    pub fn create_table(&self, definition: TableDefinition, kill: &KillFlag) -> EngineResult<Arc<Table>> {
        let _ddl = self.inner.ddl_turn(kill)?;
        self.inner.need_schema(&definition.name.schema)?;
        self.inner.need_free_name(&definition.name)?;
        need_short_name(&definition.name)?;
        let record = self.build_storage(definition)?;
        let put = Change::Put(DictionaryStore::table_key(record.definition.id), record.encode());
        let table = self.open_committed(record, vec![put])?;
        self.inner.dictionary.replace_tables(&[], vec![table.clone()]);
        Ok(table)
    }

    /// DROP TABLE of all those tables, in one step. Errors: NoSuchTable (then none is dropped).
    pub fn drop_tables(&self, names: &[TableName], kill: &KillFlag) -> EngineResult<()> {
        let known: Vec<_> = names.iter().filter_map(|name| self.inner.need_table(name).ok()).collect();
        self.inner.finish_losers_of_dropped(&known, kill)?;
        let _ddl = self.inner.ddl_turn(kill)?;
        let tables =
            names.iter().map(|name| self.inner.need_table(name)).collect::<EngineResult<Vec<_>>>()?;
        self.commit_changes(self.removals(&tables)?)?;
        let removed: Vec<_> = names.iter().map(|name| (name.schema.clone(), name.table.clone())).collect();
        self.inner.dictionary.replace_tables(&removed, Vec::new());
        self.discard_all(&tables)
    }

    /// RENAME TABLE of (old, new) pairs from left to right, in one step. Errors: NoSuchTable, TableExists, NoSuchSchema,
    /// RenameFailed.
    pub fn rename_tables(&self, renames: &[(TableName, TableName)], kill: &KillFlag) -> EngineResult<()> {
        let _ddl = self.inner.ddl_turn(kill)?;
        // Names as they are after the steps so far: which table stands behind each changed one.
        let mut moved: Vec<(TableName, Arc<Table>)> = Vec::new();
        let mut vacated: Vec<TableName> = Vec::new();
        for (old, new) in renames {
            self.inner.need_schema(&new.schema)?;
            let table = match moved.iter().position(|(name, _)| name == old) {
                Some(at) => moved.swap_remove(at).1,
                None if vacated.contains(old) => return Err(no_such_table(old)),
                None => self.inner.need_table(old)?,
            };
            let taken = moved.iter().any(|(name, _)| name == new)
                || (!vacated.contains(new) && new != old && self.inner.need_table(new).is_ok());
            if taken {
                return Err(EngineError::TableExists(new.table.clone()));
            }
            vacated.push(old.clone());
            vacated.retain(|name| name != new);
            moved.push((new.clone(), table));
        }
        let pairs = moved
            .into_iter()
            .map(|(name, table)| {
                let definition = TableDefinition { name, ..table.definition.clone() };
                (table, definition)
            })
            .collect();
        self.replace_definitions(pairs).map(|_| ())
    }

    /// TRUNCATE TABLE: the table gets new, empty storage; its counter starts again. Returns the new table.
    pub fn truncate_table(&self, name: &TableName, kill: &KillFlag) -> EngineResult<Arc<Table>> {
        self.inner.finish_losers_of_dropped(&[self.inner.need_table(name)?], kill)?;
        let _ddl = self.inner.ddl_turn(kill)?;
        let old = self.inner.need_table(name)?;
        let mut definition = old.definition.clone();
        definition.options.auto_increment = None;
        let record = self.build_storage(definition)?;
        self.swap_storage(&old, record, 1)
    }

    /// ALTER that only changes what the dictionary says (comments, defaults, names of columns and indexes, index visibility,
    /// table options): columns keep number, order and storage; indexes keep number, order and parts.
    /// The definition's name may differ (RENAME TO). Returns the new table. Errors: NoSuchTable, TableExists.
    pub fn alter_metadata(
        &self,
        name: &TableName,
        definition: TableDefinition,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        let _ddl = self.inner.ddl_turn(kill)?;
        let old = self.inner.need_table(name)?;
        if definition.name != *name {
            self.inner.need_schema(&definition.name.schema)?;
            self.inner.need_free_name(&definition.name)?;
        }
        if !same_storage(&old.definition, &definition) {
            return Err(EngineError::Unsupported("ALTER that changes storage without a copy"));
        }
        let mut definition = TableDefinition { id: old.definition.id, ..definition };
        for (new, old) in definition.indexes.iter_mut().zip(&old.definition.indexes) {
            new.id = old.id;
        }
        let mut tables = self.replace_definitions(vec![(old, definition)])?;
        tables.pop().ok_or(EngineError::TableDefinitionChanged)
    }

    /// Makes file and empty trees for a table.
    pub(crate) fn build_storage(&self, mut definition: TableDefinition) -> EngineResult<TableRecord> {
        let inner = &self.inner;
        let hidden = u64::from(definition.primary_key().is_none());
        let tree_count = crate::table::tree_count(&definition) as u64;
        definition.id = TableId(inner.store.take_ids(&inner.pool, "table", 1)?);
        let first = inner.store.take_ids(&inner.pool, "index", tree_count)?;
        for (at, index) in (hidden..).zip(&mut definition.indexes) {
            index.id = IndexId(first + at);
        }
        let number = inner.store.take_ids(&inner.pool, "space", 1)?;
        let space = SpaceId(
            u32::try_from(number)
                .map_err(|_| EngineError::OutOfResources("tablespace numbers are used up"))?,
        );
        inner.store.put_leftover(&inner.pool, space)?;
        // The ids must be taken for good before a file carries them.
        self.sync_log(inner.pool.redo().end_lsn())?;
        let made = inner.pool.create_space(space, buffer::SpaceKind::Table, &space_path(space));
        let store_id = match made {
            Ok(store_id) => store_id,
            Err(StorageError::SpaceExists(_)) => {
                // It is somebody else's.
                inner.store.remove_leftover(&inner.pool, space)?;
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

    /// Removes storage that became no table's. Its note stays where a power cut may bring the file back.
    pub(crate) fn abandon_storage(&self, space: SpaceId) -> EngineResult<()> {
        match self.inner.pool.remove_space(space) {
            Err(error) if error.is_lack_of_descriptors() => Ok(()),
            removed => {
                removed?;
                self.inner.store.remove_leftover(&self.inner.pool, space)
            }
        }
    }

    pub(crate) fn create_tree(&self, space: SpaceId, index: IndexId) -> EngineResult<(IndexId, PageNumber)> {
        let mut mini = self.inner.pool.mini_transaction();
        let root = Tree::create(&mut mini, space, index)?;
        mini.commit();
        Ok((index, root))
    }

    /// Puts new storage in the place of a table's, whose counter goes on with `next`: TRUNCATE and ALTER by copy.
    pub(crate) fn swap_storage(
        &self,
        old: &Arc<Table>,
        record: TableRecord,
        next: u64,
    ) -> EngineResult<Arc<Table>> {
        let mut changes = self.removals(std::slice::from_ref(old))?;
        let id = record.definition.id;
        changes.push(Change::Put(DictionaryStore::table_key(id), record.encode()));
        // With the table or not at all: a crash in between would hand out values that rows have.
        changes.push(Change::Put(DictionaryStore::auto_increment_key(id), next.to_le_bytes().to_vec()));
        let name = old.definition.name.clone();
        let table = self.open_committed(record, changes)?;
        table.auto_increment.restore(next);
        self.inner.dictionary.replace_tables(&[(name.schema, name.table)], vec![table.clone()]);
        self.discard_all(std::slice::from_ref(old))?;
        Ok(table)
    }

    /// Commits the changes that make new storage a table, and opens it.
    fn open_committed(&self, record: TableRecord, changes: Vec<Change>) -> EngineResult<Arc<Table>> {
        let committed = self.commit_changes(changes);
        let commit = committed.or_else(|error| self.forget_storage(record.space, &error).and(Err(error)))?;
        // The table is committed: to fail now would leave the caller with the old one. The note does it no harm, and the next start
        // takes it back.
        let _ = self.inner.store.remove_leftover(&self.inner.pool, record.space);
        let table = Table::open(record);
        self.inner.recall_cut_keys(&table);
        table.note_commit(commit, None);
        Ok(Arc::new(table))
    }

    /// The changes that drop these tables; their files are noted as ours to remove.
    fn removals(&self, tables: &[Arc<Table>]) -> EngineResult<Vec<Change>> {
        let removal = |table: &Arc<Table>| {
            self.inner.store.put_leftover(&self.inner.pool, table.space)?;
            Ok(Change::Remove(DictionaryStore::table_key(table.id())))
        };
        tables.iter().map(removal).collect()
    }

    /// Gives tables new definitions over the same storage, in one step.
    pub(crate) fn replace_definitions(
        &self,
        pairs: Vec<(Arc<Table>, TableDefinition)>,
    ) -> EngineResult<Vec<Arc<Table>>> {
        let records: Vec<TableRecord> = pairs
            .iter()
            .map(|(old, definition)| TableRecord { definition: definition.clone(), ..TableRecord::of(old) })
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
        let mut changes: Vec<Change> = records
            .iter()
            .map(|record| Change::Put(DictionaryStore::table_key(record.definition.id), record.encode()))
            .collect();
        // A counter that ALTER TABLE has set stands in the definition alone, which the next one writes anew.
        for (old, record) in olds.iter().zip(&records) {
            let next = counter_of(old, &record.definition);
            if next > old.auto_increment.limit.load(Ordering::Acquire) && next > 1 {
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
            let table = Table::open(record);
            self.inner.recall_cut_keys(&table);
            carry_over(old, &table);
            table.note_commit(commit, Some(old));
            table.set_state(old.state());
            old.set_gone();
            added.push(Arc::new(table));
        }
        self.inner.dictionary.replace_tables(&removed, added.clone());
        Ok(added)
    }

    /// Removes the storage of tables that the dictionary does not have any more: of all, whatever fails. What could not be removed
    /// is left to the next start.
    fn discard_all(&self, tables: &[Arc<Table>]) -> EngineResult<()> {
        let discarded = |table: &Arc<Table>| {
            self.note_leftover(self.discard(table), "The storage of a dropped table could not be removed")
        };
        let result = tables.iter().map(discarded).fold(Ok(()), EngineResult::and);
        self.inner.end_losers_of_nothing();
        result
    }

    /// What goes wrong behind a commit is for the error log: the statement has done what it says. But for an engine that has
    /// stopped, of which nothing more can be said.
    fn note_leftover(&self, result: EngineResult<()>, what: &str) -> EngineResult<()> {
        match result {
            Ok(()) => Ok(()),
            Err(EngineError::Stopped) => Err(EngineError::Stopped),
            Err(error) => {
                lock(&self.inner.messages).push(format!("{what}: {error}. The next start tries it again."));
                Ok(())
            }
        }
    }

    /// Removes the storage of a table that the dictionary does not have any more.
    pub(crate) fn discard(&self, table: &Table) -> EngineResult<()> {
        let inner = &self.inner;
        // A file of another server that only has the number is left alone. What cannot be looked at now is the table's by its name.
        let _ = table.look_at_file();
        let has_file = inner.pool.has_file(table.space);
        table.set_gone();
        for tree in table.trees() {
            inner.dictionary.remove_index(tree.id().index);
        }
        inner.store.forget_table(&inner.pool, table.id())?;
        inner.store.forget_damage(&inner.pool, table.space)?;
        match has_file {
            true => self.abandon_storage(table.space),
            false => inner.store.remove_leftover(&inner.pool, table.space),
        }
    }

    /// Removes the file of a table whose dictionary change failed. Not after a failed log: the commit may still turn out to be
    /// in it, so the next start decides, which removes files that the dictionary does not know.
    fn forget_storage(&self, space: SpaceId, error: &EngineError) -> EngineResult<()> {
        if matches!(error, EngineError::Io(_) | EngineError::Stopped) {
            return Ok(());
        }
        self.abandon_storage(space)
    }

    /// Makes changes of the dictionary in one transaction, durable on return. Returns its place in the order of commits.
    pub(crate) fn commit_changes(&self, changes: Vec<Change>) -> EngineResult<Lsn> {
        let transaction = self.begin(TransactionOptions::default());
        for change in &changes {
            transaction.change_dictionary(change)?;
        }
        let lsn = transaction.commit()?;
        self.sync_log(lsn)?;
        Ok(lsn)
    }
}

impl Transaction {
    pub(crate) fn change_dictionary(&self, change: &Change) -> EngineResult<()> {
        let (key, bytes) = match change {
            Change::Put(key, bytes) if !has_parts(key) => return self.put_definition(key, bytes),
            Change::Remove(key) if !has_parts(key) => return self.mark_definition(key).map(|_| ()),
            Change::Put(key, bytes) => (key, Some(bytes)),
            Change::Remove(key) => (key, None),
        };
        let mut count = 0;
        if let Some(bytes) = bytes {
            let parts = parts_of(key, bytes).ok_or(EngineError::Unsupported("a definition this long"))?;
            for (key, part) in &parts {
                self.put_definition(key, part)?;
            }
            count = parts.len() as u16;
        }
        // What a longer entry has left.
        for part in count..=u16::MAX {
            if !self.mark_definition(&part_key(key, part))? {
                break;
            }
        }
        Ok(())
    }

    fn put_definition(&self, key: &[u8], bytes: &[u8]) -> EngineResult<()> {
        let tree = &self.engine.store.tree;
        let change = EntryChange { tree, clustered: false, key, dead: &[] };
        self.change_entry(change, &mut |_| Ok(Action::Put(StoredRow::whole(bytes))))
    }

    /// Marks an entry as deleted. False if there is none.
    fn mark_definition(&self, key: &[u8]) -> EngineResult<bool> {
        let tree = &self.engine.store.tree;
        let change = EntryChange { tree, clustered: false, key, dead: &[] };
        let mut found = false;
        self.change_entry(change, &mut |current| {
            found = current.is_some_and(|entry| !entry.deleted);
            Ok(if found { Action::Mark } else { Action::Leave })
        })?;
        Ok(found)
    }
}

impl EngineInner {
    /// The right to change the dictionary. Errors: Killed, ReadOnlyEngine, ReadOnlyMode.
    pub(crate) fn ddl_turn(&self, kill: &KillFlag) -> EngineResult<DdlTurn> {
        if self.settings.read_only_option {
            return Err(EngineError::ReadOnlyMode);
        }
        if self.settings.is_read_only {
            return Err(EngineError::ReadOnlyEngine);
        }
        self.ddl.take(kill)
    }

    pub(crate) fn need_schema(&self, name: &str) -> EngineResult<Arc<SchemaDefinition>> {
        self.dictionary.schema(name).ok_or_else(|| EngineError::NoSuchSchema(name.to_owned()))
    }

    pub(crate) fn need_table(&self, name: &TableName) -> EngineResult<Arc<Table>> {
        self.dictionary.table(&name.schema, &name.table).ok_or_else(|| no_such_table(name))
    }

    pub(crate) fn need_free_name(&self, name: &TableName) -> EngineResult<()> {
        match self.dictionary.has_table(&name.schema, &name.table) {
            true => Err(EngineError::TableExists(name.table.clone())),
            false => Ok(()),
        }
    }
}

fn no_such_table(name: &TableName) -> EngineError {
    EngineError::NoSuchTable(name.schema.clone(), name.table.clone())
}

/// The counter of a table under a new definition: it never goes down.
fn counter_of(old: &Table, new: &TableDefinition) -> u64 {
    old.auto_increment.peek().max(new.options.auto_increment.unwrap_or(1))
}

/// Takes the live counters of a table over to its successor, and what is known of the indexes that it keeps.
fn carry_over(old: &Table, new: &Table) {
    let (from, to) = (&old.auto_increment, &new.auto_increment);
    let next = counter_of(old, &new.definition);
    to.next.store(next, Ordering::Release);
    // The change has written the counter where it was above the limit.
    to.limit.store(from.limit.load(Ordering::Acquire).max(next), Ordering::Release);
    to.limit_lsn.store(from.limit_lsn.load(Ordering::Acquire), Ordering::Release);
    new.next_row_id.store(old.next_row_id.load(Ordering::Acquire), Ordering::Release);
    let statistics = old.statistics.lock().unwrap_or_else(PoisonError::into_inner).clone();
    *new.statistics.lock().unwrap_or_else(PoisonError::into_inner) = statistics;
}

/// Whether rows and keys of two definitions have the same bytes.
fn same_storage(old: &TableDefinition, new: &TableDefinition) -> bool {
    let columns = old.columns.len() == new.columns.len()
        && old.columns.iter().zip(&new.columns).all(|(a, b)| {
            values::row::Form::of(&a.column_type) == values::row::Form::of(&b.column_type)
                && a.column_type.collation == b.column_type.collation
                && a.nullable == b.nullable
        });
    let indexes = old.indexes.len() == new.indexes.len()
        && old.indexes.iter().zip(&new.indexes).all(|(a, b)| a.kind == b.kind && a.parts == b.parts);
    columns && indexes
}
