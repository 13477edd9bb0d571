//! Ranges of keys of many owners, found by the keys in them. Main type: [`IntervalTree`].
//!
//! A treap: a search tree by first key and owner, and a heap by random priorities, so its depth is logarithmic whatever clients put in.
//! Each node knows the farthest end below it, so a search passes by what ends before the keys that it is for.

use super::held_ranges::End;
use crate::locks::owner::Owner;
use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct IntervalTree {
    root: Link,
    /// Makes priorities that nobody foresees: who knew them could put keys in so that the tree becomes a list.
    random: RandomState,
    /// Nodes ever made.
    made: u64,
}

type Link = Option<Box<Node>>;

#[derive(Debug)]
struct Node {
    from: Arc<[u8]>,
    end: End,
    owner: Arc<Owner>,
    /// The farthest end of this node and those below.
    farthest: End,
    priority: u64,
    left: Link,
    right: Link,
}

/// What nodes are ordered by: first key, number of the owner.
type Place<'a> = (&'a [u8], u64);

impl IntervalTree {
    /// Puts a range in. One of the same owner that begins at the same key ends there from now on.
    pub(super) fn insert(&mut self, from: &Arc<[u8]>, end: &End, owner: &Arc<Owner>) {
        let place = (&**from, owner.number);
        if set_end(&mut self.root, place, end) {
            return;
        }
        self.made += 1;
        let node = Node {
            from: from.clone(),
            end: end.clone(),
            owner: owner.clone(),
            farthest: end.clone(),
            priority: self.random.hash_one(self.made),
            left: None,
            right: None,
        };
        let (before, behind) = split(self.root.take(), place);
        self.root = merge(merge(before, Some(Box::new(node))), behind);
    }

    /// Takes an owner's range out, if there is one that begins at that key.
    pub(super) fn remove(&mut self, from: &[u8], owner: u64) {
        remove(&mut self.root, (from, owner));
    }

    /// Shows the owners of ranges that have a key, until `goes_on` says no. Whether it never did. One owner's ranges do not meet.
    pub(super) fn at(&self, key: &[u8], goes_on: &mut dyn FnMut(&Arc<Owner>) -> bool) -> bool {
        meeting(&self.root, key, &|first| first <= key, goes_on)
    }

    /// As `at`, for ranges that have a key from `from` to below `to` (None: to the end of the index); an owner may be shown more than once.
    pub(super) fn between(
        &self,
        (from, to): (&[u8], Option<&[u8]>),
        goes_on: &mut dyn FnMut(&Arc<Owner>) -> bool,
    ) -> bool {
        let is_empty = to.is_some_and(|to| to <= from);
        is_empty || meeting(&self.root, from, &|first| to.is_none_or(|to| first < to), goes_on)
    }
}

impl Node {
    fn compare(&self, place: Place) -> Ordering {
        (&*self.from, self.owner.number).cmp(&place)
    }

    /// Sees what is below it again.
    fn update(&mut self) {
        let below = [&self.left, &self.right];
        let ends = below.into_iter().flatten().map(|node| &node.farthest);
        self.farthest = ends.chain([&self.end]).max().expect("its own end is one").clone();
    }
}

fn set_end(link: &mut Link, place: Place, end: &End) -> bool {
    let Some(node) = link else { return false };
    let is_found = match node.compare(place) {
        Ordering::Greater => set_end(&mut node.left, place, end),
        Ordering::Less => set_end(&mut node.right, place, end),
        Ordering::Equal => {
            node.end = end.clone();
            true
        }
    };
    if is_found {
        node.update();
    }
    is_found
}

fn remove(link: &mut Link, place: Place) {
    let Some(node) = link else { return };
    match node.compare(place) {
        Ordering::Greater => remove(&mut node.left, place),
        Ordering::Less => remove(&mut node.right, place),
        Ordering::Equal => {
            *link = merge(node.left.take(), node.right.take());
            return;
        }
    }
    node.update();
}

/// The nodes before a place and those behind it.
fn split(link: Link, place: Place) -> (Link, Link) {
    let Some(mut node) = link else { return (None, None) };
    if node.compare(place).is_lt() {
        let (before, behind) = split(node.right.take(), place);
        node.right = before;
        node.update();
        (Some(node), behind)
    } else {
        let (before, behind) = split(node.left.take(), place);
        node.left = behind;
        node.update();
        (before, Some(node))
    }
}

/// One tree of two; the nodes of the first stand before those of the second.
fn merge(first: Link, second: Link) -> Link {
    match (first, second) {
        (Some(mut first), Some(second)) if first.priority >= second.priority => {
            first.right = merge(first.right.take(), Some(second));
            first.update();
            Some(first)
        }
        (first @ Some(_), Some(mut second)) => {
            second.left = merge(first, second.left.take());
            second.update();
            Some(second)
        }
        (first, second) => first.or(second),
    }
}

/// Shows ranges that end behind a key and begin where they may, in order.
fn meeting(
    link: &Link,
    key: &[u8],
    may_begin: &dyn Fn(&[u8]) -> bool,
    goes_on: &mut dyn FnMut(&Arc<Owner>) -> bool,
) -> bool {
    let Some(node) = link.as_ref().filter(|node| node.farthest.is_behind(key)) else { return true };
    meeting(&node.left, key, may_begin, goes_on)
        && (!may_begin(&node.from)
            || (!node.end.is_behind(key) || goes_on(&node.owner))
                && meeting(&node.right, key, may_begin, goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(link: &Link) -> usize {
        link.as_ref().map_or(0, |node| 1 + depth(&node.left).max(depth(&node.right)))
    }

    #[test]
    fn what_meets_a_key_is_found_as_by_a_look_at_all() {
        let mut random = 7u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % limit
        };
        let owners: Vec<Arc<Owner>> = (0..4).map(|number| Arc::new(Owner::new(number, 0))).collect();
        let key = |at: u64| vec![at as u8];
        for _ in 0..200 {
            let mut tree = IntervalTree::default();
            let mut all: Vec<(u64, Option<u64>, u64)> = Vec::new();
            for _ in 0..below(60) {
                let (from, owner) = (below(40), below(4));
                all.retain(|range| (range.0, range.2) != (from, owner));
                if below(3) == 0 {
                    tree.remove(&key(from), owner);
                    continue;
                }
                let to = (below(8) > 0).then(|| from + 1 + below(12));
                tree.insert(&key(from).into(), &End::new(to.map(key).as_deref()), &owners[owner as usize]);
                all.push((from, to, owner));
            }
            for at in 0..40 {
                let to = (below(4) > 0).then(|| at + below(6));
                let mut found = (Vec::new(), Vec::new());
                assert!(tree.at(&key(at), &mut |owner| {
                    found.0.push(owner.number);
                    true
                }));
                let range = (&*key(at), to.map(key));
                tree.between((range.0, range.1.as_deref()), &mut |owner| {
                    found.1.push(owner.number);
                    true
                });
                all.sort_by_key(|range| (range.0, range.2));
                let ends_behind = |range: &&(u64, Option<u64>, u64)| range.1.is_none_or(|end| at < end);
                let meeting = |is_before: &dyn Fn(u64) -> bool| -> Vec<u64> {
                    all.iter()
                        .filter(ends_behind)
                        .filter(|range| is_before(range.0))
                        .map(|range| range.2)
                        .collect()
                };
                assert_eq!(found.0, meeting(&|from| from <= at), "{at} of {all:?}");
                let is_within = |from| to.is_none_or(|to| at < to && from < to);
                assert_eq!(found.1, meeting(&is_within), "{at}..{to:?} of {all:?}");
            }
        }
    }

    #[test]
    fn its_depth_is_logarithmic_for_keys_in_order() {
        let mut tree = IntervalTree::default();
        let owner = Arc::new(Owner::new(1, 1));
        for at in 0..20_000u32 {
            let key = at.to_be_bytes();
            tree.insert(&Arc::from(key), &End::new(Some(&(at + 1).to_be_bytes())), &owner);
        }
        // 33 is expected; a balanced one has 15.
        assert!(depth(&tree.root) < 70, "{}", depth(&tree.root));
        let mut seen = 0;
        tree.at(&7777u32.to_be_bytes(), &mut |_| {
            seen += 1;
            true
        });
        assert_eq!(seen, 1);
        (0..20_000u32).for_each(|at| tree.remove(&at.to_be_bytes(), 1));
        assert!(tree.root.is_none());
    }
}
