//! Derived tables, views and common tables that only choose, join and compute: the query that names one reads its tables in its
//! place, so that conditions reach their indexes and joins are ordered together. Main function: [`take_in_derived`].
//!
//! A derived table behind an outer join is taken in only where it shows plain columns: a computed value would not be NULL in a
//! row without a match.

use crate::graft::{Graft, forget_unused};
use expression::{Expression, ExpressionKind};
use optimizer::{
    Block, Derived, JoinTree, LogicalSelect, OpenSelect, Source, TABLES_MAX, conjuncts, tables_of,
};
use parser::ast::HintKind;
use plan::physical::CommonTableUse;
use plan::{Rule, Rules};
use std::sync::Arc;
use values::TypeKind;

/// Takes in the derived tables of a block where that changes no row. `uses`: of the common tables of the statement.
pub fn take_in_derived(
    rules: Rules,
    block: &mut Block,
    uses: &mut [CommonTableUse],
    select: &mut LogicalSelect,
) {
    let mut has_merged = false;
    while let Some((number, open)) = mergeable_table(rules, block, select) {
        has_merged = true;
        if let Source::Derived(_, Some(_)) = block.tables[number].source {
            // Who else names it brings the common tables within it once more.
            for table in &open.block.tables {
                if let Source::Derived(_, Some(within)) = table.source {
                    uses[within].uses += 1;
                }
            }
        }
        let merge = Merge::new(block, number, Arc::unwrap_or_clone(open));
        merge.into_select(block, select);
    }
    if has_merged {
        // The queries may have shown more than is read of them.
        let mut used = vec![false; block.slots.len()];
        for_each_over_rows(block, select, &mut |expression| {
            expression.slots().into_iter().for_each(|slot| used[slot] = true);
        });
        forget_unused(&mut block.tables, &|slot| used[slot]);
    }
}

fn mergeable_table(rules: Rules, block: &Block, select: &LogicalSelect) -> Option<(usize, Arc<OpenSelect>)> {
    let tree = select.tree.as_ref()?;
    let optional = tree.optional_tables();
    let by_default = rules.has(Rule::DerivedMerge);
    block.tables.iter().enumerate().find_map(|(number, table)| {
        let Source::Derived(Derived::Open(open), common) = &table.source else { return None };
        let fits = block.tables.len() + open.block.tables.len() - 1 <= TABLES_MAX;
        // All who name a common table see the same rows, also those that are not bound yet.
        let may_copy = common.is_none() || !has_sites(open);
        let may_be_missing = optional >> number & 1 == 1;
        let stays_null = || shows_columns(open, &table.slots);
        let asks_for_zero = asks_for_zero_dates(open, block, select, number, may_be_missing);
        let is_wanted = block.hints.of_table(HintKind::Merge, &table.alias).unwrap_or(by_default);
        let read = block.tables_read_by(1 << number);
        let sees_all = || tables_in_sight(tree, number).is_none_or(|seen| read & !seen == 0);
        let stays = !may_be_missing || stays_null() && sees_all();
        let merges = is_wanted && fits && may_copy && stays && !asks_for_zero;
        merges.then(|| (number, open.clone()))
    })
}

/// The tables that the condition of the outer join sees on whose inner side a table stands, as bits; None if there is no such join.
fn tables_in_sight(tree: &JoinTree, number: usize) -> Option<u64> {
    let JoinTree::Join { left, right, outer, .. } = tree else { return None };
    let is_left = left.tables() >> number & 1 == 1;
    let within = tables_in_sight(if is_left { left } else { right }, number);
    within.or_else(|| (*outer && !is_left).then(|| tree.tables()))
}

/// Whether the columns that are used are those of its tables.
fn shows_columns(open: &OpenSelect, used: &[Option<usize>]) -> bool {
    let mut shown = open.select.items.iter().zip(used);
    shown.all(|(item, slot)| slot.is_none() || item.expression.column_slot().is_some())
}

/// Whether it calls what keeps something from row to row, such as RAND with a seed.
fn has_sites(open: &OpenSelect) -> bool {
    let keeps = |expression: &Expression| {
        expression.any(&|part| match &part.kind {
            ExpressionKind::Function(call) => !call.definition.pure,
            ExpressionKind::Routine(_) => true,
            _ => false,
        })
    };
    let select = &open.select;
    select.items.iter().any(|item| keeps(&item.expression))
        || select.conditions.iter().any(keeps)
        || select.tree.as_ref().is_some_and(|tree| tree.has_condition(&keeps))
}

/// Whether IS NULL of a date has another meaning in the one query than in the other: it asks WHERE of a table for the zero date, if the
/// column is declared without NULL, but not a derived table or the condition of an outer join.
fn asks_for_zero_dates(
    open: &OpenSelect,
    block: &Block,
    select: &LogicalSelect,
    number: usize,
    may_be_missing: bool,
) -> bool {
    let asks = |condition: &Expression, is_meant: &dyn Fn(&Expression) -> bool| {
        condition.any(&|part| match &part.kind {
            ExpressionKind::IsNull(operand) => {
                matches!(operand.result.kind(), TypeKind::Date | TypeKind::DateTime) && is_meant(operand)
            }
            _ => false,
        })
    };
    let is_shown = |operand: &Expression| tables_of(block, operand) >> number & 1 == 1;
    let around = select.conditions.iter().any(|condition| asks(condition, &is_shown));
    let joined = select.tree.as_ref().is_some_and(|tree| tree.has_condition(&|one| asks(one, &is_shown)));
    let within = may_be_missing && open.select.conditions.iter().any(|condition| asks(condition, &|_| true));
    around || joined || within
}

/// A query in FROM on its way into the block that reads it.
struct Merge {
    /// The table of the block that is the query.
    number: usize,
    open: OpenSelect,
    graft: Graft,
    /// What stands for each column of the query, over the slots of the block.
    columns: Vec<Expression>,
}

impl Merge {
    fn new(block: &mut Block, number: usize, open: OpenSelect) -> Merge {
        let appended = block.tables.len();
        let place = |table: usize| if table == 0 { number } else { appended + table - 1 };
        let tables: Vec<usize> = (0..open.block.tables.len()).map(place).collect();
        // The slots of the block that the query fills: those that show a column of its tables stay that column's.
        let mut placed: Vec<Option<usize>> = vec![None; open.block.slots.len()];
        let mut free = Vec::new();
        let used = block.tables[number].slots.clone();
        for (item, slot) in open.select.items.iter().zip(used) {
            let Some(slot) = slot else { continue };
            match item.expression.column_slot() {
                Some(shown) if placed[shown].is_none() => placed[shown] = Some(slot),
                _ => free.push(slot),
            }
        }
        let mut graft = Graft::new(block, &open.block, tables, &placed, &mut free);
        graft.outer = std::mem::take(&mut block.tables[number].reads);
        // What is computed now has no column.
        free.into_iter().for_each(|slot| block.slots[slot] = (number, usize::MAX));
        let columns = open.select.items.iter().map(|item| graft.moved(item.expression.clone())).collect();
        Merge { number, open, graft, columns }
    }

    /// Puts tables, conditions and what columns stand for into the SELECT of that block.
    fn into_select(mut self, block: &mut Block, select: &mut LogicalSelect) {
        // Slots of the query's columns, as the expressions of the block name them.
        let shown = block.tables[self.number].slots.clone();
        let column_at = |slot: usize| shown.iter().position(|known| *known == Some(slot));
        for_each_over_rows(block, select, &mut |expression| {
            expression.replace(&mut |part| {
                let column = column_at(part.column_slot()?)?;
                let mut stands = self.columns.get(column)?.clone();
                stands.result.nullable |= part.result.nullable;
                Some(stands)
            });
        });
        let inner = &mut self.open;
        let tables = std::mem::take(&mut inner.block.tables);
        let conditions = std::mem::take(&mut inner.select.conditions);
        let order = std::mem::take(&mut inner.select.order);
        let tree = inner.select.tree.take();
        for (number, table) in tables.into_iter().enumerate() {
            let table = self.graft.moved_table(table);
            match number {
                0 => block.tables[self.number] = table,
                _ => block.tables.push(table),
            }
        }
        if !order.is_empty() && self.gives_order(select) {
            select.order = order;
            select.order.iter_mut().for_each(|key| {
                key.expression = self.graft.moved(std::mem::replace(&mut key.expression, Expression::null()));
            });
        }
        let mut conditions = self.graft.moved_all(conditions);
        let Some(mut tree) = tree.map(|tree| self.graft.moved_tree(tree)) else { return };
        if let Some(around) = &mut select.tree {
            graft(around, self.number, &mut tree, &mut conditions);
        }
        // What stands for a column may be several conditions.
        conditions.append(&mut select.conditions);
        select.conditions = conditions.into_iter().flat_map(conjuncts).collect();
    }

    /// Whether the rows of the block come in the order of the query, as MySQL has it.
    fn gives_order(&self, select: &LogicalSelect) -> bool {
        let is_only = matches!(select.tree, Some(JoinTree::Table(number)) if number == self.number);
        is_only
            && select.order.is_empty()
            && !(select.groups || select.distinct || select.has_having || select.is_operand)
    }
}

/// Puts a tree in the place of a table. Conditions on its rows go to the outer join behind which it stands, else they are left for
/// WHERE. Whether the table is there.
fn graft(
    around: &mut JoinTree,
    number: usize,
    tree: &mut JoinTree,
    conditions: &mut Vec<Expression>,
) -> bool {
    match around {
        JoinTree::Table(table) => {
            let is_it = *table == number;
            if is_it {
                std::mem::swap(around, tree);
            }
            is_it
        }
        JoinTree::Join { left, right, outer, conditions: on, .. } => {
            if graft(left, number, tree, conditions) {
                return true;
            }
            let is_there = graft(right, number, tree, conditions);
            if is_there && *outer {
                on.splice(0..0, conditions.drain(..));
            }
            is_there
        }
    }
}

/// Calls `visit` for each expression over the rows of FROM.
fn for_each_over_rows(block: &mut Block, select: &mut LogicalSelect, visit: &mut dyn FnMut(&mut Expression)) {
    select.conditions.iter_mut().for_each(&mut *visit);
    if let Some(tree) = &mut select.tree {
        tree.for_each_condition(visit);
    }
    block.tables.iter_mut().flat_map(|table| &mut table.reads).for_each(&mut *visit);
    block.group_keys.iter_mut().for_each(&mut *visit);
    for call in &mut block.aggregates {
        call.arguments.iter_mut().for_each(&mut *visit);
        call.order_by.iter_mut().for_each(|key| visit(&mut key.expression));
    }
    if !select.groups {
        select.items.iter_mut().for_each(|item| visit(&mut item.expression));
        select.having.iter_mut().for_each(&mut *visit);
        select.order.iter_mut().for_each(|key| visit(&mut key.expression));
        block.windows.expressions_mut().for_each(visit);
    }
}
