//! MySQL's client/server protocol as bytes in, bytes out. Knows no sockets and no SQL.
#![forbid(unsafe_code)]

pub mod auth;
pub mod capabilities;
pub mod compression;
pub mod frame;
pub mod handshake;
pub mod output;
pub mod reader;
pub mod result;
