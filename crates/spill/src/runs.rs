//! Sorted runs in a temporary file and their merge. An entry is `key length u32, row length u32, key, row`. Equal keys come
//! out in the order of their runs, so a sort over runs is as stable as one in memory. Main types: [`RunFile`],
//! [`Merge`].

use crate::workspace::TemporaryFile;
use crate::workspace::corrupt;
use crate::{Held, Workspace};
use errors::SqlResult;
use std::cmp::Ordering;
use std::rc::Rc;

/// Bytes before an entry's key.
pub const HEADER_BYTES: usize = 8;

/// Appends an entry.
pub fn append_entry(key: &[u8], row: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(&(row.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(row);
}

/// Lengths of key and row.
#[inline]
pub fn entry_lengths(entry: &[u8]) -> Option<(usize, usize)> {
    let (key, rest) = entry.split_first_chunk::<4>()?;
    let (row, _) = rest.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*key) as usize, u32::from_le_bytes(*row) as usize))
}

/// The first bytes of a key as a number: decides most comparisons.
#[inline]
pub fn key_prefix(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut padded = [0; 8];
            padded[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(padded)
        }
    }
}

/// A part of the file.
#[derive(Clone, Copy)]
pub struct Run {
    offset: u64,
    end: u64,
    /// The longest entry.
    entry_bytes_max: usize,
}

impl Run {
    /// The least that a buffer for reading it takes: an entry lies in it as a whole.
    fn read_bytes_min(&self) -> usize {
        self.entry_bytes_max.max(BUFFER_BYTES_MIN)
    }
}

/// The least that a buffer takes, however little memory is left.
const BUFFER_BYTES_MIN: usize = 1 << 12;
/// What the buffers of a merge take at least, together: with less than these there would be too many merges.
const MERGE_BYTES_MIN: u64 = 8 * BUFFER_BYTES_MIN as u64;

/// A file with runs, in the order in which they were written.
pub struct RunFile {
    file: TemporaryFile,
    pub runs: Vec<Run>,
    /// Room while a run is being written.
    buffer: Vec<u8>,
    /// What a buffer has where there is memory.
    wanted_bytes: usize,
    /// The longest entry of the run that is being written.
    entry_bytes_max: usize,
    /// The memory of the buffer.
    held: Held,
}

impl RunFile {
    /// No runs yet; writes and reads in pieces of that size, or smaller ones where memory is short.
    pub fn new(workspace: &Rc<Workspace>, wanted_bytes: usize) -> SqlResult<RunFile> {
        Ok(RunFile {
            file: workspace.temporary_file()?,
            runs: Vec::new(),
            buffer: Vec::new(),
            wanted_bytes,
            entry_bytes_max: 0,
            held: Held::new(workspace.clone()),
        })
    }

    /// An empty file of the same kind.
    pub fn sibling(&self) -> SqlResult<RunFile> {
        RunFile::new(self.held.workspace(), self.wanted_bytes)
    }

    /// Adds a whole entry, header included, to the run that is being written.
    pub fn write(&mut self, entry: &[u8]) -> SqlResult<()> {
        if self.held.bytes() == 0 {
            let bytes = self.held.grow_between(BUFFER_BYTES_MIN as u64, self.wanted_bytes as u64)?;
            self.buffer = Vec::with_capacity(bytes as usize);
        }
        self.entry_bytes_max = self.entry_bytes_max.max(entry.len());
        if !self.buffer.is_empty() && self.buffer.len() + entry.len() > self.buffer.capacity() {
            self.flush()?;
        }
        if entry.len() >= self.buffer.capacity() {
            self.file.append(entry)?;
        } else {
            self.buffer.extend_from_slice(entry);
        }
        Ok(())
    }

    fn flush(&mut self) -> SqlResult<()> {
        self.file.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Where the next entry will be.
    pub fn position(&self) -> u64 {
        self.file.len() + self.buffer.len() as u64
    }

    /// Reads bytes of runs that have ended.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> SqlResult<()> {
        self.file.read(bytes, offset)
    }

    /// How many of these runs, of which so many are wanted, are merged at once with the memory that is left. Two at least, if there
    /// are two.
    pub fn fan_in(&self, runs: &[Run], wanted: usize) -> usize {
        let mut buffers = Held::new(self.held.workspace().clone());
        let mut bytes = 0;
        for (count, run) in runs.iter().take(wanted).enumerate() {
            bytes += run.read_bytes_min() as u64;
            if count >= 2 && bytes > MERGE_BYTES_MIN && !buffers.try_grow(bytes - buffers.bytes()) {
                return count;
            }
        }
        wanted.min(runs.len())
    }

    /// Ends the run that was written. A buffer is there again when the next one begins.
    pub fn end_run(&mut self) -> SqlResult<()> {
        self.flush()?;
        self.buffer = Vec::new();
        self.held.shrink_to(0);
        let offset = self.runs.last().map_or(0, |run| run.end);
        let entry_bytes_max = std::mem::take(&mut self.entry_bytes_max);
        self.runs.push(Run { offset, end: self.file.len(), entry_bytes_max });
        Ok(())
    }
}

/// Reads a run from its start.
struct RunReader {
    position: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Where the entry starts, and its length; 0 before the first.
    at: usize,
    length: usize,
    key_length: usize,
    prefix: u64,
}

impl RunReader {
    fn new(run: Run, buffer_bytes: usize) -> RunReader {
        RunReader {
            position: run.offset,
            end: run.end,
            buffer: Vec::with_capacity(buffer_bytes),
            at: 0,
            length: 0,
            key_length: 0,
            prefix: 0,
        }
    }

    fn entry(&self) -> &[u8] {
        &self.buffer[self.at..self.at + self.length]
    }

    fn key(&self) -> &[u8] {
        &self.entry()[HEADER_BYTES..][..self.key_length]
    }

    /// Makes so many bytes from the entry's start be in the buffer. False at the end of the run.
    fn fill(&mut self, wanted: usize, file: &TemporaryFile) -> SqlResult<bool> {
        let present = self.buffer.len() - self.at;
        if present >= wanted {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let left = self.end - self.position;
        if left == 0 && present == 0 {
            return Ok(false);
        }
        let room = wanted.max(self.buffer.capacity()) - present;
        let read = usize::try_from(left).unwrap_or(usize::MAX).min(room);
        if present + read < wanted {
            return Err(corrupt());
        }
        self.buffer.resize(present + read, 0);
        file.read(&mut self.buffer[present..], self.position)?;
        self.position += read as u64;
        Ok(true)
    }

    /// Moves to the next entry. False at the end.
    fn advance(&mut self, file: &TemporaryFile) -> SqlResult<bool> {
        self.at += self.length;
        self.length = 0;
        if !self.fill(HEADER_BYTES, file)? {
            return Ok(false);
        }
        let (key, row) = entry_lengths(&self.buffer[self.at..]).ok_or_else(corrupt)?;
        self.fill(HEADER_BYTES + key + row, file)?;
        self.key_length = key;
        self.length = HEADER_BYTES + key + row;
        self.prefix = key_prefix(self.key());
        Ok(true)
    }
}

/// The entries of several runs in order.
pub struct Merge {
    readers: Vec<RunReader>,
    /// A heap of readers that have an entry, the least first.
    heap: Vec<u32>,
    /// The memory of the readers' buffers.
    held: Held,
}

fn precedes(readers: &[RunReader], left: u32, right: u32) -> bool {
    let (one, other) = (&readers[left as usize], &readers[right as usize]);
    let order = one.prefix.cmp(&other.prefix).then_with(|| one.key().cmp(other.key()));
    order.then(left.cmp(&right)) == Ordering::Less
}

impl Merge {
    /// Over runs of a file.
    pub fn new(runs: &[Run], source: &RunFile) -> SqlResult<Merge> {
        let workspace = source.held.workspace().clone();
        workspace.count(|counts| counts.merge_passes += 1);
        let mut held = Held::new(workspace);
        let least: usize = runs.iter().map(Run::read_bytes_min).sum();
        let wanted: usize = runs.iter().map(|run| run.read_bytes_min().max(source.wanted_bytes)).sum();
        let all_bytes = held.grow_between(least as u64, wanted as u64)? as usize;
        let more = (all_bytes - least) / runs.len().max(1);
        let reader = |run: &Run| RunReader::new(*run, run.read_bytes_min() + more);
        let mut readers: Vec<_> = runs.iter().map(reader).collect();
        let mut heap = Vec::with_capacity(runs.len());
        for (number, reader) in readers.iter_mut().enumerate() {
            if reader.advance(&source.file)? {
                heap.push(number as u32);
            }
        }
        let mut merge = Merge { readers, heap, held };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && precedes(&self.readers, self.heap[child], self.heap[least]) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    /// The least entry that is left, header included.
    pub fn entry(&self) -> Option<&[u8]> {
        self.heap.first().map(|least| self.readers[*least as usize].entry())
    }

    /// Moves behind that entry.
    pub fn advance(&mut self, source: &RunFile) -> SqlResult<()> {
        let Some(least) = self.heap.first().copied() else { return Ok(()) };
        if !self.readers[least as usize].advance(&source.file)? {
            self.heap.swap_remove(0);
        }
        if self.heap.is_empty() {
            // Who has read all of it may live on for long: an operator below others.
            self.readers = Vec::new();
            self.held.shrink_to(0);
        }
        self.sift_down(0);
        Ok(())
    }
}
