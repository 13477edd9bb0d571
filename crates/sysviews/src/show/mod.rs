//! SHOW and DESCRIBE. Entry point: [`Showing::listing`]. Main types: [`Showing`], [`Listing`].
//! A form makes its columns and rows; LIKE filters the first column here, WHERE runs as a query over the rows.

pub(crate) mod create;
mod deadlock;
mod field_list;
mod objects;
mod server;

use crate::system_tables::{Overlay, SystemTables};
use catalog::HeldLocks;
use charset::CollationId;
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition, TableName, TableOptions};
use engine::TemporaryTables;
use errors::{Diagnostics, SqlResult, sql_error};
use instance::system_schemas::{OVERLAY_SCHEMA, OVERLAY_TABLE};
use instance::{Instance, SessionShared, SessionUser, StatementSettings};
use parser::ast::{self, Expression, ObjectName, Query, QueryBody, Show, ShowFilter, Statement};
use std::sync::Arc;
use stdx::ids::TableId;
use values::Value;
use variables::SessionVariables;
use wire::result::ResultColumn;

/// A result set before it is filtered.
pub struct Listing {
    /// Columns.
    pub columns: Vec<ResultColumn>,
    /// Rows.
    pub rows: Vec<Vec<Value>>,
}

/// What SHOW borrows of the running session.
pub struct Showing<'s> {
    /// The server.
    pub instance: &'s Instance,
    /// The session as others see it.
    pub shared: &'s SessionShared,
    /// Its user.
    pub user: &'s mut SessionUser,
    /// Its variables.
    pub variables: &'s Arc<SessionVariables>,
    /// What they say to statements.
    pub settings: &'s StatementSettings,
    /// Its temporary tables.
    pub temporary: &'s TemporaryTables,
    /// Its default schema.
    pub schema: Option<&'s str>,
    /// Conditions of the statement before.
    pub diagnostics: &'s Diagnostics,
    /// How many these are, and how many of them errors.
    pub counts: (u64, u64),
    /// What it holds by name.
    pub locks: &'s mut HeldLocks,
    /// LIMIT of SHOW WARNINGS and SHOW ERRORS: how many go before those that are shown, and how many are.
    pub limit: (u64, u64),
}

impl Listing {
    /// Leaves the rows whose first column is like the pattern: names of schemas and tables as they are written, others in any case.
    pub fn keep_like(&mut self, pattern: &str) {
        let bytes = CollationId::UTF8MB3_BIN;
        let is_exact = self.columns.first().is_some_and(|column| column.column_type.collation == bytes);
        let escape = Some(u32::from('\\'));
        self.rows.retain(|row| match row.first() {
            Some(Value::Bytes(name)) if is_exact => {
                bytes.get().like(name, pattern.as_bytes(), escape, &mut || true).unwrap_or(false)
            }
            Some(Value::Bytes(name)) => values::print::like(&String::from_utf8_lossy(name), pattern),
            _ => false,
        });
    }

    /// The listing as a table.
    pub fn overlay(&self) -> Overlay {
        Overlay { definition: Arc::new(overlay_definition(&self.columns)), rows: self.rows.clone() }
    }
}

/// The query for the rows of an overlay for which the condition holds.
pub fn overlay_query(condition: &Expression) -> Statement {
    let select = ast::Select {
        items: vec![ast::SelectItem::Wildcard],
        from: vec![ast::TableReference::Table(ast::TableFactor {
            name: ObjectName { schema: Some(OVERLAY_SCHEMA.to_owned()), name: OVERLAY_TABLE.to_owned() },
            partitions: Vec::new(),
            alias: None,
            index_hints: Vec::new(),
        })],
        filter: Some(condition.clone()),
        ..ast::Select::default()
    };
    Statement::Query(Box::new(plain_query(QueryBody::Select(Box::new(select)))))
}

/// A query without clauses around its body.
pub fn plain_query(body: QueryBody) -> Query {
    Query { with: None, body, order_by: Vec::new(), limit: None, locking: Vec::new(), into: None }
}

impl Showing<'_> {
    /// SHOW: the rows, and what filters them.
    pub fn listing(&mut self, show: &Show) -> SqlResult<(Listing, ShowFilter)> {
        match self.object_listing(show)? {
            Some(found) => Ok(found),
            None => self.server_listing(show),
        }
    }

    /// DESCRIBE table.
    pub fn describe(&mut self, table: &ObjectName) -> SqlResult<Listing> {
        self.column_listing(table, false)
    }

    /// Rows of a virtual table for SHOW forms that print a view of it: `SELECT items FROM schema.table WHERE ..`.
    fn system_rows(&mut self, schema: &str, table: &str) -> SqlResult<Vec<Vec<Value>>> {
        use plan::{VirtualRequest, VirtualTables};
        let tables = self.system_tables();
        let mut rows = Vec::new();
        if let Some(definition) = tables.table(schema, table) {
            let mut cursor = tables.open(VirtualRequest::whole(definition))?;
            while let Some(row) = cursor.next()? {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// The system tables as this session sees them.
    fn system_tables(&mut self) -> SystemTables<'_> {
        self.user.refresh(self.instance);
        SystemTables {
            instance: self.instance,
            shared: self.shared,
            user: self.user,
            variables: Arc::clone(self.variables),
            overlay: None,
        }
    }

    /// The full name of a table. Error 1046 without a default schema.
    fn table_name(&self, name: &ObjectName) -> SqlResult<TableName> {
        instance::table_name(name, self.schema)
    }

    /// The schema that a SHOW form is about. Errors 1046 and 1049.
    fn shown_schema(&self, named: Option<&String>) -> SqlResult<String> {
        let schema = match (named, self.schema) {
            (Some(name), _) => name.clone(),
            (None, Some(schema)) => schema.to_owned(),
            (None, None) => return Err(sql_error!(ER_NO_DB_ERROR)),
        };
        let schema = instance::system_schemas::system_schema(&schema).map_or(schema, str::to_owned);
        if !crate::schema_exists(self.instance, &schema) {
            return Err(sql_error!(ER_BAD_DB_ERROR, schema));
        }
        Ok(schema)
    }
}

/// A table's definition for the columns of a listing.
fn overlay_definition(columns: &[ResultColumn]) -> TableDefinition {
    let column = |column: &ResultColumn| ColumnDefinition {
        name: column.name.clone(),
        column_type: column.column_type.clone(),
        nullable: true,
        default: ColumnDefault::None,
        generated: None,
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        names_collation: false,
        comment: String::new(),
    };
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: OVERLAY_SCHEMA.to_owned(), table: OVERLAY_TABLE.to_owned() },
        columns: columns.iter().map(column).collect(),
        indexes: Vec::new(),
        collation: CollationId::UTF8MB3_GENERAL_CI,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}
