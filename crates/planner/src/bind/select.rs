//! One SELECT: FROM, WHERE, grouping, HAVING, the select list, DISTINCT, ORDER BY and LIMIT, in the order in which
//! MySQL resolves them. The result is a [`LogicalSelect`].

use super::aggregate::over_groups;
use super::column::{column_of, find_column};
use super::dependence::dependence_of;
use super::group::Grouped;
use super::joined_dates::compare_joined_dates;
use super::{Binder, Wanted, block_hints, from, group, recursive, window};
use crate::planning::plan_select;
use ::expression::{Expression, ExpressionKind, SqlMode};
use engine::WaitPolicy;
use errors::{SqlResult, sql_error};
use optimizer::{
    Block, BoundTable, Clause, JoinTree, LogicalSelect, OpenSelect, SelectItem, Source, conjuncts,
    shown_column,
};
use parser::ast;
use plan::Rule;
use plan::physical::{QueryPlan, RowLimit, RowLock, SortKey};
use std::sync::Arc;
use values::print::quoted;

/// What stands around a SELECT and belongs to it.
pub(crate) struct Surroundings<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    pub locking: &'q [ast::LockingClause],
    pub select_type: &'static str,
    /// Whether somebody asks for a row with some value, or for any: IN and EXISTS.
    pub only_asks: bool,
}

impl<'q> Surroundings<'q> {
    /// Those of a SELECT that is the body of a query.
    pub fn of(query: &'q ast::Query, select_type: &'static str) -> Surroundings<'q> {
        let (order_by, locking) = (query.order_by.as_slice(), query.locking.as_slice());
        Surroundings { order_by, limit: query.limit.as_ref(), locking, select_type, only_asks: false }
    }
}

impl Binder<'_> {
    /// Binds a SELECT as a block of its own and chooses how it is done.
    pub fn select(&mut self, select: &ast::Select, around: &Surroundings<'_>) -> SqlResult<QueryPlan> {
        let open = self.open_select(select, around)?;
        plan_select(self, open)
    }

    /// Binds a SELECT as a block of its own.
    pub(super) fn open_select(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
    ) -> SqlResult<OpenSelect> {
        self.enter()?;
        self.block_number += 1;
        let is_lateral = self.sees_tables_before();
        self.blocks.push(Block { number: self.block_number, gathers: true, is_lateral, ..Block::default() });
        let bound = block_hints::enter(self, &select.hints).and_then(|()| self.bind_select(select, around));
        let block = self.blocks.pop().unwrap_or_default();
        self.leave();
        if self.changes.source.wanted
            && self.depth == 1
            && select.group_by.is_empty()
            && block.aggregates.is_empty()
        {
            self.changes.source.tables.clone_from(&block.tables);
            self.changes.source.visible.clone_from(&block.visible);
        }
        Ok(OpenSelect { block, select: bound?, last_block: self.block_number })
    }

    /// Binds FROM and the clauses over it.
    fn bind_select(&mut self, select: &ast::Select, around: &Surroundings<'_>) -> SqlResult<LogicalSelect> {
        if select.qualify.is_some() {
            return Err(sql_error!(ER_SUPPORTED_ONLY_WITH_HYPERGRAPH, "QUALIFY clause"));
        }
        let is_operand = std::mem::take(&mut self.is_operand);
        let tree = from::bind_from(self, &select.from)?;
        block_hints::check_names(self);
        let (block, privileges) = self.block_and_privileges();
        privileges.require_read(block);
        self.lock_tables(around.locking)?;
        let mut bound = self.bind_clauses(select, around, tree.as_ref())?;
        bound.is_operand = is_operand;
        bound.counts_all = select.options.calc_found_rows && self.counts_rows(is_operand);
        bound.tree = tree;
        self.block().rollup = select.rollup;
        Ok(bound)
    }

    /// Binds the clauses but FROM in MySQL's order, and rewrites what follows the grouping to read groups.
    fn bind_clauses(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
        tree: Option<&JoinTree>,
    ) -> SqlResult<LogicalSelect> {
        // MySQL reports mistakes in the select list before those in WHERE.
        self.block().clause = Clause::FieldList;
        window::enter_windows(self, &select.windows)?;
        self.select_items(select, around)?;
        let handed_on = self.hand_on_columns();
        let mut conditions = Vec::new();
        if let Some(filter) = &select.filter {
            self.block().clause = Clause::Where;
            conditions = conjuncts(self.truth_of(filter)?);
            compare_joined_dates(&mut self.subqueries.plans, &conditions);
        }
        group::bind_group_keys(self, select)?;
        let mut having = self.bind_having(select)?;
        self.block().clause = Clause::OrderBy;
        let groups = !select.group_by.is_empty() || !self.block().aggregates.is_empty();
        let mut order = group::order_keys(self, around.order_by, groups)?;
        window::settle_windows(self)?;
        let has_windows = !self.block().windows.calls.is_empty();
        let limit = self.limit(around.limit)?;

        // An aggregate of this query may stand in a subquery of any clause.
        let has_group_keys = !select.group_by.is_empty() && !self.leaves_out_groups(select, around);
        let grouping = has_group_keys || !self.block().aggregates.is_empty();
        if (grouping || groups) && !has_group_keys {
            // One row needs no order, nor does who only asks.
            order.clear();
        }
        self.refuse_in_recursion(select, around, grouping || has_windows)?;
        if around.select_type == "DERIVED" && !select.rollup {
            self.describe_dependence(tree, &conditions, grouping);
        }
        if grouping {
            group::find_groupings(self.block())?;
            let query = Grouped { select, having: &having, order: &order, tree, conditions: &conditions };
            group::check_groups(self.facts.sql_mode, self.block(), &query)?;
        }
        group::check_distinct_order(self.facts.sql_mode, self.block(), select, &order)?;
        let mut items = std::mem::take(&mut self.block().items);
        if grouping {
            group_expressions(self.block(), &mut items, &mut having, &mut order, select.rollup);
        }
        order.retain(|key| key.expression.literal().is_none());
        let shown =
            items.iter().map(|item| shown_column(self.block(), &item.name, &item.expression)).collect();
        Ok(LogicalSelect {
            conditions,
            groups: grouping,
            has_group_keys,
            rollup: select.rollup,
            has_having: select.having.is_some(),
            has_windows,
            having,
            items,
            shown,
            handed_on,
            distinct: select.options.distinct,
            order,
            limit,
            is_straight: select.options.straight_join || self.block().hints.fixes_order(),
            select_type: around.select_type,
            ..LogicalSelect::default()
        })
    }

    /// Whether SQL_CALC_FOUND_ROWS counts rows here: a view does not, and of the operands of a set operation what is around them.
    pub(super) fn counts_rows(&self, is_operand: bool) -> bool {
        !is_operand && self.privileges.open_views.is_empty()
    }

    fn bind_having(&mut self, select: &ast::Select) -> SqlResult<Vec<Expression>> {
        self.block().clause = Clause::Having;
        match &select.having {
            Some(condition) => Ok(conjuncts(self.truth_of(condition)?)),
            None => Ok(Vec::new()),
        }
    }

    /// For who only asks whether there is a row, groups of which nothing is computed are as good as their rows: there are none then.
    fn leaves_out_groups(&mut self, select: &ast::Select, around: &Surroundings<'_>) -> bool {
        let is_plain = select.having.is_none() && !select.rollup && around.limit.is_none();
        let may = self.input.context.rules().has(Rule::IdleGroups);
        let block = self.block();
        let computes = !block.aggregates.is_empty() || !block.windows.calls.is_empty();
        let leaves_out = may && around.only_asks && is_plain && !computes;
        if leaves_out {
            block.group_keys.clear();
        }
        leaves_out
    }

    /// What a step of a recursive query may not do with the rows of the last round: error 3575 for groups and windows, 1235 for a
    /// part or an order of them, 3576 for a place behind another table.
    fn refuse_in_recursion(
        &mut self,
        select: &ast::Select,
        around: &Surroundings<'_>,
        grouping: bool,
    ) -> SqlResult<()> {
        let Some(name) = recursive::recursive_table_in_block(self) else { return Ok(()) };
        if grouping {
            return Err(sql_error!(ER_CTE_RECURSIVE_FORBIDS_AGGREGATION, name));
        }
        if select.options.distinct || !around.order_by.is_empty() || around.limit.is_some() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, recursive::CUT_STEP));
        }
        let block = self.block();
        let comes_first = matches!(block.tables[0].source, Source::Recursion(_));
        if !comes_first && (select.options.straight_join || block.hints.fixes_order()) {
            return Err(sql_error!(ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER, name));
        }
        Ok(())
    }

    /// For a derived table: what the query that reads it may know of its columns.
    fn describe_dependence(&mut self, tree: Option<&JoinTree>, conditions: &[Expression], grouped: bool) {
        if self.facts.sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY) {
            let block = self.block();
            let described = dependence_of(block, tree, conditions, grouped);
            block.dependence = Some(Arc::new(described));
        }
    }

    fn lock_tables(&mut self, locking: &[ast::LockingClause]) -> SqlResult<()> {
        let mut locked: Vec<String> = Vec::new();
        self.nature.reads_elsewhere |= !locking.is_empty();
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
            self.claim_locked(clause, &mut locked)?;
            let chosen = |table: &BoundTable| {
                clause.tables.is_empty() || clause.tables.iter().any(|name| name.name == table.alias)
            };
            match clause.strength {
                ast::LockStrength::Update => {
                    let (block, privileges) = self.block_and_privileges();
                    privileges.require_locking(block, chosen);
                }
                ast::LockStrength::Share if self.block().tables.iter().any(is_information_view) => {
                    return Err(sql_error!(ER_IS_QUERY_INVALID_CLAUSE, "LOCK IN SHARE MODE"));
                }
                ast::LockStrength::Share => {}
            }
            let locks = !self.input.explains;
            for table in self.block().tables.iter_mut().filter(|table| locks && chosen(table)) {
                table.lock = lock;
                if table.view.is_some()
                    && let Source::Derived(query, _) = &mut table.source
                {
                    super::view::lock_rows(query, lock);
                }
            }
        }
        Ok(())
    }

    /// Adds the tables of a locking clause to those that clauses have named. Errors 3568 for a table of none; 3569 for one of two
    /// of them, or for a query in FROM.
    fn claim_locked(&mut self, clause: &ast::LockingClause, locked: &mut Vec<String>) -> SqlResult<()> {
        let tables = &self.block().tables;
        for name in &clause.tables {
            let shown = || match &name.schema {
                Some(schema) => format!("{}.{}", quoted(schema), quoted(&name.name)),
                None => quoted(&name.name),
            };
            let is_of_schema = |table: &BoundTable| name.schema.is_none() || table.schema == name.schema;
            let Some(table) = tables.iter().find(|table| table.alias == name.name && is_of_schema(table))
            else {
                return Err(sql_error!(ER_UNRESOLVED_TABLE_LOCK, shown()));
            };
            // MySQL locks the tables of a query in FROM by its name, and then meets the name again.
            let is_query = table.view.is_none()
                && matches!(table.source, Source::Derived(_, None) | Source::JsonTable(_));
            if is_query || locked.contains(&name.name) {
                return Err(sql_error!(ER_DUPLICATE_TABLE_LOCK, shown()));
            }
            locked.push(name.name.clone());
        }
        let is_query = |table: &BoundTable| matches!(table.source, Source::Derived(..));
        for table in tables.iter().filter(|table| clause.tables.is_empty() && !is_query(table)) {
            if locked.contains(&table.alias) || matches!(table.source, Source::JsonTable(_)) {
                return Err(sql_error!(ER_DUPLICATE_TABLE_LOCK, table.alias));
            }
            locked.push(table.alias.clone());
        }
        Ok(())
    }

    /// Binds the select list, item by item: subqueries see the aliases of those before.
    fn select_items(&mut self, select: &ast::Select, around: &Surroundings<'_>) -> SqlResult<()> {
        // The client gets them.
        let is_shown = around.select_type == "SIMPLE" && self.blocks.len() == 1;
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
                    let mut bound = match expression {
                        ast::Expression::Parameter(_) if is_shown => {
                            let wanted = self.wanted_text().shown();
                            self.scalar_as(expression, wanted)?
                        }
                        _ => self.scalar(expression)?,
                    };
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
        let columns = std::mem::take(&mut self.changes.source.handed_on);
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
        let is_stored = |table: &BoundTable| matches!(table.source, Source::Base(_));
        if !self.block().tables.iter().all(is_stored)
            && let Some((table, column)) = find_column(self.block(), reference)?
        {
            let table = &self.block().tables[table];
            let keeps = match &table.source {
                Source::Virtual(definition) => {
                    virtual_tables.keeps_column_names(&definition.name.schema, &definition.name.table)
                }
                Source::Derived(..) => true,
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
        let block = &mut self.blocks[level];
        tables.into_iter().for_each(|table| self.privileges.require_whole_read(&block.tables[table]));
        for (table, column) in columns {
            let expression = column_of(block, *table, *column);
            let name = block.tables[*table].columns[*column].name.clone();
            block.items.push(SelectItem { name, expression });
        }
    }

    /// LIMIT takes constants and parameters.
    pub fn limit(&mut self, limit: Option<&ast::Limit>) -> SqlResult<Option<RowLimit>> {
        let Some(limit) = limit else { return Ok(None) };
        let count = Some(self.row_count(&limit.count)?);
        let offset = limit.offset.as_ref();
        let offset = offset.map(|offset| self.row_count(offset)).transpose()?;
        Ok(Some(RowLimit { count, offset }))
    }

    /// A number of LIMIT. Error 1327: a name is that of a stored program's variable, and here is none.
    pub fn row_count(&mut self, number: &ast::Expression) -> SqlResult<Expression> {
        if let ast::Expression::Column(name) = number {
            return Err(sql_error!(ER_SP_UNDECLARED_VAR, name.column));
        }
        self.scalar_as(number, Wanted::row_count())
    }
}

/// Rewrites what follows the grouping to read groups.
fn group_expressions(
    block: &mut Block,
    items: &mut [SelectItem],
    having: &mut [Expression],
    order: &mut [SortKey],
    rollup: bool,
) {
    let items = items.iter_mut().map(|item| &mut item.expression);
    let order = order.iter_mut().map(|key| &mut key.expression);
    items.chain(having).chain(order).for_each(|expression| over_groups(block, expression, rollup));
    let mut windows = std::mem::take(&mut block.windows);
    windows.expressions_mut().for_each(|expression| over_groups(block, expression, rollup));
    block.windows = windows;
}

fn is_information_view(table: &BoundTable) -> bool {
    matches!(&table.source, Source::Virtual(view) if view.name.schema == "information_schema")
}
