//! Ranges of keys that transactions have locked whole. Main type: [`RangeTable`].
//! A range keeps the gaps in it closed to the inserts of others and, if more than that was wanted, its rows locked ([`Hold`]).
//! Nothing of it moves when a page splits, a row goes or is purged. It never waits and nobody waits for it here: who asks for a key in
//! one makes its holders' locks objects in the queue of that key (rules L8 and L10 in README.md). Sharded by index; no other mutex
//! but an owner's state is taken inside a shard's.

mod held_ranges;

use super::mode::Hold;
use super::owner::{Owner, is};
use super::{LockKey, LockMode};
use held_ranges::HeldRanges;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::ids::IndexId;

/// Shards; a power of two.
const SHARDS: usize = 64;

type Ranges = HashMap<IndexId, Vec<OwnerRanges>>;

#[derive(Debug)]
pub(super) struct RangeTable {
    shards: Box<[Shard]>,
}

#[derive(Debug, Default)]
struct Shard {
    /// Owners with ranges, counted for each index: lets others pass without the mutex when it is 0.
    owners: AtomicUsize,
    by_index: Mutex<Ranges>,
}

/// What one owner has locked of one index.
#[derive(Debug)]
struct OwnerRanges {
    owner: Arc<Owner>,
    ranges: HeldRanges,
}

/// A range of keys of an index that an owner has locked, as the lock views show it.
#[derive(Clone, Debug)]
pub struct RangeInfo {
    /// The index and the first key of the range.
    pub from: LockKey,
    /// The key behind the last; None for the end of the index.
    pub to: Option<Box<[u8]>>,
    /// What is locked.
    pub hold: Hold,
    /// The owner's number.
    pub owner: u64,
    /// The owner's session.
    pub session_id: u64,
    /// The owner's transaction id, 0 if it has none.
    pub transaction: u64,
}

impl RangeTable {
    pub(super) fn new() -> RangeTable {
        RangeTable { shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    /// Locks the keys from `from` to below `to` (None: to the end of the index) for an owner; `rows` stand there. False if only the gaps are
    /// closed, because a row there may be another's, or the owner's own by a weaker range: then rows are asked for one by one.
    pub(super) fn lock(
        &self,
        owner: &Arc<Owner>,
        index: IndexId,
        (from, to): (&[u8], Option<&[u8]>),
        hold: Hold,
        rows: u64,
    ) -> bool {
        let shard = self.shard(index);
        let mut all = shard.lock();
        let owners = all.entry(index).or_default();
        let is_free = owners.iter().all(|held| {
            let is_own = is(&held.owner, owner);
            let is_in_the_way = |other: Hold| match is_own {
                true => Hold::Gap < other && other < hold,
                false => hold.excludes(other),
            };
            hold == Hold::Gap || !held.ranges.any(from, to, is_in_the_way)
        });
        let at = owners.iter().position(|held| is(&held.owner, owner)).unwrap_or_else(|| {
            owner.lock_state().range_indexes.push(index);
            // Ordered with the look at the queues that follows (rule L10).
            shard.owners.fetch_add(1, Ordering::SeqCst);
            owners.push(OwnerRanges { owner: owner.clone(), ranges: HeldRanges::default() });
            owners.len() - 1
        });
        let ranges = &mut owners[at].ranges;
        let before = ranges.len();
        ranges.raise(from, to, if is_free { hold } else { Hold::Gap });
        let mut state = owner.lock_state();
        state.range_count = (state.range_count + ranges.len()).saturating_sub(before);
        state.range_rows += if is_free { rows } else { 0 };
        is_free
    }

    /// Takes the row of a key out of an owner's range; the gaps stay closed.
    pub(super) fn leave_row(&self, owner: &Owner, index: IndexId, key: &[u8]) {
        let mut all = self.shard(index).lock();
        let held = all.get_mut(&index).into_iter().flatten().find(|held| is(&held.owner, owner));
        if let Some(held) = held {
            let before = held.ranges.len();
            held.ranges.leave_row(key);
            let mut state = owner.lock_state();
            state.range_count = (state.range_count + held.ranges.len()).saturating_sub(before);
        }
    }

    /// Whether nobody has ranges of an index. Ordered with the queue of a key that was made before (rule L10).
    #[inline]
    pub(super) fn has_none(&self, index: IndexId) -> bool {
        self.shard(index).owners.load(Ordering::SeqCst) == 0
    }

    /// The owners that have locked a key by a range and are wanted by what they hold it with.
    pub(super) fn holders(
        &self,
        index: IndexId,
        key: &[u8],
        wanted: &dyn Fn(&Arc<Owner>, Hold) -> bool,
    ) -> Vec<(Arc<Owner>, Hold)> {
        if self.has_none(index) {
            return Vec::new();
        }
        let all = self.shard(index).lock();
        let owners = all.get(&index).map_or(&[][..], Vec::as_slice);
        let holds = owners.iter().filter_map(|held| Some((&held.owner, held.ranges.at(key)?)));
        let holders = holds.filter(|(owner, hold)| wanted(owner, *hold));
        holders.map(|(owner, hold)| (owner.clone(), hold)).collect()
    }

    /// Gives back all that an owner has locked of an index.
    pub(super) fn unlock_all(&self, owner: &Owner, index: IndexId) {
        let shard = self.shard(index);
        let mut all = shard.lock();
        let Some(owners) = all.get_mut(&index) else { return };
        if let Some(at) = owners.iter().position(|held| is(&held.owner, owner)) {
            owners.swap_remove(at);
            shard.owners.fetch_sub(1, Ordering::AcqRel);
        }
        if owners.is_empty() {
            all.remove(&index);
        }
    }

    /// Shows all who have ranges, once for each index.
    pub(super) fn each_owner(&self, show: &mut dyn FnMut(&Arc<Owner>)) {
        for shard in &self.shards {
            shard.lock().values().flatten().for_each(|held| show(&held.owner));
        }
    }

    /// All ranges.
    pub(super) fn snapshot(&self) -> Vec<RangeInfo> {
        let mut all = Vec::new();
        for shard in &self.shards {
            for (index, owners) in shard.lock().iter() {
                for OwnerRanges { owner, ranges } in owners {
                    all.extend(ranges.iter().map(|(from, to, hold)| RangeInfo {
                        from: LockKey { index: *index, key: from.into() },
                        to: to.map(Into::into),
                        hold,
                        owner: owner.number,
                        session_id: owner.session_id(),
                        transaction: owner.transaction.load(Ordering::Relaxed),
                    }));
                }
            }
        }
        all
    }

    #[inline]
    fn shard(&self, index: IndexId) -> &Shard {
        &self.shards[index.0 as usize % SHARDS]
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Ranges> {
        self.by_index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hold {
    /// Whether a lock on a key that it holds excludes a request of another for the key.
    pub(super) fn keeps_out(self, mode: LockMode) -> bool {
        mode.waits_for(self.mode())
    }

    /// Whether rows of one range may be in another's.
    fn excludes(self, other: Hold) -> bool {
        self.min(other) > Hold::Gap && self.max(other) == Hold::Exclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owners_ranges_end_with_it() {
        let table = RangeTable::new();
        let (holder, other) = (Arc::new(Owner::new(1, 1)), Arc::new(Owner::new(2, 2)));
        assert!(table.lock(&holder, IndexId(3), (b"a", Some(b"c")), Hold::Gap, 0));
        let others = |index| table.holders(IndexId(index), b"b", &|owner, _| !is(owner, &other)).len();
        assert_eq!((others(3), others(4)), (1, 0));
        assert_eq!(holder.lock_count(), 1);
        table.unlock_all(&holder, IndexId(3));
        assert_eq!(others(3), 0);
        assert!(table.shards.iter().all(|shard| shard.owners.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn rows_that_may_be_anothers_are_not_locked_by_range() {
        let table = RangeTable::new();
        let (one, other) = (Arc::new(Owner::new(1, 1)), Arc::new(Owner::new(2, 2)));
        let index = IndexId(3);
        assert!(table.lock(&one, index, (b"a", Some(b"c")), Hold::Shared, 2));
        assert!(table.lock(&other, index, (b"b", Some(b"d")), Hold::Shared, 2));
        assert!(!table.lock(&other, index, (b"b", Some(b"e")), Hold::Exclusive, 3), "one reads b");
        assert!(!table.lock(&other, index, (b"c", Some(b"e")), Hold::Exclusive, 2), "it reads c itself");
        assert!(table.lock(&other, index, (b"d", Some(b"e")), Hold::Exclusive, 1));
        assert!(table.lock(&one, index, (b"d", None), Hold::Gap, 0), "gaps exclude nobody");
        assert!(!table.lock(&one, index, (b"d", None), Hold::Shared, 9));
        assert_eq!((one.lock_state().range_rows, other.lock_state().range_rows), (2, 3));
    }
}
