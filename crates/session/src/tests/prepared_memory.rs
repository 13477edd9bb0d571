//! What prepared statements may take.

use crate::prepared::ExecuteFlags;
use crate::session::Session;
use crate::tests::{Printer, check, connect, environment, run, start};
use values::Value;

const LENGTH: usize = 100 << 10;

/// A statement of that many bytes.
fn long_text() -> String {
    format!("select \"{}\", ?", "x".repeat(LENGTH - 13))
}

fn error(outcome: errors::SqlResult<impl std::fmt::Debug>) -> u16 {
    outcome.unwrap_err().number()
}

/// The answer to an execution with one parameter.
fn execute(session: &mut Session, statement: u32, value: Value) -> String {
    let mut printer = Printer::default();
    session.execute(statement, ExecuteFlags::default(), Vec::new(), vec![value], &mut printer);
    printer.lines.join(" / ")
}

#[test]
fn statements_are_bounded_in_number_and_bytes() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let memory = instance.prepared_memory();
    let (mut one, mut two) = (connect(&instance, "root").unwrap(), connect(&instance, "root").unwrap());
    run(&mut one, "set global max_prepared_stmt_count = 3");
    // Three times 64 KiB are enough for one of 100 KiB.
    let first = one.prepare(long_text().as_bytes()).unwrap().statement_id;
    assert_eq!(error(two.prepare(long_text().as_bytes())), 3170);
    run(&mut two, &format!("set @s = '{}'", long_text()));
    let refused = run(&mut two, "prepare s from @s").join("");
    assert_eq!(
        refused,
        "ERROR 3170 Memory capacity of 196608 bytes for 'prepared statements' exceeded. \
         Close statements, or raise max_prepared_stmt_count."
    );
    check(&mut two, &[("prepare s from 'select ?'", "OK 0"), ("prepare t from 'select 1'", "OK 0")]);
    assert_eq!(error(two.prepare(b"select 1")), 1461);
    assert_eq!(memory.count(), 3);
    one.close_statement(first);
    check(&mut two, &[("deallocate prepare t", "OK 0"), ("prepare s from @s", "OK 0")]);
    assert_eq!(error(one.prepare(long_text().as_bytes())), 3170);
    drop(two);
    assert!(one.prepare(long_text().as_bytes()).is_ok());
    one.reset_connection(&mut Printer::default());
    assert_eq!((memory.count(), memory.bytes()), (0, 0));
}

/// Many short tokens take far more than their text: items of a select list some 600 bytes each, operators and rows some 100 a token.
#[test]
fn trees_and_plans_are_charged_by_what_they_are_made_of() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = connect(&instance, "root").unwrap();
    run(&mut session, "create database d; use d; create table t (a int)");
    let memory = instance.prepared_memory().clone();
    let mut charged = |sql: String| {
        let before = memory.bytes();
        let id = session.prepare(sql.as_bytes()).unwrap().statement_id;
        let bytes = memory.bytes() - before;
        session.close_statement(id);
        assert_eq!(memory.bytes(), before, "all is given back");
        bytes
    };
    for item in [",1", ",?", ",pi()"] {
        let bytes = charged(format!("select 1{}", item.repeat(2000)));
        assert!((600 * 2000..2000 * 2000).contains(&bytes), "{item}: {bytes}");
    }
    let bytes = charged(format!("insert into t values (1){}", ",(1)".repeat(2000)));
    assert!((400 * 2000..800 * 2000).contains(&bytes), "{bytes}");
    // A statement as clients have them is far below its share.
    let usual = charged("select a, a + 1 as b from t where a > ? and a < ? order by a limit 10".to_owned());
    assert!(usual < 8 << 10, "{usual}");
    // Of a long text only that is kept.
    let long = charged(format!("select 1{}", ",1".repeat(40 << 10)));
    assert!(long < 100 << 10, "{long}");
}

#[test]
fn long_texts_are_read_as_when_they_were_prepared() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = connect(&instance, "root").unwrap();
    let id = session.prepare(long_text().as_bytes()).unwrap().statement_id;
    run(&mut session, &format!("set @s = '{}', @v = 5", long_text()));
    run(&mut session, "prepare s from @s");
    // Quotes are names now, for statements that are read now.
    run(&mut session, "set sql_mode = 'ANSI_QUOTES'");
    for value in [7, 8] {
        let expected = format!("{}|{value}", "x".repeat(LENGTH - 13));
        assert_eq!(execute(&mut session, id, Value::Int(value)), expected);
        run(&mut session, &format!("set @v = {value}"));
        assert_eq!(run(&mut session, "execute s using @v").join(""), expected);
    }
    // Parameters get their types from where they stand, as in short texts.
    run(
        &mut session,
        "set sql_mode = ''; create database d; use d; create table t (a int); insert into t values (10)",
    );
    let text = format!("select a from t where a = ? and 'x' <> '{}'", "x".repeat(LENGTH));
    let id = session.prepare(text.as_bytes()).unwrap().statement_id;
    for _ in 0..2 {
        assert_eq!(execute(&mut session, id, Value::Bytes(b"10".to_vec())), "10");
        assert_eq!(execute(&mut session, id, Value::Int(11)), "");
    }
}

#[test]
fn long_parameters_are_bounded_too() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = connect(&instance, "root").unwrap();
    run(&mut session, "set global max_prepared_stmt_count = 3");
    let id = session.prepare(b"select length(?)").unwrap().statement_id;
    let (piece, all) = (vec![b'y'; 60 << 10], 3 * (60 << 10));
    for _ in 0..2 {
        (0..3).for_each(|_| session.send_long_data(id, 0, &piece));
        assert_eq!(execute(&mut session, id, Value::Null), all.to_string());
        (0..4).for_each(|_| session.send_long_data(id, 0, &piece));
        for _ in 0..2 {
            assert!(execute(&mut session, id, Value::Null).starts_with("ERROR 3170 "));
        }
        session.reset_statement(id, &mut Printer::default());
        // What was refused is forgotten.
        assert_eq!(execute(&mut session, id, Value::Null), "NULL");
        (0..3).for_each(|_| session.send_long_data(id, 0, &piece));
        session.reset_statement(id, &mut Printer::default());
    }
}

#[test]
fn a_parameter_beyond_max_allowed_packet_fails_up_to_a_reset() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    run(&mut connect(&instance, "root").unwrap(), "set global max_allowed_packet = 4096");
    let mut session = connect(&instance, "root").unwrap();
    let id = session.prepare(b"select length(?)").unwrap().statement_id;
    let piece = [b'y'; 1024];
    (0..4).for_each(|_| session.send_long_data(id, 0, &piece));
    assert_eq!(execute(&mut session, id, Value::Null), "4096");
    (0..5).for_each(|_| session.send_long_data(id, 0, &piece));
    let refused = "ERROR 1105 Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                   'max_allowed_packet' bytes";
    assert_eq!(execute(&mut session, id, Value::Null), refused);
    session.send_long_data(id, 0, b"short");
    // It needs no value in the packet, as if the long one were there.
    assert!(session.bound_parameters(id).unwrap().sent[0]);
    assert_eq!(execute(&mut session, id, Value::Null), refused);
    session.reset_statement(id, &mut Printer::default());
    assert!(!session.bound_parameters(id).unwrap().sent[0]);
    session.send_long_data(id, 0, b"short");
    assert_eq!(execute(&mut session, id, Value::Null), "5");
    session.send_long_data(id, 1, b"one too many");
    for _ in 0..2 {
        let refused = "ERROR 1210 Incorrect arguments to mysql_stmt_precheck";
        assert_eq!(execute(&mut session, id, Value::Null), refused);
    }
}
