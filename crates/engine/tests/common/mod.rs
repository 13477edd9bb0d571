//! What the engine's tests share: a table with a unique and a plain secondary index on a simulated disk.
#![allow(dead_code, clippy::unwrap_used)]

pub mod model;

use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, SchemaDefinition,
    TableDefinition, TableName, TableOptions,
};
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use std::time::Duration;
use stdx::ids::{IndexId, TableId};
use values::row::RowView;
use values::{ColumnType, TypeKind, Value};

pub type Row = (i64, Option<i64>, String);

pub fn options() -> EngineOptions {
    EngineOptions {
        buffer_pool_bytes: 8 << 20,
        redo_log_bytes: 4 << 20,
        lock_wait_timeout: Duration::from_secs(20),
        background_threads: false,
        ..EngineOptions::default()
    }
}

pub fn open(disk: &SimulatedDisk) -> Engine {
    Engine::open(Environment::simulated(disk.clone(), 1), options()).expect("the engine opens")
}

fn column_type(kind: TypeKind, length: Option<u32>) -> ColumnType {
    ColumnType {
        kind,
        unsigned: false,
        zerofill: false,
        length,
        decimals: None,
        collation: CollationId::BINARY,
        members: Vec::new().into(),
    }
}

fn column(name: &str, column_type: ColumnType, nullable: bool) -> ColumnDefinition {
    ColumnDefinition {
        name: name.to_owned(),
        column_type,
        nullable,
        default: ColumnDefault::None,
        generated: None,
        on_update_now: None,
        auto_increment: name == "id",
        invisible: false,
        names_collation: false,
        comment: String::new(),
    }
}

pub fn index(name: &str, kind: IndexKind, column: usize) -> IndexDefinition {
    IndexDefinition {
        id: IndexId(0),
        name: name.to_owned(),
        kind,
        parts: vec![IndexPart { column, prefix_length: None, descending: false }],
        comment: String::new(),
        invisible: false,
        generated: false,
    }
}

pub fn name(table: &str) -> TableName {
    TableName { schema: "test".to_owned(), table: table.to_owned() }
}

/// `(id BIGINT PRIMARY KEY, a BIGINT NULL UNIQUE, s VARBINARY(9000), KEY (s) unless it is too long)`.
pub fn definition(table: &str) -> TableDefinition {
    TableDefinition {
        id: TableId(0),
        name: name(table),
        columns: vec![
            column("id", column_type(TypeKind::BigInt, None), false),
            column("a", column_type(TypeKind::BigInt, None), true),
            column("s", column_type(TypeKind::VarBinary, Some(9000)), false),
        ],
        indexes: vec![
            index("PRIMARY", IndexKind::Primary, 0),
            index("u", IndexKind::Unique, 1),
            IndexDefinition {
                parts: vec![IndexPart { column: 2, prefix_length: Some(50), descending: false }],
                ..index("k", IndexKind::Plain, 2)
            },
        ],
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}

pub fn create(engine: &Engine, table: &str) -> Arc<Table> {
    if engine.dictionary().schema("test").is_none() {
        let schema = SchemaDefinition { name: "test".to_owned(), collation: CollationId::BINARY };
        engine.create_schema(schema, &KillFlag::default()).unwrap();
    }
    engine.create_table(definition(table), &KillFlag::default()).unwrap()
}

pub fn table(engine: &Engine, table: &str) -> Arc<Table> {
    engine.dictionary().table("test", table).expect("the table exists")
}

pub fn encode(table: &Table, row: &Row) -> Vec<u8> {
    let a = row.1.map_or(Value::Null, Value::Int);
    table.layout().encode(&[Value::Int(row.0), a, Value::Bytes(row.2.clone().into_bytes())]).unwrap()
}

pub fn decode(table: &Table, row: &[u8]) -> Row {
    let view = RowView::new(table.layout(), row).unwrap();
    let Value::Int(id) = view.value(0) else { panic!("id") };
    let a = match view.value(1) {
        Value::Int(a) => Some(a),
        _ => None,
    };
    let Value::Bytes(s) = view.value(2) else { panic!("s") };
    (id, a, String::from_utf8(s).unwrap())
}

pub fn key(table: &Table, id: i64) -> Vec<u8> {
    let mut key = Vec::new();
    table.indexes()[0].key_layout().encode(&[Value::Int(id)], &mut key).unwrap();
    key
}

pub fn row(id: i64, a: i64, s: &str) -> Row {
    (id, Some(a), s.to_owned())
}

pub fn begin(engine: &Engine) -> Transaction {
    // The last commit of the "session" is taken to be whatever is in the log: tests do not flush each commit.
    engine.begin(TransactionOptions {
        sees_at_least: stdx::ids::Lsn(u64::MAX),
        ..TransactionOptions::default()
    })
}

pub fn insert(engine: &Engine, table: &Arc<Table>, rows: &[Row]) {
    let transaction = begin(engine);
    for row in rows {
        transaction.insert(table, &encode(table, row)).unwrap();
    }
    transaction.commit().unwrap();
}

/// All rows by a scan of that index.
pub fn scan(
    transaction: &Transaction,
    table: &Arc<Table>,
    index: usize,
    mode: ReadMode,
) -> EngineResult<Vec<Row>> {
    let options = ScanOptions { index, mode, ..ScanOptions::default() };
    let mut scan = transaction.scan(table, options)?;
    let mut batch = RowBatch::new();
    let mut rows = Vec::new();
    while scan.next_batch(transaction, &mut batch, 100)? {
        rows.extend((0..batch.len()).map(|at| decode(table, batch.row(at))));
    }
    Ok(rows)
}

/// All rows in key order, read through every index, which must agree.
pub fn all(transaction: &Transaction, table: &Arc<Table>) -> Vec<Row> {
    let rows = scan(transaction, table, 0, ReadMode::Consistent).unwrap();
    for index in 1..table.indexes().len() {
        let mut by_index = scan(transaction, table, index, ReadMode::Consistent).unwrap();
        by_index.sort();
        assert_eq!(by_index, rows, "index {index} agrees with the clustered index");
        let count = transaction.count(table, index, &KeyRange::all()).unwrap();
        assert_eq!(count, rows.len() as u64, "count by index {index}");
    }
    assert_eq!(transaction.count(table, 0, &KeyRange::all()).unwrap(), rows.len() as u64);
    rows
}
