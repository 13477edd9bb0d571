//! With what sessions start, and with what they go on after a reset.

use crate::session::Session;
use crate::tests::{Printer, check, connect, environment, info, run, start};
use accounts::ClientHost;
use instance::Instance;
use std::sync::Arc;
use wire::capabilities::client;
use wire::result::SessionChange;

const NAMES: &str =
    "select @@character_set_client, @@collation_connection, @@character_set_database, database()";

fn open(instance: &Arc<Instance>, collation: u16, schema: &str, capabilities: u32) -> Box<Session> {
    let account = instance.find_account("root", &ClientHost::local()).unwrap();
    let mut info = info(instance, "root");
    (info.collation, info.schema) = (collation, schema.to_owned());
    info.capabilities |= u64::from(capabilities);
    Session::open(instance, info, &account).unwrap()
}

#[test]
fn each_kind_of_start_has_its_variables_the_second_time_too() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database old charset latin1");
    for _ in 0..2 {
        assert_eq!(run(&mut open(&instance, 8, "", 0), NAMES), ["latin1|latin1_swedish_ci|utf8mb4|NULL"]);
        assert_eq!(run(&mut open(&instance, 46, "old", 0), NAMES), ["utf8mb4|utf8mb4_bin|latin1|old"]);
        let mut interactive = open(&instance, 46, "", client::INTERACTIVE);
        run(&mut interactive, "set global interactive_timeout = 77");
        let timeout = run(&mut open(&instance, 46, "", client::INTERACTIVE), "select @@wait_timeout");
        assert_eq!(timeout, ["77"]);
        assert_eq!(run(&mut open(&instance, 46, "", 0), "select @@wait_timeout"), ["28800"]);
    }
    run(&mut root, "alter database old charset gbk");
    assert_eq!(run(&mut open(&instance, 46, "old", 0), NAMES), ["utf8mb4|utf8mb4_bin|gbk|old"]);
}

#[test]
fn sessions_that_started_alike_are_apart() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut first = open(&instance, 46, "", 0);
    let mut second = open(&instance, 46, "", 0);
    run(&mut first, "set sql_mode = ''");
    assert_eq!(run(&mut second, "select 1/0, @@sql_mode <> ''"), ["NULL|1"]);
    assert_eq!(run(&mut first, "select @@sql_mode"), [""]);
    let ids = [&mut first, &mut second].map(|session| run(session, "select connection_id()"));
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_reset_goes_back_to_the_global_variables() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = open(&instance, 8, "mysql", 0);
    // What the login's OK packet says.
    assert!(matches!(&session.changes[..], [SessionChange::Schema(name)] if name == "mysql"));
    run(&mut session, "set names gbk");
    session.reset_connection(&mut Printer::default());
    assert_eq!(run(&mut session, NAMES), ["utf8mb4|utf8mb4_0900_ai_ci|utf8mb4|mysql"]);
}

/// Pools reset connections whose schema somebody dropped meanwhile.
#[test]
fn a_reset_takes_everything_back_whatever_became_of_the_schema() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut other = connect(&instance, "root").unwrap();
    run(&mut other, "create role r; create database old charset latin1; create database now charset latin1");
    run(&mut other, "grant r to root@localhost; set default role r to root@localhost");
    for schema in ["old", "now"] {
        let mut session = open(&instance, 46, schema, 0);
        run(
            &mut session,
            "set role none; set sql_mode = 'PIPES_AS_CONCAT', time_zone = '+05:00', max_error_count = 0",
        );
        run(&mut other, "drop database if exists old");
        let mut printer = Printer::default();
        session.reset_connection(&mut printer);
        assert_eq!(printer.take_lines(), ["OK 0"]);
        let told = run(
            &mut session,
            "select database(), @@time_zone, from_unixtime(0), 1 || 'b', current_role(); \
             select cast('x' as signed); show warnings",
        );
        let first = format!("{schema}|SYSTEM|1970-01-01 00:00:00|1|NONE");
        assert_eq!(told, [&*first, "0", "Warning|1292|Truncated incorrect INTEGER value: 'x'"]);
    }
}

/// Errors about schemas name the account, those about tables where the user came from.
#[test]
fn errors_name_account_or_client() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[("create database d", "OK 1"), ("create table d.t (i int)", "OK 0"), ("create user u", "OK 0")],
    );
    let mut user = connect(&instance, "u").unwrap();
    let of_schema = |name: &str| format!("ERROR 1044 Access denied for user 'u'@'%' to database '{name}'");
    for (sql, schema) in [
        ("use d", "d"),
        ("create database e", "e"),
        ("drop database d", "d"),
        ("lock tables d.t read", "d"),
        ("delete from information_schema.tables", "information_schema"),
        ("drop table information_schema.tables", "information_schema"),
    ] {
        assert_eq!(run(&mut user, sql), [of_schema(schema)], "{sql}");
    }
    check(
        &mut user,
        &[("select * from d.t", "ERROR 1142 SELECT command denied to user 'u'@'localhost' for table 't'")],
    );
}
