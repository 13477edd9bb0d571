//! Writing in a transaction: rows with all their entries, long values, entries of the dictionary. What callers use is in `rows.rs`.

mod change;
mod dictionary;
mod entry;
mod insert;
mod insert_many;
mod long_rows;
mod rows;
mod run;
mod unique_key;

pub(crate) use self::dictionary::change_dictionary;
pub use long_rows::ValueWriter;
pub use rows::UpdateOutcome;
