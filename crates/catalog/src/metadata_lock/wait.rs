//! Waiting for a metadata lock. Main types: [`Waiter`], where a session sleeps; [`MetadataWait`], what the search for
//! deadlocks asks; [`WaitLimit`]; [`WaitEnd`].

use super::table::LockTable;
use super::{LockKey, LockMode, Namespace};
use engine::KillFlag;
use env::Clock;
use errors::{SqlResult, sql_error};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use txn::{Blockers, WaiterId};

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum WaitEnd {
    /// The lock is held.
    Granted,
    /// The time is up.
    TimedOut,
    /// The wait was chosen to end a cycle of waits.
    Victim,
    /// The kill flag is raised.
    Killed,
}

impl WaitEnd {
    /// Errors: 1205, 1213, 1317.
    pub fn into_sql(self) -> SqlResult<()> {
        match self {
            WaitEnd::Granted => Ok(()),
            WaitEnd::TimedOut => Err(sql_error!(ER_LOCK_WAIT_TIMEOUT)),
            WaitEnd::Victim => Err(sql_error!(ER_LOCK_DEADLOCK)),
            WaitEnd::Killed => Err(sql_error!(ER_QUERY_INTERRUPTED)),
        }
    }
}

/// What ends a wait besides its grant.
#[derive(Clone, Copy, Debug)]
pub struct WaitLimit<'a> {
    /// How long; with zero nothing waits.
    pub timeout: Duration,
    /// Ends the wait when raised.
    pub kill: &'a KillFlag,
}

/// Where a session sleeps until its request has an end.
#[derive(Debug, Default)]
pub(super) struct Waiter {
    end: Mutex<Option<WaitEnd>>,
    changed: Condvar,
}

impl Waiter {
    /// Decides the wait. Called by whoever took the request out of its queue, so it happens once.
    pub fn end(&self, end: WaitEnd) {
        *self.lock() = Some(end);
        self.changed.notify_all();
    }

    /// How the wait was decided.
    pub fn decided(&self) -> Option<WaitEnd> {
        *self.lock()
    }

    /// Sleeps until the wait is decided, the time is up or the flag is raised. The latter two do not decide it.
    pub fn sleep(self: &Arc<Self>, limit: WaitLimit<'_>, clock: &dyn Clock) -> WaitEnd {
        let as_wake: Arc<dyn txn::Wake> = Arc::clone(self) as Arc<dyn txn::Wake>;
        limit.kill.set_sleeper(Some(Arc::downgrade(&as_wake)));
        let end = env::blocking::region(|| self.sleep_until(limit, clock));
        limit.kill.set_sleeper(None);
        end
    }

    fn sleep_until(&self, limit: WaitLimit<'_>, clock: &dyn Clock) -> WaitEnd {
        let until = clock.monotonic().saturating_add(limit.timeout);
        let mut end = self.lock();
        loop {
            if let Some(end) = *end {
                return end;
            }
            if limit.kill.is_raised() {
                return WaitEnd::Killed;
            }
            let left = until.saturating_sub(clock.monotonic());
            if left.is_zero() {
                return WaitEnd::TimedOut;
            }
            end = self.changed.wait_timeout(end, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<WaitEnd>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl txn::Wake for Waiter {
    fn wake(&self) {
        // Taken so that the sleeper is either before its test of the flag or asleep.
        drop(self.lock());
        self.changed.notify_all();
    }
}

/// One wait in the queue of one name.
#[derive(Debug)]
pub(super) struct MetadataWait {
    pub table: Arc<LockTable>,
    pub key: LockKey,
    pub mode: LockMode,
    pub number: u64,
}

impl txn::Waiting for MetadataWait {
    fn blockers(&self, found: &mut Blockers) -> Option<u64> {
        let wanted = found.wanted();
        let tell = &mut |session: u32| found.tell(WaiterId::session(u64::from(session)));
        self.table.tell_blockers(&self.key, self.number, wanted, tell).then_some(self.number)
    }

    /// As MySQL has it: DDL is spared before user locks, and these before reading and changing rows.
    fn weight(&self) -> u64 {
        match (self.key.namespace(), self.mode) {
            (Namespace::UserLock, _) => u64::MAX / 2,
            (_, LockMode::Read | LockMode::Write) | (Namespace::Commit, LockMode::Intention) => 0,
            _ => u64::MAX,
        }
    }

    fn end_as_victim(&self, wait_number: u64) -> bool {
        wait_number == self.number && self.table.withdraw(&self.key, self.number, WaitEnd::Victim)
    }

    fn request(&self) -> Option<txn::WaitRequest> {
        let (key, mode) = (&self.key, self.mode.name());
        let name = match (key.schema_name(), key.object_name()) {
            ("", "") => String::new(),
            ("", object) => format!(" `{object}`"),
            (schema, "") => format!(" `{schema}`"),
            (schema, object) => format!(" `{schema}`.`{object}`"),
        };
        Some(txn::WaitRequest::Name(format!("METADATA LOCK {}{name} {mode}", key.namespace().name())))
    }
}
