//! What a transaction must put back to undo its writes. Main type: [`UndoRecord`]; lists of them are in `undo_list.rs`.
//! The same bytes stand in memory, in the redo log (logical records) and, for transactions that outlive a
//! checkpoint, in the undo tree: see the byte table in README.md.

use stdx::ids::IndexId;

/// One write of one index entry, seen from before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoRecord<'a> {
    /// The index.
    pub index: IndexId,
    /// The entry's key.
    pub key: &'a [u8],
    /// What was there before.
    pub old: Old<'a>,
    /// The write pushed the old value to the version store: purge drops it there.
    pub version: bool,
    /// The write left a delete mark: purge removes the entry.
    pub tombstone: bool,
    /// References to long values that the write took out of the row, one after the other: purge removes the values.
    pub dead: &'a [u8],
}

/// An entry's state before a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Old<'a> {
    /// There was no entry.
    Absent,
    /// The write changed only the first bytes of the value; these are the old ones.
    Head(&'a [u8]),
    /// The whole value.
    Value(&'a [u8]),
    /// There were no entries: rows were inserted, whose clustered keys the record's key lists ([`crate::KeyList`]). The
    /// record stands for their secondary entries as well.
    Rows,
    /// Long values were written, whose sequence numbers begin with the record's key (4 bytes, big-endian); the index is
    /// their tree.
    Lobs,
}

const HEAD: u8 = 1;
const VALUE: u8 = 2;
const VERSION: u8 = 4;
const TOMBSTONE: u8 = 8;
const ROWS: u8 = 16;
const LOBS: u8 = 32;
const DEAD: u8 = 64;

impl<'a> UndoRecord<'a> {
    /// Whether purge has work with it.
    pub fn is_purgeable(&self) -> bool {
        self.version || self.tombstone || !self.dead.is_empty()
    }

    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (flags, old) = match self.old {
            Old::Absent => (0, None),
            Old::Head(bytes) => (HEAD, Some(bytes)),
            Old::Value(bytes) => (VALUE, Some(bytes)),
            Old::Rows => (ROWS, None),
            Old::Lobs => (LOBS, None),
        };
        let version = if self.version { VERSION } else { 0 };
        let tombstone = if self.tombstone { TOMBSTONE } else { 0 };
        let dead = if self.dead.is_empty() { 0 } else { DEAD };
        out.push(flags | version | tombstone | dead);
        put_varint(out, self.index.0);
        put_varint(out, self.key.len() as u64);
        out.extend_from_slice(self.key);
        if let Some(old) = old {
            put_varint(out, old.len() as u64);
            out.extend_from_slice(old);
        }
        if dead != 0 {
            put_varint(out, self.dead.len() as u64);
            out.extend_from_slice(self.dead);
        }
    }

    /// Reads a record that fills `bytes` exactly; None if the bytes are no record.
    pub fn decode(bytes: &'a [u8]) -> Option<UndoRecord<'a>> {
        let (flags, mut rest) = bytes.split_first()?;
        let index = IndexId(take_varint(&mut rest)?);
        let key = take_bytes(&mut rest)?;
        let old = match flags & !(VERSION | TOMBSTONE | DEAD) {
            0 => Old::Absent,
            HEAD => Old::Head(take_bytes(&mut rest)?),
            VALUE => Old::Value(take_bytes(&mut rest)?),
            ROWS => Old::Rows,
            LOBS => Old::Lobs,
            _ => return None,
        };
        let dead = if flags & DEAD != 0 { take_bytes(&mut rest)? } else { &[] };
        let (version, tombstone) = (flags & VERSION != 0, flags & TOMBSTONE != 0);
        rest.is_empty().then_some(UndoRecord { index, key, old, version, tombstone, dead })
    }
}

/// Appends a number, 7 bits a byte, low ones first.
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front; None if the bytes end within it or it is too large.
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if shift == 63 && *byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Takes a counted byte string off the front.
pub fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_varint(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_records_are_refused() {
        let mut bytes = Vec::new();
        let old = Old::Value(b"value");
        let record = UndoRecord {
            index: IndexId(300),
            key: b"key",
            old,
            version: true,
            tombstone: false,
            dead: b"ref",
        };
        record.encode(&mut bytes);
        assert_eq!(UndoRecord::decode(&bytes), Some(record));
        assert!(UndoRecord::decode(&bytes).is_some());
        for length in 0..bytes.len() {
            assert!(UndoRecord::decode(&bytes[..length]).is_none());
        }
        bytes.push(0);
        assert!(UndoRecord::decode(&bytes).is_none());
        let mut huge: &[u8] = &[0xFF; 11];
        assert!(take_varint(&mut huge).is_none());
    }
}
