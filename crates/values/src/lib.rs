//! SQL types and values: decimal, temporal, conversion, comparison, and the row and key codecs.
//! Knows no pages and no SQL text.
#![forbid(unsafe_code)]

pub mod column_type;
pub mod decimal;
pub mod key;
pub mod number;
pub mod packed;
pub mod row;
pub mod temporal;
pub mod value;

pub use column_type::{ColumnType, TypeKind};
pub use decimal::Decimal;
pub use value::Value;
