//! The text of a key in error 1062. Main function: [`key_text`].

use charset::CollationId;
use dictionary::{ColumnDefinition, IndexDefinition};
use expression::TimeZone;
use values::{TypeKind, Value};

/// A stored value as expressions see it: TIMESTAMP in the zone.
pub fn in_zone(value: Value, column: &ColumnDefinition, time_zone: &TimeZone) -> Value {
    match value {
        Value::DateTime(utc) if column.column_type.kind == TypeKind::Timestamp => {
            Value::DateTime(time_zone.utc_to_local(utc))
        }
        other => other,
    }
}

/// The text of a key in error 1062: the parts joined by '-'. `value_of` gives the stored values of columns.
pub fn key_text(
    index: &IndexDefinition,
    columns: &[ColumnDefinition],
    value_of: impl Fn(usize) -> Value,
    time_zone: &TimeZone,
) -> String {
    let mut parts = Vec::with_capacity(index.parts.len());
    for part in &index.parts {
        let column = &columns[part.column];
        let seen = in_zone(value_of(part.column), column, time_zone);
        let connection = CollationId::UTF8MB4_0900_AI_CI;
        parts.push(match expression::convert::value_text(seen.as_ref(), &column.column_type, connection) {
            None => "NULL".to_owned(),
            Some(bytes) if column.element_type().is_some() => shown_array(&bytes, column),
            Some(bytes) => {
                let kept = match part.prefix_length {
                    Some(length) => {
                        expression::text::prefix_bytes(&bytes, length as usize, column.column_type.collation)
                    }
                    None => bytes.len(),
                };
                if column.column_type.kind.is_binary() || column.column_type.kind == TypeKind::Bit {
                    shown_binary(&bytes[..kept])
                } else {
                    expression::text::to_utf8(&bytes[..kept], column.column_type.collation)
                }
            }
        });
    }
    let text = parts.join("-");
    text.chars().take(64 * 4).collect()
}

/// The array of a multi-valued part in a message. As MySQL: of one with small elements no more bytes than an element takes.
fn shown_array(text: &[u8], column: &ColumnDefinition) -> String {
    let bytes = column.element_type().map_or(u32::MAX, |element_type| match element_type.length {
        Some(length) if element_type.kind.is_string() => {
            length * u32::from(element_type.collation.charset().max_bytes)
        }
        _ => element_type.row_bytes(),
    });
    let is_cut = bytes < column.column_type.row_bytes();
    let kept = if is_cut { text.len().min(bytes as usize) } else { text.len() };
    String::from_utf8_lossy(&text[..kept]).into_owned()
}

/// Binary text in a message: what is not printable ASCII as `\xHH`.
fn shown_binary(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut shown, byte| {
        if byte.is_ascii_graphic() || *byte == b' ' {
            shown.push(char::from(*byte));
        } else {
            shown.push_str(&format!("\\x{byte:02X}"));
        }
        shown
    })
}
