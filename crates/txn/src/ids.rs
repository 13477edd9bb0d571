//! From transaction id to commit timestamp. Main type: [`CommitTable`], a ring of atomics in chunks with a watermark.
//! Lock-free for readers (rules V1 to V3 in README.md). Ids below the watermark are finished and visible to every
//! snapshot, so nothing is looked up for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use stdx::ids::{CommitTimestamp, TransactionId};

/// Ids in one chunk.
const CHUNK_IDS: u64 = 1 << 14;
/// Chunks of the ring: bounds how many ids may lie between the oldest unfinished writer and the newest one.
const CHUNKS: u64 = 1 << 12;
/// Ids that the ring holds at once.
const WINDOW_IDS: u64 = CHUNK_IDS * CHUNKS;

/// Entry of a transaction that has not finished.
const ACTIVE: u64 = 0;
/// Entry of a transaction that was rolled back: no row carries its id any more.
const ROLLED_BACK: u64 = u64::MAX;

/// What is known of a transaction id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// It has not committed (or not been rolled back) yet.
    Active,
    /// It committed at that place; `CommitTimestamp(0)` when that is so long ago that every snapshot sees it.
    Committed(CommitTimestamp),
    /// It was rolled back wholly.
    RolledBack,
}

/// The state of every transaction id.
#[derive(Debug)]
pub struct CommitTable {
    chunks: Box<[OnceLock<Box<[AtomicU64]>>]>,
    next: AtomicU64,
    watermark: AtomicU64,
    /// Serialises those who move the watermark.
    advance: Mutex<()>,
}

impl CommitTable {
    /// A table whose first id is `first` (at least 1); all ids below are visible to everyone.
    pub fn new(first: TransactionId) -> CommitTable {
        let first = first.0.max(1);
        CommitTable {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            next: AtomicU64::new(first),
            watermark: AtomicU64::new(first),
            advance: Mutex::new(()),
        }
    }

    /// Gives the next id. None when the oldest unfinished writer is too far behind (64 million ids).
    pub fn allocate(&self) -> Option<TransactionId> {
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            if next - self.watermark.load(Ordering::Acquire) >= WINDOW_IDS - CHUNK_IDS {
                return None;
            }
            // The entry is 0 (active) already: chunks are made and recycled with zeros.
            self.chunk(next);
            match self.next.compare_exchange_weak(next, next + 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(TransactionId(next)),
                Err(seen) => next = seen,
            }
        }
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

    /// Records a commit. Called in commit order, before the commit can be part of any snapshot.
    pub fn set_committed(&self, id: TransactionId, timestamp: CommitTimestamp) {
        assert!(timestamp.0 != ACTIVE && timestamp.0 != ROLLED_BACK);
        self.entry(id).store(timestamp.0, Ordering::Release);
    }

    /// Records that no row carries the id any more.
    /// Of ids from before the table nothing is kept: their places belong to ids that are still to come.
    pub fn set_rolled_back(&self, id: TransactionId) {
        if id.0 >= self.watermark.load(Ordering::Acquire) {
            self.entry(id).store(ROLLED_BACK, Ordering::Release);
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
        let entry = self.entry(id).load(Ordering::Acquire);
        // The watermark may have passed the id meanwhile, and the entry may have been recycled.
        if id.0 < self.watermark.load(Ordering::Acquire) {
            return TransactionState::Committed(CommitTimestamp(0));
        }
        match entry {
            ACTIVE => TransactionState::Active,
            ROLLED_BACK => TransactionState::RolledBack,
            timestamp => TransactionState::Committed(CommitTimestamp(timestamp)),
        }
    }

    /// Whether a snapshot sees what that id wrote (rule V1).
    #[inline]
    pub fn is_visible(&self, id: TransactionId, snapshot: CommitTimestamp) -> bool {
        match self.state(id) {
            TransactionState::Committed(timestamp) => timestamp <= snapshot,
            _ => false,
        }
    }

    /// Moves the watermark over finished ids whose commits every snapshot sees.
    pub fn advance_watermark(&self, horizon: CommitTimestamp) {
        let _guard = self.advance.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.next.load(Ordering::Acquire);
        let start = self.watermark.load(Ordering::Relaxed);
        let mut watermark = start;
        while watermark < next {
            let entry = self.entry(TransactionId(watermark)).load(Ordering::Acquire);
            let passed = entry == ROLLED_BACK || (entry != ACTIVE && entry <= horizon.0);
            if !passed {
                break;
            }
            watermark += 1;
        }
        self.watermark.store(watermark, Ordering::Release);
        for chunk in start / CHUNK_IDS..watermark / CHUNK_IDS {
            self.recycle(chunk);
        }
    }

    /// Zeroes a chunk that the watermark has left, for the ids that come to its place.
    fn recycle(&self, chunk: u64) {
        if let Some(entries) = self.chunks[(chunk % CHUNKS) as usize].get() {
            entries.iter().for_each(|entry| entry.store(ACTIVE, Ordering::Release));
        }
    }

    fn chunk(&self, id: u64) -> &[AtomicU64] {
        self.chunks[(id / CHUNK_IDS % CHUNKS) as usize]
            .get_or_init(|| (0..CHUNK_IDS).map(|_| AtomicU64::new(ACTIVE)).collect())
    }

    fn entry(&self, id: TransactionId) -> &AtomicU64 {
        &self.chunk(id.0)[(id.0 % CHUNK_IDS) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visibility_follows_commit_order_and_not_ids() {
        let table = CommitTable::new(TransactionId(10));
        let (a, b) = (table.allocate().unwrap(), table.allocate().unwrap());
        assert_eq!((a, b), (TransactionId(10), TransactionId(11)));
        table.set_committed(b, CommitTimestamp(100));
        assert!(table.is_visible(b, CommitTimestamp(100)));
        assert!(!table.is_visible(b, CommitTimestamp(99)));
        assert!(!table.is_visible(a, CommitTimestamp(1000)));
        assert!(table.is_visible(TransactionId(9), CommitTimestamp(0)));
        assert_eq!(table.state(TransactionId(12)), TransactionState::Active);
        table.set_rolled_back(a);
        assert_eq!(table.state(a), TransactionState::RolledBack);
    }

    #[test]
    fn watermark_stops_at_the_first_that_someone_may_not_see() {
        let table = CommitTable::new(TransactionId(1));
        let ids: Vec<_> = (0..4).map(|_| table.allocate().unwrap()).collect();
        table.set_committed(ids[0], CommitTimestamp(5));
        table.set_rolled_back(ids[1]);
        table.set_committed(ids[2], CommitTimestamp(50));
        table.advance_watermark(CommitTimestamp(49));
        assert_eq!(table.watermark(), ids[2]);
        table.advance_watermark(CommitTimestamp(50));
        assert_eq!(table.watermark(), ids[3]);
    }

    #[test]
    fn what_a_crash_left_rolled_back_leaves_no_mark() {
        let table = CommitTable::new(TransactionId(100));
        table.set_rolled_back(TransactionId(50));
        // The id that comes to its place, a lap later.
        assert_eq!(table.entry(TransactionId(50 + WINDOW_IDS)).load(Ordering::Relaxed), ACTIVE);
        assert_eq!(table.state(TransactionId(50)), TransactionState::Committed(CommitTimestamp(0)));
    }

    #[test]
    fn chunks_are_recycled_behind_the_watermark() {
        let table = CommitTable::new(TransactionId(1));
        for round in 0..3 * CHUNK_IDS {
            let id = table.allocate().unwrap();
            table.set_committed(id, CommitTimestamp(round + 1));
            if round % 1000 == 0 {
                table.advance_watermark(CommitTimestamp(round + 1));
            }
        }
        table.advance_watermark(CommitTimestamp(u64::MAX - 1));
        assert_eq!(table.watermark(), table.next_id());
        assert_eq!(table.chunks[0].get().unwrap()[7].load(Ordering::Relaxed), ACTIVE);
        assert!(table.is_visible(TransactionId(7), CommitTimestamp(0)));
    }
}
