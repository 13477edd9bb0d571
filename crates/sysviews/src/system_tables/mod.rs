//! Tables without storage: information_schema, performance_schema, mysql, sys. Main type: [`SystemTables`].
//! Names, columns and types come from `data/system_tables.tsv`; rows are made as a statement pulls them (`cursor.rs`), those that it
//! wants by key alone where the table has one (`keys.rs`).
//! A table that has a definition but no rows here is empty, as in MySQL where the feature is not in use.

mod accounts;
mod columns;
mod cursor;
mod data_locks;
mod definitions;
mod foreign_keys;
mod innodb;
mod innodb_trx;
mod keys;
mod reference;
mod roles;
mod row;
mod sessions;
mod tables;
mod views;

pub(crate) use accounts::privilege_rows;
pub use columns::default_text;
pub use definitions::{definition, names};
pub(crate) use reference::PLUGINS;
pub(crate) use sessions::SHORT_STATEMENT_CHARACTERS;
pub use sessions::deprecated_process_list;

use accounts::Listed;
use cursor::{Pieces, SystemCursor, ViewRows, whole};
use dictionary::TableDefinition;
use errors::{SqlError, SqlResult};
use expression::Routine;
use instance::Instance;
use instance::SessionShared;
use instance::SessionUser;
use instance::system_schemas::{OVERLAY_SCHEMA, is_system_schema};
use keys::Wanted;
use plan::{View, VirtualCursor, VirtualRequest, VirtualTables};
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

impl VirtualTables for SystemTables<'_> {
    fn table(&self, schema: &str, name: &str) -> Option<Arc<TableDefinition>> {
        if schema == OVERLAY_SCHEMA {
            return self.overlay.as_ref().map(|overlay| Arc::clone(&overlay.definition));
        }
        definition(schema, name)
    }

    fn deprecation(&self, table: &TableDefinition) -> Option<SqlError> {
        let is_list = table.name.schema == "information_schema" && table.name.table == "PROCESSLIST";
        is_list.then(deprecated_process_list)
    }

    fn view(&self, schema: &str, name: &str) -> SqlResult<Option<View>> {
        self.instance.view(schema, name)
    }

    fn routine(&self, schema: &str, name: &str) -> Option<Arc<Routine>> {
        self.instance.routines().find(schema, name)
    }

    fn key_columns(&self, table: &TableDefinition) -> Vec<usize> {
        let names = keys::key_columns(&table.name.schema, &table.name.table);
        names.iter().filter_map(|name| table.column_position(name)).collect()
    }

    fn open<'t>(&'t self, request: VirtualRequest) -> SqlResult<Box<dyn VirtualCursor + 't>> {
        let wanted = Wanted::of(request);
        let pieces = match wanted.view.name.schema.as_str() {
            OVERLAY_SCHEMA => self.overlay_rows(),
            "information_schema" => self.information_schema(wanted)?,
            "performance_schema" => self.performance_schema(wanted),
            "mysql" => self.mysql_schema(wanted),
            "sys" => whole(sys_schema(&wanted.view.name.table)),
            _ => whole(Vec::new()),
        };
        Ok(Box::new(SystemCursor::new(self, pieces)))
    }

    fn keeps_column_names(&self, schema: &str, name: &str) -> bool {
        schema.eq_ignore_ascii_case("information_schema") && definitions::is_information_schema_view(name)
    }

    fn has_schema(&self, schema: &str) -> bool {
        is_system_schema(schema) || (schema == OVERLAY_SCHEMA && self.overlay.is_some())
    }
}

impl SystemTables<'_> {
    fn overlay_rows(&self) -> Pieces<'_> {
        let rows = self.overlay.iter().flat_map(|overlay| &overlay.rows);
        Box::new(rows.map(|row| vec![row.clone()]))
    }

    fn information_schema(&self, wanted: Wanted) -> SqlResult<Pieces<'_>> {
        let view = wanted.view.clone();
        self.require_process(&view.name.table)?;
        Ok(match view.name.table.as_str() {
            "SCHEMATA" => whole(self.schemata(&wanted)),
            "SCHEMATA_EXTENSIONS" => whole(self.schemata_extensions(&wanted)),
            "TABLES" => self.tables(wanted),
            "COLUMNS" => self.by_table(wanted, SystemTables::columns),
            "STATISTICS" => self.by_table(wanted, SystemTables::statistics),
            "KEY_COLUMN_USAGE" => self.by_table(wanted, SystemTables::key_column_usage),
            "TABLE_CONSTRAINTS" => self.by_table(wanted, SystemTables::table_constraints),
            "REFERENTIAL_CONSTRAINTS" => self.by_table(wanted, foreign_keys::referential_constraints),
            "INNODB_FOREIGN" => self.by_table(wanted, foreign_keys::innodb_foreign),
            "INNODB_FOREIGN_COLS" => self.by_table(wanted, foreign_keys::innodb_foreign_columns),
            "CHECK_CONSTRAINTS" => self.by_table(wanted, SystemTables::check_constraints),
            "PARTITIONS" => self.by_table(wanted, SystemTables::partitions),
            "VIEWS" => self.by_table(wanted, views::views),
            "VIEW_TABLE_USAGE" => self.by_table(wanted, views::view_table_usage),
            "ENGINES" => whole(reference::engines()),
            "CHARACTER_SETS" => whole(reference::character_sets()),
            "COLLATIONS" => whole(reference::collations()),
            "COLLATION_CHARACTER_SET_APPLICABILITY" => whole(reference::collation_charsets()),
            "KEYWORDS" => whole(reference::keywords()),
            "PLUGINS" => whole(reference::plugins()),
            "PROCESSLIST" => self.by_session(wanted, &["ID"], SystemTables::processlist),
            "USER_PRIVILEGES" => self.by_account(wanted, Listed::Visible, SystemTables::user_privileges),
            "SCHEMA_PRIVILEGES" => self.by_account(wanted, Listed::Visible, SystemTables::schema_privileges),
            "TABLE_PRIVILEGES" => self.by_account(wanted, Listed::Visible, SystemTables::table_privileges),
            "COLUMN_PRIVILEGES" => self.by_account(wanted, Listed::Visible, SystemTables::column_privileges),
            "USER_ATTRIBUTES" => self.by_account(wanted, Listed::Visible, SystemTables::user_attributes),
            "APPLICABLE_ROLES" => whole(roles::applicable_roles(self)),
            "ENABLED_ROLES" => whole(roles::enabled_roles(self)),
            "ADMINISTRABLE_ROLE_AUTHORIZATIONS" => whole(roles::administrable_roles(self)),
            "ROLE_TABLE_GRANTS" => whole(roles::role_table_grants(self, &wanted)),
            "ROLE_COLUMN_GRANTS" => whole(roles::role_column_grants(self, &wanted)),
            "INNODB_TABLESPACES" => self.by_stored_table(wanted, SystemTables::innodb_tablespaces),
            "INNODB_TABLES" => self.by_stored_table(wanted, SystemTables::innodb_tables),
            "INNODB_TRX" => whole(self.innodb_trx(&view)),
            _ => whole(Vec::new()),
        })
    }

    fn performance_schema(&self, wanted: Wanted) -> Pieces<'_> {
        let view = wanted.view.clone();
        match view.name.table.as_str() {
            "session_variables" => whole(self.variable_rows(&wanted, false)),
            "global_variables" => whole(self.variable_rows(&wanted, true)),
            "session_status" => whole(self.status_rows(&wanted, false)),
            "global_status" => whole(self.status_rows(&wanted, true)),
            "variables_info" => whole(sessions::variables_info(&wanted)),
            "variables_metadata" => whole(sessions::variables_metadata(&wanted)),
            "persisted_variables" => whole(self.persisted_variables(&wanted)),
            "processlist" => self.by_session(wanted, &["ID"], SystemTables::processlist),
            "threads" => self.by_session(wanted, &["PROCESSLIST_ID", "THREAD_ID"], SystemTables::threads),
            "session_connect_attrs" => {
                self.by_session(wanted, &["PROCESSLIST_ID"], SystemTables::connect_attributes)
            }
            "session_account_connect_attrs" => {
                self.by_session(wanted, &["PROCESSLIST_ID"], SystemTables::own_connect_attributes)
            }
            "metadata_locks" => whole(self.metadata_locks(&view)),
            "data_locks" => whole(self.data_locks(&view)),
            "data_lock_waits" => whole(self.data_lock_waits(&view)),
            _ => whole(Vec::new()),
        }
    }

    fn mysql_schema(&self, wanted: Wanted) -> Pieces<'_> {
        let view = wanted.view.clone();
        match view.name.table.as_str() {
            "user" => self.by_account(wanted, Listed::All, SystemTables::mysql_user),
            "db" => self.by_account(wanted, Listed::All, SystemTables::mysql_db),
            "tables_priv" => self.by_account(wanted, Listed::All, SystemTables::mysql_tables_priv),
            "columns_priv" => self.by_account(wanted, Listed::All, SystemTables::mysql_columns_priv),
            "global_grants" => self.by_account(wanted, Listed::All, SystemTables::mysql_global_grants),
            "role_edges" => self.by_account(wanted, Listed::All, roles::mysql_role_edges),
            "default_roles" => self.by_account(wanted, Listed::All, roles::mysql_default_roles),
            "password_history" => {
                self.by_account(wanted, Listed::AllByHost, SystemTables::mysql_password_history)
            }
            "time_zone_name" => whole(self.mysql_time_zone_names()),
            _ => whole(Vec::new()),
        }
    }

    /// The zones that SET time_zone and CONVERT_TZ take by name.
    fn mysql_time_zone_names(&self) -> ViewRows {
        let names = (1..).zip(instance::time_zones::names(self.instance));
        names.map(|(number, name)| vec![crate::result::text(&name), Value::UInt(number)]).collect()
    }
}

fn sys_schema(view: &str) -> ViewRows {
    match view {
        "version" => {
            vec![vec![crate::result::text("2.1.3"), crate::result::text(instance::options::VERSION)]]
        }
        _ => Vec::new(),
    }
}
