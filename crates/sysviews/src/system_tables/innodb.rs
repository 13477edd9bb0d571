//! information_schema.INNODB_ views of tables and their files.

use super::row::RowBuilder;
use super::{Emit, SystemTables};
use crate::result::text;
use accounts::Privileges;
use dictionary::TableDefinition;
use engine::Table;
use errors::{SqlResult, sql_error};
use instance::system_schemas::is_hidden;
use std::sync::Arc;
use values::Value;

/// Those that everybody may read.
const OPEN_VIEWS: &[&str] = &["INNODB_FT_DEFAULT_STOPWORD"];

impl SystemTables<'_> {
    /// Error 1227 without PROCESS: these views show the files of all tables, whoever may read them.
    pub(super) fn require_process(&self, view: &str) -> SqlResult<()> {
        let inner = view.starts_with("INNODB_") || view == "FILES";
        if !inner || OPEN_VIEWS.contains(&view) || self.user.grants.global().contains(Privileges::PROCESS) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "PROCESS"))
    }

    fn each_stored(&self, visit: &mut dyn FnMut(&Arc<Table>) -> SqlResult<bool>) -> SqlResult<()> {
        let dictionary = self.instance.engine().dictionary();
        let schemas = dictionary.schemas().into_iter().filter(|schema| !is_hidden(&schema.name));
        for schema in schemas {
            for name in dictionary.table_names(&schema.name) {
                let Some(table) = dictionary.table(&schema.name, &name) else { continue };
                if !visit(&table)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn innodb_tablespaces(&self, view: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        self.each_stored(&mut |stored| {
            let name = &stored.definition().name;
            let statistics = self.instance.engine().statistics(stored);
            let bytes = statistics.data_bytes + statistics.index_bytes + statistics.free_bytes;
            emit(
                RowBuilder::new(view)
                    .set("SPACE", Value::UInt(u64::from(stored.space().0)))
                    .set("NAME", text(format!("{}/{}", name.schema, name.table)))
                    .set("ROW_FORMAT", text("Dynamic"))
                    .set("PAGE_SIZE", Value::UInt(16_384))
                    .set("SPACE_TYPE", text("Single"))
                    .set("FILE_SIZE", Value::UInt(bytes))
                    .set("ALLOCATED_SIZE", Value::UInt(bytes))
                    .set("ENCRYPTION", text("N"))
                    .set("STATE", text("normal"))
                    .finish(),
            )
        })
    }

    pub(super) fn innodb_tables(&self, view: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        self.each_stored(&mut |stored| {
            let definition = stored.definition();
            let name = &definition.name;
            emit(
                RowBuilder::new(view)
                    .set("TABLE_ID", Value::UInt(stored.id().0))
                    .set("NAME", text(format!("{}/{}", name.schema, name.table)))
                    .set("N_COLS", Value::Int(definition.columns.len() as i64))
                    .set("SPACE", Value::Int(i64::from(stored.space().0)))
                    .set("ROW_FORMAT", text("Dynamic"))
                    .set("SPACE_TYPE", text("Single"))
                    .finish(),
            )
        })
    }

    /// Transactions that a crash left unfinished, while they are rolled back. Those of sessions are not listed.
    pub(super) fn innodb_trx(&self, view: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for writer in self.instance.engine().unfinished() {
            let locks = writer.lock_objects as u64;
            let row = RowBuilder::new(view)
                .set("trx_id", Value::UInt(writer.id.0))
                .set("trx_state", text("ROLLING BACK"))
                .set("trx_started", self.start_time())
                .set("trx_weight", Value::UInt(writer.undo_records + locks))
                .set("trx_lock_structs", Value::UInt(locks))
                .set("trx_rows_modified", Value::UInt(writer.undo_records))
                .set("trx_isolation_level", text("REPEATABLE READ"))
                .set("trx_unique_checks", Value::Int(1))
                .set("trx_foreign_key_checks", Value::Int(1))
                .finish();
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }
}
