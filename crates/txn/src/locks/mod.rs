//! Row locks. Main type: [`LockManager`].
//! The X lock of a writer is its id in the row; objects exist only for explicit locks and for waiters (rule L1 in
//! README.md). [`table`] is the queues without any sleeping; [`owner`] is the sleeping; [`deadlock`] is the search.

mod deadlock;
mod mode;
mod owner;
mod table;
#[cfg(test)]
mod tests;

pub use mode::{LockMode, Span, Strength};
pub use owner::{Owner, WaitEnd};
pub use table::{LockInfo, Request};

use crate::kill::{KillFlag, Wake};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
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
    table: LockTable,
    /// One search at a time, so that two searches do not choose two victims for one cycle.
    search: Mutex<()>,
    next_owner: AtomicU64,
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
    /// Deadlocks found (Innodb_deadlocks).
    pub deadlocks: AtomicU64,
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
            table: LockTable::new(),
            search: Mutex::new(()),
            next_owner: AtomicU64::new(1),
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

    /// Whether another owner holds or waits for a lock on the entry that keeps `owner` from writing it. Called under the
    /// entry's exclusive latch. One atomic load when nobody locks anything near.
    pub fn blocks_write(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        self.table.blocks_write(owner, index, key)
    }

    /// Sleeps until the lock that [`LockManager::request`] queued is granted, or gives the request up. Call it without any latch.
    /// `now_us` is a clock for the statistics.
    pub fn wait(&self, owner: &Arc<Owner>, options: &WaitOptions, now_us: impl Fn() -> u64) -> WaitEnd {
        let began = now_us();
        self.counters.waits.fetch_add(1, Ordering::Relaxed);
        self.counters.waiting.fetch_add(1, Ordering::Relaxed);
        let weak: Weak<dyn Wake> = Arc::downgrade(&(owner.clone() as Arc<dyn Wake>));
        options.kill.set_sleeper(Some(weak));
        if options.deadlock_detect {
            self.search_deadlock(owner);
        }
        let end = env::blocking::region(|| owner.waiter.sleep(options.timeout, || options.kill.is_raised()));
        options.kill.set_sleeper(None);
        let end = match end {
            WaitEnd::TimedOut | WaitEnd::Killed => self.table.give_up(owner, end),
            decided => decided,
        };
        self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
        self.counters.finish_wait(end, now_us().saturating_sub(began));
        end
    }

    /// Gives back the lock on an entry, if it came after the first `keep` of the owner's locks.
    pub fn unlock(&self, owner: &Owner, index: IndexId, key: &[u8], keep: usize) {
        self.table.unlock(owner, index, key, keep);
    }

    /// Drops the object of an X lock nobody waits for: the owner has written the entry, so that its id there is the lock.
    pub fn make_implicit(&self, owner: &Owner, index: IndexId, key: &[u8]) {
        self.table.make_implicit(owner, index, key);
    }

    /// Releases everything. Called once, after the commit table knows the outcome.
    pub fn finish(&self, owner: &Owner) {
        self.table.finish(owner);
    }

    /// Counters.
    pub fn counters(&self) -> &LockCounters {
        &self.counters
    }

    /// All lock objects, for the lock views. Takes one shard after the other.
    pub fn snapshot(&self) -> Vec<LockInfo> {
        self.table.snapshot()
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
