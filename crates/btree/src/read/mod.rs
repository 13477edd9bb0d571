//! Reading: walks over leaves, estimates and parts of ranges. Main type: [`Cursor`]. Readers hold at most two latches.

mod cursor;
mod estimate;
mod leaf_sums;
mod partition;
mod past_damage;

pub use cursor::{Cursor, CursorRange, Direction, LeafView, Taken};
pub use estimate::RangeEstimate;
pub use leaf_sums::LeafSums;
