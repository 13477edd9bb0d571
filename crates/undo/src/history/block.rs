//! A block of the history: its lists, in memory or in the spill file. Main types: [`Block`], [`Finished`]. Readers hold a block while
//! they read it, so space in the file that is being read is never used again.

use super::list::short_record;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stdx::ids::{CommitTimestamp, TransactionId};
use txn::{Extent, RecordCounts, SpillError, SpillFile, UndoList, UndoRecord};

/// Bytes before a short list: timestamp and writer (8 each), length of the list, its counts (4 each), little-endian.
const HEADER_BYTES: usize = 32;
/// Bytes that are read of a block in the file before it is known how long a list is.
const FIRST_READ_BYTES: usize = 2048;
/// What a block takes beside its lists, about.
const BLOCK_OVERHEAD: u64 = 256;

/// What all blocks hold.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Bytes in memory.
    pub(super) memory: AtomicU64,
    /// Bytes in the file.
    pub(super) spilled_bytes: AtomicU64,
    /// Old rows in the file.
    pub(super) spilled_versions: AtomicU64,
}

/// Lists, one behind the other, or a long one.
#[derive(Debug)]
pub(super) struct Block {
    content: Content,
    /// Bytes of its short lists.
    length: AtomicUsize,
    /// Old rows.
    versions: AtomicU64,
    figures: Arc<Figures>,
}

#[derive(Debug)]
enum Content {
    Lists(RwLock<Place>),
    List { writer: TransactionId, counts: RecordCounts, list: RwLock<LongList> },
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File(Extent),
}

#[derive(Debug)]
struct LongList {
    list: UndoList,
    /// What of it was counted as being in memory, and in the file.
    memory_bytes: u64,
    spilled_bytes: u64,
}

/// What precedes a short list.
#[derive(Clone, Copy)]
struct Header {
    timestamp: CommitTimestamp,
    writer: TransactionId,
    length: usize,
    counts: RecordCounts,
}

/// Lists of one block that purge works off together.
#[derive(Debug)]
pub struct Finished {
    /// Of the block.
    pub(super) number: u64,
    /// The offset behind them.
    pub(super) end: usize,
    /// When the next list of the block committed, if there is one.
    pub(super) next_timestamp: Option<CommitTimestamp>,
    pub(super) counts: RecordCounts,
    lists: Lists,
}

#[derive(Debug)]
enum Lists {
    /// Purge has no work with them.
    Nothing,
    Short(Vec<u8>),
    Long(Arc<Block>),
}

impl Block {
    pub(super) fn of_lists(figures: &Arc<Figures>, bytes_max: usize) -> Block {
        figures.memory.fetch_add(BLOCK_OVERHEAD, Ordering::Relaxed);
        Block {
            content: Content::Lists(RwLock::new(Place::Memory(Vec::with_capacity(bytes_max)))),
            length: AtomicUsize::new(0),
            versions: AtomicU64::new(0),
            figures: figures.clone(),
        }
    }

    pub(super) fn of_list(
        figures: &Arc<Figures>,
        writer: TransactionId,
        list: UndoList,
        counts: RecordCounts,
    ) -> Block {
        let memory_bytes = list.memory_bytes();
        let spilled_bytes = list.bytes_from(0) - memory_bytes;
        figures.memory.fetch_add(memory_bytes + BLOCK_OVERHEAD, Ordering::Relaxed);
        figures.spilled_bytes.fetch_add(spilled_bytes, Ordering::Relaxed);
        Block {
            content: Content::List {
                writer,
                counts,
                list: RwLock::new(LongList { list, memory_bytes, spilled_bytes }),
            },
            length: AtomicUsize::new(1),
            versions: AtomicU64::new(counts.versions),
            figures: figures.clone(),
        }
    }

    /// Bytes of its short lists.
    pub(super) fn bytes(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Whether no list comes behind that offset.
    pub(super) fn ends_at(&self, offset: usize) -> bool {
        self.bytes() == offset
    }

    /// Adds a short list behind the others. One thread at a time does that.
    pub(super) fn append(
        &self,
        timestamp: CommitTimestamp,
        writer: TransactionId,
        counts: RecordCounts,
        list: &[u8],
    ) {
        let Content::Lists(place) = &self.content else { panic!("a block of short lists") };
        let mut place = write(place);
        let Place::Memory(bytes) = &mut *place else { panic!("a block that is spilled is not open") };
        let offset = bytes.len();
        Header { timestamp, writer, length: list.len(), counts }.encode(bytes);
        bytes.extend_from_slice(list);
        self.length.store(bytes.len(), Ordering::Relaxed);
        self.versions.store(self.versions.load(Ordering::Relaxed) + counts.versions, Ordering::Relaxed);
        self.figures.memory.fetch_add((bytes.len() - offset) as u64, Ordering::Relaxed);
    }

    /// Gives back what no list will take.
    pub(super) fn close(&self) {
        if let Content::Lists(place) = &self.content
            && let Place::Memory(bytes) = &mut *write(place)
            && bytes.len() < bytes.capacity() / 2
        {
            bytes.shrink_to_fit();
        }
    }

    /// A record of the list that begins at an offset, if that is the writer's.
    pub(super) fn record(
        &self,
        offset: usize,
        wanted: TransactionId,
        position: u64,
    ) -> Result<Option<Vec<u8>>, SpillError> {
        let place = match &self.content {
            Content::List { writer, list, .. } if *writer == wanted => {
                return read(list).list.encoded_at(position);
            }
            Content::List { .. } => return Ok(None),
            Content::Lists(place) => read(place),
        };
        let find = |list: &[u8]| {
            let header = Header::decode(list).filter(|header| header.writer == wanted)?;
            let list = list.get(HEADER_BYTES..HEADER_BYTES + header.length)?;
            short_record(list, position).map(<[u8]>::to_vec)
        };
        match &*place {
            Place::Memory(bytes) => Ok(bytes.get(offset..).and_then(find)),
            Place::File(extent) => {
                let room = extent.length().saturating_sub(offset);
                let window = extent.read(offset, room.min(FIRST_READ_BYTES))?;
                let whole = Header::decode(&window).map_or(0, |header| HEADER_BYTES + header.length);
                match whole <= window.len() {
                    true => Ok(find(&window)),
                    false => Ok(find(&extent.read(offset, whole.min(room))?)),
                }
            }
        }
    }

    /// The lists from `at` on that committed up to `horizon`. Given `left`, that are all, with these counts.
    pub(super) fn finished(
        self: Arc<Self>,
        number: u64,
        at: usize,
        left: Option<RecordCounts>,
        horizon: CommitTimestamp,
    ) -> Result<Finished, SpillError> {
        let end = self.bytes();
        let place = match &self.content {
            Content::List { counts, .. } => {
                let counts = *counts;
                let lists = if counts.purge_work == 0 { Lists::Nothing } else { Lists::Long(self) };
                return Ok(Finished { number, end, next_timestamp: None, counts, lists });
            }
            Content::Lists(place) => read(place),
        };
        if let Some(counts) = left.filter(|left| left.purge_work == 0)
            && matches!(&*place, Place::File(_))
        {
            return Ok(Finished { number, end, next_timestamp: None, counts, lists: Lists::Nothing });
        }
        let from_file;
        let bytes = match &*place {
            Place::Memory(bytes) => &bytes[at..],
            Place::File(extent) => {
                from_file = extent.read(at, end - at)?;
                &from_file[..]
            }
        };
        let (mut taken, mut counts, mut next_timestamp) = (0, RecordCounts::default(), None);
        while let Some(header) = Header::decode(&bytes[taken..]) {
            if header.timestamp > horizon {
                next_timestamp = Some(header.timestamp);
                break;
            }
            counts = counts.plus(header.counts);
            taken = (taken + HEADER_BYTES + header.length).min(bytes.len());
        }
        let lists = match counts.purge_work {
            0 => Lists::Nothing,
            _ => Lists::Short(bytes[..taken].to_vec()),
        };
        Ok(Finished { number, end: at + taken, next_timestamp, counts, lists })
    }

    /// Moves its lists to the file. False if that failed: then they stay where they are. Only of a block that is not open.
    pub(super) fn spill(&self, file: &Arc<SpillFile>) -> bool {
        match &self.content {
            Content::List { list, .. } => {
                let mut long = write(list);
                let spilled = long.list.spill_all(file).is_ok();
                let memory_bytes = long.list.memory_bytes();
                let moved = long.memory_bytes - memory_bytes;
                long.memory_bytes = memory_bytes;
                long.spilled_bytes += moved;
                self.count_spilled(moved, moved > 0 && memory_bytes == 0);
                spilled
            }
            Content::Lists(place) => {
                let extent = match &*read(place) {
                    Place::Memory(bytes) => file.write(bytes),
                    Place::File(_) => return true,
                };
                let Ok(extent) = extent else { return false };
                let length = extent.length() as u64;
                let before = std::mem::replace(&mut *write(place), Place::File(extent));
                self.count_spilled(length, true);
                drop(before);
                true
            }
        }
    }

    fn count_spilled(&self, bytes: u64, are_all: bool) {
        self.figures.spilled_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.figures.memory.fetch_sub(bytes, Ordering::Relaxed);
        if are_all {
            let versions = self.versions.load(Ordering::Relaxed);
            self.figures.spilled_versions.fetch_add(versions, Ordering::Relaxed);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let (memory_bytes, spilled_bytes) = match &mut self.content {
            Content::List { list, .. } => {
                let long = list.get_mut().unwrap_or_else(PoisonError::into_inner);
                (long.memory_bytes, long.spilled_bytes)
            }
            Content::Lists(place) => match place.get_mut().unwrap_or_else(PoisonError::into_inner) {
                Place::Memory(bytes) => (bytes.len() as u64, 0),
                Place::File(extent) => (0, extent.length() as u64),
            },
        };
        self.figures.memory.fetch_sub(memory_bytes + BLOCK_OVERHEAD, Ordering::Relaxed);
        self.figures.spilled_bytes.fetch_sub(spilled_bytes, Ordering::Relaxed);
        if spilled_bytes > 0 && memory_bytes == 0 {
            let versions = self.versions.load(Ordering::Relaxed);
            self.figures.spilled_versions.fetch_sub(versions, Ordering::Relaxed);
        }
    }
}

impl Finished {
    /// What is counted as removed when they are: old rows.
    pub fn versions(&self) -> u64 {
        self.counts.versions
    }

    /// Calls `visit` with each record that purge has work with and its writer, oldest first, up to an error.
    pub fn visit<E: From<SpillError>>(
        &self,
        mut visit: impl FnMut(TransactionId, UndoRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.lists {
            Lists::Nothing => Ok(()),
            Lists::Long(block) => {
                let Content::List { writer, list, .. } = &block.content else { return Ok(()) };
                let mut result = Ok(());
                read(list).list.purge_records(|record| {
                    if result.is_ok() {
                        result = visit(*writer, record);
                    }
                })?;
                result
            }
            Lists::Short(bytes) => {
                let mut rest = &bytes[..];
                while let Some(header) = Header::decode(rest) {
                    let (list, behind) =
                        rest[HEADER_BYTES..].split_at_checked(header.length).ok_or(SpillError::Damaged)?;
                    rest = behind;
                    let mut position = 0;
                    while let Some(record) = short_record(list, position) {
                        position += 1;
                        if let Some(record) =
                            UndoRecord::decode(record).filter(|record| record.has_purge_work())
                        {
                            visit(header.writer, record)?;
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

impl Header {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp.0.to_le_bytes());
        out.extend_from_slice(&self.writer.0.to_le_bytes());
        let RecordCounts { outliving, versions, purge_work } = self.counts;
        // A short list has less than 64 KiB.
        for number in [self.length as u64, outliving, versions, purge_work] {
            out.extend_from_slice(&(number as u32).to_le_bytes());
        }
    }

    /// None at the end of a block.
    fn decode(bytes: &[u8]) -> Option<Header> {
        let (words, _) = bytes.get(..HEADER_BYTES)?.as_chunks::<8>();
        let [timestamp, writer, first, second] = words else { return None };
        let halves = |word: &[u8; 8]| {
            let word = u64::from_le_bytes(*word);
            (word & u64::from(u32::MAX), word >> 32)
        };
        let ((length, outliving), (versions, purge_work)) = (halves(first), halves(second));
        Some(Header {
            timestamp: CommitTimestamp(u64::from_le_bytes(*timestamp)),
            writer: TransactionId(u64::from_le_bytes(*writer)),
            length: length as usize,
            counts: RecordCounts { outliving, versions, purge_work },
        })
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
