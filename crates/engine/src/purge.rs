//! Purge: drops undo of committed writers and delete-marked entries that no snapshot needs. Main type: [`Purge`].
//! The history has committed writers in commit order; the background thread (or [`crate::Engine::purge`]) works them off.

use crate::lob::LongValues;
use crate::transaction_system::TransactionSystem;
use buffer::BufferPool;
use engine_error::{EngineError, EngineResult};
use entry::{Head, load_head};
use std::sync::{Arc, Mutex};
use stdx::ids::{CommitTimestamp, IndexId, TransactionId};
use stdx::sync::lock;
use tables::{Shared, Tables};
use txn::{UndoList, UndoRecord};
use undo::{Finished, UndoError, UndoLog};

/// Strays of a round that may fail before the others are left to the next one.
const FAILURES_MAX: u32 = 16;

/// Removes what committed transactions left.
pub(crate) struct Purge {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    tables: Arc<Tables>,
    undo: Arc<UndoLog>,
    values: Arc<LongValues>,
    system: Arc<TransactionSystem>,
    /// One purge at a time, so that they go in commit order.
    pub(crate) running: Mutex<()>,
}

impl Purge {
    /// Works off the history of `undo`, and what `system` has beside it.
    pub(crate) fn new(
        shared: Arc<Shared>,
        tables: Arc<Tables>,
        undo: Arc<UndoLog>,
        values: Arc<LongValues>,
        system: Arc<TransactionSystem>,
    ) -> Purge {
        Purge { pool: shared.pool.clone(), shared, tables, undo, values, system, running: Mutex::new(()) }
    }

    /// Purges all that no snapshot needs now. Returns the number of versions and entries removed. An error ends nothing but the
    /// part that it is about: the watermark moves on, and what failed is tried again by the next round. A stop ends it.
    pub(crate) fn purge_once(&self) -> EngineResult<u64> {
        let _one_at_a_time = lock(&self.running);
        // It makes room.
        let _reserve = buffer::use_reserve();
        let snapshots = self.system.snapshots.in_use(self.system.visible());
        let horizon = snapshots.horizon();
        // First, so that neither an error nor a long round holds the watermark.
        self.system.commits.advance(&snapshots);
        self.undo.keep_less_log()?;
        let versions = self.purge_all_finished(horizon);
        let strays = self.purge_strays(horizon);
        self.undo.discard_finished()?;
        self.values.remove_old_garbage(self.system.first_id, &self.system.commits, horizon)?;
        Ok(versions? + strays?)
    }

    fn purge_all_finished(&self, horizon: CommitTimestamp) -> EngineResult<u64> {
        let mut removed = 0;
        loop {
            let next = self.undo.history.next_finished(horizon).map_err(UndoError::from)?;
            let Some(finished) = next else { return Ok(removed) };
            // What fails is the next again.
            removed += self.purge_finished(&finished)?;
        }
    }

    /// Removes delete marks that lie outside the undo lists.
    fn purge_strays(&self, horizon: CommitTimestamp) -> EngineResult<u64> {
        let (mut removed, mut failures, mut result) = (0, 0, Ok(()));
        let count = self.system.strays.stray_count();
        for _ in 0..count {
            self.shared.check_running()?;
            let Some(stray) = self.system.strays.take_stray() else { break };
            if self.system.commits.is_visible(stray.writer, horizon) {
                let has_room = self.pool.check_writable().map_err(EngineError::from);
                match has_room.and_then(|()| self.remove_tombstone(stray.index, &stray.key, stray.writer)) {
                    Ok(is_removed) => {
                        removed += u64::from(is_removed);
                        continue;
                    }
                    Err(error) => (failures, result) = (failures + 1, Err(error)),
                }
            }
            self.system.strays.put_back_stray(stray);
            if failures >= FAILURES_MAX {
                break;
            }
        }
        result.map(|()| removed)
    }

    fn purge_finished(&self, finished: &Finished) -> EngineResult<u64> {
        let mut removed = 0;
        finished.visit(|writer, record| {
            self.shared.check_running()?;
            // What purge writes is not more than what it frees, but the log is others' too.
            self.pool.check_writable()?;
            removed += self.purge_record(record, writer);
            Ok::<(), EngineError>(())
        })?;
        self.undo.history.end(finished);
        Ok(removed + finished.versions())
    }

    /// Removes what the changes of a list took away, which nobody else sees. What cannot be removed stays until its table goes.
    pub(crate) fn purge_list(&self, writer: TransactionId, list: &UndoList) {
        let _ = list.purge_records(|record| _ = self.purge_record(record, writer));
    }

    fn purge_record(&self, record: UndoRecord<'_>, writer: TransactionId) -> u64 {
        let mut removed = 0;
        if !record.dead.is_empty() {
            // What fails stays noted for the next start.
            removed += u64::from(self.values.remove_dead(writer, record.index, record.dead).is_ok());
        }
        if record.tombstone {
            match self.remove_tombstone(record.index, record.key, writer) {
                Ok(is_removed) => removed += u64::from(is_removed),
                Err(_) if record.index.is_temporary() => {}
                Err(_) => self.system.strays.add_stray(record.index, record.key, writer),
            }
        }
        removed
    }

    /// Removes an entry if it still is the delete mark that `writer` left.
    pub(crate) fn remove_tombstone(
        &self,
        index: IndexId,
        key: &[u8],
        writer: TransactionId,
    ) -> EngineResult<bool> {
        let Some(open) = self.tables.open_index(index)? else { return Ok(false) };
        let mut mini = self.pool.mini_transaction();
        let mut edit = open.tree.edit(&mut mini, key)?;
        let mut value = Vec::new();
        let is_it = |head: &Head| head.deleted && head.writer == writer;
        if load_head(&edit, &mut value)?.transpose()?.filter(is_it).is_none() {
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
