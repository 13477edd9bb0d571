//! Finding the group of a key. Main type: [`Groups`]. Small integers find it in an array, other keys of up to eight bytes by one
//! hash, longer ones by their bytes. Groups are numbered in the order in which they appear.

use super::column::{DirectKey, key_bytes};
use crate::spill::seeded::{SeededHash, hash_of};
use std::collections::HashMap;
use values::Value;
use values::row::RowView;

/// Integers below this find their group in an array.
const ARRAY_KEYS_MAX: u64 = 1 << 20;
/// Longest bytes that are packed into a number together with their length.
const PACKED_BYTES_MAX: usize = 7;
/// No group yet.
const NONE: u32 = u32::MAX;

/// Groups by one key, or one group without a key.
pub struct Groups<'p> {
    key: Option<DirectKey<'p>>,
    /// Key of each group.
    values: Vec<Value>,
    null: u32,
    by_small_integer: Vec<u32>,
    by_number: HashMap<u64, u32, SeededHash>,
    by_bytes: HashMap<Box<[u8]>, u32>,
    bytes: usize,
}

impl<'p> Groups<'p> {
    /// No groups yet; without a key there is one.
    pub fn new(key: Option<DirectKey<'p>>) -> Groups<'p> {
        let values = if key.is_none() { vec![Value::Null] } else { Vec::new() };
        Groups {
            key,
            values,
            null: NONE,
            by_small_integer: Vec::new(),
            by_number: HashMap::default(),
            by_bytes: HashMap::new(),
            bytes: 0,
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Memory that the groups hold, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes + 4 * self.by_small_integer.len()
    }

    /// The key of each group.
    pub fn into_values(self) -> Vec<Value> {
        self.values
    }

    /// The number of a row's group; one more than before if it is new.
    #[inline]
    pub fn find(&mut self, row: &[u8], view: &RowView<'_>) -> usize {
        match &self.key {
            None => 0,
            Some(DirectKey::Integer(column, column_type)) => match column.read(row) {
                None => self.null_group(),
                Some(number) => {
                    let unsigned = column_type.unsigned;
                    self.integer_group(number, unsigned)
                }
            },
            Some(DirectKey::Bytes { position, start, length }) => {
                match key_bytes(view, *position, *start, *length) {
                    None => self.null_group(),
                    Some(bytes) => self.bytes_group(bytes),
                }
            }
        }
    }

    fn add(&mut self, value: Value) -> u32 {
        self.bytes += size_of::<Value>() + 64;
        self.values.push(value);
        (self.values.len() - 1) as u32
    }

    fn null_group(&mut self) -> usize {
        if self.null == NONE {
            self.null = self.add(Value::Null);
        }
        self.null as usize
    }

    fn integer_group(&mut self, number: i64, unsigned: bool) -> usize {
        let key = number as u64;
        let value = || if unsigned { Value::UInt(key) } else { Value::Int(number) };
        if key >= ARRAY_KEYS_MAX {
            let hash = hash_of(key);
            if let Some(group) = self.by_number.get(&hash) {
                return *group as usize;
            }
            let group = self.add(value());
            self.by_number.insert(hash, group);
            return group as usize;
        }
        let place = key as usize;
        if place >= self.by_small_integer.len() {
            self.by_small_integer.resize((place + 1).next_power_of_two(), NONE);
        }
        if self.by_small_integer[place] == NONE {
            self.by_small_integer[place] = self.add(value());
        }
        self.by_small_integer[place] as usize
    }

    fn bytes_group(&mut self, bytes: &[u8]) -> usize {
        if bytes.len() <= PACKED_BYTES_MAX {
            // The length stands in front of the bytes, so that zero bytes count.
            let packed = bytes.iter().fold(bytes.len() as u64, |packed, byte| packed << 8 | u64::from(*byte));
            let hash = hash_of(packed);
            if let Some(group) = self.by_number.get(&hash) {
                return *group as usize;
            }
            let group = self.add(Value::Bytes(bytes.to_vec()));
            self.by_number.insert(hash, group);
            return group as usize;
        }
        if let Some(group) = self.by_bytes.get(bytes) {
            return *group as usize;
        }
        self.bytes += 2 * bytes.len();
        let group = self.add(Value::Bytes(bytes.to_vec()));
        self.by_bytes.insert(bytes.into(), group);
        group as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_bytes_are_different_groups() {
        let mut groups = Groups::new(None);
        groups.values.clear();
        let keys: [&[u8]; 9] =
            [b"", b"\0", b"\0\0", b"a", b"a\0", b"\0a", b"abcdefg", b"abcdefgh", b"abcdefghi"];
        for round in 0..2 {
            for (number, key) in keys.iter().enumerate() {
                assert_eq!(groups.bytes_group(key), number, "{key:?} in round {round}");
            }
        }
    }
}
