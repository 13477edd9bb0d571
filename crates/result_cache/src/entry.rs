//! A result that is kept. Main type: [`Entry`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What an entry takes beside its key and its result: itself, its places in the shard and in the ring.
const OVERHEAD_BYTES: u64 = 256;

/// A result with the key that it was kept under. Whoever holds it may send it, though it be thrown out meanwhile.
pub struct Entry<R> {
    pub(crate) hash: u64,
    pub(crate) key: Box<[u8]>,
    /// The result.
    pub result: R,
    /// Served since it last came up for being thrown out.
    used: AtomicBool,
    /// It can be found.
    is_kept: AtomicBool,
    bytes: u64,
    /// The bytes of all entries; those of this one are taken off when nobody holds it any more.
    all_bytes: Arc<AtomicU64>,
}

impl<R> Entry<R> {
    /// The bytes that an entry takes whose key and result take so many.
    pub(crate) fn bytes_of(key: &[u8], result_bytes: usize) -> u64 {
        OVERHEAD_BYTES + key.len() as u64 + result_bytes as u64 + size_of::<R>() as u64
    }

    /// An entry, whose bytes have been added to those of all.
    pub(crate) fn new(
        (hash, key): (u64, &[u8]),
        result: R,
        bytes: u64,
        all_bytes: &Arc<AtomicU64>,
    ) -> Entry<R> {
        Entry {
            hash,
            key: key.into(),
            result,
            used: AtomicBool::new(false),
            is_kept: AtomicBool::new(true),
            bytes,
            all_bytes: Arc::clone(all_bytes),
        }
    }

    /// It was served. Written only if that is news: all who are served it share the line.
    pub(crate) fn note_use(&self) {
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was served since this was asked last.
    pub(crate) fn take_used(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }

    /// It is found no more. False if it was not before.
    pub(crate) fn leave(&self) -> bool {
        self.is_kept.swap(false, Ordering::AcqRel)
    }
}

impl<R> Drop for Entry<R> {
    fn drop(&mut self) {
        self.all_bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}
