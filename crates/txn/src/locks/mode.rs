//! What a lock covers and what it excludes. Main types: [`LockMode`], [`ModeSet`].

/// Strength of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// S: others may read-lock too.
    Shared,
    /// X: alone.
    Exclusive,
}

/// What a lock covers. The gap is the open interval before the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The entry alone.
    Record,
    /// The gap before it alone: only keeps inserts out.
    Gap,
    /// Both.
    NextKey,
    /// The wish to insert into the gap: waits for gap locks, keeps nobody out.
    InsertIntention,
}

/// A kind of lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockMode {
    /// Strength.
    pub strength: Strength,
    /// Span.
    pub span: Span,
}

/// What a range of keys is locked with, each more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// Its gaps: no insert comes in.
    Gap,
    /// Its gaps, and its rows for reading.
    Shared,
    /// Its gaps, and its rows for writing.
    Exclusive,
}

impl Hold {
    /// The lock on a key of the range, as an object in the key's queue.
    pub const fn mode(self) -> LockMode {
        match self {
            Hold::Gap => LockMode::GAP,
            Hold::Shared => LockMode { strength: Strength::Shared, span: Span::NextKey },
            Hold::Exclusive => LockMode { strength: Strength::Exclusive, span: Span::NextKey },
        }
    }
}

impl From<Strength> for Hold {
    fn from(strength: Strength) -> Hold {
        match strength {
            Strength::Shared => Hold::Shared,
            Strength::Exclusive => Hold::Exclusive,
        }
    }
}

impl LockMode {
    /// S on an entry.
    pub const SHARED_RECORD: LockMode = LockMode { strength: Strength::Shared, span: Span::Record };
    /// X on an entry.
    pub const EXCLUSIVE_RECORD: LockMode = LockMode { strength: Strength::Exclusive, span: Span::Record };
    /// What keeps a gap closed.
    pub const GAP: LockMode = LockMode { strength: Strength::Shared, span: Span::Gap };
    /// The wish to insert.
    pub const INSERT_INTENTION: LockMode =
        LockMode { strength: Strength::Exclusive, span: Span::InsertIntention };

    /// Whether a request for `self` must wait for a lock `held` by another transaction.
    pub const fn waits_for(self, held: LockMode) -> bool {
        match (self.span, held.span) {
            (Span::InsertIntention, Span::Gap | Span::NextKey) => true,
            (Span::InsertIntention, _) | (_, Span::InsertIntention) => false,
            (Span::Gap, _) | (_, Span::Gap) => false,
            (Span::Record | Span::NextKey, Span::Record | Span::NextKey) => {
                matches!(self.strength, Strength::Exclusive) || matches!(held.strength, Strength::Exclusive)
            }
        }
    }

    /// Whether who holds `self` need not ask for `wanted`.
    pub fn covers(self, wanted: LockMode) -> bool {
        let strong = self.strength == Strength::Exclusive || wanted.strength == Strength::Shared;
        let wide = self.span == wanted.span
            || (self.span == Span::NextKey && matches!(wanted.span, Span::Record | Span::Gap));
        strong && wide && wanted.span != Span::InsertIntention
    }
}

/// Strengths and spans, and so the kinds of locks.
const SPANS: [Span; 4] = [Span::Record, Span::Gap, Span::NextKey, Span::InsertIntention];
const STRENGTHS: [Strength; 2] = [Strength::Shared, Strength::Exclusive];

/// A set of modes, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ModeSet(u8);

/// For each mode, by its place in a set: what it waits for.
const CONFLICTS: [ModeSet; 8] = {
    let mut conflicts = [ModeSet(0); 8];
    let mut asked = 0;
    while asked < 8 {
        let mut held = 0;
        while held < 8 {
            if mode_at(asked).waits_for(mode_at(held)) {
                conflicts[asked].0 |= 1 << held;
            }
            held += 1;
        }
        asked += 1;
    }
    conflicts
};

const fn mode_at(place: usize) -> LockMode {
    LockMode { strength: STRENGTHS[place % 2], span: SPANS[place / 2] }
}

impl LockMode {
    const fn place(self) -> usize {
        self.span as usize * 2 + self.strength as usize
    }

    /// The modes of other owners that a request for this one must wait for.
    pub(super) fn conflicts(self) -> ModeSet {
        CONFLICTS[self.place()]
    }
}

impl ModeSet {
    pub(super) const EMPTY: ModeSet = ModeSet(0);

    pub(super) fn with(self, mode: LockMode) -> ModeSet {
        ModeSet(self.0 | 1 << mode.place())
    }

    pub(super) fn union(self, other: ModeSet) -> ModeSet {
        ModeSet(self.0 | other.0)
    }

    pub(super) fn contains(self, mode: LockMode) -> bool {
        self.0 & 1 << mode.place() != 0
    }

    pub(super) fn contains_all(self, others: ModeSet) -> bool {
        others.0 & !self.0 == 0
    }

    pub(super) fn meets(self, others: ModeSet) -> bool {
        others.0 & self.0 != 0
    }

    /// Whether a request for any of these modes must wait for one of the others.
    pub(super) fn all_meet(self, others: ModeSet) -> bool {
        (0..CONFLICTS.len()).all(|place| self.0 & 1 << place == 0 || CONFLICTS[place].meets(others))
    }

    pub(super) fn intersection(self, others: ModeSet) -> ModeSet {
        ModeSet(self.0 & others.0)
    }

    pub(super) fn bits(self) -> u32 {
        u32::from(self.0)
    }

    pub(super) fn from_bits(bits: u32) -> ModeSet {
        ModeSet(bits as u8)
    }
}

impl FromIterator<LockMode> for ModeSet {
    fn from_iter<I: IntoIterator<Item = LockMode>>(modes: I) -> ModeSet {
        modes.into_iter().fold(ModeSet::EMPTY, ModeSet::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(strength: Strength, span: Span) -> LockMode {
        LockMode { strength, span }
    }

    #[test]
    fn gaps_only_stop_inserts() {
        use Span::*;
        use Strength::*;
        assert!(mode(Exclusive, InsertIntention).waits_for(mode(Shared, Gap)));
        assert!(mode(Exclusive, InsertIntention).waits_for(mode(Shared, NextKey)));
        assert!(!mode(Exclusive, InsertIntention).waits_for(mode(Exclusive, Record)));
        assert!(!mode(Exclusive, Gap).waits_for(mode(Exclusive, Gap)));
        assert!(!mode(Exclusive, Record).waits_for(mode(Exclusive, InsertIntention)));
        assert!(mode(Exclusive, Record).waits_for(mode(Shared, NextKey)));
        assert!(!mode(Shared, NextKey).waits_for(mode(Shared, Record)));
    }

    #[test]
    fn sets_say_what_modes_say() {
        for (asked, held) in (0..64).map(|pair| (mode_at(pair / 8), mode_at(pair % 8))) {
            assert_eq!(asked.conflicts().contains(held), asked.waits_for(held), "{asked:?} {held:?}");
            assert_eq!(ModeSet::EMPTY.with(asked).contains(held), asked == held);
        }
    }

    #[test]
    fn stronger_and_wider_covers() {
        use Span::*;
        use Strength::*;
        assert!(mode(Exclusive, NextKey).covers(mode(Shared, Record)));
        assert!(!mode(Shared, NextKey).covers(mode(Exclusive, Record)));
        assert!(!mode(Exclusive, Record).covers(mode(Shared, NextKey)));
    }
}
