//! Keys that are longer than an entry has room for: rows are found, changed and told apart by them all the same.

use crate::common::model::sound;
use crate::common::*;
use dictionary::{IndexDefinition, IndexKind, IndexPart, TableDefinition};
use engine::*;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use values::Value;

/// Text whose key has more than 3,500 bytes; it differs from others only behind 1,700.
fn long(seed: i64) -> String {
    format!("{}{seed:04}{}", "\0".repeat(1700), "\0z".repeat(600))
}

fn with_key(definition: TableDefinition, index: IndexDefinition) -> TableDefinition {
    let mut definition = definition;
    definition.columns[2].column_type.length = Some(3072);
    definition.indexes.push(index);
    definition
}

/// The common table with two more indexes, of the whole of `s`.
fn create_long(engine: &Engine, name: &str, unique: bool) -> Arc<Table> {
    create(engine, "other");
    let mut definition = with_key(definition(name), index("w", IndexKind::Plain, 2));
    if unique {
        definition.indexes.insert(2, index("v", IndexKind::Unique, 2));
    }
    engine.create_table(definition, &KillFlag::default()).unwrap()
}

/// A table whose primary key is `s`, and so is its secondary index, with `a` before.
fn create_long_primary(engine: &Engine) -> Arc<Table> {
    create(engine, "other");
    let mut definition = with_key(definition("p"), index("w", IndexKind::Plain, 2));
    definition.columns[0].auto_increment = false;
    definition.indexes[0] = index("PRIMARY", IndexKind::Primary, 2);
    definition.indexes[2].parts = vec![
        IndexPart { column: 1, prefix_length: None, descending: true },
        IndexPart { column: 2, prefix_length: Some(3060), descending: true },
    ];
    engine.create_table(definition, &KillFlag::default()).unwrap()
}

fn insert_many(engine: &Engine, t: &Arc<Table>, rows: &[Row]) {
    let rows: Vec<Vec<u8>> = rows.iter().map(|row| encode(t, row)).collect();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    let transaction = begin(engine);
    transaction.insert_many(t, &rows).unwrap();
    transaction.commit().unwrap();
}

/// The key of `s` in an index that has no other part.
fn key_of(t: &Table, index: usize, s: &str) -> Vec<u8> {
    let index = &t.indexes()[index];
    let mut key = Vec::new();
    index.key_layout().encode(&[Value::Bytes(s.as_bytes().to_vec())], &mut key).unwrap();
    assert!(key.len() > KEY_BYTES_MAX);
    index.fit_key(&mut key);
    key
}

fn found(transaction: &Transaction, t: &Arc<Table>, index: usize, s: &str) -> Option<Row> {
    let mut row = None;
    let found = &mut |bytes: &[u8]| row = Some(decode(t, bytes));
    transaction.get(t, index, &key_of(t, index, s), ReadMode::Consistent, found).unwrap();
    row
}

#[test]
fn long_secondary_keys() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create_long(&engine, "t", true);
    assert!((0..5).all(|index| t.indexes()[index].orders_rows()));
    insert(&engine, &t, &(1..20).map(|id| row(id, id, &long(id))).collect::<Vec<_>>());
    insert_many(&engine, &t, &(20..60).rev().map(|id| row(id, id, &long(id))).collect::<Vec<_>>());
    let transaction = begin(&engine);
    let again = transaction.insert(&t, &encode(&t, &row(100, 100, &long(5))));
    assert!(matches!(again, Err(EngineError::DuplicateKey(duplicate)) if duplicate.index == 2));
    let rows = [encode(&t, &row(100, 100, &long(100))), encode(&t, &row(101, 101, &long(30)))];
    let again = transaction.insert_many(&t, &[&rows[0], &rows[1]]);
    assert!(matches!(again, Err(EngineError::DuplicateKey(duplicate)) if duplicate.index == 2));
    transaction.rollback().unwrap();
    let transaction = begin(&engine);
    transaction.insert(&t, &encode(&t, &row(101, 101, &long(101)))).unwrap();
    transaction.insert_many(&t, &[&rows[0]]).unwrap();
    transaction.delete(&t, &key(&t, 7)).unwrap();
    transaction.update(&t, &key(&t, 8), &encode(&t, &row(8, 8, &long(1008)))).unwrap();
    assert_eq!(found(&transaction, &t, 2, &long(1008)), Some(row(8, 8, &long(1008))));
    transaction.rollback().unwrap();
    sound(&engine);
    let transaction = begin(&engine);
    assert_eq!(found(&transaction, &t, 2, &long(8)), Some(row(8, 8, &long(8))));
    assert_eq!(found(&transaction, &t, 2, &long(1008)), None);
    transaction.delete(&t, &key(&t, 7)).unwrap();
    transaction.update(&t, &key(&t, 8), &encode(&t, &row(8, 8, &long(1008)))).unwrap();
    transaction.commit().unwrap();
    engine.purge().unwrap();
    assert_eq!(all(&begin(&engine), &t).len(), 58);
    sound(&engine);
}

#[test]
fn what_long_keys_say_about_order_is_kept() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create_long(&engine, "t", false);
    insert(&engine, &t, &[row(1, 1, &long(1)), row(2, 2, "short")]);
    let orders = |t: &Table| [0, 1, 2, 3].map(|index| t.indexes()[index].orders_rows());
    assert_eq!(orders(&t), [true, true, true, false]);
    let t = engine.add_indexes(&name("t"), vec![index("x", IndexKind::Unique, 2)], &KillFlag::default());
    let t = t.unwrap();
    assert_eq!(found(&begin(&engine), &t, 4, &long(1)), Some(row(1, 1, &long(1))));
    assert!(!t.indexes()[3].orders_rows() && !t.indexes()[4].orders_rows());
    sound(&engine);
    engine.sync_log(engine.status().log_end).unwrap();
    drop(engine);
    let engine = open(&disk.restart(2));
    let t = table(&engine, "t");
    assert!(!t.indexes()[3].orders_rows() && !t.indexes()[4].orders_rows());
    assert!(engine.dictionary().table("test", "other").unwrap().indexes()[0].orders_rows());
    sound(&engine);
}

#[test]
fn long_primary_and_secondary_keys() {
    let disk = SimulatedDisk::new(1);
    let engine = open(&disk);
    let t = create_long_primary(&engine);
    let rows: Vec<Row> = (1..40).map(|id| row(id, id % 3, &long(id))).collect();
    let (first, rest) = rows.split_at(10);
    let mut unique = rest.to_vec();
    unique.iter_mut().chain(&mut first.to_vec()).for_each(|row| row.1 = None);
    let first: Vec<Row> = first.iter().map(|row| (row.0, None, row.2.clone())).collect();
    insert(&engine, &t, &first);
    insert_many(&engine, &t, &unique);
    let transaction = begin(&engine);
    let again = transaction.insert(&t, &encode(&t, &row(77, 5, &long(3))));
    assert!(matches!(again, Err(EngineError::DuplicateKey(duplicate)) if duplicate.index == 0));
    assert_eq!(found(&transaction, &t, 0, &long(3)).map(|row| row.0), Some(3));
    transaction.delete(&t, &key_of(&t, 0, &long(4))).unwrap();
    let moved = transaction.update(&t, &key_of(&t, 0, &long(5)), &encode(&t, &row(5, 9, &long(905))));
    assert_eq!(moved, Ok(UpdateOutcome::Moved(key_of(&t, 0, &long(905)))));
    transaction.commit().unwrap();
    assert_eq!(begin(&engine).count(&t, 2, &KeyRange::all()), Ok(38));
    sound(&engine);
    engine.sync_log(engine.status().log_end).unwrap();
    drop(engine);
    let engine = open(&disk.restart(2));
    let t = table(&engine, "p");
    assert_eq!(found(&begin(&engine), &t, 0, &long(905)).map(|row| row.0), Some(5));
    sound(&engine);
}
