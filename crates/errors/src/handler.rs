//! Numbers of errors of storage engines and of the operating system, as messages name them.

/// The table can only be read.
pub const HA_ERR_TABLE_READONLY: i64 = 165;
/// Something that has no number of its own.
pub const HA_ERR_GENERIC: i64 = 168;
/// A tablespace of that name is there.
pub const HA_ERR_TABLESPACE_EXISTS: i64 = 184;
/// A file's name is too long.
pub const ENAMETOOLONG: i64 = 36;
/// The process has no file descriptor left.
pub const EMFILE: i64 = 24;
