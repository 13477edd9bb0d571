//! Random types with values of them, for the property tests of this crate.

use crate::column_type::{ColumnType, TypeKind};
use crate::decimal::{Decimal, Rounding};
use crate::temporal::Date;
use crate::value::Value;
use charset::CollationId;
use proptest::prelude::*;

/// Types of every stored form.
pub(crate) fn types() -> Vec<ColumnType> {
    use TypeKind::*;
    let mut types: Vec<ColumnType> = [TinyInt, SmallInt, MediumInt, Int, BigInt]
        .into_iter()
        .flat_map(|kind| [ColumnType::integer(kind, false), ColumnType::integer(kind, true)])
        .collect();
    types.extend([(5, 2), (18, 0), (20, 5), (38, 30), (65, 30)].map(|(p, s)| ColumnType::decimal(p, s)));
    types.extend([Float, Double, Year, Date].map(ColumnType::new));
    for digits in [0, 3, 6] {
        types.extend([Time, DateTime, Timestamp].map(|kind| ColumnType::temporal(kind, digits)));
    }
    for collation in
        ["utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci"]
    {
        let id = charset::collation_by_name(collation).unwrap().id;
        types.extend([ColumnType::varchar(40, id), ColumnType::char(40, id), ColumnType::text(Text, id)]);
    }
    let members = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()];
    types.extend([
        ColumnType::bit(64),
        ColumnType::enumeration(members.clone(), CollationId::UTF8MB4_BIN),
        ColumnType::set(members, CollationId::UTF8MB4_BIN),
        ColumnType::binary(4),
        ColumnType::varbinary(40),
        ColumnType::new(Blob),
    ]);
    types
}

/// A type and that many values of it, NULLs among them.
pub(crate) fn typed_values(count: usize) -> impl Strategy<Value = (ColumnType, Vec<Value>)> {
    prop::sample::select(types()).prop_flat_map(move |column_type| {
        let value = prop_oneof![1 => Just(Value::Null), 9 => value_of(&column_type)];
        (Just(column_type), prop::collection::vec(value, count))
    })
}

/// A value of that type, as rows hold it.
pub(crate) fn value_of(column_type: &ColumnType) -> BoxedStrategy<Value> {
    use TypeKind::*;
    let near = prop_oneof![any::<i64>(), -3i64..3];
    match column_type.kind {
        TinyInt | SmallInt | MediumInt | Int | BigInt => {
            let spare = 64 - 8 * column_type.kind.integer_bytes().unwrap();
            match column_type.unsigned {
                true => near.prop_map(move |n| Value::UInt(n as u64 >> spare)).boxed(),
                false => near.prop_map(move |n| Value::Int(n >> spare)).boxed(),
            }
        }
        Decimal => decimal_of(column_type.precision(), column_type.scale()),
        Float => prop_oneof![any::<f32>().prop_filter("number", |n| n.is_finite()), Just(-0.0), Just(0.0)]
            .prop_map(Value::Float)
            .boxed(),
        Double => prop_oneof![any::<f64>().prop_filter("number", |n| n.is_finite()), Just(-0.0), Just(0.0)]
            .prop_map(Value::Double)
            .boxed(),
        Year => prop_oneof![Just(0u64), 1901u64..=2155].prop_map(Value::UInt).boxed(),
        Date => date().prop_map(Value::Date).boxed(),
        Time => {
            let digits = column_type.fractional_digits();
            let span = prop_oneof![any::<i64>(), -3_000_000i64..3_000_000];
            span.prop_map(move |n| {
                Value::Time(crate::temporal::Time::from_microseconds(n).0.truncated(digits))
            })
            .boxed()
        }
        DateTime | Timestamp => {
            let digits = column_type.fractional_digits();
            (date(), 0u8..24, 0u8..60, 0u8..60, 0u32..1_000_000)
                .prop_map(move |(date, hour, minute, second, microsecond)| {
                    let moment = crate::temporal::DateTime { date, hour, minute, second, microsecond };
                    Value::DateTime(moment.truncated(digits))
                })
                .boxed()
        }
        Bit => any::<u64>().prop_map(Value::UInt).boxed(),
        Enum => (0u64..=3).prop_map(Value::UInt).boxed(),
        Set => (0u64..8).prop_map(Value::UInt).boxed(),
        Binary => prop::collection::vec(any::<u8>(), 4).prop_map(Value::Bytes).boxed(),
        VarBinary | Blob => {
            prop::collection::vec(prop_oneof![any::<u8>(), 0u8..3], 0..20).prop_map(Value::Bytes).boxed()
        }
        _ => text_of(column_type.clone()),
    }
}

fn date() -> impl Strategy<Value = Date> {
    prop_oneof![(0u16..=9999, 0u8..=12, 0u8..=31), (2000u16..2002, 1u8..3, 1u8..3)]
        .prop_map(|(year, month, day)| Date { year, month, day })
}

fn decimal_of(precision: u32, scale: u8) -> BoxedStrategy<Value> {
    let digits = prop::collection::vec(0u8..10, 0..=precision as usize);
    (any::<bool>(), digits)
        .prop_map(move |(negative, digits)| {
            let mut text: String = if negative { "-" } else { "" }.to_owned();
            let (whole, fraction) = digits.split_at(digits.len().saturating_sub(usize::from(scale)));
            text.push('0');
            text.extend(whole.iter().map(|digit| char::from(b'0' + digit)));
            text.push('.');
            text.extend(fraction.iter().map(|digit| char::from(b'0' + digit)));
            let number = Decimal::parse(text.as_bytes()).number;
            Value::Decimal(number.with_scale(scale, Rounding::HalfUp).unwrap())
        })
        .boxed()
}

fn text_of(column_type: ColumnType) -> BoxedStrategy<Value> {
    let character = prop_oneof![
        3 => prop::sample::select(vec!['a', 'A', ' ', 'b', '\t', '\u{e9}', 'e', '\u{df}', 's']),
        1 => any::<char>(),
    ];
    let charset = column_type.collation.charset();
    prop::collection::vec(character, 0..20)
        .prop_map(move |characters| {
            let text: String = characters.into_iter().collect();
            let mut bytes = charset.from_str(&text).text;
            if column_type.kind == TypeKind::Char {
                bytes.truncate(charset.length_without_trailing_spaces(&bytes));
            }
            Value::Bytes(bytes)
        })
        .boxed()
}
