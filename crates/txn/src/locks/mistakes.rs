//! Mistakes that a test can plant into the queues, to prove that its oracle would see them. Main type: [`Mistake`].
//! Outside of tests nothing is planted and the questions cost nothing.

/// A place where the code was wrong once, or could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// A waiter is granted though a lock that came behind it excludes it.
    GrantsBesideLocks,
    /// Who leaves a queue lets nobody go on.
    LeavesWaiters,
    /// A writer that may pass the waiters takes no object for its lock.
    WritesPastWaiters,
    /// A statement gives back the object of a lock that the transaction's write needs.
    UnlocksWritten,
    /// A lock is given although the writer that was in the way ended before its lock was an object.
    TrustsEndedWriter,
    /// The search for deadlocks does not pass through waiters.
    SearchesHoldersOnly,
    /// Who asks for a key does not look at ranges.
    PassesRanges,
    /// A statement gives back the object that a range has on a key.
    UnlocksRanges,
    /// A row of a range is taken without a look whether another came before.
    ConfirmsBlindly,
    /// A wait that ended otherwise at the moment of its time-out is taken for granted.
    TakesEndForGrant,
}

#[cfg(not(test))]
pub(super) const fn planted(_: Mistake) -> bool {
    false
}

/// A place where another thread may come between: tests let it.
#[cfg(not(test))]
pub(super) fn pause() {}

#[cfg(test)]
pub(super) use planting::{pause, planted, with};

#[cfg(test)]
mod planting {
    use super::Mistake;
    use std::cell::Cell;

    thread_local! {
        static PLANTED: Cell<Option<Mistake>> = const { Cell::new(None) };
    }

    impl Mistake {
        /// Those that show in the order of whole calls.
        pub(in super::super) const OF_STEPS: [Mistake; 8] = [
            Mistake::GrantsBesideLocks,
            Mistake::LeavesWaiters,
            Mistake::WritesPastWaiters,
            Mistake::UnlocksWritten,
            Mistake::TrustsEndedWriter,
            Mistake::SearchesHoldersOnly,
            Mistake::PassesRanges,
            Mistake::UnlocksRanges,
        ];
    }

    pub(in super::super) fn planted(mistake: Mistake) -> bool {
        PLANTED.get() == Some(mistake)
    }

    pub(in super::super) fn pause() {
        (0..3).for_each(|_| std::thread::yield_now());
    }

    /// Runs something on this thread with a mistake planted.
    pub(in super::super) fn with<T>(mistake: Mistake, run: impl FnOnce() -> T) -> T {
        PLANTED.set(Some(mistake));
        let result = run();
        PLANTED.set(None);
        result
    }
}
