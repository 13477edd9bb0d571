//! What the server asks of the instance as a whole, and what it offers to it.
//! Main types: [`ServerSettings`] (global variables that steer the server's own work), [`ServerControl`].
//! Thread rules: called from every reactor thread; nothing here blocks except [`Instance::flush_log`].

use crate::instance::Instance;
use engine::FlushWaiter;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use stdx::ids::Lsn;
use variables::status::id as status;
use variables::{ValueTable, id};

/// Global variables that steer the server's own work. Read at every new connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// max_connections.
    pub connections_max: u32,
    /// connect_timeout.
    pub connect_timeout: Duration,
    /// require_secure_transport.
    pub require_secure_transport: bool,
    /// Collation number that the greeting announces (collation_server).
    pub collation: u16,
    /// Version text that the greeting announces (`version`).
    pub version: String,
}

/// Why a connection never became a session. Feeds Aborted_connects and the Connection_errors_ counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedConnection {
    /// More than max_connections (error 1040).
    TooMany,
    /// Wrong user or password, or the account may not log in.
    AccessDenied,
    /// connect_timeout passed, the socket broke, or what arrived is not MySQL's protocol.
    Protocol,
}

/// What the SQL layer may ask of the server as a whole. Implemented by the server.
pub trait ServerControl: Send + Sync {
    /// SHUTDOWN: starts the graceful end. Returns at once.
    fn shutdown(&self);
}

impl Instance {
    /// The current values. Made anew only after a global variable changed.
    pub fn server_settings(&self) -> Arc<ServerSettings> {
        let globals = self.globals();
        let known = self.server_settings.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((generation, settings)) = known
            && generation == globals.generation()
        {
            return settings;
        }
        let settings = Arc::new(self.read_server_settings(&globals));
        let mut known = self.server_settings.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some((globals.generation(), Arc::clone(&settings)));
        settings
    }

    fn read_server_settings(&self, globals: &ValueTable) -> ServerSettings {
        let collation = globals.get(id::COLLATION_SERVER).text(id::COLLATION_SERVER.variable());
        ServerSettings {
            connections_max: self.connections_max(),
            connect_timeout: Duration::from_secs(globals.get(id::CONNECT_TIMEOUT).unsigned()),
            require_secure_transport: globals.get(id::REQUIRE_SECURE_TRANSPORT).is_on(),
            collation: charset::collation_by_name(&collation).map_or(255, |collation| collation.id.0),
            version: globals.get(id::VERSION).text(id::VERSION.variable()),
        }
    }

    /// Makes the log durable up to that position (group commit: returns at once if another thread's flush got
    /// there). An error means that the server has to stop (I2); the text is for the error log.
    pub fn flush_log(&self, lsn: Lsn) -> Result<(), String> {
        if self.engine().durable_lsn() >= lsn {
            return Ok(());
        }
        self.engine().flush_log(lsn).map_err(|error| error.to_string())
    }

    /// Answers that need no more than this may leave.
    pub fn durable_lsn(&self) -> Lsn {
        self.engine().durable_lsn()
    }

    /// As [`Instance::flush_log`], but does not wait for another thread's flush: then returns false, and `waiter` is
    /// told when that flush has ended.
    pub fn flush_log_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> Result<bool, String> {
        self.engine().flush_log_or_subscribe(lsn, waiter).map_err(|error| error.to_string())
    }

    /// Why the engine writes nothing any more: then the server has to stop (I2). The text is for the error log.
    pub fn failure(&self) -> Option<String> {
        self.engine().failure().map(|error| error.to_string())
    }

    /// Whether the end waits for purge (innodb_fast_shutdown=0).
    pub fn purges_at_stop(&self) -> bool {
        self.global_number(id::INNODB_FAST_SHUTDOWN) == 0
    }

    /// Counts a connection that never became a session.
    pub fn count_refused(&self, reason: RefusedConnection) {
        let counters = self.ended_counters();
        counters.add_shared(status::CONNECTIONS, 1);
        counters.add_shared(status::ABORTED_CONNECTS, 1);
        if reason == RefusedConnection::TooMany {
            counters.add_shared(status::CONNECTION_ERRORS_MAX_CONNECTIONS, 1);
        }
    }

    /// Counts a session whose client did not end it.
    pub fn count_aborted(&self) {
        self.ended_counters().add_shared(status::ABORTED_CLIENTS, 1);
    }

    /// The server is going down: running statements end soon with error 1053 and all sessions must close.
    pub fn begin_shutdown(&self) {
        self.shut_sessions();
    }
}
