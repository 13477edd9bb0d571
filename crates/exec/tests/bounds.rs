//! A statement's memory holds for what its expressions put together too, and a kill ends what yields no row.
#![allow(clippy::disallowed_methods)]

use crate::common::World;

/// Three megabytes that no plan knows.
const LONG: &str = "REPEAT(s, 3000000)";

/// Two rows, and eight megabytes for a statement.
fn world() -> World {
    let mut world = World::new();
    world.run("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(10))");
    world.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    world.run("CREATE TABLE u (id INT PRIMARY KEY, a LONGTEXT, b LONGTEXT, c LONGTEXT)");
    assert!(world.run("INSERT INTO u VALUES (1, '', '', '')").is_empty());
    world.settings.memory_bytes_max = 8 << 20;
    world
}

#[test]
fn long_values_that_wait_are_counted() {
    let mut world = world();
    for sql in [
        "SELECT LENGTH(CONCAT($, CONCAT($, CONCAT($, $)))) FROM t",
        "SELECT LENGTH(CONCAT_WS(',', $, $, $)) FROM t",
        "SELECT LENGTH(MAKE_SET(7, $, $, $)) FROM t",
        "SELECT LENGTH(HEX(HEX($))) FROM t",
        "SELECT LENGTH(LEFT($, LENGTH(LEFT($, LENGTH(LEFT($, 2)))))) FROM t",
        "SELECT $ < CAST($ < CAST($ < s AS CHAR) AS CHAR) FROM t",
        "SELECT $ IN (s, CAST($ IN (s, CAST($ IN (s, 'x') AS CHAR)) AS CHAR)) FROM t",
        "SELECT $ LIKE CAST($ LIKE CAST($ LIKE s AS CHAR) AS CHAR) FROM t",
        "SELECT LOCATE($, CONCAT(s, s)) FROM t",
        "SELECT s LIKE $ FROM t",
        "SELECT ($, $, $) IN (SELECT s, s, s FROM t) FROM t",
        "SELECT (SELECT LENGTH(CONCAT(x.s, x.r)) FROM t WHERE x.r = x.q AND x.p = x.q LIMIT 1) FROM (SELECT s, $ r, $ q, $ p FROM t LIMIT 1) x",
        "SELECT $, $, $ FROM t",
        "VALUES ROW(REPEAT('a', 3000000), REPEAT('b', 3000000), REPEAT('c', 3000000))",
        "SELECT s FROM t ORDER BY $, $, $",
        "SELECT COUNT(*) FROM t GROUP BY $, $, $",
        "SELECT COUNT(DISTINCT $, $, $) FROM t",
        "SELECT LENGTH(MAX($)), LENGTH(MIN($)), LENGTH(MAX(CONCAT($, s))) FROM t",
        "SELECT GROUP_CONCAT(s ORDER BY $, $, $) FROM t",
        "INSERT INTO u VALUES (2, REPEAT('a', 3000000), REPEAT('b', 3000000), REPEAT('c', 3000000))",
        "UPDATE u SET a = REPEAT('a', 3000000), b = REPEAT('b', 3000000), c = REPEAT('c', 3000000)",
    ] {
        let answer = world.run(&sql.replace('$', LONG));
        assert!(answer.len() == 1 && answer[0].contains("is full"), "{sql}: {answer:.200?}");
    }
}

#[test]
fn what_was_given_back_is_not_counted() {
    let mut world = world();
    let many = [LONG; 10].join(", ");
    for (sql, expected) in [
        (format!("SELECT LENGTH(GREATEST({many})) FROM t"), "3000000"),
        (format!("SELECT FIELD('x', {many}) FROM t"), "0"),
        (format!("SELECT LENGTH(ELT(9, {many})) FROM t"), "3000000"),
        (format!("SELECT LENGTH(COALESCE({many})) FROM t"), "3000000"),
        (format!("SELECT s IN ({many}) FROM t"), "0"),
        (format!("SELECT BENCHMARK(10, {LONG}) FROM t"), "0"),
        (format!("SELECT LENGTH({LONG}) + LENGTH({LONG}) + LENGTH({LONG}) FROM t"), "9000000"),
    ] {
        assert_eq!(world.run(&sql), [expected, expected], "{sql}");
    }
    for _ in 0..10 {
        assert!(world.run(&format!("UPDATE u SET a = {}", LONG.replace('s', "'x'"))).is_empty());
    }
}

#[test]
fn a_kill_ends_a_walk_over_a_list() {
    let mut world = World::new();
    world.run("SELECT @n := 0");
    let members = ["(@n := @n + 1) + 5"; 5000].join(", ");
    let answer = world.run(&format!("SELECT 1 IN (SLEEP(1) + 5, {members})"));
    assert!(answer[0].contains("interrupted"), "{answer:?}");
    world.kill.lower();
    assert_eq!(world.run("SELECT @n < 2048"), ["1"]);
}

/// All rows have one key, and the other condition holds for none of their pairs.
#[test]
fn a_kill_ends_a_hash_join_that_yields_nothing() {
    let mut world = World::new();
    world.run("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
    let rows: Vec<String> = (0..2000).map(|id| format!("({id}, 1)")).collect();
    world.run(&format!("INSERT INTO t VALUES {}", rows.join(", ")));
    world.run("SELECT @n := 0");
    let join = "SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.a";
    let answer = world.run(&format!("{join} WHERE SLEEP(1) + x.id + y.id + (@n := @n + 1) < 0"));
    assert!(answer[0].contains("interrupted"), "{answer:?}");
    world.kill.lower();
    assert_eq!(world.run("SELECT @n BETWEEN 1 AND 3000"), ["1"]);
}

/// Conditions over long rows do not lie in each other as deep as the rows are long.
#[test]
fn long_rows_are_in_order() {
    let mut world = World::new();
    world.run("SELECT @a := 1, @b := 2");
    let row = |last: &str| format!("{}, {last}", ["@a"; 4000].join(", "));
    for (left, operator, right, expected) in [
        ("@a", "<", "@b", "1"),
        ("@b", "<=", "@a", "0"),
        ("@a", ">=", "@a", "1"),
        ("@a", "<", "NULL", "NULL"),
    ] {
        let answer = world.run(&format!("SELECT ({}) {operator} ({})", row(left), row(right)));
        assert_eq!(answer, [expected], "{left} {operator} {right}");
    }
    let many = ["1"; 5000].join(", ");
    assert!(world.run(&format!("SELECT ({many}) < ({many})"))[0].contains("4096"));
}

/// Bit operations over bytes charge what waits for their other operand.
#[test]
fn nested_bit_operations_are_charged() {
    let mut world = World::new();
    world.run("SELECT @a := REPEAT(x'61', 60000000)");
    let nested = format!("{}@a{}", "@a | (".repeat(30), ")".repeat(30));
    let answer = world.run(&format!("SELECT LENGTH({nested})"));
    assert!(answer[0].contains("full"), "{answer:?}");
    // Constants that are made one after another are not held together.
    let constants: Vec<String> = (0..20).map(|at| format!("LENGTH(REPEAT('a', 6000000)) > {at}")).collect();
    assert_eq!(world.run(&format!("SELECT 1 WHERE {}", constants.join(" AND "))), ["1"]);
}
