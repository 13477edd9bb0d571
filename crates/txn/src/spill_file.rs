//! [`SpillFile`]: space in one temporary file for what outgrows memory. It is made at the first write.
//!
//! An [`Extent`] is written once, read any number of times from any thread, and its space is used again when its last handle is
//! dropped. Every block of an extent has its checksum in memory, so that a rotten or torn file is never taken for data.

use env::{DiskError, Environment, File};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::checksum::crc32c;

/// Space is given in multiples of this. What of an extent is not written takes no room on the disk.
const UNIT_BYTES: u64 = 64 << 10;
/// Bytes under one checksum: least that is read.
const BLOCK_BYTES: usize = 4096;

/// A temporary file, divided into extents.
pub struct SpillFile {
    environment: Environment,
    space: Mutex<Space>,
    failures: AtomicU64,
}

/// Which parts of the file are in use.
#[derive(Default)]
struct Space {
    file: Option<Arc<dyn File>>,
    /// Free runs below the end: start and length. No two touch.
    free: BTreeMap<u64, u64>,
    end: u64,
}

/// Written bytes. Dropping it gives the space back.
pub struct Extent {
    owner: Arc<SpillFile>,
    file: Arc<dyn File>,
    run: Run,
    length: usize,
    /// One for each block of [`BLOCK_BYTES`].
    checksums: Box<[u32]>,
}

#[derive(Clone, Copy)]
struct Run {
    start: u64,
    length: u64,
}

/// Why bytes could not be read back.
#[derive(Clone, Debug)]
pub enum SpillError {
    /// The file system refused.
    Disk(DiskError),
    /// The file holds other bytes than were written.
    Damaged,
}

impl SpillFile {
    /// No file yet.
    pub fn new(environment: Environment) -> SpillFile {
        SpillFile { environment, space: Mutex::default(), failures: AtomicU64::new(0) }
    }

    /// Writes bytes somewhere in the file. On an error nothing is taken.
    pub fn write(self: &Arc<Self>, bytes: &[u8]) -> Result<Extent, DiskError> {
        let written = self.try_write(bytes);
        if written.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        written
    }

    fn try_write(self: &Arc<Self>, bytes: &[u8]) -> Result<Extent, DiskError> {
        let length = (bytes.len() as u64).next_multiple_of(UNIT_BYTES);
        let (file, run) = self.space().take(&self.environment, length)?;
        let checksums = bytes.chunks(BLOCK_BYTES).map(crc32c).collect();
        // Made before the write, so that a failed one gives the space back.
        let extent = Extent { owner: self.clone(), file, run, length: bytes.len(), checksums };
        env::blocking::region(|| extent.file.write_at(bytes, extent.run.start))?;
        Ok(extent)
    }

    /// Writes that failed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The file's length in bytes, holes included.
    pub fn file_bytes(&self) -> u64 {
        self.space().end
    }

    fn give_back(&self, file: &Arc<dyn File>, run: Run) {
        // Blocks that cannot be given back are written again by the next extent in this place.
        let _ = file.discard(run.start, run.length);
        self.space().give_back(run);
    }

    fn space(&self) -> MutexGuard<'_, Space> {
        self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Space {
    /// Takes the first free run that is long enough, or room at the end.
    fn take(&mut self, environment: &Environment, length: u64) -> Result<(Arc<dyn File>, Run), DiskError> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(environment.temporary_file()?).clone(),
        };
        let fitting =
            self.free.iter().find(|(_, free)| **free >= length).map(|(start, free)| (*start, *free));
        let start = match fitting {
            Some((start, free)) => {
                self.free.remove(&start);
                if free > length {
                    self.free.insert(start + length, free - length);
                }
                start
            }
            None => {
                self.end += length;
                self.end - length
            }
        };
        Ok((file, Run { start, length }))
    }

    /// Joins a run with its free neighbours. At the end of the file it is cut off, so that a file of which nothing is in use
    /// is empty.
    fn give_back(&mut self, Run { mut start, mut length }: Run) {
        if let Some((before, free)) = self.free.range(..start).next_back().map(|(at, free)| (*at, *free))
            && before + free == start
        {
            self.free.remove(&before);
            (start, length) = (before, free + length);
        }
        if let Some(free) = self.free.remove(&(start + length)) {
            length += free;
        }
        if start + length < self.end {
            self.free.insert(start, length);
            return;
        }
        self.end = start;
        if let Some(file) = &self.file {
            // The mutex is held, so nobody writes beyond the new end yet. An uncut file only has holes at its end.
            let _ = file.set_len(start);
        }
    }
}

impl Extent {
    /// Bytes written.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Reads `length` bytes from `start`, which lie within what was written.
    pub fn read(&self, start: usize, length: usize) -> Result<Arc<[u8]>, SpillError> {
        let first = start / BLOCK_BYTES;
        let from = first * BLOCK_BYTES;
        let to = (start + length).next_multiple_of(BLOCK_BYTES).min(self.length);
        let mut blocks = vec![0; to.saturating_sub(from)];
        let offset = self.run.start + from as u64;
        env::blocking::region(|| self.file.read_at(&mut blocks, offset)).map_err(SpillError::Disk)?;
        let sound = blocks
            .chunks(BLOCK_BYTES)
            .zip(&self.checksums[first..])
            .all(|(block, checksum)| crc32c(block) == *checksum);
        if sound { Ok(blocks[start - from..start - from + length].into()) } else { Err(SpillError::Damaged) }
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        self.owner.give_back(&self.file, self.run);
    }
}

impl std::fmt::Debug for SpillFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpillFile").field("failures", &self.failures).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (start, length) = (self.run.start, self.length);
        f.debug_struct("Extent").field("start", &start).field("length", &length).finish_non_exhaustive()
    }
}

impl std::fmt::Display for SpillError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpillError::Disk(error) => error.fmt(f),
            SpillError::Damaged => f.write_str("the temporary file does not hold what was written to it"),
        }
    }
}

impl std::error::Error for SpillError {}

#[cfg(test)]
mod tests {
    use super::*;
    use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};

    fn spill_file(disk: &SimulatedDisk) -> Arc<SpillFile> {
        Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)))
    }

    #[test]
    fn extents_are_read_back_and_their_space_is_used_again() {
        let disk = SimulatedDisk::new(1);
        let file = spill_file(&disk);
        let bytes =
            |seed: usize, length: usize| -> Vec<u8> { (0..length).map(|at| (at * 7 + seed) as u8).collect() };
        let extents: Vec<Extent> =
            (0..4).map(|seed| file.write(&bytes(seed, 5000 + 70_000 * seed)).unwrap()).collect();
        for (seed, extent) in extents.iter().enumerate() {
            for (start, length) in [(0, 1), (4095, 2), (10, 4990), (4999, 1), (0, 5000)] {
                let expected = &bytes(seed, extent.length())[start..start + length];
                assert_eq!(&*extent.read(start, length).unwrap(), expected);
            }
        }
        let length = file.file_bytes();
        let mut extents = extents.into_iter();
        let first = extents.next().unwrap();
        drop(extents.next());
        assert_eq!(
            &*file.write(&bytes(9, 100_000)).unwrap().read(99_000, 1000).unwrap(),
            &bytes(9, 100_000)[99_000..]
        );
        assert_eq!(file.file_bytes(), length, "the hole was used");
        drop(extents);
        assert_eq!(file.file_bytes(), UNIT_BYTES);
        drop(first);
        assert_eq!((file.file_bytes(), disk.used_bytes()), (0, 0));
    }

    #[test]
    fn faults_take_no_space_and_are_told() {
        let disk = SimulatedDisk::new(1);
        let file = spill_file(&disk);
        drop(file.write(b"makes the file").unwrap());
        for kind in [FaultKind::NoSpace, FaultKind::ShortWrite, FaultKind::InputOutput] {
            disk.add_fault(Fault { class: OperationClass::Write, nth: disk.counts().writes, kind });
            assert!(file.write(&[7; 10_000]).is_err());
        }
        assert_eq!((file.failures(), file.file_bytes()), (3, 0));
        let extent = file.write(&[7; 10_000]).unwrap();
        let kind = FaultKind::InputOutput;
        disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
        assert!(matches!(extent.read(5, 5), Err(SpillError::Disk(_))));
        assert!(extent.read(5, 5).is_ok());
        extent.file.write_at(&[8], 4097).unwrap();
        assert!(extent.read(5, 5).is_ok());
        assert!(matches!(extent.read(5000, 5), Err(SpillError::Damaged)));
    }
}
