//! Statements and connections against the limits of accounts.

use crate::tests::{connect, environment, run, start};

fn refused(resource: &str, limit: u32) -> [String; 1] {
    [format!("ERROR 1226 User 'u' has exceeded the '{resource}' resource (current value: {limit})")]
}

/// As MySQL 9.7 counts: over all sessions of an account, and until the hour ends, FLUSH USER_RESOURCES or new limits.
#[test]
fn statements_and_connections_of_an_account_are_counted() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int); create user u with max_updates_per_hour 2");
    run(&mut root, "grant all on d.* to u");
    let (mut one, mut two) = (connect(&instance, "u").unwrap(), connect(&instance, "u").unwrap());
    assert_eq!(run(&mut one, "insert into d.t values (1)"), ["OK 1"]);
    assert!(!run(&mut two, "explain delete from d.t")[0].starts_with("ERROR"));
    for text in ["update d.t set a = 2", "create table d.u (a int)", "set password = 'x'"] {
        assert_eq!(run(&mut one, text), refused("max_updates", 2), "{text}");
    }
    assert_eq!(run(&mut one, "select 1"), ["1"]);
    run(&mut root, "flush user_resources");
    assert_eq!(run(&mut one, "delete from d.t"), ["OK 1"]);

    run(&mut root, "alter user u with max_updates_per_hour 0 max_queries_per_hour 3");
    assert_eq!(run(&mut one, "select 1; select 2"), ["1", "2"]);
    assert!(run(&mut one, "bad syntax")[0].starts_with("ERROR 1064"));
    assert_eq!(run(&mut two, "do 1"), ["OK 0"]);
    assert_eq!(run(&mut two, "do 1"), refused("max_questions", 3));
    assert_eq!(run(&mut one, "select 1"), refused("max_questions", 3));
    let prepared = two.prepare(b"do 1").unwrap().statement_id;
    let mut sent = crate::tests::Printer::default();
    two.execute(prepared, Default::default(), Vec::new(), Vec::new(), &mut sent);
    assert_eq!(sent.take_lines(), ["OK 0"]);

    run(&mut root, "alter user u with max_queries_per_hour 0 max_connections_per_hour 1");
    drop(connect(&instance, "u").unwrap());
    let error = connect(&instance, "u").err().unwrap();
    assert_eq!([format!("ERROR 1226 {}", error.message())], refused("max_connections_per_hour", 1));
    run(&mut root, "alter user u with max_connections_per_hour 0; set global max_user_connections = 1");
    assert_eq!(connect(&instance, "u").err().unwrap().number(), 1203);
    assert!(connect(&instance, "root").is_ok());
}

/// As in MySQL 9.7 sessions of a renamed account keep its old name, limits and what was used of them, but none of its
/// grants on tables nor its roles; under the new name the count begins anew.
#[test]
fn sessions_of_a_renamed_account_stay_limited() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int); create user u with max_updates_per_hour 2");
    run(&mut root, "grant all on d.* to u; create role r; grant r to u");
    let mut old = connect(&instance, "u").unwrap();
    assert_eq!(run(&mut old, "set role r; insert into d.t values (1)"), ["OK 0", "OK 1"]);
    run(&mut root, "rename user u to v");
    assert_eq!(run(&mut old, "select current_user(), current_role()"), ["u@%|`r`@`%`"]);
    let denied = "ERROR 1142 DELETE command denied to user 'u'@'localhost' for table 't'";
    assert_eq!(run(&mut old, "delete from d.t"), [denied]);
    assert_eq!(run(&mut old, "delete from d.t"), refused("max_updates", 2));
    assert_eq!(run(&mut old, "set role none; set role default"), ["OK 0", "OK 0"]);
    let gone = "ERROR 3530 `r`@`%` is not granted to `u`@`%`";
    assert_eq!(run(&mut old, "set role r"), [gone]);
    let mut new = connect(&instance, "v").unwrap();
    assert_eq!(run(&mut new, "delete from d.t; delete from d.t"), ["OK 1", "OK 0"]);
    assert!(run(&mut new, "delete from d.t")[0].starts_with("ERROR 1226 User 'v'"));
}
