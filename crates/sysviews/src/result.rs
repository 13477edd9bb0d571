//! Result sets that are made here: descriptions of columns, and values.

use charset::CollationId;
use values::{ColumnType, TypeKind, Value};
use wire::result::ResultColumn;

/// NOT_NULL_FLAG of the protocol.
const NOT_NULL: u16 = 1;

/// A text column of up to `characters` characters.
pub fn text_column(name: &str, characters: u32) -> ResultColumn {
    let mut column_type = ColumnType::new(TypeKind::VarChar);
    column_type.length = Some(characters);
    column_type.collation = CollationId::UTF8MB3_GENERAL_CI;
    column(name, column_type)
}

/// A text column that compares byte by byte, as names in the dictionary do.
pub fn bytewise_column(name: &str, characters: u32) -> ResultColumn {
    let mut column = text_column(name, characters);
    column.column_type.collation = CollationId::UTF8MB3_BIN;
    column
}

/// The same column as values that the statement computes, not a column of a table.
pub fn computed(mut column: ResultColumn) -> ResultColumn {
    column.computed = true;
    column
}

/// A computed text column, never NULL.
pub fn line_column(name: &str, characters: u32) -> ResultColumn {
    not_null(computed(text_column(name, characters)))
}

/// A column of numbers, of which the client is told how many characters they have at most.
pub fn sized_column(name: &str, kind: TypeKind, unsigned: bool, characters: u32) -> ResultColumn {
    let column_type = ColumnType { length: Some(characters), ..ColumnType::integer(kind, unsigned) };
    column(name, column_type)
}

/// A BIGINT column.
pub fn number_column(name: &str) -> ResultColumn {
    column(name, ColumnType::big_int())
}

/// A column of that type.
pub fn column(name: &str, column_type: ColumnType) -> ResultColumn {
    ResultColumn::named(name, column_type)
}

/// The same column, declared NOT NULL.
pub fn not_null(mut column: ResultColumn) -> ResultColumn {
    column.flags |= NOT_NULL;
    column
}

/// Text as a value.
pub fn text(value: impl Into<String>) -> Value {
    Value::Bytes(value.into().into_bytes())
}

/// Text or NULL.
pub fn optional_text(value: Option<impl Into<String>>) -> Value {
    value.map_or(Value::Null, text)
}
