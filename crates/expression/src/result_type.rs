//! What the server knows of an expression before it runs: type, nullability, and how strongly its collation
//! holds. Main type: [`ResultType`]. The rules that combine types live in `derive.rs`.

use charset::CollationId;
use std::sync::Arc;
use values::{ColumnType, Decimal, TypeKind};

/// How strongly an expression's collation holds against another's; the lower wins. MySQL's COERCIBILITY().
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// A COLLATE clause.
    Explicit = 0,
    /// Two columns of different collation were joined; no collation can be chosen.
    None = 1,
    /// A column, a stored variable.
    Implicit = 2,
    /// A system constant such as USER().
    SystemConstant = 3,
    /// A literal.
    Coercible = 4,
    /// A number or temporal value that was turned to text.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

/// The type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultType {
    /// Kind, sign, length, scale, collation.
    pub column_type: ColumnType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// How strongly its collation holds.
    pub coercibility: Coercibility,
}

/// The classes that decide how an operator treats its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// NULL literal.
    Null,
    /// Integers, YEAR, BIT.
    Integer,
    /// DECIMAL.
    Decimal,
    /// FLOAT and DOUBLE.
    Double,
    /// Text and binary, ENUM and SET.
    Text,
    /// DATE, DATETIME and TIMESTAMP.
    DateTime,
    /// TIME.
    Time,
}

/// A type of this kind without attributes.
pub fn plain_type(kind: TypeKind) -> ColumnType {
    ColumnType {
        kind,
        unsigned: false,
        zerofill: false,
        length: None,
        decimals: None,
        collation: CollationId::BINARY,
        members: Arc::from(Vec::new()),
    }
}

/// The class of a kind.
pub fn class_of(kind: TypeKind) -> TypeClass {
    match kind {
        TypeKind::Null => TypeClass::Null,
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Bit
        | TypeKind::Year => TypeClass::Integer,
        TypeKind::Decimal => TypeClass::Decimal,
        TypeKind::Float | TypeKind::Double => TypeClass::Double,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => TypeClass::DateTime,
        TypeKind::Time => TypeClass::Time,
        _ => TypeClass::Text,
    }
}

impl ResultType {
    /// The type of a NULL literal.
    pub fn null() -> ResultType {
        ResultType {
            column_type: ColumnType { length: Some(0), ..plain_type(TypeKind::Null) },
            nullable: true,
            coercibility: Coercibility::Ignorable,
        }
    }

    /// The type of a decimal literal: the digits that it is written with.
    pub fn of_decimal(number: &Decimal) -> ResultType {
        let scale = number.scale();
        ResultType::decimal(number.integer_digits().max(1) + u32::from(scale), scale)
    }

    /// BIGINT that shows at most `length` characters, its sign included.
    pub fn integer(length: u32) -> ResultType {
        ResultType::numeric(ColumnType { length: Some(length), ..plain_type(TypeKind::BigInt) })
    }

    /// BIGINT UNSIGNED.
    pub fn unsigned(length: u32) -> ResultType {
        let column_type = ColumnType { length: Some(length), unsigned: true, ..plain_type(TypeKind::BigInt) };
        ResultType::numeric(column_type)
    }

    /// The result of a predicate: an integer of one character.
    pub fn boolean() -> ResultType {
        ResultType::integer(1)
    }

    /// DECIMAL(precision, scale).
    pub fn decimal(precision: u32, scale: u8) -> ResultType {
        let column_type = ColumnType {
            length: Some(precision.clamp(1, 65)),
            decimals: Some(scale.min(30)),
            ..plain_type(TypeKind::Decimal)
        };
        ResultType::numeric(column_type)
    }

    /// DOUBLE.
    pub fn double() -> ResultType {
        ResultType::numeric(plain_type(TypeKind::Double))
    }

    /// DATE.
    pub fn date() -> ResultType {
        ResultType::numeric(plain_type(TypeKind::Date))
    }

    /// DATETIME with fractional digits.
    pub fn datetime(digits: u8) -> ResultType {
        ResultType::numeric(ColumnType { decimals: Some(digits), ..plain_type(TypeKind::DateTime) })
    }

    /// TIME with fractional digits.
    pub fn time(digits: u8) -> ResultType {
        ResultType::numeric(ColumnType { decimals: Some(digits), ..plain_type(TypeKind::Time) })
    }

    /// VARCHAR of at most `characters` in a collation; LONGTEXT when longer than a VARCHAR may be.
    pub fn text(characters: u32, collation: CollationId, coercibility: Coercibility) -> ResultType {
        let binary = collation == CollationId::BINARY;
        let kind = match (characters > 16_383 && !binary || characters > 65_535, binary) {
            (false, false) => TypeKind::VarChar,
            (false, true) => TypeKind::VarBinary,
            (true, false) => TypeKind::LongText,
            (true, true) => TypeKind::LongBlob,
        };
        let column_type = ColumnType { length: Some(characters), collation, ..plain_type(kind) };
        ResultType { column_type, nullable: false, coercibility }
    }

    /// VARBINARY of at most `bytes`.
    pub fn binary(bytes: u32) -> ResultType {
        ResultType::text(bytes, CollationId::BINARY, Coercibility::Coercible)
    }

    /// The type of a column.
    pub fn column(column_type: ColumnType, nullable: bool) -> ResultType {
        let coercibility = if class_of(column_type.kind) == TypeClass::Text {
            Coercibility::Implicit
        } else {
            Coercibility::Numeric
        };
        ResultType { column_type, nullable, coercibility }
    }

    fn numeric(column_type: ColumnType) -> ResultType {
        ResultType { column_type, nullable: false, coercibility: Coercibility::Numeric }
    }

    /// The same, able to be NULL.
    pub fn nullable(mut self) -> ResultType {
        self.nullable = true;
        self
    }

    /// The same, able to be NULL if `nullable` says so.
    pub fn nullable_if(mut self, nullable: bool) -> ResultType {
        self.nullable |= nullable;
        self
    }

    /// The kind of the type.
    pub fn kind(&self) -> TypeKind {
        self.column_type.kind
    }

    /// The class of the type.
    pub fn class(&self) -> TypeClass {
        class_of(self.column_type.kind)
    }

    /// The collation.
    pub fn collation(&self) -> CollationId {
        self.column_type.collation
    }

    /// Digits after the point that this type shows; 31 for a floating point number of any scale.
    pub fn scale(&self) -> u8 {
        match self.class() {
            TypeClass::Double => self.column_type.decimals.unwrap_or(31),
            TypeClass::Text => 31,
            _ => self.column_type.decimals.unwrap_or(0),
        }
    }

    /// Digits before the point that this type can have.
    pub fn integer_digits(&self) -> u32 {
        match self.kind() {
            TypeKind::Decimal => self.column_type.length.unwrap_or(10) - u32::from(self.scale().min(30)),
            TypeKind::TinyInt => 3,
            TypeKind::SmallInt => 5,
            TypeKind::MediumInt => 8,
            TypeKind::Int => 10,
            TypeKind::Year => 4,
            TypeKind::BigInt => match self.column_type.length {
                Some(length) if self.coercibility == Coercibility::Numeric => {
                    (length - u32::from(!self.column_type.unsigned && length > 0)).clamp(1, 20)
                }
                _ => 20,
            },
            TypeKind::Date => 8,
            TypeKind::DateTime | TypeKind::Timestamp => 14,
            TypeKind::Time => 7,
            _ => 20,
        }
    }

    /// The greatest number of characters that the value has as text.
    pub fn text_length(&self) -> u32 {
        let fraction = |digits: Option<u8>| match digits {
            Some(digits) if digits > 0 => u32::from(digits) + 1,
            _ => 0,
        };
        match self.kind() {
            TypeKind::Null => 0,
            TypeKind::TinyInt => 4,
            TypeKind::SmallInt => 6,
            TypeKind::MediumInt => 9,
            TypeKind::Int => 11,
            TypeKind::BigInt => self.column_type.length.unwrap_or(20).min(21),
            TypeKind::Year => 4,
            TypeKind::Decimal => {
                self.column_type.length.unwrap_or(10)
                    + 1
                    + u32::from(self.column_type.decimals.unwrap_or(0) > 0)
            }
            TypeKind::Float => 12,
            TypeKind::Double => 22,
            TypeKind::Date => 10,
            TypeKind::DateTime | TypeKind::Timestamp => 19 + fraction(self.column_type.decimals),
            TypeKind::Time => 10 + fraction(self.column_type.decimals),
            TypeKind::Bit => self.column_type.length.unwrap_or(1).div_ceil(8),
            TypeKind::TinyText | TypeKind::TinyBlob => 255,
            TypeKind::Text | TypeKind::Blob => self.column_type.length.unwrap_or(65_535),
            TypeKind::MediumText | TypeKind::MediumBlob => 16_777_215,
            TypeKind::LongText | TypeKind::LongBlob => self.column_type.length.unwrap_or(u32::MAX),
            TypeKind::Enum => self.longest_member(),
            TypeKind::Set => {
                let total: usize = self.column_type.members.iter().map(|member| member.len() + 1).sum();
                u32::try_from(total.saturating_sub(1)).unwrap_or(u32::MAX)
            }
            _ => self.column_type.length.unwrap_or(1),
        }
    }

    fn longest_member(&self) -> u32 {
        let longest = self.column_type.members.iter().map(Vec::len).max().unwrap_or(0);
        u32::try_from(longest).unwrap_or(u32::MAX)
    }
}
