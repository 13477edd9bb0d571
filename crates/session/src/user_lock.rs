//! User locks: GET_LOCK() and its family. Main type: [`UserLocks`].
//! Names are compared without regard to case. A session may hold many locks, and one several times.
//! Thread rules: one mutex for all names; waiters sleep on one condition variable (these locks are few).

use engine::KillFlag;
use env::Clock;
use errors::{SqlResult, sql_error};
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest lock name, characters.
const NAME_CHARACTERS_MAX: usize = 64;

/// All user locks of the server; a cheap clone.
#[derive(Clone)]
pub struct UserLocks {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Owner and how many times it took the lock.
    held: HashMap<String, (u32, u32)>,
    /// Which lock a session waits for.
    waits: HashMap<u32, String>,
}

impl txn::Wake for Shared {
    fn wake(&self) {
        let _state = self.lock();
        self.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lock's name in the form that is compared. Error 3057 for an empty or long one.
fn normalised(name: &str) -> SqlResult<String> {
    if name.is_empty() || name.chars().count() > NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_USER_LOCK_WRONG_NAME, name));
    }
    Ok(name.to_lowercase())
}

impl State {
    /// Whether waiting for `name` would in the end be waiting for `session` itself.
    fn closes_cycle(&self, session: u32, name: &str) -> bool {
        let mut name = name;
        for _ in 0..=self.waits.len() {
            let Some((owner, _)) = self.held.get(name) else { return false };
            if *owner == session {
                return true;
            }
            match self.waits.get(owner) {
                Some(next) => name = next,
                None => return false,
            }
        }
        false
    }
}

impl UserLocks {
    /// No locks.
    pub fn new(clock: Arc<dyn Clock>) -> UserLocks {
        UserLocks { shared: Arc::default(), clock }
    }

    /// GET_LOCK: true taken, false timed out. A negative time-out waits without end.
    /// Errors: 1317 killed, 3057 wrong name, 3058 deadlock.
    pub fn take(&self, session: u32, name: &str, timeout_seconds: f64, kill: &KillFlag) -> SqlResult<bool> {
        let name = normalised(name)?;
        let mut state = self.shared.lock();
        if self.grant(&mut state, session, &name) {
            return Ok(true);
        }
        if timeout_seconds == 0.0 {
            return Ok(false);
        }
        if state.closes_cycle(session, &name) {
            return Err(sql_error!(ER_USER_LOCK_DEADLOCK));
        }
        state.waits.insert(session, name.clone());
        drop(state);
        // More than a year is as good as no limit, and it cannot overflow.
        let seconds = if timeout_seconds < 0.0 { 3.2e7 } else { timeout_seconds.min(3.2e7) };
        let deadline = self.clock.monotonic() + Duration::from_secs_f64(seconds);
        let sleeper: Arc<dyn txn::Wake> = Arc::clone(&self.shared) as Arc<dyn txn::Wake>;
        kill.set_sleeper(Some(Arc::downgrade(&sleeper)));
        let outcome = env::blocking::region(|| self.wait(session, &name, deadline, kill));
        kill.set_sleeper(None);
        self.shared.lock().waits.remove(&session);
        outcome
    }

    fn grant(&self, state: &mut State, session: u32, name: &str) -> bool {
        match state.held.get_mut(name) {
            None => {
                state.held.insert(name.to_owned(), (session, 1));
                true
            }
            Some((owner, count)) if *owner == session => {
                *count += 1;
                true
            }
            Some(_) => false,
        }
    }

    fn wait(&self, session: u32, name: &str, deadline: Duration, kill: &KillFlag) -> SqlResult<bool> {
        let mut state = self.shared.lock();
        loop {
            if self.grant(&mut state, session, name) {
                return Ok(true);
            }
            if kill.is_raised() {
                return Err(sql_error!(ER_QUERY_INTERRUPTED));
            }
            let left = deadline.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Ok(false);
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// RELEASE_LOCK: true released, false held by another, None no such lock. Error 3057.
    pub fn release(&self, session: u32, name: &str) -> SqlResult<Option<bool>> {
        let name = normalised(name)?;
        let mut state = self.shared.lock();
        let Some((owner, count)) = state.held.get_mut(&name) else { return Ok(None) };
        if *owner != session {
            return Ok(Some(false));
        }
        *count -= 1;
        if *count == 0 {
            state.held.remove(&name);
            self.shared.changed.notify_all();
        }
        Ok(Some(true))
    }

    /// RELEASE_ALL_LOCKS, and the end of a session: how many were held, each taking counted.
    pub fn release_all(&self, session: u32) -> u64 {
        let mut state = self.shared.lock();
        let released =
            state.held.values().filter(|(owner, _)| *owner == session).map(|(_, count)| *count as u64).sum();
        if released > 0 {
            state.held.retain(|_, (owner, _)| *owner != session);
            self.shared.changed.notify_all();
        }
        released
    }

    /// IS_USED_LOCK: the session that holds it. Error 3057.
    pub fn holder(&self, name: &str) -> SqlResult<Option<u32>> {
        let name = normalised(name)?;
        Ok(self.shared.lock().held.get(&name).map(|(owner, _)| *owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_count_and_exclude() {
        let locks = UserLocks::new(Arc::new(env::RealClock::new()));
        let kill = KillFlag::default();
        assert!(locks.take(1, "A", 0.0, &kill).unwrap());
        assert!(locks.take(1, "a", 0.0, &kill).unwrap());
        assert!(!locks.take(2, "a", 0.0, &kill).unwrap());
        assert!(!locks.take(2, "a", 0.01, &kill).unwrap());
        assert_eq!(locks.release(2, "a").unwrap(), Some(false));
        assert_eq!(locks.release(1, "a").unwrap(), Some(true));
        assert_eq!(locks.holder("a").unwrap(), Some(1));
        assert_eq!(locks.release_all(1), 1);
        assert_eq!(locks.release(1, "a").unwrap(), None);
        assert_eq!(locks.take(1, "", 0.0, &kill).unwrap_err().number(), 3057);
    }

    #[test]
    fn cycle_is_an_error() {
        let locks = UserLocks::new(Arc::new(env::RealClock::new()));
        let kill = KillFlag::default();
        assert!(locks.take(1, "a", 0.0, &kill).unwrap());
        assert!(locks.take(2, "b", 0.0, &kill).unwrap());
        std::thread::scope(|scope| {
            let first = scope.spawn(|| locks.take(1, "b", 5.0, &KillFlag::default()));
            while locks.shared.lock().waits.is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(locks.take(2, "a", 5.0, &kill).unwrap_err().number(), 3058);
            locks.release_all(2);
            assert!(first.join().unwrap().unwrap());
        });
    }
}
