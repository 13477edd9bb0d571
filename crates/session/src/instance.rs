//! What all sessions share. Main type: [`Instance`].
//! Thread rules: every method may be called from any thread; connecting takes no process-wide exclusive lock.

use crate::accounts::AuthenticationAccount;
use crate::connection::ClientHost;

/// Where an option comes from; the later one in this order wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionSource {
    /// An option file, with its path.
    File(String),
    /// `mysqld-auto.cnf`.
    Persisted,
    /// The command line.
    CommandLine,
}

/// One option as given, e.g. ("innodb-buffer-pool-size", Some("1G"), CommandLine). Names may use `-` or `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSetting {
    /// Name without leading dashes.
    pub name: String,
    /// Value; None for a bare switch.
    pub value: Option<String>,
    /// Where it was given.
    pub source: OptionSource,
}

/// How an instance starts.
#[derive(Clone, Debug, Default)]
pub struct InstanceOptions {
    /// System variables in the order in which they were given.
    pub settings: Vec<OptionSetting>,
    /// Data directory as an absolute path, for @@datadir.
    pub data_directory: String,
    /// Whether the server listens on nothing but loopback addresses and the UNIX socket.
    /// Only then is root@localhost without password made on first start.
    pub loopback_only: bool,
}

/// What all sessions share: engine, variables, accounts, sessions, counters.
pub struct Instance {}

impl Instance {
    /// The account that a connection matches by MySQL's sorted rule, for authentication. None: error 1045.
    pub fn find_account(&self, user: &str, host: &ClientHost) -> Option<AuthenticationAccount> {
        let _ = (user, host);
        None
    }

    /// The id of the next connection, for its handshake and for [`crate::Session::open`]'s `info`.
    pub fn next_connection_id(&self) -> u32 {
        1
    }

    /// Advances whenever an account changes; verifier caches of the server compare it.
    pub fn accounts_epoch(&self) -> u64 {
        0
    }
}
