//! Metadata locks: what keeps a table's definition still while statements use it. Main type: [`MetadataLocks`].
//!
//! Rules:
//! 1. A statement takes [`LockMode::Read`] or [`LockMode::Write`] on each table it names, to the transaction's end;
//!    DDL takes [`LockMode::Exclusive`]; LOCK TABLES .. READ takes [`LockMode::ReadOnly`].
//! 2. Waiters are served first come, first served; a request that conflicts with an earlier waiter waits behind it,
//!    so readers do not starve DDL. A session that holds the lock already passes the queue (it would wait for itself).
//! 3. A cycle of waiters is error 1213 for the one that closes it.
//! 4. FLUSH TABLES WITH READ LOCK stops new Write and Exclusive grants and waits for those that exist.
//!
//! Thread rules: one mutex a shard, never held while waiting; the wait graph's mutex is taken only by waiters.

use engine::KillFlag;
use env::Clock;
use errors::{SqlResult, sql_error};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stdx::known_hash::BuildKnownHash;

const SHARDS: usize = 64;
/// Entries of a shard that stay when nobody holds them: their tables will be used again.
const IDLE_ENTRIES_MAX: usize = 64;

/// What is locked: a table, or a schema as a whole (empty table name).
/// Cheap to copy; its hash is worked out once, because a kept plan's locks are taken by every execution.
#[derive(Clone, Debug)]
pub struct LockKey(Arc<KeyText>);

#[derive(Debug)]
struct KeyText {
    schema: String,
    table: String,
    hash: u64,
}

impl LockKey {
    /// A table.
    pub fn table(schema: &str, table: &str) -> LockKey {
        let hash = HASH_KEYS.hash_one((schema, table));
        LockKey(Arc::new(KeyText { schema: schema.to_owned(), table: table.to_owned(), hash }))
    }

    /// A schema.
    pub fn schema(schema: &str) -> LockKey {
        LockKey::table(schema, "")
    }

    /// Schema.
    pub fn schema_name(&self) -> &str {
        &self.0.schema
    }

    /// Table; empty for the schema itself.
    pub fn table_name(&self) -> &str {
        &self.0.table
    }
}

/// Names come from clients: without the keys nobody can make many of them meet in one place.
static HASH_KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl PartialEq for LockKey {
    fn eq(&self, other: &LockKey) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.cmp(other) == std::cmp::Ordering::Equal)
    }
}

impl Eq for LockKey {}

impl std::hash::Hash for LockKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for LockKey {
    fn partial_cmp(&self, other: &LockKey) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LockKey {
    fn cmp(&self, other: &LockKey) -> std::cmp::Ordering {
        (self.schema_name(), self.table_name()).cmp(&(other.schema_name(), other.table_name()))
    }
}

type Shard = HashMap<LockKey, Entry, BuildKnownHash>;

/// How a table is locked, from weak to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// The statement reads rows.
    Read,
    /// The statement changes or locks rows.
    Write,
    /// LOCK TABLES .. READ: nobody changes rows.
    ReadOnly,
    /// DDL and LOCK TABLES .. WRITE: nobody else uses the table.
    Exclusive,
}

impl LockMode {
    fn is_compatible(self, other: LockMode) -> bool {
        use LockMode::{Read, ReadOnly, Write};
        matches!(
            (self, other),
            (Read, Read | Write | ReadOnly) | (Write, Read | Write) | (ReadOnly, Read | ReadOnly)
        )
    }

    /// Whether holding `self` allows everything that `other` allows.
    fn covers(self, other: LockMode) -> bool {
        self == other || self == LockMode::Exclusive || other == LockMode::Read
    }

    /// Whether it lets its owner change something.
    fn changes(self) -> bool {
        matches!(self, LockMode::Write | LockMode::Exclusive)
    }

    /// LOCK_TYPE of performance_schema.metadata_locks.
    pub fn name(self) -> &'static str {
        match self {
            LockMode::Read => "SHARED_READ",
            LockMode::Write => "SHARED_WRITE",
            LockMode::ReadOnly => "SHARED_READ_ONLY",
            LockMode::Exclusive => "EXCLUSIVE",
        }
    }
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
    /// False: it waits.
    pub granted: bool,
}

/// All metadata locks of the server.
pub struct MetadataLocks {
    shards: Vec<Mutex<Shard>>,
    /// Sessions that each waiting session waits for.
    waits: Mutex<HashMap<u32, Vec<u32>>>,
    /// Session that holds the global read lock; 0 for none.
    global_reader: AtomicU32,
    global: Mutex<()>,
    global_changed: Condvar,
    clock: Arc<dyn Clock>,
}

/// When a wait ends, on the monotonic clock.
#[derive(Clone, Copy)]
struct Deadline<'a> {
    at: Duration,
    clock: &'a dyn Clock,
}

impl Deadline<'_> {
    /// The time that is left; None when it is over.
    fn left(self) -> Option<Duration> {
        self.at.checked_sub(self.clock.monotonic()).filter(|left| !left.is_zero())
    }
}

#[derive(Debug, Default)]
struct Entry {
    granted: Vec<(u32, LockMode)>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    session: u32,
    mode: LockMode,
    waiter: Arc<Waiter>,
}

/// Where a session sleeps until its request is granted or it is killed.
#[derive(Debug, Default)]
struct Waiter {
    granted: Mutex<bool>,
    changed: Condvar,
}

impl txn::Wake for Waiter {
    fn wake(&self) {
        let _granted = lock(&self.granted);
        self.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MetadataLocks {
    /// No locks.
    pub fn new(clock: Arc<dyn Clock>) -> MetadataLocks {
        MetadataLocks {
            clock,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            waits: Mutex::default(),
            global_reader: AtomicU32::new(0),
            global: Mutex::default(),
            global_changed: Condvar::new(),
        }
    }
}

impl Entry {
    fn blockers(&self, session: u32, mode: LockMode) -> Vec<u32> {
        let holds = self.granted.iter().any(|(owner, _)| *owner == session);
        let mut blockers: Vec<u32> = self
            .granted
            .iter()
            .filter(|(owner, held)| *owner != session && !mode.is_compatible(*held))
            .map(|(owner, _)| *owner)
            .collect();
        if !holds {
            let earlier = self.waiting.iter().take_while(|waiting| waiting.session != session);
            blockers.extend(
                earlier.filter(|waiting| !mode.is_compatible(waiting.mode)).map(|waiting| waiting.session),
            );
        }
        blockers
    }

    fn grant(&mut self, session: u32, mode: LockMode) {
        match self.granted.iter_mut().find(|(owner, _)| *owner == session) {
            Some((_, held)) => *held = stronger(*held, mode),
            None => self.granted.push((session, mode)),
        }
    }

    /// Grants what can be granted now, in order.
    fn serve(&mut self) {
        let mut at = 0;
        while at < self.waiting.len() {
            let (session, mode) = (self.waiting[at].session, self.waiting[at].mode);
            if self.blockers(session, mode).is_empty() {
                self.grant(session, mode);
                if let Some(served) = self.waiting.remove(at) {
                    *lock(&served.waiter.granted) = true;
                    served.waiter.changed.notify_all();
                }
            } else {
                at += 1;
            }
        }
    }
}

fn stronger(held: LockMode, asked: LockMode) -> LockMode {
    match (held.covers(asked), asked.covers(held)) {
        (true, _) => held,
        (_, true) => asked,
        // Write and ReadOnly together are as good as Exclusive.
        _ => LockMode::Exclusive,
    }
}

impl MetadataLocks {
    fn deadline(&self, timeout: Duration) -> Deadline<'_> {
        Deadline { at: self.clock.monotonic().saturating_add(timeout), clock: self.clock.as_ref() }
    }

    fn shard(&self, key: &LockKey) -> MutexGuard<'_, Shard> {
        // The map uses the low bits.
        lock(&self.shards[(key.0.hash >> 32) as usize % SHARDS])
    }

    /// Locks `key` for `session`. Errors: 1205 after `timeout`, 1213 on a cycle, 1317 when killed.
    pub fn acquire(
        &self,
        session: u32,
        key: &LockKey,
        mode: LockMode,
        timeout: Duration,
        kill: &KillFlag,
    ) -> SqlResult<()> {
        let deadline = self.deadline(timeout);
        if mode.changes() {
            self.wait_for_global(session, deadline, kill)?;
        }
        let waiter = {
            let mut shard = self.shard(key);
            let entry = match shard.get_mut(key) {
                Some(entry) => entry,
                None => shard.entry(key.clone()).or_default(),
            };
            if entry.granted.iter().any(|(owner, held)| *owner == session && held.covers(mode)) {
                return Ok(());
            }
            let blockers = entry.blockers(session, mode);
            if blockers.is_empty() {
                entry.grant(session, mode);
                return Ok(());
            }
            if self.closes_cycle(session, blockers) {
                return Err(sql_error!(ER_LOCK_DEADLOCK));
            }
            let waiter = Arc::new(Waiter::default());
            entry.waiting.push_back(Waiting { session, mode, waiter: Arc::clone(&waiter) });
            waiter
        };
        let outcome = env::blocking::region(|| waiter.sleep(deadline, kill));
        lock(&self.waits).remove(&session);
        outcome.or_else(|error| self.give_up(session, key, error))
    }

    /// Leaves the queue; a grant that came at the last moment is kept.
    fn give_up(&self, session: u32, key: &LockKey, error: errors::SqlError) -> SqlResult<()> {
        let mut shard = self.shard(key);
        let Some(entry) = shard.get_mut(key) else { return Err(error) };
        let before = entry.waiting.len();
        entry.waiting.retain(|waiting| waiting.session != session);
        if entry.waiting.len() == before {
            return Ok(());
        }
        entry.serve();
        Err(error)
    }

    /// Gives a lock back.
    pub fn release(&self, session: u32, key: &LockKey) {
        let mut shard = self.shard(key);
        let Some(entry) = shard.get_mut(key) else { return };
        entry.granted.retain(|(owner, _)| *owner != session);
        entry.serve();
        if entry.granted.is_empty() && entry.waiting.is_empty() && shard.len() > IDLE_ENTRIES_MAX {
            shard.remove(key);
        }
        drop(shard);
        if self.global_reader.load(Ordering::SeqCst) != 0 {
            let _global = lock(&self.global);
            self.global_changed.notify_all();
        }
    }

    /// FLUSH TABLES WITH READ LOCK. Errors: 1205, 1317.
    pub fn lock_global(&self, session: u32, timeout: Duration, kill: &KillFlag) -> SqlResult<()> {
        let deadline = self.deadline(timeout);
        loop {
            match self.global_reader.compare_exchange(0, session, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => break,
                Err(owner) if owner == session => return Ok(()),
                Err(_) => self.wait_global(deadline, kill)?,
            }
        }
        while self.has_changers(session) {
            if let Err(error) = self.wait_global(deadline, kill) {
                self.unlock_global(session);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives the global read lock back.
    pub fn unlock_global(&self, session: u32) {
        if self.global_reader.compare_exchange(session, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let _global = lock(&self.global);
            self.global_changed.notify_all();
        }
    }

    fn has_changers(&self, session: u32) -> bool {
        self.shards.iter().any(|shard| {
            let shard = lock(shard);
            shard
                .values()
                .flat_map(|entry| &entry.granted)
                .any(|(owner, mode)| *owner != session && mode.changes())
        })
    }

    fn wait_for_global(&self, session: u32, deadline: Deadline<'_>, kill: &KillFlag) -> SqlResult<()> {
        loop {
            let owner = self.global_reader.load(Ordering::SeqCst);
            if owner == 0 {
                return Ok(());
            }
            if owner == session {
                return Err(sql_error!(ER_CANT_UPDATE_WITH_READLOCK));
            }
            self.wait_global(deadline, kill)?;
        }
    }

    /// Waits for a change of the global read lock's state, at most a tenth of a second: kills are polled here,
    /// since only administrators wait.
    fn wait_global(&self, deadline: Deadline<'_>, kill: &KillFlag) -> SqlResult<()> {
        if kill.is_raised() {
            return Err(sql_error!(ER_QUERY_INTERRUPTED));
        }
        let left = deadline.left().ok_or_else(|| sql_error!(ER_LOCK_WAIT_TIMEOUT))?;
        env::blocking::region(|| {
            let global = lock(&self.global);
            let _woken = self.global_changed.wait_timeout(global, left.min(Duration::from_millis(100)));
        });
        Ok(())
    }

    /// Notes that `session` waits for `blockers`; true if it would wait for itself in the end.
    fn closes_cycle(&self, session: u32, blockers: Vec<u32>) -> bool {
        let mut waits = lock(&self.waits);
        let mut seen = HashSet::new();
        let mut stack = blockers.clone();
        while let Some(next) = stack.pop() {
            if next == session {
                return true;
            }
            if seen.insert(next) {
                stack.extend(waits.get(&next).into_iter().flatten());
            }
        }
        waits.insert(session, blockers);
        false
    }

    /// Every lock and request.
    pub fn rows(&self) -> Vec<LockRow> {
        let mut rows = Vec::new();
        for shard in &self.shards {
            for (key, entry) in lock(shard).iter() {
                let granted = entry.granted.iter().map(|(session, mode)| (*session, *mode, true));
                let waiting = entry.waiting.iter().map(|waiting| (waiting.session, waiting.mode, false));
                rows.extend(granted.chain(waiting).map(|(session, mode, granted)| LockRow {
                    key: key.clone(),
                    session,
                    mode,
                    granted,
                }));
            }
        }
        rows.sort_by(|left, right| (&left.key, left.session).cmp(&(&right.key, right.session)));
        rows
    }
}

impl Waiter {
    fn sleep(self: &Arc<Self>, deadline: Deadline<'_>, kill: &KillFlag) -> SqlResult<()> {
        let as_wake: Arc<dyn txn::Wake> = Arc::clone(self) as Arc<dyn txn::Wake>;
        kill.set_sleeper(Some(Arc::downgrade(&as_wake)));
        let outcome = self.sleep_until(deadline, kill);
        kill.set_sleeper(None);
        outcome
    }

    fn sleep_until(&self, deadline: Deadline<'_>, kill: &KillFlag) -> SqlResult<()> {
        let mut granted = lock(&self.granted);
        loop {
            if *granted {
                return Ok(());
            }
            if kill.is_raised() {
                return Err(sql_error!(ER_QUERY_INTERRUPTED));
            }
            let left = deadline.left().ok_or_else(|| sql_error!(ER_LOCK_WAIT_TIMEOUT))?;
            granted = self.changed.wait_timeout(granted, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks() -> Arc<MetadataLocks> {
        Arc::new(MetadataLocks::new(Arc::new(env::RealClock::new())))
    }

    fn take(
        locks: &MetadataLocks,
        session: u32,
        table: &str,
        mode: LockMode,
        timeout_ms: u64,
    ) -> SqlResult<()> {
        let timeout = Duration::from_millis(timeout_ms);
        locks.acquire(session, &LockKey::table("s", table), mode, timeout, &KillFlag::default())
    }

    #[test]
    fn readers_and_writers_share_and_ddl_waits() {
        let locks = locks();
        take(&locks, 1, "t", LockMode::Read, 0).unwrap();
        take(&locks, 2, "t", LockMode::Write, 0).unwrap();
        assert_eq!(take(&locks, 3, "t", LockMode::Exclusive, 10).unwrap_err().number(), 1205);
        assert_eq!(take(&locks, 3, "t", LockMode::ReadOnly, 10).unwrap_err().number(), 1205);
        take(&locks, 1, "t", LockMode::Write, 0).unwrap();
        locks.release(1, &LockKey::table("s", "t"));
        locks.release(2, &LockKey::table("s", "t"));
        take(&locks, 3, "t", LockMode::Exclusive, 0).unwrap();
        assert_eq!(locks.rows().len(), 1);
    }

    #[test]
    fn a_waiting_ddl_is_served_before_later_readers() {
        let locks = locks();
        take(&locks, 1, "t", LockMode::Read, 0).unwrap();
        std::thread::scope(|scope| {
            let ddl = scope.spawn(|| take(&locks, 2, "t", LockMode::Exclusive, 5_000));
            while locks.rows().len() < 2 {
                std::thread::yield_now();
            }
            assert_eq!(take(&locks, 3, "t", LockMode::Read, 10).unwrap_err().number(), 1205);
            locks.release(1, &LockKey::table("s", "t"));
            ddl.join().unwrap().unwrap();
        });
    }

    #[test]
    fn cycle_is_a_deadlock() {
        let locks = locks();
        take(&locks, 1, "a", LockMode::Read, 0).unwrap();
        take(&locks, 2, "b", LockMode::Read, 0).unwrap();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| take(&locks, 1, "b", LockMode::Exclusive, 5_000));
            while locks.rows().len() < 3 {
                std::thread::yield_now();
            }
            assert_eq!(take(&locks, 2, "a", LockMode::Exclusive, 5_000).unwrap_err().number(), 1213);
            locks.release(2, &LockKey::table("s", "b"));
            first.join().unwrap().unwrap();
        });
    }

    #[test]
    fn global_read_lock_stops_writers_only() {
        let locks = locks();
        locks.lock_global(9, Duration::from_millis(10), &KillFlag::default()).unwrap();
        take(&locks, 1, "t", LockMode::Read, 0).unwrap();
        assert_eq!(take(&locks, 1, "t", LockMode::Write, 10).unwrap_err().number(), 1205);
        assert_eq!(take(&locks, 9, "t", LockMode::Write, 10).unwrap_err().number(), 1223);
        locks.unlock_global(9);
        take(&locks, 1, "t", LockMode::Write, 0).unwrap();
    }
}
