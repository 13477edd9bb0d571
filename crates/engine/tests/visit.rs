//! Rows that are shown where they lie come in the order of their index, also those that only their older versions tell.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use values::Value;
use values::row::RowView;

const ROWS: i64 = 400;

/// The second column of all rows as a covering scan of its index shows them.
fn shown(transaction: &Transaction, table: &std::sync::Arc<Table>) -> Vec<i64> {
    let index = &table.indexes()[1];
    let place = index.row_columns().iter().position(|column| *column == 1).unwrap();
    let options = ScanOptions { index: 1, covering: true, ..ScanOptions::default() };
    let mut scan = transaction.scan(table, options).unwrap();
    let mut found = Vec::new();
    let mut visit = |row: &[u8]| match RowView::new(index.row_layout(), row).unwrap().value(place) {
        Value::Int(number) => found.push(number),
        other => panic!("{other:?}"),
    };
    while scan.visit_leaf(transaction, &mut visit).unwrap() {}
    found
}

#[test]
fn rows_of_an_older_snapshot_come_in_order() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &(0..ROWS).map(|id| row(id, ROWS - id, "x")).collect::<Vec<_>>());
    let old = begin(&engine);
    old.take_snapshot().unwrap();
    for id in (0..ROWS).filter(|id| id % 7 == 3 || (100..120).contains(id)) {
        let changed = begin(&engine);
        changed.update(&t, &key(&t, id), &encode(&t, &row(id, 5000 + id, "y"))).unwrap();
        changed.commit().unwrap();
    }
    assert_eq!(shown(&old, &t), (1..=ROWS).collect::<Vec<_>>());
    let now = shown(&begin(&engine), &t);
    assert_eq!(now.len() as i64, ROWS);
    assert!(now.is_sorted());
}
