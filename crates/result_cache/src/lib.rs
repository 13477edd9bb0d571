//! Results of queries, kept to be sent again. Main types: [`ResultCache`], [`Entry`]. What a result is, and whether it is still right, is its
//! owner's business; see README.md for the rules.
#![forbid(unsafe_code)]

mod admission;
mod entry;
mod settings;
mod store;

#[cfg(test)]
mod model;

pub use admission::EXPENSIVE_US;
pub use entry::Entry;
pub use store::{Figures, ResultCache};
