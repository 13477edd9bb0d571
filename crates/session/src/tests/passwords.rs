//! Passwords: expired ones, current ones, and who may change them.

use crate::prepared::ExecuteFlags;
use crate::session::Session;
use crate::tests::{Printer, check, connect, environment, info, run, start};
use accounts::ClientHost;
use std::time::Duration;
use wire::capabilities::client;

const EXPIRED: &str =
    "ERROR 1820 You must reset your password using ALTER USER statement before executing this statement.";

#[test]
fn an_expired_password_is_changed_before_anything_else() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int); insert into d.t values (7), (8)");
    run(&mut root, "create user e; grant all on d.* to e");
    let mut user = connect(&instance, "e").unwrap();
    run(&mut user, "use d; prepare s from 'select * from t'; select a from t; select a from t");
    let [plain, cursor] = [(); 2].map(|()| user.prepare(b"select * from t").unwrap().statement_id);
    let mut sent = Printer::default();
    let with_cursor = ExecuteFlags { read_only_cursor: true };
    user.execute(cursor, with_cursor, Vec::new(), Vec::new(), &mut sent);
    assert!(sent.take_lines().is_empty());

    run(&mut root, "alter user e password expire");
    let texts = [
        "select 1",
        "select a from t",
        "insert into t values (1)",
        "set @a = (select max(a) from t)",
        "set sql_mode = (select max(a) from t)",
        "set names utf8mb4",
        "show tables",
        "explain select * from t",
        "prepare p from 'select 1'",
        "execute s",
        "use d",
        "drop table t",
    ];
    texts.iter().for_each(|text| assert_eq!(run(&mut user, text), [EXPIRED], "{text}"));
    user.execute(plain, ExecuteFlags::default(), Vec::new(), Vec::new(), &mut sent);
    user.execute(plain, with_cursor, Vec::new(), Vec::new(), &mut sent);
    user.fetch(cursor, 1, &mut sent);
    user.use_schema(b"d", &mut sent);
    assert_eq!(sent.take_lines(), [EXPIRED; 4]);
    assert_eq!(user.field_list(b"t", b"").unwrap_err().number(), 1820);

    // Only clients that know what to do are let in.
    let account = instance.find_account("e", &ClientHost::local()).unwrap();
    assert_eq!(connect(&instance, "e").err().map(|error| error.number()), Some(1862));
    assert_eq!(user.change_user(info(&instance, "e"), &account).unwrap_err().number(), 1862);
    let mut able = info(&instance, "e");
    able.capabilities |= u64::from(client::CAN_HANDLE_EXPIRED_PASSWORDS);
    let mut user = Session::open(&instance, able, &account).unwrap();
    check(&mut user, &[("select a from d.t", EXPIRED), ("set password = 'new'", "OK 0")]);
    assert_eq!(run(&mut user, "select a from d.t"), ["7", "8"]);
}

#[test]
fn passwords_grow_old() {
    const DAY: Duration = Duration::from_secs(86_400);
    let (_disk, environment) = environment();
    environment.clock.sleep(DAY);
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create user u password expire interval 2 day; create user v");
    let login = |user: &str| connect(&instance, user).err().map_or(0, |error| error.number());
    assert_eq!((login("u"), login("v")), (0, 0));
    environment.clock.sleep(2 * DAY);
    assert_eq!((login("u"), login("v")), (1862, 0));
    run(&mut root, "set global default_password_lifetime = 1");
    assert_eq!((login("u"), login("v")), (1862, 1862));
    run(&mut root, "alter user v password expire never; alter user u identified by 'a'");
    assert_eq!((login("u"), login("v")), (0, 0));
}

#[test]
fn the_current_password_is_named_where_it_must_be() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    let wrong =
        "ERROR 3891 Incorrect current password. Specify the correct password which has to be replaced.";
    let missing =
        "ERROR 3892 Current password needs to be specified in the REPLACE clause in order to change it.";
    run(&mut root, "create user u identified by 'a' password require current");
    let mut user = connect(&instance, "u").unwrap();
    check(
        &mut user,
        &[
            ("set password = 'b'", missing),
            ("alter user user() identified by 'b'", missing),
            ("set password = 'b' replace 'x'", wrong),
            ("alter user user() identified by 'b' replace 'x'", wrong),
            ("set password = 'b' replace 'a'", "OK 0"),
            ("alter user user() identified by 'c' replace 'a'", wrong),
            ("alter user user() identified by 'c' replace 'b'", "OK 0"),
        ],
    );
    check(
        &mut root,
        &[
            ("alter user u identified by 'd'", "OK 0"),
            (
                "alter user u identified by 'e' replace 'd'",
                "ERROR 3893 Do not specify the current password while changing it for other users.",
            ),
            ("alter user u password require current default", "OK 0"),
        ],
    );
    assert_eq!(run(&mut user, "set password = 'e'"), ["OK 0"]);
    run(&mut root, "set global password_require_current = on");
    assert_eq!(run(&mut user, "set password = 'f'"), [missing]);
    run(&mut root, "alter user u password require current optional");
    assert_eq!(run(&mut user, "set password = 'f'"), ["OK 0"]);
}

#[test]
fn a_second_password_of_ones_own_takes_a_privilege() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create user u identified by 'a'");
    let mut user = connect(&instance, "u").unwrap();
    let denied = "ERROR 1227 Access denied; you need (at least one of) the CREATE USER or APPLICATION_PASSWORD_ADMIN \
                  privilege(s) for this operation";
    let texts = [
        "alter user user() identified by 'b' retain current password",
        "set password = 'c' retain current password",
        "alter user user() discard old password",
    ];
    texts.iter().for_each(|text| assert_eq!(run(&mut user, text), [denied], "{text}"));
    let retained = "select user_attributes->'$.additional_password' is null from mysql.user where user = 'u'";
    assert_eq!(run(&mut root, retained), ["1"]);
    run(&mut root, "grant application_password_admin on *.* to u");
    for (text, is_null) in texts.iter().zip(["0", "0", "1"]) {
        assert_eq!(run(&mut user, text), ["OK 0"], "{text}");
        assert_eq!(run(&mut root, retained), [is_null], "{text}");
    }
}

#[test]
fn passwords_are_not_changed_where_nothing_is_written() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create user u; set global read_only = on");
    let mut user = connect(&instance, "u").unwrap();
    let refused = "ERROR 1290 The MySQL server is running with the --read-only option so it cannot execute this statement";
    check(&mut user, &[("set password = 'x'", refused), ("alter user user() identified by 'x'", refused)]);
}
