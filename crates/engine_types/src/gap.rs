//! What a locking read has looked at in a leaf, as the range of keys that it keeps closed to inserts. Main type: [`Gap`].

use crate::{Direction, KeyRange};
use btree::{LeafView, Taken};
use engine_error::EngineResult;
use std::ops::Bound;

/// A range of keys of an index.
#[derive(Debug)]
pub struct Gap {
    /// The first key.
    pub from: Vec<u8>,
    /// The key behind the last; None for the end of the index.
    pub to: Option<Vec<u8>>,
}

impl Gap {
    /// What a walk over `range` has seen of a leaf with the entries that it took: these and the gaps before them, in key order, and
    /// the gap behind the last of the range. Walking up, a gap in which no key of the range can stand, because an entry with the bound's
    /// key is there, is left out.
    pub fn seen(
        range: &KeyRange,
        direction: Direction,
        leaf: &LeafView<'_>,
        taken: Taken,
    ) -> EngineResult<Gap> {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let is_bounded = leaf.stretch(taken, &mut from, &mut to)?;
        let mut gap = Gap { from, to: is_bounded.then_some(to) };
        let Some(last) = leaf.len().checked_sub(1) else { return Ok(gap) };
        if direction == Direction::Backward {
            return Ok(gap);
        }
        let mut key = Vec::new();
        leaf.key_into(0, &mut key)?;
        if matches!(&range.lower, Bound::Included(lower) if *lower == key) {
            // The entry itself stays in: it may be only a mark, in whose place a row can be put.
            gap.from = gap.from.max(key.clone());
        }
        key.clear();
        leaf.key_into(last, &mut key)?;
        if range.ends_at(&key) {
            key.push(0);
            gap.to = Some(gap.to.map_or(key.clone(), |to| to.min(key)));
        }
        Ok(gap)
    }
}
