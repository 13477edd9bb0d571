//! The engine's tests over a simulated disk, as one program: it is linked once.
#![allow(clippy::unwrap_used)]

mod basics;
mod batches;
mod common;
mod concurrency;
mod crash;
mod crash_fill;
mod damage;
mod descriptors;
mod elements;
mod first_look;
mod forced;
mod full_log;
mod gaps;
mod long_keys;
mod long_values;
mod losers;
mod model;
mod names;
mod old_rows;
mod packing;
mod prepared;
mod ranges;
mod reserve;
mod spill;
mod start;
mod strange_files;
mod sweep;
mod temporary;
mod visit;
