//! What a transaction must put back to undo its writes. Main type: [`UndoRecord`]; lists of them are in `undo_list.rs`.
//! The same bytes stand in memory, in the redo log (logical records) and, for transactions that outlive a
//! checkpoint, in the undo tree: see the byte table in README.md.

use stdx::ids::{IndexId, TransactionId};

/// One write of one index entry, seen from before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoRecord<'a> {
    /// The index.
    pub index: IndexId,
    /// The entry's key.
    pub key: &'a [u8],
    /// What was there before.
    pub old: Old<'a>,
    /// The old value is another writer's: snapshots that do not see this one may need it.
    pub version: bool,
    /// The write left a delete mark: purge removes the entry.
    pub tombstone: bool,
    /// References to long values that the write took out of the row, one after the other: purge removes the values.
    pub dead: &'a [u8],
    /// Ways to far older states of the row ([`Jumps`]), encoded; empty if there are none. They are of this run only: neither the
    /// log nor the undo tree has them.
    pub jumps: &'a [u8],
}

/// Where a record leads beside the state that it holds: to records of the same row that hold far older ones. So a state is found in
/// a number of steps that is logarithmic in the number of states (rule V9 in README.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jumps {
    /// How many records with states of the row come behind this one, as far as anybody counted.
    pub depth: u64,
    /// One of them.
    pub near: Jump,
    /// Where that one's `near` leads.
    pub far: Option<Jump>,
}

/// A record that holds a whole old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Whose record it is.
    pub writer: TransactionId,
    /// Its position.
    pub position: u64,
    /// Who has written the state that it holds: who sees that needs no older one.
    pub state_writer: TransactionId,
    /// Its depth.
    pub depth: u64,
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
const JUMPS: u8 = 128;

impl<'a> UndoRecord<'a> {
    /// Whether it is of use to others once its writer has committed: to snapshots or to purge.
    pub fn outlives_commit(&self) -> bool {
        self.version || self.has_purge_work()
    }

    /// Whether purge has something to remove.
    pub fn has_purge_work(&self) -> bool {
        self.tombstone || !self.dead.is_empty()
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
        let jumps = if self.jumps.is_empty() { 0 } else { JUMPS };
        out.push(flags | version | tombstone | dead | jumps);
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
        if jumps != 0 {
            put_varint(out, self.jumps.len() as u64);
            out.extend_from_slice(self.jumps);
        }
    }

    /// Reads a record that fills `bytes` exactly; None if the bytes are no record.
    pub fn decode(bytes: &'a [u8]) -> Option<UndoRecord<'a>> {
        let (flags, mut rest) = bytes.split_first()?;
        let index = IndexId(take_varint(&mut rest)?);
        let key = take_bytes(&mut rest)?;
        let old = match flags & !(VERSION | TOMBSTONE | DEAD | JUMPS) {
            0 => Old::Absent,
            HEAD => Old::Head(take_bytes(&mut rest)?),
            VALUE => Old::Value(take_bytes(&mut rest)?),
            ROWS => Old::Rows,
            LOBS => Old::Lobs,
            _ => return None,
        };
        let dead = if flags & DEAD != 0 { take_bytes(&mut rest)? } else { &[] };
        let jumps = if flags & JUMPS != 0 { take_bytes(&mut rest)? } else { &[] };
        let (version, tombstone) = (flags & VERSION != 0, flags & TOMBSTONE != 0);
        rest.is_empty().then_some(UndoRecord { index, key, old, version, tombstone, dead, jumps })
    }
}

impl Jumps {
    /// Of a record in front of `before`, whose jumps are those; `near_of` tells where a record's `near` leads. As in a list with
    /// jump pointers (Myers, "An applicative random-access stack"): a jump goes twice as far where the two before it were equal.
    pub fn in_front_of(
        before: Jump,
        jumps: Option<Jumps>,
        near_of: impl FnOnce(Jump) -> Option<Jump>,
    ) -> Jumps {
        let depth = before.depth + 1;
        match jumps {
            Some(Jumps { near, far: Some(far), .. })
                if before.depth.checked_sub(near.depth) == near.depth.checked_sub(far.depth) =>
            {
                Jumps { depth, near: far, far: near_of(far) }
            }
            jumps => Jumps { depth, near: before, far: jumps.map(|jumps| jumps.near) },
        }
    }

    /// Appends them.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.depth);
        for jump in std::iter::once(self.near).chain(self.far) {
            for number in [jump.writer.0, jump.position, jump.state_writer.0, jump.depth] {
                put_varint(out, number);
            }
        }
    }

    /// None if the bytes make no sense, or are none.
    pub fn decode(mut bytes: &[u8]) -> Option<Jumps> {
        let rest = &mut bytes;
        let depth = take_varint(rest)?;
        let near = Jump::take(rest)?;
        let far = if rest.is_empty() { None } else { Some(Jump::take(rest)?) };
        rest.is_empty().then_some(Jumps { depth, near, far })
    }
}

impl Jump {
    fn take(rest: &mut &[u8]) -> Option<Jump> {
        let writer = TransactionId(take_varint(rest)?);
        let position = take_varint(rest)?;
        let state_writer = TransactionId(take_varint(rest)?);
        Some(Jump { writer, position, state_writer, depth: take_varint(rest)? })
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
            jumps: b"ways",
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

    /// The states 0 to 999 of a row, each a record in front of the one before: any of them is found from the last in few steps.
    #[test]
    fn jumps_lead_anywhere_in_few_steps() {
        let target = |at: u64| Jump {
            writer: TransactionId(at + 1),
            position: 3,
            state_writer: TransactionId(at),
            depth: at,
        };
        let mut all: Vec<Option<Jumps>> = vec![None];
        for at in 1..1000u64 {
            let before = target(at - 1);
            let near_of = |jump: Jump| all[jump.depth as usize].map(|jumps| jumps.near);
            let jumps = Jumps::in_front_of(before, all[at as usize - 1], near_of);
            let mut bytes = Vec::new();
            jumps.encode(&mut bytes);
            assert_eq!((Jumps::decode(&bytes), jumps.depth), (Some(jumps), at));
            assert!(Jumps::decode(&bytes[..bytes.len() - 1]).is_none());
            all.push(Some(jumps));
        }
        for wanted in 0..1000 {
            let (mut at, mut steps) = (999, 0);
            while at > wanted {
                let near = all[at as usize].map(|jumps| jumps.near.depth);
                at = near.filter(|near| *near >= wanted).unwrap_or(at - 1);
                steps += 1;
            }
            assert!(at == wanted && steps <= 30, "{steps} steps to {wanted}");
        }
    }
}
