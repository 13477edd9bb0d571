//! What the server asks of the instance as a whole, and what it offers to it.
//! Main types: [`ServerSettings`] (global variables that steer the server's own work), [`ServerControl`].
//! Thread rules: called from every reactor thread; nothing here blocks except [`Instance::flush_log`].

use crate::instance::Instance;
use std::time::Duration;
use stdx::ids::Lsn;

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
    /// The current values.
    pub fn server_settings(&self) -> ServerSettings {
        ServerSettings {
            connections_max: 151,
            connect_timeout: Duration::from_secs(10),
            require_secure_transport: false,
            collation: 255,
            version: "9.7.4-iruka".to_owned(),
        }
    }

    /// Makes the log durable up to that position (group commit: returns at once if another thread's flush got
    /// there). An error means that the server has to stop (I2); the text is for the error log.
    pub fn flush_log(&self, lsn: Lsn) -> Result<(), String> {
        let _ = lsn;
        Ok(())
    }

    /// Counts a connection that never became a session.
    pub fn count_refused(&self, reason: RefusedConnection) {
        let _ = reason;
    }

    /// The server is going down: running statements end soon with error 1053 and all sessions must close.
    pub fn begin_shutdown(&self) {}
}
