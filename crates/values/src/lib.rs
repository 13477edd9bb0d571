//! SQL types and values: decimal, temporal, conversion, comparison, and the row and key codecs.
//! Knows no pages and no SQL text.
#![forbid(unsafe_code)]

pub mod column_type;
mod column_type_protocol;
mod column_type_text;
pub mod compare;
pub mod convert;
pub mod decimal;
pub mod encoder;
pub mod json;
pub mod key;
mod members;
pub mod number;
mod number_fit;
pub mod packed;
pub mod print;
pub mod row;
pub mod rows;
#[cfg(test)]
mod samples;
pub mod store;
pub mod temporal;
pub mod text;
pub mod value;
pub mod value_ref;

pub use column_type::{ColumnType, TypeKind};
pub use column_type_protocol::DECIMALS_NOT_FIXED;
pub use compare::compare_same_type;
pub use decimal::Decimal;
pub use encoder::ColumnEncoder;
pub use members::Members;
pub use rows::{RowRef, Rows};
pub use store::{StoreContext, StoreMode, store};
pub use value::Value;
pub use value_ref::ValueRef;
