//! What a statement holds in memory however much it reads: each kind of operator that keeps rows, values or keys goes on on disk, or ends
//! with MySQL's error when it may hold no more. Temporary files are on the real disk, so that what is counted is memory alone.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "the disk of these worlds is their own")]
mod common;

use common::World;
use env::{Environment, RealDisk};
use std::path::PathBuf;
use std::sync::Arc;
use stdx::counting_allocator::{CountingAllocator, bytes_held_by};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const ROWS: usize = 16_000;
/// What a statement may hold, and one operator of it. The rows of a table are more than 2 MiB.
const STATEMENT_BYTES_MAX: u64 = 1 << 20;
const OPERATOR_BYTES_MAX: u64 = 128 << 10;
/// What it may hold beside that: batches, buffers of files, pages.
const BESIDE_BYTES_MAX: u64 = 1 << 20;

struct Folder(PathBuf);

impl Folder {
    #[allow(clippy::disallowed_methods)]
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("iruka-memory-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    #[allow(clippy::disallowed_methods)]
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn world(folder: &Folder) -> World {
    let mut environment = Environment::simulated(env::simulated::SimulatedDisk::new(1), 1);
    environment.disk = Arc::new(RealDisk::new(&folder.0));
    let mut world = World::of(environment);
    for name in ["t", "s"] {
        world.run(&format!(
            "CREATE TABLE {name} (id INT NOT NULL, n INT, w VARCHAR(200), PRIMARY KEY (id), KEY n (n))"
        ));
        for start in (0..ROWS).step_by(500) {
            let tuple = |id| format!("({id},{},'{}{}')", id % 97, "w".repeat(120), id * 7 % ROWS);
            let tuples: Vec<String> = (start..start + 500).map(tuple).collect();
            assert!(world.run(&format!("INSERT INTO {name} VALUES {}", tuples.join(","))).is_empty());
        }
    }
    // An integer without an index.
    world.run("CREATE TABLE u (id INT NOT NULL, m INT, w VARCHAR(200), PRIMARY KEY (id))");
    assert!(world.run("INSERT INTO u SELECT id, id * 7, w FROM t").is_empty());
    world.settings.recursion_depth_max = 100_000;
    world
}

/// Statements that go on on disk.
const SPILLING: &[&str] = &[
    "SELECT * FROM t ORDER BY w DESC, id",
    "SELECT DISTINCT w FROM t",
    "SELECT w, COUNT(*), MAX(id) FROM t GROUP BY w",
    "SELECT m, MIN(w), MAX(w) FROM u GROUP BY m",
    "SELECT u.m, MAX(u.w) FROM u JOIN s ON u.m = s.id GROUP BY u.m",
    "SELECT n % 3, COUNT(DISTINCT w) FROM t GROUP BY n % 3",
    "SELECT id, GROUP_CONCAT(w) FROM t GROUP BY id",
    "SELECT w FROM t UNION SELECT w FROM s",
    "SELECT w FROM t INTERSECT SELECT w FROM s",
    "SELECT w FROM t EXCEPT SELECT w FROM s WHERE id < 100",
    "SELECT id FROM t WHERE w IN (SELECT w FROM s)",
    "SELECT id FROM t WHERE w NOT IN (SELECT CONCAT(w, 'x') FROM s)",
    "SELECT id FROM t WHERE (id, w) IN (SELECT id, w FROM s) OR id < 0",
    "SELECT COUNT(*) FROM t JOIN s ON t.w = s.w",
    "SELECT COUNT(*), COUNT(s.id) FROM t LEFT JOIN s ON t.w = CONCAT(s.w, IF(s.id % 2, 'x', ''))",
    "SELECT COUNT(*) FROM t WHERE NOT EXISTS (SELECT * FROM s WHERE s.w = t.w AND s.n < 50)",
    "WITH c AS (SELECT id, w FROM t WHERE id >= 0) SELECT COUNT(*) FROM c a JOIN c b ON a.id = b.id + 1",
    "WITH RECURSIVE c (i, w) AS (SELECT 1, CAST(REPEAT('r', 150) AS CHAR(150)) UNION ALL SELECT i + 1, w FROM c WHERE i < 20000) \
     SELECT COUNT(*), MAX(i) FROM c",
    "WITH RECURSIVE c (i, w) AS (SELECT 1, CAST(REPEAT('r', 150) AS CHAR(150)) UNION SELECT i + 1, w FROM c WHERE i < 20000) \
     SELECT COUNT(*), MAX(i) FROM c",
    "SELECT id FROM t WHERE id < 9000 OR n < 60",
];

/// Statements that must have it in memory.
const FAILING: &[&str] = &[
    "SELECT GROUP_CONCAT(w) FROM t",
    "SELECT w FROM t INTERSECT ALL SELECT w FROM s",
    "SELECT w FROM t EXCEPT ALL SELECT w FROM s",
    "SELECT REPEAT(w, 9000) FROM t",
    "SELECT w REGEXP REPEAT('a|', 10000 + id) FROM t",
    "SELECT REGEXP_INSTR(w, REPEAT('(a)', 10000 + id)) FROM t",
];

/// Statements that change rows; each leaves as many as there were.
const CHANGES: &[&str] = &[
    "INSERT INTO t SELECT id + 100000, n, w FROM t",
    "UPDATE t JOIN s ON s.w = t.w SET t.n = t.n + 1",
    "UPDATE t SET id = id + 1000000 WHERE id >= 100000 ORDER BY w",
    "DELETE t FROM t JOIN s ON s.w = t.w WHERE t.id >= 100000",
    "REPLACE INTO s SELECT id, n + 1, w FROM s",
];

fn limit(world: &mut World) {
    let settings = &mut world.settings;
    settings.memory_bytes_max = STATEMENT_BYTES_MAX;
    settings.sort_bytes_max = OPERATOR_BYTES_MAX;
    settings.kept_bytes_max = OPERATOR_BYTES_MAX;
    settings.join_bytes_max = OPERATOR_BYTES_MAX;
}

#[test]
fn what_statements_hold_does_not_grow_with_their_rows() {
    let folder = Folder::new("one");
    let mut world = world(&folder);
    let free = world.settings.clone();
    let mut found = Vec::new();
    for sql in SPILLING {
        world.settings = free.clone();
        world.channel.sends = false;
        let expected = world.run(sql);
        limit(&mut world);
        assert!(world.run(sql) == expected, "{sql}");
        world.channel.sends = true;
        let held = bytes_held_by(|| assert!(world.run(sql).is_empty()));
        if held > STATEMENT_BYTES_MAX + BESIDE_BYTES_MAX {
            found.push(format!("{sql}: {held}"));
        }
    }
    for sql in FAILING {
        let mut answer = Vec::new();
        let held = bytes_held_by(|| answer = world.run(sql));
        assert!(answer.len() == 1 && answer[0].contains("1114"), "{sql}: {answer:?}");
        if held > STATEMENT_BYTES_MAX + BESIDE_BYTES_MAX {
            found.push(format!("{sql}: {held}"));
        }
    }
    // Pages and old rows are the engine's.
    for sql in CHANGES {
        assert!(world.run(sql).is_empty(), "{sql}");
        assert!(world.spilled.files > 0, "{sql}");
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Long values of groups leave their table in batches that are bounded by bytes; where groups are kept, so are their values.
#[test]
fn groups_with_long_values_are_put_out_or_spilled() {
    let folder = Folder::new("long");
    let mut world = world(&folder);
    world.run("CREATE TABLE l (id INT NOT NULL, m INT, v LONGBLOB, PRIMARY KEY (id))");
    for id in 0..64 {
        assert!(
            world
                .run(&format!("INSERT INTO l VALUES ({id}, {id}, REPEAT('{}', 524288))", id % 10))
                .is_empty()
        );
    }
    limit(&mut world);
    world.settings.memory_bytes_max = 4 << 20;
    world.channel.sends = true;
    for sql in [
        "SELECT id, MAX(v) FROM l GROUP BY id",
        "SELECT id, v, COUNT(*) FROM l GROUP BY id, v",
        "SELECT m, MAX(v) FROM l GROUP BY m",
        "SELECT m, LENGTH(MIN(v)) FROM l GROUP BY m",
    ] {
        let held = bytes_held_by(|| assert!(world.run(sql).is_empty(), "{sql}"));
        assert!(held < 16 << 20, "{sql}: {held}");
    }
}

/// Rows of kilobytes go on on disk where a statement may hold no more than the least that MySQL takes (connection_memory_limit), with
/// operators that may have all of it.
#[test]
fn rows_of_kilobytes_fit_in_the_least_limit() {
    let folder = Folder::new("kilobytes");
    let mut world = world(&folder);
    world.run("CREATE TABLE k (id INT NOT NULL, g INT, w TEXT, PRIMARY KEY (id))");
    for start in (0..4000).step_by(100) {
        let tuple = |id| format!("({id},{},'{}{}')", id % 7, "k".repeat(2000), id * 7 % 4000);
        let tuples: Vec<String> = (start..start + 100).map(tuple).collect();
        assert!(world.run(&format!("INSERT INTO k VALUES {}", tuples.join(","))).is_empty());
    }
    for sql in [
        "SELECT DISTINCT CONCAT(w, w) FROM k",
        "SELECT w FROM k UNION SELECT LOWER(w) FROM k",
        "SELECT w FROM k EXCEPT SELECT LOWER(w) FROM k WHERE id > 3",
        "SELECT w FROM k INTERSECT SELECT LOWER(w) FROM k",
        "SELECT CONCAT(w, 'x') FROM k ORDER BY 1",
        "SELECT CONCAT(w, 'x') AS x, COUNT(*) FROM k GROUP BY x",
        "SELECT id, MAX(w) OVER (PARTITION BY g) FROM k",
        "SELECT id, FIRST_VALUE(w) OVER (ORDER BY id), LAST_VALUE(w) OVER (PARTITION BY g) FROM k",
        "SELECT id, LAG(w, 500) OVER (ORDER BY w) FROM k",
        "SELECT a.id FROM k a JOIN k b ON CONCAT(a.w, 'x') = CONCAT(b.w, 'x')",
        "SELECT g, COUNT(DISTINCT w) FROM k GROUP BY g",
        "SELECT id, (SELECT COUNT(*) FROM (SELECT DISTINCT w FROM k) d WHERE d.w > k.g) FROM k WHERE id < 9",
    ] {
        world.settings.memory_bytes_max = 1 << 30;
        let expected = world.run(sql);
        world.settings.memory_bytes_max = 2 << 20;
        assert!(world.run(sql) == expected, "{sql}");
    }
}

/// What is kept of rows without groups does not depend on how many rows may be kept.
#[test]
fn totals_count_all_rows_in_the_least_memory() {
    let folder = Folder::new("totals");
    let mut world = world(&folder);
    let many = "SELECT COUNT(*), COUNT(n), SUM(n), AVG(n), MIN(n), MAX(n), SUM(id), AVG(id), MIN(id), MAX(id), COUNT(id), \
                COUNT(w), MIN(w), MAX(w) FROM t";
    let joined = many.replace("(n)", "(t.n)").replace("(id)", "(t.id)").replace("(w)", "(t.w)")
        + " JOIN s ON t.n = s.id";
    for sql in [many, &joined] {
        world.settings.kept_bytes_max = 16 << 20;
        let expected = world.run(sql);
        world.settings.kept_bytes_max = 1024;
        assert_eq!(world.run(sql), expected);
    }
}

/// Statements take from what the server has for all: who finds nothing left goes to disk early, or fails.
#[test]
fn statements_share_what_the_server_has() {
    let folder = Folder::new("all");
    let mut world = world(&folder);
    let sorted = "SELECT id FROM t ORDER BY w DESC, id";
    let expected = world.run(sorted);
    assert_eq!((world.spilled.files, world.server_memory.reserved_bytes()), (0, 0));
    world.server_memory.set_bytes_max(1 << 20);
    assert!(world.run(sorted) == expected);
    assert!(world.spilled.merge_passes > 0 && world.spilled.files > 0, "{:?}", world.spilled);
    let grouped = "SELECT m, COUNT(*) FROM u GROUP BY m";
    assert_eq!(world.run(grouped).len(), ROWS);
    assert!(world.spilled.disk_tables > 0, "{:?}", world.spilled);
    let failed = world.run("SELECT GROUP_CONCAT(w) FROM t");
    assert!(failed.len() == 1 && failed[0].contains("1114"), "{failed:?}");
    assert_eq!(world.server_memory.reserved_bytes(), 0);
    world.server_memory.set_bytes_max(u64::MAX);
    assert_eq!(world.run("SELECT COUNT(*) FROM (SELECT GROUP_CONCAT(w) FROM t) d"), ["1"]);
}
