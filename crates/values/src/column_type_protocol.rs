//! How a type shows itself in a result set's column definition: type code, display length, decimals, flags.

use crate::column_type::{ColumnType, TypeKind};
use charset::CollationId;

/// Decimals of a column whose values have no fixed number of them (FLOAT, DOUBLE, and what is computed
/// from them).
pub const DECIMALS_NOT_FIXED: u8 = 31;

/// BLOB_FLAG of a column definition.
pub const FLAG_BLOB: u16 = 16;
/// UNSIGNED_FLAG.
pub const FLAG_UNSIGNED: u16 = 32;
/// ZEROFILL_FLAG.
pub const FLAG_ZEROFILL: u16 = 64;
/// BINARY_FLAG.
pub const FLAG_BINARY: u16 = 128;
/// ENUM_FLAG.
pub const FLAG_ENUM: u16 = 256;
/// SET_FLAG.
pub const FLAG_SET: u16 = 2048;

// What an expression's result shows differently from a stored column of the same type.
impl ColumnType {
    /// The type code: large text tells its size.
    pub fn computed_code(&self) -> u8 {
        match (self.kind, self.length) {
            (TypeKind::MediumText | TypeKind::MediumBlob, Some(_)) => 250,
            (TypeKind::LongText | TypeKind::LongBlob, Some(_)) => 251,
            // A column of these is shown as text.
            (TypeKind::Enum, _) => 247,
            (TypeKind::Set, _) => 248,
            _ => self.protocol_code(),
        }
    }

    /// The flags: what is no text of a character set is binary; what only columns are (ENUM, ZEROFILL) is gone.
    pub fn computed_flags(&self) -> u16 {
        let text = self.kind.is_text() || self.kind.has_members();
        let flags = self.protocol_flags() & (FLAG_UNSIGNED | FLAG_BINARY);
        if text || self.kind == TypeKind::Bit { flags } else { flags | FLAG_BINARY }
    }

    /// The decimals: text has no fixed number of them, unless it stands for a number (`x'41'`).
    pub fn computed_decimals(&self) -> u8 {
        if self.kind.is_string() || self.kind.has_members() || self.kind == TypeKind::Json {
            return self.decimals.unwrap_or(DECIMALS_NOT_FIXED);
        }
        self.protocol_decimals()
    }

    /// The display length in bytes of the client's character set. A large object that is shown as it is counts the
    /// characters that it may hold with all the bytes that each may need.
    pub fn computed_length(&self, results: CollationId) -> u32 {
        match self.length {
            // Whole characters of four bytes.
            None if self.kind == TypeKind::Json => u32::MAX / 4 * 4,
            None if self.kind.is_text() && self.kind.is_large_object() => {
                let own = u32::from(self.collation.charset().max_bytes);
                self.protocol_length(results).saturating_mul(own)
            }
            _ => self.protocol_length(results),
        }
    }
}

impl ColumnType {
    /// The type code of the column definition packet. ENUM and SET go out as strings with a flag, the BLOB
    /// and TEXT families as BLOB.
    pub fn protocol_code(&self) -> u8 {
        use TypeKind::*;
        match self.kind {
            TinyInt => 1,
            SmallInt => 2,
            Int => 3,
            Float => 4,
            Double => 5,
            Null => 6,
            Timestamp => 7,
            BigInt => 8,
            MediumInt => 9,
            Date => 10,
            Time => 11,
            DateTime => 12,
            Year => 13,
            Bit => 16,
            Json => 245,
            Decimal => 246,
            TinyText | Text | MediumText | LongText | TinyBlob | Blob | MediumBlob | LongBlob => 252,
            VarChar | VarBinary => 253,
            Char | Binary | Enum | Set => 254,
        }
    }

    /// Flags of the column definition that follow from the type.
    pub fn protocol_flags(&self) -> u16 {
        use TypeKind::*;
        let mut flags = 0;
        if self.unsigned || matches!(self.kind, Bit | Year) {
            flags |= FLAG_UNSIGNED;
        }
        if self.zerofill || self.kind == Year {
            flags |= FLAG_ZEROFILL;
        }
        if self.kind.may_be_long() {
            flags |= FLAG_BLOB;
        }
        let binary_order = self.kind.is_text() && self.collation.get().name.ends_with("_bin");
        if self.kind.is_binary() || self.kind.is_temporal() || binary_order || self.kind == Json {
            flags |= FLAG_BINARY;
        }
        match self.kind {
            Enum => flags | FLAG_ENUM,
            Set => flags | FLAG_SET,
            _ => flags,
        }
    }

    /// The collation of the column definition: the client's for text, `binary` for everything else.
    pub fn protocol_collation(&self, results: CollationId) -> CollationId {
        if self.kind.is_text() || self.kind.has_members() { results } else { CollationId::BINARY }
    }

    /// Decimals of the column definition.
    pub fn protocol_decimals(&self) -> u8 {
        use TypeKind::*;
        match self.kind {
            Decimal => self.scale(),
            Float | Double => self.decimals.unwrap_or(DECIMALS_NOT_FIXED),
            Time | DateTime | Timestamp => self.fractional_digits(),
            kind if kind.is_text() || kind.is_binary() => self.decimals.unwrap_or(0),
            _ => 0,
        }
    }

    /// Display length of the column definition, in bytes of the client's character set for text.
    pub fn protocol_length(&self, results: CollationId) -> u32 {
        let width = u32::from(results.charset().max_bytes);
        if let Some(most) = self.kind.large_object_bytes_max() {
            let own = u32::from(self.collation.charset().max_bytes);
            let bytes = self.length.map_or(most, |characters| characters.saturating_mul(own));
            // Every byte of text counts as a character, because it may be one.
            return if self.kind.is_text() { bytes.saturating_mul(width) } else { bytes };
        }
        match self.kind.is_text() || self.kind.has_members() {
            true => self.display_characters().saturating_mul(width),
            false => self.display_characters(),
        }
    }

    /// Characters of the widest value as text (bytes for binary types); the display width of integers.
    pub fn display_characters(&self) -> u32 {
        use TypeKind::*;
        let fraction = |digits: u8| if digits == 0 { 0 } else { u32::from(digits) + 1 };
        match self.kind {
            Null => 0,
            TinyInt | SmallInt | MediumInt | Int | BigInt => {
                self.length.unwrap_or_else(|| self.integer_width())
            }
            Decimal => {
                // What is computed may have more digits than a column.
                let digits = self.length.unwrap_or(0).max(self.precision());
                digits + u32::from(self.scale() > 0) + u32::from(!self.unsigned)
            }
            Float => self.length.unwrap_or(12),
            Double => self.length.unwrap_or(22),
            Bit => self.bits(),
            Year => 4,
            Date => 10,
            Time => self.length.unwrap_or(10) + fraction(self.fractional_digits()),
            DateTime | Timestamp => 19 + fraction(self.fractional_digits()),
            Char | VarChar | Binary | VarBinary => self.characters(),
            Enum => self.member_lengths().max().unwrap_or(0),
            Set => self.member_lengths().sum::<u32>() + (self.members.len() as u32).saturating_sub(1),
            TinyText | Text | MediumText | LongText | TinyBlob | Blob | MediumBlob | LongBlob => {
                self.kind.large_object_bytes_max().unwrap_or(u32::MAX)
            }
            Json => u32::MAX,
        }
    }

    fn integer_width(&self) -> u32 {
        use TypeKind::*;
        let (signed, unsigned) = match self.kind {
            TinyInt => (4, 3),
            SmallInt => (6, 5),
            MediumInt => (9, 8),
            Int => (11, 10),
            _ => (20, 20),
        };
        if self.unsigned || self.zerofill { unsigned } else { signed }
    }

    fn member_lengths(&self) -> impl Iterator<Item = u32> {
        let charset = self.collation.charset();
        self.members.iter().map(|member| charset.character_count(member) as u32)
    }
}
