//! Payloads of OK, EOF, error and column definition packets.

use crate::capabilities::{client, status};
use crate::output::{push_length_encoded_bytes, push_length_encoded_integer};
use crate::result::{ResultColumn, SessionChange, StatementEnd};
use crate::type_code;
use charset::CollationId;
use errors::SqlError;

/// First byte of an OK packet.
pub const OK: u8 = 0x00;
/// First byte of an EOF packet, and of the OK packet that replaces it.
pub const EOF: u8 = 0xFE;
/// First byte of an error packet.
pub const ERROR: u8 = 0xFF;
/// First byte of the request for a file.
pub const LOCAL_INFILE: u8 = 0xFB;
/// Longest message of an error packet, as in MySQL.
const MESSAGE_BYTES_MAX: usize = 512;

/// An OK packet; `header` is [`OK`], or [`EOF`] at the end of a result set of a DEPRECATE_EOF connection.
pub fn push_ok(out: &mut Vec<u8>, header: u8, end: &StatementEnd, capabilities: u32) {
    let tracks = capabilities & client::SESSION_TRACK != 0;
    let changed = tracks && !end.session_changes.is_empty();
    let mut server_status = end.server_status;
    if changed {
        server_status |= status::SESSION_STATE_CHANGED;
    }
    out.push(header);
    push_length_encoded_integer(out, end.affected_rows);
    push_length_encoded_integer(out, end.last_insert_id);
    out.extend_from_slice(&server_status.to_le_bytes());
    out.extend_from_slice(&end.warnings.to_le_bytes());
    if changed || !end.info.is_empty() {
        push_length_encoded_bytes(out, end.info.as_bytes());
    }
    if changed {
        let mut changes = Vec::new();
        end.session_changes.iter().for_each(|change| push_session_change(&mut changes, change));
        push_length_encoded_bytes(out, &changes);
    }
}

fn push_session_change(out: &mut Vec<u8>, change: &SessionChange) {
    let mut data = Vec::new();
    let kind = match change {
        SessionChange::SystemVariable { name, value } => {
            push_length_encoded_bytes(&mut data, name.as_bytes());
            push_length_encoded_bytes(&mut data, value.as_bytes());
            0
        }
        SessionChange::Schema(schema) => {
            push_length_encoded_bytes(&mut data, schema.as_bytes());
            1
        }
        SessionChange::State => {
            // A flag, without a length of its own.
            data.push(b'1');
            2
        }
        SessionChange::TransactionCharacteristics(text) => {
            push_length_encoded_bytes(&mut data, text.as_bytes());
            4
        }
        SessionChange::TransactionState(text) => {
            push_length_encoded_bytes(&mut data, text.as_bytes());
            5
        }
    };
    out.push(kind);
    push_length_encoded_bytes(out, &data);
}

/// An EOF packet.
pub fn push_eof(out: &mut Vec<u8>, warnings: u16, server_status: u16) {
    out.push(EOF);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&server_status.to_le_bytes());
}

/// An error packet. Before the client's first packet there is no SQLSTATE (`capabilities` 0).
pub fn push_error(out: &mut Vec<u8>, error: &SqlError, capabilities: u32) {
    let message = error.message();
    let length = (0..=message.len().min(MESSAGE_BYTES_MAX)).rev().find(|at| message.is_char_boundary(*at));
    push_error_text(out, error, &message.as_bytes()[..length.unwrap_or(0)], capabilities);
}

/// As [`push_error`], with the text in the character set of `results`.
pub fn push_error_in(out: &mut Vec<u8>, error: &SqlError, results: CollationId, capabilities: u32) {
    let charset = results.charset();
    let stays = results == CollationId::BINARY
        || charset.name.starts_with("utf8")
        || (charset.is_ascii_based() && error.message().is_ascii());
    if stays {
        return push_error(out, error, capabilities);
    }
    let mut text = Vec::new();
    for character in error.message().chars() {
        let mut utf8 = [0; 4];
        let converted = charset.from_str(character.encode_utf8(&mut utf8));
        if text.len() + converted.text.len() > MESSAGE_BYTES_MAX {
            break;
        }
        // As MySQL shows what the character set lacks: its code point, while that has four digits.
        match u32::from(character) {
            code @ 0..=0xFFFF if converted.first_error.is_some() => {
                text.extend_from_slice(&charset.from_str(&format!("\\{code:04X}")).text);
            }
            _ => text.extend_from_slice(&converted.text),
        }
    }
    push_error_text(out, error, &text, capabilities);
}

fn push_error_text(out: &mut Vec<u8>, error: &SqlError, text: &[u8], capabilities: u32) {
    out.push(ERROR);
    out.extend_from_slice(&error.number().to_le_bytes());
    if capabilities & client::PROTOCOL_41 != 0 {
        out.push(b'#');
        // Always five characters, or the client would cut the message.
        let state = error.state().as_bytes();
        out.extend((0..5).map(|at| state.get(at).copied().unwrap_or(b'0')));
    }
    out.extend_from_slice(text);
}

/// A name in the character set of results.
fn push_name(out: &mut Vec<u8>, name: &str, results: CollationId) {
    if name.is_ascii() && results.charset().is_ascii_based() || results == CollationId::BINARY {
        return push_length_encoded_bytes(out, name.as_bytes());
    }
    push_length_encoded_bytes(out, &results.charset().from_str(name).text);
}

/// Protocol::ColumnDefinition41. `default` is the column's default for COM_FIELD_LIST.
pub fn push_column(out: &mut Vec<u8>, column: &ResultColumn, results: CollationId) {
    let column_type = &column.column_type;
    // JSON that a function makes says that it is text.
    let is_made = column.computed && column_type.kind == values::TypeKind::Json;
    let text = type_code::is_text(column_type) || is_made;
    let collation = match (text, results) {
        (false, _) => CollationId::BINARY,
        (true, CollationId::BINARY) => column_type.collation,
        (true, results) => results,
    };
    push_length_encoded_bytes(out, b"def");
    for name in [&column.schema, &column.table, &column.original_table, &column.name, &column.original_name] {
        push_name(out, name, results);
    }
    out.push(0x0C);
    out.extend_from_slice(&collation.0.to_le_bytes());
    let (length, code, flags, decimals) = if column.computed {
        let length = column_type.computed_length(collation);
        let flags = column_type.computed_flags();
        (length, column_type.computed_code(), flags, column_type.computed_decimals())
    } else {
        let length = column_type.protocol_length(collation);
        let flags = column_type.protocol_flags();
        (length, column_type.protocol_code(), flags, column_type.protocol_decimals())
    };
    out.extend_from_slice(&length.to_le_bytes());
    out.push(code);
    out.extend_from_slice(&(column.flags | flags).to_le_bytes());
    out.push(decimals);
    out.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_with_and_without_session_tracking() {
        let end = StatementEnd {
            affected_rows: 1,
            server_status: 2,
            session_changes: vec![SessionChange::Schema("shop".to_owned())],
            ..StatementEnd::default()
        };
        let mut out = Vec::new();
        push_ok(&mut out, OK, &end, 0);
        assert_eq!(out, [0, 1, 0, 2, 0, 0, 0]);
        out.clear();
        push_ok(&mut out, OK, &end, client::SESSION_TRACK);
        assert_eq!(out, b"\0\x01\0\x02\x40\0\0\0\x07\x01\x05\x04shop");
        out.clear();
        let end = StatementEnd { session_changes: vec![SessionChange::State], ..end };
        push_ok(&mut out, OK, &end, client::SESSION_TRACK);
        assert_eq!(out, b"\0\x01\0\x02\x40\0\0\0\x03\x02\x011", "as MySQL sends it");
    }

    #[test]
    fn error_message_is_cut_at_a_character() {
        let error = SqlError::new(1064, "42000", "é".repeat(400));
        let mut out = Vec::new();
        push_error(&mut out, &error, client::PROTOCOL_41);
        assert!(out.starts_with(b"\xff\x28\x04#42000"));
        assert_eq!(std::str::from_utf8(&out[9..]).unwrap().chars().count(), 256);
    }
}
