//! From a bound SELECT to a physical tree: what is known of the rows, the joins, then groups, select list, DISTINCT, order and
//! LIMIT. Main function: [`lower`].

use crate::bind::Binder;
use crate::subquery_joins::join_subqueries;
use crate::windows::{first_order, windowed};
use errors::SqlResult;
use expression::{Expression, ExpressionKind, TypeClass};
use optimizer::{
    Block, Grouping, JoinGoal, JoinTree, Joined, LogicalSelect, Optimizer, ReadOrder, SelectItem, Source,
    Survey, compute_chosen_year, extreme_rows, holds_for_no_group, is_never, keep_in_table,
    keep_what_is_read, known_rows, leave_out_unasked, plan_joins, selectivity, skipped_ns, skipping_rows,
    tables_of, whole_table,
};
use plan::Rule;
use plan::physical::{
    Aggregate, AggregateCall, AggregateKind, ExplainRow, Node, OutputColumn, RowLimit, RowLock, SortKey,
};
use rewrite::add_inner_conditions;
use values::{TypeKind, Value};

/// The share of rows that groups are guessed to be.
const GROUP_SHARE: f64 = 0.3;

/// A physical tree.
pub(crate) struct Lowered {
    pub node: Node,
    /// Its result columns.
    pub columns: Vec<OutputColumn>,
    /// Its lines of EXPLAIN.
    pub explain: Vec<ExplainRow>,
    /// Estimated number of its rows.
    pub rows: f64,
    /// Estimated number of the joined rows, and nanoseconds that they take.
    pub joined: (f64, f64),
}

/// Chooses how a SELECT is done that is settled and whose block is on top of the stack.
pub(crate) fn lower(binder: &mut Binder<'_>, mut select: LogicalSelect) -> SqlResult<Lowered> {
    let may_count = binder.rules().has(Rule::RowCount) && !select.has_windows;
    if let Some(done) = count_only(binder.block(), &select, may_count) {
        let columns = output_columns(binder.block(), &mut select, Grouping::InOrder);
        let node = limited(done, select.limit, select.counts_all);
        return Ok(Lowered { node, columns, explain: vec![optimized_away()], rows: 1.0, joined: (1.0, 0.0) });
    }
    let last_block = binder.block_number;
    let impossible = look_at_select(&mut binder.survey(), last_block, &mut select)?;
    let is_outermost = matches!(select.select_type, "SIMPLE" | "PRIMARY");
    if !impossible && is_outermost && !binder.subqueries.plans.is_empty() {
        let mut joined = Vec::new();
        select.tree.iter().for_each(|tree| add_inner_conditions(tree, &mut joined));
        let blocks = binder.blocks.len();
        binder.subqueries.ask_first(blocks, joined.iter().chain(&select.conditions));
        binder.subqueries.ask_first(blocks, select.having.iter());
    }
    join_subqueries(binder, &mut select)?;
    let goal = join_goal(binder.block(), &select);
    let groups_by_order = goal.for_groups && !goal.order.is_empty();
    let Joined { node, ordered, mut explain, first, rows, ns } =
        joined_rows(&mut binder.optimizer(), &mut select, goal)?;
    let in_order = ordered && groups_by_order;
    let by_keys = in_order && orders_by_keys(&select, binder.block().group_keys.len());
    let ordered = if select.groups { by_keys } else { ordered && !select.distinct };
    // Windows bring rows in an order of their own.
    let comes_ordered = ordered && select.has_windows && !select.groups;
    let ordered = ordered && !select.has_windows;
    let joined = (rows, ns);
    let rows = rows_of_select(binder.block(), &select, rows);
    let first = first.map_or(0, |table| 1 << table);
    let is_wanted = ordered && !select.groups && is_order_of(binder.block(), &select, first);
    let read = ReadOrder { ordered: is_wanted, first };
    let way = match (impossible, select.rollup) {
        (true, true) => Grouping::Rollup,
        (true, false) => Grouping::InOrder,
        _ if select.is_operand => Grouping::InOrder,
        _ if select.has_windows && gives_one_row(binder.block(), &select) => Grouping::InOrder,
        _ if select.has_windows => Grouping::Windowed,
        _ => way_of_rows(binder.block(), &select, read),
    };
    let columns = output_columns(binder.block(), &mut select, way);
    if way == Grouping::Temporary {
        keep_in_table(binder.block(), &mut select.items, &mut select.order);
    }
    shown_as_text(&mut select.items, &columns);
    let needs_sort = !select.order.is_empty() && !ordered;
    let by_key = select.has_group_keys && (!in_order || needs_sort) || select.distinct;
    if let Some(first) = explain.first_mut() {
        note_ways(binder.block(), first, by_key, needs_sort);
    }
    let node = grouped(binder.block(), node, &mut select, way, in_order);
    let facts = binder.facts;
    let node = windowed(binder.block(), node, &mut select, comes_ordered, facts)?;
    let last = select.limit.is_some() && projects_last(&select, ordered)
        || !select.groups && assigns_last(&binder.optimizer(), &select, read);
    let LogicalSelect { items, order, .. } = &mut select;
    let node = if last { node } else { project(node, items, order, ordered) };
    let shown = &columns[..columns.len() - select.handed_on];
    let node = finish(node, shown, &mut select, needs_sort);
    let mut node = if last { project(node, &select.items, &mut [], true) } else { node };
    if binder.rules().has(Rule::KeptSlots) {
        keep_what_is_read(&mut node);
    }
    Ok(Lowered { node, columns, explain, rows, joined })
}

/// What EXPLAIN says of groups and sorts, those of windows included.
fn note_ways(block: &Block, row: &mut ExplainRow, by_key: bool, needs_sort: bool) {
    let sorts_windows = block.windows.windows.iter().any(|window| !window.sort_keys().is_empty());
    let joins = sorts_windows && block.own_tables() > 1;
    let notes = [(by_key || joins, "Using temporary"), (needs_sort || sorts_windows, "Using filesort")];
    row.extra.extend(notes.iter().filter(|(on, _)| *on).map(|(_, note)| (*note).to_owned()));
}

/// The rows of FROM that pass WHERE: few where an index tells which are enough, else all by joins.
fn joined_rows(
    optimizer: &mut Optimizer<'_>,
    select: &mut LogicalSelect,
    goal: JoinGoal,
) -> SqlResult<Joined> {
    if !select.has_windows
        && let Some(few) = few_rows(optimizer, select)
    {
        return Ok(few);
    }
    let conditions = std::mem::take(&mut select.conditions);
    let semijoins = std::mem::take(&mut select.semijoins);
    plan_joins(optimizer, select.tree.take(), conditions, semijoins, goal, select.is_straight)
}

/// The rows that are enough where an index tells which.
fn few_rows(optimizer: &mut Optimizer<'_>, select: &LogicalSelect) -> Option<Joined> {
    if let Some(node) = extreme_rows(optimizer, select) {
        let (explain, ns) = (vec![optimized_away()], skipped_ns(1.0));
        return Some(Joined { node, ordered: false, rows: 1.0, ns, explain, first: None });
    }
    let (node, row, rows) = skipping_rows(optimizer, select)?;
    let (explain, ns) = (row.into_iter().collect(), skipped_ns(rows));
    Some(Joined { node, ordered: false, rows, ns, explain, first: Some(0) })
}

/// How many rows come of so many joined ones.
fn rows_of_select(block: &Block, select: &LogicalSelect, joined: f64) -> f64 {
    let limit = select.limit.as_ref().and_then(|limit| literal_count(limit.count.as_ref()?));
    let rows = match select.groups {
        true if block.group_keys.is_empty() => 1.0,
        true => {
            let share: f64 = select.having.iter().map(selectivity).product();
            (joined * GROUP_SHARE * share).max(1.0)
        }
        false => joined,
    };
    limit.map_or(rows, |limit| rows.min(limit as f64))
}

/// Finds out what is known of the rows, as far as it matters. Whether there is none.
fn look_at_select(survey: &mut Survey<'_>, last_block: u32, select: &mut LogicalSelect) -> SqlResult<bool> {
    let sorts = !select.order.is_empty();
    let orders = select.groups || select.distinct || sorts;
    let differs = orders
        && !select.is_operand
        && (select.rollup || survey.optimizer.assigns || types_differ_if_kept(&select.shown));
    let is_asked_for = select.select_type == "SUBQUERY" && !select.groups;
    if select.having.iter().any(|condition| holds_for_no_group(condition, survey.optimizer.context)) {
        select.conditions.push(Expression::boolean(false));
    }
    let is_empty = select.conditions.iter().any(is_never) || select.limit.as_ref().is_some_and(wants_nothing);
    let looks = differs || is_asked_for || orders && survey.optimizer.block.tables.len() > 1;
    let wanted = (looks, differs, sorts);
    look_at_rows(survey, last_block, select.tree.as_ref(), &select.conditions, is_empty, wanted)
}

/// Finds out what is known of the rows, if `looks` or if that says which subqueries in this query are asked for; `reads` and
/// `sorts` as for [`known_rows`]. Whether there is none.
fn look_at_rows(
    survey: &mut Survey<'_>,
    last_block: u32,
    tree: Option<&JoinTree>,
    conditions: &[Expression],
    is_empty: bool,
    (looks, reads, sorts): (bool, bool, bool),
) -> SqlResult<bool> {
    if is_empty {
        leave_out_unasked(survey, last_block, true, &[]);
    }
    let is_wanted = survey.early.is_wanted();
    if looks || is_wanted {
        let known = known_rows(survey, tree, conditions, (reads, sorts))?;
        survey.optimizer.block.known = known;
    }
    let impossible = survey.optimizer.block.known.none || is_empty;
    if impossible && is_wanted {
        leave_out_unasked(survey, last_block, false, conditions);
    }
    Ok(impossible)
}

/// Whether the order is one of the first table alone, or of single rows: MySQL sorts where it is that of another table, even
/// if both are the same.
fn is_order_of(block: &Block, select: &LogicalSelect, first: u64) -> bool {
    let known = first | block.known.fixed;
    select.order.iter().all(|key| tables_of(block, &key.expression) & !known == 0)
}

/// Whether the select list assigns user variables as the rows go out: if these are sorted as they are read.
fn assigns_last(optimizer: &Optimizer<'_>, select: &LogicalSelect, read: ReadOrder) -> bool {
    let keys = select.order.iter().map(|key| &key.expression);
    optimizer.assigns
        && !(select.distinct || select.has_windows)
        && !select.order.iter().any(|key| assigns_variable(&key.expression))
        && optimizer.block.sorts_as_it_reads(keys, read)
}

/// In which order the joined rows are wanted.
fn join_goal(block: &Block, select: &LogicalSelect) -> JoinGoal {
    match (select.groups, select.distinct) {
        (false, _) if select.has_windows => JoinGoal { order: first_order(block), ..JoinGoal::default() },
        (true, false) if !select.rollup => goal_of_groups(block, select),
        (false, false) => {
            let order = select.order.clone();
            JoinGoal { order, rows_wanted: rows_wanted(select), ..JoinGoal::default() }
        }
        _ => JoinGoal::default(),
    }
}

/// Rows of a group are wanted beside each other, the groups in the order of the result where that is one of their keys.
fn goal_of_groups(block: &Block, select: &LogicalSelect) -> JoinGoal {
    let keys = &block.group_keys;
    let by_keys = orders_by_keys(select, keys.len());
    let wanted = if by_keys { &select.order[..] } else { &[] };
    let slots = wanted.iter().map(|key| (key.expression.column_slot(), key.descending));
    let mut places: Vec<(usize, bool)> =
        slots.filter_map(|(slot, descending)| Some((slot?, descending))).collect();
    let others = (0..keys.len()).filter(|at| places.iter().all(|(place, _)| place != at));
    places.extend(others.map(|at| (at, false)).collect::<Vec<_>>());
    let key = |(at, descending): (usize, bool)| SortKey { expression: keys[at].clone(), descending };
    let ends_early = by_keys && select.having.is_empty();
    JoinGoal {
        order: places.into_iter().map(key).collect(),
        rows_wanted: rows_wanted(select).filter(|_| ends_early).map(|groups| groups / GROUP_SHARE),
        for_groups: true,
        either_way: wanted.is_empty(),
    }
}

fn grouped(block: &Block, node: Node, select: &mut LogicalSelect, way: Grouping, in_order: bool) -> Node {
    let having = std::mem::take(&mut select.having);
    let rollup = select.rollup;
    let node = if select.groups {
        let mut keys = block.group_keys.clone();
        let mut aggregates = block.aggregates.clone();
        way.compute_years(&mut keys, &mut aggregates);
        aggregates.iter_mut().flat_map(|call| &mut call.arguments).for_each(compute_chosen_year);
        let sorts = rollup && order_matters(&keys, &aggregates);
        Node::Aggregate(Box::new(Aggregate { input: node, keys, aggregates, sorts, in_order, rollup }))
    } else {
        node
    };
    if having.is_empty() { node } else { Node::Filter { input: Box::new(node), conditions: having } }
}

/// Whether MySQL knows that there is one row at most, over which windows need no temporary table.
fn gives_one_row(block: &Block, select: &LogicalSelect) -> bool {
    block.tables.is_empty() || select.groups && !select.has_group_keys
}

/// How MySQL comes by the result's rows.
fn way_of_rows(block: &mut Block, select: &LogicalSelect, read: ReadOrder) -> Grouping {
    let order = &select.order;
    if select.groups {
        return block.grouping(order, select.rollup, read);
    }
    let shown: Vec<&Expression> = select.items.iter().map(|item| &item.expression).collect();
    if select.distinct {
        // MySQL makes keys of groups of the items where it reads one table.
        let keys = if block.is_single() { &shown[..] } else { &[] };
        block.settle_keys(keys.iter().copied());
        return block.distinct_grouping(&shown);
    }
    let keys = order.iter().map(|key| &key.expression);
    block.settle_keys(keys.clone());
    let ordered = read.ordered && block.known.semijoins == 0;
    match ordered || order.is_empty() || block.sorts_as_it_reads(keys, read) {
        true => Grouping::InOrder,
        false => Grouping::Sorted,
    }
}

fn output_columns(block: &Block, select: &mut LogicalSelect, way: Grouping) -> Vec<OutputColumn> {
    let columns = select.items.iter().zip(std::mem::take(&mut select.shown));
    columns.map(|(item, shown)| block.output_column(shown, &item.expression, way)).collect()
}

/// COUNT(*) of a whole table needs no rows, if the session may do without (`may`).
fn count_only(block: &Block, select: &LogicalSelect, may: bool) -> Option<Node> {
    let plain =
        may && select.groups && !select.has_group_keys && !select.has_having && select.conditions.is_empty();
    let Some(JoinTree::Table(0)) = select.tree else { return None };
    let counts = block.aggregates.iter().all(|call| call.kind == AggregateKind::CountRows);
    if !plain || !counts || block.tables[0].lock != RowLock::None {
        return None;
    }
    let Source::Base(_) = &block.tables[0].source else { return None };
    let access = whole_table(block, 0);
    let input = Node::Count(Box::new(access));
    let expressions = select.items.iter().map(|item| item.expression.clone()).collect();
    Some(Node::Project { input: Box::new(input), expressions })
}

fn optimized_away() -> ExplainRow {
    ExplainRow { extra: vec!["Select tables optimized away".to_owned()], ..ExplainRow::default() }
}

/// Whether a column has another type or shows another value when a temporary table keeps it.
fn types_differ_if_kept(shown: &[OutputColumn]) -> bool {
    shown.iter().any(|column| {
        let is_year = column.result.kind() == TypeKind::Year;
        is_year || column.clone().into_temporary().result.column_type != column.result.column_type
    })
}

/// How many rows LIMIT or EXISTS takes, if it is known. Who counts all rows reads all of them.
fn rows_wanted(select: &LogicalSelect) -> Option<f64> {
    let Some(limit) = select.limit.as_ref().filter(|_| !select.counts_all) else {
        return select.is_asked_for_row.then_some(1.0);
    };
    let known = || {
        let count = limit.count.as_ref().and_then(literal_count)?;
        let offset = limit.offset.as_ref().map_or(Some(0), literal_count)?;
        Some((count + offset) as f64)
    };
    Some(known().unwrap_or(10.0))
}

/// Whether ORDER BY is by keys of groups, if by anything.
fn orders_by_keys(select: &LogicalSelect, keys: usize) -> bool {
    select.order.iter().all(|key| key.expression.column_slot().is_some_and(|slot| slot < keys))
}

/// DISTINCT, ORDER BY and LIMIT behind the select list.
fn finish(node: Node, columns: &[OutputColumn], select: &mut LogicalSelect, needs_sort: bool) -> Node {
    let mut node = node;
    let (limit, keys) = (select.limit.take(), std::mem::take(&mut select.order));
    if select.distinct && !node.is_one_row() {
        let columns = columns.iter().map(|column| column.result.clone()).collect();
        node = Node::Distinct { input: Box::new(node), columns };
    }
    if needs_sort {
        let wanted = if select.counts_all { None } else { limit.clone() };
        node = Node::Sort { input: Box::new(node), keys, limit: wanted };
    }
    limited(node, limit, select.counts_all)
}

/// Converts the items that have members of ENUM or SET where the column has text.
fn shown_as_text(items: &mut [SelectItem], columns: &[OutputColumn]) {
    for (item, column) in items.iter_mut().zip(columns) {
        if item.expression.result.kind().has_members() && !column.result.kind().has_members() {
            let expression = std::mem::replace(&mut item.expression, Expression::null());
            item.expression = Expression::convert_character_set(expression, column.result.clone());
        }
    }
}

/// Whether the rows of groups depend on the order in which rows are aggregated.
fn order_matters(keys: &[Expression], aggregates: &[AggregateCall]) -> bool {
    let is_text = |value: &Expression| value.result.class() == TypeClass::Text;
    let is_exact = |value: &Expression| !matches!(value.result.class(), TypeClass::Text | TypeClass::Double);
    keys.iter().any(is_text)
        || aggregates.iter().any(|call| match call.kind {
            AggregateKind::CountRows | AggregateKind::Count | AggregateKind::Grouping(_) => false,
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => false,
            AggregateKind::Minimum | AggregateKind::Maximum => call.arguments.iter().any(is_text),
            AggregateKind::Sum | AggregateKind::Average => !call.arguments.iter().all(is_exact),
            AggregateKind::Variance { .. } | AggregateKind::First => true,
            AggregateKind::GroupConcat | AggregateKind::JsonArray { .. } | AggregateKind::JsonObject => true,
        })
}

fn literal_count(expression: &Expression) -> Option<u64> {
    match expression.literal()? {
        Value::Int(count) => u64::try_from(*count).ok(),
        Value::UInt(count) => Some(*count),
        _ => None,
    }
}

pub(crate) fn limited(node: Node, limit: Option<RowLimit>, count_all: bool) -> Node {
    match limit {
        Some(limit) => Node::Limit { input: Box::new(node), limit, count_all },
        None => node,
    }
}

/// Whether LIMIT takes no row, as the statement is written.
pub(crate) fn wants_nothing(limit: &RowLimit) -> bool {
    let is_zero = |count: &Expression| matches!(count.literal(), Some(Value::Int(0) | Value::UInt(0)));
    limit.count.as_ref().is_some_and(is_zero) && limit.offset.as_ref().is_none_or(is_zero)
}

/// Whether the select list is computed for the rows that LIMIT leaves only: where it is more than columns, and no sort
/// key is one of its values.
fn projects_last(select: &LogicalSelect, ordered: bool) -> bool {
    let is_plain =
        |expression: &Expression| expression.column_slot().is_some() || expression.literal().is_some();
    !select.distinct
        && !select.items.iter().all(|item| is_plain(&item.expression))
        && (ordered || select.order.iter().all(|key| is_plain(&key.expression)))
}

fn assigns_variable(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part.kind, ExpressionKind::AssignUserVariable(..)))
}

/// Whether both assign the same to one user variable: a sort key that is a select item does not assign again.
fn is_same_assignment(left: &Expression, right: &Expression) -> bool {
    match (&left.kind, &right.kind) {
        (
            ExpressionKind::AssignUserVariable(name, value),
            ExpressionKind::AssignUserVariable(other, other_value),
        ) => name == other && value.same(other_value),
        _ => false,
    }
}

/// The select list, with sort keys that are not in it appended. Sort keys become slots of the projected row.
fn project(node: Node, items: &[SelectItem], order: &mut [SortKey], ordered: bool) -> Node {
    let mut expressions: Vec<Expression> = items.iter().map(|item| item.expression.clone()).collect();
    if !ordered {
        for key in order {
            let is_it = |known: &Expression| {
                known.same(&key.expression) || is_same_assignment(known, &key.expression)
            };
            let at = expressions.iter().position(is_it).unwrap_or_else(|| {
                expressions.push(key.expression.clone());
                expressions.len() - 1
            });
            key.expression = Expression::slot(at, "sort key".into(), key.expression.result.clone());
        }
    }
    expressions[..items.len()].iter_mut().for_each(compute_chosen_year);
    Node::Project { input: Box::new(node), expressions }
}
