//! One SELECT: FROM, WHERE, grouping, HAVING, the select list, DISTINCT, ORDER BY and LIMIT, in the order in which
//! MySQL resolves them.

use super::Binder;
use super::column::{Block, Clause};
use super::from::conjuncts;
use super::output::Grouping;
use crate::catalog::TablePrivilege;
use crate::optimize::{JoinGoal, Joined};
use crate::physical::{
    Aggregate, AggregateKind, ExplainRow, KeyCondition, Node, OutputColumn, QueryPlan, RowLimit, RowLock,
    SortKey,
};
use ::expression::Expression;
use engine::WaitPolicy;
use errors::{SqlResult, sql_error};
use parser::ast;

/// What stands around a SELECT and belongs to it.
pub(crate) struct Surroundings<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    pub locking: &'q [ast::LockingClause],
    pub select_type: &'static str,
}

/// A bound select item.
struct Item {
    name: String,
    expression: Expression,
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
        Ok(QueryPlan { root, columns, outer: block.outer, explain })
    }

    fn select_parts(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
    ) -> SqlResult<(Node, Vec<OutputColumn>, Vec<ExplainRow>)> {
        if !select.windows.is_empty() || select.qualify.is_some() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "window functions"));
        }
        let tree = self.bind_from(&select.from)?;
        self.require_tables();
        self.lock_tables(around.locking)?;
        // MySQL reports mistakes in the select list before those in WHERE.
        if select.rollup {
            self.bind_group_keys(select)?;
        }
        self.block().clause = Clause::FieldList;
        let mut items = self.select_items(select)?;
        let mut conditions = Vec::new();
        if let Some(filter) = &select.filter {
            self.block().clause = Clause::Where;
            conditions = conjuncts(self.scalar(filter)?);
        }
        if !select.rollup {
            self.bind_group_keys(select)?;
        }
        let aliases = items.iter().map(|item| (item.name.clone(), item.expression.clone())).collect();
        self.block().aliases = aliases;
        self.block().clause = Clause::Having;
        let mut having = match &select.having {
            Some(condition) => conjuncts(self.scalar(condition)?),
            None => Vec::new(),
        };
        self.block().clause = Clause::OrderBy;
        let mut order = self.order_keys(around.order_by, &items)?;
        let limit = self.limit(around.limit)?;

        let grouping = !select.group_by.is_empty() || !self.block().aggregates.is_empty();
        if grouping {
            self.group_expressions(&mut items, &mut having, &mut order, select.rollup)?;
        }
        let columns = self.output_columns(&items, select, &order, grouping);
        if let Some(done) = self.count_only(select, &items, &tree, &conditions, grouping) {
            let row = ExplainRow {
                extra: vec!["Select tables optimized away".to_owned()],
                ..ExplainRow::default()
            };
            return Ok((limited(done, limit, select.options.calc_found_rows), columns, vec![row]));
        }
        let goal = self.join_goal(&order, grouping, select.options.distinct, limit.as_ref());
        let extreme = self.extreme_row(&tree, &conditions);
        let Joined { node, ordered, mut explain, .. } = match extreme {
            Some((node, row)) => Joined { node, ordered: false, rows: 1.0, explain: vec![row], first: None },
            None => self.plan_joins(tree, conditions, goal, select.options.straight_join)?,
        };
        let ordered = ordered && !grouping && !select.options.distinct;
        let node = self.grouped(node, grouping, select.rollup, having);
        let needs_sort = !order.is_empty() && !ordered;
        let last = limit.is_some() && projects_last(select, &items, &order, ordered);
        let node = if last { node } else { project(node, &items, &mut order, ordered) };
        let node = self.finish(node, &columns, select, order, limit, needs_sort);
        let node = if last { project(node, &items, &mut [], true) } else { node };
        if let Some(first) = explain.first_mut() {
            let by_key = grouping && !select.group_by.is_empty() || select.options.distinct;
            let notes = [(by_key, "Using temporary"), (needs_sort, "Using filesort")];
            first.extra.extend(notes.iter().filter(|(on, _)| *on).map(|(_, note)| (*note).to_owned()));
        }
        Ok((node, columns, explain))
    }

    fn grouped(&mut self, node: Node, grouping: bool, rollup: bool, having: Vec<Expression>) -> Node {
        let node = if grouping {
            let block = self.block();
            let keys = block.group_keys.clone();
            let aggregates = block.aggregates.clone();
            Node::Aggregate(Box::new(Aggregate { input: node, keys, aggregates, sorted: false, rollup }))
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

    /// Tables of which no column is read need a privilege, too (COUNT(*)).
    fn require_tables(&mut self) {
        let names: Vec<_> = self
            .block()
            .tables
            .iter()
            .filter_map(|table| match &table.source {
                super::Source::Base(base) => Some(base.definition().name.clone()),
                _ => None,
            })
            .collect();
        for name in names {
            self.require(&name.schema, &name.table, None, TablePrivilege::Select);
        }
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
            for table in &mut self.block().tables {
                if clause.tables.is_empty() || clause.tables.iter().any(|name| name.name == table.alias) {
                    table.lock = lock;
                }
            }
        }
        Ok(())
    }

    /// GROUP BY: a number or a name of a select item stands for the item, but a column goes before a name.
    fn bind_group_keys(&mut self, select: &ast::Select) -> SqlResult<()> {
        self.block().clause = Clause::GroupBy;
        let mut keys = Vec::with_capacity(select.group_by.len());
        for syntax in &select.group_by {
            let key = match syntax {
                ast::Expression::Literal(ast::Literal::Integer(number)) => {
                    let item = select.items.get((*number as usize).wrapping_sub(1));
                    match item {
                        Some(ast::SelectItem::Expression { expression, .. }) => self.group_key(expression)?,
                        Some(_) => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "GROUP BY a position of *")),
                        None => return Err(sql_error!(ER_BAD_FIELD_ERROR, number, "group statement")),
                    }
                }
                ast::Expression::Column(reference) if reference.table.is_none() => {
                    match self.scalar(syntax) {
                        Err(error) if error.is(&errors::code::ER_BAD_FIELD_ERROR) => {
                            match item_by_alias(select, &reference.column) {
                                Some(item) => self.group_key(item)?,
                                None => return Err(error),
                            }
                        }
                        other => other?,
                    }
                }
                other => self.scalar(other)?,
            };
            // A constant key groups nothing; it would only clash with literals in the select list.
            if key.literal().is_none() || select.group_by.len() == 1 {
                keys.push(key);
            }
        }
        self.block().group_keys = keys;
        Ok(())
    }

    fn group_key(&mut self, item: &ast::Expression) -> SqlResult<Expression> {
        match self.scalar(item) {
            Err(error) if error.is(&errors::code::ER_INVALID_GROUP_FUNC_USE) => {
                Err(sql_error!(ER_WRONG_GROUP_FIELD, "aggregate"))
            }
            other => other,
        }
    }

    fn select_items(&mut self, select: &ast::Select) -> SqlResult<Vec<Item>> {
        let mut items = Vec::with_capacity(select.items.len());
        for item in &select.items {
            match item {
                ast::SelectItem::Wildcard => {
                    if self.block().tables.is_empty() {
                        return Err(sql_error!(ER_NO_TABLES_USED));
                    }
                    let visible = self.block().visible.clone();
                    self.expand(&visible, &mut items);
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
                    self.expand(&shown, &mut items);
                }
                ast::SelectItem::Expression { expression, alias, text } => {
                    let bound = self.scalar(expression)?;
                    let name = match alias {
                        Some(alias) => alias.clone(),
                        None => self.item_name(expression, text)?,
                    };
                    items.push(Item { name, expression: bound });
                }
            }
        }
        Ok(items)
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

    fn expand(&mut self, columns: &[(usize, usize)], items: &mut Vec<Item>) {
        let level = self.blocks.len() - 1;
        for (table, column) in columns {
            let expression = self.column_at(level, *table, *column);
            let name = self.blocks[level].tables[*table].columns[*column].name.clone();
            items.push(Item { name, expression });
        }
    }

    /// ORDER BY: a number or a name of a select item stands for the item.
    fn order_keys(&mut self, order_by: &[ast::OrderItem], items: &[Item]) -> SqlResult<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(order_by.len());
        for item in order_by {
            let expression = match &item.expression {
                ast::Expression::Literal(ast::Literal::Integer(number)) => {
                    match items.get((*number as usize).wrapping_sub(1)) {
                        Some(item) => item.expression.clone(),
                        None => return Err(sql_error!(ER_BAD_FIELD_ERROR, number, "order clause")),
                    }
                }
                ast::Expression::Column(reference) if reference.table.is_none() => {
                    match self.block().alias(&reference.column) {
                        Some(found) => found,
                        None => self.scalar(&item.expression)?,
                    }
                }
                other => self.scalar(other)?,
            };
            if expression.literal().is_none() {
                keys.push(SortKey { expression, descending: item.descending });
            }
        }
        Ok(keys)
    }

    /// LIMIT takes constants and parameters.
    pub fn limit(&mut self, limit: Option<&ast::Limit>) -> SqlResult<Option<RowLimit>> {
        let Some(limit) = limit else {
            let capped = self.depth == 1 && self.input.select_limit != u64::MAX;
            let count = capped.then(|| Expression::integer(self.input.select_limit));
            return Ok(count.map(|count| RowLimit { count: Some(count), offset: None }));
        };
        let count = Some(self.scalar(&limit.count)?);
        let offset = limit.offset.as_ref().map(|offset| self.scalar(offset)).transpose()?;
        Ok(Some(RowLimit { count, offset }))
    }

    fn group_expressions(
        &mut self,
        items: &mut [Item],
        having: &mut [Expression],
        order: &mut [SortKey],
        rollup: bool,
    ) -> SqlResult<()> {
        self.block().clause = Clause::FieldList;
        for (position, item) in items.iter_mut().enumerate() {
            self.over_groups(&mut item.expression, position + 1, rollup)?;
        }
        self.block().clause = Clause::Having;
        for condition in having {
            self.over_groups(condition, 1, rollup)?;
        }
        self.block().clause = Clause::OrderBy;
        for (position, key) in order.iter_mut().enumerate() {
            self.over_groups(&mut key.expression, position + 1, rollup)?;
        }
        Ok(())
    }

    fn output_columns(
        &mut self,
        items: &[Item],
        select: &ast::Select,
        order: &[SortKey],
        grouping: bool,
    ) -> Vec<OutputColumn> {
        let way = if grouping {
            self.block().grouping(order, select.rollup)
        } else if select.options.distinct {
            let shown: Vec<&Expression> = items.iter().map(|item| &item.expression).collect();
            self.block().distinct_grouping(&shown)
        } else {
            Grouping::InOrder
        };
        items.iter().map(|item| self.output_column(&item.name, &item.expression, way)).collect()
    }

    /// COUNT(*) of a whole table needs no rows.
    fn count_only(
        &mut self,
        select: &ast::Select,
        items: &[Item],
        tree: &Option<super::from::JoinTree>,
        conditions: &[Expression],
        grouping: bool,
    ) -> Option<Node> {
        let plain =
            grouping && select.group_by.is_empty() && select.having.is_none() && conditions.is_empty();
        let Some(super::from::JoinTree::Table(0)) = tree else { return None };
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
        tree: &Option<super::from::JoinTree>,
        conditions: &[Expression],
    ) -> Option<(Node, ExplainRow)> {
        let Some(super::from::JoinTree::Table(0)) = tree else { return None };
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
            table.indexes()[*index].definition(&table).is_some_and(|definition| {
                let first = &definition.parts[0];
                !definition.invisible && first.column == column && first.prefix_length.is_none()
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

fn literal_count(expression: &Expression) -> Option<u64> {
    match expression.literal()? {
        values::Value::Int(count) => u64::try_from(*count).ok(),
        values::Value::UInt(count) => Some(*count),
        _ => None,
    }
}

fn item_by_alias<'s>(select: &'s ast::Select, name: &str) -> Option<&'s ast::Expression> {
    select.items.iter().find_map(|item| match item {
        ast::SelectItem::Expression { expression, alias: Some(alias), .. }
            if alias.eq_ignore_ascii_case(name) =>
        {
            Some(expression)
        }
        _ => None,
    })
}

pub(crate) fn limited(node: Node, limit: Option<RowLimit>, count_all: bool) -> Node {
    match limit {
        Some(limit) => Node::Limit { input: Box::new(node), limit, count_all },
        None => node,
    }
}

/// Whether the select list is computed for the rows that LIMIT leaves only: where it is more than columns, and no sort
/// key is one of its values.
fn projects_last(select: &ast::Select, items: &[Item], order: &[SortKey], ordered: bool) -> bool {
    let is_plain =
        |expression: &Expression| expression.column_slot().is_some() || expression.literal().is_some();
    !select.options.distinct
        && !items.iter().all(|item| is_plain(&item.expression))
        && (ordered || order.iter().all(|key| is_plain(&key.expression)))
}

/// The select list, with sort keys that are not in it appended. Sort keys become slots of the projected row.
fn project(node: Node, items: &[Item], order: &mut [SortKey], ordered: bool) -> Node {
    let mut expressions: Vec<Expression> = items.iter().map(|item| item.expression.clone()).collect();
    if !ordered {
        for key in order {
            let at = expressions.iter().position(|known| known.same(&key.expression)).unwrap_or_else(|| {
                expressions.push(key.expression.clone());
                expressions.len() - 1
            });
            key.expression = Expression::slot(at, "sort key".into(), key.expression.result.clone());
        }
    }
    Node::Project { input: Box::new(node), expressions }
}
