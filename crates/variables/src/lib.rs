//! System variables and status variables: catalogues, values, the rules of SET and of SET PERSIST. Main types:
//! [`SystemVariable`], [`SystemValue`], [`SessionVariables`], [`status::Counters`]. Knows no session and no engine.
#![forbid(unsafe_code)]

pub mod catalogue;
mod never_persisted;
pub mod option_help;
pub mod persisted;
mod session_variables;
pub mod sql_mode;
pub mod status;
pub mod value;

pub use catalogue::{Kind, Scope, SystemVariable, VariableId, find, id};
pub use never_persisted::is_never_persisted;
pub use persisted::PersistedVariables;
pub use session_variables::SessionVariables;
pub use value::{Assigned, SystemValue, ValueTable};
