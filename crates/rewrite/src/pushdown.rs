//! Conditions on the rows of a query in FROM that cannot be read in place: they go into it, where they reach its tables' indexes and
//! keep rows from being grouped. Into each operand of a set operation, below DISTINCT, and below GROUP BY as far as they are about
//! the keys. Main function: [`Pushdown::of_table`].
//!
//! The query is planned again with them. A condition goes down only if all rows that are made one (by DISTINCT, UNION or a group)
//! agree on it. Silent comparisons with constants, as the column itself compares, are asked above as well. What may report something,
//! or reads several columns, leaves the block for the query, as in MySQL: it is asked once, of each row that is found; only below
//! DISTINCT, and only of numbers and moments.

use expression::silent::is_silent;
use expression::{Expression, ExpressionKind, ResultType, TypeClass};
use optimizer::{
    Block, BoundTable, Derived, EqualColumns, JoinTree, LogicalSelect, OpenSelect, Source, subject_of,
    tables_of,
};
use parser::ast::HintKind;
use plan::physical::{CommonTableUse, Node, OutputColumn, QueryPlan};
use plan::{Rule, Rules, differs_between_rows};
use std::sync::Arc;

/// Projects the rows of a node, whose columns are these, to columns of other types.
pub type ConvertColumns = fn(Node, &[OutputColumn], &[ResultType]) -> Node;

/// Whether conditions on the rows of a query may go into each of its SELECTs.
pub fn takes_conditions(selects: &[OpenSelect]) -> bool {
    let takes = |open: &OpenSelect| {
        let select = &open.select;
        let is_plain = |item: &optimizer::SelectItem| is_silent(&item.expression);
        select.tree.is_some()
            && open.block.outer.is_empty()
            && !(select.rollup || select.has_windows || select.limit.is_some() || select.counts_all)
            && (select.groups || !select.has_having)
            && (select.has_group_keys || !select.groups)
            && (select.distinct || select.items.iter().any(is_plain))
    };
    !selects.is_empty() && selects.iter().all(takes)
}

/// Whether it is one SELECT DISTINCT that computes the same each time.
fn is_distinct(selects: &[OpenSelect]) -> bool {
    let [open] = selects else { return false };
    let mut items = open.select.items.iter();
    open.select.distinct
        && !open.select.groups
        && items.all(|item| !differs_between_rows(&item.expression, true))
}

/// The conditions of a SELECT that may go into the queries of its FROM.
pub struct Pushdown {
    /// Those of WHERE, of joins, and what follows from them.
    conditions: Vec<Expression>,
    /// How many of them are those of WHERE.
    own: usize,
    /// Tables whose rows may be missing.
    optional: u64,
    /// Those that the session may use.
    rules: Rules,
}

/// A query in FROM that takes in conditions.
pub struct Pushed {
    /// Its SELECTs with the conditions, to be planned.
    pub selects: Vec<OpenSelect>,
    number: usize,
    plan: Arc<QueryPlan>,
    common: Option<usize>,
    types: Vec<ResultType>,
    /// The places of those conditions of WHERE that leave it for the query.
    left: Vec<usize>,
}

impl Pushdown {
    /// Those of a SELECT; `rules`: those that the session may use. None without FROM.
    pub fn of(rules: Rules, select: &LogicalSelect) -> Option<Pushdown> {
        let tree = select.tree.as_ref()?;
        let mut conditions = select.conditions.clone();
        add_inner_conditions(tree, &mut conditions);
        let said: Vec<&Expression> = conditions.iter().collect();
        let further = EqualColumns::of(rules, conditions.iter()).said_of_others(&said);
        conditions.extend(further);
        Some(Pushdown { conditions, own: select.conditions.len(), optional: tree.optional_tables(), rules })
    }

    /// What a table of the block takes in. `uses`: of the common tables of the statement; `pushable`: queries in FROM that may take
    /// in conditions, with their SELECTs.
    pub fn of_table(
        &self,
        block: &Block,
        number: usize,
        uses: &[CommonTableUse],
        pushable: &[(Arc<QueryPlan>, Arc<Vec<OpenSelect>>)],
    ) -> Option<Pushed> {
        if self.optional >> number & 1 == 1 {
            return None;
        }
        let selects = selects_of(self.rules, &block.tables[number], block, uses, pushable)?;
        // Values of an enclosing query are not known to a query in FROM, which is planned for itself.
        let is_open = |part: &Expression| matches!(part.kind, ExpressionKind::Outer(_));
        let is_about = |condition: &Expression| {
            tables_of(block, condition) == 1 << number
                && subject_of(condition).is_some()
                && !condition.any(&is_open)
        };
        let is_distinct = is_distinct(&selects);
        let mut going = Vec::new();
        for (at, condition) in self.conditions.iter().enumerate() {
            let stays = is_about(condition);
            let may_leave = at < self.own && is_distinct && may_leave(block, condition, number);
            if stays || may_leave {
                going.push(Going { condition, stays, place: may_leave.then_some(at) });
            }
        }
        if going.is_empty() { None } else { pushed_into(block, number, selects, &going) }
    }
}

/// The SELECTs of a query in FROM that is read once.
fn selects_of(
    rules: Rules,
    table: &BoundTable,
    block: &Block,
    uses: &[CommonTableUse],
    pushable: &[(Arc<QueryPlan>, Arc<Vec<OpenSelect>>)],
) -> Option<Arc<Vec<OpenSelect>>> {
    let Source::Derived(Derived::Planned(plan), common) = &table.source else { return None };
    let goes_down = rules.has(Rule::DerivedConditionPushdown);
    if !block.hints.of_table(HintKind::DerivedConditionPushdown, &table.alias).unwrap_or(goes_down) {
        return None;
    }
    if common.is_some_and(|common| uses[common].uses > 1) {
        return None;
    }
    let found = pushable.iter().find(|(known, _)| Arc::ptr_eq(known, plan));
    let may_repeat = |selects: &[OpenSelect]| common.is_none() || selects.iter().all(repeats_itself);
    found.map(|(_, selects)| selects.clone()).filter(|selects| may_repeat(selects))
}

/// Whether it computes the same each time, so that uses of a common table need not share its rows.
fn repeats_itself(open: &OpenSelect) -> bool {
    let (select, block) = (&open.select, &open.block);
    let items = select.items.iter().map(|item| &item.expression);
    let arguments = block.aggregates.iter().flat_map(|call| &call.arguments);
    let conditions = select.conditions.iter().chain(&select.having).chain(&block.group_keys);
    let joins = select.tree.as_ref().map(JoinTree::conditions).unwrap_or_default();
    let mut all = items.chain(arguments).chain(conditions).chain(&joins);
    all.all(|expression| !differs_between_rows(expression, true))
}

/// The number of a use of a common table that is planned on its own from now on.
fn own_use(uses: &mut Vec<CommonTableUse>, number: usize) -> usize {
    uses[number].uses -= 1;
    let name = uses[number].name.clone();
    uses.push(CommonTableUse { name, uses: 1 });
    uses.len() - 1
}

/// A query in FROM with conditions on its rows, if one goes into all of its SELECTs.
fn pushed_into(
    block: &Block,
    number: usize,
    selects: Arc<Vec<OpenSelect>>,
    conditions: &[Going<'_>],
) -> Option<Pushed> {
    let table = &block.tables[number];
    let Source::Derived(Derived::Planned(plan), common) = &table.source else { return None };
    let types: Vec<ResultType> = match &plan.root {
        Node::SetOperation(operation) => operation.columns.clone(),
        _ => plan.columns.iter().map(|column| column.result.clone()).collect(),
    };
    let is_set = matches!(plan.root, Node::SetOperation(_));
    let mut selects = Arc::unwrap_or_clone(selects);
    let mut goes_down = false;
    let mut left = Vec::new();
    for Going { condition, stays, place } in conditions {
        let moved = |silently: bool| -> Option<Vec<Expression>> {
            let types = is_set.then_some(types.as_slice());
            selects.iter().map(|open| moved_down(open, condition, &table.slots, types, silently)).collect()
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
    goes_down.then(|| Pushed { selects, number, plan: plan.clone(), common: *common, types, left })
}

impl Pushed {
    /// Puts the plans of its SELECTs in the place of those that they had; the places of the conditions of WHERE that left it.
    /// Of a common table that other queries may name later on, the one here is none of their rows any more.
    pub fn take_in(
        self,
        block: &mut Block,
        uses: &mut Vec<CommonTableUse>,
        plans: Vec<QueryPlan>,
        convert: ConvertColumns,
    ) -> Vec<usize> {
        let Some(again) = with_operands(&self.plan, plans, &self.types, convert) else { return Vec::new() };
        let query = Derived::Planned(Arc::new(again));
        let common = self.common.map(|number| own_use(uses, number));
        block.tables[self.number].source = Source::Derived(query, common);
        self.left
    }
}

/// A condition on its way into a query in FROM.
struct Going<'c> {
    condition: &'c Expression,
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
/// makes of them. None if it cannot be said of these, or not silently.
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
fn with_operands(
    plan: &QueryPlan,
    plans: Vec<QueryPlan>,
    types: &[ResultType],
    convert: ConvertColumns,
) -> Option<QueryPlan> {
    let rows = plans.iter().map(|plan| plan.rows).sum();
    let mut plans = plans.into_iter();
    let mut again = plan.clone();
    again.rows = rows;
    match &mut again.root {
        Node::SetOperation(operation) => {
            let mut next = || {
                let plan = plans.next()?;
                Some(convert(plan.root, &plan.columns, types))
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
pub fn add_inner_conditions(tree: &JoinTree, found: &mut Vec<Expression>) {
    let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return };
    add_inner_conditions(left, found);
    if !*outer {
        add_inner_conditions(right, found);
        found.extend(conditions.iter().cloned());
    }
}
