//! The data dictionary as sessions see it: schemas and open tables by name, in memory. Main type: [`Dictionary`].
//! Readers take a short shared lock and get `Arc`s; DDL publishes changes after their commit. Who keeps an `Arc` knows by other
//! means when the name stands for something else.

use crate::table::Table;
use dictionary::SchemaDefinition;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Schemas and tables by name.
#[derive(Debug, Default)]
pub struct Dictionary {
    schemas: RwLock<BTreeMap<String, SchemaEntry>>,
}

#[derive(Debug)]
struct SchemaEntry {
    definition: Arc<SchemaDefinition>,
    tables: BTreeMap<String, Arc<Table>>,
}

impl Dictionary {
    /// The schema of that name.
    pub fn schema(&self, name: &str) -> Option<Arc<SchemaDefinition>> {
        self.read().get(name).map(|entry| entry.definition.clone())
    }

    /// All schemas by name.
    pub fn schemas(&self) -> Vec<Arc<SchemaDefinition>> {
        self.read().values().map(|entry| entry.definition.clone()).collect()
    }

    /// The table of that name.
    pub fn table(&self, schema: &str, table: &str) -> Option<Arc<Table>> {
        self.read().get(schema)?.tables.get(table).cloned()
    }

    /// All tables of a schema by name, but for those that are being filled; empty if there is no such schema.
    pub fn tables(&self, schema: &str) -> Vec<Arc<Table>> {
        let schemas = self.read();
        let tables = schemas.get(schema).into_iter().flat_map(|entry| entry.tables.values());
        tables.filter(|table| !table.is_hidden()).cloned().collect()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, SchemaEntry>> {
        self.schemas.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, SchemaEntry>> {
        self.schemas.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds or replaces a schema's definition.
    pub(crate) fn put_schema(&self, definition: SchemaDefinition) {
        let mut schemas = self.write();
        let definition = Arc::new(definition);
        schemas
            .entry(definition.name.clone())
            .and_modify(|entry| entry.definition = definition.clone())
            .or_insert(SchemaEntry { definition, tables: BTreeMap::new() });
    }

    /// Removes a schema with its tables.
    pub(crate) fn remove_schema(&self, name: &str) {
        self.write().remove(name);
    }

    /// Removes and adds tables in one step, so that no reader sees a state between.
    pub(crate) fn replace_tables(&self, removed: &[(String, String)], added: Vec<Arc<Table>>) {
        let mut schemas = self.write();
        for (schema, table) in removed {
            if let Some(entry) = schemas.get_mut(schema) {
                entry.tables.remove(table);
            }
        }
        for table in added {
            if let Some(entry) = schemas.get_mut(&table.definition().name.schema) {
                entry.tables.insert(table.definition().name.table.clone(), table);
            }
        }
    }
}
