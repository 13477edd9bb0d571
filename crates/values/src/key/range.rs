//! Ranges of keys. Main type: [`KeyRange`], half open in byte order.

use super::{KeyError, KeyLayout, NULL_MARK, Order, VALUE_MARK};
use crate::row::Form;
use crate::value::Value;

/// The keys from `from` up to but not including `to`; None stands for the end of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// First key that may be in the range.
    pub from: Vec<u8>,
    /// First key after the range.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    /// Whether no key can be in the range.
    pub fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }

    /// Whether the key is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.from.as_slice() && self.to.as_ref().is_none_or(|to| key < to.as_slice())
    }
}

/// The smallest byte string that is greater than every string that starts with `prefix`; None if there is none.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

/// One side of an interval of one part's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit<'a> {
    /// No limit. NULLs are inside.
    None,
    /// No limit but NULLs are outside.
    NotNull,
    /// From or to this value, the value inside.
    Including(&'a Value),
    /// From or to this value, the value outside.
    Excluding(&'a Value),
}

impl KeyLayout {
    /// The range of keys whose first parts equal `values`.
    pub fn equal_range(&self, values: &[Value]) -> Result<KeyRange, KeyError> {
        let mut from = Vec::new();
        self.encode(values, &mut from)?;
        Ok(KeyRange { to: successor(&from), from })
    }

    /// The range of keys whose first parts equal `values` and whose next part is between the limits.
    /// The limits are in the order of values; a descending part swaps them.
    pub fn range(&self, values: &[Value], low: Limit<'_>, high: Limit<'_>) -> Result<KeyRange, KeyError> {
        let mut prefix = Vec::new();
        self.encode(values, &mut prefix)?;
        let part = values.len();
        if part >= self.parts.len() {
            return Ok(KeyRange { to: successor(&prefix), from: prefix });
        }
        let descending = self.parts[part].descending;
        let (low, high) = (self.widened(part, low), self.widened(part, high));
        let (first, last) = if descending { (high, low) } else { (low, high) };
        match self.start(&prefix, part, first)? {
            Some(from) => Ok(KeyRange { from, to: self.end(&prefix, part, last)? }),
            None => Ok(KeyRange { from: prefix, to: Some(Vec::new()) }),
        }
    }

    /// The range of keys whose first parts equal `values` and whose next part, a string, starts with `start`
    /// (LIKE 'start%'). It may hold other keys too: the caller checks each row.
    pub fn starting_with(&self, values: &[Value], start: &[u8]) -> Result<KeyRange, KeyError> {
        let mut from = Vec::new();
        self.encode(values, &mut from)?;
        let Some(part) = self.parts.get(values.len()) else {
            return Ok(KeyRange { to: successor(&from), from });
        };
        if part.form != Form::Bytes {
            return Err(KeyError::WrongValue(values.len()));
        }
        let part_at = from.len();
        if part.nullable {
            from.push(VALUE_MARK);
        }
        match part.order {
            Order::Bytes => {
                let start = &start[..part.prefix_length.map_or(start.len(), |n| start.len().min(n as usize))];
                super::encode::append_bytes(start, &mut from);
                from.pop();
            }
            Order::Text(collation) => {
                let cut = part.prefix_length.map(|n| collation.charset().prefix(start, n as usize));
                collation.sort_key_start(cut.unwrap_or(start), &mut from);
            }
        }
        if part.descending {
            from[part_at..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(KeyRange { to: successor(&from), from })
    }

    /// The first key that is inside the limit; None when no key can be.
    fn start(&self, prefix: &[u8], part: usize, limit: Limit<'_>) -> Result<Option<Vec<u8>>, KeyError> {
        let mut key = prefix.to_vec();
        match limit {
            Limit::None => {}
            Limit::NotNull => {
                if self.parts[part].nullable && !self.parts[part].descending {
                    key.push(VALUE_MARK);
                }
            }
            Limit::Including(value) => self.encode_part(part, value, &mut key)?,
            Limit::Excluding(value) => {
                self.encode_part(part, value, &mut key)?;
                if !self.hides_longer_values(part) {
                    return Ok(successor(&key));
                }
            }
        }
        Ok(Some(key))
    }

    /// The first key that is past the limit; None when all that follow are inside.
    fn end(&self, prefix: &[u8], part: usize, limit: Limit<'_>) -> Result<Option<Vec<u8>>, KeyError> {
        let mut key = prefix.to_vec();
        match limit {
            Limit::None => Ok(successor(prefix)),
            Limit::NotNull => {
                if self.parts[part].nullable && self.parts[part].descending {
                    key.push(!NULL_MARK);
                    return Ok(Some(key));
                }
                Ok(successor(prefix))
            }
            Limit::Including(value) => {
                self.encode_part(part, value, &mut key)?;
                Ok(successor(&key))
            }
            Limit::Excluding(value) => {
                self.encode_part(part, value, &mut key)?;
                Ok(if self.hides_longer_values(part) { successor(&key) } else { Some(key) })
            }
        }
    }

    /// A limit on the beginnings of texts whose order these do not keep says nothing: all that are not NULL are inside.
    fn widened<'v>(&self, part: usize, limit: Limit<'v>) -> Limit<'v> {
        match (limit, self.parts[part].order) {
            (Limit::Including(_) | Limit::Excluding(_), Order::Text(collation))
                if self.hides_longer_values(part) && !collation.beginnings_keep_order() =>
            {
                Limit::NotNull
            }
            (limit, _) => limit,
        }
    }

    /// Whether values that differ may have equal keys, so that an excluding limit must keep the limit's key.
    fn hides_longer_values(&self, part: usize) -> bool {
        self.parts[part].prefix_length.is_some()
    }
}
