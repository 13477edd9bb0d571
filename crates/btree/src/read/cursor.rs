//! [`Cursor`]: walks a key range, forward or backward, one leaf at a time. It holds no latch between two calls
//! and goes on by key, so that splits, merges and changes in between do no harm; where the next leaf was
//! is remembered and tried first.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use buffer::{BufferPool, SharedPage, StorageError};
use page::{CorruptPage, Fence, NodeRef};
use stdx::ids::{PageId, PageNumber};

use super::past_damage::{Met, find_damage};
use crate::tree::{Toward, Tree};

/// Direction of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}

/// A key range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorRange {
    /// Lower bound.
    pub lower: Bound<Vec<u8>>,
    /// Upper bound.
    pub upper: Bound<Vec<u8>>,
}

/// How much of a leaf the visitor took, in walking order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// All entries shown.
    All,
    /// The first so many entries shown; the walk goes on behind them. If these are all, it leaves the leaf, but for
    /// [`Cursor::showing_empty`]: then the rest of the leaf is shown once more.
    First(usize),
}

/// A walk over a key range.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// What is left of the range: shrinks as the walk goes on.
    rest: CursorRange,
    direction: Direction,
    /// Where the next leaf was seen, 0 for unknown.
    finger: PageNumber,
    done: bool,
    /// Leaves without entries in the range are shown too.
    shows_empty: bool,
}

/// The entries of one leaf that lie in the range, under the leaf's shared latch.
pub struct LeafView<'a> {
    id: PageId,
    page: &'a SharedPage<'a>,
    node: NodeRef<'a>,
    slots: Range<usize>,
    direction: Direction,
}

impl CursorRange {
    /// Every key.
    pub fn all() -> Self {
        Self { lower: Bound::Unbounded, upper: Bound::Unbounded }
    }
}

impl Cursor {
    /// A walk from the beginning (backward: the end) of the range.
    pub fn new(range: CursorRange, direction: Direction) -> Self {
        Self { rest: range, direction, finger: PageNumber(0), done: false, shows_empty: false }
    }

    /// The same walk for who wants to see where entries of the range would stand: leaves without any are shown too.
    pub fn showing_empty(self) -> Self {
        Self { shows_empty: true, ..self }
    }

    /// Whether the walk has reached the end of its range.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Shows the next leaf with entries in the range (any leaf of it with [`Cursor::showing_empty`]) to `visit`, which returns how many
    /// it took and anything else.
    /// `None` at the end. `visit` must not block and must not touch pages other than through the view.
    pub fn next_leaf<R>(
        &mut self,
        tree: &Tree,
        pool: &BufferPool,
        mut visit: impl FnMut(&LeafView<'_>) -> (Taken, R),
    ) -> Result<Option<R>, StorageError> {
        while !self.done {
            let found = match self.find(tree, pool) {
                Err(error) if tree.skips_damage() && error.damage().is_some() => {
                    self.pass_damage(tree, pool, error)?;
                    continue;
                }
                found => found?,
            };
            let Some((id, page)) = found else {
                self.done = true;
                break;
            };
            let corrupt = |error| StorageError::corrupt(id, error);
            let node = NodeRef::new(&page).map_err(corrupt)?;
            let slots = self.slots_of(&node).map_err(corrupt)?;
            if slots.is_empty() && !self.shows_empty {
                self.leave(&node).map_err(corrupt)?;
                continue;
            }
            let view = LeafView { id, page: &page, node, slots, direction: self.direction };
            let (taken, result) = visit(&view);
            self.advance(id, &view, taken).map_err(corrupt)?;
            return Ok(Some(result));
        }
        Ok(None)
    }

    fn find<'p>(
        &self,
        tree: &Tree,
        pool: &'p BufferPool,
    ) -> Result<Option<(PageId, SharedPage<'p>)>, StorageError> {
        if self.finger.0 != 0 {
            let id = tree.page_id(self.finger);
            let page = pool.shared(id)?;
            if self.finger_holds(tree, &page) {
                return Ok(Some((id, page)));
            }
        }
        match self.toward() {
            Toward::Key(key) => tree.find_leaf(pool, key).map(Some),
            toward => tree.find_leaf_toward(pool, toward),
        }
    }

    /// Where the walk goes on.
    fn toward(&self) -> Toward<'_> {
        match (self.direction, &self.rest.lower, &self.rest.upper) {
            (Direction::Forward, Bound::Unbounded, _) => Toward::Key(b""),
            (Direction::Forward, Bound::Included(key) | Bound::Excluded(key), _)
            | (Direction::Backward, _, Bound::Included(key)) => Toward::Key(key),
            (Direction::Backward, _, Bound::Unbounded) => Toward::End,
            (Direction::Backward, _, Bound::Excluded(key)) => Toward::Before(key),
        }
    }

    /// Goes on behind a page that cannot be read.
    #[cold]
    fn pass_damage(
        &mut self,
        tree: &Tree,
        pool: &BufferPool,
        error: StorageError,
    ) -> Result<(), StorageError> {
        let finger = std::mem::take(&mut self.finger);
        let met = find_damage(tree, pool, self.toward(), self.direction == Direction::Forward)?;
        match met {
            Met::Nothing if finger.0 == 0 => return Err(error),
            // Only the remembered page cannot be read.
            Met::Nothing => {}
            Met::Damage(None) => self.done = true,
            Met::Damage(Some(bound)) => match self.direction {
                Direction::Forward => {
                    self.done = !reaches(&self.rest.upper, &bound, Ordering::Greater);
                    self.rest.lower = Bound::Included(bound);
                }
                Direction::Backward => {
                    self.done = !self.goes_below(&bound);
                    self.rest.upper = Bound::Excluded(bound);
                }
            },
        }
        Ok(())
    }

    /// Whether anything below a key is left of the range.
    fn goes_below(&self, key: &[u8]) -> bool {
        match &self.rest.lower {
            Bound::Unbounded => !key.is_empty(),
            Bound::Included(lower) | Bound::Excluded(lower) => &lower[..] < key,
        }
    }

    /// Whether the remembered leaf is still where the walk goes on.
    fn finger_holds(&self, tree: &Tree, page: &[u8]) -> bool {
        let holds = || -> Result<bool, CorruptPage> {
            let node = NodeRef::new(page)?;
            if !node.is_leaf() || node.index() != tree.id.index {
                return Ok(false);
            }
            match (self.direction, &self.rest.lower, &self.rest.upper) {
                (Direction::Forward, Bound::Included(key) | Bound::Excluded(key), _)
                | (Direction::Backward, _, Bound::Included(key)) => node.covers(key),
                (Direction::Backward, _, Bound::Excluded(key)) => Ok(node.lower_fence()? < &key[..]
                    && match node.upper_fence()? {
                        Fence::Key(upper) => &key[..] <= upper,
                        Fence::Infinite => true,
                    }),
                _ => Ok(false),
            }
        };
        holds().unwrap_or(false)
    }

    fn slots_of(&self, node: &NodeRef<'_>) -> Result<Range<usize>, CorruptPage> {
        let place = |key: &[u8]| node.search(key).map(|at| (usize::from(at.slot), usize::from(at.found)));
        let from = match &self.rest.lower {
            Bound::Unbounded => 0,
            Bound::Included(key) => place(key)?.0,
            Bound::Excluded(key) => place(key).map(|(slot, found)| slot + found)?,
        };
        let to = match &self.rest.upper {
            Bound::Unbounded => node.count(),
            Bound::Included(key) => place(key).map(|(slot, found)| slot + found)?,
            Bound::Excluded(key) => place(key)?.0,
        };
        Ok(from..to.max(from))
    }

    fn advance(&mut self, id: PageId, view: &LeafView<'_>, taken: Taken) -> Result<(), CorruptPage> {
        let shown = view.len();
        let count = match taken {
            Taken::First(count) if count < shown || self.shows_empty => count,
            _ => return self.leave(&view.node),
        };
        self.finger = id.number;
        let Some(last) = count.checked_sub(1) else { return Ok(()) };
        let bound = match self.direction {
            Direction::Forward => &mut self.rest.lower,
            Direction::Backward => &mut self.rest.upper,
        };
        let mut key = reuse(bound);
        view.node.key_into(view.slot(last), &mut key)?;
        *bound = Bound::Excluded(key);
        Ok(())
    }

    /// Goes on behind a leaf.
    fn leave(&mut self, node: &NodeRef<'_>) -> Result<(), CorruptPage> {
        match self.direction {
            Direction::Forward => match node.upper_fence()? {
                Fence::Infinite => self.done = true,
                Fence::Key(fence) => {
                    self.finger = node.right().unwrap_or_default();
                    let mut key = reuse(&mut self.rest.lower);
                    key.extend_from_slice(fence);
                    self.rest.lower = Bound::Included(key);
                    self.done = !reaches(&self.rest.upper, fence, Ordering::Greater);
                }
            },
            Direction::Backward => {
                let fence = node.lower_fence()?;
                self.finger = PageNumber(0);
                let mut key = reuse(&mut self.rest.upper);
                key.extend_from_slice(fence);
                self.rest.upper = Bound::Excluded(key);
                // What is left lies below the fence, so a lower bound that equals it leaves nothing.
                self.done = !self.goes_below(fence);
            }
        }
        Ok(())
    }
}

/// Whether an upper bound leaves anything from `key` on.
fn reaches(upper: &Bound<Vec<u8>>, key: &[u8], above: Ordering) -> bool {
    match upper {
        Bound::Unbounded => true,
        Bound::Included(bound) => bound[..].cmp(key) != above.reverse(),
        Bound::Excluded(bound) => bound[..].cmp(key) == above,
    }
}

/// The emptied buffer of a bound.
fn reuse(bound: &mut Bound<Vec<u8>>) -> Vec<u8> {
    match std::mem::replace(bound, Bound::Unbounded) {
        Bound::Included(mut key) | Bound::Excluded(mut key) => {
            key.clear();
            key
        }
        Bound::Unbounded => Vec::new(),
    }
}

impl<'a> LeafView<'a> {
    /// Entries in the range.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether a writer waits for the leaf: a visitor that is at something long takes what it has and comes again.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.page.is_wanted()
    }

    /// The leaf's address.
    pub fn leaf(&self) -> PageId {
        self.id
    }

    /// Whether all entries of the leaf lie in what is left of the range.
    pub fn is_whole(&self) -> bool {
        self.slots.len() == self.node.count()
    }

    /// Live entries of the whole leaf, by its counter.
    pub fn live_rows(&self) -> u16 {
        self.node.live_rows()
    }

    /// The greatest writer id that ever changed the leaf.
    pub fn newest_writer(&self) -> u64 {
        self.node.newest_writer()
    }

    /// What all keys of the leaf start with.
    pub fn prefix(&self) -> Result<&'a [u8], StorageError> {
        self.node.prefix().map_err(|error| StorageError::corrupt(self.id, error))
    }

    #[inline]
    fn slot(&self, at: usize) -> usize {
        match self.direction {
            Direction::Forward => self.slots.start + at,
            Direction::Backward => self.slots.end - 1 - at,
        }
    }

    /// The rest of the key (behind the prefix) and the value of the entry at place `at` in walking order.
    #[inline]
    pub fn entry(&self, at: usize) -> Result<(&'a [u8], &'a [u8]), StorageError> {
        self.node.cell(self.slot(at)).map_err(|error| StorageError::corrupt(self.id, error))
    }

    /// Appends the whole key of the entry at place `at`.
    pub fn key_into(&self, at: usize, key: &mut Vec<u8>) -> Result<(), StorageError> {
        self.node.key_into(self.slot(at), key).map_err(|error| StorageError::corrupt(self.id, error))
    }

    /// The keys, in their order, that a walk has passed with the first `taken` entries: from behind the entry before them to the last of
    /// these, or up to the entry behind all that are in the range if it goes up and has taken `All`, or goes down. A fence of
    /// the leaf stands for an entry in another one. Appends the first key to `from` and the key behind the last to `to`;
    /// false: there is no end.
    pub fn stretch(&self, taken: Taken, from: &mut Vec<u8>, to: &mut Vec<u8>) -> Result<bool, StorageError> {
        let taken = match taken {
            Taken::First(count) => Some(count),
            Taken::All => None,
        };
        let mut stretch = || -> Result<bool, CorruptPage> {
            let (first, end) = match self.direction {
                Direction::Forward => (self.slots.start, taken.map(|count| self.slots.start + count)),
                Direction::Backward => (self.slots.end - taken.unwrap_or(self.len()), None),
            };
            match first.checked_sub(1) {
                None => from.extend_from_slice(self.node.lower_fence()?),
                Some(before) => {
                    self.node.key_into(before, from)?;
                    from.push(0);
                }
            }
            match end {
                Some(end) => match end.checked_sub(1) {
                    None => to.extend_from_slice(from),
                    Some(last) => {
                        self.node.key_into(last, to)?;
                        to.push(0);
                    }
                },
                None if self.slots.end < self.node.count() => self.node.key_into(self.slots.end, to)?,
                None => match self.node.upper_fence()? {
                    Fence::Key(fence) => to.extend_from_slice(fence),
                    Fence::Infinite => return Ok(false),
                },
            }
            Ok(true)
        };
        stretch().map_err(|error| StorageError::corrupt(self.id, error))
    }
}
