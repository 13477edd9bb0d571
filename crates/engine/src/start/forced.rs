//! Starts by force (innodb_force_recovery): the pool is opened past damage, or over the files as they are. Main function:
//! [`open_pool`]. See rule R8 in README.md.

use buffer::{BufferPool, Forced, PAGE_BYTES, PoolOptions, StorageError};
use engine_error::{EngineError, EngineResult};
use engine_types::{EngineOptions, ForceRecovery};
use env::Environment;
use std::sync::Arc;
use stdx::ids::TransactionId;
use txn::SpillFile;
use undo::Losers;

/// Log is cut into files of at most this many bytes.
const LOG_SEGMENT_BYTES_MAX: u64 = 64 << 20;
/// All undo lists together may take this part of the memory for old versions while the log is replayed; 16 MiB by default.
const RECOVERY_UNDO_SHARE: u64 = 16;
/// Size of a log in memory, which nobody reads.
const UNREAD_LOG_BYTES: u64 = 16 << 20;
/// Without the log it is not known which ids were given: those below this one count as ended, and no row has a greater one.
pub(crate) const FIRST_ID_WITHOUT_LOG: TransactionId = TransactionId(1 << 47);

/// A pool with the world that it lives in.
pub(crate) struct OpenedPool {
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) environment: Environment,
    pub(crate) losers: Losers,
    /// The environment's disk is an overlay: the data directory is not touched.
    pub(crate) is_read_only: bool,
    pub(crate) messages: Vec<String>,
}

/// Opens the pool as far as the options ask for.
pub(crate) fn open_pool(environment: Environment, options: &EngineOptions) -> EngineResult<OpenedPool> {
    let environment = if options.read_only { environment.untouched() } else { environment };
    match options.force_recovery {
        ForceRecovery::Off => open(environment, options, Forced::No).map_err(EngineError::from),
        ForceRecovery::WithoutLog => {
            let mut opened = open(environment.untouched(), options, Forced::WithoutLog)?;
            opened.messages.push(
                "innodb_force_recovery=6: the redo log is not applied, nothing is rolled back, and nothing is written to \
                 the data directory."
                    .to_owned(),
            );
            Ok(opened)
        }
        ForceRecovery::PastDamage => match open(environment.clone(), options, Forced::PastDamage) {
            Err(StorageError::Log(damage)) if damage.is_damage() => {
                let mut opened = open(environment.untouched(), options, Forced::PastDamagedLog)?;
                opened.messages.push(format!(
                    "{damage}. Changes from LSN {} on are left out, and nothing is written to the data directory.",
                    opened.pool.redo().epoch().1
                ));
                Ok(opened)
            }
            opened => {
                let mut opened = opened?;
                opened.messages.push(
                    "innodb_force_recovery=1: scans leave out pages that cannot be read, and rows cannot be written."
                        .to_owned(),
                );
                Ok(opened)
            }
        },
    }
}

fn open(
    environment: Environment,
    options: &EngineOptions,
    forced: Forced,
) -> Result<OpenedPool, StorageError> {
    let is_read_only = options.read_only || matches!(forced, Forced::PastDamagedLog | Forced::WithoutLog);
    let log_bytes = match forced {
        Forced::WithoutLog => UNREAD_LOG_BYTES,
        _ => options.redo_log_bytes,
    };
    let pool_options = PoolOptions {
        pool_bytes: options.buffer_pool_bytes,
        log_capacity_bytes: log_bytes,
        log_segment_bytes: (log_bytes / 8).min(LOG_SEGMENT_BYTES_MAX),
        doublewrite: options.doublewrite,
        background: options.background_threads && !is_read_only,
        forced,
        reserve_pages: if is_read_only { 0 } else { (options.reserve_bytes / PAGE_BYTES as u64) as u32 },
        open_files_max: options.open_files_max,
        // Simulated disks count operations: there must be one order of them.
        replay_lanes: if options.background_threads { 0 } else { 1 },
        ..PoolOptions::default()
    };
    let spill_file = Arc::new(SpillFile::new(environment.clone()));
    let mut losers = Losers::new(spill_file, options.version_memory_bytes / RECOVERY_UNDO_SHARE);
    let pool = BufferPool::open(environment.clone(), pool_options, &mut losers)?;
    Ok(OpenedPool { pool, environment, losers, is_read_only, messages: Vec::new() })
}
