//! Statement life cycle: variables, privileges, prepared statements, DDL, SHOW and system views.
//! Main types: [`Instance`] (what all connections share) and [`Session`] (one connection's state).
//! Knows no sockets and no files; the server feeds it packets and sends what it writes to its channel.
#![forbid(unsafe_code)]

pub mod accounts;
mod connection;
mod instance;
mod prepared;
mod server_port;
mod session;

pub use accounts::{AuthenticationAccount, AuthenticationPlugin, TlsRequirement};
pub use connection::{ClientHost, ConnectionControl, ConnectionInfo, TlsDetails};
pub use instance::{Instance, InstanceOptions, OptionSetting, OptionSource};
pub use prepared::{BoundParameters, ExecuteFlags, ParameterType, PreparedDescription};
pub use server_port::{RefusedConnection, ServerControl, ServerSettings};
pub use session::Session;
