//! Purge: drops old versions and delete-marked entries that no snapshot needs. Main type: [`PurgeQueue`].
//! Finished writers are queued in commit order; the background thread (or [`crate::Engine::purge`]) works them off.

use crate::engine::EngineInner;
use crate::entry::Head;
use crate::error::{EngineError, EngineResult};
use crate::leavings::{Finished, Leavings};
use crate::write::load_head;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stdx::ids::{CommitTimestamp, IndexId, TransactionId};
use txn::UndoRecord;

/// Most delete marks that are remembered outside the undo lists; those from before the start that are forgotten are found again
/// by the next scan.
const STRAYS_MAX: usize = 10_000;
/// Bytes of their keys.
const STRAY_BYTES_MAX: usize = 1 << 20;
/// Strays of a round that may fail before the others are left to the next one.
const FAILURES_MAX: u32 = 16;

/// A delete mark without an undo list: left from before a restart, or brought back by a rollback.
#[derive(Debug)]
struct Stray {
    index: IndexId,
    key: Box<[u8]>,
    writer: TransactionId,
}

/// Strays in the order in which they came.
#[derive(Debug, Default)]
struct Strays {
    marks: VecDeque<Stray>,
    key_bytes: usize,
}

/// What purge has still to do.
#[derive(Debug, Default)]
pub(crate) struct PurgeQueue {
    finished: Mutex<Leavings>,
    strays: Mutex<Strays>,
    /// Undo records in `finished` that purge has work with (the history list).
    backlog: AtomicU64,
    /// One purge at a time, so that versions go in commit order.
    pub(crate) running: Mutex<()>,
}

impl PurgeQueue {
    /// Queues a committed writer. Called in commit order.
    pub(crate) fn add(&self, finished: Finished) {
        self.backlog.fetch_add(finished.left.count(), Ordering::Relaxed);
        lock(&self.finished).add(finished);
    }

    /// Notes a delete mark that a reader or a rollback came across.
    pub(crate) fn add_stray(&self, index: IndexId, key: &[u8], writer: TransactionId) {
        lock(&self.strays).add(Stray { index, key: key.into(), writer });
    }

    /// Records waiting for purge: history list length.
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog.load(Ordering::Relaxed)
    }
}

impl Strays {
    fn add(&mut self, stray: Stray) {
        if self.marks.len() < STRAYS_MAX && self.key_bytes < STRAY_BYTES_MAX {
            self.key_bytes += stray.key.len();
            self.marks.push_back(stray);
        }
    }

    fn take(&mut self) -> Option<Stray> {
        let stray = self.marks.pop_front()?;
        self.key_bytes -= stray.key.len();
        Some(stray)
    }
}

impl EngineInner {
    /// Purges all that no snapshot needs now. Returns the number of versions and entries removed. An error ends nothing but the
    /// part that it is about: the watermark moves on, and what failed is tried again by the next round.
    pub(crate) fn purge_once(&self) -> EngineResult<u64> {
        let _one_at_a_time = lock(&self.purge.running);
        // It makes room.
        let _reserve = buffer::use_reserve();
        let horizon = self.snapshots.horizon(self.visible());
        // First, so that neither an error nor a long round keeps ids from being used again.
        self.commits.advance_watermark(horizon);
        self.undo_store.keep_less_log(self)?;
        let versions = self.purge_all_finished(horizon);
        let strays = self.purge_strays(horizon);
        self.undo_store.discard_finished(self)?;
        self.remove_old_garbage()?;
        Ok(versions? + strays?)
    }

    fn purge_all_finished(&self, horizon: CommitTimestamp) -> EngineResult<u64> {
        let mut removed = 0;
        loop {
            let next = lock(&self.purge.finished).next(horizon);
            let Some(finished) = next else { return Ok(removed) };
            // One that fails has been put back: purge cannot go past it.
            removed += self.purge_finished(finished)?;
        }
    }

    /// Removes delete marks that lie outside the undo lists.
    fn purge_strays(&self, horizon: CommitTimestamp) -> EngineResult<u64> {
        let (mut removed, mut failures, mut result) = (0, 0, Ok(()));
        let count = lock(&self.purge.strays).marks.len();
        for _ in 0..count {
            let Some(stray) = lock(&self.purge.strays).take() else { break };
            if self.commits.is_visible(stray.writer, horizon) {
                let has_room = self.pool.check_writable().map_err(EngineError::from);
                match has_room.and_then(|()| self.remove_tombstone(stray.index, &stray.key, stray.writer)) {
                    Ok(is_removed) => {
                        removed += u64::from(is_removed);
                        continue;
                    }
                    Err(error) => (failures, result) = (failures + 1, Err(error)),
                }
            }
            lock(&self.purge.strays).add(stray);
            if failures >= FAILURES_MAX {
                break;
            }
        }
        result.map(|()| removed)
    }

    fn purge_finished(&self, finished: Finished) -> EngineResult<u64> {
        let mut removed = 0;
        let visited = finished.left.visit(|record| {
            // What purge writes is not more than what it frees, but the log is others' too.
            self.pool.check_writable()?;
            removed += self.purge_record(record, finished.writer);
            Ok(())
        });
        if let Err(error) = visited {
            // Versions whose keys cannot be read must not be forgotten: a row that is inserted again would get them back.
            lock(&self.purge.finished).put_back(finished);
            return Err(error);
        }
        self.purge.backlog.fetch_sub(finished.left.count(), Ordering::Relaxed);
        Ok(removed)
    }

    fn purge_record(&self, record: UndoRecord<'_>, writer: TransactionId) -> u64 {
        let mut removed = 0;
        if record.version {
            removed += self.versions.purge(record.index, record.key, writer) as u64;
        }
        if !record.dead.is_empty() {
            // What fails stays noted for the next start.
            removed += u64::from(self.remove_dead(writer, record.index, record.dead).is_ok());
        }
        if record.tombstone {
            match self.remove_tombstone(record.index, record.key, writer) {
                Ok(is_removed) => removed += u64::from(is_removed),
                Err(_) => self.purge.add_stray(record.index, record.key, writer),
            }
        }
        removed
    }

    /// Removes an entry if it still is the delete mark that `writer` left.
    fn remove_tombstone(&self, index: IndexId, key: &[u8], writer: TransactionId) -> EngineResult<bool> {
        let Some(open) = self.open_index(index)? else { return Ok(false) };
        let mut mini = self.pool.mini_transaction();
        let mut edit = open.tree.edit(&mut mini, key)?;
        let mut value = Vec::new();
        let is_it = |head: &Head| head.deleted && head.writer == writer;
        if load_head(&edit, &mut value)?.filter(is_it).is_none() {
            return Ok(false);
        }
        let underfull = edit.remove(0)?;
        mini.commit();
        if underfull {
            open.tree.merge_at(&self.pool, key)?;
        }
        Ok(true)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
