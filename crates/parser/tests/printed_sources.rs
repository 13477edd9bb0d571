//! Random queries over LATERAL and JSON_TABLE: what the printer writes the parser reads, and prints again in the same way.
//! `PRINTED_SOURCES=1000000 cargo test --release -p parser --test printed_sources` for a long run; a failure prints its seed.

use parser::ast::{Name, Query, Statement};
use parser::{ParseOptions, PrintedTables, QueryStyle, parse_one, print_query};

/// Queries of a run that asks for no other number.
const QUERIES: u64 = 5_000;

/// One table.
struct Tables;

impl PrintedTables for Tables {
    fn columns(&self, _schema: &str, _table: &str) -> Option<Vec<(Name, bool)>> {
        Some(["a", "b"].map(|name| (name.to_owned(), true)).to_vec())
    }
}

fn parsed(seed: u64, text: &str) -> Query {
    let parsed = parse_one(text.as_bytes(), 0, ParseOptions::default());
    match parsed.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}")).statement {
        Statement::Query(query) => *query,
        other => panic!("seed {seed}: {other:?}"),
    }
}

fn printed(seed: u64, text: &str) -> String {
    let style = QueryStyle {
        tables: &Tables,
        schema: Some("s"),
        hidden_schema: None,
        charset: "utf8mb4",
        introducers: true,
    };
    let printed = print_query(&parsed(seed, text), &style);
    printed.unwrap_or_else(|| panic!("seed {seed}: not printed\n{text}")).text
}

#[test]
fn printed_sources_are_read_and_printed_again() {
    let count = std::env::var("PRINTED_SOURCES").ok().and_then(|text| text.parse().ok()).unwrap_or(QUERIES);
    for seed in 0..count {
        let mut generator = Generator { state: seed, aliases: 0 };
        let written = generator.query(&[], 3);
        let once = printed(seed, &written);
        assert_eq!(printed(seed, &once), once, "seed {seed}: {written}");
    }
}

/// Makes queries (splitmix64): the same seed gives the same query.
struct Generator {
    state: u64,
    aliases: u32,
}

impl Generator {
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u64) as usize]
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }

    /// A query that may name columns of those tables; all tables have the columns `a` and `b`.
    fn query(&mut self, around: &[String], levels: u32) -> String {
        let (from, own) = self.from(around, levels);
        let seen = [around, &own[..]].concat();
        let (first, second) = (self.value(&seen), self.value(&seen));
        let filter = self.value(&seen);
        format!("SELECT {first} AS a, {second} AS b FROM {from} WHERE {filter} > 1")
    }

    fn value(&mut self, seen: &[String]) -> String {
        if seen.is_empty() {
            return "5".to_owned();
        }
        let table = &seen[self.below(seen.len() as u64) as usize];
        match self.below(4) {
            0 => format!("{table}.b + 1"),
            1 => format!("CONCAT({table}.a, 'x''y')"),
            _ => format!("{table}.a"),
        }
    }

    fn from(&mut self, around: &[String], levels: u32) -> (String, Vec<String>) {
        let (mut from, mut own) = self.source(around, levels);
        for _ in 0..self.below(3) {
            let seen = [around, &own[..]].concat();
            let (right, name) = self.source(&seen, levels);
            let both = [&own[..], &name[..]].concat();
            let (left, more) = (self.value(&both), self.value(&both));
            from = match self.below(5) {
                0 => format!("{from} LEFT JOIN {right} ON {left} = {more}"),
                1 => format!("{from} STRAIGHT_JOIN {right}"),
                2 => format!("{right} RIGHT JOIN ({from}) ON {left} = {more}"),
                _ => format!("{from} JOIN {right}"),
            };
            own = both;
        }
        (from, own)
    }

    fn source(&mut self, seen: &[String], levels: u32) -> (String, Vec<String>) {
        let alias = self.alias();
        let text = match self.below(if levels == 0 { 2 } else { 4 }) {
            0 => format!("t {alias}"),
            1 => {
                let (document, columns) = (self.value(seen), self.columns(2));
                format!(
                    "JSON_TABLE({document}, '$[*]' COLUMNS (a INT PATH '$.a', {columns}, b FOR ORDINALITY)) {alias}"
                )
            }
            2 => format!("LATERAL ({}) {alias}", self.query(seen, levels - 1)),
            _ => format!("LATERAL ({}) AS {alias} (a, b)", self.query(seen, levels - 1)),
        };
        (text, vec![alias])
    }

    fn columns(&mut self, levels: u32) -> String {
        let column = |generator: &mut Generator| {
            let name = generator.alias();
            let path = generator.pick(&["$", "$.a", "$.\"a'b\"", "$[*].x", "$**.y"]).replace('\'', "''");
            match generator.below(if levels == 0 { 3 } else { 4 }) {
                0 => format!("{name} FOR ORDINALITY"),
                1 => format!("{name} INT EXISTS PATH '{path}'"),
                2 => {
                    let data_type = generator.pick(TYPES);
                    let empty = generator.pick(REACTIONS);
                    let error = generator.pick(REACTIONS);
                    let on = |what: &str, place: &str| match what {
                        "" => String::new(),
                        what => format!(" {what} ON {place}"),
                    };
                    let (empty, error) = (on(empty, "EMPTY"), on(error, "ERROR"));
                    match generator.below(2) {
                        0 => format!("{name} {data_type} PATH '{path}'{empty}{error}"),
                        _ => format!("{name} {data_type} PATH '{path}'{error}{empty}"),
                    }
                }
                _ => format!("NESTED PATH '{path}' COLUMNS ({})", generator.columns(levels - 1)),
            }
        };
        (0..1 + self.below(2)).map(|_| column(self)).collect::<Vec<_>>().join(", ")
    }
}

const TYPES: &[&str] = &[
    "INT",
    "BIGINT UNSIGNED",
    "TINYINT(1)",
    "INT(5) ZEROFILL",
    "DECIMAL(5,2)",
    "FLOAT(7,3)",
    "FLOAT(40)",
    "REAL",
    "DATETIME(3)",
    "VARCHAR(5)",
    "VARCHAR(5) CHARSET latin1 COLLATE latin1_bin",
    "CHAR(3) CHARSET binary",
    "TEXT COLLATE utf8mb4_bin",
    "NCHAR(3)",
    "ENUM('a','b''c')",
    "SET('x')",
    "BIT(3)",
    "JSON",
    "YEAR",
    "BLOB",
];

const REACTIONS: &[&str] = &["", "NULL", "ERROR", "DEFAULT '1'", "DEFAULT '\"it''s\"'"];
