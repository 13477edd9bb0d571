//! What declarations mean: types of columns, character sets and collations by name. Knows no tables. Main type:
//! [`DeclaredTypes`].

#![forbid(unsafe_code)]

mod names;
mod types;

pub use names::{find_charset, find_collation, named_collation};
pub use types::{DeclaredTypes, as_blob, widened};
