//! [`SimulatedRandom`]: a seeded generator (SplitMix64), the same numbers for the same seed.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Random;

/// Numbers that follow from a seed. Not for secrets.
pub struct SimulatedRandom {
    state: AtomicU64,
}

impl SimulatedRandom {
    /// A generator that always gives the same numbers for the same seed.
    pub fn new(seed: u64) -> SimulatedRandom {
        SimulatedRandom { state: AtomicU64::new(seed) }
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.state.fetch_add(STEP, Ordering::SeqCst).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` (not 0).
    pub fn below(&self, bound: u64) -> u64 {
        assert!(bound > 0);
        self.next() % bound
    }

    /// True once in `odds` times on average.
    pub fn one_in(&self, odds: u64) -> bool {
        self.below(odds) == 0
    }
}

impl Random for SimulatedRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let number = self.next().to_le_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
    }
}
