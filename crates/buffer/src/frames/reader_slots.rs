//! Slots in which readers say which latch they hold, where they need not count themselves in the latch: each thread has a line of
//! memory of its own, so that readers of one page write nothing in common. Main type: [`Slot`].
//!
//! Only the thread whose line it is fills a slot; whoever has the hold empties it. A writer looks through the lines of all threads.

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// Latches that a thread can hold by slots at a time. A descent holds two; what is beyond counts itself in its latch.
const SLOTS: usize = if cfg!(loom) { 1 } else { 8 };
/// Threads with slots. Others count themselves.
const LINES: usize = if cfg!(loom) { 3 } else { stdx::thread_number::NUMBERS };
/// Content of a slot that is not in use.
const FREE: usize = 0;

/// A slot of a thread: the address of the latch that it holds, or `FREE`.
#[derive(Debug)]
pub(crate) struct Slot(AtomicUsize);

/// The slots of a thread. Processors fetch lines in pairs.
#[repr(align(128))]
struct Line([Slot; SLOTS]);

#[cfg(not(loom))]
static ALL: [Line; LINES] = [const { Line([const { Slot(AtomicUsize::new(FREE)) }; SLOTS]) }; LINES];

#[cfg(loom)]
loom::lazy_static! {
    static ref ALL: [Line; LINES] = std::array::from_fn(|_| Line([Slot(AtomicUsize::new(FREE))]));
    static ref THREADS: AtomicUsize = AtomicUsize::new(0);
}

#[cfg(loom)]
loom::thread_local! {
    static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

impl Slot {
    /// Says that this thread holds the latch, in a slot that is free; None if there is none. What the caller reads after this and
    /// what others read after they have looked through the slots is in one order.
    #[inline]
    pub fn fill(latch: usize) -> Option<&'static Slot> {
        // Acquire: what the last hold of the slot has read comes before, also if another thread gave it back.
        let slot = own_line()?.0.iter().find(|slot| slot.0.load(Ordering::Acquire) == FREE)?;
        slot.0.store(latch, Ordering::SeqCst);
        one_order();
        Some(slot)
    }

    /// Ends the hold. As for `fill`, one order.
    #[inline]
    pub fn empty(&self, latch: usize) {
        debug_assert_eq!(self.0.load(Ordering::Relaxed), latch);
        self.0.store(FREE, Ordering::SeqCst);
        one_order();
    }

    /// Whether any slot names the latch.
    pub fn any_names(latch: usize) -> bool {
        one_order();
        let lines = &ALL[..lines_used()];
        lines.iter().flat_map(|line| &line.0).any(|slot| slot.0.load(Ordering::SeqCst) == latch)
    }
}

#[cfg(not(loom))]
#[inline]
fn own_line() -> Option<&'static Line> {
    ALL.get(stdx::thread_number::current()?)
}

#[cfg(loom)]
fn own_line() -> Option<&'static Line> {
    ALL.get(NUMBER.with(|number| *number))
}

/// Lines that may be in use. A thread that gets its number later fills its slots later.
fn lines_used() -> usize {
    if cfg!(loom) { LINES } else { stdx::thread_number::used() }
}

/// The sequentially consistent accesses before and after stand in one order. loom knows that of fences only.
#[inline]
fn one_order() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use env::Threads;

    use super::*;

    #[test]
    fn a_thread_has_some_slots_and_another_may_empty_them() {
        let latch = std::ptr::from_ref(&SLOTS).addr();
        let slots: Vec<_> = (0..SLOTS).map(|_| Slot::fill(latch).unwrap()).collect();
        assert!(Slot::fill(latch).is_none() && Slot::any_names(latch) && !Slot::any_names(latch + 1));
        let other = move || slots.into_iter().for_each(|slot| slot.empty(latch));
        assert!(env::RealThreads.spawn("other", Box::new(other)).join());
        assert!(!Slot::any_names(latch));
        Slot::fill(latch).unwrap().empty(latch);
    }
}
