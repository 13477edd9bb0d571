//! Statements that change rows.

pub(crate) mod delete;
pub(crate) mod handler;
pub(crate) mod insert;
pub(crate) mod load;
pub(crate) mod update;
