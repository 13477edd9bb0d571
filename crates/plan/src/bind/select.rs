//! One SELECT: FROM, WHERE, grouping, HAVING, the select list, DISTINCT, ORDER BY and LIMIT, in the order in which
//! MySQL resolves them.

use super::column::{Block, BoundTable, Clause};
use super::dependence::DerivedDependence;
use super::from::conjuncts;
use super::group::Grouped;
use super::names::SelectItem;
use super::output::{Grouping, ReadOrder, compute_chosen_year};
use super::{Binder, JoinTree, Wanted, is_never};
use crate::optimize::{JoinGoal, Joined};
use crate::physical::{
    Aggregate, AggregateCall, AggregateKind, ExplainRow, KeyCondition, Node, OutputColumn, QueryPlan,
    RowLimit, RowLock, SortKey,
};
use ::expression::{Expression, ExpressionKind, SqlMode, TypeClass};
use engine::WaitPolicy;
use errors::{SqlResult, sql_error};
use parser::ast;
use std::sync::Arc;
use values::Value;

/// What stands around a SELECT and belongs to it.
pub(crate) struct Surroundings<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    pub locking: &'q [ast::LockingClause],
    pub select_type: &'static str,
}

/// The clauses of a SELECT but FROM. What follows the grouping reads groups.
struct BoundClauses {
    items: Vec<SelectItem>,
    /// WHERE, taken apart at its ANDs; likewise HAVING.
    conditions: Vec<Expression>,
    having: Vec<Expression>,
    order: Vec<SortKey>,
    limit: Option<RowLimit>,
    /// Whether it groups, be it in one group.
    grouping: bool,
    /// How many items behind the others are not of the result.
    handed_on: usize,
}

impl Binder<'_> {
    /// Binds a SELECT as a block of its own.
    pub fn select(&mut self, select: &ast::Select, around: &Surroundings<'_>) -> SqlResult<QueryPlan> {
        self.enter()?;
        self.block_number += 1;
        self.blocks.push(Block { number: self.block_number, ..Block::default() });
        let bound = self.select_parts(select, around);
        let block = self.blocks.pop().unwrap_or_default();
        self.leave();
        if self.source.wanted && self.depth == 1 && select.group_by.is_empty() && block.aggregates.is_empty()
        {
            self.source.tables.clone_from(&block.tables);
            self.source.visible.clone_from(&block.visible);
        }
        let (root, columns, mut explain) = bound?;
        let dependent = !block.outer.is_empty();
        for row in &mut explain {
            row.id = Some(block.number);
            row.select_type = match (around.select_type, dependent) {
                ("SUBQUERY", true) => "DEPENDENT SUBQUERY",
                (other, _) => other,
            };
        }
        self.explain.extend(explain.iter().cloned());
        let (outer, dependence, is_empty) = (block.outer, block.dependence, block.known.has_no_keys);
        Ok(QueryPlan { root, columns, outer, explain, dependence, is_empty })
    }

    fn select_parts(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
    ) -> SqlResult<(Node, Vec<OutputColumn>, Vec<ExplainRow>)> {
        if !select.windows.is_empty() || select.qualify.is_some() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "window functions"));
        }
        let is_operand = std::mem::take(&mut self.is_operand);
        let mut tree = self.bind_from(&select.from)?;
        self.require_read();
        self.lock_tables(around.locking)?;
        let bound = self.bind_clauses(select, around, tree.as_ref())?;
        let BoundClauses { mut items, conditions, having, mut order, limit, grouping, handed_on } = bound;
        self.block().rollup = select.rollup;
        let mut conditions = self.settled_from(tree.as_mut(), conditions)?;
        self.keep_times_of_rows(tree.as_mut(), &mut conditions, &mut items, &mut order, grouping);
        if let Some(done) = self.count_only(select, &items, &tree, &conditions, grouping) {
            let row = ExplainRow {
                extra: vec!["Select tables optimized away".to_owned()],
                ..ExplainRow::default()
            };
            let columns = self.output_columns(&items, Grouping::InOrder);
            return Ok((limited(done, limit, select.options.calc_found_rows), columns, vec![row]));
        }
        let orders = grouping || select.options.distinct || !order.is_empty();
        let differs =
            orders && !is_operand && (select.rollup || self.assigns || self.types_differ_if_kept(&items));
        let sorts = !order.is_empty();
        let is_asked_for = around.select_type == "SUBQUERY" && !grouping;
        if having.iter().any(|condition| self.holds_for_no_group(condition)) {
            conditions.push(Expression::boolean(false));
        }
        let is_empty = conditions.iter().any(is_never) || limit.as_ref().is_some_and(wants_nothing);
        let looks = differs || is_asked_for || orders && self.block().tables.len() > 1;
        let impossible = self.look_at_rows(tree.as_ref(), &conditions, is_empty, (looks, differs, sorts))?;
        let goal = self.join_goal(&order, grouping, select.options.distinct, limit.as_ref());
        let extreme = self.extreme_row(&tree, &conditions);
        let Joined { node, ordered, mut explain, first, .. } = match extreme {
            Some((node, row)) => Joined { node, ordered: false, rows: 1.0, explain: vec![row], first: None },
            None => self.plan_joins(tree, conditions, goal, select.options.straight_join)?,
        };
        let ordered = ordered && !grouping && !select.options.distinct;
        let read = ReadOrder { ordered, first: first.map_or(0, |table| 1 << table) };
        let way = match (impossible, select.rollup) {
            (true, true) => Grouping::Rollup,
            (true, false) => Grouping::InOrder,
            _ if is_operand => Grouping::InOrder,
            _ => self.way_of_rows(&items, select, &order, grouping, read),
        };
        let columns = self.output_columns(&items, way);
        if way == Grouping::Temporary {
            self.keep_in_table(&mut items, &mut order);
        }
        shown_as_text(&mut items, &columns);
        let node = self.grouped(node, grouping, select.rollup, way, having);
        let needs_sort = !order.is_empty() && !ordered;
        let last = limit.is_some() && projects_last(select, &items, &order, ordered)
            || !grouping && self.assigns_last(select, &order, read);
        let node = if last { node } else { project(node, &items, &mut order, ordered) };
        let shown = &columns[..columns.len() - handed_on];
        let node = self.finish(node, shown, select, order, limit, needs_sort);
        let node = if last { project(node, &items, &mut [], true) } else { node };
        if let Some(first) = explain.first_mut() {
            let by_key = grouping && !select.group_by.is_empty() || select.options.distinct;
            let notes = [(by_key, "Using temporary"), (needs_sort, "Using filesort")];
            first.extra.extend(notes.iter().filter(|(on, _)| *on).map(|(_, note)| (*note).to_owned()));
        }
        Ok((node, columns, explain))
    }

    /// Finds out what is known of the rows, if `looks` or if that says which subqueries in this query are asked for; `reads` and
    /// `sorts` as for [`Binder::known_rows`]. Whether there is none.
    fn look_at_rows(
        &mut self,
        tree: Option<&JoinTree>,
        conditions: &[Expression],
        is_empty: bool,
        (looks, reads, sorts): (bool, bool, bool),
    ) -> SqlResult<bool> {
        if is_empty {
            self.leave_out_unasked(true, &[]);
        }
        let is_wanted = self.early.is_wanted();
        if looks || is_wanted {
            self.block().known = self.known_rows(tree, conditions, (reads, sorts))?;
        }
        let impossible = self.block().known.none || is_empty;
        if impossible && is_wanted {
            self.leave_out_unasked(false, conditions);
        }
        Ok(impossible)
    }

    /// Whether the select list assigns user variables as the rows go out: if these are sorted as they are read.
    fn assigns_last(&mut self, select: &ast::Select, order: &[SortKey], read: ReadOrder) -> bool {
        let keys = order.iter().map(|key| &key.expression);
        self.assigns
            && !select.options.distinct
            && !order.iter().any(|key| assigns_variable(&key.expression))
            && self.block().sorts_as_it_reads(keys, read)
    }

    /// [`Binder::keep_times`] in all that is over rows.
    fn keep_times_of_rows(
        &mut self,
        tree: Option<&mut JoinTree>,
        conditions: &mut [Expression],
        items: &mut [SelectItem],
        order: &mut [SortKey],
        grouping: bool,
    ) {
        let mut keys = std::mem::take(&mut self.block().group_keys);
        let mut aggregates = std::mem::take(&mut self.block().aggregates);
        let arguments = aggregates.iter_mut().flat_map(|call| &mut call.arguments);
        let mut others: Vec<&mut Expression> = keys.iter_mut().chain(arguments).collect();
        if !grouping {
            others.extend(items.iter_mut().map(|item| &mut item.expression));
            others.extend(order.iter_mut().map(|key| &mut key.expression));
        }
        self.keep_times(tree, conditions, &mut others);
        self.block().group_keys = keys;
        self.block().aggregates = aggregates;
    }

    /// Binds the clauses in MySQL's order, and rewrites what follows the grouping to read groups.
    fn bind_clauses(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
        tree: Option<&JoinTree>,
    ) -> SqlResult<BoundClauses> {
        // MySQL reports mistakes in the select list before those in WHERE.
        self.block().clause = Clause::FieldList;
        self.select_items(select)?;
        let handed_on = self.hand_on_columns();
        let mut conditions = Vec::new();
        if let Some(filter) = &select.filter {
            self.block().clause = Clause::Where;
            conditions = conjuncts(self.scalar_as(filter, Wanted::integer())?);
            self.compare_joined_dates(&conditions);
        }
        self.bind_group_keys(select)?;
        self.block().clause = Clause::Having;
        let mut having = match &select.having {
            Some(condition) => conjuncts(self.scalar_as(condition, Wanted::integer())?),
            None => Vec::new(),
        };
        self.block().clause = Clause::OrderBy;
        let groups = !select.group_by.is_empty() || !self.block().aggregates.is_empty();
        let mut order = self.order_keys(around.order_by, groups)?;
        let limit = self.limit(around.limit)?;

        // An aggregate of this query may stand in a subquery of any clause.
        let grouping = groups || !self.block().aggregates.is_empty();
        if grouping && select.group_by.is_empty() {
            // One row needs no order.
            order.clear();
        }
        self.refuse_in_recursion(select, around, grouping)?;
        if around.select_type == "DERIVED" && !select.rollup {
            self.describe_dependence(tree, &conditions, grouping);
        }
        let mut items = self.block().items.clone();
        if grouping {
            self.find_groupings()?;
            let query = Grouped { select, having: &having, order: &order, tree, conditions: &conditions };
            self.check_groups(&query)?;
            self.check_distinct_order(select, &order)?;
            self.group_expressions(&mut items, &mut having, &mut order, select.rollup);
        }
        if !grouping {
            self.check_distinct_order(select, &order)?;
        }
        order.retain(|key| key.expression.literal().is_none());
        Ok(BoundClauses { items, conditions, having, order, limit, grouping, handed_on })
    }

    /// What a step of a recursive query may not do with the rows of the last round: error 3575 for groups, 1235 for a
    /// part or an order of them.
    fn refuse_in_recursion(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
        grouping: bool,
    ) -> SqlResult<()> {
        let Some(name) = self.recursive_table_in_block() else { return Ok(()) };
        if grouping {
            return Err(sql_error!(ER_CTE_RECURSIVE_FORBIDS_AGGREGATION, name));
        }
        if select.options.distinct || !around.order_by.is_empty() || around.limit.is_some() {
            let what =
                "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression";
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, what));
        }
        Ok(())
    }

    /// For a derived table: what the query that reads it may know of its columns.
    fn describe_dependence(&mut self, tree: Option<&JoinTree>, conditions: &[Expression], grouped: bool) {
        if self.facts.sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY) {
            let block = self.block();
            let described = DerivedDependence::of(block, tree, conditions, grouped);
            block.dependence = Some(Arc::new(described));
        }
    }

    fn grouped(
        &mut self,
        node: Node,
        grouping: bool,
        rollup: bool,
        way: Grouping,
        having: Vec<Expression>,
    ) -> Node {
        let node = if grouping {
            let block = self.block();
            let mut keys = block.group_keys.clone();
            let mut aggregates = block.aggregates.clone();
            way.compute_years(&mut keys, &mut aggregates);
            aggregates.iter_mut().flat_map(|call| &mut call.arguments).for_each(compute_chosen_year);
            let sorts = rollup && order_matters(&keys, &aggregates);
            Node::Aggregate(Box::new(Aggregate { input: node, keys, aggregates, sorts, rollup }))
        } else {
            node
        };
        if having.is_empty() { node } else { Node::Filter { input: Box::new(node), conditions: having } }
    }

    fn finish(
        &self,
        node: Node,
        columns: &[OutputColumn],
        select: &ast::Select,
        order: Vec<SortKey>,
        limit: Option<RowLimit>,
        needs_sort: bool,
    ) -> Node {
        let mut node = node;
        if select.options.distinct {
            let columns = columns.iter().map(|column| column.result.clone()).collect();
            node = Node::Distinct { input: Box::new(node), columns };
        }
        if needs_sort {
            let wanted = if select.options.calc_found_rows { None } else { limit.clone() };
            node = Node::Sort { input: Box::new(node), keys: order, limit: wanted };
        }
        limited(node, limit, select.options.calc_found_rows)
    }

    fn lock_tables(&mut self, locking: &[ast::LockingClause]) -> SqlResult<()> {
        for clause in locking {
            let wait = match clause.wait {
                ast::LockWait::Wait => WaitPolicy::Wait,
                ast::LockWait::NoWait => WaitPolicy::NoWait,
                ast::LockWait::SkipLocked => WaitPolicy::SkipLocked,
            };
            let lock = match clause.strength {
                ast::LockStrength::Share => RowLock::Shared(wait),
                ast::LockStrength::Update => RowLock::Exclusive(wait),
            };
            for name in &clause.tables {
                if !self.block().tables.iter().any(|table| table.alias == name.name) {
                    return Err(sql_error!(ER_UNRESOLVED_TABLE_LOCK, name));
                }
            }
            let chosen = |table: &BoundTable| {
                clause.tables.is_empty() || clause.tables.iter().any(|name| name.name == table.alias)
            };
            match clause.strength {
                ast::LockStrength::Update => self.require_locking(chosen),
                ast::LockStrength::Share if self.block().tables.iter().any(is_information_view) => {
                    return Err(sql_error!(ER_IS_QUERY_INVALID_CLAUSE, "LOCK IN SHARE MODE"));
                }
                ast::LockStrength::Share => {}
            }
            let locks = !self.input.explains;
            for table in self.block().tables.iter_mut().filter(|table| locks && chosen(table)) {
                table.lock = lock;
            }
        }
        Ok(())
    }

    /// Binds the select list, item by item: subqueries see the aliases of those before.
    fn select_items(&mut self, select: &ast::Select) -> SqlResult<()> {
        let aliases = select.items.iter().rev().filter_map(|item| match item {
            ast::SelectItem::Expression { alias, .. } => alias.clone(),
            _ => None,
        });
        self.block().later_aliases = aliases.collect();
        for item in &select.items {
            match item {
                ast::SelectItem::Wildcard => {
                    if self.block().tables.is_empty() {
                        return Err(sql_error!(ER_NO_TABLES_USED));
                    }
                    let visible = self.block().visible.clone();
                    self.expand(&visible);
                }
                ast::SelectItem::TableWildcard(name) => {
                    let found = self.block().tables.iter().position(|table| {
                        table.alias == name.name
                            && name.schema.as_ref().is_none_or(|schema| table.schema.as_ref() == Some(schema))
                    });
                    let Some(table) = found else { return Err(sql_error!(ER_BAD_TABLE_ERROR, name)) };
                    let columns = &self.block().tables[table].columns;
                    let shown: Vec<(usize, usize)> = (0..columns.len())
                        .filter(|column| !columns[*column].invisible)
                        .map(|column| (table, column))
                        .collect();
                    self.expand(&shown);
                }
                ast::SelectItem::Expression { expression, alias, text } => {
                    let mut bound = self.scalar(expression)?;
                    let name = match alias {
                        Some(alias) => alias.clone(),
                        None => self.item_name(expression, text)?,
                    };
                    if let ExpressionKind::Cast(cast) = &mut bound.kind {
                        cast.column = Some(name.as_str().into());
                    }
                    let block = self.block();
                    if alias.is_some() {
                        block.later_aliases.pop();
                    }
                    block.items.push(SelectItem { name, expression: bound });
                }
            }
        }
        Ok(())
    }

    /// Adds the columns that ON DUPLICATE KEY UPDATE reads to the select list of the rows to be inserted; says how many.
    fn hand_on_columns(&mut self) -> usize {
        if self.depth != 2 {
            return 0;
        }
        let columns = std::mem::take(&mut self.source.handed_on);
        self.expand(&columns);
        columns.len()
    }

    /// The name of a select item without alias.
    fn item_name(&mut self, item: &ast::Expression, text: &str) -> SqlResult<String> {
        match item {
            ast::Expression::Column(reference) => self.column_item_name(reference),
            ast::Expression::Function(call) if call.name.eq_ignore_ascii_case("name_const") => {
                Ok(match call.arguments.first() {
                    Some(ast::Expression::Literal(ast::Literal::String { bytes, .. })) => {
                        String::from_utf8_lossy(bytes).into_owned()
                    }
                    _ => text.to_owned(),
                })
            }
            _ => Ok(text.to_owned()),
        }
    }

    /// A column is called as the statement writes it; those of derived tables and of the views in information_schema
    /// keep their own names.
    fn column_item_name(&mut self, reference: &ast::ColumnReference) -> SqlResult<String> {
        let virtual_tables = self.input.virtual_tables;
        if let Some((table, column)) = self.block().find(reference)? {
            let table = &self.block().tables[table];
            let keeps = match &table.source {
                super::Source::Virtual(definition) => {
                    virtual_tables.keeps_column_names(&definition.name.schema, &definition.name.table)
                }
                super::Source::Derived(..) => true,
                _ => false,
            };
            if keeps {
                return Ok(table.columns[column].name.clone());
            }
        }
        Ok(reference.column.clone())
    }

    fn expand(&mut self, columns: &[(usize, usize)]) {
        let level = self.blocks.len() - 1;
        let mut tables: Vec<usize> = columns.iter().map(|(table, _)| *table).collect();
        tables.dedup();
        tables.into_iter().for_each(|table| self.require_whole_read(table));
        for (table, column) in columns {
            let expression = self.column_of(level, *table, *column);
            let name = self.blocks[level].tables[*table].columns[*column].name.clone();
            self.blocks[level].items.push(SelectItem { name, expression });
        }
    }

    /// LIMIT takes constants and parameters.
    pub fn limit(&mut self, limit: Option<&ast::Limit>) -> SqlResult<Option<RowLimit>> {
        let Some(limit) = limit else { return Ok(None) };
        let count = Some(self.scalar_as(&limit.count, Wanted::row_count())?);
        let offset = limit.offset.as_ref();
        let offset = offset.map(|offset| self.scalar_as(offset, Wanted::row_count())).transpose()?;
        Ok(Some(RowLimit { count, offset }))
    }

    /// Rewrites what follows the grouping to read groups.
    fn group_expressions(
        &mut self,
        items: &mut [SelectItem],
        having: &mut [Expression],
        order: &mut [SortKey],
        rollup: bool,
    ) {
        let items = items.iter_mut().map(|item| &mut item.expression);
        let order = order.iter_mut().map(|key| &mut key.expression);
        items.chain(having).chain(order).for_each(|expression| self.over_groups(expression, rollup));
    }

    /// How MySQL comes by the result's rows.
    fn way_of_rows(
        &mut self,
        items: &[SelectItem],
        select: &ast::Select,
        order: &[SortKey],
        grouping: bool,
        read: ReadOrder,
    ) -> Grouping {
        let block = self.block();
        if grouping {
            return block.grouping(order, select.rollup, read);
        }
        let shown: Vec<&Expression> = items.iter().map(|item| &item.expression).collect();
        if select.options.distinct {
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

    fn output_columns(&mut self, items: &[SelectItem], way: Grouping) -> Vec<OutputColumn> {
        items.iter().map(|item| self.output_column(&item.name, &item.expression, way)).collect()
    }

    /// COUNT(*) of a whole table needs no rows.
    fn count_only(
        &mut self,
        select: &ast::Select,
        items: &[SelectItem],
        tree: &Option<JoinTree>,
        conditions: &[Expression],
        grouping: bool,
    ) -> Option<Node> {
        let plain =
            grouping && select.group_by.is_empty() && select.having.is_none() && conditions.is_empty();
        let Some(JoinTree::Table(0)) = tree else { return None };
        let block = self.block();
        let counts = block.aggregates.iter().all(|call| call.kind == AggregateKind::CountRows);
        if !plain || !counts || block.tables[0].lock != RowLock::None {
            return None;
        }
        let super::Source::Base(_) = &block.tables[0].source else { return None };
        let access = self.whole_table(0);
        let input = Node::Count(Box::new(access));
        let expressions = items.iter().map(|item| item.expression.clone()).collect();
        Some(Node::Project { input: Box::new(input), expressions })
    }

    /// MIN or MAX of the first column of an index needs one row: the first or the last that is not NULL.
    fn extreme_row(
        &mut self,
        tree: &Option<JoinTree>,
        conditions: &[Expression],
    ) -> Option<(Node, ExplainRow)> {
        let Some(JoinTree::Table(0)) = tree else { return None };
        let block = self.block();
        let [call] = block.aggregates.as_slice() else { return None };
        let highest = match call.kind {
            AggregateKind::Minimum => false,
            AggregateKind::Maximum => true,
            _ => return None,
        };
        let (_, column) = *block.slots.get(call.arguments.first()?.column_slot()?)?;
        let plain = conditions.is_empty() && block.group_keys.is_empty();
        if !plain || block.tables[0].lock != RowLock::None {
            return None;
        }
        let super::Source::Base(table) = &block.tables[0].source else { return None };
        let table = table.clone();
        let kind = table.definition().columns[column].column_type.kind;
        if kind.has_members() {
            return None;
        }
        let index = (0..table.indexes().len()).find(|index| {
            let index = &table.indexes()[*index];
            index.definition(&table).is_some_and(|definition| {
                let first = &definition.parts[0];
                let is_whole = first.column == column && first.prefix_length.is_none();
                !definition.invisible && is_whole && index.orders_rows()
            })
        })?;
        let definition = table.indexes()[index].definition(&table)?;
        let mut access = self.whole_table(0);
        access.path.index = index;
        access.path.ranges = Some(vec![vec![KeyCondition::Range { low: None, high: None }]]);
        access.path.backward = highest != definition.parts[0].descending;
        access.path.ordered = true;
        let one = RowLimit { count: Some(Expression::integer(1)), offset: None };
        let row =
            ExplainRow { extra: vec!["Select tables optimized away".to_owned()], ..ExplainRow::default() };
        Some((limited(Node::Table(Box::new(access)), Some(one), false), row))
    }

    fn join_goal(
        &mut self,
        order: &[SortKey],
        grouping: bool,
        distinct: bool,
        limit: Option<&RowLimit>,
    ) -> JoinGoal {
        if grouping || distinct {
            return JoinGoal::default();
        }
        let wanted = limit.and_then(|limit| {
            let count = limit.count.as_ref().and_then(literal_count)?;
            let offset = limit.offset.as_ref().map_or(Some(0), literal_count)?;
            Some((count + offset) as f64)
        });
        JoinGoal { order: order.to_vec(), rows_wanted: wanted.or(limit.map(|_| 10.0)) }
    }
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

fn is_information_view(table: &BoundTable) -> bool {
    matches!(&table.source, super::Source::Virtual(view) if view.name.schema == "information_schema")
}

fn literal_count(expression: &Expression) -> Option<u64> {
    match expression.literal()? {
        values::Value::Int(count) => u64::try_from(*count).ok(),
        values::Value::UInt(count) => Some(*count),
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
fn projects_last(select: &ast::Select, items: &[SelectItem], order: &[SortKey], ordered: bool) -> bool {
    let is_plain =
        |expression: &Expression| expression.column_slot().is_some() || expression.literal().is_some();
    !select.options.distinct
        && !items.iter().all(|item| is_plain(&item.expression))
        && (ordered || order.iter().all(|key| is_plain(&key.expression)))
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
