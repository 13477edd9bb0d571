//! Tablespace files: creating, opening, growing, renaming, removing them.
//!
//! A table's file is called by the number of its space, so a start need not open it to know whose it is: it is opened when the table
//! is used (`BufferPool::open_found_space`).
//!
//! A file's blocks are allocated, and its length is durable, before a page of it is used (I4, I5). A new file gets its
//! name only when its header is durable, so a file under a final name always was whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{Directory, DiskErrorKind, DiskResult, File, OpenMode, TEMPORARY_DIRECTORY, blocking};
use metrics::Counter;
use page::{PAGE_BYTES, PageOperation, SpaceKind, SpaceOrigin};
use stdx::aligned::AlignedBuffer;
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};
use stdx::sync::lock;

use super::SpaceFile;
use crate::page_transform::zero_page;
use crate::{BufferPool, StorageError, page_transform};

/// The suffix of tablespace files, by which recovery finds them (in the root and in directories below it).
pub const DATA_FILE_SUFFIX: &str = ".ibd";
/// Where the files of tables lie, each by the number of its space: a name that no schema's directory can have.
pub const TABLES_DIRECTORY: &str = "#tables";
/// Added to the name of a file that is being made.
pub(crate) const NEW_SUFFIX: &str = ".new";

/// Longer names of lost files are cut, so that there is room for a number.
const LOST_NAME_BYTES_MAX: usize = 240;
/// Pages of a damaged file that are looked at to tell whose it is.
const PAGES_LOOKED_AT: u32 = 256;

const PAGE: u64 = PAGE_BYTES as u64;
/// A new file has the space header and room for a few small trees.
const FIRST_PAGES: u32 = 8;

/// Where files go that belong to no table. They are never looked at again.
pub(crate) const LOST_DIRECTORY: &str = "#lost+found";

/// Why a file that looks like a tablespace, or a directory, was left alone at start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// The operating system does not let it be read; why.
    Unreadable(String),
    /// Its header is not whole, or it has none.
    Damaged,
    /// It is of another server, or needs features that this one does not have.
    Foreign,
}

impl BufferPool {
    /// Creates the file of a new space (and its directory), durable on return. `path` is relative to the data directory
    /// and ends in `.ibd`. Gives its store id.
    pub fn create_space(&self, space: SpaceId, kind: SpaceKind, path: &Path) -> Result<u64, StorageError> {
        assert!(is_data_file(path), "tablespace files end in {DATA_FILE_SUFFIX}: {}", path.display());
        let disk = &self.environment.disk;
        if self.has_file(space) || self.file_exists(path)? {
            return Err(StorageError::SpaceExists(space));
        }
        let directory = parent_of(path);
        let new_path = new_path(space, path);
        // 0 is what files have that are older than these ids.
        let store_id = self.environment.random.next_u64().max(1);
        let file = loop {
            let made = self
                .make_directory(directory)
                .and_then(|()| self.write_new_file(space, (kind, store_id), &new_path));
            match made {
                Ok(file) => break file,
                Err(error) => {
                    // Half a file is of no use; if it cannot be removed, the next start does it.
                    let _ = disk.remove(&new_path);
                    if !(error.is_full_disk() && self.give_up_reserve()?) {
                        return Err(error);
                    }
                }
            }
        };
        let made = self.directory(directory).and_then(|directory| {
            disk.rename(&new_path, path)?;
            self.sync_directory(directory.as_ref())
        });
        if let Err(error) = made {
            let _ = disk.remove(&new_path);
            return Err(error);
        }
        self.spaces.add(self.space_file(space, Some(store_id), path, file), FIRST_PAGES)?;
        Ok(store_id)
    }

    pub(crate) fn space_file(
        &self,
        space: SpaceId,
        store_id: Option<u64>,
        path: &Path,
        file: Arc<dyn File>,
    ) -> SpaceFile {
        let file = self.open_files.adopt(space, path, file);
        SpaceFile { space, is_temporary: false, store_id, file }
    }

    /// Makes a directory, or makes one durable that somebody else made; the second time it costs nothing.
    fn make_directory(&self, directory: &Path) -> Result<(), StorageError> {
        let mut durable = lock(&self.durable_directories);
        let exists = self.environment.disk.directory_exists(directory)?;
        if exists && (directory.as_os_str().is_empty() || durable.contains(directory)) {
            return Ok(());
        }
        let parent = self.directory(parent_of(directory))?;
        self.environment.disk.create_directory(directory)?;
        self.sync_directory(parent.as_ref())?;
        durable.insert(directory.to_path_buf());
        Ok(())
    }

    fn write_new_file(
        &self,
        space: SpaceId,
        (kind, store_id): (SpaceKind, u64),
        path: &Path,
    ) -> Result<Arc<dyn File>, StorageError> {
        let in_space = |error| StorageError::in_space(space, error);
        let file = self.open_file(path, OpenMode::CreateIfMissing).map_err(in_space)?;
        file.set_len(0).map_err(in_space)?;
        self.write_first_pages(space, (kind, store_id), file.as_ref())?;
        blocking::region(|| file.sync_all()).map_err(|error| self.stop(&error))?;
        Ok(file)
    }

    /// Gives an empty file the header of a space and room for its first pages.
    fn write_first_pages(
        &self,
        space: SpaceId,
        (kind, store_id): (SpaceKind, u64),
        file: &dyn File,
    ) -> Result<(), StorageError> {
        let in_space = |error| StorageError::in_space(space, error);
        file.allocate(0, u64::from(FIRST_PAGES) * PAGE).map_err(in_space)?;
        let page = PageId { space, number: PageNumber(0) };
        let mut bytes = AlignedBuffer::zeroed(PAGE_BYTES);
        zero_page(&mut bytes, page, Lsn(0));
        let origin =
            SpaceOrigin { log_id: self.redo.lineage().id, created: self.redo.end_lsn(), kind, store_id };
        let operation = PageOperation::InitSpaceHeader { size_pages: FIRST_PAGES, origin };
        operation.apply(&mut bytes).map_err(|error| StorageError::corrupt(page, error))?;
        page_transform::seal(&mut bytes);
        file.write_at(&bytes, 0).map_err(in_space)
    }

    fn file_exists(&self, path: &Path) -> Result<bool, StorageError> {
        match self.open_file(path, OpenMode::Existing) {
            Ok(_) => Ok(true),
            Err(error) if error.kind == DiskErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether there is a file of that name, whosever it is.
    pub fn has_file_named(&self, path: &Path) -> Result<bool, StorageError> {
        self.file_exists(path)
    }

    /// Opens a file; others are closed for it where no descriptor is left.
    pub(crate) fn open_file(&self, path: &Path, mode: OpenMode) -> DiskResult<Arc<dyn File>> {
        self.open_files.with_descriptor(|| self.environment.disk.open(path, mode))
    }

    /// A directory whose entries are about to be changed. Without it nothing is begun: an error here is no failed sync.
    fn directory(&self, path: &Path) -> Result<Arc<dyn Directory>, StorageError> {
        Ok(self.open_files.with_descriptor(|| self.environment.disk.directory(path))?)
    }

    /// A directory that cannot be synced is a failed sync as any other (I2).
    fn sync_directory(&self, directory: &dyn Directory) -> Result<(), StorageError> {
        blocking::region(|| directory.sync()).map_err(|error| self.stop(&error))
    }

    /// Makes durable which files there are in a directory, if it is there: a process that was killed may not have come to that.
    pub fn sync_names_in(&self, directory: &Path) -> Result<(), StorageError> {
        match self.environment.disk.directory_exists(directory)? {
            true => self.sync_directory(self.directory(directory)?.as_ref()),
            false => Ok(()),
        }
    }

    /// Opens the file of a space that is not open.
    pub fn open_space(&self, space: SpaceId, path: &Path) -> Result<(), StorageError> {
        let file = self.open_file(path, OpenMode::Existing)?;
        let page = PageId { space, number: PageNumber(0) };
        let mut bytes = AlignedBuffer::zeroed(PAGE_BYTES);
        file.read_at(&mut bytes, 0)?;
        page_transform::open(&bytes, page)?;
        let pages = file_pages(file.as_ref())?;
        self.spaces.add(self.space_file(space, store_id_in(&bytes), path, file), pages)
    }

    /// Opens a file whose header cannot be read as that of a space: so it can be renamed and removed, and pages be read.
    pub fn open_damaged_space(&self, space: SpaceId, path: &Path) -> Result<(), StorageError> {
        let file = self.open_file(path, OpenMode::Existing)?;
        let pages = file_pages(file.as_ref())?;
        // From now on it is the space's, whatever it was found as.
        self.spaces.forget_found(space);
        self.spaces.add(self.space_file(space, None, path, file), pages)
    }

    /// Whether a file, whose header is damaged, holds whole pages of that space.
    pub fn holds_pages_of(&self, path: &Path, space: SpaceId) -> bool {
        let Ok(file) = self.open_file(path, OpenMode::Existing) else { return false };
        let pages = file_pages(file.as_ref()).unwrap_or(0).min(PAGES_LOOKED_AT);
        let mut bytes = AlignedBuffer::zeroed(PAGE_BYTES);
        (1..pages).any(|number| {
            let page = PageId { space, number: PageNumber(number) };
            let read = file.read_at(&mut bytes, u64::from(number) * PAGE);
            read.is_ok() && page::page_id(&bytes) == page && page_transform::open(&bytes, page).is_ok()
        })
    }

    /// Makes an empty temporary space: its pages are in the pool as those of all spaces, but no change of them is logged, and no
    /// checkpoint waits for them. They are written when their frames are wanted, without a copy and without a sync. Its file has no
    /// name, and is gone with [`BufferPool::remove_temporary_space`], or with the process. Errors: SpaceExists, NoSpace, Disk.
    pub fn create_temporary_space(&self, space: SpaceId) -> Result<(), StorageError> {
        let made = self.open_files.with_descriptor(|| self.environment.temporary_file());
        let file = made.map_err(|error| StorageError::in_space(space, error))?;
        self.write_first_pages(space, (SpaceKind::Temporary, 0), file.as_ref())?;
        let path = Path::new(TEMPORARY_DIRECTORY).join(format!("temp_{space}.ibt"));
        let file = self.open_files.adopt_nameless(&path, file);
        self.spaces.add(SpaceFile { space, is_temporary: true, store_id: None, file }, FIRST_PAGES)
    }

    /// Forgets the pages of a temporary space and gives its file's blocks back. Nobody else may use it meanwhile.
    pub fn remove_temporary_space(&self, space: SpaceId) -> Result<(), StorageError> {
        self.detach_space(space).map(drop)
    }

    /// Writes the dirty pages of a space and forgets it. Nobody else may use it meanwhile.
    pub fn close_space(&self, space: SpaceId) -> Result<(), StorageError> {
        while self.flush_space_some(space)? > 0 {}
        self.detach_space(space).map(drop)
    }

    /// Forgets the pages of a space and removes its file, durably. Readers that come later get `SpaceMissing`. Without a descriptor for
    /// the directory the file is gone all the same, and its name is free, but a power cut may bring it back.
    pub fn remove_space(&self, space: SpaceId) -> Result<(), StorageError> {
        let path = match self.spaces.forget_found(space) {
            true => space_path(space),
            false => self.detach_space(space)?,
        };
        self.environment.disk.remove(&path)?;
        let directory = self.directory(parent_of(&path))?;
        self.sync_directory(directory.as_ref())
    }

    /// Writes the pages of a space that belongs to nobody, forgets it, and moves its file to the directory of lost files,
    /// durably. Returns the file's new path. For the start, when nobody else uses the space.
    pub fn set_space_aside(&self, space: SpaceId) -> Result<PathBuf, StorageError> {
        while !self.spaces.is_found(space) && self.flush_space_some(space)? > 0 {}
        let lost = Path::new(LOST_DIRECTORY);
        self.make_directory(lost)?;
        let path = self.path_of(space)?;
        let directories = [self.directory(lost)?, self.directory(parent_of(&path))?];
        let mut name = path.to_string_lossy().replace('/', ".");
        if name.len() > LOST_NAME_BYTES_MAX {
            name = format!("{space}{DATA_FILE_SUFFIX}");
        }
        let mut target = lost.join(&name);
        for attempt in 2.. {
            if !self.file_exists(&target)? {
                break;
            }
            target = lost.join(format!("{name}.{attempt}"));
        }
        if !self.spaces.forget_found(space) {
            self.detach_space(space)?;
        }
        self.environment.disk.rename(&path, &target)?;
        for directory in directories {
            self.sync_directory(directory.as_ref())?;
        }
        Ok(target)
    }

    /// Gives the files of spaces the names that tables' files have, durably. Tells of each that keeps its own why. For a start, when
    /// nobody else uses the spaces.
    pub fn name_by_space(
        &self,
        spaces: impl Iterator<Item = SpaceId>,
    ) -> Result<Vec<(SpaceId, StorageError)>, StorageError> {
        let mut by_directory: BTreeMap<PathBuf, Vec<SpaceId>> = BTreeMap::new();
        for space in spaces {
            let directory = parent_of(&self.path_of(space)?).to_path_buf();
            by_directory.entry(directory).or_default().push(space);
        }
        let mut refused = Vec::new();
        for (directory, spaces) in by_directory {
            match self.name_all_by_space(&directory, &spaces, &mut refused) {
                Ok(()) => {}
                Err(StorageError::Stopped) => return Err(StorageError::Stopped),
                Err(error) => refused.extend(spaces.first().map(|space| (*space, error))),
            }
            // Schemas have no directories any more. One with files of other programs stays.
            let _ = self.environment.disk.remove_directory(&directory);
        }
        Ok(refused)
    }

    /// The same for files of one directory.
    fn name_all_by_space(
        &self,
        directory: &Path,
        spaces: &[SpaceId],
        refused: &mut Vec<(SpaceId, StorageError)>,
    ) -> Result<(), StorageError> {
        let tables = Path::new(TABLES_DIRECTORY);
        self.make_directory(tables)?;
        let directories = [self.directory(tables)?, self.directory(directory)?];
        for space in spaces {
            let file = self.spaces.require(*space)?.table_file(*space)?;
            let path = space_path(*space);
            let named = match self.file_exists(&path) {
                Ok(true) => Err(StorageError::SpaceExists(*space)),
                Ok(false) => file.rename(&path).map_err(StorageError::from),
                Err(error) => Err(error),
            };
            refused.extend(named.err().map(|error| (*space, error)));
        }
        directories.iter().try_for_each(|directory| self.sync_directory(directory.as_ref()))
    }

    /// Where the file of a space lies.
    pub(crate) fn path_of(&self, space: SpaceId) -> Result<PathBuf, StorageError> {
        if self.spaces.is_found(space) {
            return Ok(space_path(space));
        }
        Ok(self.spaces.require(space)?.table_file(space)?.path())
    }

    /// The spaces and their files.
    pub fn spaces(&self) -> Vec<(SpaceId, PathBuf)> {
        let mut spaces: Vec<_> =
            self.spaces.list().into_iter().map(|file| (file.space, file.file.path())).collect();
        spaces.extend(self.spaces.all_found().into_iter().map(|space| (space, space_path(space))));
        spaces
    }

    /// Whether there is a file for the space, looked at or not.
    pub fn has_file(&self, space: SpaceId) -> bool {
        self.has_opened(space) || self.spaces.is_found(space)
    }

    /// Whether the space's file was looked at: its pages can be had.
    pub fn has_opened(&self, space: SpaceId) -> bool {
        self.spaces.get(space).is_some_and(|object| object.with_file(space, |_| ()).is_ok())
    }

    /// The store id in the header of a space's file, as it was when the file was opened; None if there is no file, or its header is
    /// damaged.
    pub fn store_id(&self, space: SpaceId) -> Option<u64> {
        self.spaces.get(space)?.with_file(space, |file| file.store_id).ok()?
    }

    /// Pages that the file of a space has.
    pub fn space_pages(&self, space: SpaceId) -> Result<u32, StorageError> {
        let object = self.spaces.require(space)?;
        object.with_file(space, |_| object.file_pages())
    }

    /// Files that look like tablespaces but cannot be opened as such: found at start-up, and left alone.
    pub fn damaged_files(&self) -> Vec<(PathBuf, FileFault)> {
        lock(&self.damaged_files).clone()
    }

    /// Takes file and pages of a space out of the pool; gives the file's path. The flusher's mutex keeps pages that are being written
    /// in place.
    fn detach_space(&self, space: SpaceId) -> Result<PathBuf, StorageError> {
        let flush = lock(&self.flush);
        let file = self.spaces.detach(space)?;
        let object = self.spaces.require(space)?;
        for (number, index) in object.frames() {
            let frame = self.frames.exclusive(index);
            if frame.header().holds(PageId { space, number }) {
                self.vacate(frame);
            }
        }
        self.spaces.forget(space);
        drop(flush);
        Ok(file.file.path())
    }

    /// Grows the file of a space, if it must be, until it has `needed` pages; gives the pages that it has. Called by the
    /// holder of the header's latch.
    pub(crate) fn ensure_file_pages(&self, space: SpaceId, needed: u32) -> Result<u32, StorageError> {
        let object = self.spaces.require(space)?;
        let file = object.file(space)?;
        let pages = object.file_pages();
        if pages >= needed {
            return Ok(pages);
        }
        if needed == u32::MAX {
            return Err(StorageError::NoSpace(space));
        }
        let is_temporary = object.is_temporary();
        let grown = self.growth.grow(file.as_ref(), is_temporary, pages, needed - pages);
        let grown = grown.map_err(|error| StorageError::in_space(space, error))?;
        if !is_temporary {
            blocking::region(|| file.sync_data()).map_err(|error| self.stop(&error))?;
            Counter::DataFsyncs.increment();
        }
        object.set_file_pages(grown);
        Ok(grown)
    }
}

/// Where the file of a table's space lies.
pub fn space_path(space: SpaceId) -> PathBuf {
    Path::new(TABLES_DIRECTORY).join(format!("{space}{DATA_FILE_SUFFIX}"))
}

/// The space whose file has that name. None for names that say nothing, as those of the first builds do.
pub(crate) fn space_named(path: &Path) -> Option<SpaceId> {
    let digits = path.file_name()?.to_str()?.strip_suffix(DATA_FILE_SUFFIX)?;
    let space = SpaceId(digits.parse().ok().filter(|number| *number > 0)?);
    (space_path(space) == path).then_some(space)
}

/// The store id in a space header; None if that is none.
pub(crate) fn store_id_in(header: &[u8]) -> Option<u64> {
    let origin = page::SpaceHeaderRef::new(header).and_then(|header| header.origin());
    origin.ok().map(|origin| origin.store_id)
}

/// Whole pages of a file.
pub(crate) fn file_pages(file: &dyn File) -> Result<u32, StorageError> {
    Ok(u32::try_from(file.len()? / PAGE).unwrap_or(u32::MAX))
}

pub(crate) fn is_data_file(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.ends_with(DATA_FILE_SUFFIX))
}

/// What a file is called while it is made: its own name may have no room for anything more.
fn new_path(space: SpaceId, path: &Path) -> PathBuf {
    path.with_file_name(format!("#{space}{DATA_FILE_SUFFIX}{NEW_SUFFIX}"))
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
