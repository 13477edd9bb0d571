//! What a transaction does with the temporary tables of its session: their changes have an undo list of their own, which is in no log.
//! See "Temporary tables" in README.md.

use super::Transaction;
use engine_error::EngineResult;
use std::sync::Arc;
use undo::Writer;

impl Transaction {
    /// Who changes a table: the writer of the session's temporary tables, if it is one of these. Errors: as of `writer`.
    pub(crate) fn writer_or(&self, temporary: Option<&Arc<Writer>>) -> EngineResult<Arc<Writer>> {
        let Some(writer) = temporary else { return self.writer() };
        self.check_alive()?;
        Ok(self.temporary.get_or_init(|| writer.clone()).clone())
    }

    /// Whether it has changed rows of temporary tables, and not undone that.
    pub fn has_written_temporary(&self) -> bool {
        self.mark().temporary > 0
    }

    /// Undoes changes of temporary tables down to that length of their list. Where that fails, the tables are closed: nobody sees rows of
    /// a statement that has failed.
    pub(crate) fn undo_temporary(&self, length: u64) {
        let Some(writer) = self.temporary.get() else { return };
        if self.engine.rollback.undo_to(writer, length, false).is_err() {
            self.engine.tables.temporary.close_all(writer);
            writer.undo().list = Default::default();
        }
    }

    /// Keeps the changes of temporary tables: what they took away is removed at once, as no snapshot needs it.
    pub(crate) fn end_temporary(&self) {
        let Some(writer) = self.temporary.get() else { return };
        let _to_its_end = env::blocking::uninterrupted();
        let list = std::mem::take(&mut writer.undo().list);
        self.engine.purge.purge_list(writer.id, &list);
    }
}
