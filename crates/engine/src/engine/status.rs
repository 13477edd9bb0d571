//! Figures for SHOW ENGINE INNODB STATUS, status variables and the lock views.

use super::{Engine, LockViews};
use engine_types::{EngineStatus, WriterStatus};
use std::sync::atomic::Ordering;
use stdx::ids::CommitTimestamp;
use txn::locks::LockInfo;
use undo::Writer;

fn status_of(writer: &Writer) -> WriterStatus {
    let undo = writer.undo();
    WriterStatus {
        id: writer.id,
        session_id: writer.owner.session_id(),
        is_prepared: undo.is_prepared(),
        undo_records: undo.list.len(),
        undo_records_saved: undo.saved,
        lock_objects: writer.owner.lock_count(),
    }
}

impl Engine {
    /// The figures.
    pub fn status(&self) -> EngineStatus {
        let inner = &self.inner;
        let writers = inner.undo.writers.all();
        let history = inner.undo.history.figures();
        EngineStatus {
            old_versions: history.versions,
            old_version_bytes: history.memory_bytes,
            spilled_versions: history.spilled_versions,
            spilled_version_bytes: history.spilled_bytes,
            spill_failures: history.spill_failures,
            history_list_length: history.length,
            snapshots: inner.system.snapshots.count(),
            writers: writers.iter().map(|writer| status_of(writer)).collect(),
            commit_table: inner.system.commits.size(),
            next_transaction: inner.system.commits.next_id(),
            watermark: inner.system.commits.watermark(),
            last_commit: CommitTimestamp(inner.system.last_committed.load(Ordering::Acquire)),
            log_end: inner.pool.redo().end_lsn(),
            log_durable: inner.pool.redo().durable_lsn(),
            log_room_waits: inner.pool.log_room_waits(),
        }
    }

    /// Status variables by MySQL's names. What the whole process counts is in [`metrics::counter_values`].
    pub fn status_variables(&self) -> Vec<(&'static str, u64)> {
        let locks = self.inner.system.locks.counters();
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let waits = load(&locks.waits);
        let time_ms = load(&locks.wait_time_us) / 1000;
        let (pages, dirty) = self.inner.pool.page_counts();
        let (frames, page_bytes) = (self.inner.pool.frame_count() as u64, page::PAGE_BYTES as u64);
        vec![
            ("Innodb_row_lock_current_waits", load(&locks.waiting)),
            ("Innodb_row_lock_time", time_ms),
            ("Innodb_row_lock_time_avg", time_ms.checked_div(waits).unwrap_or(0)),
            ("Innodb_row_lock_time_max", load(&locks.wait_time_max_us) / 1000),
            ("Innodb_row_lock_waits", waits),
            ("Innodb_deadlocks", load(&locks.deadlocks)),
            ("Innodb_buffer_pool_pages_total", frames),
            ("Innodb_buffer_pool_pages_data", pages as u64),
            ("Innodb_buffer_pool_pages_free", frames.saturating_sub(pages as u64)),
            ("Innodb_buffer_pool_pages_dirty", dirty as u64),
            ("Innodb_buffer_pool_bytes_data", pages as u64 * page_bytes),
            ("Innodb_buffer_pool_bytes_dirty", dirty as u64 * page_bytes),
            ("Innodb_page_size", page_bytes),
            ("Innodb_num_open_files", self.inner.pool.open_files().0 as u64),
            ("Innodb_redo_log_current_lsn", self.inner.pool.redo().end_lsn().0),
            ("Innodb_redo_log_flushed_to_disk_lsn", self.inner.pool.redo().durable_lsn().0),
        ]
    }

    /// All lock objects (performance_schema.data_locks). The X locks of writers are in their rows and not listed.
    pub fn locks(&self) -> Vec<LockInfo> {
        self.inner.system.locks.snapshot()
    }

    /// What the lock views show beside these.
    pub fn lock_views(&self) -> LockViews<'_> {
        LockViews { inner: &self.inner }
    }

    /// Transactions that a crash left unfinished and whose rollback has not ended, by id.
    pub fn unfinished(&self) -> Vec<WriterStatus> {
        let open = self.inner.rollback.unfinished();
        let mut unfinished: Vec<_> = open.iter().map(|writer| status_of(writer)).collect();
        unfinished.sort_unstable_by_key(|writer| writer.id);
        unfinished
    }
}
