//! Conditions on the rows of a query in FROM that cannot be read in place: they go into it, where they reach its tables' indexes and
//! keep rows from being grouped. Into each operand of a set operation, below DISTINCT, and below GROUP BY as far as they are about
//! the keys. Main function: [`Binder::push_into_derived`].
//!
//! The query is planned again with them. A condition goes down only if it is silent and if all rows that are made one (by DISTINCT,
//! UNION or a group) agree on it: comparisons with constants as the column itself compares.

use crate::bind::{Binder, convert_columns};
use errors::SqlResult;
use expression::silent::is_silent;
use expression::{Expression, ExpressionKind, ResultType, TypeClass};
use optimizer::{Derived, EqualColumns, JoinTree, LogicalSelect, OpenSelect, Source, subject_of, tables_of};
use parser::ast::HintKind;
use plan::physical::{Node, OutputColumn, QueryPlan};
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
                && select.items.iter().any(is_plain)
        };
        (!selects.is_empty() && selects.iter().all(takes)).then_some(Pushable { selects })
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
        let further = EqualColumns::of(all.iter()).said_of_others(&said);
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
            let mine: Vec<Expression> = all.iter().chain(&further).filter(is_about).cloned().collect();
            if !mine.is_empty() {
                self.push_into(number, &pushable, &mine)?;
            }
        }
        Ok(())
    }

    /// The SELECTs of a query in FROM that is read once.
    fn pushable_table(&mut self, number: usize) -> Option<Arc<Pushable>> {
        let table = &self.block().tables[number];
        let Source::Derived(Derived::Planned(plan), common) = &table.source else { return None };
        let (common, plan, alias) = (*common, plan.clone(), table.alias.clone());
        if self.block().hints.of_table(HintKind::DerivedConditionPushdown, &alias) == Some(false) {
            return None;
        }
        if common.is_some_and(|common| self.common_table_uses[common].uses > 1) {
            return None;
        }
        let found = self.pushable.iter().find(|(known, _)| Arc::ptr_eq(known, &plan));
        found.map(|(_, pushable)| pushable.clone())
    }

    /// Plans a query in FROM again with conditions on its rows, if one goes into all of its SELECTs.
    fn push_into(&mut self, number: usize, pushable: &Pushable, conditions: &[Expression]) -> SqlResult<()> {
        let table = &self.block().tables[number];
        let Source::Derived(Derived::Planned(plan), common) = &table.source else { return Ok(()) };
        let (plan, common, slots) = (plan.clone(), *common, table.slots.clone());
        let types: Vec<ResultType> = match &plan.root {
            Node::SetOperation(operation) => operation.columns.clone(),
            _ => plan.columns.iter().map(|column| column.result.clone()).collect(),
        };
        let is_set = matches!(plan.root, Node::SetOperation(_));
        let mut selects = pushable.selects.clone();
        let mut goes_down = false;
        for condition in conditions {
            let parts: Option<Vec<Expression>> = selects
                .iter()
                .map(|open| moved_down(open, condition, &slots, is_set.then_some(types.as_slice())))
                .collect();
            let Some(parts) = parts else { continue };
            goes_down = true;
            for (open, part) in selects.iter_mut().zip(parts) {
                open.select.conditions.push(part);
            }
        }
        if !goes_down {
            return Ok(());
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
        if let Some(again) = with_operands(&plan, plans, &types) {
            self.block().tables[number].source = Source::Derived(Derived::Planned(Arc::new(again)), common);
        }
        Ok(())
    }
}

/// A condition on the rows, over those of FROM; `slots` are those of the columns in the condition, `types` what a set operation
/// makes of them. None if it cannot be said of these.
fn moved_down(
    open: &OpenSelect,
    condition: &Expression,
    slots: &[Option<usize>],
    types: Option<&[ResultType]>,
) -> Option<Expression> {
    let mut moved = condition.clone();
    let mut fits = true;
    moved.replace(&mut |part| {
        let slot = part.column_slot()?;
        let column = slots.iter().position(|known| *known == Some(slot));
        let below = column.and_then(|column| shown_by(open, column, types));
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
    (is_silent(&shown) && !types.is_some_and(differs)).then_some(shown)
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
