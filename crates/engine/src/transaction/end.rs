//! The end of a transaction: commit, rollback of all or part. See rules C1 to C4 in README.md.

use super::{Mark, Transaction};
use crate::tables::Table;
use dictionary_store::DICTIONARY_INDEX;
use engine_error::EngineResult;
use std::sync::atomic::Ordering;
use stdx::ids::Lsn;

impl Transaction {
    /// Undoes all writes made since the mark. Row locks stay, as in InnoDB.
    pub fn rollback_to(&self, mark: Mark) -> EngineResult<()> {
        match self.writer.get() {
            Some(writer) if !self.is_rolled_back() => self.engine.rollback.undo_to(writer, mark.0, true),
            _ => Ok(()),
        }
    }

    /// Commits: the commit record is in the log when this returns, and other transactions may see and lock the rows. The
    /// client may hear of it when [`crate::Engine::durable_lsn`] is at least the returned LSN (0 if nothing was written).
    pub fn commit(mut self) -> EngineResult<Lsn> {
        self.commit_in_place()
    }

    /// As [`Transaction::commit`]; the handle can [begin again](Transaction::begin_again).
    pub fn commit_in_place(&mut self) -> EngineResult<Lsn> {
        self.check_alive()?;
        *self.ended.get_mut() = true;
        let lsn = match self.writer.get() {
            Some(writer) => self.engine.system.commit_writer(writer),
            None => {
                self.finish_locks();
                Lsn(0)
            }
        };
        self.end_snapshot();
        Ok(lsn)
    }

    /// Undoes all writes and releases all locks.
    pub fn rollback(self) -> EngineResult<()> {
        self.roll_back_all()
    }

    /// As [`Transaction::rollback`]; the handle can [begin again](Transaction::begin_again).
    pub fn rollback_in_place(&mut self) -> EngineResult<()> {
        self.roll_back_all()
    }

    /// Rolls back a transaction that has filled a hidden table and changed nothing else. Its rows are not undone: they go with the
    /// table, which the caller abandons next; a crash in between removes it too.
    pub fn rollback_with_table(self, table: &Table) -> EngineResult<()> {
        assert!(table.is_hidden(), "others see the rows");
        let Some(writer) = self.writer.get().filter(|_| !self.is_rolled_back()) else {
            return self.roll_back_all();
        };
        while self.engine.rollback.newest_undo_index(writer)? == Some(DICTIONARY_INDEX) {
            self.engine.rollback.undo_newest(writer, 0, false)?;
        }
        self.ended.store(true, Ordering::Release);
        self.engine.system.end_rollback(writer);
        Ok(())
    }

    /// Rolls back and leaves the handle dead: deadlock victims, drops.
    pub(crate) fn roll_back_all(&self) -> EngineResult<()> {
        if self.is_rolled_back() || self.ended.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let done = match self.writer.get() {
            Some(writer) => {
                let done = self.engine.rollback.roll_back_writer(writer);
                done.inspect_err(|_| self.engine.rollback.roll_back_later(writer))
            }
            None => {
                self.finish_locks();
                Ok(())
            }
        };
        self.end_snapshot();
        done
    }

    fn finish_locks(&self) {
        if let Some(owner) = self.owner.get() {
            self.engine.system.locks.finish(owner);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // A rollback that fails goes on in the background, and its rows stay locked until then.
        let _ = self.roll_back_all();
    }
}
