//! [`BufferPool`]: the pages of all tablespaces, in memory and on disk.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use env::Environment;
use redo::RedoLog;
use stdx::ids::{Lsn, PageId, SpaceId};

use crate::{CheckpointParticipant, MiniTransaction, PoolOptions, RecoveryHandler, StorageError};

/// The suffix of tablespace files, by which recovery finds them (in the root and in directories below it).
pub const DATA_FILE_SUFFIX: &str = ".ibd";

/// The pages of all tablespaces. Shared by all threads.
pub struct BufferPool {
    _private: (),
}

impl BufferPool {
    /// Opens the data directory (made if it is empty): finds the last checkpoint, repairs torn pages, replays the log,
    /// hands logical records to `handler`. Every tablespace file that was found is open afterwards. The checkpoint
    /// does not move before `set_checkpoint_participant` was called.
    pub fn open(
        environment: Environment,
        options: PoolOptions,
        handler: &mut dyn RecoveryHandler,
    ) -> Result<Arc<BufferPool>, StorageError> {
        let _ = (environment, options, handler);
        unreachable!("follows")
    }

    /// From now on checkpoints may move, as far as `participant` allows.
    pub fn set_checkpoint_participant(&self, participant: Arc<dyn CheckpointParticipant>) {
        let _ = participant;
        unreachable!("follows")
    }

    /// Reads a page under a shared latch. Several may be held by a thread, also of the same page; a thread that holds
    /// one must not latch the same page exclusively.
    pub fn shared(&self, page: PageId) -> Result<SharedPage<'_>, StorageError> {
        unreachable!("follows {page}")
    }

    /// Starts a mini-transaction. May wait for room in the log: hold no exclusive latch of an unfinished
    /// mini-transaction longer than needed, nesting is allowed.
    pub fn mini_transaction(&self) -> MiniTransaction<'_> {
        MiniTransaction::new(self)
    }

    /// Creates the file of a new space (and its directory), durable on return. `path` is relative to the data directory
    /// and ends in `.ibd`.
    pub fn create_space(&self, space: SpaceId, path: &Path) -> Result<(), StorageError> {
        unreachable!("follows {space} {path:?}")
    }

    /// Opens the file of a space that is not open.
    pub fn open_space(&self, space: SpaceId, path: &Path) -> Result<(), StorageError> {
        unreachable!("follows {space} {path:?}")
    }

    /// Writes the dirty pages of a space and forgets it.
    pub fn close_space(&self, space: SpaceId) -> Result<(), StorageError> {
        unreachable!("follows {space}")
    }

    /// Forgets the pages of a space and removes its file, durably.
    pub fn remove_space(&self, space: SpaceId) -> Result<(), StorageError> {
        unreachable!("follows {space}")
    }

    /// Renames the file of a space, durably.
    pub fn rename_space(&self, space: SpaceId, path: &Path) -> Result<(), StorageError> {
        unreachable!("follows {space} {path:?}")
    }

    /// The open spaces and their files.
    pub fn spaces(&self) -> Vec<(SpaceId, std::path::PathBuf)> {
        unreachable!("follows")
    }

    /// Pages that the file of a space has.
    pub fn space_pages(&self, space: SpaceId) -> Result<u32, StorageError> {
        unreachable!("follows {space}")
    }

    /// The redo log.
    pub fn redo(&self) -> &RedoLog {
        unreachable!("follows")
    }

    /// The world.
    pub fn environment(&self) -> &Environment {
        unreachable!("follows")
    }

    /// Writes up to 128 dirty pages, oldest change first, and returns how many it wrote.
    pub fn flush_some(&self) -> Result<usize, StorageError> {
        unreachable!("follows")
    }

    /// Writes all pages that are dirty now and moves the checkpoint as far as the participant allows. Returns it.
    pub fn checkpoint(&self) -> Result<Lsn, StorageError> {
        unreachable!("follows")
    }

    /// Stops the flusher, writes everything, and leaves a log that needs no recovery. Other threads must have stopped
    /// using the pool.
    pub fn shutdown(&self) -> Result<(), StorageError> {
        unreachable!("follows")
    }
}

/// A page under a shared latch, readable as bytes.
pub struct SharedPage<'pool> {
    _pool: PhantomData<&'pool BufferPool>,
}

impl SharedPage<'_> {
    /// The page's address.
    pub fn id(&self) -> PageId {
        unreachable!("follows")
    }
}

impl Deref for SharedPage<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        unreachable!("follows")
    }
}
