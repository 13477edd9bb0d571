//! [`Spaces`]: the open tablespaces, each with its file and the translation of page numbers to frames.
//!
//! A [`Space`] is found by id without a lock. Its memory is never freed while the pool lives; the object of a removed
//! space serves the next one, so a reader that still holds the old reference at worst finds a frame that names another page.

mod growing_array;
mod growth;
mod open_files;
pub(crate) mod reserve;
mod space_files;

pub(crate) use growth::GrowthLimits;
pub(crate) use open_files::{OpenFiles, TableFile};
pub use reserve::{ReserveUse, use_reserve};
pub use space_files::{DATA_FILE_SUFFIX, FileFault, TABLES_DIRECTORY, space_path};
pub(crate) use space_files::{
    LOST_DIRECTORY, NEW_SUFFIX, file_pages, is_data_file, space_named, store_id_in,
};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use env::File;
use stdx::ids::{PageId, PageNumber, SpaceId};
use stdx::sync::{lock, read, write};

use crate::StorageError;
use growing_array::GrowingArray;

/// Most spaces that are open at a time.
const SPACES_MAX: usize = 1 << 20;
/// `Space` objects are made in chunks of this size.
const CHUNK: usize = 64;

/// The file of an open space.
#[derive(Clone)]
pub(crate) struct SpaceFile {
    pub space: SpaceId,
    /// Nothing of it survives the process: its pages have no log.
    pub is_temporary: bool,
    /// As its header says; None if that is damaged.
    pub store_id: Option<u64>,
    pub file: Arc<TableFile>,
}

/// One tablespace.
pub(crate) struct Space {
    /// Page number to frame index plus one; 0 means "not in memory".
    translation: GrowingArray,
    /// None while the object is unused. Held for reading while a page is entered into the translation, so that whoever has
    /// taken the file away finds all its pages there.
    file: RwLock<Option<SpaceFile>>,
    /// Pages that the file has.
    file_pages: AtomicU32,
    /// As its file.
    is_temporary: AtomicBool,
}

impl Space {
    fn new() -> Space {
        Space {
            translation: GrowingArray::new(),
            file: RwLock::new(None),
            file_pages: AtomicU32::new(0),
            is_temporary: AtomicBool::new(false),
        }
    }

    /// The translation of a page that was in memory once.
    #[inline]
    pub fn entry(&self, number: PageNumber) -> Option<&AtomicU32> {
        self.translation.get(number.0)
    }

    /// The translation of a page of the file.
    pub fn entry_of_file(&self, page: PageId) -> Result<&AtomicU32, StorageError> {
        if page.number.0 >= self.file_pages.load(Ordering::Acquire) {
            return Err(StorageError::PageOutOfRange(page));
        }
        Ok(self.translation.get_or_grow(page.number.0))
    }

    /// Pages that the file has.
    pub fn file_pages(&self) -> u32 {
        self.file_pages.load(Ordering::Acquire)
    }

    /// Whether its pages have no log.
    pub fn is_temporary(&self) -> bool {
        self.is_temporary.load(Ordering::Acquire)
    }

    pub fn set_file_pages(&self, pages: u32) {
        self.file_pages.store(pages, Ordering::Release);
    }

    /// Runs `act` with the file while the space cannot be closed.
    pub fn with_file<T>(&self, space: SpaceId, act: impl FnOnce(&SpaceFile) -> T) -> Result<T, StorageError> {
        match &*read(&self.file) {
            Some(file) if file.space == space => Ok(act(file)),
            _ => Err(StorageError::SpaceMissing(space)),
        }
    }

    /// The file, which may be closed at present.
    pub fn table_file(&self, space: SpaceId) -> Result<Arc<TableFile>, StorageError> {
        self.with_file(space, |file| Arc::clone(&file.file))
    }

    /// The file, which stays open as long as the returned reference. Whoever writes syncs before it lets go.
    pub fn file(&self, space: SpaceId) -> Result<Arc<dyn File>, StorageError> {
        self.table_file(space)?.open().or_else(|error| {
            // It may have been removed meanwhile: that says more.
            self.with_file(space, |_| ())?;
            Err(error.into())
        })
    }

    /// The frames in use, with the numbers of their pages.
    pub fn frames(&self) -> impl Iterator<Item = (PageNumber, u32)> {
        self.translation.iter().filter_map(|(number, entry)| {
            let index = entry.load(Ordering::Acquire);
            (index != 0).then(|| (PageNumber(number), index - 1))
        })
    }
}

/// All spaces.
pub(crate) struct Spaces {
    /// Space id to index in `objects` plus one.
    directory: GrowingArray,
    objects: Box<[OnceLock<Box<[Space]>>]>,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    unused: Vec<u32>,
    next: u32,
    open: BTreeMap<SpaceId, u32>,
    /// Spaces whose files were found by their names, and not looked at yet.
    found: BTreeSet<SpaceId>,
}

impl Spaces {
    pub fn new() -> Spaces {
        let objects = (0..SPACES_MAX / CHUNK).map(|_| OnceLock::new()).collect();
        Spaces { directory: GrowingArray::new(), objects, places: Mutex::default() }
    }

    /// The space, if it is open (or was a moment ago).
    #[inline]
    pub fn get(&self, space: SpaceId) -> Option<&Space> {
        let index = self.directory.get(space.0)?.load(Ordering::Acquire).checked_sub(1)?;
        self.object(index)
    }

    /// The space, or an error that names it.
    pub fn require(&self, space: SpaceId) -> Result<&Space, StorageError> {
        self.get(space).ok_or(StorageError::SpaceMissing(space))
    }

    #[inline]
    fn object(&self, index: u32) -> Option<&Space> {
        Some(&self.objects[index as usize / CHUNK].get()?[index as usize % CHUNK])
    }

    /// Notes a file that was found by its name. False if there is one of the space already.
    pub fn note_found(&self, space: SpaceId) -> bool {
        let mut places = lock(&self.places);
        !places.open.contains_key(&space) && space.0 < SPACE_ID_END && places.found.insert(space)
    }

    /// Whether a file was found by its name and not looked at yet.
    pub fn is_found(&self, space: SpaceId) -> bool {
        lock(&self.places).found.contains(&space)
    }

    /// Forgets such a file. False if there is none.
    pub fn forget_found(&self, space: SpaceId) -> bool {
        lock(&self.places).found.remove(&space)
    }

    /// All of them.
    pub fn all_found(&self) -> Vec<SpaceId> {
        lock(&self.places).found.iter().copied().collect()
    }

    /// Adds an open file of a space that has none.
    pub fn add(&self, file: SpaceFile, file_pages: u32) -> Result<(), StorageError> {
        let places = lock(&self.places);
        if places.found.contains(&file.space) {
            return Err(StorageError::SpaceExists(file.space));
        }
        self.add_in(places, file, file_pages)
    }

    /// Adds an open file that was found by its name. Error: SpaceMissing, if it was removed meanwhile; SpaceExists, if another thread was
    /// quicker.
    pub fn add_found(&self, file: SpaceFile, file_pages: u32) -> Result<(), StorageError> {
        let mut places = lock(&self.places);
        if !places.open.contains_key(&file.space) && !places.found.remove(&file.space) {
            return Err(StorageError::SpaceMissing(file.space));
        }
        self.add_in(places, file, file_pages)
    }

    fn add_in(
        &self,
        mut places: MutexGuard<'_, Places>,
        file: SpaceFile,
        file_pages: u32,
    ) -> Result<(), StorageError> {
        let id = file.space;
        if places.open.contains_key(&id) || id.0 >= SPACE_ID_END {
            return Err(StorageError::SpaceExists(id));
        }
        let index = places.unused.pop().unwrap_or(places.next);
        if index as usize >= SPACES_MAX {
            return Err(StorageError::PoolExhausted);
        }
        places.next = places.next.max(index + 1);
        let chunk =
            self.objects[index as usize / CHUNK].get_or_init(|| (0..CHUNK).map(|_| Space::new()).collect());
        let object = &chunk[index as usize % CHUNK];
        object.set_file_pages(file_pages);
        object.is_temporary.store(file.is_temporary, Ordering::Release);
        *write(&object.file) = Some(file);
        self.directory.get_or_grow(id.0).store(index + 1, Ordering::Release);
        places.open.insert(id, index);
        Ok(())
    }

    /// Takes the file of a space away: from now on no page of it is read. The caller then empties its frames and calls
    /// `forget`.
    pub fn detach(&self, space: SpaceId) -> Result<SpaceFile, StorageError> {
        let object = self.require(space)?;
        write(&object.file).take_if(|file| file.space == space).ok_or(StorageError::SpaceMissing(space))
    }

    /// Lets the object of a detached space, of which no page is in memory, serve another.
    pub fn forget(&self, space: SpaceId) {
        let mut places = lock(&self.places);
        if let Some(index) = places.open.remove(&space) {
            if let Some(entry) = self.directory.get(space.0) {
                entry.store(0, Ordering::Release);
            }
            places.unused.push(index);
        }
    }

    /// The open spaces and their files.
    pub fn list(&self) -> Vec<SpaceFile> {
        let places = lock(&self.places);
        let objects = places.open.values().filter_map(|index| self.object(*index));
        objects.filter_map(|object| read(&object.file).clone()).collect()
    }
}

/// Space ids stay below this, so that no packed page id looks like "no page" and the directory stays small.
const SPACE_ID_END: u32 = 1 << 31;
