//! How an engine is opened and a transaction begun. Main types: [`EngineOptions`], [`TransactionOptions`].

use std::time::Duration;
use stdx::ids::Lsn;
use txn::KillFlag;

/// What a start does about damage that would end it, or close tables (innodb_force_recovery).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForceRecovery {
    /// Nothing (0).
    #[default]
    Off,
    /// Goes on; scans leave out pages that cannot be read, rows cannot be written. A damaged log ends where the damage is; nothing
    /// is written to the data directory then (1).
    PastDamage,
    /// Shows the files as they are, without redo and rollback. Nothing is written to the data directory (6).
    WithoutLog,
}

/// How an engine is opened. `Default` is right for tests; the server fills it from its configuration.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Buffer pool in bytes (innodb_buffer_pool_size).
    pub buffer_pool_bytes: u64,
    /// All redo log files together, in bytes (innodb_redo_log_capacity).
    pub redo_log_bytes: u64,
    /// When a commit reaches the disk (innodb_flush_log_at_trx_commit); changeable later.
    pub flush_level: FlushLevel,
    /// Whether pages are written twice to survive torn writes (innodb_doublewrite).
    pub doublewrite: bool,
    /// Row lock wait limit of transactions that set none (innodb_lock_wait_timeout).
    pub lock_wait_timeout: Duration,
    /// Whether waits search for deadlocks (innodb_deadlock_detect).
    pub deadlock_detect: bool,
    /// Whether a row lock wait that times out rolls the whole transaction back (innodb_rollback_on_timeout).
    pub rollback_on_timeout: bool,
    /// innodb_autoinc_lock_mode: 0, 1 or 2.
    pub auto_increment_lock_mode: u8,
    /// Memory for old row versions, in bytes; their rows beyond it go to a temporary file. The same whatever the pool's size:
    /// that file is read from the operating system's cache as long as there is memory.
    pub version_memory_bytes: u64,
    /// Whether purge, checkpoint and flush threads run. Off in deterministic tests, which call
    /// `Engine::purge` and `Engine::checkpoint` themselves.
    pub background_threads: bool,
    /// innodb_force_recovery.
    pub force_recovery: ForceRecovery,
    /// Nothing is changed, and the data directory is not touched; what a crash left is recovered in memory (innodb_read_only).
    pub read_only: bool,
    /// Room on disk that is kept for statements that free room, in bytes.
    pub reserve_bytes: u64,
    /// Most tables' files that stay open (innodb_open_files).
    pub open_files_max: usize,
    /// How many tables stay open in memory though nobody uses them (table_definition_cache).
    pub tables_open_max: usize,
}

/// When a commit reaches the disk (innodb_flush_log_at_trx_commit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushLevel {
    /// 0: written and flushed once a second.
    EverySecond,
    /// 1: flushed before the client hears of it.
    Commit,
    /// 2: written before the client hears of it, flushed once a second.
    WriteAtCommit,
}

/// Transaction isolation level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Reads see the newest row, committed or not.
    ReadUncommitted,
    /// Each statement reads from a snapshot of its own.
    ReadCommitted,
    /// One snapshot, taken at the first consistent read.
    #[default]
    RepeatableRead,
    /// As RepeatableRead; the SQL layer turns plain reads of explicit transactions into shared-lock reads.
    Serializable,
}

/// How a transaction is begun.
#[derive(Clone, Debug, Default)]
pub struct TransactionOptions {
    /// Isolation level.
    pub isolation: Isolation,
    /// START TRANSACTION READ ONLY: writes fail.
    pub read_only: bool,
    /// A row that was changed behind the snapshot cannot be locked or written (transaction_strict_snapshot).
    pub strict_snapshot: bool,
    /// The session's last commit. The transaction's snapshots include it even if it is not durable yet
    /// (see `Transaction::reply_lsn`). 0 if there is none.
    pub sees_at_least: Lsn,
    /// Row lock wait limit; None for the engine's default.
    pub lock_wait_timeout: Option<Duration>,
    /// Raised by KILL. Checked in waits and between scan batches.
    pub kill: KillFlag,
    /// The connection's id, for SHOW ENGINE INNODB STATUS and the lock views.
    pub session_id: u64,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            buffer_pool_bytes: 128 << 20,
            redo_log_bytes: 1 << 30,
            flush_level: FlushLevel::Commit,
            doublewrite: true,
            lock_wait_timeout: Duration::from_secs(50),
            deadlock_detect: true,
            rollback_on_timeout: false,
            auto_increment_lock_mode: 2,
            version_memory_bytes: 256 << 20,
            background_threads: true,
            force_recovery: ForceRecovery::Off,
            read_only: false,
            reserve_bytes: 0,
            open_files_max: 4000,
            tables_open_max: 2000,
        }
    }
}
