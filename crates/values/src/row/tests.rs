//! Round trips of rows of random types, damaged rows, and the documented bytes.

use super::*;
use crate::Value;
use crate::samples::typed_values;
use charset::CollationId;
use proptest::prelude::*;

fn round_trip(columns: &[(ColumnType, Value)]) {
    let layout = RowLayout::new(columns.iter().map(|(column_type, _)| (column_type, true)));
    let values: Vec<Value> = columns.iter().map(|(_, value)| value.clone()).collect();
    let bytes = layout.encode(&values).unwrap();
    let view = RowView::new(&layout, &bytes).unwrap();
    assert_eq!(view.check(), Ok(()));
    assert_eq!(view.values(), values);
    for (column, value) in values.iter().enumerate() {
        assert_eq!(view.is_null(column), *value == Value::Null);
        match value {
            Value::Int(number) => assert_eq!(view.integer(column), *number),
            Value::Bytes(text) => assert_eq!(view.bytes(column), text),
            Value::Double(number) => assert_eq!(view.double(column), *number),
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn rows_round_trip(columns in prop::collection::vec(typed_values(1), 1..12)) {
        let columns: Vec<(ColumnType, Value)> =
            columns.into_iter().map(|(column_type, mut values)| (column_type, values.remove(0))).collect();
        round_trip(&columns);
    }

    #[test]
    fn rows_of_another_rows_columns(columns in prop::collection::vec(typed_values(1), 1..12),
                                    picks in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let columns: Vec<(ColumnType, Value)> =
            columns.into_iter().map(|(column_type, mut values)| (column_type, values.remove(0))).collect();
        let whole = RowLayout::new(columns.iter().map(|(column_type, _)| (column_type, true)));
        let values: Vec<Value> = columns.iter().map(|(_, value)| value.clone()).collect();
        let stored = whole.encode(&values).unwrap();
        let picked: Vec<usize> = picks.iter().map(|pick| pick.index(columns.len())).collect();
        let part = RowLayout::new(picked.iter().map(|column| (&columns[*column].0, true)));
        let wanted: Vec<Value> = picked.iter().map(|column| values[*column].clone()).collect();
        let mut copied = b"before".to_vec();
        part.encode_from(&RowView::new(&whole, &stored).unwrap(), &picked, &mut copied).unwrap();
        prop_assert_eq!(&copied[6..], &part.encode(&wanted).unwrap()[..]);
    }

    #[test]
    fn any_bytes_are_taken(columns in prop::collection::vec(typed_values(1), 1..12),
                           bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let layout = RowLayout::new(columns.iter().map(|(column_type, _)| (column_type, true)));
        if let Ok(view) = RowView::new(&layout, &bytes) {
            let _ = view.check();
            let values = view.values();
            for (column, (column_type, _)) in columns.iter().enumerate().take(values.len()) {
                view.integer(column);
                view.double(column);
                let mut out = Vec::new();
                let encoder = crate::ColumnEncoder::new(column_type, CollationId::UTF8MB4_0900_AI_CI, Default::default());
                encoder.text(view.raw(column), &mut out);
                if let Some(raw) = view.raw(column) {
                    encoder.binary(raw, &mut out);
                }
            }
        }
    }
}

#[test]
fn large_rows_use_wide_offsets() {
    let text = ColumnType::text(crate::TypeKind::LongText, CollationId::UTF8MB4_BIN);
    let long = Value::Bytes(vec![b'x'; 70_000]);
    round_trip(&[(text.clone(), long.clone()), (ColumnType::big_int(), Value::Int(-5)), (text, long)]);
}

/// The example of README.md.
#[test]
fn bytes_are_as_documented() {
    let types = [
        (ColumnType::integer(crate::TypeKind::Int, false), false),
        (ColumnType::varchar(10, CollationId::UTF8MB4_BIN), true),
        (ColumnType::new(crate::TypeKind::Date), true),
        (ColumnType::varchar(10, CollationId::UTF8MB4_BIN), false),
    ];
    let layout = RowLayout::new(types.iter().map(|(column_type, nullable)| (column_type, *nullable)));
    let date = crate::temporal::Date::new(2024, 2, 29);
    let values = [Value::Int(-2), Value::Null, Value::Date(date), Value::Bytes(b"abc".to_vec())];
    let expected = [0xfe, 0xff, 0xff, 0xff, 0x5d, 0xd0, 0x0f, 0b0000_0010, 0, 0, 3, 0, b'a', b'b', b'c'];
    assert_eq!(layout.encode(&values).unwrap(), expected);
    assert_eq!((layout.fixed_offset(2), layout.null_position(2)), (Some(4), Some((7, 4))));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let tiny = ColumnType::integer(crate::TypeKind::TinyInt, false);
    let layout = RowLayout::new([(&tiny, false)]);
    let mut out = vec![1];
    assert_eq!(layout.encode_into(&[Value::Int(128)], &mut out), Err(RowError::WrongValue(0)));
    assert_eq!(layout.encode_into(&[Value::Null], &mut out), Err(RowError::Null(0)));
    assert_eq!(layout.encode_into(&[Value::Bytes(Vec::new())], &mut out), Err(RowError::WrongValue(0)));
    assert_eq!(layout.encode_into(&[], &mut out), Err(RowError::WrongCount));
    assert_eq!(out, [1]);
}

#[test]
fn values_outside_come_and_go() {
    let text = ColumnType::text(crate::TypeKind::LongText, CollationId::UTF8MB4_BIN);
    let types = [(&text, true), (&ColumnType::big_int(), false), (&text, false), (&text, true)];
    let layout = RowLayout::new(types);
    let long = vec![b'x'; 70_000];
    let values = [Value::Bytes(long.clone()), Value::Int(7), Value::Bytes(b"abc".to_vec()), Value::Null];
    let row = layout.encode(&values).unwrap();
    let view = RowView::new(&layout, &row).unwrap();
    assert_eq!(layout.variable_columns().collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(view.pieces(), [Piece::Here(&long), Piece::Here(b"abc"), Piece::Null]);

    let reference = [9; REFERENCE_BYTES];
    let mut outside = b"before".to_vec();
    let pieces = [Piece::Outside(&reference), Piece::Here(b"abc"), Piece::Null];
    layout.rewrite(&view, &pieces, &mut outside).unwrap();
    let short = RowView::new(&layout, &outside[6..]).unwrap();
    assert_eq!((short.check(), short.pieces()), (Ok(()), pieces.to_vec()));
    assert_eq!((short.integer(1), short.bytes(2), short.is_null(3)), (7, &b"abc"[..], true));

    let mut back = Vec::new();
    layout.rewrite(&short, &view.pieces(), &mut back).unwrap();
    assert_eq!(back, row);
    let mut other = Vec::new();
    layout.rewrite(&short, &[Piece::Null, Piece::Outside(&reference), Piece::Here(b"")], &mut other).unwrap();
    let other = RowView::new(&layout, &other).unwrap();
    assert_eq!(other.pieces(), [Piece::Null, Piece::Outside(&reference), Piece::Here(b"")]);
    let mut refused = Vec::new();
    let nulls = [Piece::Null, Piece::Null, Piece::Null];
    assert_eq!(layout.rewrite(&short, &nulls, &mut refused), Err(RowError::Null(2)));
    assert_eq!(layout.rewrite(&short, &nulls[..1], &mut refused), Err(RowError::WrongCount));
    assert!(refused.is_empty());
}

#[test]
fn column_sets() {
    assert!(ColumnSet::All.contains(4095));
    let some = ColumnSet::of([0, 63, 64, 200]);
    let members: Vec<usize> = (0..300).filter(|column| some.contains(*column)).collect();
    assert_eq!(members, [0, 63, 64, 200]);
    assert!(!ColumnSet::of([]).contains(0));
}
