//! What the server knows of an expression before it runs: type, nullability, and how strongly its collation
//! holds. Main type: [`ResultType`]. The rules that combine types live in `derive.rs`.

use charset::CollationId;
use values::{ColumnType, Decimal, TypeKind};

/// How strongly an expression's collation holds against another's; the lower wins. MySQL's COERCIBILITY().
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// A COLLATE clause.
    Explicit = 0,
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
    /// Texts of different collation were put together: any other text settles the collation.
    None = 7,
}

/// Most bytes of a computed VARCHAR.
const VARCHAR_BYTES_MAX: u64 = 65_535;
/// Most bytes of a computed MEDIUMTEXT.
const MEDIUM_TEXT_BYTES_MAX: u64 = 16_777_215;
/// Most bytes of text that functions put together.
const BUILT_TEXT_BYTES_MAX: u64 = 16_777_216;
/// Characters that MySQL declares for a date or time as text.
const MOMENT_CHARACTERS: u32 = 29;
/// Characters of JSON as text.
const JSON_CHARACTERS: u32 = u32::MAX / 4;
/// Display length of a DOUBLE without decimals.
const DOUBLE_DIGITS: u32 = 17;
/// Display length of a DOUBLE without a fixed scale.
const DOUBLE_LENGTH: u32 = 23;
/// Characters that the text of one has at most.
const DOUBLE_CHARACTERS: u32 = 22;

/// Display length of an integer in a user variable.
const VARIABLE_INTEGER_LENGTH: u32 = 21;
/// Characters that text in a user variable has at most.
const VARIABLE_TEXT_CHARACTERS: u32 = 16_777_215;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultType {
    /// Kind, sign, length, scale, collation.
    pub column_type: ColumnType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// How strongly its collation holds.
    pub coercibility: Coercibility,
    /// Whether a constant of the type, 0 or 1, is a truth value: TRUE, FALSE, and what a condition was folded to. In a document it is
    /// `true` or `false`.
    pub is_truth: bool,
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
    /// JSON.
    Json,
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
        TypeKind::Json => TypeClass::Json,
        _ => TypeClass::Text,
    }
}

impl ResultType {
    /// The type of a NULL literal.
    pub fn null() -> ResultType {
        ResultType {
            column_type: ColumnType { length: Some(0), ..ColumnType::new(TypeKind::Null) },
            nullable: true,
            coercibility: Coercibility::Ignorable,
            is_truth: false,
        }
    }

    /// The type of a decimal literal: the digits that it is written with.
    pub fn of_decimal(number: &Decimal) -> ResultType {
        let scale = number.scale();
        ResultType::decimal(number.integer_digits().max(1) + u32::from(scale), scale)
    }

    /// BIGINT that shows at most `length` characters, its sign included.
    pub fn integer(length: u32) -> ResultType {
        ResultType::numeric(ColumnType { length: Some(length), ..ColumnType::new(TypeKind::BigInt) })
    }

    /// BIGINT UNSIGNED.
    pub fn unsigned(length: u32) -> ResultType {
        let column_type =
            ColumnType { length: Some(length), unsigned: true, ..ColumnType::new(TypeKind::BigInt) };
        ResultType::numeric(column_type)
    }

    /// The result of a predicate: an integer of one character.
    pub fn boolean() -> ResultType {
        ResultType { is_truth: true, ..ResultType::integer(1) }
    }

    /// DECIMAL(precision, scale).
    pub fn decimal(precision: u32, scale: u8) -> ResultType {
        let column_type = ColumnType {
            length: Some(precision.clamp(1, 65)),
            decimals: Some(scale.min(30)),
            ..ColumnType::new(TypeKind::Decimal)
        };
        ResultType::numeric(column_type)
    }

    /// The DECIMAL with most digits.
    pub fn longest_decimal() -> ResultType {
        ResultType::decimal(65, 30)
    }

    /// DOUBLE.
    pub fn double() -> ResultType {
        ResultType::numeric(ColumnType { length: Some(DOUBLE_LENGTH), ..ColumnType::new(TypeKind::Double) })
    }

    /// DOUBLE that shows at most `length` characters, `decimals` of them after the point; any number of decimals
    /// where that is 31.
    pub fn double_of(length: u32, decimals: u8) -> ResultType {
        if decimals >= 31 {
            return ResultType::double();
        }
        let column_type = ColumnType {
            length: Some(length),
            decimals: Some(decimals),
            ..ColumnType::new(TypeKind::Double)
        };
        ResultType::numeric(column_type)
    }

    /// DOUBLE with so many decimals, and as many digits before them as it can have.
    pub fn scaled_double(decimals: u8) -> ResultType {
        ResultType::double_of(DOUBLE_DIGITS + u32::from(decimals), decimals)
    }

    /// JSON that a function makes.
    pub fn json() -> ResultType {
        let column_type =
            ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Json) };
        ResultType { column_type, nullable: false, coercibility: Coercibility::Implicit, is_truth: false }
    }

    /// The text of JSON.
    pub fn json_text() -> ResultType {
        let column_type = ColumnType::text(TypeKind::LongText, CollationId::UTF8MB4_BIN);
        let column_type = ColumnType { length: Some(JSON_CHARACTERS), ..column_type };
        ResultType { column_type, nullable: false, coercibility: Coercibility::Implicit, is_truth: false }
    }

    /// DATE.
    pub fn date() -> ResultType {
        ResultType::numeric(ColumnType::new(TypeKind::Date))
    }

    /// DATETIME with fractional digits.
    pub fn datetime(digits: u8) -> ResultType {
        ResultType::numeric(ColumnType { decimals: Some(digits), ..ColumnType::new(TypeKind::DateTime) })
    }

    /// TIME with fractional digits.
    pub fn time(digits: u8) -> ResultType {
        ResultType::numeric(ColumnType { decimals: Some(digits), ..ColumnType::new(TypeKind::Time) })
    }

    /// VARCHAR of at most `characters` in a collation; MEDIUMTEXT or LONGTEXT when its bytes may be more than a
    /// VARCHAR holds.
    pub fn text(characters: u32, collation: CollationId, coercibility: Coercibility) -> ResultType {
        let binary = collation == CollationId::BINARY;
        let bytes = u64::from(characters) * u64::from(collation.charset().max_bytes);
        let kind = match (bytes, binary) {
            (..=VARCHAR_BYTES_MAX, false) => TypeKind::VarChar,
            (..=VARCHAR_BYTES_MAX, true) => TypeKind::VarBinary,
            (..=MEDIUM_TEXT_BYTES_MAX, false) => TypeKind::MediumText,
            (..=MEDIUM_TEXT_BYTES_MAX, true) => TypeKind::MediumBlob,
            (_, false) => TypeKind::LongText,
            (_, true) => TypeKind::LongBlob,
        };
        let column_type = ColumnType { length: Some(characters), collation, ..ColumnType::new(kind) };
        ResultType { column_type, nullable: false, coercibility, is_truth: false }
    }

    /// Text that a function puts together: as [`ResultType::text`], but no longer than MySQL lets a function's text be.
    pub fn built_text(characters: u64, collation: CollationId, coercibility: Coercibility) -> ResultType {
        let most = BUILT_TEXT_BYTES_MAX / u64::from(collation.charset().max_bytes);
        ResultType::text(characters.min(most) as u32, collation, coercibility)
    }

    /// Whether text of the type is as long as [`ResultType::built_text`] lets it be.
    pub fn is_longest(column_type: &ColumnType) -> bool {
        let most = BUILT_TEXT_BYTES_MAX / u64::from(column_type.collation.charset().max_bytes);
        column_type.length.is_some_and(|characters| u64::from(characters) >= most)
    }

    /// A date or time as text, where the row tells which: CHAR of the longest form.
    pub fn moment_text(collation: CollationId) -> ResultType {
        let column_type = ColumnType::char(MOMENT_CHARACTERS, collation);
        ResultType { column_type, nullable: false, coercibility: Coercibility::Coercible, is_truth: false }
    }

    /// VARBINARY of at most `bytes`.
    pub fn binary(bytes: u32) -> ResultType {
        ResultType::text(bytes, CollationId::BINARY, Coercibility::Coercible)
    }

    /// The type of a column.
    pub fn column(column_type: ColumnType, nullable: bool) -> ResultType {
        let coercibility = match class_of(column_type.kind) {
            TypeClass::Text | TypeClass::Json => Coercibility::Implicit,
            _ => Coercibility::Numeric,
        };
        ResultType { column_type, nullable, coercibility, is_truth: false }
    }

    /// The type of a user variable: as wide as its kind can be, because another statement may set it anew.
    pub fn user_variable(held: ColumnType) -> ResultType {
        match class_of(held.kind) {
            TypeClass::Null => ResultType::binary(VARIABLE_TEXT_CHARACTERS),
            TypeClass::Integer if held.is_unsigned_integer() => ResultType::unsigned(VARIABLE_INTEGER_LENGTH),
            TypeClass::Integer => ResultType::integer(VARIABLE_INTEGER_LENGTH),
            TypeClass::Decimal => ResultType::longest_decimal(),
            TypeClass::Double => ResultType::double(),
            TypeClass::Text if held.kind.is_string() => {
                ResultType::text(VARIABLE_TEXT_CHARACTERS, held.collation, Coercibility::Implicit)
            }
            _ => ResultType::column(held, true),
        }
    }

    fn numeric(column_type: ColumnType) -> ResultType {
        ResultType { column_type, nullable: false, coercibility: Coercibility::Numeric, is_truth: false }
    }

    /// The text that values of an ENUM or SET are, as CHAR.
    pub fn members_as_text(&self) -> ResultType {
        let column_type = ColumnType::char(self.text_length(), self.collation());
        ResultType { column_type, ..self.clone() }
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
            TypeClass::Text if self.is_number_bytes() => 0,
            TypeClass::Text | TypeClass::Json => 31,
            _ => self.column_type.decimals.unwrap_or(0),
        }
    }

    /// Digits before the point that this type can have.
    pub fn integer_digits(&self) -> u32 {
        match self.kind() {
            TypeKind::Decimal => self.column_type.precision().saturating_sub(u32::from(self.scale().min(30))),
            kind if kind.is_integer() || kind == TypeKind::Year => {
                let sign = !self.column_type.is_unsigned_integer();
                self.text_length().saturating_sub(u32::from(sign)).clamp(1, 65)
            }
            TypeKind::Bit => self.column_type.bits(),
            TypeKind::Date => 8,
            TypeKind::DateTime | TypeKind::Timestamp => 14,
            TypeKind::Time => 7,
            TypeKind::Null => 0,
            _ if self.is_number_bytes() => number_digits(self.text_length()),
            _ => 20,
        }
    }

    /// Whether these are the bytes of a literal such as `x'41'`.
    pub fn is_number_bytes(&self) -> bool {
        self.column_type.is_number_bytes()
    }

    /// The greatest number of characters that the value has as text.
    pub fn text_length(&self) -> u32 {
        let column_type = &self.column_type;
        match self.kind() {
            // A display width that only pads says nothing of the value.
            kind if kind.is_integer() && (column_type.zerofill || kind == TypeKind::TinyInt) => {
                let plain = ColumnType { length: None, zerofill: false, ..column_type.clone() };
                plain.display_characters()
            }
            kind if kind.is_large_object() => {
                column_type.length.or(kind.large_object_bytes_max()).unwrap_or(u32::MAX)
            }
            TypeKind::Json => JSON_CHARACTERS,
            TypeKind::Double if column_type.length.is_none() || column_type.decimals.is_none() => {
                DOUBLE_CHARACTERS
            }
            TypeKind::Float if column_type.decimals.is_none() => 12,
            _ => column_type.display_characters(),
        }
    }
}

impl ResultType {
    /// The same where a written floating point number counts as long as it is written.
    pub fn written_byte_length(&self) -> u32 {
        match self.column_type.length {
            Some(written) if self.kind() == TypeKind::Double && self.column_type.decimals.is_none() => {
                written.min(DOUBLE_CHARACTERS)
            }
            _ => self.byte_length(),
        }
    }

    /// The greatest number of bytes that the value has as text.
    pub fn byte_length(&self) -> u32 {
        let width = match self.class() {
            TypeClass::Text => u32::from(self.collation().charset().max_bytes),
            _ => 1,
        };
        self.text_length().saturating_mul(width)
    }
}

/// Digits of the greatest unsigned number of so many bytes.
fn number_digits(bytes: u32) -> u32 {
    match bytes {
        0 => 1,
        bytes @ 1..8 => (u64::MAX >> (64 - 8 * bytes)).ilog10() + 1,
        _ => 20,
    }
}
