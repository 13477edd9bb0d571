//! The declared type of a column, a parameter or a result column. Main type: [`ColumnType`].

use charset::CollationId;
use std::sync::Arc;

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
    pub members: Arc<[Vec<u8>]>,
}
