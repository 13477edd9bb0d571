//! Random tables: few rows with NULL, values that occur often and values at the ends, and indexes of all kinds. Main types:
//! [`Tables`], [`Table`]. The first letter of a column's name says what it compares with.

use crate::conditions::Scope;
use crate::random::Random;
use std::fmt::Write as _;

/// Names of tables.
pub const NAMES: [&str; 3] = ["t0", "t1", "t2"];
/// Names of views.
pub const VIEWS: [&str; 4] = ["v0", "v1", "v2", "v3"];

/// Columns, with the types that each may have.
const COLUMNS: [(&str, &[&str]); 10] = [
    ("i0", &["INT", "BIGINT", "SMALLINT"]),
    ("i1", &["INT", "BIGINT", "BIGINT UNSIGNED", "TINYINT UNSIGNED"]),
    ("d0", &["DECIMAL(10,2)", "DECIMAL(12,4)", "DECIMAL(8,0)"]),
    ("f0", &["DOUBLE"]),
    ("s0", &["VARCHAR(10)", "CHAR(6)", "TEXT", "VARCHAR(10) CHARACTER SET latin1"]),
    ("s1", &["VARCHAR(10)", "VARCHAR(10) COLLATE utf8mb4_bin", "VARCHAR(10) CHARACTER SET latin1"]),
    ("t0", &["DATE", "DATE", "DATETIME"]),
    ("t1", &["DATETIME", "DATETIME(3)", "TIMESTAMP NULL"]),
    ("e0", &["ENUM('b','a','abc')", "YEAR"]),
    ("j0", &["JSON"]),
];

/// Generated columns: a name, the type of what they are, and that, with `@` before the column that it reads.
const GENERATED: [(&str, &str, &str); 4] = [
    ("i2", "BIGINT", "CAST(@i0 % 5 AS SIGNED)"),
    ("d2", "DECIMAL(14,4)", "CAST(@d0 + 1 AS DECIMAL(14,4))"),
    ("s2", "VARCHAR(11)", "concat(@s1, 'b')"),
    ("t2", "DATE", "CAST(@t0 + interval 1 day AS DATE)"),
];

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type as declared.
    pub kind: &'static str,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What it is, with `@` before names of columns, if it is a generated one.
    pub generated: Option<&'static str>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, `id` first.
    pub columns: Vec<Column>,
    /// Columns or column prefixes of the indexes beside the primary key, in their order.
    pub indexes: Vec<Vec<&'static str>>,
    /// Functional key parts and indexed generated columns, with `@` before names of columns, and the family of columns that they compare with.
    pub expressions: Vec<(&'static str, char)>,
    /// How it is made and filled.
    pub statements: Vec<String>,
}

/// A view.
#[derive(Clone, Debug)]
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// The query that it is, whose columns have these names.
    pub query: String,
    /// What it shows, as a query reads it that calls it `e`.
    pub scope: Scope,
    /// Whether it puts rows together.
    pub groups: bool,
}

/// How large tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Up to 40 rows.
    Small,
    /// Some hundred rows, so that it matters how they are found.
    Medium,
    /// Some hundred rows of few different values.
    Repeating,
}

/// The tables that queries are over.
#[derive(Clone, Debug)]
pub struct Tables {
    /// All of them.
    pub list: Vec<Table>,
    /// Views of them.
    pub views: Vec<View>,
}

impl Tables {
    /// Tables that follow from the numbers of `random`.
    pub fn new(random: &mut Random, size: Size) -> Tables {
        Tables { list: NAMES.iter().map(|name| table(random, name, size)).collect(), views: Vec::new() }
    }

    /// One of them.
    pub fn any(&self, random: &mut Random) -> &Table {
        random.choose(&self.list)
    }
}

impl View {
    /// How it is made.
    pub fn statement(&self) -> String {
        format!("CREATE VIEW {} AS {}", self.name, self.query)
    }
}

impl Column {
    /// What it compares with as with itself: `i` integers, `d` decimals, `f` floating point, `s` texts, `D` and `S` dates, `e` others.
    pub fn family(&self) -> char {
        match self.name.chars().next() {
            // What documents compare with is not decided by their column.
            Some('j') => 'e',
            Some('t') if self.kind == "DATE" => 'D',
            Some('t') => 'S',
            Some(letter) => letter,
            None => 'i',
        }
    }
}

impl Column {
    /// What decides whether two texts are equal.
    pub fn collation(&self) -> &'static str {
        self.kind.split_once(" C").map_or("", |(_, collation)| collation)
    }
}

/// A literal that suits columns of a family.
pub fn literal(random: &mut Random, family: char) -> String {
    let values: &[&str] = match family {
        'i' => &["0", "1", "2", "3", "4", "5", "7", "-1", "18446744073709551615", "100"],
        'd' => &["0", "1", "1.5", "1.50", "2.25", "-3.75", "5", "1.5000", "100"],
        'f' => &["0e0", "1e0", "1.5e0", "-2.5e0", "5e0"],
        's' => &["''", "'a'", "'A'", "'b'", "'abc'", "'ab'", "'a '", "'B'"],
        'D' => &["DATE'2024-01-15'", "DATE'2024-02-29'", "DATE'1970-01-02'", "DATE'2023-12-31'"],
        'S' => &[
            "TIMESTAMP'2024-01-15 00:00:00'",
            "TIMESTAMP'2024-01-15 10:20:30'",
            "TIMESTAMP'1970-01-02 00:00:01'",
        ],
        _ => &["'a'", "'b'", "'abc'"],
    };
    (*random.choose(values)).to_owned()
}

/// A value to be stored.
fn value(random: &mut Random, column: &Column) -> String {
    if column.generated.is_some() {
        return "DEFAULT".to_owned();
    }
    if column.nullable && random.percent(15) {
        return "NULL".to_owned();
    }
    let of_integer: &[&str] = match column.kind {
        "BIGINT UNSIGNED" => &["0", "1", "2", "3", "5", "18446744073709551615", "9223372036854775808"],
        "TINYINT UNSIGNED" => &["0", "1", "2", "3", "5", "255"],
        "BIGINT" => &["0", "1", "2", "3", "5", "-1", "9223372036854775807"],
        _ => &["0", "1", "2", "3", "4", "5", "-1", "7"],
    };
    let values: &[&str] = match column.name.as_bytes()[0] {
        b'i' => of_integer,
        b'd' if column.kind == "DECIMAL(8,0)" => &["0", "1", "2", "5", "100", "-4"],
        b'd' => &["0", "1", "1.5", "2.25", "-3.75", "5", "100"],
        b'f' => &["0", "-0e0", "1", "1.5", "-2.5", "5"],
        b's' => &["''", "'a'", "'A'", "'b'", "'abc'", "'ab'", "'a '", "'B'", "'aB'"],
        b't' if column.name == "t0" => &["'2024-01-15'", "'2024-02-29'", "'1970-01-02'", "'2023-12-31'"],
        b't' => &[
            "'2024-01-15 00:00:00'",
            "'2024-01-15 10:20:30'",
            "'1970-01-02 00:00:01'",
            "'2024-02-29 00:00:00'",
        ],
        b'j' => &[
            "'{\"a\": 1, \"t\": \"a\", \"b\": [1, 2]}'",
            "'{\"a\": 2, \"t\": \"abc\", \"b\": []}'",
            "'{\"a\": \"x\", \"t\": \"b\"}'",
            "'{\"a\": null, \"b\": [3, \"a\", {\"c\": 5}]}'",
            "'{\"b\": [2, 7], \"t\": null}'",
            "'[1, 2, 3]'",
            "'\"a\"'",
            "'null'",
            "'7'",
        ],
        _ if column.kind == "YEAR" => &["0", "2001", "2024", "1970"],
        _ => &["'a'", "'b'", "'abc'"],
    };
    (*random.choose(values)).to_owned()
}

fn table(random: &mut Random, name: &'static str, size: Size) -> Table {
    let mut columns = vec![Column { name: "id", kind: "INT", nullable: false, generated: None }];
    for (column, kinds) in COLUMNS {
        if column == "i0" || random.percent(70) {
            let nullable = random.percent(70);
            let kind: &&'static str = random.choose(kinds);
            columns.push(Column { name: column, kind, nullable, generated: None });
        }
    }
    for (name, kind, text) in GENERATED {
        let has = |read: &Column| text.contains(&format!("@{}", read.name));
        if columns.iter().skip(1).any(has) && random.percent(35) {
            columns.push(Column { name, kind, nullable: true, generated: Some(text) });
        }
    }
    let mut parts: Vec<String> = columns.iter().map(declared).collect();
    // A key of two columns, one column or none.
    parts.push(match random.below(6) {
        0 => "PRIMARY KEY (i0, id)".to_owned(),
        1 => "UNIQUE KEY (id)".to_owned(),
        _ => "PRIMARY KEY (id)".to_owned(),
    });
    if parts.last().is_some_and(|key| key.contains("i0")) {
        columns[1].nullable = false;
        parts[1] = declared(&columns[1]);
    }
    let indexes = indexes(random, &columns, size);
    parts.extend(indexes.iter().enumerate().map(|(at, index)| {
        let unique = index.contains(&"id") && random.percent(30);
        format!("{}KEY k{at} ({})", if unique { "UNIQUE " } else { "" }, index.join(", "))
    }));
    let mut expressions = expressions(random, &columns);
    parts.extend(expressions.iter().enumerate().map(|(at, (text, _))| {
        let other = if random.percent(30) { ", id" } else { "" };
        format!("KEY f{at} (({}){other})", text.replace('@', ""))
    }));
    // What an indexed generated column is serves as a functional part does.
    let generated = columns.iter().filter_map(|column| Some((column, column.generated?)));
    for (column, text) in generated.filter(|_| random.percent(70)) {
        parts.push(format!("KEY of_{0} ({0})", column.name));
        expressions.push((text, column.family()));
    }
    let mut statements = vec![format!("CREATE TABLE {name} ({})", parts.join(", "))];
    let rows = match size {
        Size::Small if random.percent(3) => 0,
        Size::Small => random.between(5, 40),
        Size::Medium => random.between(60, 160),
        Size::Repeating => random.between(250, 600),
    };
    if rows > 0 {
        statements.push(filling(random, name, &columns, rows, size));
    }
    statements.push(format!("ANALYZE TABLE {name}"));
    Table { name, columns, indexes, expressions, statements }
}

fn declared(column: &Column) -> String {
    let Some(text) = column.generated else {
        return format!("{} {}{}", column.name, column.kind, if column.nullable { "" } else { " NOT NULL" });
    };
    // One of each two is stored.
    let kept = if column.name.starts_with(['d', 's']) { "STORED" } else { "VIRTUAL" };
    format!("{} {} AS ({}) {kept}", column.name, column.kind, text.replace('@', ""))
}

/// Expressions that functional key parts are: those columns that they read, their texts, and what they compare with.
const EXPRESSIONS: [(&[&str], &str, char); 17] = [
    (&["i0"], "@i0 % 3", 'i'),
    (&["i0"], "@i0 DIV 2", 'i'),
    (&["i0"], "coalesce(@i0, 0)", 'i'),
    (&["i0"], "@i0 IS NULL", 'i'),
    (&["i0"], "CASE WHEN @i0 > 2 THEN @i0 END", 'i'),
    (&["i0"], "CAST(@i0 AS CHAR(20))", 's'),
    (&["i0", "i1"], "@i0 > @i1", 'i'),
    (&["i0", "i1"], "ifnull(@i0, @i1)", 'i'),
    (&["d0"], "@d0 * 2", 'd'),
    (&["d0"], "floor(@d0)", 'i'),
    (&["f0"], "-@f0", 'f'),
    (&["s1"], "lower(@s1)", 's'),
    (&["s1"], "concat(@s1, 'b')", 's'),
    (&["t0"], "year(@t0)", 'i'),
    (&["j0"], "CAST(@j0->>'$.t' AS CHAR(10))", 's'),
    (&["j0"], "json_length(@j0, '$.b')", 'i'),
    (&["j0"], "json_value(@j0, '$.a' RETURNING SIGNED)", 'i'),
];

fn expressions(random: &mut Random, columns: &[Column]) -> Vec<(&'static str, char)> {
    let has = |name: &&str| columns.iter().any(|column| column.name == *name);
    let mut chosen: Vec<_> = EXPRESSIONS.iter().filter(|(read, ..)| read.iter().all(has)).collect();
    chosen.retain(|_| random.percent(35));
    chosen.into_iter().map(|(_, text, family)| (*text, *family)).collect()
}

fn indexes(random: &mut Random, columns: &[Column], size: Size) -> Vec<Vec<&'static str>> {
    let part = |random: &mut Random, column: &Column| -> &'static str {
        let is_text = column.name.starts_with('s');
        match (
            column.name,
            is_text && (column.kind == "TEXT" || size != Size::Repeating && random.percent(20)),
        ) {
            ("s0", true) => "s0(2)",
            ("s1", true) => "s1(1)",
            (name, _) if size != Size::Repeating && random.percent(10) => descending(name),
            (name, _) => name,
        }
    };
    let mut found = Vec::new();
    for _ in 0..random.between(1, 5) {
        let mut order: Vec<&Column> = columns.iter().skip(1).filter(|column| column.kind != "JSON").collect();
        random.shuffle(&mut order);
        let count = random.between(1, 3.min(order.len()));
        let mut index: Vec<&'static str> = order[..count].iter().map(|column| part(random, column)).collect();
        if random.percent(20) {
            index.push("id");
        }
        found.push(index);
    }
    found
}

fn descending(name: &'static str) -> &'static str {
    COLUMNS_DESCENDING.iter().find(|text| text.starts_with(name)).copied().unwrap_or(name)
}

const COLUMNS_DESCENDING: [&str; 5] = ["i0 DESC", "i1 DESC", "d0 DESC", "t0 DESC", "s1 DESC"];

fn filling(random: &mut Random, name: &str, columns: &[Column], rows: usize, size: Size) -> String {
    // Where values repeat, each column has its own few.
    let kept: Vec<Vec<String>> = columns
        .iter()
        .map(|column| (0..random.between(1, 3)).map(|_| value(random, column)).collect())
        .collect();
    let mut ids: Vec<usize> = (0..rows).collect();
    random.shuffle(&mut ids);
    let mut text = format!("INSERT INTO {name} VALUES ");
    for (at, id) in ids.into_iter().enumerate() {
        let separator = if at == 0 { "" } else { "," };
        let _ = write!(text, "{separator}({id}");
        for (column, kept) in columns.iter().zip(&kept).skip(1) {
            let value = match size {
                Size::Small | Size::Medium => value(random, column),
                Size::Repeating => random.choose(kept).clone(),
            };
            let _ = write!(text, ",{value}");
        }
        text.push(')');
    }
    text
}
