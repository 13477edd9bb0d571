//! Times the row and key codecs on a row like sysbench's. Run: `cargo run --release -p values --example codec_speed`.
//! Prints nanoseconds per operation; the machine's clock is enough for the purpose.

use charset::CollationId;
use std::hint::black_box;
use values::key::{KeyLayout, KeyPart};
use values::row::{RowLayout, RowView};
use values::temporal::TimeZone;
use values::{ColumnEncoder, ColumnType, Decimal, TypeKind, Value};

const ROUNDS: u32 = 1_000_000;

// A measurement needs the real clock.
#[allow(clippy::disallowed_methods)]
fn time(name: &str, mut operation: impl FnMut()) {
    let start = std::time::Instant::now();
    for _ in 0..ROUNDS {
        operation();
    }
    println!("{name}: {:.1} ns", start.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
}

fn main() {
    let text = CollationId::UTF8MB4_0900_AI_CI;
    let types = [
        ColumnType::new(TypeKind::Int),
        ColumnType::new(TypeKind::Int),
        ColumnType::char(120, text),
        ColumnType::char(60, text),
        ColumnType::decimal(10, 2),
    ];
    let layout = RowLayout::new(types.iter().map(|column_type| (column_type, false)));
    let values = [
        Value::Int(5_012_345),
        Value::Int(4_998_877),
        Value::Bytes(b"83868641912-28773972837-60736120486-75162659906-27563526494-20381887404-41576422241-93426793964-56405065102-33518432330".to_vec()),
        Value::Bytes(b"67847967377-48000963322-62604785301-91415491898-96926520291".to_vec()),
        Value::Decimal(Decimal::from_i128(1_234_567, 2).expect("two digits are a scale")),
    ];
    let mut row = Vec::new();
    time("encode row", || {
        row.clear();
        layout.encode_into(black_box(&values), &mut row).expect("the values fit");
    });
    let view = RowView::new(&layout, &row).expect("it was just written");
    time("read one integer", || {
        black_box(RowView::new(&layout, black_box(&row)).map(|view| view.integer(1)).unwrap_or(0));
    });
    let encoders: Vec<ColumnEncoder> =
        types.iter().map(|column_type| ColumnEncoder::new(column_type, text, TimeZone::System)).collect();
    let mut out = Vec::with_capacity(512);
    for (column, encoder) in encoders.iter().enumerate() {
        time(&format!("text of {}", types[column].sql_text()), || {
            out.clear();
            encoder.text(black_box(view).raw(column), &mut out);
        });
    }
    time("text of row", || {
        out.clear();
        for (column, encoder) in encoders.iter().enumerate() {
            encoder.text(black_box(view).raw(column), &mut out);
        }
    });
    for column in [0, 3, 4] {
        let key = KeyLayout::new([&KeyPart::ascending(types[column].clone(), false)]);
        time(&format!("key of {}", types[column].sql_text()), || {
            out.clear();
            key.encode_row(black_box(&view), &[column], &mut out).expect("the key is short");
        });
    }
    let collation = text.get();
    let Value::Bytes(left) = &values[3] else { return };
    let right = left.to_ascii_uppercase();
    time("compare 60 characters", || {
        black_box(collation.compare(black_box(left), black_box(&right)));
    });
}
