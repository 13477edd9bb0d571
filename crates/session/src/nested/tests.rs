//! Stored functions whose bodies are written here. What is expected is what MySQL 9.7.4 answered with the same functions in SQL,
//! but for what a failed statement leaves (rule 4).
//! What these are to see: ids that a call leaves; a mark that is not gone back to; tables that nobody locked; a program
//! that runs for rows beyond LIMIT; a program that goes on in a transaction that is no more.

use super::{NestedStatement, Program, Runner};
use crate::collector::Collector;
use crate::session::Session;
use crate::tests::{connect, environment, run, start};
use errors::SqlResult;
use expression::{SqlMode, TypedValue};
use instance::Instance;
use parser::ParseOptions;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use values::{ColumnType, Value};

/// Runs a statement of the program by its number.
fn step(program: &Program, runner: &mut Runner<'_>, number: usize, values: &[TypedValue]) -> SqlResult<()> {
    runner.run(&program.statements[number], values, &mut Collector::default()).map(|_| ())
}

/// Defines a function of one INT.
fn define(
    instance: &Instance,
    name: &str,
    statements: &[&str],
    run: impl Fn(&Program, &mut Runner<'_>, &[TypedValue]) -> SqlResult<Value> + Send + Sync + 'static,
) {
    let parse = |text: &&str| NestedStatement::parse(text, ParseOptions::default()).unwrap();
    let statements = statements.iter().map(parse).collect();
    let body = Program { sql_mode: SqlMode::DEFAULT, statements, run: Box::new(run) };
    let int = ColumnType::big_int();
    instance.routines().put("d", name, vec![int.clone()], int, body);
}

/// `INSERT INTO log(a) VALUES (?)`, and the id that it got.
fn define_ins(instance: &Instance) {
    define(instance, "ins", &["insert into log(a) values (?)"], |program, runner, values| {
        step(program, runner, 0, values)?;
        Ok(Value::UInt(runner.session().last_insert_id()))
    });
}

/// Inserts to two tables; the second may have the value already.
fn define_dup(instance: &Instance) {
    let statements = ["insert into log(a) values (100 + ?)", "insert into t values (?)"];
    define(instance, "dup", &statements, |program, runner, values| {
        step(program, runner, 0, values)?;
        step(program, runner, 1, values)?;
        Ok(Value::Int(1))
    });
}

fn opened() -> (Arc<Instance>, Box<Session>) {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    for statement in [
        "create database d",
        "use d",
        "create table log (id int auto_increment primary key, a int)",
        "create table t (a int primary key)",
        "create table u (id int auto_increment primary key, b tinyint)",
        "insert into t values (1), (2), (3)",
    ] {
        run(&mut root, statement);
    }
    define_ins(&instance);
    define_dup(&instance);
    (instance, root)
}

fn answer(session: &mut Session, sql: &str) -> String {
    run(session, sql).join(" / ")
}

const DUPLICATE: &str = "ERROR 1062 Duplicate entry '2' for key 't.PRIMARY'";

#[test]
fn a_call_leaves_the_numbers_of_the_session() {
    let (_instance, mut root) = opened();
    answer(&mut root, "insert into u values (null, 1), (null, 2)");
    assert_eq!(answer(&mut root, "select a, ins(a), last_insert_id() from t"), "1|1|1 / 2|2|1 / 3|3|1");
    assert_eq!(answer(&mut root, "select last_insert_id(), row_count(), found_rows()"), "1|-1|3");
    assert_eq!(answer(&mut root, "select dup(2)"), DUPLICATE);
    assert_eq!(answer(&mut root, "select last_insert_id(), row_count()"), "1|-1");
    assert_eq!(answer(&mut root, "do ins(1)"), "OK 0");
    assert_eq!(answer(&mut root, "select row_count()"), "0");
}

/// SET INSERT_ID is for the first insert, be it a program's.
#[test]
fn an_id_that_was_set_is_given_out_once() {
    let (_instance, mut root) = opened();
    assert_eq!(answer(&mut root, "set insert_id = 50; select ins(1), ins(2)"), "OK 0 / 50|51");
    assert_eq!(
        answer(&mut root, "set insert_id = 60; insert into u(b) values (ins(3)), (ins(4))"),
        "OK 0 / OK 2"
    );
    assert_eq!(answer(&mut root, "select * from u"), "1|60 / 2|61");
}

#[test]
fn what_a_program_warns_of_goes_with_it() {
    let (instance, mut root) = opened();
    define(&instance, "warn", &["insert ignore into u(b) values (1000)"], |program, runner, _| {
        step(program, runner, 0, &[])?;
        Ok(Value::UInt(runner.diagnostics().count()))
    });
    assert_eq!(answer(&mut root, "select warn(1), warn(2)"), "1|1");
    assert_eq!(answer(&mut root, "show warnings"), "");
    assert_eq!(answer(&mut root, "select dup(2)"), DUPLICATE);
    assert_eq!(answer(&mut root, "show warnings"), "Error|1062|Duplicate entry '2' for key 't.PRIMARY'");
}

#[test]
fn a_failure_undoes_the_calling_statement() {
    let (_instance, mut root) = opened();
    assert_eq!(answer(&mut root, "select dup(9)"), "1");
    assert_eq!(answer(&mut root, "select dup(2)"), DUPLICATE);
    assert_eq!(answer(&mut root, "select a from log"), "109");
    assert_eq!(answer(&mut root, "begin; select ins(1); select dup(2)"), format!("OK 0 / 3 / {DUPLICATE}"));
    assert_eq!(answer(&mut root, "select a from log; rollback"), "109 / 1 / OK 0");
    assert_eq!(answer(&mut root, "select a from log"), "109");
    assert_eq!(answer(&mut root, "insert into u(b) select ins(5) from t where dup(a + 7) = 1"), USED);
    assert_eq!(answer(&mut root, "select count(*) from u; select a from log"), "0 / 109");
}

const USED: &str = "ERROR 1442 Can't update table 't' in stored function/trigger because it is already used by \
                            statement which invoked this stored function/trigger.";

/// The innermost of three programs fails. The one around it goes on, but the outermost fails after that if it is asked to.
#[test]
fn statements_are_undone_three_levels_deep() {
    let (instance, mut root) = opened();
    define(
        &instance,
        "middle",
        &["insert into u(b) values (?)", "do dup(?)", "insert into u(b) values (? + 50)"],
        |program, runner, values| {
            step(program, runner, 0, values)?;
            let failed = step(program, runner, 1, values).is_err();
            assert_eq!(failed, runner.diagnostics().count() == 1);
            step(program, runner, 2, values)?;
            Ok(Value::Int(i64::from(failed)))
        },
    );
    let statements =
        ["insert into log(a) values (1000 + ?)", "do middle(?)", "insert into log(id) values (?)"];
    define(&instance, "outermost", &statements, |program, runner, values| {
        step(program, runner, 0, values)?;
        step(program, runner, 1, values)?;
        let failed = step(program, runner, 2, values).is_err();
        if values[0].value == Value::Int(3) {
            step(program, runner, 2, values)?;
        }
        Ok(Value::Int(i64::from(failed)))
    });
    let state = "select group_concat(a) from log; select group_concat(b) from u; select count(*) from t";
    assert_eq!(answer(&mut root, "select outermost(2)"), "0");
    assert_eq!(answer(&mut root, state), "1002 / 2,52 / 3");
    assert_eq!(
        answer(&mut root, "begin; select outermost(20); select outermost(3)").matches("ERROR 1062").count(),
        1
    );
    assert_eq!(answer(&mut root, state), "1002,1020,120 / 2,52,20,70 / 4");
    answer(&mut root, "rollback");
    assert_eq!(answer(&mut root, state), "1002 / 2,52 / 3");
}

#[test]
fn refusals_have_mysqls_errors() {
    let (instance, mut root) = opened();
    define(&instance, "again", &["do again(?)"], |program, runner, values| {
        step(program, runner, 0, values).map(|()| Value::Null)
    });
    let mut told = |sql: &str| answer(&mut root, sql).chars().take(10).collect::<String>();
    assert_eq!(told("select again(1)"), "ERROR 1424");
    assert_eq!(told("insert into log(a) select ins(5)"), "ERROR 1442");
    assert_eq!(told("select ins(1), (select max(a) from log)"), "ERROR 1442");
    assert_eq!(told("select ins(1, 2)"), "ERROR 1318");
    assert_eq!(told("select d.nope(1)"), "ERROR 1305");
    assert_eq!(told("select D.ins(1)"), "ERROR 1305");
    assert_eq!(told("select d.INS(7)"), "1");
    assert_eq!(told("lock tables t read"), "OK 0");
    assert_eq!(told("select ins(1)"), "ERROR 1100");
    assert_eq!(told("lock tables log as l write"), "OK 0");
    assert_eq!(told("select ins(1)"), "ERROR 1100");
    assert_eq!(told("lock tables log as l write, log read"), "OK 0");
    assert_eq!(told("select ins(1)"), "ERROR 1099");
    assert_eq!(told("unlock tables"), "OK 0");
    assert_eq!(told("set session transaction read only"), "OK 0");
    assert_eq!(told("select ins(1)"), "ERROR 1792");
    assert_eq!(told("set session transaction read write"), "OK 0");
    assert_eq!(answer(&mut root, "select a from log"), "7");
}

#[test]
fn a_program_runs_for_the_rows_that_are_asked_for() {
    let (_instance, mut root) = opened();
    assert_eq!(answer(&mut root, "select ins(a) from t limit 1"), "1");
    assert_eq!(answer(&mut root, "select a from t where ins(a + 10) = 3"), "2");
    assert_eq!(answer(&mut root, "select group_concat(a) from log"), "1,11,12,13");
    assert_eq!(answer(&mut root, "select a from t where a > 1 and ins(20) order by ins(30 + a)"), "2 / 3");
    assert_eq!(answer(&mut root, "select group_concat(a) from log"), "1,11,12,13,20,32,20,33");
    assert_eq!(answer(&mut root, "explain format=tree select ins(1)").matches("fetched").count(), 1);
    assert_eq!(answer(&mut root, "select count(*) from log"), "8");
}

/// A program sees each row that the statement which calls it has put in.
#[test]
fn an_insert_calls_between_its_rows() {
    let (instance, mut root) = opened();
    define(&instance, "count_t", &["select count(*) from t"], |program, runner, _| {
        let mut rows = Collector::default();
        runner.run(&program.statements[0], &[], &mut rows)?;
        Ok(rows.rows[0][0].clone())
    });
    answer(&mut root, "insert into t values (count_t(1) + 500), (count_t(1) + 600), (count_t(1) + 700)");
    assert_eq!(answer(&mut root, "select group_concat(a order by a) from t where a > 3"), "503,604,705");
    answer(&mut root, "insert into u(b) values (1), (2)");
    answer(&mut root, "insert into t select count_t(1) + 800 + id * 10 from u");
    assert_eq!(answer(&mut root, "select group_concat(a order by a) from t where a > 800"), "816,827");
}

#[test]
fn the_caller_locks_what_its_programs_use() {
    let (instance, mut root) = opened();
    assert_eq!(answer(&mut root, "begin; select ins(1)"), "OK 0 / 1");
    let mut held: Vec<_> =
        instance.metadata_locks().rows().into_iter().map(|row| format!("{:?}", row.key)).collect();
    held.retain(|key| key.contains("log"));
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(answer(&mut root, "commit"), "OK 0");
    let mut other = connect(&instance, "root").unwrap();
    assert_eq!(answer(&mut other, "alter table d.log add c int default 5"), "OK 0");
    assert_eq!(answer(&mut root, "select ins(2), (select 1)"), "2|1");
    assert_eq!(answer(&mut root, "select * from log"), "1|1|5 / 2|2|5");
}

#[test]
fn the_sql_mode_is_the_programs() {
    let (instance, mut root) = opened();
    define(&instance, "wide", &["insert into u(b) values (?)"], |program, runner, values| {
        step(program, runner, 0, values).map(|()| Value::Null)
    });
    answer(&mut root, "set sql_mode = ''");
    assert_eq!(
        answer(&mut root, "select wide(1000)"),
        "ERROR 1264 Out of range value for column 'b' at row 1"
    );
    assert_eq!(answer(&mut root, "insert into u(b) values (1000)"), "OK 1");
}

/// A statement that was prepared under other settings keeps them for itself, and so do the plans of what it calls.
#[test]
fn a_program_has_the_settings_of_the_session() {
    let (instance, mut root) = opened();
    define(&instance, "week_of", &["select week('2020-01-01') from t where a = 1"], |program, runner, _| {
        let mut rows = Collector::default();
        runner.run(&program.statements[0], &[], &mut rows)?;
        Ok(rows.rows[0][0].clone())
    });
    let prepared =
        "prepare p from 'select week_of(1), week(''2020-01-01'')'; set default_week_format = 3; execute p";
    assert_eq!(answer(&mut root, prepared), "OK 0 / OK 0 / 1|0");
    assert_eq!(answer(&mut root, "select week_of(1), week('2020-01-01')"), "1|1");
}

/// A panic in a program is a bug, but neither its transaction nor the ids of the session may outlive it.
#[test]
fn nothing_outlives_a_panic() {
    let (instance, mut root) = opened();
    let calls = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&calls);
    define(&instance, "broken", &["insert into log(a) values (?)"], move |program, runner, values| {
        step(program, runner, 0, values)?;
        seen.fetch_add(1, Ordering::SeqCst);
        panic!("a mistake in a program");
    });
    answer(&mut root, "insert into u(b) values (1), (2)");
    assert_eq!(answer(&mut root, "select broken(1)").matches("ERROR 1815").count(), 1);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(answer(&mut root, "select last_insert_id(); select count(*) from log"), "1 / 0");
}

/// `STUBBORN(n)` changes two rows and notes that it did, whatever became of the changes.
fn define_stubborn(instance: &Instance) {
    let statements = [
        "update u set b = ? where id = 1",
        "update u set b = ? where id = 2",
        "insert into log(a) values (?)",
    ];
    define(instance, "stubborn", &statements, |program, runner, values| {
        let failed = (0..3).filter(|number| step(program, runner, *number, values).is_err()).count();
        Ok(Value::Int(failed as i64))
    });
}

fn wait_for_row_lock(instance: &Instance) {
    while instance.engine().waits().waiting_count() == 0 {
        std::thread::yield_now();
    }
}

/// MySQL runs no handler of a program whose transaction was rolled back.
#[test]
fn no_program_outlives_a_deadlock() {
    let (instance, mut root) = opened();
    define_stubborn(&instance);
    answer(&mut root, "insert into u(b) values (0), (0)");
    let mut other = connect(&instance, "root").unwrap();
    for statements in ["select stubborn(1)", "begin; insert into log(a) values (5); select stubborn(1)"] {
        answer(
            &mut other,
            "use d; begin; insert into t values (4), (5), (6), (7); update u set b = 9 where id = 2",
        );
        std::thread::scope(|scope| {
            let caller = scope.spawn(|| answer(&mut root, statements));
            wait_for_row_lock(&instance);
            assert_eq!(answer(&mut other, "update u set b = 9 where id = 1"), "OK 1");
            let told = caller.join().unwrap();
            let last = told.split(" / ").last().unwrap().to_owned();
            assert_eq!(last, "ERROR 1213 Deadlock found when trying to get lock; try restarting transaction");
        });
        answer(&mut other, "rollback");
        assert_eq!(answer(&mut root, "select * from log; select b from u; rollback"), "0 / 0 / OK 0");
    }
}

/// Nor one that was killed.
#[test]
fn no_program_outlives_a_kill() {
    let (instance, mut root) = opened();
    define_stubborn(&instance);
    answer(&mut root, "insert into u(b) values (0), (0)");
    let mut other = connect(&instance, "root").unwrap();
    answer(&mut other, "use d; begin; update u set b = 9 where id = 2");
    let kill = format!("kill query {}", root.id());
    std::thread::scope(|scope| {
        let caller =
            scope.spawn(|| answer(&mut root, "begin; insert into log(a) values (5); do stubborn(1)"));
        wait_for_row_lock(&instance);
        answer(&mut other, &kill);
        assert_eq!(caller.join().unwrap(), "OK 0 / OK 1 / ERROR 1317 Query execution was interrupted");
    });
    answer(&mut other, "rollback");
    assert_eq!(answer(&mut root, "select a from log; select b from u; rollback"), "5 / 0 / 0 / OK 0");
}
