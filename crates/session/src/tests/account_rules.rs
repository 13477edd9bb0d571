//! mandatory_roles and partial_revokes: what sessions that are open may do, and what is left after a crash.

use crate::prepared::ExecuteFlags;
use crate::tests::{Printer, check, connect, environment, run, start, start_with};
use env::Environment;

const DENIED: &str = "ERROR 1142 SELECT command denied to user 'u'@'localhost' for table 't'";

#[test]
fn a_partial_revoke_counts_at_the_next_statement() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int primary key); insert into d.t values (7)");
    run(&mut root, "create view d.v as select * from d.t; create view d.i as select a from d.t");
    run(&mut root, "create user u; grant select on *.* to u; set global partial_revokes = on");
    let mut user = connect(&instance, "u").unwrap();
    let plain = user.prepare(b"select a from d.t").unwrap().statement_id;
    let texts = [
        "select a from d.t where a = 7",
        "select a from d.t",
        "select * from d.v",
        "explain select a from d.t",
    ];
    run(&mut user, "prepare s from 'select a from d.t'");
    let mut sent = Printer::default();
    for _ in 0..3 {
        texts.iter().for_each(|text| assert!(!run(&mut user, text)[0].starts_with("ERROR"), "{text}"));
        user.execute(plain, ExecuteFlags::default(), Vec::new(), Vec::new(), &mut sent);
        assert_eq!(sent.take_lines(), ["7"]);
    }
    run(&mut root, "revoke select on d.* from u");
    for text in
        ["select a from d.t where a = 7", "select a from d.t", "explain select a from d.t", "execute s"]
    {
        assert_eq!(run(&mut user, text), [DENIED], "{text}");
    }
    user.execute(plain, ExecuteFlags::default(), Vec::new(), Vec::new(), &mut sent);
    assert_eq!(sent.take_lines(), [DENIED]);
    check(
        &mut user,
        &[
            ("use d", "ERROR 1044 Access denied for user 'u'@'%' to database 'd'"),
            ("show databases like 'd'", ""),
        ],
    );
    run(&mut root, "grant select on d.t to u");
    assert_eq!(run(&mut user, "select a from d.t"), ["7"]);
    run(&mut root, "revoke select on d.t from u; grant select on d.* to u");
    assert_eq!(run(&mut user, "execute s"), ["7"]);
}

#[test]
fn who_is_restricted_passes_it_on_and_takes_no_more_than_he_has() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create user u, v, w; set global partial_revokes = on");
    run(
        &mut root,
        "grant select, insert, create user on *.* to u with grant option; revoke select on d.* from u",
    );
    run(&mut root, "grant select on *.* to w");
    let mut user = connect(&instance, "u").unwrap();
    let denied = "ERROR 3879 Access denied for AuthId `u`@`%` to database 'd'.";
    let invalid = "ERROR 3836 Either some of the authorization IDs in the AS clause are invalid or the current user lacks \
                   privileges to execute the statement.";
    check(
        &mut user,
        &[
            ("grant select, insert on *.* to v", "OK 0"),
            ("grant select on d.* to v", "ERROR 1044 Access denied for user 'u'@'%' to database 'd'"),
            ("grant insert on d.* to v", "OK 0"),
            ("revoke select on *.* from w", denied),
            (
                "revoke all on *.* from w",
                "ERROR 1045 Access denied for user 'u'@'localhost' (using password: NO)",
            ),
            ("revoke all privileges, grant option from w", denied),
            ("grant select on *.* to v as w", invalid),
            ("grant select on *.* to w as u", "OK 0"),
        ],
    );
    let shown = "GRANT SELECT, INSERT ON *.* TO `v`@`%` / GRANT INSERT ON `d`.* TO `v`@`%` / REVOKE SELECT ON `d`.* FROM `v`@`%`";
    check(
        &mut root,
        &[("show grants for v", shown), ("show grants for w", "GRANT SELECT ON *.* TO `w`@`%`")],
    );
}

#[test]
fn mandatory_roles_are_active_at_login_and_gone_at_once() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(
        &mut root,
        "create database d; create table d.t (a int); create user u; create role m, r; grant r to u",
    );
    run(&mut root, "grant select on d.* to m; set global mandatory_roles = 'm,nobody'");
    let mut user = connect(&instance, "u").unwrap();
    let shown =
        "GRANT USAGE ON *.* TO `u`@`%` / GRANT SELECT ON `d`.* TO `u`@`%` / GRANT `m`@`%`,`r`@`%` TO `u`@`%`";
    check(
        &mut user,
        &[("select current_role()", "`m`@`%`"), ("show grants", shown), ("select a from d.t", "")],
    );
    run(&mut root, "set global mandatory_roles = ''");
    let not_granted = "ERROR 3530 `m`@`%` is not granted to `u`@`%`";
    check(&mut user, &[("select a from d.t", DENIED), ("set role m", not_granted)]);
    run(&mut root, "set global mandatory_roles = 'm', global activate_mandatory_roles = off");
    let mut user = connect(&instance, "u").unwrap();
    check(
        &mut user,
        &[("select current_role()", "NONE"), ("select a from d.t", DENIED), ("set role all", "OK 0")],
    );
    check(&mut user, &[("select current_role()", "`m`@`%`,`r`@`%`"), ("select a from d.t", "")]);
    run(&mut root, "set global activate_all_roles_on_login = on");
    let mut user = connect(&instance, "u").unwrap();
    check(&mut user, &[("select current_role()", "`m`@`%`,`r`@`%`")]);
}

#[test]
fn restrictions_and_roles_outlive_a_crash() {
    let (disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; create table d.t (a int); create user u; create role m, r");
    run(
        &mut root,
        "set global partial_revokes = on; grant select, insert on *.* to u; revoke select on d.* from u",
    );
    run(
        &mut root,
        "grant update on *.* to r; revoke update on d.* from r; grant r to u; set default role r to u",
    );
    run(&mut root, "grant delete on d.* to m; set persist mandatory_roles = 'm,u@nowhere'");
    let shown = run(&mut root, "show grants for u using r; show grants for r");
    disk.crash();
    drop((root, instance));
    let environment = Environment::simulated(disk.restart(11), 7);
    let instance = start(&environment);
    // The variable was not persisted, but without it what was revoked would be given back.
    let warned =
        instance.take_messages().iter().any(|message| message.contains("partial_revokes is turned on"));
    assert!(warned);
    let mut root = connect(&instance, "root").unwrap();
    assert_eq!(run(&mut root, "show grants for u using r; show grants for r"), shown);
    check(&mut root, &[("select @@partial_revokes, @@mandatory_roles", "1|m,u@nowhere")]);
    let mut user = connect(&instance, "u").unwrap();
    check(
        &mut user,
        &[
            ("select current_role()", "`m`@`%`,`r`@`%`"),
            ("select a from d.t", DENIED),
            ("insert into d.t values (1)", "OK 1"),
            (
                "update d.t set a = 2",
                "ERROR 1142 UPDATE command denied to user 'u'@'localhost' for table 't'",
            ),
            ("delete from d.t", "OK 1"),
        ],
    );
}

#[test]
fn a_start_leaves_out_mandatory_roles_that_cannot_be() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    run(&mut connect(&instance, "root").unwrap(), "create role m; grant system_user on *.* to m");
    drop(instance);
    for value in ["m", "m,,"] {
        let instance = start_with(&environment, &[("mandatory_roles", value)]);
        assert!(instance.take_messages().iter().any(|message| message.contains("mandatory_roles")));
        check(
            &mut connect(&instance, "root").unwrap(),
            &[("select @@mandatory_roles, current_role()", "|NONE")],
        );
    }
}
