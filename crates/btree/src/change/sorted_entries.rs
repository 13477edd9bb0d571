//! [`SortedEntries`]: index entries gathered in one buffer, then put in key order. Nothing is allocated per entry.
//! For [`crate::BulkAppend`] and [`crate::LeafEdit::insert_run`], which want them so.

use super::RunEntry;
use stdx::sort::sort_unless;

/// Entries of one index.
#[derive(Debug, Default)]
pub struct SortedEntries {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// Where an entry is in the bytes: key, then value.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The bytes of the key behind what all keys share, as a number that orders like them.
    head: u64,
    start: usize,
    key_bytes: u16,
    unique_bytes: u16,
    value_bytes: u32,
    ordinal: u32,
}

impl SortedEntries {
    /// Starts an entry: the caller appends its key to the buffer and calls [`SortedEntries::end_key`], then appends the row and
    /// calls [`SortedEntries::end_entry`].
    pub fn begin(&mut self) -> (usize, &mut Vec<u8>) {
        (self.bytes.len(), &mut self.bytes)
    }

    /// Ends the key of the entry that began at `start`. Returns its length, and the buffer for the row.
    pub fn end_key(&mut self, start: usize, header: &[u8]) -> (usize, &mut Vec<u8>) {
        let key_bytes = self.bytes.len() - start;
        self.bytes.extend_from_slice(header);
        (key_bytes, &mut self.bytes)
    }

    /// Ends the entry. `unique_bytes` of its key may not begin another one; 0 if any may. `ordinal` is its row's.
    pub fn end_entry(&mut self, start: usize, key_bytes: usize, unique_bytes: usize, ordinal: usize) {
        let value_bytes = self.bytes.len() - start - key_bytes;
        self.places.push(Place {
            head: 0,
            start,
            key_bytes: key_bytes as u16,
            unique_bytes: unique_bytes as u16,
            value_bytes: value_bytes as u32,
            ordinal: ordinal as u32,
        });
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes of all entries.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// An entry and the ordinal of its row.
    pub fn entry(&self, at: usize) -> (RunEntry<'_>, usize) {
        let place = &self.places[at];
        let (key, rest) = self.bytes[place.start..].split_at(usize::from(place.key_bytes));
        let value = &rest[..place.value_bytes as usize];
        (RunEntry { key, value, unique_bytes: usize::from(place.unique_bytes) }, place.ordinal as usize)
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (RunEntry<'_>, usize)> {
        (0..self.len()).map(|at| self.entry(at))
    }

    /// Forgets the entries, keeps the buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Puts the entries in key order, those of one key in the order of their rows.
    pub fn sort(&mut self) {
        self.sort_unless(|| false);
    }

    /// As [`SortedEntries::sort`]; false, with the entries in any order, if `is_stopped` said so meanwhile.
    pub fn sort_unless(&mut self, is_stopped: impl Fn() -> bool) -> bool {
        let shared = self.shared_bytes();
        let bytes = &self.bytes;
        let key = |place: &Place| &bytes[place.start..place.start + usize::from(place.key_bytes)];
        for place in &mut self.places {
            place.head = head_of(&key(place)[shared..]);
        }
        let order = |one: &Place, other: &Place| {
            one.head
                .cmp(&other.head)
                .then_with(|| key(one).cmp(key(other)))
                .then_with(|| one.ordinal.cmp(&other.ordinal))
        };
        sort_unless(&mut self.places, order, is_stopped)
    }

    /// Bytes with which all keys begin.
    fn shared_bytes(&self) -> usize {
        let mut keys = self.iter().map(|(entry, _)| entry.key);
        let Some(first) = keys.next() else { return 0 };
        let mut shared = first.len();
        for key in keys {
            if shared == 0 {
                break;
            }
            if !key.starts_with(&first[..shared]) {
                shared = first.iter().zip(key).take_while(|(one, other)| one == other).count();
            }
        }
        shared
    }
}

/// The first eight bytes, zero-padded: orders like the bytes, but for what lies behind them.
fn head_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(head) => u64::from_be_bytes(*head),
        None => {
            let mut head = [0; 8];
            head[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(head)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 7] = [7; 7];

    #[test]
    fn entries_come_in_key_order() {
        let mut entries = SortedEntries::default();
        let keys: [&[u8]; 6] =
            [b"pre_b", b"pre_a\0\0", b"pre_a", b"pre_abcdefghz", b"pre_abcdefgha", b"pre_a"];
        for (ordinal, key) in keys.iter().enumerate() {
            let (start, bytes) = entries.begin();
            bytes.extend_from_slice(key);
            let (key_bytes, bytes) = entries.end_key(start, &HEADER);
            bytes.push(ordinal as u8);
            entries.end_entry(start, key_bytes, 2, ordinal);
        }
        entries.sort();
        let order: Vec<usize> = entries.iter().map(|(_, ordinal)| ordinal).collect();
        assert_eq!(order, [2, 5, 1, 4, 3, 0]);
        for (entry, ordinal) in entries.iter() {
            assert_eq!((entry.key, entry.unique_bytes), (keys[ordinal], 2));
            assert_eq!(entry.value, [&HEADER[..], &[ordinal as u8]].concat());
        }
    }
}
