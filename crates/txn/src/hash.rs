//! The hash that shards locks and versions by (index, key bytes).

use stdx::ids::IndexId;

/// Hash of a key: multiply-and-fold over 8-byte words. Its users compare keys, so collisions only cost time.
pub(crate) fn key_hash(index: IndexId, key: &[u8]) -> u64 {
    const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = fold(index.0 ^ SEED, key.len() as u64 ^ 0xD6E8_FEB8_6659_FD93);
    let mut words = key.chunks_exact(8);
    for word in words.by_ref() {
        let word = u64::from_le_bytes(word.try_into().expect("a chunk of 8 bytes"));
        hash = fold(hash ^ word, SEED);
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    fold(hash ^ u64::from_le_bytes(last), 0xA076_1D64_78BD_642F)
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// For maps whose keys are what [`key_hash`] gave.
pub(crate) type KeyHasher = stdx::known_hash::BuildKnownHash;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_keys_spread() {
        let mut shards = [0u32; 64];
        for number in 0..6400u64 {
            let hash = key_hash(IndexId(3), &number.to_be_bytes());
            shards[(hash >> 32) as usize % 64] += 1;
        }
        assert!(shards.iter().all(|count| (50..160).contains(count)), "{shards:?}");
        assert_ne!(key_hash(IndexId(1), b"a"), key_hash(IndexId(1), b"a\0"));
    }
}
