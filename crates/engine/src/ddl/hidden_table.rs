//! Tables that are filled before anybody sees them: CREATE TABLE .. SELECT. The table's entry in the dictionary is a change of the
//! transaction that fills it, so after a crash there are the table and all its rows, or neither; its file is noted as ours
//! to remove until then (rule D5 in README.md).

use crate::engine::Engine;
use dictionary::TableDefinition;
use dictionary_store::need_short_name;
use engine_error::EngineResult;
use std::sync::Arc;
use stdx::ids::Lsn;
use tables::Table;
use txn::KillFlag;

impl Engine {
    /// As [`Engine::create_table`], but the table is in no list, and a crash forgets it, until a transaction that has published it
    /// commits. The caller keeps others from its name, and calls [`Engine::show_table`] or [`Engine::abandon_table`].
    pub fn create_hidden_table(
        &self,
        definition: TableDefinition,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        let _ddl = self.ddl_turn(kill)?;
        self.inner.tables.need_schema(&definition.name.schema)?;
        self.inner.tables.need_free_name(&definition.name)?;
        self.inner.tables.need_free_constraints(&[], &[&definition])?;
        need_short_name(&definition.name)?;
        let record = self.inner.tables.build_storage(definition)?;
        let table = Arc::new(Table::open(record));
        table.set_hidden(true);
        self.inner.tables.dictionary.replace_tables(&[], vec![table.clone()]);
        Ok(table)
    }

    /// Lets everybody see a table whose transaction has committed, once that is durable: older snapshots cannot read the table.
    pub fn show_table(&self, table: &Arc<Table>, commit: Lsn) -> EngineResult<()> {
        self.sync_log(commit)?;
        // The note does it no harm, and the next start takes it back.
        let _ = self.inner.tables.store.remove_leftover(&self.inner.pool, table.space);
        table.note_commit(commit, None);
        table.set_hidden(false);
        self.inner.tables.dictionary.replace_tables(&[], vec![table.clone()]);
        Ok(())
    }

    /// Removes a table, if it is still hidden. The transaction that filled it must have ended by
    /// [`Transaction::rollback_with_table`].
    pub fn abandon_table(&self, table: &Arc<Table>) -> EngineResult<()> {
        if !table.is_hidden() {
            return Ok(());
        }
        let name = &table.definition.name;
        self.inner.tables.dictionary.replace_tables(&[(name.schema.clone(), name.table.clone())], Vec::new());
        self.inner.tables.discard(table)
    }
}
