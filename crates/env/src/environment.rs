//! [`Environment`]: the bundle of disk, clock, randomness and threads that is handed down. Cheap to clone.

use std::path::Path;
use std::sync::Arc;

use crate::{Clock, Disk, OverlayDisk, Random, RealClock, RealDisk, RealRandom, RealThreads, Threads};

/// What an engine knows of the world outside its own memory.
#[derive(Clone)]
pub struct Environment {
    /// Files. All paths are relative to the root that the disk was made with.
    pub disk: Arc<dyn Disk>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Unpredictable (or, simulated, seeded) numbers.
    pub random: Arc<dyn Random>,
    /// Threads and the machine's size.
    pub threads: Arc<dyn Threads>,
}

impl Environment {
    /// The operating system's own disk, clock, entropy and threads; `data_directory` is the root of all paths.
    pub fn real(data_directory: &Path) -> Environment {
        Environment {
            disk: Arc::new(RealDisk::new(data_directory)),
            clock: Arc::new(RealClock),
            random: Arc::new(RealRandom),
            threads: Arc::new(RealThreads),
        }
    }

    /// The same world with a disk that is only read: what is written stays in memory.
    pub fn untouched(&self) -> Environment {
        Environment { disk: Arc::new(OverlayDisk::new(Arc::clone(&self.disk))), ..self.clone() }
    }

    /// Everything simulated except threads: `disk` keeps files in memory, the clock stands until it is moved,
    /// the random numbers follow from `seed`.
    pub fn simulated(disk: crate::simulated::SimulatedDisk, seed: u64) -> Environment {
        Environment {
            disk: Arc::new(disk),
            clock: Arc::new(crate::simulated::SimulatedClock::new()),
            random: Arc::new(crate::simulated::SimulatedRandom::new(seed)),
            threads: Arc::new(RealThreads),
        }
    }
}
