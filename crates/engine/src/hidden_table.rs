//! Tables that are filled before anybody sees them: CREATE TABLE .. SELECT. The table's entry in the dictionary is a change of the
//! transaction that fills it, so after a crash there are the table and all its rows, or neither; its file is noted as ours
//! to remove until then (rule D5 in README.md).

use crate::ddl::Change;
use crate::dictionary_store::{DictionaryStore, TableRecord};
use crate::engine::Engine;
use crate::error::{EngineError, EngineResult};
use crate::file_names::need_short_name;
use crate::open::DICTIONARY_INDEX;
use crate::table::Table;
use crate::transaction::Transaction;
use dictionary::TableDefinition;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::Lsn;
use txn::KillFlag;

impl Engine {
    /// As [`Engine::create_table`], but the table is in no list, and a crash forgets it, until a transaction that has published it
    /// commits. The caller keeps others from its name, and calls [`Engine::show_table`] or [`Engine::abandon_table`].
    pub fn create_hidden_table(
        &self,
        definition: TableDefinition,
        kill: &KillFlag,
    ) -> EngineResult<Arc<Table>> {
        let _ddl = self.inner.ddl_turn(kill)?;
        self.inner.need_schema(&definition.name.schema)?;
        self.inner.need_free_name(&definition.name)?;
        need_short_name(&definition.name)?;
        let record = self.build_storage(definition)?;
        let table = Arc::new(Table::open(record));
        table.set_hidden(true);
        self.inner.dictionary.replace_tables(&[], vec![table.clone()]);
        Ok(table)
    }

    /// Lets everybody see a table whose transaction has committed, once that is durable: older snapshots cannot read the table.
    pub fn show_table(&self, table: &Arc<Table>, commit: Lsn) -> EngineResult<()> {
        self.sync_log(commit)?;
        // The note does it no harm, and the next start takes it back.
        let _ = self.inner.store.remove_leftover(&self.inner.pool, table.space);
        table.note_commit(commit, None);
        table.set_hidden(false);
        self.inner.dictionary.replace_tables(&[], vec![table.clone()]);
        Ok(())
    }

    /// Removes a table, if it is still hidden. The transaction that filled it must have ended by
    /// [`Transaction::rollback_with_table`].
    pub fn abandon_table(&self, table: &Arc<Table>) -> EngineResult<()> {
        if !table.is_hidden() {
            return Ok(());
        }
        let name = &table.definition.name;
        self.inner.dictionary.replace_tables(&[(name.schema.clone(), name.table.clone())], Vec::new());
        self.discard(table)
    }
}

impl Transaction {
    /// Puts a hidden table into the dictionary, for when the transaction commits.
    pub fn publish_table(&self, table: &Table) -> EngineResult<()> {
        if !table.is_hidden() {
            return Err(EngineError::TableDefinitionChanged);
        }
        let key = DictionaryStore::table_key(table.id());
        self.change_dictionary(&Change::Put(key, TableRecord::of(table).encode()))
    }

    /// Rolls back a transaction that has filled a hidden table and changed nothing else. Its rows are not undone: they go with the
    /// table, which the caller abandons next; a crash in between removes it too.
    pub fn rollback_with_table(self, table: &Table) -> EngineResult<()> {
        assert!(table.is_hidden(), "others see the rows");
        let Some(writer) = self.writer.get().filter(|_| !self.is_rolled_back()) else {
            return self.roll_back_all();
        };
        while self.engine.newest_undo_index(writer)? == Some(DICTIONARY_INDEX) {
            self.engine.undo_newest(writer, 0, false)?;
        }
        self.ended.store(true, Ordering::Release);
        self.engine.end_rollback(writer);
        Ok(())
    }
}
