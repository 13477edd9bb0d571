//! Views: of one table and of several, grouped, of set operations, and over other views.

use super::derived::{grouping, named, selecting, united};
use crate::conditions::{Reference, Scope};
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Tables, VIEWS, View};

/// Makes the views of some tables.
pub fn make(random: &mut Random, tables: &mut Tables) {
    for name in VIEWS {
        let ((query, scope), groups) = match random.below(6) {
            0 => (grouping(random, tables), true),
            1 => (united(random, tables), true),
            2 if !tables.views.is_empty() => over_view(random, tables),
            _ => (selecting(random, tables, "e"), false),
        };
        tables.views.push(View { name, query, scope, groups });
    }
}

/// What a condition leaves of another view.
fn over_view(random: &mut Random, tables: &Tables) -> ((String, Scope), bool) {
    let view = random.choose(&tables.views).clone();
    let condition = view.scope.with_constants(random);
    let from = format!("{} e WHERE {condition}", view.name);
    (named(&view.scope.columns, "e", |list| format!("SELECT {list} FROM {from}")), view.groups)
}

/// A view by itself or joined, with conditions on what it shows.
pub fn asked(random: &mut Random, tables: &Tables) -> Query {
    let view = random.choose(&tables.views).clone();
    let mut query = Query { from: format!("{} e", view.name), reads_groups: view.groups, ..Query::default() };
    query.items = view.scope.columns.iter().map(|one| one.text.clone()).collect();
    query.conditions = (0..random.between(1, 2)).map(|_| view.scope.with_constants(random)).collect();
    let mut all = view.scope.clone();
    // A text of another collation may be equal to one of those that were put together, and not to another.
    let exact = |scope: Scope| Scope {
        columns: scope.columns.into_iter().filter(|one| !view.groups || one.family != 's').collect(),
    };
    if random.percent(45) {
        let (table, own) = match random.percent(30) {
            true => {
                let other = random.choose(&tables.views).clone();
                query.reads_groups |= other.groups;
                (other.name, renamed(&other.scope, "t"))
            }
            false => {
                let table = tables.any(random);
                (table.name, Scope::of("t", table))
            }
        };
        let own = exact(own);
        let on = exact(all.clone()).equality(random, &own);
        let word = *random.choose(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        query.from = format!("{} {word} {table} t ON {on}", query.from);
        query.items.push(own.columns[0].text.clone());
        all = all.and(own);
    }
    if random.percent(30) {
        query.conditions.push(exact(all).condition(random, 1));
    }
    query
}

fn renamed(scope: &Scope, alias: &str) -> Scope {
    let renamed = |one: &Reference| Reference { text: format!("{alias}{}", &one.text[1..]), ..one.clone() };
    Scope { columns: scope.columns.iter().map(renamed).collect() }
}
