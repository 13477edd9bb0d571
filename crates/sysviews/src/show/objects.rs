//! SHOW forms about schemas and tables.

use super::create::{Form, create_database, create_table};
use super::{Listing, Showing};
use crate::result::{
    bytewise_column, column, computed, line_column, not_null, number_column, sized_column, text, text_column,
};
use crate::system_tables;
use crate::view_text::create_view;
use crate::{schema_exists, table_exists};
use accounts::Privileges;
use catalog::{LockKey, LockMode, Namespace};
use dictionary::{SchemaDefinition, TableName, ViewDefinition};
use engine::Table;
use errors::{SqlResult, sql_error};
use instance::{lock_limit, lock_owner};
use parser::ast::{ObjectName, Show, ShowFilter};
use std::sync::Arc;
use values::{ColumnType, TypeKind, Value};
use wire::result::ResultColumn;

impl Showing<'_> {
    /// The listing of a form about schemas and tables with its filter; None for other forms.
    pub(super) fn object_listing(&mut self, show: &Show) -> SqlResult<Option<(Listing, ShowFilter)>> {
        let plain = |listing: Listing| Ok(Some((listing, ShowFilter::None)));
        Ok(Some(match show {
            Show::Databases(filter) => (self.database_listing(filter), filter.clone()),
            Show::Tables { full, schema, filter, .. } => {
                (self.table_listing(schema.as_ref(), *full, filter)?, filter.clone())
            }
            Show::TableStatus { schema, filter } => (self.table_status(schema.as_ref())?, filter.clone()),
            Show::OpenTables { schema, filter } => (self.open_tables(schema.as_ref())?, filter.clone()),
            Show::Columns { full, table, filter, .. } => {
                let listing = match full {
                    true => self.full_column_listing(table)?,
                    false => self.column_listing(table, true)?,
                };
                (listing, filter.clone())
            }
            Show::Index { table, filter, .. } => {
                let filter = filter.clone().map_or(ShowFilter::None, ShowFilter::Where);
                (self.index_listing(table)?, filter)
            }
            Show::CreateTable(name) => return plain(self.create_table_listing(name)?),
            Show::CreateView(name) => return plain(self.create_view_listing(name)?),
            Show::CreateDatabase { name, if_not_exists } => {
                return plain(self.create_database_listing(name, *if_not_exists)?);
            }
            _ => return Ok(None),
        }))
    }

    fn database_listing(&mut self, filter: &ShowFilter) -> Listing {
        let name = match filter {
            ShowFilter::Like(pattern) => format!("Database ({})", String::from_utf8_lossy(pattern)),
            _ => "Database".to_owned(),
        };
        let schemas = self.system_tables().visible_schemas();
        let rows = schemas.into_iter().map(|(name, _)| vec![text(name)]).collect();
        Listing { columns: vec![not_null(bytewise_column(&name, 64))], rows }
    }

    fn table_listing(
        &mut self,
        schema: Option<&String>,
        full: bool,
        filter: &ShowFilter,
    ) -> SqlResult<Listing> {
        let schema = self.shown_schema(schema)?;
        self.user.require_schema_use(self.instance, &schema)?;
        let name = match filter {
            ShowFilter::Like(pattern) => format!("Tables_in_{schema} ({})", String::from_utf8_lossy(pattern)),
            _ => format!("Tables_in_{schema}"),
        };
        let mut columns = vec![not_null(bytewise_column(&name, 64))];
        if full {
            columns.push(not_null(fixed_column("Table_type", 11)));
        }
        let dictionary = self.instance.engine().dictionary();
        let kind = |table: &str| match dictionary.views.get(&schema, table) {
            Some(_) => "VIEW",
            None if schema == "information_schema" => "SYSTEM VIEW",
            None => "BASE TABLE",
        };
        let rows = self
            .visible_tables(&schema)
            .into_iter()
            .map(|table| {
                let kind = full.then(|| text(kind(&table)));
                let mut row = vec![text(table)];
                row.extend(kind);
                row
            })
            .collect();
        Ok(Listing { columns, rows })
    }

    /// Names of a schema's tables that the user may see, sorted.
    fn visible_tables(&mut self, schema: &str) -> Vec<String> {
        let rows = self.system_tables().table_names(schema);
        let mut names = rows;
        names.sort();
        names
    }

    fn table_status(&mut self, schema: Option<&String>) -> SqlResult<Listing> {
        let schema = self.shown_schema(schema)?;
        self.user.require_schema_use(self.instance, &schema)?;
        let date = |name: &str| column(name, ColumnType::new(TypeKind::DateTime));
        let number = |name: &str| sized_column(name, TypeKind::BigInt, true, 21);
        let columns = vec![
            not_null(bytewise_column("Name", 64)),
            text_column("Engine", 64),
            sized_column("Version", TypeKind::Int, false, 3),
            text_column("Row_format", 10),
            number("Rows"),
            number("Avg_row_length"),
            number("Data_length"),
            number("Max_data_length"),
            number("Index_length"),
            number("Data_free"),
            number("Auto_increment"),
            date("Create_time"),
            date("Update_time"),
            date("Check_time"),
            text_column("Collation", 64),
            number("Checksum"),
            text_column("Create_options", 256),
            text_column("Comment", 2048),
        ];
        let rows = self.system_tables().status_rows_of(&schema)?;
        Ok(Listing { columns, rows })
    }

    fn open_tables(&mut self, schema: Option<&String>) -> SqlResult<Listing> {
        let schema = schema.cloned();
        let columns = vec![
            text_column("Database", 64),
            text_column("Table", 64),
            number_column("In_use"),
            number_column("Name_locked"),
        ];
        let locks = self.instance.metadata_locks().rows();
        let grants = self.user.current_grants(self.instance);
        let mut rows = Vec::new();
        for lock in locks.iter().filter(|lock| lock.granted && lock.key.namespace() == Namespace::Table) {
            if schema.as_ref().is_some_and(|wanted| *wanted != lock.key.schema_name()) {
                continue;
            }
            let held = grants.table_or_columns(lock.key.schema_name(), lock.key.object_name());
            if !held.intersects(Privileges::ALL_TABLE) {
                continue;
            }
            rows.push(vec![
                text(lock.key.schema_name()),
                text(lock.key.object_name()),
                Value::Int(1),
                Value::Int(0),
            ]);
        }
        rows.dedup();
        Ok(Listing { columns, rows })
    }

    /// The temporary table of that name.
    pub(super) fn own_table(&self, name: &TableName) -> Option<Arc<Table>> {
        self.temporary.table(&name.schema, &name.table)
    }

    /// The table that a SHOW form names. Errors: 1046, 1142, 1146.
    fn shown_table(&mut self, table: &ObjectName) -> SqlResult<TableName> {
        let name = self.table_name(table)?;
        if self.own_table(&name).is_some() {
            return Ok(name);
        }
        if !schema_exists(self.instance, &name.schema) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
        }
        self.wait_while_made(&name)?;
        if !table_exists(self.instance, &name.schema, &name.table) {
            return Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table));
        }
        self.require_shown(&name)?;
        Ok(name)
    }

    /// Error 1142 for SHOW COLUMNS and SHOW INDEX, unless the user may read the whole schema or has anything granted on the
    /// table or its columns.
    pub(crate) fn require_shown(&mut self, name: &TableName) -> SqlResult<()> {
        let grants = self.user.current_grants(self.instance);
        let open = instance::system_schemas::is_always_readable(&name.schema, &name.table)
            || grants.schema(&name.schema).contains(Privileges::SELECT)
            || grants.table_grant(&name.schema, &name.table).is_some();
        if open { Ok(()) } else { Err(self.user.denied_table("SELECT", &name.table)) }
    }

    /// Waits while a statement makes a table of that name and fills it: until then nobody knows whether there will be one. Errors:
    /// 1205, 1317.
    fn wait_while_made(&mut self, name: &TableName) -> SqlResult<()> {
        let table = self.instance.engine().dictionary().table(&name.schema, &name.table);
        if table.is_some_and(|table| table.is_hidden()) {
            let key = LockKey::table(&name.schema, &name.table);
            let owner = lock_owner(self.instance, self.shared);
            let limit = lock_limit(self.shared, self.settings.metadata_lock_timeout);
            self.locks.take_for_statement(owner, limit, vec![(key.clone(), LockMode::Read)])?;
            self.locks.release_of_statement(owner, &key);
        }
        Ok(())
    }

    /// SHOW COLUMNS and DESCRIBE.
    pub(super) fn column_listing(&mut self, table: &ObjectName, _show: bool) -> SqlResult<Listing> {
        let name = self.shown_table(table)?;
        let columns = vec![
            text_column("Field", 64),
            not_null(column(
                "Type",
                ColumnType::text(TypeKind::MediumText, charset::CollationId::UTF8MB3_BIN),
            )),
            not_null(text_column("Null", 3)),
            not_null(fixed_column("Key", 3)),
            column("Default", ColumnType::text(TypeKind::Text, charset::CollationId::UTF8MB3_BIN)),
            text_column("Extra", 256),
        ];
        let rows = self.column_rows(&name)?;
        let rows =
            rows.into_iter().map(|row| [3, 15, 6, 16, 5, 17].map(|at| row[at].clone()).to_vec()).collect();
        Ok(Listing { columns, rows })
    }

    fn full_column_listing(&mut self, table: &ObjectName) -> SqlResult<Listing> {
        let name = self.shown_table(table)?;
        let columns = vec![
            text_column("Field", 64),
            not_null(column(
                "Type",
                ColumnType::text(TypeKind::MediumText, charset::CollationId::UTF8MB3_BIN),
            )),
            text_column("Collation", 64),
            not_null(text_column("Null", 3)),
            not_null(fixed_column("Key", 3)),
            column("Default", ColumnType::text(TypeKind::Text, charset::CollationId::UTF8MB3_BIN)),
            text_column("Extra", 256),
            text_column("Privileges", 154),
            not_null(column(
                "Comment",
                ColumnType {
                    length: Some(COLUMN_COMMENT_CHARACTERS),
                    ..ColumnType::text(TypeKind::Text, charset::CollationId::UTF8MB3_BIN)
                },
            )),
        ];
        let rows = self.column_rows(&name)?;
        let order = [3, 15, 14, 6, 16, 5, 17, 18, 19];
        let rows = rows.into_iter().map(|row| order.map(|at| row[at].clone()).to_vec()).collect();
        Ok(Listing { columns, rows })
    }

    /// Rows of information_schema.COLUMNS for one table, COLUMN_KEY as text.
    fn column_rows(&mut self, name: &TableName) -> SqlResult<Vec<Vec<Value>>> {
        let own = self.own_table(name);
        let is_own = own.is_some();
        let rows = self.system_tables().visible_column_rows(name, own);
        const KEYS: [&str; 5] = ["", "", "PRI", "UNI", "MUL"];
        Ok(rows
            .into_iter()
            .map(|mut row| {
                if let Value::UInt(member) = row[16] {
                    row[16] = text(KEYS[(member as usize).min(4)]);
                }
                // MySQL lists these without its dictionary, and has the word for it.
                if is_own && row[17] == text("") {
                    row[17] = text("NULL");
                }
                row
            })
            .collect())
    }

    fn index_listing(&mut self, table: &ObjectName) -> SqlResult<Listing> {
        let name = self.shown_table(table)?;
        let number = |name: &str| sized_column(name, TypeKind::BigInt, false, 21);
        let columns = vec![
            not_null(bytewise_column("Table", 64)),
            not_null(sized_column("Non_unique", TypeKind::Int, false, 2)),
            text_column("Key_name", 64),
            not_null(column("Seq_in_index", ColumnType::integer(TypeKind::Int, true))),
            text_column("Column_name", 64),
            text_column("Collation", 1),
            number("Cardinality"),
            number("Sub_part"),
            computed(column("Packed", ColumnType::null())),
            not_null(text_column("Null", 3)),
            not_null(bytewise_column("Index_type", 11)),
            not_null(text_column("Comment", 8)),
            not_null(bytewise_column("Index_comment", 2048)),
            not_null(text_column("Visible", 3)),
            column("Expression", ColumnType::text(TypeKind::LongText, charset::CollationId::UTF8MB3_BIN)),
        ];
        let own = self.own_table(&name);
        let rows = self.system_tables().index_rows_of(&name, own);
        let order = [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
        let rows = rows.into_iter().map(|row| order.map(|at| row[at].clone()).to_vec()).collect();
        Ok(Listing { columns, rows })
    }

    /// SHOW CREATE TABLE. Errors: 1142 before the table is looked up, 1049, 1146.
    fn create_table_listing(&mut self, table: &ObjectName) -> SqlResult<Listing> {
        let name = self.table_name(table)?;
        if let Some(own) = self.own_table(&name) {
            return Ok(self.stored_table_text(&own));
        }
        let open = instance::system_schemas::is_always_readable(&name.schema, &name.table);
        if !open
            && !self
                .user
                .current_grants(self.instance)
                .table(&name.schema, &name.table)
                .intersects(Privileges::ALL_TABLE)
        {
            return Err(self.user.denied_table("SHOW", &name.table));
        }
        if !schema_exists(self.instance, &name.schema) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
        }
        if !instance::system_schemas::is_system_schema(&name.schema) {
            self.locks.explicit.check(&LockKey::table(&name.schema, &name.table), LockMode::Read)?;
        }
        self.wait_while_made(&name)?;
        if let Some(view) = self.instance.engine().dictionary().views.get(&name.schema, &name.table) {
            return self.text_of_view(&view);
        }
        if let Some(stored) = self.instance.engine().dictionary().table(&name.schema, &name.table) {
            return Ok(self.stored_table_text(&stored));
        }
        match system_tables::definition(&name.schema, &name.table) {
            Some(definition) => {
                let statement = create_table(&definition, None, Form::of(&self.settings.facts));
                Ok(table_text(name.table, statement))
            }
            None => Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table)),
        }
    }

    fn stored_table_text(&self, table: &Table) -> Listing {
        let definition = table.definition();
        let next_id = definition.auto_increment_column().map(|_| table.auto_increment().peek());
        let statement = create_table(definition, next_id, Form::of(&self.settings.facts));
        table_text(definition.name.table.clone(), statement)
    }

    /// SHOW CREATE VIEW. Errors: 1142, 1049, 1146, 1347.
    fn create_view_listing(&mut self, view: &ObjectName) -> SqlResult<Listing> {
        let name = self.table_name(view)?;
        self.user.require_table_or_columns(self.instance, Privileges::SELECT, &name)?;
        if !schema_exists(self.instance, &name.schema) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
        }
        let found = self.instance.engine().dictionary().views.get(&name.schema, &name.table);
        match found {
            Some(view) => self.text_of_view(&view),
            None if table_exists(self.instance, &name.schema, &name.table) => {
                Err(sql_error!(ER_WRONG_OBJECT, name.schema, name.table, "VIEW"))
            }
            None => Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table)),
        }
    }

    /// The text of a view, to who may see it.
    fn text_of_view(&mut self, view: &ViewDefinition) -> SqlResult<Listing> {
        let name = &view.shape.name;
        self.user.require_table(self.instance, Privileges::SHOW_VIEW, name)?;
        let columns = vec![
            line_column("View", 64),
            line_column("Create View", 1024),
            line_column("character_set_client", 32),
            line_column("collation_connection", 32),
        ];
        let statement = create_view(view, self.schema);
        let row = vec![
            text(&*name.table),
            text(statement),
            text(&*view.client_charset),
            text(&*view.connection_collation),
        ];
        Ok(Listing { columns, rows: vec![row] })
    }

    fn create_database_listing(&mut self, name: &str, if_not_exists: bool) -> SqlResult<Listing> {
        self.user.require_schema_use(
            self.instance,
            instance::system_schemas::system_schema(name).unwrap_or(name),
        )?;
        let name = self.shown_schema(Some(&name.to_owned()))?;
        let stored = self.instance.engine().dictionary().schema(&name);
        let schema = match stored {
            Some(schema) => (*schema).clone(),
            None => SchemaDefinition {
                name: name.clone(),
                collation: if name == "information_schema" {
                    charset::CollationId::UTF8MB3_GENERAL_CI
                } else {
                    charset::CollationId::UTF8MB4_0900_AI_CI
                },
            },
        };
        let columns = vec![line_column("Database", 64), line_column("Create Database", 1024)];
        let row =
            vec![text(name), text(create_database(&schema, if_not_exists, Form::of(&self.settings.facts)))];
        Ok(Listing { columns, rows: vec![row] })
    }
}

/// Characters of a comment of a column.
const COLUMN_COMMENT_CHARACTERS: u32 = 2048;

/// A column of a few fixed words, which MySQL keeps as ENUM.
fn fixed_column(name: &str, characters: u32) -> ResultColumn {
    column(name, ColumnType::char(characters, charset::CollationId::UTF8MB3_BIN))
}

fn table_text(name: String, statement: String) -> Listing {
    let columns = vec![line_column("Table", 64), line_column("Create Table", 1024)];
    Listing { columns, rows: vec![vec![text(name), text(statement)]] }
}
