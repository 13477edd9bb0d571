//! Where a HANDLER stands in an index, and which keys a step reads from there. Main types: [`Place`], [`Keys`].
//! A place lies on a row, by its key, or between two: the row may be gone when the next step is made.

use engine::KeyRange;
use parser::ast::{BinaryOperator, HandlerStep};
use std::ops::{Bound, RangeBounds};

/// Which index is read: none stands for the rows as they lie.
pub(super) type Way = Option<usize>;

/// Where the last step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Another index than the one that is read next has no place in it.
    pub way: Way,
    pub at: Cut,
}

/// A place in the order of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// On the row of that key.
    On(Vec<u8>),
    /// Before the first row of that key or a greater one.
    Before(Vec<u8>),
    /// Behind all rows.
    End,
}

/// The keys that a step reads, and which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub range: KeyRange,
    pub backward: bool,
}

impl Keys {
    fn forward(range: KeyRange) -> Keys {
        Keys { range, backward: false }
    }

    fn backward(upper: Bound<Vec<u8>>) -> Keys {
        Keys { range: KeyRange { lower: Bound::Unbounded, upper }, backward: true }
    }

    /// Those of a step that names no key. None if there can be none.
    pub fn of_step(step: &HandlerStep, way: Way, place: Option<&Place>) -> Option<Keys> {
        let at = place.filter(|place| place.way == way).map(|place| &place.at);
        match (step, at) {
            (HandlerStep::Next, Some(at)) => at.behind().map(|lower| {
                Keys::forward(KeyRange { lower: Bound::Included(lower), upper: Bound::Unbounded })
            }),
            (HandlerStep::Previous, Some(at)) => Some(Keys::backward(match at {
                Cut::On(key) | Cut::Before(key) => Bound::Excluded(key.clone()),
                Cut::End => Bound::Unbounded,
            })),
            (HandlerStep::Last | HandlerStep::Previous, _) => Some(Keys::backward(Bound::Unbounded)),
            _ => Some(Keys::forward(KeyRange::all())),
        }
    }

    /// Those that compare so with the first parts of a key.
    pub fn compared(operator: BinaryOperator, prefix: &[u8]) -> Keys {
        match operator {
            BinaryOperator::GreaterOrEqual => {
                Keys::forward(KeyRange { lower: KeyRange::at_or_after(prefix), upper: Bound::Unbounded })
            }
            BinaryOperator::Greater => {
                Keys::forward(KeyRange { lower: KeyRange::past_prefix(prefix), upper: Bound::Unbounded })
            }
            BinaryOperator::LessOrEqual => Keys::backward(KeyRange::after_prefix(prefix)),
            BinaryOperator::Less => Keys::backward(KeyRange::before(prefix)),
            _ => Keys::forward(KeyRange::prefix(prefix)),
        }
    }

    /// Of the keys of a row in their order the one that the step reads first.
    pub fn first_of(&self, mut keys: Vec<Vec<u8>>) -> Option<Vec<u8>> {
        if keys.len() > 1 {
            let range = (self.range.lower.as_ref(), self.range.upper.as_ref());
            keys.retain(|key| range.contains(key));
        }
        if self.backward { keys.pop() } else { keys.into_iter().next() }
    }

    /// The place behind all of them, in the direction in which they were read.
    pub fn end(&self) -> Cut {
        match (self.backward, &self.range.lower, &self.range.upper) {
            (false, _, Bound::Excluded(upper) | Bound::Included(upper)) => Cut::Before(upper.clone()),
            (false, ..) => Cut::End,
            (true, Bound::Included(lower) | Bound::Excluded(lower), _) => Cut::Before(lower.clone()),
            (true, Bound::Unbounded, _) => Cut::Before(Vec::new()),
        }
    }
}

impl Cut {
    /// The least key that the next row can have; None if there is none.
    fn behind(&self) -> Option<Vec<u8>> {
        match self {
            Cut::On(key) => {
                let mut next = key.clone();
                next.push(0);
                Some(next)
            }
            Cut::Before(key) => Some(key.clone()),
            Cut::End => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(step: &HandlerStep, at: Cut) -> Option<Keys> {
        Keys::of_step(step, Some(1), Some(&Place { way: Some(1), at }))
    }

    #[test]
    fn a_step_goes_on_where_the_last_one_ended() {
        let next = after(&HandlerStep::Next, Cut::On(vec![5])).unwrap();
        assert_eq!(next.range.lower, Bound::Included(vec![5, 0]));
        let between = after(&HandlerStep::Next, Cut::Before(vec![5])).unwrap();
        assert_eq!(between.range.lower, Bound::Included(vec![5]));
        assert_eq!(after(&HandlerStep::Next, Cut::End), None);
        for at in [Cut::On(vec![5]), Cut::Before(vec![5])] {
            let previous = after(&HandlerStep::Previous, at).unwrap();
            assert!(previous.backward);
            assert_eq!(previous.range.upper, Bound::Excluded(vec![5]));
        }
    }

    #[test]
    fn another_index_begins_at_its_end() {
        let place = Place { way: Some(1), at: Cut::On(vec![5]) };
        let all = Keys::of_step(&HandlerStep::Next, Some(2), Some(&place)).unwrap();
        assert_eq!(all, Keys::forward(KeyRange::all()));
        let all = Keys::of_step(&HandlerStep::Previous, None, Some(&place)).unwrap();
        assert_eq!(all, Keys::backward(Bound::Unbounded));
    }

    #[test]
    fn of_several_keys_of_a_row_a_step_reads_the_next_one() {
        let keys = || vec![vec![1], vec![3], vec![5]];
        let after_three = after(&HandlerStep::Next, Cut::On(vec![3])).unwrap();
        assert_eq!(after_three.first_of(keys()), Some(vec![5]));
        let before_three = after(&HandlerStep::Previous, Cut::On(vec![3])).unwrap();
        assert_eq!(before_three.first_of(keys()), Some(vec![1]));
        assert_eq!(Keys::compared(BinaryOperator::LessOrEqual, &[4]).first_of(keys()), Some(vec![3]));
        assert_eq!(after_three.first_of(Vec::new()), None);
    }

    #[test]
    fn what_is_read_to_its_end_leaves_a_place_between_rows() {
        let equal = Keys::compared(BinaryOperator::Equal, &[7]);
        assert_eq!(equal.end(), Cut::Before(vec![8]));
        assert_eq!(Keys::compared(BinaryOperator::Less, &[7]).end(), Cut::Before(Vec::new()));
        assert_eq!(Keys::compared(BinaryOperator::Greater, &[7]).end(), Cut::End);
        // Nothing is behind a prefix of the greatest bytes.
        let none = Keys::compared(BinaryOperator::Greater, &[0xFF]);
        assert_eq!(none.end(), Cut::End);
    }
}
