//! Keys that are longer than an entry has room for: they are cut, and end with a hash of the whole. Main type: [`KeyRoom`]. Rules K1
//! to K3 in the engine's README.

use crate::{Index, Table, Tables};
use engine_error::EngineResult;
use std::sync::atomic::{AtomicU8, Ordering};
use values::key::{KeyError, KeyLayout, KeyPart, successor};

/// Bytes of the hash that ends a cut key.
const HASH_BYTES: usize = 16;
/// Own parts and clustered key may have so many bytes each where either may be long.
const LONG_KEY_BYTES_MAX: usize = page::KEY_BYTES_MAX / 2;
/// A clustered key that never has more bytes than this leaves the rest to the own parts.
const SHORT_KEY_BYTES_MAX: usize = 300;

const _: () = {
    // What keys of 3,072 bytes, the most that DDL accepts, need besides: marks and ends of 16 parts.
    assert!(page::KEY_BYTES_MAX - SHORT_KEY_BYTES_MAX - HASH_BYTES >= 3072 + 2 * 16);
    assert!(2 * LONG_KEY_BYTES_MAX <= page::KEY_BYTES_MAX);
};

/// How long the own keys of an index get.
#[derive(Debug)]
pub(crate) struct KeyRoom {
    /// Longer keys are cut behind so many bytes.
    whole_bytes_max: usize,
    /// Whether some key was cut: then the index does not order the rows.
    cut: AtomicU8,
}

/// No key was cut.
const NONE: u8 = 0;
/// A key was cut, and the dictionary does not say so.
const SOME: u8 = 1;
/// The dictionary says that keys may have been cut.
const NOTED: u8 = 2;

impl KeyRoom {
    /// The room of the clustered index, whose keys are these parts.
    pub(crate) fn of_clustered(parts: &[KeyPart]) -> KeyRoom {
        let bytes_max = if is_short(parts) { SHORT_KEY_BYTES_MAX } else { LONG_KEY_BYTES_MAX - HASH_BYTES };
        KeyRoom { whole_bytes_max: bytes_max, cut: AtomicU8::new(NONE) }
    }

    /// The room of the own parts in a secondary index of a table whose clustered index has these parts.
    pub(crate) fn of_secondary(clustered: &[KeyPart]) -> KeyRoom {
        let bytes_max = match is_short(clustered) {
            true => page::KEY_BYTES_MAX - SHORT_KEY_BYTES_MAX,
            false => LONG_KEY_BYTES_MAX,
        };
        KeyRoom { whole_bytes_max: bytes_max - HASH_BYTES, cut: AtomicU8::new(NONE) }
    }

    /// Cuts the own key that starts there, if it is too long.
    #[inline]
    fn fit(&self, key: &mut Vec<u8>, start: usize) {
        if key.len() - start > self.whole_bytes_max {
            self.cut(key, start);
        }
    }

    #[cold]
    fn cut(&self, key: &mut Vec<u8>, start: usize) {
        let hash = hash_of(&key[start..]);
        key.truncate(start + self.whole_bytes_max);
        key.extend_from_slice(&hash.to_be_bytes());
        let _ = self.cut.compare_exchange(NONE, SOME, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Bytes of the first `count` parts of an own key; of all of it if it was cut within them.
    #[inline]
    fn prefix_bytes(&self, layout: &KeyLayout, key: &[u8], count: usize) -> Result<usize, KeyError> {
        let Some(whole) = key.get(..self.whole_bytes_max) else { return layout.prefix_bytes(key, count) };
        // A key that was not cut ends within these bytes, and what was cut off cannot have been all of a part.
        match layout.prefix_bytes(whole, count) {
            Err(KeyError::Corrupt) if key.len() >= whole.len() + HASH_BYTES => Ok(whole.len() + HASH_BYTES),
            read => read,
        }
    }
}

impl Index {
    /// Makes the whole key of one row, that was made with [`Index::key_layout`], the one under which the row stands.
    #[inline]
    pub fn fit_key(&self, key: &mut Vec<u8>) {
        self.room.fit(key, 0);
    }

    /// Whether keys that begin with those bytes stand in the index with all of them.
    #[inline]
    pub fn holds_whole(&self, beginning: &[u8]) -> bool {
        beginning.len() <= self.room.whole_bytes_max
    }

    /// Makes room for a range of such keys, from the first to before the second: a range that may hold other rows too.
    pub fn fit_range(&self, from: &mut Vec<u8>, to: &mut Option<Vec<u8>>) {
        let bytes_max = self.room.whole_bytes_max;
        from.truncate(bytes_max);
        if let Some(end) = to.as_mut().filter(|end| end.len() > bytes_max) {
            end.truncate(bytes_max);
            *to = successor(end);
        }
    }

    /// Whether rows come in the order of the index's parts. Not if keys were cut: rows whose keys agree as far as they
    /// stand in the index come in any order.
    #[inline]
    pub fn orders_rows(&self) -> bool {
        self.room.cut.load(Ordering::Relaxed) == NONE
    }

    /// Cuts the own key at the end of `key`, if it is too long.
    #[inline]
    pub(crate) fn fit_own_key(&self, key: &mut Vec<u8>, start: usize) {
        self.room.fit(key, start);
    }

    /// Bytes of the first `count` own parts of an entry's key; of all own parts if the key was cut within them.
    #[inline]
    pub fn own_prefix_bytes(&self, entry_key: &[u8], count: usize) -> Result<usize, KeyError> {
        self.room.prefix_bytes(&self.key_layout, entry_key, count)
    }

    /// Whether the dictionary says that keys may have been cut; None if it does not say so yet though some were.
    pub(crate) fn are_cuts_noted(&self) -> Option<bool> {
        match self.room.cut.load(Ordering::Relaxed) {
            SOME => None,
            cut => Some(cut == NOTED),
        }
    }

    /// The dictionary says that keys of the index may have been cut.
    pub(crate) fn set_cut_noted(&self) {
        self.room.cut.store(NOTED, Ordering::Relaxed);
    }
}

impl Tables {
    /// Before entries are written whose keys may have been cut: the dictionary has to say so.
    #[inline]
    pub fn note_cut_keys(&self, table: &Table, index: &Index) -> EngineResult<()> {
        if index.room.cut.load(Ordering::Relaxed) == SOME { self.put_cut_keys(table, index) } else { Ok(()) }
    }

    #[cold]
    fn put_cut_keys(&self, table: &Table, index: &Index) -> EngineResult<()> {
        if !table.is_temporary() {
            self.store.put_cut_keys(&self.pool, table.id())?;
        }
        index.set_cut_noted();
        Ok(())
    }

    /// What the dictionary says of a table that was just opened.
    pub fn recall_cut_keys(&self, table: &Table) {
        // If that cannot be read, keys may have been cut.
        if self.store.has_cut_keys(&self.pool, table.id()).unwrap_or(true) {
            table.set_cut_noted();
        }
    }
}

/// Whether keys of these parts are always short.
fn is_short(parts: &[KeyPart]) -> bool {
    parts.iter().all(KeyPart::has_fixed_bytes)
        && parts.iter().map(KeyPart::encoded_bytes).sum::<u32>() as usize <= SHORT_KEY_BYTES_MAX
}

/// FNV-1a of 128 bits.
fn hash_of(key: &[u8]) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    key.iter().fold(START, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
