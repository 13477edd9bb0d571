//! MySQL's client/server protocol as bytes in, bytes out. Knows no sockets and no SQL.
#![forbid(unsafe_code)]

pub mod auth;
pub mod capabilities;
pub mod command;
pub mod compression;
pub mod connection_attributes;
pub mod encoder;
pub mod frame;
pub mod handshake;
pub mod long_packet;
pub mod output;
pub mod parameter;
pub mod reader;
pub mod recorded;
pub mod response;
pub mod result;
pub mod row;
pub mod type_code;
