//! Which results are kept: those that were expensive, and those that are asked for a second time. Main type: [`Admission`].

use std::sync::atomic::{AtomicU32, Ordering};

/// Keys that are remembered. A newer one takes the place of an older one.
const PLACES: usize = 8192;
/// What takes longer is kept at first sight, microseconds: to keep it costs less than a tenth of that.
const EXPENSIVE_US: u64 = 1000;

/// What was asked for lately.
pub(crate) struct Admission {
    places: Box<[AtomicU32]>,
}

impl Admission {
    pub(crate) fn new() -> Admission {
        Admission { places: (0..PLACES).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Whether a result that took so long is kept. Remembers that it was asked for.
    pub(crate) fn admits(&self, hash: u64, microseconds: u64) -> bool {
        let place = &self.places[hash as usize % PLACES];
        let name = (hash >> 32) as u32 | 1;
        let is_known = place.load(Ordering::Relaxed) == name;
        if !is_known {
            place.store(name, Ordering::Relaxed);
        }
        is_known || microseconds >= EXPENSIVE_US
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheap_results_are_kept_when_they_come_again() {
        let admission = Admission::new();
        let hash = 0x1234_5678_9abc_def0;
        assert!(!admission.admits(hash, 999), "first sight");
        assert!(admission.admits(hash, 0), "second sight");
        assert!(!admission.admits(hash ^ 1 << 40, 0), "another in its place");
        assert!(!admission.admits(hash, 0), "forgotten");
        assert!(admission.admits(77, EXPENSIVE_US), "expensive");
    }
}
