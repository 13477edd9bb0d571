//! Crash simulation: workloads run on a simulated disk that crashes at every storage operation in turn; what is
//! found after recovery is compared with what was promised. [`Scenario`] is one workload with its promises,
//! [`enumerate`] runs it through all crashes. `cargo run -p simulator --bin crash` is the full run.
#![forbid(unsafe_code)]

pub mod change_sets;
pub mod crash;
pub mod crowd;
pub mod database;
pub mod engine_scenario;
pub mod faults;
pub mod generator;
pub mod oracle;
pub mod scenarios;
pub mod spill_workload;
pub mod sql_scenario;
pub mod sql_scripts;
pub mod tree_scenario;
pub mod workloads;

#[cfg(test)]
mod tests;

pub use crash::{Damage, Extent, Outcome, Scenario, Violation, enumerate};
pub use generator::Generator;
pub use oracle::Oracle;
