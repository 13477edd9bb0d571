//! [`OverlayDisk`]: a disk over another one that is never written. What is written stays in memory and is read back from there;
//! nothing of it survives. For looking at a data directory that must not be touched. A file of the disk below is open as long as somebody
//! has it open here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Directory, Disk, DiskError, DiskErrorKind, DiskResult, File, FileLock, OpenMode};

/// Written bytes are kept in blocks of this size.
const BLOCK: usize = 4096;

/// A disk whose writes stay in memory.
pub struct OverlayDisk {
    below: Arc<dyn Disk>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Files that were opened or made; None for one that was removed.
    files: BTreeMap<PathBuf, Option<Arc<Written>>>,
    directories: BTreeSet<PathBuf>,
}

impl OverlayDisk {
    /// A disk that shows what is `below`.
    pub fn new(below: Arc<dyn Disk>) -> OverlayDisk {
        OverlayDisk { below, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of that path, if there is one.
    fn find(&self, state: &mut State, path: &Path) -> DiskResult<Option<OverlayFile>> {
        if let Some(known) = state.files.get(path) {
            return known.as_ref().map(|written| self.reopen(written)).transpose();
        }
        match self.below.open(path, OpenMode::Existing) {
            Ok(below) => {
                let written = Arc::new(Written::over(below.as_ref(), path)?);
                state.files.insert(path.to_path_buf(), Some(Arc::clone(&written)));
                Ok(Some(OverlayFile { below: Some(below), written }))
            }
            Err(error) if error.kind == DiskErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn reopen(&self, written: &Arc<Written>) -> DiskResult<OverlayFile> {
        let below = written.origin.as_ref().map(|origin| self.below.open(origin, OpenMode::Existing));
        Ok(OverlayFile { below: below.transpose()?, written: Arc::clone(written) })
    }
}

impl Disk for OverlayDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> DiskResult<Arc<dyn File>> {
        let mut state = self.state();
        let refused = |kind| Err(DiskError::new(kind, "open", path));
        match (self.find(&mut state, path)?, mode) {
            (Some(_), OpenMode::CreateNew) => refused(DiskErrorKind::AlreadyExists),
            (Some(file), _) => Ok(Arc::new(file)),
            (None, OpenMode::Existing | OpenMode::ReadOnly | OpenMode::ExistingDirect) => {
                refused(DiskErrorKind::NotFound)
            }
            (None, _) => {
                let written = Arc::new(Written::default());
                state.files.insert(path.to_path_buf(), Some(Arc::clone(&written)));
                Ok(Arc::new(OverlayFile { below: None, written }))
            }
        }
    }

    fn remove(&self, path: &Path) -> DiskResult<()> {
        let mut state = self.state();
        if self.find(&mut state, path)?.is_none() {
            return Err(DiskError::new(DiskErrorKind::NotFound, "remove", path));
        }
        state.files.insert(path.to_path_buf(), None);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> DiskResult<()> {
        let mut state = self.state();
        let Some(file) = self.find(&mut state, from)? else {
            return Err(DiskError::new(DiskErrorKind::NotFound, "rename", from));
        };
        state.files.insert(from.to_path_buf(), None);
        state.files.insert(to.to_path_buf(), Some(file.written));
        Ok(())
    }

    fn list(&self, directory: &Path) -> DiskResult<Vec<String>> {
        let state = self.state();
        let mut names: BTreeSet<String> = match self.below.list(directory) {
            Ok(names) => names.into_iter().collect(),
            Err(error) if error.kind == DiskErrorKind::NotFound && state.directories.contains(directory) => {
                BTreeSet::new()
            }
            Err(error) => return Err(error),
        };
        for (path, file) in state.files.iter().filter(|(path, _)| path.parent() == Some(directory)) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            match file {
                Some(_) => names.insert(name.to_owned()),
                None => names.remove(name),
            };
        }
        let inside = state.directories.iter().filter(|path| path.parent() == Some(directory));
        names.extend(inside.filter_map(|path| Some(format!("{}/", path.file_name()?.to_str()?))));
        Ok(names.into_iter().collect())
    }

    fn directory_exists(&self, path: &Path) -> DiskResult<bool> {
        Ok(self.state().directories.contains(path) || self.below.directory_exists(path)?)
    }

    fn create_directory(&self, path: &Path) -> DiskResult<()> {
        if !self.below.directory_exists(path)? {
            self.state().directories.insert(path.to_path_buf());
        }
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> DiskResult<()> {
        self.state().directories.remove(path);
        Ok(())
    }

    fn directory(&self, _path: &Path) -> DiskResult<Arc<dyn Directory>> {
        Ok(Arc::new(OverlayDirectory))
    }

    /// Temporary files are no part of the directory: they are made below.
    fn create_temporary(&self, directory: &Path) -> DiskResult<Arc<dyn File>> {
        self.below.create_temporary(directory)
    }

    /// The lock is a real one.
    fn lock(&self, path: &Path) -> DiskResult<Box<dyn FileLock>> {
        self.below.lock(path)
    }

    fn real_path(&self, path: &Path) -> DiskResult<PathBuf> {
        self.below.real_path(path)
    }

    fn display_path(&self, path: &Path) -> PathBuf {
        self.below.display_path(path)
    }
}

/// Nothing in it needs to be durable.
struct OverlayDirectory;

impl Directory for OverlayDirectory {
    fn sync(&self) -> DiskResult<()> {
        Ok(())
    }
}

/// An open file.
struct OverlayFile {
    below: Option<Arc<dyn File>>,
    written: Arc<Written>,
}

/// What was written to a file, whatever it is called by now.
#[derive(Default)]
struct Written {
    /// Its path on the disk below, if it is from there.
    origin: Option<PathBuf>,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    length: u64,
    /// Bytes of the file below that still count.
    below_length: u64,
    blocks: BTreeMap<u64, Box<[u8; BLOCK]>>,
}

impl Written {
    /// Nothing yet, over a file of the disk below.
    fn over(below: &dyn File, path: &Path) -> DiskResult<Written> {
        let length = below.len()?;
        let content = Mutex::new(Content { length, below_length: length, blocks: BTreeMap::new() });
        Ok(Written { origin: Some(path.to_path_buf()), content })
    }
}

impl OverlayFile {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.written.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes as the file below has them, zero behind its end.
    fn read_below(&self, content: &Content, bytes: &mut [u8], offset: u64) -> DiskResult<()> {
        let there = content.below_length.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (from_below, rest) = bytes.split_at_mut(there);
        rest.fill(0);
        match &self.below {
            Some(below) if there > 0 => below.read_at(from_below, offset),
            _ => Ok(()),
        }
    }
}

/// The pieces of a range: block, first byte in it, and where the piece lies in the range.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let first = (at % BLOCK as u64) as usize;
        let count = (BLOCK - first).min(length - done);
        let piece = (at / BLOCK as u64, first, done..done + count);
        done += count;
        (count > 0).then_some(piece)
    })
}

impl File for OverlayFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> DiskResult<()> {
        let content = self.content();
        if offset + bytes.len() as u64 > content.length {
            return Err(DiskError::new(DiskErrorKind::UnexpectedEnd, "read", Path::new("")));
        }
        self.read_below(&content, bytes, offset)?;
        for (block, first, range) in pieces(offset, bytes.len()) {
            if let Some(written) = content.blocks.get(&block) {
                let count = range.len();
                bytes[range].copy_from_slice(&written[first..first + count]);
            }
        }
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> DiskResult<()> {
        let mut content = self.content();
        for (number, first, range) in pieces(offset, bytes.len()) {
            let mut block = match content.blocks.remove(&number) {
                Some(block) => block,
                None => {
                    let mut block = Box::new([0; BLOCK]);
                    self.read_below(&content, &mut block[..], number * BLOCK as u64)?;
                    block
                }
            };
            block[first..first + range.len()].copy_from_slice(&bytes[range]);
            // Log files are made full of zeroes, which need no memory.
            let is_new = number * BLOCK as u64 >= content.below_length;
            if !(is_new && block.iter().all(|byte| *byte == 0)) {
                content.blocks.insert(number, block);
            }
        }
        content.length = content.length.max(offset + bytes.len() as u64);
        Ok(())
    }

    fn sync_data(&self) -> DiskResult<()> {
        Ok(())
    }

    fn sync_all(&self) -> DiskResult<()> {
        Ok(())
    }

    fn allocate(&self, offset: u64, length: u64) -> DiskResult<()> {
        let mut content = self.content();
        content.length = content.length.max(offset + length);
        Ok(())
    }

    fn set_len(&self, length: u64) -> DiskResult<()> {
        let mut content = self.content();
        let end = length.div_ceil(BLOCK as u64);
        content.blocks.retain(|block, _| *block < end);
        let used = (length % BLOCK as u64) as usize;
        if used > 0
            && let Some(last) = content.blocks.get_mut(&(end - 1))
        {
            last[used..].fill(0);
        }
        content.below_length = content.below_length.min(length);
        content.length = length;
        Ok(())
    }

    fn discard(&self, _offset: u64, _length: u64) -> DiskResult<()> {
        Ok(())
    }

    fn len(&self) -> DiskResult<u64> {
        Ok(self.content().length)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::simulated::SimulatedDisk;

    fn read(file: &Arc<dyn File>) -> Vec<u8> {
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn writes_are_read_back_and_stay_above() {
        let below = SimulatedDisk::new(1);
        let path = Path::new("file");
        let original: Vec<u8> = (0..10_000).map(|at| at as u8).collect();
        below.open(path, OpenMode::CreateNew).unwrap().write_at(&original, 0).unwrap();
        let disk = OverlayDisk::new(Arc::new(below.clone()));
        let file = disk.open(path, OpenMode::Existing).unwrap();
        file.write_at(&[7; 100], 4050).unwrap();
        file.write_at(&[8; 10], 12_000).unwrap();
        let mut expected = original.clone();
        expected.resize(12_010, 0);
        expected[4050..4150].fill(7);
        expected[12_000..].fill(8);
        assert_eq!(read(&file), expected);
        file.set_len(4100).unwrap();
        file.allocate(4100, 6000).unwrap();
        expected.truncate(4100);
        expected.resize(10_100, 0);
        assert_eq!(read(&disk.open(path, OpenMode::CreateIfMissing).unwrap()), expected);
        assert_eq!(below.contents(path).unwrap(), original);
    }

    #[test]
    fn files_below_are_open_as_long_as_those_above() {
        let below = SimulatedDisk::new(1);
        let names: Vec<String> = (0..5).map(|number| number.to_string()).collect();
        for name in &names {
            below.open(Path::new(name), OpenMode::CreateNew).unwrap().write_at(name.as_bytes(), 0).unwrap();
        }
        below.set_open_files_max(Some(2));
        let disk = OverlayDisk::new(Arc::new(below.clone()));
        for round in [b"+", b"-"] {
            for name in &names {
                let file = disk.open(Path::new(name), OpenMode::Existing).unwrap();
                file.write_at(round, 1).unwrap();
            }
        }
        disk.rename(Path::new("3"), Path::new("x")).unwrap();
        let kept = disk.open(Path::new("x"), OpenMode::Existing).unwrap();
        assert_eq!((read(&kept), below.open_files()), (b"3-".to_vec(), 1));
    }

    #[test]
    fn names_change_above_only() {
        let below = SimulatedDisk::new(1);
        below.create_directory(Path::new("d")).unwrap();
        for name in ["d/a", "d/b"] {
            below.open(Path::new(name), OpenMode::CreateNew).unwrap();
        }
        let disk = OverlayDisk::new(Arc::new(below.clone()));
        disk.rename(Path::new("d/a"), Path::new("d/c")).unwrap();
        disk.remove(Path::new("d/b")).unwrap();
        disk.create_directory(Path::new("new")).unwrap();
        disk.open(Path::new("new/x"), OpenMode::CreateNew).unwrap();
        assert_eq!(disk.list(Path::new("d")).unwrap(), ["c"]);
        assert_eq!(disk.list(Path::new("new")).unwrap(), ["x"]);
        assert_eq!(disk.list(Path::new("")).unwrap(), ["d/", "new/"]);
        let missing = disk.open(Path::new("d/a"), OpenMode::Existing).err().unwrap();
        assert_eq!(missing.kind, DiskErrorKind::NotFound);
        assert_eq!(below.list(Path::new("d")).unwrap(), ["a", "b"]);
        assert!(!below.directory_exists(Path::new("new")).unwrap());
    }
}
