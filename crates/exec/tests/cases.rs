//! Statements of `cases/*.sql` against what MySQL answered, recorded in `cases/*.result` by `cases/record.py`.

use crate::common::World;
use std::fmt::Write;

fn answers(sql: &str, fast_plans: bool) -> String {
    let mut world = World::new();
    world.settings.fast_plans = fast_plans;
    let mut text = String::new();
    for statement in sql.split(";\n").map(str::trim).filter(|statement| !statement.is_empty()) {
        writeln!(text, "> {}", statement.replace('\n', " ")).unwrap();
        for line in world.run(statement) {
            writeln!(text, "{line}").unwrap();
        }
    }
    text
}

/// Both ways of finding rows must give MySQL's answers.
fn check(sql: &str, recorded: &str) {
    check_with(sql, recorded, true);
    check_with(sql, recorded, false);
}

fn check_with(sql: &str, recorded: &str, fast_plans: bool) {
    let found = answers(sql, fast_plans);
    if found == recorded {
        return;
    }
    let mut differences = String::new();
    for (found, wanted) in blocks(&found).zip(blocks(recorded)) {
        if found != wanted {
            writeln!(differences, "---- wanted\n{wanted}---- found\n{found}").unwrap();
        }
    }
    panic!("answers differ from MySQL's (fast plans: {fast_plans}):\n{differences}");
}

/// Each statement with its answer.
fn blocks(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest[1..].find("\n> ").map_or(rest.len(), |at| at + 2);
        let (block, tail) = rest.split_at(end);
        rest = tail;
        Some(block.to_owned())
    })
}

macro_rules! cases {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            check(
                include_str!(concat!("cases/", stringify!($name), ".sql")),
                include_str!(concat!("cases/", stringify!($name), ".result")),
            );
        })*
    };
}

cases!(select, joins, grouping, group_order, subqueries, ranges, stored, change, expressions);

#[test]
fn local_file_is_loaded() {
    let mut world = World::new();
    world.run("create table f (id int primary key, t varchar(10), n int)");
    world.channel.file =
        [&b"1\tone\t\\N\n2\ttw"[..], b"o\t22\n"].iter().map(|piece| piece.to_vec()).collect();
    let answer = world.run("load data local infile 'x' into table f set n = ifnull(n, id * 10)");
    assert_eq!(answer, Vec::<String>::new());
    assert_eq!(world.run("select * from f order by id"), ["1\tone\t10", "2\ttwo\t22"]);
}
