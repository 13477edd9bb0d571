//! XML as EXTRACTVALUE and UPDATEXML know it: documents as flat lists of nodes, and the steps of XPath over them. Main types:
//! [`Document`], [`Place`]. Entities are not looked at, name spaces are parts of names.

pub mod axes;
mod document;
mod reader;

pub use axes::{Axis, Hold, Place};
pub use document::{Document, Kind, Node};
