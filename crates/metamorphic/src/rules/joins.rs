//! Joins.

use super::{From, joined, plain};
use crate::conditions::{Scope, are_alike, constant_condition};
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Tables, literal};

/// OR whose alternatives have a condition in common, or each say something of one table.
pub fn alternatives(random: &mut Random, tables: &Tables) -> Query {
    let (first, second) = (tables.any(random).clone(), tables.any(random).clone());
    let (left, right) = (Scope::of("a", &first), Scope::of("b", &second));
    let scope = left.clone().and(right.clone());
    let common = if random.percent(70) { left.equality(random, &right) } else { scope.condition(random, 0) };
    let mut branches = Vec::new();
    for _ in 0..random.between(2, 3) {
        let mut terms = vec![common.clone()];
        if random.percent(4) {
            terms.clear();
        }
        terms.push(left.with_constants(random));
        if random.percent(80) {
            terms.push(right.with_constants(random));
        }
        if random.percent(10) {
            terms.truncate(1);
        }
        random.shuffle(&mut terms);
        branches.push(format!("({})", terms.join(" AND ")));
    }
    let condition = format!("({})", branches.join(" OR "));
    let mut query = Query { items: vec!["a.id".to_owned(), "b.id".to_owned()], ..Query::default() };
    query.from = match random.below(4) {
        0 => {
            query.conditions.push(scope.condition(random, 0));
            format!("{} a LEFT JOIN {} b ON {condition}", first.name, second.name)
        }
        1 => format!("{} a JOIN {} b ON {condition}", first.name, second.name),
        _ => {
            query.conditions.push(condition);
            format!("{} a JOIN {} b", first.name, second.name)
        }
    };
    if random.percent(30) {
        query.conditions.push(scope.condition(random, 0));
    }
    query
}

/// Columns of several tables that are equal, with conditions on one or two of them.
pub fn equal_columns(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(2, 4);
    let mut from = joined(random, tables, 1, 0);
    let mut chain = vec![from.scope.any(random).clone()];
    for alias in &super::ALIASES[1..count] {
        let table = tables.any(random).clone();
        let own = Scope::of(alias, &table);
        let before = random.choose(&chain).clone();
        let Some(column) = own.like(random, before.family).cloned() else { continue };
        let word = if random.percent(15) { "LEFT JOIN" } else { "JOIN" };
        from.text =
            format!("{} {word} {} {alias} ON {} = {}", from.text, table.name, before.text, column.text);
        from.scope = from.scope.and(own);
        from.tables.push((alias, table));
        chain.push(column);
    }
    let mut query = plain(random, &from);
    for _ in 0..random.between(1, 2) {
        let column = random.choose(&chain).clone();
        query.conditions.push(constant_condition(random, &column));
    }
    if random.percent(30) {
        let (one, other) = (random.choose(&chain).clone(), random.choose(&chain).clone());
        query.conditions.push(format!("{} = {}", one.text, other.text));
    }
    if random.percent(30) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    query
}

/// Outer joins below conditions that no missing row meets.
pub fn outer_to_inner(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(2, 3);
    let from = joined(random, tables, count, 90);
    let mut query = plain(random, &from);
    for (alias, table) in &from.tables {
        if random.percent(60) {
            let own = Scope::of(alias, table);
            let condition = match random.percent(70) {
                true => own.with_constants(random),
                false => own.condition(random, 1),
            };
            query.conditions.push(condition);
        }
    }
    if query.conditions.is_empty() {
        query.conditions.push(from.scope.condition(random, 1));
    }
    query
}

/// Outer joins of which only the rows without a match are wanted.
pub fn null_antijoin(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let mut from = joined(random, tables, count, 20);
    let table = tables.any(random).clone();
    let own = Scope::of("z", &table);
    let mut on = vec![from.scope.equality(random, &own)];
    if random.percent(40) {
        on.push(own.condition(random, 1));
    }
    from.text = format!("{} LEFT JOIN {} z ON {}", from.text, table.name, on.join(" AND "));
    let mut query = plain(random, &from);
    let declared: Vec<&str> = own
        .columns
        .iter()
        .filter(|one| !one.nullable && !matches!(one.family, 'D' | 'S'))
        .map(|one| one.text.as_str())
        .collect();
    query.conditions.push(format!("{} IS NULL", random.choose(&declared)));
    if random.percent(50) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    if random.percent(15) {
        query.conditions.push(own.condition(random, 0));
    }
    query
}

/// Three or four tables in an order that is not the best.
pub fn reordered(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(2, 4);
    let from = joined(random, tables, count, 20);
    let mut query = plain(random, &from);
    query.conditions.push(from.scope.condition(random, 1));
    if let Some((alias, table)) = from.tables.last() {
        query.conditions.push(Scope::of(alias, table).with_constants(random));
    }
    query
}

/// Keys of all types, alike and not.
fn keyed(random: &mut Random, tables: &Tables, families: &[char]) -> From {
    let count = random.between(2, 3);
    let mut from = joined(random, tables, 1, 0);
    for alias in &super::ALIASES[1..count] {
        let table = tables.any(random).clone();
        let own = Scope::of(alias, &table);
        let mut on = Vec::new();
        for _ in 0..random.between(1, 2) {
            let column = from.scope.any(random).clone();
            let fits = |family: char| families.is_empty() || families.contains(&family);
            let others: Vec<_> = own
                .columns
                .iter()
                .filter(|one| are_alike(one.family, column.family) && fits(one.family))
                .collect();
            if fits(column.family) && !others.is_empty() {
                let operator = if random.percent(20) && families.is_empty() { "<=>" } else { "=" };
                on.push(format!("{} {operator} {}", column.text, random.choose(&others).text));
            }
        }
        if on.is_empty() {
            on.push(format!("a.i0 = {alias}.i0"));
        }
        let word = *random.choose(&["JOIN", "JOIN", "LEFT JOIN"]);
        from.text = format!("{} {word} {} {alias} ON {}", from.text, table.name, on.join(" AND "));
        from.scope = from.scope.and(own);
        from.tables.push((alias, table));
    }
    from
}

/// Equalities that become keys of hash joins.
pub fn hashed(random: &mut Random, tables: &Tables) -> Query {
    let from = keyed(random, tables, &[]);
    plain(random, &from).with_condition(from.scope.condition(random, 1))
}

/// Joins on integers with conditions on the kept side.
pub fn by_integers(random: &mut Random, tables: &Tables) -> Query {
    let from = keyed(random, tables, &['i']);
    let mut query = plain(random, &from);
    query.conditions.push(from.scope.condition(random, 1));
    if random.percent(50) {
        query.conditions.push(format!("b.i0 > {}", literal(random, 'i')));
    }
    query
}

/// Joins of which little is read.
pub fn few_columns(random: &mut Random, tables: &Tables) -> Query {
    let from = keyed(random, tables, &[]);
    let mut query = plain(random, &from);
    query.items = (0..random.between(1, 2)).map(|_| from.scope.any(random).text.clone()).collect();
    if random.percent(30) {
        query.distinct = true;
    }
    query.with_condition(from.scope.condition(random, 1))
}
