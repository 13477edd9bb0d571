//! Variables whose session value not everybody may set. Entry point: [`session_privilege`]. Measured on MySQL 9.7: SET SESSION of each
//! variable by an account without privileges.

use super::{VariableId, id};
use crate::accounts::{Grants, Privileges};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionPrivilege {
    /// As error 1227 names the privileges.
    pub message: &'static str,
    /// One of these will do; SUPER stands for them where the message names it.
    names: &'static [&'static str],
}

impl SessionPrivilege {
    /// Whether they allow it.
    pub fn is_held(&self, grants: &Grants) -> bool {
        let is_super = self.message.starts_with("SUPER") && grants.global().contains(Privileges::SUPER);
        is_super || self.names.iter().any(|name| grants.holds_dynamic(name))
    }
}

const ADMINISTRATOR: SessionPrivilege = SessionPrivilege {
    message: "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
    names: &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"],
};
const NOT_SUPER: SessionPrivilege = SessionPrivilege {
    message: "SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
    names: &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"],
};
const APPLIER: SessionPrivilege = SessionPrivilege {
    message: "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER",
    names: &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN", "REPLICATION_APPLIER"],
};

/// The privilege that a session's own value takes; None: everybody may set it.
pub(crate) fn session_privilege(variable: VariableId) -> Option<SessionPrivilege> {
    Some(match variable {
        id::BINLOG_DIRECT_NON_TRANSACTIONAL_UPDATES
        | id::BINLOG_FORMAT
        | id::BINLOG_ROW_IMAGE
        | id::BINLOG_ROW_VALUE_OPTIONS
        | id::BINLOG_ROWS_QUERY_LOG_EVENTS
        | id::BINLOG_TRANSACTION_COMPRESSION
        | id::BINLOG_TRANSACTION_COMPRESSION_LEVEL_ZSTD
        | id::BULK_INSERT_BUFFER_SIZE
        | id::CHARACTER_SET_DATABASE
        | id::CHARACTER_SET_FILESYSTEM
        | id::CONNECTION_MEMORY_CHUNK_SIZE
        | id::CONNECTION_MEMORY_LIMIT
        | id::GLOBAL_CONNECTION_MEMORY_TRACKING
        | id::HISTOGRAM_GENERATION_MAX_MEM_SIZE
        | id::PSEUDO_THREAD_ID
        | id::SQL_GENERATE_INVISIBLE_PRIMARY_KEY
        | id::SQL_LOG_BIN
        | id::SQL_LOG_OFF
        | id::SQL_REQUIRE_PRIMARY_KEY
        | id::XA_DETACH_ON_PREPARE => ADMINISTRATOR,
        id::GTID_NEXT
        | id::IMMEDIATE_SERVER_VERSION
        | id::ORIGINAL_COMMIT_TIMESTAMP
        | id::ORIGINAL_SERVER_VERSION
        | id::PSEUDO_REPLICA_MODE
        | id::PSEUDO_SLAVE_MODE => APPLIER,
        id::INTERNAL_TMP_MEM_STORAGE_ENGINE
        | id::LOW_PRIORITY_UPDATES
        | id::MAX_DELAYED_THREADS
        | id::MAX_ERROR_COUNT
        | id::MAX_INSERT_DELAYED_THREADS
        | id::MIN_EXAMINED_ROW_LIMIT
        | id::PRELOAD_BUFFER_SIZE
        | id::SELECT_INTO_BUFFER_SIZE
        | id::SELECT_INTO_DISK_SYNC_DELAY => NOT_SUPER,
        _ => return None,
    })
}
