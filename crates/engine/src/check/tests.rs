//! What CHECK TABLE finds: entries and chunks that are missing, elsewhere or too many. Trees are changed behind the engine's back.

use crate::{Engine, EngineOptions, KillFlag, Table, Transaction, TransactionOptions};
use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, SchemaDefinition,
    TableDefinition, TableName, TableOptions,
};
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, TypeKind, Value};

const LONG: usize = 12_000;

fn column(name: &str, kind: TypeKind, length: Option<u32>) -> ColumnDefinition {
    ColumnDefinition {
        name: name.to_owned(),
        column_type: ColumnType {
            kind,
            unsigned: false,
            zerofill: false,
            length,
            decimals: None,
            collation: CollationId::BINARY,
            members: Vec::new().into(),
        },
        nullable: false,
        default: ColumnDefault::None,
        generated: None,
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        names_collation: false,
        comment: String::new(),
    }
}

fn index(name: &str, kind: IndexKind, column: usize, prefix_length: Option<u32>) -> IndexDefinition {
    IndexDefinition {
        id: IndexId(0),
        name: name.to_owned(),
        kind,
        parts: vec![IndexPart { column, prefix_length, descending: false }],
        comment: String::new(),
        invisible: false,
        generated: false,
    }
}

/// An engine with a table of four rows that have long values.
fn filled() -> (Engine, Arc<Table>) {
    let options =
        EngineOptions { buffer_pool_bytes: 8 << 20, background_threads: false, ..EngineOptions::default() };
    let engine = Engine::open(Environment::simulated(SimulatedDisk::new(1), 1), options).unwrap();
    let kill = KillFlag::default();
    let schema = SchemaDefinition { name: "d".to_owned(), collation: CollationId::BINARY };
    engine.create_schema(schema, &kill).unwrap();
    let definition = TableDefinition {
        id: TableId(0),
        name: TableName { schema: "d".to_owned(), table: "t".to_owned() },
        columns: vec![column("id", TypeKind::BigInt, None), column("s", TypeKind::LongBlob, None)],
        indexes: vec![
            index("PRIMARY", IndexKind::Primary, 0, None),
            index("k", IndexKind::Plain, 1, Some(50)),
        ],
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    };
    let table = engine.create_table(definition, &kill).unwrap();
    let transaction = begin(&engine);
    for id in 1..=4 {
        transaction.insert(&table, &row(&table, id)).unwrap();
    }
    transaction.commit().unwrap();
    (engine, table)
}

fn row(table: &Table, id: i64) -> Vec<u8> {
    let s = vec![b'a' + id as u8; LONG];
    table.layout().encode(&[Value::Int(id), Value::Bytes(s)]).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let sees_at_least = stdx::ids::Lsn(u64::MAX);
    engine.begin(TransactionOptions { sees_at_least, ..TransactionOptions::default() })
}

fn faults(engine: &Engine, table: &Arc<Table>, quick: bool) -> Vec<String> {
    engine.check_rows(table, quick, &KillFlag::default()).unwrap()
}

/// One entry: key and value.
fn entry(engine: &Engine, tree: &btree::Tree, at: usize) -> (Vec<u8>, Vec<u8>) {
    let pool = &engine.inner.pool;
    let keys = tree.keys(pool, btree::CursorRange::all(), btree::Direction::Forward, usize::MAX).unwrap();
    let value = tree.get(pool, &keys[at], <[u8]>::to_vec).unwrap().unwrap();
    (keys[at].clone(), value)
}

#[test]
fn entries_that_are_missing_or_elsewhere() {
    let (engine, table) = filled();
    let pool = &engine.inner.pool;
    let tree = &table.indexes[1].tree;
    let (key, value) = entry(&engine, tree, 3);
    let mut elsewhere = key.clone();
    elsewhere[10] += 1;
    tree.remove(pool, &key).unwrap();
    assert_eq!(faults(&engine, &table, true), ["index k contains 3 entries, should be 4"]);
    assert_eq!(faults(&engine, &table, false), ["index k contains 3 entries, should be 4"]);
    tree.put(pool, &elsewhere, &value).unwrap();
    assert!(faults(&engine, &table, true).is_empty());
    let found = faults(&engine, &table, false);
    assert!(found.len() == 1 && found[0].contains("index k and row") && found[0].contains("disagree"));
    tree.remove(pool, &elsewhere).unwrap();
    tree.put(pool, &key, &value).unwrap();
    assert!(faults(&engine, &table, false).is_empty());
}

#[test]
fn chunks_that_are_missing_short_or_nobodys() {
    let (engine, table) = filled();
    let pool = &engine.inner.pool;
    let tree = table.lobs.as_ref().unwrap();
    // What unfinished transactions have written is theirs.
    let unfinished = begin(&engine);
    unfinished.insert(&table, &row(&table, 9)).unwrap();
    let (key, value) = entry(&engine, tree, 4);
    assert!(faults(&engine, &table, false).is_empty());
    let bad_chunks = |count: usize| {
        let found = faults(&engine, &table, false);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(&format!("{count} chunks that are not its 12000 bytes")), "{found:?}");
        assert!(faults(&engine, &table, true).is_empty());
    };
    tree.remove(pool, &key).unwrap();
    bad_chunks(2);
    tree.put(pool, &key, &value[1..]).unwrap();
    bad_chunks(3);
    tree.put(pool, &key, &value).unwrap();
    assert!(faults(&engine, &table, false).is_empty());
    // A value more of a transaction that has committed.
    let mut more = key.clone();
    more[8] = 7;
    tree.put(pool, &more, &value).unwrap();
    let found = faults(&engine, &table, false);
    assert!(found.len() == 1 && found[0].ends_with("is nobody's"), "{found:?}");
    tree.remove(pool, &more).unwrap();
    // What changes took out of rows is noted until it is purged.
    let old = begin(&engine);
    old.take_snapshot().unwrap();
    let transaction = begin(&engine);
    let key = |id: i64| {
        let mut key = Vec::new();
        table.indexes()[0].key_layout().encode(&[Value::Int(id)], &mut key).unwrap();
        key
    };
    transaction.delete(&table, &key(3)).unwrap();
    transaction.commit().unwrap();
    assert!(faults(&engine, &table, false).is_empty());
    drop(old);
    engine.purge().unwrap();
    assert!(faults(&engine, &table, false).is_empty());
    unfinished.rollback().unwrap();
    assert!(engine.check().unwrap().is_empty());
}
