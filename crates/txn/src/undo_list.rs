//! The undo records of one transaction, oldest first. Main type: [`UndoList`].
//! They lie in blocks; of a long list all but the newest blocks may be in the spill file. A list that a start has found in the log
//! begins where the log did: what is older lies in the undo tree, and is brought back when it is to be undone. One thread
//! at a time uses a list.

use crate::spill_file::{Extent, SpillError, SpillFile};
use crate::undo::UndoRecord;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Bytes of a block of records.
const BLOCK_BYTES: usize = 32 << 10;
/// Bytes of a record's start in a block that is in the file.
const START_BYTES: usize = size_of::<u32>();

/// The records of a transaction, oldest first, in blocks of bytes.
#[derive(Debug, Default)]
pub struct UndoList {
    blocks: Vec<Block>,
    /// Position of the next record.
    count: u64,
    memory_bytes: u64,
    /// After a failed write: no other is tried before the list has grown to this.
    retry_above: u64,
}

/// What of a list outlives the commit of its writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Records that snapshots or purge may need.
    pub outliving: u64,
    /// Those that hold a state by another writer.
    pub versions: u64,
    /// Those that purge has work with.
    pub purge_work: u64,
}

#[derive(Debug)]
struct Block {
    /// Position of the first record.
    first: u64,
    counts: RecordCounts,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Records),
    File {
        /// The records, then their starts, 4 bytes each, little-endian.
        extent: Extent,
        count: usize,
    },
}

#[derive(Debug, Default)]
struct Records {
    bytes: Vec<u8>,
    /// Where each record starts.
    starts: Vec<u32>,
}

impl UndoList {
    /// A list whose records before that position are elsewhere.
    pub fn starting_at(first: u64) -> UndoList {
        UndoList { count: first, ..UndoList::default() }
    }

    /// Position of the first record that the list holds; its length if it holds none.
    pub fn first(&self) -> u64 {
        self.blocks.first().map_or(self.count, |block| block.first)
    }

    /// Whether the newest record is elsewhere: it must be brought back before [`UndoList::last`].
    pub fn is_elsewhere(&self) -> bool {
        self.blocks.is_empty() && self.count > 0
    }

    /// Takes in the newest records of a list that holds none, oldest first, from that position on. False, with nothing changed, if
    /// these are not they.
    pub fn bring_back<'r>(&mut self, first: u64, records: impl Iterator<Item = &'r [u8]>) -> bool {
        let mut newest = UndoList::starting_at(first);
        let mut whole = self.is_elsewhere();
        for record in records {
            whole = whole && newest.push_encoded(record);
        }
        whole = whole && newest.count == self.count && newest.first() < self.count;
        if whole {
            self.blocks = newest.blocks;
            self.memory_bytes += newest.memory_bytes;
        }
        whole
    }

    /// Takes in all records before its first one, which were elsewhere. False, with nothing changed, if these are not they.
    pub fn complete(&mut self, older: UndoList) -> bool {
        let whole = older.first() == 0 && older.count == self.first();
        if whole {
            self.memory_bytes += older.memory_bytes;
            self.blocks.splice(0..0, older.blocks);
        }
        whole
    }

    /// Lets go of blocks with nothing but records before that position: they are elsewhere too.
    pub fn forget_before(&mut self, position: u64) {
        let count = self.block_of(position.min(self.count));
        for block in self.blocks.drain(..count) {
            if let Place::Memory(records) = &block.place {
                self.memory_bytes -= records.memory_bytes() as u64;
            }
        }
    }

    /// Bytes of all records from that position on, and of a few before it.
    pub fn bytes_from(&self, position: u64) -> u64 {
        let blocks = &self.blocks[self.block_of(position)..];
        let bytes = blocks.iter().map(|block| match &block.place {
            Place::Memory(records) => records.memory_bytes(),
            Place::File { extent, .. } => extent.length(),
        });
        bytes.sum::<usize>() as u64
    }

    /// Number of records: the position of the next one.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What of it outlives the commit.
    pub fn counts(&self) -> RecordCounts {
        self.blocks.iter().fold(RecordCounts::default(), |sum, block| sum.plus(block.counts))
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Whether any of it is in the spill file.
    pub fn is_spilled(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.place, Place::File { .. }))
    }

    /// Adds a record.
    pub fn push(&mut self, record: UndoRecord<'_>) {
        self.push_with(RecordCounts::of(record), |out| record.encode(out));
    }

    /// Adds a record that is encoded already; false (and nothing added) if the bytes are no record.
    pub fn push_encoded(&mut self, bytes: &[u8]) -> bool {
        let Some(record) = UndoRecord::decode(bytes) else { return false };
        self.push_with(RecordCounts::of(record), |out| out.extend_from_slice(bytes));
        true
    }

    fn push_with(&mut self, counts: RecordCounts, write: impl FnOnce(&mut Vec<u8>)) {
        let has_room =
            |place: &Place| matches!(place, Place::Memory(records) if records.bytes.len() < BLOCK_BYTES);
        if !self.blocks.last().is_some_and(|block| has_room(&block.place)) {
            let place = Place::Memory(Records::default());
            self.blocks.push(Block { first: self.count, counts: RecordCounts::default(), place });
        }
        let Some(block) = self.blocks.last_mut() else { return };
        let Place::Memory(records) = &mut block.place else { return };
        block.counts = block.counts.plus(counts);
        let start = records.bytes.len();
        records.starts.push(start as u32);
        write(&mut records.bytes);
        self.memory_bytes += (records.bytes.len() - start + START_BYTES) as u64;
        self.count += 1;
    }

    /// Moves all blocks but the newest to the file if the list takes more memory than that. What cannot be written stays
    /// where it is.
    pub fn bound(&mut self, memory_bytes_max: u64, file: &Arc<SpillFile>) {
        if self.memory_bytes <= memory_bytes_max.max(self.retry_above) {
            return;
        }
        self.retry_above = match self.spill(file) {
            Ok(()) => 0,
            Err(_) => self.memory_bytes + memory_bytes_max,
        };
    }

    fn spill(&mut self, file: &Arc<SpillFile>) -> Result<(), env::DiskError> {
        // From the newest back to those that are in the file already.
        for at in (0..self.blocks.len().saturating_sub(1)).rev() {
            if !self.spill_block(at, file)? {
                break;
            }
        }
        Ok(())
    }

    /// Moves all blocks to the file: nothing will be added any more. What cannot be written stays where it is.
    pub fn spill_all(&mut self, file: &Arc<SpillFile>) -> Result<(), env::DiskError> {
        (0..self.blocks.len()).try_for_each(|at| self.spill_block(at, file).map(|_| ()))
    }

    /// False if the block is in the file already.
    fn spill_block(&mut self, at: usize, file: &Arc<SpillFile>) -> Result<bool, env::DiskError> {
        let block = &mut self.blocks[at];
        let Place::Memory(records) = &block.place else { return Ok(false) };
        let mut bytes = Vec::with_capacity(records.memory_bytes());
        bytes.extend_from_slice(&records.bytes);
        records.starts.iter().for_each(|start| bytes.extend_from_slice(&start.to_le_bytes()));
        let (extent, count) = (file.write(&bytes)?, records.starts.len());
        self.memory_bytes -= records.memory_bytes() as u64;
        block.place = Place::File { extent, count };
        Ok(true)
    }

    /// The newest record. Fetches its block if that is in the file.
    pub fn last(&mut self) -> Result<Option<UndoRecord<'_>>, SpillError> {
        if let Some(block) = self.blocks.last_mut()
            && let Place::File { extent, count } = &block.place
        {
            let records = Records::read(extent, *count)?;
            self.memory_bytes += records.memory_bytes() as u64;
            block.place = Place::Memory(records);
        }
        Ok(self.newest())
    }

    fn newest(&self) -> Option<UndoRecord<'_>> {
        let Place::Memory(records) = &self.blocks.last()?.place else { return None };
        UndoRecord::decode(&records.bytes[*records.starts.last()? as usize..])
    }

    /// Removes the newest record, which [`UndoList::last`] has shown.
    pub fn pop(&mut self) {
        let counts = self.newest().map(RecordCounts::of).unwrap_or_default();
        let Some(block) = self.blocks.last_mut() else { return };
        let Place::Memory(records) = &mut block.place else {
            panic!("only a record that was looked at is undone");
        };
        let Some(start) = records.starts.pop() else { return };
        self.memory_bytes -= (records.bytes.len() - start as usize + START_BYTES) as u64;
        records.bytes.truncate(start as usize);
        block.counts = block.counts.minus(counts);
        let is_empty = records.starts.is_empty();
        self.count -= 1;
        if is_empty {
            self.blocks.pop();
        }
    }

    /// Removes all records from that position on.
    pub fn truncate(&mut self, length: u64) -> Result<(), SpillError> {
        while let Some(block) = self.blocks.pop_if(|block| block.first >= length) {
            if let Place::Memory(records) = &block.place {
                self.memory_bytes -= records.memory_bytes() as u64;
            }
            self.count = block.first;
        }
        while self.count > length && self.last()?.is_some() {
            self.pop();
        }
        self.count = self.count.min(length);
        Ok(())
    }

    /// Calls `visit` with the position and bytes of each record from that position on, oldest first, until it breaks off.
    pub fn encoded_from(
        &self,
        position: u64,
        mut visit: impl FnMut(u64, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), SpillError> {
        for block in &self.blocks[self.block_of(position)..] {
            let flow = match &block.place {
                Place::Memory(records) => records.visit_from(block.first, position, &mut visit),
                Place::File { extent, count } => {
                    Records::read(extent, *count)?.visit_from(block.first, position, &mut visit)
                }
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The bytes of the record at that position; None if the list has none.
    pub fn encoded_at(&self, position: u64) -> Result<Option<Vec<u8>>, SpillError> {
        if position >= self.count {
            return Ok(None);
        }
        let Some(block) = self.blocks.get(self.block_of(position)) else { return Ok(None) };
        let Some(slot) = position.checked_sub(block.first) else { return Ok(None) };
        match &block.place {
            Place::Memory(records) => {
                Ok(records.bytes.get(records.range_of(slot as usize)).map(<[u8]>::to_vec))
            }
            Place::File { extent, count } => read_record(extent, *count, slot as usize).map(Some),
        }
    }

    /// The block that holds a position, if any does.
    fn block_of(&self, position: u64) -> usize {
        self.blocks.partition_point(|block| block.first <= position).saturating_sub(1)
    }

    /// Calls `visit` with each record that purge has work with, oldest first. Blocks without any are not read.
    pub fn purge_records(&self, mut visit: impl FnMut(UndoRecord<'_>)) -> Result<(), SpillError> {
        let mut visit_bytes = |_: u64, bytes: &[u8]| {
            if let Some(record) = UndoRecord::decode(bytes).filter(|record| record.has_purge_work()) {
                visit(record);
            }
            ControlFlow::Continue(())
        };
        for block in self.blocks.iter().filter(|block| block.counts.purge_work > 0) {
            let _ = match &block.place {
                Place::Memory(records) => records.visit_from(block.first, 0, &mut visit_bytes),
                Place::File { extent, count } => {
                    Records::read(extent, *count)?.visit_from(block.first, 0, &mut visit_bytes)
                }
            };
        }
        Ok(())
    }
}

impl RecordCounts {
    /// Of one record.
    pub fn of(record: UndoRecord<'_>) -> RecordCounts {
        RecordCounts {
            outliving: u64::from(record.outlives_commit()),
            versions: u64::from(record.version),
            purge_work: u64::from(record.has_purge_work()),
        }
    }

    /// The sums.
    #[must_use]
    pub fn plus(self, other: RecordCounts) -> RecordCounts {
        RecordCounts {
            outliving: self.outliving + other.outliving,
            versions: self.versions + other.versions,
            purge_work: self.purge_work + other.purge_work,
        }
    }

    /// The differences.
    #[must_use]
    pub fn minus(self, other: RecordCounts) -> RecordCounts {
        RecordCounts {
            outliving: self.outliving - other.outliving,
            versions: self.versions - other.versions,
            purge_work: self.purge_work - other.purge_work,
        }
    }
}

/// Reads one record of a block in the file: its place, then itself.
fn read_record(extent: &Extent, count: usize, slot: usize) -> Result<Vec<u8>, SpillError> {
    let starts_at = extent.length().checked_sub(count * START_BYTES).ok_or(SpillError::Damaged)?;
    let bytes = extent.read(starts_at + slot * START_BYTES, START_BYTES * (count - slot).min(2))?;
    let (starts, _) = bytes.as_chunks::<START_BYTES>();
    let start = starts.first().map(|start| u32::from_le_bytes(*start) as usize);
    let end = starts.get(1).map_or(starts_at, |end| u32::from_le_bytes(*end) as usize);
    let (start, length) =
        start.and_then(|start| Some((start, end.checked_sub(start)?))).ok_or(SpillError::Damaged)?;
    Ok(extent.read(start, length)?.to_vec())
}

impl Records {
    fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.starts.len() * START_BYTES
    }

    fn read(extent: &Extent, count: usize) -> Result<Records, SpillError> {
        let whole = extent.read(0, extent.length())?;
        let (bytes, starts) =
            whole.split_at_checked(whole.len() - count * START_BYTES).ok_or(SpillError::Damaged)?;
        let (starts, _) = starts.as_chunks::<START_BYTES>();
        Ok(Records {
            bytes: bytes.to_vec(),
            starts: starts.iter().map(|start| u32::from_le_bytes(*start)).collect(),
        })
    }

    /// Where the bytes of a record lie.
    fn range_of(&self, slot: usize) -> Range<usize> {
        let end = self.starts.get(slot + 1).map_or(self.bytes.len(), |end| *end as usize);
        self.starts[slot] as usize..end
    }

    /// Visits the records from that position on; the first one has position `first`.
    fn visit_from(
        &self,
        first: u64,
        position: u64,
        visit: &mut impl FnMut(u64, &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for slot in position.saturating_sub(first) as usize..self.starts.len() {
            visit(first + slot as u64, &self.bytes[self.range_of(slot)])?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::undo::Old;
    use env::Environment;
    use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
    use stdx::ids::IndexId;

    const RECORDS: u64 = 5000;

    fn push(list: &mut UndoList, at: u64) {
        let (key, old) = (at.to_be_bytes(), vec![at as u8; 40]);
        let (old, version) =
            if at.is_multiple_of(3) { (Old::Value(&old), true) } else { (Old::Absent, false) };
        let tombstone = at.is_multiple_of(6);
        list.push(UndoRecord {
            index: IndexId(at),
            key: &key,
            old,
            version,
            tombstone,
            dead: &[],
            jumps: &[],
        });
    }

    fn check_and_undo(mut list: UndoList) {
        assert_eq!(list.len(), RECORDS);
        for from in [0, 1, 700, 4990, RECORDS] {
            let mut next = from;
            list.encoded_from(from, |position, bytes| {
                let record = UndoRecord::decode(bytes).unwrap();
                assert_eq!((position, record.index.0, record.key), (next, next, &next.to_be_bytes()[..]));
                next += 1;
                if next == 4995 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
            assert_eq!(next, if from < 4995 { 4995 } else { RECORDS });
        }
        for at in (0..RECORDS).step_by(7) {
            let bytes = list.encoded_at(at).unwrap().unwrap();
            assert_eq!(UndoRecord::decode(&bytes).unwrap().key, at.to_be_bytes());
        }
        assert_eq!(list.encoded_at(RECORDS).unwrap(), None);
        let mut purged = 0;
        list.purge_records(|record| purged += u64::from(record.tombstone)).unwrap();
        let (versions, purge_work) = (RECORDS.div_ceil(3), RECORDS.div_ceil(6));
        assert_eq!(purged, purge_work);
        assert_eq!(list.counts(), RecordCounts { outliving: versions, versions, purge_work });
        for at in (0..RECORDS).rev() {
            let record = list.last().unwrap().unwrap();
            assert_eq!((record.index.0, record.version), (at, at % 3 == 0));
            list.pop();
            if at == 2000 {
                (2000..2100).for_each(|at| push(&mut list, at));
                (2000..2100).for_each(|_| {
                    assert!(list.last().unwrap().is_some());
                    list.pop();
                });
            }
        }
        assert_eq!((list.len(), list.memory_bytes(), list.counts()), (0, 0, RecordCounts::default()));
    }

    #[test]
    fn records_come_back_newest_first() {
        let mut list = UndoList::default();
        (0..RECORDS).for_each(|at| push(&mut list, at));
        assert!(!list.is_spilled());
        check_and_undo(list);
    }

    #[test]
    fn long_lists_lie_in_the_file_and_give_it_back() {
        let disk = SimulatedDisk::new(1);
        let file = Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)));
        let mut list = UndoList::default();
        for at in 0..RECORDS {
            push(&mut list, at);
            list.bound(40_000, &file);
            assert!(list.memory_bytes() < 80_000);
        }
        assert!(list.is_spilled() && disk.used_bytes() > 100_000);
        check_and_undo(list);
        assert_eq!(disk.used_bytes(), 0);
    }

    #[test]
    fn lists_are_cut_off_and_brought_back() {
        let disk = SimulatedDisk::new(1);
        let file = Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)));
        for spills in [false, true] {
            let mut list = UndoList::starting_at(1000);
            (1000..RECORDS).for_each(|at| push(&mut list, at));
            if spills {
                list.bound(0, &file);
            }
            list.truncate(3333).unwrap();
            assert_eq!((list.len(), list.first()), (3333, 1000));
            let bytes = list.encoded_at(3332).unwrap().unwrap();
            assert_eq!(UndoRecord::decode(&bytes).unwrap().index.0, 3332);
            assert_eq!((list.encoded_at(999).unwrap(), list.encoded_at(3333).unwrap()), (None, None));
            list.truncate(1000).unwrap();
            assert!(list.is_elsewhere() && list.memory_bytes() == 0 && list.counts().versions == 0);
            list.truncate(900).unwrap();
            push(&mut list, 900);
            assert_eq!((list.first(), list.last().unwrap().unwrap().index.0), (900, 900));
            list.pop();
            let encoded: Vec<Vec<u8>> = (880..900)
                .map(|at| {
                    let mut one = UndoList::default();
                    push(&mut one, at);
                    one.encoded_at(0).unwrap().unwrap()
                })
                .collect();
            assert!(list.is_elsewhere());
            assert!(!list.bring_back(881, encoded.iter().map(Vec::as_slice)), "not up to the end");
            assert!(list.bring_back(880, encoded.iter().map(Vec::as_slice)));
            assert_eq!((list.first(), list.len(), list.counts().versions), (880, 900, 6));
            assert!(!list.bring_back(880, encoded.iter().map(Vec::as_slice)), "it holds records");
            assert_eq!(list.last().unwrap().unwrap().index.0, 899);
        }
        assert_eq!(disk.used_bytes(), 0);
    }

    #[test]
    fn faults_of_the_file_lose_nothing() {
        let disk = SimulatedDisk::new(1);
        let file = Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)));
        for nth in 0..3 {
            disk.add_fault(Fault { class: OperationClass::Write, nth, kind: FaultKind::ShortWrite });
        }
        let mut list = UndoList::default();
        for at in 0..RECORDS {
            push(&mut list, at);
            list.bound(1000, &file);
        }
        assert_eq!(file.failures(), 3);
        while list.newest().is_some() {
            list.pop();
        }
        let kind = FaultKind::InputOutput;
        disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
        let length = list.len();
        assert!(length > 0 && list.last().is_err());
        assert_eq!(list.last().unwrap().unwrap().index.0, length - 1);
    }
}
