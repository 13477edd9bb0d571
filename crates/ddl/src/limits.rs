//! Bounds of definitions, as MySQL has them.

/// Columns of a table.
pub const COLUMNS_MAX: usize = 1017;
/// Indexes of a table, the primary key not counted.
pub const INDEXES_MAX: usize = 64;
/// Parts of a key.
pub const KEY_PARTS_MAX: usize = 16;
/// Declared bytes of a key.
pub const KEY_BYTES_MAX: u64 = 3072;
/// Declared bytes of a row, TEXT and BLOB not counted.
pub const ROW_BYTES_MAX: u64 = 65_535;
/// Characters of a name.
pub const NAME_CHARACTERS_MAX: usize = 64;
/// Characters of a table's comment.
pub const TABLE_COMMENT_CHARACTERS_MAX: usize = 2048;
/// Characters of a table's CONNECTION.
pub const CONNECTION_CHARACTERS_MAX: usize = 1024;
/// Characters of a column's or index's comment.
pub const COLUMN_COMMENT_CHARACTERS_MAX: usize = 1024;
