//! information_schema.INNODB_ views of tables and their files.

use super::row::RowBuilder;
use super::tables::AnyTable;
use super::{Emit, SystemTables};
use crate::result::text;
use dictionary::TableDefinition;
use errors::SqlResult;
use values::Value;

impl SystemTables {
    pub(super) fn innodb_tablespaces(&self, view: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        self.each_table(None, None, &mut |table| {
            let AnyTable::Stored(stored) = table else { return Ok(true) };
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
        self.each_table(None, None, &mut |table| {
            let AnyTable::Stored(stored) = table else { return Ok(true) };
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
}
