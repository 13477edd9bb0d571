//! Counters, and gauges registered by whoever owns the value: what SHOW STATUS and the dashboard enumerate. No I/O.
//!
//! A thread counts in a shard of its own with a plain load and store, so counting costs about a nanosecond and
//! never contends; readers add the shards up (I11). Counters are process-wide.
#![forbid(unsafe_code)]

mod counter;
mod gauges;

pub use counter::{Counter, counter_values};
pub use gauges::Gauges;
