//! Cuts a key range into parts of about equal numbers of leaves, for scans by several threads. Works on the
//! separators of level 1, so that parts are balanced however the tree is skewed.

use std::ops::Bound;

use buffer::{BufferPool, StorageError};
use page::{CorruptPage, Fence, NodeRef};
use stdx::ids::PageNumber;

use super::CursorRange;
use crate::tree::Tree;

/// What one node of level 1 gave.
struct Collected {
    right: Option<PageNumber>,
    passed_end: bool,
}

impl Tree {
    /// At most `parts` ranges that together are `range`, in ascending order. One if the tree is small.
    pub fn partition(
        &self,
        pool: &BufferPool,
        range: &CursorRange,
        parts: usize,
    ) -> Result<Vec<CursorRange>, StorageError> {
        let separators = match self.separators(pool, range) {
            Err(error) if self.skips_damage() && error.damage().is_some() => Vec::new(),
            separators => separators?,
        };
        let cuts = parts.saturating_sub(1).min(separators.len());
        let mut ranges = Vec::with_capacity(cuts + 1);
        let mut lower = range.lower.clone();
        for cut in 1..=cuts {
            let key = separators[cut * separators.len() / (cuts + 1)].clone();
            ranges.push(CursorRange { lower, upper: Bound::Excluded(key.clone()) });
            lower = Bound::Included(key);
        }
        ranges.push(CursorRange { lower, upper: range.upper.clone() });
        Ok(ranges)
    }

    /// The lower fences of the leaves within a range, but for the first.
    fn separators(&self, pool: &BufferPool, range: &CursorRange) -> Result<Vec<Vec<u8>>, StorageError> {
        let start: &[u8] = match &range.lower {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => b"",
        };
        let mut separators = Vec::new();
        let Some((mut id, mut page)) = self.find_node(pool, start, 1)? else { return Ok(separators) };
        loop {
            let collected = collect(&page, start, range, &mut separators)
                .map_err(|error| StorageError::corrupt(id, error))?;
            match collected.right {
                Some(right) if !collected.passed_end => id = self.page_id(right),
                _ => return Ok(separators),
            }
            page = pool.shared(id)?;
        }
    }
}

fn collect(
    page: &[u8],
    start: &[u8],
    range: &CursorRange,
    separators: &mut Vec<Vec<u8>>,
) -> Result<Collected, CorruptPage> {
    let node = NodeRef::new(page)?;
    for slot in 0..node.count() {
        let mut key = Vec::new();
        node.key_into(slot, &mut key)?;
        let passed_end = match &range.upper {
            Bound::Unbounded => false,
            Bound::Included(upper) => key > *upper,
            Bound::Excluded(upper) => key >= *upper,
        };
        if passed_end {
            return Ok(Collected { right: None, passed_end });
        }
        if &key[..] > start {
            separators.push(key);
        }
    }
    let passed_end = matches!(node.upper_fence()?, Fence::Infinite);
    Ok(Collected { right: node.right(), passed_end })
}
