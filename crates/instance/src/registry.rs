//! The sessions that exist, as others see them. Main types: [`Registry`], [`SessionShared`].
//! Thread rules: sharded by connection id, so that connecting and ending do not meet on one mutex.

use crate::connection::{ConnectionControl, ConnectionInfo};
use crate::transaction_mark::TransactionMark;
use catalog::{LockOwner, WaitLimit};
use engine::{Isolation, KillFlag};
use errors::{SqlResult, sql_error};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use variables::status::Counters;
use wire::connection_attributes::ConnectionAttributes;

const SHARDS: usize = 64;

/// What a connection does: the Command column of PROCESSLIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Command {
    Sleep,
    Query,
    Execute,
    Prepare,
    Fetch,
    InitDb,
    FieldList,
    ResetConnection,
    ChangeUser,
    Killed,
}

impl Command {
    const ALL: [(Command, &'static str); 10] = [
        (Command::Sleep, "Sleep"),
        (Command::Query, "Query"),
        (Command::Execute, "Execute"),
        (Command::Prepare, "Prepare"),
        (Command::Fetch, "Fetch"),
        (Command::InitDb, "Init DB"),
        (Command::FieldList, "Field List"),
        (Command::ResetConnection, "Reset Connection"),
        (Command::ChangeUser, "Change user"),
        (Command::Killed, "Killed"),
    ];
}

/// The part of a session that other threads read.
pub struct SessionShared {
    /// Connection id.
    pub id: u32,
    /// Counters, written by the session alone.
    pub counters: Counters,
    /// Ends the running statement.
    pub kill: KillFlag,
    /// KILL CONNECTION was said.
    pub killed: AtomicBool,
    /// The kill flag was raised by max_execution_time.
    pub timed_out: AtomicBool,
    /// The server is going down.
    pub shutting_down: AtomicBool,
    /// The open transaction.
    pub transaction: TransactionMark,
    /// Number of the running statement; tells a late timer that its statement is over.
    pub statement: AtomicU64,
    /// Who, where, what: for PROCESSLIST.
    pub description: Mutex<Description>,
    command: AtomicU8,
    /// Monotonic time of the last change of command, microseconds.
    since_microseconds: AtomicU64,
    control: Arc<dyn ConnectionControl>,
}

/// What PROCESSLIST shows besides the command.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// User.
    pub user: String,
    /// Host, with the port where there is one.
    pub host: String,
    /// Account that was matched.
    pub account: Arc<str>,
    /// Default schema.
    pub schema: Option<Arc<str>>,
    /// Text of the last statement; it runs while [`SessionShared::is_running`].
    pub statement: Vec<u8>,
    /// What it waits for.
    pub state: &'static str,
    /// Connection attributes.
    pub attributes: ConnectionAttributes,
    /// TLS version and cipher.
    pub tls: Option<crate::connection::TlsDetails>,
}

impl SessionShared {
    /// The shared part of a new connection from `host` (as messages show it). Takes its attributes and TLS details.
    pub fn new(info: &mut ConnectionInfo, host: &str, account: &Arc<str>) -> SessionShared {
        let host = match info.host.port {
            0 => host.to_owned(),
            port => format!("{host}:{port}"),
        };
        SessionShared {
            id: info.id,
            counters: Counters::default(),
            kill: KillFlag::default(),
            killed: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            shutting_down: AtomicBool::new(false),
            transaction: TransactionMark::default(),
            statement: AtomicU64::new(0),
            description: Mutex::new(Description {
                user: info.user.clone(),
                host,
                account: Arc::clone(account),
                attributes: std::mem::take(&mut info.attributes),
                tls: info.tls.take(),
                ..Description::default()
            }),
            command: AtomicU8::new(Command::Sleep as u8),
            since_microseconds: AtomicU64::new(0),
            control: Arc::clone(&info.control),
        }
    }

    /// The description, locked.
    #[inline]
    pub fn describe(&self) -> MutexGuard<'_, Description> {
        self.description.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what the connection does from now on.
    #[inline]
    pub fn set_command(&self, command: Command, now_microseconds: u64) {
        self.command.store(command as u8, Ordering::Relaxed);
        self.since_microseconds.store(now_microseconds, Ordering::Relaxed);
    }

    /// Marks that a transaction begins with the running statement.
    #[inline]
    pub fn begin_transaction(&self, isolation: Isolation, read_only: bool) {
        self.transaction.begin(self.since_microseconds.load(Ordering::Relaxed), isolation, read_only);
    }

    /// What the connection does, and since when.
    pub fn command(&self) -> (&'static str, u64) {
        let name = Command::ALL
            .iter()
            .find(|(command, _)| *command as u8 == self.command.load(Ordering::Relaxed))
            .map_or("Sleep", |(_, name)| *name);
        let name = if self.killed.load(Ordering::Relaxed) { "Killed" } else { name };
        (name, self.since_microseconds.load(Ordering::Relaxed))
    }

    /// Error 1317 once the running statement was told to end. What goes through a list of a statement's text asks for each member:
    /// a text has room for millions.
    #[inline]
    pub fn check_killed(&self) -> SqlResult<()> {
        if self.kill.is_raised() { Err(sql_error!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
    }

    /// Whether it runs that command.
    #[inline]
    pub fn runs(&self, command: Command) -> bool {
        self.command.load(Ordering::Relaxed) == command as u8
    }

    /// Whether a statement runs.
    pub fn is_running(&self) -> bool {
        self.command.load(Ordering::Relaxed) != Command::Sleep as u8
    }

    /// KILL QUERY.
    pub fn kill_statement(&self) {
        self.kill.kill();
    }

    /// KILL CONNECTION.
    pub fn kill_connection(&self) {
        self.killed.store(true, Ordering::SeqCst);
        self.kill.kill();
        self.control.close();
    }
}

/// Connections have ids below it; from here on they are those of branches that have left their session (`xa_branches.rs`).
pub(crate) const CONNECTION_IDS: u32 = 1 << 31;

/// All sessions.
pub struct Registry {
    shards: Vec<Mutex<HashMap<u32, Arc<SessionShared>>>>,
    next_id: AtomicU32,
    /// Number of sessions now, and the most there ever were.
    pub connected: AtomicU64,
    /// The most sessions at a time.
    pub connected_max: AtomicU64,
}

impl Default for Registry {
    fn default() -> Self {
        Registry {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            next_id: AtomicU32::new(8),
            connected: AtomicU64::new(0),
            connected_max: AtomicU64::new(0),
        }
    }
}

impl Registry {
    fn shard(&self, id: u32) -> MutexGuard<'_, HashMap<u32, Arc<SessionShared>>> {
        self.shards[id as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An id below 2^31 that no session has. 0 is never given.
    pub fn next_id(&self) -> u32 {
        loop {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed) % CONNECTION_IDS;
            if id != 0 && self.get(id).is_none() {
                return id;
            }
        }
    }

    /// Adds a session.
    pub fn add(&self, session: Arc<SessionShared>) {
        self.shard(session.id).insert(session.id, session);
        let now = self.connected.fetch_add(1, Ordering::Relaxed) + 1;
        self.connected_max.fetch_max(now, Ordering::Relaxed);
    }

    /// Removes a session.
    pub fn remove(&self, id: u32) {
        if self.shard(id).remove(&id).is_some() {
            self.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The session of that id.
    pub fn get(&self, id: u32) -> Option<Arc<SessionShared>> {
        self.shard(id).get(&id).cloned()
    }

    /// All sessions by id.
    pub fn all(&self) -> Vec<Arc<SessionShared>> {
        let mut sessions: Vec<Arc<SessionShared>> = (0..SHARDS as u32)
            .flat_map(|shard| self.shard(shard).values().cloned().collect::<Vec<_>>())
            .collect();
        sessions.sort_by_key(|session| session.id);
        sessions
    }
}

/// A session as the owner of its locks.
#[inline]
pub fn lock_owner<'a>(instance: &'a crate::Instance, shared: &SessionShared) -> LockOwner<'a> {
    LockOwner { locks: instance.metadata_locks(), session: shared.id }
}

/// How long a session waits for a lock of a name.
#[inline]
pub fn lock_limit(shared: &SessionShared, timeout: Duration) -> WaitLimit<'_> {
    WaitLimit { timeout, kill: &shared.kill }
}
