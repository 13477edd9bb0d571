//! What the query of a view holds: variables, what keeps it from being merged, what its rows could be changed in. Main functions:
//! [`check_query`], [`is_mergeable`].

use errors::{SqlResult, sql_error};
use parser::ast::{Child, Expression, Query, QueryBody, Select, SelectItem, TableReference};

/// Errors 1350 for INTO and 1351 for variables and parameters.
pub(crate) fn check_query(query: &Query) -> SqlResult<()> {
    let mut found = Found::default();
    found.query(query);
    match found {
        Found { into: true, .. } => Err(sql_error!(ER_VIEW_SELECT_CLAUSE, "INTO")),
        Found { variables: true, .. } => Err(sql_error!(ER_VIEW_SELECT_VARIABLE)),
        _ => Ok(()),
    }
}

/// Whether a statement may read the tables of the view in its place, as MySQL has it.
pub(crate) fn is_mergeable(query: &Query) -> bool {
    let QueryBody::Select(select) = &query.body else { return matches!(query.body, QueryBody::Table(_)) };
    let plain = !select.options.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && query.limit.is_none()
        && !select.from.is_empty();
    let mut found = Found::default();
    select.items.iter().for_each(|item| found.item(item));
    plain && !found.aggregates
}

/// Whether rows could be changed through a mergeable view: the tables of its FROM are tables or such views.
pub(crate) fn tables_of(query: &Query) -> Vec<&parser::ast::ObjectName> {
    let mut names = Vec::new();
    match &query.body {
        QueryBody::Select(select) => {
            select.from.iter().for_each(|reference| add_tables(reference, &mut names))
        }
        QueryBody::Table(name) => names.push(name),
        _ => {}
    }
    names
}

fn add_tables<'q>(reference: &'q TableReference, names: &mut Vec<&'q parser::ast::ObjectName>) {
    match reference {
        TableReference::Table(factor) => names.push(&factor.name),
        TableReference::Join(join) => {
            add_tables(&join.left, names);
            add_tables(&join.right, names);
        }
        TableReference::Nested(references) => {
            references.iter().for_each(|reference| add_tables(reference, names));
        }
        TableReference::Derived { .. } | TableReference::JsonTable(_) => {}
    }
}

/// What a walk over a query has found.
#[derive(Default)]
struct Found {
    into: bool,
    variables: bool,
    /// Aggregates or windows of the query itself, or of one within.
    aggregates: bool,
}

impl Found {
    fn query(&mut self, query: &Query) {
        self.into |= query.into.is_some();
        for table in query.with.iter().flat_map(|with| &with.tables) {
            self.query(&table.query);
        }
        self.body(&query.body);
        query.order_by.iter().for_each(|item| self.expression(&item.expression));
        if let Some(limit) = &query.limit {
            self.expression(&limit.count);
            limit.offset.iter().for_each(|offset| self.expression(offset));
        }
    }

    fn body(&mut self, body: &QueryBody) {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|value| self.expression(value)),
            QueryBody::Table(_) => {}
            QueryBody::SetOperation(operation) => {
                self.body(&operation.first);
                operation.rest.iter().for_each(|term| self.body(&term.body));
            }
            QueryBody::Nested(query) => self.query(query),
        }
    }

    fn select(&mut self, select: &Select) {
        select.items.iter().for_each(|item| self.item(item));
        select.from.iter().for_each(|reference| self.reference(reference));
        let conditions = [&select.filter, &select.having, &select.qualify];
        conditions.into_iter().flatten().for_each(|condition| self.expression(condition));
        select.group_by.iter().for_each(|expression| self.expression(expression));
    }

    fn item(&mut self, item: &SelectItem) {
        if let SelectItem::Expression { expression, .. } = item {
            self.expression(expression);
        }
    }

    fn reference(&mut self, reference: &TableReference) {
        match reference {
            TableReference::Table(_) => {}
            TableReference::Derived { query, .. } => self.query(query),
            TableReference::JsonTable(table) => self.expression(&table.document),
            TableReference::Join(join) => {
                self.reference(&join.left);
                self.reference(&join.right);
                if let parser::ast::JoinCondition::On(condition) = &join.condition {
                    self.expression(condition);
                }
            }
            TableReference::Nested(references) => {
                references.iter().for_each(|reference| self.reference(reference));
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::UserVariable(_)
            | Expression::SystemVariable(_)
            | Expression::AssignVariable { .. }
            | Expression::Parameter(_) => self.variables = true,
            Expression::Aggregate(_) | Expression::WindowFunction(_) => self.aggregates = true,
            _ => {}
        }
        expression.each_child(&mut |child| match child {
            Child::Expression(expression) => self.expression(expression),
            Child::Query(query) => {
                let aggregates = self.aggregates;
                self.query(query);
                // A subquery's own are no hindrance.
                self.aggregates = aggregates;
            }
        });
    }
}
