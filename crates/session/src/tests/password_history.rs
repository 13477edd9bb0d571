//! Passwords that accounts had.

use crate::tests::{check, connect, environment, run, start};
use accounts::{Account, AccountName};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const REFUSED: &str =
    "ERROR 3638 Cannot use these credentials for 'u@%' because they contradict the password history policy";

const SAME_TIME: &str =
    "ERROR 1062 Duplicate entry '%-u-1970-01-01 00:01:40.000000' for key 'password_history.PRIMARY'";

#[test]
fn a_password_comes_back_when_no_policy_needs_it() {
    let (_disk, environment) = environment();
    environment.clock.sleep(DAY);
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    let set = |session: &mut crate::Session, password: &str| {
        environment.clock.sleep(Duration::from_millis(1));
        run(session, &format!("set password for u = '{password}'")).remove(0)
    };
    let count = |session: &mut crate::Session| {
        run(session, "select count(*) from mysql.password_history where user = 'u'").remove(0)
    };
    run(&mut root, "create user u identified by 'a'");
    assert_eq!([set(&mut root, "a"), count(&mut root)], ["OK 0", "0"]);
    run(&mut root, "set global password_history = 2");
    assert_eq!([set(&mut root, "a"), set(&mut root, "a"), set(&mut root, "b")], ["OK 0", REFUSED, "OK 0"]);
    assert_eq!([set(&mut root, "a"), set(&mut root, "c"), set(&mut root, "a")], [REFUSED, "OK 0", "OK 0"]);
    assert_eq!([set(&mut root, ""), set(&mut root, ""), count(&mut root)], ["OK 0", "OK 0", "2"]);
    // What the account says goes before what the server says.
    run(&mut root, "alter user u password history 0");
    assert_eq!([count(&mut root), set(&mut root, "a"), count(&mut root)], ["2", "OK 0", "0"]);
    run(&mut root, "set global password_reuse_interval = 2");
    assert_eq!([set(&mut root, "a"), set(&mut root, "b"), set(&mut root, "a")], ["OK 0", "OK 0", REFUSED]);
    environment.clock.sleep(DAY);
    assert_eq!([set(&mut root, "c"), set(&mut root, "a"), count(&mut root)], ["OK 0", REFUSED, "3"]);
    environment.clock.sleep(DAY);
    assert_eq!([set(&mut root, "a"), count(&mut root)], ["OK 0", "4"]);
    environment.clock.sleep(DAY);
    assert_eq!([set(&mut root, "d"), count(&mut root)], ["OK 0", "3"]);
}

#[test]
fn the_history_stays_with_the_account() {
    let (_disk, environment) = environment();
    environment.clock.sleep(DAY);
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("create user v identified by 'a' password history 3", "OK 0"),
            ("rename user v to u", "OK 0"),
            ("grant select on *.* to u", "OK 0"),
            ("alter user u comment 'x'", "OK 0"),
            ("alter user u identified by 'a'", REFUSED),
            ("set timestamp = 100", "OK 0"),
            ("alter user u identified by 'b', u identified by 'c'", SAME_TIME),
        ],
    );
    drop(root);
    drop(instance);
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    let counted = "select count(*) from mysql.password_history";
    check(
        &mut root,
        &[
            ("alter user u identified by 'a'", REFUSED),
            (counted, "1"),
            ("drop user u", "OK 0"),
            (counted, "0"),
            ("create user u identified by 'a' password history 3", "OK 0"),
            (counted, "1"),
            // What one plugin stored says nothing to another.
            ("alter user u identified with mysql_native_password by 'a'", "OK 0"),
            (counted, "1"),
            ("alter user u identified by 'a'", REFUSED),
            ("alter user u identified with caching_sha2_password", "OK 0"),
            (counted, "0"),
        ],
    );
}

#[test]
fn accounts_that_were_stored_without_a_history_are_read() {
    let text = "password\t2a41\t\t5\nattribute\tpassword_history\t99999\nattribute\tpassword_reuse\t3 DAY\n";
    let account = Account::decode(AccountName::new("u", "%"), text).unwrap();
    assert!(account.history.0.is_empty());
    assert_eq!((account.reuse_passwords(), account.reuse_days()), (Some(65_535), Some(3)));
}
