//! The members of an object in the order of their keys, one for each key. Neighbour: `writer.rs`.

use super::{Open, Writer, is_inlined, key_range, position, value_ends};
use crate::json::key_order;
use errors::SqlResult;

impl Writer<'_> {
    /// Puts an object's members in order; of those with one key the last stays.
    pub(super) fn put_in_order(&mut self, open: &Open) -> SqlResult<()> {
        let (keys, ends) = (&self.keys, &self.key_ends[open.key_ends..]);
        let key = |at: u32| &keys[key_range(ends, open.keys, at as usize)];
        let count = ends.len() as u32;
        let mut is_sorted = true;
        for at in 1..count {
            self.steps.next(0)?;
            if !key_order(key(at - 1), key(at)).is_lt() {
                is_sorted = false;
                break;
            }
        }
        if is_sorted {
            return Ok(());
        }
        // What is put in order, and the order.
        let value_bytes = self.out.len() - open.values;
        let held = value_bytes + (keys.len() - open.keys) + ends.len() * (4 * size_of::<u32>() + 1);
        self.steps.next(held)?;
        let mut order = Vec::from_iter(0..count);
        self.steps.sort(&mut order, |a, b| key_order(key(*a), key(*b)))?;
        let mut kept = Vec::with_capacity(order.len());
        for (at, member) in order.iter().enumerate() {
            if order.get(at + 1).is_none_or(|next| key(*next) != key(*member)) {
                kept.push(*member as usize);
            }
        }
        drop(order);
        self.rearrange(open, &kept)
    }

    /// Keeps those members alone, in that order.
    fn rearrange(&mut self, open: &Open, kept: &[usize]) -> SqlResult<()> {
        let codes = self.codes.split_off(open.entries);
        let places = self.places.split_off(open.entries);
        let keys = self.keys.split_off(open.keys);
        let key_ends = self.key_ends.split_off(open.key_ends);
        let values = self.out.split_off(open.values);
        let ends = value_ends(&codes, &places, open.values, values.len());
        for at in kept.iter().copied() {
            self.steps.next(0)?;
            let range = key_range(&key_ends, open.keys, at);
            self.keys.extend_from_slice(&keys[range.start - open.keys..range.end - open.keys]);
            self.key_ends.push(position(self.keys.len())?);
            let mut place = places[at];
            if !is_inlined(codes[at], true) {
                let value = place as usize - open.values..ends[at] as usize;
                place = position(self.out.len())?;
                self.out.extend_from_slice(&values[value]);
            }
            self.codes.push(codes[at]);
            self.places.push(place);
        }
        Ok(())
    }
}
