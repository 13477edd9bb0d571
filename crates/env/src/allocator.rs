//! The memory of programs: where it comes from, and what is kept of it although nobody uses it. Main type: [`Allocator`].

use libmimalloc_sys as mimalloc;
use std::alloc::{GlobalAlloc, Layout};

/// mimalloc, for a program's `#[global_allocator]`: blocks are allocated and freed without locks by the thread that uses them. Blocks
/// of ordinary alignment are asked for as such, which takes half the instructions of asking for an alignment.
pub struct Allocator;

/// A block of at least so many bytes is aligned to so many.
const NATURAL_ALIGNMENT: usize = 16;

/// Whether each block of that size has that alignment.
#[inline]
fn is_natural(alignment: usize, bytes: usize) -> bool {
    alignment <= NATURAL_ALIGNMENT && alignment <= bytes
}

// SAFETY: All blocks are mimalloc's, which gives null for what it cannot serve, never unwinds, and knows the size of its blocks. They
// have the alignment of their layout: what is not natural is asked for, also when a block grows or shrinks.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: Any size and any power of two may be asked for.
        let block = unsafe {
            match is_natural(layout.align(), layout.size()) {
                true => mimalloc::mi_malloc(layout.size()),
                false => mimalloc::mi_malloc_aligned(layout.size(), layout.align()),
            }
        };
        block.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: As for `alloc`.
        let block = unsafe {
            match is_natural(layout.align(), layout.size()) {
                true => mimalloc::mi_zalloc(layout.size()),
                false => mimalloc::mi_zalloc_aligned(layout.size(), layout.align()),
            }
        };
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: The caller says that the block came from here and is not used any more.
        unsafe { mimalloc::mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: The caller says that the block came from here with that layout.
        let block = unsafe {
            match is_natural(layout.align(), bytes) {
                true => mimalloc::mi_realloc(block.cast(), bytes),
                false => mimalloc::mi_realloc_aligned(block.cast(), bytes, layout.align()),
            }
        };
        block.cast()
    }
}

/// Gives back to the operating system what was freed. The C library's allocator keeps it, for each thread of a crowd that was
/// busy at once; it takes locks and time (milliseconds), so this is for moments of rest. Other C libraries need no telling.
pub fn return_free() {
    #[cfg(target_env = "gnu")]
    {
        // Whether there was anything does not matter.
        let _ = malloc_trim(0);
    }
}

#[cfg(target_env = "gnu")]
// SAFETY: The declaration is that of malloc.h: `int malloc_trim(size_t pad)`. It may be called by any thread at any time.
unsafe extern "C" {
    safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_keep_what_they_hold() {
        for bytes in (0..300).chain([4096, 70_000, 5 << 20]) {
            for alignment in [1, 2, 8, 16, 32, 64, 4096] {
                let layout = Layout::from_size_align(bytes.max(1), alignment).unwrap();
                // SAFETY: The layout is not empty; the block is written within its size, and freed once with its layout.
                unsafe {
                    let block = Allocator.alloc_zeroed(layout);
                    assert!(!block.is_null() && block.addr().is_multiple_of(alignment));
                    assert_eq!(block.add(layout.size() - 1).read(), 0);
                    block.write(7);
                    let grown = Allocator.realloc(block, layout, 2 * layout.size());
                    assert!(grown.addr().is_multiple_of(alignment), "{bytes} bytes of {alignment}");
                    assert_eq!(grown.read(), 7);
                    let grown_layout = Layout::from_size_align(2 * layout.size(), alignment).unwrap();
                    let shrunk = Allocator.realloc(grown, grown_layout, 1);
                    assert!(shrunk.addr().is_multiple_of(alignment), "{bytes} bytes of {alignment}");
                    assert_eq!(shrunk.read(), 7);
                    Allocator.dealloc(shrunk, Layout::from_size_align(1, alignment).unwrap());
                    let other = Allocator.alloc(layout);
                    assert!(other.addr().is_multiple_of(alignment));
                    Allocator.dealloc(other, layout);
                }
            }
        }
    }
}
