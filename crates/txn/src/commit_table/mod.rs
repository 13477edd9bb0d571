//! From transaction id to commit timestamp, and to the place of its undo. Main type: [`CommitTable`].
//! Lock-free for readers (rules V1 to V3 in README.md). Ids are given in chunks. What is known of a chunk is in a slot of a ring: an entry
//! for each id at first, one timestamp for all once no snapshot tells them apart, nothing once every snapshot sees them. Writers that are
//! unfinished for very long become exceptions, so that they keep nothing of their chunk.

mod arrays;
mod exceptions;
#[cfg(all(test, loom))]
mod interleavings;
mod places;
mod progress;
mod slots;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::snapshots::SnapshotsInUse;
use crate::spill_file::SpillFile;
use arrays::{ArrayId, Arrays};
use exceptions::{Exception, Exceptions};
use places::SpilledPlaces;
use progress::{PASSED_AT_ONCE, PASSED_BY_THE_WAY, Progress};
use slots::{CHUNK_IDS, Content, Places, Slots};
use std::sync::{Arc, TryLockError};
use stdx::OwnLine;
use stdx::ids::{CommitTimestamp, TransactionId};
use sync::{AtomicU64, Mutex, Ordering, lock};

/// Entry of a transaction that has not finished.
const ACTIVE: u64 = 0;
/// Entry of a transaction that was rolled back: no row carries its id any more.
const ROLLED_BACK: u64 = u64::MAX;

/// What is known of a transaction id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// It has not committed (or not been rolled back) yet.
    Active,
    /// It has committed, and exactly the snapshots from that timestamp on see it; `CommitTimestamp(0)` when that is so long ago that every
    /// one does.
    Committed(CommitTimestamp),
    /// It was rolled back wholly.
    RolledBack,
}

/// Where the undo of a committed transaction lies, as the history of the `undo` crate gives places. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryPlace(pub u64);

/// Where the undo of a transaction is to be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoPlace {
    /// With the writer: it has not ended.
    Writer,
    /// In the history.
    History(HistoryPlace),
    /// Nowhere: every snapshot sees the transaction, or none of its rows is left.
    Gone,
}

/// What the table takes. For status output and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitTableSize {
    /// Bytes of arrays that chunks have now.
    pub array_bytes: u64,
    /// Bytes of arrays, those included that wait to be used again.
    pub array_bytes_made: u64,
    /// Chunks whose places are in the spill file.
    pub spilled_chunks: u64,
    /// Exceptions.
    pub exceptions: u64,
}

/// The state of every transaction id.
#[derive(Debug)]
pub struct CommitTable {
    /// Written by who begins to write; the watermark is read with each row.
    next: OwnLine<AtomicU64>,
    /// Ids below this are visible to every snapshot.
    watermark: AtomicU64,
    /// The first id of this table.
    first: u64,
    slots: Slots,
    arrays: Arrays,
    exceptions: Exceptions,
    spilled: SpilledPlaces,
    /// The order in which transactions end, and in which one that has not is made an exception.
    order: Arc<dyn EndOrder>,
    /// Held by who opens a chunk.
    opening: Mutex<()>,
    progress: Mutex<Progress>,
}

/// Where transactions end one after the other: the log's append section, which gives commits their timestamps.
pub trait EndOrder: std::fmt::Debug + Send + Sync {
    /// Acts while nobody else does, and no transaction ends.
    fn act(&self, act: &mut dyn FnMut());
}

impl TransactionState {
    fn of(entry: u64) -> TransactionState {
        match entry {
            ACTIVE => TransactionState::Active,
            ROLLED_BACK => TransactionState::RolledBack,
            timestamp => TransactionState::Committed(CommitTimestamp(timestamp)),
        }
    }
}

impl CommitTable {
    /// A table whose first id is `first` (at least 1); all ids below are visible to everyone, but for those that are unfinished. Places of
    /// long ago go to the spill file.
    pub fn new(
        first: TransactionId,
        unfinished: &[TransactionId],
        spill_file: Arc<SpillFile>,
        order: Arc<dyn EndOrder>,
    ) -> CommitTable {
        let first = first.0.max(1);
        let exceptions = Exceptions::new(unfinished.iter().map(|id| id.0).filter(|id| *id < first));
        CommitTable {
            next: OwnLine(AtomicU64::new(first)),
            watermark: AtomicU64::new(exceptions.least().unwrap_or(first)),
            first,
            slots: Slots::new(),
            arrays: Arrays::new(),
            exceptions,
            spilled: SpilledPlaces::new(spill_file),
            order,
            opening: Mutex::default(),
            progress: Mutex::new(Progress::new(first)),
        }
    }

    /// Gives the next id. None when a snapshot is older than 68 thousand million ids.
    pub fn allocate(&self) -> Option<TransactionId> {
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            let chunk = next / CHUNK_IDS;
            if !matches!(self.slots.get(chunk).content().content(chunk), Content::Detail(_))
                && !self.open_chunk(chunk)
            {
                return None;
            }
            match self.next.compare_exchange_weak(next, next + 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(TransactionId(next)),
                Err(seen) => next = seen,
            }
        }
    }

    /// Whether an id is the first of its chunk: then it is time to [advance](CommitTable::advance).
    pub fn begins_chunk(id: TransactionId) -> bool {
        id.0.is_multiple_of(CHUNK_IDS)
    }

    /// Makes the entries of the chunk of the next id. False if the ring has no room. True too if the next id is in another chunk by now.
    #[cold]
    fn open_chunk(&self, chunk: u64) -> bool {
        let _one_at_a_time = lock(&self.opening);
        let slot = self.slots.get(chunk);
        let word = slot.content();
        if self.next.load(Ordering::Acquire) / CHUNK_IDS != chunk
            || matches!(word.content(chunk), Content::Detail(_))
        {
            return true;
        }
        if !word.is_free() {
            return false;
        }
        let array = self.arrays.take();
        for id in chunk * CHUNK_IDS..self.first {
            self.entry(array, id).store(ROLLED_BACK, Ordering::Release);
        }
        slot.set_places(chunk, Places::Empty);
        slot.set_content(chunk, Content::Detail(array));
        true
    }

    /// The id that the next writer will get: every id in use is below it.
    pub fn next_id(&self) -> TransactionId {
        TransactionId(self.next.load(Ordering::Acquire))
    }

    /// Ids below this are visible to every snapshot.
    #[inline]
    pub fn watermark(&self) -> TransactionId {
        TransactionId(self.watermark.load(Ordering::Acquire))
    }

    /// What the table takes.
    pub fn size(&self) -> CommitTableSize {
        let (array_bytes_made, array_bytes) = self.arrays.bytes();
        CommitTableSize {
            array_bytes,
            array_bytes_made,
            spilled_chunks: self.spilled.len() as u64,
            exceptions: self.exceptions.len() as u64,
        }
    }

    /// Records a commit, with the place of its undo, before the commit can be part of any snapshot. Timestamps ascend. Called in the order of
    /// ends.
    pub fn set_committed(&self, id: TransactionId, timestamp: CommitTimestamp, place: HistoryPlace) {
        assert!(timestamp.0 != ACTIVE && timestamp.0 != ROLLED_BACK);
        self.end(id, Exception { entry: timestamp.0, place });
    }

    /// Records that no row carries the id any more. Takes its turn in the order of ends.
    pub fn set_rolled_back(&self, id: TransactionId) {
        self.order.act(&mut || self.end(id, Exception { entry: ROLLED_BACK, place: HistoryPlace(0) }));
    }

    /// Of ids from before the table that were not unfinished nothing is kept.
    #[inline]
    fn end(&self, id: TransactionId, end: Exception) {
        let chunk = id.0 / CHUNK_IDS;
        let slot = self.slots.get(chunk);
        match slot.content().content(chunk) {
            Content::Detail(array) if id.0 >= self.first => {
                // Before the entry: who finds that the transaction has committed finds the place.
                self.set_place(slot, id, end.place);
                self.entry(array, id.0).store(end.entry, Ordering::Release);
            }
            _ => self.exceptions.end(id.0, end),
        }
    }

    /// What is known of an id that was read from a row under the row's latch.
    #[inline]
    pub fn state(&self, id: TransactionId) -> TransactionState {
        if id.0 < self.watermark.load(Ordering::Acquire) {
            return TransactionState::Committed(CommitTimestamp(0));
        }
        self.recent_state(id)
    }

    fn recent_state(&self, id: TransactionId) -> TransactionState {
        if id.0 >= self.next.load(Ordering::Acquire) {
            // Only damaged bytes name an id that was never given. Nobody sees such a row.
            return TransactionState::Active;
        }
        let chunk = id.0 / CHUNK_IDS;
        let slot = self.slots.get(chunk);
        loop {
            let word = slot.content();
            let entry = match word.content(chunk) {
                Content::Detail(array) if id.0 >= self.first => {
                    self.entry(array, id.0).load(Ordering::Acquire)
                }
                // The first chunk has ids from before the table too, which all have committed.
                Content::Summary if id.0 >= self.first => match self.exceptions.get(id.0) {
                    Some(exception) => exception.entry,
                    None => slot.greatest(),
                },
                _ => return self.passed_state(id),
            };
            // The array, or the slot, may be another chunk's by now.
            if slot.content() == word {
                return TransactionState::of(entry);
            }
        }
    }

    /// Of an id whose chunk every snapshot sees.
    fn passed_state(&self, id: TransactionId) -> TransactionState {
        let exception = self.exceptions.get(id.0);
        exception
            .map_or(TransactionState::Committed(CommitTimestamp(0)), |one| TransactionState::of(one.entry))
    }

    /// Whether a snapshot sees what that id wrote (rule V1).
    #[inline]
    pub fn is_visible(&self, id: TransactionId, snapshot: CommitTimestamp) -> bool {
        match self.state(id) {
            TransactionState::Committed(timestamp) => timestamp <= snapshot,
            _ => false,
        }
    }

    /// Moves on: forgets what no snapshot needs, up to 33 million ids at once. Whoever gives out an id that [begins a chunk](CommitTable::begins_chunk) calls it, so
    /// nothing grows while nobody does.
    pub fn advance(&self, snapshots: &SnapshotsInUse) {
        self.advance_with(&mut lock(&self.progress), snapshots, PASSED_AT_ONCE);
    }

    /// As [`CommitTable::advance`], unless somebody is about it.
    pub fn try_advance(&self, snapshots: &SnapshotsInUse) {
        match self.progress.try_lock() {
            Ok(mut progress) => self.advance_with(&mut progress, snapshots, PASSED_BY_THE_WAY),
            Err(TryLockError::Poisoned(progress)) => {
                self.advance_with(&mut progress.into_inner(), snapshots, PASSED_BY_THE_WAY);
            }
            Err(TryLockError::WouldBlock) => {}
        }
    }

    #[inline]
    fn entry(&self, array: ArrayId, id: u64) -> &AtomicU64 {
        &self.arrays.get(array)[(id % CHUNK_IDS) as usize]
    }
}
