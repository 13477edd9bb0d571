//! The queues of lock requests, without any sleeping. Main type: [`LockTable`].
//! Sharded by the hash of (index, key). Mutex order: a shard, then an owner's state (rule L5 in README.md).

use super::owner::{Owner, WaitEnd};
use super::{LockKey, LockMode};
use crate::hash::{KeyHasher, key_hash};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::ids::IndexId;

/// Shards; a power of two.
const SHARDS: usize = 256;

/// The answer to a lock request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The owner has got it now.
    Granted,
    /// The owner had it before.
    Held,
    /// It is queued: call [`super::LockManager::wait`].
    Queued,
    /// It would have to wait and may not.
    Refused,
}

/// A lock object as the lock views show it.
#[derive(Clone, Debug)]
pub struct LockInfo {
    /// What it is on.
    pub key: LockKey,
    /// Its kind.
    pub mode: LockMode,
    /// Whether it is granted.
    pub granted: bool,
    /// The owner's number.
    pub owner: u64,
    /// The owner's session.
    pub session_id: u64,
    /// The owner's transaction id, 0 if it has none.
    pub transaction: u64,
}

#[derive(Debug)]
pub(super) struct LockTable {
    shards: Box<[Shard]>,
}

#[derive(Debug)]
struct Shard {
    /// Number of queues: lets writers pass without the mutex when it is 0.
    queues: AtomicUsize,
    by_hash: Mutex<HashMap<u64, Vec<Queue>, KeyHasher>>,
}

/// All requests on one key, in order of arrival.
#[derive(Debug)]
struct Queue {
    key: LockKey,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    owner: Arc<Owner>,
    mode: LockMode,
    granted: bool,
}

type Queues = HashMap<u64, Vec<Queue>, KeyHasher>;

impl LockTable {
    pub(super) fn new() -> LockTable {
        let shard = || Shard { queues: AtomicUsize::new(0), by_hash: Mutex::default() };
        LockTable { shards: (0..SHARDS).map(|_| shard()).collect() }
    }

    pub(super) fn request(
        &self,
        owner: &Arc<Owner>,
        index: IndexId,
        key: &[u8],
        mode: LockMode,
        implicit: Option<&Arc<Owner>>,
        may_wait: bool,
    ) -> Request {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        let mut queues = shard.lock();
        let queue = shard.queue(&mut queues, hash, index, key);
        if let Some(writer) = implicit {
            queue.make_explicit(writer);
        }
        let answer = queue.request(owner, mode, may_wait);
        shard.drop_if_empty(&mut queues, hash, index, key);
        answer
    }

    pub(super) fn blocks_write(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        if shard.queues.load(Ordering::Acquire) == 0 {
            return false;
        }
        let queues = shard.lock();
        let Some(queue) = find(&queues, hash, index, key) else { return false };
        let mode = LockMode::EXCLUSIVE_RECORD;
        !queue.holds(owner, mode) && queue.blockers(owner, mode, queue.entries.len()).next().is_some()
    }

    pub(super) fn unlock(&self, owner: &Owner, index: IndexId, key: &[u8], keep: usize) {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        let mut queues = shard.lock();
        if owner.forget_key_after(index, key, keep) {
            if let Some(queue) = find_mut(&mut queues, hash, index, key) {
                queue.entries.retain(|entry| entry.owner.number != owner.number);
                queue.grant_next();
            }
            shard.drop_if_empty(&mut queues, hash, index, key);
        }
    }

    pub(super) fn make_implicit(&self, owner: &Owner, index: IndexId, key: &[u8]) {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        if shard.queues.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut queues = shard.lock();
        let Some(queue) = find_mut(&mut queues, hash, index, key) else { return };
        let alone = queue.entries.iter().all(|entry| entry.owner.number == owner.number && entry.granted);
        if alone && owner.forget_key_after(index, key, 0) {
            queue.entries.clear();
            shard.drop_if_empty(&mut queues, hash, index, key);
        }
    }

    pub(super) fn finish(&self, owner: &Owner) {
        let keys = {
            let mut state = owner.lock_state();
            state.finished = true;
            std::mem::take(&mut state.keys)
        };
        for key in keys {
            self.remove(owner, &key);
        }
    }

    /// Takes a waiting request out of its queue, unless it was granted meanwhile.
    pub(super) fn give_up(&self, owner: &Owner, end: WaitEnd) -> WaitEnd {
        let Some(key) = owner.lock_state().waiting.clone() else { return WaitEnd::Granted };
        let hash = key_hash(key.index, &key.key);
        let shard = self.shard(hash);
        let mut queues = shard.lock();
        let Some(queue) = find_mut(&mut queues, hash, key.index, &key.key) else { return WaitEnd::Granted };
        let Some(at) = queue.waiting_place(owner) else { return WaitEnd::Granted };
        queue.entries.remove(at);
        if !queue.entries.iter().any(|entry| entry.owner.number == owner.number) {
            owner.forget_key_after(key.index, &key.key, 0);
        }
        owner.lock_state().waiting = None;
        queue.grant_next();
        shard.drop_if_empty(&mut queues, hash, key.index, &key.key);
        end
    }

    /// The owners that `owner` waits for, with the number of its wait; None if it does not wait.
    pub(super) fn blockers_of(&self, owner: &Owner) -> Option<(u64, Vec<Arc<Owner>>)> {
        let (key, wait_number) = {
            let state = owner.lock_state();
            (state.waiting.clone()?, state.wait_number)
        };
        let hash = key_hash(key.index, &key.key);
        let queues = self.shard(hash).lock();
        let queue = find(&queues, hash, key.index, &key.key)?;
        let at = queue.waiting_place(owner)?;
        let mode = queue.entries[at].mode;
        let blockers = queue.blockers(owner, mode, at).map(|entry| entry.owner.clone()).collect();
        Some((wait_number, blockers))
    }

    pub(super) fn snapshot(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let queues = shard.lock();
            for queue in queues.values().flatten() {
                all.extend(queue.entries.iter().map(|entry| LockInfo {
                    key: queue.key.clone(),
                    mode: entry.mode,
                    granted: entry.granted,
                    owner: entry.owner.number,
                    session_id: entry.owner.session_id,
                    transaction: entry.owner.transaction.load(Ordering::Relaxed),
                }));
            }
        }
        all
    }

    pub(super) fn object_count(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| shard.lock().values().flatten().map(|q| q.entries.len()).sum::<usize>())
            .sum()
    }

    fn remove(&self, owner: &Owner, key: &LockKey) {
        let hash = key_hash(key.index, &key.key);
        let shard = self.shard(hash);
        let mut queues = shard.lock();
        if let Some(queue) = find_mut(&mut queues, hash, key.index, &key.key) {
            queue.entries.retain(|entry| entry.owner.number != owner.number);
            queue.grant_next();
        }
        shard.drop_if_empty(&mut queues, hash, key.index, &key.key);
    }

    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue<'a>(&self, queues: &'a mut Queues, hash: u64, index: IndexId, key: &[u8]) -> &'a mut Queue {
        let bucket = queues.entry(hash).or_default();
        let at = bucket.iter().position(|queue| queue.is(index, key)).unwrap_or_else(|| {
            self.queues.fetch_add(1, Ordering::AcqRel);
            bucket.push(Queue { key: LockKey { index, key: key.into() }, entries: Vec::with_capacity(1) });
            bucket.len() - 1
        });
        &mut bucket[at]
    }

    fn drop_if_empty(&self, queues: &mut Queues, hash: u64, index: IndexId, key: &[u8]) {
        let Some(bucket) = queues.get_mut(&hash) else { return };
        let before = bucket.len();
        bucket.retain(|queue| !(queue.entries.is_empty() && queue.is(index, key)));
        self.queues.fetch_sub(before - bucket.len(), Ordering::AcqRel);
        if bucket.is_empty() {
            queues.remove(&hash);
        }
    }
}

impl Queue {
    fn is(&self, index: IndexId, key: &[u8]) -> bool {
        self.key.index == index && *self.key.key == *key
    }

    /// Gives a writer's implicit X lock an object, at the front: it was there before every waiter.
    fn make_explicit(&mut self, writer: &Arc<Owner>) {
        if self.holds(writer, LockMode::EXCLUSIVE_RECORD) {
            return;
        }
        let mut state = writer.lock_state();
        if state.finished {
            return;
        }
        state.keys.push(self.key.clone());
        drop(state);
        self.entries
            .insert(0, Entry { owner: writer.clone(), mode: LockMode::EXCLUSIVE_RECORD, granted: true });
    }

    fn request(&mut self, owner: &Arc<Owner>, mode: LockMode, may_wait: bool) -> Request {
        if self.holds(owner, mode) {
            return Request::Held;
        }
        let blocked = self.blockers(owner, mode, self.entries.len()).next().is_some();
        if blocked && !may_wait {
            return Request::Refused;
        }
        let mut state = owner.lock_state();
        if !self.entries.iter().any(|entry| entry.owner.number == owner.number) {
            state.keys.push(self.key.clone());
        }
        if blocked {
            state.waiting = Some(self.key.clone());
            state.wait_number += 1;
            owner.waiter.reset();
        }
        drop(state);
        self.entries.push(Entry { owner: owner.clone(), mode, granted: !blocked });
        if blocked { Request::Queued } else { Request::Granted }
    }

    fn holds(&self, owner: &Owner, mode: LockMode) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.granted && entry.owner.number == owner.number && entry.mode.covers(mode))
    }

    /// Requests before place `before` that a request of `owner` must wait for. First come, first served; but who holds a
    /// lock on the key already passes all who still wait: they came later than its lock.
    fn blockers<'a>(
        &'a self,
        owner: &'a Owner,
        mode: LockMode,
        before: usize,
    ) -> impl Iterator<Item = &'a Entry> {
        let holds = self.entries.iter().any(|entry| entry.granted && entry.owner.number == owner.number);
        self.entries[..before].iter().filter(move |entry| {
            entry.owner.number != owner.number && mode.waits_for(entry.mode) && (entry.granted || !holds)
        })
    }

    fn waiting_place(&self, owner: &Owner) -> Option<usize> {
        self.entries.iter().position(|entry| !entry.granted && entry.owner.number == owner.number)
    }

    /// Grants what nothing stands in the way of any more.
    fn grant_next(&mut self) {
        for at in 0..self.entries.len() {
            let entry = &self.entries[at];
            if entry.granted || self.blockers(&entry.owner, entry.mode, at).next().is_some() {
                continue;
            }
            let entry = &mut self.entries[at];
            entry.granted = true;
            entry.owner.lock_state().waiting = None;
            entry.owner.waiter.end(WaitEnd::Granted);
        }
    }
}

impl Owner {
    /// Removes the key from the owner's list if it stands behind the first `keep`; false if it does not.
    fn forget_key_after(&self, index: IndexId, key: &[u8], keep: usize) -> bool {
        let mut state = self.lock_state();
        let found = state.keys.iter().rposition(|held| held.index == index && *held.key == *key);
        match found.filter(|at| *at >= keep) {
            Some(at) => {
                state.keys.remove(at);
                true
            }
            None => false,
        }
    }
}

fn find<'a>(queues: &'a Queues, hash: u64, index: IndexId, key: &[u8]) -> Option<&'a Queue> {
    queues.get(&hash)?.iter().find(|queue| queue.is(index, key))
}

fn find_mut<'a>(queues: &'a mut Queues, hash: u64, index: IndexId, key: &[u8]) -> Option<&'a mut Queue> {
    queues.get_mut(&hash)?.iter_mut().find(|queue| queue.is(index, key))
}
