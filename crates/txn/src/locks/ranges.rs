//! Ranges of keys that transactions have locked whole. Main type: [`RangeTable`].
//! A range keeps the gaps in it closed to the inserts of others and, if more than that was wanted, its rows locked ([`Hold`]).
//! Nothing of it moves when a page splits, a row goes or is purged. It never waits and nobody waits for it here: who asks for a key in
//! one makes its holders' locks objects in the queue of that key (rules L8 and L10 in README.md). Sharded by index; no other mutex
//! but an owner's state is taken inside a shard's.

mod held_ranges;
mod interval_tree;

use super::mode::Hold;
use super::owner::{Owner, is};
use super::{LockKey, LockMode};
use held_ranges::{Change, HeldRanges, Range};
use interval_tree::IntervalTree;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::ids::IndexId;

/// Shards; a power of two.
const SHARDS: usize = 64;

/// Ranges that are given back under one hold of a shard's mutex: others ask for locks under latches of leaves.
const UNLOCKED_AT_ONCE: usize = if cfg!(test) { 2 } else { 256 };

type Ranges = HashMap<IndexId, IndexRanges>;

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

/// What is locked of one index.
#[derive(Debug, Default)]
struct IndexRanges {
    /// By the owner's number.
    owners: BTreeMap<u64, OwnerRanges>,
    /// The same ranges for who asks for a key, by what they hold.
    by_key: [IntervalTree; Hold::COUNT],
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
        let ranges = all.entry(index).or_default();
        let is_free = !ranges.is_in_the_way(owner, (from, to), hold);
        let held = ranges.owners.entry(owner.number).or_insert_with(|| {
            owner.lock_state().range_indexes.push(index);
            // Ordered with the look at the queues that follows (rule L10).
            shard.owners.fetch_add(1, Ordering::SeqCst);
            OwnerRanges { owner: owner.clone(), ranges: HeldRanges::default() }
        });
        let change = held.ranges.raise(from, to, if is_free { hold } else { Hold::Gap });
        ranges.follow(owner, &change);
        let mut state = owner.lock_state();
        state.range_count = (state.range_count + change.new.len()).saturating_sub(change.old.len());
        state.range_rows += if is_free { rows } else { 0 };
        is_free
    }

    /// Takes the row of a key out of an owner's range; the gaps stay closed.
    pub(super) fn leave_row(&self, owner: &Owner, index: IndexId, key: &[u8]) {
        let mut all = self.shard(index).lock();
        let Some(ranges) = all.get_mut(&index) else { return };
        let Some(held) = ranges.owners.get_mut(&owner.number) else { return };
        let change = held.ranges.leave_row(key);
        let owner = held.owner.clone();
        ranges.follow(&owner, &change);
        let mut state = owner.lock_state();
        state.range_count = (state.range_count + change.new.len()).saturating_sub(change.old.len());
    }

    /// Whether nobody has ranges of an index. Ordered with the queue of a key that was made before (rule L10).
    #[inline]
    pub(super) fn has_none(&self, index: IndexId) -> bool {
        self.shard(index).owners.load(Ordering::SeqCst) == 0
    }

    /// What an owner itself holds the row of a key with by a range, and all others who hold the key with at least `least`.
    pub(super) fn holders(
        &self,
        owner: &Owner,
        index: IndexId,
        key: &[u8],
        least: Option<Hold>,
    ) -> (Option<Hold>, Vec<(Arc<Owner>, Hold)>) {
        let mut others = Vec::new();
        if self.has_none(index) {
            return (None, others);
        }
        let all = self.shard(index).lock();
        let Some(ranges) = all.get(&index) else { return (None, others) };
        let own = ranges.owners.get(&owner.number).and_then(|held| held.ranges.at(key));
        if let Some(least) = least {
            ranges.others_at(owner, key, least, &mut |other, hold| {
                others.push((other.clone(), hold));
                true
            });
        }
        (own.filter(|hold| *hold > Hold::Gap), others)
    }

    /// Whether another owner holds a key by a range with at least `least`.
    pub(super) fn others_hold(&self, owner: &Owner, index: IndexId, key: &[u8], least: Hold) -> bool {
        if self.has_none(index) {
            return false;
        }
        let all = self.shard(index).lock();
        all.get(&index).is_some_and(|ranges| !ranges.others_at(owner, key, least, &mut |_, _| false))
    }

    /// Gives back all that an owner has locked of an index. It has finished: nothing that is left meanwhile is in anybody's way.
    pub(super) fn unlock_all(&self, owner: &Owner, index: IndexId) {
        while self.unlock_some(owner, index) {}
    }

    /// Gives back as many ranges as others may wait for. Whether some are left.
    fn unlock_some(&self, owner: &Owner, index: IndexId) -> bool {
        let shard = self.shard(index);
        let mut all = shard.lock();
        let Some(ranges) = all.get_mut(&index) else { return false };
        if ranges.owners.len() > 1 {
            let Some(held) = ranges.owners.get_mut(&owner.number) else { return false };
            for _ in 0..UNLOCKED_AT_ONCE {
                let Some((from, _, hold)) = held.ranges.pop_first() else { break };
                ranges.by_key[hold as usize].remove(&from, owner.number);
            }
            if !held.ranges.is_empty() {
                return true;
            }
        }
        if ranges.owners.remove(&owner.number).is_none() {
            return false;
        }
        shard.owners.fetch_sub(1, Ordering::AcqRel);
        let last = if ranges.owners.is_empty() { all.remove(&index) } else { None };
        drop(all);
        // However much it is, nobody waits for it.
        drop(last);
        false
    }

    /// Shows all who have ranges, once for each index.
    pub(super) fn each_owner(&self, show: &mut dyn FnMut(&Arc<Owner>)) {
        for shard in &self.shards {
            let all = shard.lock();
            all.values().flat_map(|ranges| ranges.owners.values()).for_each(|held| show(&held.owner));
        }
    }

    /// All ranges.
    pub(super) fn snapshot(&self) -> Vec<RangeInfo> {
        let mut all = Vec::new();
        for shard in &self.shards {
            for (index, ranges) in shard.lock().iter() {
                for OwnerRanges { owner, ranges } in ranges.owners.values() {
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

impl IndexRanges {
    /// Whether rows of a range may be another's, or the owner's own by a weaker range.
    fn is_in_the_way(&self, owner: &Owner, range: (&[u8], Option<&[u8]>), hold: Hold) -> bool {
        hold > Hold::Gap
            && Hold::ALL.into_iter().filter(|other| *other > Hold::Gap).any(|other| {
                let excludes = |holder: &Arc<Owner>| match is(holder, owner) {
                    true => other < hold,
                    false => hold.excludes(other),
                };
                let tree = &self.by_key[other as usize];
                (other < hold || hold.excludes(other))
                    && !tree.between(range, &mut |holder| !excludes(holder))
            })
    }

    /// Shows who else holds a key with at least `least`, until `goes_on` says no. Whether it never did.
    fn others_at(
        &self,
        owner: &Owner,
        key: &[u8],
        least: Hold,
        goes_on: &mut dyn FnMut(&Arc<Owner>, Hold) -> bool,
    ) -> bool {
        let mut trees = Hold::ALL.into_iter().filter(|hold| *hold >= least);
        trees.all(|hold| {
            self.by_key[hold as usize].at(key, &mut |holder| is(holder, owner) || goes_on(holder, hold))
        })
    }

    /// Has for who asks for a key what an owner's ranges became.
    fn follow(&mut self, owner: &Arc<Owner>, change: &Change) {
        let stays = |(from, _, hold): &Range| {
            change.new.binary_search_by(|new| new.0.cmp(from)).is_ok_and(|at| change.new[at].2 == *hold)
        };
        for (from, _, hold) in change.old.iter().filter(|old| !stays(old)) {
            self.by_key[*hold as usize].remove(from, owner.number);
        }
        for (from, end, hold) in &change.new {
            self.by_key[*hold as usize].insert(from, end, owner);
        }
    }
}

impl Hold {
    /// How many there are.
    const COUNT: usize = 3;
    /// Each, the least first.
    const ALL: [Hold; Hold::COUNT] = [Hold::Gap, Hold::Shared, Hold::Exclusive];

    /// The least that excludes a request of another for the key; all above it do so too.
    pub(super) fn least_that_keeps_out(mode: LockMode) -> Option<Hold> {
        Hold::ALL.into_iter().find(|hold| mode.waits_for(hold.mode()))
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
        let others = |index| table.holders(&other, IndexId(index), b"b", Some(Hold::Gap)).1.len();
        assert_eq!((others(3), others(4)), (1, 0));
        assert!(table.others_hold(&other, IndexId(3), b"b", Hold::Gap));
        assert!(!table.others_hold(&other, IndexId(3), b"b", Hold::Shared));
        assert!(!table.others_hold(&holder, IndexId(3), b"b", Hold::Gap), "its own");
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

    #[test]
    fn who_asks_for_a_key_finds_what_each_owner_has() {
        let mut random = 11u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % limit
        };
        let (index, outsider) = (IndexId(3), Owner::new(9, 9));
        for _ in 0..200 {
            let table = RangeTable::new();
            let owners: Vec<_> = (0..4).map(|number| Arc::new(Owner::new(number, number))).collect();
            for _ in 0..below(40) {
                let (owner, from) = (&owners[below(4) as usize], below(30) as u8);
                let to = (below(8) > 0).then(|| [from + below(9) as u8]);
                match below(8) {
                    0 => table.unlock_all(owner, index),
                    1 | 2 => table.leave_row(owner, index, &[from]),
                    _ => {
                        let range = (&[from][..], to.as_ref().map(|to| &to[..]));
                        table.lock(owner, index, range, Hold::ALL[below(3) as usize], 1);
                    }
                }
            }
            for key in (0..40).flat_map(|key| [vec![key], vec![key, 0]]) {
                let (own, mut found) = table.holders(&outsider, index, &key, Some(Hold::Gap));
                found.sort_by_key(|(owner, _)| owner.number);
                let found: Vec<_> = found.iter().map(|(owner, hold)| (owner.number, *hold)).collect();
                let shard = table.shard(index).lock();
                let held = shard.get(&index).into_iter().flat_map(|ranges| ranges.owners.values());
                let held = held.filter_map(|held| Some((held.owner.number, held.ranges.at(&key)?)));
                assert_eq!((own, found), (None, held.collect()), "{key:?} of {shard:?}");
            }
        }
    }
}
