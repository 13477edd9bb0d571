//! What statements hold on to while they use objects by name: metadata locks. Main types: [`MetadataLocks`], and what one session holds of
//! them, [`HeldLocks`].
#![forbid(unsafe_code)]

mod explicit_locks;
mod held_locks;
mod metadata_lock;
mod table_locks;

pub use explicit_locks::{ExplicitLocks, LockedTable};
pub use held_locks::{HeldLocks, HeldMark, LeftLocks, LockOwner};
pub use metadata_lock::{
    CellId, Intent, LockDuration, LockKey, LockMode, LockRequest, LockRow, MetadataLocks, Namespace,
    ObjectCell, RowClass, SLOTS, SeenCell, SessionLocks, SlotTaken, TableLock, WaitEnd, WaitLimit,
};
pub use table_locks::{LockUse, TableLocks};
