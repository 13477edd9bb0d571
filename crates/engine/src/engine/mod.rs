//! The engine: opened once, shared by all sessions. Main type: [`Engine`] (a cheap clone). Opening and closing are in `start`, DDL in
//! `ddl`, figures in `status.rs`.

mod lock_views;
mod status;

pub use lock_views::{LockHolder, LockViews};

use crate::inner::EngineInner;
use crate::temporary::TemporaryTables;
use crate::transaction::{RecoveredTransaction, Transaction};
use engine_error::{EngineError, EngineResult};
use engine_types::{FlushLevel, TransactionOptions};
use env::Environment;
use redo::FlushWaiter;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stdx::ids::Lsn;
use tables::Dictionary;

/// The engine. Its threads end with the last handle, if they have not before: then nobody has the data directory any more.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) _threads: Arc<EndOfThreads>,
}

/// Ends the threads when it is dropped. A round that runs holds the engine, so whoever opens the data directory next must not come
/// before its end.
#[derive(Debug)]
pub(crate) struct EndOfThreads(pub(crate) Arc<EngineInner>);

impl Drop for EndOfThreads {
    fn drop(&mut self) {
        self.0.background.stop();
        self.0.pool.stop_flusher();
    }
}

impl Engine {
    /// Schemas and tables.
    pub fn dictionary(&self) -> &Dictionary {
        &self.inner.tables.dictionary
    }

    /// Begins a transaction. Costs no id and no registration until it reads or writes.
    pub fn begin(&self, options: TransactionOptions) -> Transaction {
        Transaction::new(self.inner.clone(), options)
    }

    /// The temporary tables of a session: none yet.
    pub fn temporary_tables(&self, session_id: u64) -> TemporaryTables {
        TemporaryTables::new(self.inner.clone(), session_id)
    }

    /// The prepared transactions that the start has found and that have not ended. To be asked once: whoever has the handles decides.
    pub fn recovered(&self) -> Vec<RecoveredTransaction> {
        let dictionary = &self.inner.tables.dictionary;
        let recovered = self.inner.rollback.prepared().into_iter().map(|(writer, touched)| {
            let tables = touched.indexes().map(|indexes| {
                let tables = indexes.iter().filter_map(|index| dictionary.table_of_index(*index));
                let names: BTreeSet<_> = tables.map(|table| table.definition.name.clone()).collect();
                names.into_iter().collect()
            });
            RecoveredTransaction::new(self.inner.clone(), writer, tables)
        });
        recovered.collect()
    }

    /// Where the newest commit stands in the log, durable or not.
    pub fn last_commit(&self) -> Lsn {
        self.inner.system.last_commit()
    }

    /// Replies that need an LSN up to here may leave: at flush level 1 everything up to here survives a crash; at level 2 the
    /// end of the process; at level 0 it is the end of the log.
    pub fn durable_lsn(&self) -> Lsn {
        let redo = self.inner.pool.redo();
        match self.inner.shared.settings.flush_level() {
            FlushLevel::Commit => redo.durable_lsn(),
            FlushLevel::WriteAtCommit => {
                Lsn(self.inner.written.load(Ordering::Acquire)).max(redo.durable_lsn())
            }
            FlushLevel::EverySecond => redo.end_lsn(),
        }
    }

    /// Makes the log safe up to that LSN as the flush level asks, with everything appended meanwhile (group commit): flushed
    /// at level 1, written at level 2, nothing at level 0. Blocks.
    pub fn flush_log(&self, lsn: Lsn) -> EngineResult<()> {
        let redo = self.inner.pool.redo();
        match self.inner.shared.settings.flush_level() {
            FlushLevel::EverySecond => return Ok(()),
            FlushLevel::WriteAtCommit => {
                redo.write_to(lsn)?;
                self.inner.written.fetch_max(lsn.0, Ordering::AcqRel);
            }
            FlushLevel::Commit => redo.flush_to(lsn)?,
        }
        Ok(())
    }

    /// As [`Engine::flush_log`], but does not wait for a sync of another thread: then returns false, and `waiter` is told
    /// when it has ended.
    pub fn flush_log_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> EngineResult<bool> {
        if self.inner.shared.settings.flush_level() == FlushLevel::Commit {
            return Ok(self.inner.pool.redo().flush_or_subscribe(lsn, waiter)?);
        }
        self.flush_log(lsn)?;
        Ok(true)
    }

    /// Why nothing is written any more: a write or sync of a data file or of the log failed (I2). The server is to end.
    pub fn failure(&self) -> Option<EngineError> {
        self.inner.pool.redo().failure().map(EngineError::from)
    }

    /// Makes the log durable up to that LSN, whatever the flush level (FLUSH LOGS, DDL).
    pub fn sync_log(&self, lsn: Lsn) -> EngineResult<()> {
        Ok(self.inner.pool.redo().flush_to(lsn)?)
    }

    /// The present flush level.
    pub fn flush_level(&self) -> FlushLevel {
        self.inner.shared.settings.flush_level()
    }

    /// Changes the flush level (SET GLOBAL innodb_flush_log_at_trx_commit).
    pub fn set_flush_level(&self, level: FlushLevel) {
        self.inner.shared.settings.set_flush_level(level);
        // What was acknowledged without being durable stays visible.
        self.inner.system.visible_undurable();
    }

    /// Changes the default lock wait limit (SET GLOBAL innodb_lock_wait_timeout).
    pub fn set_lock_wait_timeout(&self, timeout: Duration) {
        self.inner.shared.settings.set_lock_wait_timeout(timeout);
    }

    /// The graph of waits: the kinds of locks above the engine register theirs, so that deadlocks over all kinds are found.
    pub fn waits(&self) -> &Arc<txn::WaitGraph> {
        self.inner.system.locks.waits()
    }

    /// Whether row lock waits search for deadlocks.
    pub fn deadlock_detect(&self) -> bool {
        self.inner.shared.settings.deadlock_detect.load(Ordering::Relaxed)
    }

    /// Switches the deadlock search (SET GLOBAL innodb_deadlock_detect).
    pub fn set_deadlock_detect(&self, on: bool) {
        self.inner.shared.settings.deadlock_detect.store(on, Ordering::Relaxed);
    }

    /// Removes what no snapshot needs any more; a background thread does the same. Returns the number of entries and versions
    /// removed.
    pub fn purge(&self) -> EngineResult<u64> {
        let mut removed = self.inner.purge.purge_once()?;
        loop {
            let (swept, is_left) = self.inner.sweep.sweep_some(&self.inner.purge)?;
            removed += swept;
            if !is_left {
                return Ok(removed);
            }
        }
    }

    /// Writes dirty pages and moves the log's start forward; a background thread does the same.
    pub fn checkpoint(&self) -> EngineResult<()> {
        self.inner.pool.checkpoint()?;
        Ok(())
    }

    /// Fills up what is kept for statements that free room, as far as the disk has any; a background thread does the same.
    pub fn refill_reserve(&self) -> EngineResult<()> {
        Ok(self.inner.pool.refill_reserve()?)
    }

    /// The world that the engine runs in: clock and random numbers for the layers above.
    pub fn environment(&self) -> &Environment {
        &self.inner.shared.environment
    }

    /// Whether it was opened past damage (innodb_force_recovery): rows are not written, and some may not be found.
    pub fn is_forced(&self) -> bool {
        self.inner.shared.is_forced()
    }

    /// Goes on with the rollback of transactions that a crash left unfinished, by at most so many records of each; a background
    /// thread does the same. Returns how many transactions are left.
    pub fn roll_back_unfinished(&self, records: usize) -> EngineResult<usize> {
        for writer in self.inner.rollback.unfinished() {
            self.inner.rollback.roll_back_some(&writer, records)?;
        }
        Ok(self.inner.rollback.unfinished().len())
    }
}
