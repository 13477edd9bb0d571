//! Which results are kept: those that were expensive, and those that are asked for a second time. Main type: [`Admission`].

use std::sync::atomic::{AtomicU32, Ordering};

/// Keys that are remembered. A newer one takes the place of an older one.
const PLACES: usize = 8192;
/// What takes longer is worth being kept at first sight, microseconds: to keep it costs less than a tenth of that.
pub const EXPENSIVE_US: u64 = 1000;

/// What was asked for lately.
pub(crate) struct Admission {
    places: Box<[AtomicU32]>,
}

impl Admission {
    pub(crate) fn new() -> Admission {
        Admission { places: (0..PLACES).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Whether a result was asked for lately. Remembers that it is.
    pub(crate) fn was_asked(&self, hash: u64) -> bool {
        let place = &self.places[hash as usize % PLACES];
        let name = (hash >> 32) as u32 | 1;
        let is_known = place.load(Ordering::Relaxed) == name;
        if !is_known {
            place.store(name, Ordering::Relaxed);
        }
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_known() {
        let admission = Admission::new();
        let hash = 0x1234_5678_9abc_def0;
        assert!(!admission.was_asked(hash), "first sight");
        assert!(admission.was_asked(hash), "second sight");
        assert!(!admission.was_asked(hash ^ 1 << 40), "another in its place");
        assert!(!admission.was_asked(hash), "forgotten");
    }
}
