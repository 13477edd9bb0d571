//! SQL types and values: decimal, temporal, conversion, comparison, and the row and key codecs.
//! Knows no pages and no SQL text.

pub mod column_type;
pub mod decimal;
pub mod temporal;
pub mod value;

pub use column_type::{ColumnType, TypeKind};
pub use value::Value;
