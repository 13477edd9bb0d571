//! Numbers for settings: what the keys of a session's statements begin with is long, and the same for nearly all sessions. Main type:
//! [`SettingsNumbers`].

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Settings that have a number at a time.
const SETTINGS_MAX: usize = 256;

/// The numbers that settings have. None is given twice, so equal numbers mean equal bytes.
#[derive(Default)]
pub(crate) struct SettingsNumbers(Mutex<Numbers>);

#[derive(Default)]
struct Numbers {
    known: HashMap<Box<[u8]>, u64>,
    last: u64,
}

impl SettingsNumbers {
    /// The number of some settings.
    pub fn number(&self, settings: &[u8]) -> u64 {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = numbers.known.get(settings) {
            return *number;
        }
        // Results that were kept under these are found no more; they are thrown out like others that nobody is served.
        if numbers.known.len() == SETTINGS_MAX {
            numbers.known.clear();
        }
        numbers.last += 1;
        let number = numbers.last;
        numbers.known.insert(settings.into(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_never_given_to_others() {
        let numbers = SettingsNumbers::default();
        let first = numbers.number(b"first");
        assert_eq!(numbers.number(b"first"), first);
        let mut given: Vec<u64> =
            (0..3 * SETTINGS_MAX).map(|at| numbers.number(&at.to_le_bytes())).chain([first]).collect();
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 3 * SETTINGS_MAX + 1);
        assert!(numbers.number(b"first") > first, "forgotten");
        assert!(numbers.0.lock().unwrap().known.len() <= SETTINGS_MAX);
    }
}
