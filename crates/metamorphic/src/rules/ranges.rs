//! Conditions on indexed columns, and orders that an index has.

use super::{From, joined, plain};
use crate::conditions::{Reference, Scope, constant_condition};
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Table, Tables, literal};

/// The columns of an index of a table, by its number.
fn parts<'s>(table: &Table, scope: &'s Scope, index: &[&str]) -> Vec<&'s Reference> {
    let find = |part: &&str| {
        let name = part.split([' ', '(']).next().unwrap_or(part);
        let at = table.columns.iter().position(|column| column.name == name)?;
        scope.columns.get(at)
    };
    index.iter().filter_map(find).collect()
}

/// Conditions on first parts of an index.
fn on_index(random: &mut Random, table: &Table, scope: &Scope) -> String {
    let index = random.choose(&table.indexes).clone();
    let parts = parts(table, scope, &index);
    let count = random.between(1, parts.len());
    let terms: Vec<String> = parts[..count].iter().map(|part| constant_condition(random, part)).collect();
    format!("({})", terms.join(" AND "))
}

/// Ranges of indexes, beside other conditions, of one table or of joined ones.
pub fn by_index(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 30);
    let mut query = plain(random, &from);
    for (alias, table) in &from.tables {
        query.conditions.push(on_index(random, table, &Scope::of(alias, table)));
    }
    if random.percent(30) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    query
}

/// OR over several indexes.
pub fn union(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 30);
    let mut query = plain(random, &from);
    let (alias, table) = random.choose(&from.tables).clone();
    let own = Scope::of(alias, &table);
    let branches: Vec<String> = (0..random.between(2, 3)).map(|_| pointed(random, &table, &own)).collect();
    query.conditions.push(format!("({})", branches.join(" OR ")));
    if random.percent(40) {
        query.conditions.push(from.scope.condition(random, 1));
    }
    query
}

/// Conditions that leave few rows of an index, the primary key among them.
fn pointed(random: &mut Random, table: &Table, scope: &Scope) -> String {
    if random.percent(35) {
        let number = random.between(0, 30);
        return match random.percent(50) {
            true => format!("{} = {number}", scope.columns[0].text),
            false => format!("{0} BETWEEN {number} AND {1}", scope.columns[0].text, number + 2),
        };
    }
    let index = random.choose(&table.indexes).clone();
    let parts = parts(table, scope, &index);
    let term = |random: &mut Random, part: &Reference| match part.family {
        'e' => format!("{} IS NULL", part.text),
        family => format!("{} = {}", part.text, literal(random, family)),
    };
    let count = random.between(1, parts.len());
    let terms: Vec<String> = parts[..count].iter().map(|part| term(random, part)).collect();
    format!("({})", terms.join(" AND "))
}

/// The order of an index, with LIMIT or without.
pub fn ordered(random: &mut Random, tables: &Tables) -> Query {
    let from = joined(random, tables, 1, 0);
    in_order(random, &from)
}

/// The same below joins.
pub fn ordered_join(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 3);
    let from = joined(random, tables, count, 30);
    let mut query = in_order(random, &from);
    if random.percent(85) {
        query.limit = Some((random.between(1, 3), 0));
    }
    query
}

fn in_order(random: &mut Random, from: &From) -> Query {
    let (alias, table) = from.tables[0].clone();
    let own = Scope::of(alias, &table);
    let mut query = plain(random, from);
    let ids = query.items.len().min(from.tables.len());
    let index = random.choose(&table.indexes).clone();
    let descends = random.percent(50);
    let mut order = Vec::new();
    // ENUM has the order of its members, but not what is made of it.
    for part in parts(&table, &own, &index).into_iter().filter(|part| part.family != 'e') {
        order.push((query.items.len(), descends ^ random.percent(10)));
        query.items.push(part.text.clone());
    }
    if random.percent(20) {
        order.clear();
    }
    order.extend((0..ids).map(|at| (at, descends)));
    query.order = order;
    query.limit = random.percent(60).then(|| (random.between(0, 6), random.below(3)));
    for _ in 0..random.below(3) {
        let condition =
            if random.percent(50) { on_index(random, &table, &own) } else { from.scope.condition(random, 1) };
        query.conditions.push(condition);
    }
    query
}

/// Conditions whose truth is known before a row is read, among others.
pub fn known_conditions(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 40);
    let mut query = plain(random, &from);
    for _ in 0..random.between(1, 2) {
        let known = known(random, &from.scope);
        let other = from.scope.condition(random, 1);
        query.conditions.push(match random.below(4) {
            0 => known,
            1 => format!("({known} OR {other})"),
            2 => format!("({known} AND {other})"),
            _ => format!("NOT ({known} AND {other})"),
        });
    }
    query
}

fn known(random: &mut Random, scope: &Scope) -> String {
    let column = scope.any(random).clone();
    let one = &column.text;
    match random.below(6) {
        0 => (*random.choose(&["1 = 1", "1 = 2", "NULL", "'a' = 'A'", "2 > 1 AND NULL", "0", "NOT 0"]))
            .to_owned(),
        1 | 2 => format!("{one} {} {one}", random.choose(&["=", "<>", "<=>", "<", "<=", ">="])),
        3 if column.family == 'i' => {
            format!(
                "{one} {} {}",
                random.choose(&["<", ">", "=", "<>", "<=", ">="]),
                random.choose(&["-129", "256", "70000", "18446744073709551615", "-9223372036854775808"])
            )
        }
        _ => format!("{one} IS {}NULL", random.choose(&["", "NOT "])),
    }
}
