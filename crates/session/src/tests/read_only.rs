//! What comes first in a READ ONLY transaction: that a privilege is missing, or that nothing may be changed.

use crate::tests::{connect, environment, run, start};

/// As MySQL 9.7: error 1142 before 1792, and 1792 before 1399 and 1146.
#[test]
fn privileges_come_before_read_only() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int); create user u; grant select on d.t to u");
    let mut user = connect(&instance, "u").unwrap();
    let changes = [
        "insert into d.t values (1)",
        "update d.t set a = 1",
        "delete from d.t",
        "replace into d.t values (1)",
        "explain delete from d.t",
        "prepare s from 'update d.t set a = 1'",
        "insert into d.missing values (1)",
    ];
    let number = |lines: Vec<String>| lines[0].split(' ').nth(1).unwrap().to_owned();
    run(&mut user, "start transaction read only");
    run(&mut root, "start transaction read only");
    for text in changes {
        assert_eq!(number(run(&mut user, text)), "1142", "{text}");
        assert_eq!(number(run(&mut root, text)), "1792", "{text}");
    }
    for session in [&mut user, &mut root] {
        run(session, "rollback");
        run(session, "set session transaction read only");
    }
    run(&mut user, "xa start 'u'; xa end 'u'");
    run(&mut root, "xa start 'r'; xa end 'r'");
    for text in changes {
        assert_eq!(number(run(&mut user, text)), "1142", "{text}");
        assert_eq!(number(run(&mut root, text)), "1792", "{text}");
    }
    assert_eq!(number(run(&mut user, "select * from d.t")), "1399");
    // What the error says must not tell whether there is a table that the account cannot see.
    run(
        &mut root,
        "xa rollback 'r'; set session transaction read write; create table d.hidden (a int); create user v",
    );
    let mut stranger = connect(&instance, "v").unwrap();
    run(&mut stranger, "xa start 'v'; xa end 'v'");
    for text in ["create table a select * from d.TABLE", "create table a like d.TABLE"] {
        let of = |table: &str| format!("prepare s from '{}'", text.replace("TABLE", table));
        let told = ["hidden", "missing"].map(|table| number(run(&mut stranger, &of(table)).to_vec()));
        assert_eq!(told[0], told[1], "{text}");
    }
}

/// The plan that another account has left is asked for privileges first, too.
#[test]
fn privileges_come_before_read_only_by_a_kept_plan() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int); create user u; grant insert on d.t to u");
    for value in 0..6 {
        run(&mut root, &format!("insert into d.t values ({value})"));
    }
    let mut user = connect(&instance, "u").unwrap();
    run(&mut user, "insert into d.t values (1); prepare s from 'insert into d.t values (2)'; execute s");
    run(&mut root, "revoke insert on d.t from u; grant select on d.t to u");
    for session in [&mut user, &mut root] {
        run(session, "start transaction read only");
    }
    for text in ["insert into d.t values (7)", "execute s"] {
        assert!(run(&mut user, text)[0].contains("1142"), "{text}");
    }
    assert!(run(&mut root, "insert into d.t values (7)")[0].contains("1792"));
}
