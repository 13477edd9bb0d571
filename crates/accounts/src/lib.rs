//! Accounts, privileges and roles. Main types: [`AuthenticationAccount`] (for the server's handshake),
//! [`AccountTable`] (all accounts), [`Grants`] (what a session may do).

#![forbid(unsafe_code)]

pub mod account;
mod client_host;
mod grants;
pub mod history;
mod host;
mod locking;
pub mod print;
pub mod privilege;
mod resources;
pub mod restriction;
pub mod store;
mod stored;
pub mod table;

pub use account::{Account, AccountName};
pub use client_host::ClientHost;
pub use grants::Grants;
pub use history::ReusePolicy;
pub use locking::{LockTime, Locked, PasswordLocking};
pub use privilege::{Privileges, SYSTEM_USER};
pub use resources::{Resource, ResourceUse, StatementLimits};
pub use table::AccountTable;

use wire::auth::{caching_sha2, native};

/// How an account proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationPlugin {
    /// `caching_sha2_password`: the default.
    CachingSha2Password,
    /// `mysql_native_password`: kept for old clients.
    MysqlNativePassword,
}

impl AuthenticationPlugin {
    /// MySQL's name.
    pub fn name(self) -> &'static str {
        match self {
            AuthenticationPlugin::CachingSha2Password => "caching_sha2_password",
            AuthenticationPlugin::MysqlNativePassword => "mysql_native_password",
        }
    }

    /// The plugin of that name, without regard to case.
    pub fn from_name(name: &str) -> Option<AuthenticationPlugin> {
        [AuthenticationPlugin::CachingSha2Password, AuthenticationPlugin::MysqlNativePassword]
            .into_iter()
            .find(|plugin| plugin.name().eq_ignore_ascii_case(name))
    }

    /// Whether `stored` is what the plugin keeps of that password.
    pub fn verifies(self, stored: &[u8], password: &[u8]) -> bool {
        match self {
            _ if stored.is_empty() => password.is_empty(),
            AuthenticationPlugin::CachingSha2Password => caching_sha2::verify_password(stored, password),
            AuthenticationPlugin::MysqlNativePassword => *stored == native::hash(password).into_bytes(),
        }
    }
}

/// The REQUIRE clause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TlsRequirement {
    /// NONE.
    #[default]
    None,
    /// SSL: any TLS channel.
    Tls,
    /// X509: a valid client certificate.
    Certificate,
    /// Particular certificate properties; empty strings are not checked.
    Specified {
        /// CIPHER.
        cipher: String,
        /// ISSUER.
        issuer: String,
        /// SUBJECT.
        subject: String,
    },
}

/// What the handshake needs to know of the account that a connection matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationAccount {
    /// User part of the account; empty for the anonymous account.
    pub user: String,
    /// Host pattern of the account.
    pub host: String,
    /// How the client proves itself.
    pub plugin: AuthenticationPlugin,
    /// The stored verifier in the plugin's own form (`$A$005$...`, `*HEX`); empty: no password.
    pub authentication_string: Vec<u8>,
    /// A retained second verifier (RETAIN CURRENT PASSWORD); empty: none.
    pub retained_authentication_string: Vec<u8>,
    /// What the channel must offer.
    pub tls: TlsRequirement,
    /// ACCOUNT LOCK; the session refuses it with error 3118 after the password was right.
    pub locked: bool,
    /// What failed logins come to; None if they never lock the account.
    pub locking: Option<PasswordLocking>,
}
