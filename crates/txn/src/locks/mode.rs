//! What a lock covers and what it excludes. Main type: [`LockMode`].

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

impl LockMode {
    /// S on an entry.
    pub const SHARED_RECORD: LockMode = LockMode { strength: Strength::Shared, span: Span::Record };
    /// X on an entry.
    pub const EXCLUSIVE_RECORD: LockMode = LockMode { strength: Strength::Exclusive, span: Span::Record };

    /// Whether a request for `self` must wait for a lock `held` by another transaction.
    pub fn waits_for(self, held: LockMode) -> bool {
        match (self.span, held.span) {
            (Span::InsertIntention, Span::Gap | Span::NextKey) => true,
            (Span::InsertIntention, _) | (_, Span::InsertIntention) => false,
            (Span::Gap, _) | (_, Span::Gap) => false,
            (Span::Record | Span::NextKey, Span::Record | Span::NextKey) => {
                self.strength == Strength::Exclusive || held.strength == Strength::Exclusive
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
    fn stronger_and_wider_covers() {
        use Span::*;
        use Strength::*;
        assert!(mode(Exclusive, NextKey).covers(mode(Shared, Record)));
        assert!(!mode(Shared, NextKey).covers(mode(Exclusive, Record)));
        assert!(!mode(Exclusive, Record).covers(mode(Shared, NextKey)));
    }
}
