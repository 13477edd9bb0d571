//! Where frames for pages come from: those that were never used, those whose page went away, and those whose page was not used
//! lately. Main type: [`FrameSupply`]. Who finds none has pages written first ([`crate::BufferPool`]).

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use stdx::sync::lock;

use super::{ExclusiveFrame, Frames};
use crate::spaces::Spaces;

/// Frames that can be had.
#[derive(Default)]
pub(crate) struct FrameSupply {
    /// Frames below this index have been used.
    next_unused: AtomicUsize,
    /// Frames whose page went away.
    free: Mutex<Vec<u32>>,
    clock_hand: AtomicU32,
}

impl FrameSupply {
    /// A frame that no page is in, latched exclusively; None if there is none.
    pub fn take_unused<'p>(&self, frames: &'p Frames) -> Option<ExclusiveFrame<'p>> {
        if self.next_unused.load(Ordering::Relaxed) < frames.count() {
            let index = self.next_unused.fetch_add(1, Ordering::Relaxed);
            if index < frames.count() {
                return Some(frames.exclusive(index as u32));
            }
        }
        let index = lock(&self.free).pop()?;
        // Only a reader with a stale translation can be there, for a moment.
        Some(frames.exclusive(index))
    }

    /// Looks for a clean page that was not used lately: clock with a second chance, at most two turns.
    pub fn evict_one<'p>(&self, frames: &'p Frames, spaces: &Spaces) -> Option<ExclusiveFrame<'p>> {
        let count = frames.count() as u32;
        for _ in 0..2 * count {
            let index = self.clock_hand.fetch_add(1, Ordering::Relaxed) % count;
            let header = frames.header(index);
            if header.page().is_none() || header.is_dirty() {
                continue;
            }
            if header.referenced.load(Ordering::Relaxed) {
                header.referenced.store(false, Ordering::Relaxed);
                continue;
            }
            let Some(frame) = frames.try_exclusive(index) else { continue };
            let Some(page) = header.page().filter(|_| !header.is_dirty()) else { continue };
            let entry = spaces.get(page.space).and_then(|space| space.entry(page.number));
            if let Some(entry) = entry {
                let _ = entry.compare_exchange(index + 1, 0, Ordering::AcqRel, Ordering::Relaxed);
            }
            header.set_page(None);
            return Some(frame);
        }
        None
    }

    /// Takes a frame whose page went away.
    pub fn give_back(&self, frame: ExclusiveFrame<'_>) {
        frame.header().set_page(None);
        frame.header().mark_clean();
        let index = frame.index();
        drop(frame);
        lock(&self.free).push(index);
    }
}
