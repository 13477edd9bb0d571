//! Who holds and waits for locks. Main types: [`Owner`], [`Waiter`].

use super::LockKey;
use super::held_keys::HeldKeys;
use super::mistakes::pause;
use crate::kill::Wake;
use crate::wait_graph::WaiterId;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stdx::ids::{IndexId, TransactionId};

/// A transaction as the lock table knows it.
#[derive(Debug)]
pub struct Owner {
    /// Unique among all owners of this run.
    pub number: u64,
    /// The connection; 0 of a transaction that belongs to none.
    session_id: AtomicU64,
    /// The transaction's id once it has written; 0 before.
    pub transaction: AtomicU64,
    /// Rows changed: with the locks held, the weight that spares a transaction from being a deadlock victim.
    pub rows_changed: AtomicU64,
    pub(super) state: Mutex<OwnerState>,
    pub(super) waiter: Waiter,
}

#[derive(Debug, Default)]
pub(super) struct OwnerState {
    /// Keys with a granted lock of this owner.
    pub(super) held: HeldKeys,
    /// Indexes of which ranges are locked.
    pub(super) range_indexes: Vec<IndexId>,
    /// Locked ranges in all.
    pub(super) range_count: usize,
    /// Rows that stood in ranges when their rows were locked.
    pub(super) range_rows: u64,
    /// Objects that ranges became in queues.
    pub(super) range_objects: u64,
    /// Set at the end: nothing is granted to it any more.
    pub(super) finished: bool,
    /// What it waits for: the queue that has its waiting request.
    pub(super) waiting: Option<LockKey>,
    /// Others whose waits its request has given one more to wait for: its wait begins with a search for them too.
    pub(super) reached: Vec<WaiterId>,
    /// When the present wait began, in microseconds of the caller's clock.
    pub(super) wait_began_us: u64,
    /// Rises with every wait, so that the deadlock search can tell one wait from the next.
    pub(super) wait_number: u64,
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The lock is granted.
    Granted,
    /// The owner was chosen as a deadlock victim.
    Victim,
    /// The time is up.
    TimedOut,
    /// The kill flag is raised.
    Killed,
}

/// Where an owner sleeps while it waits.
#[derive(Debug, Default)]
pub(super) struct Waiter {
    outcome: Mutex<Option<WaitEnd>>,
    changed: Condvar,
}

impl Owner {
    /// An owner without locks.
    pub fn new(number: u64, session_id: u64) -> Owner {
        Owner {
            number,
            session_id: AtomicU64::new(session_id),
            transaction: AtomicU64::new(0),
            rows_changed: AtomicU64::new(0),
            state: Mutex::default(),
            waiter: Waiter::default(),
        }
    }

    /// The connection; 0 of a transaction that belongs to none.
    pub fn session_id(&self) -> u64 {
        self.session_id.load(Ordering::Relaxed)
    }

    /// The transaction goes on without its session (XA PREPARE): what the session waits for from now on is no wait of this owner. It must
    /// not wait itself.
    pub fn leave_session(&self) {
        self.session_id.store(0, Ordering::Relaxed);
    }

    /// The transaction's id; None before its first write.
    pub fn transaction_id(&self) -> Option<TransactionId> {
        Some(TransactionId(self.transaction.load(Ordering::Acquire))).filter(|id| id.0 != 0)
    }

    /// Number of keys with a granted lock object and of locked ranges.
    pub fn lock_count(&self) -> usize {
        let state = self.lock_state();
        state.held.len() + state.range_count
    }

    /// Number of rows locked by objects or ranges; what both lock counts twice.
    pub fn locked_rows(&self) -> u64 {
        let state = self.lock_state();
        state.held.len() as u64 + state.range_rows
    }

    /// Indexes that it has locked something of, or waits for.
    pub fn locked_indexes(&self) -> BTreeSet<IndexId> {
        let state = self.lock_state();
        let waiting = state.waiting.iter().map(|key| key.index);
        state.held.indexes().chain(state.range_indexes.iter().copied()).chain(waiting).collect()
    }

    /// When the wait began that it is in, in microseconds of the clock of [`super::LockManager::wait`].
    pub fn waits_since_us(&self) -> Option<u64> {
        let state = self.lock_state();
        state.waiting.is_some().then_some(state.wait_began_us)
    }

    /// How many waits it has begun.
    pub fn wait_count(&self) -> u64 {
        self.lock_state().wait_number
    }

    /// A mark that all later locks lie behind: what a statement notes, to know later which locks are its own.
    pub fn lock_mark(&self) -> u64 {
        self.lock_state().held.next_sequence()
    }

    /// Its node in the graph of waits.
    pub(super) fn waiter_id(&self) -> WaiterId {
        match self.session_id() {
            0 => WaiterId::internal(self.number),
            session_id => WaiterId::session(session_id),
        }
    }

    /// What is lost with it: changed rows, each with its lock, and locks as InnoDB counts them, which has one for many rows of a page. What its
    /// ranges became in queues is no loss of its own.
    pub(super) fn weight(&self) -> u64 {
        let state = self.lock_state();
        let objects = (state.held.len() as u64).saturating_sub(state.range_objects);
        2 * self.rows_changed.load(Ordering::Relaxed) + objects + state.range_indexes.len() as u64
    }

    pub(super) fn lock_state(&self) -> MutexGuard<'_, OwnerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether that is the same owner.
pub(super) fn is(one: &Arc<Owner>, other: &Owner) -> bool {
    std::ptr::eq(Arc::as_ptr(one), other)
}

impl OwnerState {
    /// The owner waits no more. In one step for whoever looks at its state: a sleeper whose time is up at this moment finds the
    /// outcome of the wait that is gone.
    pub(super) fn end_wait(&mut self, owner: &Owner, end: WaitEnd) {
        self.waiting = None;
        pause();
        owner.waiter.end(end);
    }
}

impl Waiter {
    /// Prepares for a new wait.
    pub(super) fn reset(&self) {
        *self.lock() = None;
    }

    /// Ends the wait, unless it has ended already.
    pub(super) fn end(&self, outcome: WaitEnd) {
        self.lock().get_or_insert(outcome);
        self.changed.notify_all();
    }

    /// How the wait ended; None while it goes on.
    pub(super) fn outcome(&self) -> Option<WaitEnd> {
        *self.lock()
    }

    /// Sleeps until the wait ends, the time is up or the flag is raised. The latter two are left to the caller to settle with the lock
    /// table, because a grant may come at the same moment.
    pub(super) fn sleep(&self, limit: Duration, killed: impl Fn() -> bool) -> WaitEnd {
        let guard = self.lock();
        let undecided = |outcome: &mut Option<WaitEnd>| outcome.is_none() && !killed();
        let (outcome, _) =
            self.changed.wait_timeout_while(guard, limit, undecided).unwrap_or_else(PoisonError::into_inner);
        match *outcome {
            Some(end) => end,
            None if killed() => WaitEnd::Killed,
            None => WaitEnd::TimedOut,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<WaitEnd>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Owner {
    fn wake(&self) {
        // Taken so that the sleeper is either before its test of the flag or asleep.
        drop(self.waiter.lock());
        self.waiter.changed.notify_all();
    }
}
