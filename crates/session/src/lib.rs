//! Statement life cycle: variables, privileges, prepared statements, DDL, SHOW and system views.
//! Main types: [`Instance`] (what all connections share) and [`Session`] (one connection's state).
//! Knows no sockets and no files; the server feeds it packets and sends what it writes to its channel.
#![forbid(unsafe_code)]

mod account_statements;
mod administration;
mod charsets;
mod commands;
mod connection;
mod cursor;
mod ddl;
mod execute;
mod field_list;
mod files;
mod growth;
mod instance;
#[cfg(test)]
mod lock_tests;
mod login_attempt;
mod long_data;
pub mod nested;
mod options;
mod parts;
mod plan_cache;
mod plan_settings;
mod planned;
mod prepared;
mod prepared_memory;
mod prepared_parameters;
mod prepared_under;
mod privileges;
mod registry;
mod result;
mod server_port;
mod session;
mod session_start;
mod session_user;
mod session_view;
mod set;
mod set_named;
mod shape;
mod show;
mod state;
mod statement;
mod statement_locks;
mod statement_settings;
mod status_values;
mod system_tables;
mod table_checksum;
mod table_locks;
mod tables_used;
#[cfg(test)]
mod tests;
mod text_plan;
mod time_zones;
mod timer;
mod transaction;
mod user_lock;
mod user_variables;
mod variable_privileges;

pub use accounts::{
    AuthenticationAccount, AuthenticationPlugin, ClientHost, LockTime, PasswordLocking, TlsRequirement,
};
pub use connection::{ConnectionControl, ConnectionInfo, TlsDetails};
pub use instance::{Instance, InstanceOptions, OptionSetting, OptionSource};
pub use login_attempt::LoginAttempt;
pub use options::VERSION;
pub use prepared::{BoundParameters, ExecuteFlags, ParameterType, PreparedDescription};
pub use server_port::{RefusedConnection, ServerControl, ServerSettings};
pub use session::Session;
