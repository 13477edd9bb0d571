//! The declared type of a column, a parameter or a result column. Main type: [`ColumnType`].
//! Immutable plain data. Its SQL text is in `column_type_text`, its protocol face in `column_type_protocol`.

use crate::members::Members;
use charset::CollationId;

/// The kind of a type, without its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TypeKind {
    Null,
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Bit,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Enum,
    Set,
    Json,
}

impl TypeKind {
    /// TINYINT to BIGINT; not YEAR and not BIT.
    pub fn is_integer(self) -> bool {
        use TypeKind::*;
        matches!(self, TinyInt | SmallInt | MediumInt | Int | BigInt)
    }

    /// FLOAT and DOUBLE.
    pub fn is_approximate(self) -> bool {
        matches!(self, TypeKind::Float | TypeKind::Double)
    }

    /// Types whose arithmetic is numeric without conversion: integers, DECIMAL, FLOAT, DOUBLE, BIT, YEAR.
    pub fn is_number(self) -> bool {
        use TypeKind::*;
        self.is_integer() || self.is_approximate() || matches!(self, Decimal | Bit | Year)
    }

    /// DATE, TIME, DATETIME and TIMESTAMP; not YEAR.
    pub fn is_temporal(self) -> bool {
        use TypeKind::*;
        matches!(self, Date | Time | DateTime | Timestamp)
    }

    /// DATE, DATETIME and TIMESTAMP.
    pub fn has_date(self) -> bool {
        use TypeKind::*;
        matches!(self, Date | DateTime | Timestamp)
    }

    /// Text with a character set: CHAR, VARCHAR, the TEXT family. ENUM and SET are not.
    pub fn is_text(self) -> bool {
        use TypeKind::*;
        matches!(self, Char | VarChar | TinyText | Text | MediumText | LongText)
    }

    /// BINARY, VARBINARY and the BLOB family.
    pub fn is_binary(self) -> bool {
        use TypeKind::*;
        matches!(self, Binary | VarBinary | TinyBlob | Blob | MediumBlob | LongBlob)
    }

    /// Text or binary: [`crate::Value::Bytes`] in rows.
    pub fn is_string(self) -> bool {
        self.is_text() || self.is_binary()
    }

    /// The TEXT and BLOB families: no literal default, only prefix indexes.
    pub fn is_large_object(self) -> bool {
        use TypeKind::*;
        matches!(self, TinyText | Text | MediumText | LongText | TinyBlob | Blob | MediumBlob | LongBlob)
    }

    /// Values that may be too long for a row: the TEXT and BLOB families, and JSON.
    pub fn may_be_long(self) -> bool {
        self.is_large_object() || self == TypeKind::Json
    }

    /// ENUM and SET: numbers in rows, text in expressions.
    pub fn has_members(self) -> bool {
        matches!(self, TypeKind::Enum | TypeKind::Set)
    }

    /// Most bytes that a value of a large-object type holds; None for other kinds.
    pub fn large_object_bytes_max(self) -> Option<u32> {
        use TypeKind::*;
        Some(match self {
            TinyText | TinyBlob => 0xff,
            Text | Blob => 0xffff,
            MediumText | MediumBlob => 0xff_ffff,
            LongText | LongBlob => 0xffff_ffff,
            _ => return None,
        })
    }

    /// Bytes of an integer type in storage as MySQL counts them: 1, 2, 3, 4 or 8.
    pub fn integer_bytes(self) -> Option<u32> {
        use TypeKind::*;
        Some(match self {
            TinyInt => 1,
            SmallInt => 2,
            MediumInt => 3,
            Int => 4,
            BigInt => 8,
            _ => return None,
        })
    }
}

/// A type with its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnType {
    /// The kind.
    pub kind: TypeKind,
    /// UNSIGNED (numbers only).
    pub unsigned: bool,
    /// ZEROFILL (numbers only).
    pub zerofill: bool,
    /// Characters for text, bytes for binary, digits for DECIMAL, bits for BIT, display width for integers.
    /// None where the declaration gives none (plain INT, TEXT).
    pub length: Option<u32>,
    /// Scale of DECIMAL, FLOAT(M,D) and DOUBLE(M,D); fractional second digits of temporal types.
    pub decimals: Option<u8>,
    /// Collation of text, ENUM and SET; BINARY for everything else.
    pub collation: CollationId,
    /// Members of ENUM and SET, in the column's character set.
    pub members: Members,
}

/// Digits of DECIMAL without a precision.
pub const DECIMAL_PRECISION_DEFAULT: u32 = 10;
/// Most digits of a DECIMAL.
pub const DECIMAL_PRECISION_MAX: u32 = 65;
/// Most fractional digits of a DECIMAL.
pub const DECIMAL_SCALE_MAX: u8 = 30;

impl ColumnType {
    /// A type of that kind with no attribute set and the binary collation.
    pub fn new(kind: TypeKind) -> ColumnType {
        ColumnType {
            kind,
            unsigned: false,
            zerofill: false,
            length: None,
            decimals: None,
            collation: CollationId::BINARY,
            members: Members::default(),
        }
    }

    /// The type of the literal NULL.
    pub fn null() -> ColumnType {
        ColumnType::new(TypeKind::Null)
    }

    /// An integer type without display width.
    pub fn integer(kind: TypeKind, unsigned: bool) -> ColumnType {
        debug_assert!(kind.is_integer());
        ColumnType { unsigned, ..ColumnType::new(kind) }
    }

    /// BIGINT.
    pub fn big_int() -> ColumnType {
        ColumnType::new(TypeKind::BigInt)
    }

    /// BIGINT UNSIGNED.
    pub fn big_int_unsigned() -> ColumnType {
        ColumnType::integer(TypeKind::BigInt, true)
    }

    /// DOUBLE.
    pub fn double() -> ColumnType {
        ColumnType::new(TypeKind::Double)
    }

    /// DECIMAL(precision, scale).
    pub fn decimal(precision: u32, scale: u8) -> ColumnType {
        ColumnType { length: Some(precision), decimals: Some(scale), ..ColumnType::new(TypeKind::Decimal) }
    }

    /// DATE, TIME, DATETIME or TIMESTAMP with that many fractional second digits.
    pub fn temporal(kind: TypeKind, fractional_digits: u8) -> ColumnType {
        debug_assert!(kind.is_temporal());
        ColumnType { decimals: Some(fractional_digits), ..ColumnType::new(kind) }
    }

    /// CHAR(characters).
    pub fn char(characters: u32, collation: CollationId) -> ColumnType {
        ColumnType { length: Some(characters), collation, ..ColumnType::new(TypeKind::Char) }
    }

    /// VARCHAR(characters).
    pub fn varchar(characters: u32, collation: CollationId) -> ColumnType {
        ColumnType { length: Some(characters), collation, ..ColumnType::new(TypeKind::VarChar) }
    }

    /// BINARY(bytes).
    pub fn binary(bytes: u32) -> ColumnType {
        ColumnType { length: Some(bytes), ..ColumnType::new(TypeKind::Binary) }
    }

    /// VARBINARY(bytes).
    pub fn varbinary(bytes: u32) -> ColumnType {
        ColumnType { length: Some(bytes), ..ColumnType::new(TypeKind::VarBinary) }
    }

    /// A type of the TEXT family.
    pub fn text(kind: TypeKind, collation: CollationId) -> ColumnType {
        debug_assert!(kind.is_text() && kind.is_large_object());
        ColumnType { collation, ..ColumnType::new(kind) }
    }

    /// BIT(bits).
    pub fn bit(bits: u32) -> ColumnType {
        ColumnType { length: Some(bits), unsigned: true, ..ColumnType::new(TypeKind::Bit) }
    }

    /// ENUM of those members.
    pub fn enumeration(members: Vec<Vec<u8>>, collation: CollationId) -> ColumnType {
        ColumnType { members: members.into(), collation, ..ColumnType::new(TypeKind::Enum) }
    }

    /// SET of those members.
    pub fn set(members: Vec<Vec<u8>>, collation: CollationId) -> ColumnType {
        ColumnType { members: members.into(), collation, ..ColumnType::new(TypeKind::Set) }
    }

    /// The same type, UNSIGNED.
    pub fn with_unsigned(mut self) -> ColumnType {
        self.unsigned = true;
        self
    }

    /// Digits of a DECIMAL.
    pub fn precision(&self) -> u32 {
        self.length.unwrap_or(DECIMAL_PRECISION_DEFAULT).min(DECIMAL_PRECISION_MAX)
    }

    /// Fractional digits of a DECIMAL.
    pub fn scale(&self) -> u8 {
        self.decimals.unwrap_or(0).min(DECIMAL_SCALE_MAX)
    }

    /// Fractional second digits of a temporal type, 0 to 6.
    pub fn fractional_digits(&self) -> u8 {
        self.decimals.unwrap_or(0).min(6)
    }

    /// Bits of a BIT type, 1 to 64.
    pub fn bits(&self) -> u32 {
        self.length.unwrap_or(1).clamp(1, 64)
    }

    /// Characters (bytes for binary types) that CHAR, VARCHAR, BINARY and VARBINARY hold at most.
    pub fn characters(&self) -> u32 {
        self.length.unwrap_or(1)
    }

    /// Whether these are the bytes of a literal such as `x'41'` or `b'101'`: text, but a number where one is wanted.
    /// The scale 0 marks them; other text has none.
    pub fn is_number_bytes(&self) -> bool {
        self.kind == TypeKind::VarBinary && self.decimals == Some(0)
    }

    /// Whether this is a column declared as TEXT or BLOB, not text of that length that a function made: MySQL takes a
    /// number from the start of such a column without a warning.
    pub fn is_large_column(&self) -> bool {
        self.kind.is_large_object() && self.length.is_none()
    }

    /// Whether values are unsigned integers ([`crate::Value::UInt`]) in rows.
    pub fn is_unsigned_integer(&self) -> bool {
        use TypeKind::*;
        (self.kind.is_integer() && self.unsigned) || matches!(self.kind, Bit | Year | Enum | Set)
    }

    /// Smallest and largest value of an integer type.
    pub fn integer_range(&self) -> Option<(i64, u64)> {
        let bits = self.kind.integer_bytes()? * 8;
        Some(match self.unsigned {
            true => (0, u64::MAX >> (64 - bits)),
            false => (i64::MIN >> (64 - bits), (i64::MAX >> (64 - bits)) as u64),
        })
    }

    /// Most bytes that one value needs inside a row, as MySQL counts row size (ER_TOO_BIG_ROWSIZE); large
    /// objects count with their pointer.
    pub fn row_bytes(&self) -> u32 {
        use TypeKind::*;
        let width = charset::collation(self.collation).map_or(1, |c| u32::from(c.charset().max_bytes));
        match self.kind {
            Null => 0,
            TinyInt | SmallInt | MediumInt | Int | BigInt => self.kind.integer_bytes().unwrap_or(8),
            Float => 4,
            Double => 8,
            Decimal => decimal_bytes(self.precision(), u32::from(self.scale())),
            Bit => self.bits().div_ceil(8),
            Year => 1,
            Date => 3,
            Time => 3 + fraction_bytes(self.fractional_digits()),
            DateTime => 5 + fraction_bytes(self.fractional_digits()),
            Timestamp => 4 + fraction_bytes(self.fractional_digits()),
            Char => self.characters().saturating_mul(width),
            Binary => self.characters(),
            VarChar | VarBinary => {
                let bytes = self.characters().saturating_mul(width);
                bytes.saturating_add(if bytes > 255 { 2 } else { 1 })
            }
            TinyText | TinyBlob => 9,
            Text | Blob => 10,
            MediumText | MediumBlob => 11,
            LongText | LongBlob | Json => 12,
            Enum => 1 + u32::from(self.members.len() > 255),
            Set => match self.members.len() {
                0..=8 => 1,
                9..=16 => 2,
                17..=24 => 3,
                25..=32 => 4,
                _ => 8,
            },
        }
    }
}

fn fraction_bytes(digits: u8) -> u32 {
    u32::from(digits.div_ceil(2))
}

/// Bytes of a DECIMAL in MySQL's storage: four for nine digits, fewer for the rest, on each side of the point.
fn decimal_bytes(precision: u32, scale: u32) -> u32 {
    const REST: [u32; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    let side = |digits: u32| digits / 9 * 4 + REST[(digits % 9) as usize];
    side(precision.saturating_sub(scale)) + side(scale)
}
