//! What changes a session: variables, transactions, prepared statements, its diagnostics area.

pub(crate) mod diagnostics;
pub(crate) mod prepared;
pub(crate) mod set;
pub(crate) mod transaction;
pub(crate) mod xa;
