//! Purge: drops old versions and delete-marked entries that no snapshot needs. Main type: [`PurgeQueue`].
//! Finished writers are queued in commit order; the background thread (or [`crate::Engine::purge`]) works them off.

use crate::engine::EngineInner;
use crate::entry::Head;
use crate::error::EngineResult;
use crate::leavings::{Finished, Leavings};
use crate::write::load_head;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stdx::ids::{IndexId, TransactionId};
use txn::UndoRecord;

/// Most delete marks that are remembered outside the undo lists; what is forgotten is found again by the next scan.
const STRAYS_MAX: usize = 10_000;

/// A delete mark without an undo list: left from before a restart, or brought back by a rollback.
#[derive(Debug)]
struct Stray {
    index: IndexId,
    key: Box<[u8]>,
    writer: TransactionId,
}

/// What purge has still to do.
#[derive(Debug, Default)]
pub(crate) struct PurgeQueue {
    finished: Mutex<Leavings>,
    strays: Mutex<Vec<Stray>>,
    /// Undo records in `finished` that purge has work with (the history list).
    backlog: AtomicU64,
    /// One purge at a time, so that versions go in commit order.
    running: Mutex<()>,
}

impl PurgeQueue {
    /// Queues a committed writer. Called in commit order.
    pub(crate) fn add(&self, finished: Finished) {
        self.backlog.fetch_add(finished.left.count(), Ordering::Relaxed);
        lock(&self.finished).add(finished);
    }

    /// Notes a delete mark that a reader or a rollback came across.
    pub(crate) fn add_stray(&self, index: IndexId, key: &[u8], writer: TransactionId) {
        let mut strays = lock(&self.strays);
        if strays.len() < STRAYS_MAX {
            strays.push(Stray { index, key: key.into(), writer });
        }
    }

    /// Records waiting for purge: history list length.
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog.load(Ordering::Relaxed)
    }
}

impl EngineInner {
    /// Purges all that no snapshot needs now. Returns the number of versions and entries removed.
    pub(crate) fn purge_once(&self) -> EngineResult<u64> {
        let _one_at_a_time = lock(&self.purge.running);
        let horizon = self.snapshots.horizon(self.visible());
        let mut removed = 0;
        loop {
            let next = lock(&self.purge.finished).next(horizon);
            let Some(finished) = next else { break };
            removed += self.purge_finished(finished)?;
        }
        self.commits.advance_watermark(horizon);
        let strays = std::mem::take(&mut *lock(&self.purge.strays));
        for stray in strays {
            if self.commits.is_visible(stray.writer, horizon) {
                removed += u64::from(self.remove_tombstone(stray.index, &stray.key, stray.writer)?);
            } else {
                self.purge.add_stray(stray.index, &stray.key, stray.writer);
            }
        }
        self.undo_store.discard_finished(self)?;
        Ok(removed)
    }

    fn purge_finished(&self, finished: Finished) -> EngineResult<u64> {
        let (mut removed, mut result) = (0, Ok(()));
        let visited = finished.left.visit(|record| match self.purge_record(record, finished.writer) {
            Ok(count) => removed += count,
            Err(error) => result = Err(error),
        });
        if let Err(error) = visited {
            // Versions whose keys cannot be read must not be forgotten: a row that is inserted again would get them back.
            lock(&self.purge.finished).put_back(finished);
            return Err(error);
        }
        self.purge.backlog.fetch_sub(finished.left.count(), Ordering::Relaxed);
        result.map(|()| removed)
    }

    fn purge_record(&self, record: UndoRecord<'_>, writer: TransactionId) -> EngineResult<u64> {
        let mut removed = 0;
        if record.version {
            removed += self.versions.purge(record.index, record.key, writer) as u64;
        }
        if record.tombstone {
            removed += u64::from(self.remove_tombstone(record.index, record.key, writer)?);
        }
        Ok(removed)
    }

    /// Removes an entry if it still is the delete mark that `writer` left.
    fn remove_tombstone(&self, index: IndexId, key: &[u8], writer: TransactionId) -> EngineResult<bool> {
        let Some(open) = self.open_index(index) else { return Ok(false) };
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
