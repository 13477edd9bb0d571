//! The simulated world: a disk that forgets what was not synced, a clock that stands still, seeded randomness.

mod clock;
mod disk;
mod faults;
mod file_image;
mod handles;
mod random;
mod temporary;
#[cfg(test)]
mod tests;

pub use clock::SimulatedClock;
pub use disk::SimulatedDisk;
pub use faults::{Fault, FaultKind, OperationClass, OperationCounts};
pub use random::SimulatedRandom;
