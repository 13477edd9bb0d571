//! The queues of all keys, without any sleeping. Main type: [`LockTable`].
//! Sharded by the hash of (index, key). Mutex order: a shard, then an owner's state (rule L5 in README.md).

use super::mistakes::{Mistake, pause, planted};
use super::owner::{Owner, WaitEnd, is};
use super::queue::Queue;
use super::ranges::{RangeInfo, RangeTable};
use super::{Hold, LockKey, LockMode, Span};
use crate::hash::{KeyHasher, key_hash};
use crate::wait_graph::Blockers;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::ids::IndexId;

/// Shards; a power of two. Tests have few, so that they look at all of them often.
const SHARDS: usize = if cfg!(test) { 4 } else { 256 };

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
    /// The writer whose lock was to be made an object has ended since: look at the entry again.
    WriterEnded,
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

impl LockInfo {
    pub(super) fn new(key: LockKey, mode: LockMode, granted: bool, owner: &Owner) -> LockInfo {
        let transaction = owner.transaction.load(Ordering::Relaxed);
        LockInfo { key, mode, granted, owner: owner.number, session_id: owner.session_id(), transaction }
    }
}

#[derive(Debug)]
pub(super) struct LockTable {
    shards: Box<[Shard]>,
    ranges: RangeTable,
}

#[derive(Debug)]
struct Shard {
    /// Number of queues: lets writers pass without the mutex when it is 0.
    queues: AtomicUsize,
    by_hash: Mutex<HashMap<u64, Vec<Queue>, KeyHasher>>,
}

type Queues = HashMap<u64, Vec<Queue>, KeyHasher>;

impl LockTable {
    pub(super) fn new() -> LockTable {
        let shard = || Shard { queues: AtomicUsize::new(0), by_hash: Mutex::default() };
        LockTable { shards: (0..SHARDS).map(|_| shard()).collect(), ranges: RangeTable::new() }
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
        self.ask(owner, index, key, &mut |queue| match implicit {
            Some(writer) if !may_wait && !queue.note_written(writer) => {
                // An object that nobody waits for would only take room.
                let is_finished = writer.lock_state().finished;
                Some(if is_finished { Request::WriterEnded } else { Request::Refused })
            }
            Some(writer) if !queue.make_explicit(writer) => Some(Request::WriterEnded),
            _ => {
                self.ask_ranges(queue, owner, mode, may_wait).or_else(|| queue.request(owner, mode, may_wait))
            }
        })
    }

    /// Makes what ranges hold of a queue's key objects there, as far as it matters to a request. The answer, if it is known by that. The queue
    /// was made before: of two who ask at once for a key and for a range that has it, one sees the other (rule L10).
    fn ask_ranges(
        &self,
        queue: &mut Queue,
        owner: &Arc<Owner>,
        mode: LockMode,
        may_wait: bool,
    ) -> Option<Request> {
        if self.ranges.has_none(queue.key.index) {
            return None;
        }
        let LockKey { index, key } = queue.key.clone();
        let (own, others) = match planted(Mistake::PassesRanges) {
            true => (None, Vec::new()),
            false => self.ranges.holders(owner, index, &key, Hold::least_that_keeps_out(mode)),
        };
        pause();
        if own.is_some_and(|hold| hold.mode().covers(mode)) {
            return Some(Request::Held);
        }
        for (holder, hold) in
            own.iter().map(|hold| (owner, hold)).chain(others.iter().map(|(other, hold)| (other, hold)))
        {
            if !may_wait && !is(holder, owner) {
                // An object that nobody waits for would only take room.
                if !holder.lock_state().finished {
                    return Some(Request::Refused);
                }
            } else {
                // The row alone: a gap would be one more to wait for to inserts that wait here already.
                queue.make_range_explicit(holder, LockMode { span: Span::Record, ..hold.mode() });
            }
        }
        None
    }

    pub(super) fn lock_range(
        &self,
        owner: &Arc<Owner>,
        index: IndexId,
        range: (&[u8], Option<&[u8]>),
        hold: Hold,
        rows: u64,
    ) -> bool {
        self.ranges.lock(owner, index, range, hold, rows)
    }

    pub(super) fn confirm_row(&self, owner: &Owner, index: IndexId, key: &[u8], mode: LockMode) -> bool {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        // Ordered with the range that was locked before (rule L10).
        if shard.queues.load(Ordering::SeqCst) == 0 {
            return true;
        }
        let queues = shard.lock();
        let comes_late = |queue: &Queue| queue.has_come_before(owner, mode);
        if !planted(Mistake::ConfirmsBlindly) && find(&queues, hash, index, key).is_some_and(comes_late) {
            self.ranges.leave_row(owner, index, key);
            return false;
        }
        true
    }

    #[inline]
    pub(super) fn is_closed(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        self.ranges.others_hold(owner, index, key, Hold::Gap)
    }

    pub(super) fn request_insert(&self, owner: &Arc<Owner>, index: IndexId, key: &[u8]) -> Request {
        if self.ranges.has_none(index) {
            return Request::Granted;
        }
        let (_, holders) = self.ranges.holders(owner, index, key, Some(Hold::Gap));
        if holders.is_empty() {
            return Request::Granted;
        }
        let mut reached = Vec::new();
        let answer = self.ask(owner, index, key, &mut |queue| {
            let explicit: Vec<bool> = holders
                .iter()
                .filter_map(|(holder, _)| queue.make_range_explicit(holder, LockMode::GAP))
                .collect();
            if explicit.contains(&true) {
                reached.extend(queue.waiting_ids());
            }
            // Holders that have finished are about to open their gaps.
            if explicit.is_empty() {
                return Some(Request::Granted);
            }
            queue.request(owner, LockMode::INSERT_INTENTION, true)
        });
        if answer == Request::Queued {
            owner.lock_state().reached = reached;
        }
        answer
    }

    /// Asks the queue of a key, until there is an answer.
    fn ask(
        &self,
        owner: &Arc<Owner>,
        index: IndexId,
        key: &[u8],
        question: &mut dyn FnMut(&mut Queue) -> Option<Request>,
    ) -> Request {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        loop {
            let mut queues = shard.lock();
            let answer = question(shard.queue(&mut queues, hash, index, key));
            shard.drop_if_empty(&mut queues, hash, index, key);
            drop(queues);
            match answer {
                Some(answer) => return answer,
                None => self.forget_abandoned(owner),
            }
        }
    }

    /// A request that was queued but never waited for, because an error came between, goes.
    pub(super) fn forget_abandoned(&self, owner: &Owner) {
        if owner.lock_state().waiting.is_some() {
            self.give_up(owner, None, WaitEnd::Killed);
        }
    }

    pub(super) fn others_lock(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        self.others_ask(owner, index, key) || self.ranges.others_hold(owner, index, key, Hold::Shared)
    }

    /// Whether another owner has or waits for a lock object on a key.
    pub(super) fn others_ask(&self, owner: &Owner, index: IndexId, key: &[u8]) -> bool {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        if shard.queues.load(Ordering::Acquire) == 0 {
            return false;
        }
        let queues = shard.lock();
        find(&queues, hash, index, key).is_some_and(|queue| queue.has_others(owner))
    }

    pub(super) fn unlock(&self, owner: &Owner, index: IndexId, key: &[u8], mark: u64) {
        self.release_if(owner, index, key, |queue| queue.may_unlock(owner, mark));
    }

    pub(super) fn make_implicit(&self, owner: &Owner, index: IndexId, key: &[u8]) {
        self.release_if(owner, index, key, |queue| {
            let others = queue.has_others(owner);
            if others {
                queue.note_written(owner);
            }
            !others
        });
    }

    /// Takes an owner's locks on a key away if that is wanted.
    fn release_if(&self, owner: &Owner, index: IndexId, key: &[u8], wanted: impl Fn(&mut Queue) -> bool) {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        if shard.queues.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut queues = shard.lock();
        let Some(queue) = find_mut(&mut queues, hash, index, key) else { return };
        if wanted(queue)
            && let Some(place) = queue.release(owner)
        {
            owner.lock_state().held.remove(place);
            queue.grant_next();
            shard.drop_if_empty(&mut queues, hash, index, key);
        }
    }

    pub(super) fn finish(&self, owner: &Owner) {
        let (keys, range_indexes) = {
            let mut state = owner.lock_state();
            if state.waiting.is_some() {
                drop(state);
                self.forget_abandoned(owner);
                state = owner.lock_state();
            }
            state.finished = true;
            (state.range_count, state.range_rows) = (0, 0);
            (state.held.take_all(), std::mem::take(&mut state.range_indexes))
        };
        // Before those who wait for them are granted: they look again.
        range_indexes.into_iter().for_each(|index| self.ranges.unlock_all(owner, index));
        for LockKey { index, key } in keys {
            let hash = key_hash(index, &key);
            let shard = self.shard(hash);
            let mut queues = shard.lock();
            if let Some(queue) = find_mut(&mut queues, hash, index, &key) {
                queue.release(owner);
                queue.grant_next();
            }
            shard.drop_if_empty(&mut queues, hash, index, &key);
        }
    }

    /// Takes a waiting request out of its queue and ends its wait; false if the wait is over already, or is not the one with the
    /// given number.
    pub(super) fn give_up(&self, owner: &Owner, wait_number: Option<u64>, end: WaitEnd) -> bool {
        let Some(LockKey { index, key }) = owner.lock_state().waiting.clone() else { return false };
        let hash = key_hash(index, &key);
        let shard = self.shard(hash);
        let mut queues = shard.lock();
        let Some(queue) = find_mut(&mut queues, hash, index, &key) else { return false };
        let given_up = queue.give_up(owner, wait_number, end);
        shard.drop_if_empty(&mut queues, hash, index, &key);
        given_up
    }

    /// Tells whom `owner` waits for. The number of its wait; None if it does not wait.
    pub(super) fn blockers(&self, owner: &Owner, found: &mut Blockers) -> Option<u64> {
        let LockKey { index, key } = owner.lock_state().waiting.clone()?;
        let hash = key_hash(index, &key);
        let queues = self.shard(hash).lock();
        let waits = find(&queues, hash, index, &key)?.blockers(owner, found);
        waits.then(|| owner.lock_state().wait_number)
    }

    /// What `owner` waits for, if it does.
    pub(super) fn request_of(&self, owner: &Owner) -> Option<LockInfo> {
        let LockKey { index, key } = owner.lock_state().waiting.clone()?;
        let hash = key_hash(index, &key);
        let queues = self.shard(hash).lock();
        let queue = find(&queues, hash, index, &key)?;
        let waiter = queue.waiting.iter().find(|waiter| is(&waiter.owner, owner))?;
        Some(LockInfo::new(queue.key.clone(), waiter.mode, false, owner))
    }

    pub(super) fn snapshot(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let queues = shard.lock();
            for queue in queues.values().flatten() {
                let info =
                    |owner: &Owner, mode, granted| LockInfo::new(queue.key.clone(), mode, granted, owner);
                all.extend(queue.granted.iter().map(|grant| info(&grant.owner, grant.mode, true)));
                all.extend(queue.waiting.iter().map(|waiter| info(&waiter.owner, waiter.mode, false)));
            }
        }
        all
    }

    pub(super) fn owners(&self) -> BTreeMap<u64, Arc<Owner>> {
        let mut all = BTreeMap::new();
        let mut add = |owner: &Arc<Owner>| {
            all.entry(owner.number).or_insert_with(|| owner.clone());
        };
        for shard in &self.shards {
            for queue in shard.lock().values().flatten() {
                queue.granted.iter().for_each(|grant| add(&grant.owner));
                queue.waiting.iter().for_each(|waiter| add(&waiter.owner));
            }
        }
        self.ranges.each_owner(&mut add);
        all
    }

    pub(super) fn locked_ranges(&self) -> Vec<RangeInfo> {
        self.ranges.snapshot()
    }

    pub(super) fn object_count(&self) -> usize {
        let objects = |queue: &Queue| queue.granted.len() + queue.waiting.len();
        self.shards.iter().map(|shard| shard.lock().values().flatten().map(objects).sum::<usize>()).sum()
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
            self.queues.fetch_add(1, Ordering::SeqCst);
            bucket.push(Queue::new(index, key));
            bucket.len() - 1
        });
        &mut bucket[at]
    }

    fn drop_if_empty(&self, queues: &mut Queues, hash: u64, index: IndexId, key: &[u8]) {
        let Some(bucket) = queues.get_mut(&hash) else { return };
        let before = bucket.len();
        bucket.retain(|queue| !(queue.is_empty() && queue.is(index, key)));
        self.queues.fetch_sub(before - bucket.len(), Ordering::AcqRel);
        if bucket.is_empty() {
            queues.remove(&hash);
        }
    }
}

fn find<'a>(queues: &'a Queues, hash: u64, index: IndexId, key: &[u8]) -> Option<&'a Queue> {
    queues.get(&hash)?.iter().find(|queue| queue.is(index, key))
}

fn find_mut<'a>(queues: &'a mut Queues, hash: u64, index: IndexId, key: &[u8]) -> Option<&'a mut Queue> {
    queues.get_mut(&hash)?.iter_mut().find(|queue| queue.is(index, key))
}
