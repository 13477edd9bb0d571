//! ON DUPLICATE KEY UPDATE and REPLACE whose row in the way goes away, or is given another key, while they wait for it.
#![allow(clippy::disallowed_methods)]

use crate::common::World;
use engine::{ReadMode, Transaction, TransactionOptions, WaitPolicy};
use std::sync::Arc;
use values::Value;

/// Runs a statement that waits for the row `id` = 9, `k` = 5; meanwhile another transaction does something to the row. The rows
/// afterwards.
fn race(
    statement: &'static str,
    meanwhile: impl FnOnce(&Transaction, &Arc<engine::Table>, &[u8]),
) -> Vec<String> {
    let mut world = World::new();
    world.run("CREATE TABLE t (id INT PRIMARY KEY, k INT UNIQUE, v INT)");
    world.run("INSERT INTO t VALUES (9, 5, 0)");
    let engine = world.engine.clone();
    let table = engine.dictionary().table("test", "t").unwrap();
    let other = engine.begin(TransactionOptions::default());
    let mut key = Vec::new();
    table.indexes()[0].key_layout().encode(&[Value::Int(9)], &mut key).unwrap();
    // X on the row, not on its unique key: the insert finds the duplicate and waits for the row.
    assert!(other.get(&table, 0, &key, ReadMode::Exclusive(WaitPolicy::Wait), &mut |_| {}).unwrap());
    let waiting = std::thread::spawn(move || {
        let answer = world.run(statement);
        assert!(answer.is_empty(), "{answer:?}");
        world
    });
    let waits = || {
        let status = engine.status_variables();
        status.iter().any(|(name, count)| *name == "Innodb_row_lock_current_waits" && *count == 1)
    };
    while !waits() {
        assert!(!waiting.is_finished(), "the statement did not wait");
        std::thread::yield_now();
    }
    meanwhile(&other, &table, &key);
    other.commit().unwrap();
    waiting.join().unwrap().run("SELECT * FROM t ORDER BY id")
}

const UPDATE: &str = "INSERT INTO t VALUES (1, 5, 1) ON DUPLICATE KEY UPDATE v = 100";
const REPLACE: &str = "REPLACE INTO t VALUES (1, 5, 1)";

#[test]
fn a_row_that_was_deleted_meanwhile_is_in_nobodys_way() {
    for statement in [UPDATE, REPLACE] {
        let rows = race(statement, |other, table, key| other.delete(table, key).unwrap());
        assert_eq!(rows, ["1\t5\t1"], "{statement}");
    }
}

#[test]
fn a_row_that_was_given_another_key_meanwhile_is_left_alone() {
    for statement in [UPDATE, REPLACE] {
        let rows = race(statement, |other, table, key| {
            let mut row = Vec::new();
            let values = [Value::Int(9), Value::Int(6), Value::Int(0)];
            table.layout().encode_into(&values, &mut row).unwrap();
            other.update(table, key, &row).unwrap();
        });
        assert_eq!(rows, ["1\t5\t1", "9\t6\t0"], "{statement}");
    }
}

#[test]
fn a_row_that_is_still_in_the_way_is_changed() {
    assert_eq!(race(UPDATE, |_, _, _| {}), ["9\t5\t100"]);
    assert_eq!(race(REPLACE, |_, _, _| {}), ["1\t5\t1"]);
}
