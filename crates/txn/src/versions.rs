//! Old versions of clustered rows, for snapshots that do not see the newest. Main type: [`VersionStore`].
//! A version is pushed by its overwriter under the row's exclusive latch, popped by rollback under the same latch, and
//! dropped by purge when every snapshot sees the overwriter (rules V4 to V6 in README.md).

use crate::hash::{KeyHasher, key_hash};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::ids::{IndexId, TransactionId};

/// Shards; a power of two.
const SHARDS: usize = 256;
/// What a version costs beside its key and value, in bytes: for the accounting.
const VERSION_OVERHEAD_BYTES: usize = 96;

/// Old versions by key, newest first.
#[derive(Debug)]
pub struct VersionStore {
    shards: Box<[Mutex<Shard>]>,
    bytes: AtomicU64,
    versions: AtomicU64,
}

/// Chains by hash of their key; a bucket holds the rare chains whose hashes are equal.
type Shard = HashMap<u64, Vec<Chain>, KeyHasher>;

#[derive(Debug)]
struct Chain {
    index: IndexId,
    key: Box<[u8]>,
    /// Oldest first.
    versions: Vec<Version>,
}

/// A value that was overwritten.
#[derive(Clone, Debug)]
pub struct Version {
    /// Who overwrote it.
    pub overwriter: TransactionId,
    /// The whole stored value, its own writer's id included.
    pub value: Arc<[u8]>,
}

impl VersionStore {
    /// An empty store.
    pub fn new() -> VersionStore {
        VersionStore {
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::default())).collect(),
            bytes: AtomicU64::new(0),
            versions: AtomicU64::new(0),
        }
    }

    /// Adds the value that `overwriter` is about to replace.
    pub fn push(&self, index: IndexId, key: &[u8], overwriter: TransactionId, value: Arc<[u8]>) {
        let hash = key_hash(index, key);
        self.account(1, version_bytes(key, &value));
        let mut shard = self.shard(hash);
        let bucket = shard.entry(hash).or_default();
        let version = Version { overwriter, value };
        match bucket.iter_mut().find(|chain| chain.is(index, key)) {
            Some(chain) => chain.versions.push(version),
            None => bucket.push(Chain { index, key: key.into(), versions: vec![version] }),
        }
    }

    /// Takes the newest version back, if `overwriter` pushed it: rollback.
    pub fn pop(&self, index: IndexId, key: &[u8], overwriter: TransactionId) {
        self.remove_if(index, key, |chain| {
            if chain.versions.last().is_some_and(|version| version.overwriter == overwriter) {
                chain.versions.pop().into_iter().collect()
            } else {
                Vec::new()
            }
        });
    }

    /// Drops the version that `overwriter` pushed and all older ones: every snapshot sees the overwriter.
    /// Returns how many were dropped.
    pub fn purge(&self, index: IndexId, key: &[u8], overwriter: TransactionId) -> usize {
        self.remove_if(index, key, |chain| {
            let last = chain.versions.iter().rposition(|version| version.overwriter == overwriter);
            last.map(|last| chain.versions.drain(..=last).collect()).unwrap_or_default()
        })
    }

    /// The newest old version that `visible` accepts, given the stored value.
    pub fn find(&self, index: IndexId, key: &[u8], visible: impl Fn(&[u8]) -> bool) -> Option<Arc<[u8]>> {
        let hash = key_hash(index, key);
        let shard = self.shard(hash);
        let chain = shard.get(&hash)?.iter().find(|chain| chain.is(index, key))?;
        chain
            .versions
            .iter()
            .rev()
            .find(|version| visible(&version.value))
            .map(|version| version.value.clone())
    }

    /// Bytes held, overhead included.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Number of old versions held.
    pub fn len(&self) -> u64 {
        self.versions.load(Ordering::Relaxed)
    }

    /// Whether no old version is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn remove_if(&self, index: IndexId, key: &[u8], take: impl FnOnce(&mut Chain) -> Vec<Version>) -> usize {
        let hash = key_hash(index, key);
        let mut shard = self.shard(hash);
        let Some(bucket) = shard.get_mut(&hash) else { return 0 };
        let Some(at) = bucket.iter().position(|chain| chain.is(index, key)) else { return 0 };
        let taken = take(&mut bucket[at]);
        if bucket[at].versions.is_empty() {
            bucket.swap_remove(at);
            if bucket.is_empty() {
                shard.remove(&hash);
            }
        }
        drop(shard);
        for version in &taken {
            self.versions.fetch_sub(1, Ordering::Relaxed);
            self.bytes.fetch_sub(version_bytes(key, &version.value), Ordering::Relaxed);
        }
        taken.len()
    }

    fn account(&self, versions: u64, bytes: u64) {
        self.versions.fetch_add(versions, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        let shard = (hash >> 32) as usize % SHARDS;
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for VersionStore {
    fn default() -> Self {
        VersionStore::new()
    }
}

impl Chain {
    fn is(&self, index: IndexId, key: &[u8]) -> bool {
        self.index == index && *self.key == *key
    }
}

fn version_bytes(key: &[u8], value: &[u8]) -> u64 {
    (key.len() + value.len() + VERSION_OVERHEAD_BYTES) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(byte: u8) -> Arc<[u8]> {
        vec![byte].into()
    }

    #[test]
    fn newest_visible_version_is_found_and_purge_keeps_the_rest() {
        let store = VersionStore::new();
        let index = IndexId(7);
        for id in 1..=4 {
            store.push(index, b"k", TransactionId(id + 1), value(id as u8));
        }
        assert_eq!(store.find(index, b"k", |stored| stored[0] <= 3).as_deref(), Some(&[3][..]));
        assert_eq!(store.purge(index, b"k", TransactionId(3)), 2);
        assert_eq!(store.len(), 2);
        assert!(store.find(index, b"k", |stored| stored[0] <= 2).is_none());
        store.pop(index, b"k", TransactionId(4));
        assert_eq!(store.len(), 2, "only the pusher of the newest version can pop it");
        store.pop(index, b"k", TransactionId(5));
        store.pop(index, b"k", TransactionId(4));
        assert!(store.is_empty());
        assert_eq!(store.bytes(), 0);
    }

    #[test]
    fn keys_and_indexes_are_apart() {
        let store = VersionStore::new();
        store.push(IndexId(1), b"k", TransactionId(2), value(1));
        assert!(store.find(IndexId(2), b"k", |_| true).is_none());
        assert!(store.find(IndexId(1), b"l", |_| true).is_none());
        assert!(store.find(IndexId(1), b"k", |_| true).is_some());
    }
}
