//! How a name is locked. Main types: [`LockMode`], [`LockDuration`].
//! The two tables are MySQL's: which granted locks keep a request waiting, and which waiting requests it lets go first.

/// A kind of lock. [`LockMode::Intention`] and [`LockMode::Shared`] are the only ones, with [`LockMode::Exclusive`], that
/// the server, its commits and schemas are locked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LockMode {
    /// Something inside is changed.
    Intention,
    /// Nothing inside is changed; of a table: it neither comes nor goes (CREATE TABLE looks whether it is there).
    Shared,
    /// The statement reads rows.
    Read,
    /// The statement changes or locks rows.
    Write,
    /// LOCK TABLES .. READ: nobody changes rows.
    ReadOnly,
    /// LOCK TABLES .. WRITE: nobody else uses the rows.
    NoReadWrite,
    /// DDL and user locks: nobody else uses the name.
    Exclusive,
}

/// When a lock is given back. A session may hold a name for more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockDuration {
    /// At the statement's end.
    Statement,
    /// At the transaction's end.
    Transaction,
    /// When it is said: UNLOCK TABLES, RELEASE_LOCK().
    Explicit,
}

/// A set of modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modes(u8);

impl Modes {
    pub const fn of(modes: &[LockMode]) -> Modes {
        let (mut bits, mut at) = (0, 0);
        while at < modes.len() {
            bits |= 1 << modes[at] as u8;
            at += 1;
        }
        Modes(bits)
    }

    pub fn contains(self, mode: LockMode) -> bool {
        self.0 & (1 << mode as u8) != 0
    }

    pub fn with(self, mode: LockMode) -> Modes {
        Modes(self.0 | 1 << mode as u8)
    }

    pub fn meets(self, other: Modes) -> bool {
        self.0 & other.0 != 0
    }

    pub fn is_superset(self, other: Modes) -> bool {
        self.0 & other.0 == other.0
    }
}

impl LockMode {
    pub(super) const COUNT: usize = 7;

    /// Locks of others that it cannot be granted beside.
    pub(super) fn conflicts(self) -> Modes {
        use LockMode::*;
        match self {
            Intention => const { Modes::of(&[Shared, Exclusive]) },
            Shared => const { Modes::of(&[Intention, Exclusive]) },
            Read => const { Modes::of(&[NoReadWrite, Exclusive]) },
            Write => const { Modes::of(&[ReadOnly, NoReadWrite, Exclusive]) },
            ReadOnly => const { Modes::of(&[Write, NoReadWrite, Exclusive]) },
            NoReadWrite => const { Modes::of(&[Read, Write, ReadOnly, NoReadWrite, Exclusive]) },
            Exclusive => {
                const { Modes::of(&[Intention, Shared, Read, Write, ReadOnly, NoReadWrite, Exclusive]) }
            }
        }
    }

    /// Waiting requests that go first, even if they came later: DDL is not starved by readers and writers. A subset of
    /// the conflicting ones, so that a grant makes no other waiter free.
    pub(super) fn yields_to(self) -> Modes {
        use LockMode::*;
        match self {
            Intention => const { Modes::of(&[Shared, Exclusive]) },
            Shared | NoReadWrite => const { Modes::of(&[Exclusive]) },
            Read => const { Modes::of(&[NoReadWrite, Exclusive]) },
            Write => const { Modes::of(&[NoReadWrite, Exclusive]) },
            ReadOnly => const { Modes::of(&[Write, NoReadWrite, Exclusive]) },
            Exclusive => const { Modes::of(&[]) },
        }
    }

    /// Whether it excludes any reader or writer: such locks are asked for seldom.
    pub(super) fn is_strong(self) -> bool {
        matches!(self, LockMode::ReadOnly | LockMode::NoReadWrite | LockMode::Exclusive)
    }

    /// Whether holding `self` allows everything that `other` allows.
    pub fn covers(self, other: LockMode) -> bool {
        let on_rows = |mode| matches!(mode, LockMode::Intention | LockMode::Shared);
        self == other
            || self == LockMode::Exclusive
            || !on_rows(self)
                && (other == LockMode::Shared || self.conflicts().is_superset(other.conflicts()))
    }

    /// LOCK_TYPE of performance_schema.metadata_locks.
    pub fn name(self) -> &'static str {
        match self {
            LockMode::Intention => "INTENTION_EXCLUSIVE",
            LockMode::Shared => "SHARED",
            LockMode::Read => "SHARED_READ",
            LockMode::Write => "SHARED_WRITE",
            LockMode::ReadOnly => "SHARED_READ_ONLY",
            LockMode::NoReadWrite => "SHARED_NO_READ_WRITE",
            LockMode::Exclusive => "EXCLUSIVE",
        }
    }
}

impl LockDuration {
    /// LOCK_DURATION of performance_schema.metadata_locks.
    pub fn name(self) -> &'static str {
        match self {
            LockDuration::Statement => "STATEMENT",
            LockDuration::Transaction => "TRANSACTION",
            LockDuration::Explicit => "EXPLICIT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LockMode::{self, *};

    const ALL: [LockMode; LockMode::COUNT] =
        [Intention, Shared, Read, Write, ReadOnly, NoReadWrite, Exclusive];

    #[test]
    fn conflicts_are_mutual_and_hold_what_goes_first() {
        for mode in ALL {
            assert!(mode.conflicts().is_superset(mode.yields_to()), "{mode:?}");
            for other in ALL {
                assert_eq!(mode.conflicts().contains(other), other.conflicts().contains(mode));
                assert!(!(mode.yields_to().contains(other) && other.yields_to().contains(mode)));
            }
        }
    }

    #[test]
    fn a_stronger_lock_covers_a_weaker_one() {
        assert!(Write.covers(Read) && ReadOnly.covers(Read) && NoReadWrite.covers(Write));
        assert!(NoReadWrite.covers(ReadOnly) && Exclusive.covers(NoReadWrite) && Read.covers(Shared));
        assert!(!Write.covers(ReadOnly) && !ReadOnly.covers(Write) && !NoReadWrite.covers(Exclusive));
        assert!(!Shared.covers(Read) && !Intention.covers(Shared) && !Read.covers(Write));
    }
}
