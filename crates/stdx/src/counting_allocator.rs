//! An allocator that counts what each thread asks for: tests that say how often or how much something allocates install it as the
//! global one.
//! Main type: [`CountingAllocator`]. The product does not use it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// No destructor and no first use: the allocator may be asked at any time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// What it holds, and the most that it has held. What another thread gives back counts there.
    static HELD_BYTES: Cell<i64> = const { Cell::new(0) };
    static HELD_BYTES_MAX: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, with a count.
pub struct CountingAllocator;

/// How often this thread has asked for memory, or for more of it.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// How many bytes more than at its start this thread has held at once while it ran something.
pub fn bytes_held_by(run: impl FnOnce()) -> u64 {
    let before = HELD_BYTES.get();
    HELD_BYTES_MAX.set(before);
    run();
    u64::try_from(HELD_BYTES_MAX.get() - before).unwrap_or_default()
}

fn hold(bytes: usize) {
    let held = HELD_BYTES.get() + bytes as i64;
    HELD_BYTES.set(held);
    HELD_BYTES_MAX.set(HELD_BYTES_MAX.get().max(held));
}

fn give_back(bytes: usize) {
    HELD_BYTES.set(HELD_BYTES.get() - bytes as i64);
}

fn count(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    hold(bytes);
}

// SAFETY: every call is handed on to the system's allocator as it came; counting touches no memory that it manages.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        give_back(layout.size());
        count(bytes);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}
