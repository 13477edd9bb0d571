//! Gaps between keys that transactions keep closed to the inserts of others. Main type: [`GapTable`].
//! A closed gap is a range of keys of one index, and nothing of it moves when a page splits, a row goes or is purged. It never waits
//! and nobody waits for it here: an insert that meets one makes its holders' gap locks objects in the queue of the new key (rule L8
//! in README.md). Sharded by index; no other mutex but an owner's state is taken inside a shard's.

use super::owner::Owner;
use super::{LockInfo, LockKey, LockMode};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::ids::IndexId;

/// Shards; a power of two.
const SHARDS: usize = 64;

type Gaps = HashMap<IndexId, Vec<OwnerGaps>>;
type Key = Box<[u8]>;

#[derive(Debug)]
pub(super) struct GapTable {
    shards: Box<[Shard]>,
}

#[derive(Debug, Default)]
struct Shard {
    /// Owners with gaps, counted for each index: lets inserts pass without the mutex when it is 0.
    owners: AtomicUsize,
    by_index: Mutex<Gaps>,
}

/// What one owner keeps closed in one index.
#[derive(Debug)]
struct OwnerGaps {
    owner: Arc<Owner>,
    ranges: ClosedRanges,
}

/// Ranges of keys, by their first key, with the key behind their last; None for all that follow. No two of them meet: what
/// touches is joined, the key between two gaps included, which its owner has locked or which inserts find there.
#[derive(Debug, Default)]
struct ClosedRanges(BTreeMap<Key, Option<Key>>);

impl GapTable {
    pub(super) fn new() -> GapTable {
        GapTable { shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    /// Closes the keys from `from` to below `to` (None: to the end of the index) for an owner.
    pub(super) fn close(&self, owner: &Arc<Owner>, index: IndexId, from: &[u8], to: Option<&[u8]>) {
        let shard = self.shard(index);
        let mut gaps = shard.lock();
        let owners = gaps.entry(index).or_default();
        let at = owners.iter().position(|gaps| is(&gaps.owner, owner)).unwrap_or_else(|| {
            owner.lock_state().gap_indexes.push(index);
            shard.owners.fetch_add(1, Ordering::AcqRel);
            owners.push(OwnerGaps { owner: owner.clone(), ranges: ClosedRanges::default() });
            owners.len() - 1
        });
        let ranges = &mut owners[at].ranges;
        let before = ranges.0.len();
        ranges.add(from, to);
        let mut state = owner.lock_state();
        state.gap_count = (state.gap_count + ranges.0.len()).saturating_sub(before);
    }

    /// The owners but one that keep a key closed.
    pub(super) fn holders(&self, index: IndexId, key: &[u8], but: &Owner) -> Vec<Arc<Owner>> {
        let shard = self.shard(index);
        if shard.owners.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let gaps = shard.lock();
        let owners = gaps.get(&index).map_or(&[][..], Vec::as_slice);
        let holders = owners.iter().filter(|gaps| !is(&gaps.owner, but) && gaps.ranges.contain(key));
        holders.map(|gaps| gaps.owner.clone()).collect()
    }

    /// Opens what an owner keeps closed in an index.
    pub(super) fn open(&self, owner: &Owner, index: IndexId) {
        let shard = self.shard(index);
        let mut gaps = shard.lock();
        let Some(owners) = gaps.get_mut(&index) else { return };
        if let Some(at) = owners.iter().position(|gaps| is(&gaps.owner, owner)) {
            owners.swap_remove(at);
            shard.owners.fetch_sub(1, Ordering::AcqRel);
        }
        if owners.is_empty() {
            gaps.remove(&index);
        }
    }

    /// All closed gaps, each with the key behind its last.
    pub(super) fn snapshot(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        for shard in &self.shards {
            for (index, owners) in shard.lock().iter() {
                for OwnerGaps { owner, ranges } in owners {
                    let info = |to: &Option<Key>| {
                        let key = LockKey { index: *index, key: to.as_deref().unwrap_or_default().into() };
                        LockInfo::new(key, LockMode::GAP, true, owner)
                    };
                    all.extend(ranges.0.values().map(info));
                }
            }
        }
        all
    }

    fn shard(&self, index: IndexId) -> &Shard {
        &self.shards[index.0 as usize % SHARDS]
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Gaps> {
        self.by_index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClosedRanges {
    fn contain(&self, key: &[u8]) -> bool {
        self.beginning_up_to(key).is_some_and(|(_, to)| to.as_ref().is_none_or(|to| key < to))
    }

    /// The last range that begins at or before a key.
    fn beginning_up_to(&self, key: &[u8]) -> Option<(&Key, &Option<Key>)> {
        self.0.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back()
    }

    fn add(&mut self, from: &[u8], to: Option<&[u8]>) {
        if to.is_some_and(|to| to <= from) {
            return;
        }
        let (mut from, mut to): (Key, Option<Key>) = (from.into(), to.map(Into::into));
        if let Some((first, end)) = self.beginning_up_to(&from)
            && reaches(end.as_deref(), &from)
        {
            let is_in = end.as_ref().is_none_or(|end| to.as_ref().is_some_and(|to| to <= end));
            if is_in {
                return;
            }
            from = first.clone();
        }
        while let Some((next, _)) =
            self.0.range::<[u8], _>((Bound::Included(&*from), Bound::Unbounded)).next()
            && reaches(to.as_deref(), next)
        {
            let next = next.clone();
            let end = self.0.remove(&next).unwrap_or_default();
            to = to.zip(end).map(|(one, other)| one.max(other));
        }
        self.0.insert(from, to);
    }
}

/// Whether a range that ends below `end` touches one that begins at `key`. No key lies between k and k with a zero byte, but for k.
fn reaches(end: Option<&[u8]>, key: &[u8]) -> bool {
    end.is_none_or(|end| end >= key || key.strip_prefix(end) == Some(&[0]))
}

fn is(one: &Arc<Owner>, other: &Owner) -> bool {
    std::ptr::eq(Arc::as_ptr(one), other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut ranges = ClosedRanges::default();
        ranges.add(b"b\0", Some(b"d"));
        ranges.add(b"f", Some(b"h"));
        for (key, is_closed) in
            [("b", false), ("b\0", true), ("c", true), ("d", false), ("e", false), ("f", true), ("h", false)]
        {
            assert_eq!(ranges.contain(key.as_bytes()), is_closed, "{key}");
        }
        ranges.add(b"d\0", Some(b"e"));
        assert!(ranges.contain(b"d") && !ranges.contain(b"e"));
        assert_eq!(ranges.0.len(), 2);
        ranges.add(b"a", None);
        assert_eq!(ranges.0.len(), 1);
        assert!(ranges.contain(b"a") && ranges.contain(b"zz") && !ranges.contain(b""));
    }

    #[test]
    fn ranges_are_what_a_set_of_keys_is() {
        let mut random = 7u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % limit
        };
        for _ in 0..500 {
            let mut ranges = ClosedRanges::default();
            let mut keys = [false; 64];
            for _ in 0..below(20) {
                let from = below(64) as usize;
                let to = (below(8) > 0).then(|| from + below(12) as usize);
                ranges.add(&[from as u8], to.map(|to| [to as u8]).as_ref().map(|to| &to[..]));
                keys[from..to.unwrap_or(64).min(64)].fill(true);
            }
            for (key, is_closed) in keys.iter().enumerate() {
                assert_eq!(ranges.contain(&[key as u8]), *is_closed, "{key} of {ranges:?}");
            }
        }
    }

    #[test]
    fn an_owners_gaps_end_with_it() {
        let table = GapTable::new();
        let (holder, other) = (Arc::new(Owner::new(1, 1)), Arc::new(Owner::new(2, 2)));
        table.close(&holder, IndexId(3), b"a", Some(b"c"));
        assert_eq!(table.holders(IndexId(3), b"b", &other).len(), 1);
        assert_eq!(table.holders(IndexId(3), b"b", &holder).len(), 0);
        assert_eq!(table.holders(IndexId(4), b"b", &other).len(), 0);
        assert_eq!(holder.lock_count(), 1);
        table.open(&holder, IndexId(3));
        assert_eq!(table.holders(IndexId(3), b"b", &other).len(), 0);
        assert!(table.shards.iter().all(|shard| shard.owners.load(Ordering::Relaxed) == 0));
    }
}
