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
    known: HashMap<Box<[u8]>, Known>,
    last: u64,
}

#[derive(Clone, Copy)]
struct Known {
    number: u64,
    /// How often the number was asked for.
    uses: u64,
}

impl Numbers {
    /// Makes room for one. What few sessions ask for goes first, so that one session with settings that nobody shares takes the room of
    /// such settings only.
    fn forget_one(&mut self) {
        let rarest = self.known.iter().min_by_key(|(_, known)| (known.uses, known.number));
        if let Some(settings) = rarest.map(|(settings, _)| settings.clone()) {
            self.known.remove(&settings);
        }
    }
}

impl SettingsNumbers {
    /// The number of some settings.
    pub fn number(&self, settings: &[u8]) -> u64 {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = numbers.known.get_mut(settings) {
            known.uses += 1;
            return known.number;
        }
        // Results that were kept under these are found no more; they are thrown out like others that nobody is served.
        if numbers.known.len() == SETTINGS_MAX {
            numbers.forget_one();
        }
        numbers.last += 1;
        let number = numbers.last;
        numbers.known.insert(settings.into(), Known { number, uses: 1 });
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
        let rare = numbers.number(b"rare");
        let others = (0..3 * SETTINGS_MAX).map(|at| numbers.number(&at.to_le_bytes()));
        let mut given: Vec<u64> = others.chain([first, rare]).collect();
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 3 * SETTINGS_MAX + 2);
        assert_eq!(numbers.number(b"first"), first, "others ask for it");
        assert!(numbers.number(b"rare") > rare, "forgotten");
        assert!(numbers.0.lock().unwrap().known.len() <= SETTINGS_MAX);
    }
}
