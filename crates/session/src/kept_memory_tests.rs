//! What sessions keep between statements, out of what the server has for all statements.

use crate::session::Session;
use crate::tests::{check, connect, environment, run, start};
use instance::Instance;
use std::sync::Arc;

/// A server that has 16 MiB for all statements.
fn small(instance: &Arc<Instance>) -> Box<Session> {
    let mut session = connect(instance, "root").unwrap();
    run(&mut session, "set global global_connection_memory_limit = 16777216; create database d; use d");
    session
}

fn refused(what: &str) -> String {
    format!(
        "ERROR 3170 Memory capacity of 16777216 bytes for '{what}' exceeded. See global_connection_memory_limit."
    )
}

#[test]
fn definitions_of_temporary_tables_are_bounded() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let memory = instance.statement_memory();
    let mut session = small(&instance);
    let comment = "y".repeat(1000);
    let columns: Vec<String> =
        (0..40).map(|number| format!("c{number} varchar(100) comment '{comment}'")).collect();
    let columns = columns.join(", ");
    let mut made = 0;
    let last = loop {
        let answer = run(&mut session, &format!("create temporary table t{made} ({columns})")).join("");
        if answer != "OK 0" {
            break answer;
        }
        made += 1;
    };
    assert_eq!(last, refused("temporary tables"));
    // Each takes some 65 KB.
    assert!((150..320).contains(&made), "{made}");
    assert!(memory.reserved_bytes() >= 14 << 20, "{}", memory.reserved_bytes());
    for sql in [
        "create temporary table more like t1",
        "create temporary table more select * from t1",
        "create temporary table more select * from t1 limit 0",
    ] {
        assert_eq!(run(&mut session, sql).join(""), refused("temporary tables"), "{sql}");
    }
    // What is altered is there twice for a while; what is refused leaves it as it was.
    let longer = format!("alter table t1 add more int comment '{comment}'");
    let altered = run(&mut session, &longer).join("");
    assert!(altered == refused("temporary tables") || altered == "OK 0", "{altered}");
    assert_eq!(run(&mut session, "insert into t1 (c1) values ('a')").join(""), "OK 1");
    for number in 2..made {
        assert_eq!(run(&mut session, &format!("drop temporary table t{number}")).join(""), "OK 0");
    }
    check(
        &mut session,
        &[
            ("create temporary table more select * from t1", "OK 1"),
            ("truncate t1", "OK 0"),
            ("drop table more", "OK 0"),
        ],
    );
    assert!(memory.reserved_bytes() <= 2 << 20, "{}", memory.reserved_bytes());
    drop(session);
    assert_eq!(memory.reserved_bytes(), 0);
}

#[test]
fn texts_of_session_variables_are_bounded() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut one = small(&instance);
    let mut two = connect(&instance, "root").unwrap();
    // What computes a text holds it too: 1114 then.
    let long = |mebibytes: usize| {
        format!("set session session_track_system_variables = '{}'", "x".repeat(mebibytes << 20))
    };
    check(&mut one, &[(&long(6), "OK 0"), (&long(7), "OK 0")]);
    assert_eq!(run(&mut two, &long(12)).join(""), refused("system variables"));
    check(&mut two, &[("select length(@@session_track_system_variables) < 1000", "1"), (&long(4), "OK 0")]);
    // What is replaced counts no longer; others go as their session does.
    check(
        &mut one,
        &[("set session session_track_system_variables = ''", "OK 0"), ("set names utf8mb4", "OK 0")],
    );
    check(&mut two, &[(&long(10), "OK 0")]);
    drop(two);
    assert_eq!(instance.statement_memory().reserved_bytes(), 0);
}

#[test]
fn conditions_are_bounded() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let memory = instance.statement_memory();
    let mut one = small(&instance);
    run(&mut one, "set max_error_count = 65535");
    let item = format!(", cast('{}' as signed)", "z".repeat(100));
    let warned = format!("do 1{}", item.repeat(20_000));
    run(&mut one, &warned);
    assert_eq!(run(&mut one, "show count(*) warnings"), ["20000"]);
    assert_eq!(run(&mut one, "show warnings").len(), 20_000);
    assert!(memory.reserved_bytes() >= 4 << 20, "{}", memory.reserved_bytes());
    run(&mut one, "select 1 from dual where 1 = 0");
    assert_eq!(memory.reserved_bytes(), 0);
    // Another one holds most of what there is: what there is no room for is left out, and counted.
    let mut two = connect(&instance, "root").unwrap();
    run(&mut two, "set @a = repeat('x', 14 << 20)");
    run(&mut one, &warned);
    assert_eq!(run(&mut one, "show count(*) warnings"), ["20000"]);
    let kept = run(&mut one, "show warnings").len();
    assert!((300..10_000).contains(&kept), "{kept}");
}
