//! Ranges of encoded keys, and the bounds that SQL ranges mean. Main type: [`KeyRange`].

use btree::{Cursor, CursorRange};
use page::KEY_BYTES_MAX;
use std::ops::Bound;

/// A range of encoded keys, compared as bytes. The bounds are compared with whole entry keys, and an entry key of a secondary
/// index continues with the clustered key; [`KeyRange::prefix`] and friends make the bounds that SQL ranges mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Lower bound.
    pub lower: Bound<Vec<u8>>,
    /// Upper bound.
    pub upper: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Whether no key can lie between the bounds.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
            (
                Bound::Included(lower) | Bound::Excluded(lower),
                Bound::Excluded(upper) | Bound::Included(upper),
            ) => lower >= upper,
            _ => false,
        }
    }

    /// Whether no key above one, which is in the range, can be in it too.
    #[inline]
    pub fn ends_at(&self, key: &[u8]) -> bool {
        match &self.upper {
            Bound::Unbounded => false,
            Bound::Included(upper) => upper == key,
            Bound::Excluded(upper) => successor(key).is_some_and(|next| next == *upper),
        }
    }

    /// A walk over the range, upward.
    #[inline]
    pub fn cursor(&self) -> Cursor {
        let range = CursorRange { lower: self.lower.clone(), upper: self.upper.clone() };
        Cursor::new(range, btree::Direction::Forward)
    }

    /// Every key.
    #[inline]
    pub fn all() -> KeyRange {
        KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded }
    }

    /// Keys that begin with those bytes: `a = 1` on an index (a, b), or a whole unique key.
    #[inline]
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        KeyRange { lower: Bound::Included(prefix.to_vec()), upper: KeyRange::after_prefix(prefix) }
    }

    /// Lower bound of `parts >= value`, where `prefix` is the encoded value.
    #[inline]
    pub fn at_or_after(prefix: &[u8]) -> Bound<Vec<u8>> {
        Bound::Included(prefix.to_vec())
    }

    /// Lower bound of `parts > value`: the first key behind all those that begin with the prefix.
    #[inline]
    pub fn past_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
        match successor(prefix) {
            Some(next) => Bound::Included(next),
            // Nothing is behind a prefix of 0xFF bytes; no key equals this longer one.
            None => Bound::Excluded(vec![0xFF; prefix.len() + KEY_BYTES_MAX]),
        }
    }

    /// Upper bound of `parts <= value`: excludes the first key behind all those that begin with the prefix.
    #[inline]
    pub fn after_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
        successor(prefix).map_or(Bound::Unbounded, Bound::Excluded)
    }

    /// Upper bound of `parts < value`.
    #[inline]
    pub fn before(prefix: &[u8]) -> Bound<Vec<u8>> {
        Bound::Excluded(prefix.to_vec())
    }
}

/// The smallest byte string greater than every string with that prefix; None if there is none.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut next = prefix[..=end].to_vec();
    next[end] += 1;
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_bounds() {
        assert_eq!(KeyRange::after_prefix(&[1, 2]), Bound::Excluded(vec![1, 3]));
        assert_eq!(KeyRange::after_prefix(&[1, 0xFF]), Bound::Excluded(vec![2]));
        assert_eq!(KeyRange::after_prefix(&[0xFF, 0xFF]), Bound::Unbounded);
        assert_eq!(KeyRange::past_prefix(&[7]), Bound::Included(vec![8]));
    }
}
