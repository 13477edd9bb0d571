//! SHOW and DESCRIBE. Entry points: [`Session::show`], [`Session::describe_table`].
//! A form makes its columns and rows; LIKE filters the first column here, WHERE runs as a query over the rows.

pub(crate) mod create;
mod objects;
mod server;

use crate::session::Session;
use crate::system_tables::{Overlay, SystemTables};
use charset::CollationId;
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition, TableName, TableOptions};
use errors::{SqlResult, sql_error};
use instance::system_schemas::{OVERLAY_SCHEMA, OVERLAY_TABLE};
use parser::ast::{self, Expression, ObjectName, QueryBody, Show, ShowFilter, Statement};
use std::sync::Arc;
use stdx::ids::TableId;
use values::Value;
use wire::result::{ClientChannel, ResultColumn, ResultSink};

/// A result set before it is filtered.
pub(crate) struct Listing {
    /// Columns.
    pub columns: Vec<ResultColumn>,
    /// Rows.
    pub rows: Vec<Vec<Value>>,
}

impl Session {
    /// SHOW.
    pub(crate) fn show(&mut self, show: &Show, channel: &mut dyn ClientChannel) -> SqlResult<()> {
        let (listing, filter) = match self.object_listing(show)? {
            Some(found) => found,
            None => self.server_listing(show)?,
        };
        self.send_listing(listing, &filter, channel)
    }

    /// DESCRIBE table [column or pattern].
    pub(crate) fn describe_table(
        &mut self,
        table: &ObjectName,
        column: Option<&[u8]>,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let filter = column.map_or(ShowFilter::None, |pattern| ShowFilter::Like(pattern.to_vec()));
        let listing = self.column_listing(table, false)?;
        self.send_listing(listing, &filter, channel)
    }

    fn send_listing(
        &mut self,
        mut listing: Listing,
        filter: &ShowFilter,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        match filter {
            ShowFilter::None => {}
            ShowFilter::Like(pattern) => {
                let pattern = self.connection_collation().charset().to_string_lossy(pattern);
                listing.rows.retain(|row| match row.first() {
                    Some(Value::Bytes(name)) => values::print::like(&String::from_utf8_lossy(name), &pattern),
                    _ => false,
                });
            }
            ShowFilter::Where(condition) => listing.rows = self.filter_rows(&listing, condition)?,
        }
        self.send_rows(&listing.columns, &listing.rows, sink)
    }

    /// The rows for which the condition holds.
    fn filter_rows(&mut self, listing: &Listing, condition: &Expression) -> SqlResult<Vec<Vec<Value>>> {
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
        let query = crate::execute::plain_query(QueryBody::Select(Box::new(select)));
        let overlay = Overlay {
            definition: Arc::new(overlay_definition(&listing.columns)),
            rows: listing.rows.clone(),
        };
        Ok(self.collect(&Statement::Query(Box::new(query)), Some(overlay))?.1)
    }

    /// Rows of a virtual table for SHOW forms that print a view of it: `SELECT items FROM schema.table WHERE ..`.
    pub(crate) fn system_rows(&mut self, schema: &str, table: &str) -> SqlResult<Vec<Vec<Value>>> {
        use plan::VirtualTables;
        let tables = self.system_tables();
        let mut rows = Vec::new();
        if let Some(definition) = tables.table(schema, table) {
            tables.rows(&definition, &[], &mut |row| {
                rows.push(row);
                Ok(true)
            })?;
        }
        Ok(rows)
    }

    /// The system tables as this session sees them.
    pub(crate) fn system_tables(&mut self) -> SystemTables<'_> {
        self.refresh_account();
        SystemTables {
            instance: &self.instance,
            shared: &self.shared,
            user: &self.user,
            variables: Arc::clone(&self.state.variables),
            overlay: None,
        }
    }

    /// The schema that a SHOW form is about. Errors 1046 and 1049.
    pub(crate) fn shown_schema(&self, named: Option<&String>) -> SqlResult<String> {
        let schema = match (named, &self.schema) {
            (Some(name), _) => name.clone(),
            (None, Some(schema)) => schema.to_string(),
            (None, None) => return Err(sql_error!(ER_NO_DB_ERROR)),
        };
        let schema = instance::system_schemas::system_schema(&schema).map_or(schema, str::to_owned);
        if !self.schema_exists(&schema) {
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
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        comment: String::new(),
    };
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: OVERLAY_SCHEMA.to_owned(), table: OVERLAY_TABLE.to_owned() },
        columns: columns.iter().map(column).collect(),
        indexes: Vec::new(),
        collation: CollationId::UTF8MB3_GENERAL_CI,
        options: TableOptions::default(),
    }
}
