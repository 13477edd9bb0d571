//! Character sets, collations and their sort keys.
//! Knows nothing of values or columns: text is bytes in a named character set.
//! Main types: [`CollationId`], [`Collation`], [`Charset`]. All data is immutable and shared by all threads.
#![forbid(unsafe_code)]

mod case;
mod charset;
mod collation;
mod encoding;
mod multi_byte;
mod pattern;
mod registry;
mod search;
mod single_byte;
mod sort_code;
mod tailoring;
#[cfg(test)]
mod tests;
mod varint;
mod weights;

pub use charset::{Charset, Conversion};
pub use collation::Collation;
pub use registry::{charset_by_name, charsets, collation, collation_by_name, collations, deprecated};
pub use search::{KeepOn, Stopped};

/// A collation by MySQL's own number (as in information_schema.COLLATIONS.ID).
/// The number also fixes the character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `binary`: bytes without a character set.
    pub const BINARY: CollationId = CollationId(63);
    /// `utf8mb4_0900_ai_ci`: the server's default.
    pub const UTF8MB4_0900_AI_CI: CollationId = CollationId(255);
    /// `utf8mb4_0900_bin`: bytes, and blanks at the end count.
    pub const UTF8MB4_0900_BIN: CollationId = CollationId(309);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: CollationId = CollationId(46);
    /// `utf8mb4_general_ci`.
    pub const UTF8MB4_GENERAL_CI: CollationId = CollationId(45);
    /// `utf8mb3_general_ci`: the collation of metadata.
    pub const UTF8MB3_GENERAL_CI: CollationId = CollationId(33);
    /// `utf8mb3_bin`.
    pub const UTF8MB3_BIN: CollationId = CollationId(83);
    /// `latin1_swedish_ci`.
    pub const LATIN1_SWEDISH_CI: CollationId = CollationId(8);
    /// `ascii_general_ci`.
    pub const ASCII_GENERAL_CI: CollationId = CollationId(11);

    /// The collation of this id; `binary` for an id that MySQL does not have, so that damaged metadata
    /// cannot stop a comparison.
    #[inline]
    pub fn get(self) -> &'static Collation {
        match collation(self) {
            Some(collation) => collation,
            None => collation(CollationId::BINARY).expect("the registry always has `binary`"),
        }
    }

    /// The character set of this collation.
    #[inline]
    pub fn charset(self) -> &'static Charset {
        self.get().charset()
    }
}
