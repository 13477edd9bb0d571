//! What of the log transactions need, and how it is given up: for the pool's checkpoints. Main type: [`LogNeeds`]. See rule U3 in
//! README.md.

use super::UndoLog;
use super::records::{KIND_ENDED, encode_id};
use super::saving::STARVED_SHARE;
use super::store::keys_of;
use super::touched::ENDED;
use super::writer::Writer;
use crate::error::UndoResult;
use buffer::{CheckpointParticipant, StorageError};
use std::sync::{Arc, PoisonError, Weak};
use stdx::ids::Lsn;

/// Bytes of log that it takes to save any undo of a transaction: its state and what tells of it.
const WRITER_BYTES: u64 = 512;

impl UndoLog {
    /// Where the log that a finished writer's end record lies in is in the way, the record is logged anew.
    fn keep_end_record_near(&self, writer: &Writer) -> Result<(), StorageError> {
        let redo = self.pool.redo();
        let needed = redo.end_lsn();
        if needed.0.saturating_sub(writer.needed_lsn().0) > redo.capacity_bytes() / STARVED_SHARE {
            let _releases = buffer::release_log();
            let mut mini = self.pool.mini_transaction();
            mini.log(KIND_ENDED, &encode_id(writer.id));
            let end = mini.commit();
            redo.flush_to(end)?;
            writer.set_needed_lsn(needed);
        }
        Ok(())
    }

    /// Lets go of log that only the end records of finished writers keep.
    pub fn keep_less_log(&self) -> UndoResult<()> {
        let open: Vec<Arc<Writer>> = self.store.leftovers().iter().map(|left| left.writer.clone()).collect();
        for writer in open {
            self.keep_end_record_near(&writer)?;
        }
        Ok(())
    }

    /// Removes the chunks of finished writers. Who returns finds the tree at rest, but for writers that go on.
    pub fn discard_finished(&self) -> UndoResult<()> {
        let open: Vec<Arc<Writer>> = self
            .store
            .leftovers()
            .iter()
            .filter(|left| left.removed.is_none())
            .map(|left| left.writer.clone())
            .collect();
        // A save that began before its writer ended may still be adding chunks; one that begins now finds that it has ended.
        // Others may save meanwhile: there may be many chunks.
        drop(self.saver.lock().unwrap_or_else(PoisonError::into_inner));
        self.keep_less_log()?;
        // They keep log from being used again.
        let _reserve = buffer::use_reserve();
        for writer in &open {
            let removed = self.store.tree.remove_range(&self.pool, keys_of(writer.id), &mut || {
                self.keep_end_record_near(writer)?;
                self.pool.check_writable()
            });
            match removed {
                // What cannot be read stays. That the transaction has ended must not be forgotten with the log.
                Err(error) if error.damage().is_some() => {
                    self.store.put_state(&self.pool, writer.id, &[ENDED])?;
                }
                removed => removed?,
            }
            let end = self.pool.redo().end_lsn();
            for left in self.store.leftovers().iter_mut().filter(|left| left.writer.id == writer.id) {
                left.removed = Some(end);
            }
            self.writers.remove(writer.id);
        }
        Ok(())
    }
}

/// Says what of the log the transactions need. Holds the undo log weakly: the pool outlives nothing through it.
pub struct LogNeeds {
    undo: Weak<UndoLog>,
    /// Asks for a round of saving.
    wake: Box<dyn Fn() + Send + Sync>,
    /// Somebody saves when asked to.
    has_thread: bool,
}

impl LogNeeds {
    /// What `undo` needs. `wake` asks for a round of [`UndoLog::save_undo_in_the_way`], if there is a thread for that.
    pub fn new(undo: &Arc<UndoLog>, wake: Box<dyn Fn() + Send + Sync>, has_thread: bool) -> LogNeeds {
        LogNeeds { undo: Arc::downgrade(undo), wake, has_thread }
    }
}

impl CheckpointParticipant for LogNeeds {
    fn oldest_needed_lsn(&self, log_end: Lsn) -> Lsn {
        let Some(undo) = self.undo.upgrade() else { return Lsn(0) };
        let mut oldest = log_end;
        for writer in undo.writers.all() {
            oldest = oldest.min(writer.needed_lsn());
        }
        let durable = undo.pool.redo().durable_lsn();
        let mut leftovers = undo.store.leftovers();
        leftovers.retain(|left| left.removed.is_none_or(|removed| removed > durable));
        leftovers.iter().fold(oldest, |oldest, left| oldest.min(left.writer.needed_lsn()))
    }

    fn release_before(&self, target: Lsn) {
        if let Some(undo) = self.undo.upgrade() {
            undo.store.want_saved_before(target);
            (self.wake)();
        }
    }

    fn log_to_release(&self) -> u64 {
        let Some(undo) = self.undo.upgrade() else { return 0 };
        let writers = undo.writers.all();
        // Chunks cost a little more than the records in them, splits of the tree among it.
        let owed = writers.iter().map(|writer| writer.unsaved_bytes() / 8 * 9 + WRITER_BYTES);
        owed.sum::<u64>() + undo.store.leftovers().len() as u64 * WRITER_BYTES
    }

    fn is_releasing(&self) -> bool {
        self.undo.upgrade().is_some_and(|undo| undo.store.is_saving(self.has_thread))
    }
}
