//! What is tested: rules of the optimizer with their switches, and for each of them queries that it changes. Main type: [`Rule`].

mod derived;
mod groups;
mod joins;
mod ranges;
mod subqueries;

use crate::conditions::Scope;
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Size, Table, Tables};

/// A rule.
pub struct Rule {
    /// Its name on the command line.
    pub name: &'static str,
    /// The statement that switches it off.
    pub off: &'static str,
    /// The tables that its queries want.
    pub size: Size,
    /// Makes a query for it.
    pub make: fn(&mut Random, &Tables) -> Query,
}

macro_rules! rule {
    ($name:literal, mysql $switch:literal, $size:ident, $make:path) => {
        Rule {
            name: $name,
            off: concat!("SET optimizer_switch = '", $switch, "=off'"),
            size: Size::$size,
            make: $make,
        }
    };
    ($name:literal, $size:ident, $make:path) => {
        Rule {
            name: $name,
            off: concat!("SET iruka_optimizer_switch = '", $name, "=off'"),
            size: Size::$size,
            make: $make,
        }
    };
}

/// All of them.
pub const RULES: &[Rule] = &[
    rule!("derived_merge", mysql "derived_merge", Small, derived::merged),
    rule!("derived_condition_pushdown", mysql "derived_condition_pushdown", Small, derived::grouped),
    rule!("semijoin", mysql "semijoin", Small, subqueries::asked),
    rule!("materialization", mysql "materialization", Small, subqueries::values),
    rule!("idle_groups", Small, subqueries::idle_groups),
    rule!("early_subqueries", Small, subqueries::scalar),
    rule!("or_factoring", Small, joins::alternatives),
    rule!("equal_columns", Small, joins::equal_columns),
    rule!("outer_to_inner", Small, joins::outer_to_inner),
    rule!("null_antijoin", Small, joins::null_antijoin),
    rule!("join_order", Small, joins::reordered),
    rule!("hash_join", mysql "block_nested_loop", Small, joins::hashed),
    rule!("hash_keys_at_scans", Small, joins::by_integers),
    rule!("kept_slots", Small, joins::few_columns),
    rule!("known_conditions", Small, ranges::known_conditions),
    rule!("index_ranges", Small, ranges::by_index),
    rule!("index_merge", mysql "index_merge", Small, ranges::union),
    rule!("index_order", Small, ranges::ordered),
    rule!("prefer_ordering_index", mysql "prefer_ordering_index", Small, ranges::ordered_join),
    rule!("min_max", Small, groups::extremes),
    rule!("row_count", Small, groups::count_only),
    rule!("skip_scan", mysql "skip_scan", Repeating, groups::skipping),
    rule!("fast_execution", Small, groups::anything),
];

/// FROM of some tables, and what is in scope.
struct From {
    text: String,
    scope: Scope,
    /// Alias and table of each.
    tables: Vec<(&'static str, Table)>,
}

const ALIASES: [&str; 4] = ["a", "b", "c", "d"];

/// Tables with inner joins, mostly on equalities, and with outer ones in so many of a hundred cases.
fn joined(random: &mut Random, tables: &Tables, count: usize, outer_percent: usize) -> From {
    let first = tables.any(random).clone();
    let mut from =
        From { text: format!("{} a", first.name), scope: Scope::of("a", &first), tables: vec![("a", first)] };
    for alias in &ALIASES[1..count.max(1)] {
        let table = tables.any(random).clone();
        let own = Scope::of(alias, &table);
        let mut on = from.scope.equality(random, &own);
        if random.percent(25) {
            on = format!("{on} AND {}", own.condition(random, 0));
        }
        let word = match random.percent(outer_percent) {
            true => *random.choose(&["LEFT JOIN", "LEFT JOIN", "RIGHT JOIN"]),
            false => "JOIN",
        };
        from.text = format!("{} {word} {} {alias} ON {on}", from.text, table.name);
        from.scope = from.scope.and(own);
        from.tables.push((alias, table));
    }
    from
}

/// Identities of the rows, so that answers tell them apart, and a column or two.
fn items(random: &mut Random, from: &From) -> Vec<String> {
    let mut items: Vec<String> = from.tables.iter().map(|(alias, _)| format!("{alias}.id")).collect();
    for _ in 0..random.below(3) {
        items.push(from.scope.any(random).text.clone());
    }
    items
}

/// A query of rows without conditions.
fn plain(random: &mut Random, from: &From) -> Query {
    let items = items(random, from);
    Query { items, from: from.text.clone(), ..Query::default() }
}
