//! How many rows and leaves a key range has, from the descents of its two bounds. Ranges within a few leaves are
//! counted exactly; beyond that the fan-out seen on both paths stands for the nodes between them.

use std::ops::Bound;

use buffer::{BufferPool, SharedPage, StorageError};
use page::{CorruptPage, NodeRef};
use stdx::ids::{PageId, PageNumber};

use super::{Cursor, CursorRange, Direction, Taken};
use crate::tree::{Toward, Tree};

/// An estimate of a key range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RangeEstimate {
    /// Entries.
    pub rows: f64,
    /// Leaves that have some of them.
    pub leaves: f64,
    /// Whether the figures are counted, not estimated.
    pub exact: bool,
}

/// Where a bound lies in the nodes of its path, from the root down.
struct Path {
    /// For each level: cell before which the bound lies (inner nodes: which holds it), number of cells.
    steps: Vec<(usize, usize)>,
}

/// A bound of a range, as what is looked for in nodes.
struct End<'k> {
    toward: Toward<'k>,
    key: Option<&'k [u8]>,
    /// Whether the bound lies behind an entry of its key.
    behind: bool,
}

/// Where a bound lies in a node, as in [`Path`], and the child that holds it.
struct Step {
    at: (usize, usize),
    child: Option<PageNumber>,
}

impl<'k> End<'k> {
    fn of(bound: &'k Bound<Vec<u8>>, upper: bool) -> Self {
        let (toward, key, behind) = match bound {
            Bound::Unbounded if upper => (Toward::End, None, true),
            Bound::Unbounded => (Toward::Key(b""), Some(&b""[..]), false),
            Bound::Included(key) => (Toward::Key(key), Some(&key[..]), upper),
            Bound::Excluded(key) => (Toward::Key(key), Some(&key[..]), !upper),
        };
        End { toward, key, behind }
    }

    fn step(&self, node: &NodeRef<'_>) -> Result<Step, CorruptPage> {
        if node.is_leaf() {
            let slot = match self.key {
                None => node.count(),
                Some(key) => {
                    let position = node.search(key)?;
                    usize::from(position.slot) + usize::from(position.found && self.behind)
                }
            };
            return Ok(Step { at: (slot, node.count()), child: None });
        }
        let slot = self.toward.slot(node)?.unwrap_or(0);
        Ok(Step { at: (slot, node.count()), child: Some(node.child(slot)?) })
    }
}

/// Most trees have no more levels.
const USUAL_LEVELS: usize = 4;
/// Level of the nodes above leaves.
const PARENT_LEVEL: u8 = 1;
/// Nodes above leaves that are looked at for an estimate: some ten thousand leaves.
const PARENTS_MAX: usize = 64;
/// Leaves that are visited for an exact count.
const EXACT_LEAVES_MAX: f64 = 8.0;

impl Tree {
    /// Estimates a range. Reads two paths; of a range within a few leaves, those leaves.
    pub fn estimate(&self, pool: &BufferPool, range: &CursorRange) -> Result<RangeEstimate, StorageError> {
        let [lower, upper] = self.paths_to(pool, range)?;
        let estimate = between(&lower, &upper);
        if estimate.exact {
            return Ok(estimate);
        }
        if estimate.leaves <= EXACT_LEAVES_MAX {
            return self.count_leaves(pool, range);
        }
        let counted = self.count_by_parents(pool, range)?;
        Ok(counted.filter(|counted| counted.leaves > EXACT_LEAVES_MAX).unwrap_or(estimate))
    }

    /// Estimates a long range by the nodes above its leaves, if there are not too many of them: their cells are counted,
    /// and one leaf of each stands for the others.
    fn count_by_parents(
        &self,
        pool: &BufferPool,
        range: &CursorRange,
    ) -> Result<Option<RangeEstimate>, StorageError> {
        let start = match &range.lower {
            Bound::Included(key) | Bound::Excluded(key) => &key[..],
            Bound::Unbounded => b"",
        };
        let Some((mut id, mut page)) = self.find_node(pool, start, PARENT_LEVEL)? else { return Ok(None) };
        let (mut leaves, mut sampled_rows, mut sampled) = (0.0, 0.0, 0.0);
        for visited in 0..PARENTS_MAX {
            let corrupt = |error| StorageError::corrupt(id, error);
            let node = NodeRef::new(&page).map_err(corrupt)?;
            let first = if visited == 0 { node.child_slot(start).map_err(corrupt)? } else { 0 };
            let end = match &range.upper {
                Bound::Unbounded => node.count(),
                Bound::Included(key) | Bound::Excluded(key) => {
                    let position = node.search(key).map_err(corrupt)?;
                    usize::from(position.slot) + usize::from(position.found)
                }
            };
            if first < end {
                leaves += (end - first) as f64;
                // In the middle: leaves at the ends of a range may be half empty.
                let leaf_id = self.page_id(node.child(first + (end - first) / 2).map_err(corrupt)?);
                let bytes = pool.shared(leaf_id)?;
                let leaf = NodeRef::new(&bytes).map_err(|error| StorageError::corrupt(leaf_id, error))?;
                sampled_rows += leaf.count() as f64;
                sampled += 1.0;
            }
            let Some(right) = node.right().filter(|_| end == node.count()) else {
                // The range ends and begins within a leaf.
                let leaves = f64::max(leaves - 1.0, 0.0);
                let rows = leaves * sampled_rows / f64::max(sampled, 1.0);
                return Ok(Some(RangeEstimate { rows, leaves, exact: false }));
            };
            id = self.page_id(right);
            let next = pool.shared(id)?;
            self.check_child_level(id, &next, PARENT_LEVEL + 1)?;
            page = next;
        }
        Ok(None)
    }

    fn count_leaves(&self, pool: &BufferPool, range: &CursorRange) -> Result<RangeEstimate, StorageError> {
        let mut cursor = Cursor::new(range.clone(), Direction::Forward);
        let mut estimate = RangeEstimate { rows: 0.0, leaves: 0.0, exact: true };
        // The tree may have grown since the descents: the walk is bounded whatever it has become.
        while estimate.leaves < 2.0 * EXACT_LEAVES_MAX
            && let Some(rows) = cursor.next_leaf(self, pool, |view| (Taken::All, view.len()))?
        {
            estimate.rows += rows as f64;
            estimate.leaves += 1.0;
        }
        estimate.exact = cursor.is_done();
        Ok(estimate)
    }

    /// The ways to both bounds of a range: one way as long as both lead through the same nodes.
    fn paths_to(&self, pool: &BufferPool, range: &CursorRange) -> Result<[Path; 2], StorageError> {
        let ends = [End::of(&range.lower, false), End::of(&range.upper, true)];
        let mut paths = [(); 2].map(|()| Path { steps: Vec::with_capacity(USUAL_LEVELS) });
        let mut id = self.root_id();
        let mut page = pool.shared(id)?;
        loop {
            let corrupt = |error| StorageError::corrupt(id, error);
            let node = NodeRef::new(&page).map_err(corrupt)?;
            let level = node.level();
            let lower = ends[0].step(&node).map_err(corrupt)?;
            let upper = ends[1].step(&node).map_err(corrupt)?;
            paths[0].steps.push(lower.at);
            paths[1].steps.push(upper.at);
            let (Some(one), Some(other)) = (lower.child, upper.child) else { return Ok(paths) };
            if one != other {
                self.go_on(pool, &ends[0], (one, level), &mut paths[0])?;
                self.go_on(pool, &ends[1], (other, level), &mut paths[1])?;
                return Ok(paths);
            }
            let next = self.shared_child(pool, one, level)?;
            (id, page) = next;
        }
    }

    /// The rest of a way, from the child of a latched node of that level.
    fn go_on(
        &self,
        pool: &BufferPool,
        end: &End<'_>,
        (child, level): (PageNumber, u8),
        path: &mut Path,
    ) -> Result<(), StorageError> {
        let (mut id, mut page) = self.shared_child(pool, child, level)?;
        loop {
            let corrupt = |error| StorageError::corrupt(id, error);
            let node = NodeRef::new(&page).map_err(corrupt)?;
            let level = node.level();
            let step = end.step(&node).map_err(corrupt)?;
            path.steps.push(step.at);
            let Some(child) = step.child else { return Ok(()) };
            let next = self.shared_child(pool, child, level)?;
            (id, page) = next;
        }
    }

    fn shared_child<'p>(
        &self,
        pool: &'p BufferPool,
        child: PageNumber,
        level: u8,
    ) -> Result<(PageId, SharedPage<'p>), StorageError> {
        let id = self.page_id(child);
        let page = pool.shared(id)?;
        self.check_child_level(id, &page, level)?;
        Ok((id, page))
    }
}

/// Rows and leaves between two paths.
fn between(lower: &Path, upper: &Path) -> RangeEstimate {
    let depth = lower.steps.len().min(upper.steps.len());
    if depth == 0 || lower.steps.len() != upper.steps.len() {
        return RangeEstimate::default();
    }
    let leaf = depth - 1;
    let Some(fork) = (0..leaf).find(|level| lower.steps[*level].0 != upper.steps[*level].0) else {
        let rows = upper.steps[leaf].0.saturating_sub(lower.steps[leaf].0) as f64;
        return RangeEstimate { rows, leaves: f64::from(u8::from(rows > 0.0)), exact: true };
    };
    // Position of each bound in children of the fork's node, the levels below as fractions of a child.
    let place = |path: &Path| {
        (fork + 1..depth).rev().fold(0.0, |below, level| {
            let (slot, count) = path.steps[level];
            ((slot as f64 + below) / count.max(1) as f64).min(1.0)
        }) + path.steps[fork].0 as f64
    };
    let children = (place(upper) - place(lower)).max(0.0);
    // The last node of a level is often nearly empty: the fuller of the two says more about those between them.
    let fan_out = |level: usize| (lower.steps[level].1.max(upper.steps[level].1) as f64).max(1.0);
    let leaves_per_child: f64 = (fork + 1..leaf).map(fan_out).product();
    RangeEstimate {
        rows: children * leaves_per_child * fan_out(leaf),
        leaves: (children * leaves_per_child).max(1.0),
        exact: false,
    }
}
