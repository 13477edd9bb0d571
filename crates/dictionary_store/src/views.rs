//! Views by name, in memory, and the changes of the dictionary that a change of views is. Main type: [`Views`].
//! Readers take a short shared lock and get `Arc`s; who changes views publishes behind the commit.

use crate::{Change, DictionaryStore};
use dictionary::{TableName, ViewDefinition, encode_view};
use engine_error::{EngineError, EngineResult};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Views by schema and name.
#[derive(Debug, Default)]
pub struct Views(RwLock<BTreeMap<String, OfSchema>>);

/// The views of a schema by name.
type OfSchema = BTreeMap<String, Arc<ViewDefinition>>;

impl Views {
    /// The view of that name.
    pub fn get(&self, schema: &str, view: &str) -> Option<Arc<ViewDefinition>> {
        self.read().get(schema)?.get(view).cloned()
    }

    /// Whether there is a view of that name.
    pub fn has(&self, name: &TableName) -> bool {
        self.get(&name.schema, &name.table).is_some()
    }

    /// Names of all views of a schema.
    pub fn names(&self, schema: &str) -> Vec<TableName> {
        self.of_schema(schema).iter().map(|view| view.shape.name.clone()).collect()
    }

    /// All views of a schema by name.
    pub fn of_schema(&self, schema: &str) -> Vec<Arc<ViewDefinition>> {
        self.read().get(schema).into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// What is written where these are removed and those put in their place. Error: NoSuchTable.
    pub fn changes(&self, removed: &[TableName], added: &[ViewDefinition]) -> EngineResult<Vec<Change>> {
        let mut changes = Vec::with_capacity(removed.len() + added.len());
        for name in removed {
            if self.get(&name.schema, &name.table).is_none() {
                return Err(EngineError::NoSuchTable(name.schema.clone(), name.table.clone()));
            }
            // What is put in its place goes over it.
            if added.iter().all(|view| view.shape.name != *name) {
                changes.push(Change::Remove(DictionaryStore::view_key(name)));
            }
        }
        let put = |view: &ViewDefinition| {
            Change::Put(DictionaryStore::view_key(&view.shape.name), encode_view(view))
        };
        changes.extend(added.iter().map(put));
        Ok(changes)
    }

    /// Removes and adds views in one step.
    pub fn replace(&self, removed: &[TableName], added: Vec<ViewDefinition>) {
        let mut schemas = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for name in removed {
            if let Some(views) = schemas.get_mut(&name.schema) {
                views.remove(&name.table);
                if views.is_empty() {
                    schemas.remove(&name.schema);
                }
            }
        }
        for view in added {
            let TableName { schema, table } = view.shape.name.clone();
            schemas.entry(schema).or_default().insert(table, Arc::new(view));
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, OfSchema>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
