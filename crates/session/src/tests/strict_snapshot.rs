//! transaction_strict_snapshot: a client that meets a row changed behind its snapshot.

use crate::tests::{check, connect, environment, run, start};

#[test]
fn a_row_changed_behind_the_snapshot_ends_the_transaction() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let (mut one, mut two) = (connect(&instance, "root").unwrap(), connect(&instance, "root").unwrap());
    run(&mut one, "create database d; create table d.t (a int primary key, b int)");
    run(&mut one, "insert into d.t values (1, 1), (2, 2), (3, 3)");
    run(&mut one, "set transaction_strict_snapshot = on");
    let changed = "ERROR 1020 Record has changed since last read in table 't'";
    let meets = [
        "update d.t set b = 7 where a = 1",
        "delete from d.t",
        "select b from d.t where a = 1 for share",
        "select b from d.t where a = 1 for update skip locked",
        "insert into d.t values (1, 1)",
        "insert into d.t values (1, 1) on duplicate key update b = 5",
        "replace into d.t values (1, 1)",
    ];
    for (round, statement) in meets.iter().enumerate() {
        run(&mut one, "begin; select count(*) from d.t; update d.t set b = 9 where a = 3");
        assert_eq!(run(&mut two, "update d.t set b = b + 1 where a = 1"), ["OK 1"]);
        let b = (round + 2).to_string();
        check(
            &mut one,
            &[
                (statement, changed),
                ("select b from d.t where a = 3", "3"),
                ("rollback", "OK 0"),
                ("select b from d.t where a = 1", &b),
                ("update d.t set b = b where a = 1", "OK 0"),
            ],
        );
    }
    run(&mut one, "begin; select count(*) from d.t");
    run(&mut two, "update d.t set b = 20 where a = 1");
    check(&mut one, &[("update d.t set b = 10 where a = 2", "OK 1"), ("commit", "OK 0")]);
    // Without it the newest row is changed, as in MySQL.
    run(&mut one, "set transaction_strict_snapshot = off; begin; select count(*) from d.t");
    run(&mut two, "update d.t set b = 30 where a = 1");
    check(&mut one, &[("update d.t set b = b + 1 where a = 1", "OK 1"), ("commit", "OK 0")]);
    check(&mut two, &[("select b from d.t where a = 1", "31")]);
}
