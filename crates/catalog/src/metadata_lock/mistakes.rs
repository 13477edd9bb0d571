//! Mistakes that a test can plant into the queues, to prove that its oracle would see them. Main type: [`Mistake`].
//! Outside of tests nothing is planted and the questions cost nothing.

/// A place where the code was wrong once, or could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// A waiter is granted its lock beside others that exclude it.
    GrantsBesideLocks,
    /// Who gives a lock back lets nobody go on.
    LeavesWaiters,
    /// A request that is given up lets nobody behind it go on.
    GivesUpAlone,
    /// First come, first served: DDL does not go before readers that came earlier.
    ServesInOrder,
    /// Nobody waits for those who intend to change something.
    OverlooksIntentions,
    /// A session goes on though the gate against its intention is raised.
    PassesTheGate,
    /// A request for a lock against intentions that is given up leaves the gate raised.
    LeavesTheGate,
    /// The search for deadlocks sees no request before another one.
    SearchesHoldersOnly,
    /// A session that holds a name waits behind those that wait for it.
    QueuesHolders,
    /// A reader or writer keeps its slot beside a strong lock.
    OverlooksMarks,
    /// A strong request does not look at slots.
    OverlooksSlots,
    /// A lock that was moved out of its slot is never given back.
    ForgetsMoves,
    /// The end of a strong lock leaves the mark.
    LeavesMarks,
    /// An exclusive lock leaves plans as they are.
    LeavesPlans,
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
        pub(in super::super) const ALL: [Mistake; 14] = [
            Mistake::GrantsBesideLocks,
            Mistake::LeavesWaiters,
            Mistake::GivesUpAlone,
            Mistake::ServesInOrder,
            Mistake::OverlooksIntentions,
            Mistake::PassesTheGate,
            Mistake::LeavesTheGate,
            Mistake::SearchesHoldersOnly,
            Mistake::QueuesHolders,
            Mistake::OverlooksMarks,
            Mistake::OverlooksSlots,
            Mistake::ForgetsMoves,
            Mistake::LeavesMarks,
            Mistake::LeavesPlans,
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
