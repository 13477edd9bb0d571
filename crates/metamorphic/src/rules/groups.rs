//! Groups, DISTINCT and aggregates.

use super::{joined, plain};
use crate::conditions::{Reference, Scope};
use crate::query::{Aggregate, Query};
use crate::random::Random;
use crate::tables::{Table, Tables};

fn name_of(part: &str) -> &str {
    part.split([' ', '(']).next().unwrap_or(part)
}

/// The whole columns of first parts of an index.
fn first_parts(random: &mut Random, table: &Table, scope: &Scope) -> Vec<Reference> {
    let index = random.choose(&table.indexes).clone();
    let whole: Vec<&str> = index.iter().copied().take_while(|part| !part.contains('(')).collect();
    let count = if whole.is_empty() { 0 } else { random.between(1, whole.len()) };
    let find = |part: &&str| {
        let at = table.columns.iter().position(|column| column.name == name_of(part))?;
        scope.columns.get(at).cloned()
    };
    let mut found: Vec<Reference> = whole[..count].iter().filter_map(find).collect();
    if found.is_empty() {
        found.push(scope.columns[0].clone());
    }
    found
}

fn conditions(random: &mut Random, scope: &Scope, near: &[Reference]) -> Vec<String> {
    let mut found = Vec::new();
    let near = Scope { columns: near.to_vec() };
    if random.percent(60) {
        found.push(near.with_constants(random));
    }
    if random.percent(20) {
        found.push(scope.condition(random, 0));
    }
    found
}

fn aggregate(function: &'static str, argument: &str) -> Aggregate {
    Aggregate { function, distinct: false, argument: argument.to_owned() }
}

fn extreme(random: &mut Random, argument: &str) -> Aggregate {
    aggregate(if random.percent(50) { "MIN" } else { "MAX" }, argument)
}

/// MIN and MAX of indexed columns.
pub fn extremes(random: &mut Random, tables: &Tables) -> Query {
    let table = tables.any(random).clone();
    let scope = Scope::of("a", &table);
    let mut query = Query { from: format!("{} a", table.name), ..Query::default() };
    let parts = first_parts(random, &table, &scope);
    query.conditions = conditions(random, &scope, &parts);
    for _ in 0..random.between(1, 2) {
        let part = if random.percent(80) { parts.last() } else { None };
        let column = part.unwrap_or(&parts[0]).clone();
        if column.family != 'e' {
            query.aggregates.push(extreme(random, &column.text));
        }
    }
    if query.aggregates.is_empty() {
        query.aggregates.push(aggregate("MAX", "a.id"));
    }
    query
}

/// Counts of all rows.
pub fn count_only(random: &mut Random, tables: &Tables) -> Query {
    let table = tables.any(random).clone();
    let scope = Scope::of("a", &table);
    let mut query = Query { from: format!("{} a", table.name), ..Query::default() };
    let argument = if random.percent(60) { "*".to_owned() } else { scope.any(random).text.clone() };
    query.aggregates.push(aggregate("COUNT", &argument));
    if random.percent(20) {
        query.conditions.push(scope.condition(random, 0));
    }
    query
}

/// What asks only for the values of first parts of an index.
pub fn skipping(random: &mut Random, tables: &Tables) -> Query {
    let table = tables.any(random).clone();
    let scope = Scope::of("a", &table);
    let mut query = Query { from: format!("{} a", table.name), ..Query::default() };
    let parts = first_parts(random, &table, &scope);
    query.conditions = conditions(random, &Scope { columns: parts.clone() }, &parts);
    let texts = |parts: &[Reference]| parts.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    match random.below(4) {
        0 => {
            query.distinct = true;
            query.items = texts(&parts);
        }
        1 => {
            query.groups = true;
            query.items = texts(&parts);
        }
        2 => {
            let own = random.choose(&parts).clone();
            query.aggregates.push(Aggregate { function: "COUNT", distinct: true, argument: own.text });
        }
        _ => {
            query.groups = true;
            query.items = texts(&parts[..parts.len() - 1]);
        }
    }
    let last = &parts[parts.len() - 1];
    if !query.distinct && last.family != 'e' {
        for function in random.some(&["MIN", "MAX"], 50) {
            query.aggregates.push(aggregate(function, &last.text));
        }
    }
    if query.items.is_empty() && query.aggregates.is_empty() {
        query.aggregates.push(Aggregate { function: "COUNT", distinct: true, argument: last.text.clone() });
    }
    query.groups &= !query.items.is_empty();
    if !query.items.is_empty() && random.percent(40) {
        query.order = (0..query.items.len()).map(|at| (at, random.percent(30))).collect();
        query.limit = random.percent(40).then(|| (random.between(1, 3), random.below(2)));
    }
    query
}

/// Rows, groups and aggregates of one or two tables.
pub fn anything(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 30);
    let mut query = plain(random, &from);
    query.conditions = (0..random.below(3)).map(|_| from.scope.condition(random, 1)).collect();
    if random.percent(40) {
        return query;
    }
    query.items = (0..random.below(2)).map(|_| from.scope.any(random).text.clone()).collect();
    query.groups = !query.items.is_empty();
    for _ in 0..random.between(1, 3) {
        let column = from.scope.any(random).clone();
        query.aggregates.push(match (random.below(4), column.family) {
            (0, _) => aggregate("COUNT", "*"),
            (1, 'i' | 'd') => aggregate("SUM", &column.text),
            (2, 'i' | 'd' | 's' | 'D' | 'S' | 'f') => extreme(random, &column.text),
            _ => aggregate("COUNT", &column.text),
        });
    }
    query
}
