//! What a row costs in allocations: nothing where texts are only looked at, compared, grouped, sorted, joined or sent, because values
//! lie in the storage of batches. Counted over two numbers of rows, so that what a statement asks for once does not count.
#![allow(clippy::unwrap_used)]

mod common;

use common::{COLLATION, World};
use expression::TypedValue;
use stdx::counting_allocator::{CountingAllocator, allocations, bytes_held_by};
use values::{ColumnType, Value};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const FEW: u64 = 4_000;
const MANY: u64 = 12_000;
/// Storage grows by doubling, and the engine reads pages: some allocations are made for many rows.
const ALLOCATIONS_A_ROW_MAX: f64 = 0.02;
/// A text alone is longer.
const BYTES_A_ROW_MAX: u64 = 4;

fn world(rows: u64) -> World {
    let mut world = World::new();
    world.run("CREATE TABLE t (id INT NOT NULL, n INT, s VARCHAR(40), u VARCHAR(40), d VARCHAR(9), PRIMARY KEY (id))");
    world.run("CREATE TABLE few (id INT NOT NULL, s VARCHAR(40), PRIMARY KEY (id))");
    for start in (0..rows).step_by(500) {
        let tuple =
            |id| format!("({id},{},'name of {}','street {}','{}')", id % 7, id % 100, id % 1000, id % 50);
        let tuples: Vec<String> = (start..start + 500).map(tuple).collect();
        assert!(world.run(&format!("INSERT INTO t VALUES {}", tuples.join(","))).is_empty());
    }
    assert!(world.run("INSERT INTO few SELECT id, s FROM t WHERE id < 100").is_empty());
    world.channel.sends = true;
    world.parameters = vec![TypedValue {
        value: Value::Bytes(b"street 9".to_vec()),
        column_type: ColumnType::varchar(40, COLLATION),
    }];
    world
}

/// Allocations of a statement, which has run before.
fn counted(world: &mut World, sql: &str) -> u64 {
    let answer = world.run(sql);
    assert!(answer.is_empty(), "{sql}: {answer:?}");
    let before = allocations();
    world.run(sql);
    allocations() - before
}

#[test]
fn rows_of_texts_allocate_nothing() {
    let statements = [
        ("filter", "SELECT COUNT(*) FROM t WHERE s = 'name of 7' OR u > 'street 9' OR s = u"),
        (
            "list",
            "SELECT COUNT(*) FROM t WHERE u IN ('street 1', 'street 2') OR u BETWEEN 'street 3' AND 'street 4'",
        ),
        ("parameter", "SELECT COUNT(*) FROM t WHERE u = ? AND s <> 'x'"),
        ("integer", "SELECT COUNT(*) FROM t WHERE CAST(d AS SIGNED) > 7"),
        ("decimal", "SELECT COUNT(*) FROM t WHERE CAST(d AS DECIMAL(9)) > 7"),
        ("double", "SELECT COUNT(*) FROM t WHERE d > 3"),
        ("projection", "SELECT u, s, n + 1 FROM t WHERE s <> 'x'"),
        ("group", "SELECT s, COUNT(*), MAX(u) FROM t GROUP BY s"),
        ("distinct", "SELECT DISTINCT u FROM t"),
        ("order", "SELECT s, u FROM t ORDER BY u, s"),
        ("join", "SELECT t.u, few.s FROM t JOIN few ON t.s = few.s AND t.u <> few.s"),
        ("lookup", "SELECT t.u, few.s FROM t JOIN few ON t.n = few.id AND t.u <> few.s"),
        ("kept side", "SELECT COUNT(*) FROM t a JOIN t b ON a.u = b.u AND a.s = b.s AND a.id = b.id + 1"),
        ("derived", "SELECT u, COUNT(*) FROM (SELECT u, s FROM t LIMIT 1000000) x WHERE s <> 'x' GROUP BY u"),
        ("union", "SELECT s FROM t UNION SELECT u FROM t"),
    ];
    let (mut few, mut many) = (world(FEW), world(MANY));
    let mut found = Vec::new();
    for (name, sql) in statements {
        let more = counted(&mut many, sql).saturating_sub(counted(&mut few, sql));
        let of_row = more as f64 / (MANY - FEW) as f64;
        if of_row > ALLOCATIONS_A_ROW_MAX {
            found.push(format!("{name}: {of_row:.2}"));
        }
    }
    assert!(found.is_empty(), "allocations a row: {found:#?}");
}

/// Rows that pass leave nothing behind, whichever way they go: a statement holds no more for more of them.
#[test]
fn rows_that_were_sent_leave_nothing_behind() {
    let statements = [
        ("stored rows", "SELECT id, n, s, u, d FROM t"),
        ("stored rows that a condition reads", "SELECT id, s, u FROM t WHERE s <> 'x' AND u <> s"),
        ("a range that a condition reads", "SELECT s FROM t WHERE id > 7 AND u <> 'x'"),
        ("filter", "SELECT s, n + 1 FROM t WHERE s <> 'x'"),
        ("lookup", "SELECT t.u, few.s FROM t JOIN few ON t.n = few.id AND t.u <> few.s"),
        ("no match", "SELECT t.u, few.s FROM t LEFT JOIN few ON t.n = few.id AND t.u = few.s"),
        ("join", "SELECT t.u, few.s FROM t JOIN few ON t.s = few.s AND t.u <> few.s"),
        ("queries one behind the other", "SELECT s FROM t WHERE u <> 'x' UNION ALL SELECT u FROM t"),
        ("derived", "SELECT u FROM (SELECT u, s FROM t LIMIT 1000000) x WHERE s <> 'x'"),
        ("few groups", "SELECT u, COUNT(*), MAX(s) FROM t GROUP BY u"),
        ("subquery", "SELECT s, (SELECT MAX(few.s) FROM few WHERE few.id = t.n) FROM t WHERE u <> 'x'"),
    ];
    let (mut few, mut many) = (world(FEW), world(MANY));
    let mut found = Vec::new();
    for (name, sql) in statements {
        let [of_few, of_many] = [&mut few, &mut many].map(|world| {
            world.run(sql);
            bytes_held_by(|| drop(world.run(sql)))
        });
        if of_many > of_few + (MANY - FEW) * BYTES_A_ROW_MAX {
            found.push(format!("{name}: {of_few} bytes for {FEW} rows, {of_many} for {MANY}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
