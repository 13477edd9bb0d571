//! Statement life cycle: variables, privileges, prepared statements, DDL, SHOW and system views.
//! Main types: [`Instance`] (what all connections share) and [`Session`] (one connection's state).
//! Knows no sockets and no files; the server feeds it packets and sends what it writes to its channel.
#![forbid(unsafe_code)]

mod account_statements;
mod administration;
mod charsets;
mod collector;
mod cursor;
mod definitions;
mod execute;
mod explain;
mod foreign_key_locks;
mod handler;
mod hints;
mod kept_memory;
#[cfg(test)]
mod kept_memory_tests;
mod kept_results;
#[cfg(test)]
mod lock_tests;
mod locks_needed;
mod long_data;
pub mod nested;
mod parts;
mod planning;
mod prepared;
mod prepared_parameters;
mod prepared_under;
mod result_key;
mod secrets;
mod session;
mod session_view;
mod set;
mod set_named;
mod set_places;
mod show;
mod state;
mod statement;
mod statement_locks;
mod statement_settings;
mod table_checksum;
mod temporary;
#[cfg(test)]
mod tests;
mod text_plan;
mod transaction;
mod user_variables;
mod variable_privileges;
mod view_query;
mod views;
mod xa;

pub use accounts::{
    AuthenticationAccount, AuthenticationPlugin, ClientHost, LockTime, PasswordLocking, TlsRequirement,
};
pub use instance::{
    ConnectionControl, ConnectionInfo, Instance, InstanceOptions, LoginAttempt, OptionSetting, OptionSource,
    RefusedConnection, ServerControl, ServerSettings, TlsDetails, VERSION, WrongOption,
};
pub use prepared::{BoundParameters, ExecuteFlags, ParameterType, PreparedDescription};
pub use session::Session;
