//! Row locks. Main type: [`LockManager`].
//! The X lock of a writer is its id in the row; objects exist only for explicit locks and for waiters (rule L1 in
//! README.md). [`queue`] and [`table`] are the queues without any sleeping; [`owner`] is the sleeping; [`row_wait`] is what the
//! search for deadlocks ([`crate::wait_graph`]) asks.

#[cfg(test)]
mod explorer;
mod held_keys;
mod mistakes;
mod mode;
mod owner;
mod queue;
mod ranges;
mod row_wait;
mod table;
#[cfg(test)]
mod tests;

pub use mode::{Hold, LockMode, Span, Strength};
pub use owner::{Owner, WaitEnd};
pub use ranges::RangeInfo;
pub use table::{LockInfo, Request};

use crate::kill::{KillFlag, Wake};
use crate::wait_graph::WaitGraph;
use mistakes::Mistake;
use row_wait::RowWait;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use stdx::OwnLine;
use stdx::ids::IndexId;
use table::LockTable;

/// What a lock is on: an entry of an index, by its key. No lock moves when a page splits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockKey {
    /// The index.
    pub index: IndexId,
    /// The entry's key.
    pub key: Arc<[u8]>,
}

/// Row locks of the whole engine.
#[derive(Debug)]
pub struct LockManager {
    table: Arc<LockTable>,
    /// Waits of all kinds.
    waits: Arc<WaitGraph>,
    next_owner: OwnLine<AtomicU64>,
    counters: LockCounters,
}

/// Counters for status variables.
#[derive(Debug, Default)]
pub struct LockCounters {
    /// Waits begun (Innodb_row_lock_waits).
    pub waits: AtomicU64,
    /// Owners waiting now (Innodb_row_lock_current_waits).
    pub waiting: AtomicU64,
    /// Microseconds waited in all (Innodb_row_lock_time).
    pub wait_time_us: AtomicU64,
    /// Longest wait in microseconds (Innodb_row_lock_time_max).
    pub wait_time_max_us: AtomicU64,
    /// Deadlocks whose victim waited for a row (Innodb_deadlocks).
    pub deadlocks: Arc<AtomicU64>,
    /// Waits that timed out.
    pub timeouts: AtomicU64,
}

/// How a wait is limited.
#[derive(Clone, Debug)]
pub struct WaitOptions {
    /// Limit.
    pub timeout: Duration,
    /// Ends the wait when raised.
    pub kill: KillFlag,
    /// Whether a deadlock search is made.
    pub deadlock_detect: bool,
}

impl LockManager {
    /// No locks.
    pub fn new() -> LockManager {
        LockManager {
            table: Arc::new(LockTable::new()),
            waits: Arc::default(),
            next_owner: OwnLine(AtomicU64::new(1)),
            counters: LockCounters::default(),
        }
    }

    /// A new owner.
    pub fn owner(&self, session_id: u64) -> Arc<Owner> {
        Arc::new(Owner::new(self.next_owner.fetch_add(1, Ordering::Relaxed), session_id))
    }

    /// Asks for a lock; never sleeps. `implicit` is the owner whose unfinished transaction wrote the entry: it gets its X lock as an
    /// object first. Call it under the entry's latch, so that no writer comes between (rule L2).
    pub fn request(
        &self,
        owner: &Arc<Owner>,
        index: IndexId,
        key: &[u8],
        mode: LockMode,
        implicit: Option<&Arc<Owner>>,
        may_wait: bool,
    ) -> Request {
        self.table.request(owner, index, key, mode, implicit, may_wait)
    }

    /// Keeps the keys from the first to below the second (None: to the end of the index) closed to the inserts of others, to the owner's
    /// end, and locks the `rows` rows there if `hold` says so. Call it under a latch of the leaf that they belong to, so that no insert comes
    /// between (rule L8); no row may have an unfinished writer but the owner. False if only the gaps are closed: rows are to be asked for
    /// one by one. Otherwise each row is to be confirmed ([`LockManager::confirm_row`]).
    pub fn lock_range(
        &self,
        owner: &Arc<Owner>,
        index: IndexId,
        range: (&[u8], Option<&[u8]>),
        hold: Hold,
        rows: u64,
    ) -> bool {
        self.table.lock_range(owner, index, range, hold, rows)
    }

    /// Whether a row of a range that was locked is the owner's: nobody had asked for it before (rule L10). If not, the range has it no
    /// more. One atomic load when nobody locks anything near.
    pub fn confirm_row(&self, owner: &Owner, index: IndexId, key: &[u8], mode: LockMode) -> bool {
        self.table.confirm_row(owner, index, key, mode)
    }

    /// Whether another owner has or waits for a lock object on a key: then it is no row of a range. One atomic load when nobody locks
    /// anything near.
    pub fn others_ask(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        self.table.others_ask(owner, index, key)
    }

    /// Asks whether a key that is not there may be inserted; never sleeps. Queued behind the owners that keep it closed: wait, and ask
    /// again. Call it under the leaf's exclusive latch. One atomic load when nobody keeps gaps of the index closed.
    pub fn request_insert(&self, owner: &Arc<Owner>, index: IndexId, key: &[u8]) -> Request {
        self.table.request_insert(owner, index, key)
    }

    /// Whether others keep a key closed to inserts.
    pub fn is_closed(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        self.table.is_closed(owner, index, key)
    }

    /// Whether another owner holds or waits for a lock on the entry, by an object or a range. Then a writer must ask for its X lock as an object, whether
    /// or not it would have to wait: its id in the entry is no lock to those in a queue already. Called under
    /// the entry's exclusive latch. Two atomic loads when nobody locks anything near.
    pub fn others_lock(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        self.table.others_lock(owner, index, key)
    }

    /// Sleeps until the lock that [`LockManager::request`] queued is granted, or gives the request up. Call it without any latch.
    /// `now_us` is a clock for the statistics.
    pub fn wait(&self, owner: &Arc<Owner>, options: &WaitOptions, now_us: impl Fn() -> u64) -> WaitEnd {
        let began = now_us();
        owner.lock_state().wait_began_us = began;
        self.counters.waits.fetch_add(1, Ordering::Relaxed);
        self.counters.waiting.fetch_add(1, Ordering::Relaxed);
        let weak: Weak<dyn Wake> = Arc::downgrade(&(owner.clone() as Arc<dyn Wake>));
        options.kill.set_sleeper(Some(weak));
        let waiter = owner.waiter_id();
        let (table, victims) = (self.table.clone(), self.counters.deadlocks.clone());
        self.waits.begin(waiter, Arc::new(RowWait { table, owner: owner.clone(), victims }));
        let reached = std::mem::take(&mut owner.lock_state().reached);
        if options.deadlock_detect {
            // Its own first: of equals the one that asked is the victim.
            std::iter::once(waiter).chain(reached).for_each(|waiter| self.waits.search(waiter));
        }
        let end = env::blocking::region(|| owner.waiter.sleep(options.timeout, || options.kill.is_raised()));
        mistakes::pause();
        options.kill.set_sleeper(None);
        self.waits.end(waiter);
        let end = match end {
            WaitEnd::TimedOut | WaitEnd::Killed if self.table.give_up(owner, None, end) => end,
            WaitEnd::TimedOut | WaitEnd::Killed if mistakes::planted(Mistake::TakesEndForGrant) => {
                WaitEnd::Granted
            }
            WaitEnd::TimedOut | WaitEnd::Killed => {
                owner.waiter.outcome().expect("a request leaves its queue with an outcome")
            }
            decided => decided,
        };
        self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
        self.counters.finish_wait(end, now_us().saturating_sub(began));
        end
    }

    /// Takes back a request that was queued and will not be waited for.
    pub fn abandon(&self, owner: &Owner) {
        self.table.forget_abandoned(owner);
    }

    /// Gives back the lock on an entry, if it came behind a mark ([`Owner::lock_mark`]) and the owner has not written the entry.
    pub fn unlock(&self, owner: &Owner, index: IndexId, key: &[u8], mark: u64) {
        self.table.unlock(owner, index, key, mark);
    }

    /// Drops the object of an X lock nobody waits for: the owner has written the entry, so that its id there is the lock. With
    /// others in the queue the object stays, to the owner's end.
    pub fn make_implicit(&self, owner: &Owner, index: IndexId, key: &[u8]) {
        self.table.make_implicit(owner, index, key);
    }

    /// Releases everything. Called once, after the commit table knows the outcome.
    pub fn finish(&self, owner: &Owner) {
        self.table.finish(owner);
    }

    /// The graph of waits, for the kinds of locks above this crate.
    pub fn waits(&self) -> &Arc<WaitGraph> {
        &self.waits
    }

    /// Counters.
    pub fn counters(&self) -> &LockCounters {
        &self.counters
    }

    /// All lock objects, for the lock views. Takes one shard after the other.
    pub fn snapshot(&self) -> Vec<LockInfo> {
        self.table.snapshot()
    }

    /// All locked ranges, for the lock views.
    pub fn locked_ranges(&self) -> Vec<RangeInfo> {
        self.table.locked_ranges()
    }

    /// All who hold or wait for something, by their number.
    pub fn owners(&self) -> BTreeMap<u64, Arc<Owner>> {
        self.table.owners()
    }

    /// Number of lock objects.
    pub fn object_count(&self) -> usize {
        self.table.object_count()
    }
}

impl LockCounters {
    fn finish_wait(&self, end: WaitEnd, waited_us: u64) {
        self.wait_time_us.fetch_add(waited_us, Ordering::Relaxed);
        self.wait_time_max_us.fetch_max(waited_us, Ordering::Relaxed);
        if end == WaitEnd::TimedOut {
            self.timeouts.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Default for LockManager {
    fn default() -> Self {
        LockManager::new()
    }
}
