//! What of a query's rows is known before it runs: MySQL reads the tables that a unique key leaves one row of while it
//! optimises, and finds out which conditions on an index no key meets. What is computed of such rows alone needs no
//! temporary table, which clients see in the types of columns. Main function: [`known_rows`].

use super::access::Candidate;
use super::early_subquery::run_early;
use super::join_buffer::ways_by_index;
use super::known_values::{KnownValues, contradict_in_index, keep_row, ranges_of};
use super::range_choice::{ChosenRange, chosen_range};
use super::subquery_ways::{SubqueryWay, way_of_subquery};
use crate::{
    Block, Derived, JoinTree, Optimizer, Source, Survey, fails, implied_by_subqueries, is_known, is_never,
    tables_of,
};
use engine::Table;
use errors::SqlResult;
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind, TypeClass};
use plan::physical::{AccessPath, KeyCondition};
use std::borrow::Cow;
use std::sync::Arc;
use values::{TypeKind, Value};

/// What is known before the query runs.
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    /// No row comes out of the joins.
    pub none: bool,
    /// Because no key of an index meets the conditions on a table, or a unique key has no row.
    pub has_no_keys: bool,
    /// Tables that give one row, or in an outer join none, as bits.
    pub fixed: u64,
    /// Those of them that an outer join never finds a row of: a temporary table keeps their columns nevertheless.
    pub missing: u64,
    /// Tables that are looked up by an index for each row of those before, with these as bits.
    pub by_index: Vec<(usize, u64)>,
    /// Slots of columns that WHERE sets equal to constants.
    pub equal: Vec<usize>,
    /// Conditions that ask for a row of a subquery, or for none, whose rows are read first or in the join buffer.
    pub semijoins: usize,
    /// Conditions that ask for a row of a subquery that is looked up, or that there is none.
    pub lookups: usize,
    /// Tables whose rows may be missing, as bits.
    pub optional: u64,
    /// Whether a condition is that a subquery has no row, which MySQL makes an outer join.
    pub has_antijoin: bool,
    /// What is computed of known rows alone, and is known as a constant before rows go to a temporary table.
    pub settled: Vec<Expression>,
    /// The range by which the only table is read whose rows are not known.
    pub range: Option<ChosenRange>,
}

/// How many rows of a table conditions leave.
enum Left {
    /// None, whatever rows there are: no key of an index meets the conditions.
    Impossible,
    /// The one that a unique key could have is not there.
    Missing,
    /// One at most, found by that path of a base table.
    One(Option<AccessPath>),
    Unknown,
}

/// What keys a condition on years leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum YearKeys {
    None,
    All,
}

/// A table with the conditions that its rows must meet to be joined.
struct Joined<'t> {
    table: usize,
    conditions: Vec<&'t Expression>,
    /// Whether rows without one of this table's come out nevertheless.
    optional: bool,
    /// Behind an outer join: the tables of its outer side that its condition reads, or all of them.
    needs: u64,
    /// Whether it is all of the inner side of an outer join that is on the inner side of no other.
    is_whole_side: bool,
}

impl KnownRows {
    fn count_subquery(&mut self, way: SubqueryWay) {
        match way {
            SubqueryWay::Nowhere => self.none = true,
            SubqueryWay::ReadFirst { .. } => self.semijoins += 1,
            SubqueryWay::LookedUp { .. } => self.lookups += 1,
        }
        self.has_antijoin |=
            matches!(way, SubqueryWay::ReadFirst { negated: true } | SubqueryWay::LookedUp { negated: true });
    }

    /// Whether all other open tables are looked up by an index, one after the other, once the first is read.
    pub fn looks_up_all(&self, open: u64, first: u64) -> bool {
        let mut placed = first | !open;
        loop {
            let free = self.by_index.iter().filter(|(table, _)| placed >> table & 1 == 0);
            let next = free.into_iter().find(|(_, before)| before & !placed == 0);
            match next {
                Some((table, _)) => placed |= 1 << table,
                None => return placed == u64::MAX,
            }
        }
    }
}

/// What is known of the rows of FROM and WHERE, whose conditions are settled. `reads`: rows of unique keys are read, and the
/// plan is one for this execution then; `sorts`: rows are sorted.
pub fn known_rows(
    survey: &mut Survey<'_>,
    tree: Option<&JoinTree>,
    conditions: &[Expression],
    (reads, sorts): (bool, bool),
) -> SqlResult<KnownRows> {
    let mut known = KnownRows::default();
    let Some(tree) = tree else { return Ok(known) };
    for condition in conditions {
        let Some(way) = way_of_subquery(survey, condition, conditions, sorts) else { continue };
        known.count_subquery(way);
    }
    let mut tables = Vec::new();
    let implied = implied_by_subqueries(survey.subqueries, survey.facts, conditions);
    let filters: Vec<&Expression> = conditions.iter().chain(&implied).collect();
    collect(survey.optimizer.block, tree, &filters, (false, 0), &mut tables);
    let optional = tables.iter().filter(|joined| joined.optional);
    known.optional = optional.fold(0, |bits, joined| bits | 1 << joined.table);
    known.equal.extend(conditions.iter().filter_map(slot_of_equality));
    for joined in tables.iter().filter(|joined| !joined.optional) {
        known.equal.extend(joined.conditions.iter().filter_map(|condition| slot_of_equality(condition)));
    }
    let mut rows = KnownValues::new(reads);
    look_at_all(survey, &tables, &mut known, &mut rows);
    // MySQL runs no subquery for a table that it found to have no row.
    if reads && !known.none && run_all_early(survey, &tables, &mut rows)? {
        known.by_index.clear();
        look_at_all(survey, &tables, &mut known, &mut rows);
    }
    let mut open = tables.iter().filter(|joined| known.fixed & 1 << joined.table == 0);
    if let (true, Some(only), None) = (reads, open.next(), open.next()) {
        known.range = chosen_range(&mut survey.optimizer, only.table, &only.conditions);
    }
    for joined in tables.iter().filter(|_| tables.len() > 1) {
        let ways = ways_by_index(
            survey.optimizer.block,
            joined.table,
            &joined.conditions,
            known.fixed,
            joined.optional,
        );
        known.by_index.extend(ways.into_iter().map(|before| (joined.table, before)));
    }
    Ok(known)
}

/// Tables of which a unique key leaves one row at most, by constants or by rows of such tables, as bits.
pub fn constant_tables(optimizer: &mut Optimizer<'_>, tree: &JoinTree, conditions: &[Expression]) -> u64 {
    let mut tables = Vec::new();
    let filters: Vec<&Expression> = conditions.iter().collect();
    collect(optimizer.block, tree, &filters, (false, 0), &mut tables);
    let mut found = 0;
    loop {
        let before = found;
        for joined in tables.iter().filter(|joined| joined.needs & !before == 0) {
            let candidates = optimizer.candidates(joined.table, &joined.conditions, found);
            if candidates.iter().any(|candidate| candidate.path.single_row) {
                found |= 1 << joined.table;
            }
        }
        if found == before {
            return found;
        }
    }
}

/// Runs the subqueries whose values say which keys tables are asked for. Whether there are any.
fn run_all_early(survey: &mut Survey<'_>, tables: &[Joined<'_>], rows: &mut KnownValues) -> SqlResult<bool> {
    let before = rows.subquery_count();
    for joined in tables {
        for condition in &joined.conditions {
            run_early(survey, joined.table, condition, rows)?;
        }
    }
    Ok(rows.subquery_count() > before)
}

/// Finds out what of the rows of all tables is known: what is known of one may say what is of another.
fn look_at_all(
    survey: &mut Survey<'_>,
    tables: &[Joined<'_>],
    known: &mut KnownRows,
    rows: &mut KnownValues,
) {
    loop {
        let before = known.fixed;
        for joined in tables {
            if known.fixed & 1 << joined.table == 0 {
                look_at(survey, joined, known, rows);
            }
        }
        if known.none || known.fixed == before || tables.len() == 1 {
            break;
        }
    }
}

/// Finds out what of a table's rows is known, with the values of those that are.
fn look_at(survey: &mut Survey<'_>, joined: &Joined<'_>, known: &mut KnownRows, rows: &mut KnownValues) {
    let mut conditions = Vec::new();
    for condition in &joined.conditions {
        let condition = rows.put_into(condition);
        let is_changed = matches!(condition, Cow::Owned(_)) && !joined.optional;
        let fails = is_never(condition.as_ref())
            || is_changed && is_known(&condition) && fails(&condition, survey.optimizer.context);
        if fails {
            match joined.optional {
                true => {
                    known.fixed |= 1 << joined.table;
                    known.missing |= 1 << joined.table;
                }
                false => known.none = true,
            }
            return;
        }
        conditions.push(condition);
    }
    let conditions: Vec<&Expression> = conditions.iter().map(Cow::as_ref).collect();
    let left = rows_left(&mut survey.optimizer, joined, &conditions);
    match (&left, joined.optional) {
        (Left::Unknown, _) => return,
        (Left::Impossible | Left::Missing, false) => {
            known.none = true;
            known.has_no_keys = true;
            return;
        }
        // MySQL reads a row of the inner side beforehand only where those of the outer side are known.
        (Left::Missing | Left::One(_), true) if joined.needs & !known.fixed != 0 => {
            known.by_index.push((joined.table, 0));
            return;
        }
        (Left::Impossible, true) if joined.is_whole_side => {
            known.fixed |= 1 << joined.table;
            known.missing |= 1 << joined.table;
            return;
        }
        (Left::Impossible, true) => return,
        _ => {}
    }
    known.fixed |= 1 << joined.table;
    match left {
        Left::One(None) => {}
        Left::One(path) => keep_row(survey, joined.table, path.as_ref(), rows),
        _ => keep_row(survey, joined.table, None, rows),
    }
}

fn rows_left(optimizer: &mut Optimizer<'_>, joined: &Joined<'_>, conditions: &[&Expression]) -> Left {
    let number = joined.table;
    let table = match &optimizer.block.tables[number].source {
        Source::Base(table) => table.clone(),
        Source::Derived(Derived::Planned(query), _)
            if query.root.is_one_row() && optimizer.block.tables[number].reads.is_empty() =>
        {
            return Left::One(None);
        }
        _ => return Left::Unknown,
    };
    if conditions.iter().any(|condition| looks_for_null_in_key(optimizer.block, number, &table, condition)) {
        return if joined.optional { Left::Unknown } else { Left::Impossible };
    }
    if conditions.iter().any(|condition| stores_years(condition)) {
        return Left::Unknown;
    }
    if conditions
        .iter()
        .any(|condition| asks_years(optimizer.block, number, condition) == Some(YearKeys::None))
    {
        return Left::Impossible;
    }
    let is_asked =
        |condition: &&&Expression| asks_years(optimizer.block, number, condition) != Some(YearKeys::All);
    let conditions: Vec<&Expression> = conditions.iter().filter(is_asked).copied().collect();
    let conditions = conditions.as_slice();
    if contradict_in_index(optimizer, number, &table, conditions) {
        return Left::Impossible;
    }
    let mut candidates = optimizer.candidates(number, conditions, 0);
    if conditions.len() > 1 {
        for condition in conditions {
            candidates.extend(optimizer.candidates(number, &[condition], 0));
        }
    }
    let mut left = Left::Unknown;
    for candidate in candidates {
        match rows_of_path(optimizer, &table, &candidate) {
            Left::Unknown => {}
            Left::One(path) => left = Left::One(path),
            none => return none,
        }
    }
    left
}

/// What keys a condition on a YEAR column that an index begins with leaves, where it compares with what is no year: MySQL
/// stores the bounds of a range as years.
fn asks_years(block: &Block, number: usize, condition: &Expression) -> Option<YearKeys> {
    let is_key = |operand: &Expression| {
        let (table, column) = block.place(operand)?;
        let Source::Base(base) = &block.tables[table].source else { return None };
        let begins = |index: &dictionary::IndexDefinition| {
            !index.invisible && index.parts.first().is_some_and(|part| part.column == column)
        };
        let is_year = operand.result.kind() == TypeKind::Year;
        (table == number && is_year && base.definition().indexes.iter().any(begins)).then_some(())
    };
    match &condition.kind {
        ExpressionKind::Compare(comparison) => {
            use ComparisonOperator::{Greater, GreaterOrEqual, Less, LessOrEqual};
            is_key(&comparison.left)?;
            match (comparison.operator, is_year(&comparison.right)?) {
                (Less | LessOrEqual, false) => Some(YearKeys::None),
                (Greater | GreaterOrEqual, false) => Some(YearKeys::All),
                _ => None,
            }
        }
        ExpressionKind::Between(between) if !between.negated => {
            is_key(&between.operand)?;
            match (is_year(&between.low.1)?, is_year(&between.high.1)?) {
                (false, _) => Some(YearKeys::All),
                (true, false) => Some(YearKeys::None),
                (true, true) => None,
            }
        }
        _ => None,
    }
}

/// Whether it is IS NULL of a column without NULL that an index begins with. Conditions are settled; those of WITH ROLLUP keep it.
fn looks_for_null_in_key(block: &Block, number: usize, table: &Table, condition: &Expression) -> bool {
    let ExpressionKind::IsNull(operand) = &condition.kind else { return false };
    let Some((_, column)) = block.place(operand).filter(|(found, _)| *found == number) else {
        return false;
    };
    let definition = table.definition();
    let begins = |index: &dictionary::IndexDefinition| {
        !index.invisible && index.parts.first().is_some_and(|part| part.column == column)
    };
    definition.columns.get(column).is_some_and(|column| !column.nullable)
        && definition.indexes.iter().any(begins)
}

fn rows_of_path(optimizer: &mut Optimizer<'_>, table: &Arc<Table>, candidate: &Candidate) -> Left {
    let path = &candidate.path;
    if candidate.dependent || path.ranges.is_none() {
        return Left::Unknown;
    }
    let Some(ranges) = ranges_of(optimizer, table, path) else { return Left::Unknown };
    let is_point = path.single_row || table.indexes()[path.index].is_unique() && is_one_value(candidate);
    match ranges.as_slice() {
        [] => Left::Impossible,
        [range] if is_point => match optimizer.engine.estimate_range(table, path.index, range.clone()) {
            Ok(0) => Left::Missing,
            Ok(_) => Left::One(Some(path.clone())),
            Err(_) => Left::Unknown,
        },
        _ => Left::Unknown,
    }
}

/// The slot of the column that a condition sets equal to a constant.
fn slot_of_equality(condition: &Expression) -> Option<usize> {
    let constant = |column: &Expression, other: &Expression| {
        column.column_slot().filter(|_| other.is_constant() && column.result.class() != TypeClass::Text)
    };
    match &condition.kind {
        ExpressionKind::IsNull(column) => column.column_slot(),
        ExpressionKind::Compare(comparison)
            if matches!(
                comparison.operator,
                ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual
            ) =>
        {
            let (left, right) = (&comparison.left, &comparison.right);
            constant(left, right).or_else(|| constant(right, left))
        }
        ExpressionKind::Between(between) if !between.negated && between.low.1.same(&between.high.1) => {
            constant(&between.operand, &between.low.1)
        }
        _ => None,
    }
}

/// Whether a number up to the greatest year is one, or two digits that stand for one; None for all others.
fn is_year(value: &Expression) -> Option<bool> {
    match value.literal()? {
        Value::Int(number @ 0..=2155) => Some(!(100..=1900).contains(number)),
        _ => None,
    }
}

/// Whether it is IN with numbers of two digits that a YEAR column would store as years, which are looked up in its index, though
/// no year is equal to them.
fn stores_years(condition: &Expression) -> bool {
    let ExpressionKind::In(list) = &condition.kind else { return false };
    let is_short = |member: &Expression| matches!(member.literal(), Some(Value::Int(1..=99)));
    !list.negated
        && list.operand.result.kind() == TypeKind::Year
        && list.list.iter().any(|(_, member)| is_short(member))
}

/// Whether the ranges are one whose bounds are the same value of the index's only part.
fn is_one_value(candidate: &Candidate) -> bool {
    let Some([conditions]) = candidate.path.ranges.as_deref() else { return false };
    match conditions.as_slice() {
        [KeyCondition::Range { low: Some((low, true)), high: Some((high, true)) }] => low.same(high),
        _ => false,
    }
}

/// Gathers the tables below a node. `filters` hold for all rows that come out of the node; `needs`: see [`Joined::needs`].
fn collect<'t>(
    block: &Block,
    tree: &'t JoinTree,
    filters: &[&'t Expression],
    (optional, needs): (bool, u64),
    found: &mut Vec<Joined<'t>>,
) {
    match tree {
        JoinTree::Table(table) => {
            let conditions = filters.to_vec();
            found.push(Joined { table: *table, conditions, optional, needs, is_whole_side: false });
        }
        JoinTree::Join { left, right, outer: true, conditions, .. } => {
            collect(block, left, filters, (optional, needs), found);
            let read = conditions.iter().fold(0, |bits, condition| bits | tables_of(block, condition));
            let outer_side = left.tables();
            let needs = needs | if read & outer_side == 0 { outer_side } else { read & outer_side };
            collect(block, right, &conditions.iter().collect::<Vec<_>>(), (true, needs), found);
            if let (JoinTree::Table(_), Some(last)) = (&**right, found.last_mut()) {
                last.is_whole_side = !optional;
            }
        }
        JoinTree::Join { left, right, conditions, .. } => {
            let both: Vec<&Expression> = filters.iter().copied().chain(conditions).collect();
            collect(block, left, &both, (optional, needs), found);
            collect(block, right, &both, (optional, needs), found);
        }
    }
}
