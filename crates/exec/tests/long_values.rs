//! Values that are too long for memory: parameters that came in pieces, fields of files, and results. Whether they go by pieces or
//! through memory, the same rows are there afterwards.
#![allow(clippy::disallowed_methods)]

use crate::common::World;
use charset::CollationId;
use engine::SpillFile;
use env::Environment;
use exec::{LongParameters, SPOOL_PIECE_BYTES, Spool};
use expression::TypedValue;
use std::sync::Arc;
use values::{ColumnType, Value};

const LONG: usize = 2 * SPOOL_PIECE_BYTES + 1234;

/// Text with a character of several bytes at each end of a piece.
fn text(bytes: usize) -> String {
    let mut text = "é".repeat(bytes / 2 + 1);
    text.replace_range(0..2, "x");
    text.truncate(text.floor_char_boundary(bytes));
    text
}

fn world() -> World {
    let mut world = World::new();
    world.run("CREATE TABLE t (id INT PRIMARY KEY, n INT UNIQUE, b LONGBLOB, s LONGTEXT, m MEDIUMTEXT, c TEXT, KEY (b(10)))");
    world
}

/// Runs a statement with that one parameter.
fn run_with(
    world: &mut World,
    statement: &str,
    bytes: &[u8],
    collation: CollationId,
    by_pieces: bool,
) -> Vec<String> {
    let mut column_type = ColumnType::varchar(bytes.len() as u32, collation);
    if collation == CollationId::BINARY {
        column_type = ColumnType::varbinary(bytes.len() as u32);
    }
    let mut value = Value::Bytes(bytes.to_vec());
    if by_pieces {
        let mut spool = Spool::new(&Arc::new(SpillFile::new(Environment::simulated(world.disk.clone(), 1))));
        bytes.chunks(70_001).for_each(|piece| spool.append(piece).unwrap());
        let mut long = LongParameters::default();
        long.insert(0, spool);
        world.long_parameters = Some(Arc::new(long));
        value = Value::Bytes(Vec::new());
    }
    world.parameters = vec![TypedValue { value, column_type }];
    let mut answer = world.run(statement);
    answer.extend(world.diagnostics.conditions().iter().map(|condition| condition.error.to_string()));
    (world.parameters, world.long_parameters) = (Vec::new(), None);
    answer
}

/// The rows, and that nothing is left of values that no row has.
fn rows(world: &mut World) -> Vec<String> {
    world.engine.purge().unwrap();
    let faults = world.engine.check().unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    world.run("SELECT * FROM t ORDER BY id")
}

const STATEMENTS: [&str; 18] = [
    "INSERT INTO t (id, b) VALUES (1, ?)",
    "INSERT INTO t (id, s) VALUES (2, ?)",
    "INSERT INTO t (id, n, b) VALUES (3, 3, 'short'), (4, 4, ?)",
    "INSERT INTO t (id, s) VALUES (1, ?)",
    "INSERT IGNORE INTO t (id, b) VALUES (1, ?), (5, 'five')",
    "REPLACE INTO t (id, n, b) VALUES (6, 4, ?)",
    "INSERT INTO t (id, b) VALUES (1, ?) ON DUPLICATE KEY UPDATE s = VALUES(b), n = 7",
    "UPDATE t SET s = ? WHERE id = 2",
    "UPDATE t SET s = ?, n = 9 WHERE id IN (2, 3)",
    "UPDATE IGNORE t SET b = ?, n = 4 WHERE id > 2",
    "UPDATE t SET b = ?, n = LENGTH(b) WHERE id = 3",
    "UPDATE t SET b = ?, b = 'replaced' WHERE id = 3",
    "INSERT INTO t (id, b) VALUES (1, 'x') ON DUPLICATE KEY UPDATE b = ?, b = 'replaced too'",
    "INSERT INTO t (id, m) VALUES (10, ?)",
    "INSERT INTO t (id, c) VALUES (11, ?)",
    "INSERT INTO t (id, b) VALUES (12, CONCAT(?, 'x'))",
    "INSERT INTO t (id, n) SELECT 13, LENGTH(?)",
    "DELETE FROM t WHERE b = ? OR id = 2",
];

#[test]
fn parameters_in_pieces_do_what_others_do() {
    let (mut pieces, mut whole) = (world(), world());
    let bytes = text(LONG);
    for collation in [crate::common::COLLATION, CollationId::BINARY] {
        for statement in STATEMENTS {
            let (bytes, answer) =
                (bytes.as_bytes(), run_with(&mut whole, statement, bytes.as_bytes(), collation, false));
            assert_eq!(run_with(&mut pieces, statement, bytes, collation, true), answer, "{statement}");
            assert!(rows(&mut pieces) == rows(&mut whole), "{statement}");
        }
        pieces.run("DELETE FROM t");
        whole.run("DELETE FROM t");
    }
}

#[test]
fn what_is_no_text_is_refused_in_pieces_too() {
    let (mut pieces, mut whole) = (world(), world());
    for cut in [1, SPOOL_PIECE_BYTES, LONG - 8] {
        let mut bytes = text(LONG).into_bytes();
        bytes[cut] = 0xFF;
        let statement = "INSERT INTO t (id, s) VALUES (1, ?)";
        let answer = run_with(&mut whole, statement, &bytes, crate::common::COLLATION, false);
        assert!(!answer.is_empty(), "{:?}", whole.run("SELECT id, LENGTH(s), HEX(LEFT(s, 4)) FROM t"));
        assert_eq!(run_with(&mut pieces, statement, &bytes, crate::common::COLLATION, true), answer);
        assert!(rows(&mut pieces).is_empty());
    }
}

#[test]
fn a_value_that_must_be_in_memory_is_bounded() {
    let mut world = world();
    world.settings.memory_bytes_max = 1 << 19;
    let bytes = text(LONG);
    for statement in
        ["INSERT INTO t (id, n) VALUES (1, LENGTH(?))", "SELECT ?", "UPDATE t SET s = CONCAT(?, 'x')"]
    {
        run_with(
            &mut world,
            "REPLACE INTO t (id, b) VALUES (1, ?)",
            bytes.as_bytes(),
            CollationId::BINARY,
            true,
        );
        let answer = run_with(&mut world, statement, bytes.as_bytes(), crate::common::COLLATION, true);
        assert!(answer[0].contains("is full"), "{statement}: {answer:?}");
    }
    // It comes out whatever a statement may hold, if nothing computes with it.
    let row = world.run("SELECT b, id FROM t");
    assert!(row == [format!("{bytes}\t1")]);
}

/// A file with long fields, in pieces of that size.
fn load(file: &str, piece_bytes: usize, format: &str) -> (Vec<String>, Vec<String>) {
    let mut world = world();
    world.channel.file = file.as_bytes().chunks(piece_bytes).map(<[u8]>::to_vec).collect();
    let mut answer =
        world.run(&format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET utf8mb4 {format}"));
    answer.extend(world.diagnostics.conditions().iter().map(|condition| condition.error.to_string()));
    (answer, rows(&mut world))
}

#[test]
fn fields_of_files_may_be_long() {
    let long = text(LONG);
    let escaped = long.replace("éé", "\\\té\\\\");
    let plain = escaped.replace("\\\t", "\t").replace("\\\\", "\\");
    let file =
        format!("1\t1\t{long}\t\\N\ta\n2\t2\tb\t{escaped}\tc\n3\t3\t{long}\t{long}\n1\t9\t{long}\td\te\n");
    let shown = |text: &str| text.replace('\t', "\\t").replace('\n', "\\n");
    for piece_bytes in [60_001, SPOOL_PIECE_BYTES, file.len()] {
        let (answer, rows) = load(&file, piece_bytes, "(id, n, b, s, c)");
        let expected = [
            format!("1\t1\t{long}\tNULL\tNULL\ta"),
            format!("2\t2\tb\t{}\tNULL\tc", shown(&plain)),
            format!("3\t3\t{long}\t{long}\tNULL\tNULL"),
        ];
        assert!(rows == expected, "pieces of {piece_bytes}");
        assert_eq!(answer.len(), 2, "{answer:?}");
        assert!(answer[1].contains("Duplicate entry '1' for key 't.PRIMARY'"), "{answer:?}");
    }
}

#[test]
fn enclosed_fields_and_those_that_no_column_takes_as_they_are() {
    let long = text(LONG);
    let file = format!("1,\"{long}\"\"\",\"x\"\r\n2,{long},\"{long}\"\r\n");
    let format = "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'";
    let (_, rows) = load(&file, 50_021, &format!("{format} (id, b, s)"));
    assert!(
        rows == [format!("1\tNULL\t{long}\"\tx\tNULL\tNULL"), format!("2\tNULL\t{long}\t{long}\tNULL\tNULL")]
    );
    // Through a variable, an expression, and into a column that is too short.
    let (_, rows) = load(&file, 50_021, &format!("{format} (id, @b, c) SET n = LENGTH(@b), b = @b"));
    assert!(rows[0] == format!("1\t{}\t{long}\"\tNULL\tNULL\tx", long.len() + 1));
    let cut = &long[..long.floor_char_boundary(65535)];
    assert!(rows[1] == format!("2\t{}\t{long}\tNULL\tNULL\t{cut}", long.len()));
}

/// What expressions of the table read is loaded, wherever it comes from.
#[test]
fn expressions_of_the_table_read_whole_values() {
    let create = "CREATE TABLE e (id INT PRIMARY KEY, s LONGTEXT, d INT DEFAULT (LENGTH(s)), g INT AS (LENGTH(s) + 1), \
                  CONSTRAINT no_tail CHECK (s NOT LIKE '%!'))";
    let bytes = text(LONG);
    let mut world = World::new();
    world.run(create);
    let expected =
        |id: usize, bytes: &str| format!("{id}\t{}\t{}\t{}", bytes.len(), bytes.len(), bytes.len() + 1);
    let collation = crate::common::COLLATION;
    run_with(&mut world, "INSERT INTO e (id, s) VALUES (1, ?)", bytes.as_bytes(), collation, true);
    run_with(&mut world, "INSERT INTO e (id, s) VALUES (2, 'short')", b"", collation, false);
    let changed = text(LONG + 5000);
    run_with(&mut world, "UPDATE e SET s = ?, d = DEFAULT WHERE id = 2", changed.as_bytes(), collation, true);
    world.channel.file = format!("3\t{bytes}\n").as_bytes().chunks(60_001).map(<[u8]>::to_vec).collect();
    world.run("LOAD DATA LOCAL INFILE 'x' INTO TABLE e CHARACTER SET utf8mb4 (id, s)");
    let rows = world.run("SELECT id, LENGTH(s), d, g FROM e ORDER BY id");
    assert_eq!(rows, [expected(1, &bytes), expected(2, &changed), expected(3, &bytes)]);
    let refused = format!("{bytes}!");
    for statement in ["INSERT INTO e (id, s) VALUES (4, ?)", "UPDATE e SET s = ? WHERE id = 1"] {
        let answer = run_with(&mut world, statement, refused.as_bytes(), collation, true);
        assert!(answer[0].contains("no_tail"), "{statement}: {answer:?}");
    }
}
