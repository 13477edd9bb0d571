//! System variables: catalogue, values, and the rules of SET. Main types: [`SystemVariable`], [`SystemValue`].

pub mod catalogue;
pub mod sql_mode;
pub mod value;

pub use catalogue::{Kind, Scope, SystemVariable, VariableId, find, id};
pub use value::{Assigned, SystemValue, ValueTable};
