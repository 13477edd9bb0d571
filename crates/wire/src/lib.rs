//! MySQL's client/server protocol as bytes in, bytes out. Knows no sockets and no SQL.
#![forbid(unsafe_code)]

pub mod capabilities;
pub mod result;
