//! Every combination of column type and literal in `recorded.tsv`, as MySQL 9.7.4 answered:
//! mode, column type, literal, stored value (or `error`), message or warnings.

use super::*;
use crate::decimal::Decimal as Exact;
use crate::temporal::{parse_date_time, parse_time};
use charset::CollationId;
use errors::{Diagnostics, SqlResult};
use proptest::prelude::*;

fn column_type(text: &str) -> ColumnType {
    use TypeKind::*;
    let utf8 = CollationId::UTF8MB4_0900_AI_CI;
    let members = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
    match text {
        "tinyint" => ColumnType::new(TinyInt),
        "tinyint unsigned" => ColumnType::integer(TinyInt, true),
        "int" => ColumnType::new(Int),
        "bigint" => ColumnType::big_int(),
        "bigint unsigned" => ColumnType::big_int_unsigned(),
        "decimal(5,2)" => ColumnType::decimal(5, 2),
        "decimal(5,2) unsigned" => ColumnType::decimal(5, 2).with_unsigned(),
        "float" => ColumnType::new(Float),
        "float(5,2)" => ColumnType { length: Some(5), decimals: Some(2), ..ColumnType::new(Float) },
        "double" => ColumnType::double(),
        "double unsigned" => ColumnType::double().with_unsigned(),
        "bit(4)" => ColumnType::bit(4),
        "bit(64)" => ColumnType::bit(64),
        "year" => ColumnType::new(Year),
        "char(3)" => ColumnType::char(3, utf8),
        "varchar(3)" => ColumnType::varchar(3, utf8),
        "varchar(3) character set latin1" => ColumnType::varchar(3, CollationId::LATIN1_SWEDISH_CI),
        "tinytext" => ColumnType::text(TinyText, utf8),
        "binary(3)" => ColumnType::binary(3),
        "varbinary(3)" => ColumnType::varbinary(3),
        "enum('a','b','10')" => ColumnType::enumeration(members(&["a", "b", "10"]), utf8),
        "set('x','y','z')" => ColumnType::set(members(&["x", "y", "z"]), utf8),
        "datetime" => ColumnType::temporal(DateTime, 0),
        "datetime(3)" => ColumnType::temporal(DateTime, 3),
        "date" => ColumnType::new(Date),
        "time" => ColumnType::temporal(Time, 0),
        "time(2)" => ColumnType::temporal(Time, 2),
        "timestamp" => ColumnType::temporal(Timestamp, 0),
        _ => panic!("unknown type {text}"),
    }
}

fn literal(text: &str) -> (Value, ColumnType) {
    let (prefix, quoted) =
        text.split_once('\'').map_or(("", None), |(prefix, rest)| (prefix, rest.strip_suffix('\'')));
    match (prefix, quoted) {
        ("", Some(text)) => {
            (Value::Bytes(text.into()), ColumnType::varchar(100, CollationId::UTF8MB4_0900_AI_CI))
        }
        ("x", Some(digits)) => {
            let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            let bytes = (0..digits.len()).step_by(2).map(byte).collect();
            (Value::Bytes(bytes), ColumnType { decimals: Some(0), ..ColumnType::varbinary(100) })
        }
        ("date", Some(text)) => {
            let parsed = parse_date_time(text.as_bytes(), DateRules::default()).unwrap();
            (Value::Date(parsed.value.date), ColumnType::new(TypeKind::Date))
        }
        ("timestamp", Some(text)) => {
            let parsed = parse_date_time(text.as_bytes(), DateRules::default()).unwrap();
            let digits = if text.contains('.') { 3 } else { 0 };
            (Value::DateTime(parsed.value), ColumnType::temporal(TypeKind::DateTime, digits))
        }
        ("time", Some(text)) => {
            let digits = if text.contains('.') { 3 } else { 0 };
            (
                Value::Time(parse_time(text.as_bytes()).unwrap().value),
                ColumnType::temporal(TypeKind::Time, digits),
            )
        }
        _ if text.contains('e') => (Value::Double(text.parse().unwrap()), ColumnType::double()),
        _ => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(number), _) => (Value::Int(number), ColumnType::big_int()),
            (_, Ok(number)) => (Value::UInt(number), ColumnType::big_int_unsigned()),
            _ => {
                let number = Exact::parse(text.as_bytes()).number;
                (Value::Decimal(number), ColumnType::decimal(number.precision(), number.scale()))
            }
        },
    }
}

fn mode(name: &str) -> StoreMode {
    let strict = name == "strict";
    StoreMode {
        strict,
        dates: DateRules { no_zero_date: strict, no_zero_in_date: strict, allow_invalid_dates: false },
        today: Date::new(2023, 11, 14),
        ..StoreMode::default()
    }
}

fn column_name(column_type: &str) -> &'static str {
    const NAMES: [(&str, &str); 28] = [
        ("tinyint", "ti"),
        ("tinyint unsigned", "tu"),
        ("int", "i"),
        ("bigint", "bi"),
        ("bigint unsigned", "bu"),
        ("decimal(5,2)", "d52"),
        ("decimal(5,2) unsigned", "du"),
        ("float", "f"),
        ("float(5,2)", "f52"),
        ("double", "db"),
        ("double unsigned", "dbu"),
        ("bit(4)", "b4"),
        ("bit(64)", "b64"),
        ("year", "y"),
        ("char(3)", "c3"),
        ("varchar(3)", "v3"),
        ("varchar(3) character set latin1", "l3"),
        ("tinytext", "tx"),
        ("binary(3)", "bn3"),
        ("varbinary(3)", "vb3"),
        ("enum('a','b','10')", "e"),
        ("set('x','y','z')", "st"),
        ("datetime", "dt"),
        ("datetime(3)", "dt3"),
        ("date", "da"),
        ("time", "t"),
        ("time(2)", "t2"),
        ("timestamp", "ts"),
    ];
    NAMES.iter().find(|pair| pair.0 == column_type).unwrap().1
}

/// What MySQL showed of the stored value: hexadecimal for strings, numbers for BIT, ENUM and SET.
fn shown(value: &Value, to: &ColumnType) -> String {
    match value {
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
        Value::UInt(number) if to.kind == TypeKind::Bit || to.kind.has_members() => number.to_string(),
        _ => {
            let mut text = Vec::new();
            crate::text::append_narrow_text(value.as_ref(), to, &mut text);
            String::from_utf8(text).unwrap()
        }
    }
}

fn answer(result: SqlResult<Value>, to: &ColumnType, diagnostics: &Diagnostics) -> (String, String) {
    match result {
        Err(error) => ("error".to_owned(), format!("{} {}", error.number(), error.message())),
        Ok(value) => {
            let conditions = diagnostics.conditions().iter();
            let texts =
                conditions.map(|c| format!("{} {} {}", c.level.name(), c.error.number(), c.error.message()));
            (shown(&value, to), texts.collect::<Vec<_>>().join("; "))
        }
    }
}

#[test]
fn columns_take_literals_as_mysqls_columns_do() {
    let mut differences = Vec::new();
    for line in include_str!("recorded.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [mode_name, type_name, text, stored, messages] = fields[..] else { panic!("bad line {line}") };
        let (value, from) = literal(text);
        let to = column_type(type_name);
        let mut diagnostics = Diagnostics::new(64);
        let column = column_name(type_name);
        let mut context = StoreContext {
            table: "t",
            mode: mode(mode_name),
            column,
            row: 1,
            source: Source::Expression,
            diagnostics: &mut diagnostics,
            documents: Documents::ANY,
        };
        // MySQL gives some warnings twice.
        let mut messages: Vec<&str> = messages.split("; ").collect();
        messages.dedup();
        let messages = messages.join("; ");
        let result = store(&value, &from, &to, &mut context);
        let found = answer(result, &to, &diagnostics);
        if found != (stored.to_owned(), messages.clone()) {
            differences
                .push(format!("{mode_name} {type_name} <- {text}\n  {found:?}\n  {stored:?} {messages:?}"));
        }
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

fn plain_target() -> impl Strategy<Value = ColumnType> {
    use TypeKind::*;
    let text = |collation| move |length| ColumnType::varchar(length, collation);
    prop_oneof![
        prop::sample::select(vec![TinyInt, SmallInt, MediumInt, Int, BigInt])
            .prop_flat_map(|kind| any::<bool>().prop_map(move |unsigned| ColumnType::integer(kind, unsigned))),
        (0u32..12).prop_map(text(CollationId::UTF8MB4_0900_AI_CI)),
        (0u32..12).prop_map(text(charset::collation_by_name("utf8mb3_bin").unwrap().id)),
        (0u32..12).prop_map(text(charset::collation_by_name("latin1_swedish_ci").unwrap().id)),
        (1u32..12).prop_map(|length| ColumnType::char(length, CollationId::UTF8MB4_0900_AI_CI)),
        (1u32..12).prop_map(ColumnType::binary),
        (1u32..12).prop_map(ColumnType::varbinary),
        Just(ColumnType::new(TinyBlob)),
        Just(ColumnType::double()),
        Just(ColumnType::double().with_unsigned()),
        Just(ColumnType::temporal(DateTime, 0)),
        Just(ColumnType::decimal(10, 2)),
    ]
}

/// What `store` makes of it, if it says nothing.
fn silently_stored(value: &Value, from: &ColumnType, to: &ColumnType, strict: bool) -> Option<Value> {
    let mut diagnostics = Diagnostics::new(64);
    let mode = StoreMode { strict, ..mode("") };
    let mut context = StoreContext {
        mode,
        table: "t",
        column: "c",
        row: 1,
        source: Source::Expression,
        diagnostics: &mut diagnostics,
        documents: Documents::ANY,
    };
    let stored = store(value, from, to, &mut context).ok();
    stored.filter(|_| diagnostics.count() == 0)
}

#[test]
fn invalid_dates_are_not_stored_plainly() {
    let to = ColumnType::temporal(TypeKind::DateTime, 0);
    let date = |day| Value::DateTime(crate::temporal::Date { year: 2233, month: 2, day }.midnight());
    let mut slot = Value::Null;
    assert!(store_plainly(&date(28), &to, &to, &mut slot));
    assert!(!store_plainly(&date(29), &to, &to, &mut slot));
}

proptest! {
    #[test]
    fn texts_stored_plainly_are_stored_the_same(text in "[-0-9. a世é😀]{0,9}|-?[0-9]{1,19}|[0-9]{1,12}\\.[0-9]{0,12}", to in plain_target()) {
        for from in [CollationId::UTF8MB4_0900_AI_CI, CollationId::BINARY, to.collation] {
            let mut slot = Value::Bytes(b"left over".to_vec());
            if store_text_plainly(text.as_bytes(), from, &to, &mut slot) {
                let value = Value::Bytes(text.as_bytes().to_vec());
                let from = ColumnType::varchar(u32::MAX, from);
                for strict in [false, true] {
                    prop_assert_eq!(Some(slot.clone()), silently_stored(&value, &from, &to, strict));
                }
            }
        }
    }

    #[test]
    fn values_stored_plainly_are_stored_the_same((from, values) in crate::samples::typed_values(1), to in plain_target()) {
        for (to, value) in [(&to, &values[0]), (&from, &values[0])] {
            let mut slot = Value::Null;
            if store_plainly(value, &from, to, &mut slot) {
                for strict in [false, true] {
                    prop_assert_eq!(Some(slot.clone()), silently_stored(value, &from, to, strict));
                }
            }
        }
    }
}
