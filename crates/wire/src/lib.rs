//! MySQL's client/server protocol as bytes in, bytes out. Knows no sockets and no SQL.

pub mod result;
