//! GROUP BY and ORDER BY: keys by number, by name and by expression, and what a query that groups or finds duplicates
//! may read besides its keys. Main functions: [`bind_group_keys`], [`order_keys`],
//! [`check_groups`].

use super::Binder;
use super::column::find_column;
use super::dependence::facts_of;
use super::names::find_item;
use ::expression::{Expression, ExpressionKind, SqlMode};
use dictionary::same_name;
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{Block, Clause, JoinTree, SelectItem, has_aggregate};
use parser::ast;
use plan::dependence::Place;
use plan::physical::{AggregateKind, SortKey};
use std::collections::HashSet;

/// A SELECT that groups, or finds duplicates, before its expressions are rewritten to read groups.
pub(crate) struct Grouped<'g> {
    pub select: &'g ast::Select,
    pub having: &'g [Expression],
    pub order: &'g [SortKey],
    pub tree: Option<&'g JoinTree>,
    /// WHERE, taken apart at its ANDs.
    pub conditions: &'g [Expression],
}

/// GROUP BY: a number means the select item in that place.
pub(super) fn bind_group_keys(binder: &mut Binder<'_>, select: &ast::Select) -> SqlResult<()> {
    binder.block().clause = Clause::GroupBy;
    let mut keys = Vec::with_capacity(select.group_by.len());
    for syntax in &select.group_by {
        keys.push(match syntax {
            ast::Expression::Literal(ast::Literal::Integer(number)) => {
                let item = binder.block().items.get((*number as usize).wrapping_sub(1)).cloned();
                let item = item.ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, number, "group statement"))?;
                grouped_item(item)?
            }
            ast::Expression::Column(reference) => group_name(binder, syntax, reference)?,
            other => match item_of_text(binder.block(), select, other) {
                Some(item) => grouped_item(item)?,
                None => binder.scalar(other)?,
            },
        });
    }
    // A constant key groups nothing; it would only clash with literals in the select list. But with ROLLUP it has
    // a super-aggregate row of its own, and constants alone are not the same as no keys: no rows, no group.
    if !select.rollup && keys.iter().any(|key| key.literal().is_none()) {
        keys.retain(|key| key.literal().is_none());
    } else if !select.rollup {
        keys.truncate(1);
    }
    binder.block().group_keys = keys;
    Ok(())
}

/// A name in GROUP BY: a select item, unless FROM has another column of that name.
fn group_name(
    binder: &mut Binder<'_>,
    syntax: &ast::Expression,
    reference: &ast::ColumnReference,
) -> SqlResult<Expression> {
    let block = binder.block();
    let Some(item) = find_item(block, reference)?.cloned() else { return binder.scalar(syntax) };
    let shown = block.place(&item.expression);
    // A name that several tables have means the select item that is called so.
    let found = match find_column(block, reference) {
        Err(_) if same_name(&item.name, &reference.column) => None,
        found => found?,
    };
    match found {
        Some(found) if Some(found) != shown => {
            binder.warn_of_ambiguity(&reference.column, Clause::GroupBy);
            binder.scalar(syntax)
        }
        _ => grouped_item(item),
    }
}

/// The select item that is written in the same way. Subqueries are the same only so.
fn item_of_text(block: &Block, select: &ast::Select, syntax: &ast::Expression) -> Option<SelectItem> {
    let expression_of = |item: &ast::SelectItem| match item {
        ast::SelectItem::Expression { expression, .. } => expression == syntax,
        _ => false,
    };
    let all_plain = select.items.iter().all(|item| matches!(item, ast::SelectItem::Expression { .. }));
    let position = select.items.iter().position(expression_of).filter(|_| all_plain)?;
    let item = block.items.get(position)?;
    let is_aggregate = matches!(syntax, ast::Expression::Aggregate(_));
    (is_aggregate || !item.has_aggregate()).then(|| item.clone())
}

/// ORDER BY: a number or a name of a select item means the item. Error 3029 for an aggregate that makes groups where
/// nothing else does.
pub(super) fn order_keys(
    binder: &mut Binder<'_>,
    order_by: &[ast::OrderItem],
    groups: bool,
) -> SqlResult<Vec<SortKey>> {
    let mut keys = Vec::with_capacity(order_by.len());
    for (position, item) in order_by.iter().enumerate() {
        let expression = match &item.expression {
            ast::Expression::Literal(ast::Literal::Integer(number)) => {
                match binder.block().items.get((*number as usize).wrapping_sub(1)) {
                    Some(item) => item.expression.clone(),
                    None => return Err(sql_error!(ER_BAD_FIELD_ERROR, number, "order clause")),
                }
            }
            ast::Expression::Column(reference) => match find_item(binder.block(), reference)?.cloned() {
                Some(item) => {
                    if !same_name(&item.name, &reference.column) {
                        find_column(binder.block(), reference)?;
                    }
                    item.expression
                }
                None => binder.scalar(&item.expression)?,
            },
            other => binder.scalar(other)?,
        };
        if !groups && has_aggregate(&expression) {
            return Err(sql_error!(ER_AGGREGATE_ORDER_NON_AGG_QUERY, position + 1));
        }
        keys.push(SortKey { expression, descending: item.descending });
    }
    Ok(keys)
}

/// Finds the arguments of GROUPING() among the group keys, now that these are known: error 3602.
pub(super) fn find_groupings(block: &mut Block) -> SqlResult<()> {
    let groupings = std::mem::take(&mut block.groupings);
    if !groupings.is_empty() && block.group_keys.is_empty() {
        return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE));
    }
    let mut keys = Vec::with_capacity(groupings.len());
    for (argument, expression) in &groupings {
        match block.group_keys.iter().position(|key| key.same(expression)) {
            Some(key) => keys.push(key),
            None => return Err(sql_error!(ER_FIELD_IN_GROUPING_NOT_GROUP_BY, argument + 1)),
        }
    }
    for call in &mut block.aggregates {
        if let AggregateKind::Grouping(number) = &mut call.kind {
            *number = keys[*number];
        }
    }
    Ok(())
}

/// Under ONLY_FULL_GROUP_BY every column must be the same in all rows of a group: errors 1055, and 1140 without
/// GROUP BY.
pub(super) fn check_groups(sql_mode: SqlMode, block: &Block, query: &Grouped<'_>) -> SqlResult<()> {
    if !sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY) {
        return Ok(());
    }
    let mut reader = GroupReader {
        block,
        known: block.group_keys.iter().filter_map(|key| block.place(key)).collect(),
        // Super-aggregate rows have NULL for the keys, but not for what depends on them.
        facts_left: !query.select.rollup,
        query,
    };
    for (position, item) in block.items.iter().enumerate() {
        if let Some(column) = reader.stray(&item.expression, false) {
            return Err(not_grouped(column, position + 1, "SELECT list", query));
        }
    }
    let is_item = |expression: &Expression| block.items.iter().any(|item| item.expression.same(expression));
    for (position, key) in query.order.iter().enumerate() {
        if !is_item(&key.expression)
            && let Some(column) = reader.stray(&key.expression, true)
        {
            return Err(not_grouped(column, position + 1, "ORDER BY clause", query));
        }
    }
    for window in &block.windows.windows {
        for (position, key) in window.sort_keys().iter().enumerate() {
            if let Some(column) = reader.stray(&key.expression, true) {
                let clause = format!("PARTITION BY or ORDER BY clause of window '{}'", window.shown_name());
                return Err(not_grouped(column, position + 1, &clause, query));
            }
        }
    }
    for condition in query.having {
        if let Some(column) = reader.stray(condition, true) {
            return Err(not_grouped(column, 1, "HAVING clause", query));
        }
    }
    Ok(())
}

/// Under ONLY_FULL_GROUP_BY, what DISTINCT rows are sorted by must be in the select list: errors 3065 and 3066.
pub(super) fn check_distinct_order(
    sql_mode: SqlMode,
    block: &Block,
    select: &ast::Select,
    order: &[SortKey],
) -> SqlResult<()> {
    let strict = sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY);
    let is_item = |expression: &Expression| block.items.iter().any(|item| item.expression.same(expression));
    let grouped = !select.group_by.is_empty() && !select.rollup;
    if !strict || !select.options.distinct || grouped && block.group_keys.iter().all(is_item) {
        return Ok(());
    }
    for (position, key) in order.iter().enumerate() {
        let number = position + 1;
        match first_read(&key.expression, &is_item) {
            None => {}
            Some(part) if part.column_slot().is_some() => {
                let name = part.to_string().replace('`', "");
                return Err(sql_error!(ER_FIELD_IN_ORDER_NOT_SELECT, number, name, "DISTINCT"));
            }
            Some(_) => return Err(sql_error!(ER_AGGREGATE_IN_ORDER_NOT_SELECT, number, "DISTINCT")),
        }
    }
    Ok(())
}

/// Looks for columns that are not the same in all rows of a group.
struct GroupReader<'r> {
    block: &'r Block,
    /// Columns that are.
    known: HashSet<Place>,
    /// Whether what follows from keys, WHERE and joins may still add to `known`. It is looked at when first needed.
    facts_left: bool,
    query: &'r Grouped<'r>,
}

impl<'r> GroupReader<'r> {
    /// A column that differs within groups. A whole expression may be a group key; with `parts`, parts of it may, too.
    fn stray<'e>(&mut self, expression: &'e Expression, parts: bool) -> Option<&'e Expression>
    where
        'r: 'e,
    {
        let column = self.unknown(expression, true, parts)?;
        if !self.facts_left {
            return Some(column);
        }
        self.facts_left = false;
        let facts = facts_of(self.block, self.query.tree, self.query.conditions);
        facts.close(&mut self.known);
        self.unknown(expression, true, parts)
    }

    fn unknown<'e>(&self, expression: &'e Expression, whole: bool, parts: bool) -> Option<&'e Expression>
    where
        'r: 'e,
    {
        if (whole || parts) && self.block.group_keys.iter().any(|key| key.same(expression)) {
            return None;
        }
        match &expression.kind {
            ExpressionKind::Aggregate(_) => None,
            ExpressionKind::Window(number) => {
                let block: &'r Block = self.block;
                let mut arguments = block.windows.calls[*number].arguments.iter();
                arguments.find_map(|argument| self.unknown(argument, true, parts))
            }
            ExpressionKind::Function(call) if call.definition.name == "any_value" => None,
            ExpressionKind::Column(_) => match self.block.place(expression) {
                Some(place) if self.known.contains(&place) => None,
                _ => Some(expression),
            },
            kind => {
                let nested = matches!(kind, ExpressionKind::Subquery(_));
                let mut found = None;
                expression.for_each_child(&mut |child| {
                    if found.is_none() {
                        found = self.unknown(child, false, parts || nested);
                    }
                });
                found
            }
        }
    }
}

/// The first column or aggregate that an expression reads outside of the parts that `is_given` picks.
fn first_read<'e>(
    expression: &'e Expression,
    is_given: &dyn Fn(&Expression) -> bool,
) -> Option<&'e Expression> {
    if is_given(expression) {
        return None;
    }
    if matches!(expression.kind, ExpressionKind::Column(_) | ExpressionKind::Aggregate(_)) {
        return Some(expression);
    }
    let mut found = None;
    expression.for_each_child(&mut |child| found = found.or_else(|| first_read(child, is_given)));
    found
}

/// A select item as a group key: error 1056 if it is computed over groups itself.
fn grouped_item(item: SelectItem) -> SqlResult<Expression> {
    if item.has_aggregate() {
        return Err(sql_error!(ER_WRONG_GROUP_FIELD, item.name));
    }
    Ok(item.expression)
}

fn not_grouped(column: &Expression, position: usize, clause: &str, query: &Grouped<'_>) -> SqlError {
    let name = column.to_string().replace('`', "");
    if query.select.group_by.is_empty() {
        let detailed = sql_error!(ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2, position, clause, name);
        return errors::code::ER_MIX_OF_GROUP_FUNC_AND_FIELDS.message(detailed.message());
    }
    let detailed = sql_error!(ER_WRONG_FIELD_WITH_GROUP_V2, position, clause, name);
    errors::code::ER_WRONG_FIELD_WITH_GROUP.message(detailed.message())
}
