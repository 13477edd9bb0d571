//! Intention locks on the whole server and its commits, which every statement that changes something takes.
//! Main type: [`Intentions`].
//!
//! They are a store and a load as long as nobody asks for the opposite: the session sets its bit, then looks at the gate;
//! FLUSH TABLES WITH READ LOCK raises the gate, then looks at the bits of all sessions. Both in one total order
//! (SeqCst), so at least one of the two sees the other. A session that finds the gate raised takes its bit back, wakes
//! whoever may have seen it, and queues like everybody.

use super::{LockKey, Namespace};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SHARDS: usize = 64;

/// Why a session holds an intention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Intent {
    /// Its statement changes something.
    Statement = 1,
    /// LOCK TABLES .. WRITE is in force.
    LockedTables = 2,
    /// It commits.
    Commit = 4,
}

impl Intent {
    const GLOBAL: u8 = Intent::Statement as u8 | Intent::LockedTables as u8;

    pub(super) fn namespace(self) -> Namespace {
        match self {
            Intent::Statement | Intent::LockedTables => Namespace::Global,
            Intent::Commit => Namespace::Commit,
        }
    }
}

/// What one session intends. Written by the session alone.
#[derive(Debug)]
pub struct SessionIntents {
    session: u32,
    bits: AtomicU8,
}

impl SessionIntents {
    pub(super) fn session(&self) -> u32 {
        self.session
    }

    /// Whether that intention is held.
    pub fn has(&self, intent: Intent) -> bool {
        self.bits.load(Ordering::Relaxed) & intent as u8 != 0
    }

    pub(super) fn has_any(&self, namespace: Namespace) -> bool {
        self.bits.load(Ordering::SeqCst) & mask(namespace) != 0
    }

    pub(super) fn set(&self, intent: Intent) {
        self.bits.store(self.bits.load(Ordering::Relaxed) | intent as u8, Ordering::SeqCst);
    }

    pub(super) fn clear(&self, intent: Intent) {
        self.bits.store(self.bits.load(Ordering::Relaxed) & !(intent as u8), Ordering::SeqCst);
    }
}

fn mask(namespace: Namespace) -> u8 {
    match namespace {
        Namespace::Global => Intent::GLOBAL,
        Namespace::Commit => Intent::Commit as u8,
        _ => 0,
    }
}

/// Intentions of all sessions that ever had one.
#[derive(Debug)]
pub(super) struct Intentions {
    sessions: Vec<Mutex<HashMap<u32, Arc<SessionIntents>>>>,
    /// Locks against intentions on the server and on commits that are held or asked for.
    gates: [AtomicU32; 2],
    global: LockKey,
    commit: LockKey,
}

impl Intentions {
    pub fn new() -> Intentions {
        Intentions {
            sessions: (0..SHARDS).map(|_| Mutex::default()).collect(),
            gates: Default::default(),
            global: LockKey::new(Namespace::Global, "", ""),
            commit: LockKey::new(Namespace::Commit, "", ""),
        }
    }

    /// The key of the server or of its commits.
    pub fn key(&self, namespace: Namespace) -> &LockKey {
        if namespace == Namespace::Commit { &self.commit } else { &self.global }
    }

    fn gate(&self, namespace: Namespace) -> &AtomicU32 {
        &self.gates[usize::from(namespace == Namespace::Commit)]
    }

    pub fn raise_gate(&self, namespace: Namespace) {
        self.gate(namespace).fetch_add(1, Ordering::SeqCst);
    }

    pub fn lower_gate(&self, namespace: Namespace) {
        self.gate(namespace).fetch_sub(1, Ordering::SeqCst);
    }

    pub fn is_gate_raised(&self, namespace: Namespace) -> bool {
        self.gate(namespace).load(Ordering::SeqCst) != 0
    }

    fn shard(&self, session: u32) -> MutexGuard<'_, HashMap<u32, Arc<SessionIntents>>> {
        self.sessions[session as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a session's intentions, made when it first changes something.
    pub fn enrol(&self, session: u32) -> Arc<SessionIntents> {
        let intents = Arc::new(SessionIntents { session, bits: AtomicU8::new(0) });
        self.shard(session).insert(session, Arc::clone(&intents));
        intents
    }

    /// The session ends; it intends nothing any more.
    pub fn leave(&self, session: u32) {
        self.shard(session).remove(&session);
    }

    /// Other sessions that intend to change something there.
    pub fn holders(&self, namespace: Namespace, except: u32) -> Vec<u32> {
        let holds =
            |intents: &&Arc<SessionIntents>| intents.session() != except && intents.has_any(namespace);
        let of_shard = |shard: u32| {
            let shard = self.shard(shard);
            shard.values().filter(holds).map(|intents| intents.session()).collect::<Vec<u32>>()
        };
        (0..SHARDS as u32).flat_map(of_shard).collect()
    }
}
