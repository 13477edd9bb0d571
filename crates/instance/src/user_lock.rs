//! User locks: GET_LOCK() and its family. Main type: [`UserLocks`].
//! Names are compared without regard to case. A session may hold many locks, and one several times. The locks themselves are
//! metadata locks of a namespace of their own, so that a cycle of user locks, metadata locks and row locks is found.
//! MySQL bounds them by the machine's memory; here a session may hold so many, out of what the server has for all statements.
//! Thread rules: one mutex for the counts, never held while waiting; a name's count is changed by its holder only.

use catalog::{LockDuration, LockKey, LockMode, LockRequest, MetadataLocks, WaitEnd, WaitLimit};
use engine::KillFlag;
use errors::{SqlResult, sql_error};
use exec::{Reservation, ServerMemory};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest lock name, characters.
const NAME_CHARACTERS_MAX: usize = 64;
/// Locks that a session may hold.
const LOCKS_OF_SESSION_MAX: usize = 1 << 16;
/// What a lock takes here and among the metadata locks.
const LOCK_BYTES: usize = 1024;
/// More than a year is as good as no limit, and it cannot overflow.
const WAIT_SECONDS_MAX: f64 = 3.2e7;

/// All user locks of the server.
pub struct UserLocks {
    locks: Arc<MetadataLocks>,
    held: Mutex<HeldLocks>,
}

/// The locks that are held, or about to be.
struct HeldLocks {
    by_name: HashMap<String, Held>,
    /// How many each session holds or waits for.
    of_session: HashMap<u32, usize>,
    /// How many all of them hold or wait for.
    count: usize,
    reserved: Reservation,
}

/// Who holds a lock, and how many times it took it.
#[derive(Clone, Copy, Debug)]
struct Held {
    session: u32,
    count: u64,
}

impl HeldLocks {
    /// Makes room for one more lock of the session. Error 3170.
    fn reserve(&mut self, session: u32) -> SqlResult<()> {
        let of_session = self.of_session.get(&session).copied().unwrap_or(0);
        if of_session >= LOCKS_OF_SESSION_MAX {
            let limit = LOCKS_OF_SESSION_MAX * LOCK_BYTES;
            return Err(sql_error!(ER_CAPACITY_EXCEEDED, limit, "user locks", "See RELEASE_LOCK()."));
        }
        if !self.reserved.cover(((self.count + 1) * LOCK_BYTES) as u64) {
            let (limit, advice) = (self.reserved.server().bytes_max(), "See global_connection_memory_limit.");
            return Err(sql_error!(ER_CAPACITY_EXCEEDED, limit, "user locks", advice));
        }
        self.of_session.insert(session, of_session + 1);
        self.count += 1;
        Ok(())
    }

    /// Gives back the room of so many locks of the session.
    fn give_back(&mut self, session: u32, count: usize) {
        if let Some(of_session) = self.of_session.get_mut(&session) {
            *of_session = of_session.saturating_sub(count);
            if *of_session == 0 {
                self.of_session.remove(&session);
            }
        }
        self.count = self.count.saturating_sub(count);
        self.reserved.settle_at((self.count * LOCK_BYTES) as u64);
    }
}

/// The lock's name in the form that is compared. Error 3057 for an empty or long one.
fn normalised(name: &str) -> SqlResult<String> {
    if name.is_empty() || name.chars().count() > NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_USER_LOCK_WRONG_NAME, name));
    }
    Ok(name.to_lowercase())
}

impl UserLocks {
    /// No locks; `memory`: what they are kept in.
    pub fn new(locks: Arc<MetadataLocks>, memory: Arc<ServerMemory>) -> UserLocks {
        let held = HeldLocks {
            by_name: HashMap::new(),
            of_session: HashMap::new(),
            count: 0,
            reserved: Reservation::new(memory),
        };
        UserLocks { locks, held: Mutex::new(held) }
    }

    fn held(&self) -> MutexGuard<'_, HeldLocks> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// GET_LOCK: true taken, false timed out. A negative time-out waits without end.
    /// Errors: 1317 killed, 3057 wrong name, 3058 deadlock, 3170 too many.
    pub fn take(&self, session: u32, name: &str, timeout_seconds: f64, kill: &KillFlag) -> SqlResult<bool> {
        let name = normalised(name)?;
        {
            let mut all = self.held();
            if let Some(held) = all.by_name.get_mut(&name).filter(|held| held.session == session) {
                held.count += 1;
                return Ok(true);
            }
            all.reserve(session)?;
        }
        let seconds = if timeout_seconds < 0.0 { WAIT_SECONDS_MAX } else { timeout_seconds };
        let limit = WaitLimit { timeout: Duration::from_secs_f64(seconds.min(WAIT_SECONDS_MAX)), kill };
        let (key, mode, duration) = (LockKey::user_lock(&name), LockMode::Exclusive, LockDuration::Explicit);
        let end = self.locks.acquire(&LockRequest { session, key: &key, mode, duration }, limit);
        let mut all = self.held();
        match end {
            WaitEnd::Granted => drop(all.by_name.insert(name, Held { session, count: 1 })),
            _ => all.give_back(session, 1),
        }
        match end {
            WaitEnd::Granted => Ok(true),
            WaitEnd::TimedOut => Ok(false),
            WaitEnd::Victim => Err(sql_error!(ER_USER_LOCK_DEADLOCK)),
            WaitEnd::Killed => Err(sql_error!(ER_QUERY_INTERRUPTED)),
        }
    }

    /// RELEASE_LOCK: true released, false held by another, None no such lock. Error 3057.
    pub fn release(&self, session: u32, name: &str) -> SqlResult<Option<bool>> {
        let name = normalised(name)?;
        let mut all = self.held();
        let Some(held) = all.by_name.get_mut(&name) else { return Ok(None) };
        if held.session != session {
            return Ok(Some(false));
        }
        held.count -= 1;
        if held.count == 0 {
            all.by_name.remove(&name);
            all.give_back(session, 1);
            drop(all);
            self.locks.release(session, &LockKey::user_lock(&name), LockDuration::Explicit);
        }
        Ok(Some(true))
    }

    /// RELEASE_ALL_LOCKS, and the end of a session: how many were held, each taking counted.
    pub fn release_all(&self, session: u32) -> u64 {
        let mut released = Vec::new();
        let mut all = self.held();
        if !all.of_session.contains_key(&session) {
            return 0;
        }
        all.by_name.retain(|name, held| {
            if held.session == session {
                released.push((LockKey::user_lock(name), held.count));
            }
            held.session != session
        });
        all.give_back(session, released.len());
        drop(all);
        for (key, _) in &released {
            self.locks.release(session, key, LockDuration::Explicit);
        }
        released.iter().map(|(_, count)| count).sum()
    }

    /// IS_USED_LOCK: the session that holds it. Error 3057.
    pub fn holder(&self, name: &str) -> SqlResult<Option<u32>> {
        let name = normalised(name)?;
        Ok(self.held().by_name.get(&name).map(|held| held.session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_locks_in(memory: Arc<ServerMemory>) -> UserLocks {
        let clock = Arc::new(env::RealClock);
        UserLocks::new(Arc::new(MetadataLocks::new(clock, Arc::default())), memory)
    }

    fn user_locks() -> UserLocks {
        user_locks_in(Arc::new(ServerMemory::new(1 << 30)))
    }

    #[test]
    fn locks_of_a_session_are_bounded() {
        let memory = Arc::new(ServerMemory::new(1 << 30));
        let locks = user_locks_in(memory.clone());
        let kill = KillFlag::default();
        for number in 0..LOCKS_OF_SESSION_MAX {
            assert!(locks.take(1, &number.to_string(), 0.0, &kill).unwrap());
        }
        assert_eq!(locks.take(1, "more", 0.0, &kill).unwrap_err().number(), 3170);
        // One that it holds, and one after a release, may be taken; a vain wait takes no room.
        assert!(locks.take(1, "0", 0.0, &kill).unwrap());
        assert_eq!(locks.release(1, "1").unwrap(), Some(true));
        assert!(locks.take(2, "other", 0.0, &kill).unwrap());
        assert!(!locks.take(1, "other", 0.0, &kill).unwrap());
        assert!(locks.take(1, "more", 0.0, &kill).unwrap());
        assert_eq!(locks.release_all(1), LOCKS_OF_SESSION_MAX as u64 + 1);
        assert_eq!(memory.reserved_bytes(), 0, "what all gave back is nobody's");
        assert!(locks.take(1, "more", 0.0, &kill).unwrap());
        drop(locks);
        assert_eq!(memory.reserved_bytes(), 0);
    }

    #[test]
    fn locks_of_all_sessions_are_the_servers_memory() {
        let locks = user_locks_in(Arc::new(ServerMemory::new(4 << 20)));
        let kill = KillFlag::default();
        let mut all = (0..).map(|number: u32| locks.take(number, &number.to_string(), 0.0, &kill));
        assert_eq!(all.find_map(Result::err).unwrap().number(), 3170);
        for session in 0..5000 {
            locks.release_all(session);
        }
        assert!(locks.take(1, "a", 0.0, &kill).unwrap());
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
