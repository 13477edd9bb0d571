//! The search for cycles of waits, over every kind of lock. Main types: [`WaitGraph`], [`Waiting`].
//! The graph has no edges of its own: who waits is registered with something that can be asked whom it waits for
//! ([`Waiting`]), once when a search passes and once more before a victim is chosen. Row locks answer in `locks/row_wait.rs`;
//! a kind of lock that lives above this crate (metadata, user locks) implements [`Waiting`] and calls [`WaitGraph::begin`],
//! [`WaitGraph::search`] and [`WaitGraph::end`] around its sleep. Nodes are sessions, because a session waits for one
//! thing at a time and what it holds may be of all kinds.
//! Threads: a search takes no mutex but, for moments, the registry's; only the choice of a victim is made by one thread at a time.

use crate::hash::KeyHasher;
use crate::locks::LockInfo;
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Who waits and holds: a session, or a transaction that belongs to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaiterId(u64);

/// Set in the number of a waiter that is no session.
const INTERNAL: u64 = 1 << 63;

/// A wait that can be asked about. Calls come from other threads than the one that sleeps.
pub trait Waiting: Debug + Send + Sync {
    /// Tells whom this wait is for at this moment, directly or through others that wait for the same thing. Answers
    /// with the number of the wait, which no later wait of the same waiter has; None if it is over.
    fn blockers(&self, found: &mut Blockers) -> Option<u64>;

    /// What is lost if the waiter is the victim: the lightest of a cycle is chosen.
    fn weight(&self) -> u64;

    /// Ends the wait with that number as a deadlock; false if it is over already.
    fn end_as_victim(&self, wait_number: u64) -> bool;

    /// What it is for; None if it is over.
    fn request(&self) -> Option<WaitRequest>;
}

/// What a member of a cycle waits for.
#[derive(Clone, Debug)]
pub enum WaitRequest {
    /// A row, a gap or the AUTO-INC lock of a table.
    Row(LockInfo),
    /// Something with a name, in words.
    Name(String),
}

/// A member of a cycle of waits.
#[derive(Clone, Debug)]
pub struct CycleMember {
    /// Its session; None for a transaction of the server's own.
    pub session_id: Option<u64>,
    /// What it waits for.
    pub request: Option<WaitRequest>,
}

/// Who wants to know of deadlocks: is told the members of a cycle, of which each waits for the next, and which is the victim. All of them
/// still wait.
pub type DeadlockWatcher = Box<dyn Fn(&[CycleMember], usize) + Send + Sync>;

/// Whom a wait is for, as [`Waiting::blockers`] tells it.
#[derive(Debug)]
pub struct Blockers {
    wanted: WaiterId,
    found: Vec<WaiterId>,
    /// For each resource that was asked already: the classes of holders that were told.
    told: HashMap<u64, u32, KeyHasher>,
}

/// All that wait. One for the whole server.
#[derive(Default)]
pub struct WaitGraph {
    waiting: Mutex<HashMap<WaiterId, Arc<dyn Waiting>, KeyHasher>>,
    /// Held while a cycle is checked and its victim chosen, so that two searches do not choose two victims for one cycle.
    choice: Mutex<()>,
    watcher: OnceLock<DeadlockWatcher>,
}

impl Debug for WaitGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitGraph").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

/// A member of a path of waits.
struct Step {
    waiter: WaiterId,
    wait: Arc<dyn Waiting>,
    wait_number: u64,
    /// Blockers that wait themselves and are still to be visited.
    blockers: Vec<WaiterId>,
}

impl WaiterId {
    /// A session.
    pub fn session(session_id: u64) -> WaiterId {
        WaiterId(session_id)
    }

    /// A transaction of the server's own, by its owner's number.
    pub(crate) fn internal(owner: u64) -> WaiterId {
        WaiterId(owner | INTERNAL)
    }

    fn session_id(self) -> Option<u64> {
        (self.0 & INTERNAL == 0).then_some(self.0)
    }
}

impl Hash for WaiterId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
}

impl Blockers {
    fn of(wanted: WaiterId) -> Blockers {
        Blockers { wanted, found: Vec::new(), told: HashMap::default() }
    }

    /// Whom the search must not miss: it is told whenever the wait is for it, whatever [`Blockers::untold`] says.
    pub fn wanted(&self) -> WaiterId {
        self.wanted
    }

    /// The wait is for that one.
    pub fn tell(&mut self, blocker: WaiterId) {
        self.found.push(blocker);
    }

    /// Of the classes of holders of a resource (bits of the kind's own meaning) those that this search was not told yet.
    /// With many waiting for one resource it keeps a search from being told the same holders by each. A resource's
    /// number must not change while anybody waits for it.
    pub fn untold(&mut self, resource: u64, classes: u32) -> u32 {
        let told = self.told.entry(resource).or_default();
        let untold = classes & !*told;
        *told |= classes;
        untold
    }
}

impl WaitGraph {
    /// Registers a wait. Call it when the request is queued, before [`WaitGraph::search`] and the sleep.
    pub fn begin(&self, waiter: WaiterId, wait: Arc<dyn Waiting>) {
        self.waiting().insert(waiter, wait);
    }

    /// The wait is over, however it ended.
    pub fn end(&self, waiter: WaiterId) {
        self.waiting().remove(&waiter);
    }

    /// Number of registered waits.
    pub fn waiting_count(&self) -> usize {
        self.waiting().len()
    }

    /// Looks for cycles through a waiter that has just begun to wait, and ends the wait of the lightest member of each; the
    /// one that asked if weights are equal. Whoever closes a cycle is the last to begin its wait, so a search at each
    /// beginning finds all.
    pub fn search(&self, start: WaiterId) {
        while let Some(cycle) = self.find_cycle(start) {
            let _one_choice = self.choice.lock().unwrap_or_else(PoisonError::into_inner);
            if !holds_still(&cycle) {
                continue;
            }
            let weight = |(_, step): &(usize, &Step)| (step.wait.weight(), step.waiter != start);
            let Some((at, victim)) = cycle.iter().enumerate().min_by_key(weight) else { return };
            self.tell(&cycle, at);
            if victim.wait.end_as_victim(victim.wait_number) && victim.waiter == start {
                return;
            }
            // The victim left the graph; `start` may stand in more cycles than one.
        }
    }

    /// Who waits is told of what is to be watched; once.
    pub fn watch(&self, watcher: DeadlockWatcher) {
        let _ = self.watcher.set(watcher);
    }

    fn tell(&self, cycle: &[Step], victim: usize) {
        if let Some(watcher) = self.watcher.get() {
            let member = |step: &Step| CycleMember {
                session_id: step.waiter.session_id(),
                request: step.wait.request(),
            };
            watcher(&cycle.iter().map(member).collect::<Vec<_>>(), victim);
        }
    }

    fn find_cycle(&self, start: WaiterId) -> Option<Vec<Step>> {
        let mut blockers = Blockers::of(start);
        let mut visited = HashSet::<WaiterId, KeyHasher>::default();
        let mut path = vec![self.step(start, &mut blockers)?];
        loop {
            let Some(blocker) = path.last_mut()?.blockers.pop() else {
                path.pop();
                continue;
            };
            if blocker == start {
                return Some(path);
            }
            if visited.insert(blocker)
                && let Some(step) = self.step(blocker, &mut blockers)
            {
                path.push(step);
            }
        }
    }

    fn step(&self, waiter: WaiterId, blockers: &mut Blockers) -> Option<Step> {
        let wait = self.waiting().get(&waiter)?.clone();
        let wait_number = wait.blockers(blockers)?;
        let waiting = self.waiting();
        let blockers = blockers.found.drain(..).filter(|blocker| waiting.contains_key(blocker)).collect();
        Some(Step { waiter, wait, wait_number, blockers })
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<WaiterId, Arc<dyn Waiting>, KeyHasher>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether each member is still in the wait that the search met and still waits for the next. Then all edges held at the moment
/// between the two looks, and the cycle is true.
fn holds_still(cycle: &[Step]) -> bool {
    cycle.iter().enumerate().all(|(at, step)| {
        let next = cycle[(at + 1) % cycle.len()].waiter;
        let mut blockers = Blockers::of(next);
        step.wait.blockers(&mut blockers) == Some(step.wait_number) && blockers.found.contains(&next)
    })
}
