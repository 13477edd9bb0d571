//! Whether there is a schema or a table of a name, with or without storage.

use crate::system_tables::definition;
use instance::Instance;
use instance::system_schemas::{is_hidden, is_system_schema};

/// Whether there is a schema of that name.
pub fn schema_exists(instance: &Instance, name: &str) -> bool {
    is_system_schema(name) || instance.engine().dictionary().schema(name).is_some_and(|_| !is_hidden(name))
}

/// Whether there is a table or view of that name.
pub fn table_exists(instance: &Instance, schema: &str, table: &str) -> bool {
    let dictionary = instance.engine().dictionary();
    definition(schema, table).is_some()
        || dictionary.table(schema, table).is_some()
        || dictionary.views.get(schema, table).is_some()
}
