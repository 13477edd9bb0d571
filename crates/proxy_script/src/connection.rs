//! What scripts and the network share of one connection: `proxy.connection` and `proxy.queries`.
//! Main types: [`Connection`], [`ServerLink`], [`Injection`].

use crate::backend::Backends;
use crate::endpoint::Endpoint;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection to a server that is logged in or on its way to it.
pub struct ServerLink {
    /// What scripts see of it.
    pub endpoint: Endpoint,
    /// The number of its backend, from 0.
    pub backend: usize,
    /// CLIENT_* that its login agreed on; 0 before.
    pub capabilities: u32,
    /// What carries it; the network's own.
    pub carrier: Arc<dyn Any + Send + Sync>,
}

/// Idle connections to servers.
pub trait ServerPool: Send + Sync {
    /// Keeps a connection for later.
    fn put(&self, link: ServerLink);
    /// An idle connection to that backend.
    fn take(&self, backend: usize, wanted: Wanted<'_>) -> Option<ServerLink>;
}

/// Which idle connection fits.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The user of its login with what was agreed on then; None when the client has not said who it is.
    pub login: Option<(&'a [u8], u32)>,
    /// Rather one that uses this schema.
    pub schema: &'a [u8],
}

/// A pool that keeps nothing: what is put into it is closed.
pub struct NoPool;

impl ServerPool for NoPool {
    fn put(&self, _: ServerLink) {}

    fn take(&self, _: usize, _: Wanted<'_>) -> Option<ServerLink> {
        None
    }
}

/// A query that a script put into the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The script's number for it.
    pub id: i64,
    /// The command: its first byte is the COM_* number.
    pub packet: Vec<u8>,
    /// The answer is held until its end, so that the script may read and replace it.
    pub resultset_is_needed: bool,
    /// Monotonic microseconds when it was queued.
    pub queued_at: u64,
}

/// The state of a connection that scripts read and change.
pub struct State {
    /// The client's end; known once it was accepted.
    pub client: Endpoint,
    /// The server's end.
    pub server: Option<ServerLink>,
    /// What scripts read as `backend_ndx`: they may have asked for a backend without idle connection.
    pub backend_number: i64,
    /// Close after the answer to this command.
    pub closes: bool,
    /// What the script wants to send.
    pub queries: VecDeque<Injection>,
    /// CLIENT_* of the client's login; None before it.
    pub capabilities: Option<u32>,
}

/// One connection of a client.
pub struct Connection {
    state: Mutex<State>,
    /// The backends.
    pub backends: Backends,
    pool: Arc<dyn ServerPool>,
}

impl Connection {
    /// A client that was just accepted.
    pub fn new(client: Endpoint, backends: Backends, pool: Arc<dyn ServerPool>) -> Connection {
        let state = State {
            client,
            server: None,
            backend_number: 0,
            closes: false,
            queries: VecDeque::new(),
            capabilities: None,
        };
        Connection { state: Mutex::new(state), backends, pool }
    }

    /// The state. A poisoned lock means that another thread panicked between plain assignments: the data is whole.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `proxy.connection.backend_ndx = number`: 0 gives the server's connection to the pool, another number takes an
    /// idle one of that backend, and gives back the one that is held. If there is none, the connection stays as it is.
    pub fn choose_backend(&self, number: i64) {
        let mut state = self.state();
        state.backend_number = number;
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let Some(index) = index else {
            let held = state.server.take();
            drop(state);
            self.give_back(held);
            return;
        };
        if state.server.as_ref().is_some_and(|server| server.backend == index) {
            return;
        }
        let user = state.client.user.clone().unwrap_or_default();
        let schema = state.client.default_schema.clone().unwrap_or_default();
        let login = state.capabilities.map(|capabilities| (&user[..], capabilities));
        let Some(link) = self.pool.take(index, Wanted { login, schema: &schema }) else { return };
        self.count(index, 1);
        let held = state.server.replace(link);
        drop(state);
        self.give_back(held);
    }

    /// Notes that a server was connected to.
    pub fn attach(&self, link: ServerLink) {
        self.count(link.backend, 1);
        let mut state = self.state();
        state.backend_number = link.backend as i64 + 1;
        state.server = Some(link);
    }

    /// Takes the server away, which is to be closed.
    pub fn detach(&self) -> Option<ServerLink> {
        let mut state = self.state();
        let link = state.server.take()?;
        state.backend_number = 0;
        self.count(link.backend, -1);
        Some(link)
    }

    fn give_back(&self, held: Option<ServerLink>) {
        if let Some(link) = held {
            self.count(link.backend, -1);
            self.pool.put(link);
        }
    }

    fn count(&self, backend: usize, change: i32) {
        if let Some(backend) = self.backends.get(backend) {
            let order = std::sync::atomic::Ordering::AcqRel;
            backend.connected_clients.fetch_add(change as u32, order);
        }
    }
}
