//! What declarations mean: types of columns, character sets and collations by name. Knows no tables. Main type:
//! [`DeclaredTypes`].

#![forbid(unsafe_code)]

mod cast;
mod names;
mod types;

pub use cast::{array_elsewhere, decimal_target, element_type, operand_name, temporal_target};
pub use names::{find_charset, find_collation, named_collation};
pub use types::{DeclaredTypes, as_blob, widened};
