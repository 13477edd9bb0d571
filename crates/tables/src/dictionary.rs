//! The data dictionary as sessions see it: schemas and tables by name, in memory. Main type: [`Dictionary`].
//! Readers take a short shared lock and get `Arc`s; DDL publishes changes after their commit. Who keeps an `Arc` knows by other
//! means when the name stands for something else.
//!
//! A table is opened by the first who asks for it, and packed again when more than `open_max` are open and nobody holds it (a ring
//! with a second chance). Lock order: the maps, then an entry, or the ring; never an entry and the ring.

use crate::{OpenIndex, Table, TableEntry, Tables};
use dictionary::{ConstraintNames, ReferringKeys, SchemaDefinition, TableName};
use engine_error::EngineResult;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use stdx::ids::{CommitTimestamp, IndexId, SpaceId, TableId};
use stdx::sync::lock;

/// Entries of the ring that are looked at for each table that is opened: what all hold is left open.
const LOOKED_AT: usize = 8;

/// Schemas and tables by name, and tables by index.
#[derive(Debug, Default)]
pub struct Dictionary {
    maps: RwLock<Maps>,
    /// Views by name.
    pub views: dictionary_store::Views,
    /// Open tables, in the order in which they come up for being packed.
    ring: Mutex<VecDeque<Weak<TableEntry>>>,
    open_max: AtomicUsize,
    /// How often a table was opened.
    opened_count: AtomicU64,
    /// Scans leave out what cannot be read.
    skips_damage: bool,
    /// Who looks at tables' files.
    tables: OnceLock<Weak<Tables>>,
}

#[derive(Debug, Default)]
struct Maps {
    schemas: BTreeMap<String, SchemaEntry>,
    /// Tables by the ids of all their trees, for undo and purge.
    indexes: HashMap<IndexId, Arc<TableEntry>>,
    referring: ReferringKeys,
}

#[derive(Debug)]
struct SchemaEntry {
    definition: Arc<SchemaDefinition>,
    tables: BTreeMap<Box<str>, Arc<TableEntry>>,
}

impl Dictionary {
    /// An empty one. So many tables stay open though nobody uses them.
    pub(crate) fn new(open_max: usize, skips_damage: bool) -> Dictionary {
        Dictionary { open_max: AtomicUsize::new(open_max), skips_damage, ..Dictionary::default() }
    }

    /// Says who looks at the files of tables that are opened.
    pub(crate) fn check_files_by(&self, tables: &Arc<Tables>) {
        let _ = self.tables.set(Arc::downgrade(tables));
    }

    /// The schema of that name.
    pub fn schema(&self, name: &str) -> Option<Arc<SchemaDefinition>> {
        self.read().schemas.get(name).map(|entry| entry.definition.clone())
    }

    /// All schemas by name.
    pub fn schemas(&self) -> Vec<Arc<SchemaDefinition>> {
        self.read().schemas.values().map(|entry| entry.definition.clone()).collect()
    }

    /// The table of that name.
    pub fn table(&self, schema: &str, table: &str) -> Option<Arc<Table>> {
        let entry = self.entry(schema, table)?;
        Some(self.opened(&entry))
    }

    /// Whether there is a table of that name. Opens none.
    pub fn has_table(&self, schema: &str, table: &str) -> bool {
        self.entry(schema, table).is_some()
    }

    /// Whether there is a table of that name that is not being filled. Opens none.
    pub fn shows_table(&self, schema: &str, table: &str) -> bool {
        self.entry(schema, table).is_some_and(|entry| !entry.is_hidden())
    }

    /// The constraints of a schema's tables, but for those of some tables. Opens none.
    pub fn constraints(&self, schema: &str, except: &[TableId]) -> Vec<ConstraintNames> {
        let maps = self.read();
        let tables = maps.schemas.get(schema).into_iter().flat_map(|entry| entry.tables.values());
        let others = tables.filter(|entry| !except.contains(&entry.id()));
        let has_some = |names: &&ConstraintNames| !names.checks.is_empty() || !names.references.is_empty();
        others.map(|entry| entry.constraints()).filter(has_some).cloned().collect()
    }

    /// The foreign keys that refer to a table, in the order in which they were made: the table that has one, and its ordinal. Opens none.
    pub fn referring(&self, parent: &TableName) -> Vec<(TableName, u64)> {
        self.read().referring.referring(parent)
    }

    /// Names of all tables of a schema in order, but for those that are being filled; empty if there is no such schema. Opens none.
    pub fn table_names(&self, schema: &str) -> Vec<String> {
        let maps = self.read();
        let tables = maps.schemas.get(schema).into_iter().flat_map(|entry| &entry.tables);
        tables.filter(|(_, entry)| !entry.is_hidden()).map(|(name, _)| name.to_string()).collect()
    }

    /// All tables of a schema by name, but for those that are being filled; empty if there is no such schema. Opens them all.
    pub fn tables(&self, schema: &str) -> Vec<Arc<Table>> {
        self.table_names(schema).iter().filter_map(|name| self.table(schema, name)).collect()
    }

    /// How many tables are open: in use, or not packed yet.
    pub fn open_table_count(&self) -> usize {
        lock(&self.ring).iter().filter(|entry| entry.strong_count() > 0).count()
    }

    /// How often a table was opened since the start, those included that were made.
    pub fn opened_table_count(&self) -> u64 {
        self.opened_count.load(Ordering::Relaxed)
    }

    /// Sets how many tables stay open though nobody uses them (SET GLOBAL table_definition_cache).
    pub fn set_open_max(&self, open_max: usize) {
        self.open_max.store(open_max, Ordering::Relaxed);
    }

    fn read(&self) -> RwLockReadGuard<'_, Maps> {
        self.maps.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Maps> {
        self.maps.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, schema: &str, table: &str) -> Option<Arc<TableEntry>> {
        self.read().schemas.get(schema)?.tables.get(table).cloned()
    }

    /// All tables, open or not, but for those that are being filled.
    pub fn entries(&self) -> Vec<Arc<TableEntry>> {
        let maps = self.read();
        let tables = maps.schemas.values().flat_map(|schema| schema.tables.values());
        tables.filter(|entry| !entry.is_hidden()).cloned().collect()
    }

    /// The table in that space.
    pub(crate) fn table_in(&self, space: SpaceId) -> Option<Arc<Table>> {
        let found = self.entries().into_iter().find(|entry| entry.space() == space)?;
        Some(self.opened(&found))
    }

    /// The table of an entry, opened if it is not.
    pub fn opened(&self, entry: &Arc<TableEntry>) -> Arc<Table> {
        let (table, is_new) = entry.table(|table| self.prepare(table));
        if is_new {
            self.note_opened(entry);
        }
        table
    }

    /// What every table gets that is opened.
    fn prepare(&self, table: &Table) {
        if self.skips_damage {
            table.indexes.iter().for_each(|index| index.tree.skip_damage());
        }
        if let Some(tables) = self.tables.get() {
            let _ = table.tables.set(tables.clone());
            if let Some(tables) = tables.upgrade() {
                table.stamp.open_at(CommitTimestamp(tables.pool.redo().end_lsn().0));
            }
        }
    }

    #[cold]
    fn note_opened(&self, entry: &Arc<TableEntry>) {
        self.opened_count.fetch_add(1, Ordering::Relaxed);
        let open_max = self.open_max.load(Ordering::Relaxed);
        let mut ring = lock(&self.ring);
        ring.push_back(Arc::downgrade(entry));
        for _ in 0..LOOKED_AT {
            if ring.len() <= open_max {
                return;
            }
            let Some(front) = ring.pop_front() else { return };
            // Those of tables that are gone went with them.
            let Some(entry) = front.upgrade() else { continue };
            drop(ring);
            let is_packed = !entry.take_used() && entry.pack();
            ring = lock(&self.ring);
            if !is_packed {
                ring.push_back(front);
            }
        }
    }

    /// The tree of an index with its table, if it is the clustered one; None if it was dropped.
    /// Errors: what keeps its file from being opened.
    pub(crate) fn open_index(&self, index: IndexId) -> EngineResult<Option<OpenIndex>> {
        let Some(table) = self.table_of_index(index) else { return Ok(None) };
        table.look_at_file()?;
        Ok(table.open_index(index))
    }

    /// Whether an index is there. Opens nothing.
    pub(crate) fn has_index(&self, index: IndexId) -> bool {
        self.read().indexes.contains_key(&index)
    }

    /// The table that an index is part of.
    pub fn table_of_index(&self, index: IndexId) -> Option<Arc<Table>> {
        let entry = self.read().indexes.get(&index).cloned()?;
        Some(self.opened(&entry))
    }

    /// The id of that table. Opens nothing.
    pub fn table_id_of_index(&self, index: IndexId) -> Option<TableId> {
        self.read().indexes.get(&index).map(|entry| entry.id())
    }

    /// Undo and purge do not find it any more.
    pub fn remove_index(&self, index: IndexId) {
        self.write().indexes.remove(&index);
    }

    /// Adds or replaces a schema's definition.
    pub fn put_schema(&self, definition: SchemaDefinition) {
        let mut maps = self.write();
        let definition = Arc::new(definition);
        maps.schemas
            .entry(definition.name.clone())
            .and_modify(|entry| entry.definition = definition.clone())
            .or_insert(SchemaEntry { definition, tables: BTreeMap::new() });
    }

    /// Removes a schema with its tables and views.
    pub fn remove_schema(&self, name: &str) {
        let mut maps = self.write();
        let removed = maps.schemas.remove(name);
        removed
            .iter()
            .flat_map(|schema| schema.tables.values())
            .for_each(|entry| maps.referring.remove(entry.constraints()));
        drop(maps);
        self.views.replace(&self.views.names(name), Vec::new());
    }

    /// Adds a table that is not open yet.
    pub fn add_entry(&self, schema: &str, table: &str, entry: &Arc<TableEntry>) {
        self.write().add(schema, table, entry);
    }

    /// Removes and adds tables in one step, so that no reader sees a state between. Undo and purge find the trees of those that are added.
    pub fn replace_tables(&self, removed: &[(String, String)], added: Vec<Arc<Table>>) {
        let mut entries = Vec::new();
        let mut maps = self.write();
        for (schema, table) in removed {
            let tables = maps.schemas.get_mut(schema).map(|entry| &mut entry.tables);
            if let Some(entry) = tables.and_then(|tables| tables.remove(table.as_str())) {
                maps.referring.remove(entry.constraints());
            }
        }
        for table in added {
            self.prepare(&table);
            let name = table.definition().name.clone();
            let entry = Arc::new(TableEntry::of(table));
            maps.add(&name.schema, &name.table, &entry);
            entries.push(entry);
        }
        drop(maps);
        entries.iter().for_each(|entry| self.note_opened(entry));
    }
}

impl Maps {
    fn add(&mut self, schema: &str, table: &str, entry: &Arc<TableEntry>) {
        for index in entry.tree_ids() {
            self.indexes.insert(index, entry.clone());
        }
        let Some(tables) = self.schemas.get_mut(schema).map(|schema| &mut schema.tables) else { return };
        if let Some(before) = tables.insert(table.into(), entry.clone()) {
            self.referring.remove(before.constraints());
        }
        let name = TableName { schema: schema.to_owned(), table: table.to_owned() };
        self.referring.add(&name, entry.constraints());
    }
}
