//! A server behind the proxy: its state, and how many connections to it there are. Main types: [`Backend`], [`Backends`].
//! Thread rules: shared by all event threads and by scripts.

use crate::endpoint::Address;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a backend is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// Chosen for clients without a script's help.
    ReadWrite = 1,
    /// Chosen by scripts only.
    ReadOnly = 2,
}

/// Whether a backend answers.
pub mod state {
    /// Not tried, or down for so long that it may be tried again.
    pub const UNKNOWN: u8 = 0;
    /// The last attempt to connect succeeded.
    pub const UP: u8 = 1;
    /// The last attempt to connect failed.
    pub const DOWN: u8 = 2;
}

/// One backend.
#[derive(Debug)]
pub struct Backend {
    /// Where it listens.
    pub address: Address,
    /// What it is for.
    pub kind: BackendKind,
    /// [`state`]; scripts may write any number.
    pub state: AtomicU8,
    /// Monotonic milliseconds of the last change of the state.
    pub changed_at: AtomicU64,
    /// Connections of clients to it now.
    pub connected_clients: AtomicU32,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    uuid: Option<Vec<u8>>,
    /// Idle connections by user.
    idle: HashMap<Vec<u8>, u32>,
    min_idle: f64,
    max_idle: f64,
}

impl Backend {
    /// A backend that was not tried yet.
    pub fn new(address: Address, kind: BackendKind) -> Backend {
        Backend {
            address,
            kind,
            state: AtomicU8::new(state::UNKNOWN),
            changed_at: AtomicU64::new(0),
            connected_clients: AtomicU32::new(0),
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name that a script gave it.
    pub fn uuid(&self) -> Option<Vec<u8>> {
        self.inner().uuid.clone()
    }

    /// Names it.
    pub fn set_uuid(&self, uuid: Option<Vec<u8>>) {
        self.inner().uuid = uuid;
    }

    /// Idle connections of a user, of all users for the empty name.
    pub fn idle_count(&self, user: &[u8]) -> u32 {
        let inner = self.inner();
        if user.is_empty() { inner.idle.values().sum() } else { inner.idle.get(user).copied().unwrap_or(0) }
    }

    /// A connection of that user became idle.
    pub fn add_idle(&self, user: &[u8]) {
        *self.inner().idle.entry(user.to_vec()).or_default() += 1;
    }

    /// An idle connection of that user was taken or closed.
    pub fn remove_idle(&self, user: &[u8]) {
        let mut inner = self.inner();
        if let Some(count) = inner.idle.get_mut(user) {
            *count -= 1;
            if *count == 0 {
                inner.idle.remove(user);
            }
        }
    }

    /// The bounds that scripts keep here for their own use: fewest and most idle connections.
    pub fn idle_bounds(&self) -> (f64, f64) {
        let inner = self.inner();
        (inner.min_idle, inner.max_idle)
    }

    /// Changes the bounds.
    pub fn set_idle_bounds(&self, min: f64, max: f64) {
        let mut inner = self.inner();
        (inner.min_idle, inner.max_idle) = (min, max);
    }

    /// Notes the end of an attempt to connect, or what a script says.
    pub fn set_state(&self, state: u8, now_milliseconds: u64) {
        if self.state.swap(state, Ordering::AcqRel) != state {
            self.changed_at.store(now_milliseconds, Ordering::Release);
        }
    }

    /// The state.
    pub fn state(&self) -> u8 {
        self.state.load(Ordering::Acquire)
    }
}

/// All backends in the order of their numbers, which scripts count from 1.
pub type Backends = Arc<Vec<Arc<Backend>>>;
