//! How chunks of ids grow old: entries become a summary, a summary is passed, places go to the spill file. Main type: [`Progress`].

use super::exceptions::Exception;
use super::slots::{CHUNK_IDS, Content, Places, Slot};
use super::sync::{AtomicU64, Ordering};
use super::{ACTIVE, ArrayId, CommitTable, ROLLED_BACK};
use crate::snapshots::SnapshotsInUse;
use std::collections::VecDeque;
use stdx::ids::CommitTimestamp;

/// Unfinished writers of a chunk that lies so many chunks back become exceptions.
const OLD_CHUNKS: u64 = if cfg!(loom) {
    1
} else if cfg!(test) {
    2
} else {
    64
};
/// Chunks that have ended and whose places stay in memory.
const PLACES_KEPT: usize = if cfg!(loom) {
    64
} else if cfg!(test) {
    2
} else {
    64
};

/// Chunks that are passed at once by who only opens one: their space in the spill file is given back, and somebody waits. So many are
/// written there at once, too.
pub(super) const PASSED_BY_THE_WAY: u64 = 64;
/// Chunks that purge passes at once: a stop may wait for it.
pub(super) const PASSED_AT_ONCE: u64 = 2048;

/// Who moves on, and how far that has come.
#[derive(Debug)]
pub(super) struct Progress {
    /// The first chunk that was not passed.
    first_kept: u64,
    /// The first id that some snapshot may not see, exceptions apart.
    base: u64,
    /// Chunks with entries all of whose ids were given.
    open: Vec<OpenChunk>,
    /// The first that is not there yet.
    next_open: u64,
    /// Chunks that have ended and have their places in memory, oldest first.
    in_memory: VecDeque<u64>,
}

/// A chunk that is not summarised yet.
#[derive(Clone, Copy, Debug)]
struct OpenChunk {
    number: u64,
    /// So many of its ids were looked at, up to the first that has not ended.
    scanned: u64,
    bounds: Bounds,
    has_ended: bool,
}

/// Timestamps of commits, from the least to the greatest. None: 0 is above u64::MAX.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    least: u64,
    greatest: u64,
}

impl Bounds {
    const NONE: Bounds = Bounds { least: u64::MAX, greatest: 0 };

    fn add(&mut self, entry: u64) {
        if entry != ROLLED_BACK {
            self.least = self.least.min(entry);
            self.greatest = self.greatest.max(entry);
        }
    }
}

impl Progress {
    pub(super) fn new(first: u64) -> Progress {
        let chunk = first / CHUNK_IDS;
        Progress {
            first_kept: chunk,
            base: first,
            open: Vec::new(),
            next_open: chunk,
            in_memory: VecDeque::new(),
        }
    }
}

impl CommitTable {
    pub(super) fn advance_with(&self, progress: &mut Progress, snapshots: &SnapshotsInUse, chunks_max: u64) {
        let next = self.next.load(Ordering::Acquire);
        let whole_chunks = next / CHUNK_IDS;
        for number in progress.next_open..whole_chunks {
            progress.open.push(OpenChunk { number, scanned: 0, bounds: Bounds::NONE, has_ended: false });
        }
        progress.next_open = whole_chunks.max(progress.next_open);
        let in_memory = &mut progress.in_memory;
        progress.open.retain_mut(|chunk| {
            let is_open = !self.summarise(chunk, snapshots, whole_chunks);
            let ends = !chunk.has_ended && (!is_open || chunk.scanned == CHUNK_IDS);
            chunk.has_ended |= ends;
            if ends && matches!(self.places_of(chunk.number), Places::Memory(_)) {
                in_memory.push_back(chunk.number);
            }
            is_open
        });
        self.exceptions.forget(snapshots.horizon());
        self.pass(progress, snapshots.horizon(), next, chunks_max);
        let least = self.exceptions.least().unwrap_or(u64::MAX);
        self.watermark.store(progress.base.min(least), Ordering::Release);
        for _ in
            0..PASSED_BY_THE_WAY.min((progress.in_memory.len() as u64).saturating_sub(PLACES_KEPT as u64))
        {
            // What cannot be written stays; the file counts it.
            if self.spill_places(progress.in_memory[0]).is_err() {
                break;
            }
            progress.in_memory.pop_front();
        }
    }

    /// Replaces the entries of a chunk by one timestamp, if no snapshot tells its commits apart. False if it keeps them.
    fn summarise(&self, chunk: &mut OpenChunk, snapshots: &SnapshotsInUse, whole_chunks: u64) -> bool {
        let slot = self.slots.get(chunk.number);
        let Content::Detail(array) = slot.content().content(chunk.number) else {
            unreachable!("nobody else replaces entries")
        };
        let entries = self.arrays.get(array);
        let has_ended = |entry: &&AtomicU64| entry.load(Ordering::Acquire) != ACTIVE;
        for entry in entries[chunk.scanned as usize..].iter().take_while(has_ended) {
            chunk.bounds.add(entry.load(Ordering::Acquire));
            chunk.scanned += 1;
        }
        let mut bounds = chunk.bounds;
        // They only grow, so the others need not be looked at then.
        if snapshots.tell_apart(bounds.least, bounds.greatest) {
            return false;
        }
        let mut unfinished = Vec::new();
        if chunk.scanned < CHUNK_IDS {
            if whole_chunks - chunk.number <= OLD_CHUNKS {
                return false;
            }
            for index in chunk.scanned..CHUNK_IDS {
                match entries[index as usize].load(Ordering::Acquire) {
                    ACTIVE => unfinished.push(chunk.number * CHUNK_IDS + index),
                    entry => bounds.add(entry),
                }
            }
        }
        if snapshots.tell_apart(bounds.least, bounds.greatest) {
            return false;
        }
        self.replace_by_summary(slot, chunk.number, array, bounds.greatest, &unfinished);
        true
    }

    fn replace_by_summary(&self, slot: &Slot, chunk: u64, array: ArrayId, greatest: u64, unfinished: &[u64]) {
        let exception = |id: &u64| {
            let entry = self.entry(array, *id).load(Ordering::Acquire);
            (entry != ROLLED_BACK).then(|| (*id, Exception { entry, place: self.place_in_memory(slot, *id) }))
        };
        let replace = || {
            // 0 would be an active one. Of those that were rolled back nobody asks.
            slot.set_greatest(greatest.max(1));
            slot.set_content(chunk, Content::Summary);
        };
        match unfinished {
            // Nobody of the chunk ends any more.
            [] => replace(),
            // Those that have ended meanwhile have done so in their entries; the others will find the summary.
            unfinished => self.order.act(&mut || {
                self.exceptions.add(unfinished.iter().filter_map(exception));
                replace();
            }),
        }
        self.arrays.give_back(array);
    }

    /// Passes what every snapshot sees, some chunks of it.
    fn pass(&self, progress: &mut Progress, horizon: CommitTimestamp, next: u64, chunks_max: u64) {
        let is_seen = |entry: u64| entry == ROLLED_BACK || (entry != ACTIVE && entry <= horizon.0);
        for _ in 0..chunks_max {
            let chunk = progress.first_kept;
            let slot = self.slots.get(chunk);
            let end = (chunk + 1) * CHUNK_IDS;
            match slot.content().content(chunk) {
                Content::Summary if slot.greatest() <= horizon.0 => {
                    self.retire(slot, chunk);
                    progress.in_memory.retain(|one| *one != chunk);
                    progress.first_kept += 1;
                    progress.base = progress.base.max(end);
                }
                Content::Detail(array) => {
                    let entry = |id| self.entry(array, id).load(Ordering::Acquire);
                    while progress.base < next.min(end) && is_seen(entry(progress.base)) {
                        progress.base += 1;
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    fn retire(&self, slot: &Slot, chunk: u64) {
        let places = slot.places().places(chunk);
        slot.set_places(chunk, Places::Gone);
        match places {
            Places::Memory(array) => self.arrays.give_back(array),
            Places::File => self.spilled.remove(chunk),
            Places::Gone | Places::Empty => {}
        }
        // Last: then the slot may be given to another chunk.
        slot.set_content(chunk, Content::Passed);
    }

    fn places_of(&self, chunk: u64) -> Places {
        self.slots.get(chunk).places().places(chunk)
    }
}
