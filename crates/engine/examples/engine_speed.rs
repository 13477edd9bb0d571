//! Times single-row transactions, reads, scans and counts of one warm table, single thread, without waiting for the
//! log. `cargo run --release -p engine --example engine_speed [rows]`. Nanoseconds per operation, wall and CPU.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, SchemaDefinition,
    TableDefinition, TableName, TableOptions,
};
use engine::{
    Engine, EngineOptions, KeyRange, KillFlag, ReadMode, RowBatch, ScanOptions, Table, TransactionOptions,
    WaitPolicy,
};
use env::Environment;
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, Value};

fn column(name: &str, column_type: ColumnType) -> ColumnDefinition {
    ColumnDefinition {
        name: name.into(),
        column_type,
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

fn index(name: &str, kind: IndexKind, column: usize) -> IndexDefinition {
    let parts = vec![IndexPart { column, prefix_length: None, descending: false }];
    IndexDefinition {
        id: IndexId(0),
        name: name.into(),
        kind,
        parts,
        comment: String::new(),
        invisible: false,
        generated: false,
    }
}

/// The table of sysbench: id, k, c CHAR(120), pad CHAR(60), an index on k.
fn definition(table: &str, secondary: bool) -> TableDefinition {
    let mut indexes = vec![index("PRIMARY", IndexKind::Primary, 0)];
    if secondary {
        indexes.push(index("k", IndexKind::Plain, 1));
    }
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: "speed".into(), table: table.into() },
        columns: vec![
            column("id", ColumnType::big_int()),
            column("k", ColumnType::big_int()),
            column("c", ColumnType::varbinary(120)),
            column("pad", ColumnType::varbinary(60)),
        ],
        indexes,
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}

fn row(table: &Table, id: u64, k: u64) -> Vec<u8> {
    let text = |length| Value::Bytes(vec![b'x'; length]);
    let values = [Value::Int(id as i64), Value::Int(k as i64), text(119), text(59)];
    table.layout().encode(&values).unwrap()
}

fn key(table: &Table, id: u64) -> Vec<u8> {
    let mut key = Vec::new();
    table.indexes()[0].key_layout().encode(&[Value::Int(id as i64)], &mut key).unwrap();
    key
}

/// A number that looks random and is different for each `number`.
fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

/// Nanoseconds that this thread has run on a CPU.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn time(name: &str, count: u64, mut step: impl FnMut(u64)) {
    let (start, cpu_start) = (Instant::now(), cpu_ns());
    for number in 0..count {
        step(number);
    }
    let (wall, cpu) = (start.elapsed().as_nanos() as f64, (cpu_ns() - cpu_start) as f64);
    println!("{name:<36} {:>10.1} wall {:>10.1} CPU", wall / count as f64, cpu / count as f64);
}

fn insert_rows(engine: &Engine, table: &Arc<Table>, rows: u64) {
    time(&format!("insert into {}", table.definition().name.table), rows, |id| {
        let transaction = engine.begin(TransactionOptions::default());
        transaction.insert(table, &row(table, id, scramble(id) % rows)).unwrap();
        transaction.commit().unwrap();
    });
}

fn reads(engine: &Engine, table: &Arc<Table>, rows: u64) {
    let last = engine.begin(TransactionOptions::default());
    last.insert(table, &row(table, rows, 0)).unwrap();
    engine.flush_log(last.commit().unwrap()).unwrap();
    let keys: Vec<_> = (0..rows).map(|number| key(table, scramble(number) % rows)).collect();
    time("point read", rows, |number| {
        let transaction = engine.begin(TransactionOptions::default());
        let mut bytes = 0;
        let mode = ReadMode::Consistent;
        transaction.get(table, 0, &keys[number as usize], mode, &mut |row| bytes = row.len()).unwrap();
        assert!(bytes > 0);
    });
    time("scan of the table, per row", 1, |_| {
        let transaction = engine.begin(TransactionOptions::default());
        let mut scan = transaction.scan(table, ScanOptions::default()).unwrap();
        let (mut batch, mut seen) = (RowBatch::new(), 0);
        while scan.next_batch(&transaction, &mut batch, 1000).unwrap() {
            seen += batch.len() as u64;
        }
        assert_eq!(seen, rows + 1);
    });
    time("count", 1, |_| {
        let transaction = engine.begin(TransactionOptions::default());
        assert_eq!(transaction.count(table, 0, &KeyRange::all()).unwrap(), rows + 1);
    });
}

fn updates(engine: &Engine, table: &Arc<Table>, rows: u64) {
    for (name, changes_k) in [("update of an unindexed column", false), ("update of an indexed column", true)]
    {
        time(name, rows / 2, |number| {
            let id = scramble(number) % rows;
            let transaction = engine.begin(TransactionOptions::default());
            let k = if changes_k { number } else { scramble(id) % rows };
            let mut new = row(table, id, k);
            let last = new.len() - 1;
            new[last] = number as u8;
            transaction.update(table, &key(table, id), &new).unwrap();
            transaction.commit().unwrap();
        });
    }
    time("locking read", rows / 2, |number| {
        let transaction = engine.begin(TransactionOptions::default());
        let mode = ReadMode::Exclusive(WaitPolicy::Wait);
        transaction.get(table, 0, &key(table, scramble(number) % rows), mode, &mut |_| {}).unwrap();
        transaction.commit().unwrap();
    });
    time("delete", rows / 2, |number| {
        let transaction = engine.begin(TransactionOptions::default());
        transaction.delete(table, &key(table, number)).unwrap();
        transaction.commit().unwrap();
    });
}

fn main() {
    let rows: u64 = std::env::args().nth(1).map_or(500_000, |rows| rows.parse().unwrap());
    let directory = std::env::temp_dir().join(format!("engine_speed.{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let options =
        EngineOptions { buffer_pool_bytes: 2 << 30, redo_log_bytes: 4 << 30, ..EngineOptions::default() };
    let engine = Engine::open(Environment::real(&directory), options).unwrap();
    let schema = SchemaDefinition { name: "speed".into(), collation: CollationId::BINARY };
    engine.create_schema(schema, &KillFlag::default()).unwrap();
    let plain = engine.create_table(definition("plain", false), &KillFlag::default()).unwrap();
    let table = engine.create_table(definition("indexed", true), &KillFlag::default()).unwrap();
    insert_rows(&engine, &plain, rows);
    insert_rows(&engine, &table, rows);
    reads(&engine, &table, rows);
    updates(&engine, &table, rows);
    engine.shutdown().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}
