//! Queries in FROM.

use super::{From, joined};
use crate::conditions::{Reference, Scope};
use crate::query::Query;
use crate::random::Random;
use crate::tables::Tables;

/// A SELECT that shows a few columns and expressions, under a name, with what it shows.
pub(super) fn selecting(random: &mut Random, tables: &Tables, alias: &str) -> (String, Scope) {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 30);
    let mut shown = vec![Reference { text: "a.id".to_owned(), family: 'i', collation: "", nullable: true }];
    for _ in 0..random.between(1, 3) {
        shown.push(from.scope.any(random).clone());
    }
    if random.percent(30) {
        shown.push(computed(random, &from));
    }
    let condition = if random.percent(70) {
        format!(" WHERE {}", from.scope.condition(random, 1))
    } else {
        String::new()
    };
    named(&shown, alias, |list| format!("SELECT {list} FROM {}{condition}", from.text))
}

pub(super) fn named(shown: &[Reference], alias: &str, text: impl Fn(&str) -> String) -> (String, Scope) {
    let list: Vec<String> =
        shown.iter().enumerate().map(|(at, one)| format!("{} AS y{at}", one.text)).collect();
    let column = |(at, one): (usize, &Reference)| Reference { text: format!("{alias}.y{at}"), ..one.clone() };
    let scope = Scope { columns: shown.iter().enumerate().map(column).collect() };
    (text(&list.join(", ")), scope)
}

fn computed(random: &mut Random, from: &From) -> Reference {
    let one = from.scope.any(random).clone();
    let text = match one.family {
        'i' if random.percent(50) => format!("COALESCE({}, 3)", one.text),
        's' => format!("CONCAT({}, 'b')", one.text),
        'd' => format!("{} + 1", one.text),
        _ => {
            return Reference {
                text: format!("{} IS NULL", one.text),
                family: 'i',
                collation: "",
                nullable: false,
            };
        }
    };
    Reference { text, ..one }
}

/// Queries in FROM that only choose, join and compute; by themselves, joined, within others, and as common tables.
pub fn merged(random: &mut Random, tables: &Tables) -> Query {
    let (mut inner, mut scope) = selecting(random, tables, "e");
    if random.percent(25) {
        let shown: Vec<Reference> = scope.columns.clone();
        let condition = scope.condition(random, 0);
        let within = format!("({inner}) e");
        (inner, scope) = named(&shown, "e", |list| format!("SELECT {list} FROM {within} WHERE {condition}"));
    }
    let is_common = random.percent(30);
    let with = if is_common { format!("WITH w AS ({inner}) ") } else { String::new() };
    let derived = if is_common { "w e".to_owned() } else { format!("({inner}) e") };
    let mut from = derived.clone();
    if random.percent(60) {
        let table = tables.any(random).clone();
        let own = Scope::of("t", &table);
        let on = scope.equality(random, &own);
        let word = *random.choose(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        from = match random.percent(50) {
            true => format!("{derived} {word} {} t ON {on}", table.name),
            false => format!("{} t {word} {derived} ON {on}", table.name),
        };
        scope = scope.and(own);
    }
    if is_common && random.percent(30) {
        let second = Scope {
            columns: scope
                .columns
                .iter()
                .filter(|one| one.text.starts_with("e."))
                .map(|one| Reference { text: format!("g{}", &one.text[1..]), ..one.clone() })
                .collect(),
        };
        let on = scope.equality(random, &second);
        from = format!("{from} JOIN w g ON {on}");
        scope = scope.and(second);
    }
    let mut query = Query { with, from, ..Query::default() };
    query.items = scope.columns.iter().map(|one| one.text.clone()).collect();
    for _ in 0..random.between(1, 2) {
        query.conditions.push(scope.condition(random, 1));
    }
    query
}

/// Queries in FROM that group, leave out what is there already or are set operations, with conditions on their columns.
pub fn grouped(random: &mut Random, tables: &Tables) -> Query {
    let (text, scope) = match random.below(3) {
        0 => grouping(random, tables),
        1 => {
            let (inner, scope) = selecting(random, tables, "e");
            (inner.replacen("SELECT ", "SELECT DISTINCT ", 1), scope)
        }
        _ => united(random, tables),
    };
    let (with, mut from) = match random.percent(25) {
        true => (format!("WITH w AS ({text}) "), "w e".to_owned()),
        false => (String::new(), format!("({text}) e")),
    };
    let mut query = Query { with, reads_groups: true, ..Query::default() };
    query.items = scope.columns.iter().map(|one| one.text.clone()).collect();
    query.conditions = (0..random.between(1, 2)).map(|_| scope.with_constants(random)).collect();
    let mut all = scope.clone();
    if random.percent(35) {
        let table = tables.any(random).clone();
        let own = Scope::of("t", &table);
        // A text of another collation may be equal to one of those that were put together, and not to another.
        let exact =
            Scope { columns: scope.columns.iter().filter(|one| one.family != 's').cloned().collect() };
        let on = exact.equality(random, &own);
        let word = *random.choose(&["JOIN", "LEFT JOIN"]);
        from = format!("{} {word} {} t ON {on}", from, table.name);
        query.items.push("t.id".to_owned());
        all = scope.and(own);
    }
    if random.percent(30) {
        let exact = Scope { columns: all.columns.into_iter().filter(|one| one.family != 's').collect() };
        query.conditions.push(exact.condition(random, 1));
    }
    Query { from, ..query }
}

pub(super) fn grouping(random: &mut Random, tables: &Tables) -> (String, Scope) {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 20);
    let keys: Vec<Reference> = (0..random.between(1, 2)).map(|_| from.scope.any(random).clone()).collect();
    let list: Vec<String> = keys.iter().map(|key| key.text.clone()).collect();
    let number = Reference { text: "COUNT(*)".to_owned(), family: 'i', collation: "", nullable: false };
    let shown: Vec<Reference> = keys.iter().cloned().chain([number]).collect();
    let condition = if random.percent(40) {
        format!(" WHERE {}", from.scope.condition(random, 0))
    } else {
        String::new()
    };
    let having = if random.percent(30) { " HAVING COUNT(*) > 1" } else { "" };
    named(&shown, "e", |shown| {
        format!("SELECT {shown} FROM {}{condition} GROUP BY {}{having}", from.text, list.join(", "))
    })
}

pub(super) fn united(random: &mut Random, tables: &Tables) -> (String, Scope) {
    let (first, second) = (tables.any(random).clone(), tables.any(random).clone());
    let (left, right) = (Scope::of("a", &first), Scope::of("a", &second));
    let mut pairs = Vec::new();
    for _ in 0..random.between(1, 3) {
        let one = left.any(random).clone();
        let same: Vec<&Reference> = right.columns.iter().filter(|other| other.family == one.family).collect();
        if !same.is_empty() {
            pairs.push((one, (*random.choose(&same)).clone()));
        }
    }
    pairs.push((left.columns[0].clone(), right.columns[0].clone()));
    let mut list = |pick: fn(&(Reference, Reference)) -> &Reference, scope: &Scope, table: &str| {
        let shown: Vec<String> =
            pairs.iter().enumerate().map(|(at, pair)| format!("{} AS y{at}", pick(pair).text)).collect();
        let condition =
            if random.percent(40) { format!(" WHERE {}", scope.condition(random, 0)) } else { String::new() };
        format!("SELECT {} FROM {table} a{condition}", shown.join(", "))
    };
    let (left, right) = (list(|pair| &pair.0, &left, first.name), list(|pair| &pair.1, &right, second.name));
    let word = *random.choose(&["UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT"]);
    let column = |(at, pair): (usize, &(Reference, Reference))| Reference {
        text: format!("e.y{at}"),
        ..pair.0.clone()
    };
    (format!("{left} {word} {right}"), Scope { columns: pairs.iter().enumerate().map(column).collect() })
}
