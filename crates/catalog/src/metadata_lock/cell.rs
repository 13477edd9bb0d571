//! A table as kept plans find it again: locked, and the same as it was, by a store and a load. Main types: [`ObjectCell`],
//! [`TableLock`].
//!
//! Rules (the slots are in `session_locks.rs`):
//! - **C1** A name has a cell from when a plan that uses it is kept until somebody has held the name exclusively: then the cell
//!   is ended, and plans that remember it are made anew, under another cell. So a definition changes under an exclusive lock only, and
//!   whatever the holder did or left, no plan outlives it.
//! - **C2** A reader or writer puts its lock into a slot of its own, then looks at the cell's word; who asks for a strong lock marks
//!   the word, then looks at all slots. Both in one total order (SeqCst), so at least one of the two sees the other.
//! - **C3** What the strong one finds in a slot it moves into the queue as a granted lock. A reader or writer that finds the mark
//!   takes its lock back and queues like everybody, unless it was moved meanwhile: then it holds the lock, in the queue.
//! - **C4** The mark stays as long as a strong lock of the name is held or waited for.
//! - **C5** The word also says how many rows the table has, roughly: a plan that was made for a quarter or four times of that
//!   is made anew.

use super::{LockKey, LockMode};
use std::sync::Arc;

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Somebody holds or waits for a strong lock.
const STRONG: u64 = 1;
/// The name was held exclusively since.
const ENDED: u64 = 2;
/// Where the class of the number of rows stands.
const CLASS_SHIFT: u32 = 8;
const CLASS_MASK: u64 = 0xFF << CLASS_SHIFT;

/// How often plans were made anew without a change of the definition.
const REVISION: u64 = 1 << 16;

/// Number of a cell, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellId(pub(super) u64);

/// How many rows a table has, as the power of four below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowClass(u8);

impl RowClass {
    /// The class of a number of rows.
    pub fn of(rows: u64) -> RowClass {
        RowClass((rows.checked_ilog2().unwrap_or(0) / 2) as u8)
    }
}

/// A name that kept plans use, between two exclusive locks. The word has its cache line to itself: it is read by every execution.
#[derive(Debug)]
#[repr(align(64))]
pub struct ObjectCell {
    word: AtomicU64,
    id: CellId,
}

impl ObjectCell {
    pub(super) fn new(id: CellId, class: RowClass, is_strong: bool) -> ObjectCell {
        let mark = if is_strong { STRONG } else { 0 };
        ObjectCell { word: AtomicU64::new(u64::from(class.0) << CLASS_SHIFT | mark), id }
    }

    pub(super) fn id(&self) -> CellId {
        self.id
    }

    pub(super) fn word(&self) -> u64 {
        self.word.load(Ordering::SeqCst)
    }

    /// Whether it may be used as a plan remembers it.
    fn is(&self, remembered: u64) -> bool {
        self.word() & !STRONG == remembered
    }

    pub(super) fn is_marked(&self) -> bool {
        self.word() & STRONG != 0
    }

    /// Marks it; true if it was not.
    pub(super) fn mark(&self) -> bool {
        self.word.fetch_or(STRONG, Ordering::SeqCst) & STRONG == 0
    }

    pub(super) fn unmark(&self) {
        self.word.fetch_and(!STRONG, Ordering::SeqCst);
    }

    pub(super) fn end(&self) {
        self.word.fetch_or(ENDED, Ordering::SeqCst);
    }

    /// Plans for it are to be made anew, though the name stands for what it stood for.
    pub(super) fn renew(&self) {
        self.word.fetch_add(REVISION, Ordering::SeqCst);
    }

    /// The table has that many rows now.
    pub(super) fn set_class(&self, class: RowClass) {
        let class = u64::from(class.0) << CLASS_SHIFT;
        if self.word.load(Ordering::Relaxed) & CLASS_MASK != class {
            let changed = |word: u64| Some(word & !CLASS_MASK | class);
            let _ = self.word.fetch_update(Ordering::SeqCst, Ordering::Relaxed, changed);
        }
    }
}

/// The cell of a name and what its word was when a plan was made.
#[derive(Clone, Debug)]
pub struct SeenCell {
    cell: Arc<ObjectCell>,
    word: u64,
}

impl SeenCell {
    pub(super) fn new(cell: &Arc<ObjectCell>) -> SeenCell {
        SeenCell { cell: Arc::clone(cell), word: cell.word() & !STRONG }
    }

    /// Which cell.
    #[inline]
    pub fn id(&self) -> CellId {
        self.cell.id
    }

    /// Whether plans that were made then may still be used.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.cell.is(self.word)
    }

    /// The table has that many rows now; plans for far less or more are made anew.
    pub fn set_class(&self, class: RowClass) {
        self.cell.set_class(class);
    }

    /// Whether it is as it was, and nobody asks for a strong lock.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.cell.word() == self.word
    }
}

/// A metadata lock of a statement; one of a kept plan knows the cell.
#[derive(Clone, Debug)]
pub struct TableLock {
    /// What.
    pub key: LockKey,
    /// How.
    pub mode: LockMode,
    /// What the plan was made for.
    pub seen: Option<SeenCell>,
}

impl TableLock {
    /// One that no plan is kept for.
    pub fn new(key: LockKey, mode: LockMode) -> TableLock {
        TableLock { key, mode, seen: None }
    }

    /// Whether the plan that it belongs to may still be used.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.seen.as_ref().is_some_and(SeenCell::is_current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_differ_by_four() {
        let classes = [0, 1, 3, 4, 15, 16, u64::MAX].map(|rows| RowClass::of(rows).0);
        assert_eq!(classes, [0, 0, 0, 1, 1, 2, 31]);
    }

    #[test]
    fn a_plan_sees_ends_and_growth_but_no_marks() {
        let cell = Arc::new(ObjectCell::new(CellId(1), RowClass::of(10), true));
        let seen = SeenCell::new(&cell);
        assert!(seen.is_current() && !seen.is_free());
        cell.unmark();
        assert!(seen.is_current() && seen.is_free());
        cell.set_class(RowClass::of(12));
        assert!(seen.is_free());
        cell.set_class(RowClass::of(16));
        assert!(!seen.is_current() && !seen.is_free());
        let seen = SeenCell::new(&cell);
        cell.renew();
        assert!(!seen.is_current());
        let seen = SeenCell::new(&cell);
        cell.end();
        assert!(!seen.is_current());
    }
}
