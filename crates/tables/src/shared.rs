//! What all parts of an engine have: the world that it runs in, the pool, settings, what the error log is to be told. Main type:
//! [`Shared`].

use buffer::BufferPool;
use engine_error::{EngineError, EngineResult};
use engine_types::{EngineOptions, FlushLevel, ForceRecovery};
use env::Environment;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stdx::sync::lock;

/// The undo list of one transaction may take this part of the memory for old versions; 1 MiB by default.
const UNDO_SHARE: u64 = 256;
/// But at least this much, in bytes: what is written at once should be worth it.
const UNDO_BYTES_MIN: u64 = 64 << 10;

/// What all parts have.
pub struct Shared {
    /// The world that it runs in.
    pub environment: Environment,
    /// Pages of all files.
    pub pool: Arc<BufferPool>,
    /// What may be set.
    pub settings: Settings,
    /// Nothing is begun any more.
    pub stopped: AtomicBool,
    /// What is odd, for the error log.
    pub messages: Mutex<Vec<String>>,
    /// What is worth a line there without being odd.
    pub notes: Mutex<Vec<String>>,
}

/// Settings that may change while the engine runs.
#[derive(Debug)]
pub struct Settings {
    flush_level: AtomicU8,
    lock_wait_timeout_ms: AtomicU64,
    /// Cycles of waits are looked for (innodb_deadlock_detect).
    pub deadlock_detect: AtomicBool,
    /// A wait that times out ends its transaction (innodb_rollback_on_timeout).
    pub rollback_on_timeout: bool,
    /// innodb_autoinc_lock_mode, 0 to 2.
    pub auto_increment_lock_mode: AtomicU8,
    /// How far damage is passed over.
    pub force_recovery: ForceRecovery,
    /// The data directory is not touched.
    pub is_read_only: bool,
    /// Background threads run.
    pub has_threads: bool,
    /// That was asked for by innodb_read_only.
    pub read_only_option: bool,
    /// Bytes of log a transaction's undo may span before it is saved elsewhere.
    pub undo_log_bytes_max: u64,
    /// Memory for the undo list of one transaction, in bytes.
    pub undo_memory_bytes_max: u64,
}

impl Shared {
    /// Nothing is stopped, nothing told.
    pub fn new(environment: Environment, pool: Arc<BufferPool>, settings: Settings) -> Shared {
        Shared {
            environment,
            pool,
            settings,
            stopped: AtomicBool::new(false),
            messages: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    /// Error: Stopped.
    #[inline]
    pub fn check_running(&self) -> EngineResult<()> {
        if self.stopped.load(Ordering::Acquire) { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// Whether the start was one past damage.
    #[inline]
    pub fn is_forced(&self) -> bool {
        self.settings.force_recovery != ForceRecovery::Off
    }

    /// Whether tables may be made, changed and removed. Errors: ReadOnlyEngine, ReadOnlyMode.
    pub fn check_may_define(&self) -> EngineResult<()> {
        if self.settings.read_only_option {
            return Err(EngineError::ReadOnlyMode);
        }
        if self.settings.is_read_only { Err(EngineError::ReadOnlyEngine) } else { Ok(()) }
    }

    /// Whether rows can be copied to another table or index: not where a scan may leave some out.
    pub fn check_may_copy(&self) -> EngineResult<()> {
        if self.is_forced() { Err(EngineError::ForcedRecovery) } else { Ok(()) }
    }

    /// Tells the error log of something odd.
    pub fn tell(&self, text: String) {
        lock(&self.messages).push(text);
    }
}

impl Settings {
    /// Those that a start was asked for; `is_read_only`: the data directory is not touched.
    pub fn new(options: &EngineOptions, is_read_only: bool) -> Settings {
        let settings = Settings {
            flush_level: AtomicU8::new(0),
            lock_wait_timeout_ms: AtomicU64::new(0),
            deadlock_detect: AtomicBool::new(options.deadlock_detect),
            rollback_on_timeout: options.rollback_on_timeout,
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

    /// How long a row lock is waited for.
    #[inline]
    pub fn lock_wait_timeout(&self) -> Duration {
        Duration::from_millis(self.lock_wait_timeout_ms.load(Ordering::Relaxed))
    }

    /// Sets how long a row lock is waited for.
    pub fn set_lock_wait_timeout(&self, timeout: Duration) {
        let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.lock_wait_timeout_ms.store(ms, Ordering::Relaxed);
    }

    /// When commits are made durable.
    pub fn flush_level(&self) -> FlushLevel {
        match self.flush_level.load(Ordering::Relaxed) {
            0 => FlushLevel::EverySecond,
            1 => FlushLevel::Commit,
            _ => FlushLevel::WriteAtCommit,
        }
    }

    /// Sets when commits are made durable.
    pub fn set_flush_level(&self, level: FlushLevel) {
        let number = match level {
            FlushLevel::EverySecond => 0,
            FlushLevel::Commit => 1,
            FlushLevel::WriteAtCommit => 2,
        };
        self.flush_level.store(number, Ordering::Relaxed);
    }
}
