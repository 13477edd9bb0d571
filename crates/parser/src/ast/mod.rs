//! The syntax tree: what a statement says, before any name is bound.
//! Owned trees without catalogue knowledge; names keep the case in which they were written.
//! Main types: [`Statement`], [`Query`], [`Expression`]. Field names follow the grammar's own words.

pub mod admin;
pub mod children;
pub mod ddl;
pub mod expression;
pub mod hint;
pub mod query;
pub mod statement;

pub use admin::*;
pub use children::Child;
pub use ddl::*;
pub use expression::*;
pub use hint::*;
pub use query::*;
pub use statement::*;

/// An identifier as written, without its quotes.
pub type Name = String;

/// A byte range of the statement's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A table, view, procedure or other schema object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// Schema, if the statement names one.
    pub schema: Option<Name>,
    /// The object itself.
    pub name: Name,
}

impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
