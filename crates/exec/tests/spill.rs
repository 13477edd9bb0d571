//! Statements that outgrow their memory against the same ones in memory: the rows and their order must be equal. The
//! disk that is full and KILL while runs are written and merged.

use crate::common::World;
use env::simulated::{Fault, FaultKind, OperationClass};

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

const COLUMNS: &str = "id INT NOT NULL, i BIGINT, u BIGINT UNSIGNED, c DECIMAL(30,6), f DOUBLE, r FLOAT, v VARCHAR(60), \
                       y VARBINARY(40), d DATE, m DATETIME(6), t TIME(3), e ENUM('x','y','z'), w TEXT";

fn value(random: &mut Random, column: &str) -> String {
    if random.below(9) == 0 {
        return "NULL".to_owned();
    }
    let small = random.below(40) as i64 - 20;
    match column {
        "i" => random
            .one_of(&["-9223372036854775808", "9223372036854775807", "0", "-1", "255", "256", "-256", "-257"])
            .to_owned(),
        "u" => random.one_of(&["0", "18446744073709551615", "9223372036854775808", "77", "65536"]).to_owned(),
        "c" => match random.below(3) {
            0 => random
                .one_of(&[
                    "0",
                    "-0.000001",
                    "0.000001",
                    "123456789012345678901234.5",
                    "-99999999999999999999999",
                ])
                .to_owned(),
            _ => format!("{small}.{}", random.below(100)),
        },
        "f" | "r" => format!("{small}e{}", random.below(20)),
        "v" => format!(
            "'{}{}'",
            random.one_of(&["", "a", "A", "ä", "Ä", "b ", "straße", "zebra"]),
            random.one_of(&["", "1", "ß", "x"])
        ),
        "y" => format!("x'{:02x}{:02x}00'", random.below(256), random.below(3)),
        "d" => format!("'20{:02}-0{}-11'", random.below(30), 1 + random.below(9)),
        "m" => format!(
            "'20{:02}-0{}-11 10:00:0{}.00000{}'",
            random.below(30),
            1 + random.below(9),
            random.below(10),
            random.below(10)
        ),
        "t" => format!("'{small}:10:0{}.00{}'", random.below(10), random.below(10)),
        "e" => random.one_of(&["'x'", "'y'", "'z'"]).to_owned(),
        // Now and then more than a page, and more than a buffer of a run.
        _ => match random.below(200) {
            0 => "REPEAT('long ', 4000)".to_owned(),
            number => format!("REPEAT('w', {})", number % 30),
        },
    }
}

fn fill(world: &mut World, table: &str, rows: u64, random: &mut Random) {
    assert!(world.run(&format!("CREATE TABLE {table} ({COLUMNS}, PRIMARY KEY (id))")).is_empty());
    for start in (0..rows).step_by(250) {
        let tuples: Vec<String> = (start..rows.min(start + 250))
            .map(|id| {
                let values: Vec<String> = ["i", "u", "c", "f", "r", "v", "y", "d", "m", "t", "e", "w"]
                    .iter()
                    .map(|column| value(random, column))
                    .collect();
                format!("({id}, {})", values.join(", "))
            })
            .collect();
        let answer = world.run(&format!("INSERT INTO {table} VALUES {}", tuples.join(", ")));
        assert!(answer.is_empty(), "{answer:?}");
    }
}

fn world(rows: u64) -> World {
    let mut world = World::new();
    fill(&mut world, "t", rows, &mut Random(7));
    world
}

fn set_shares(world: &mut World, bytes: u64) {
    world.settings.sort_bytes_max = bytes;
    world.settings.kept_bytes_max = bytes;
    world.settings.join_bytes_max = bytes;
}

/// Runs a query in memory and with small shares. Returns what the latter wrote to disk.
fn compare(world: &mut World, sql: &str, share_bytes: u64) -> exec::SpillCounts {
    let shares = world.settings.clone();
    let expected = world.run(sql);
    assert_eq!(world.spilled, exec::SpillCounts::default(), "{sql}");
    assert!(!expected.is_empty(), "{sql}");
    set_shares(world, share_bytes);
    let found = world.run(sql);
    world.settings = shares;
    assert_eq!(expected.len(), found.len(), "{sql}");
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(expected, found, "{sql}: row {number}");
    }
    std::mem::take(&mut world.spilled)
}

const ORDERS: [&str; 12] = [
    "i",
    "u DESC",
    "c",
    "c DESC, i",
    "f, r DESC",
    "v",
    "v DESC, y",
    "y",
    "d DESC",
    "m, t",
    "t DESC, e DESC",
    "w DESC, f",
];

#[test]
fn sorts_on_disk_equal_sorts_in_memory() {
    let mut world = world(4000);
    for order in ORDERS {
        // Several passes over runs with small buffers, one pass, and in memory.
        for (share_bytes, passes_min) in [(20_000, 2), (150_000, 1)] {
            let counts = compare(&mut world, &format!("SELECT * FROM t ORDER BY {order}"), share_bytes);
            assert!(counts.merge_passes >= passes_min && counts.files >= 1, "{order}: {counts:?}");
        }
        compare(&mut world, &format!("SELECT id FROM t ORDER BY {order} LIMIT 7"), 20_000);
        let counts = compare(&mut world, &format!("SELECT * FROM t ORDER BY {order} LIMIT 900, 800"), 20_000);
        assert!(counts.merge_passes >= 1, "{order}: {counts:?}");
    }
}

const KEPT: [&str; 12] = [
    "SELECT DISTINCT i, v, c FROM t",
    "SELECT DISTINCT w, id FROM t LIMIT 3000, 500",
    "SELECT id, w FROM t UNION ALL SELECT id, v FROM t",
    "SELECT c, v FROM t UNION SELECT c, v FROM s UNION SELECT f, v FROM t",
    "SELECT id FROM t UNION SELECT id FROM s UNION ALL SELECT id FROM s",
    "SELECT id, w FROM t INTERSECT SELECT id, w FROM t WHERE id % 3 = 0",
    "SELECT id, w FROM t EXCEPT SELECT id, w FROM t WHERE id % 3 = 0 UNION SELECT i, w FROM s",
    "SELECT id % 5, w FROM t INTERSECT ALL SELECT id % 5, w FROM t WHERE id % 3 = 0",
    "SELECT i FROM t EXCEPT ALL SELECT i FROM t WHERE id < 10",
    "WITH RECURSIVE r AS (SELECT id, w FROM t UNION ALL SELECT id - 700, w FROM r WHERE id > 700) SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT id, v FROM t UNION SELECT id - 30, v FROM r WHERE id > 3000) SELECT * FROM r",
    "SELECT * FROM (SELECT v, c FROM t ORDER BY c, id LIMIT 3000) AS d ORDER BY v, c",
];

#[test]
fn kept_rows_and_keys_on_disk_equal_those_in_memory() {
    let mut world = world(4000);
    fill(&mut world, "s", 1500, &mut Random(8));
    for sql in KEPT {
        let counts = compare(&mut world, sql, 20_000);
        let in_memory = ["UNION ALL SELECT id, v FROM t", "EXCEPT ALL", "INTERSECT ALL"];
        let streams = in_memory.iter().any(|words| sql.contains(words)) && !sql.contains("RECURSIVE");
        assert_eq!(counts.files > 0, !streams, "{sql}: {counts:?}");
    }
}

const GROUPED: [&str; 10] = [
    "SELECT id % 1700, COUNT(*), SUM(c), AVG(f), MIN(v), MAX(w), BIT_XOR(u) FROM t GROUP BY id % 1700",
    "SELECT w, i, COUNT(DISTINCT v, id % 40), SUM(DISTINCT c), GROUP_CONCAT(v ORDER BY id DESC) FROM t GROUP BY w, i",
    "SELECT id % 900, GROUP_CONCAT(DISTINCT v), COUNT(*) FROM t GROUP BY id % 900",
    "SELECT COUNT(DISTINCT id), COUNT(DISTINCT w, id), SUM(DISTINCT id) FROM t",
    "SELECT id % 50 AS a, v, COUNT(*), GROUPING(v), SUM(c) FROM t GROUP BY a, v WITH ROLLUP",
    "SELECT id DIV 3, v, COUNT(*), COUNT(DISTINCT i) FROM t GROUP BY id DIV 3, v WITH ROLLUP",
    "SELECT v, d, m, STDDEV(f), COUNT(c) FROM t GROUP BY v, d, m HAVING COUNT(*) < 3",
    "SELECT COUNT(*) FROM (SELECT w, id FROM t GROUP BY w, id) AS g",
    "SELECT id FROM t WHERE (id, w) IN (SELECT id * 2, w FROM s) OR id < 10",
    "SELECT id FROM t WHERE id NOT IN (SELECT id * 2 FROM s) OR id % 1000 = 1",
];

#[test]
fn groups_on_disk_equal_those_in_memory() {
    let mut world = world(4000);
    fill(&mut world, "s", 1500, &mut Random(8));
    // The direct way has an order of its own.
    world.settings.fast_plans = false;
    for sql in GROUPED {
        let counts = compare(&mut world, sql, 20_000);
        assert!(counts.files > 0, "{sql}: {counts:?}");
    }
    // Nothing to spill: of these sets the different values stay, and of ALL's the greatest.
    for sql in [
        "SELECT id FROM t WHERE e NOT IN (SELECT e FROM s WHERE e IS NOT NULL) OR id % 1000 = 1",
        "SELECT id FROM t WHERE w > ALL (SELECT w FROM s WHERE w IS NOT NULL) OR id = 3",
    ] {
        let counts = compare(&mut world, sql, 20_000);
        assert_eq!(counts.files, 0, "{sql}");
    }
}

#[test]
fn direct_aggregates_that_outgrow_memory_go_the_generic_way() {
    let mut world = world(4000);
    fill(&mut world, "s", 3000, &mut Random(8));
    for sql in [
        "SELECT id, COUNT(*), SUM(i) FROM t IGNORE INDEX FOR GROUP BY (PRIMARY) GROUP BY id",
        "SELECT m, COUNT(*) FROM t GROUP BY m",
        "SELECT COUNT(*) FROM t JOIN s ON t.id + 0 = s.id",
    ] {
        let mut expected = world.run(sql);
        set_shares(&mut world, 10_000);
        let mut found = world.run(sql);
        assert!(world.spilled.files > 0, "{sql}");
        world.settings = exec::ExecutionSettings::default();
        expected.sort();
        found.sort();
        assert_eq!(expected, found, "{sql}");
    }
}

#[test]
fn groups_in_the_order_of_an_index_need_no_memory() {
    let mut world = world(4000);
    for sql in
        ["SELECT id, COUNT(*), SUM(i) FROM t GROUP BY id", "SELECT id, MAX(CONCAT(w)) FROM t GROUP BY id"]
    {
        let expected = world.run(sql);
        set_shares(&mut world, 10_000);
        assert_eq!(world.run(sql), expected, "{sql}");
        assert_eq!(world.spilled.files, 0, "{sql}");
        world.settings = exec::ExecutionSettings::default();
    }
}

const JOINED: [&str; 10] = [
    "SELECT t.id, s.id, s.w, t.c FROM t JOIN s ON t.id % 1000 = s.id % 1000",
    "SELECT t.id, s.w FROM t LEFT JOIN s ON t.id % 1700 = s.id % 1700 AND s.v < t.v",
    "SELECT t.id, s.w FROM t LEFT JOIN s ON CONCAT(t.w, t.v) = CONCAT(s.w, s.v) AND t.d = s.d",
    "SELECT t.id, s.id FROM t JOIN s ON t.c <=> s.c AND t.w <=> s.w AND t.y = s.y",
    "SELECT t.id, t.w FROM t WHERE EXISTS (SELECT * FROM s WHERE s.w = t.w AND s.c = t.c)",
    "SELECT t.id, t.w FROM t WHERE NOT EXISTS (SELECT * FROM s WHERE s.w = t.w AND s.e = t.e)",
    "SELECT t.id FROM t WHERE w IN (SELECT w FROM s WHERE s.f <> t.f)",
    "SELECT t.id, s.id FROM t JOIN s WHERE t.id + s.id < 300 AND s.v <> 'zebra'",
    "SELECT t.id, s.id, r.w FROM t JOIN s ON t.id % 1300 = s.id % 1300 JOIN t AS r ON r.id % 3000 = s.id % 3000 + 1",
    "SELECT t.i, COUNT(*) FROM t JOIN s ON t.id % 100 = s.id % 100 AND t.i = s.i GROUP BY t.i ORDER BY t.i",
];

#[test]
fn joins_on_disk_equal_those_in_memory() {
    let mut world = world(4000);
    fill(&mut world, "s", 1500, &mut Random(8));
    for (number, sql) in JOINED.iter().enumerate() {
        world.settings.fast_plans = number % 2 == 0;
        let counts = compare(&mut world, sql, 20_000);
        assert!(counts.disk_tables > 0, "{sql}: {counts:?}");
    }
}

/// Operators go to disk early where the statement's memory is used up before their shares are.
#[test]
fn operators_share_what_a_statement_may_hold() {
    let mut world = world(3000);
    fill(&mut world, "s", 1500, &mut Random(8));
    let sql = "SELECT DISTINCT t.w, t.id, COUNT(*), GROUP_CONCAT(s.id) FROM t JOIN s ON t.id % 1500 = s.id % 1500 \
               GROUP BY t.w, t.id ORDER BY t.w DESC, t.id";
    let expected = world.run(sql);
    world.settings.memory_bytes_max = 600_000;
    let found = world.run(sql);
    assert!(expected.len() > 1000 && expected == found, "{} {:?}", expected.len(), found.first());
    assert!(world.spilled.disk_tables >= 2 && world.spilled.merge_passes >= 1, "{:?}", world.spilled);
    // What cannot go to disk says so.
    let failed = world.run("SELECT GROUP_CONCAT(t.w) FROM t JOIN s ON t.id % 100 = s.id % 100");
    assert!(failed.len() == 1 && failed[0].contains("1114"), "{failed:?}");
}

/// Runs statements that change tables in memory and with small shares: the answers and the tables must be equal.
#[test]
fn changes_that_keep_rows_on_disk_equal_those_in_memory() {
    let statements = [
        "CREATE TABLE g (id INT NOT NULL AUTO_INCREMENT, a INT, w TEXT, PRIMARY KEY (id))",
        "INSERT INTO g (a, w) SELECT id, w FROM t",
        "INSERT INTO g (a, w) SELECT a + 1, CONCAT(w, 'again') FROM g",
        "INSERT INTO g (id, a, w) SELECT IF(id % 7 = 0, id + 100000, NULL), a, w FROM g WHERE id < 3000",
        "INSERT IGNORE INTO g SELECT id + 1000, a, w FROM g WHERE id > 500",
        "REPLACE INTO g SELECT id + 10, a + 1, w FROM g WHERE id % 2 = 0",
        "INSERT INTO g SELECT id, a + 1, w FROM g WHERE id % 5 = 0 ON DUPLICATE KEY UPDATE a = g.a + 1000",
        "UPDATE g SET id = id + 1000000 ORDER BY id DESC",
        "UPDATE g JOIN t ON g.a = t.id SET g.w = t.v, t.w = 'changed'",
        "DELETE g, t FROM g JOIN t ON g.a = t.id WHERE t.id % 3 = 0",
        "SELECT * FROM g",
        "SELECT * FROM t",
    ];
    let mut worlds = [world(2000), world(2000)];
    set_shares(&mut worlds[1], 20_000);
    let mut on_disk = 0;
    for sql in statements {
        let [expected, found] = worlds.each_mut().map(|world| {
            let answer = world.run(sql);
            let warnings: Vec<String> =
                world.diagnostics.conditions().iter().map(|condition| format!("{condition:?}")).collect();
            (answer, warnings)
        });
        assert!(expected == found, "{sql}");
        assert_eq!(worlds[0].spilled.files, 0, "{sql}");
        on_disk += u64::from(worlds[1].spilled.files > 0);
    }
    assert!(on_disk >= 7, "{on_disk}");
}

#[test]
fn a_full_disk_fails_the_statement_only() {
    let mut world = world(4000);
    set_shares(&mut world, 20_000);
    let sql = "SELECT * FROM t ORDER BY c, w";
    let expected = world.run(sql);
    world.disk.set_capacity_bytes(Some(world.disk.used_bytes() + 50_000));
    let failed = world.run(sql);
    assert!(failed.len() == 1 && failed[0].contains("1114"), "{failed:?}");
    // What the failed statement wrote is free again.
    let used = world.disk.used_bytes();
    world.run(sql);
    assert_eq!(world.disk.used_bytes(), used);
    assert_eq!(world.run("SELECT COUNT(*) FROM t"), ["4000"]);
    world.disk.set_capacity_bytes(None);
    assert_eq!(world.run(sql), expected);
}

#[test]
fn a_failing_read_fails_the_statement_only() {
    let mut world = world(2000);
    set_shares(&mut world, 20_000);
    let sql = "SELECT * FROM t ORDER BY c, w";
    let expected = world.run(sql);
    let nth = world.disk.counts().reads + 3;
    world.disk.add_fault(Fault { class: OperationClass::Read, nth, kind: FaultKind::InputOutput });
    let failed = world.run(sql);
    assert!(failed.len() == 1 && failed[0].contains("1030"), "{failed:?}");
    world.disk.clear_faults();
    assert_eq!(world.run(sql), expected);
}

#[test]
fn kill_stops_a_statement_that_is_on_disk() {
    let mut world = world(2000);
    set_shares(&mut world, 20_000);
    world.channel.kill_at_row = Some(world.kill.clone());
    let failed = world.run("SELECT * FROM t ORDER BY c, w");
    assert!(failed.last().unwrap().contains("1317"), "{:?}", failed.last());
}

/// What a subquery found for many outer rows counts as the statement's memory.
#[test]
fn remembered_values_of_subqueries_are_charged() {
    let mut world = World::new();
    assert!(world.run("CREATE TABLE o (id INT NOT NULL, PRIMARY KEY (id))").is_empty());
    let rows: Vec<String> = (1..=100).map(|id| format!("({id})")).collect();
    assert!(world.run(&format!("INSERT INTO o VALUES {}", rows.join(", "))).is_empty());
    let sql = |bytes: u32| {
        format!("SELECT COUNT(*) FROM o WHERE LENGTH((SELECT REPEAT('x', {bytes} + o.id) LIMIT 1)) > 0")
    };
    world.settings.memory_bytes_max = 24 << 20;
    // Of 100 MB not more is kept than there is room for.
    assert_eq!(world.run(&sql(1_000_000)), ["100"]);
    world.settings.memory_bytes_max = 100_000;
    let failed = world.run(&sql(1_000_000));
    assert!(failed.len() == 1 && failed[0].contains("1114"), "{failed:?}");
}

/// A statement that was killed while it waited for its turn is not planned first.
#[test]
fn planning_sees_that_the_statement_was_killed() {
    let mut world = World::new();
    world.kill.kill();
    let failed = world.run("EXPLAIN SELECT * FROM (SELECT 1 a) d JOIN (SELECT 2 b) e");
    assert!(failed.len() == 1 && failed[0].contains("1317"), "{failed:?}");
    world.kill.lower();
    assert!(world.run("EXPLAIN SELECT * FROM (SELECT 1 a) d JOIN (SELECT 2 b) e").is_empty());
}
