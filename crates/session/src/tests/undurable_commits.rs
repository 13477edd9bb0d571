//! Commits that are not durable yet: who hears of them waits, and who has met one does not read what was before it.

use crate::session::Session;
use crate::tests::{Printer, connect, environment, run, start};
use instance::Instance;
use std::sync::Arc;
use stdx::ids::Lsn;

/// Runs a statement whose log nobody flushes.
fn unflushed(session: &mut Session, sql: &str) -> (Vec<String>, Lsn) {
    let mut printer = Printer::default();
    let lsn = session.query(sql.as_bytes(), &mut printer);
    (printer.lines, lsn)
}

fn opened() -> (Arc<Instance>, Box<Session>, Box<Session>) {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let [mut one, mut other] = [(), ()].map(|()| connect(&instance, "root").unwrap());
    run(&mut one, "create database d; use d");
    run(&mut one, "create table t (id int primary key, n int)");
    run(&mut one, "create table c (id int primary key, t int, foreign key (t) references t (id))");
    run(&mut one, "insert into t values (1, 0)");
    run(&mut other, "use d");
    (instance, one, other)
}

/// Rule C3: an error tells of a row as a result does.
#[test]
fn errors_about_rows_wait_for_these() {
    let (instance, mut one, mut other) = opened();
    for (first, second, number) in [
        ("insert into t values (2, 2)", "insert into t values (2, 3)", 1062),
        ("insert into c values (1, 1)", "delete from t where id = 1", 1451),
    ] {
        let (_, committed) = unflushed(&mut one, first);
        let (lines, lsn) = unflushed(&mut other, second);
        assert!(lines[0].starts_with(&format!("ERROR {number}")), "{lines:?}");
        assert!(
            lsn >= committed || instance.engine().durable_lsn() >= committed,
            "{second}: {lsn} < {committed}"
        );
    }
}

#[test]
fn a_read_is_not_older_than_the_rows_that_the_transaction_has_locked() {
    let (_instance, mut one, mut other) = opened();
    for (isolation, n) in [("read committed", 1), ("repeatable read", 2)] {
        run(&mut other, &format!("set session transaction isolation level {isolation}"));
        unflushed(&mut one, &format!("update t set n = {n} where id = 1"));
        let packet = "begin; select n from t where id = 1 for update; select n from t where id = 1; commit";
        let (lines, _) = unflushed(&mut other, packet);
        assert_eq!(
            lines,
            ["OK 0".to_owned(), n.to_string(), n.to_string(), "OK 0".to_owned()],
            "{isolation}"
        );
    }
}

#[test]
fn what_was_acknowledged_stays_visible_when_the_flush_level_changes() {
    for level in [0, 2] {
        let (_instance, mut one, mut other) = opened();
        run(&mut one, &format!("set global innodb_flush_log_at_trx_commit = {level}"));
        unflushed(&mut one, "insert into t values (7, 7)");
        run(&mut one, "set global innodb_flush_log_at_trx_commit = 1");
        assert_eq!(unflushed(&mut other, "select n from t where id = 7").0, ["7"], "level {level}");
    }
}

#[test]
fn who_gets_a_lock_sees_what_its_holder_has_committed() {
    let (_instance, mut one, mut other) = opened();
    unflushed(&mut one, "do get_lock('l', 1); update t set n = 5 where id = 1; do release_lock('l')");
    let (lines, _) = unflushed(&mut other, "do get_lock('l', 1); select n from t where id = 1");
    assert_eq!(lines, ["OK 0", "5"]);
}
