//! information_schema.INNODB_ views of tables and their files.

use super::SystemTables;
use super::cursor::Pieces;
use super::keys::Wanted;
use super::row::RowBuilder;
use crate::result::text;
use accounts::Privileges;
use dictionary::TableDefinition;
use engine::Table;
use errors::{SqlResult, sql_error};
use instance::system_schemas::is_hidden;
use std::rc::Rc;
use std::sync::Arc;
use values::Value;

/// Those that everybody may read.
const OPEN_VIEWS: &[&str] = &["INNODB_FT_DEFAULT_STOPWORD"];

/// The row that a view has of a stored table.
pub(super) type RowOfStored<'a> = fn(&SystemTables<'a>, &TableDefinition, &Arc<Table>) -> Vec<Value>;

/// A table's name in these views.
fn shown_name(schema: &str, table: &str) -> String {
    format!("{schema}/{table}")
}

impl SystemTables<'_> {
    /// Error 1227 without PROCESS: these views show the files of all tables, whoever may read them.
    pub(super) fn require_process(&self, view: &str) -> SqlResult<()> {
        let inner = view.starts_with("INNODB_") || view == "FILES";
        if !inner || OPEN_VIEWS.contains(&view) || self.user.grants.global().contains(Privileges::PROCESS) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "PROCESS"))
    }

    /// The rows that each stored table gives. Its name in these views is `schema/table`.
    pub(super) fn by_stored_table<'a>(&'a self, wanted: Wanted, row_of: RowOfStored<'a>) -> Pieces<'a> {
        let dictionary = self.instance.engine().dictionary();
        let wanted = Rc::new(wanted);
        let names = wanted.clone();
        let schemas = dictionary.schemas().into_iter().filter(|schema| !is_hidden(&schema.name));
        let named = schemas.flat_map(move |schema| {
            let is_wanted = |name: &String| names.has("NAME", &shown_name(&schema.name, name));
            let tables: Vec<String> =
                dictionary.table_names(&schema.name).into_iter().filter(is_wanted).collect();
            tables.into_iter().map(move |name| (schema.clone(), name))
        });
        Box::new(named.map(move |(schema, name)| {
            let table = dictionary.table(&schema.name, &name);
            table.iter().map(|table| row_of(self, &wanted.view, table)).collect()
        }))
    }

    pub(super) fn innodb_tablespaces(&self, view: &TableDefinition, stored: &Arc<Table>) -> Vec<Value> {
        let name = &stored.definition().name;
        let statistics = self.instance.engine().statistics(stored);
        let bytes = statistics.data_bytes + statistics.index_bytes + statistics.free_bytes;
        RowBuilder::new(view)
            .set("SPACE", Value::UInt(u64::from(stored.space().0)))
            .set("NAME", text(shown_name(&name.schema, &name.table)))
            .set("ROW_FORMAT", text("Dynamic"))
            .set("PAGE_SIZE", Value::UInt(16_384))
            .set("SPACE_TYPE", text("Single"))
            .set("FILE_SIZE", Value::UInt(bytes))
            .set("ALLOCATED_SIZE", Value::UInt(bytes))
            .set("ENCRYPTION", text("N"))
            .set("STATE", text("normal"))
            .finish()
    }

    pub(super) fn innodb_tables(&self, view: &TableDefinition, stored: &Arc<Table>) -> Vec<Value> {
        let definition = stored.definition();
        let name = &definition.name;
        RowBuilder::new(view)
            .set("TABLE_ID", Value::UInt(stored.id().0))
            .set("NAME", text(shown_name(&name.schema, &name.table)))
            .set("N_COLS", Value::Int(definition.columns.len() as i64))
            .set("SPACE", Value::Int(i64::from(stored.space().0)))
            .set("ROW_FORMAT", text("Dynamic"))
            .set("SPACE_TYPE", text("Single"))
            .finish()
    }
}
