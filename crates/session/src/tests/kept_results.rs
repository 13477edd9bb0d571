//! Results that are kept: what is served is, byte for byte, what would be computed, and nobody is served what he would not read.

mod executions;

use super::plan_settings::{STATEMENTS, is_tried, values};
use crate::session::Session;
use crate::tests::{check, connect, environment, run, start_with};
use charset::CollationId;
use env::Environment;
use errors::{SqlError, SqlResult};
use instance::Instance;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::ids::Lsn;
use values::RowRef;
use variables::VariableId;
use variables::status::id as status;
use wire::capabilities::client;
use wire::encoder::Encoder;
use wire::recorded::RecordedRows;
use wire::result::{ClientChannel, EncodedColumns, EncodedRows, ResultColumn, ResultSink, StatementEnd};

/// A client that looks at bytes.
struct Packets(Encoder);

impl Packets {
    fn new(is_binary: bool) -> Packets {
        let mut encoder = Encoder::new(client::PROTOCOL_41);
        encoder.begin_answer(1, is_binary, 2);
        Packets(encoder)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.output.bytes().to_vec()
    }
}

impl ResultSink for Packets {
    fn columns(&mut self, columns: &[ResultColumn], collation: CollationId) -> SqlResult<()> {
        self.0.columns(columns, collation);
        Ok(())
    }

    fn resume_rows(&mut self, columns: &[ResultColumn], collation: CollationId) -> SqlResult<()> {
        self.0.resume_rows(columns, collation);
        Ok(())
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.0.row(row, &::values::json::Unwatched)
    }

    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        Some(self)
    }

    fn record_rows(&mut self, bytes_max: usize) {
        self.0.record_rows(bytes_max);
    }

    fn take_recorded(&mut self) -> Option<RecordedRows> {
        self.0.take_recorded()
    }

    fn end_rows(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.0.end_rows(end);
        Ok(())
    }

    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.0.ok(end);
        Ok(())
    }

    fn error(&mut self, error: &SqlError) {
        self.0.error(error);
    }
}

impl EncodedRows for Packets {
    fn is_binary(&self) -> bool {
        self.0.is_binary()
    }

    fn begin(&mut self, columns: &EncodedColumns) -> SqlResult<()> {
        self.0.encoded_columns(columns);
        Ok(())
    }

    fn row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) -> SqlResult<()> {
        self.0.encoded_row(encode);
        Ok(())
    }
}

impl ClientChannel for Packets {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Ok(())
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// What a client gets.
fn bytes(session: &mut Session, sql: &str) -> Vec<u8> {
    let mut packets = Packets::new(false);
    let lsn = session.query(sql.as_bytes(), &mut packets);
    session.instance().flush_log(lsn.max(Lsn(0))).unwrap();
    packets.bytes()
}

/// A server that keeps what it sees first.
fn keeping(environment: &Environment) -> Arc<Instance> {
    start_with(environment, &[("query-cache-size", "4M"), ("query-cache-compatibility", "5.5")])
}

fn session(instance: &Arc<Instance>) -> Box<Session> {
    let mut session = connect(instance, "root").unwrap();
    run(&mut session, "use d");
    session
}

fn hits(instance: &Instance) -> u64 {
    instance::status_values::total(instance, status::QCACHE_HITS)
}

/// The cell of a result of one row of one column, as somebody reads it who would rather be served.
fn cell(session: &mut Session, sql: &str) -> String {
    let packets = bytes(session, sql);
    let text: Vec<u8> = packets.iter().rev().skip(9).copied().take_while(u8::is_ascii_digit).collect();
    text.iter().rev().map(|byte| char::from(*byte)).collect()
}

/// Whether a statement is served, where `prepared` has been run since it was asked first.
fn is_served(instance: &Arc<Instance>, session: &mut Session, sql: &str) -> bool {
    let before = hits(instance);
    let served = bytes(session, sql);
    let is_served = hits(instance) > before;
    run(session, "set query_cache_type = off");
    assert_eq!(bytes(session, sql), served, "{sql}");
    run(session, "set query_cache_type = default");
    is_served
}

const TABLE: &[&str] = &[
    "create database d",
    "use d",
    "create table t (id int auto_increment primary key, c varchar(20), n tinyint, m datetime, s timestamp, key (c))",
    "insert into t values (1, 'a', 1, '2020-01-02', '2020-01-02'), (2, 'b', 2, '2020-06-07', '2020-06-07'), (3, 'B', 3, null, null)",
    "create table u (id int primary key, v int)",
    "insert into u values (1, 10), (2, 20)",
    "create table noise (i int)",
];

/// Of a table that was just opened no result is kept before the log is durable up to there.
fn make_durable(session: &mut Session) {
    run(session, "insert into d.noise values (1)");
}

fn opened() -> (Arc<Instance>, Box<Session>) {
    let (_disk, environment) = environment();
    let instance = keeping(&environment);
    let mut root = connect(&instance, "root").unwrap();
    TABLE.iter().for_each(|sql| drop(run(&mut root, sql)));
    make_durable(&mut root);
    (instance, root)
}

/// Sessions are served what others have computed under whatever they have set.
#[test]
fn nobody_is_served_what_other_settings_made() {
    let (instance, mut first) = opened();
    STATEMENTS.iter().for_each(|sql| drop(bytes(&mut first, sql)));
    let mut tried = 0;
    for id in VariableId::all().filter(|id| is_tried(*id) || *id == variables::id::MAX_JOIN_SIZE) {
        for value in values(id) {
            let set = format!("set session {} = {value}", id.variable().name);
            let [mut served, mut alone] = [(), ()].map(|()| session(&instance));
            if !run(&mut served, &set).concat().starts_with("OK") {
                continue;
            }
            run(&mut alone, &set);
            run(&mut alone, "set query_cache_type = off");
            tried += 1;
            for sql in STATEMENTS.iter().filter(|sql| !sql.starts_with("begin")) {
                assert_eq!(bytes(&mut served, sql), bytes(&mut alone, sql), "{sql} after {set}");
            }
        }
    }
    assert!(tried > 200 && hits(&instance) > 1000, "{tried} values were tried, {} hits", hits(&instance));
}

#[test]
fn results_are_served_until_their_tables_change() {
    let (instance, mut one) = opened();
    let mut other = session(&instance);
    let sql = "select sum(v) from u";
    assert!(!is_served(&instance, &mut one, sql) && is_served(&instance, &mut one, sql));
    assert!(is_served(&instance, &mut other, sql), "to others too");
    for change in [
        "insert into u values (3, 30)",
        "update u set v = v + 1 where id = 1",
        "delete from u where id = 3",
        "replace into u values (1, 100)",
        "insert into u values (1, 7) on duplicate key update v = 8",
        "alter table u add column w int",
        "alter table u drop column w",
        "alter table u add key (v)",
        "truncate table u",
        "insert into u select id, n from t",
        "begin; update u set v = v + 1; commit",
        "xa start 'x'; update u set v = 5 where id = 1; xa end 'x'; xa prepare 'x'; xa commit 'x'",
        "rename table u to w; create table u (id int primary key, v int)",
        "drop table u; rename table w to u",
    ] {
        assert!(is_served(&instance, &mut one, sql), "before {change}");
        run(&mut other, change);
        make_durable(&mut other);
        assert!(!is_served(&instance, &mut one, sql), "behind {change}");
    }
    for harmless in [
        "insert into t (c) values ('x')",
        "begin; update u set v = v + 1; rollback",
        "update u set v = v + 1 where id = 99",
        "select * from u for update",
        "create table other (i int)",
        "flush query cache",
        "insert into u values (1, 1)",
    ] {
        assert!(is_served(&instance, &mut one, sql), "before {harmless}");
        run(&mut other, harmless);
        assert!(is_served(&instance, &mut one, sql), "behind {harmless}");
    }
    run(&mut other, "reset query cache");
    assert!(!is_served(&instance, &mut one, sql));
}

#[test]
fn foreign_keys_and_views_change_what_is_read() {
    let (instance, mut one) = opened();
    check(
        &mut one,
        &[
            ("create table p (id int primary key)", "OK 0"),
            (
                "create table c (id int primary key, p int, foreign key (p) references p (id) on delete cascade)",
                "OK 0",
            ),
            ("insert into p values (1), (2)", "OK 2"),
            ("insert into c values (1, 1), (2, 2)", "OK 2"),
            ("create view v as select count(*) as n from c", "OK 0"),
        ],
    );
    make_durable(&mut one);
    let sql = "select n from v";
    assert!(!is_served(&instance, &mut one, sql) && is_served(&instance, &mut one, sql));
    run(&mut one, "delete from p where id = 1");
    assert!(!is_served(&instance, &mut one, sql), "the child has lost a row");
    assert!(is_served(&instance, &mut one, sql));
    run(&mut one, "create or replace view v as select count(*) + 1 as n from c");
    assert!(!is_served(&instance, &mut one, sql), "another view");
}

#[test]
fn transactions_read_their_own_moment() {
    let (instance, mut one) = opened();
    let mut other = session(&instance);
    let sql = "select sum(v) from u";
    run(&mut one, "begin");
    assert_eq!(cell(&mut one, sql), "30");
    run(&mut other, "update u set v = v + 1");
    assert_eq!((cell(&mut other, sql), cell(&mut other, sql)), ("32".to_owned(), "32".to_owned()));
    assert_eq!(cell(&mut one, sql), "30", "an older snapshot");
    run(&mut one, "commit");
    let before = hits(&instance);
    assert_eq!((cell(&mut one, sql), hits(&instance)), ("32".to_owned(), before + 1));
    run(&mut one, "begin; update u set v = 0 where id = 1");
    assert_eq!(cell(&mut one, sql), "21", "its own change");
    assert_eq!(cell(&mut other, sql), "32", "nobody else's");
    run(&mut one, "rollback");
    assert_eq!(cell(&mut one, sql), "32");
    for isolation in ["read uncommitted", "read committed", "repeatable read", "serializable"] {
        run(&mut one, &format!("set session transaction isolation level {isolation}"));
        run(&mut one, "set autocommit = 0");
        assert_eq!(
            (cell(&mut one, sql), cell(&mut one, sql)),
            ("32".to_owned(), "32".to_owned()),
            "{isolation}"
        );
        run(&mut one, "update u set v = 0 where id = 1");
        assert_eq!(cell(&mut one, sql), "21", "{isolation}");
        run(&mut one, "rollback");
        run(&mut one, "set autocommit = 1");
    }
}

#[test]
fn a_served_read_holds_its_tables() {
    let (instance, mut one) = opened();
    let mut other = session(&instance);
    let sql = "select sum(v) from u";
    (0..2).for_each(|_| drop(bytes(&mut one, sql)));
    run(&mut one, "begin");
    assert!(is_served(&instance, &mut one, sql));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let alter = scope.spawn(|| {
            let lines = run(&mut other, "alter table u add column w int");
            assert!(is_over.load(Ordering::SeqCst), "a table was altered that a transaction has read");
            lines
        });
        while instance
            .registry()
            .all()
            .iter()
            .all(|session| !session.describe().statement.starts_with(b"alter"))
        {
            std::thread::yield_now();
        }
        (0..1000).for_each(|_| std::thread::yield_now());
        is_over.store(true, Ordering::SeqCst);
        run(&mut one, "commit");
        assert_eq!(alter.join().unwrap(), ["OK 0"]);
    });
}

#[test]
fn privileges_are_asked_for_at_each_hit() {
    let (instance, mut root) = opened();
    check(&mut root, &[("create user reader", "OK 0"), ("grant select on d.u to reader", "OK 0")]);
    let sql = "select sum(v) from d.u";
    let mut reader = connect(&instance, "reader").unwrap();
    drop(bytes(&mut root, "select 1 from d.u"));
    (0..2).for_each(|_| drop(bytes(&mut reader, sql)));
    assert!(is_served(&instance, &mut reader, sql));
    run(&mut root, "revoke select on d.u from reader");
    let denied = run(&mut reader, sql);
    assert!(denied[0].starts_with("ERROR 1142"), "{denied:?}");
}

#[test]
fn what_depends_on_more_than_tables_is_not_kept() {
    let (instance, mut one) = opened();
    run(&mut one, "set @x = 1; create temporary table e (i int)");
    for sql in [
        "select now(6), v from u",
        "select rand(), v from u",
        "select @x, v from u",
        "select @x := v from u",
        "select @@pseudo_thread_id, v from u",
        "select v from u where id = connection_id()",
        "select v, user(), current_user() from u",
        "select found_rows(), v from u",
        "select v from u for update",
        "select v from u for share",
        "select v from u lock in share mode",
        "select uuid(), v from u",
        "select v from u where (select now()) > '2000-01-01'",
        "select v from u, information_schema.schemata where schema_name = 'd'",
        "select count(*) from e",
        "select 1",
        "select sleep(0), v from u",
        "select cast('x' as signed), v from u",
        "select 1; select v from u",
    ] {
        (0..3).for_each(|_| drop(bytes(&mut one, sql)));
        let before = hits(&instance);
        drop(bytes(&mut one, sql));
        assert_eq!(hits(&instance), before, "{sql}");
    }
    // A table of the session stands before the one that was read.
    let sql = "select sum(v) from u";
    (0..2).for_each(|_| drop(bytes(&mut one, sql)));
    run(&mut one, "create temporary table u (v int); insert into u values (77)");
    assert_eq!(cell(&mut one, sql), "77");
    run(&mut one, "drop temporary table u");
    assert_eq!(cell(&mut one, sql), "30");
    run(&mut one, "lock tables t read");
    assert!(run(&mut one, sql)[0].starts_with("ERROR 1100"));
}

/// What follows from the clock is served as long as the clock says the same.
#[test]
fn what_reads_the_clock_is_served_while_that_says_the_same() {
    let (instance, mut one) = opened();
    let of_year = "select count(*) from t where m > date_format(now() - interval 5 year, '%Y-01-01')";
    assert!(
        !is_served(&instance, &mut one, of_year) && !is_served(&instance, &mut one, of_year),
        "as in 5.5"
    );
    run(&mut one, "set global query_cache_compatibility = none");
    for (sql, moments) in [
        (
            of_year,
            ["2025-03-01 10:00:00", "2025-12-31 23:59:59", "2026-01-01 00:00:00", "2026-06-01 00:00:00"],
        ),
        (
            "select count(*) from t where m < curdate()",
            ["2020-01-02 01:00:00", "2020-01-02 23:59:59", "2020-01-03 00:00:00", "2020-01-03 09:00:00"],
        ),
        (
            "select count(*) from t, u where m < now()",
            ["2020-01-02 01:00:00", "2020-01-02 01:00:00", "2020-01-02 01:00:01", "2020-01-02 01:00:01"],
        ),
        (
            "select year(now()), (select count(*) from u) from t",
            ["2025-01-01", "2025-01-01", "2026-01-01", "2026-01-01"],
        ),
    ] {
        for (at, moment) in moments.iter().enumerate() {
            run(&mut one, &format!("set timestamp = unix_timestamp('{moment}')"));
            // Of another day nothing is served, whatever it asks.
            let same_day = moments[at / 2 * 2][..10] == moment[..10];
            let first = is_served(&instance, &mut one, sql);
            assert!(!first || at % 2 == 1 && same_day, "{sql} at {moment}");
            assert!(
                is_served(&instance, &mut one, sql) || is_served(&instance, &mut one, sql),
                "{sql} at {moment}, again"
            );
        }
    }
    run(&mut one, "create view w as select now() as n, count(*) as c from u");
    make_durable(&mut one);
    for sql in [
        "select n, c from w",
        "select sysdate(), v from u",
        "select now() + interval v second from u where sleep(0) = 0",
    ] {
        assert!((0..3).all(|_| !is_served(&instance, &mut one, sql)), "{sql}");
    }
}

/// Sessions that read and change a few tables at once, at every level. A read shows no less than what was acknowledged before it began, and no
/// more than what was begun before it ended.
#[test]
fn no_reader_is_served_the_past() {
    const TABLES: usize = 4;
    let (instance, mut root) = opened();
    for table in 0..TABLES {
        run(&mut root, &format!("create table n{table} (id int primary key, v int)"));
        run(&mut root, &format!("insert into n{table} values (1, 0)"));
    }
    let acknowledged: Vec<AtomicU64> = (0..TABLES).map(|_| AtomicU64::new(0)).collect();
    let begun: Vec<AtomicU64> = (0..TABLES).map(|_| AtomicU64::new(0)).collect();
    let is_over = AtomicBool::new(false);
    let read = |level: &str| {
        let mut session = session(&instance);
        run(&mut session, &format!("set session transaction isolation level {level}"));
        let mut table = 0;
        while !is_over.load(Ordering::Relaxed) {
            table = (table + 1) % TABLES;
            let least = acknowledged[table].load(Ordering::SeqCst);
            let seen: u64 = cell(&mut session, &format!("select sum(v) from n{table}")).parse().unwrap();
            let most = begun[table].load(Ordering::SeqCst);
            assert!((least..=most).contains(&seen), "{seen} of {least} to {most}, {level}");
        }
    };
    std::thread::scope(|scope| {
        let readers = ["read committed", "repeatable read", "serializable"]
            .map(|level| scope.spawn(move || read(level)));
        let write = |own: usize| {
            let mut session = session(&instance);
            for step in 1..=400 {
                let table = own + 2 * (step % 2);
                begun[table].fetch_add(1, Ordering::SeqCst);
                run(&mut session, &format!("update n{table} set v = v + 1"));
                acknowledged[table].fetch_add(1, Ordering::SeqCst);
                if step % 50 == 0 {
                    run(&mut session, &format!("alter table n{table} comment = '{step}'"));
                }
            }
        };
        let writers = [0, 1].map(|own| scope.spawn(move || write(own)));
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    let figures = instance.results().figures();
    assert!(hits(&instance) > 100 && figures.bytes <= figures.capacity_bytes, "{figures:?}");
}
