//! What all event threads share. Main type: [`Shared`].

use crate::log::Log;
use crate::options::{AdminOptions, Options};
use crate::pool::Pool;
use env::{Clock, RealClock};
use proxy_script::{Backend, BackendKind, Backends, Host, Level, ScriptEngine, state};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How long a backend stays down before it is tried again.
const DOWN: Duration = Duration::from_secs(4);
/// How often that is looked at, at most.
const LOOKS: Duration = Duration::from_secs(1);

/// Everything that is not one session's.
pub(crate) struct Shared {
    pub log: Arc<Log>,
    pub backends: Backends,
    pub pool: Arc<Pool>,
    /// None without any script.
    pub engine: Option<Arc<ScriptEngine>>,
    /// The script of clients.
    pub script: Option<PathBuf>,
    /// What administrators' clients are told by.
    pub admin: Option<AdminOptions>,
    pub settings: Settings,
    pub is_stopping: Arc<AtomicBool>,
    /// Monotonic milliseconds when backends that are down were last looked at.
    looked_at: AtomicU64,
}

/// What options say about sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub connect_timeout: Duration,
    pub read_timeout: Duration,
    pub write_timeout: Duration,
    /// Pooled connections are handed over without COM_CHANGE_USER.
    pub pool_no_change_user: bool,
}

impl Shared {
    pub fn new(
        log: Arc<Log>,
        backends: Backends,
        pool: Arc<Pool>,
        engine: Option<Arc<ScriptEngine>>,
        options: &Options,
        is_stopping: Arc<AtomicBool>,
    ) -> Shared {
        Shared {
            log,
            backends,
            pool,
            engine,
            script: options.script.clone(),
            admin: options.admin.clone(),
            settings: options.settings,
            is_stopping,
            looked_at: AtomicU64::new(0),
        }
    }

    /// Backends that were down for long enough become unknown: they may be tried again.
    pub fn revive_backends(&self) {
        let now = RealClock.monotonic().as_millis() as u64;
        let looked_at = self.looked_at.load(Ordering::Acquire);
        if now < looked_at + LOOKS.as_millis() as u64 {
            return;
        }
        self.looked_at.store(now, Ordering::Release);
        for backend in self.backends.iter().filter(|backend| backend.state() == state::DOWN) {
            if now >= backend.changed_at.load(Ordering::Acquire) + DOWN.as_millis() as u64 {
                backend.set_state(state::UNKNOWN, now);
            }
        }
    }

    /// The backend for a client: the one that a script asked for (by its number from 1) unless it is down, otherwise the
    /// one of those for writing that has the fewest clients. None if there is none.
    pub fn choose_backend(&self, asked: i64) -> Option<usize> {
        let is_up = |backend: &Backend| backend.state() != state::DOWN;
        if asked > 0 {
            let index = usize::try_from(asked).ok()? - 1;
            let backend = self.backends.get(index)?;
            if is_up(backend) {
                return Some(index);
            }
        }
        let usable = |backend: &Backend| backend.kind == BackendKind::ReadWrite && is_up(backend);
        let candidates = self.backends.iter().enumerate().filter(|(_, backend)| usable(backend));
        let clients = |backend: &Backend| backend.connected_clients.load(Ordering::Acquire);
        candidates.min_by_key(|(_, backend)| clients(backend)).map(|(index, _)| index)
    }
}

/// What scripts need of the program.
pub(crate) struct ProxyHost {
    pub log: Arc<Log>,
    pub is_stopping: Arc<AtomicBool>,
}

impl proxy_modules::Host for ProxyHost {
    fn log(&self, level: Level, text: &str) {
        self.log.write(level, text);
    }

    fn shutdown(&self) {
        self.is_stopping.store(true, Ordering::Release);
    }
}

impl Host for ProxyHost {
    fn now_microseconds(&self) -> u64 {
        RealClock.monotonic().as_micros() as u64
    }
}
