//! What statements hold on to while they use objects by name: metadata locks. Main type: [`MetadataLocks`].
#![forbid(unsafe_code)]

mod metadata_lock;

pub use metadata_lock::{
    CellId, Intent, LockDuration, LockKey, LockMode, LockRequest, LockRow, MetadataLocks, Namespace,
    ObjectCell, RowClass, SLOTS, SeenCell, SessionLocks, SlotTaken, TableLock, WaitEnd, WaitLimit,
};
