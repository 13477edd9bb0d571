//! Telling the owner of a thread that it is about to wait.
//!
//! A reactor thread sets a [`Hook`]; whatever may block for long (row-lock wait, page read, log flush wait) runs
//! inside [`region`], which calls the hook on entry and exit, so that the reactor can hand its sockets to a spare thread.
//! Threads without a hook pay one thread-local load. Nested regions are reported once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use stdx::nesting::Nested;

/// What a thread's owner wants to know.
pub trait Hook {
    /// The thread is about to wait.
    fn enter(&self);
    /// The wait is over.
    fn exit(&self);
    /// Whether what the thread does shall end (KILL, shutdown): asked now and then during waits that can be given up.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// While it lives, the thread's waits are not given up: what it does must come to its end (a rollback). Nests.
#[derive(Debug)]
pub struct Uninterrupted {
    _within: Nested,
}

thread_local! {
    static HOOK: RefCell<Option<Rc<dyn Hook>>> = const { RefCell::new(None) };
    static HAS_HOOK: Cell<bool> = const { Cell::new(false) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static UNINTERRUPTED: Cell<u32> = const { Cell::new(0) };
}

/// Sets this thread's hook.
pub fn set_hook(hook: Rc<dyn Hook>) {
    HOOK.with(|slot| *slot.borrow_mut() = Some(hook));
    HAS_HOOK.set(true);
}

/// Removes this thread's hook.
pub fn clear_hook() {
    HAS_HOOK.set(false);
    HOOK.with(|slot| *slot.borrow_mut() = None);
}

/// Whether the wait at hand shall be given up: the hook says so and the thread is not at something that must end.
pub fn is_interrupted() -> bool {
    if UNINTERRUPTED.get() > 0 || !HAS_HOOK.get() {
        return false;
    }
    let hook = HOOK.with(|slot| slot.borrow().clone());
    hook.is_some_and(|hook| hook.is_interrupted())
}

/// From here on until it is dropped, no wait of this thread is given up.
pub fn uninterrupted() -> Uninterrupted {
    Uninterrupted { _within: Nested::enter(&UNINTERRUPTED) }
}

/// Runs `wait`, which may block for long, and tells the thread's hook before and after.
#[inline]
pub fn region<T>(wait: impl FnOnce() -> T) -> T {
    if HAS_HOOK.get() { hooked_region(wait) } else { wait() }
}

/// Calls `exit` also when the wait panics.
struct Leave(Option<Rc<dyn Hook>>);

impl Drop for Leave {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if let Some(hook) = self.0.take() {
            hook.exit();
        }
    }
}

#[cold]
fn hooked_region<T>(wait: impl FnOnce() -> T) -> T {
    let outermost = DEPTH.get() == 0;
    let hook = if outermost { HOOK.with(|slot| slot.borrow().clone()) } else { None };
    if let Some(hook) = &hook {
        hook.enter();
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave(hook);
    wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Counter {
        entered: Cell<u32>,
        left: Cell<u32>,
    }

    impl Hook for Counter {
        fn enter(&self) {
            self.entered.set(self.entered.get() + 1);
        }
        fn exit(&self) {
            self.left.set(self.left.get() + 1);
        }
        fn is_interrupted(&self) -> bool {
            true
        }
    }

    #[test]
    fn nested_regions_are_reported_once() {
        let counter = Rc::new(Counter::default());
        set_hook(counter.clone());
        assert_eq!(region(|| region(|| 7)), 7);
        assert_eq!((counter.entered.get(), counter.left.get()), (1, 1));
        clear_hook();
        region(|| ());
        assert_eq!(counter.entered.get(), 1);
    }

    #[test]
    fn what_must_end_is_not_interrupted() {
        assert!(!is_interrupted());
        set_hook(Rc::new(Counter::default()));
        assert!(is_interrupted());
        let outer = uninterrupted();
        drop(uninterrupted());
        assert!(!is_interrupted());
        drop(outer);
        assert!(is_interrupted());
        clear_hook();
        assert!(!is_interrupted());
    }

    #[test]
    fn a_panic_inside_still_leaves() {
        let counter = Rc::new(Counter::default());
        set_hook(counter.clone());
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| region(|| panic!("on purpose"))));
        assert!(outcome.is_err());
        assert_eq!(counter.left.get(), 1);
        region(|| ());
        assert_eq!(counter.entered.get(), 2);
        clear_hook();
    }
}
