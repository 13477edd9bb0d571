//! A session runs the plans that another one made. What this is to see: a variable that planning reads and that
//! `READ_BY_PLANNING` lacks.

use crate::session::Session;
use crate::tests::{Printer, connect, environment, run, start};
use instance::READ_BY_PLANNING;
use variables::{Kind, Scope, VariableId, id};

/// Statements whose plans, types or folded constants some variable decides. Each is run under other values of all of them.
pub(super) const STATEMENTS: &[&str] = &[
    "select id / 3, 7 / 3, 1 / 3 + id from t where id = 2",
    "select group_concat(c order by id separator ',') from t where id = 2",
    "select group_concat('abc', c) from t where id = 2",
    "select date_format('2020-03-04', '%W %M %V'), week('2020-01-01'), week(m), date_format(m, '%W') from t where id = 1",
    "select id from t where id is null",
    "select id, c from t where id is null and n < 9",
    "select id, c from t where id > 0 order by id",
    "select 'a' || 'b', c || 'x' from t where id = 1",
    "select cast('2020-01-01 00:00:00' as datetime) = s, unix_timestamp('2020-01-01 12:00:00') from t where id = 1",
    "select from_unixtime(86400), s from t where s > '2020-01-01 00:00:00' order by id",
    "select length(repeat('a', 2000)), concat(c, '\\n'), length(repeat(c, 2000)) from t where id = 1",
    "select * from t where s = '2020-01-02 00:00:00' and id = 1",
    "select * from t where id in (1, 2, 3)",
    "select \"c\" from t where id = 1",
    "select not 1 between -5 and 0, - 1 from t where id = 1",
    "select cast('1x' as signed) + 0, '5abc' + 1 from t where id = 1",
    "select id, sum(id) from t group by c order by c",
    "select c from t where c = 'B' order by c",
    "select charset('x'), collation('x'), collation(c), charset(concat(1)) from t where id = 1",
    "select cast(0 as unsigned) - 1 from t where id = 1",
    "select str_to_date('2020-00-00', '%Y-%m-%d'), cast('0000-00-00' as date) from t where id = 1",
    "select time_format('10:11:12.6', '%f'), cast('10:11:12.6' as time) from t where id = 1",
    "begin; insert into t (id, c, n) values (10, 'long text', 300); select * from t where id = 10; rollback",
    "begin; insert into t (c) values ('new'); select count(*) from t; rollback",
    "begin; update t set n = 500 where id = 1; select n from t where id = 1; rollback",
    "begin; update t set n = n + 1; select sum(n) from t; rollback",
    "begin; update t set m = '2020-02-31' where id = 1; select m from t where id = 1; rollback",
    "begin; delete from t where c > 'a'; select count(*) from t; rollback",
    "with recursive r as (select 1 a union all select a + 1 from r where a < 5) select max(a) from r",
    "select hex(aes_encrypt(c, 'key', '0123456789abcdef')) from t",
    "select a.id, b.c from t a join t b on a.id = b.id where b.c like 'b%'",
];

/// Other values of a variable, as SET takes them.
pub(super) fn values(id: VariableId) -> Vec<String> {
    let variable = id.variable();
    let named = |names: &[&str]| names.iter().map(|name| format!("'{name}'")).collect();
    match variable.name {
        "sql_mode" => named(&[
            "",
            "ANSI",
            "PIPES_AS_CONCAT",
            "NO_BACKSLASH_ESCAPES",
            "HIGH_NOT_PRECEDENCE",
            "ONLY_FULL_GROUP_BY",
            "NO_UNSIGNED_SUBTRACTION",
            "TIME_TRUNCATE_FRACTIONAL",
            "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE",
        ]),
        "time_zone" => named(&["+05:00", "-03:30"]),
        "lc_time_names" => named(&["de_DE", "ja_JP"]),
        "collation_connection" => named(&["latin1_swedish_ci", "utf8mb4_bin"]),
        "character_set_client" | "character_set_results" => named(&["latin1"]),
        _ => match variable.kind {
            Kind::Boolean => named(&["ON", "OFF"]),
            Kind::Integer => ["0", "1", "2", "4", "7", "1000"].map(str::to_owned).to_vec(),
            Kind::Double => ["0", "0.5"].map(str::to_owned).to_vec(),
            Kind::Enumeration | Kind::Set => named(variable.members),
            Kind::Flags => variable
                .members
                .iter()
                .flat_map(|flag| [format!("'{flag}=on'"), format!("'{flag}=off'")])
                .collect(),
            Kind::String => Vec::new(),
        },
    }
}

/// What each statement answers, types of columns and warnings included.
fn answers(session: &mut Session) -> Vec<String> {
    let answer = |sql: &&str| {
        let mut printer = Printer::default();
        session.query(sql.as_bytes(), &mut printer);
        let lines = printer.take_lines().join(" / ");
        format!("{sql}: {lines} {:?} {:?}", printer.columns(), run(session, "show warnings"))
    };
    STATEMENTS.iter().map(answer).collect()
}

pub(super) fn is_tried(id: VariableId) -> bool {
    let variable = id.variable();
    // A session that sleeps for the clock of the test would sleep for ever.
    let waits = variable.name.contains("timeout") || id == id::MAX_EXECUTION_TIME;
    // What a statement is estimated to read is what the plan says that it has, be it kept or new.
    let estimates = id == id::MAX_JOIN_SIZE;
    variable.scope != Scope::Global && variable.dynamic && !waits && !estimates
}

#[test]
fn plans_are_shared_under_all_variables_but_those_that_planning_reads() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut first = connect(&instance, "root").unwrap();
    for statement in [
        "create database d",
        "use d",
        "create table t (id int auto_increment primary key, c varchar(20), n tinyint, m datetime, s timestamp, key (c))",
        "insert into t values (1, 'a', 1, '2020-01-02', '2020-01-02'), (2, 'b', 2, '2020-06-07', '2020-06-07'), (3, 'B', 3, null, null)",
    ] {
        run(&mut first, statement);
    }
    // The third time runs the plan that the second one kept.
    (0..3).for_each(|_| drop(answers(&mut first)));
    let (mut tried, mut told_apart) = (0, Vec::new());
    for id in VariableId::all().filter(|id| is_tried(*id)) {
        for value in values(id) {
            let set = format!("set session {} = {value}", id.variable().name);
            let opened = || {
                let mut session = connect(&instance, "root").unwrap();
                run(&mut session, "use d; select last_insert_id(2)");
                let before = session.settings().fingerprint;
                (run(&mut session, &set).concat().starts_with("OK"), before, session)
            };
            let (is_set, before, mut sharing) = opened();
            if !is_set {
                continue;
            }
            tried += 1;
            let differs = sharing.settings().fingerprint != before;
            assert!(!differs || READ_BY_PLANNING.contains(&id), "{set} makes plans of its own");
            if differs && !told_apart.contains(&id) {
                told_apart.push(id);
            }
            let (_, _, mut alone) = opened();
            alone.text_plans.switched_off = true;
            assert_eq!(answers(&mut sharing), answers(&mut alone), "after {set}");
        }
    }
    // This one is the global value's as it was when the session started.
    run(&mut first, "set global max_allowed_packet = 1024");
    let [mut sharing, mut alone] = [(), ()].map(|()| connect(&instance, "root").unwrap());
    alone.text_plans.switched_off = true;
    [&mut sharing, &mut alone].into_iter().for_each(|session| drop(run(session, "use d")));
    assert_ne!(sharing.settings().fingerprint, first.settings().fingerprint);
    assert_eq!(answers(&mut sharing), answers(&mut alone));
    told_apart.push(id::MAX_ALLOWED_PACKET);
    told_apart.sort();
    assert!(tried > 200, "{tried} values were tried");
    assert_eq!(told_apart, READ_BY_PLANNING, "no value of the others was tried that differs");
}
