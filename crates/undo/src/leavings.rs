//! What committed writers left for purge, in commit order: keys of versions and of delete marks. Main type: [`Leavings`].
//! Old values of the undo lists are no longer needed, so the records of most writers are packed into blocks without them; a list
//! that is partly in the spill file is kept as it is and read when its turn comes.

use super::writer::Undo;
use std::collections::VecDeque;
use stdx::ids::{CommitTimestamp, TransactionId};
use txn::undo::{put_varint, take_bytes, take_varint};
use txn::{Old, SpillError, UndoList, UndoRecord};

/// Blocks of packed records are about this large.
const BLOCK_BYTES: usize = 64 << 10;

/// What one writer left.
#[derive(Debug)]
pub enum Left {
    /// Records, each with its length before it.
    Packed {
        /// How many.
        count: u64,
        /// The records.
        records: Vec<u8>,
    },
    /// A long list.
    List(UndoList),
}

/// A committed writer and what it left.
#[derive(Debug)]
pub struct Finished {
    /// When it committed.
    pub timestamp: CommitTimestamp,
    /// Its id.
    pub writer: TransactionId,
    /// What it left.
    pub left: Left,
}

/// A queue of these.
#[derive(Debug, Default)]
pub(crate) struct Leavings {
    blocks: VecDeque<Block>,
}

#[derive(Debug)]
enum Block {
    /// Of each writer: timestamp, id, count, length of the records (varints), records. Read up to `at`.
    Packed {
        bytes: Vec<u8>,
        at: usize,
    },
    Single(Finished),
}

impl Left {
    /// Takes the list of a writer that is about to commit; None if purge has no work with it.
    pub fn take(undo: &mut Undo) -> Option<Left> {
        let list = std::mem::take(&mut undo.list);
        if list.purgeable() == 0 {
            return None;
        }
        if list.is_spilled() {
            return Some(Left::List(list));
        }
        let (mut records, mut record_bytes) = (Vec::new(), Vec::new());
        let packed = list.purge_records(|record| {
            record_bytes.clear();
            UndoRecord { old: Old::Absent, ..record }.encode(&mut record_bytes);
            put_varint(&mut records, record_bytes.len() as u64);
            records.extend_from_slice(&record_bytes);
        });
        Some(match packed {
            Ok(()) => Left::Packed { count: list.purgeable(), records },
            Err(_) => Left::List(list),
        })
    }

    /// Number of records.
    pub fn count(&self) -> u64 {
        match self {
            Left::Packed { count, .. } => *count,
            Left::List(list) => list.purgeable(),
        }
    }

    /// Calls `visit` with each record, oldest first, up to an error; its old value is not to be looked at.
    pub fn visit<E: From<SpillError>>(
        &self,
        mut visit: impl FnMut(UndoRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Left::List(list) => {
                let mut result = Ok(());
                list.purge_records(|record| {
                    if result.is_ok() {
                        result = visit(record);
                    }
                })?;
                result
            }
            Left::Packed { records, .. } => {
                let mut rest = &records[..];
                while let Some(record) = take_bytes(&mut rest).and_then(UndoRecord::decode) {
                    visit(record)?;
                }
                Ok(())
            }
        }
    }
}

impl Leavings {
    /// Adds the newest commit.
    pub(crate) fn add(&mut self, finished: Finished) {
        let Left::Packed { count, records } = &finished.left else {
            self.blocks.push_back(Block::Single(finished));
            return;
        };
        if !matches!(self.blocks.back(), Some(Block::Packed { bytes, .. }) if bytes.len() < BLOCK_BYTES) {
            self.blocks.push_back(Block::Packed { bytes: Vec::new(), at: 0 });
        }
        if let Some(Block::Packed { bytes, .. }) = self.blocks.back_mut() {
            for number in [finished.timestamp.0, finished.writer.0, *count, records.len() as u64] {
                put_varint(bytes, number);
            }
            bytes.extend_from_slice(records);
        }
    }

    /// Takes the oldest commit out, if every snapshot sees it.
    pub(crate) fn next(&mut self, horizon: CommitTimestamp) -> Option<Finished> {
        match self.blocks.front_mut()? {
            Block::Single(finished) if finished.timestamp > horizon => None,
            Block::Single(_) => match self.blocks.pop_front()? {
                Block::Single(finished) => Some(finished),
                Block::Packed { .. } => None,
            },
            Block::Packed { bytes, at } => {
                let mut rest = &bytes[*at..];
                let finished = unpack(&mut rest, horizon)?;
                *at = bytes.len() - rest.len();
                if *at == bytes.len() {
                    self.blocks.pop_front();
                }
                Some(finished)
            }
        }
    }

    /// Puts back what `next` gave last.
    pub(crate) fn put_back(&mut self, finished: Finished) {
        self.blocks.push_front(Block::Single(finished));
    }
}

fn unpack(rest: &mut &[u8], horizon: CommitTimestamp) -> Option<Finished> {
    let timestamp = CommitTimestamp(take_varint(rest)?);
    if timestamp > horizon {
        return None;
    }
    let (writer, count) = (TransactionId(take_varint(rest)?), take_varint(rest)?);
    let left = Left::Packed { count, records: take_bytes(rest)?.to_vec() };
    Some(Finished { timestamp, writer, left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::Environment;
    use env::simulated::SimulatedDisk;
    use std::sync::Arc;
    use stdx::ids::IndexId;
    use txn::SpillFile;

    /// A writer's list of that many records, of which purge has work with every second.
    fn undo(seed: u64, count: u64) -> Undo {
        let mut undo = Undo::default();
        for at in 0..count {
            let (key, old) = ((seed + at).to_be_bytes(), Old::Value(&[7; 50]));
            let version = at % 2 == 0;
            undo.list.push(UndoRecord {
                index: IndexId(3),
                key: &key,
                old,
                version,
                tombstone: false,
                dead: &[],
            });
        }
        undo
    }

    #[test]
    fn what_writers_left_comes_back_in_order_without_old_values() {
        let file = Arc::new(SpillFile::new(Environment::simulated(SimulatedDisk::new(1), 1)));
        let mut leavings = Leavings::default();
        let counts = |seed: u64| if seed % 100 == 7 { 3000 } else { 1 + seed % 5 };
        for seed in 1..=2000 {
            let mut undo = undo(seed, counts(seed));
            if seed % 200 == 7 {
                undo.list.bound(0, &file);
                assert!(undo.list.is_spilled());
            }
            let left = Left::take(&mut undo).unwrap();
            assert!(undo.list.is_empty());
            leavings.add(Finished {
                timestamp: CommitTimestamp(seed * 10),
                writer: TransactionId(seed),
                left,
            });
        }
        assert!(leavings.next(CommitTimestamp(9)).is_none());
        for seed in 1..=2000 {
            assert!(leavings.next(CommitTimestamp(seed * 10 - 1)).is_none());
            let finished = leavings.next(CommitTimestamp(seed * 10)).unwrap();
            leavings.put_back(finished);
            let finished = leavings.next(CommitTimestamp(seed * 10)).unwrap();
            assert_eq!((finished.timestamp.0, finished.writer.0), (seed * 10, seed));
            let mut keys = Vec::new();
            let visited = finished.left.visit(|record| {
                keys.push(record.key.to_vec());
                Ok::<(), SpillError>(())
            });
            visited.unwrap();
            let expected: Vec<_> =
                (0..counts(seed)).step_by(2).map(|at| (seed + at).to_be_bytes().to_vec()).collect();
            assert_eq!((finished.left.count(), keys), (expected.len() as u64, expected));
        }
        assert!(leavings.next(CommitTimestamp(u64::MAX)).is_none() && leavings.blocks.is_empty());
    }

    #[test]
    fn writers_that_only_inserted_leave_nothing() {
        let mut undo = Undo::default();
        let record = UndoRecord {
            index: IndexId(3),
            key: b"k",
            old: Old::Absent,
            version: false,
            tombstone: false,
            dead: &[],
        };
        undo.list.push(record);
        assert!(Left::take(&mut undo).is_none() && undo.list.is_empty());
    }
}
