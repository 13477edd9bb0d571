//! Window functions over rows that come partition by partition, in order. Main types: [`BufferedWindows`] keeps a partition and
//! computes every function; [`StreamedWindows`] computes those that need no later row as rows pass. Whoever pulls rows gives them in
//! one by one; [`totals`] also has the results of sums and variances that grouping shares. The rules are in the README.
#![forbid(unsafe_code)]

mod bounds;
mod buffered;
mod charge;
mod entry;
mod kept;
mod numbers;
mod reader;
mod streamed;
mod total;
pub mod totals;
mod values_at;

pub use buffered::{BufferedWindows, Keeping};
pub use streamed::StreamedWindows;
