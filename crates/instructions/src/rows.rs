//! Operations over many rows, counted by the row: what scans, conditions, groups, orders and joins cost where values are looked at
//! one by one. Main function: [`run`].

use crate::Client;
use errors::SqlResult;
use std::hint::black_box;

/// Rows of the table; the other one has a row for each of its groups.
const ROWS: u32 = 4_000;

/// What each operation is, and how many rows it counts for.
pub(crate) const ROWS_RUN: [(&str, u32); 10] = [
    ("row_text_filter", ROWS),
    ("row_text_project", ROWS),
    ("row_text_group", ROWS),
    ("row_text_order", ROWS),
    ("row_text_join", ROWS),
    ("row_integer_filter", ROWS),
    ("row_integer_group", ROWS),
    ("row_integer_order", ROWS),
    ("row_integer_join", ROWS),
    ("row_integer_lookup", ROWS),
];

type Run = fn(&mut Client, &str) -> SqlResult<()>;

const OPERATIONS: [(Run, &str); 10] = [
    (measured_row_text_filter, "SELECT COUNT(*) FROM rows_big WHERE s='name of 7' OR u='street 9'"),
    (measured_row_text_project, "SELECT CONCAT(s,''),u,g+1 FROM rows_big"),
    (measured_row_text_group, "SELECT s,COUNT(*) FROM rows_big GROUP BY s"),
    (measured_row_text_order, "SELECT s,u FROM rows_big ORDER BY s,u LIMIT 1 OFFSET 3000"),
    (
        measured_row_text_join,
        "SELECT COUNT(b.u),MAX(a.s) FROM rows_big b JOIN rows_small a ON b.s=a.s AND b.u<>a.s",
    ),
    (measured_row_integer_filter, "SELECT COUNT(*) FROM rows_big WHERE g+h=77"),
    (measured_row_integer_group, "SELECT g,h,SUM(id) FROM rows_big GROUP BY g,h"),
    (measured_row_integer_order, "SELECT g,h FROM rows_big ORDER BY g,h LIMIT 1 OFFSET 3000"),
    (
        measured_row_integer_join,
        "SELECT SUM(b.g+a.x) FROM rows_big b JOIN rows_small a ON b.g=a.x AND b.h<a.id",
    ),
    (
        measured_row_integer_lookup,
        "SELECT COUNT(*) FROM rows_big b JOIN rows_small a ON a.id=b.g AND a.x<b.h",
    ),
];

/// Makes the tables and runs the operations.
pub(crate) fn run(client: &mut Client) -> SqlResult<()> {
    client.query("CREATE TABLE rows_big (id INT PRIMARY KEY, g INT, h INT, s VARCHAR(40), u VARCHAR(40))")?;
    client.query("CREATE TABLE rows_small (id INT PRIMARY KEY, s VARCHAR(40), x INT)")?;
    client.query("SET cte_max_recursion_depth=10000")?;
    client.query(&format!(
        "INSERT INTO rows_big WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r WHERE i<{ROWS}) \
         SELECT i,i%100,i%7,CONCAT('name of ',i%100),CONCAT('street ',i%500) FROM r"
    ))?;
    client.query("INSERT INTO rows_small SELECT id,s,g FROM rows_big WHERE id<=100")?;
    client.query("ANALYZE TABLE rows_big,rows_small")?;
    for (measured, statement) in OPERATIONS {
        client.query(statement)?;
        measured(client, statement)?;
    }
    Ok(())
}

#[inline(never)]
fn measured_row_text_filter(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_text_filter");
    client.query(statement)
}

#[inline(never)]
fn measured_row_text_project(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_text_project");
    client.query(statement)
}

#[inline(never)]
fn measured_row_text_group(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_text_group");
    client.query(statement)
}

#[inline(never)]
fn measured_row_text_order(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_text_order");
    client.query(statement)
}

#[inline(never)]
fn measured_row_text_join(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_text_join");
    client.query(statement)
}

#[inline(never)]
fn measured_row_integer_filter(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_integer_filter");
    client.query(statement)
}

#[inline(never)]
fn measured_row_integer_group(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_integer_group");
    client.query(statement)
}

#[inline(never)]
fn measured_row_integer_order(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_integer_order");
    client.query(statement)
}

#[inline(never)]
fn measured_row_integer_join(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_integer_join");
    client.query(statement)
}

#[inline(never)]
fn measured_row_integer_lookup(client: &mut Client, statement: &str) -> SqlResult<()> {
    black_box("row_integer_lookup");
    client.query(statement)
}
