//! Who checks and inserts a unique key: one at a time, by stripes of keys (rule W5 in README.md).

use super::TransactionSystem;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use stdx::ids::IndexId;

/// Mutexes that keep two writers from checking the same unique key at once.
pub(crate) const UNIQUE_STRIPES: usize = 512;

pub(super) fn stripes() -> Box<[Mutex<()>]> {
    (0..UNIQUE_STRIPES).map(|_| Mutex::new(())).collect()
}

impl TransactionSystem {
    /// Keeps others from checking or inserting the same unique key. Held over look-up and insert, never over a wait.
    pub(crate) fn unique_guard(&self, index: IndexId, key: &[u8]) -> MutexGuard<'_, ()> {
        let stripe = self.unique_stripe(index, key);
        self.unique_stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stripe's guard if nobody has it: for those who hold a latch, because latches come after stripes.
    pub(crate) fn try_unique_guard(&self, stripe: usize) -> Option<MutexGuard<'_, ()>> {
        match self.unique_stripes[stripe].try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The stripe of a unique key.
    pub(crate) fn unique_stripe(&self, index: IndexId, key: &[u8]) -> usize {
        let hash = key.iter().fold(index.0 ^ 0x9E37_79B9, |hash, byte| {
            (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        (hash >> 20) as usize % UNIQUE_STRIPES
    }
}
