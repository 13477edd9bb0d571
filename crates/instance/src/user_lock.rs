//! User locks: GET_LOCK() and its family. Main type: [`UserLocks`].
//! Names are compared without regard to case. A session may hold many locks, and one several times. The locks themselves are
//! metadata locks of a namespace of their own, so that a cycle of user locks, metadata locks and row locks is found.
//! Thread rules: one mutex for the counts, never held while waiting; a name's count is changed by its holder only.

use catalog::{LockDuration, LockKey, LockMode, LockRequest, MetadataLocks, WaitEnd, WaitLimit};
use engine::KillFlag;
use errors::{SqlResult, sql_error};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest lock name, characters.
const NAME_CHARACTERS_MAX: usize = 64;
/// More than a year is as good as no limit, and it cannot overflow.
const WAIT_SECONDS_MAX: f64 = 3.2e7;

/// All user locks of the server.
pub struct UserLocks {
    locks: Arc<MetadataLocks>,
    held: Mutex<HashMap<String, Held>>,
}

/// Who holds a lock, and how many times it took it.
#[derive(Clone, Copy, Debug)]
struct Held {
    session: u32,
    count: u32,
}

/// The lock's name in the form that is compared. Error 3057 for an empty or long one.
fn normalised(name: &str) -> SqlResult<String> {
    if name.is_empty() || name.chars().count() > NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_USER_LOCK_WRONG_NAME, name));
    }
    Ok(name.to_lowercase())
}

impl UserLocks {
    /// No locks.
    pub fn new(locks: Arc<MetadataLocks>) -> UserLocks {
        UserLocks { locks, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// GET_LOCK: true taken, false timed out. A negative time-out waits without end.
    /// Errors: 1317 killed, 3057 wrong name, 3058 deadlock.
    pub fn take(&self, session: u32, name: &str, timeout_seconds: f64, kill: &KillFlag) -> SqlResult<bool> {
        let name = normalised(name)?;
        if let Some(held) = self.held().get_mut(&name).filter(|held| held.session == session) {
            held.count += 1;
            return Ok(true);
        }
        let seconds = if timeout_seconds < 0.0 { WAIT_SECONDS_MAX } else { timeout_seconds };
        let limit = WaitLimit { timeout: Duration::from_secs_f64(seconds.min(WAIT_SECONDS_MAX)), kill };
        let (key, mode, duration) = (LockKey::user_lock(&name), LockMode::Exclusive, LockDuration::Explicit);
        match self.locks.acquire(&LockRequest { session, key: &key, mode, duration }, limit) {
            WaitEnd::Granted => {
                self.held().insert(name, Held { session, count: 1 });
                Ok(true)
            }
            WaitEnd::TimedOut => Ok(false),
            WaitEnd::Victim => Err(sql_error!(ER_USER_LOCK_DEADLOCK)),
            WaitEnd::Killed => Err(sql_error!(ER_QUERY_INTERRUPTED)),
        }
    }

    /// RELEASE_LOCK: true released, false held by another, None no such lock. Error 3057.
    pub fn release(&self, session: u32, name: &str) -> SqlResult<Option<bool>> {
        let name = normalised(name)?;
        let mut all = self.held();
        let Some(held) = all.get_mut(&name) else { return Ok(None) };
        if held.session != session {
            return Ok(Some(false));
        }
        held.count -= 1;
        if held.count == 0 {
            all.remove(&name);
            drop(all);
            self.locks.release(session, &LockKey::user_lock(&name), LockDuration::Explicit);
        }
        Ok(Some(true))
    }

    /// RELEASE_ALL_LOCKS, and the end of a session: how many were held, each taking counted.
    pub fn release_all(&self, session: u32) -> u64 {
        let mut released = Vec::new();
        self.held().retain(|name, held| {
            if held.session == session {
                released.push((LockKey::user_lock(name), held.count));
            }
            held.session != session
        });
        for (key, _) in &released {
            self.locks.release(session, key, LockDuration::Explicit);
        }
        released.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// IS_USED_LOCK: the session that holds it. Error 3057.
    pub fn holder(&self, name: &str) -> SqlResult<Option<u32>> {
        let name = normalised(name)?;
        Ok(self.held().get(&name).map(|held| held.session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_locks() -> UserLocks {
        let clock = Arc::new(env::RealClock);
        UserLocks::new(Arc::new(MetadataLocks::new(clock, Arc::default())))
    }

    #[test]
    fn locks_count_and_exclude() {
        let locks = user_locks();
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
        let locks = user_locks();
        let kill = KillFlag::default();
        assert!(locks.take(1, "a", 0.0, &kill).unwrap());
        assert!(locks.take(2, "b", 0.0, &kill).unwrap());
        std::thread::scope(|scope| {
            let first = scope.spawn(|| locks.take(1, "b", 5.0, &KillFlag::default()));
            while locks.locks.rows().len() < 3 {
                std::thread::yield_now();
            }
            assert_eq!(locks.take(2, "a", 5.0, &kill).unwrap_err().number(), 3058);
            locks.release_all(2);
            assert!(first.join().unwrap().unwrap());
        });
    }
}
