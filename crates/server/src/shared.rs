//! What all connections of a server share. Main type: [`Shared`].
//! Thread rules: used by all threads; nothing in it is locked on the way of a query.

use crate::descriptors::Descriptors;
use crate::error_log::ErrorLog;
use crate::port::SqlInstance;
use crate::rsa_key::RsaKey;
use crate::scripts::ServerScript;
use engine::FlushWaiter;
use env::Environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use stdx::ids::Lsn;
use wire::auth::cache::PasswordCache;

/// What all connections share.
pub struct Shared {
    /// The SQL layer.
    pub instance: Arc<dyn SqlInstance>,
    /// Clock and random numbers.
    pub environment: Environment,
    /// The error log.
    pub log: Arc<ErrorLog>,
    /// Passwords proved before.
    pub passwords: PasswordCache,
    /// For passwords over connections without TLS.
    pub key: Option<RsaKey>,
    /// Certificate and settings of TLS; None switches TLS off.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// The script that `proxy_lua_script` names.
    pub script: Option<ServerScript>,
    /// Open connections, those that log in included.
    pub connection_count: AtomicU32,
    /// Of the process: a connection that leaves too few is turned away.
    pub descriptors: Descriptors,
    /// No more commands are taken.
    pub is_stopping: AtomicBool,
}

impl Shared {
    /// Whether the server is going down.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// Makes the log durable up to that position. A log that cannot be flushed ends the process at once: nobody
    /// may be told that a commit succeeded, and recovery decides what did (I1, I2).
    pub fn flush_log(&self, lsn: Lsn) {
        self.unless_failed(self.instance.flush_log(lsn));
    }

    /// As [`Shared::flush_log`], but false, at once, while another thread flushes: the waiter is told when it has ended.
    pub fn flush_log_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> bool {
        self.unless_failed(self.instance.flush_log_or_subscribe(lsn, waiter))
    }

    fn unless_failed<T>(&self, outcome: Result<T, String>) -> T {
        match outcome {
            Ok(value) => value,
            Err(reason) => {
                self.log.error(&format!("The redo log cannot be written: {reason}. The server stops."));
                std::process::abort();
            }
        }
    }
}
