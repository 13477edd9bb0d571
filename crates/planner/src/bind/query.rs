//! Whole queries: WITH, VALUES, ORDER BY and LIMIT around them.

use super::row_count::{counts_all, without_count};
use super::select::Surroundings;
use super::set_operation::{bind_set_operation, merged_type, require_settled};
use super::{Binder, group};
use crate::lower::{limited, wants_nothing};
use crate::planning::{keep_pushable, plan_derived};
use ::expression::{Expression, ExpressionKind, ResultType, TypeClass, ValueSource};
use errors::{SqlResult, sql_error};
use optimizer::{Block, BoundTable, Clause, Derived, OpenSelect, SelectItem, has_aggregate, has_window};
use parser::ast;
use plan::physical::{Node, OutputColumn, QueryPlan, SortKey};
use std::sync::Arc;
use values::TypeKind;

impl Binder<'_> {
    /// A query in an expression: it sees the enclosing blocks.
    pub fn nested_query(&mut self, query: &ast::Query, select_type: &'static str) -> SqlResult<QueryPlan> {
        if query.into.is_some() {
            return Err(sql_error!(ER_MISPLACED_INTO));
        }
        self.query(query, select_type)
    }

    /// A query in FROM: it sees the blocks around the one that reads it, but not that one's other tables.
    pub fn query_in_from(&mut self, query: &ast::Query, select_type: &'static str) -> SqlResult<Derived> {
        let around = self.blocks.len().saturating_sub(1);
        self.query_seeing(around, query, select_type)
    }

    /// A query in FROM behind LATERAL: it sees the tables before it as well, as a query in an expression does.
    pub fn lateral_query(&mut self, query: &ast::Query) -> SqlResult<Derived> {
        self.beside_tables(|binder, reader| binder.kept_apart(query, "DERIVED", reader, true))
    }

    /// Whether what is bound next sees the tables before it, or a query within such a one.
    pub fn sees_tables_before(&self) -> bool {
        self.blocks.last().is_some_and(|around| around.clause == Clause::From)
    }

    /// Binds what sees the tables before it, given the number of their block.
    pub fn beside_tables<T>(&mut self, bind: impl FnOnce(&mut Self, u32) -> SqlResult<T>) -> SqlResult<T> {
        let block = self.block();
        let reader = block.number;
        // Columns that USING has made one are several here.
        let seen = block.tables.iter().enumerate().filter(|(number, _)| block.unseen >> number & 1 == 0);
        let places = |(number, table): (usize, &BoundTable)| {
            let columns = table.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
            columns.map(|(column, _)| (number, column)).collect::<Vec<_>>()
        };
        let visible = seen.flat_map(places).collect();
        let visible = std::mem::replace(&mut block.visible, visible);
        let clause = std::mem::replace(&mut block.clause, Clause::From);
        let bound = bind(self, reader);
        let block = self.block();
        (block.visible, block.clause) = (visible, clause);
        bound
    }

    /// A query in FROM that sees so many of the open blocks, the outermost ones. For the reader it is a query with the
    /// outer references of the reader's block.
    pub fn query_seeing(
        &mut self,
        around: usize,
        query: &ast::Query,
        select_type: &'static str,
    ) -> SqlResult<Derived> {
        let reader = self.blocks.last().map_or(0, |block| block.number);
        let unseen = self.blocks.split_off(around.min(self.blocks.len()));
        let derived = self.kept_apart(query, select_type, reader, false);
        self.see_again(around, unseen);
        match derived? {
            Derived::Planned(plan) if !plan.outer.is_empty() => {
                Ok(Derived::Planned(Arc::new(self.handed_in(around, Arc::unwrap_or_clone(plan)))))
            }
            derived => Ok(derived),
        }
    }

    /// Opens the blocks again that were not seen behind the first `around` ones.
    pub(super) fn see_again(&mut self, around: usize, unseen: Vec<Block>) {
        // A block that `block()` made where there was none.
        self.blocks.truncate(around);
        self.blocks.extend(unseen);
    }

    /// A plan whose outer references are over the last of the first `around` blocks, as one that the innermost block reads:
    /// each block between hands them in as its own.
    pub(super) fn handed_in(&mut self, around: usize, plan: QueryPlan) -> QueryPlan {
        let mut plan = plan;
        let mut by = 0;
        for (depth, block) in self.blocks.iter_mut().skip(around).enumerate() {
            if depth > 0 {
                let handed = |(at, own): (usize, &Expression)| Expression {
                    kind: ExpressionKind::Outer(by + at),
                    result: own.result.clone(),
                };
                plan.outer = plan.outer.iter().enumerate().map(handed).collect();
            }
            by = block.outer.len();
            block.outer.extend_from_slice(&plan.outer);
        }
        if by > 0 {
            plan.root = plan::physical_walk::shift_outer_references(plan.root, by);
        }
        plan
    }

    /// A view: it sees nothing of the enclosing blocks.
    pub fn detached_query(&mut self, query: &ast::Query, select_type: &'static str) -> SqlResult<Derived> {
        let reader = self.blocks.last().map_or(0, |block| block.number);
        let saved = std::mem::take(&mut self.blocks);
        let aggregates = std::mem::take(&mut self.open_aggregates);
        let derived = self.kept_apart(query, select_type, reader, false);
        (self.blocks, self.open_aggregates) = (saved, aggregates);
        derived
    }

    /// A query whose rows are kept before the statement changes any. `reader`: the number of the block that reads it; `lateral`: as
    /// a query that reads the rows beside it.
    fn kept_apart(
        &mut self,
        query: &ast::Query,
        select_type: &'static str,
        reader: u32,
        lateral: bool,
    ) -> SqlResult<Derived> {
        let first = self.block_number + 1;
        let changed = std::mem::take(&mut self.changes.tables);
        let read_before = std::mem::take(&mut self.changes.read_before);
        let derived = self.derived_query(query, select_type, lateral);
        self.subqueries.early.add_derived(reader, (first, self.block_number));
        self.changes.tables = changed;
        self.changes.read_before = read_before;
        derived
    }

    /// A query in FROM, which stays open if the query that reads it may read its tables in its place.
    fn derived_query(
        &mut self,
        query: &ast::Query,
        select_type: &'static str,
        lateral: bool,
    ) -> SqlResult<Derived> {
        let ast::QueryBody::Select(select) = &query.body else {
            let around = self.derived.operands.replace(Vec::new());
            let plan = self.nested_query(query, select_type);
            let operands = std::mem::replace(&mut self.derived.operands, around);
            let plan = plan?;
            if let Node::SetOperation(operation) = &plan.root {
                let count = operation.rest.len() + 1;
                let operands = operands.filter(|operands| operands.len() == count);
                return Ok(Derived::Planned(keep_pushable(self, Arc::new(plan), operands)));
            }
            return Ok(Derived::Planned(Arc::new(plan)));
        };
        if query.into.is_some() {
            return Err(sql_error!(ER_MISPLACED_INTO));
        }
        let before = self.common_tables.enter(query.with.as_ref(), self.blocks.len())?;
        let assigns = std::mem::take(&mut self.nature.assigns);
        let open = self.open_select(select, &Surroundings::of(query, select_type));
        self.common_tables.leave(before);
        let is_mergeable =
            |open: &OpenSelect| open.is_mergeable() && (lateral || open.block.outer.is_empty());
        let is_open = !self.nature.assigns && open.as_ref().is_ok_and(is_mergeable);
        self.nature.assigns |= assigns;
        let open = open?;
        if is_open {
            return Ok(Derived::Open(Arc::new(open)));
        }
        let selects = Some(vec![open.clone()]);
        let plan = plan_derived(self, Derived::Open(Arc::new(open)), None)?;
        Ok(Derived::Planned(keep_pushable(self, plan, selects)))
    }

    /// Any query.
    pub fn query(&mut self, query: &ast::Query, select_type: &'static str) -> SqlResult<QueryPlan> {
        let before = self.common_tables.enter(query.with.as_ref(), self.blocks.len())?;
        let plan = self.query_body(query, select_type);
        self.common_tables.leave(before);
        plan
    }

    fn query_body(&mut self, query: &ast::Query, select_type: &'static str) -> SqlResult<QueryPlan> {
        if let Some(query) = super::last_block::with_locks_in_place(query) {
            return self.query_body(&query, select_type);
        }
        let around = Surroundings::of(query, select_type);
        match &query.body {
            ast::QueryBody::Select(select) => self.select(select, &around),
            ast::QueryBody::Nested(inner) if query.order_by.is_empty() && query.limit.is_none() => {
                self.query(inner, select_type)
            }
            ast::QueryBody::Table(name) => {
                let factor = ast::TableFactor {
                    name: name.clone(),
                    partitions: Vec::new(),
                    alias: None,
                    index_hints: Vec::new(),
                };
                let select = ast::Select {
                    items: vec![ast::SelectItem::Wildcard],
                    from: vec![ast::TableReference::Table(factor)],
                    ..ast::Select::default()
                };
                self.select(&select, &around)
            }
            body => {
                let first = self.block_number + 1;
                let is_whole = !self.is_operand;
                // Rows of a statement's set operation are sent as they come, unless they are sorted.
                let sorts = select_type == "SIMPLE" && !query.order_by.is_empty();
                let counts_all = counts_all(body) && self.counts_rows(!is_whole);
                let sorted = (counts_all && !query.order_by.is_empty()).then(|| without_count(body));
                let body = sorted.as_ref().unwrap_or(body);
                let plan = self.operand(body, if sorts { "PRIMARY" } else { select_type })?;
                if is_whole && matches!(body, ast::QueryBody::SetOperation(_)) {
                    require_settled(plan.columns.iter().map(|column| &column.result))?;
                }
                let plan = self.ordered(plan, query, counts_all)?;
                // LIMIT around a SELECT is its own.
                let wants_nothing = matches!(&plan.root, Node::Limit { limit, .. } if wants_nothing(limit));
                if wants_nothing && matches!(body, ast::QueryBody::Nested(_)) {
                    self.subqueries.early.leave_out(first, self.block_number);
                }
                Ok(plan)
            }
        }
    }

    /// An operand of a set operation.
    pub(super) fn operand(
        &mut self,
        body: &ast::QueryBody,
        select_type: &'static str,
    ) -> SqlResult<QueryPlan> {
        match body {
            ast::QueryBody::Nested(query) => {
                // Its operands may be set operations in parentheses again, without a SELECT between.
                plan::check_stack()?;
                self.query(query, select_type)
            }
            ast::QueryBody::Values(rows) => self.values_rows(rows),
            ast::QueryBody::SetOperation(operation) => bind_set_operation(self, operation, select_type),
            ast::QueryBody::Select(_) | ast::QueryBody::Table(_) => {
                let query = ast::Query {
                    with: None,
                    body: body.clone(),
                    order_by: Vec::new(),
                    limit: None,
                    locking: Vec::new(),
                    into: None,
                };
                self.query_body(&query, select_type)
            }
        }
    }

    fn values_rows(&mut self, rows: &[Vec<ast::Expression>]) -> SqlResult<QueryPlan> {
        self.block_number += 1;
        let lateral = self.sees_tables_before();
        self.blocks.push(Block { number: self.block_number, ..Block::default() });
        let bound = self.values_parts(rows, lateral);
        let block = self.blocks.pop().unwrap_or_default();
        let (rows, columns) = bound?;
        let count = rows.len() as f64;
        let root = Node::Values { rows };
        Ok(QueryPlan { columns, outer: block.outer, ..QueryPlan::of(root, count) })
    }

    fn values_parts(
        &mut self,
        rows: &[Vec<ast::Expression>],
        lateral: bool,
    ) -> SqlResult<(Vec<Vec<Expression>>, Vec<OutputColumn>)> {
        let mut bound: Vec<Vec<Expression>> = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            if row.is_empty() {
                return Err(sql_error!(ER_TABLE_VALUE_CONSTRUCTOR_MUST_HAVE_COLUMNS));
            }
            if row.contains(&ast::Expression::Default(None)) {
                return Err(sql_error!(ER_TABLE_VALUE_CONSTRUCTOR_CANNOT_HAVE_DEFAULT));
            }
            let row = self.expressions(row)?;
            if bound.first().is_some_and(|first| first.len() != row.len()) {
                return Err(sql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, number + 1));
            }
            bound.push(row);
        }
        let width = bound.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for column in 0..width {
            let types: Vec<ResultType> = bound.iter().map(|row| row[column].result.clone()).collect();
            let result = merged_type(self, &types, "UNION")?;
            for row in &mut bound {
                row[column] = converted(row[column].clone(), &result);
            }
            let name = format!("column_{column}");
            let is_outer = |row: &Vec<Expression>| matches!(row[column].kind, ExpressionKind::Outer(_));
            let source = match lateral && bound.iter().all(is_outer) {
                true => ValueSource::Column,
                false => ValueSource::Function,
            };
            columns.push(OutputColumn { name, result, origin: None, source, computed: true });
        }
        Ok((bound, columns))
    }

    /// ORDER BY and LIMIT around a set operation: keys are result columns. `counts_all`: whether those that LIMIT leaves out are counted.
    pub(super) fn ordered(
        &mut self,
        plan: QueryPlan,
        query: &ast::Query,
        counts_all: bool,
    ) -> SqlResult<QueryPlan> {
        let QueryPlan { root, columns, .. } = plan;
        let mut block = Block { clause: Clause::OrderBy, gathers: true, ..Block::default() };
        for (slot, column) in columns.iter().enumerate() {
            let expression = Expression::slot(slot, column.name.as_str().into(), column.result.clone());
            block.items.push(SelectItem { name: column.name.clone(), expression });
        }
        // They are refused with a message of their own.
        block.windows.are_allowed = true;
        self.blocks.push(block);
        let bound = self.order_and_limit(query);
        self.blocks.pop();
        let (keys, limit) = bound?;
        let node = if keys.is_empty() {
            root
        } else {
            let limit = limit.clone().filter(|_| !counts_all);
            Node::Sort { input: Box::new(root), keys, limit }
        };
        Ok(QueryPlan { root: limited(node, limit, counts_all), columns, ..plan })
    }

    fn order_and_limit(
        &mut self,
        query: &ast::Query,
    ) -> SqlResult<(Vec<SortKey>, Option<plan::physical::RowLimit>)> {
        for item in &query.order_by {
            if let ast::Expression::Column(ast::ColumnReference { table: Some(table), .. }) = &item.expression
            {
                return Err(sql_error!(ER_TABLENAME_NOT_ALLOWED_HERE, table, "global ORDER clause"));
            }
        }
        let keys = group::order_keys(self, &query.order_by, true)?;
        let aggregates = |key: &SortKey| has_aggregate(&key.expression) || has_window(&key.expression);
        if let Some(position) = keys.iter().position(aggregates) {
            return Err(sql_error!(ER_AGGREGATE_ORDER_FOR_UNION, position + 1));
        }
        let limit = match &query.limit {
            None => None,
            Some(limit) => self.limit(Some(limit))?,
        };
        Ok((keys, limit))
    }
}

/// A value brought to the type of its column.
pub(crate) fn converted(expression: Expression, result: &ResultType) -> Expression {
    if expression.result.column_type == result.column_type || expression.result.class() == TypeClass::Null {
        return expression;
    }
    let result = result.clone().nullable_if(expression.result.nullable);
    let mut expression = expression;
    // Bits and years beside text are numbers, but in a TEXT.
    let digits = match (expression.result.kind(), result.class()) {
        (TypeKind::Bit, TypeClass::Text) if !result.kind().is_large_object() => Some(20),
        (TypeKind::Year, TypeClass::Text) if !result.kind().is_large_object() => Some(4),
        // Years stay what a column holds, with four digits.
        (TypeKind::Year, _) if result.kind() == TypeKind::Year => return expression,
        _ => None,
    };
    if let Some(digits) = digits {
        let number = ResultType::unsigned(digits).nullable_if(expression.result.nullable);
        expression = Expression::retyped(expression, number);
    }
    match result.kind() {
        TypeKind::Binary => Expression::padded(expression, result),
        _ => Expression::convert_character_set(expression, result),
    }
}

/// A column of an operand brought to the type of the set operation's column.
fn converted_column(slot: usize, column: &OutputColumn, result: &ResultType) -> Expression {
    let mut shown = column.result.clone();
    // A number becomes text with the digits that it has; a column's value in a TEXT with those of the column.
    let is_shown = !column.computed && result.kind().is_large_object();
    if shown.class() == TypeClass::Double && result.class() == TypeClass::Text && !is_shown {
        shown.column_type.decimals = None;
    }
    converted(Expression::slot(slot, column.name.as_str().into(), shown), result)
}

/// Projects a plan's rows to other column types.
pub(crate) fn convert_columns(node: Node, from: &[OutputColumn], types: &[ResultType]) -> Node {
    if from.iter().zip(types).all(|(column, result)| column.result.column_type == result.column_type) {
        return node;
    }
    let expressions = from
        .iter()
        .zip(types)
        .enumerate()
        .map(|(slot, (column, result))| converted_column(slot, column, result))
        .collect();
    Node::Project { input: Box::new(node), expressions }
}

/// Puts the outer references of one operand behind those of the others.
pub(super) fn shift_outer(node: Node, own: Vec<Expression>, shared: &mut Vec<Expression>) -> Node {
    if own.is_empty() {
        return node;
    }
    let by = shared.len();
    shared.extend(own);
    if by == 0 { node } else { plan::physical_walk::shift_outer_references(node, by) }
}
