//! Columns by which system tables find rows without making all others, and what a statement wants of them. Main functions and types:
//! [`key_columns`], [`Wanted`].
//!
//! Text is compared as the statement's condition does it. Where that is by bytes, as the collation of names of schemas and tables has
//! it, a name is looked up in the dictionary; trailing spaces do not count, and no name has any.

use charset::CollationId;
use dictionary::TableDefinition;
use plan::{VirtualRequest, WantedValues};
use std::collections::BTreeSet;
use std::sync::Arc;
use values::Value;
use values::row::ColumnSet;

/// Names of the key columns of a system table.
pub(super) fn key_columns(schema: &str, table: &str) -> &'static [&'static str] {
    match (schema, table) {
        ("information_schema", "TABLES" | "PARTITIONS" | "VIEWS") => &["TABLE_SCHEMA", "TABLE_NAME"],
        ("information_schema", "COLUMNS") => &["TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME"],
        ("information_schema", "STATISTICS") => &["TABLE_SCHEMA", "TABLE_NAME", "INDEX_SCHEMA"],
        ("information_schema", "KEY_COLUMN_USAGE" | "TABLE_CONSTRAINTS") => {
            &["TABLE_SCHEMA", "TABLE_NAME", "CONSTRAINT_SCHEMA"]
        }
        ("information_schema", "REFERENTIAL_CONSTRAINTS") => &["TABLE_NAME", "CONSTRAINT_SCHEMA"],
        ("information_schema", "SCHEMATA" | "SCHEMATA_EXTENSIONS") => &["SCHEMA_NAME"],
        ("information_schema", "INNODB_TABLES" | "INNODB_TABLESPACES") => &["NAME"],
        ("information_schema" | "performance_schema", "PROCESSLIST" | "processlist") => &["ID"],
        ("information_schema", "USER_PRIVILEGES") => &["GRANTEE"],
        ("information_schema", "SCHEMA_PRIVILEGES") => &["GRANTEE", "TABLE_SCHEMA"],
        ("information_schema", "TABLE_PRIVILEGES" | "COLUMN_PRIVILEGES") => {
            &["GRANTEE", "TABLE_SCHEMA", "TABLE_NAME"]
        }
        ("information_schema", "USER_ATTRIBUTES") => &["USER", "HOST"],
        ("performance_schema", "threads") => &["PROCESSLIST_ID", "THREAD_ID"],
        ("performance_schema", "session_connect_attrs" | "session_account_connect_attrs") => {
            &["PROCESSLIST_ID"]
        }
        (
            "performance_schema",
            "session_variables"
            | "global_variables"
            | "session_status"
            | "global_status"
            | "variables_info"
            | "variables_metadata"
            | "persisted_variables",
        ) => &["VARIABLE_NAME"],
        ("mysql", "user" | "global_grants" | "default_roles" | "password_history") => &["USER", "HOST"],
        ("mysql", "db" | "columns_priv" | "tables_priv") => &["USER", "HOST", "Db"],
        ("mysql", "role_edges") => &["TO_USER", "TO_HOST"],
        _ => &[],
    }
}

/// What a statement wants of a system table.
pub(crate) struct Wanted {
    pub view: Arc<TableDefinition>,
    values: Vec<WantedValues>,
    columns: ColumnSet,
}

impl Wanted {
    pub fn of(request: VirtualRequest) -> Wanted {
        Wanted { view: request.table, values: request.wanted, columns: request.columns }
    }

    /// Whether all columns that are read are among the first so many.
    pub fn reads_only(&self, count: usize) -> bool {
        (count..self.view.columns.len()).all(|column| !self.columns.contains(column))
    }

    fn asked(&self, column: &str) -> Option<&WantedValues> {
        let position = self.view.column_position(column)?;
        self.values.iter().find(|known| known.column == position)
    }

    /// Whether rows with that text in the column are wanted.
    pub fn has(&self, column: &str, text: &str) -> bool {
        let Some(asked) = self.asked(column) else { return true };
        asked.values.iter().any(|value| match value {
            Value::Bytes(bytes) => asked.collation.get().equal(bytes, text.as_bytes()),
            _ => true,
        })
    }

    /// The numbers that are wanted of a column; None for all.
    pub fn numbers(&self, column: &str) -> Option<BTreeSet<u64>> {
        let asked = self.asked(column)?;
        let number = |value: &Value| match value {
            Value::UInt(number) => Some(*number),
            Value::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        };
        Some(asked.values.iter().filter_map(number).collect())
    }

    /// The names that are wanted of a column, if they are compared by their bytes; None for all, and if others may be equal to them.
    pub fn names(&self, column: &str) -> Option<BTreeSet<String>> {
        let asked = self.asked(column)?;
        let is_by_bytes =
            asked.collation == CollationId::BINARY || asked.collation.get().name.ends_with("_bin");
        if !is_by_bytes {
            return None;
        }
        let name = |value: &Value| match value {
            Value::Bytes(bytes) => {
                std::str::from_utf8(bytes).ok().map(|name| name.trim_end_matches(' ').to_owned())
            }
            _ => None,
        };
        Some(asked.values.iter().filter_map(name).collect())
    }
}
