//! Fast paths over many rows against the generic ones: the same statements over random rows, with and without
//! `fast_plans`, must give the same rows, warnings and tables.

use crate::common::World;

/// A generator of numbers that need not be good.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

fn value(random: &mut Random, column: &str) -> String {
    match column {
        "k" if random.below(8) == 0 => "NULL".to_owned(),
        "k" => (random.below(40) as i64 - 20).to_string(),
        "u" => random.one_of(&["0", "1", "7", "300", "4294967295", "70000"]).to_owned(),
        "g" if random.below(6) == 0 => "NULL".to_owned(),
        "g" => random
            .one_of(&["-9223372036854775808", "9223372036854775807", "5", "-5", "2000000", "3"])
            .to_owned(),
        "b" => format!("'{}'", random.one_of(&["201201", "201202", "2012", "", "abcdef", "abd"])),
        "v" if random.below(8) == 0 => "NULL".to_owned(),
        "v" => {
            format!("'{}'", random.one_of(&["a", "A", "b", "B ", "", "longer than seven", "zz", "Ä", "ä"]))
        }
        _ if random.below(9) == 0 => "NULL".to_owned(),
        _ => format!("'20{:02}-0{}-11 10:00:0{}'", random.below(30), 1 + random.below(9), random.below(10)),
    }
}

const COLUMNS: [&str; 6] = ["k", "u", "g", "b", "v", "d"];

fn fill(world: &mut World, table: &str, rows: u64, random: &mut Random) {
    world.run(&format!(
        "CREATE TABLE {table} (id INT NOT NULL, k INT, u INT UNSIGNED NOT NULL, g BIGINT, b BINARY(6) NOT NULL, \
         v VARCHAR(20), d DATETIME, PRIMARY KEY (id), KEY ku (k, u), KEY b (b, k), KEY g (g))"
    ));
    for start in (0..rows).step_by(500) {
        let tuples: Vec<String> = (start..rows.min(start + 500))
            .map(|id| {
                let values: Vec<String> = COLUMNS.iter().map(|column| value(random, column)).collect();
                format!("({id}, {})", values.join(", "))
            })
            .collect();
        world.run(&format!("INSERT INTO {table} VALUES {}", tuples.join(", ")));
    }
    world.run(&format!("DELETE FROM {table} WHERE id % 11 = 3"));
    world.run(&format!("UPDATE {table} SET k = 4, v = 'up' WHERE id % 13 = 5"));
}

/// The answer with and without fast paths, lines sorted.
fn both(world: &mut World, sql: &str) -> [Vec<String>; 2] {
    [true, false].map(|fast_plans| {
        world.settings.fast_plans = fast_plans;
        let mut lines = world.run(sql);
        lines.sort();
        lines
    })
}

fn condition(random: &mut Random, table: &str) -> String {
    let operator = random.one_of(&["=", "<", "<=", ">", ">=", "<>"]);
    match random.below(7) {
        0 => format!("{table}.k {operator} {}", random.below(30) as i64 - 10),
        1 => format!("{table}.u {operator} 300"),
        2 => format!("{table}.g {operator} 5"),
        3 => format!("{table}.b {operator} '201202'"),
        4 => format!("{table}.k BETWEEN -3 AND 9"),
        5 => format!("{table}.v {operator} 'a'"),
        _ => format!("{table}.k {operator} 99999999999 AND 3 > {table}.u"),
    }
}

#[test]
fn aggregates_and_joins_have_the_same_rows_either_way() {
    let mut random = Random(11);
    let mut world = World::new();
    fill(&mut world, "t", 1200, &mut random);
    fill(&mut world, "s", 900, &mut random);
    let totals = [
        "COUNT(*)",
        "COUNT(t.k)",
        "SUM(t.k)",
        "AVG(t.u)",
        "MIN(t.k)",
        "MAX(t.u)",
        "MIN(t.g)",
        "MAX(t.b)",
        "MIN(t.v)",
        "MAX(t.d)",
        "SUM(t.g)",
        "COUNT(t.v)",
        "MIN(t.b)",
    ];
    let keys = ["t.k", "t.u", "t.g", "t.b", "t.v", "SUBSTRING(t.b, 1, 4)", "SUBSTRING(t.b, 3, 9)", "t.d"];
    for round in 0..400 {
        let chosen = [random.one_of(&totals), random.one_of(&totals)].join(", ");
        let mut conditions = vec![condition(&mut random, "t")];
        let mut tables = "t".to_owned();
        match random.below(4) {
            0 => {
                tables.push_str(", s");
                let pair = ["t.k = s.k", "t.id = s.k", "t.u = s.u", "t.g = s.id", "s.g = t.g"];
                conditions.push(random.one_of(&pair).to_owned());
                conditions.push(condition(&mut random, "s"));
            }
            1 => conditions.push("t.id IN (SELECT s.k FROM s WHERE s.u < 100)".to_owned()),
            _ => {}
        }
        let conditions = conditions.join(" AND ");
        let sql = match random.below(4) {
            0 => format!("SELECT {chosen} FROM {tables} WHERE {conditions}"),
            1 => format!("SELECT t.id, t.v FROM {tables} WHERE {conditions} ORDER BY t.d DESC, t.id LIMIT 7"),
            _ => {
                let key = random.one_of(&keys);
                format!("SELECT {key}, {chosen} FROM {tables} WHERE {conditions} GROUP BY {key}")
            }
        };
        let [fast, slow] = both(&mut world, &sql);
        assert_eq!(fast, slow, "round {round}: {sql}");
        assert!(!fast.iter().any(|line| line.starts_with("ERROR")), "{sql}: {fast:?}");
    }
}

/// What a table holds and what its last statement said, after the same statements with or without fast paths.
fn after(statements: &[String], fast_plans: bool) -> Vec<String> {
    let mut world = World::new();
    world.settings.fast_plans = fast_plans;
    world.run(
        "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, x INT, y VARCHAR(3), PRIMARY KEY (id), UNIQUE KEY x (x), KEY y (y))",
    );
    let mut lines = Vec::new();
    for statement in statements {
        lines.push(statement.chars().take(60).collect());
        lines.extend(world.run(statement));
        lines.extend(
            world.diagnostics.conditions().iter().map(|condition| condition.error.message().to_owned()),
        );
        lines.extend(world.run("SELECT * FROM t ORDER BY id"));
    }
    lines.extend(world.run("SELECT x, y FROM t FORCE INDEX (x) ORDER BY x, y"));
    lines
}

#[test]
fn batches_of_rows_leave_the_same_table_and_warnings() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut statements = Vec::new();
        for _ in 0..4 {
            let verb =
                random.one_of(&["INSERT IGNORE INTO", "REPLACE INTO", "INSERT INTO", "INSERT IGNORE INTO"]);
            let spread = [30, 300, 100_000][random.below(3) as usize];
            let with_id = random.below(3);
            let rows: Vec<String> = (0..1 + random.below(300))
                .map(|_| {
                    let id = match with_id {
                        0 => "NULL".to_owned(),
                        1 => (1 + random.below(spread)).to_string(),
                        _ => random.one_of(&["NULL", "0", "7", "19", "250"]).to_owned(),
                    };
                    let x = if random.below(20) == 0 {
                        "NULL".to_owned()
                    } else {
                        random.below(spread).to_string()
                    };
                    // Some texts are too long and bring warnings of their own.
                    format!("({id}, {x}, '{}')", random.one_of(&["a", "b", "cc", "much too long"]))
                })
                .collect();
            statements.push(format!("{verb} t VALUES {}", rows.join(", ")));
            if random.below(2) == 0 {
                let verb = random.one_of(&["INSERT IGNORE INTO", "REPLACE INTO"]);
                // Ids are given: a query that turns out to have duplicates reserves more of them than are used.
                let (ids, values) = (random.below(spread), random.below(spread));
                statements.push(format!("{verb} t SELECT id + {ids}, x + {values}, y FROM t"));
            }
        }
        let (fast, slow) = (after(&statements, true), after(&statements, false));
        if let Some(at) = (0..fast.len().max(slow.len())).find(|at| fast.get(*at) != slow.get(*at)) {
            panic!("seed {seed}, line {at}: {:?}, not {:?}; {statements:#?}", fast.get(at), slow.get(at));
        }
    }
}
