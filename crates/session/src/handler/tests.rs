//! What HANDLER has to do with other users, with the end of a session's state, and with KILL: the rest is in `tests/sql`.

use crate::session::Session;
use crate::tests::{connect, environment, run, start};
use catalog::LockMode;
use instance::Instance;
use std::sync::Arc;

fn instance() -> Arc<Instance> {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    for sql in
        ["create database d", "create table d.t (i int primary key)", "insert into d.t values (1), (2), (3)"]
    {
        run(&mut root, sql);
    }
    instance
}

fn session(instance: &Arc<Instance>, user: &str) -> Box<Session> {
    let mut session = connect(instance, user).unwrap();
    run(&mut session, "use d");
    session
}

fn answer(session: &mut Session, sql: &str) -> String {
    run(session, sql).join(" / ")
}

fn locks_held(instance: &Instance) -> usize {
    instance.metadata_locks().rows().iter().filter(|row| row.mode == LockMode::Shared).count()
}

#[test]
fn what_open_was_allowed_to_see_read_shows() {
    let instance = instance();
    let mut root = session(&instance, "root");
    for sql in [
        "create table secret (i int)",
        "create user u",
        "grant select (i) on d.t to u",
        "grant insert on d.secret to u",
    ] {
        run(&mut root, sql);
    }
    let mut user = session(&instance, "u");
    let denied = |table: &str| {
        let host = "localhost";
        format!("ERROR 1142 SELECT command denied to user 'u'@'{host}' for table '{table}'")
    };
    assert_eq!(answer(&mut user, "handler secret open"), denied("secret"));
    assert_eq!(answer(&mut user, "handler nothing open"), denied("nothing"));
    assert_eq!(answer(&mut user, "handler t open"), "OK 0");
    assert_eq!(answer(&mut user, "handler t read first"), denied("t"));
    run(&mut user, "handler t close");
    run(&mut root, "grant select on d.t to u");
    assert_eq!(answer(&mut user, "handler t open"), "OK 0");
    run(&mut root, "revoke select on d.t from u");
    run(&mut root, "revoke select (i) on d.t from u");
    assert_eq!(answer(&mut user, "handler t read first"), "1");
}

#[test]
fn what_is_open_ends_with_the_session_and_its_state() {
    let instance = instance();
    let mut session = session(&instance, "root");
    for sql in ["handler t open", "handler t open as u", "lock tables t write", "unlock tables"] {
        assert_eq!(answer(&mut session, sql), "OK 0");
    }
    assert_eq!(locks_held(&instance), 1);
    run(&mut session, "handler t close");
    // The other one holds the name still.
    assert_eq!(locks_held(&instance), 1);
    session.reset_connection(&mut crate::collector::Collector::default());
    assert_eq!(locks_held(&instance), 0);
    run(&mut session, "use d");
    assert_eq!(answer(&mut session, "handler u read first"), "ERROR 1109 Unknown table 'u' in HANDLER");
    run(&mut session, "handler t open");
    drop(session);
    assert_eq!(locks_held(&instance), 0);
}

#[test]
fn a_failed_open_holds_nothing() {
    let instance = instance();
    let mut session = session(&instance, "root");
    run(&mut session, "create view v as select * from t");
    for sql in ["handler v open", "handler nothing open", "handler information_schema.tables open"] {
        assert!(answer(&mut session, sql).starts_with("ERROR"));
    }
    assert_eq!(locks_held(&instance), 0);
}
