//! How many rows statements look at that an index answers: no more than they want, give or take a batch.

use crate::common::World;
use std::fmt::Write;

const ROWS: u64 = 3000;
/// Rows that a scan asks of the engine at first: so many are looked at where a few are wanted.
const BATCH_ROWS: u64 = 16;

/// `t` has [`ROWS`] rows, `u` two for each of them.
fn world() -> World {
    let mut world = World::new();
    world.run("create table t (id int primary key, k int, g int, s varchar(20), v int, key k (k), key g (g, v), key s (s))");
    world.run("create table u (id int primary key, tid int, v int, key tid (tid))");
    for first in (1..=ROWS).step_by(500) {
        let (mut rows, mut others) = (String::new(), String::new());
        for id in first..first + 500 {
            write!(rows, ",({id},{},{},'s{}',{})", id * 7919 % 1000, id % 10, id * 31 % 1500, id % 7)
                .unwrap();
            write!(others, ",({},{id},1),({},{id},2)", id * 2, id * 2 + 1).unwrap();
        }
        world.run(&format!("insert into t values {}", &rows[1..]));
        world.run(&format!("insert into u values {}", &others[1..]));
    }
    assert_eq!(world.run("select count(*) from t"), [ROWS.to_string()]);
    world
}

/// The answer, and the rows looked at for it.
fn examined(world: &mut World, sql: &str) -> (Vec<String>, u64) {
    let lines = world.run(sql);
    (lines, world.rows_examined)
}

#[test]
fn limit_ends_the_reading_of_an_index() {
    let mut world = world();
    let (lines, rows) = examined(&mut world, "select id from t order by k, id limit 3");
    assert_eq!(lines, ["1000", "2000", "3000"]);
    assert!(rows <= BATCH_ROWS, "{rows}");
    let (lines, rows) =
        examined(&mut world, "select id, s from t where g = 3 order by v desc, id desc limit 2");
    assert_eq!(lines, ["2953\ts43", "2883\ts873"]);
    assert!(rows <= BATCH_ROWS, "{rows}");
}

#[test]
fn limit_ends_the_reading_of_a_join() {
    let mut world = world();
    let (lines, rows) =
        examined(&mut world, "select u.id, t.s from t join u on u.tid = t.id order by u.id limit 3");
    assert_eq!(lines, ["2\ts31", "3\ts31", "4\ts62"]);
    assert!(rows <= 4 * BATCH_ROWS, "{rows}");
    let sql = "select u.id, t.s from t join u on u.tid = t.id order by t.k desc, u.tid desc, u.id limit 1";
    let (_, rows) = examined(&mut world, sql);
    assert!(rows > ROWS, "the last key is not of the index: {rows}");
}

#[test]
fn groups_in_the_order_of_an_index_end_with_their_limit() {
    let mut world = world();
    for (sql, expected) in [
        ("select k, count(*) from t group by k limit 2", ["0\t3", "1\t3"]),
        ("select k, count(*) from t group by k order by k desc limit 2", ["999\t3", "998\t3"]),
        ("select k, count(*) n from t group by k having n > 2 and k > 1 limit 2", ["2\t3", "3\t3"]),
        ("select id, sum(v) from t group by id order by id limit 2", ["1\t1", "2\t2"]),
        ("select t.id, count(*) from t join u on u.tid = t.id group by t.id limit 2", ["1\t2", "2\t2"]),
    ] {
        let (lines, rows) = examined(&mut world, sql);
        assert_eq!(lines, expected, "{sql}");
        assert!(rows <= 2 * BATCH_ROWS, "{sql}: {rows}");
    }
    let (lines, rows) =
        examined(&mut world, "select k, count(*) n from t group by k order by n desc, k limit 2");
    assert_eq!((lines, rows), (["0\t3", "1\t3"].map(str::to_owned).to_vec(), ROWS));
}

#[test]
fn rows_of_a_union_are_looked_at_once() {
    let mut world = world();
    // Rows 5, 1005 and 2005 have that k, 5 and 1505 that s.
    let sql = "select id from t where k = 595 or s = 's155' or id = 5";
    assert_eq!(examined(&mut world, sql), (["5", "1005", "1505", "2005"].map(str::to_owned).to_vec(), 4));
    assert_eq!(examined(&mut world, "select count(*) from t where k = 595 or id < 3").0, ["5"]);
    let (_, rows) = examined(&mut world, "delete from t where k = 595 or s = 's155'");
    assert_eq!(rows, 4);
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!((lines.len(), rows), (0, 0));
    let (_, rows) =
        examined(&mut world, "update t set k = -1, s = 's62' where k = 600 or s = 's31' or k = 595");
    let (changed, looked_at) = examined(&mut world, "select id from t where k = -1 or s = 's31'");
    assert_eq!((changed.len() as u64, looked_at), (rows, rows));
}

#[test]
fn keys_of_a_union_go_to_disk_and_end_with_kill() {
    let mut world = world();
    let sql = "select id from t where k < 400 or s < 's3' or id > 2900";
    let plain =
        world.run("select id from t where k + 0 < 400 or concat(s) < 's3' or id + 0 > 2900 order by id");
    world.settings.kept_bytes_max = 1;
    let (lines, rows) = examined(
        &mut world,
        "select id from t force index (k, s, primary) where k < 400 or s < 's3' or id > 2900",
    );
    assert_eq!(lines, plain);
    assert_eq!(lines.len() as u64, rows);
    assert!(world.spilled.files > 0);
    world.kill.kill();
    assert!(world.run(sql)[0].contains("1317"), "{:?}", world.run(sql));
}

#[test]
fn extremes_are_one_row_each() {
    let mut world = world();
    assert_eq!(examined(&mut world, "select max(k), min(k) from t"), (vec!["999\t0".to_owned()], 2));
    assert_eq!(
        examined(&mut world, "select min(v), max(v) from t where g = 3"),
        (vec!["0\t6".to_owned()], 2)
    );
    assert_eq!(
        examined(&mut world, "select min(id), max(id) from t where k = 595"),
        (vec!["5\t2005".to_owned()], 2)
    );
    assert_eq!(
        examined(&mut world, "select min(v), max(v) from t where g = 33"),
        (vec!["NULL\tNULL".to_owned()], 0)
    );
}

#[test]
fn distinct_values_are_skipped_to() {
    let mut world = world();
    let wanted: Vec<String> = (0..10).map(|g| g.to_string()).collect();
    for fast_plans in [true, false] {
        world.settings.fast_plans = fast_plans;
        let (lines, rows) = examined(&mut world, "select distinct g from t");
        assert_eq!((lines, rows), (wanted.clone(), if fast_plans { 10 } else { ROWS }));
    }
    world.settings.fast_plans = true;
    assert_eq!(
        examined(&mut world, "select count(distinct g) from t where g > 2"),
        (vec!["7".to_owned()], 7)
    );
    world.run("delete from t where g = 4");
    assert_eq!(
        examined(&mut world, "select count(distinct g), sum(distinct g) from t"),
        (vec!["9\t41".to_owned()], 9)
    );
}

#[test]
fn extremes_beside_distinct_values_are_one_row_each() {
    let mut world = world();
    assert_eq!(
        examined(&mut world, "select count(distinct g), min(k), max(k), max(id) from t"),
        (vec!["10\t0\t999\t3000".to_owned()], 13)
    );
    world.settings.fast_plans = false;
    assert_eq!(
        examined(&mut world, "select count(distinct g), min(k) from t"),
        (vec!["10\t0".to_owned()], ROWS + 1)
    );
}

#[test]
fn what_the_rows_of_in_say_is_said_of_the_column() {
    let mut world = world();
    // Rows of u are looked at, and three rows of t for each of the two values below 2.
    assert_eq!(
        examined(&mut world, "select count(*) from t where k in (select v from u where v < 2)"),
        (vec!["3".to_owned()], 2 * ROWS + 6)
    );
}
