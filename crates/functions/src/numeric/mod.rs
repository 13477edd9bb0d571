//! Numbers: rounding, the generator of RAND, amounts in units.

mod random;
mod round;
mod units;

pub use random::{next_random, seeded};
pub use round::{round_double, round_integer};
pub use units::{BYTES, PICOSECONDS, Scale, in_units};
