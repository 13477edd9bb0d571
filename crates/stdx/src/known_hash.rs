//! A hasher for keys that are, or carry, a good hash already. Main type: [`KnownHash`].

use std::hash::{BuildHasherDefault, Hasher};

/// Passes on the number that it is given.
#[derive(Debug, Default)]
pub struct KnownHash(u64);

impl Hasher for KnownHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Builds [`KnownHash`].
pub type BuildKnownHash = BuildHasherDefault<KnownHash>;
