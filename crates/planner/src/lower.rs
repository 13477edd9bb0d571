//! From a bound SELECT to a physical tree: what is known of the rows, the joins, then groups, select list, DISTINCT, order and
//! LIMIT. Main function: [`Binder::lower`].

use crate::bind::Binder;
use crate::rewrite::add_inner_conditions;
use errors::SqlResult;
use expression::{Expression, ExpressionKind, TypeClass};
use optimizer::{
    Grouping, JoinGoal, JoinTree, Joined, LogicalSelect, ReadOrder, SelectItem, Source, compute_chosen_year,
    extreme_rows, holds_for_no_group, is_never, keep_in_table, keep_what_is_read, known_rows,
    leave_out_unasked, plan_joins, selectivity, skipping_rows, tables_of, whole_table,
};
use plan::Rule;
use plan::physical::{
    Aggregate, AggregateCall, AggregateKind, ExplainRow, Node, OutputColumn, RowLimit, RowLock, SortKey,
};
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
}

impl Binder<'_> {
    /// Chooses how a SELECT is done that is settled and whose block is on top of the stack.
    pub(crate) fn lower(&mut self, mut select: LogicalSelect) -> SqlResult<Lowered> {
        if let Some(done) = self.count_only(&select) {
            let columns = self.output_columns(&select, Grouping::InOrder);
            let node = limited(done, select.limit, select.counts_all);
            return Ok(Lowered { node, columns, explain: vec![optimized_away()], rows: 1.0 });
        }
        let impossible = self.look_at_select(&mut select)?;
        let is_outermost = matches!(select.select_type, "SIMPLE" | "PRIMARY");
        if !impossible && is_outermost && !self.subqueries.is_empty() {
            let mut joined = Vec::new();
            select.tree.iter().for_each(|tree| add_inner_conditions(tree, &mut joined));
            self.ask_first(joined.iter().chain(&select.conditions));
            self.ask_first(select.having.iter());
        }
        self.join_subqueries(&mut select)?;
        let goal = self.join_goal(&select);
        let groups_by_order = goal.for_groups && !goal.order.is_empty();
        let Joined { node, ordered, mut explain, first, rows } = match self.few_rows(&select) {
            Some(few) => few,
            None => {
                let conditions = std::mem::take(&mut select.conditions);
                let semijoins = std::mem::take(&mut select.semijoins);
                plan_joins(
                    &mut self.optimizer(),
                    select.tree.take(),
                    conditions,
                    semijoins,
                    goal,
                    select.is_straight,
                )?
            }
        };
        let in_order = ordered && groups_by_order;
        let by_keys = in_order && orders_by_keys(&select, self.block().group_keys.len());
        let ordered = if select.groups { by_keys } else { ordered && !select.distinct };
        let rows = self.rows_of_select(&select, rows);
        let first = first.map_or(0, |table| 1 << table);
        let is_wanted = ordered && !select.groups && self.is_order_of(&select, first);
        let read = ReadOrder { ordered: is_wanted, first };
        let way = match (impossible, select.rollup) {
            (true, true) => Grouping::Rollup,
            (true, false) => Grouping::InOrder,
            _ if select.is_operand => Grouping::InOrder,
            _ => self.way_of_rows(&select, read),
        };
        let columns = self.output_columns(&select, way);
        if way == Grouping::Temporary {
            keep_in_table(self.block(), &mut select.items, &mut select.order);
        }
        shown_as_text(&mut select.items, &columns);
        let needs_sort = !select.order.is_empty() && !ordered;
        if let Some(first) = explain.first_mut() {
            let by_key = select.has_group_keys && (!in_order || needs_sort) || select.distinct;
            let notes = [(by_key, "Using temporary"), (needs_sort, "Using filesort")];
            first.extra.extend(notes.iter().filter(|(on, _)| *on).map(|(_, note)| (*note).to_owned()));
        }
        let node = self.grouped(node, &mut select, way, in_order);
        let last = select.limit.is_some() && projects_last(&select, ordered)
            || !select.groups && self.assigns_last(&select, read);
        let LogicalSelect { items, order, .. } = &mut select;
        let node = if last { node } else { project(node, items, order, ordered) };
        let shown = &columns[..columns.len() - select.handed_on];
        let node = finish(node, shown, &mut select, needs_sort);
        let mut node = if last { project(node, &select.items, &mut [], true) } else { node };
        if self.input.context.rules().has(Rule::KeptSlots) {
            keep_what_is_read(&mut node);
        }
        Ok(Lowered { node, columns, explain, rows })
    }

    /// The rows that are enough where an index tells which.
    fn few_rows(&mut self, select: &LogicalSelect) -> Option<Joined> {
        if let Some(node) = extreme_rows(&mut self.optimizer(), select) {
            let explain = vec![optimized_away()];
            return Some(Joined { node, ordered: false, rows: 1.0, explain, first: None });
        }
        let (node, row, rows) = skipping_rows(&mut self.optimizer(), select)?;
        Some(Joined { node, ordered: false, rows, explain: vec![row], first: Some(0) })
    }

    /// How many rows come of so many joined ones.
    fn rows_of_select(&mut self, select: &LogicalSelect, joined: f64) -> f64 {
        let limit = select.limit.as_ref().and_then(|limit| literal_count(limit.count.as_ref()?));
        let rows = match select.groups {
            true if self.block().group_keys.is_empty() => 1.0,
            true => {
                let share: f64 = select.having.iter().map(selectivity).product();
                (joined * GROUP_SHARE * share).max(1.0)
            }
            false => joined,
        };
        limit.map_or(rows, |limit| rows.min(limit as f64))
    }

    /// Brings FROM and the conditions of WHERE and of joins to the form in which they are planned.
    pub(crate) fn settle_select(&mut self, select: &mut LogicalSelect) -> SqlResult<()> {
        self.take_in_derived(select)?;
        let conditions = std::mem::take(&mut select.conditions);
        let conditions = self.factor_alternatives(conditions);
        select.conditions = self.settled_from(select.tree.as_mut(), conditions)?;
        self.keep_times_of_rows(select);
        self.push_into_derived(select)
    }

    /// Finds out what is known of the rows, as far as it matters. Whether there is none.
    fn look_at_select(&mut self, select: &mut LogicalSelect) -> SqlResult<bool> {
        let sorts = !select.order.is_empty();
        let orders = select.groups || select.distinct || sorts;
        let differs = orders
            && !select.is_operand
            && (select.rollup || self.assigns || types_differ_if_kept(&select.shown));
        let is_asked_for = select.select_type == "SUBQUERY" && !select.groups;
        if select.having.iter().any(|condition| holds_for_no_group(condition, self.input.context)) {
            select.conditions.push(Expression::boolean(false));
        }
        let is_empty =
            select.conditions.iter().any(is_never) || select.limit.as_ref().is_some_and(wants_nothing);
        let looks = differs || is_asked_for || orders && self.block().tables.len() > 1;
        self.look_at_rows(select.tree.as_ref(), &select.conditions, is_empty, (looks, differs, sorts))
    }

    /// Finds out what is known of the rows, if `looks` or if that says which subqueries in this query are asked for; `reads` and
    /// `sorts` as for [`known_rows`]. Whether there is none.
    fn look_at_rows(
        &mut self,
        tree: Option<&JoinTree>,
        conditions: &[Expression],
        is_empty: bool,
        (looks, reads, sorts): (bool, bool, bool),
    ) -> SqlResult<bool> {
        if is_empty {
            let last = self.block_number;
            leave_out_unasked(&mut self.survey(), last, true, &[]);
        }
        let is_wanted = self.early.is_wanted();
        if looks || is_wanted {
            let known = known_rows(&mut self.survey(), tree, conditions, (reads, sorts))?;
            self.block().known = known;
        }
        let impossible = self.block().known.none || is_empty;
        if impossible && is_wanted {
            let last = self.block_number;
            leave_out_unasked(&mut self.survey(), last, false, conditions);
        }
        Ok(impossible)
    }

    /// Whether the order is one of the first table alone, or of single rows: MySQL sorts where it is that of another table, even
    /// if both are the same.
    fn is_order_of(&mut self, select: &LogicalSelect, first: u64) -> bool {
        let block = self.block();
        let known = first | block.known.fixed;
        select.order.iter().all(|key| tables_of(block, &key.expression) & !known == 0)
    }

    /// Whether the select list assigns user variables as the rows go out: if these are sorted as they are read.
    fn assigns_last(&mut self, select: &LogicalSelect, read: ReadOrder) -> bool {
        let keys = select.order.iter().map(|key| &key.expression);
        self.assigns
            && !select.distinct
            && !select.order.iter().any(|key| assigns_variable(&key.expression))
            && self.block().sorts_as_it_reads(keys, read)
    }

    /// [`Binder::keep_times`] in all that is over rows.
    fn keep_times_of_rows(&mut self, select: &mut LogicalSelect) {
        let mut keys = std::mem::take(&mut self.block().group_keys);
        let mut aggregates = std::mem::take(&mut self.block().aggregates);
        let arguments = aggregates.iter_mut().flat_map(|call| &mut call.arguments);
        let mut others: Vec<&mut Expression> = keys.iter_mut().chain(arguments).collect();
        if !select.groups {
            others.extend(select.items.iter_mut().map(|item| &mut item.expression));
            others.extend(select.order.iter_mut().map(|key| &mut key.expression));
        }
        self.keep_times(select.tree.as_mut(), &mut select.conditions, &mut others);
        self.block().group_keys = keys;
        self.block().aggregates = aggregates;
    }

    /// In which order the joined rows are wanted.
    fn join_goal(&mut self, select: &LogicalSelect) -> JoinGoal {
        match (select.groups, select.distinct) {
            (true, false) if !select.rollup => self.goal_of_groups(select),
            (false, false) => {
                let order = select.order.clone();
                JoinGoal { order, rows_wanted: rows_wanted(select), ..JoinGoal::default() }
            }
            _ => JoinGoal::default(),
        }
    }

    /// Rows of a group are wanted beside each other, the groups in the order of the result where that is one of their keys.
    fn goal_of_groups(&mut self, select: &LogicalSelect) -> JoinGoal {
        let keys = &self.block().group_keys;
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

    fn grouped(&mut self, node: Node, select: &mut LogicalSelect, way: Grouping, in_order: bool) -> Node {
        let having = std::mem::take(&mut select.having);
        let rollup = select.rollup;
        let node = if select.groups {
            let block = self.block();
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

    /// How MySQL comes by the result's rows.
    fn way_of_rows(&mut self, select: &LogicalSelect, read: ReadOrder) -> Grouping {
        let block = self.block();
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

    fn output_columns(&mut self, select: &LogicalSelect, way: Grouping) -> Vec<OutputColumn> {
        let block = &*self.block();
        let columns = select.items.iter().zip(&select.shown);
        columns.map(|(item, shown)| block.output_column(shown.clone(), &item.expression, way)).collect()
    }

    /// COUNT(*) of a whole table needs no rows.
    fn count_only(&mut self, select: &LogicalSelect) -> Option<Node> {
        let may = self.input.context.rules().has(Rule::RowCount);
        let plain = may
            && select.groups
            && !select.has_group_keys
            && !select.has_having
            && select.conditions.is_empty();
        let Some(JoinTree::Table(0)) = select.tree else { return None };
        let block = self.block();
        let counts = block.aggregates.iter().all(|call| call.kind == AggregateKind::CountRows);
        if !plain || !counts || block.tables[0].lock != RowLock::None {
            return None;
        }
        let Source::Base(_) = &block.tables[0].source else { return None };
        let access = whole_table(self.block(), 0);
        let input = Node::Count(Box::new(access));
        let expressions = select.items.iter().map(|item| item.expression.clone()).collect();
        Some(Node::Project { input: Box::new(input), expressions })
    }
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

/// How many rows LIMIT takes, if it is known. Who counts all rows reads all of them.
fn rows_wanted(select: &LogicalSelect) -> Option<f64> {
    let limit = select.limit.as_ref().filter(|_| !select.counts_all)?;
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
            AggregateKind::Variance { .. } | AggregateKind::GroupConcat | AggregateKind::First => true,
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
