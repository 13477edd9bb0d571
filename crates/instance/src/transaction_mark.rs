//! That a session has an open transaction, for those who look at it from outside. Main type: [`TransactionMark`].
//! Written by the session alone, at the beginning and the end of each transaction.

use engine::Isolation;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Levels, by their number.
const LEVELS: [Isolation; 4] = [
    Isolation::ReadUncommitted,
    Isolation::ReadCommitted,
    Isolation::RepeatableRead,
    Isolation::Serializable,
];
/// Beside the level.
const READ_ONLY: u8 = 4;

/// The open transaction of a session.
#[derive(Debug, Default)]
pub struct TransactionMark {
    /// Monotonic time of its first statement in microseconds, plus one; 0 without a transaction.
    began: AtomicU64,
    /// Its level, and whether it is read-only.
    characteristics: AtomicU8,
}

/// A transaction as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTransaction {
    /// Monotonic time of its first statement, microseconds.
    pub began_microseconds: u64,
    /// Its level.
    pub isolation: Isolation,
    /// READ ONLY was said.
    pub read_only: bool,
}

impl TransactionMark {
    /// A transaction begins.
    #[inline]
    pub fn begin(&self, began_microseconds: u64, isolation: Isolation, read_only: bool) {
        let read_only = if read_only { READ_ONLY } else { 0 };
        self.characteristics.store(isolation as u8 | read_only, Ordering::Relaxed);
        self.began.store(began_microseconds + 1, Ordering::Relaxed);
    }

    /// It has ended.
    #[inline]
    pub fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }

    /// The transaction, if one is open.
    pub fn get(&self) -> Option<OpenTransaction> {
        let began_microseconds = self.began.load(Ordering::Relaxed).checked_sub(1)?;
        let characteristics = self.characteristics.load(Ordering::Relaxed);
        let isolation = LEVELS[usize::from(characteristics % READ_ONLY)];
        Some(OpenTransaction { began_microseconds, isolation, read_only: characteristics & READ_ONLY != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_what_was_begun() {
        let mark = TransactionMark::default();
        assert_eq!(mark.get(), None);
        for isolation in LEVELS {
            for read_only in [false, true] {
                mark.begin(0, isolation, read_only);
                assert_eq!(mark.get(), Some(OpenTransaction { began_microseconds: 0, isolation, read_only }));
            }
        }
        mark.end();
        assert_eq!(mark.get(), None);
    }
}
