//! The operations whose locked instructions `cargo xtask contention` counts: each a statement that is a transaction by itself, as
//! most clients send them. Entry point: [`run`]. callgrind writes a profile when a `counted_*` function is entered: each holds
//! what happened since the one before, so they follow each other at once.

use crate::{Client, ROWS, SELECT, TIMES, WARM_UP, close, insert, open, prepare, row, update};
use errors::SqlResult;
use std::hint::black_box;
use std::path::Path;

/// Runs the operations over a new engine in the directory.
pub(crate) fn run(directory: &Path) -> SqlResult<()> {
    let instance = open(directory)?;
    let mut client = prepare(&instance, ROWS)?;
    let texts =
        OPERATIONS.map(|(count, statement)| (count, (0..WARM_UP + TIMES).map(statement).collect::<Vec<_>>()));
    texts.iter().try_for_each(|(_, texts)| client.run_all(&texts[..WARM_UP as usize]))?;
    texts.iter().try_for_each(|(count, texts)| count(&mut client, &texts[WARM_UP as usize..]))?;
    counted_end();
    drop(client);
    close(&instance)?;
    println!("{TIMES}");
    Ok(())
}

type Count = fn(&mut Client, &[String]) -> SqlResult<()>;
/// Text of the statement of a number.
type Text = fn(u32) -> String;

const OPERATIONS: [(Count, Text); 4] = [
    (counted_do_nothing, |_| "DO 0".to_owned()),
    (counted_point_read, |at| format!("{SELECT}{}", row(at))),
    (counted_insert, |at| insert(ROWS + 1 + at)),
    (counted_update, |at| update(row(at))),
];

#[inline(never)]
fn counted_do_nothing(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("do nothing");
    client.run_all(statements)
}

#[inline(never)]
fn counted_point_read(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("point read");
    client.run_all(statements)
}

#[inline(never)]
fn counted_insert(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("insert");
    client.run_all(statements)
}

#[inline(never)]
fn counted_update(client: &mut Client, statements: &[String]) -> SqlResult<()> {
    black_box("update");
    client.run_all(statements)
}

#[inline(never)]
fn counted_end() {
    black_box("end");
}
