//! Makes inputs: a seed with a few changes. Main type: [`Generator`]; the same number makes the same input.

/// Changes made to one input.
const CHANGES_MAX: u64 = 8;
/// Inputs grow no longer than this.
const INPUT_BYTES_MAX: usize = 4096;
/// Bytes that formats give a meaning to.
const TELLING: [u8; 24] = [
    0, 1, 2, 3, 4, 7, 8, 9, 0x0A, 0x20, 0x22, 0x27, 0x28, 0x29, 0x3B, 0x5C, 0x60, 0x7F, 0x80, 0xFB, 0xFC,
    0xFD, 0xFE, 0xFF,
];

/// A small generator of pseudo-random numbers (SplitMix64).
pub struct Generator {
    state: u64,
}

impl Generator {
    /// A generator whose numbers follow from `seed`.
    pub fn new(seed: u64) -> Generator {
        Generator { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }

    /// Puts an input into `input`: a seed of the corpus with changes, rarely without.
    pub fn make_input(&mut self, corpus: &[Vec<u8>], input: &mut Vec<u8>) {
        input.clear();
        if let Some(seed) = corpus.get(self.below(corpus.len())) {
            input.extend_from_slice(seed);
        }
        for _ in 0..self.next() % (CHANGES_MAX + 1) {
            self.change(corpus, input);
        }
        input.truncate(INPUT_BYTES_MAX);
    }

    fn change(&mut self, corpus: &[Vec<u8>], input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let length = self.below(8.min(input.len() - at) + 1);
        match self.next() % 9 {
            0 => input.insert(at, self.next() as u8),
            1 => input.insert(at, TELLING[self.below(TELLING.len())]),
            2 => drop(input.drain(at..at + length)),
            3 => input.truncate(at),
            4 | 5 if at < input.len() => {
                let telling = TELLING[self.below(TELLING.len())];
                input[at] = if self.next() & 1 == 0 { telling } else { input[at] ^ 1 << (self.next() % 8) };
            }
            6 => {
                let number = self.next() >> (self.next() % 64);
                let bytes = number.to_le_bytes();
                input.splice(at..at + length, bytes[..1 + self.below(8)].iter().copied());
            }
            7 => {
                let copied = input[at..at + length].to_vec();
                let times = 1 + self.below(40);
                input.splice(at..at, copied.repeat(times));
            }
            _ => {
                let Some(other) = corpus.get(self.below(corpus.len())) else { return };
                let start = self.below(other.len() + 1);
                let end = start + self.below(other.len() - start + 1);
                input.splice(at..at, other[start..end].iter().copied());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_makes_the_same_input_again() {
        let corpus = [b"SELECT 1".to_vec(), b"INSERT INTO t VALUES (1)".to_vec()];
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut differing = 0;
        for seed in 0..1000 {
            Generator::new(seed).make_input(&corpus, &mut first);
            Generator::new(seed).make_input(&corpus, &mut second);
            assert_eq!(first, second);
            differing += usize::from(!corpus.contains(&first));
        }
        assert!(differing > 800);
    }
}
