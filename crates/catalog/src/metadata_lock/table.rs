//! The queues of all names. Main type: [`LockTable`]; nothing here sleeps.
//! Thread rules: one mutex a shard of names; it is held while a waiter is told its end (which takes the waiter's own).

use super::cell::{CellId, ObjectCell, RowClass, SeenCell};
use super::intention::Intentions;
use super::mistakes::{Mistake, planted};
use super::mode::{LockDuration, LockMode, Modes};
use super::queue::{Fairness, Queue, Ticket, Waiting};
use super::session_locks::Sessions;
use super::wait::{WaitEnd, Waiter};
use super::{LockKey, LockRequest, LockRow, Namespace};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::known_hash::BuildKnownHash;
use txn::WaiterId;

const SHARDS: usize = 64;
/// Names of a shard that stay when nobody holds them: they will be used again.
const IDLE_NAMES_MAX: usize = 64;

type Shard = HashMap<LockKey, Name, BuildKnownHash>;

/// What is kept of a name.
#[derive(Debug, Default)]
struct Name {
    queue: Queue,
    /// While kept plans use it.
    cell: Option<Arc<ObjectCell>>,
}

impl Name {
    fn is_idle(&self) -> bool {
        self.queue.is_idle() && self.cell.is_none()
    }

    /// A strong lock may have gone: without any, readers and writers may use their slots again.
    fn settle(&self) {
        if let Some(cell) = self.cell.as_ref().filter(|cell| cell.is_marked())
            && !self.queue.has_strong()
            && !planted(Mistake::LeavesMarks)
        {
            cell.unmark();
        }
    }

    /// The name was held exclusively: what it means may have changed.
    fn end_cell(&mut self) {
        if !planted(Mistake::LeavesPlans)
            && let Some(cell) = self.cell.take()
        {
            cell.end();
        }
    }
}

/// What became of a request.
pub(super) enum Requested {
    Granted,
    /// It is in the queue; its number and where to sleep.
    Queued(u64, Arc<Waiter>),
}

/// Queues by name.
#[derive(Debug)]
pub(super) struct LockTable {
    shards: Vec<Mutex<Shard>>,
    pub(super) intentions: Intentions,
    pub(super) sessions: Sessions,
    next_number: AtomicU64,
    next_cell: AtomicU64,
    /// max_write_lock_count.
    passes_max: AtomicU64,
}

impl LockTable {
    pub fn new() -> LockTable {
        LockTable {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            intentions: Intentions::new(),
            sessions: Sessions::new(),
            next_number: AtomicU64::new(1),
            next_cell: AtomicU64::new(1),
            passes_max: AtomicU64::new(u64::MAX),
        }
    }

    fn fairness(&self) -> Fairness {
        Fairness { passes_max: self.passes_max.load(Ordering::Relaxed) }
    }

    /// Changes how often a request may be passed, and lets those go on who may now.
    pub fn set_passes_max(&self, passes_max: u64) {
        self.passes_max.store(passes_max, Ordering::Relaxed);
        for shard in &self.shards {
            for (key, name) in shard.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                self.serve_queue(key, &mut name.queue);
            }
        }
    }

    fn shard(&self, key: &LockKey) -> MutexGuard<'_, Shard> {
        // The map uses the low bits.
        let shard = &self.shards[(key.hash_value() >> 32) as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants the request or queues it.
    pub fn request(&self, request: &LockRequest<'_>) -> Requested {
        let LockRequest { session, key, mode, duration } = *request;
        let ticket = Ticket { session, mode, duration };
        let fairness = self.fairness();
        let mut shard = self.shard(key);
        let name = match shard.get_mut(key) {
            Some(name) => name,
            None => shard.entry(key.clone()).or_default(),
        };
        if name.queue.covers(ticket) {
            return Requested::Granted;
        }
        if mode.is_strong() {
            self.call_in(key, name);
        }
        let queue = &mut name.queue;
        if closes_gate(key, mode) {
            self.intentions.raise_gate(key.namespace());
        }
        if !queue.blocks(ticket, fairness) && !self.is_held_back(key, ticket) {
            if queue.grant(ticket, None, fairness) {
                self.serve_queue(key, queue);
            }
            return Requested::Granted;
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let waiter = Arc::new(Waiter::default());
        queue.enqueue(Waiting { ticket, number, passed: 0, waiter: Arc::clone(&waiter) });
        Requested::Queued(number, waiter)
    }

    /// A strong lock is asked for: from now on readers and writers queue, and those in slots stand in the queue.
    fn call_in(&self, key: &LockKey, name: &mut Name) {
        let Name { queue, cell: Some(cell) } = name else { return };
        if cell.mark() && !planted(Mistake::OverlooksSlots) {
            let fairness = self.fairness();
            self.sessions.move_out(cell.id(), key, |session, mode| {
                // Nothing waits that it could pass: only strong requests keep others waiting.
                queue.grant(Ticket { session, mode, duration: LockDuration::Transaction }, None, fairness);
            });
        }
    }

    /// The cell of a table that the caller has locked, for a plan that it keeps. `class` is asked if there is none yet.
    pub fn see(&self, key: &LockKey, class: impl FnOnce() -> RowClass) -> SeenCell {
        if let Some(cell) = self.shard(key).get(key).and_then(|name| name.cell.as_ref()) {
            return SeenCell::new(cell);
        }
        let class = class();
        let mut shard = self.shard(key);
        let name = shard.entry(key.clone()).or_default();
        let is_strong = name.queue.has_strong();
        let cell = name.cell.get_or_insert_with(|| {
            let id = CellId(self.next_cell.fetch_add(1, Ordering::Relaxed));
            Arc::new(ObjectCell::new(id, class, is_strong))
        });
        SeenCell::new(cell)
    }

    /// The number of the cell of a name that kept plans use.
    pub fn cell_of(&self, key: &LockKey) -> Option<CellId> {
        self.shard(key).get(key).and_then(|name| name.cell.as_ref()).map(|cell| cell.id())
    }

    /// Plans that use the table are to be made anew.
    pub fn renew(&self, key: &LockKey) {
        if let Some(cell) = self.shard(key).get(key).and_then(|name| name.cell.as_ref()) {
            cell.renew();
        }
    }

    /// Whether sessions that are in no queue keep the request waiting.
    fn is_held_back(&self, key: &LockKey, ticket: Ticket) -> bool {
        closes_gate(key, ticket.mode)
            && !planted(Mistake::OverlooksIntentions)
            && !self.sessions.intending(key.namespace(), ticket.session).is_empty()
    }

    /// Grants what can be granted now: somebody who is in no queue stands back.
    pub fn serve(&self, key: &LockKey) {
        if let Some(name) = self.shard(key).get_mut(key) {
            self.serve_queue(key, &mut name.queue);
        }
    }

    fn serve_queue(&self, key: &LockKey, queue: &mut Queue) {
        queue.serve(self.fairness(), |ticket| self.is_held_back(key, ticket));
    }

    /// Takes a waiting request out of its queue and tells its waiter why. False if it has ended already.
    pub fn withdraw(&self, key: &LockKey, number: u64, end: WaitEnd) -> bool {
        let mut shard = self.shard(key);
        let Some(name) = shard.get_mut(key) else { return false };
        let Some(withdrawn) = name.queue.withdraw(number) else { return false };
        if closes_gate(key, withdrawn.ticket.mode) && !planted(Mistake::LeavesTheGate) {
            self.intentions.lower_gate(key.namespace());
        }
        withdrawn.waiter.end(end);
        if !planted(Mistake::GivesUpAlone) {
            self.serve_queue(key, &mut name.queue);
        }
        name.settle();
        true
    }

    /// Gives back what a session holds for that time, but for the modes that it keeps: some of what it holds.
    pub fn release(&self, session: u32, key: &LockKey, duration: LockDuration, kept: &[LockMode]) {
        let mut shard = self.shard(key);
        let Some(name) = shard.get_mut(key) else { return };
        let Some(released) = name.queue.release(session, duration, kept) else { return };
        if released.contains(LockMode::Exclusive) {
            name.end_cell();
        }
        if matches!(key.namespace(), Namespace::Global | Namespace::Commit)
            && released.meets(const { Modes::of(&[LockMode::Shared]) })
        {
            self.intentions.lower_gate(key.namespace());
        }
        if name.queue.has_waiting() && !planted(Mistake::LeavesWaiters) {
            self.serve_queue(key, &mut name.queue);
        }
        name.settle();
        if name.is_idle() && shard.len() > IDLE_NAMES_MAX {
            shard.remove(key);
        }
    }

    /// Whether somebody else waits for a lock that cannot be granted beside one in that mode.
    pub fn is_awaited(&self, session: u32, key: &LockKey, mode: LockMode) -> bool {
        let shard = self.shard(key);
        let Some(name) = shard.get(key) else { return false };
        let mut waiting = name.queue.waiting().map(|waiting| waiting.ticket);
        waiting.any(|ticket| ticket.session != session && mode.conflicts().contains(ticket.mode))
    }

    /// What a session holds to the end of its transaction is the heir's from now on.
    pub fn hand_over(&self, session: u32, key: &LockKey, heir: u32) {
        if let Some(name) = self.shard(key).get_mut(key) {
            name.queue.hand_over(session, heir);
        }
    }

    /// Tells whom a wait is for. False if it is over.
    pub fn tell_blockers(
        &self,
        key: &LockKey,
        number: u64,
        wanted: WaiterId,
        tell: &mut dyn FnMut(u32),
    ) -> bool {
        let shard = self.shard(key);
        let Some(Name { queue, .. }) = shard.get(key) else { return false };
        let is_wanted = |session: u32| WaiterId::session(u64::from(session)) == wanted;
        let Some(ticket) = queue.tell_blockers(number, &is_wanted, self.fairness(), tell) else {
            return false;
        };
        if closes_gate(key, ticket.mode) {
            self.sessions.intending(key.namespace(), ticket.session).into_iter().for_each(tell);
        }
        true
    }

    /// Every lock and request, but for intentions.
    pub fn rows(&self) -> Vec<LockRow> {
        let (mut rows, mut cells) = (Vec::new(), HashMap::new());
        for shard in &self.shards {
            for (key, name) in shard.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                let queue = &name.queue;
                cells.extend(name.cell.iter().map(|cell| (cell.id(), key.clone())));
                let granted = queue.granted().iter().map(|ticket| (*ticket, true));
                let waiting = queue.waiting().map(|waiting| (waiting.ticket, false));
                rows.extend(granted.chain(waiting).map(|(ticket, granted)| LockRow {
                    key: key.clone(),
                    session: ticket.session,
                    mode: ticket.mode,
                    duration: ticket.duration,
                    granted,
                }));
            }
        }
        let (granted, duration) = (true, LockDuration::Transaction);
        self.sessions.visit_slots(|session, cell, mode| {
            let key = cells.get(&cell).cloned();
            rows.extend(key.map(|key| LockRow { key, session, mode, duration, granted }));
        });
        rows
    }
}

/// Whether the lock is one against intentions, which are in no queue.
fn closes_gate(key: &LockKey, mode: LockMode) -> bool {
    mode == LockMode::Shared && matches!(key.namespace(), Namespace::Global | Namespace::Commit)
}
