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
}

#[cfg(not(test))]
pub(super) const fn planted(_: Mistake) -> bool {
    false
}

#[cfg(test)]
pub(super) use planting::{planted, with};

#[cfg(test)]
mod planting {
    use super::Mistake;
    use std::cell::Cell;

    thread_local! {
        static PLANTED: Cell<Option<Mistake>> = const { Cell::new(None) };
    }

    impl Mistake {
        pub(in super::super) const ALL: [Mistake; 6] = [
            Mistake::GrantsBesideLocks,
            Mistake::LeavesWaiters,
            Mistake::WritesPastWaiters,
            Mistake::UnlocksWritten,
            Mistake::TrustsEndedWriter,
            Mistake::SearchesHoldersOnly,
        ];
    }

    pub(in super::super) fn planted(mistake: Mistake) -> bool {
        PLANTED.get() == Some(mistake)
    }

    /// Runs something on this thread with a mistake planted.
    pub(in super::super) fn with<T>(mistake: Mistake, run: impl FnOnce() -> T) -> T {
        PLANTED.set(Some(mistake));
        let result = run();
        PLANTED.set(None);
        result
    }
}
