//! The end of a transaction: commit, rollback of all or part. See rules C1 to C4 in README.md. Between the last write and the end it may
//! be prepared: then it outlives its session, and a crash, until somebody commits it or rolls it back (XA; rule P1 in undo's README).

use super::{Mark, Transaction};
use dictionary_store::DICTIONARY_INDEX;
use engine_error::{EngineError, EngineResult};
use engine_types::ForceRecovery;
use stdx::ids::Lsn;
use tables::Table;

impl Transaction {
    /// Undoes all writes made since the mark. Row locks stay, as in InnoDB.
    pub fn rollback_to(&self, mark: Mark) -> EngineResult<()> {
        if self.is_rolled_back() {
            return Ok(());
        }
        self.undo_temporary(mark.temporary);
        let Some(writer) = self.writer.get() else { return Ok(()) };
        self.engine.rollback.undo_to(writer, mark.logged, true)
    }

    /// Commits: the commit record is in the log when this returns, and other transactions may see and lock the rows. The
    /// client may hear of it when [`crate::Engine::durable_lsn`] is at least the returned LSN (0 if nothing was written).
    pub fn commit(mut self) -> EngineResult<Lsn> {
        self.commit_in_place()
    }

    /// As [`Transaction::commit`]; the handle can [begin again](Transaction::begin_again).
    pub fn commit_in_place(&mut self) -> EngineResult<Lsn> {
        self.check_alive()?;
        self.check_decidable()?;
        if let Some(writer) = self.writer.get().filter(|_| self.is_prepared) {
            // Snapshots may need any record of it from now on.
            self.engine.undo.load_whole(writer)?;
        }
        self.ended.set(true);
        self.end_temporary();
        let lsn = match self.writer.get() {
            Some(writer) => self.engine.system.commit_writer(writer, &self.changed),
            None => {
                self.finish_locks();
                Lsn(0)
            }
        };
        self.changed.clear();
        self.end_snapshot();
        self.after_decision();
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
        self.ended.set(true);
        self.engine.system.end_rollback(writer);
        Ok(())
    }

    /// Rolls back and leaves the handle dead: deadlock victims, drops.
    pub(crate) fn roll_back_all(&self) -> EngineResult<()> {
        if self.is_rolled_back() {
            return Ok(());
        }
        self.check_decidable()?;
        if self.ended.replace(true) {
            return Ok(());
        }
        self.withdraw();
        self.undo_temporary(0);
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
        self.changed.clear();
        self.end_snapshot();
        self.after_decision();
        done
    }

    fn finish_locks(&self) {
        if let Some(owner) = self.owner.get() {
            self.engine.system.locks.finish(owner);
        }
    }
}

/// Temporary tables of the session: their changes have an undo list of their own, which is in no log. See "Temporary tables" in README.md.
impl Transaction {
    /// Undoes changes of temporary tables down to that length of their list. Where that fails, the tables are closed: nobody sees rows of
    /// a statement that has failed.
    fn undo_temporary(&self, length: u64) {
        let Some(writer) = self.temporary.get() else { return };
        if self.engine.rollback.undo_to(writer, length, false).is_err() {
            self.engine.tables.temporary.close_all(writer);
            writer.undo().list = Default::default();
        }
    }

    /// Keeps the changes of temporary tables: what they took away is removed at once, as no snapshot needs it.
    fn end_temporary(&self) {
        let Some(writer) = self.temporary.get() else { return };
        let _to_its_end = env::blocking::uninterrupted();
        let list = std::mem::take(&mut writer.undo().list);
        self.engine.purge.purge_list(writer.id, &list);
    }
}

/// Prepared transactions.
impl Transaction {
    /// Prepares it under a name, which is not empty: it stays as it is, with its locks, until it is committed or rolled back. It
    /// belongs to no session any more, and reads and writes nothing. Its changes outlive a crash once the log is durable up to
    /// the returned LSN (0 if it has written nothing; then it does not).
    pub fn prepare(&mut self, name: &[u8]) -> EngineResult<Lsn> {
        self.check_alive()?;
        let lsn = self.writer.get().map_or(Lsn(0), |writer| self.engine.undo.prepare(writer, name));
        if let Some(owner) = self.owner.get() {
            // An error may have come between a request and its wait.
            self.engine.system.locks.abandon(owner);
            owner.leave_session();
        }
        self.end_snapshot();
        self.is_prepared = true;
        Ok(lsn)
    }

    /// Whether it is prepared.
    pub fn is_prepared(&self) -> bool {
        self.is_prepared
    }

    /// As [`Transaction::rollback_in_place`], of one that is prepared. Once the log is durable up to the returned LSN no start knows it any
    /// more. Error: ForcedRecovery, as for any change of rows; it stays prepared then.
    pub fn rollback_prepared(&mut self) -> EngineResult<Lsn> {
        if self.engine.shared.settings.force_recovery != ForceRecovery::Off {
            return Err(EngineError::ForcedRecovery);
        }
        self.roll_back_all()?;
        Ok(self.engine.pool.redo().end_lsn())
    }

    /// Whether a prepared transaction may end now; if not, it stays prepared. Error: ReadOnlyEngine.
    fn check_decidable(&self) -> EngineResult<()> {
        if !self.is_prepared {
            return Ok(());
        }
        self.engine.shared.check_running()?;
        if self.engine.shared.settings.is_read_only { Err(EngineError::ReadOnlyEngine) } else { Ok(()) }
    }

    /// What is about to be undone is not to be found prepared by a start.
    fn withdraw(&self) {
        if let Some(writer) = self.writer.get().filter(|_| self.is_prepared) {
            self.engine.undo.withdraw(writer);
        }
    }

    /// A prepared transaction has ended.
    fn after_decision(&self) {
        if let Some(writer) = self.writer.get().filter(|_| self.is_prepared) {
            self.engine.rollback.forget_prepared(writer);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.is_prepared() {
            return;
        }
        // A rollback that fails goes on in the background, and its rows stay locked until then.
        let _ = self.roll_back_all();
    }
}
