//! Window functions in queries in FROM, with conditions on what they show: those on what divides the rows may come before the windows.

use super::{From, joined};
use crate::conditions::{Reference, Scope};
use crate::query::Query;
use crate::random::Random;
use crate::tables::Tables;

const FRAMES: [&str; 5] = [
    "",
    "",
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
];

/// Rows with what windows say of them.
pub fn asked(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 30);
    let partition: Vec<Reference> = (0..random.below(3)).map(|_| from.scope.any(random).clone()).collect();
    let mut shown = partition.clone();
    shown.extend(from.tables.iter().map(|(alias, _)| Reference {
        text: format!("{alias}.id"),
        family: 'i',
        collation: "",
        nullable: true,
    }));
    shown.push(from.scope.any(random).clone());
    let window = window(random, &from, &partition);
    for _ in 0..random.between(1, 2) {
        shown.push(function(random, &from, &window));
    }
    let condition = match random.percent(40) {
        true => format!(" WHERE {}", from.scope.condition(random, 0)),
        false => String::new(),
    };
    let (inner, scope) =
        super::derived::named(&shown, "e", |list| format!("SELECT {list} FROM {}{condition}", from.text));
    let mut query = match random.percent(25) {
        true => Query { with: format!("WITH w AS ({inner}) "), from: "w e".to_owned(), ..Query::default() },
        false => Query { from: format!("({inner}) e"), ..Query::default() },
    };
    query.items = scope.columns.iter().map(|one| one.text.clone()).collect();
    // Most often on what divides the rows.
    let near = Scope { columns: scope.columns[..partition.len()].to_vec() };
    if !near.columns.is_empty() && random.percent(70) {
        query.conditions.push(near.with_constants(random));
    }
    query.conditions.push(scope.condition(random, 1));
    query
}

/// Rows in an order in which each has its own place.
fn window(random: &mut Random, from: &From, partition: &[Reference]) -> String {
    let divided: Vec<&str> = partition.iter().map(|one| one.text.as_str()).collect();
    let mut keys: Vec<String> = (0..random.below(2)).map(|_| from.scope.any(random).text.clone()).collect();
    keys.extend(from.tables.iter().map(|(alias, _)| format!("{alias}.id")));
    let direction = if random.percent(30) { " DESC" } else { "" };
    let partition = match divided.is_empty() {
        true => String::new(),
        false => format!("PARTITION BY {} ", divided.join(", ")),
    };
    format!("{partition}ORDER BY {}{direction}", keys.join(", "))
}

fn function(random: &mut Random, from: &From, window: &str) -> Reference {
    let column = from.scope.any(random).clone();
    let frame = *random.choose(&FRAMES);
    let whole = |text: String, family: char| Reference { text, family, collation: "", nullable: true };
    let framed = format!("OVER ({window}{frame})");
    match (random.below(9), column.family) {
        (0, _) => whole(format!("ROW_NUMBER() OVER ({window})"), 'i'),
        (1, _) => whole(format!("{}() OVER ({window})", random.choose(&["RANK", "DENSE_RANK"])), 'i'),
        (2, _) => whole(format!("NTILE(3) OVER ({window})"), 'i'),
        (3, _) => whole(format!("COUNT({}) {framed}", column.text), 'i'),
        (4, 'i' | 'd') => whole(format!("SUM({}) {framed}", column.text), 'd'),
        (5, 'i' | 'd') => {
            let name = *random.choose(&["MIN", "MAX"]);
            Reference { text: format!("{name}({}) {framed}", column.text), nullable: true, ..column }
        }
        (6 | 7, _) => {
            let name = *random.choose(&["LAG", "LEAD"]);
            Reference { text: format!("{name}({}) OVER ({window})", column.text), nullable: true, ..column }
        }
        _ => {
            let name = *random.choose(&["FIRST_VALUE", "LAST_VALUE"]);
            Reference { text: format!("{name}({}) {framed}", column.text), nullable: true, ..column }
        }
    }
}
