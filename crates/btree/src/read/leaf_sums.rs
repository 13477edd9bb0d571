//! [`LeafSums`]: counts the live rows of a whole tree by the counters in its leaves, without visiting entries. Goes from
//! the nodes of level 1 to the header of each leaf: one or two cache lines a leaf.

use std::ops::Bound;

use buffer::{BufferPool, StorageError};
use page::{CorruptPage, Fence, NodeRef};

use super::CursorRange;
use crate::tree::Tree;

/// Leaves read under one latch of their parent, unless a split below it waits.
const LEAVES_PER_STEP: usize = 64;

/// A walk over the leaves' counters. Holds no latch between two steps.
#[derive(Debug, Default)]
pub struct LeafSums {
    /// Where the next step starts.
    start: Vec<u8>,
    done: bool,
}

impl LeafSums {
    /// A walk over a whole tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds up some more leaves; `None` at the end. `counts` decides by a leaf's newest writer whether its counter is
    /// to be taken; the key ranges of the others are added to `rest`, in order and joined where they touch, for the caller to
    /// count by entries.
    pub fn step(
        &mut self,
        tree: &Tree,
        pool: &BufferPool,
        counts: impl Fn(u64) -> bool,
        rest: &mut Vec<CursorRange>,
    ) -> Result<Option<u64>, StorageError> {
        if self.done {
            return Ok(None);
        }
        let Some((id, parent)) = tree.find_node(pool, &self.start, 1)? else {
            // A lone leaf: its entries are counted soon enough.
            self.done = true;
            rest.push(CursorRange { lower: Bound::Included(self.start.clone()), upper: Bound::Unbounded });
            return Ok(Some(0));
        };
        let corrupt = |error: CorruptPage| StorageError::corrupt(id, error);
        let node = NodeRef::new(&parent).map_err(corrupt)?;
        let first = node.child_slot(&self.start).map_err(corrupt)?;
        let mut end = node.count().min(first + LEAVES_PER_STEP);
        let mut sum = 0;
        for slot in first..end {
            // A split below waits. One leaf is counted in any case, so that steps end.
            if slot > first && parent.is_wanted() {
                end = slot;
                break;
            }
            let leaf_id = tree.page_id(node.child(slot).map_err(corrupt)?);
            let page = pool.shared(leaf_id)?;
            let leaf = NodeRef::new(&page).map_err(|error| StorageError::corrupt(leaf_id, error))?;
            let corrupt = |error| StorageError::corrupt(leaf_id, error);
            // A leaf that was merged with its left neighbour since the last step has rows that are counted already.
            let begins_before = slot == first && leaf.lower_fence().map_err(corrupt)? < self.start.as_slice();
            if leaf.is_leaf() && !begins_before && counts(leaf.newest_writer()) {
                sum += u64::from(leaf.live_rows());
            } else {
                let mut range = range_of(&leaf).map_err(corrupt)?;
                if begins_before {
                    range.lower = Bound::Included(self.start.clone());
                }
                add_range(rest, range);
            }
        }
        self.go_on(&node, end).map_err(corrupt)?;
        Ok(Some(sum))
    }

    fn go_on(&mut self, node: &NodeRef<'_>, end: usize) -> Result<(), CorruptPage> {
        self.start.clear();
        if end < node.count() {
            return node.key_into(end, &mut self.start);
        }
        match node.upper_fence()? {
            Fence::Key(key) => self.start.extend_from_slice(key),
            Fence::Infinite => self.done = true,
        }
        Ok(())
    }
}

fn range_of(leaf: &NodeRef<'_>) -> Result<CursorRange, CorruptPage> {
    let upper = match leaf.upper_fence()? {
        Fence::Key(key) => Bound::Excluded(key.to_vec()),
        Fence::Infinite => Bound::Unbounded,
    };
    Ok(CursorRange { lower: Bound::Included(leaf.lower_fence()?.to_vec()), upper })
}

fn add_range(ranges: &mut Vec<CursorRange>, range: CursorRange) {
    if let Some(last) = ranges.last_mut()
        && let (Bound::Excluded(end), Bound::Included(start)) = (&last.upper, &range.lower)
        && end == start
    {
        last.upper = range.upper;
        return;
    }
    ranges.push(range);
}
