//! Statements by kept plans answer as the same statements planned anew.

use crate::session::Session;
use crate::tests::{connect, environment, run, start};
use instance::Planned;
use std::sync::Arc;

const TABLE: &str = "create table t (id int primary key, u bigint unsigned, c varchar(20), d decimal(10, 3), \
                     m datetime, f double, e enum('a', 'b'), unique key (u), key (c, d))";

/// Numbers that repeat on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn literal(&mut self) -> String {
        let awkward = [
            "''",
            "'x'",
            "'5'",
            "'5abc'",
            "' 5'",
            "'é'",
            "'2020-01-02'",
            "'2020-01-02 03:04:05.5'",
            "NULL",
            "0",
            "-1",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "1.5",
            "-1.50",
            "0.001",
            "12345678901.25",
            "1e0",
            "1e300",
            "TRUE",
            "0x41",
            "DATE'2020-01-02'",
            "'a' 'b'",
            "_latin1'x'",
            "99999999999999999999999999999999999999999999999999999999999999999999.5",
        ];
        match self.below(3) {
            0 => self.below(30).to_string(),
            1 => format!("'v{}'", self.below(6)),
            _ => self.pick(&awkward).to_owned(),
        }
    }

    fn statement(&mut self) -> String {
        let column = |numbers: &mut Numbers| numbers.pick(&["id", "u", "c", "d", "m", "f", "e"]);
        let (first, second) = (column(self), column(self));
        let (a, b, c) = (self.literal(), self.literal(), self.literal());
        let operator = self.pick(&["=", "<", ">=", "<>", "<=>", "like"]);
        let id = self.below(30);
        match self.below(12) {
            0 | 1 => format!("insert into t values ({id}, {}, {a}, {b}, {c}, 1.5, 'a')", self.below(30)),
            2 => format!("insert ignore into t (id, {first}) values ({id}, {a}), ({}, {b})", id + 1),
            3 => format!("update t set {first} = {a} where id = {id}"),
            4 => format!("update t set f = f + {a} where {second} = {b}"),
            5 => format!("delete from t where id = {id} and {first} <> {b}"),
            6 => format!("insert into t (id, c) values ({id}, 'n') on duplicate key update {first} = {a}"),
            7 => format!("select * from t where {first} {operator} {a} order by id"),
            8 => format!(
                "select {first}, {second} from t where {first} between {a} and {b} order by id limit 3"
            ),
            9 => {
                format!("select c, sum(d), count(*) from t where id in ({a}, {b}, {c}) group by c order by c")
            }
            10 => format!(
                "select {first} + 1, 'lit' from t where u = {a} and {second} {operator} {b} order by id"
            ),
            _ => format!("select distinct c from t where c = {a} and d > {b} order by c"),
        }
    }
}

fn fresh(switched_off: bool) -> Box<Session> {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut session = connect(&instance, "root").unwrap();
    session.text_plans.switched_off = switched_off;
    run(&mut session, "create database d");
    run(&mut session, "use d");
    run(&mut session, TABLE);
    session
}

#[test]
fn kept_plans_answer_as_fresh_ones() {
    let (mut by_shape, mut plain) = (fresh(false), fresh(true));
    let mut numbers = Numbers(3);
    for step in 0..6000 {
        if step % 1500 == 1499 {
            let change = [
                "set sql_mode = ''",
                "alter table t add key (m)",
                "set names latin1",
                "set sql_mode = default",
            ];
            let change = change[step / 1500];
            assert_eq!(run(&mut by_shape, change), run(&mut plain, change));
        }
        let sql = numbers.statement();
        assert_eq!(run(&mut by_shape, &sql), run(&mut plain, &sql), "step {step}: {sql}");
        if sql.starts_with("insert") {
            let warnings = run(&mut by_shape, "show warnings");
            assert_eq!(warnings, run(&mut plain, "show warnings"), "step {step}: warnings of {sql}");
        }
    }
}

/// What MySQL converts before it looks for rows is converted by a kept plan as well, whatever literal comes, and whether or not a row
/// is found: what ends a change does so by both.
#[test]
fn kept_plans_convert_literals_before_rows() {
    let (mut by_shape, mut plain) = (fresh(false), fresh(true));
    let fill =
        "replace into t values (1, 1, 'n', 1, '2020-01-01', 1.5, 'a'), (2, 2, null, null, null, null, null)";
    let texts = ["'v5'", "''", "'5abc'", "' 5'", "'2020-01-02'", "'99999999999999999999'", "'-1'"];
    let numbers = ["0", "300", "20201301", "9223372036854775807"];
    for session in [&mut by_shape, &mut plain] {
        run(session, "alter table t add s time, add y year");
    }
    for (harmless, awkward) in [("'5'", &texts[..]), ("5", &numbers[..])] {
        for statement in [
            "delete from t where id = 1 and C <> L",
            "delete from t where id = 9 and C <> L",
            "delete from t where C = L and id > 5",
            "update t set f = f where u = 9 and C > L",
            "delete from t where id = 9 and C in (L, L)",
            "delete from t where id = 9 and C between L and L",
            "delete from t where id = 9 and (C = L or f is null)",
            "delete from t where id = 9 and not C <=> L",
            "delete from t where id = 9 and left(c, L) = 'a'",
            "delete from t where id = 9 and L",
            "select id from t where id = 1 and C <> L",
        ] {
            for column in ["u", "c", "d", "m", "f", "s", "y", "e"] {
                let statement = statement.replace('C', column);
                for literal in [&[harmless; 3], awkward].concat() {
                    let sql = statement.replace('L', literal);
                    for session in [&mut by_shape, &mut plain] {
                        run(session, fill);
                    }
                    assert_eq!(run(&mut by_shape, &sql), run(&mut plain, &sql), "{sql}");
                }
            }
        }
    }
}

#[test]
fn a_shape_is_kept_when_it_comes_again() {
    let mut session = fresh(false);
    let kept = |session: &Session, sql: &str| {
        let mut literals = Vec::new();
        let key = session.shape_key(sql.as_bytes(), &mut literals).unwrap();
        matches!(session.instance.plan_cache().find(&key), Some((_, instance::Shape::Kept(_))))
    };
    run(&mut session, "select c from t where id = 1");
    assert!(!kept(&session, "select c from t where id = 2"));
    run(&mut session, "select c from t where id = 2");
    assert!(kept(&session, "select c from t where id = 3"));
    // Another type of literal is another shape; so is another schema, another sql_mode.
    assert!(!kept(&session, "select c from t where id = '3'"));
    run(&mut session, "set sql_mode = 'ANSI'");
    assert!(!kept(&session, "select c from t where id = 3"));
    run(&mut session, "set sql_mode = default");
    run(&mut session, "drop table t");
    assert_eq!(run(&mut session, "select c from t where id = 4"), ["ERROR 1146 Table 'd.t' doesn't exist"]);
}

#[test]
fn a_definition_that_changes_costs_one_plan() {
    let mut session = fresh(false);
    assert!(kept(&mut session).is_none());
    let first = kept(&mut session).unwrap();
    run(&mut session, "alter table t add key (m)");
    let second = kept(&mut session).unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    let third = kept(&mut session).unwrap();
    assert!(Arc::ptr_eq(&second, &third));
    run(&mut session, "analyze table t");
    assert!(!Arc::ptr_eq(&third, &kept(&mut session).unwrap()));
}

/// The plan that is kept for a query, after running it.
fn kept(session: &mut Session) -> Option<Arc<Planned>> {
    assert!(run(session, "select c from t where id = 1").is_empty());
    let mut literals = Vec::new();
    let key = session.shape_key(b"select c from t where id = 1", &mut literals).unwrap();
    match session.instance.plan_cache().find(&key) {
        Some((_, instance::Shape::Kept(planned))) => Some(planned),
        _ => None,
    }
}

#[test]
fn definitions_of_other_tables_cost_no_plan() {
    let mut session = fresh(false);
    kept(&mut session);
    let first = kept(&mut session).unwrap();
    let mut other = connect(session.instance(), "root").unwrap();
    for sql in
        ["create table d.o (a int)", "alter table d.o add b int", "create database e", "drop table d.o"]
    {
        assert!(run(&mut other, sql)[0].starts_with("OK"), "{sql}");
        assert!(Arc::ptr_eq(&first, &kept(&mut session).unwrap()), "{sql}");
    }
    run(&mut other, "rename table d.t to e.t");
    assert!(run(&mut session, "select c from t where id = 1")[0].starts_with("ERROR 1146"));
}

#[test]
fn a_table_that_grows_is_planned_anew() {
    let mut session = fresh(false);
    kept(&mut session);
    let first = kept(&mut session).unwrap();
    let look = |session: &Session| session.instance().look_at_growth(&first, 0);
    run(&mut session, "insert into t (id) values (2), (3)");
    look(&session);
    assert!(Arc::ptr_eq(&first, &kept(&mut session).unwrap()));
    let rows: Vec<String> = (10..100).map(|id| format!("({id})")).collect();
    run(&mut session, &format!("insert into t (id) values {}", rows.join(", ")));
    look(&session);
    assert!(!Arc::ptr_eq(&first, &kept(&mut session).unwrap()));
}

#[test]
fn kept_plans_lock_their_tables_to_the_end_of_the_transaction() {
    let mut session = fresh(false);
    let tables: Vec<String> = (0..20).map(|number| format!("m{number}")).collect();
    tables
        .iter()
        .for_each(|table| drop(run(&mut session, &format!("create table {table} (id int primary key)"))));
    let mut other = connect(session.instance(), "root").unwrap();
    for round in 0..4 {
        run(&mut session, "begin");
        for table in &tables {
            assert!(run(&mut session, &format!("select id from {table} where id = {round}")).is_empty());
            let deleted = run(&mut session, &format!("delete from {table} where id = {round}"));
            assert_eq!(deleted, ["OK 0"]);
        }
        let rows = session.instance().metadata_locks().rows();
        for table in &tables {
            let is_held = |row: &catalog::LockRow| {
                row.key.object_name() == table && row.granted && row.mode == catalog::LockMode::Write
            };
            assert!(rows.iter().any(is_held), "{table}: {rows:?}");
        }
        std::thread::scope(|scope| {
            let locked = scope.spawn(|| run(&mut other, "lock tables d.m0 write, d.m19 write"));
            let instance = Arc::clone(session.instance());
            while instance.metadata_locks().rows().iter().all(|row| row.granted) {
                std::thread::yield_now();
            }
            assert!(!locked.is_finished());
            run(&mut session, "commit");
            assert_eq!(locked.join().unwrap(), ["OK 0"]);
        });
        run(&mut other, "unlock tables");
        assert!(session.instance().metadata_locks().rows().is_empty(), "round {round}");
    }
}

#[test]
fn a_column_is_called_as_its_own_text_says() {
    let mut session = fresh(false);
    let mut names = Vec::new();
    for item in ["f+f", "f+f", "f+f", "f + f", "f  +  f"] {
        let mut printer = crate::tests::Printer::default();
        session.query(format!("select {item} from t where id = 1").as_bytes(), &mut printer);
        names.push(printer.column_names());
    }
    assert_eq!(names, [["f+f"], ["f+f"], ["f+f"], ["f + f"], ["f  +  f"]]);
}

/// Rows that a statement read.
fn rows_read(session: &mut Session, sql: &str) -> u64 {
    let count = |session: &mut Session| {
        let shown = run(session, "show session status like 'Handler_read_rnd_next'");
        shown[0].rsplit('|').next().unwrap().trim_matches('\'').parse::<u64>().unwrap()
    };
    let before = count(session);
    run(session, sql);
    count(session) - before
}

/// How many statements were planned again, rows that one read as the count of the text before it.
fn plans_made_again(session: &mut Session) -> u64 {
    let shown = run(session, "show session status like 'Com_stmt_reprepare'");
    shown[0].rsplit('|').next().unwrap().trim_matches('\'').parse().unwrap()
}

/// A table of 4,000 rows of which 3,000 have one key and the others have each their own.
fn skewed() -> Box<Session> {
    let mut session = fresh(false);
    run(&mut session, "create table skew (id int primary key, k int, v int, key (k))");
    for start in 0..40 {
        let row = |id: i32| format!("({id}, {}, 1)", if id < 3000 { 1 } else { id });
        let rows: Vec<String> = (start * 100..start * 100 + 100).map(row).collect();
        run(&mut session, &format!("insert into skew values {}", rows.join(", ")));
    }
    session
}

#[test]
fn a_kept_plan_that_read_far_more_than_it_expected_is_made_anew_for_such_values() {
    let mut session = skewed();
    run(&mut session, "prepare s from 'select sum(v) from skew where k = ?'");
    run(&mut session, "set @few = 3500, @many = 1");
    for (few, many) in [
        ("select sum(v) from skew where k = 3500", "select sum(v) from skew where k = 1"),
        ("execute s using @few", "execute s using @many"),
    ] {
        let before = plans_made_again(&mut session);
        for _ in 0..4 {
            assert_eq!(rows_read(&mut session, few), 1);
        }
        assert_eq!(rows_read(&mut session, many), 3000, "by the kept plan");
        assert_eq!(plans_made_again(&mut session), before);
        for time in 1..4 {
            assert_eq!(rows_read(&mut session, many), 4000, "all of the table, which costs less");
            assert_eq!(rows_read(&mut session, few), 1);
            assert_eq!(plans_made_again(&mut session), before + time);
        }
    }
}

#[test]
fn a_kept_plan_that_is_right_for_many_rows_is_not_made_anew_again_and_again() {
    let mut session = skewed();
    for _ in 0..4 {
        assert_eq!(rows_read(&mut session, "select sum(k) from skew where k = 3500"), 1);
    }
    for _ in 0..6 {
        assert_eq!(rows_read(&mut session, "select sum(k) from skew where k = 1"), 3000);
    }
    assert_eq!(plans_made_again(&mut session), 1);
}

#[test]
fn a_prepared_statement_is_planned_for_its_values() {
    let mut session = fresh(false);
    run(&mut session, "create table many (id int primary key, k int, v int, key (k))");
    for start in 0..20 {
        let rows: Vec<String> =
            (start * 100..start * 100 + 100).map(|id| format!("({id}, {id}, 1)")).collect();
        run(&mut session, &format!("insert into many values {}", rows.join(", ")));
    }
    run(&mut session, "prepare s from 'select sum(v) from many where k between ? and ?'");
    run(&mut session, "set @low = 1, @high = 3, @far = 1500");
    assert_eq!(rows_read(&mut session, "execute s using @low, @high"), 3);
    let wide = rows_read(&mut session, "select sum(v) from many where k between 1 and 1500");
    assert_eq!(wide, 2000);
    assert_eq!(rows_read(&mut session, "execute s using @low, @far"), wide);
    assert_eq!(rows_read(&mut session, "execute s using @low, @high"), 3);
}

#[test]
fn uses_of_a_common_table_cost_no_plan_each() {
    let mut session = fresh(false);
    let mut sql = "with c0 as (select 1 a)".to_owned();
    for level in 1..30 {
        sql += &format!(", c{level} as (select x.a from c{0} x, c{0} y)", level - 1);
    }
    assert_eq!(run(&mut session, &(sql + " select a from c29")), ["1"]);
}

#[test]
fn privileges_are_checked_at_each_execution() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    for sql in [
        "create database d",
        "create table d.t (a int primary key)",
        "create user u",
        "grant select on d.* to u",
    ] {
        run(&mut root, sql);
    }
    let mut user = connect(&instance, "u").unwrap();
    for key in 1..4 {
        assert!(run(&mut user, &format!("select * from d.t where a = {key}")).is_empty());
    }
    run(&mut root, "revoke select on d.* from u");
    let denied = run(&mut user, "select * from d.t where a = 5");
    assert!(denied[0].starts_with("ERROR 1142"), "{denied:?}");
}

#[test]
fn errors_show_the_literals_of_the_text() {
    let mut session = fresh(false);
    run(&mut session, "insert into t (id, u, d) values (1, 18446744073709551615, 1)");
    for form in [
        "update t set u = u + N where id = 1",
        "insert into t (id, u) values (1, N) on duplicate key update u = t.u + N",
        "insert into t (id, u) values (2, 18446744073709551615 + N)",
        "delete from t where id = 1 and u + N > 3",
    ] {
        for number in 1..6 {
            let told = run(&mut session, &form.replace('N', &number.to_string()));
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(
                told[0].contains("ERROR 1690") && told[0].contains(&format!(" + {number})'")),
                "{told:?}"
            );
            assert_eq!(run(&mut session, "show warnings").len(), 1);
        }
    }
    assert_eq!(run(&mut session, "select count(*) from t"), ["1"]);
}
