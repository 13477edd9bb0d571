//! What old row versions cost: memory and time of updates under a long snapshot, and of reads of the rows that it sees.
//! `spill_costs DIRECTORY ROWS UPDATES VERSION_MEMORY_MIB`, on a real disk, an update a transaction.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use charset::CollationId;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, SchemaDefinition,
    TableDefinition, TableName, TableOptions,
};
use engine::{Engine, EngineOptions, FlushLevel, KillFlag, ReadMode, Table, Transaction, TransactionOptions};
use env::Environment;
use std::path::Path;
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, TypeKind, Value};

/// As the server.
#[global_allocator]
static ALLOCATOR: env::Allocator = env::Allocator;

const READS: i64 = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments[at].parse::<i64>().unwrap();
    let (rows, updates) = (number(2), number(3));
    let options = EngineOptions {
        buffer_pool_bytes: 512 << 20,
        version_memory_bytes: (number(4) as u64) << 20,
        flush_level: FlushLevel::EverySecond,
        ..Default::default()
    };
    let engine = Engine::open(Environment::real(Path::new(&arguments[1])), options).unwrap();
    engine
        .create_schema(
            SchemaDefinition { name: "s".to_owned(), collation: CollationId::BINARY },
            &KillFlag::default(),
        )
        .unwrap();
    let table = engine.create_table(definition(), &KillFlag::default()).unwrap();
    for first in (0..rows).step_by(10_000) {
        let encoded: Vec<Vec<u8>> =
            (first..(first + 10_000).min(rows)).map(|id| row(&table, id, 0)).collect();
        let slices: Vec<&[u8]> = encoded.iter().map(|row| &row[..]).collect();
        let transaction = engine.begin(TransactionOptions::default());
        transaction.insert_many(&table, &slices).unwrap();
        transaction.commit().unwrap();
    }
    engine.purge().unwrap();
    let before = memory_mib(&engine);
    println!("{rows} rows filled: {before} MiB resident beside the pool");
    let long = engine.begin(TransactionOptions::default());
    long.take_snapshot().unwrap();
    measure("update", updates, &mut || {
        for at in 0..updates {
            let transaction = engine.begin(TransactionOptions::default());
            update(&transaction, &table, at * 7919 % rows, at + 1);
            transaction.commit().unwrap();
        }
    });
    let after = memory_mib(&engine);
    let status = engine.status();
    println!(
        "{updates} updates: {} MiB more resident beside the pool, {:.0} bytes a version; {} MiB counted, {} of {} versions and {} MiB spilled",
        after - before,
        (after - before) as f64 * 1_048_576.0 / updates as f64,
        status.old_version_bytes >> 20,
        status.spilled_versions,
        status.old_versions,
        status.spilled_version_bytes >> 20
    );
    reads("old read", &long, &table, rows);
    reads("new read", &engine.begin(TransactionOptions::default()), &table, rows);
    drop(long);
    measure("purge", updates, &mut || {
        engine.purge().unwrap();
    });
    let status = engine.status();
    println!(
        "purged: {} MiB resident beside the pool, {} versions left",
        memory_mib(&engine),
        status.old_versions
    );
    without_snapshot(&engine, &table, rows, updates / 4);
}

/// Small transactions whose versions are purged soon, then one that changes all rows.
fn without_snapshot(engine: &Engine, table: &Arc<Table>, rows: i64, updates: i64) {
    measure("update without a long snapshot", updates, &mut || {
        for at in 0..updates {
            let transaction = engine.begin(TransactionOptions::default());
            update(&transaction, table, at * 7919 % rows, at + 1);
            transaction.commit().unwrap();
        }
    });
    let huge = engine.begin(TransactionOptions::default());
    let before = memory_mib(engine);
    measure("update of all rows in one transaction", rows, &mut || {
        (0..rows).for_each(|id| update(&huge, table, id, 7));
    });
    println!("{} MiB more resident beside the pool", memory_mib(engine) - before);
    let mut huge = Some(huge);
    measure("rollback of it", rows, &mut || huge.take().unwrap().rollback().unwrap());
}

fn reads(what: &str, transaction: &Transaction, table: &Arc<Table>, rows: i64) {
    let mut sum = 0;
    measure(what, READS, &mut || {
        for at in 0..READS {
            let key = key(table, at * 104_729 % rows);
            let found =
                transaction.get(table, 0, &key, ReadMode::Consistent, &mut |row| sum += row.len()).unwrap();
            assert!(found);
        }
    });
    std::hint::black_box(sum);
}

fn measure(what: &str, count: i64, work: &mut dyn FnMut()) {
    let (began, wall) = (cpu_ns(), std::time::Instant::now());
    work();
    let each = |ns: u64| ns as f64 / 1e3 / count as f64;
    let wall_ns = wall.elapsed().as_nanos() as u64;
    println!("{what}: {:.3} us each, {:.3} us by the clock", each(cpu_ns() - began), each(wall_ns));
}

fn update(transaction: &Transaction, table: &Arc<Table>, id: i64, state: i64) {
    transaction.update(table, &key(table, id), &row(table, id, state)).unwrap();
}

/// CPU time of this thread: the machine may be busy with other work.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Resident memory without the pages of the buffer pool.
fn memory_mib(engine: &Engine) -> u64 {
    let variables = engine.status_variables();
    let pages = variables.iter().find(|(name, _)| *name == "Innodb_buffer_pool_pages_data").unwrap().1;
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024 - pages / 64
}

fn key(table: &Table, id: i64) -> Vec<u8> {
    let mut key = Vec::new();
    table.indexes()[0].key_layout().encode(&[Value::Int(id)], &mut key).unwrap();
    key
}

/// About 100 bytes.
fn row(table: &Table, id: i64, state: i64) -> Vec<u8> {
    let text = format!("{id:020}{state:020}{}", "x".repeat(40));
    table.layout().encode(&[Value::Int(id), Value::Bytes(text.into_bytes())]).unwrap()
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
    let primary = IndexDefinition {
        id: IndexId(0),
        name: "PRIMARY".to_owned(),
        kind: IndexKind::Primary,
        parts: vec![IndexPart { column: 0, prefix_length: None, descending: false }],
        comment: String::new(),
        invisible: false,
        generated: false,
    };
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: "s".to_owned(), table: "t".to_owned() },
        columns: vec![column("id", TypeKind::BigInt, None), column("c", TypeKind::VarBinary, Some(120))],
        indexes: vec![primary],
        collation: CollationId::BINARY,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}
