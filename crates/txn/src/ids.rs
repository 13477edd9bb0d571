//! From transaction id to commit timestamp. Main type: [`CommitTable`], a ring of atomics in chunks with a watermark.
//! Lock-free for readers (rules V1 to V3 in README.md). Ids below the watermark are finished and visible to every
//! snapshot, so nothing is looked up for them. Ids from before the table are visible too, but for a few exceptions: those
//! that a crash left unfinished.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use stdx::ids::{CommitTimestamp, TransactionId};

/// Ids in one chunk.
const CHUNK_IDS: u64 = if cfg!(loom) { 2 } else { 1 << 14 };
/// Chunks of the ring: bounds how many ids may lie between the oldest unfinished writer and the newest one.
const CHUNKS: u64 = if cfg!(loom) { 2 } else { 1 << 12 };
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

/// The state of every transaction id.
#[derive(Debug)]
pub struct CommitTable {
    chunks: Box<[OnceLock<Box<[AtomicU64]>>]>,
    /// Places in the history, of the ids of `chunks`; made when the first of a chunk's commits has one.
    places: Box<[OnceLock<Box<[AtomicU64]>>]>,
    next: AtomicU64,
    /// Ids below this are visible to every snapshot.
    watermark: AtomicU64,
    /// The ring knows ids from here on. Those below are visible to every snapshot, but for the exceptions.
    base: AtomicU64,
    /// The first id of the ring's first lap.
    first: u64,
    /// Ids below the first that were unfinished when the table was made, ascending, with entries like the ring's.
    exceptions: Box<[Exception]>,
    /// Serialises those who move the watermark.
    advance: Mutex<()>,
}

/// An id from before the table that was unfinished when it was made.
#[derive(Debug)]
struct Exception {
    id: u64,
    entry: AtomicU64,
    /// Where its undo is in the history; 0 before its commit.
    place: AtomicU64,
}

impl Exception {
    fn new(id: u64) -> Exception {
        Exception { id, entry: AtomicU64::new(ACTIVE), place: AtomicU64::new(0) }
    }
}

impl CommitTable {
    /// A table whose first id is `first` (at least 1); all ids below are visible to everyone, but for those that are unfinished.
    pub fn new(first: TransactionId, unfinished: &[TransactionId]) -> CommitTable {
        let first = first.0.max(1);
        let mut exceptions: Vec<u64> = unfinished.iter().map(|id| id.0).filter(|id| *id < first).collect();
        exceptions.sort_unstable();
        exceptions.dedup();
        CommitTable {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            places: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            next: AtomicU64::new(first),
            watermark: AtomicU64::new(exceptions.first().copied().unwrap_or(first)),
            base: AtomicU64::new(first),
            first,
            exceptions: exceptions.into_iter().map(Exception::new).collect(),
            advance: Mutex::new(()),
        }
    }

    /// Gives the next id. None when the oldest unfinished writer is too far behind (64 million ids).
    pub fn allocate(&self) -> Option<TransactionId> {
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            if next - self.base.load(Ordering::Acquire) >= WINDOW_IDS - CHUNK_IDS {
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

    /// Records a commit, with the place of its undo. Called in commit order, before the commit can be part of any snapshot.
    pub fn set_committed(&self, id: TransactionId, timestamp: CommitTimestamp, place: HistoryPlace) {
        assert!(timestamp.0 != ACTIVE && timestamp.0 != ROLLED_BACK);
        if id.0 >= self.first {
            self.set_place(id, place);
        } else if let Some(exception) = self.exception(id) {
            exception.place.store(place.0, Ordering::Release);
        }
        self.end(id, timestamp.0);
    }

    /// Before the entry: who finds that the transaction has committed finds the place, not one of an earlier lap.
    fn set_place(&self, id: TransactionId, place: HistoryPlace) {
        let places = &self.places[(id.0 / CHUNK_IDS % CHUNKS) as usize];
        if place.0 == 0 && places.get().is_none() {
            return;
        }
        let places = places.get_or_init(|| (0..CHUNK_IDS).map(|_| AtomicU64::new(0)).collect());
        places[(id.0 % CHUNK_IDS) as usize].store(place.0, Ordering::Release);
    }

    /// Where the undo of an id is that was read from a row under the row's latch, or from its undo.
    pub fn undo_place(&self, id: TransactionId) -> UndoPlace {
        match self.state(id) {
            TransactionState::Active => return UndoPlace::Writer,
            TransactionState::Committed(timestamp) if timestamp.0 != 0 => {}
            _ => return UndoPlace::Gone,
        }
        if id.0 < self.first {
            let place = self.exception(id).map_or(0, |exception| exception.place.load(Ordering::Acquire));
            return UndoPlace::History(HistoryPlace(place));
        }
        let places = self.places[(id.0 / CHUNK_IDS % CHUNKS) as usize].get();
        let place = places.map_or(0, |places| places[(id.0 % CHUNK_IDS) as usize].load(Ordering::Acquire));
        // As for the entry: it may be that of the next lap.
        match id.0 >= self.base.load(Ordering::Acquire) {
            true => UndoPlace::History(HistoryPlace(place)),
            false => UndoPlace::Gone,
        }
    }

    /// Records that no row carries the id any more.
    pub fn set_rolled_back(&self, id: TransactionId) {
        self.end(id, ROLLED_BACK);
    }

    /// Of other ids from before the table nothing is kept: their places belong to ids that are still to come.
    fn end(&self, id: TransactionId, entry: u64) {
        if id.0 >= self.first {
            self.entry(id).store(entry, Ordering::Release);
        } else if let Some(exception) = self.exception(id) {
            exception.entry.store(entry, Ordering::Release);
        }
    }

    fn exception(&self, id: TransactionId) -> Option<&Exception> {
        let at = self.exceptions.binary_search_by_key(&id.0, |exception| exception.id).ok()?;
        Some(&self.exceptions[at])
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
        let entry = if id.0 < self.first {
            // Asked only while an exception holds the watermark back.
            self.exception(id).map(|exception| exception.entry.load(Ordering::Acquire))
        } else {
            let entry = self.entry(id).load(Ordering::Acquire);
            // The base may have passed the id meanwhile, and the entry may have been recycled.
            (id.0 >= self.base.load(Ordering::Acquire)).then_some(entry)
        };
        let Some(entry) = entry else { return TransactionState::Committed(CommitTimestamp(0)) };
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
        let start = self.base.load(Ordering::Relaxed);
        let is_passed = |entry: &AtomicU64| {
            let entry = entry.load(Ordering::Acquire);
            entry == ROLLED_BACK || (entry != ACTIVE && entry <= horizon.0)
        };
        let mut base = start;
        while base < next && is_passed(self.entry(TransactionId(base))) {
            base += 1;
        }
        let held_back = self.exceptions.iter().find(|exception| !is_passed(&exception.entry));
        self.base.store(base, Ordering::Release);
        self.watermark.store(held_back.map_or(base, |exception| exception.id), Ordering::Release);
        for chunk in start / CHUNK_IDS..base / CHUNK_IDS {
            self.recycle(chunk);
        }
    }

    /// Zeroes a chunk that the base has left, for the ids that come to its place.
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

/// All interleavings of a look at an id and the ring's next lap. Run: RUSTFLAGS="--cfg loom" cargo test -p txn --lib interleavings
#[cfg(all(test, loom))]
mod interleavings {
    use super::*;
    use loom::thread;
    use std::sync::Arc;

    /// A place in the history is that of the id, or none any more, also while its slot is given to a later id.
    #[test]
    fn a_place_is_not_taken_for_that_of_another_lap() {
        loom::model(|| {
            let table = Arc::new(CommitTable::new(TransactionId(2), &[]));
            let ids = [table.allocate().unwrap(), table.allocate().unwrap()];
            ids.iter().for_each(|id| table.set_committed(*id, CommitTimestamp(9 + id.0), HistoryPlace(id.0)));
            let asker = {
                let table = table.clone();
                thread::spawn(move || match table.undo_place(ids[0]) {
                    UndoPlace::History(place) => assert_eq!(place.0, ids[0].0),
                    other => assert_eq!(other, UndoPlace::Gone),
                })
            };
            table.advance_watermark(CommitTimestamp(20));
            let later = [table.allocate().unwrap(), table.allocate().unwrap()];
            later.iter().for_each(|id| table.set_rolled_back(*id));
            table.advance_watermark(CommitTimestamp(20));
            let lap = table.allocate().unwrap();
            table.set_committed(lap, CommitTimestamp(40), HistoryPlace(lap.0));
            asker.join().unwrap();
        });
    }

    /// What has committed has committed, also while its place in the ring is given to a later id, whatever becomes of that.
    #[test]
    fn an_id_is_not_taken_for_that_of_another_lap() {
        loom::model(|| {
            let table = Arc::new(CommitTable::new(TransactionId(2), &[]));
            let id = table.allocate().unwrap();
            assert!(table.allocate().unwrap().0 == 3 && table.allocate().is_none(), "the window is full");
            table.set_committed(id, CommitTimestamp(10), HistoryPlace(10));
            table.set_committed(TransactionId(3), CommitTimestamp(11), HistoryPlace(0));
            let reader = {
                let table = table.clone();
                thread::spawn(move || match table.state(id) {
                    TransactionState::Committed(at) => assert!(at.0 == 10 || at.0 == 0, "{at:?}"),
                    other => panic!("{other:?}"),
                })
            };
            table.advance_watermark(CommitTimestamp(20));
            let later = [table.allocate().unwrap(), table.allocate().unwrap()];
            assert_eq!(later.map(|id| id.0), [4, 5]);
            table.set_rolled_back(later[0]);
            table.set_committed(later[1], CommitTimestamp(30), HistoryPlace(0));
            table.advance_watermark(CommitTimestamp(30));
            // The place of the first id.
            let lap = table.allocate().unwrap();
            assert_eq!(lap.0, id.0 + WINDOW_IDS);
            assert_eq!(table.state(lap), TransactionState::Active, "a place is empty when it is given");
            table.set_committed(lap, CommitTimestamp(40), HistoryPlace(40));
            reader.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn visibility_follows_commit_order_and_not_ids() {
        let table = CommitTable::new(TransactionId(10), &[]);
        let (a, b) = (table.allocate().unwrap(), table.allocate().unwrap());
        assert_eq!((a, b), (TransactionId(10), TransactionId(11)));
        table.set_committed(b, CommitTimestamp(100), HistoryPlace(0));
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
        let table = CommitTable::new(TransactionId(1), &[]);
        let ids: Vec<_> = (0..4).map(|_| table.allocate().unwrap()).collect();
        table.set_committed(ids[0], CommitTimestamp(5), HistoryPlace(0));
        table.set_rolled_back(ids[1]);
        table.set_committed(ids[2], CommitTimestamp(50), HistoryPlace(0));
        table.advance_watermark(CommitTimestamp(49));
        assert_eq!(table.watermark(), ids[2]);
        table.advance_watermark(CommitTimestamp(50));
        assert_eq!(table.watermark(), ids[3]);
    }

    #[test]
    fn what_a_crash_left_rolled_back_leaves_no_mark() {
        let table = CommitTable::new(TransactionId(100), &[]);
        table.set_rolled_back(TransactionId(50));
        // The id that comes to its place, a lap later.
        assert_eq!(table.entry(TransactionId(50 + WINDOW_IDS)).load(Ordering::Relaxed), ACTIVE);
        assert_eq!(table.state(TransactionId(50)), TransactionState::Committed(CommitTimestamp(0)));
    }

    #[test]
    fn what_a_crash_left_prepared_commits_like_others() {
        let table = CommitTable::new(TransactionId(100), &[TransactionId(50)]);
        assert_eq!(table.undo_place(TransactionId(50)), UndoPlace::Writer);
        table.set_committed(TransactionId(50), CommitTimestamp(9), HistoryPlace(7));
        assert!(!table.is_visible(TransactionId(50), CommitTimestamp(8)));
        assert!(table.is_visible(TransactionId(50), CommitTimestamp(9)));
        assert_eq!(table.undo_place(TransactionId(50)), UndoPlace::History(HistoryPlace(7)));
        table.advance_watermark(CommitTimestamp(8));
        assert_eq!(table.watermark(), TransactionId(50));
        table.advance_watermark(CommitTimestamp(9));
        assert_eq!(table.watermark(), TransactionId(100));
        assert_eq!(table.undo_place(TransactionId(50)), UndoPlace::Gone);
    }

    #[test]
    fn what_a_crash_left_unfinished_is_nobodys() {
        let losers = [TransactionId(70), TransactionId(50)];
        let table = CommitTable::new(TransactionId(100), &losers);
        let own = table.allocate().unwrap();
        table.set_committed(own, CommitTimestamp(5), HistoryPlace(0));
        table.advance_watermark(CommitTimestamp(9));
        assert_eq!(table.watermark(), TransactionId(50));
        for loser in losers {
            assert_eq!(table.state(loser), TransactionState::Active);
            assert!(!table.is_visible(loser, CommitTimestamp(9)));
        }
        for other in [49, 51, 69, 71, 99, own.0] {
            assert!(table.is_visible(TransactionId(other), CommitTimestamp(0)), "{other}");
        }
        // The places of these ids belong to others.
        assert_eq!(table.entry(TransactionId(50 + WINDOW_IDS)).load(Ordering::Relaxed), ACTIVE);
        table.set_rolled_back(losers[1]);
        assert_eq!(table.state(losers[1]), TransactionState::RolledBack);
        table.advance_watermark(CommitTimestamp(9));
        assert_eq!(table.watermark(), TransactionId(70));
        table.set_committed(losers[0], CommitTimestamp(12), HistoryPlace(0));
        table.advance_watermark(CommitTimestamp(11));
        assert_eq!(table.watermark(), TransactionId(70));
        assert!(table.is_visible(losers[0], CommitTimestamp(12)));
        assert!(!table.is_visible(losers[0], CommitTimestamp(11)));
        table.advance_watermark(CommitTimestamp(12));
        assert_eq!(table.watermark(), table.next_id());
    }

    #[test]
    fn chunks_are_recycled_behind_the_watermark() {
        let table = CommitTable::new(TransactionId(1), &[]);
        for round in 0..3 * CHUNK_IDS {
            let id = table.allocate().unwrap();
            table.set_committed(id, CommitTimestamp(round + 1), HistoryPlace(0));
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
