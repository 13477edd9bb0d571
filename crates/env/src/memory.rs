//! [`Region`]: a large, zeroed, lazily committed range of memory, for buffer pool frames.

use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A private anonymous mapping. Pages of it cost memory only after their first use. It hands out raw addresses: who
/// may read or write which part is the business of the owner's latches.
pub struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: The region is plain memory that no thread owns; access through `start` is unsafe and its users say why it
// is synchronised.
unsafe impl Send for Region {}
// SAFETY: As above; `&Region` alone gives only an address.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves `bytes` (not 0), zeroed, aligned to `alignment` (a power of two). None if the address space or a memory
    /// limit refuses it.
    pub fn reserve(bytes: usize, alignment: usize) -> Option<Region> {
        assert!(bytes > 0 && alignment.is_power_of_two());
        let padded = bytes.checked_add(alignment)?;
        // SAFETY: A fresh private anonymous mapping at an address of the kernel's choice aliases nothing.
        let mapping = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                padded,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }
        .ok()?;
        let start = mapping as usize;
        let aligned = start.next_multiple_of(alignment);
        unmap(start, aligned - start);
        unmap(aligned + bytes, start + padded - (aligned + bytes));
        // SAFETY: `aligned` lies within the mapping just made, which stays until drop.
        let advice = unsafe { madvise(aligned as *mut _, bytes, Advice::LinuxHugepage) };
        // Huge pages are a wish; kernels without them run all the same.
        let _ = advice;
        Some(Region { start: NonNull::new(aligned as *mut u8)?, bytes })
    }

    /// The first byte.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        unmap(self.start.as_ptr() as usize, self.bytes);
    }
}

/// Unmaps whole operating system pages within a mapping of our own; lengths below one page are left alone.
fn unmap(start: usize, bytes: usize) {
    const SYSTEM_PAGE_BYTES: usize = 4096;
    let bytes = bytes / SYSTEM_PAGE_BYTES * SYSTEM_PAGE_BYTES;
    if bytes > 0 {
        // SAFETY: Callers pass parts of a mapping that `reserve` made and that nobody uses any more.
        let outcome = unsafe { munmap(start as *mut _, bytes) };
        debug_assert!(outcome.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_zeroed_aligned_and_writable() {
        let region = Region::reserve(1 << 20, 16384).unwrap();
        let start = region.start().as_ptr();
        assert_eq!(start as usize % 16384, 0);
        assert_eq!(region.bytes(), 1 << 20);
        // SAFETY: This test is the region's only user.
        unsafe {
            assert_eq!(*start.add((1 << 20) - 1), 0);
            *start.add((1 << 20) - 1) = 7;
            assert_eq!(*start.add((1 << 20) - 1), 7);
        }
    }
}
