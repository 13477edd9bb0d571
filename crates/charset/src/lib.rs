//! Character sets, collations and their sort keys.
//! Knows nothing of values or columns: text is bytes in a named character set.

/// A collation by MySQL's own number (as in information_schema.COLLATIONS.ID).
/// The number also fixes the character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `binary`: bytes without a character set.
    pub const BINARY: CollationId = CollationId(63);
    /// `utf8mb4_0900_ai_ci`: the server's default.
    pub const UTF8MB4_0900_AI_CI: CollationId = CollationId(255);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: CollationId = CollationId(46);
    /// `utf8mb3_general_ci`: the collation of metadata.
    pub const UTF8MB3_GENERAL_CI: CollationId = CollationId(33);
}
