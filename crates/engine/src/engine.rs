//! The engine: opened once, shared by all sessions. Main type: [`Engine`] (a cheap clone).

use crate::dictionary::Dictionary;
use crate::error::{EngineError, EngineResult};
use crate::options::{FlushLevel, TransactionOptions};
use crate::transaction::Transaction;
use std::sync::Arc;
use stdx::ids::Lsn;

/// The engine.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<EngineInner>,
}

/// What all handles share.
#[derive(Debug)]
pub(crate) struct EngineInner {
    pub(crate) dictionary: Dictionary,
}

impl Engine {
    /// Schemas and tables.
    pub fn dictionary(&self) -> &Dictionary {
        &self.inner.dictionary
    }

    /// Begins a transaction. Costs no id and no registration until it reads or writes.
    pub fn begin(&self, options: TransactionOptions) -> Transaction {
        Transaction { engine: self.inner.clone(), options }
    }

    /// Everything up to here survives a crash (written to the operating system, at flush levels 0 and 2).
    pub fn durable_lsn(&self) -> Lsn {
        Lsn(0)
    }

    /// Makes the log durable up to that LSN, with everything appended meanwhile (group commit). Blocks.
    pub fn flush_log(&self, _lsn: Lsn) -> EngineResult<()> {
        Err(EngineError::Unsupported("flush_log"))
    }

    /// The present flush level.
    pub fn flush_level(&self) -> FlushLevel {
        FlushLevel::Commit
    }

    /// Changes the flush level (SET GLOBAL innodb_flush_log_at_trx_commit).
    pub fn set_flush_level(&self, _level: FlushLevel) {}

    /// Removes what no snapshot needs any more; a background thread does the same. Returns the number of entries removed.
    pub fn purge(&self) -> EngineResult<u64> {
        Err(EngineError::Unsupported("purge"))
    }

    /// Writes dirty pages and moves the log's start forward; a background thread does the same.
    pub fn checkpoint(&self) -> EngineResult<()> {
        Err(EngineError::Unsupported("checkpoint"))
    }

    /// Ends background work, writes everything and closes the files. Open transactions are rolled back.
    pub fn shutdown(&self) -> EngineResult<()> {
        Err(EngineError::Unsupported("shutdown"))
    }
}
