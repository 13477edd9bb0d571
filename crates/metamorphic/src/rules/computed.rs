//! Conditions on expressions that indexes have.

use super::{joined, plain};
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Table, Tables, literal};

/// Expressions that functional key parts of the tables are, compared with constants and with each other.
pub fn by_expression(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 40);
    let mut query = plain(random, &from);
    let mut known: Vec<(String, char)> = Vec::new();
    for (alias, table) in &from.tables {
        known.extend(named(table, alias));
    }
    if known.is_empty() {
        query.conditions.push(from.scope.condition(random, 1));
        return query;
    }
    for _ in 0..random.between(1, 2) {
        let (text, family) = random.choose(&known).clone();
        query.conditions.push(compared(random, &text, family));
    }
    if random.percent(20) {
        let (left, right) = (random.choose(&known).clone(), random.choose(&known).clone());
        if left.1 == right.1 && left.1 != 's' {
            query.conditions.push(format!("{} = {}", left.0, right.0));
        }
    }
    query
}

/// Generated columns and what they are computed of, compared with constants and with each other.
pub fn generated(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 40);
    let mut query = plain(random, &from);
    let mut known: Vec<(String, char)> = Vec::new();
    for (alias, table) in &from.tables {
        let generated = table.columns.iter().filter(|column| column.generated.is_some());
        known.extend(generated.map(|column| (format!("{alias}.{}", column.name), column.family())));
        let is_column = |(text, _): &(String, char)| {
            table.columns.iter().any(|column| {
                column
                    .generated
                    .is_some_and(|own| *text == format!("({})", own.replace('@', &format!("{alias}."))))
            })
        };
        let indexed: Vec<(String, char)> = named(table, alias).into_iter().filter(is_column).collect();
        known.extend([indexed.clone(), indexed.clone(), indexed].concat());
    }
    for _ in 0..if known.is_empty() { 0 } else { random.between(1, 2) } {
        let (text, family) = random.choose(&known).clone();
        query.conditions.push(compared(random, &text, family));
    }
    if known.is_empty() || random.percent(30) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    query
}

/// The expressions of a table that an alias stands for, and what they compare with.
pub(super) fn named(table: &Table, alias: &str) -> Vec<(String, char)> {
    table
        .expressions
        .iter()
        .map(|(text, family)| (format!("({})", text.replace('@', &format!("{alias}."))), *family))
        .collect()
}

pub(super) fn compared(random: &mut Random, text: &str, family: char) -> String {
    let value = |random: &mut Random| literal(random, family);
    match random.below(8) {
        0 => format!("{text} IS NULL"),
        1 => format!("{text} BETWEEN {} AND {}", value(random), value(random)),
        2 => format!("{text} IN ({}, {}, NULL)", value(random), value(random)),
        3 => format!("{text} <=> {}", value(random)),
        4 => format!("NOT {text} > {}", value(random)),
        5 => format!("({text} = {} OR {text} = {})", value(random), value(random)),
        _ => format!("{text} {} {}", random.choose(&["=", "<", ">="]), value(random)),
    }
}
