//! Where temporary files lie: what outgrows memory and need not survive the process (old row versions, runs of sorts).
//!
//! The files have no name, so a killed process leaves nothing. On file systems without such files they are created and
//! unlinked; what a kill leaves in between, [`Environment::remove_temporary_leftovers`] removes at the next start.

use std::path::Path;
use std::sync::Arc;

use crate::{DiskResult, Environment, File};

/// The directory of temporary files, below the disk's root: what innodb_temp_tablespaces_dir says.
pub const TEMPORARY_DIRECTORY: &str = "#innodb_temp";
/// Names of files that are about to be unlinked.
pub(crate) const TEMPORARY_PREFIX: &str = "temporary_";

impl Environment {
    /// An empty temporary file, gone with its last handle. It is an ordinary [`File`]: who uses it divides its space, and may
    /// write and read it from many threads. It is never synced. Blocks that are no longer needed go back to the file
    /// system by [`File::discard`], all of them by `set_len(0)`.
    pub fn temporary_file(&self) -> DiskResult<Arc<dyn File>> {
        self.disk.create_temporary(Path::new(TEMPORARY_DIRECTORY))
    }

    /// Removes what an earlier process may have left. Called once, by the owner of the data directory's lock.
    pub fn remove_temporary_leftovers(&self) -> DiskResult<()> {
        let directory = Path::new(TEMPORARY_DIRECTORY);
        if !self.disk.directory_exists(directory)? {
            return Ok(());
        }
        for name in self.disk.list(directory)? {
            if name.starts_with(TEMPORARY_PREFIX) && !name.ends_with('/') {
                self.disk.remove(&directory.join(name))?;
            }
        }
        Ok(())
    }
}
