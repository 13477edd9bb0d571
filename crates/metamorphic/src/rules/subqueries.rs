//! Subqueries in conditions.

use super::{From, joined, plain};
use crate::conditions::{Reference, Scope};
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Table, Tables};

/// FROM of one or two tables, with aliases of its own.
fn inner(random: &mut Random, tables: &Tables) -> (String, Scope) {
    let first = tables.any(random).clone();
    if random.percent(70) {
        return (format!("{} q", first.name), Scope::of("q", &first));
    }
    inner_join(random, tables, &first)
}

/// FROM of that table and another one.
fn inner_join(random: &mut Random, tables: &Tables, first: &Table) -> (String, Scope) {
    let scope = Scope::of("q", first);
    let second: Table = tables.any(random).clone();
    let own = Scope::of("r", &second);
    let on = scope.equality(random, &own);
    let word = *random.choose(&["JOIN", "JOIN", "LEFT JOIN"]);
    (format!("{} q {word} {} r ON {on}", first.name, second.name), scope.and(own))
}

/// Conditions of a subquery: on its rows, and sometimes on those around.
fn within(random: &mut Random, outer: &Scope, own: &Scope, depends_percent: usize) -> Vec<String> {
    let mut found = Vec::new();
    if random.percent(50) {
        found.push(own.condition(random, 1));
    }
    if random.percent(depends_percent) {
        found.push(own.equality(random, outer));
    }
    if random.percent(10) {
        let both = own.clone().and(outer.clone());
        found.push(both.condition(random, 0));
    }
    found
}

fn pair(random: &mut Random, outer: &Scope, own: &Scope) -> (Reference, Reference) {
    for _ in 0..8 {
        let column = outer.any(random);
        if let Some(other) = own.like(random, column.family) {
            return (column.clone(), other.clone());
        }
    }
    (outer.columns[0].clone(), own.columns[0].clone())
}

/// The same, of texts with one collation: which of several equal texts stands for a group matters beside another one.
fn exact_pair(random: &mut Random, outer: &Scope, own: &Scope) -> (Reference, Reference) {
    let (one, other) = pair(random, outer, own);
    match one.family == 's' && one.collation != other.collation {
        true => (outer.columns[0].clone(), own.columns[0].clone()),
        false => (one, other),
    }
}

fn where_of(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) }
}

/// Sometimes what the rows of a subquery are asked themselves: of a table in it, and of the rows around both.
fn nested(random: &mut Random, tables: &Tables, outer: &Scope, own: &Scope) -> Option<String> {
    if !random.percent(30) {
        return None;
    }
    let table = tables.any(random).clone();
    let innermost = (format!("{} n", table.name), Scope::of("n", &table));
    let around = if random.percent(25) { own.clone().and(outer.clone()) } else { own.clone() };
    Some(asked_row(random, &around, innermost, None))
}

/// IN, EXISTS or = ANY, or their negations.
fn membership(random: &mut Random, tables: &Tables, outer: &Scope, (from, own): (String, Scope)) -> String {
    let nested = nested(random, tables, outer, &own);
    asked_row(random, outer, (from, own), nested)
}

fn asked_row(
    random: &mut Random,
    outer: &Scope,
    (from, own): (String, Scope),
    nested: Option<String>,
) -> String {
    if random.percent(40) {
        let conditions = [within(random, outer, &own, 90), Vec::from_iter(nested)].concat();
        let conditions = where_of(&conditions);
        let distinct = if random.percent(10) { "DISTINCT " } else { "" };
        return format!(
            "{}EXISTS (SELECT {distinct}{} FROM {from}{conditions})",
            random.choose(&["", "NOT "]),
            own.columns[0].text
        );
    }
    let (column, shown) = pair(random, outer, &own);
    let conditions = [within(random, outer, &own, 25), Vec::from_iter(nested)].concat();
    let conditions = where_of(&conditions);
    if random.percent(15) {
        let (second, other) = pair(random, outer, &own);
        let word = *random.choose(&["IN", "IN", "NOT IN"]);
        return format!(
            "({}, {}) {word} (SELECT {}, {} FROM {from}{conditions})",
            column.text, second.text, shown.text, other.text
        );
    }
    let word = *random.choose(&["IN", "IN", "IN", "NOT IN", "= ANY", "<> ALL"]);
    format!("{} {word} (SELECT {} FROM {from}{conditions})", column.text, shown.text)
}

fn over(random: &mut Random, tables: &Tables) -> From {
    let count = random.between(1, 2);
    joined(random, tables, count, 25)
}

/// Conditions that ask for a row of a subquery, or for none.
pub fn asked(random: &mut Random, tables: &Tables) -> Query {
    asked_of(random, tables, inner)
}

/// The same of subqueries over two tables.
pub fn asked_of_joins(random: &mut Random, tables: &Tables) -> Query {
    asked_of(random, tables, |random, tables| {
        let first = tables.any(random).clone();
        inner_join(random, tables, &first)
    })
}

fn asked_of(
    random: &mut Random,
    tables: &Tables,
    inner: impl Fn(&mut Random, &Tables) -> (String, Scope),
) -> Query {
    let from = over(random, tables);
    let mut query = plain(random, &from);
    for _ in 0..random.between(1, 2) {
        let asked = inner(random, tables);
        query.conditions.push(membership(random, tables, &from.scope, asked));
    }
    if random.percent(50) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    random.shuffle(&mut query.conditions);
    query
}

/// IN over groups, or over few values.
pub fn values(random: &mut Random, tables: &Tables) -> Query {
    let from = over(random, tables);
    let mut query = plain(random, &from);
    let (inner, own) = inner(random, tables);
    let (column, shown) = exact_pair(random, &from.scope, &own);
    let mut conditions = Vec::new();
    if random.percent(60) {
        conditions.push(own.condition(random, 1));
    }
    let conditions = where_of(&conditions);
    let text = match random.below(4) {
        0 | 1 => {
            let having = *random.choose(&["", " HAVING COUNT(*) > 1", " HAVING COUNT(*) < 3"]);
            format!("SELECT {0} FROM {inner}{conditions} GROUP BY {0}{having}", shown.text)
        }
        2 => {
            let key = own.any(random).text.clone();
            let function = *random.choose(&["MIN", "MAX"]);
            let is_listed = shown.family == 'e';
            let shown = if is_listed { own.columns[0].text.clone() } else { shown.text.clone() };
            let column = if is_listed { "a.id" } else { &column.text };
            query.conditions.push(format!(
                "{column} IN (SELECT {function}({shown}) FROM {inner}{conditions} GROUP BY {key})"
            ));
            return query;
        }
        _ => format!("SELECT {} FROM {inner}{conditions}", shown.text),
    };
    query.conditions.push(format!("{} IN ({text})", column.text));
    if random.percent(40) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    query
}

/// EXISTS and IN over groups of which nothing is computed.
pub fn idle_groups(random: &mut Random, tables: &Tables) -> Query {
    let from = over(random, tables);
    let mut query = plain(random, &from);
    let (inner, own) = inner(random, tables);
    let conditions = where_of(&within(random, &from.scope, &own, 70));
    let not = *random.choose(&["", "NOT "]);
    query.conditions.push(match random.percent(50) {
        true => {
            let key = own.any(random).text.clone();
            format!("{not}EXISTS (SELECT {key} FROM {inner}{conditions} GROUP BY {key})")
        }
        false => {
            let (column, shown) = exact_pair(random, &from.scope, &own);
            format!("{} {not}IN (SELECT {1} FROM {inner}{conditions} GROUP BY {1})", column.text, shown.text)
        }
    });
    query
}

/// Columns compared with a value that a subquery gives, which asks nothing of the rows around.
pub fn scalar(random: &mut Random, tables: &Tables) -> Query {
    let from = over(random, tables);
    let mut query = plain(random, &from);
    let (inner, own) = inner(random, tables);
    let (column, shown) = exact_pair(random, &from.scope, &own);
    let conditions =
        if random.percent(60) { format!(" WHERE {}", own.condition(random, 0)) } else { String::new() };
    let shown = if shown.family == 'e' { "q.id".to_owned() } else { shown.text };
    let column = if column.family == 'e' { "a.id".to_owned() } else { column.text };
    let function = *random.choose(&["MIN", "MAX"]);
    let operator = *random.choose(&["=", "=", "<", ">", ">=", "<>"]);
    let value = format!("(SELECT {function}({shown}) FROM {inner}{conditions})");
    query.conditions.push(match random.below(5) {
        0 => format!("NOT EXISTS (SELECT 1 FROM {inner}{conditions})"),
        1 => format!("{column} BETWEEN {value} AND {value}"),
        _ => format!("{column} {operator} {value}"),
    });
    if random.percent(50) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    // MySQL shows types of kept columns by what it found; groups and orders keep them.
    if random.percent(40) {
        let ids: Vec<(usize, bool)> = (0..from.tables.len()).map(|at| (at, random.percent(50))).collect();
        query.order = ids;
    }
    query
}

/// Aggregates of the rows that are equal to the row around.
pub fn grouped(random: &mut Random, tables: &Tables) -> Query {
    let from = over(random, tables);
    let mut query = plain(random, &from);
    let (inner, own) = inner(random, tables);
    let mut conditions = vec![own.equality(random, &from.scope)];
    if random.percent(25) {
        conditions.push(own.equality(random, &from.scope));
    }
    if random.percent(40) {
        conditions.push(own.condition(random, 1));
    }
    random.shuffle(&mut conditions);
    let conditions = where_of(&conditions);
    let having = *random.choose(&["", "", "", " HAVING COUNT(*) > 1", " HAVING COUNT(*) <> 2"]);
    let (column, shown) = exact_pair(random, &from.scope, &own);
    let number = own.like(random, 'i').map_or("q.id".to_owned(), |column| column.text.clone());
    let counted = own.any(random).text.clone();
    let value = match random.below(7) {
        0 => "COUNT(*)".to_owned(),
        1 => format!("COUNT({counted})"),
        2 => format!("COUNT(DISTINCT {counted})"),
        3 => format!("NULLIF(MAX({number}), COUNT(*))"),
        4 => format!("MIN({number})"),
        5 => format!("COALESCE(MAX({number}), -1)"),
        _ => format!("2 * COUNT({counted}) + COUNT(*)"),
    };
    let operator = *random.choose(&["=", "<", ">", ">=", "<>", "<=>"]);
    let value = format!("(SELECT {value} FROM {inner}{conditions}{having})");
    let extreme = match shown.family {
        'e' => format!("(SELECT MIN(q.id) FROM {inner}{conditions}{having})"),
        _ => format!(
            "(SELECT {}({}) FROM {inner}{conditions}{having})",
            random.choose(&["MIN", "MAX"]),
            shown.text
        ),
    };
    let column = if shown.family == 'e' { "a.id".to_owned() } else { column.text };
    query.conditions.push(match random.below(6) {
        0 => format!("{value} IS NULL"),
        1 => format!("a.id % 8 < {value} OR {}", from.scope.condition(random, 0)),
        2 => format!("a.id % 8 {operator} {value}"),
        _ => format!("{column} {operator} {extreme}"),
    });
    if random.percent(25) {
        // What is shown is computed for fewer rows in one way to ask than in another: it must not fail.
        query.items.push(format!("(SELECT COUNT({counted}) FROM {inner}{conditions}{having})"));
    }
    if random.percent(40) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    random.shuffle(&mut query.conditions);
    query
}
