//! max_execution_time: raises the kill flag of statements that run too long. Main type: [`Timer`].
//! One thread for all sessions, started by the first statement that has a limit; it sleeps until the next deadline.

use crate::registry::SessionShared;
use env::Environment;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Deadlines of running statements.
#[derive(Default)]
pub struct Timer {
    shared: Arc<Deadlines>,
    started: AtomicBool,
    next: AtomicU64,
}

/// Deadline and a number that makes it unique; what to end.
type Key = (Duration, u64);

#[derive(Default)]
struct Deadlines {
    entries: Mutex<BTreeMap<Key, (Weak<SessionShared>, u64)>>,
    changed: Condvar,
}

/// Takes the deadline off the list when the statement is over.
pub struct Armed {
    deadlines: Arc<Deadlines>,
    key: Key,
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.deadlines.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

impl Timer {
    /// Ends the running statement of `session` after `limit`.
    pub fn arm(&self, environment: &Environment, session: &Arc<SessionShared>, limit: Duration) -> Armed {
        if !self.started.swap(true, Ordering::SeqCst) {
            let deadlines = Arc::downgrade(&self.shared);
            let clock = Arc::clone(&environment.clock);
            let body = Box::new(move || run(&deadlines, clock.as_ref()));
            // Without a thread there is no time limit, which is better than no statement.
            if environment.threads.try_spawn("statement-timer", body).is_err() {
                self.started.store(false, Ordering::SeqCst);
            }
        }
        let key = (environment.clock.monotonic() + limit, self.next.fetch_add(1, Ordering::Relaxed));
        let entry = (Arc::downgrade(session), session.statement.load(Ordering::SeqCst));
        self.shared.entries.lock().unwrap_or_else(PoisonError::into_inner).insert(key, entry);
        self.shared.changed.notify_one();
        Armed { deadlines: Arc::clone(&self.shared), key }
    }
}

/// Longest sleep between looks whether the server still exists.
const SLEEP_MAX: Duration = Duration::from_secs(1);

fn run(deadlines: &Weak<Deadlines>, clock: &dyn env::Clock) {
    while let Some(shared) = deadlines.upgrade() {
        let mut entries = shared.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock.monotonic();
        while let Some(((deadline, _), _)) = entries.first_key_value() {
            if *deadline > now {
                break;
            }
            if let Some((_, (session, statement))) = entries.pop_first()
                && let Some(session) = session.upgrade()
                && session.statement.load(Ordering::SeqCst) == statement
            {
                session.timed_out.store(true, Ordering::SeqCst);
                session.kill.kill();
            }
        }
        let wait =
            entries.first_key_value().map_or(SLEEP_MAX, |((deadline, _), _)| deadline.saturating_sub(now));
        let _woken = shared.changed.wait_timeout(entries, wait.min(SLEEP_MAX));
    }
}
