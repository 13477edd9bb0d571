//! Old versions of clustered rows, for snapshots that do not see the newest. Main type: [`VersionStore`].
//! A version is pushed by its overwriter under the row's exclusive latch, popped by rollback under the same latch, and
//! dropped by purge when every snapshot sees the overwriter (rules V4 to V6 in README.md). What outgrows the memory limit goes
//! to a temporary file (rules V8 to V11): `segment.rs`.

mod segment;
mod shard;
#[cfg(test)]
mod tests;

use crate::hash::key_hash;
use crate::spill_file::{SpillError, SpillFile};
use segment::{Figures, Segment};
use shard::{Removed, Shard, Version};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use stdx::ids::{IndexId, TransactionId};

/// Shards; a power of two.
const SHARDS: usize = 256;
/// Largest size of a segment that holds more than one body.
const SEGMENT_BYTES_MAX: u64 = 64 << 10;
/// Bytes that lead a value: what visibility is decided by (writer and flags). They stay in memory.
pub const HEAD_BYTES: usize = 7;

/// Old versions by key, newest first.
#[derive(Debug)]
pub struct VersionStore {
    shards: Box<[Mutex<Shard>]>,
    versions: AtomicU64,
    figures: Arc<Figures>,
    file: Arc<SpillFile>,
    /// Full segments in memory, oldest first.
    full: Mutex<Full>,
    /// Length of that queue, to look at without the mutex.
    full_count: AtomicUsize,
    memory_bytes_max: u64,
    /// After a failed write: no other is tried before memory has grown to this.
    retry_above: AtomicU64,
}

/// Segments that can be spilled.
#[derive(Debug, Default)]
struct Full {
    queue: VecDeque<Weak<Segment>>,
    /// Length at which those that are gone are swept out.
    sweep_at: usize,
}

/// An old version. It holds its body, which may have to be read from the file.
#[derive(Debug)]
pub struct OldVersion {
    /// The first bytes of the value.
    pub head: [u8; HEAD_BYTES],
    segment: Arc<Segment>,
    start: u32,
    length: u32,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionFigures {
    /// Old versions.
    pub versions: u64,
    /// Bytes in memory: bodies, keys and overhead.
    pub memory_bytes: u64,
    /// Old versions whose bodies are in the file.
    pub spilled_versions: u64,
    /// Bytes in the file.
    pub spilled_bytes: u64,
    /// Writes to the file that failed; what they were to write stayed in memory.
    pub spill_failures: u64,
}

impl OldVersion {
    /// The value behind its head. May read the file; no mutex of the store is held.
    pub fn body(&self) -> Result<Arc<[u8]>, SpillError> {
        self.segment.body(self.start, self.length)
    }
}

impl VersionStore {
    /// An empty store that spills to `file` what makes it larger than `memory_bytes_max`.
    pub fn new(memory_bytes_max: u64, file: Arc<SpillFile>) -> VersionStore {
        VersionStore {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            versions: AtomicU64::new(0),
            figures: Arc::default(),
            file,
            full: Mutex::default(),
            full_count: AtomicUsize::new(0),
            memory_bytes_max,
            retry_above: AtomicU64::new(0),
        }
    }

    /// Adds the value that `overwriter` is about to replace: its head and what follows it.
    pub fn push(
        &self,
        index: IndexId,
        key: &[u8],
        overwriter: TransactionId,
        head: [u8; HEAD_BYTES],
        body: &[u8],
    ) {
        // Overflow pages hold no value of 4 GiB.
        let length = u32::try_from(body.len()).expect("a value is below 4 GiB");
        let hash = key_hash(index, key);
        let mut shard = self.shard(hash);
        let (segment, start) = self.place_body(&mut shard, body);
        let added = shard.push(hash, index, key, Version { overwriter, head, segment, start, length });
        self.versions.fetch_add(1, Ordering::Relaxed);
        // Under the mutex: nobody may queue and spill the segment, and subtract it, before it was added.
        self.figures.memory.fetch_add((added + body.len()) as u64, Ordering::Relaxed);
        if body.len() >= self.segment_bytes_max()
            && let Some(large) = shard.open.take()
        {
            // One large body fills a segment; it must not wait for the shard's next.
            self.add_full(&large);
        }
    }

    /// All open segments together are at most a quarter of the limit.
    fn segment_bytes_max(&self) -> usize {
        (self.memory_bytes_max / (4 * SHARDS as u64)).clamp(64, SEGMENT_BYTES_MAX) as usize
    }

    /// Puts a body into the shard's open segment; a full one is queued and replaced.
    fn place_body(&self, shard: &mut Shard, body: &[u8]) -> (Arc<Segment>, u32) {
        let bytes_max = self.segment_bytes_max();
        loop {
            let open = shard.open.get_or_insert_with(|| Arc::new(Segment::new(&self.figures)));
            if let Some(start) = open.push(body, bytes_max) {
                return (open.clone(), start);
            }
            if let Some(full) = shard.open.take() {
                self.add_full(&full);
            }
        }
    }

    fn add_full(&self, segment: &Arc<Segment>) {
        let mut full = self.full();
        full.queue.push_back(Arc::downgrade(segment));
        while full.queue.front().is_some_and(|front| front.strong_count() == 0) {
            full.queue.pop_front();
        }
        if full.queue.len() > full.sweep_at {
            full.queue.retain(|segment| segment.strong_count() > 0);
            full.sweep_at = 2 * full.queue.len() + SHARDS;
        }
        self.full_count.store(full.queue.len(), Ordering::Relaxed);
    }

    /// Moves the oldest bodies to the file while the store is above its limit. Called before writes, without any latch,
    /// because it writes. Returns whether anything was to be moved: then it is time for purge too.
    #[inline]
    pub fn spill_excess(&self) -> bool {
        self.memory_bytes() > self.memory_bytes_max
            && self.full_count.load(Ordering::Relaxed) > 0
            && self.spill()
    }

    #[cold]
    fn spill(&self) -> bool {
        if self.memory_bytes() < self.retry_above.load(Ordering::Relaxed) {
            return false;
        }
        let mut moved = false;
        while self.memory_bytes() > self.memory_bytes_max {
            let Some(oldest) = self.take_full() else { break };
            let Some(segment) = oldest.upgrade() else { continue };
            moved = true;
            if segment.spill(&self.file).is_err() {
                // The versions stay in memory; a full disk is not asked again at each write.
                let growth = (self.memory_bytes_max / 16).max(1);
                self.retry_above.store(self.memory_bytes() + growth, Ordering::Relaxed);
                self.put_back(oldest);
                break;
            }
            self.retry_above.store(0, Ordering::Relaxed);
        }
        moved
    }

    fn take_full(&self) -> Option<Weak<Segment>> {
        let mut full = self.full();
        let oldest = full.queue.pop_front();
        self.full_count.store(full.queue.len(), Ordering::Relaxed);
        oldest
    }

    fn put_back(&self, segment: Weak<Segment>) {
        let mut full = self.full();
        full.queue.push_front(segment);
        self.full_count.store(full.queue.len(), Ordering::Relaxed);
    }

    /// Takes the newest version back, if `overwriter` pushed it: rollback.
    pub fn pop(&self, index: IndexId, key: &[u8], overwriter: TransactionId) {
        let hash = key_hash(index, key);
        let removed = self.shard(hash).pop(hash, index, key, overwriter);
        self.forget(removed);
    }

    /// Drops the version that `overwriter` pushed and all older ones: every snapshot sees the overwriter.
    /// Returns how many were dropped.
    pub fn purge(&self, index: IndexId, key: &[u8], overwriter: TransactionId) -> usize {
        let hash = key_hash(index, key);
        let removed = self.shard(hash).purge(hash, index, key, overwriter);
        self.forget(removed)
    }

    /// Runs without the shard's mutex: the last version of a segment gives its space in the file back.
    fn forget(&self, removed: Removed) -> usize {
        let count = removed.older.len() + usize::from(removed.newest.is_some());
        for version in removed.older.iter().chain(&removed.newest) {
            version.segment.forget_version();
        }
        self.versions.fetch_sub(count as u64, Ordering::Relaxed);
        self.figures.memory.fetch_sub(removed.overhead_bytes as u64, Ordering::Relaxed);
        count
    }

    /// The newest old version whose head `visible` accepts. What accepts a version must accept all older ones of its row: row
    /// locks make their writers commit in the order of the chain.
    pub fn find(
        &self,
        index: IndexId,
        key: &[u8],
        visible: impl Fn(&[u8; HEAD_BYTES]) -> bool,
    ) -> Option<OldVersion> {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        let Version { head, segment, start, length, .. } = shard.find(hash, index, key, visible)?;
        Some(OldVersion { head: *head, segment: segment.clone(), start: *start, length: *length })
    }

    /// Bytes held in memory, overhead included.
    pub fn memory_bytes(&self) -> u64 {
        self.figures.memory.load(Ordering::Relaxed)
    }

    /// All figures, read one by one.
    pub fn figures(&self) -> VersionFigures {
        VersionFigures {
            versions: self.versions.load(Ordering::Relaxed),
            memory_bytes: self.memory_bytes(),
            spilled_versions: self.figures.spilled_versions.load(Ordering::Relaxed),
            spilled_bytes: self.figures.spilled_bytes.load(Ordering::Relaxed),
            spill_failures: self.file.failures(),
        }
    }

    fn full(&self) -> MutexGuard<'_, Full> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        let shard = (hash >> 32) as usize % SHARDS;
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
