//! Tables without storage: information_schema, performance_schema, mysql, sys. Main type: [`SystemTables`].
//! Names, columns and types come from `data/system_tables.tsv`; rows are made when a statement reads them.
//! A table that has a definition but no rows here is empty, as in MySQL where the feature is not in use.

mod accounts;
mod columns;
mod definitions;
mod innodb;
mod reference;
mod row;
mod sessions;
mod tables;

pub(crate) use accounts::privilege_rows;
pub use columns::default_text;
pub use definitions::{definition, names};
pub(crate) use reference::PLUGINS;
pub(crate) use sessions::SHORT_STATEMENT_CHARACTERS;

use dictionary::TableDefinition;
use errors::SqlResult;
use expression::Routine;
use instance::Instance;
use instance::SessionShared;
use instance::SessionUser;
use instance::system_schemas::{OVERLAY_SCHEMA, is_system_schema};
use plan::VirtualTables;
use std::sync::Arc;
use values::Value;
use variables::SessionVariables;

/// A column of a system table.
#[derive(Clone, Copy, Debug)]
pub struct SystemColumn {
    /// Name.
    pub name: &'static str,
    /// Type as SQL text.
    pub column_type: &'static str,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Default as text.
    pub default: Option<&'static str>,
    /// Collation name; empty for what is no text.
    pub collation: &'static str,
    /// COLUMN_KEY.
    pub key: &'static str,
    /// EXTRA.
    pub extra: &'static str,
}

/// A system table.
#[derive(Clone, Copy, Debug)]
pub struct SystemTable {
    /// Schema in lower case.
    pub schema: &'static str,
    /// Name.
    pub name: &'static str,
    /// Columns in order.
    pub columns: &'static [SystemColumn],
}

/// A result set under a table's name, for SHOW .. WHERE.
pub struct Overlay {
    /// Its columns under [`OVERLAY_SCHEMA`] and [`OVERLAY_TABLE`].
    pub definition: Arc<TableDefinition>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

/// What rows are made from, for one statement.
pub struct SystemTables<'s> {
    /// The server.
    pub instance: &'s Instance,
    /// The session that asks.
    pub shared: &'s SessionShared,
    /// Its user.
    pub user: &'s SessionUser,
    /// Its variables.
    pub variables: Arc<SessionVariables>,
    /// One more table.
    pub overlay: Option<Overlay>,
}

/// Where rows go: false when no more are wanted.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(Vec<Value>) -> SqlResult<bool>;

/// The constant that a statement compares the column at `position` with, as text.
pub(crate) fn wanted_text(equal: &[(usize, Value)], position: usize) -> Option<String> {
    equal.iter().find(|(column, _)| *column == position).and_then(|(_, value)| match value {
        Value::Bytes(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    })
}

impl VirtualTables for SystemTables<'_> {
    fn table(&self, schema: &str, name: &str) -> Option<Arc<TableDefinition>> {
        if schema == OVERLAY_SCHEMA {
            return self.overlay.as_ref().map(|overlay| Arc::clone(&overlay.definition));
        }
        definition(schema, name)
    }

    fn routine(&self, schema: &str, name: &str) -> Option<Arc<Routine>> {
        self.instance.routines().find(schema, name)
    }

    fn rows(&self, table: &TableDefinition, equal: &[(usize, Value)], emit: Emit<'_>) -> SqlResult<()> {
        if table.name.schema == OVERLAY_SCHEMA {
            for row in self.overlay.iter().flat_map(|overlay| &overlay.rows) {
                if !emit(row.clone())? {
                    break;
                }
            }
            return Ok(());
        }
        match table.name.schema.as_str() {
            "information_schema" => self.information_schema(&table.name.table, table, equal, emit),
            "performance_schema" => self.performance_schema(&table.name.table, table, emit),
            "mysql" => self.mysql_schema(&table.name.table, table, emit),
            "sys" => self.sys_schema(&table.name.table, table, emit),
            _ => Ok(()),
        }
    }

    fn keeps_column_names(&self, schema: &str, name: &str) -> bool {
        schema.eq_ignore_ascii_case("information_schema") && definitions::is_information_schema_view(name)
    }

    fn has_schema(&self, schema: &str) -> bool {
        is_system_schema(schema) || (schema == OVERLAY_SCHEMA && self.overlay.is_some())
    }
}

impl SystemTables<'_> {
    fn information_schema(
        &self,
        name: &str,
        table: &TableDefinition,
        equal: &[(usize, Value)],
        emit: Emit<'_>,
    ) -> SqlResult<()> {
        self.require_process(name)?;
        match name {
            "SCHEMATA" => self.schemata(emit),
            "SCHEMATA_EXTENSIONS" => self.schemata_extensions(emit),
            "TABLES" => self.tables(equal, emit),
            "COLUMNS" => self.columns(equal, emit),
            "STATISTICS" => self.statistics(equal, emit),
            "KEY_COLUMN_USAGE" => self.key_column_usage(equal, emit),
            "TABLE_CONSTRAINTS" => self.table_constraints(equal, emit),
            "PARTITIONS" => self.partitions(equal, emit),
            "ENGINES" => self.engines(emit),
            "CHARACTER_SETS" => self.character_sets(emit),
            "COLLATIONS" => self.collations(emit),
            "COLLATION_CHARACTER_SET_APPLICABILITY" => self.collation_charsets(emit),
            "KEYWORDS" => self.keywords(emit),
            "PLUGINS" => self.plugins(emit),
            "PROCESSLIST" => self.processlist(table, emit),
            "USER_PRIVILEGES" => self.user_privileges(emit),
            "SCHEMA_PRIVILEGES" => self.schema_privileges(emit),
            "TABLE_PRIVILEGES" => self.table_privileges(emit),
            "COLUMN_PRIVILEGES" => self.column_privileges(emit),
            "USER_ATTRIBUTES" => self.user_attributes(emit),
            "APPLICABLE_ROLES" => self.applicable_roles(emit),
            "ENABLED_ROLES" => self.enabled_roles(emit),
            "INNODB_TABLESPACES" => self.innodb_tablespaces(table, emit),
            "INNODB_TABLES" => self.innodb_tables(table, emit),
            "INNODB_TRX" => self.innodb_trx(table, emit),
            _ => Ok(()),
        }
    }

    fn performance_schema(&self, name: &str, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        match name {
            "session_variables" => self.variable_rows(false, emit),
            "global_variables" => self.variable_rows(true, emit),
            "session_status" => self.status_rows(false, emit),
            "global_status" => self.status_rows(true, emit),
            "variables_info" => self.variables_info(emit),
            "variables_metadata" => self.variables_metadata(emit),
            "persisted_variables" => self.persisted_variables(emit),
            "processlist" => self.processlist(table, emit),
            "threads" => self.threads(table, emit),
            "session_connect_attrs" => self.connect_attributes(true, emit),
            "session_account_connect_attrs" => self.connect_attributes(false, emit),
            "metadata_locks" => self.metadata_locks(table, emit),
            _ => Ok(()),
        }
    }

    fn mysql_schema(&self, name: &str, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        match name {
            "user" => self.mysql_user(table, emit),
            "db" => self.mysql_db(table, emit),
            "tables_priv" => self.mysql_tables_priv(table, emit),
            "columns_priv" => self.mysql_columns_priv(table, emit),
            "global_grants" => self.mysql_global_grants(emit),
            "role_edges" => self.mysql_role_edges(emit),
            "default_roles" => self.mysql_default_roles(emit),
            "password_history" => self.mysql_password_history(emit),
            "time_zone_name" => self.mysql_time_zone_names(emit),
            _ => Ok(()),
        }
    }

    /// The zones that SET time_zone and CONVERT_TZ take by name.
    fn mysql_time_zone_names(&self, emit: Emit<'_>) -> SqlResult<()> {
        for (number, name) in (1..).zip(instance::time_zones::names(self.instance)) {
            if !emit(vec![crate::result::text(&name), Value::UInt(number)])? {
                break;
            }
        }
        Ok(())
    }

    fn sys_schema(&self, name: &str, _table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        if name == "version" {
            let row = vec![crate::result::text("2.1.3"), crate::result::text(instance::options::VERSION)];
            emit(row)?;
        }
        Ok(())
    }
}
