//! System variables: catalogue, values, and the rules of SET. Main types: [`SystemVariable`], [`SystemValue`].

pub mod catalogue;
mod never_persisted;
mod session_privileges;
pub mod sql_mode;
pub mod value;

pub use catalogue::{Kind, Scope, SystemVariable, VariableId, find, id};
pub(crate) use never_persisted::is_never_persisted;
pub(crate) use session_privileges::check_session_privilege;
pub use value::{Assigned, SystemValue, ValueTable};
