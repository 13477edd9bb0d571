//! Metadata locks: what keeps names, and what stands behind them, still while statements use them.
//! Main type: [`MetadataLocks`].
//!
//! Rules:
//! 1. A statement takes [`LockMode::Read`] or [`LockMode::Write`] on each table it names, to the transaction's end. DDL takes
//!    [`LockMode::Exclusive`] on tables and [`LockMode::Intention`] on their schemas, to its own end; DROP DATABASE takes its schema and
//!    each table exclusively. LOCK TABLES takes [`LockMode::ReadOnly`] or [`LockMode::NoReadWrite`], to UNLOCK TABLES.
//! 2. A statement takes its locks in the order of their keys: server, schemas, tables.
//! 3. Who goes first is in `queue.rs`: waiting DDL goes before readers and writers, also before those that came earlier.
//! 4. Waits take part in the engine's graph of waits (`txn::WaitGraph`), with those for rows. No edge is stored: the search
//!    asks the queues. A cycle is error 1213 (3058 in GET_LOCK) for its lightest member.
//! 5. Readers and writers with a kept plan take their locks in slots of their own (`cell.rs`), without any mutex.
//! 6. A statement that changes anything intends to (`intention.rs`), and a commit of changes too; FLUSH TABLES WITH READ
//!    LOCK waits for running statements, then keeps new ones and commits waiting.
//!
//! Thread rules: see `table.rs`; no mutex is held while waiting.

mod cell;
#[cfg(test)]
mod explorer;
mod intention;
mod key;
mod mistakes;
mod mode;
mod queue;
mod session_locks;
mod table;
#[cfg(test)]
mod tests;
mod wait;

pub use cell::{CellId, ObjectCell, RowClass, SeenCell, TableLock};
pub use intention::Intent;
pub use key::{LockKey, Namespace};
pub use mode::{LockDuration, LockMode};
pub use session_locks::{SLOTS, SessionLocks, SlotTaken};
pub use wait::{WaitEnd, WaitLimit};

use env::Clock;
use mistakes::{Mistake, planted};
use std::sync::Arc;
use table::{LockTable, Requested};
use txn::{WaitGraph, WaiterId};
use wait::{MetadataWait, Waiter};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct LockRequest<'a> {
    /// Who.
    pub session: u32,
    /// What.
    pub key: &'a LockKey,
    /// How.
    pub mode: LockMode,
    /// For how long.
    pub duration: LockDuration,
}

/// One row of performance_schema.metadata_locks.
#[derive(Clone, Debug)]
pub struct LockRow {
    /// What.
    pub key: LockKey,
    /// Who.
    pub session: u32,
    /// How.
    pub mode: LockMode,
    /// For how long.
    pub duration: LockDuration,
    /// False: it waits.
    pub granted: bool,
}

/// What became of a request.
enum Begun {
    Ended(WaitEnd),
    Waits(BegunWait),
}

/// A request in its queue.
struct BegunWait {
    wait: Arc<MetadataWait>,
    waiter: Arc<Waiter>,
    id: WaiterId,
}

/// All metadata locks of the server.
pub struct MetadataLocks {
    table: Arc<LockTable>,
    waits: Arc<WaitGraph>,
    clock: Arc<dyn Clock>,
}

impl MetadataLocks {
    /// No locks. `waits` is the graph of all waits of the server.
    pub fn new(clock: Arc<dyn Clock>, waits: Arc<WaitGraph>) -> MetadataLocks {
        MetadataLocks { table: Arc::new(LockTable::new()), waits, clock }
    }

    /// max_write_lock_count: how often a request may be passed by later ones.
    pub fn set_passes_max(&self, passes_max: u64) {
        self.table.set_passes_max(passes_max);
    }

    /// Takes a lock, or waits for it within `limit`.
    pub fn acquire(&self, request: &LockRequest<'_>, limit: WaitLimit<'_>) -> WaitEnd {
        match self.begin(request, !limit.timeout.is_zero()) {
            Begun::Ended(end) => end,
            Begun::Waits(wait) => {
                let end = wait.waiter.sleep(limit, self.clock.as_ref());
                self.finish(&wait, end)
            }
        }
    }

    /// Takes a lock or queues the request for it and looks for the cycle that this may have closed.
    fn begin(&self, request: &LockRequest<'_>, may_wait: bool) -> Begun {
        let (number, waiter) = match self.table.request(request) {
            Requested::Granted => return Begun::Ended(WaitEnd::Granted),
            Requested::Queued(number, waiter) => (number, waiter),
        };
        let (key, mode) = (request.key.clone(), request.mode);
        let wait = Arc::new(MetadataWait { table: Arc::clone(&self.table), key, mode, number });
        let id = WaiterId::session(u64::from(request.session));
        let begun = BegunWait { wait, waiter, id };
        if !may_wait {
            return Begun::Ended(self.finish(&begun, WaitEnd::TimedOut));
        }
        self.waits.begin(id, Arc::clone(&begun.wait) as Arc<dyn txn::Waiting>);
        self.waits.search(id);
        Begun::Waits(begun)
    }

    /// After the sleep, which may have ended without an end of the wait: a grant that comes at the last moment is kept.
    fn finish(&self, begun: &BegunWait, end: WaitEnd) -> WaitEnd {
        self.waits.end(begun.id);
        match end {
            WaitEnd::TimedOut | WaitEnd::Killed
                if !self.table.withdraw(&begun.wait.key, begun.wait.number, end) =>
            {
                begun.waiter.decided().expect("a request leaves its queue with an end")
            }
            _ => end,
        }
    }

    /// Gives back what a session holds of a name for that time.
    pub fn release(&self, session: u32, key: &LockKey, duration: LockDuration) {
        self.table.release(session, key, duration, &[]);
    }

    /// The same of what it holds to the end of its transaction, but for the modes that it keeps.
    pub fn release_to(&self, session: u32, key: &LockKey, kept: &[LockMode]) {
        self.table.release(session, key, LockDuration::Transaction, kept);
    }

    /// The same of what it holds until it says so.
    pub fn release_explicit_to(&self, session: u32, key: &LockKey, kept: &[LockMode]) {
        self.table.release(session, key, LockDuration::Explicit, kept);
    }

    /// Whether somebody else waits for a lock that cannot be granted beside one in that mode.
    pub fn is_awaited(&self, session: u32, key: &LockKey, mode: LockMode) -> bool {
        self.table.is_awaited(session, key, mode)
    }

    /// The number of the cell of a name that kept plans use.
    pub fn cell_of(&self, key: &LockKey) -> Option<CellId> {
        self.table.cell_of(key)
    }

    /// Gives what a session holds of a name in its queue, to the end of its transaction, to somebody who waits for nothing.
    pub fn hand_over(&self, session: u32, key: &LockKey, heir: u32) {
        self.table.hand_over(session, key, heir);
    }

    /// The place of a session's slots and intentions, made when it first locks something.
    pub fn enrol(&self, session: u32) -> Arc<SessionLocks> {
        self.table.sessions.enrol(session)
    }

    /// The session ends; it holds nothing in its slots.
    pub fn leave(&self, session: u32) {
        self.table.sessions.leave(session);
    }

    /// The cell of a table that the caller has locked, for a plan that it keeps.
    /// `class` is asked if no plan has used it yet.
    pub fn see(&self, key: &LockKey, class: impl FnOnce() -> RowClass) -> SeenCell {
        self.table.see(key, class)
    }

    /// Gives back what a slot holds.
    #[inline]
    pub fn release_slot(&self, locks: &SessionLocks, slot: usize) {
        if let Some(key) = locks.give_back(slot) {
            self.release(locks.session(), &key, LockDuration::Transaction);
        }
    }

    /// Plans that use the table are to be made anew, as after ANALYZE TABLE.
    pub fn renew(&self, key: &LockKey) {
        self.table.renew(key);
    }

    /// Takes an intention, or waits for whoever holds the server or its commits still.
    #[inline]
    pub fn intend(&self, intents: &SessionLocks, intent: Intent, limit: WaitLimit<'_>) -> WaitEnd {
        let namespace = intent.namespace();
        let has_other = intents.has_any(namespace);
        intents.set(intent);
        let passes = has_other || planted(Mistake::PassesTheGate);
        if passes || !self.table.intentions.is_gate_raised(namespace) {
            return WaitEnd::Granted;
        }
        self.queue_intent(intents, intent, limit)
    }

    #[cold]
    fn queue_intent(&self, intents: &SessionLocks, intent: Intent, limit: WaitLimit<'_>) -> WaitEnd {
        let (session, key) = (intents.session(), self.table.intentions.key(intent.namespace()));
        intents.clear(intent);
        // Whoever raised the gate may have seen the intention and wait for its end.
        self.table.serve(key);
        let duration = LockDuration::Statement;
        let request = LockRequest { session, key, mode: LockMode::Intention, duration };
        let end = self.acquire(&request, limit);
        if end == WaitEnd::Granted {
            // While the lock is held the gate stays open for nobody; from then on the intention stands for it.
            intents.set(intent);
            self.release(session, key, duration);
        }
        end
    }

    /// Gives an intention back.
    #[inline]
    pub fn relent(&self, intents: &SessionLocks, intent: Intent) {
        intents.clear(intent);
        let namespace = intent.namespace();
        if self.table.intentions.is_gate_raised(namespace) {
            self.table.serve(self.table.intentions.key(namespace));
        }
    }

    /// FLUSH TABLES WITH READ LOCK: waits for statements that change something, then for commits.
    pub fn lock_global(&self, session: u32, limit: WaitLimit<'_>) -> WaitEnd {
        for namespace in [Namespace::Global, Namespace::Commit] {
            let key = self.table.intentions.key(namespace);
            let duration = LockDuration::Explicit;
            let end = self.acquire(&LockRequest { session, key, mode: LockMode::Shared, duration }, limit);
            if end != WaitEnd::Granted {
                self.unlock_global(session);
                return end;
            }
        }
        WaitEnd::Granted
    }

    /// Gives the global read lock back.
    pub fn unlock_global(&self, session: u32) {
        for namespace in [Namespace::Commit, Namespace::Global] {
            self.release(session, self.table.intentions.key(namespace), LockDuration::Explicit);
        }
    }

    /// Every lock and request, by key and session.
    pub fn rows(&self) -> Vec<LockRow> {
        let mut rows = self.table.rows();
        for namespace in [Namespace::Global, Namespace::Commit] {
            rows.extend(self.table.sessions.intending(namespace, 0).into_iter().map(|session| LockRow {
                key: self.table.intentions.key(namespace).clone(),
                session,
                mode: LockMode::Intention,
                duration: LockDuration::Statement,
                granted: true,
            }));
        }
        rows.sort_by(|left, right| (&left.key, left.session).cmp(&(&right.key, right.session)));
        rows
    }
}
