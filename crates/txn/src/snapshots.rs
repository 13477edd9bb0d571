//! Which snapshots are in use. Main type: [`SnapshotRegistry`].
//! A snapshot costs one compare-and-swap on a slot of its own cache line; nobody takes a mutex (rule S1 in README.md).

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::cell::Cell;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use stdx::ids::CommitTimestamp;

/// Slots in one chunk.
const CHUNK_SLOTS: usize = if cfg!(loom) { 2 } else { 512 };
/// Chunks: with one transaction a connection, far more than connections are possible.
const CHUNKS: usize = if cfg!(loom) { 2 } else { 256 };
/// Content of a slot that nobody uses.
const FREE: u64 = u64::MAX;

#[derive(Debug)]
#[repr(align(64))]
struct Slot(AtomicU64);

/// All snapshots in use.
#[derive(Debug)]
pub struct SnapshotRegistry {
    chunks: Box<[OnceLock<Box<[Slot]>>]>,
    chunks_used: AtomicUsize,
    /// The newest timestamp that purge has offered as its horizon: no older snapshot may begin.
    offered: AtomicU64,
}

/// Room for a snapshot: one at a time is in use. Whoever takes many, one after the other, keeps it, because the count of the
/// registry's holders is one that all cores share. Dropping it ends the use.
#[derive(Debug)]
pub struct Snapshot {
    registry: Arc<SnapshotRegistry>,
    /// The slot of the one in use, and the last commit that it sees.
    used: Option<(usize, CommitTimestamp)>,
}

/// All snapshots that anything can be asked for, those that are still to begin included.
#[derive(Clone, Debug)]
pub struct SnapshotsInUse {
    /// In use, and older than the newest; ascending.
    older: Vec<u64>,
    newest: u64,
}

impl SnapshotsInUse {
    /// What all of them see.
    pub fn horizon(&self) -> CommitTimestamp {
        CommitTimestamp(self.older.first().copied().unwrap_or(self.newest))
    }

    /// Whether one of them may see a commit of `least`, and not one of `greatest`.
    pub(crate) fn tell_apart(&self, least: u64, greatest: u64) -> bool {
        let next = self.older.partition_point(|timestamp| *timestamp < least);
        greatest > self.newest || self.older.get(next).is_some_and(|timestamp| *timestamp < greatest)
    }
}

/// Threads that have taken snapshots: each begins to look at another slot, so that two of them do not write one line by turns.
static THREADS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

thread_local! {
    static LAST_SLOT: Cell<usize> = Cell::new(first_slot());
}

/// Each run of a model begins with the same one.
fn first_slot() -> usize {
    let thread = if cfg!(loom) { 0 } else { THREADS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) };
    thread % CHUNK_SLOTS
}

impl SnapshotRegistry {
    /// An empty registry.
    pub fn new() -> SnapshotRegistry {
        SnapshotRegistry {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            chunks_used: AtomicUsize::new(1),
            offered: AtomicU64::new(0),
        }
    }

    /// Registers a snapshot of the timestamp that `newest` returns, in which slot and of what it became. `newest` is asked again when
    /// purge has moved on meanwhile.
    fn register(&self, newest: impl Fn() -> CommitTimestamp) -> Option<(usize, CommitTimestamp)> {
        let mut timestamp = newest();
        let slot = self.claim(timestamp)?;
        loop {
            one_order();
            // Either purge sees the slot, or we see what it offers.
            if self.offered.load(Ordering::SeqCst) <= timestamp.0 {
                return Some((slot, timestamp));
            }
            timestamp = newest();
            self.slot(slot).store(timestamp.0, Ordering::SeqCst);
        }
    }

    /// The oldest snapshot that is in use or can still begin: what every one of them sees needs no older versions.
    pub fn horizon(&self, newest: CommitTimestamp) -> CommitTimestamp {
        CommitTimestamp(self.offer(newest).fold(newest.0, u64::min))
    }

    /// Those in use, and what still can begin: nothing older than `newest`.
    pub fn in_use(&self, newest: CommitTimestamp) -> SnapshotsInUse {
        let mut older: Vec<u64> = self.offer(newest).filter(|timestamp| *timestamp < newest.0).collect();
        older.sort_unstable();
        older.dedup();
        SnapshotsInUse { older, newest: newest.0 }
    }

    /// From now on no snapshot older than that begins. The slots, free ones too.
    fn offer(&self, newest: CommitTimestamp) -> impl Iterator<Item = u64> {
        self.offered.fetch_max(newest.0, Ordering::SeqCst);
        one_order();
        let chunks = self.chunks.iter().take(self.chunks_used.load(Ordering::SeqCst));
        let slots = chunks.filter_map(|chunk| chunk.get()).flat_map(|slots| slots.iter());
        slots.map(|slot| slot.0.load(Ordering::SeqCst))
    }

    /// Number of snapshots in use. For status output.
    pub fn count(&self) -> usize {
        let slots = self.chunks.iter().filter_map(|chunk| chunk.get()).flat_map(|slots| slots.iter());
        slots.filter(|slot| slot.0.load(Ordering::Relaxed) != FREE).count()
    }

    fn claim(&self, timestamp: CommitTimestamp) -> Option<usize> {
        let last = LAST_SLOT.get();
        if self.try_claim(last, timestamp) {
            return Some(last);
        }
        for chunk in 0..CHUNKS {
            self.chunks_used.fetch_max(chunk + 1, Ordering::SeqCst);
            for slot in chunk * CHUNK_SLOTS..(chunk + 1) * CHUNK_SLOTS {
                if self.try_claim(slot, timestamp) {
                    LAST_SLOT.set(slot);
                    return Some(slot);
                }
            }
        }
        None
    }

    fn try_claim(&self, slot: usize, timestamp: CommitTimestamp) -> bool {
        let place = self.slot(slot);
        place.load(Ordering::Relaxed) == FREE
            && place.compare_exchange(FREE, timestamp.0, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    fn slot(&self, slot: usize) -> &AtomicU64 {
        let chunk = self.chunks[slot / CHUNK_SLOTS]
            .get_or_init(|| (0..CHUNK_SLOTS).map(|_| Slot(AtomicU64::new(FREE))).collect());
        &chunk[slot % CHUNK_SLOTS].0
    }
}

/// The sequentially consistent accesses before and after stand in one order. loom knows that of fences only.
#[inline]
fn one_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

impl Default for SnapshotRegistry {
    fn default() -> Self {
        SnapshotRegistry::new()
    }
}

impl Snapshot {
    /// Room for snapshots; none is in use.
    pub fn new(registry: Arc<SnapshotRegistry>) -> Snapshot {
        Snapshot { registry, used: None }
    }

    /// The last commit that the one in use sees.
    #[inline]
    pub fn timestamp(&self) -> Option<CommitTimestamp> {
        self.used.map(|(_, timestamp)| timestamp)
    }

    /// Begins a use of the snapshot of the timestamp that `newest` returns, in place of the one in use. None when all 131,072 slots are
    /// in use.
    pub fn take(&mut self, newest: impl Fn() -> CommitTimestamp) -> Option<CommitTimestamp> {
        self.end();
        self.used = self.registry.register(newest);
        self.timestamp()
    }

    /// Ends the use.
    pub fn end(&mut self) {
        if let Some((slot, _)) = self.used.take() {
            self.registry.slot(slot).store(FREE, Ordering::Release);
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.end();
    }
}

/// All interleavings of snapshots that begin and purge that offers. Run: RUSTFLAGS="--cfg loom" cargo test -p txn --lib interleavings
#[cfg(all(test, loom))]
mod interleavings {
    use super::*;
    use loom::thread;

    /// A commit is made, and purge takes what is newest then for its horizon. No snapshot in use is older than what was purged.
    #[test]
    fn no_snapshot_is_older_than_what_was_purged() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let registry = Arc::new(SnapshotRegistry::new());
            // The model does not see that a chunk is whole for whoever finds it.
            (0..CHUNKS).for_each(|chunk| _ = registry.slot(chunk * CHUNK_SLOTS));
            let newest = Arc::new(AtomicU64::new(1));
            let purged = Arc::new(AtomicU64::new(0));
            // A second one runs into an assertion of loom 0.7.2 itself ("this sometimes fails").
            let reader = {
                let (registry, newest, purged) = (registry.clone(), newest.clone(), purged.clone());
                thread::spawn(move || {
                    let mut snapshot = Snapshot::new(registry);
                    let newest = || CommitTimestamp(newest.load(Ordering::Acquire));
                    let timestamp = snapshot.take(newest).unwrap();
                    let gone = purged.load(Ordering::Acquire);
                    assert!(gone <= timestamp.0, "{gone} {timestamp:?}");
                })
            };
            newest.store(2, Ordering::Release);
            let horizon = registry.horizon(CommitTimestamp(newest.load(Ordering::Acquire)));
            purged.store(horizon.0, Ordering::Release);
            reader.join().unwrap();
            assert_eq!(registry.horizon(CommitTimestamp(2)), CommitTimestamp(2));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn taken(registry: &Arc<SnapshotRegistry>, timestamp: u64) -> Snapshot {
        let mut snapshot = Snapshot::new(registry.clone());
        assert_eq!(snapshot.take(|| CommitTimestamp(timestamp)), Some(CommitTimestamp(timestamp)));
        snapshot
    }

    #[test]
    fn horizon_is_the_oldest_snapshot_in_use() {
        let registry = Arc::new(SnapshotRegistry::new());
        let mut old = taken(&registry, 10);
        let new = taken(&registry, 20);
        assert_eq!(registry.horizon(CommitTimestamp(30)), CommitTimestamp(10));
        old.end();
        assert_eq!(old.timestamp(), None);
        assert_eq!(registry.horizon(CommitTimestamp(30)), CommitTimestamp(20));
        drop(new);
        assert_eq!(registry.horizon(CommitTimestamp(30)), CommitTimestamp(30));
        assert_eq!(registry.count(), 0);
        old.take(|| CommitTimestamp(30)).unwrap();
        old.take(|| CommitTimestamp(35)).unwrap();
        assert_eq!(registry.horizon(CommitTimestamp(40)), CommitTimestamp(35));
        assert_eq!(registry.count(), 1);
    }

    #[test]
    fn a_snapshot_behind_the_offered_horizon_is_taken_again() {
        let registry = Arc::new(SnapshotRegistry::new());
        registry.horizon(CommitTimestamp(30));
        let answers = std::cell::Cell::new(10);
        let mut snapshot = Snapshot::new(registry);
        let newest = || {
            answers.set(answers.get() + 15);
            CommitTimestamp(answers.get())
        };
        assert_eq!(snapshot.take(newest), Some(CommitTimestamp(40)));
    }

    #[test]
    fn more_snapshots_than_a_chunk_holds() {
        let registry = Arc::new(SnapshotRegistry::new());
        let all: Vec<_> = (0..CHUNK_SLOTS as u64 + 10).map(|at| taken(&registry, at + 5)).collect();
        assert_eq!(registry.count(), all.len());
        assert_eq!(registry.horizon(CommitTimestamp(9999)), CommitTimestamp(5));
    }
}
