//! Prints what single rows cost in the engine, on one thread, everything in memory, as CPU time: point
//! reads, inserts, updates, counts, scans. `cargo run --profile quick -p engine --example row_costs`
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use charset::CollationId;
use dictionary::*;
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, TypeKind, Value};

const ROWS: i64 = 200_000;

fn main() {
    let environment =
        Environment { clock: Arc::new(env::RealClock), ..Environment::simulated(SimulatedDisk::new(1), 1) };
    let options = EngineOptions {
        buffer_pool_bytes: 512 << 20,
        flush_level: FlushLevel::EverySecond,
        ..Default::default()
    };
    let engine = Engine::open(environment, options).unwrap();
    engine
        .create_schema(
            SchemaDefinition { name: "s".to_owned(), collation: CollationId::BINARY },
            &KillFlag::default(),
        )
        .unwrap();
    let table = engine.create_table(definition(), &KillFlag::default()).unwrap();
    let sum = writes(&engine, &table) + scans(&engine, &table);
    std::hint::black_box(sum);
}

fn measure(what: &str, count: i64, work: &mut dyn FnMut()) {
    let began = cpu_ns();
    work();
    println!("{what}: {:.3} us each", (cpu_ns() - began) as f64 / 1e3 / count as f64);
}

/// Inserts, point reads, updates and purge.
fn writes(engine: &Engine, table: &Arc<Table>) -> usize {
    measure("autocommit insert, 2 secondary indexes", ROWS, &mut || {
        for id in 0..ROWS {
            let transaction = engine.begin(TransactionOptions::default());
            transaction.insert(table, &row(table, id)).unwrap();
            transaction.commit().unwrap();
        }
    });
    measure("insert of many, 2 secondary indexes", ROWS, &mut || {
        let rows: Vec<Vec<u8>> = (ROWS..2 * ROWS).map(|id| row(table, id)).collect();
        let slices: Vec<&[u8]> = rows.iter().map(|row| &row[..]).collect();
        let transaction = engine.begin(TransactionOptions::default());
        transaction.insert_many(table, &slices).unwrap();
        transaction.commit().unwrap();
    });
    engine.purge().unwrap();
    let mut sum = 0;
    measure("autocommit point get", ROWS, &mut || {
        let mut key = Vec::new();
        for id in 0..ROWS {
            key.clear();
            let id = id * 7919 % (2 * ROWS);
            table.indexes()[0].key_layout().encode(&[Value::Int(id)], &mut key).unwrap();
            let transaction = engine.begin(TransactionOptions::default());
            transaction.get(table, 0, &key, ReadMode::Consistent, &mut |row| sum += row.len()).unwrap();
        }
    });
    measure("autocommit update of a column without index", ROWS, &mut || {
        let mut key = Vec::new();
        for id in 0..ROWS {
            key.clear();
            table.indexes()[0].key_layout().encode(&[Value::Int(id)], &mut key).unwrap();
            let transaction = engine.begin(TransactionOptions::default());
            let values = [Value::Int(id), Value::Int(id * 31 % 1_000_003), Value::Int(id + 1), text(id + 1)];
            transaction.update(table, &key, &table.layout().encode(&values).unwrap()).unwrap();
            transaction.commit().unwrap();
        }
    });
    measure("purge", ROWS, &mut || {
        engine.purge().unwrap();
    });
    sum
}

/// Counts and scans.
fn scans(engine: &Engine, table: &Arc<Table>) -> usize {
    let mut sum = 0;
    let reader = engine.begin(TransactionOptions::default());
    measure("count", 2 * ROWS, &mut || {
        assert_eq!(reader.count(table, 0, &KeyRange::all()).unwrap(), 2 * ROWS as u64);
    });
    for (name, index, covering) in
        [("scan, clustered", 0, false), ("scan, covering", 1, true), ("scan, secondary", 1, false)]
    {
        measure(name, 2 * ROWS, &mut || {
            let mut scan = reader.scan(table, ScanOptions { index, covering, ..Default::default() }).unwrap();
            let mut batch = RowBatch::new();
            while scan.next_batch(&reader, &mut batch, 1024).unwrap() {
                sum += batch.len();
            }
        });
    }
    sum
}

/// CPU time of this thread: the machine may be busy with other work.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn text(id: i64) -> Value {
    Value::Bytes(format!("row number {id} with some text behind it").into_bytes())
}

fn row(table: &Table, id: i64) -> Vec<u8> {
    table
        .layout()
        .encode(&[Value::Int(id), Value::Int(id * 31 % 1_000_003), Value::Int(id), text(id)])
        .unwrap()
}

fn definition() -> TableDefinition {
    let column = |name: &str, kind, length| ColumnDefinition {
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
    };
    let index = |name: &str, kind, column| IndexDefinition {
        id: IndexId(0),
        name: name.to_owned(),
        kind,
        parts: vec![IndexPart { column, prefix_length: None, descending: false }],
        comment: String::new(),
        invisible: false,
        generated: false,
    };
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: "s".to_owned(), table: "t".to_owned() },
        columns: vec![
            column("id", TypeKind::BigInt, None),
            column("k", TypeKind::Int, None),
            column("n", TypeKind::BigInt, None),
            column("c", TypeKind::VarBinary, Some(120)),
        ],
        indexes: vec![
            index("PRIMARY", IndexKind::Primary, 0),
            index("k", IndexKind::Plain, 1),
            index("u", IndexKind::Unique, 1),
        ],
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}
