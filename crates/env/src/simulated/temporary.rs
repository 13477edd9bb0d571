//! [`SimulatedTemporaryFile`]: a file without a name on a simulated disk. Its blocks count against the disk's capacity, its
//! operations are counted and can fail as all others, and no restart finds anything of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::handles::Handle;
use super::{FaultKind, OperationClass, SimulatedDisk};
use crate::{Disk, DiskError, DiskErrorKind, DiskResult, File};

const BLOCK_BYTES: u64 = 4096;

/// The contents, by block; missing blocks below the end are holes.
#[derive(Default)]
pub(super) struct TemporaryImage {
    blocks: BTreeMap<u64, Box<[u8]>>,
    length: u64,
}

impl TemporaryImage {
    /// Bytes of blocks.
    pub fn used_bytes(&self) -> u64 {
        self.blocks.len() as u64 * BLOCK_BYTES
    }

    /// Bytes of the blocks that a write would add.
    fn growth(&self, offset: u64, length: u64) -> u64 {
        blocks_of(offset, length).filter(|block| !self.blocks.contains_key(block)).count() as u64
            * BLOCK_BYTES
    }

    fn write(&mut self, bytes: &[u8], offset: u64) {
        for (at, byte) in (offset..).zip(bytes) {
            let block = self.blocks.entry(at / BLOCK_BYTES).or_insert_with(new_block);
            block[(at % BLOCK_BYTES) as usize] = *byte;
        }
        self.length = self.length.max(offset + bytes.len() as u64);
    }

    fn read(&self, bytes: &mut [u8], offset: u64) {
        for (at, byte) in (offset..).zip(bytes) {
            let block = self.blocks.get(&(at / BLOCK_BYTES));
            *byte = block.map_or(0, |block| block[(at % BLOCK_BYTES) as usize]);
        }
    }

    fn set_len(&mut self, length: u64) {
        if length < self.length {
            self.blocks.retain(|block, _| block * BLOCK_BYTES < length);
            let rest = (length % BLOCK_BYTES) as usize;
            if let Some(last) = self.blocks.get_mut(&(length / BLOCK_BYTES)) {
                last[rest..].fill(0);
            }
        }
        self.length = length;
    }

    /// Zeroes the range; blocks that lie in it wholly become holes.
    fn discard(&mut self, offset: u64, length: u64) {
        let end = offset + length;
        self.blocks.retain(|block, _| block * BLOCK_BYTES < offset || (block + 1) * BLOCK_BYTES > end);
        for at in [offset / BLOCK_BYTES, end / BLOCK_BYTES] {
            if let Some(block) = self.blocks.get_mut(&at) {
                let start = at * BLOCK_BYTES;
                let from = offset.clamp(start, start + BLOCK_BYTES) - start;
                let to = end.clamp(start, start + BLOCK_BYTES) - start;
                block[from as usize..to as usize].fill(0);
            }
        }
    }
}

fn new_block() -> Box<[u8]> {
    vec![0; BLOCK_BYTES as usize].into()
}

fn blocks_of(offset: u64, length: u64) -> std::ops::Range<u64> {
    if length == 0 { 0..0 } else { offset / BLOCK_BYTES..(offset + length).div_ceil(BLOCK_BYTES) }
}

/// A handle; the file goes with it.
pub(super) struct SimulatedTemporaryFile {
    disk: SimulatedDisk,
    file: u64,
    path: PathBuf,
    _handle: Handle,
}

impl SimulatedTemporaryFile {
    pub fn create(disk: &SimulatedDisk, directory: &Path) -> DiskResult<SimulatedTemporaryFile> {
        if !disk.directory_exists(directory)? {
            disk.create_directory(directory)?;
        }
        let path = directory.join("(temporary file)");
        let mut state = disk.state();
        state.handles.check("create temporary file", &path)?;
        state.begin(OperationClass::Allocate, "create temporary file", &path)?;
        let file = state.next_file;
        state.next_file += 1;
        state.temporary.insert(file, TemporaryImage::default());
        let handle = state.handles.take(disk);
        drop(state);
        Ok(SimulatedTemporaryFile { disk: disk.clone(), file, path, _handle: handle })
    }

    /// Refuses ranges beyond what a file can have.
    fn check_range(&self, offset: u64, length: u64, operation: &'static str) -> DiskResult<()> {
        const FILE_BYTES_MAX: u64 = 1 << 40;
        match offset.checked_add(length) {
            Some(end) if end <= FILE_BYTES_MAX => Ok(()),
            _ => Err(DiskError::new(DiskErrorKind::NoSpace, operation, &self.path)),
        }
    }

    /// Counts the operation, fails it if that is due, and else runs it.
    fn run<T>(
        &self,
        class: OperationClass,
        operation: &'static str,
        act: impl FnOnce(&mut TemporaryImage) -> T,
    ) -> DiskResult<T> {
        let mut state = self.disk.state();
        state.begin(class, operation, &self.path)?;
        let image = state.temporary.get_mut(&self.file);
        image.map(act).ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, operation, &self.path))
    }
}

impl Drop for SimulatedTemporaryFile {
    fn drop(&mut self) {
        self.disk.state().temporary.remove(&self.file);
    }
}

impl File for SimulatedTemporaryFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> DiskResult<()> {
        let length = bytes.len() as u64;
        self.check_range(offset, length, "read")?;
        let is_inside = self.run(OperationClass::Read, "read", |image| {
            let is_inside = offset + length <= image.length;
            if is_inside {
                image.read(bytes, offset);
            }
            is_inside
        })?;
        if is_inside { Ok(()) } else { Err(DiskError::new(DiskErrorKind::UnexpectedEnd, "read", &self.path)) }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> DiskResult<()> {
        self.check_range(offset, bytes.len() as u64, "write")?;
        let mut state = self.disk.state();
        let fault = state.begin(OperationClass::Write, "write", &self.path)?;
        let growth =
            state.temporary.get(&self.file).map_or(0, |image| image.growth(offset, bytes.len() as u64));
        state.check_capacity(growth, "write", &self.path)?;
        let stored = if fault == Some(FaultKind::ShortWrite) { bytes.len() / 2 } else { bytes.len() };
        if let Some(image) = state.temporary.get_mut(&self.file) {
            image.write(&bytes[..stored], offset);
        }
        match fault {
            Some(_) => Err(DiskError::new(DiskErrorKind::NoSpace, "write", &self.path)),
            None => Ok(()),
        }
    }

    fn sync_data(&self) -> DiskResult<()> {
        self.run(OperationClass::Sync, "fdatasync", |_| ())
    }

    fn sync_all(&self) -> DiskResult<()> {
        self.run(OperationClass::Sync, "fsync", |_| ())
    }

    fn allocate(&self, offset: u64, length: u64) -> DiskResult<()> {
        self.check_range(offset, length, "allocate")?;
        let mut state = self.disk.state();
        state.begin(OperationClass::Allocate, "allocate", &self.path)?;
        let growth = state.temporary.get(&self.file).map_or(0, |image| image.growth(offset, length));
        state.check_capacity(growth, "allocate", &self.path)?;
        if let Some(image) = state.temporary.get_mut(&self.file) {
            for block in blocks_of(offset, length) {
                image.blocks.entry(block).or_insert_with(new_block);
            }
            image.length = image.length.max(offset + length);
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> DiskResult<()> {
        self.check_range(length, 0, "set length")?;
        self.run(OperationClass::Allocate, "set length", |image| image.set_len(length))
    }

    fn discard(&self, offset: u64, length: u64) -> DiskResult<()> {
        self.check_range(offset, length, "discard")?;
        self.run(OperationClass::Allocate, "discard", |image| image.discard(offset, length))
    }

    fn len(&self) -> DiskResult<u64> {
        let state = self.disk.state();
        if state.has_crashed() {
            return Err(DiskError::new(DiskErrorKind::Crashed, "stat", &self.path));
        }
        Ok(state.temporary.get(&self.file).map_or(0, |image| image.length))
    }
}
