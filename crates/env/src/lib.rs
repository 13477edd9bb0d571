//! The one door to the world: disk, clock, randomness and threads, real and simulated.
//!
//! [`Environment`] bundles the four and is passed down from the server (or from a test). Everything below the
//! server reaches the operating system only through it, so the same engine runs under the simulator (I12).

mod allocator;
mod batched_send;
mod blocking_region;
mod clock;
mod disk;
mod environment;
mod memory;
mod overlay;
mod random;
mod real_disk;
#[cfg(test)]
mod real_disk_tests;
pub mod simulated;
mod system_account;
mod temporary;
mod threads;

/// Announcing waits to the thread's owner. See [`blocking::region`].
pub mod blocking {
    pub use crate::blocking_region::{
        Hook, Uninterrupted, clear_hook, is_interrupted, region, set_hook, uninterrupted,
    };
}

pub use allocator::{Allocator, return_free};
pub use batched_send::BatchedSend;
pub use clock::{Clock, RealClock};
pub use disk::{Directory, Disk, DiskError, DiskErrorKind, DiskResult, File, FileLock, OpenMode};
pub use environment::Environment;
pub use memory::Region;
pub use overlay::OverlayDisk;
pub use random::{Random, RealRandom};
pub use real_disk::RealDisk;
pub use system_account::{SystemAccount, name_of};
pub use temporary::TEMPORARY_DIRECTORY;
pub use threads::{JoinHandle, RealThreads, Threads};
