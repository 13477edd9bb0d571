//! Intention locks on the whole server and its commits, which every statement that changes something takes.
//! Main type: [`Intentions`].
//!
//! They are a store and a load as long as nobody asks for the opposite: the session sets its bit, then looks at the gate;
//! FLUSH TABLES WITH READ LOCK raises the gate, then looks at the bits of all sessions. Both in one total order
//! (SeqCst), so at least one of the two sees the other. A session that finds the gate raised takes its bit back, wakes
//! whoever may have seen it, and queues like everybody.

use super::{LockKey, Namespace};
use std::sync::atomic::{AtomicU32, Ordering};

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

    /// The intentions that a lock of that name is against.
    pub(super) fn mask(namespace: Namespace) -> u8 {
        match namespace {
            Namespace::Global => Intent::GLOBAL,
            Namespace::Commit => Intent::Commit as u8,
            _ => 0,
        }
    }
}

/// What stands against intentions; they themselves are in [`super::SessionLocks`].
#[derive(Debug)]
pub(super) struct Intentions {
    /// Locks against intentions on the server and on commits that are held or asked for.
    gates: [AtomicU32; 2],
    global: LockKey,
    commit: LockKey,
}

impl Intentions {
    pub fn new() -> Intentions {
        Intentions {
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
}
