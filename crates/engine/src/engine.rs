//! The engine: opened once, shared by all sessions. Main type: [`Engine`] (a cheap clone); [`EngineInner`] is what all
//! handles, transactions and the background thread share. Opening and closing are in `open.rs`.

use crate::background::{Background, EndOfThreads};
use crate::damage::ClosedSpaces;
use crate::ddl_turn::DdlTurns;
use crate::dictionary::Dictionary;
use crate::dictionary_store::DictionaryStore;
use crate::error::{EngineError, EngineResult};
use crate::lob::GarbageNotes;
use crate::losers::RollbackQueue;
use crate::open::DICTIONARY_INDEX;
use crate::options::{EngineOptions, FlushLevel, ForceRecovery, TransactionOptions};
use crate::purge::PurgeQueue;
use crate::table::Table;
use crate::transaction::Transaction;
use crate::undo_store::UndoStore;
use crate::writer::WriterRegistry;
use btree::Tree;
use buffer::BufferPool;
use env::Environment;
use redo::FlushWaiter;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use stdx::ids::{CommitTimestamp, IndexId, Lsn, TransactionId};
pub(crate) use stdx::sync::lock;
use txn::locks::LockManager;
use txn::{CommitTable, SnapshotRegistry, SpillFile, VersionStore};

/// Ids that one write of the dictionary's limit covers.
const ID_RESERVE: u64 = 1 << 16;
/// The undo list of one transaction may take this part of the memory for old versions; 1 MiB by default.
const UNDO_SHARE: u64 = 256;
/// But at least this much, in bytes: what is written at once should be worth it.
const UNDO_BYTES_MIN: u64 = 64 << 10;
/// Mutexes that keep two writers from checking the same unique key at once.
pub(crate) const UNIQUE_STRIPES: usize = 512;

/// The engine. Its threads end with the last handle, if they have not before: then nobody has the data directory any more.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) _threads: Arc<EndOfThreads>,
}

/// What all handles share.
pub(crate) struct EngineInner {
    pub(crate) environment: Environment,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) settings: Settings,
    pub(crate) dictionary: Dictionary,
    pub(crate) store: DictionaryStore,
    pub(crate) commits: CommitTable,
    pub(crate) snapshots: Arc<SnapshotRegistry>,
    pub(crate) versions: VersionStore,
    /// Where old versions and undo lists go that outgrow memory.
    pub(crate) spill_file: Arc<SpillFile>,
    pub(crate) locks: LockManager,
    pub(crate) writers: WriterRegistry,
    pub(crate) purge: PurgeQueue,
    pub(crate) undo_store: UndoStore,
    pub(crate) garbage: GarbageNotes,
    /// What a crash left unfinished.
    pub(crate) rollbacks: RollbackQueue,
    /// One saver of undo at a time.
    pub(crate) undo_saver: Mutex<()>,
    /// Held while a commit record enters the log and the commit table, so that both have one order (rule C1).
    pub(crate) commit_order: Mutex<()>,
    /// The newest commit that is in the log and in the commit table.
    pub(crate) last_committed: AtomicU64,
    /// The newest commit that new snapshots see; never goes back.
    visible: AtomicU64,
    /// Log up to here was handed to the operating system (kept at flush level 2).
    written: AtomicU64,
    /// Ids below this may be given: the dictionary holds a limit that is at least as high.
    id_limit: Mutex<TransactionId>,
    unique_stripes: Box<[Mutex<()>]>,
    /// One DDL statement at a time.
    pub(crate) ddl: Arc<DdlTurns>,
    pub(crate) background: Background,
    pub(crate) stopped: AtomicBool,
    /// Ids below this were given before the engine was opened.
    pub(crate) first_id: TransactionId,
    pub(crate) closed: ClosedSpaces,
    /// What is odd, for the error log.
    pub(crate) messages: Mutex<Vec<String>>,
    /// What is worth a line there without being odd.
    pub(crate) notes: Mutex<Vec<String>>,
}

/// A tree that undo and purge can find by its index id.
#[derive(Clone, Debug)]
pub(crate) struct OpenIndex {
    pub(crate) tree: Arc<Tree>,
    /// For a clustered index: its table.
    pub(crate) table: Option<Arc<Table>>,
}

/// Settings that may change while the engine runs.
#[derive(Debug)]
pub(crate) struct Settings {
    flush_level: AtomicU8,
    lock_wait_timeout_ms: AtomicU64,
    pub(crate) deadlock_detect: AtomicBool,
    pub(crate) auto_increment_lock_mode: AtomicU8,
    pub(crate) force_recovery: ForceRecovery,
    /// The data directory is not touched.
    pub(crate) is_read_only: bool,
    /// Background threads run.
    pub(crate) has_threads: bool,
    /// That was asked for by innodb_read_only.
    pub(crate) read_only_option: bool,
    /// Bytes of log a transaction's undo may span before it is saved elsewhere.
    pub(crate) undo_log_bytes_max: u64,
    /// Memory for the undo list of one transaction, in bytes.
    pub(crate) undo_memory_bytes_max: u64,
}

impl std::fmt::Debug for EngineInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("stopped", &self.stopped).finish_non_exhaustive()
    }
}

impl Settings {
    pub(crate) fn new(options: &EngineOptions, is_read_only: bool) -> Settings {
        let settings = Settings {
            flush_level: AtomicU8::new(0),
            lock_wait_timeout_ms: AtomicU64::new(0),
            deadlock_detect: AtomicBool::new(options.deadlock_detect),
            auto_increment_lock_mode: AtomicU8::new(options.auto_increment_lock_mode),
            force_recovery: options.force_recovery,
            is_read_only,
            has_threads: options.background_threads && !is_read_only,
            read_only_option: options.read_only,
            undo_log_bytes_max: options.redo_log_bytes / 8,
            undo_memory_bytes_max: (options.version_memory_bytes / UNDO_SHARE).max(UNDO_BYTES_MIN),
        };
        settings.set_flush_level(options.flush_level);
        settings.set_lock_wait_timeout(options.lock_wait_timeout);
        settings
    }

    pub(crate) fn lock_wait_timeout(&self) -> Duration {
        Duration::from_millis(self.lock_wait_timeout_ms.load(Ordering::Relaxed))
    }

    fn set_lock_wait_timeout(&self, timeout: Duration) {
        let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.lock_wait_timeout_ms.store(ms, Ordering::Relaxed);
    }

    pub(crate) fn flush_level(&self) -> FlushLevel {
        match self.flush_level.load(Ordering::Relaxed) {
            0 => FlushLevel::EverySecond,
            1 => FlushLevel::Commit,
            _ => FlushLevel::WriteAtCommit,
        }
    }

    fn set_flush_level(&self, level: FlushLevel) {
        let number = match level {
            FlushLevel::EverySecond => 0,
            FlushLevel::Commit => 1,
            FlushLevel::WriteAtCommit => 2,
        };
        self.flush_level.store(number, Ordering::Relaxed);
    }
}

/// What [`EngineInner::assemble`] puts together.
pub(crate) struct Parts {
    pub(crate) environment: Environment,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) options: EngineOptions,
    pub(crate) store: DictionaryStore,
    pub(crate) undo_store: UndoStore,
    pub(crate) garbage: GarbageNotes,
    /// The first id to give.
    pub(crate) next_id: TransactionId,
    /// The environment's disk is an overlay.
    pub(crate) is_read_only: bool,
    /// Ids below it that are not finished.
    pub(crate) unfinished: Vec<TransactionId>,
}

impl EngineInner {
    pub(crate) fn assemble(parts: Parts, spill_file: Arc<SpillFile>) -> EngineInner {
        let end = parts.pool.redo().end_lsn().0.max(1);
        EngineInner {
            environment: parts.environment,
            settings: Settings::new(&parts.options, parts.is_read_only),
            dictionary: Dictionary::new(
                parts.options.tables_open_max,
                parts.options.force_recovery != ForceRecovery::Off,
            ),
            store: parts.store,
            commits: CommitTable::new(parts.next_id, &parts.unfinished),
            snapshots: Arc::new(SnapshotRegistry::new()),
            versions: VersionStore::new(parts.options.version_memory_bytes, spill_file.clone()),
            spill_file,
            locks: LockManager::new(),
            writers: WriterRegistry::new(),
            purge: PurgeQueue::default(),
            undo_store: parts.undo_store,
            garbage: parts.garbage,
            rollbacks: RollbackQueue::default(),
            undo_saver: Mutex::new(()),
            commit_order: Mutex::new(()),
            last_committed: AtomicU64::new(end),
            visible: AtomicU64::new(end),
            written: AtomicU64::new(0),
            id_limit: Mutex::new(parts.next_id),
            unique_stripes: (0..UNIQUE_STRIPES).map(|_| Mutex::new(())).collect(),
            ddl: Arc::default(),
            background: Background::default(),
            stopped: AtomicBool::new(false),
            first_id: parts.next_id,
            closed: ClosedSpaces::default(),
            messages: Mutex::default(),
            notes: Mutex::default(),
            pool: parts.pool,
        }
    }

    /// The newest commit that a snapshot taken now sees: the last durable one (at flush levels 0 and 2, the last one).
    pub(crate) fn visible(&self) -> CommitTimestamp {
        let committed = self.last_committed.load(Ordering::Acquire);
        let newest = match self.settings.flush_level() {
            FlushLevel::Commit => committed.min(self.pool.redo().durable_lsn().0),
            _ => committed,
        };
        CommitTimestamp(self.raise_visible(newest))
    }

    /// The newest commit, durable or not: for a session that must see its own.
    pub(crate) fn visible_undurable(&self) -> CommitTimestamp {
        CommitTimestamp(self.raise_visible(self.last_committed.load(Ordering::Acquire)))
    }

    /// Where the newest commit stands in the log, durable or not.
    pub(crate) fn last_commit(&self) -> Lsn {
        Lsn(self.last_committed.load(Ordering::Acquire))
    }

    /// Snapshots never go back, whatever the flush level was before.
    fn raise_visible(&self, newest: u64) -> u64 {
        let before = self.visible.load(Ordering::Acquire);
        if newest > before { self.visible.fetch_max(newest, Ordering::AcqRel).max(newest) } else { before }
    }

    /// Gives an id to a transaction. Before ids run into the stored limit, the limit is raised in the log.
    pub(crate) fn allocate_id(&self) -> EngineResult<TransactionId> {
        self.check_running()?;
        let id =
            self.commits.allocate().ok_or(EngineError::OutOfResources("too many unfinished transactions"))?;
        let mut limit = self.id_limit.lock().unwrap_or_else(PoisonError::into_inner);
        if id >= *limit {
            let next = TransactionId(id.0 + ID_RESERVE);
            if let Err(error) = self.store.put_id_limit(&self.pool, next) {
                // Nothing carries the id: it counts as rolled back, or it would hold the watermark for ever.
                self.commits.set_rolled_back(id);
                return Err(error);
            }
            *limit = next;
        }
        Ok(id)
    }

    /// Moves old versions out of memory when they take more than they should, and wakes purge. Called between writes, without
    /// latches: it writes a file.
    #[inline]
    pub(crate) fn bound_versions(&self) {
        if self.versions.spill_excess() {
            self.background.purge.wake();
        }
    }

    pub(crate) fn check_running(&self) -> EngineResult<()> {
        if self.stopped.load(Ordering::Acquire) { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// The tree of an index, whose table is opened if it must be; None if it was dropped. Errors: what keeps its file from being opened.
    pub(crate) fn open_index(&self, index: IndexId) -> EngineResult<Option<OpenIndex>> {
        match index == DICTIONARY_INDEX {
            true => Ok(Some(OpenIndex { tree: self.store.tree.clone(), table: None })),
            false => self.dictionary.open_index(index),
        }
    }

    /// Whether an index is there. Opens nothing.
    pub(crate) fn has_index(&self, index: IndexId) -> bool {
        index == DICTIONARY_INDEX || self.dictionary.has_index(index)
    }

    /// Keeps others from checking or inserting the same unique key. Held over look-up and insert, never over a wait.
    pub(crate) fn unique_guard(&self, index: IndexId, key: &[u8]) -> MutexGuard<'_, ()> {
        let stripe = self.unique_stripe(index, key);
        self.unique_stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stripe's guard if nobody has it: for those who hold a latch, because latches come after stripes.
    pub(crate) fn try_unique_guard(&self, stripe: usize) -> Option<MutexGuard<'_, ()>> {
        match self.unique_stripes[stripe].try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The stripe of a unique key.
    pub(crate) fn unique_stripe(&self, index: IndexId, key: &[u8]) -> usize {
        let hash = key.iter().fold(index.0 ^ 0x9E37_79B9, |hash, byte| {
            (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        (hash >> 20) as usize % UNIQUE_STRIPES
    }
}

impl Engine {
    /// Schemas and tables.
    pub fn dictionary(&self) -> &Dictionary {
        &self.inner.dictionary
    }

    /// Begins a transaction. Costs no id and no registration until it reads or writes.
    pub fn begin(&self, options: TransactionOptions) -> Transaction {
        Transaction::new(self.inner.clone(), options)
    }

    /// Where the newest commit stands in the log, durable or not.
    pub fn last_commit(&self) -> Lsn {
        self.inner.last_commit()
    }

    /// Replies that need an LSN up to here may leave: at flush level 1 everything up to here survives a crash; at level 2 the
    /// end of the process; at level 0 it is the end of the log.
    pub fn durable_lsn(&self) -> Lsn {
        let redo = self.inner.pool.redo();
        match self.inner.settings.flush_level() {
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
        match self.inner.settings.flush_level() {
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
        if self.inner.settings.flush_level() == FlushLevel::Commit {
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
        self.inner.settings.flush_level()
    }

    /// Changes the flush level (SET GLOBAL innodb_flush_log_at_trx_commit).
    pub fn set_flush_level(&self, level: FlushLevel) {
        self.inner.settings.set_flush_level(level);
    }

    /// Changes the default lock wait limit (SET GLOBAL innodb_lock_wait_timeout).
    pub fn set_lock_wait_timeout(&self, timeout: Duration) {
        self.inner.settings.set_lock_wait_timeout(timeout);
    }

    /// The graph of waits: the kinds of locks above the engine register theirs, so that deadlocks over all kinds are found.
    pub fn waits(&self) -> &Arc<txn::WaitGraph> {
        self.inner.locks.waits()
    }

    /// Whether row lock waits search for deadlocks.
    pub fn deadlock_detect(&self) -> bool {
        self.inner.settings.deadlock_detect.load(Ordering::Relaxed)
    }

    /// Switches the deadlock search (SET GLOBAL innodb_deadlock_detect).
    pub fn set_deadlock_detect(&self, on: bool) {
        self.inner.settings.deadlock_detect.store(on, Ordering::Relaxed);
    }

    /// innodb_autoinc_lock_mode as given at the start. The counter itself works as in mode 2; a statement that must have
    /// consecutive values (modes 0 and 1) reserves them in one call.
    pub fn auto_increment_lock_mode(&self) -> u8 {
        self.inner.settings.auto_increment_lock_mode.load(Ordering::Relaxed)
    }

    /// Removes what no snapshot needs any more; a background thread does the same. Returns the number of entries and versions
    /// removed.
    pub fn purge(&self) -> EngineResult<u64> {
        self.inner.purge_once()
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
        &self.inner.environment
    }
}
