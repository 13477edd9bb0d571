//! [`MiniTransaction`]: a set of pages changed together, replayed wholly or not at all.

use page::PageOperation;
use stdx::ids::{Lsn, PageId, SpaceId};

use crate::{BufferPool, StorageError};

/// A page latched by a mini-transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSlot(pub(crate) u16);

/// A set of exclusively latched pages and the redo of their changes. Do everything that can fail (`latch`, `allocate`,
/// `free`) before the first `apply` or `log`: a mini-transaction that changed nothing may be dropped, dropping one that
/// changed something aborts the process (I3). Latch order is the caller's business; `allocate` and `free` latch page 0
/// of the space and keep it, so latch whatever other threads may hold (neighbours, parents) before them.
pub struct MiniTransaction<'pool> {
    pool: &'pool BufferPool,
}

impl<'pool> MiniTransaction<'pool> {
    pub(crate) fn new(pool: &'pool BufferPool) -> Self {
        MiniTransaction { pool }
    }

    /// The pool.
    pub fn pool(&self) -> &'pool BufferPool {
        self.pool
    }

    /// Latches a page exclusively; the same slot if it is latched already. Waits for other holders.
    pub fn latch(&mut self, page: PageId) -> Result<PageSlot, StorageError> {
        unreachable!("follows {page}")
    }

    /// As `latch`, but gives None instead of waiting for another holder.
    pub fn try_latch(&mut self, page: PageId) -> Result<Option<PageSlot>, StorageError> {
        unreachable!("follows {page}")
    }

    /// Gives a latch back early. The page must not have been changed.
    pub fn release(&mut self, slot: PageSlot) {
        unreachable!("follows {slot:?}")
    }

    /// Takes a page from the space, zeroed but for its header. The file is grown if it must be. `NoSpace` if the disk
    /// is full.
    pub fn allocate(&mut self, space: SpaceId) -> Result<PageSlot, StorageError> {
        unreachable!("follows {space}")
    }

    /// Gives a page back to its space when the mini-transaction commits. The slot's bytes must not be used after this.
    pub fn free(&mut self, slot: PageSlot) -> Result<(), StorageError> {
        unreachable!("follows {slot:?}")
    }

    /// The page in a slot.
    pub fn page_id(&self, slot: PageSlot) -> PageId {
        unreachable!("follows {slot:?}")
    }

    /// The bytes of the page in a slot.
    pub fn bytes(&self, slot: PageSlot) -> &[u8] {
        unreachable!("follows {slot:?}")
    }

    /// Changes a page and notes the change for the log.
    ///
    /// # Panics
    /// If the operation does not fit the page: callers check before they change anything.
    pub fn apply(&mut self, slot: PageSlot, operation: &PageOperation<'_>) {
        unreachable!("follows {slot:?} {operation:?}")
    }

    /// Adds a logical record of the layer above to the same atomic group.
    pub fn log(&mut self, kind: u8, payload: &[u8]) {
        unreachable!("follows {kind} {payload:?}")
    }

    /// Appends the redo group, stamps the pages with its end and gives all latches back. Returns the end: the changes
    /// are durable once `RedoLog::durable_lsn` has reached it. Without any change: the present end of the log.
    pub fn commit(self) -> Lsn {
        unreachable!("follows")
    }
}
