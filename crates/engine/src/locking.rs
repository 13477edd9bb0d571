//! Row locks of a transaction: asking under a latch, waiting without one. See rules L1 to L6 in txn's README.

use crate::engine::EngineInner;
use crate::error::{EngineError, EngineResult};
use crate::options::ForceRecovery;
use crate::scan::{ReadMode, WaitPolicy};
use crate::table::Table;
use crate::transaction::Transaction;
use crate::writer::Writer;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stdx::ids::{IndexId, TransactionId};
use txn::TransactionState;
use txn::locks::{LockMode, Owner, Request, WaitEnd, WaitOptions};

/// What stands between a transaction and a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Nothing: the row is its own, or locked for it now.
    None,
    /// Another transaction: the request is queued. Drop the latch, wait, look again.
    Wait,
    /// Another transaction, and the policy says to leave the row out.
    Skip,
}

/// Looks at a writer that finishes at this moment before the row is called corrupt.
const UNKNOWN_WRITER_TRIES: u32 = 1000;

impl EngineInner {
    /// The transaction with that id, if it is unfinished: it has the row locked.
    pub(crate) fn unfinished_writer(&self, id: TransactionId) -> EngineResult<Option<Arc<Owner>>> {
        for _ in 0..UNKNOWN_WRITER_TRIES {
            if self.commits.state(id) != TransactionState::Active {
                return Ok(None);
            }
            if let Some(writer) = self.writers.get(id) {
                return Ok(Some(writer.owner.clone()));
            }
            // It leaves the registry only after the commit table knows its end; the next look sees it.
            std::hint::spin_loop();
        }
        Err(EngineError::Corrupt(format!("row written by unknown transaction {id}")))
    }
}

impl Transaction {
    /// This transaction in the lock table.
    pub(crate) fn owner(&self) -> Arc<Owner> {
        self.owner.get_or_init(|| self.engine.locks.owner(self.options.session_id)).clone()
    }

    /// This transaction as a writer: gets its id now if it has none. Error: Deadlock, if it was rolled back: nothing would undo
    /// what it writes then.
    pub(crate) fn writer(&self) -> EngineResult<Arc<Writer>> {
        self.check_alive()?;
        if let Some(writer) = self.writer.get() {
            return Ok(writer.clone());
        }
        if self.options.read_only {
            return Err(EngineError::ReadOnlyTransaction);
        }
        let id = self.engine.allocate_id()?;
        let owner = self.owner();
        owner.transaction.store(id.0, Ordering::Release);
        // Every record of this transaction enters the log behind this LSN.
        let needed = self.engine.pool.redo().end_lsn();
        let writer = Arc::new(Writer::new(id, owner, needed));
        self.engine.writers.insert(writer.clone());
        Ok(self.writer.get_or_init(|| writer).clone())
    }

    /// Whether rows of a table may be written. Errors: those of [`Table::check_usable`], ForcedRecovery,
    /// ReadOnlyTables.
    pub(crate) fn check_may_write(&self, table: &Table) -> EngineResult<()> {
        match self.engine.settings.force_recovery {
            _ if self.engine.settings.read_only_option => Err(EngineError::ReadOnlyTables),
            ForceRecovery::Off => table.check_usable(),
            _ => Err(EngineError::ForcedRecovery),
        }
    }

    /// Whether rows may be read in that mode. Error: ReadOnlyTransaction for X locks.
    pub(crate) fn check_may_lock(&self, mode: ReadMode) -> EngineResult<()> {
        match mode {
            ReadMode::Exclusive(_) if self.options.read_only => Err(EngineError::ReadOnlyTransaction),
            _ => Ok(()),
        }
    }

    /// Asks for a row lock under the row's latch. None: the writer that was in the way (`implicit`) has just ended; look again
    /// who wrote the entry.
    pub(crate) fn request_lock(
        &self,
        index: IndexId,
        key: &[u8],
        mode: LockMode,
        implicit: Option<&Arc<Owner>>,
        policy: WaitPolicy,
    ) -> EngineResult<Option<Conflict>> {
        let owner = self.owner();
        let may_wait = policy == WaitPolicy::Wait;
        match self.engine.locks.request(&owner, index, key, mode, implicit, may_wait) {
            Request::Granted | Request::Held => Ok(Some(Conflict::None)),
            Request::Queued => Ok(Some(Conflict::Wait)),
            Request::WriterEnded => Ok(None),
            Request::Refused if policy == WaitPolicy::SkipLocked => Ok(Some(Conflict::Skip)),
            Request::Refused => Err(EngineError::LockNotAvailable),
        }
    }

    /// Waits for the queued request. Called without latches. A deadlock victim is rolled back here.
    pub(crate) fn wait_for_lock(&self) -> EngineResult<()> {
        let settings = &self.engine.settings;
        let options = WaitOptions {
            timeout: self.lock_wait_timeout().unwrap_or_else(|| settings.lock_wait_timeout()),
            kill: self.options.kill.clone(),
            deadlock_detect: settings.deadlock_detect.load(Ordering::Relaxed),
        };
        let clock = &self.engine.environment.clock;
        let now_us = || clock.monotonic().as_micros() as u64;
        match self.engine.locks.wait(&self.owner(), &options, now_us) {
            WaitEnd::Granted => Ok(()),
            WaitEnd::TimedOut => Err(EngineError::LockWaitTimeout),
            WaitEnd::Killed => Err(EngineError::Killed),
            WaitEnd::Victim => {
                self.roll_back_all()?;
                Err(EngineError::Deadlock)
            }
        }
    }

    /// Notes a commit that this transaction has seen and that may not be durable yet: the reply must wait for it.
    #[inline]
    pub(crate) fn note_seen(&self, writer: TransactionId) {
        if let TransactionState::Committed(timestamp) = self.engine.commits.state(writer)
            && timestamp.0 > self.seen.load(Ordering::Relaxed)
        {
            self.seen.fetch_max(timestamp.0, Ordering::Relaxed);
        }
    }
}
