//! What the transaction layer tells and is told about the log: [`CheckpointParticipant`] and [`RecoveryHandler`].

use stdx::ids::Lsn;

use crate::StorageError;

/// Someone who needs old parts of the log (before-images of running transactions). Called from the flusher thread and
/// from threads about to start a mini-transaction, which may hold shared latches.
pub trait CheckpointParticipant: Send + Sync {
    /// The oldest LSN whose records are still needed; `log_end` if none is. A record appended after `log_end` was
    /// read need not be considered. The answer must be the start of a group: what `commit` or `end_lsn` gave, or the
    /// `start` of a recovered record. Must not touch pages.
    fn oldest_needed_lsn(&self, log_end: Lsn) -> Lsn;

    /// The log is filling up and what lies before `target` is in the way. Do what can be done to need it no longer
    /// (log again elsewhere, mark the transaction for rollback); it need not be finished on return. Mini-transactions that this starts are not
    /// held up by the full log.
    fn release_before(&self, target: Lsn) {
        let _ = target;
    }

    /// How many bytes of log it takes at most, from now on, so that none of the log is needed any more. So many are kept ready.
    fn log_to_release(&self) -> u64 {
        0
    }

    /// Whether what `release_before` asked for is still to be done: it is worth waiting for.
    fn is_releasing(&self) -> bool {
        false
    }
}

/// A participant that needs nothing: for tests of pages without transactions.
pub struct NothingNeeded;

impl CheckpointParticipant for NothingNeeded {
    fn oldest_needed_lsn(&self, log_end: Lsn) -> Lsn {
        log_end
    }
}

/// Receives the logical records of the log during recovery, in log order, after the pages of the same group.
pub trait RecoveryHandler {
    /// A record that `MiniTransaction::log` wrote. `start` is the LSN at which its group starts: what a participant
    /// must answer from `oldest_needed_lsn` to keep the record. An error ends recovery.
    fn logical_record(&mut self, kind: u8, payload: &[u8], start: Lsn) -> Result<(), StorageError>;
}

/// Ignores logical records.
pub struct NoLogicalRecords;

impl RecoveryHandler for NoLogicalRecords {
    fn logical_record(&mut self, _kind: u8, _payload: &[u8], _start: Lsn) -> Result<(), StorageError> {
        Ok(())
    }
}
