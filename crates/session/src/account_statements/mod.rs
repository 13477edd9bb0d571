//! Statements about accounts, and what accounts limit.

mod grant;
mod password;
mod password_history;
mod resource_limits;
mod statements;

pub(crate) use statements::SYSTEM_USER;
