//! How many rows a subquery looks at that depends on the row around by an equality: those of all groups once where it has no index, those
//! of the groups that are asked for where it has one.

use crate::common::World;
use std::fmt::Write;

const ROWS: u64 = 2000;
/// Rows of `b` for each of `a`.
const EACH: u64 = 3;
/// A subquery without an index runs less often than this before it is grouped.
const RUNS_MAX: u64 = 6;

/// `a` has [`ROWS`] rows, `b` some for each of them; `b.k` has no index, `b.j`, which is the same, has one.
fn world() -> World {
    let mut world = World::new();
    world.run("create table a (id int primary key, x int)");
    world.run("create table b (id int primary key, k int, j int, v int, key j (j))");
    for first in (1..=ROWS).step_by(500) {
        let (mut rows, mut others) = (String::new(), String::new());
        for id in first..first + 500 {
            write!(rows, ",({id},{})", id % 4).unwrap();
            for at in 0..EACH {
                write!(others, ",({},{id},{id},{at})", id * EACH + at).unwrap();
            }
        }
        world.run(&format!("insert into a values {}", &rows[1..]));
        world.run(&format!("insert into b values {}", &others[1..]));
    }
    world
}

fn examined(world: &mut World, sql: &str) -> (Vec<String>, u64) {
    let lines = world.run(sql);
    (lines, world.rows_examined)
}

#[test]
fn many_rows_read_a_table_without_an_index_once() {
    let mut world = world();
    let most = ROWS + (RUNS_MAX + 1) * ROWS * EACH;
    let sql = "select count(*) from a where x <= (select avg(v) from b where b.k = a.id)";
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!(lines, [(ROWS / 2).to_string()]);
    assert!(rows <= most, "{rows}");
    let sql = "select sum((select count(*) from b where b.k = a.id)) from a";
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!(lines, [(ROWS * EACH).to_string()]);
    assert!(rows <= most, "{rows}");
}

#[test]
fn one_row_reads_for_itself() {
    let mut world = world();
    let sql = "select (select sum(v) from b where b.k = a.id) from a where id = 7";
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!(lines, ["3"]);
    assert!(rows <= 1 + ROWS * EACH, "{rows}");
}

#[test]
fn few_rows_look_up_in_an_index() {
    let mut world = world();
    let sql = "select sum((select count(*) from b where b.j = a.id)) from a where id <= 20";
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!(lines, ["60"]);
    assert!(rows <= 20 * (EACH + 1), "{rows}");
}

#[test]
fn who_asks_for_nothing_reads_nothing() {
    let mut world = world();
    let sql = "select count(*) from a where id > 5000 and x < (select avg(v) from b where b.k = a.id)";
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!(lines, ["0"]);
    assert!(rows == 0, "{rows}");
}

#[test]
fn a_statement_that_locks_what_it_reads_asks_row_by_row() {
    let mut world = world();
    let sql =
        "select count(*) from a where id <= 12 and x <= (select avg(v) from b where b.k = a.id for share)";
    let (lines, rows) = examined(&mut world, sql);
    assert_eq!(lines, ["6"]);
    assert!(rows >= 12 * ROWS * EACH, "{rows}");
}
