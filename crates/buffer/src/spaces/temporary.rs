//! Temporary spaces: their pages are in the pool as those of all spaces, but no change of them is logged, no checkpoint waits for
//! them, and their file has no name. They are written when their frames are wanted, without a copy and without a sync.

use std::path::Path;

use env::TEMPORARY_DIRECTORY;
use page::SpaceKind;
use stdx::ids::SpaceId;

use super::SpaceFile;
use super::space_files::FIRST_PAGES;
use crate::{BufferPool, StorageError};

impl BufferPool {
    /// Makes an empty temporary space. Its file is gone with [`BufferPool::remove_temporary_space`], or with the process. Errors:
    /// SpaceExists, NoSpace, Disk.
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
}
