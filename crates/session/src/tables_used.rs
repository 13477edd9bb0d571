//! The tables that a statement names, with the metadata lock that each needs. Main function: [`tables_used`].

use crate::metadata_lock::LockMode;
use parser::ast::*;
use std::collections::{BTreeMap, BTreeSet};

/// Collects names. Names of common table expressions are left out when they are not qualified.
#[derive(Default)]
struct Walk {
    tables: BTreeMap<(Option<String>, String), LockMode>,
    common: BTreeSet<String>,
}

/// Tables by (schema, name) as written, each with the strongest mode that the statement needs.
pub fn tables_used(statement: &Statement) -> Vec<(ObjectName, LockMode)> {
    let mut walk = Walk::default();
    walk.statement(statement);
    let Walk { tables, common } = walk;
    tables
        .into_iter()
        .filter(|((schema, name), _)| schema.is_some() || !common.contains(name))
        .map(|((schema, name), mode)| (ObjectName { schema, name }, mode))
        .collect()
}

impl Walk {
    fn name(&mut self, name: &ObjectName, mode: LockMode) {
        let entry = self.tables.entry((name.schema.clone(), name.name.clone())).or_insert(mode);
        *entry = (*entry).max(mode);
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query, LockMode::Read),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Load(load) => {
                self.name(&load.table, LockMode::Write);
                self.assignments(&load.assignments);
            }
            Statement::Do(expressions) => self.expressions(expressions),
            Statement::Explain(explain) => {
                if let ExplainTarget::Statement(inner) = &explain.target {
                    self.statement(inner);
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, insert: &Insert) {
        self.name(&insert.table, LockMode::Write);
        match &insert.source {
            InsertSource::Values(rows) => rows.iter().for_each(|row| self.expressions(row)),
            InsertSource::Query(query) => self.query(query, LockMode::Read),
        }
        self.assignments(&insert.on_duplicate);
    }

    fn update(&mut self, update: &Update) {
        self.with(update.with.as_ref());
        self.references(&update.tables, LockMode::Write);
        self.assignments(&update.assignments);
        self.option(update.filter.as_ref());
        self.order(&update.order_by);
    }

    fn delete(&mut self, delete: &Delete) {
        self.with(delete.with.as_ref());
        match &delete.source {
            DeleteSource::Single(table) => self.name(&table.name, LockMode::Write),
            // Targets may be aliases, so every table of the join is locked for writing.
            DeleteSource::Multiple { from, .. } => self.references(from, LockMode::Write),
        }
        self.option(delete.filter.as_ref());
        self.order(&delete.order_by);
    }

    fn with(&mut self, with: Option<&With>) {
        for table in with.into_iter().flat_map(|with| &with.tables) {
            self.common.insert(table.name.clone());
            self.query(&table.query, LockMode::Read);
        }
    }

    fn query(&mut self, query: &Query, mode: LockMode) {
        self.with(query.with.as_ref());
        let locks = !query.locking.is_empty();
        self.body(&query.body, if locks { LockMode::Write } else { mode });
        self.order(&query.order_by);
    }

    fn body(&mut self, body: &QueryBody, mode: LockMode) {
        match body {
            QueryBody::Select(select) => self.select(select, mode),
            QueryBody::Values(rows) => rows.iter().for_each(|row| self.expressions(row)),
            QueryBody::Table(name) => self.name(name, mode),
            QueryBody::SetOperation(operation) => {
                self.body(&operation.first, mode);
                operation.rest.iter().for_each(|term| self.body(&term.body, mode));
            }
            QueryBody::Nested(query) => self.query(query, mode),
        }
    }

    fn select(&mut self, select: &Select, mode: LockMode) {
        for item in &select.items {
            if let SelectItem::Expression { expression, .. } = item {
                self.expression(expression);
            }
        }
        self.references(&select.from, mode);
        self.option(select.filter.as_ref());
        self.expressions(&select.group_by);
        self.option(select.having.as_ref());
        self.option(select.qualify.as_ref());
        for window in &select.windows {
            self.window(&window.specification);
        }
    }

    fn references(&mut self, references: &[TableReference], mode: LockMode) {
        for reference in references {
            match reference {
                TableReference::Table(table) => self.name(&table.name, mode),
                TableReference::Derived { query, .. } => self.query(query, LockMode::Read),
                TableReference::JsonTable(table) => self.expression(&table.document),
                TableReference::Join(join) => {
                    self.references(std::slice::from_ref(&join.left), mode);
                    self.references(std::slice::from_ref(&join.right), mode);
                    if let JoinCondition::On(condition) = &join.condition {
                        self.expression(condition);
                    }
                }
                TableReference::Nested(inner) => self.references(inner, mode),
            }
        }
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        assignments.iter().for_each(|assignment| self.expression(&assignment.value));
    }

    fn order(&mut self, items: &[OrderItem]) {
        items.iter().for_each(|item| self.expression(&item.expression));
    }

    fn window(&mut self, window: &WindowSpecification) {
        self.expressions(&window.partition_by);
        self.order(&window.order_by);
    }

    fn over(&mut self, over: &Over) {
        if let Over::Window(window) = over {
            self.window(window);
        }
    }

    fn option(&mut self, expression: Option<&Expression>) {
        expression.into_iter().for_each(|expression| self.expression(expression));
    }

    fn expressions(&mut self, expressions: &[Expression]) {
        expressions.iter().for_each(|expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &Expression) {
        use Expression as E;
        match expression {
            E::Literal(_) | E::Column(_) | E::Parameter(_) | E::UserVariable(_) | E::SystemVariable(_) => {}
            E::Default(_) | E::Values(_) => {}
            E::AssignVariable { value, .. } => self.expression(value),
            E::Unary { operand, .. } | E::Is { operand, .. } | E::ConvertUsing { operand, .. } => {
                self.expression(operand);
            }
            E::Collate { operand, .. } | E::Extract { operand, .. } | E::WeightString { operand, .. } => {
                self.expression(operand);
            }
            E::Odbc { operand, .. } => self.expression(operand),
            E::Cast(cast) => self.expression(&cast.operand),
            E::Binary { left, right, .. } => self.both(left, right),
            E::Regexp { operand, pattern, .. } => self.both(operand, pattern),
            E::MemberOf { operand, array } => self.both(operand, array),
            E::DateArithmetic { operand, amount, .. } | E::TimestampAdd { operand, amount, .. } => {
                self.both(operand, amount);
            }
            E::TimestampDiff { from, to, .. } => self.both(from, to),
            E::And(terms) | E::Or(terms) | E::Row(terms) | E::Grouping(terms) => self.expressions(terms),
            E::Between { operand, low, high, .. } => {
                self.expression(operand);
                self.both(low, high);
            }
            E::InList { operand, list, .. } => {
                self.expression(operand);
                self.expressions(list);
            }
            E::Like { operand, pattern, escape, .. } => {
                self.both(operand, pattern);
                self.option(escape.as_deref());
            }
            E::InSubquery { operand, query, .. } | E::Quantified { operand, query, .. } => {
                self.expression(operand);
                self.query(query, LockMode::Read);
            }
            E::Exists(query) | E::Subquery(query) => self.query(query, LockMode::Read),
            E::Case { operand, branches, otherwise } => {
                self.option(operand.as_deref());
                branches.iter().for_each(|branch| self.both(&branch.when, &branch.then));
                self.option(otherwise.as_deref());
            }
            E::Function(call) => self.expressions(&call.arguments),
            E::Char { arguments, .. } => self.expressions(arguments),
            E::Aggregate(call) => {
                self.expressions(&call.arguments);
                self.order(&call.order_by);
                call.over.iter().for_each(|over| self.over(over));
            }
            E::WindowFunction(call) => {
                self.expressions(&call.arguments);
                self.over(&call.over);
            }
            E::Trim { remove, operand, .. } => {
                self.option(remove.as_deref());
                self.expression(operand);
            }
            E::Match { against, .. } => self.expression(against),
            E::JsonValue(value) => self.expression(&value.document),
        }
    }

    fn both(&mut self, left: &Expression, right: &Expression) {
        self.expression(left);
        self.expression(right);
    }
}
