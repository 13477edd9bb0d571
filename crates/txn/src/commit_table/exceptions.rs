//! Ids that their chunk says nothing about: writers that were unfinished when the others of their chunk had long ended, or when the
//! server started. They are as many as such writers, and are looked for only where a filter lets pass. Main type: [`Exceptions`].

use super::sync::{AtomicU64, Ordering, RwLock, read, write};
use super::{ACTIVE, HistoryPlace, ROLLED_BACK};
use std::collections::BTreeMap;
use stdx::ids::CommitTimestamp;

/// Words of the filter.
const WORDS: usize = if cfg!(loom) { 1 } else { 64 };

/// What a chunk's arrays would have of one id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exception {
    pub(super) entry: u64,
    pub(super) place: HistoryPlace,
}

/// All exceptions.
#[derive(Debug)]
pub(super) struct Exceptions {
    by_id: RwLock<BTreeMap<u64, Exception>>,
    /// A bit is set for each of them. No bit of one that is there is ever missing.
    filter: [AtomicU64; WORDS],
}

impl Exceptions {
    /// These are unfinished.
    pub(super) fn new(unfinished: impl Iterator<Item = u64>) -> Exceptions {
        let exceptions =
            Exceptions { by_id: RwLock::default(), filter: std::array::from_fn(|_| AtomicU64::new(0)) };
        exceptions.add(unfinished.map(|id| (id, Exception { entry: ACTIVE, place: HistoryPlace(0) })));
        exceptions
    }

    /// Adds some. Whoever changes what their chunk tells does it behind this.
    pub(super) fn add(&self, added: impl Iterator<Item = (u64, Exception)>) {
        let mut by_id = write(&self.by_id);
        for (id, exception) in added {
            by_id.insert(id, exception);
            let (word, bit) = place(id);
            self.filter[word].fetch_or(bit, Ordering::Release);
        }
    }

    /// What is known of an id.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<Exception> {
        let (word, bit) = place(id);
        if self.filter[word].load(Ordering::Acquire) & bit == 0 { None } else { self.look_up(id) }
    }

    #[cold]
    fn look_up(&self, id: u64) -> Option<Exception> {
        read(&self.by_id).get(&id).copied()
    }

    /// The end of one; others are not kept.
    pub(super) fn end(&self, id: u64, end: Exception) {
        if let Some(exception) = write(&self.by_id).get_mut(&id) {
            *exception = end;
        }
    }

    /// Forgets those that every snapshot sees, and those of which nothing is left.
    pub(super) fn forget(&self, horizon: CommitTimestamp) {
        let is_needed = |exception: &Exception| match exception.entry {
            ACTIVE => true,
            ROLLED_BACK => false,
            timestamp => timestamp > horizon.0,
        };
        let all_are_needed = |by_id: &BTreeMap<u64, Exception>| by_id.values().all(is_needed);
        if all_are_needed(&read(&self.by_id)) {
            return;
        }
        let mut by_id = write(&self.by_id);
        by_id.retain(|_, exception| is_needed(exception));
        let mut words = [0; WORDS];
        for id in by_id.keys() {
            let (word, bit) = place(*id);
            words[word] |= bit;
        }
        for (word, bits) in self.filter.iter().zip(words) {
            word.store(bits, Ordering::Release);
        }
    }

    /// The least id.
    pub(super) fn least(&self) -> Option<u64> {
        let by_id = read(&self.by_id);
        by_id.keys().next().copied()
    }

    pub(super) fn len(&self) -> usize {
        read(&self.by_id).len()
    }
}

/// Word and bit of an id in the filter.
fn place(id: u64) -> (usize, u64) {
    let hash = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (hash as usize / 64 % WORDS, 1 << (hash % 64))
}
