//! Binds names, types expressions and picks access paths. Entry point: [`Plan`].
//! Knows the catalogue and statistics of the engine; runs nothing.
#![forbid(unsafe_code)]

mod catalog;

pub use catalog::{
    AllPrivileges, NoVirtualTables, PrivilegeCheck, PrivilegeRequest, TablePrivilege, View, VirtualTables,
};

/// A bound and optimised statement, separate from any execution of it.
#[derive(Debug)]
pub struct Plan {
    /// [`engine::Dictionary::epoch`] when it was made.
    pub dictionary_epoch: u64,
}
