//! The members of an object that is built: [`Members`].

use super::Built;
use super::node::key_order;
use std::borrow::Cow;

/// Members with one value for each key, ordered as documents order them: by the keys' length, then by their bytes.
#[derive(Clone, Debug, Default)]
pub struct Members<'d>(Vec<(Cow<'d, [u8]>, Built<'d>)>);

impl<'d> Members<'d> {
    /// No members.
    pub fn new() -> Members<'d> {
        Members::default()
    }

    /// Members in any order; of those with one key the last stays. Takes n log n, unlike one [`Members::insert`] after
    /// another.
    pub fn from_pairs(mut pairs: Vec<(Cow<'d, [u8]>, Built<'d>)>) -> Members<'d> {
        // The sort keeps the order of equal keys.
        pairs.sort_by(|a, b| key_order(&a.0, &b.0));
        pairs.reverse();
        pairs.dedup_by(|earlier, later| earlier.0 == later.0);
        pairs.reverse();
        Members(pairs)
    }

    /// Members that are in order already; if they are not, as [`Members::from_pairs`].
    pub fn from_sorted(pairs: Vec<(Cow<'d, [u8]>, Built<'d>)>) -> Members<'d> {
        match pairs.is_sorted_by(|a, b| key_order(&a.0, &b.0).is_lt()) {
            true => Members(pairs),
            false => Members::from_pairs(pairs),
        }
    }

    fn position(&self, key: &[u8]) -> Result<usize, usize> {
        match self.0.last() {
            Some((last, _)) if key_order(last, key).is_lt() => Err(self.0.len()),
            _ => self.0.binary_search_by(|(other, _)| key_order(other, key)),
        }
    }

    /// Sets the value of a key, and returns the one that it had.
    pub fn insert(&mut self, key: impl Into<Cow<'d, [u8]>>, value: Built<'d>) -> Option<Built<'d>> {
        let key = key.into();
        match self.position(&key) {
            Ok(position) => self.0.get_mut(position).map(|member| std::mem::replace(&mut member.1, value)),
            Err(position) => {
                self.0.insert(position, (key, value));
                None
            }
        }
    }

    /// Takes a member out and returns its value.
    pub fn remove(&mut self, key: &[u8]) -> Option<Built<'d>> {
        self.position(key).ok().map(|position| self.0.remove(position).1)
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&Built<'d>> {
        self.position(key).ok().and_then(|position| self.0.get(position)).map(|(_, value)| value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut Built<'d>> {
        let position = self.position(key).ok()?;
        self.0.get_mut(position).map(|(_, value)| value)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &Built<'d>)> + Clone {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// All values in the order of their keys, to be changed.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Built<'d>> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// All members in order, taken out.
    pub fn into_pairs(self) -> Vec<(Cow<'d, [u8]>, Built<'d>)> {
        self.0
    }
}
