//! Whole answers, byte by byte.

use super::*;
use crate::reader::Reader;
use values::RowRef;
use values::json::Unwatched;
use values::{ColumnType, TypeKind, Value};

fn column(name: &str) -> ResultColumn {
    ResultColumn { flags: 1, ..ResultColumn::named(name, ColumnType::new(TypeKind::BigInt)) }
}

/// First byte and length of each packet; checks that they are numbered from 1.
fn packets(encoder: &Encoder) -> Vec<(u8, usize)> {
    let mut reader = Reader::new(encoder.output.bytes());
    let mut list = Vec::new();
    while !reader.is_empty() {
        let length = reader.u24().unwrap() as usize;
        assert_eq!(reader.u8().unwrap(), list.len() as u8 + 1);
        list.push((reader.bytes(length).unwrap()[0], length));
    }
    list
}

fn answer(capabilities: u32, write: impl FnOnce(&mut Encoder)) -> Vec<(u8, usize)> {
    let mut encoder = Encoder::new(capabilities);
    encoder.begin_answer(1, false, 2);
    write(&mut encoder);
    packets(&encoder)
}

const RESULTS: CollationId = CollationId::UTF8MB4_GENERAL_CI;

#[test]
fn result_set_in_both_styles() {
    let write = |encoder: &mut Encoder| {
        encoder.columns(&[column("a")], RESULTS);
        encoder.row(RowRef::Values(&[Value::Int(7)]), &Unwatched).unwrap();
        encoder.end_rows(&StatementEnd::default());
    };
    let column_packet = (3, 23);
    let old = answer(0, write);
    assert_eq!(old, [(1, 1), column_packet, (0xFE, 5), (1, 2), (0xFE, 5)]);
    let new = answer(client::DEPRECATE_EOF, write);
    assert_eq!(new, [(1, 1), column_packet, (1, 2), (0xFE, 7)]);
}

#[test]
fn cursor_has_one_end() {
    let end = StatementEnd { server_status: status::CURSOR_EXISTS, ..StatementEnd::default() };
    let list = answer(0, |encoder| {
        encoder.columns(&[column("a")], RESULTS);
        encoder.end_rows(&end);
    });
    assert_eq!(list.len(), 3);
}

#[test]
fn error_in_the_middle_of_rows() {
    let list = answer(0, |encoder| {
        encoder.columns(&[column("a")], RESULTS);
        encoder.error(&errors::sql_error!(ER_QUERY_INTERRUPTED));
    });
    assert_eq!(list.iter().map(|packet| packet.0).collect::<Vec<_>>(), [1, 3, 0xFE, 0xFF]);
}

#[test]
fn prepared_statement() {
    let write = |encoder: &mut Encoder| encoder.prepared(1, &[column("?")], &[column("a")], 0, RESULTS);
    assert_eq!(answer(0, write).len(), 5);
    assert_eq!(answer(client::DEPRECATE_EOF, write).len(), 3);
}

#[test]
fn field_list() {
    let list = answer(0, |encoder| {
        encoder.field_list(&[(column("a"), None), (column("a"), Some(b"12".to_vec()))], RESULTS);
    });
    assert_eq!(list, [(3, 24), (3, 26), (0xFE, 5)]);
}

#[test]
fn error_texts_in_the_character_set_of_results() {
    let error = errors::sql_error!(ER_NO_SUCH_TABLE, "d", "é日🐬");
    let text = |results| {
        let mut encoder = Encoder::new(client::PROTOCOL_41);
        encoder.error_in(&error, results);
        let bytes = encoder.output.bytes()[4 + 9..].to_vec();
        bytes[b"Table 'd.".len()..bytes.len() - b"' doesn't exist".len()].to_vec()
    };
    assert_eq!(text(CollationId::LATIN1_SWEDISH_CI), b"\xE9\\65E5?");
    assert_eq!(text(CollationId::ASCII_GENERAL_CI), b"\\00E9\\65E5?");
    assert_eq!(text(CollationId::UTF8MB4_BIN), "é日🐬".as_bytes());
    assert_eq!(text(CollationId::BINARY), "é日🐬".as_bytes());
}
