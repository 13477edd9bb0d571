//! [`Generator`]: seeded numbers for workloads (splitmix64). The same seed gives the same workload.

/// A stream of numbers that follows from its seed.
#[derive(Clone, Debug)]
pub struct Generator(u64);

impl Generator {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// True once in `odds` times.
    pub fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    /// That many bytes.
    pub fn bytes(&mut self, length: u64) -> Vec<u8> {
        (0..length).map(|_| self.number() as u8).collect()
    }
}
