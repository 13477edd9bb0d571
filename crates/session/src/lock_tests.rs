//! Metadata locks, user locks and row locks between sessions that run at once. What can be said statement by statement is
//! in `tests/sql/transaction/`; here are races, and what waits across kinds of locks.
//! What these are to see: DROP DATABASE without [`catalog::Namespace::Schema`] locks of CREATE TABLE; the look for an
//! existing table before its lock only; a search for deadlocks over metadata locks alone.

use crate::session::Session;
use crate::tests::{connect, environment, run, start};
use instance::Instance;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

fn session(instance: &Arc<Instance>) -> Box<Session> {
    let mut session = connect(instance, "root").unwrap();
    run(&mut session, "use d");
    session
}

/// Starts the engine with schema `d` and what else is given.
fn instance_with(sql: &str) -> Arc<Instance> {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    for statement in ["create database d", "use d"].into_iter().chain(sql.split(';')) {
        run(&mut root, statement);
    }
    instance
}

fn answer(session: &mut Session, sql: &str) -> String {
    run(session, sql).join(" / ")
}

/// Until so many requests for metadata and user locks wait.
fn wait_for_waiters(instance: &Instance, count: usize) {
    while instance.metadata_locks().rows().iter().filter(|row| !row.granted).count() < count {
        std::thread::yield_now();
    }
}

/// Each ALTER holds one table at a time, so that no circle can be: a session that was granted its lock but has not
/// woken yet waits for nobody.
#[test]
fn two_definitions_in_a_packet_meet_no_deadlock() {
    let instance = instance_with("create table a (i int);create table b (i int)");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut reader = session(&instance);
                while !over.load(Ordering::SeqCst) {
                    run(&mut reader, "begin; select * from b; select * from a; commit");
                    run(&mut reader, "rollback");
                }
            });
        }
        let mut definer = session(&instance);
        let packet = |round| format!("alter table a comment '{round}'; alter table b comment '{round}'");
        let answers: Vec<String> = (0..60).map(|round| answer(&mut definer, &packet(round))).collect();
        over.store(true, Ordering::SeqCst);
        assert!(answers.iter().all(|answer| answer == "OK 0 / OK 0"), "{answers:?}");
    });
}

#[test]
fn racing_creators_and_droppers_are_not_told_of_each_other() {
    let instance = instance_with("create table source (i int)");
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = session(&instance);
                for _ in 0..12 {
                    for sql in [
                        "create table if not exists t (i int)",
                        "drop table if exists t",
                        "create table if not exists t like source",
                        "create table if not exists t select 1",
                        "create database if not exists e",
                        "create table if not exists t (i int)",
                        "drop table if exists t, nope",
                        "drop database if exists e",
                        "create user if not exists u",
                        "drop user if exists u",
                    ] {
                        let answer = answer(&mut session, sql);
                        if answer.contains("ERROR") {
                            failed.lock().unwrap().push(format!("{sql}: {answer}"));
                        }
                    }
                }
            });
        }
    });
    let failed = failed.lock().unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(instance.metadata_locks().rows().is_empty());
}

/// A table that is made while DROP DATABASE waits is not dropped under the session that writes to it.
#[test]
fn a_schema_is_not_dropped_under_a_table_that_is_made() {
    let instance = instance_with("create table t (i int)");
    let (mut writer, mut dropper, mut maker) = (session(&instance), session(&instance), session(&instance));
    run(&mut writer, "begin; insert into t values (1)");
    std::thread::scope(|scope| {
        let dropped = scope.spawn(move || answer(&mut dropper, "drop database d"));
        wait_for_waiters(&instance, 1);
        let made = scope.spawn(move || {
            [
                answer(&mut maker, "create table n (i int)"),
                answer(&mut maker, "begin; insert into n values (1)"),
            ]
        });
        wait_for_waiters(&instance, 2);
        assert_eq!(answer(&mut writer, "commit"), "OK 0");
        assert_eq!(dropped.join().unwrap(), "OK 1");
        let [made, inserted] = made.join().unwrap();
        assert_eq!(made, "ERROR 1049 Unknown database 'd'");
        assert!(inserted.contains("ERROR"), "{inserted}");
    });
}

/// What MySQL 9.7 answers. Nothing is committed after SET GLOBAL read_only has returned, however early it began.
#[test]
fn nothing_is_committed_on_a_server_that_became_read_only() {
    let instance = instance_with("create table t (i int primary key);create user u;grant all on d.* to u");
    let (mut root, mut other, mut plain) =
        (session(&instance), session(&instance), connect(&instance, "u").unwrap());
    run(&mut plain, "use d");
    for (variable, refused) in [("read_only", "--read-only"), ("super_read_only", "--super-read-only")] {
        let refused = format!(
            "ERROR 1290 The MySQL server is running with the {refused} option so it cannot execute this statement"
        );
        run(&mut plain, "begin; insert into t values (1)");
        run(&mut other, "begin; insert into t values (2)");
        assert_eq!(answer(&mut root, &format!("set global {variable} = 1")), "OK 0");
        assert_eq!(answer(&mut plain, "commit"), refused);
        let by_super = if variable == "read_only" { "OK 0" } else { refused.as_str() };
        assert_eq!(answer(&mut other, "commit"), by_super);
        run(&mut root, "set global read_only = 0");
        assert_eq!(answer(&mut plain, "insert into t values (1)"), "OK 1");
        run(&mut plain, "delete from t");
    }
    let refused = "ERROR 1192 Can't execute the given command because you have active locked tables or an active transaction";
    for before in ["begin", "lock tables t read"] {
        run(&mut root, before);
        for set in ["read_only = 1", "super_read_only = 1", "read_only = 0"] {
            assert_eq!(answer(&mut root, &format!("set global {set}")), refused);
        }
        run(&mut root, "rollback; unlock tables");
    }
    // It waits for LOCK TABLES .. WRITE, and then finds all tables unlocked.
    run(&mut plain, "lock tables t write");
    std::thread::scope(|scope| {
        let set = scope.spawn(|| answer(&mut root, "set global read_only = 1"));
        wait_for_waiters(&instance, 1);
        assert_eq!(answer(&mut plain, "insert into t values (3)"), "OK 1");
        run(&mut plain, "unlock tables");
        assert_eq!(set.join().unwrap(), "OK 0");
    });
    assert!(answer(&mut plain, "insert into t values (4)").starts_with("ERROR 1290"));
    assert!(instance.metadata_locks().rows().is_empty());
}

/// What MySQL 9.7 answers.
#[test]
fn a_read_only_server_locks_nothing_for_a_change() {
    let instance = instance_with("create table t (i int primary key);create user u;grant all on d.* to u");
    let (mut root, mut plain) = (session(&instance), connect(&instance, "u").unwrap());
    run(&mut plain, "use d");
    run(&mut root, "set global read_only = 1");
    let refused = "ERROR 1290 The MySQL server is running with the --read-only option so it cannot execute this statement";
    for text in [
        "select * from t for update",
        "select i from (select 1 as i) x where exists (select 1 from t for update)",
        "explain insert into t values (1)",
        "lock tables nowhere write",
        "analyze table t",
        "optimize table nowhere",
        "start transaction read write",
    ] {
        for _ in 0..2 {
            assert_eq!(answer(&mut plain, text), refused, "{text}");
        }
    }
    for text in [
        "select * from t for share",
        "explain select * from t for update",
        "lock tables t read",
        "unlock tables",
        "check table t",
        "start transaction read only",
        "commit",
        "set role none",
    ] {
        assert!(!answer(&mut plain, text).starts_with("ERROR"), "{text}");
    }
    assert!(answer(&mut plain, "select * from nowhere for update").starts_with("ERROR 1146"));
    assert!(answer(&mut plain, "repair table t").contains("Corrupt"));
    assert!(!answer(&mut root, "select * from t for update").starts_with("ERROR"));
}

/// Rows, tables and user locks make one graph: each session waits for another kind.
#[test]
fn a_circle_over_all_kinds_of_locks_is_found() {
    let instance =
        instance_with("create table t (i int primary key);create table u (i int);insert into t values (1)");
    let (mut a, mut b, mut c) = (session(&instance), session(&instance), session(&instance));
    run(&mut a, "begin; update t set i = 2 where i = 1");
    run(&mut b, "begin; select * from u");
    run(&mut c, "select get_lock('x', 0)");
    std::thread::scope(|scope| {
        let rows = scope.spawn(move || {
            let answered = answer(&mut b, "select * from t where i = 1 for update");
            (b, answered)
        });
        let tables = scope.spawn(move || {
            let answered = answer(&mut c, "alter table u comment 'x'");
            run(&mut c, "select release_lock('x')");
            answered
        });
        wait_for_waiters(&instance, 1);
        while instance.engine().waits().waiting_count() < 2 {
            std::thread::yield_now();
        }
        // The lightest: b waits for a row and changed none.
        assert_eq!(answer(&mut a, "select get_lock('x', 60)"), "1");
        let (_b, waited) = rows.join().unwrap();
        assert!(waited.contains("ERROR 1213"), "{waited}");
        assert_eq!(tables.join().unwrap(), "OK 0");
        assert_eq!(answer(&mut a, "commit"), "OK 0");
    });
}

/// KILL QUERY, time-outs and failures leave no lock, whatever the statement waited for.
#[test]
fn killed_waits_leave_nothing() {
    let instance = instance_with("create table a (i int);create table b (i int);create table c (i int)");
    let mut holder = session(&instance);
    for (held, statement) in [
        ("begin; select * from b", "drop table a, b"),
        ("begin; select * from b", "rename table a to x, b to y"),
        ("begin; select * from b", "drop database d"),
        ("begin; select * from b", "lock tables a write, b write, c read"),
        ("begin; select * from b", "truncate table b"),
        ("lock tables b write", "create table if not exists x select * from b"),
        ("lock tables b write", "insert into a select * from b"),
        ("lock tables b write", "flush tables with read lock"),
        ("flush tables with read lock", "insert into a values (1)"),
        ("flush tables with read lock", "create user u"),
        ("select get_lock('x', 0)", "select get_lock('x', -1)"),
    ] {
        run(&mut holder, held);
        let before = instance.metadata_locks().rows().len();
        let mut waiter = session(&instance);
        let id = waiter.id();
        std::thread::scope(|scope| {
            let killed = scope.spawn(move || {
                let killed = answer(&mut waiter, statement);
                (waiter, killed)
            });
            wait_for_waiters(&instance, 1);
            run(&mut session(&instance), &format!("kill query {id}"));
            let (_waiter, killed) = killed.join().unwrap();
            assert!(killed.contains("ERROR 1317"), "{statement}: {killed}");
            assert_eq!(instance.metadata_locks().rows().len(), before, "{statement}");
        });
        run(&mut holder, "rollback; unlock tables; select release_all_locks()");
        assert!(instance.metadata_locks().rows().is_empty(), "{held}");
    }
}

/// CREATE TABLE .. SELECT that fails drops its table before anybody else has seen it.
#[test]
fn a_table_is_seen_when_it_is_filled() {
    let instance = instance_with("create table s (i int);insert into s values (1), (2), (2)");
    let over = AtomicBool::new(false);
    let seen = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut reader = session(&instance);
            while !over.load(Ordering::SeqCst) {
                let answer = answer(&mut reader, "select count(*) from t");
                if !answer.contains("ERROR 1146") {
                    seen.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        let mut maker = session(&instance);
        let made: Vec<String> =
            (0..30).map(|_| answer(&mut maker, "create table t (i int unique) select i from s")).collect();
        over.store(true, Ordering::SeqCst);
        assert!(made.iter().all(|made| made.contains("ERROR 1062")), "{made:?}");
    });
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

/// Maintenance ends the open transaction, but for CHECKSUM TABLE.
#[test]
fn maintenance_commits() {
    let instance = instance_with("create table t (i int primary key)");
    let mut session = session(&instance);
    for (row, statement) in ["analyze", "check", "optimize", "repair", "checksum"].into_iter().enumerate() {
        run(&mut session, &format!("begin; insert into t values ({row})"));
        run(&mut session, &format!("{statement} table t"));
        run(&mut session, "rollback");
    }
    assert_eq!(answer(&mut session, "select * from t"), "0 / 1 / 2 / 3");
    run(&mut session, "set session transaction read only");
    for statement in ["optimize table t", "repair table t", "set password = 'x'"] {
        assert!(answer(&mut session, statement).contains("ERROR 1792"), "{statement}");
    }
    assert!(!answer(&mut session, "check table t").contains("ERROR"));
}

#[test]
fn who_keeps_writers_out_sees_what_they_have_committed() {
    let instance = instance_with("create table t (a int primary key); insert into t values (1)");
    let (mut writer, mut reader) = (session(&instance), session(&instance));
    for (number, locks) in
        ["lock tables t read", "lock tables t write", "flush tables with read lock"].iter().enumerate()
    {
        let mut printer = crate::tests::Printer::default();
        // Nobody has made it durable yet.
        writer.query(format!("insert into t values ({})", number + 2).as_bytes(), &mut printer);
        run(&mut reader, locks);
        assert_eq!(answer(&mut reader, "select count(*) from t"), (number + 2).to_string(), "{locks}");
        run(&mut reader, "unlock tables");
    }
}

/// Statements that wait behind a change of a definition see the table as it is then.
#[test]
fn maintenance_that_waited_finds_the_table_that_there_is_now() {
    let answers = [
        ("check table t", "d.t|check|status|OK"),
        ("analyze table t", "d.t|analyze|status|OK"),
        ("checksum table t", "d.t|0"),
        ("select count(*) from t", "0"),
    ];
    for change in ["alter table t add x int", "truncate table t", "drop table t; create table t (i int)"] {
        for (sql, wanted) in answers {
            let instance = instance_with("create table t (i int)");
            let [mut reader, mut definer, mut waiter] = [(); 3].map(|()| session(&instance));
            run(&mut reader, "begin; select * from t");
            std::thread::scope(|scope| {
                let changed = scope.spawn(move || answer(&mut definer, change));
                wait_for_waiters(&instance, 1);
                let answered = scope.spawn(move || answer(&mut waiter, sql));
                wait_for_waiters(&instance, 2);
                run(&mut reader, "commit");
                assert!(!changed.join().unwrap().contains("ERROR"));
                // Between the two statements there is no table.
                let answered = answered.join().unwrap();
                let is_gone = change.contains("drop") && !answered.contains("definition has changed");
                assert!(answered == wanted || is_gone, "{sql} behind {change}: {answered}");
            });
        }
    }
}
