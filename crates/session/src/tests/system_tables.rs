//! Look-ups in tables without storage: which definitions they open, which rows they find, and where they stop.

use crate::prepared::ExecuteFlags;
use crate::session::Session;
use crate::tests::{Printer, check, connect, environment, run, start};
use instance::Instance;
use std::sync::Arc;
use values::Value;

const TABLES: usize = 40;

/// Tables `t0` to `t39`, of which hardly any is open.
fn many_tables(session: &mut Session, instance: &Arc<Instance>) {
    instance.engine().dictionary().set_open_max(0);
    run(session, "create database d; use d");
    for number in 0..TABLES {
        let made = format!("create table t{number} (id int primary key, a int, b varchar(9), key k (a, b))");
        assert_eq!(run(session, &made), ["OK 0"]);
    }
}

/// How many tables a statement opened, and its rows.
fn opened(session: &mut Session, instance: &Arc<Instance>, sql: &str) -> (u64, Vec<String>) {
    let before = instance.engine().dictionary().opened_table_count();
    let rows = run(session, sql);
    assert!(!rows.first().is_some_and(|row| row.starts_with("ERROR")), "{sql}: {rows:?}");
    (instance.engine().dictionary().opened_table_count() - before, rows)
}

#[test]
fn a_look_up_opens_the_tables_that_it_names() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = connect(&instance, "root").unwrap();
    many_tables(&mut session, &instance);
    let cases = [
        (
            "select count(*) from information_schema.columns where table_schema = 'd' and table_name = 't7'",
            1,
            "3",
        ),
        ("select count(*) from information_schema.columns where table_name = 't8'", 1, "3"),
        ("select count(*) from information_schema.columns where table_name = 't7 '", 1, "3"),
        ("select count(*) from information_schema.columns where 'no' = table_name", 0, "0"),
        ("select count(*) from information_schema.columns where table_name = 'T9'", 0, "0"),
        ("select count(*) from information_schema.columns where table_schema = 'no'", 0, "0"),
        ("select count(*) from information_schema.columns where table_name = concat('t', 1, 1)", 1, "3"),
        (
            "select count(*) from information_schema.statistics where table_schema = 'd' and table_name in ('t1', 't2', 't1')",
            2,
            "6",
        ),
        (
            "select sum(data_free >= 0) from information_schema.tables where table_schema = 'd' and table_name = 't3'",
            1,
            "1",
        ),
        (
            "select count(*) from information_schema.key_column_usage where constraint_schema = 'd' and table_name = 't4'",
            1,
            "1",
        ),
        ("select count(*) from information_schema.table_constraints where table_name = 't13'", 1, "1"),
        ("select count(*) from information_schema.partitions where table_name = 't5'", 1, "1"),
        ("select count(*) from information_schema.innodb_tables where name = 'd/t15'", 1, "1"),
        // Nothing but names is read.
        ("select count(*) from information_schema.tables where table_schema = 'd'", 0, "40"),
        ("select count(*) from information_schema.schemata where schema_name in ('d', 'e')", 0, "1"),
        // Values of the row before.
        (
            "select count(*) from information_schema.tables t join information_schema.columns c on \
             c.table_schema = t.table_schema and c.table_name = t.table_name where t.table_name = 't6'",
            1,
            "3",
        ),
        (
            "select count(*) from (select 't10' n union select 't11') x join information_schema.columns c on c.table_name = x.n",
            2,
            "6",
        ),
        (
            "select count(c.column_name) from (select 't10' n union select 'no') x left join information_schema.columns c \
             on c.table_name = x.n and c.column_name <> 'id'",
            1,
            "2",
        ),
        (
            "select (select count(*) from information_schema.columns c where c.table_name = x.n) from (select 't12' n) x",
            1,
            "3",
        ),
        // Rows are made as they are pulled.
        ("select table_rows from information_schema.tables where table_schema = 'd' limit 1", 1, "0"),
        // Names that are compared in another collation: they are looked through, and those that are equal opened.
        (
            "select count(*) from information_schema.columns where table_name = _utf8mb3'T16' collate utf8mb3_general_ci",
            1,
            "3",
        ),
        (
            "select count(*) from (select _utf8mb4'T17' collate utf8mb4_0900_ai_ci n) x \
             join information_schema.columns c on c.table_name = x.n",
            1,
            "3",
        ),
        // A literal gives way to the column also where a query in FROM shows it.
        (
            "select count(*) from (select 'T17' n) x join information_schema.columns c on c.table_name = x.n",
            0,
            "0",
        ),
    ];
    for (sql, tables, answer) in cases {
        assert_eq!(opened(&mut session, &instance, sql), (tables, vec![answer.to_owned()]), "{sql}");
    }
    let (all, _) = opened(
        &mut session,
        &instance,
        "select count(column_name) from information_schema.columns where table_schema = 'd'",
    );
    assert!(all > TABLES as u64 / 2, "{all}");
    for (sql, tables, rows) in [
        ("show tables", 0, TABLES),
        ("show tables like 't1'", 0, 1),
        ("show columns from t20", 1, 3),
        ("show full columns from t21", 1, 3),
        ("show index from t22", 1, 3),
        ("show index from t23 where key_name = 'k'", 1, 2),
    ] {
        let (opened, shown) = opened(&mut session, &instance, sql);
        assert_eq!((opened, shown.len()), (tables, rows), "{sql}");
    }
}

#[test]
fn prepared_look_ups_take_their_values_when_they_run() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = connect(&instance, "root").unwrap();
    many_tables(&mut session, &instance);
    let text =
        b"select count(*) from information_schema.columns where table_schema = ? and table_name in (?, ?)";
    let id = session.prepare(text).unwrap().statement_id;
    for (names, tables, answer) in [(["t1", "t2"], 2, "6"), (["t3", "t3"], 1, "3"), (["x", "y"], 0, "0")] {
        let before = instance.engine().dictionary().opened_table_count();
        let mut printer = Printer::default();
        let values = ["d", names[0], names[1]].map(|name| Value::Bytes(name.as_bytes().to_vec()));
        session.execute(id, ExecuteFlags::default(), Vec::new(), values.to_vec(), &mut printer);
        assert_eq!(printer.take_lines(), [answer], "{names:?}");
        assert_eq!(instance.engine().dictionary().opened_table_count() - before, tables, "{names:?}");
    }
    let mut printer = Printer::default();
    let values = vec![Value::Null, Value::Bytes(b"t1".to_vec()), Value::Null];
    session.execute(id, ExecuteFlags::default(), Vec::new(), values, &mut printer);
    assert_eq!(printer.take_lines(), ["0"]);
}

#[test]
fn keys_show_nobody_more_than_a_scan() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int, b int); create table d.hidden (a int)");
    run(&mut root, "create user u; grant select (b) on d.t to u; create user w");
    let mut user = connect(&instance, "u").unwrap();
    check(
        &mut user,
        &[
            ("select table_name from information_schema.tables where table_schema = 'd'", "t"),
            ("select count(*) from information_schema.tables where table_name = 'hidden'", "0"),
            ("select column_name from information_schema.columns where table_name = 't'", "b"),
            (
                "select count(*) from information_schema.columns where table_name = 't' and column_name = 'A'",
                "0",
            ),
            (
                "select count(*) from information_schema.columns where table_name = 't' and column_name = 'B'",
                "1",
            ),
            ("select count(*) from information_schema.schemata where schema_name = '#system'", "0"),
            ("select count(*) from information_schema.user_privileges where grantee = '''w''@''%'''", "0"),
            ("select count(*) from information_schema.user_privileges where grantee = '''u''@''%'''", "1"),
        ],
    );
    let other = connect(&instance, "w").unwrap();
    let asked = format!("select count(*) from information_schema.processlist where id = {}", other.id());
    assert_eq!(run(&mut user, &asked), ["0"]);
    assert_eq!(run(&mut root, &asked), ["1"]);
    let names = "variable_name in ('AUTOCOMMIT', 'sql_mode')";
    assert_eq!(
        run(&mut user, &format!("select count(*) from performance_schema.session_variables where {names}")),
        ["2"]
    );
}
