//! Results of prepared statements that are kept: what COM_STMT_EXECUTE is served is, byte for byte, what it would compute.

use super::{Packets, hits, make_durable, opened, session};
use crate::prepared::ExecuteFlags;
use crate::session::Session;
use crate::tests::plan_settings::{STATEMENTS, is_tried, values};
use crate::tests::{check, connect, run};
use instance::Instance;
use std::sync::Arc;
use stdx::ids::Lsn;
use values::{Decimal, Value};
use variables::VariableId;
use variables::status::id as status;

/// What a client gets.
fn execute(session: &mut Session, statement: u32, values: &[Value]) -> Vec<u8> {
    let mut packets = Packets::new(true);
    let lsn = session.execute(statement, ExecuteFlags::default(), Vec::new(), values.to_vec(), &mut packets);
    session.instance().flush_log(lsn.max(Lsn(0))).unwrap();
    packets.bytes()
}

fn prepare(session: &mut Session, sql: &str) -> u32 {
    session.prepare(sql.as_bytes()).unwrap().statement_id
}

/// Whether an execution is served; what it gets is what is computed.
fn is_served(instance: &Arc<Instance>, session: &mut Session, statement: u32, values: &[Value]) -> bool {
    let before = hits(instance);
    let served = execute(session, statement, values);
    let is_served = hits(instance) > before;
    run(session, "set query_cache_type = off");
    assert_eq!(execute(session, statement, values), served, "{values:?}");
    run(session, "set query_cache_type = default");
    is_served
}

/// Served from the second time on.
fn is_kept(instance: &Arc<Instance>, session: &mut Session, statement: u32, values: &[Value]) -> bool {
    !is_served(instance, session, statement, values) && is_served(instance, session, statement, values)
}

#[test]
fn executions_are_served_by_text_and_values() {
    let (instance, mut one) = opened();
    let mut other = session(&instance);
    let sql = "select id, v, ? from u where v > ? order by id";
    let (first, second) = (prepare(&mut one, sql), prepare(&mut other, sql));
    let five = [Value::Int(1), Value::Int(5)];
    assert!(is_kept(&instance, &mut one, first, &five));
    assert!(is_served(&instance, &mut other, second, &five), "to others too");
    let again = prepare(&mut one, sql);
    assert!(is_served(&instance, &mut one, again, &five), "prepared anew");
    for different in [
        [Value::Int(2), Value::Int(5)],
        [Value::Int(1), Value::Int(15)],
        [Value::Null, Value::Int(5)],
        [Value::Bytes(b"1".to_vec()), Value::Int(5)],
        [Value::Double(1.0), Value::Int(5)],
        [Value::UInt(1), Value::Int(5)],
        [Value::Decimal(Decimal::parse(b"1.0").number), Value::Int(5)],
        [Value::Decimal(Decimal::parse(b"1.00").number), Value::Int(5)],
    ] {
        let new = prepare(&mut one, sql);
        assert!(is_kept(&instance, &mut one, new, &different), "{different:?}");
    }
    // The text protocol has other packets.
    let text = "select id, v from u order by id";
    let (of_text, statement) =
        ((0..2).map(|_| run(&mut one, text)).collect::<Vec<_>>(), prepare(&mut one, text));
    assert_eq!(of_text[0], of_text[1]);
    assert!(is_kept(&instance, &mut one, statement, &[]));
    for change in ["update u set v = v + 1", "alter table u add key (v)", "reset query cache"] {
        assert!(is_served(&instance, &mut one, statement, &[]), "before {change}");
        run(&mut other, change);
        make_durable(&mut other);
        assert!(is_kept(&instance, &mut one, statement, &[]), "behind {change}");
    }
    run(&mut one, "begin; update u set v = 0");
    assert!(!is_kept(&instance, &mut one, statement, &[]), "its own change");
    run(&mut one, "rollback");
}

/// A value of another kind gives the parameters other types from then on: the columns of later executions are others.
#[test]
fn what_executions_have_settled_is_in_the_key() {
    let (instance, mut one) = opened();
    let sql = "select id, v + ?, coalesce(?, v), ? from u order by id";
    let kinds = [
        Value::Int(7),
        Value::Double(7.0),
        Value::Bytes(b"7".to_vec()),
        Value::Null,
        Value::Decimal(Decimal::parse(b"7.25").number),
    ];
    for first in &kinds {
        for then in &kinds {
            let statement = prepare(&mut one, sql);
            for value in [first, then, first, then] {
                is_served(&instance, &mut one, statement, &[value.clone(), value.clone(), value.clone()]);
            }
        }
    }
    assert!(hits(&instance) > 50, "{} hits", hits(&instance));
}

/// Statements are prepared before settings change, or behind that, and executed under others.
#[test]
fn nobody_is_served_what_other_settings_made_of_an_execution() {
    let (instance, mut first) = opened();
    let queries: Vec<&str> = STATEMENTS.iter().filter(|sql| !sql.starts_with("begin")).copied().collect();
    for sql in &queries {
        let Ok(prepared) = first.prepare(sql.as_bytes()) else { continue };
        (0..2).for_each(|_| drop(execute(&mut first, prepared.statement_id, &[])));
    }
    let mut tried = 0;
    for id in VariableId::all().filter(|id| is_tried(*id)) {
        for value in values(id) {
            let set = format!("set session {} = {value}", id.variable().name);
            let [mut served, mut alone] = [(), ()].map(|()| session(&instance));
            let before = queries
                .iter()
                .map(|sql| [&mut served, &mut alone].map(|session| session.prepare(sql.as_bytes())));
            let before: Vec<_> = before.collect();
            if !run(&mut served, &set).concat().starts_with("OK") {
                continue;
            }
            run(&mut alone, &set);
            run(&mut alone, "set query_cache_type = off");
            tried += 1;
            for (sql, earlier) in queries.iter().zip(before) {
                let later = [&mut served, &mut alone].map(|session| session.prepare(sql.as_bytes()));
                for [of_served, of_alone] in [earlier, later] {
                    let (Ok(of_served), Ok(of_alone)) = (of_served, of_alone) else { continue };
                    for _ in 0..2 {
                        let got = execute(&mut served, of_served.statement_id, &[]);
                        assert_eq!(got, execute(&mut alone, of_alone.statement_id, &[]), "{sql} after {set}");
                    }
                }
            }
        }
    }
    assert!(tried > 200 && hits(&instance) > 1000, "{tried} values were tried, {} hits", hits(&instance));
}

#[test]
fn names_mean_what_they_meant_when_they_were_prepared() {
    let (instance, mut one) = opened();
    run(
        &mut one,
        "create database e; create table e.u (id int primary key, v int); insert into e.u values (1, 77)",
    );
    make_durable(&mut one);
    let sql = "select sum(v) from u";
    let of_d = prepare(&mut one, sql);
    run(&mut one, "use e");
    let of_e = prepare(&mut one, sql);
    assert!(is_kept(&instance, &mut one, of_d, &[]) && is_kept(&instance, &mut one, of_e, &[]));
    assert_ne!(execute(&mut one, of_d, &[]), execute(&mut one, of_e, &[]));
    let mut other = session(&instance);
    let statement = prepare(&mut other, sql);
    assert!(is_served(&instance, &mut other, statement, &[]), "where the schema is the default one");
    run(&mut one, "create temporary table u (v int); insert into u values (5)");
    assert!(!is_kept(&instance, &mut one, of_e, &[]), "a temporary table of its own");
    let named = prepare(&mut one, "select database(), v from d.u");
    assert!(is_kept(&instance, &mut one, named, &[]));
    let before = execute(&mut one, named, &[]);
    run(&mut one, "drop temporary table u; drop database e");
    assert!(is_kept(&instance, &mut one, named, &[]));
    assert_ne!(execute(&mut one, named, &[]), before, "the schema is gone");
}

#[test]
fn not_all_executions_are_kept() {
    let (instance, mut one) = opened();
    for (sql, values) in [
        ("select sql_no_cache id, v from u", vec![]),
        ("select /*+ SET_VAR(sort_buffer_size = 100000) */ id, v from u", vec![]),
        ("select v, rand() from u", vec![]),
        ("select v from u where id = ? for update", vec![Value::Int(1)]),
        ("select ?", vec![Value::Int(1)]),
        ("select v, ? + now(6) from u", vec![Value::Int(1)]),
    ] {
        let statement = prepare(&mut one, sql);
        let before = hits(&instance);
        (0..3).for_each(|_| drop(execute(&mut one, statement, &values)));
        assert_eq!(hits(&instance), before, "{sql}");
    }
    // A cursor is neither served nor kept.
    let sql = "select id, v from u order by id";
    let statement = prepare(&mut one, sql);
    let cursor = ExecuteFlags { read_only_cursor: true };
    let open = |session: &mut Session, statement| {
        session.execute(statement, cursor, Vec::new(), Vec::new(), &mut Packets::new(true));
    };
    let before = hits(&instance);
    (0..3).for_each(|_| open(&mut one, statement));
    let kept = instance.results().figures().count;
    assert!(is_kept(&instance, &mut one, statement, &[]));
    assert_eq!(instance.results().figures().count, kept + 1);
    open(&mut one, statement);
    assert_eq!(hits(&instance), before + 1);
}

#[test]
fn a_served_execution_counts_and_asks_as_a_query() {
    let (instance, mut root) = opened();
    check(&mut root, &[("create user reader", "OK 0"), ("grant select on d.u to reader", "OK 0")]);
    let mut reader = connect(&instance, "reader").unwrap();
    let statement = prepare(&mut reader, "select sum(v) from d.u where v > ?");
    let values = [Value::Int(0)];
    let count = |id| instance::status_values::total(&instance, id);
    let (selects, executions) = (count(status::COM_SELECT), count(status::COM_STMT_EXECUTE));
    (0..3).for_each(|_| drop(execute(&mut reader, statement, &values)));
    assert_eq!((count(status::COM_SELECT) - selects, hits(&instance)), (1, 2));
    assert_eq!(count(status::COM_STMT_EXECUTE) - executions, 3);
    // So a session knows whether it was served; Qcache_hits is everybody's.
    let own = "show session status like 'Com_select'";
    assert_eq!(
        (run(&mut reader, own), run(&mut root, own)),
        (vec!["Com_select|1".into()], vec!["Com_select|0".into()])
    );
    run(&mut root, "revoke select on d.u from reader");
    let denied = execute(&mut reader, statement, &values);
    assert!(denied.windows(4).any(|part| part == b"deni") && hits(&instance) == 2);
}

/// A plan that is kept and reads little neither looks nor keeps; one that reads much does.
#[test]
fn what_reads_little_by_a_kept_plan_is_not_looked_up() {
    let (instance, mut one) = opened();
    run(&mut one, "create table many (id int primary key, v int)");
    run(
        &mut one,
        "insert into many with recursive r (n) as (select 1 union all select n + 1 from r where n < 900) select n, n from r",
    );
    make_durable(&mut one);
    let statement = prepare(&mut one, "select id, v, ? from many where id between ? and ?");
    let range = |last| [Value::Int(1), Value::Int(1), Value::Int(last)];
    assert!(!is_kept(&instance, &mut one, statement, &range(5)));
    (0..3).for_each(|_| drop(execute(&mut one, statement, &range(900))));
    assert!(is_served(&instance, &mut one, statement, &range(900)));
    let mut other = session(&instance);
    let same = prepare(&mut other, "select id, v, ? from many where id between ? and ?");
    (0..3).for_each(|_| drop(execute(&mut other, same, &range(900))));
    assert!(is_served(&instance, &mut other, same, &range(900)));
}
