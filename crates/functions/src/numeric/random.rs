//! The generator of RAND(): two words of 30 bits, the same sequence as MySQL's for a seed.

/// Each word is below this bound.
const RANDOM_BOUND: u64 = 0x3FFF_FFFF;

/// The two words that a seed starts with.
pub fn seeded(seed: u64) -> [u32; 2] {
    let seed = seed as u32;
    let first = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
    let second = seed.wrapping_mul(0x1000_0001);
    [(u64::from(first) % RANDOM_BOUND) as u32, (u64::from(second) % RANDOM_BOUND) as u32]
}

/// The next number, from 0 up to but not 1.
pub fn next_random(state: &mut [u32; 2]) -> f64 {
    let first = (u64::from(state[0]) * 3 + u64::from(state[1])) % RANDOM_BOUND;
    let second = (first + u64::from(state[1]) + 33) % RANDOM_BOUND;
    *state = [first as u32, second as u32];
    first as f64 / RANDOM_BOUND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_sequence_of_mysql() {
        let mut state = seeded(3);
        let numbers: Vec<f64> = (0..3).map(|_| next_random(&mut state)).collect();
        assert_eq!(numbers, [0.9057697559760601, 0.37307905813034536, 0.14808605345719125]);
    }
}
