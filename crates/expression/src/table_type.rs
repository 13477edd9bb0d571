//! The column type that a table gets which is made of a query's result: CREATE TABLE .. SELECT, and temporary
//! tables for derived tables, GROUP BY and DISTINCT. It depends on where the value comes from, because MySQL
//! stores what a function computes in fewer kinds than columns have. Main function: [`table_type`].

use crate::result_type::ResultType;
use charset::CollationId;
use values::{ColumnType, Members, TypeKind};

/// Where the values of a result column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// A column of a table.
    Column,
    /// A literal.
    Literal,
    /// A function or an operator.
    Function,
    /// An aggregate function.
    Aggregate,
    /// Something that has a column's type without being one: IFNULL.
    Typed,
    /// The operands of a set operation. Their type is a column's too, but as small as holds the longest text.
    SetOperation,
}

/// Which table is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablePurpose {
    /// CREATE TABLE .. SELECT.
    Created,
    /// A temporary table of one statement.
    Temporary,
}

/// Characters of a text beyond which it is stored as a large object.
pub const LARGE_TEXT_CHARACTERS: u32 = 512;
/// Display length of a stored DOUBLE with a fixed scale that a function computes.
const STORED_DOUBLE_LENGTH: u32 = 22;

/// The type of the column that keeps values of that type.
pub fn table_type(result: &ResultType, source: ValueSource, purpose: TablePurpose) -> ColumnType {
    let column_type = &result.column_type;
    let copied = source == ValueSource::Column;
    match result.kind() {
        TypeKind::Null => ColumnType { length: Some(0), ..ColumnType::new(TypeKind::VarBinary) },
        _ if copied && purpose == TablePurpose::Temporary => column_type.clone(),
        // The length that a temporary table shows of a large object is none of its kind.
        kind if copied && kind.is_large_object() => ColumnType { length: None, ..column_type.clone() },
        kind if copied && !kind.is_integer() => column_type.clone(),
        kind if kind.is_integer() || matches!(kind, TypeKind::Year | TypeKind::Bit) => {
            integer_type(result, source, purpose)
        }
        TypeKind::Float | TypeKind::Double => match (column_type.decimals, source) {
            (None, _) if purpose == TablePurpose::Created => ColumnType::new(result.kind()),
            (Some(_), ValueSource::Function) if purpose == TablePurpose::Created => {
                ColumnType { length: Some(STORED_DOUBLE_LENGTH), ..column_type.clone() }
            }
            _ => column_type.clone(),
        },
        TypeKind::Time => ColumnType { length: None, ..column_type.clone() },
        TypeKind::Decimal => ColumnType { length: Some(column_type.precision()), ..column_type.clone() },
        kind if kind.is_string() || kind.has_members() => {
            let mut made = text_type(result, source);
            if purpose == TablePurpose::Temporary {
                made.length = match source {
                    // The characters of GROUP_CONCAT are given as if each took all bytes that one may.
                    ValueSource::Aggregate if is_longest_kind(result) => {
                        Some(result.text_length() / u32::from(result.collation().charset().max_bytes))
                    }
                    ValueSource::Aggregate => made.length,
                    _ => Some(result.text_length()),
                };
            }
            made
        }
        _ => column_type.clone(),
    }
}

/// Integers that are computed become INT or BIGINT by their length.
fn integer_type(result: &ResultType, source: ValueSource, purpose: TablePurpose) -> ColumnType {
    let column_type = &result.column_type;
    let longest_int = match (source, purpose) {
        (ValueSource::Column, _) => {
            // The length that an aggregate or a merge gave is no display width.
            let shown = column_type.zerofill
                || column_type.kind == TypeKind::TinyInt && column_type.length == Some(1);
            let shown = shown || matches!(column_type.kind, TypeKind::Bit | TypeKind::Year);
            let length = column_type.length.filter(|_| shown);
            return ColumnType { length, ..column_type.clone() };
        }
        (ValueSource::Typed | ValueSource::SetOperation, _) => {
            let shown = column_type.kind == TypeKind::Bit || purpose == TablePurpose::Temporary;
            let length = column_type.length.filter(|_| shown);
            return ColumnType { length, zerofill: false, ..column_type.clone() };
        }
        (ValueSource::Function, TablePurpose::Created) => 11,
        (ValueSource::Aggregate, _) => 0,
        _ => 9,
    };
    if column_type.kind == TypeKind::Bit
        && purpose == TablePurpose::Temporary
        && source == ValueSource::Function
    {
        return column_type.clone();
    }
    if column_type.kind == TypeKind::Year
        && purpose == TablePurpose::Created
        && matches!(source, ValueSource::Function | ValueSource::Literal)
    {
        return ColumnType { zerofill: false, ..column_type.clone() };
    }
    let kind = if result.text_length() <= longest_int { TypeKind::Int } else { TypeKind::BigInt };
    // A temporary table shows the length that the expression had.
    let length = (purpose == TablePurpose::Temporary).then(|| result.text_length());
    ColumnType { length, unsigned: column_type.is_unsigned_integer(), ..ColumnType::new(kind) }
}

fn is_longest_kind(result: &ResultType) -> bool {
    matches!(result.kind(), TypeKind::LongText | TypeKind::LongBlob)
}

/// The smallest kind whose values have so many bytes.
fn large_object_kind(bytes: u64, binary: bool) -> TypeKind {
    match (bytes, binary) {
        (..=0xff, false) => TypeKind::TinyText,
        (..=0xff, true) => TypeKind::TinyBlob,
        (..=0xffff, false) => TypeKind::Text,
        (..=0xffff, true) => TypeKind::Blob,
        (..=0xff_ffff, false) => TypeKind::MediumText,
        (..=0xff_ffff, true) => TypeKind::MediumBlob,
        (_, false) => TypeKind::LongText,
        (_, true) => TypeKind::LongBlob,
    }
}

fn text_type(result: &ResultType, source: ValueSource) -> ColumnType {
    let collation = result.collation();
    let binary = collation == CollationId::BINARY;
    let characters = result.text_length();
    let bytes = u64::from(characters) * u64::from(collation.charset().max_bytes);
    let kind = match result.kind() {
        kind if matches!(source, ValueSource::Typed | ValueSource::SetOperation)
            && !kind.is_large_object()
            && characters <= LARGE_TEXT_CHARACTERS =>
        {
            kind
        }
        _ if source == ValueSource::Aggregate && is_longest_kind(result) => {
            large_object_kind(u64::from(characters).max(256), binary)
        }
        kind if source == ValueSource::SetOperation
            && (kind.is_large_object() || characters > LARGE_TEXT_CHARACTERS) =>
        {
            large_object_kind(bytes, binary)
        }
        kind if kind.is_large_object() && (source != ValueSource::Aggregate || bytes > 0xffff) => {
            if binary {
                TypeKind::LongBlob
            } else {
                TypeKind::LongText
            }
        }
        _ if characters <= LARGE_TEXT_CHARACTERS && binary => TypeKind::VarBinary,
        _ if characters <= LARGE_TEXT_CHARACTERS => TypeKind::VarChar,
        _ if binary => TypeKind::Blob,
        _ => TypeKind::Text,
    };
    let length = (!kind.is_large_object()).then_some(characters);
    let members = if kind.has_members() { result.column_type.members.clone() } else { Members::default() };
    ColumnType { length, collation, members, ..ColumnType::new(kind) }
}
