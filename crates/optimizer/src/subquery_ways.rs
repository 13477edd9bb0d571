//! How MySQL finds the rows of a subquery that a condition asks for: it joins them with those of the query. Main function:
//! [`way_of_subquery`].
//!
//! What it comes to shows in the types of columns, so its choice is computed as it does, with its costs for tables in memory:
//! a page 0.25, a row 0.1, a temporary table 1 and 0.1 for each row that is written to it or looked up in it. Tables of a page
//! are meant; where there are more, the rows decide anyway. Tables are tried as the first one in the order of their rows, and one
//! that has more rows than one before it and costs more is not tried, unless rows are sorted by it. Checked with all sizes from
//! 1 to 12 rows on either side.

use super::access::{plain_index, selectivity};
use crate::{Block, Optimizer, Source, Survey};
use engine::{Engine, Table};
use expression::operators::{Comparison, ComparisonOperator};
use expression::{BuildFacts, Expression, ExpressionKind, SubqueryCall, SubqueryUse};
use plan::SubqueryPlan;
use plan::physical::{Node, OutputColumn, TableAccess};
use std::sync::Arc;
use values::Value;

const PAGE: f64 = 0.25;
const ROW: f64 = 0.1;
const TEMPORARY_TABLE: f64 = 1.0;
/// Rows of a table below which the values of an index are counted, and the rows of a value where there are more.
const COUNTED_ROWS_MAX: f64 = 500.0;
const ROWS_OF_KEY: f64 = 10.0;
/// The share of rows that is guessed to be equal to a value.
const EQUAL_SHARE: f64 = 0.1;
/// Fewer rows than that keep no other table from being tried first.
const FEW_ROWS: f64 = 2.0;
/// The protocol's flag of a column of the primary key.
const PRI_KEY: u16 = 2;
/// What is less is the same.
const LITTLE: f64 = 1e-6;

/// How the rows of a subquery are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubqueryWay {
    /// Looked up for each row of the query, by an index or in a table of them.
    LookedUp { negated: bool },
    /// Read before those of the query, or in the join buffer: rows go through a temporary table to be sorted.
    ReadFirst { negated: bool },
    /// There are none: no row passes.
    Nowhere,
}

/// The subquery that a condition asks for a row of, or (true) for none, if it is IN, ANY, EXISTS or one of their negations.
pub fn asked_subquery(condition: &Expression) -> Option<(&SubqueryCall, bool)> {
    match &condition.kind {
        ExpressionKind::Subquery(call) => Some((call, call.wanted == SubqueryUse::NotIn)),
        ExpressionKind::Not(inner) => match &inner.kind {
            ExpressionKind::Subquery(call) if call.wanted == SubqueryUse::Exists => Some((call, true)),
            _ => None,
        },
        _ => None,
    }
}

/// A subquery over one table.
struct Inner<'p> {
    access: &'p TableAccess,
    /// What it shows first.
    shown: Option<&'p Expression>,
    /// All conditions on its rows.
    conditions: Vec<&'p Expression>,
}

/// A column of the inner table that is compared with a value of the outer row.
struct Pair<'p> {
    column: usize,
    value: &'p Expression,
}

/// What follows for the rows of the query from the conditions that ask for a row of a subquery: `a IN (SELECT b .. WHERE b = 1)`
/// that `a = 1`.
pub fn implied_by_subqueries(
    subqueries: &[SubqueryPlan],
    facts: BuildFacts,
    conditions: &[Expression],
) -> Vec<Expression> {
    conditions.iter().filter_map(|condition| implied_equality(subqueries, facts, condition)).collect()
}

fn implied_equality(
    subqueries: &[SubqueryPlan],
    facts: BuildFacts,
    condition: &Expression,
) -> Option<Expression> {
    let ExpressionKind::Subquery(call) = &condition.kind else { return None };
    if !matches!(call.wanted, SubqueryUse::In | SubqueryUse::Exists) {
        return None;
    }
    let inner = Inner::of(&subqueries.get(call.id)?.query.root)?;
    let pair = inner.pair(call)?;
    let held = &inner.access.table.definition().columns.get(pair.column)?.column_type;
    let constant = inner.conditions.iter().find_map(|condition| {
        let (column, other) = inner.equality(condition)?;
        (column == pair.column && is_value(other)).then_some(other)
    })?;
    if pair.value.column_slot().is_none() || pair.value.result.column_type != *held {
        return None;
    }
    Expression::compare(ComparisonOperator::Equal, pair.value.clone(), constant.clone(), facts).ok()
}

/// How the rows of the subquery are found that a condition asks for; None if it is no such condition, or one that is
/// answered row by row.
pub(super) fn way_of_subquery(
    survey: &mut Survey<'_>,
    condition: &Expression,
    others: &[Expression],
    sorts: bool,
) -> Option<SubqueryWay> {
    let (call, negated) = asked_subquery(condition)?;
    if !matches!(call.wanted, SubqueryUse::In | SubqueryUse::NotIn | SubqueryUse::Exists) {
        return None;
    }
    let query = survey.subqueries.get(call.id)?.query.clone();
    // What may be unknown is not the same as no such row; WITH ROLLUP anything may be NULL.
    let may_be_null = |mut columns: std::slice::Iter<'_, OutputColumn>| {
        survey.optimizer.block.rollup
            || call.operands.iter().any(|operand| operand.result.nullable)
            || columns.any(|column| column.result.nullable)
    };
    if call.wanted == SubqueryUse::NotIn && may_be_null(query.columns.iter()) {
        return None;
    }
    if query.is_empty {
        return (!negated).then_some(SubqueryWay::Nowhere);
    }
    let is_read_first = match Inner::of(&query.root) {
        Some(inner) => is_read_first(survey, call, &inner, (others, sorts), negated)?,
        None => !negated && !shows_primary_key(survey, call.id),
    };
    Some(match is_read_first {
        true => SubqueryWay::ReadFirst { negated },
        false => SubqueryWay::LookedUp { negated },
    })
}

/// None if the row is that of a unique key, which is known.
fn is_read_first(
    survey: &mut Survey<'_>,
    call: &SubqueryCall,
    inner: &Inner<'_>,
    (others, sorts): (&[Expression], bool),
    negated: bool,
) -> Option<bool> {
    let Some(outer) = only_base_table(survey.optimizer.block) else {
        return Some(!negated && !shows_primary_key(survey, call.id));
    };
    let Some(pair) = inner.pair(call) else { return Some(!negated) };
    let table = &inner.access.table;
    let rows = rows_of(survey.optimizer.engine, table);
    let constant = inner.conditions.iter().find_map(|condition| {
        let column = inner.equal_to_constant(condition)?;
        Some((look_up(survey.optimizer.engine, table, column, false)?, *condition))
    });
    if constant.as_ref().is_some_and(|(look_up, _)| look_up.is_unique) {
        return negated.then_some(false);
    }
    let found = constant.as_ref().map_or(rows, |(look_up, _)| look_up.rows);
    let answered = constant.as_ref().map(|(_, condition)| *condition);
    let open =
        inner.conditions.iter().filter(|one| !answered.is_some_and(|known| std::ptr::eq(**one, known)));
    let share: f64 =
        open.filter(|condition| is_own(condition)).map(|condition| share_of(condition)).product();
    let outer_all = rows_of(survey.optimizer.engine, &outer);
    let sizes = Sizes {
        outer_all,
        outer_rows: (outer_all * others.iter().map(share_of).product::<f64>()).max(1.0),
        rows,
        compared: if negated { found } else { (found * share).max(1.0).min(found) },
        index: inner_look_up(survey.optimizer.engine, inner, pair.column),
        constant: constant.map(|(look_up, _)| look_up),
        outer_index: if negated { None } else { outer_look_up(&survey.optimizer, &outer, pair.value) },
    };
    Some(if negated { sizes.buffers() } else { sizes.buffers() || sizes.reads_inner_first(sorts) })
}

fn shows_primary_key(survey: &Survey<'_>, subquery: usize) -> bool {
    let column = survey.subqueries.get(subquery).and_then(|subquery| subquery.query.columns.first());
    column.and_then(|column| column.origin.as_ref()).is_some_and(|origin| origin.flags & PRI_KEY != 0)
}

/// The base table of a block without joins.
fn only_base_table(block: &Block) -> Option<Arc<Table>> {
    match &block.tables[..] {
        [only] => match &only.source {
            Source::Base(table) => Some(table.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn rows_of(engine: &Engine, table: &Arc<Table>) -> f64 {
    (engine.estimated_rows(table) as f64).max(1.0)
}

fn inner_look_up(engine: &Engine, inner: &Inner<'_>, column: usize) -> Option<LookUp> {
    let is_covered = inner.access.columns.iter().all(|(read, _)| *read == column);
    look_up(engine, &inner.access.table, column, is_covered)
}

fn outer_look_up(optimizer: &Optimizer<'_>, outer: &Arc<Table>, value: &Expression) -> Option<LookUp> {
    let (_, column) = optimizer.block.place(value)?;
    look_up(optimizer.engine, outer, column, false)
}

/// The way to look one value up in an index that begins with the column.
fn look_up(engine: &Engine, table: &Arc<Table>, column: usize, is_covered: bool) -> Option<LookUp> {
    let of_index = |number: usize| {
        let definition = plain_index(table, number)?;
        definition.parts.first().filter(|part| part.column == column)?;
        let is_unique = table.indexes()[number].is_unique() && definition.parts.len() == 1;
        let all = rows_of(engine, table);
        let values = || match all < COUNTED_ROWS_MAX {
            true => engine.few_values(table, number),
            false => None,
        };
        let rows = match is_unique {
            true => 1.0,
            false => values().map_or(ROWS_OF_KEY, |values| all / values.max(1) as f64),
        };
        let cost = if is_covered { PAGE + ROW * rows } else { (PAGE + ROW) * rows };
        Some(LookUp { rows, cost, is_unique, is_covered })
    };
    let found = (0..table.indexes().len()).filter_map(of_index);
    found.min_by(|one, other| one.cost.total_cmp(&other.cost))
}

/// A look-up by an index.
struct LookUp {
    rows: f64,
    cost: f64,
    is_unique: bool,
    is_covered: bool,
}

/// What the choice depends on.
struct Sizes {
    /// Rows of the query's table, and those that its own conditions leave.
    outer_all: f64,
    outer_rows: f64,
    /// Rows of the subquery's table, and those that are compared.
    rows: f64,
    compared: f64,
    /// How a row is looked up by the value of the outer row, how those are found that a constant asks for, and how outer rows
    /// are looked up by a row of the subquery.
    index: Option<LookUp>,
    constant: Option<LookUp>,
    outer_index: Option<LookUp>,
}

impl Sizes {
    fn read_cost(&self) -> f64 {
        self.constant.as_ref().map_or(scan(self.rows), |look_up| look_up.cost)
    }

    /// For each outer row an index is asked, or a table of the rows.
    fn look_up_cost(&self) -> f64 {
        let by_index = self.index.iter().chain(&self.constant).map(|look_up| look_up.cost * self.outer_rows);
        let table = TEMPORARY_TABLE + self.read_cost() + ROW * (self.compared + self.outer_rows);
        by_index.fold(table, f64::min)
    }

    /// All rows are compared with those in the join buffer.
    fn buffer_cost(&self) -> f64 {
        PAGE + ROW * (self.rows - self.compared) + ROW * self.compared * self.outer_rows
    }

    /// What a constant or a unique key finds is never put into the buffer.
    fn buffers(&self) -> bool {
        let is_found = self.constant.is_some() || self.index.as_ref().is_some_and(|index| index.is_unique);
        !is_found && self.buffer_cost() + LITTLE < self.look_up_cost()
    }

    /// `sorts`: rows are sorted by the outer table; if it is not the first one, all rows are written.
    fn reads_inner_first(&self, sorts: bool) -> bool {
        let found = self.constant.as_ref().map_or(self.rows, |look_up| look_up.rows);
        let is_smaller = found < self.outer_all;
        let outer_is_tried = !is_smaller
            || sorts
            || self.index.is_some() && self.compared >= FEW_ROWS
            || self.compared > self.outer_rows;
        if !outer_is_tried {
            return true;
        }
        let inner_is_tried = is_smaller
            || self.outer_index.is_some() && self.outer_rows >= FEW_ROWS
            || self.compared < self.outer_rows;
        let is_unique = self.index.as_ref().is_some_and(|index| index.is_unique);
        let is_distinct = self.index.as_ref().is_some_and(|index| index.is_unique || index.is_covered);
        let weeding = if is_distinct { 0.0 } else { TEMPORARY_TABLE + ROW * self.compared };
        let (joining, joined) = match &self.outer_index {
            Some(index) => (index.cost * self.compared, index.rows * self.compared),
            None => {
                let equal = EQUAL_SHARE * self.outer_rows;
                let joined = equal * self.compared;
                match is_unique {
                    true => (PAGE + ROW * self.outer_rows * self.compared, joined / 2.0),
                    false => (PAGE + ROW * (self.outer_rows - equal + joined), joined),
                }
            }
        };
        let written = if sorts { joined } else { 0.0 };
        let inner_first = self.read_cost() + weeding + joining + written;
        inner_is_tried && inner_first + LITTLE < scan(self.outer_all) + self.look_up_cost()
    }
}

/// Whether it is a literal, but not NULL.
fn is_value(expression: &Expression) -> bool {
    expression.literal().is_some_and(|value| *value != Value::Null)
}

fn scan(rows: f64) -> f64 {
    PAGE + ROW * rows
}

impl<'p> Inner<'p> {
    fn of(node: &'p Node) -> Option<Inner<'p>> {
        match node {
            Node::Project { input, expressions } => {
                Inner::of(input).map(|inner| Inner { shown: expressions.first(), ..inner })
            }
            Node::Filter { input, conditions } => {
                let mut inner = Inner::of(input)?;
                inner.conditions.extend(conditions);
                Some(inner)
            }
            Node::Table(access) => {
                Some(Inner { access, shown: None, conditions: access.conditions.iter().collect() })
            }
            _ => None,
        }
    }

    /// The column of the table that a slot holds.
    fn column(&self, expression: &Expression) -> Option<usize> {
        let slot = expression.column_slot()?;
        self.access.columns.iter().find(|(_, held)| *held == slot).map(|(column, _)| *column)
    }

    /// What of the table must be equal to a value of the outer row.
    fn pair<'c>(&self, call: &'c SubqueryCall) -> Option<Pair<'c>> {
        if let [operand] = &call.operands[..] {
            return Some(Pair { column: self.column(self.shown?)?, value: operand });
        }
        self.conditions.iter().find_map(|condition| {
            let (column, other) = self.equality(condition)?;
            match other.kind {
                ExpressionKind::Outer(number) => Some(Pair { column, value: call.outer.get(number)? }),
                _ => None,
            }
        })
    }

    /// A column that must be equal to something else.
    fn equality<'c>(&self, condition: &'c Expression) -> Option<(usize, &'c Expression)> {
        let ExpressionKind::Compare(comparison) = &condition.kind else { return None };
        let Comparison { left, right, operator, .. } = &**comparison;
        if !matches!(operator, ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual) {
            return None;
        }
        match (self.column(left), self.column(right)) {
            (Some(column), _) => Some((column, right)),
            (_, Some(column)) => Some((column, left)),
            _ => None,
        }
    }

    /// The column that a condition sets equal to a constant.
    fn equal_to_constant(&self, condition: &Expression) -> Option<usize> {
        if let ExpressionKind::IsNull(operand) = &condition.kind {
            return self.column(operand);
        }
        let (column, other) = self.equality(condition)?;
        (other.is_constant() && !matches!(other.kind, ExpressionKind::Outer(_))).then_some(column)
    }
}

/// Whether a condition does not compare with the rows of the query: such a one chooses when rows are looked up.
fn is_own(condition: &Expression) -> bool {
    !condition.any(&|part| matches!(part.kind, ExpressionKind::Outer(_)))
}

/// What MySQL guesses of the rows that a condition leaves.
fn share_of(condition: &Expression) -> f64 {
    match &condition.kind {
        ExpressionKind::Subquery(_) => 1.0,
        ExpressionKind::Not(inner) => match &inner.kind {
            ExpressionKind::Subquery(_) => 1.0,
            _ => 1.0 - selectivity(inner),
        },
        ExpressionKind::In(list) if list.negated => 1.0 - (0.1 * list.list.len() as f64).min(0.5),
        ExpressionKind::Between(between) if between.negated => 1.0 - selectivity(condition),
        _ => selectivity(condition),
    }
}
