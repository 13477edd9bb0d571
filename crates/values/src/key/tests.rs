//! Key order against value order for random types, round trips, ranges, damaged keys.

use super::range::Limit;
use super::*;
use crate::compare::compare_same_type;
use crate::row::{RowLayout, RowView};
use crate::samples::typed_values;
use crate::{TypeKind, Value};
use charset::CollationId;
use proptest::prelude::*;
use std::cmp::Ordering;

fn part(column_type: &ColumnType, descending: bool) -> KeyPart {
    KeyPart { column_type: column_type.clone(), prefix_length: None, descending, nullable: true }
}

fn encoded(layout: &KeyLayout, values: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    layout.encode(values, &mut key).unwrap();
    key
}

fn in_direction(order: Ordering, descending: bool) -> Ordering {
    if descending { order.reverse() } else { order }
}

proptest! {
    #[test]
    fn key_order_is_value_order((column_type, values) in typed_values(2), descending: bool) {
        let layout = KeyLayout::new([&part(&column_type, descending)]);
        let (a, b) = (encoded(&layout, &values[..1]), encoded(&layout, &values[1..]));
        let expected = in_direction(compare_same_type(&values[0], &values[1], &column_type), descending);
        prop_assert_eq!(a.cmp(&b), expected, "{:?}", column_type);
        prop_assert_eq!(layout.prefix_bytes(&a, 1), Ok(a.len()));
        if a != b {
            prop_assert!(!a.starts_with(&b) && !b.starts_with(&a));
        }
    }

    #[test]
    fn parts_order_one_after_the_other(first in typed_values(2), second in typed_values(2), down: (bool, bool)) {
        let ((type_1, values_1), (type_2, values_2)) = (first, second);
        let layout = KeyLayout::new([&part(&type_1, down.0), &part(&type_2, down.1)]);
        let keys = [0, 1].map(|row| encoded(&layout, &[values_1[row].clone(), values_2[row].clone()]));
        let expected = in_direction(compare_same_type(&values_1[0], &values_1[1], &type_1), down.0)
            .then(in_direction(compare_same_type(&values_2[0], &values_2[1], &type_2), down.1));
        prop_assert_eq!(keys[0].cmp(&keys[1]), expected);
    }

    #[test]
    fn reversible_values_come_back((column_type, values) in typed_values(1), descending: bool) {
        let layout = KeyLayout::new([&part(&column_type, descending)]);
        let decoded = layout.decode(&encoded(&layout, &values)).unwrap();
        match layout.is_reversible(0) {
            true => prop_assert_eq!(decoded[0].as_ref(), Some(&values[0])),
            false => prop_assert_eq!(decoded[0].as_ref(), None),
        }
    }

    #[test]
    fn rows_make_the_keys_of_their_values(first in typed_values(1), second in typed_values(1), descending: bool) {
        let parts = [part(&first.0, descending), part(&second.0, false)];
        let layout = KeyLayout::new(&parts);
        let row_layout = RowLayout::new([(&first.0, true), (&second.0, true)]);
        let values = [first.1[0].clone(), second.1[0].clone()];
        let row = row_layout.encode(&values).unwrap();
        let mut key = Vec::new();
        layout.encode_row(&RowView::new(&row_layout, &row).unwrap(), &[0, 1], &mut key).unwrap();
        prop_assert_eq!(key, encoded(&layout, &values));
    }

    #[test]
    fn ranges_hold_what_is_between_their_limits((column_type, values) in typed_values(3), descending: bool) {
        let [low, high, probe] = [&values[0], &values[1], &values[2]];
        if *low == Value::Null || *high == Value::Null {
            return Ok(());
        }
        let layout = KeyLayout::new([&part(&column_type, descending), &part(&ColumnType::big_int(), false)]);
        let key = encoded(&layout, &[probe.clone(), Value::Int(7)]);
        let above = compare_same_type(probe, low, &column_type);
        let below = compare_same_type(probe, high, &column_type);
        let range = |low, high| layout.range(&[], low, high).unwrap().contains(&key);
        prop_assert_eq!(range(Limit::Including(low), Limit::Including(high)), above.is_ge() && below.is_le());
        prop_assert_eq!(range(Limit::Excluding(low), Limit::Excluding(high)), above.is_gt() && below.is_lt());
        prop_assert_eq!(range(Limit::NotNull, Limit::Excluding(high)), *probe != Value::Null && below.is_lt());
        prop_assert_eq!(range(Limit::NotNull, Limit::NotNull), *probe != Value::Null);
        prop_assert!(range(Limit::None, Limit::None));
        prop_assert_eq!(layout.equal_range(&values[..1]).unwrap().contains(&key), above.is_eq());
    }

    #[test]
    fn texts_that_start_alike_are_in_one_range((column_type, values) in typed_values(1), descending: bool, cut in 0usize..20) {
        if let (true, Value::Bytes(text)) = (column_type.kind.is_string(), &values[0]) {
            let layout = KeyLayout::new([&part(&column_type, descending)]);
            let start = column_type.collation.charset().prefix(text, cut);
            let range = layout.starting_with(&[], start).unwrap();
            prop_assert!(range.contains(&encoded(&layout, &values)));
        }
    }

    #[test]
    fn any_bytes_are_taken((column_type, _) in typed_values(1), descending: bool,
                           bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let layout = KeyLayout::new([&part(&column_type, descending), &part(&column_type, false)]);
        let _ = layout.decode(&bytes);
        let _ = layout.prefix_bytes(&bytes, 2);
    }
}

#[test]
fn prefix_parts_keep_the_first_characters() {
    let column_type = ColumnType::varchar(100, CollationId::UTF8MB4_0900_AI_CI);
    let prefix = KeyPart { prefix_length: Some(3), ..part(&column_type, false) };
    let layout = KeyLayout::new([&prefix]);
    let key = |text: &str| encoded(&layout, &[Value::Bytes(text.into())]);
    assert_eq!(key("\u{e9}t\u{e9}s"), key("ETEX"));
    assert_ne!(key("et"), key("ete"));
    assert_eq!((prefix.declared_bytes(), layout.is_reversible(0)), (12, false));
    // The limit's own key stays inside an excluding range: longer values share it.
    let limit = Value::Bytes(b"abc".to_vec());
    assert!(layout.range(&[], Limit::Excluding(&limit), Limit::None).unwrap().contains(&key("abcd")));
    assert!(layout.range(&[], Limit::None, Limit::Excluding(&limit)).unwrap().contains(&key("abc")));
}

#[test]
fn lengths_are_counted_and_limited() {
    let utf8 = CollationId::UTF8MB4_0900_AI_CI;
    assert_eq!(part(&ColumnType::varchar(768, utf8), false).declared_bytes(), DECLARED_BYTES_MAX);
    assert_eq!(part(&ColumnType::varbinary(3072), false).declared_bytes(), DECLARED_BYTES_MAX);
    assert_eq!(part(&ColumnType::big_int(), false).declared_bytes(), 8);
    let layout = KeyLayout::new([&part(&ColumnType::varchar(2000, utf8), false)]);
    let mut key = vec![1];
    let expanding = |characters| Value::Bytes("\u{fdfa}".repeat(characters).into());
    assert_eq!(layout.encode(&[expanding(40_000)], &mut key), Err(KeyError::TooLong));
    assert_eq!(key, [1]);
    assert_eq!(layout.encode(&[expanding(768)], &mut key), Ok(()));
    assert!(key.len() > 3 * DECLARED_BYTES_MAX as usize);
    key.truncate(1);
    let han = Value::Bytes("\u{4e00}".repeat(768).into());
    assert_eq!(layout.encode(&[han], &mut key), Ok(()));
    assert_eq!(successor(&[1, 0xff, 0xff]), Some(vec![2]));
    assert_eq!(successor(&[0xff]), None);
}

#[test]
fn ascii_text_takes_one_byte_a_character() {
    let layout = KeyLayout::new([&KeyPart::ascending(
        ColumnType::varchar(40, CollationId::UTF8MB4_0900_AI_CI),
        false,
    )]);
    assert_eq!(encoded(&layout, &[Value::Bytes(b"user-name_42@Example.org".to_vec())]).len(), 25);
    let tiny = KeyLayout::new([&KeyPart::ascending(ColumnType::integer(TypeKind::TinyInt, false), false)]);
    assert_eq!(encoded(&tiny, &[Value::Int(-1)]), [0x7f]);
}
