//! Which transactions there are and which of them are seen, locked and committed. Main type: [`TransactionSystem`]. What they have
//! written is in the undo log (`undo`), the ends of those that are undone in `rollback`. See rules C1 to C4 in README.md.

mod commit;
mod unique;

pub(crate) use unique::UNIQUE_STRIPES;

use buffer::BufferPool;
use engine_error::{EngineError, EngineResult};
use engine_types::FlushLevel;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use stdx::OwnLine;
use stdx::ids::{CommitTimestamp, Lsn, TransactionId};
use stdx::sync::lock;
use tables::{Shared, Tables};
use txn::locks::{LockManager, Owner};
use txn::{CommitTable, EndOrder, Snapshot, SnapshotRegistry, TableStamp, TransactionState};
use undo::{StrayMarks, UndoLog};

/// Ids that one write of the dictionary's limit covers.
const ID_RESERVE: u64 = 1 << 16;
/// Looks at a writer that finishes at this moment before the row is called corrupt.
const UNKNOWN_WRITER_TRIES: u32 = 1000;

/// Transactions end between two appends to the log: its order is theirs.
struct AppendSection(Arc<BufferPool>);

impl std::fmt::Debug for AppendSection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("AppendSection")
    }
}

impl EndOrder for AppendSection {
    fn act(&self, act: &mut dyn FnMut()) {
        self.0.redo().between_appends(act);
    }
}

/// All transactions.
pub(crate) struct TransactionSystem {
    shared: Arc<Shared>,
    /// The dictionary's limit of ids.
    tables: Arc<Tables>,
    undo: Arc<UndoLog>,
    pub(crate) commits: CommitTable,
    pub(crate) snapshots: Arc<SnapshotRegistry>,
    pub(crate) locks: LockManager,
    /// What purge has still to do beside the history.
    pub(crate) strays: StrayMarks,
    /// The newest commit that is in the log and in the commit table. Written in the log's append section.
    pub(crate) last_committed: OwnLine<AtomicU64>,
    /// New snapshots see what is durable, and what has been shown without being so: up to there; never goes back. At flush level 1 it
    /// is seldom written.
    shown: OwnLine<AtomicU64>,
    /// Stands for every table: a commit that may have changed any of them.
    pub(crate) any_table: TableStamp,
    /// Ids below this may be given: the dictionary holds a limit that is at least as high.
    id_limit: AtomicU64,
    /// Held by who raises it.
    raising_id_limit: Mutex<()>,
    unique_stripes: Box<[Mutex<()>]>,
    /// Ids below this were given before the engine was opened.
    pub(crate) first_id: TransactionId,
}

impl TransactionSystem {
    /// Begins with that id; those among the lower ones that are unfinished have not ended.
    pub(crate) fn new(
        shared: Arc<Shared>,
        tables: Arc<Tables>,
        undo: Arc<UndoLog>,
        next_id: TransactionId,
        unfinished: &[TransactionId],
    ) -> TransactionSystem {
        let end = shared.pool.redo().end_lsn().0.max(1);
        let order = Arc::new(AppendSection(shared.pool.clone()));
        let commits = CommitTable::new(next_id, unfinished, undo.spill_file().clone(), order);
        TransactionSystem {
            shared,
            tables,
            undo,
            commits,
            snapshots: Arc::new(SnapshotRegistry::new()),
            locks: LockManager::new(),
            strays: StrayMarks::default(),
            last_committed: OwnLine(AtomicU64::new(end)),
            shown: OwnLine(AtomicU64::new(end)),
            any_table: TableStamp::at(CommitTimestamp(end)),
            id_limit: AtomicU64::new(next_id.0),
            raising_id_limit: Mutex::default(),
            unique_stripes: unique::stripes(),
            first_id: next_id,
        }
    }

    /// Room for the snapshots of a transaction.
    pub(crate) fn new_snapshot(&self) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(self.snapshots.clone()))
    }

    /// What a snapshot taken now sees: every commit that is durable (at flush levels 0 and 2, every commit). Where the log is durable up to
    /// is a timestamp as good as that of a commit: all before it are in the commit table (rule C1).
    pub(crate) fn visible(&self) -> CommitTimestamp {
        match self.shared.settings.flush_level() {
            FlushLevel::Commit => CommitTimestamp(self.visible_now()),
            _ => self.visible_undurable(),
        }
    }

    /// The newest commit, durable or not: for a session that must see its own.
    pub(crate) fn visible_undurable(&self) -> CommitTimestamp {
        let committed = self.last_committed.load(Ordering::Acquire);
        if committed > self.shown.load(Ordering::Acquire) {
            self.shown.fetch_max(committed, Ordering::AcqRel);
        }
        CommitTimestamp(self.visible_now())
    }

    /// The same for who keeps to itself what it sees.
    pub(crate) fn newest_committed(&self) -> CommitTimestamp {
        CommitTimestamp(self.visible_now().max(self.last_commit().0))
    }

    /// What is durable or shown. Never goes back, whatever the flush level was before, so it is not below what purge has offered.
    fn visible_now(&self) -> u64 {
        let durable = self.shared.pool.redo().durable_lsn().0;
        durable.max(self.shown.load(Ordering::Acquire))
    }

    /// The newest commit that a snapshot may have seen without its being durable: of those up to it the commit table may know no more.
    pub(crate) fn newest_shown(&self) -> u64 {
        // Who finds in the table that a commit has been passed sees what it was passed by.
        self.shown.load(Ordering::Relaxed)
    }

    /// Where the newest commit stands in the log, durable or not.
    pub(crate) fn last_commit(&self) -> Lsn {
        Lsn(self.last_committed.load(Ordering::Acquire))
    }

    /// Gives an id to a transaction. Before ids run into the stored limit, the limit is raised in the log.
    pub(crate) fn allocate_id(&self) -> EngineResult<TransactionId> {
        self.shared.check_running()?;
        let id = self.commits.allocate().ok_or(EngineError::OutOfResources("a snapshot is too old"))?;
        if CommitTable::begins_chunk(id) {
            // Not later than memory grows by a chunk, however long a round of purge takes.
            self.commits.try_advance(&self.snapshots.in_use(self.visible()));
        }
        if id.0 >= self.id_limit.load(Ordering::Acquire) {
            // Nothing carries the id if that fails: it counts as rolled back, or it would hold the watermark for ever.
            self.raise_id_limit(id).inspect_err(|_| self.commits.set_rolled_back(id))?;
        }
        Ok(id)
    }

    /// Sees to it that an id lies below the stored limit.
    #[cold]
    fn raise_id_limit(&self, id: TransactionId) -> EngineResult<()> {
        let _one_at_a_time = lock(&self.raising_id_limit);
        if id.0 >= self.id_limit.load(Ordering::Acquire) {
            let next = TransactionId(id.0 + ID_RESERVE);
            self.tables.store.put_id_limit(&self.shared.pool, next)?;
            self.id_limit.store(next.0, Ordering::Release);
        }
        Ok(())
    }

    /// The transaction with that id, if it is unfinished: it has the row locked.
    pub(crate) fn unfinished_writer(&self, id: TransactionId) -> EngineResult<Option<Arc<Owner>>> {
        for _ in 0..UNKNOWN_WRITER_TRIES {
            if self.commits.state(id) != TransactionState::Active {
                return Ok(None);
            }
            if let Some(writer) = self.undo.writers.get(id) {
                return Ok(Some(writer.owner.clone()));
            }
            // It leaves the registry only after the commit table knows its end; the next look sees it.
            std::hint::spin_loop();
        }
        Err(EngineError::Corrupt(format!("row written by unknown transaction {id}")))
    }

    /// The undo record at a position of a writer that was found in a row, under the row's latch, or in its undo. There
    /// is one if the caller's snapshot does not see the writer.
    pub(crate) fn undo_record(&self, id: TransactionId, position: u64) -> EngineResult<Option<Vec<u8>>> {
        Ok(self.undo.record_of(&self.commits, id, position)?)
    }
}
