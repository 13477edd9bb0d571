//! How often integers occur, for joins that only count matches. Main type: [`KeyCounts`]. Dense keys become a bitmap or an
//! array, whatever was estimated before: the form is chosen when all keys are known.

use crate::Held;
use crate::seeded::{SeededHash, hash_of};
use std::collections::HashMap;

/// Bits of a bitmap for each key that is in it, at most.
const BITS_PER_KEY_MAX: u64 = 256;
/// Entries of an array of counts for each key, at most.
const ENTRIES_PER_KEY_MAX: u64 = 8;
/// Below so many entries no array is too sparse.
const SPARSE_ENTRIES: u64 = 1 << 20;

/// Counts of integer keys.
#[derive(Debug)]
pub enum KeyCounts {
    /// Each key occurs once: bit `key - first`.
    Bits {
        /// The least key.
        first: i64,
        /// The bits.
        words: Vec<u64>,
    },
    /// Count of `key - first`.
    Array {
        /// The least key.
        first: i64,
        /// The counts.
        counts: Vec<u32>,
    },
    /// Count by key.
    Hash(HashMap<u64, u32, SeededHash>),
}

impl KeyCounts {
    /// Counts keys; `once` counts each at most once. None if they do not fit the statement's memory.
    pub fn new(keys: &[i64], once: bool, held: &mut Held) -> Option<KeyCounts> {
        let (Some(first), Some(last)) = (keys.iter().min().copied(), keys.iter().max().copied()) else {
            return Some(KeyCounts::Bits { first: 0, words: Vec::new() });
        };
        let span = last.abs_diff(first).saturating_add(1);
        let count = keys.len() as u64;
        if span <= count.saturating_mul(BITS_PER_KEY_MAX).max(SPARSE_ENTRIES) && held.try_grow(span / 8) {
            if let Some(bits) = Self::bits(keys, once, first, span) {
                return Some(bits);
            }
            held.shrink_to(held.bytes() - span / 8);
        }
        if span <= count.saturating_mul(ENTRIES_PER_KEY_MAX).max(SPARSE_ENTRIES) {
            held.try_grow(4 * span).then_some(())?;
            let mut counts = vec![0u32; span as usize];
            for key in keys {
                let place = &mut counts[key.abs_diff(first) as usize];
                *place = if once { 1 } else { *place + 1 };
            }
            return Some(KeyCounts::Array { first, counts });
        }
        held.try_grow(24 * count).then_some(())?;
        let mut counts: HashMap<u64, u32, SeededHash> = HashMap::default();
        for key in keys {
            let place = counts.entry(hash_of(*key as u64)).or_insert(0);
            *place = if once { 1 } else { *place + 1 };
        }
        Some(KeyCounts::Hash(counts))
    }

    /// None if a key occurs twice and that matters.
    fn bits(keys: &[i64], once: bool, first: i64, span: u64) -> Option<KeyCounts> {
        let mut words = vec![0u64; span.div_ceil(64) as usize];
        for key in keys {
            let place = key.abs_diff(first);
            let (word, bit) = ((place / 64) as usize, 1 << (place % 64));
            if words[word] & bit != 0 && !once {
                return None;
            }
            words[word] |= bit;
        }
        Some(KeyCounts::Bits { first, words })
    }

    /// How often a key occurs.
    #[inline]
    pub fn count(&self, key: i64) -> u32 {
        match self {
            KeyCounts::Bits { first, words } => {
                let place = key.wrapping_sub(*first) as u64;
                words.get((place / 64) as usize).map_or(0, |word| (word >> (place % 64)) as u32 & 1)
            }
            KeyCounts::Array { first, counts } => {
                counts.get(key.wrapping_sub(*first) as u64 as usize).copied().unwrap_or(0)
            }
            KeyCounts::Hash(counts) => counts.get(&hash_of(key as u64)).copied().unwrap_or(0),
        }
    }
}
