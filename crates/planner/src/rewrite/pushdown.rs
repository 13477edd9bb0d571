//! Conditions on the rows of a query in FROM that cannot be read in place: they go into it, where they reach its tables' indexes and
//! keep rows from being grouped. Into each operand of a set operation, below DISTINCT, and below GROUP BY as far as they are about
//! the keys. Main function: [`Binder::push_into_derived`].
//!
//! The query is planned again with them. A condition goes down only if all rows that are made one (by DISTINCT, UNION or a group)
//! agree on it. Silent comparisons with constants, as the column itself compares, are asked above as well. What may report something,
//! or reads several columns, leaves the block for the query, as in MySQL: it is asked once, of each row that is found; only below
//! DISTINCT, and only of numbers and moments.

use crate::bind::{Binder, convert_columns};
use errors::SqlResult;
use expression::silent::is_silent;
use expression::{Expression, ExpressionKind, ResultType, TypeClass};
use optimizer::{
    Block, Derived, EqualColumns, JoinTree, LogicalSelect, OpenSelect, Source, subject_of, tables_of,
};
use parser::ast::HintKind;
use plan::physical::{Node, OutputColumn, QueryPlan};
use plan::{Rule, differs_between_rows};
use std::sync::Arc;

/// The SELECTs of a query in FROM as they were before they were planned: itself, or the operands of a set operation.
#[derive(Clone, Debug)]
pub(crate) struct Pushable {
    selects: Vec<OpenSelect>,
}

impl Pushable {
    /// The SELECTs of a query, if conditions on its rows may go into each of them.
    pub fn of(selects: Vec<OpenSelect>) -> Option<Pushable> {
        let takes = |open: &OpenSelect| {
            let select = &open.select;
            let is_plain = |item: &optimizer::SelectItem| is_silent(&item.expression);
            select.tree.is_some()
                && open.block.outer.is_empty()
                && !(select.rollup || select.limit.is_some() || select.counts_all)
                && (select.groups || !select.has_having)
                && (select.has_group_keys || !select.groups)
                && (select.distinct || select.items.iter().any(is_plain))
        };
        (!selects.is_empty() && selects.iter().all(takes)).then_some(Pushable { selects })
    }

    /// Whether it is one SELECT DISTINCT that computes the same each time.
    fn is_distinct(&self) -> bool {
        let [open] = self.selects.as_slice() else { return false };
        let mut items = open.select.items.iter();
        open.select.distinct
            && !open.select.groups
            && items.all(|item| !differs_between_rows(&item.expression, true))
    }
}

impl Binder<'_> {
    /// Puts conditions of the block on top of the stack into the queries in FROM that they are about.
    pub(crate) fn push_into_derived(&mut self, select: &mut LogicalSelect) -> SqlResult<()> {
        if self.pushable.is_empty() {
            return Ok(());
        }
        let Some(tree) = &select.tree else { return Ok(()) };
        let optional = tree.optional_tables();
        let mut all = select.conditions.clone();
        add_inner_conditions(tree, &mut all);
        let said: Vec<&Expression> = all.iter().collect();
        let further = EqualColumns::of(self.input.context.rules(), all.iter()).said_of_others(&said);
        let mut left: Vec<usize> = Vec::new();
        for number in 0..self.block().tables.len() {
            if optional >> number & 1 == 1 {
                continue;
            }
            let Some(pushable) = self.pushable_table(number) else { continue };
            let block = &*self.block();
            // Values of an enclosing query are not known to a query in FROM, which is planned for itself.
            let is_open = |part: &Expression| matches!(part.kind, ExpressionKind::Outer(_));
            let is_about = |condition: &&Expression| {
                tables_of(block, condition) == 1 << number
                    && subject_of(condition).is_some()
                    && !condition.any(&is_open)
            };
            let own = |at: usize| at < select.conditions.len();
            let mut going = Vec::new();
            for (at, condition) in all.iter().chain(&further).enumerate() {
                let stays = is_about(&condition);
                let may_leave = own(at) && pushable.is_distinct() && may_leave(block, condition, number);
                if stays || may_leave {
                    let place = may_leave.then_some(at);
                    going.push(Going { condition: condition.clone(), stays, place });
                }
            }
            if !going.is_empty() {
                left.extend(self.push_into(number, &pushable, &going)?);
            }
        }
        let mut at = 0..;
        select.conditions.retain(|_| at.next().is_none_or(|at| !left.contains(&at)));
        Ok(())
    }

    /// The SELECTs of a query in FROM that is read once.
    fn pushable_table(&mut self, number: usize) -> Option<Arc<Pushable>> {
        let table = &self.block().tables[number];
        let Source::Derived(Derived::Planned(plan), common) = &table.source else { return None };
        let (common, plan, alias) = (*common, plan.clone(), table.alias.clone());
        let goes_down = self.input.context.rules().has(Rule::DerivedConditionPushdown);
        let hint = self.block().hints.of_table(HintKind::DerivedConditionPushdown, &alias);
        if !hint.unwrap_or(goes_down) {
            return None;
        }
        if common.is_some_and(|common| self.common_table_uses[common].uses > 1) {
            return None;
        }
        let found = self.pushable.iter().find(|(known, _)| Arc::ptr_eq(known, &plan));
        found.map(|(_, pushable)| pushable.clone())
    }

    /// Plans a query in FROM again with conditions on its rows, if one goes into all of its SELECTs. The places of those that left
    /// the block.
    fn push_into(
        &mut self,
        number: usize,
        pushable: &Pushable,
        conditions: &[Going],
    ) -> SqlResult<Vec<usize>> {
        let table = &self.block().tables[number];
        let Source::Derived(Derived::Planned(plan), common) = &table.source else { return Ok(Vec::new()) };
        let (plan, common, slots) = (plan.clone(), *common, table.slots.clone());
        let types: Vec<ResultType> = match &plan.root {
            Node::SetOperation(operation) => operation.columns.clone(),
            _ => plan.columns.iter().map(|column| column.result.clone()).collect(),
        };
        let is_set = matches!(plan.root, Node::SetOperation(_));
        let mut selects = pushable.selects.clone();
        let mut goes_down = false;
        let mut left = Vec::new();
        for Going { condition, stays, place } in conditions {
            let moved = |silently: bool| -> Option<Vec<Expression>> {
                let types = is_set.then_some(types.as_slice());
                selects.iter().map(|open| moved_down(open, condition, &slots, types, silently)).collect()
            };
            let mut parts = if *stays { moved(true) } else { None };
            if parts.is_none() && place.is_some() {
                parts = moved(false);
                left.extend(place.filter(|_| parts.is_some()));
            }
            let Some(parts) = parts else { continue };
            goes_down = true;
            for (open, part) in selects.iter_mut().zip(parts) {
                open.select.conditions.push(part);
            }
        }
        if !goes_down {
            return Ok(left);
        }
        let mut plans = Vec::with_capacity(selects.len());
        let around = std::mem::take(&mut self.blocks);
        for open in selects {
            self.explain.retain(|row| row.id != Some(open.block.number));
            let planned = self.plan_select(open);
            match planned {
                Ok(planned) => plans.push(planned),
                Err(error) => {
                    self.blocks = around;
                    return Err(error);
                }
            }
        }
        self.blocks = around;
        let Some(again) = with_operands(&plan, plans, &types) else { return Ok(Vec::new()) };
        self.block().tables[number].source = Source::Derived(Derived::Planned(Arc::new(again)), common);
        Ok(left)
    }
}

/// A condition on its way into a query in FROM.
struct Going {
    condition: Expression,
    /// It may be asked above as well, if it is silent below.
    stays: bool,
    /// Its place among those of the block, if it may leave them.
    place: Option<usize>,
}

/// Whether a condition may be asked below DISTINCT instead of above: of rows that are the same by their numbers and moments.
fn may_leave(block: &Block, condition: &Expression, number: usize) -> bool {
    let hinders = |part: &Expression| match part.kind {
        ExpressionKind::Outer(_) | ExpressionKind::Subquery(_) => true,
        ExpressionKind::Column(_) => matches!(part.result.class(), TypeClass::Text | TypeClass::Null),
        _ => false,
    };
    tables_of(block, condition) == 1 << number
        && !condition.any(&hinders)
        && !differs_between_rows(condition, true)
}

/// A condition on the rows, over those of FROM; `slots` are those of the columns in the condition, `types` what a set operation
/// makes of them. None if it cannot be said of these,
/// or not silently.
fn moved_down(
    open: &OpenSelect,
    condition: &Expression,
    slots: &[Option<usize>],
    types: Option<&[ResultType]>,
    silently: bool,
) -> Option<Expression> {
    let mut moved = condition.clone();
    let mut fits = true;
    moved.replace(&mut |part| {
        let slot = part.column_slot()?;
        let column = slots.iter().position(|known| *known == Some(slot));
        let below = column.and_then(|column| shown_by(open, column, types));
        let below = below.filter(|below| !silently || is_silent(below));
        fits &= below.is_some();
        below
    });
    fits.then_some(moved)
}

/// What a column shows, over the rows of FROM: the same in all rows that are made one.
fn shown_by(open: &OpenSelect, column: usize, types: Option<&[ResultType]>) -> Option<Expression> {
    let shown = &open.select.items.get(column)?.expression;
    let shown = match open.select.groups {
        true => open.block.group_keys.get(shown.column_slot()?)?.clone(),
        false => shown.clone(),
    };
    let differs = |types: &[ResultType]| compares_otherwise(&shown.result, &types[column]);
    (!types.is_some_and(differs)).then_some(shown)
}

/// Whether values compare otherwise than in the column of the set operation that they go to.
fn compares_otherwise(own: &ResultType, merged: &ResultType) -> bool {
    match own.class() {
        TypeClass::Integer | TypeClass::Decimal => own.class() != merged.class(),
        TypeClass::Text => {
            merged.class() != TypeClass::Text || own.column_type.collation != merged.column_type.collation
        }
        _ => own.kind() != merged.kind(),
    }
}

/// The plan with other trees in the place of its SELECTs.
fn with_operands(plan: &QueryPlan, plans: Vec<QueryPlan>, types: &[ResultType]) -> Option<QueryPlan> {
    let rows = plans.iter().map(|plan| plan.rows).sum();
    let mut plans = plans.into_iter();
    let mut again = plan.clone();
    again.rows = rows;
    match &mut again.root {
        Node::SetOperation(operation) => {
            let mut next = || {
                let plan = plans.next()?;
                Some(convert_columns(plan.root, &plan.columns, types))
            };
            operation.first = next()?;
            for term in &mut operation.rest {
                term.node = next()?;
            }
        }
        root => {
            let new = plans.next()?;
            if !have_same_types(&new.columns, &again.columns) {
                return None;
            }
            *root = new.root;
        }
    }
    Some(again)
}

fn have_same_types(left: &[OutputColumn], right: &[OutputColumn]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| left.result.column_type == right.result.column_type)
}

/// The conditions of joins that hold for all rows.
pub(crate) fn add_inner_conditions(tree: &JoinTree, found: &mut Vec<Expression>) {
    let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return };
    add_inner_conditions(left, found);
    if !*outer {
        add_inner_conditions(right, found);
        found.extend(conditions.iter().cloned());
    }
}
