//! Byte keys in memory, each with a number: those that came first have the lowest. Keys lie one behind the other, so that a new one
//! costs no allocation of its own. Hashes differ from process to process, so that nobody can choose keys that collide.
//! Main type: [`KeyTable`].

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// A free place.
const FREE: Place = Place { tag: 0, number: u32::MAX };
/// Places of a table with keys, at least; always a power of two.
const PLACES_MIN: usize = 64;

/// Keys lie in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

/// What a key costs beside its bytes.
pub const KEY_BYTES: usize = 40;

/// Where a key is found: some bits of its hash, so that other keys are seldom looked at, and its number.
#[derive(Clone, Copy)]
struct Place {
    tag: u32,
    number: u32,
}

/// Where a key's bytes are.
#[derive(Clone, Copy)]
struct KeyBytes {
    piece: u32,
    start: u32,
    length: u32,
}

/// Numbered keys.
#[derive(Default)]
pub struct KeyTable {
    /// Bytes of keys. In pieces, so that a large table is never copied as a whole to grow.
    pieces: Vec<Vec<u8>>,
    keys: Vec<KeyBytes>,
    /// Keys by hash; what is taken is looked for in the next place.
    places: Vec<Place>,
}

impl KeyTable {
    /// The number of a key.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let hash = hash_of_bytes(key);
        let found = self.places[self.place(hash, key)];
        (found.number != FREE.number).then_some(found.number)
    }

    /// The number of a key, and whether it is new.
    pub fn insert(&mut self, key: &[u8]) -> (u32, bool) {
        if self.keys.len() * 2 >= self.places.len() {
            self.grow();
        }
        let hash = hash_of_bytes(key);
        let at = self.place(hash, key);
        if self.places[at].number != FREE.number {
            return (self.places[at].number, false);
        }
        let number = self.keys.len() as u32;
        self.places[at] = Place { tag: tag(hash), number };
        self.keep(key);
        (number, true)
    }

    fn keep(&mut self, key: &[u8]) {
        match self.pieces.last() {
            None => self.pieces.push(Vec::new()),
            Some(piece) if piece.len() + key.len() > PIECE_BYTES => {
                self.pieces.push(Vec::with_capacity(PIECE_BYTES.max(key.len())));
            }
            Some(_) => {}
        }
        let at = self.pieces.len() - 1;
        let piece = &mut self.pieces[at];
        // A piece holds one key that is longer than it, and a key is shorter than 4 GiB as all values are.
        self.keys.push(KeyBytes { piece: at as u32, start: piece.len() as u32, length: key.len() as u32 });
        piece.extend_from_slice(key);
    }

    /// The keys in the order of their numbers.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.keys.len() as u32).map(|number| self.key(number))
    }

    fn key(&self, number: u32) -> &[u8] {
        let KeyBytes { piece, start, length } = self.keys[number as usize];
        &self.pieces[piece as usize][start as usize..][..length as usize]
    }

    /// The place that has the key, or the free one where it would be.
    #[inline]
    fn place(&self, hash: u64, key: &[u8]) -> usize {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            if place.number == FREE.number || place.tag == tag(hash) && self.key(place.number) == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(PLACES_MIN);
        self.places.clear();
        self.places.resize(places, FREE);
        for number in 0..self.keys.len() as u32 {
            let hash = hash_of_bytes(self.key(number));
            let mut at = hash as usize & (places - 1);
            while self.places[at].number != FREE.number {
                at = (at + 1) & (places - 1);
            }
            self.places[at] = Place { tag: tag(hash), number };
        }
    }
}

static SEEDS: OnceLock<[u64; 4]> = OnceLock::new();

/// A hash of bytes: pairs of words, each with its secret, are multiplied, and both halves of the product count.
#[inline]
fn hash_of_bytes(key: &[u8]) -> u64 {
    let seeds = SEEDS.get_or_init(|| [0u64, 1, 2, 3].map(|number| RandomState::new().hash_one(number)));
    let mut hash = seeds[0] ^ key.len() as u64;
    let (pairs, rest) = key.as_chunks::<16>();
    for pair in pairs {
        hash = mixed(hash, *pair, seeds);
    }
    if !rest.is_empty() {
        let mut pair = [0; 16];
        pair[..rest.len()].copy_from_slice(rest);
        hash = mixed(hash, pair, seeds);
    }
    folded(hash ^ seeds[3], seeds[0] | 1)
}

#[inline]
fn mixed(hash: u64, pair: [u8; 16], seeds: &[u64; 4]) -> u64 {
    let both = u128::from_le_bytes(pair);
    folded(both as u64 ^ seeds[1] ^ hash, (both >> 64) as u64 ^ seeds[2])
}

#[inline]
fn folded(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// The bits of a hash that do not choose the place.
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_numbers() {
        let key = |number: u32| [&number.to_le_bytes()[..], &vec![b'x'; number as usize % 40]].concat();
        let mut table = KeyTable::default();
        assert_eq!(table.find(b""), None);
        for number in 0..5000 {
            assert_eq!(table.insert(&key(number)), (number, true));
            assert_eq!(table.insert(&key(number / 2)), (number / 2, false));
        }
        assert!((0..5000).all(|number| table.find(&key(number)) == Some(number)));
        assert_eq!(table.find(&key(5000)), None);
        assert_eq!(table.insert(b""), (5000, true), "the empty key is a key");
        assert_eq!(table.find(b""), Some(5000));
        let long = vec![b'y'; PIECE_BYTES + 1];
        assert_eq!(table.insert(&long), (5001, true), "a key that is longer than a piece");
        assert_eq!(table.insert(b"behind it"), (5002, true));
        assert_eq!(table.keys().map(<[u8]>::len).sum::<usize>(), table.pieces.iter().map(Vec::len).sum());
        assert!((0..5003).zip(table.keys()).all(|(number, key)| table.find(key) == Some(number)));
    }

    #[test]
    fn bytes_that_differ_anywhere_have_different_hashes() {
        let whole = [b'x'; 70];
        let mut hashes: Vec<u64> = (0..=whole.len()).map(|length| hash_of_bytes(&whole[..length])).collect();
        for at in 0..whole.len() {
            let mut other = whole;
            other[at] ^= 1;
            hashes.push(hash_of_bytes(&other));
        }
        hashes.push(hash_of_bytes(&[0]));
        hashes.push(hash_of_bytes(&[0, 0]));
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
