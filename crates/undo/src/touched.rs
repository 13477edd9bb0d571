//! What a transaction has changed, for those who must know before its undo is read, and the form in which the undo tree keeps it.
//! Main type: [`Touched`]. The byte table of a state is in README.md.

use stdx::ids::IndexId;
use txn::undo::{put_varint, take_bytes, take_varint};
use txn::{KeyList, Old, UndoRecord};

/// Most indexes that are told apart. A state must fit into a leaf.
const INDEXES_MAX: usize = 400;
/// First byte of a state: the transaction is active. Prepared ones will have another.
const ACTIVE: u8 = 1;
/// The transaction has ended, and what the undo tree still holds of it could not be removed, because pages are damaged.
pub(crate) const ENDED: u8 = 2;
/// Fields of a state. Others are passed over.
const INDEXES: u64 = 1;
const ENTRIES: u64 = 2;

/// The indexes that a transaction has written to, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// None if they are too many: then it may be any.
    indexes: Option<Vec<IndexId>>,
    /// The one that was added last, to be quick about it.
    last: IndexId,
    /// Entries that were changed.
    pub entries: u64,
}

impl Default for Touched {
    fn default() -> Self {
        Touched { indexes: Some(Vec::new()), last: IndexId::default(), entries: 0 }
    }
}

impl Touched {
    /// Any index may have been written to.
    pub fn any() -> Touched {
        Touched { indexes: None, ..Touched::default() }
    }

    /// Notes a change. Of a list of keys that makes no sense only the index counts.
    pub(crate) fn add_record(&mut self, record: UndoRecord<'_>) {
        let entries = match record.old {
            Old::Rows => KeyList::decode(record.key).map_or(0, |keys| keys.len()) as u64,
            _ => 1,
        };
        self.add(record.index, entries);
    }

    fn add(&mut self, index: IndexId, entries: u64) {
        self.entries += entries;
        if self.last != index {
            self.add_index(index);
        }
    }

    fn add_index(&mut self, index: IndexId) {
        self.last = index;
        let Some(indexes) = &mut self.indexes else { return };
        if indexes.contains(&index) {
            return;
        }
        if indexes.len() == INDEXES_MAX {
            self.indexes = None;
        } else {
            indexes.push(index);
        }
    }

    /// Adds what another has.
    pub(crate) fn merge(&mut self, other: &Touched) {
        match &other.indexes {
            Some(indexes) => indexes.iter().for_each(|index| self.add_index(*index)),
            None => self.indexes = None,
        }
        self.entries += other.entries;
    }

    /// Whether an index may have been written to.
    pub fn may_have(&self, index: IndexId) -> bool {
        self.indexes.as_ref().is_none_or(|indexes| indexes.contains(&index))
    }

    /// Whether any of the indexes that were written to is there still, as `is_there` tells.
    pub fn has_any(&self, is_there: impl FnMut(&IndexId) -> bool) -> bool {
        self.indexes.as_ref().is_none_or(|indexes| indexes.iter().any(is_there))
    }

    /// The state of an active transaction that has done this.
    pub(crate) fn encode_state(&self) -> Vec<u8> {
        let mut out = vec![ACTIVE];
        let mut field = Vec::new();
        let mut put = |tag: u64, field: &mut Vec<u8>| {
            put_varint(&mut out, tag);
            put_varint(&mut out, field.len() as u64);
            out.append(field);
        };
        if let Some(indexes) = &self.indexes {
            indexes.iter().for_each(|index| put_varint(&mut field, index.0));
            put(INDEXES, &mut field);
        }
        put_varint(&mut field, self.entries);
        put(ENTRIES, &mut field);
        out
    }

    /// Reads a state; None if it is none, or that of a transaction which is not active.
    pub(crate) fn decode_state(bytes: &[u8]) -> Option<Touched> {
        let (kind, mut rest) = bytes.split_first()?;
        if *kind != ACTIVE {
            return None;
        }
        let mut touched = Touched { indexes: None, ..Touched::default() };
        while !rest.is_empty() {
            let tag = take_varint(&mut rest)?;
            let mut field = take_bytes(&mut rest)?;
            match tag {
                INDEXES => {
                    let indexes = touched.indexes.insert(Vec::new());
                    while !field.is_empty() {
                        indexes.push(IndexId(take_varint(&mut field)?));
                    }
                }
                ENTRIES => touched.entries = take_varint(&mut field)?,
                _ => {}
            }
        }
        Some(touched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_and_damage_is_refused() {
        let mut touched = Touched::default();
        for index in [17, 300, 17, 40] {
            touched.add(IndexId(index), 2);
        }
        let bytes = touched.encode_state();
        let back = Touched::decode_state(&bytes).unwrap();
        assert_eq!((back.indexes.clone(), back.entries), (touched.indexes, 8));
        assert!(back.may_have(IndexId(300)) && !back.may_have(IndexId(301)));
        for length in [0, 2, 3, bytes.len() - 1] {
            assert_eq!(Touched::decode_state(&bytes[..length]), None);
        }
        let later = [&bytes[..], &[9, 2, 1, 1]].concat();
        assert_eq!(Touched::decode_state(&later).unwrap().entries, 8, "an unknown field is passed over");
        assert_eq!(Touched::decode_state(&[ENDED]), None, "no other kind is active");
    }

    #[test]
    fn what_touched_very_many_may_have_touched_any() {
        let mut touched = Touched::default();
        (0..=INDEXES_MAX as u64).for_each(|index| touched.add(IndexId(index + 100), 1));
        let bytes = touched.encode_state();
        assert!(bytes.len() < 100);
        assert!(Touched::decode_state(&bytes).unwrap().may_have(IndexId(7)));
    }
}
