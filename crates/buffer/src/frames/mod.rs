//! [`Frames`]: the memory of all pages, a dense array of frame headers beside it, and the guards through which page bytes
//! are reached. The only file of this crate with unsafe code. Beside it: latches and who
//! waits for them, the queue of dirty frames, where frames for pages come from.
//!
//! A frame's bytes may be read by whoever holds its latch shared and written by whoever holds it exclusively; the
//! guards are made only by acquiring the latch, or by taking over a hold, and release it when dropped.

mod dirty_queue;
mod frame_supply;
mod latch;
mod parking;
mod reader_slots;

pub(crate) use dirty_queue::DirtyQueue;
pub(crate) use frame_supply::FrameSupply;

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use env::Region;
use page::PAGE_BYTES;
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

use latch::{Latch, Shared};

/// What is known of a frame without looking at its page. One cache line. All fields but the latch change only under the
/// exclusive latch, except where it says otherwise.
#[repr(align(64))]
#[derive(Default)]
pub(crate) struct FrameHeader {
    pub latch: Latch,
    /// The page, packed; `NO_PAGE` for none, so that a zeroed header is one of an empty frame.
    page: AtomicU64,
    /// End of the last redo group that changed the page.
    pub page_lsn: AtomicU64,
    /// A lower bound of the first change that is not on disk; 0 for none. The flusher clears it under the shared latch
    /// after it has set `flushing_since`.
    pub dirty_since: AtomicU64,
    /// What `dirty_since` was when the page was copied for a write that is not yet known to be durable; 0 for none.
    /// Owned by the holder of the flusher's mutex.
    pub flushing_since: AtomicU64,
    /// Used since the clock hand came by last. Set under any latch.
    pub referenced: AtomicBool,
    /// The page was never used before its present life and was not written since: recovery makes it anew from the log,
    /// whatever is on disk. Cleared by the holder of the flusher's mutex when it was written.
    pub created: AtomicBool,
    /// The page is of a temporary space: it has no log, and nothing of it need survive. Set when the page is entered.
    pub unlogged: AtomicBool,
}

const NO_PAGE: u64 = 0;

#[inline]
fn pack(page: PageId) -> u64 {
    // One more than the bits say; the last page of the last space does not exist.
    (u64::from(page.space.0) << 32 | u64::from(page.number.0)).wrapping_add(1)
}

impl FrameHeader {
    /// Whether the page may be torn by a crash: recovery makes it anew, or nobody will have it.
    pub fn needs_no_copy(&self) -> bool {
        self.created.load(Ordering::Acquire) || self.unlogged.load(Ordering::Relaxed)
    }

    /// The page in the frame.
    #[inline]
    pub fn page(&self) -> Option<PageId> {
        let packed = self.page.load(Ordering::Acquire);
        let bits = packed.wrapping_sub(1);
        let page = PageId { space: SpaceId((bits >> 32) as u32), number: PageNumber(bits as u32) };
        (packed != NO_PAGE).then_some(page)
    }

    /// Whether the frame holds `page`.
    #[inline]
    pub fn holds(&self, page: PageId) -> bool {
        self.page.load(Ordering::Acquire) == pack(page)
    }

    pub fn set_page(&self, page: Option<PageId>) {
        self.page.store(page.map_or(NO_PAGE, pack), Ordering::Release);
    }

    /// Whether disk lacks a change of the page, or may lack it.
    pub fn is_dirty(&self) -> bool {
        self.oldest_change().is_some()
    }

    /// A lower bound of the oldest change that may not be on disk. `dirty_since` is read first: the flusher fills the other
    /// field before it clears that one.
    pub fn oldest_change(&self) -> Option<Lsn> {
        let dirty_since = self.dirty_since.load(Ordering::Acquire);
        let flushing_since = self.flushing_since.load(Ordering::Acquire);
        let oldest = match (dirty_since, flushing_since) {
            (0, other) | (other, 0) => other,
            (dirty, flushing) => dirty.min(flushing),
        };
        (oldest != 0).then_some(Lsn(oldest))
    }

    /// Says that the page differs from disk since `lsn` at the latest; an older mark stays.
    #[inline]
    pub fn mark_dirty(&self, lsn: Lsn) {
        if self.dirty_since.load(Ordering::Relaxed) == 0 {
            self.dirty_since.store(lsn.0.max(1), Ordering::Release);
        }
    }

    /// Forgets changes: the page will never be written.
    pub fn mark_clean(&self) {
        self.dirty_since.store(0, Ordering::Release);
        self.flushing_since.store(0, Ordering::Release);
        self.created.store(false, Ordering::Release);
    }
}

/// All frames. Indices run from 0 to `count`.
pub(crate) struct Frames {
    /// `count` headers. The kernel gives their memory when they are first used, as that of the pages.
    headers: Region,
    count: usize,
    memory: Region,
}

impl Frames {
    /// Reserves `count` frames; None if the address space is refused.
    pub fn reserve(count: usize) -> Option<Frames> {
        assert!(count > 0 && u32::try_from(count).is_ok());
        let memory = Region::reserve(count.checked_mul(PAGE_BYTES)?, PAGE_BYTES)?;
        let header_bytes = count.checked_mul(size_of::<FrameHeader>())?.next_multiple_of(PAGE_BYTES);
        let headers = Region::reserve(header_bytes, PAGE_BYTES)?;
        Some(Frames { headers, count, memory })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    #[inline]
    pub fn header(&self, index: u32) -> &FrameHeader {
        &self.headers()[index as usize]
    }

    #[inline]
    pub fn headers(&self) -> &[FrameHeader] {
        // SAFETY: The region holds `count` headers at their alignment and lives as long as `self`. Its bytes are zero at
        // first, which is a header of an empty frame: all fields are atomic integers and flags. It is never reached in
        // another way.
        unsafe { std::slice::from_raw_parts(self.headers.start().as_ptr().cast(), self.count) }
    }

    /// Latches a frame shared, waiting for a writer.
    #[cfg(test)]
    pub fn shared(&self, index: u32) -> SharedFrame<'_> {
        SharedFrame { frames: self, index, hold: self.header(index).latch.shared() }
    }

    /// Latches a frame shared, waiting for a writer; None if the wait was interrupted.
    pub fn shared_unless_interrupted(&self, index: u32) -> Option<SharedFrame<'_>> {
        let hold = self.header(index).latch.shared_unless_interrupted()?;
        Some(SharedFrame { frames: self, index, hold })
    }

    /// As [`Frames::exclusive`]; None if the wait was interrupted.
    #[inline]
    pub fn exclusive_unless_interrupted(&self, index: u32) -> Option<ExclusiveFrame<'_>> {
        let latched = self.header(index).latch.exclusive_unless_interrupted();
        latched.then(|| ExclusiveFrame { frames: self, index })
    }

    /// Latches a frame shared if no writer has it; a writer that waits goes on waiting.
    pub fn try_shared_before_writers(&self, index: u32) -> Option<SharedFrame<'_>> {
        let hold = self.header(index).latch.try_shared_before_writers()?;
        Some(SharedFrame { frames: self, index, hold })
    }

    /// Latches a frame shared if no writer has it or waits for it.
    #[inline]
    pub fn try_shared(&self, index: u32) -> Option<SharedFrame<'_>> {
        let hold = self.header(index).latch.try_shared()?;
        Some(SharedFrame { frames: self, index, hold })
    }

    /// Latches a frame exclusively, waiting for all others.
    #[inline]
    pub fn exclusive(&self, index: u32) -> ExclusiveFrame<'_> {
        self.header(index).latch.exclusive();
        ExclusiveFrame { frames: self, index }
    }

    /// Latches a frame exclusively if nobody has it.
    #[inline]
    pub fn try_exclusive(&self, index: u32) -> Option<ExclusiveFrame<'_>> {
        self.header(index).latch.try_exclusive().then(|| ExclusiveFrame { frames: self, index })
    }

    #[inline]
    fn bytes_of(&self, index: u32) -> *mut u8 {
        assert!((index as usize) < self.count);
        // SAFETY: The region holds `count` pages, so the offset stays inside it.
        unsafe { self.memory.start().as_ptr().add(index as usize * PAGE_BYTES) }
    }
}

/// A frame under a shared latch.
pub(crate) struct SharedFrame<'pool> {
    frames: &'pool Frames,
    index: u32,
    hold: Shared,
}

impl<'pool> SharedFrame<'pool> {
    #[inline]
    pub fn header(&self) -> &'pool FrameHeader {
        self.frames.header(self.index)
    }
}

impl Deref for SharedFrame<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: The shared latch is held until this guard is dropped, so nobody writes these bytes while the slice lives;
        // the region outlives the guard, and its bytes are initialised (zeroed by the kernel at first).
        unsafe { std::slice::from_raw_parts(self.frames.bytes_of(self.index), PAGE_BYTES) }
    }
}

impl Drop for SharedFrame<'_> {
    #[inline]
    fn drop(&mut self) {
        self.frames.header(self.index).latch.release_shared(&self.hold);
    }
}

/// A frame under an exclusive latch.
pub(crate) struct ExclusiveFrame<'pool> {
    frames: &'pool Frames,
    index: u32,
}

impl<'pool> ExclusiveFrame<'pool> {
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    #[inline]
    pub fn header(&self) -> &'pool FrameHeader {
        self.frames.header(self.index)
    }

    /// Lets readers in.
    pub fn downgrade(self) -> SharedFrame<'pool> {
        let (frames, index) = (self.frames, self.index);
        std::mem::forget(self);
        SharedFrame { frames, index, hold: frames.header(index).latch.downgrade() }
    }
}

impl Deref for ExclusiveFrame<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: The exclusive latch is held until this guard is dropped, so only this guard reaches the bytes, and it
        // is borrowed as long as the slice lives.
        unsafe { std::slice::from_raw_parts(self.frames.bytes_of(self.index), PAGE_BYTES) }
    }
}

impl DerefMut for ExclusiveFrame<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: As in `deref`; the guard is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.frames.bytes_of(self.index), PAGE_BYTES) }
    }
}

impl Drop for ExclusiveFrame<'_> {
    #[inline]
    fn drop(&mut self) {
        self.frames.header(self.index).latch.release_exclusive();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_apart_and_guarded() {
        let frames = Frames::reserve(3).unwrap();
        for index in 0..3 {
            frames.exclusive(index).fill(index as u8 + 1);
        }
        let first = frames.shared(0);
        assert!(frames.try_exclusive(0).is_none() && frames.try_shared(0).is_some());
        assert!(first.iter().all(|byte| *byte == 1));
        drop(first);
        let second = frames.exclusive(1).downgrade();
        assert!(second.iter().all(|byte| *byte == 2) && frames.try_exclusive(1).is_none());
        assert!(frames.shared(2).iter().all(|byte| *byte == 3));
    }

    #[test]
    fn headers_fill_one_line_and_name_their_page() {
        assert_eq!(size_of::<FrameHeader>(), 64);
        let header = FrameHeader::default();
        header.set_page(None);
        assert_eq!(header.page(), None);
        let page = PageId { space: SpaceId(7), number: PageNumber(u32::MAX - 1) };
        header.set_page(Some(page));
        assert!(header.page() == Some(page) && header.holds(page));
    }

    #[test]
    fn the_oldest_change_counts() {
        let header = FrameHeader::default();
        assert!(!header.is_dirty());
        header.mark_dirty(Lsn(50));
        header.mark_dirty(Lsn(60));
        assert_eq!(header.oldest_change(), Some(Lsn(50)));
        header.flushing_since.store(40, Ordering::Relaxed);
        assert_eq!(header.oldest_change(), Some(Lsn(40)));
        header.mark_clean();
        assert_eq!(header.oldest_change(), None);
    }
}
