//! Every type in both protocols, against bytes written out by hand, and against the parameter reader.

use super::*;
use crate::parameter::{ParameterType, read_value};
use crate::reader::Reader;
use values::Value;
use values::json::Unwatched;
use values::{ColumnType, Decimal, RowRef};

fn column(column_type: ColumnType) -> ResultColumn {
    ResultColumn::named("c", column_type)
}

fn text(column_type: ColumnType, value: Value) -> Vec<u8> {
    let mut out = Vec::new();
    RowWriter::new(&[column(column_type)], CollationId::UTF8MB4_GENERAL_CI)
        .push_text(&mut out, RowRef::Values(&[value]), &Unwatched)
        .unwrap();
    out
}

fn check_text(column_type: ColumnType, value: Value, expected: &str) {
    let out = text(column_type, value);
    let mut reader = Reader::new(&out);
    assert_eq!(reader.length_encoded_bytes().map(String::from_utf8_lossy), Ok(expected.into()));
    assert!(reader.is_empty());
}

fn temporal(kind: TypeKind, digits: u8) -> ColumnType {
    ColumnType { decimals: Some(digits), ..ColumnType::new(kind) }
}

const DATE: Date = Date { year: 2026, month: 11, day: 21 };
const DATE_TIME: DateTime = DateTime { date: DATE, hour: 1, minute: 2, second: 3, microsecond: 450_000 };

#[test]
fn text_of_every_type() {
    let int = ColumnType::new(TypeKind::Int);
    check_text(int.clone(), Value::Int(-42), "-42");
    let zerofill = ColumnType { zerofill: true, unsigned: true, length: Some(5), ..int };
    check_text(zerofill, Value::UInt(42), "00042");
    check_text(ColumnType::new(TypeKind::BigInt), Value::UInt(u64::MAX), "18446744073709551615");
    check_text(ColumnType::decimal(10, 3), Value::Decimal(Decimal::parse(b"-1.500").number), "-1.500");
    check_text(ColumnType::double(), Value::Double(0.1), "0.1");
    check_text(ColumnType::new(TypeKind::Float), Value::Float(0.1), "0.1");
    check_text(ColumnType::bit(9), Value::UInt(1), "\0\x01");
    check_text(ColumnType::new(TypeKind::Year), Value::UInt(0), "0000");
    check_text(ColumnType::new(TypeKind::Year), Value::UInt(1999), "1999");
    check_text(ColumnType::new(TypeKind::Date), Value::Date(DATE), "2026-11-21");
    check_text(temporal(TypeKind::DateTime, 2), Value::DateTime(DATE_TIME), "2026-11-21 01:02:03.45");
    let members = vec![b"small".to_vec(), b"big".to_vec()];
    let collation = CollationId::UTF8MB4_GENERAL_CI;
    check_text(ColumnType::enumeration(members.clone(), collation), Value::UInt(2), "big");
    check_text(ColumnType::enumeration(members.clone(), collation), Value::UInt(0), "");
    check_text(ColumnType::enumeration(members.clone(), collation), Value::UInt(9), "");
    check_text(ColumnType::set(members, collation), Value::UInt(3), "small,big");
    assert_eq!(text(ColumnType::double(), Value::Null), [NULL]);
    let long = "x".repeat(70_000);
    check_text(ColumnType::varchar(70_000, collation), Value::Bytes(long.clone().into_bytes()), &long);
}

#[test]
fn text_is_converted_to_the_result_character_set() {
    let latin1 = ColumnType::varchar(10, CollationId::LATIN1_SWEDISH_CI);
    check_text(latin1.clone(), Value::Bytes(b"caf\xe9".to_vec()), "café");
    let mut out = Vec::new();
    let bytes = Value::Bytes(b"caf\xe9".to_vec());
    RowWriter::new(&[column(latin1)], CollationId::BINARY)
        .push_text(&mut out, RowRef::Values(&[bytes]), &Unwatched)
        .unwrap();
    assert_eq!(out, b"\x04caf\xe9");
    let mut out = Vec::new();
    let utf8 = ColumnType::varchar(10, CollationId::UTF8MB4_BIN);
    let bytes = Value::Bytes("é海".as_bytes().to_vec());
    RowWriter::new(&[column(utf8)], CollationId::LATIN1_SWEDISH_CI)
        .push_text(&mut out, RowRef::Values(&[bytes]), &Unwatched)
        .unwrap();
    assert_eq!(out, b"\x02\xe9?");
}

/// What the server writes in binary rows is what it reads as parameters.
fn check_binary(column_type: ColumnType, unsigned: bool, value: Value) {
    let code = column_type.protocol_code();
    let mut out = Vec::new();
    let null = column(ColumnType::double());
    let writer = RowWriter::new(&[null, column(column_type)], CollationId::UTF8MB4_GENERAL_CI);
    writer.push_binary(&mut out, RowRef::Values(&[Value::Null, value.clone()]), &Unwatched).unwrap();
    assert_eq!(out[..2], [0, 4]);
    let mut reader = Reader::new(&out[2..]);
    assert_eq!(read_value(&mut reader, ParameterType { code, unsigned }), Ok(value));
    assert!(reader.is_empty());
}

#[test]
fn binary_of_every_type() {
    for kind in [TypeKind::TinyInt, TypeKind::SmallInt, TypeKind::MediumInt, TypeKind::Int, TypeKind::BigInt]
    {
        check_binary(ColumnType::new(kind), false, Value::Int(-5));
        check_binary(ColumnType::new(kind), true, Value::UInt(200));
    }
    check_binary(ColumnType::new(TypeKind::Year), true, Value::UInt(2026));
    check_binary(ColumnType::new(TypeKind::Float), false, Value::Float(1.25));
    check_binary(ColumnType::double(), false, Value::Double(-1e300));
    check_binary(ColumnType::decimal(10, 3), false, Value::Decimal(Decimal::parse(b"-1.500").number));
    check_binary(ColumnType::varbinary(10), false, Value::Bytes(b"\0\xff".to_vec()));
    check_binary(ColumnType::bit(9), false, Value::Bytes(vec![1, 2]));
    check_binary(ColumnType::new(TypeKind::Date), false, Value::Date(DATE));
    check_binary(ColumnType::new(TypeKind::Date), false, Value::Date(Date::default()));
    for value in [
        DATE_TIME,
        DateTime { microsecond: 0, ..DATE_TIME },
        DateTime { date: DATE, ..DateTime::default() },
        DateTime::default(),
        DateTime { microsecond: 7, ..DateTime::default() },
    ] {
        check_binary(temporal(TypeKind::DateTime, 6), false, Value::DateTime(value));
    }
    for value in [
        Time { negative: true, hours: 838, minutes: 59, seconds: 59, microseconds: 0 },
        Time { negative: false, hours: 1, minutes: 0, seconds: 0, microseconds: 5 },
        Time::default(),
    ] {
        check_binary(temporal(TypeKind::Time, 6), false, Value::Time(value));
    }
}
