//! The fast digests of passwords that were proved in full once. Main type: [`PasswordCache`].
//! Keyed by the stored form, whose salt is random: a changed password misses by itself, so nothing is invalidated.
//! Thread rules: shared by all; a login takes the read lock only.

use super::caching_sha2::FastDigest;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Entries kept; the cache starts anew when it is full, which costs each account one full login.
const ENTRIES_MAX: usize = 65_536;

/// Fast digests by stored form.
#[derive(Debug, Default)]
pub struct PasswordCache {
    entries: RwLock<HashMap<Vec<u8>, FastDigest>>,
}

impl PasswordCache {
    /// The digest of the password whose stored form this is, if a login proved it before.
    pub fn find(&self, stored: &[u8]) -> Option<FastDigest> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(stored).copied()
    }

    /// Remembers a password that was proved in full.
    pub fn insert(&self, stored: &[u8], digest: FastDigest) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES_MAX {
            entries.clear();
        }
        entries.insert(stored.to_vec(), digest);
    }

    /// Forgets everything (FLUSH PRIVILEGES).
    pub fn clear(&self) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
