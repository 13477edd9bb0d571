//! Types that parameters get, and values that take them.

use super::*;
use values::temporal::{Date, Time};

const UTF8: CollationId = CollationId::UTF8MB4_0900_AI_CI;

fn given(value: Value) -> TypedValue {
    let column_type = match &value {
        Value::Int(_) => ColumnType::big_int(),
        Value::UInt(_) => ColumnType::big_int_unsigned(),
        Value::Double(_) => ColumnType::double(),
        Value::Decimal(_) => ColumnType::new(TypeKind::Decimal),
        Value::Date(_) => ColumnType::new(TypeKind::Date),
        Value::Time(_) => ColumnType::temporal(TypeKind::Time, 6),
        Value::DateTime(_) => ColumnType::temporal(TypeKind::DateTime, 6),
        Value::Bytes(_) => ColumnType::varchar(9, UTF8),
        _ => ColumnType::null(),
    };
    TypedValue { value, column_type }
}

fn words(text: &str) -> TypedValue {
    given(Value::Bytes(text.as_bytes().to_vec()))
}

fn beside(column_type: ColumnType) -> ColumnType {
    derived_type(&column_type)
}

#[test]
fn a_parameter_is_as_wide_as_its_class() {
    let kinds = |kind: TypeKind| {
        let derived = beside(ColumnType::new(kind));
        (derived.kind, derived.length, derived.decimals)
    };
    assert_eq!(kinds(TypeKind::TinyInt), (TypeKind::BigInt, Some(21), None));
    assert_eq!(kinds(TypeKind::Decimal), (TypeKind::Decimal, Some(65), Some(30)));
    assert_eq!(kinds(TypeKind::Float).0, TypeKind::Double);
    assert_eq!(kinds(TypeKind::Timestamp), (TypeKind::DateTime, None, Some(6)));
    assert_eq!(beside(ColumnType::text(TypeKind::Text, UTF8)).kind, TypeKind::LongText);
    assert_eq!(kinds(TypeKind::Null), (TypeKind::VarBinary, Some(65_535), None));
    assert_eq!(beside(ColumnType::char(5, UTF8)).length, Some(16_383));
    assert_eq!(beside(ColumnType::char(5, CollationId(8))).length, Some(65_535));
}

#[test]
fn what_has_a_statement_prepared_anew() {
    let retyped =
        |typed: TypedValue, wanted: &ColumnType| retyped_for(&typed, wanted).map(|found| found.kind);
    let (signed, unsigned) = (integer(false), integer(true));
    assert_eq!(retyped(given(Value::Int(-1)), &signed), None);
    assert_eq!(retyped(given(Value::Int(-1)), &unsigned), Some(TypeKind::BigInt));
    assert_eq!(retyped(given(Value::Double(1.0)), &signed), Some(TypeKind::Double));
    assert_eq!(retyped(words("5"), &signed), None);
    assert_eq!(retyped(words("abc"), &signed), None);
    assert_eq!(retyped(words("1e2"), &signed), Some(TypeKind::Decimal));
    assert_eq!(retyped(given(Value::Null), &signed), None);
    assert_eq!(retyped(given(Value::Int(1)), &decimal()), None);
    assert_eq!(retyped(given(Value::Double(1.0)), &decimal()), Some(TypeKind::Double));
    assert_eq!(retyped(given(Value::Int(1)), &text(UTF8)), Some(TypeKind::BigInt));
    let date = beside(ColumnType::new(TypeKind::Date));
    assert_eq!(retyped(given(Value::Int(20_240_115)), &date), None);
    assert_eq!(retyped(given(Value::Int(20_240_115_102_030)), &date), Some(TypeKind::DateTime));
    assert_eq!(retyped(given(Value::DateTime(DateTime::default())), &date), Some(TypeKind::DateTime));
    let time = beside(ColumnType::new(TypeKind::Time));
    assert_eq!(retyped(given(Value::DateTime(DateTime::default())), &time), None);
    assert_eq!(retyped(given(Value::Date(Date::default())), &time), Some(TypeKind::Date));
}

#[test]
fn values_take_the_type_of_their_parameter() {
    let fitted = |typed: TypedValue, wanted: &ColumnType| {
        fit(typed, wanted, false, Some(&mut Diagnostics::new(1))).unwrap()
    };
    assert_eq!(fitted(words(" 5 "), &integer(false)).value, Value::Int(5));
    assert_eq!(fitted(words("5"), &ColumnType::bit(64)).value, Value::UInt(5));
    assert_eq!(fitted(given(Value::Int(7)), &decimal()).value, Value::Decimal(Decimal::from(7i64)));
    let day = Date { year: 2024, month: 1, day: 15 };
    let date = beside(ColumnType::new(TypeKind::Date));
    assert_eq!(fitted(words("2024-01-15"), &date).value, Value::Date(day));
    assert_eq!(fitted(given(Value::Int(5)), &date).value, Value::Date(Date { year: 2000, month: 0, day: 5 }));
    let time = fitted(words("10:20:30"), &beside(ColumnType::new(TypeKind::Time)));
    assert_eq!(time.value, Value::Time(Time { hours: 10, minutes: 20, seconds: 30, ..Time::default() }));
    // What does not fit waits for whoever reads it, and warns there.
    let kept = fitted(words("abc"), &integer(false));
    assert_eq!(kept, words("abc"));
    let mut diagnostics = Diagnostics::new(1);
    let moment = beside(ColumnType::new(TypeKind::Timestamp));
    let none = fit(given(Value::Int(5)), &moment, false, Some(&mut diagnostics)).unwrap();
    assert_eq!((none.value, diagnostics.count()), (Value::Null, 1));
    let latin1 = text(CollationId(8));
    assert_eq!(fitted(words("\u{e9}"), &latin1).value, Value::Bytes(vec![0xe9]));
    assert_eq!(
        fit(words("\u{3042}"), &latin1, false, Some(&mut Diagnostics::new(1))).unwrap_err().number(),
        3988
    );
}
