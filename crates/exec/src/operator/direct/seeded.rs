//! A cheap hash of 64-bit keys: the key is made into a hash by a permutation that differs from process to process, so that nobody
//! can choose keys that collide. Main type: [`SeededHash`].

use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
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

/// Takes a number that is a hash already.
#[derive(Debug, Default)]
pub struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Builds [`Ready`].
pub type SeededHash = BuildHasherDefault<Ready>;

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
