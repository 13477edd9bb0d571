//! The state of a row before a transaction changed it, found by the undo address in its header, and the ways from there to far older
//! states. Main types: [`Before`], [`Row`].

use crate::{UndoError, UndoResult};
use entry::{Entry, EntryKind, UndoAddress, bad_header};
use stdx::ids::{IndexId, TransactionId};
use txn::{Jump, Jumps, Old, UndoRecord};

/// Most records that lie between a row and its newest state by another writer: a row that was put in the place of a mark,
/// and the mark's (rule H2 in entry's README).
const HOPS_MAX: usize = 2;

/// A row whose older states are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its clustered index.
    pub index: IndexId,
    /// Its key.
    pub key: &'a [u8],
}

/// What a row was before a writer changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// A state by another writer.
    State(OldState),
    /// There was none.
    Nothing,
    /// The address leads nowhere, or to a record of another row. With the row's latch held and a snapshot that needs the record
    /// that is damage; otherwise the record was undone or purged meanwhile.
    Astray,
}

/// A former state of a row, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldState {
    /// The entry, header and row.
    pub value: Vec<u8>,
    /// Whose record holds it.
    pub holder: TransactionId,
    /// The record's position.
    pub position: u64,
    /// Ways to far older states.
    pub jumps: Option<Jumps>,
}

impl Row<'_> {
    /// Follows the address in the header of an entry. `record` gives the record at a position of the list of the entry's
    /// writer.
    pub fn state_before<E: From<UndoError>>(
        &self,
        entry: Entry<'_>,
        record: &dyn Fn(TransactionId, u64) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Before, E> {
        let (mut row, mut address) = (None, entry.undo_address());
        for _ in 0..HOPS_MAX {
            let Some(position) = address.after_position.checked_sub(1) else { return Ok(Before::Nothing) };
            let Some(bytes) = record(entry.writer, position)? else { return Ok(Before::Astray) };
            let marked = row.as_deref().unwrap_or(entry.row);
            let Some(state) = self.state_in(entry.writer, position, &bytes, Some((address, marked)))? else {
                return Ok(Before::Astray);
            };
            let before = state.entry()?;
            if before.writer != entry.writer {
                return Ok(Before::State(state));
            }
            address = before.undo_address();
            row = Some(before.row.to_vec());
        }
        Ok(Before::Astray)
    }

    /// The newest state before that of an entry whose writer is seen. No writer before it is looked at but such as are not
    /// seen.
    pub fn state_seen<E: From<UndoError>>(
        &self,
        entry: Entry<'_>,
        record: &dyn Fn(TransactionId, u64) -> Result<Option<Vec<u8>>, E>,
        sees: &dyn Fn(TransactionId) -> bool,
    ) -> Result<Before, E> {
        let mut before = self.state_before(entry, record)?;
        loop {
            let Before::State(state) = before else { return Ok(before) };
            let older = state.entry()?;
            if sees(older.writer) {
                return Ok(Before::State(state));
            }
            // A jump over states that are not seen either (rule V9 in txn's README).
            let jump = state.jumps.map(|jumps| jumps.near).filter(|near| !sees(near.state_writer));
            before = match jump {
                Some(jump) => self.state_at(jump, record)?,
                None => self.state_before(older, record)?,
            };
        }
    }

    /// The ways from a record that is about to hold an entry's state to the states before it. None if there is no state
    /// before it, or if every snapshot sees its writer by now: then nobody goes further back.
    pub fn jumps_over<E: From<UndoError>>(
        &self,
        current: Entry<'_>,
        record: &dyn Fn(TransactionId, u64) -> Result<Option<Vec<u8>>, E>,
    ) -> Option<Jumps> {
        // What cannot be read is read again by whoever needs it; he is told.
        let Ok(Before::State(before)) = self.state_before(current, record) else { return None };
        let near_of = |jump: Jump| match self.state_at(jump, record) {
            Ok(Before::State(state)) => state.jumps.map(|jumps| jumps.near),
            _ => None,
        };
        Some(Jumps::in_front_of(before.as_jump().ok()?, before.jumps, near_of))
    }

    /// The state that a jump leads to.
    fn state_at<E: From<UndoError>>(
        &self,
        jump: Jump,
        record: &dyn Fn(TransactionId, u64) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Before, E> {
        let Some(bytes) = record(jump.writer, jump.position)? else { return Ok(Before::Astray) };
        let state = self.state_in(jump.writer, jump.position, &bytes, None)?;
        Ok(state.map_or(Before::Astray, Before::State))
    }

    /// The state that a record holds; None if it is of another row. A record that holds a head only needs the address that led to
    /// it and the row behind that.
    fn state_in(
        &self,
        holder: TransactionId,
        position: u64,
        bytes: &[u8],
        came_from: Option<(UndoAddress, &[u8])>,
    ) -> UndoResult<Option<OldState>> {
        let Some(record) = UndoRecord::decode(bytes) else { return Ok(None) };
        if record.index != self.index || record.key != self.key {
            return Ok(None);
        }
        let value = match (record.old, came_from) {
            (Old::Value(value), _) => value.to_vec(),
            (Old::Head(head), Some((address, row))) if address.head_only => [head, row].concat(),
            _ => return Ok(None),
        };
        Ok(Some(OldState { value, holder, position, jumps: Jumps::decode(record.jumps) }))
    }
}

impl OldState {
    /// The entry, taken apart.
    pub fn entry(&self) -> UndoResult<Entry<'_>> {
        Ok(Entry::parse(EntryKind::Clustered, &self.value).ok_or_else(bad_header)?)
    }

    /// Where the record is that holds it.
    fn as_jump(&self) -> UndoResult<Jump> {
        Ok(Jump {
            writer: self.holder,
            position: self.position,
            state_writer: self.entry()?.writer,
            depth: self.jumps.map_or(0, |jumps| jumps.depth),
        })
    }
}
