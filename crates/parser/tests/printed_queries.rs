//! The printer of queries against MySQL 9.7.4: `printed_queries.tsv` has queries with the text that SHOW CREATE VIEW says of them
//! (`record_printed_queries.py` writes it). What is kept has every schema; it is read and printed once more to be shown.

use parser::ast::{Name, Query, Statement};
use parser::{ParseOptions, PrintedTables, QueryStyle, parse_one, print_query};

/// The tables of the recorder.
struct Tables;

impl PrintedTables for Tables {
    fn columns(&self, schema: &str, table: &str) -> Option<Vec<(Name, bool)>> {
        let columns: &[&str] = match (schema, table) {
            ("s", "t") => &["a", "b", "c", "d"],
            ("s", "u") => &["a", "b", "e"],
            ("s", "w") => &["a", "f"],
            ("s", "hidden") => &["a", "-h"],
            _ => return None,
        };
        Some(
            columns
                .iter()
                .map(|name| (name.trim_start_matches('-').to_owned(), !name.starts_with('-')))
                .collect(),
        )
    }
}

/// What is shown is printed without the catalogue.
struct NoTables;

impl PrintedTables for NoTables {
    fn columns(&self, _schema: &str, _table: &str) -> Option<Vec<(Name, bool)>> {
        None
    }
}

fn parsed(text: &str) -> Query {
    match parse_one(text.as_bytes(), 0, ParseOptions::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .statement
    {
        Statement::Query(query) => *query,
        other => panic!("{text}: {other:?}"),
    }
}

fn printed(text: &str, tables: &dyn PrintedTables, hidden_schema: Option<&str>) -> Option<String> {
    let style =
        QueryStyle { tables, schema: Some("s"), hidden_schema, charset: "utf8mb4", introducers: true };
    print_query(&parsed(text), &style).map(|printed| printed.text)
}

fn shown(text: &str) -> Option<String> {
    let kept = printed(text, &Tables, None)?;
    printed(&kept, &NoTables, Some("s"))
}

#[test]
fn queries_are_printed_as_mysql_does() {
    for line in include_str!("printed_queries.tsv").lines() {
        let (query, expected) = line.split_once('\t').expect("two columns");
        assert_eq!(shown(query).as_deref(), Some(expected), "{query}");
    }
}

#[test]
fn invisible_columns_are_named_only_where_they_are_written() {
    assert_eq!(shown("select * from hidden").as_deref(), Some("select `hidden`.`a` AS `a` from `hidden`"));
    assert_eq!(shown("select h from hidden").as_deref(), Some("select `hidden`.`h` AS `h` from `hidden`"));
    assert_eq!(
        shown("select hidden.* from hidden").as_deref(),
        Some("select `hidden`.`a` AS `a` from `hidden`")
    );
}

#[test]
fn schemas_are_told_where_they_are_not_hidden() {
    let kept = printed("select x.a, u.b from t x, u", &Tables, None);
    assert_eq!(
        kept.as_deref(),
        Some("select `x`.`a` AS `a`,`s`.`u`.`b` AS `b` from (`s`.`t` `x` join `s`.`u`)")
    );
}

#[test]
fn what_is_not_known_is_not_printed() {
    assert_eq!(shown("select nope from t"), None);
    assert_eq!(shown("select lag(a) ignore nulls over (order by a) from t"), None);
    assert_eq!(shown("select a from t where a = @x"), None);
    assert_eq!(shown("select a into @x from t"), None);
}

/// An integer that orders nothing would be a position when it is read back (MySQL prints `order by ''`).
#[test]
fn integers_are_left_out_of_order_by() {
    assert_eq!(
        shown("select 7 as k, a from t order by 1, 2").as_deref(),
        Some("select 7 AS `k`,`t`.`a` AS `a` from `t` order by `t`.`a`")
    );
}
