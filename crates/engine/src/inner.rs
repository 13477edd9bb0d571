//! What all handles of an engine share: its parts, each with its own state. Main type: [`EngineInner`]. The world, the pool,
//! settings, tables and their files are in crate `tables`, who sees, locks and commits in `transaction_system`, what is noted to
//! be taken back in `undo`, long values in `lob`; `read`, `rollback` and `purge` work over these.

use crate::background::Background;
use crate::lob::{GarbageNotes, LongValues};
use crate::purge::Purge;
use crate::read::ConsistentReads;
use crate::rollback::Rollback;
use crate::sweep::Sweep;
use crate::transaction_system::TransactionSystem;
use buffer::BufferPool;
use dictionary_store::{DdlTurns, DictionaryStore};
use engine_types::EngineOptions;
use env::Environment;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use stdx::ids::TransactionId;
use tables::{Settings, Shared, Tables};
use txn::SpillFile;
use undo::{UndoLimits, UndoLog, UndoStore};

/// The parts.
pub(crate) struct EngineInner {
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) tables: Arc<Tables>,
    pub(crate) undo: Arc<UndoLog>,
    pub(crate) values: Arc<LongValues>,
    pub(crate) system: Arc<TransactionSystem>,
    pub(crate) reads: Arc<ConsistentReads>,
    pub(crate) rollback: Rollback,
    pub(crate) purge: Purge,
    pub(crate) sweep: Sweep,
    pub(crate) background: Background,
    /// One DDL statement at a time.
    pub(crate) ddl: Arc<DdlTurns>,
    /// Log up to here was handed to the operating system (kept at flush level 2).
    pub(crate) written: AtomicU64,
}

/// What [`EngineInner::assemble`] puts together.
pub(crate) struct Found {
    pub(crate) environment: Environment,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) options: EngineOptions,
    pub(crate) store: DictionaryStore,
    pub(crate) undo_store: UndoStore,
    pub(crate) garbage: GarbageNotes,
    /// Where undo goes that outgrows memory.
    pub(crate) spill_file: Arc<SpillFile>,
    /// The first id to give.
    pub(crate) next_id: TransactionId,
    /// The environment's disk is an overlay.
    pub(crate) is_read_only: bool,
    /// Ids below it that are not finished.
    pub(crate) unfinished: Vec<TransactionId>,
}

impl std::fmt::Debug for EngineInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("stopped", &self.shared.stopped).finish_non_exhaustive()
    }
}

impl EngineInner {
    pub(crate) fn assemble(found: Found) -> EngineInner {
        let Found { environment, pool, options, spill_file, next_id, .. } = found;
        let settings = Settings::new(&options, found.is_read_only);
        let limits = UndoLimits {
            log_bytes_max: settings.undo_log_bytes_max,
            memory_bytes_max: settings.undo_memory_bytes_max,
            history_bytes_max: options.version_memory_bytes,
        };
        let shared = Arc::new(Shared::new(environment, pool.clone(), settings));
        let tables = Tables::new(shared.clone(), found.store, options.tables_open_max);
        let undo = Arc::new(UndoLog::new(pool.clone(), found.undo_store, spill_file, limits));
        let values = Arc::new(LongValues::new(shared.clone(), tables.clone(), found.garbage));
        let system = Arc::new(TransactionSystem::new(
            shared.clone(),
            tables.clone(),
            undo.clone(),
            next_id,
            &found.unfinished,
        ));
        let reads = ConsistentReads::new(shared.clone(), values.clone(), system.clone());
        EngineInner {
            reads: Arc::new(reads),
            rollback: Rollback::new(
                shared.clone(),
                tables.clone(),
                undo.clone(),
                values.clone(),
                system.clone(),
            ),
            sweep: Sweep::new(shared.clone(), tables.clone(), undo.clone(), system.clone()),
            purge: Purge::new(shared.clone(), tables.clone(), undo.clone(), values.clone(), system.clone()),
            pool,
            shared,
            tables,
            undo,
            values,
            system,
            background: Background::default(),
            ddl: Arc::default(),
            written: AtomicU64::new(0),
        }
    }

    /// Moves undo of committed writers out of memory when it takes more than it should, and wakes purge. Called between writes, without
    /// latches: it writes a file.
    #[inline]
    pub(crate) fn bound_history(&self) {
        if self.undo.history.spill_excess() {
            self.background.purge.wake();
        }
    }
}
