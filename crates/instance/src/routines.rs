//! The stored functions of an instance. Main type: [`Routines`]. What a body is only the session knows.
//! Thread rules: any thread.

use expression::Routine;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use values::ColumnType;

/// The stored functions of an instance, by schema and by name in lower case.
#[derive(Default)]
pub struct Routines {
    functions: RwLock<HashMap<(String, String), Arc<Routine>>>,
}

impl Routines {
    /// Adds a function, in the place of one of that name.
    pub fn put(
        &self,
        schema: &str,
        name: &str,
        parameters: Vec<ColumnType>,
        returns: ColumnType,
        body: impl Any + Send + Sync,
    ) {
        let (schema, name): (Arc<str>, Arc<str>) = (schema.into(), name.into());
        let key = (schema.to_string(), name.to_lowercase());
        let body = Arc::new(body);
        let routine = Arc::new(Routine { schema, name, parameters, returns, body });
        self.functions.write().unwrap_or_else(PoisonError::into_inner).insert(key, routine);
    }

    /// The function of that name.
    pub fn find(&self, schema: &str, name: &str) -> Option<Arc<Routine>> {
        let key = (schema.to_owned(), name.to_lowercase());
        self.functions.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }
}
