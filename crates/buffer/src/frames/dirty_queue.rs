//! [`DirtyQueue`]: which frames have changes that are not on disk, oldest change first, so that nobody has to look at
//! all frame headers to find them. An entry is right as long as its frame's marks say the same; entries whose page was
//! written since are dropped when they come to the front. The mutex is a leaf: held for memory operations only.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use stdx::ids::{Lsn, PageId};
use stdx::sync::lock;

use super::{FrameHeader, Frames};

/// Entries beyond twice the frames before stale ones are looked for in the middle.
const SURPLUS_ENTRIES: usize = 1024;

/// Frames in the order in which they became dirty.
#[derive(Default)]
pub(crate) struct DirtyQueue {
    entries: Mutex<VecDeque<Entry>>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The mark that the frame got.
    since: u64,
    frame: u32,
}

impl Entry {
    /// The frame's header, if the change that this entry stands for may still be missing on disk. The marks are read in
    /// the order of [`FrameHeader::oldest_change`].
    fn dirty<'f>(&self, frames: &'f Frames) -> Option<&'f FrameHeader> {
        let header = frames.header(self.frame);
        let is_dirty = header.dirty_since.load(Ordering::Acquire) == self.since
            || header.flushing_since.load(Ordering::Acquire) == self.since;
        is_dirty.then_some(header)
    }
}

impl DirtyQueue {
    /// Marks frames dirty that are not yet. `since` is asked under the mutex, so that marks never go back: it must give a
    /// lower bound of the change that never goes back itself (the log's end). The caller holds the frames exclusively.
    pub fn mark<'f>(
        &self,
        frames: &'f Frames,
        changed: impl Iterator<Item = (u32, &'f FrameHeader)>,
        since: impl FnOnce() -> Lsn,
    ) {
        let mut clean =
            changed.filter(|(_, header)| header.dirty_since.load(Ordering::Relaxed) == 0).peekable();
        if clean.peek().is_none() {
            return;
        }
        let mut entries = lock(&self.entries);
        let since = since();
        for (frame, header) in clean {
            header.mark_dirty(since);
            entries.push_back(Entry { since: since.0.max(1), frame });
        }
        if entries.len() > 2 * frames.count() + SURPLUS_ENTRIES {
            entries.retain(|entry| entry.dirty(frames).is_some());
        }
    }

    /// The oldest mark of all frames.
    pub fn oldest(&self, frames: &Frames) -> Option<Lsn> {
        let mut entries = lock(&self.entries);
        while let Some(entry) = entries.front() {
            if entry.dirty(frames).is_some() {
                return Some(Lsn(entry.since));
            }
            entries.pop_front();
        }
        None
    }

    /// An upper bound of the number of dirty frames.
    pub fn frames_max(&self) -> usize {
        lock(&self.entries).len()
    }

    /// Up to `frames_max` dirty frames with a mark below `before` that `choose` wants, oldest mark first.
    pub fn oldest_frames(
        &self,
        frames: &Frames,
        before: Lsn,
        frames_max: usize,
        choose: impl Fn(PageId) -> bool,
    ) -> Vec<u32> {
        let entries = lock(&self.entries);
        let old = entries.iter().take_while(|entry| entry.since < before.0);
        let wanted = old.filter(|entry| {
            let page = entry.dirty(frames).and_then(FrameHeader::page);
            page.is_some_and(&choose)
        });
        wanted.take(frames_max).map(|entry| entry.frame).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::ids::{PageNumber, SpaceId};

    fn mark(queue: &DirtyQueue, frames: &Frames, frame: u32, since: u64) {
        queue.mark(frames, [(frame, frames.header(frame))].into_iter(), || Lsn(since));
    }

    #[test]
    fn the_oldest_unwritten_change_is_first() {
        let frames = Frames::reserve(4).unwrap();
        for index in 0..4 {
            frames.header(index).set_page(Some(PageId { space: SpaceId(1), number: PageNumber(index) }));
        }
        let queue = DirtyQueue::default();
        mark(&queue, &frames, 2, 10);
        mark(&queue, &frames, 0, 20);
        mark(&queue, &frames, 2, 30);
        assert_eq!(queue.oldest(&frames), Some(Lsn(10)));
        assert_eq!(queue.oldest_frames(&frames, Lsn(25), 9, |_| true), [2, 0]);
        // Being written: still dirty by the other mark.
        let header = frames.header(2);
        header.flushing_since.store(10, Ordering::Release);
        header.dirty_since.store(0, Ordering::Release);
        assert_eq!(queue.oldest(&frames), Some(Lsn(10)));
        mark(&queue, &frames, 2, 40);
        header.flushing_since.store(0, Ordering::Release);
        assert_eq!(queue.oldest(&frames), Some(Lsn(20)));
        assert_eq!(queue.oldest_frames(&frames, Lsn(u64::MAX), 9, |page| page.number.0 == 2), [2]);
        frames.header(0).mark_clean();
        header.mark_clean();
        assert_eq!(queue.oldest(&frames), None);
        assert_eq!(queue.frames_max(), 0);
    }

    #[test]
    fn stale_entries_do_not_pile_up() {
        let frames = Frames::reserve(2).unwrap();
        let queue = DirtyQueue::default();
        mark(&queue, &frames, 0, 1);
        for since in 2..10_000 {
            mark(&queue, &frames, 1, since);
            frames.header(1).mark_clean();
        }
        assert!(queue.frames_max() <= 2 * 2 + SURPLUS_ENTRIES + 1);
        assert_eq!(queue.oldest(&frames), Some(Lsn(1)));
    }
}
