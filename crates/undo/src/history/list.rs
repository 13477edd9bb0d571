//! What a writer leaves at its commit. Main type: [`Committed`].

use crate::writer::Undo;
use entry::Head;
use std::ops::ControlFlow;
use txn::{Old, RecordCounts, UndoList, UndoRecord};

/// Bytes of a record's start in a short list.
pub(super) const START_BYTES: usize = size_of::<u32>();

/// The undo of a writer that is about to commit.
#[derive(Debug)]
pub struct Committed {
    pub(super) counts: RecordCounts,
    pub(super) form: Form,
}

#[derive(Debug)]
pub(super) enum Form {
    /// Number of records and where each begins (4 bytes each, little-endian), then the records. Those that nobody will ask for are
    /// empty.
    Short(Vec<u8>),
    Long(UndoList),
}

impl Committed {
    /// Makes it of a writer's list. A short list is copied, so that readers find it with the writer until they
    /// find it in the history. A long one is taken: until it is in the history the caller keeps the writer's undo locked.
    pub fn of(undo: &mut Undo, block_bytes: usize) -> Committed {
        let counts = undo.list.counts();
        if counts.outliving == 0 {
            return Committed { counts, form: Form::Short(Vec::new()) };
        }
        let is_short = undo.list.memory_bytes() < block_bytes as u64 && !undo.list.is_spilled();
        let form = match is_short.then(|| short_form(undo)).flatten() {
            Some(bytes) => Form::Short(bytes),
            None => Form::Long(std::mem::take(&mut undo.list)),
        };
        Committed { counts, form }
    }
}

fn short_form(undo: &Undo) -> Option<Vec<u8>> {
    let count = undo.list.len() as usize;
    let starts_end = START_BYTES * (1 + count);
    let mut bytes = Vec::with_capacity(starts_end + undo.list.memory_bytes() as usize);
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
    bytes.resize(starts_end, 0);
    let all = undo.list.encoded_from(0, |position, record| {
        let (at, start) = (START_BYTES * (1 + position as usize), bytes.len() as u32);
        bytes[at..at + START_BYTES].copy_from_slice(&start.to_le_bytes());
        if is_needed(record) {
            bytes.extend_from_slice(record);
        }
        ControlFlow::Continue(())
    });
    all.is_ok().then_some(bytes)
}

/// Whether snapshots or purge may look at a record, or pass it on their way (rule H2 in entry's README).
fn is_needed(bytes: &[u8]) -> bool {
    UndoRecord::decode(bytes).is_some_and(|record| {
        record.outlives_commit()
            || matches!(record.old, Old::Value(old) if Head::parse(old).is_some_and(|head| head.deleted))
    })
}

/// The record at a position of a short list.
pub(super) fn short_record(list: &[u8], position: u64) -> Option<&[u8]> {
    let (numbers, _) = list.as_chunks::<START_BYTES>();
    let number = |at: usize| numbers.get(at).map(|number| u32::from_le_bytes(*number) as usize);
    let (count, at) = (number(0)?, usize::try_from(position).ok()?);
    if at >= count {
        return None;
    }
    let end = if at + 1 < count { number(at + 2)? } else { list.len() };
    list.get(number(at + 1)?..end)
}
