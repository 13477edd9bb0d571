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
    let count = if random.percent(80) { 1 } else { 2 };
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
    if random.percent(50) {
        let number = random.between(0, 60);
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
    let conditions = random.below(2);
    in_order(random, &from, conditions)
}

/// The same with LIMIT, and with other tables of which each row has one at most.
pub fn ordered_join(random: &mut Random, tables: &Tables) -> Query {
    let mut from = joined(random, tables, 1, 0);
    for alias in ["b", "c"] {
        if random.percent(35) {
            let table = tables.any(random).clone();
            let word = *random.choose(&["JOIN", "LEFT JOIN"]);
            from.text = format!("{} {word} {} {alias} ON {alias}.id = a.i0", from.text, table.name);
            from.scope = from.scope.and(Scope::of(alias, &table));
        }
    }
    let conditions = usize::from(random.percent(30));
    let mut query = in_order(random, &from, conditions);
    query.limit = Some((random.between(1, 3), random.below(2)));
    query
}

fn in_order(random: &mut Random, from: &From, conditions: usize) -> Query {
    let (alias, table) = from.tables[0].clone();
    let own = Scope::of(alias, &table);
    let mut query = Query { items: vec!["a.id".to_owned()], from: from.text.clone(), ..Query::default() };
    let descends = random.percent(50);
    if random.percent(85) {
        let index = random.choose(&table.indexes).clone();
        // ENUM has the order of its members, but not what is made of it.
        let parts = parts(&table, &own, &index);
        for part in parts.into_iter().take_while(|part| part.family != 'e') {
            query.order.push((query.items.len(), descends ^ random.percent(4)));
            query.items.push(part.text.clone());
        }
    }
    query.order.push((0, descends));
    query.items.extend((0..random.below(2)).map(|_| from.scope.any(random).text.clone()));
    query.limit = random.percent(80).then(|| (random.between(0, 6), random.below(3)));
    for _ in 0..conditions {
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
