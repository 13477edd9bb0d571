//! What is tested: rules of the optimizer with their switches, and for each of them queries that it changes. Main type: [`Rule`].

mod computed;
mod derived;
mod documents;
mod groups;
mod joins;
mod ranges;
mod subqueries;
mod views;
mod windows;

use crate::conditions::Scope;
use crate::query::Query;
use crate::random::Random;
use crate::tables::{Size, Table, Tables};

pub use views::make as views;

/// A rule.
pub struct Rule {
    /// Its name on the command line.
    pub name: &'static str,
    /// The variable that switches it, and its flag there.
    switch: (&'static str, &'static str),
    /// The tables that its queries want.
    pub size: Size,
    /// Makes a query for it.
    pub make: fn(&mut Random, &Tables) -> Query,
    /// What its plan says where the rule does something; empty: another one than without the rule.
    pub sign: &'static str,
}

/// The variable that has the switches of our own rules.
const OWN: &str = "iruka_optimizer_switch";

impl Rule {
    /// The statement that switches it off.
    pub fn off(&self) -> String {
        let (variable, flag) = self.switch;
        format!("SET {variable} = '{flag}=off'")
    }

    const fn own(
        name: &'static str,
        size: Size,
        make: fn(&mut Random, &Tables) -> Query,
        sign: &'static str,
    ) -> Rule {
        Rule { name, switch: (OWN, name), size, make, sign }
    }

    const fn of_mysql(
        name: &'static str,
        flag: &'static str,
        size: Size,
        make: fn(&mut Random, &Tables) -> Query,
    ) -> Rule {
        Rule { name, switch: ("optimizer_switch", flag), size, make, sign: "" }
    }

    /// One of ours by another name: queries of another kind.
    const fn of_ours(
        name: &'static str,
        flag: &'static str,
        make: fn(&mut Random, &Tables) -> Query,
        sign: &'static str,
    ) -> Rule {
        Rule { name, switch: (OWN, flag), size: Small, make, sign }
    }
}

use Size::{Medium, Repeating, Small};

/// All of them.
pub const RULES: &[Rule] = &[
    Rule::of_mysql("derived_merge", "derived_merge", Small, derived::merged),
    Rule::of_mysql("derived_condition_pushdown", "derived_condition_pushdown", Small, derived::grouped),
    Rule::of_mysql("semijoin", "semijoin", Small, subqueries::asked),
    Rule::of_mysql("first_match", "firstmatch", Small, subqueries::asked_of_joins),
    Rule::of_mysql("materialization", "materialization", Small, subqueries::values),
    Rule::own("idle_groups", Small, subqueries::idle_groups, ""),
    Rule::own("early_subqueries", Small, subqueries::scalar, "run only once"),
    Rule::own("grouped_subqueries", Small, subqueries::grouped, ""),
    Rule::own("or_factoring", Small, joins::alternatives, ""),
    Rule::own("equal_columns", Small, joins::equal_columns, ""),
    Rule::own("outer_to_inner", Small, joins::outer_to_inner, ""),
    Rule::own("null_antijoin", Small, joins::null_antijoin, ""),
    Rule::own("join_order", Small, joins::reordered, ""),
    Rule::of_mysql("hash_join", "block_nested_loop", Small, joins::hashed),
    Rule::own("hash_keys_at_scans", Small, joins::by_integers, "hash"),
    Rule::own("kept_slots", Small, joins::few_columns, "hash"),
    Rule::own("known_conditions", Small, ranges::known_conditions, ""),
    Rule::own("indexed_values", Small, computed::by_expression, ""),
    Rule::of_ours("generated_columns", "indexed_values", computed::generated, ""),
    Rule::of_ours("documents", "indexed_values", documents::asked, ""),
    Rule::of_mysql("views", "derived_merge", Small, views::asked),
    Rule::of_ours("windows", "fast_execution", windows::asked, "Window"),
    Rule::own("index_ranges", Small, ranges::by_index, ""),
    Rule::of_mysql("index_merge", "index_merge", Medium, ranges::union),
    Rule::own("index_order", Medium, ranges::ordered, ""),
    Rule::of_mysql("prefer_ordering_index", "prefer_ordering_index", Medium, ranges::ordered_join),
    Rule::own("min_max", Small, groups::extremes, ""),
    Rule::own("row_count", Small, groups::count_only, ""),
    Rule::of_mysql("skip_scan", "skip_scan", Repeating, groups::skipping),
    Rule::own("fast_execution", Small, groups::anything, "->"),
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
