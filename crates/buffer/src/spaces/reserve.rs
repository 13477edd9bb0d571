//! Room that is kept for what frees room: pages of the first tablespace, and one file beside the log. Main function:
//! [`use_reserve`]. See rule B14 in README.md.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use env::{DiskErrorKind, Environment, OpenMode};
use stdx::ids::{PageId, PageNumber, SpaceId};
use stdx::nesting::Nested;

use page::SpaceHeaderRef;

use crate::{BufferPool, StorageError};

/// The space whose pages are kept: that of dictionary and undo.
pub(crate) const RESERVED_SPACE: SpaceId = SpaceId(0);
/// Bytes that are kept in a file: for new files, and for a doublewrite file that was lost.
const FILE_BYTES: u64 = 4 << 20;
/// So much of the file is given up at once: a new table's file, and what the file system needs for it.
const STEP_BYTES: u64 = 256 << 10;

thread_local! {
    static USES: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, its thread may take what is kept.
#[derive(Debug)]
pub struct ReserveUse {
    _within: Nested,
}

/// Lets the thread take what is kept for statements that free room, and for what must not fail.
pub fn use_reserve() -> ReserveUse {
    ReserveUse { _within: Nested::enter(&USES) }
}

pub(crate) fn may_use() -> bool {
    USES.get() > 0
}

fn file_path() -> PathBuf {
    Path::new(redo::LOG_DIRECTORY).join("reserve")
}

/// Gives the file back to the disk, for a start that cannot do without; false if there is none.
pub(crate) fn remove_file(environment: &Environment) -> bool {
    environment.disk.remove(&file_path()).is_ok()
}

impl BufferPool {
    /// How many pages the file of a space must have so that `count` more may be taken by who must leave the reserve alone.
    pub(crate) fn pages_with_reserve(&self, space: SpaceId, used: u32, free: u32, count: u32) -> u32 {
        let is_kept = space == RESERVED_SPACE && self.reserve_pages > 0 && !may_use();
        let kept = if is_kept { self.reserve_pages } else { 0 };
        used.saturating_add(kept.saturating_add(count).saturating_sub(free))
    }

    /// Sees to it that so many pages can be allocated in a space, though nobody keeps them for the caller: for what is better
    /// not begun than broken off. Error: NoSpace.
    pub fn require_pages(&self, space: SpaceId, count: u32) -> Result<(), StorageError> {
        let mut mini = self.mini_transaction();
        if mini.require_pages(space, count)? {
            mini.commit();
        }
        Ok(())
    }

    /// Fills up what is kept, as far as the disk has room. Nobody waits for it.
    pub fn refill_reserve(&self) -> Result<(), StorageError> {
        if self.reserve_pages == 0 || self.is_stopped() || !self.has_file(RESERVED_SPACE) {
            return Ok(());
        }
        match self.refill_pages().and_then(|()| self.refill_file()) {
            Err(error) if error.is_full_disk() || error.is_lack_of_descriptors() => Ok(()),
            outcome => outcome,
        }
    }

    fn refill_pages(&self) -> Result<(), StorageError> {
        let id = PageId { space: RESERVED_SPACE, number: PageNumber(0) };
        let (used, free) = {
            let page = self.shared(id)?;
            let header = SpaceHeaderRef::new(&page).map_err(|error| StorageError::corrupt(id, error))?;
            (header.used_pages(), header.free_pages())
        };
        if self.space_pages(RESERVED_SPACE)? >= self.pages_with_reserve(RESERVED_SPACE, used, free, 1) {
            return Ok(());
        }
        let mut mini = self.mini_transaction();
        if mini.require_pages(RESERVED_SPACE, 1)? {
            mini.commit();
        }
        Ok(())
    }

    fn refill_file(&self) -> Result<(), StorageError> {
        let file = self.open_file(&file_path(), OpenMode::CreateIfMissing)?;
        let length = file.len()?;
        if length < FILE_BYTES {
            file.allocate(length, FILE_BYTES - length)?;
        }
        Ok(())
    }

    /// Gives a piece of the file back to the disk, if the thread may have it; false if there is none.
    pub(crate) fn give_up_reserve(&self) -> Result<bool, StorageError> {
        if !may_use() || self.reserve_pages == 0 {
            return Ok(false);
        }
        let file = match self.open_file(&file_path(), OpenMode::Existing) {
            Ok(file) => file,
            Err(error) if error.kind == DiskErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let length = file.len()?;
        file.set_len(length.saturating_sub(STEP_BYTES))?;
        Ok(length > 0)
    }
}
