//! What one owner has locked of one index, as a map from ranges of keys to holds. Main type: [`HeldRanges`].

use crate::locks::mode::Hold;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// Where a range ends: below a key, or nowhere. Greater is farther.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Below(Arc<[u8]>),
    Nowhere,
}

/// Ranges by their first key. No two of them meet, and those that touch have different holds.
#[derive(Debug, Default)]
pub(super) struct HeldRanges(BTreeMap<Arc<[u8]>, (End, Hold)>);

/// A range as it stands in the map.
type Held<'a> = (&'a Arc<[u8]>, &'a (End, Hold));

/// A range that is taken out or to be put in.
pub(super) type Range = (Arc<[u8]>, End, Hold);

/// Ranges that a change has taken out, and those that it has put in their place. Both are in order.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) old: Vec<Range>,
    pub(super) new: Vec<Range>,
}

impl HeldRanges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the first range out.
    pub(super) fn pop_first(&mut self) -> Option<Range> {
        self.0.pop_first().map(|(from, (end, hold))| (from, end, hold))
    }

    /// First key, key behind the last, hold.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>, Hold)> {
        self.0.iter().map(|(from, (end, hold))| (&**from, end.key(), *hold))
    }

    /// What a key is held with.
    pub(super) fn at(&self, key: &[u8]) -> Option<Hold> {
        let (_, (end, hold)) = self.beginning_up_to(key)?;
        end.is_behind(key).then_some(*hold)
    }

    /// Holds the keys from `from` to below `to` with at least `hold`.
    pub(super) fn raise(&mut self, from: &[u8], to: Option<&[u8]>, hold: Hold) -> Change {
        let to = End::new(to);
        if !to.is_behind(from) {
            return Change::default();
        }
        if let Some((_, (end, held))) = self.beginning_up_to(from)
            && *held >= hold
            && *end >= to
        {
            return Change::default();
        }
        let old = self.take_touched(from, &to);
        let (mut new, mut at) = (Vec::with_capacity(old.len() + 2), End::Below(from.into()));
        for (first, end, held) in old.iter().cloned() {
            let first = End::Below(first);
            // What lies free before it, its own part before, within and behind.
            put(&mut new, &at, first.clone().min(to.clone()), hold);
            put(&mut new, &first, end.clone().min(End::Below(from.into())), held);
            put(
                &mut new,
                &first.clone().max(End::Below(from.into())),
                end.clone().min(to.clone()),
                held.max(hold),
            );
            put(&mut new, &first.max(to.clone()), end.clone(), held);
            at = at.max(end);
        }
        put(&mut new, &at, to, hold);
        self.put_all(&new);
        Change { old, new }
    }

    /// Holds no row of that key any more; the gaps around it stay as they are.
    pub(super) fn leave_row(&mut self, key: &[u8]) -> Change {
        if self.at(key).is_none_or(|hold| hold == Hold::Gap) {
            return Change::default();
        }
        let mut behind = key.to_vec();
        behind.push(0);
        let (at, behind) = (End::Below(key.into()), End::Below(behind.into()));
        let mut new = Vec::with_capacity(4);
        let old = self.take_touched(key, &behind);
        for (first, end, held) in old.iter().cloned() {
            let first = End::Below(first);
            put(&mut new, &first, end.clone().min(at.clone()), held);
            let within = first.clone().max(at.clone());
            put(&mut new, &within, end.clone().min(behind.clone()), Hold::Gap);
            put(&mut new, &first.max(behind.clone()), end, held);
        }
        self.put_all(&new);
        Change { old, new }
    }

    fn put_all(&mut self, ranges: &[Range]) {
        self.0.extend(ranges.iter().cloned().map(|(from, end, hold)| (from, (end, hold))));
    }

    /// Takes out what meets or touches a range, in order.
    fn take_touched(&mut self, from: &[u8], to: &End) -> Vec<Range> {
        let mut firsts = Vec::new();
        if let Some((first, (end, _))) = self.before(from)
            && (end.is_behind(from) || end.key() == Some(from))
        {
            firsts.push(first.clone());
        }
        let upper = to.key().map_or(Bound::Unbounded, Bound::Included);
        firsts
            .extend(self.0.range::<[u8], _>((Bound::Included(from), upper)).map(|(first, _)| first.clone()));
        let take = |first: Arc<[u8]>| self.0.remove(&first).map(|(end, hold)| (first, end, hold));
        firsts.into_iter().filter_map(take).collect()
    }

    fn before(&self, key: &[u8]) -> Option<Held<'_>> {
        self.0.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(key))).next_back()
    }

    /// The last range that begins at or before a key.
    fn beginning_up_to(&self, key: &[u8]) -> Option<Held<'_>> {
        self.0.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back()
    }
}

/// Adds a range behind others, if there is a key in it; one that goes on with the same hold becomes longer.
fn put(ranges: &mut Vec<Range>, from: &End, end: End, hold: Hold) {
    let End::Below(from) = from else { return };
    if !end.is_behind(from) {
        return;
    }
    match ranges.last_mut() {
        Some((_, last, held)) if *held == hold && last.key() == Some(from) => *last = end,
        _ => ranges.push((from.clone(), end, hold)),
    }
}

impl End {
    pub(super) fn new(to: Option<&[u8]>) -> End {
        to.map_or(End::Nowhere, |key| End::Below(key.into()))
    }

    fn key(&self) -> Option<&[u8]> {
        match self {
            End::Below(key) => Some(key),
            End::Nowhere => None,
        }
    }

    pub(super) fn is_behind(&self, key: &[u8]) -> bool {
        self.key().is_none_or(|end| key < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut ranges = HeldRanges::default();
        ranges.raise(b"b", Some(b"d"), Hold::Gap);
        ranges.raise(b"d", Some(b"f"), Hold::Gap);
        ranges.raise(b"f", None, Hold::Shared);
        assert_eq!(ranges.0.len(), 2);
        for (key, hold) in [
            ("a", None),
            ("b", Some(Hold::Gap)),
            ("e", Some(Hold::Gap)),
            ("f", Some(Hold::Shared)),
            ("z", Some(Hold::Shared)),
        ] {
            assert_eq!(ranges.at(key.as_bytes()), hold, "{key}");
        }
        ranges.raise(b"", None, Hold::Exclusive);
        assert_eq!(ranges.0.len(), 1);
        ranges.leave_row(b"k");
        assert_eq!((ranges.at(b"k"), ranges.at(b"k\0")), (Some(Hold::Gap), Some(Hold::Exclusive)));
        assert_eq!(ranges.0.len(), 3);
    }

    #[test]
    fn ranges_are_what_a_hold_for_each_key_is() {
        const HOLDS: [Hold; 3] = [Hold::Gap, Hold::Shared, Hold::Exclusive];
        let mut random = 7u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % limit
        };
        // A key of one byte and the one right behind it stand side by side.
        let key =
            |at: usize| if at.is_multiple_of(2) { vec![(at / 2) as u8] } else { vec![(at / 2) as u8, 0] };
        for _ in 0..500 {
            let mut ranges = HeldRanges::default();
            let mut holds = [None; 64];
            for _ in 0..below(20) {
                let from = below(64) as usize;
                if below(5) == 0 {
                    let from = from & !1;
                    ranges.leave_row(&key(from));
                    holds[from] = holds[from].map(|_| Hold::Gap);
                    continue;
                }
                let to = (below(8) > 0).then(|| from + below(12) as usize);
                let hold = HOLDS[below(3) as usize];
                ranges.raise(&key(from), to.map(key).as_deref(), hold);
                let held = &mut holds[from..to.unwrap_or(64).min(64)];
                held.iter_mut().for_each(|held| *held = Some(held.map_or(hold, |held| held.max(hold))));
            }
            for (at, hold) in holds.iter().enumerate() {
                assert_eq!(ranges.at(&key(at)), *hold, "{at} of {ranges:?}");
            }
            let all: Vec<_> = ranges.iter().collect();
            for pair in all.windows(2) {
                let touch = pair[0].1 == Some(pair[1].0);
                assert!(!(touch && pair[0].2 == pair[1].2), "{ranges:?}");
            }
        }
    }
}
