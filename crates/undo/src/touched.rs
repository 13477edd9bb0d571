//! What a transaction has changed, for those who must know before its undo is read, and the form in which the undo tree keeps it.
//! Main types: [`Touched`], [`SavedState`]. The byte table of a state is in README.md.

use stdx::ids::IndexId;
use txn::undo::{put_varint, take_bytes, take_varint};
use txn::{KeyList, Old, UndoRecord};

/// Most indexes that are told apart. A state must fit into a leaf.
const INDEXES_MAX: usize = 400;
/// First byte of a state: the transaction is active.
const ACTIVE: u8 = 1;
/// The transaction has ended, and what the undo tree still holds of it could not be removed, because pages are damaged.
pub(crate) const ENDED: u8 = 2;
/// The transaction is prepared: who does not know what that is must not undo it.
const PREPARED: u8 = 3;
/// Fields of a state. Others are passed over.
const INDEXES: u64 = 1;
const ENTRIES: u64 = 2;
const NAME: u64 = 3;

/// What the undo tree keeps of an unfinished transaction beside its records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedState {
    /// What the records there have changed.
    pub(crate) changes: Touched,
    /// The name under which it is prepared.
    pub(crate) prepared: Option<Box<[u8]>>,
}

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

    /// The indexes that were written to; None if it may be any.
    pub fn indexes(&self) -> Option<&[IndexId]> {
        self.indexes.as_deref()
    }

    /// Whether an index may have been written to.
    pub fn may_have(&self, index: IndexId) -> bool {
        self.indexes.as_ref().is_none_or(|indexes| indexes.contains(&index))
    }

    /// Whether any of the indexes that were written to is there still, as `is_there` tells.
    pub fn has_any(&self, is_there: impl FnMut(&IndexId) -> bool) -> bool {
        self.indexes.as_ref().is_none_or(|indexes| indexes.iter().any(is_there))
    }
}

impl SavedState {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![if self.prepared.is_some() { PREPARED } else { ACTIVE }];
        let mut put = |tag: u64, field: &[u8]| {
            put_varint(&mut out, tag);
            put_varint(&mut out, field.len() as u64);
            out.extend_from_slice(field);
        };
        let mut field = Vec::new();
        if let Some(indexes) = &self.changes.indexes {
            indexes.iter().for_each(|index| put_varint(&mut field, index.0));
            put(INDEXES, &field);
        }
        field.clear();
        put_varint(&mut field, self.changes.entries);
        put(ENTRIES, &field);
        if let Some(name) = &self.prepared {
            put(NAME, name);
        }
        out
    }

    /// Reads a state; None if it is none, or that of a transaction which has ended.
    pub(crate) fn decode(bytes: &[u8]) -> Option<SavedState> {
        let (kind, mut rest) = bytes.split_first()?;
        if !matches!(*kind, ACTIVE | PREPARED) {
            return None;
        }
        let mut state = SavedState { changes: Touched::any(), prepared: None };
        while !rest.is_empty() {
            let tag = take_varint(&mut rest)?;
            let mut field = take_bytes(&mut rest)?;
            match tag {
                INDEXES => {
                    let indexes = state.changes.indexes.insert(Vec::new());
                    while !field.is_empty() {
                        indexes.push(IndexId(take_varint(&mut field)?));
                    }
                }
                ENTRIES => state.changes.entries = take_varint(&mut field)?,
                NAME if !field.is_empty() => state.prepared = Some(field.into()),
                _ => {}
            }
        }
        // One without the other is damage.
        (state.prepared.is_some() == (*kind == PREPARED)).then_some(state)
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
        let name: Box<[u8]> = Box::from(*b"name");
        for prepared in [None, Some(name)] {
            let bytes = SavedState { changes: touched.clone(), prepared: prepared.clone() }.encode();
            let back = SavedState::decode(&bytes).unwrap();
            assert_eq!((&back.changes.indexes, back.changes.entries), (&touched.indexes, 8));
            assert_eq!(back.prepared, prepared);
            assert!(back.changes.may_have(IndexId(300)) && !back.changes.may_have(IndexId(301)));
            for length in [0, 2, 3, bytes.len() - 1] {
                assert_eq!(SavedState::decode(&bytes[..length]), None);
            }
            let later = [&bytes[..], &[9, 2, 1, 1]].concat();
            assert_eq!(SavedState::decode(&later).unwrap(), back, "an unknown field is passed over");
            let other_kind = [&[ACTIVE + PREPARED - bytes[0]][..], &bytes[1..]].concat();
            assert_eq!(SavedState::decode(&other_kind), None, "prepared under no name, or active under one");
        }
        let nameless = SavedState { changes: touched, prepared: Some(Box::default()) }.encode();
        assert_eq!(SavedState::decode(&nameless), None, "nobody could decide it");
        assert_eq!(SavedState::decode(&[ENDED]), None, "no other kind is active");
    }

    #[test]
    fn what_touched_very_many_may_have_touched_any() {
        let mut touched = Touched::default();
        (0..=INDEXES_MAX as u64).for_each(|index| touched.add(IndexId(index + 100), 1));
        let bytes = SavedState { changes: touched, prepared: None }.encode();
        assert!(bytes.len() < 100);
        assert!(SavedState::decode(&bytes).unwrap().changes.may_have(IndexId(7)));
    }
}
