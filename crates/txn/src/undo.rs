//! What a transaction must put back to undo its writes. Main types: [`UndoRecord`], [`UndoList`].
//! The same bytes stand in memory, in the redo log (logical records) and, for transactions that outlive a
//! checkpoint, in the undo tree: see the byte table in README.md.

use stdx::ids::IndexId;

/// Bytes of a block of records.
const BLOCK_BYTES: usize = 32 << 10;

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
}

/// The records of a transaction, oldest first, in blocks of bytes.
#[derive(Debug, Default)]
pub struct UndoList {
    blocks: Vec<Block>,
    count: u64,
    purgeable: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Block {
    bytes: Vec<u8>,
    /// Where each record starts.
    starts: Vec<u32>,
}

const HEAD: u8 = 1;
const VALUE: u8 = 2;
const VERSION: u8 = 4;
const TOMBSTONE: u8 = 8;
const ROWS: u8 = 16;

impl<'a> UndoRecord<'a> {
    /// Whether purge has work with it.
    pub fn is_purgeable(&self) -> bool {
        self.version || self.tombstone
    }

    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (flags, old) = match self.old {
            Old::Absent => (0, None),
            Old::Head(bytes) => (HEAD, Some(bytes)),
            Old::Value(bytes) => (VALUE, Some(bytes)),
            Old::Rows => (ROWS, None),
        };
        let version = if self.version { VERSION } else { 0 };
        let tombstone = if self.tombstone { TOMBSTONE } else { 0 };
        out.push(flags | version | tombstone);
        put_varint(out, self.index.0);
        put_varint(out, self.key.len() as u64);
        out.extend_from_slice(self.key);
        if let Some(old) = old {
            put_varint(out, old.len() as u64);
            out.extend_from_slice(old);
        }
    }

    /// Reads a record that fills `bytes` exactly; None if the bytes are no record.
    pub fn decode(bytes: &'a [u8]) -> Option<UndoRecord<'a>> {
        let (flags, mut rest) = bytes.split_first()?;
        let index = IndexId(take_varint(&mut rest)?);
        let key = take_bytes(&mut rest)?;
        let old = match flags & !(VERSION | TOMBSTONE) {
            0 => Old::Absent,
            HEAD => Old::Head(take_bytes(&mut rest)?),
            VALUE => Old::Value(take_bytes(&mut rest)?),
            ROWS => Old::Rows,
            _ => return None,
        };
        let (version, tombstone) = (flags & VERSION != 0, flags & TOMBSTONE != 0);
        rest.is_empty().then_some(UndoRecord { index, key, old, version, tombstone })
    }
}

impl UndoList {
    /// Number of records: the position of the next one.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of records that purge has work with.
    pub fn purgeable(&self) -> u64 {
        self.purgeable
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a record.
    pub fn push(&mut self, record: UndoRecord<'_>) {
        self.purgeable += u64::from(record.is_purgeable());
        self.push_with(|out| record.encode(out));
    }

    /// Adds a record that is encoded already; false (and nothing added) if the bytes are no record.
    pub fn push_encoded(&mut self, bytes: &[u8]) -> bool {
        let Some(record) = UndoRecord::decode(bytes) else { return false };
        self.purgeable += u64::from(record.is_purgeable());
        self.push_with(|out| out.extend_from_slice(bytes));
        true
    }

    fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let full = self.blocks.last().is_none_or(|block| block.bytes.len() >= BLOCK_BYTES);
        if full {
            self.blocks.push(Block { bytes: Vec::new(), starts: Vec::new() });
        }
        let Some(block) = self.blocks.last_mut() else { return };
        let start = block.bytes.len();
        block.starts.push(start as u32);
        write(&mut block.bytes);
        self.bytes += (block.bytes.len() - start) as u64;
        self.count += 1;
    }

    /// The newest record.
    pub fn last(&self) -> Option<UndoRecord<'_>> {
        let block = self.blocks.last()?;
        UndoRecord::decode(&block.bytes[*block.starts.last()? as usize..])
    }

    /// Removes the newest record.
    pub fn pop(&mut self) {
        let purge = self.last().is_some_and(|record| record.is_purgeable());
        let Some(block) = self.blocks.last_mut() else { return };
        let Some(start) = block.starts.pop() else { return };
        self.bytes -= (block.bytes.len() - start as usize) as u64;
        block.bytes.truncate(start as usize);
        self.count -= 1;
        self.purgeable -= u64::from(purge);
        if block.starts.is_empty() {
            self.blocks.pop();
        }
    }

    /// Calls `visit` with the position and bytes of each record from that position on, oldest first.
    pub fn encoded_from(&self, position: u64, mut visit: impl FnMut(u64, &[u8])) {
        let mut at = 0;
        for block in &self.blocks {
            for (slot, start) in block.starts.iter().enumerate() {
                if at >= position {
                    let end = block.starts.get(slot + 1).map_or(block.bytes.len(), |end| *end as usize);
                    visit(at, &block.bytes[*start as usize..end]);
                }
                at += 1;
            }
        }
    }

    /// Calls `visit` with each record that purge has work with, oldest first.
    pub fn purge_records(&self, mut visit: impl FnMut(UndoRecord<'_>)) {
        self.encoded_from(0, |_, bytes| {
            if let Some(record) = UndoRecord::decode(bytes).filter(|record| record.is_purgeable()) {
                visit(record);
            }
        });
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
    fn records_come_back_newest_first() {
        let mut list = UndoList::default();
        let keys: Vec<Vec<u8>> = (0..5000u32).map(|number| number.to_be_bytes().to_vec()).collect();
        let old = vec![9; 40];
        for (at, key) in keys.iter().enumerate() {
            let (old, version) = if at % 3 == 0 { (Old::Value(&old), true) } else { (Old::Absent, false) };
            list.push(UndoRecord { index: IndexId(at as u64), key, old, version, tombstone: false });
        }
        assert_eq!(list.len(), 5000);
        let mut seen = 0;
        list.encoded_from(4990, |position, bytes| {
            assert_eq!(UndoRecord::decode(bytes).unwrap().index.0, position);
            seen += 1;
        });
        assert_eq!(seen, 10);
        for (at, key) in keys.iter().enumerate().rev() {
            let record = list.last().unwrap();
            assert_eq!((record.index.0, record.key, record.version), (at as u64, &key[..], at % 3 == 0));
            list.pop();
        }
        assert_eq!((list.len(), list.bytes(), list.purgeable()), (0, 0, 0));
    }

    #[test]
    fn damaged_records_are_refused() {
        let mut bytes = Vec::new();
        let old = Old::Value(b"value");
        UndoRecord { index: IndexId(300), key: b"key", old, version: true, tombstone: false }
            .encode(&mut bytes);
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
