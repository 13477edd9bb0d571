//! Where results are kept and found. Main type: [`ResultCache`].
//!
//! Thread rules: a hit takes the shared side of its shard's lock for as long as a look-up takes, and no other. Who keeps a result, or throws
//! some out, holds the ring first, then one shard after the other. What is thrown out is dropped when no lock is held that a hit takes.

use crate::admission::Admission;
use crate::entry::Entry;
use crate::settings::SettingsNumbers;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, Weak};
use stdx::OwnLine;

const SHARDS: usize = 64;
/// So many of those that came up for being thrown out are passed over because they were served, for each that is thrown out.
const PASSED_OVER_MAX: usize = 64;

type Found<R> = HashMap<u64, Arc<Entry<R>>>;

/// Results of all sessions.
pub struct ResultCache<R> {
    /// Without its keys nobody can make many results share a shard.
    hasher: RandomState,
    shards: Box<[OwnLine<RwLock<Found<R>>>]>,
    /// Those that can be found, in the order in which they come up for being thrown out, and some that cannot any more.
    ring: Mutex<VecDeque<Weak<Entry<R>>>>,
    admission: Admission,
    settings: SettingsNumbers,
    capacity_bytes: AtomicU64,
    bytes: Arc<AtomicU64>,
    count: AtomicU64,
    inserted: AtomicU64,
    pruned: AtomicU64,
}

/// What a cache has and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Results that can be found.
    pub count: u64,
    /// What entries take, those included that are being sent after they were thrown out.
    pub bytes: u64,
    /// What they may take.
    pub capacity_bytes: u64,
    /// How many were kept since the start.
    pub inserted: u64,
    /// How many were thrown out for want of room.
    pub pruned: u64,
}

impl<R> ResultCache<R> {
    /// An empty cache for entries of so many bytes.
    pub fn new(capacity_bytes: u64) -> ResultCache<R> {
        ResultCache {
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| OwnLine::default()).collect(),
            ring: Mutex::default(),
            admission: Admission::new(),
            settings: SettingsNumbers::default(),
            capacity_bytes: AtomicU64::new(capacity_bytes),
            bytes: Arc::default(),
            count: AtomicU64::new(0),
            inserted: AtomicU64::new(0),
            pruned: AtomicU64::new(0),
        }
    }

    /// Whether there is room for anything.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.capacity_bytes() > 0
    }

    /// What entries may take.
    #[inline]
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes.load(Ordering::Relaxed)
    }

    /// The number of a key, for the calls below.
    pub fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.hash_one(key)
    }

    /// The entry of a key.
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<Arc<Entry<R>>> {
        let found = self.shard(hash).read().unwrap_or_else(PoisonError::into_inner);
        let entry = found.get(&hash).filter(|entry| *entry.key == *key)?;
        entry.note_use();
        Some(Arc::clone(entry))
    }

    /// Whether a result was asked for lately, so that it is worth being kept. Remembers that it is.
    pub fn was_asked(&self, hash: u64) -> bool {
        self.admission.was_asked(hash)
    }

    /// A number that stands for some settings, and for no others, in keys.
    pub fn number_of(&self, settings: &[u8]) -> u64 {
        self.settings.number(settings)
    }

    /// Keeps a result of so many bytes. False if there is no room for it.
    pub fn insert(&self, hash: u64, key: &[u8], result: R, result_bytes: usize) -> bool {
        let bytes = Entry::<R>::bytes_of(key, result_bytes);
        let mut ring = self.ring();
        // The one before it, if there is one, is worth nothing any more.
        let before = self.write(hash).remove(&hash);
        before.iter().for_each(|entry| self.forget(entry));
        drop(before);
        if !self.make_room(&mut ring, bytes) {
            return false;
        }
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        let entry = Arc::new(Entry::new((hash, key), result, bytes, &self.bytes));
        ring.push_back(Arc::downgrade(&entry));
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inserted.fetch_add(1, Ordering::Relaxed);
        self.write(hash).insert(hash, entry);
        self.tidy(&mut ring);
        true
    }

    /// Throws out an entry that is not right any more.
    pub fn remove(&self, entry: &Arc<Entry<R>>) {
        let mut found = self.write(entry.hash);
        let is_found = found.get(&entry.hash).is_some_and(|there| Arc::ptr_eq(there, entry));
        let removed = if is_found { found.remove(&entry.hash) } else { None };
        drop(found);
        removed.iter().for_each(|entry| self.forget(entry));
    }

    /// Throws out all that are not right any more.
    pub fn retain(&self, is_right: impl Fn(&R) -> bool) {
        for shard in &self.shards {
            let mut found = shard.write().unwrap_or_else(PoisonError::into_inner);
            let gone: Vec<_> = found.extract_if(|_, entry| !is_right(&entry.result)).collect();
            drop(found);
            gone.iter().for_each(|(_, entry)| self.forget(entry));
        }
        let mut ring = self.ring();
        ring.retain(|entry| entry.strong_count() > 0);
    }

    /// Throws out all.
    pub fn clear(&self) {
        self.retain(|_| false);
    }

    /// Changes what entries may take.
    pub fn set_capacity(&self, capacity_bytes: u64) {
        self.capacity_bytes.store(capacity_bytes, Ordering::Relaxed);
        let mut ring = self.ring();
        self.make_room(&mut ring, 0);
        ring.shrink_to(0);
    }

    /// What it has and did.
    pub fn figures(&self) -> Figures {
        Figures {
            count: self.count.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Acquire),
            capacity_bytes: self.capacity_bytes(),
            inserted: self.inserted.load(Ordering::Relaxed),
            pruned: self.pruned.load(Ordering::Relaxed),
        }
    }

    fn shard(&self, hash: u64) -> &RwLock<Found<R>> {
        &self.shards[hash as usize % SHARDS]
    }

    fn write(&self, hash: u64) -> RwLockWriteGuard<'_, Found<R>> {
        self.shard(hash).write().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) -> MutexGuard<'_, VecDeque<Weak<Entry<R>>>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An entry was taken out of its shard.
    fn forget(&self, entry: &Entry<R>) {
        if entry.leave() {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Throws out entries, those first that nobody was served for longest, until so many bytes are free.
    fn make_room(&self, ring: &mut VecDeque<Weak<Entry<R>>>, bytes: u64) -> bool {
        let capacity = self.capacity_bytes();
        if bytes > capacity {
            return false;
        }
        let mut passed_over = 0;
        while self.bytes.load(Ordering::Acquire) > capacity - bytes {
            let Some(first) = ring.pop_front() else { return false };
            let Some(entry) = first.upgrade() else { continue };
            if entry.take_used() && passed_over < PASSED_OVER_MAX {
                passed_over += 1;
                ring.push_back(first);
                continue;
            }
            passed_over = 0;
            self.remove(&entry);
            self.pruned.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Keeps the ring from growing with entries that were thrown out otherwise.
    fn tidy(&self, ring: &mut VecDeque<Weak<Entry<R>>>) {
        if ring.len() as u64 > 2 * self.count.load(Ordering::Relaxed) + SHARDS as u64 {
            ring.retain(|entry| entry.strong_count() > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(cache: &ResultCache<u32>, name: u8, result: u32, bytes: usize) -> bool {
        cache.insert(cache.hash(&[name]), &[name], result, bytes)
    }

    fn found(cache: &ResultCache<u32>, name: u8) -> Option<u32> {
        cache.find(cache.hash(&[name]), &[name]).map(|entry| entry.result)
    }

    #[test]
    fn results_are_found_by_their_key() {
        let cache = ResultCache::new(100_000);
        assert!(keep(&cache, 1, 10, 100) && keep(&cache, 2, 20, 100));
        assert_eq!((found(&cache, 1), found(&cache, 2), found(&cache, 3)), (Some(10), Some(20), None));
        assert!(cache.find(cache.hash(&[1]), &[2]).is_none(), "the same number, another key");
        assert!(keep(&cache, 1, 11, 100));
        assert_eq!((found(&cache, 1), cache.figures().count), (Some(11), 2));
        let entry = cache.find(cache.hash(&[1]), &[1]).unwrap();
        cache.remove(&entry);
        cache.remove(&entry);
        assert_eq!((found(&cache, 1), cache.figures().count), (None, 1));
    }

    #[test]
    fn what_is_not_served_goes_first_and_memory_stays_below_its_bound() {
        let cache = ResultCache::new(10_000);
        for name in 0..200 {
            assert!(keep(&cache, name, u32::from(name), 500));
            assert_eq!(found(&cache, 0), Some(0), "served all the time");
            let figures = cache.figures();
            assert!(figures.bytes <= figures.capacity_bytes, "{figures:?}");
        }
        let figures = cache.figures();
        assert_eq!((figures.count + figures.pruned, figures.inserted), (200, 200));
        assert_eq!((found(&cache, 1), found(&cache, 199)), (None, Some(199)));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let cache = ResultCache::new(10_000);
        assert!(keep(&cache, 1, 1, 100));
        assert!(!keep(&cache, 2, 2, 10_000));
        assert_eq!(found(&cache, 1), Some(1), "nothing was thrown out for it");
        cache.set_capacity(0);
        assert!(!cache.has_room() && !keep(&cache, 1, 1, 1));
        assert_eq!((cache.figures().count, cache.figures().bytes), (0, 0));
    }

    #[test]
    fn an_entry_that_is_held_counts() {
        let cache = ResultCache::new(2_000);
        assert!(keep(&cache, 1, 1, 1_500));
        let held = cache.find(cache.hash(&[1]), &[1]).unwrap();
        assert!(!keep(&cache, 2, 2, 1_500), "its bytes are not free yet");
        assert_eq!((cache.figures().count, held.result), (0, 1));
        drop(held);
        assert_eq!(cache.figures().bytes, 0);
        assert!(keep(&cache, 2, 2, 1_500));
        cache.clear();
        assert_eq!(cache.figures().bytes, 0);
    }

    #[test]
    fn the_ring_does_not_grow_with_what_was_thrown_out() {
        let cache = ResultCache::new(1 << 20);
        for time in 0..10_000 {
            assert!(keep(&cache, (time % 7) as u8, time, 10));
        }
        assert!(cache.ring().len() < 200, "{}", cache.ring().len());
    }
}
