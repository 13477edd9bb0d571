//! A cheap hash of 64-bit keys: the key is made into a hash by a permutation that differs from process to process, so that nobody
//! can choose keys that collide. Main type: [`SeededHash`].

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

static SEED: OnceLock<u64> = OnceLock::new();

/// A permutation of 64-bit numbers that spreads them: tables keep what it gives in place of the key.
#[inline]
pub fn hash_of(key: u64) -> u64 {
    let seed = *SEED.get_or_init(|| RandomState::new().hash_one(0u64) | 1);
    let mixed = (key ^ (key >> 32)).wrapping_mul(seed);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 32)
}

/// For maps whose keys are what [`hash_of`] gave.
pub type SeededHash = stdx::known_hash::BuildKnownHash;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_keys_have_different_hashes() {
        let mut hashes: Vec<u64> =
            (0..1 << 16).flat_map(|key| [hash_of(key), hash_of(key << 40 | 1 << 39)]).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 2 << 16);
    }
}
