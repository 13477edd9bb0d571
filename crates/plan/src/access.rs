//! Which tables a statement names and what it does with them, read off the syntax. Main function: [`check`].
//!
//! Privileges on tables are asked before any name is looked up, in MySQL's order: who may not read a table does not
//! learn whether it exists, which columns it has or how many. Binding asks again, for what it really uses
//! (`bind/privilege.rs` of the planner): a table that this walk missed is refused there.

use crate::catalog::{Extent, FileAccess, PrivilegeCheck, PrivilegeRequest, TableAccess};
use crate::depth::check_depth;
use engine::TemporaryTables;
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::{self, Child};

/// A common table expression in scope. Its query is walked at the first reference: one that nobody reads asks nothing.
struct CommonTable<'s> {
    name: &'s str,
    query: &'s ast::Query,
    recursive: bool,
    walked: bool,
}

struct Walk<'s> {
    /// The default schema.
    schema: Option<&'s str>,
    /// Innermost last.
    common: Vec<CommonTable<'s>>,
    /// Common tables that are being walked, each named by the one before.
    depth: usize,
    requests: Vec<PrivilegeRequest>,
    /// What FOR UPDATE asks, after all tables were asked for.
    locking: Vec<PrivilegeRequest>,
    /// The first mistake: a name without schema and no default schema, or tables that lie too deep in each other.
    failed: SqlResult<()>,
}

/// Asks for all tables that the statement names. Errors: 1046, 1436, 1473 and those of [`PrivilegeCheck`].
pub fn check(
    statement: &ast::Statement,
    schema: Option<&str>,
    privileges: &dyn PrivilegeCheck,
    temporary: &TemporaryTables,
) -> SqlResult<()> {
    if let Some(access) = file_access(statement) {
        privileges.check_file(access)?;
    }
    let mut walk = Walk {
        schema,
        common: Vec::new(),
        depth: 0,
        requests: Vec::new(),
        locking: Vec::new(),
        failed: Ok(()),
    };
    walk.statement(statement);
    walk.failed?;
    // Nobody is asked what a session does with its own.
    let is_own = |request: &&PrivilegeRequest| temporary.table(&request.schema, &request.table).is_some();
    let mut requests = walk.requests.iter().chain(&walk.locking).filter(|request| !is_own(request));
    requests.try_for_each(|request| privileges.check(request))
}

fn file_access(statement: &ast::Statement) -> Option<FileAccess> {
    match statement {
        ast::Statement::Load(load) if !load.local => Some(FileAccess::Load),
        ast::Statement::Query(query) => match query.into.as_deref() {
            Some(ast::QueryInto::Outfile { .. } | ast::QueryInto::Dumpfile(_)) => Some(FileAccess::Write),
            _ => None,
        },
        _ => None,
    }
}

impl<'s> Walk<'s> {
    fn statement(&mut self, statement: &'s ast::Statement) {
        match statement {
            ast::Statement::Query(query) => self.query(query),
            ast::Statement::Do(expressions) => self.expressions(expressions),
            ast::Statement::Insert(insert) => self.insert(insert),
            ast::Statement::Update(update) => self.update(update),
            ast::Statement::Delete(delete) => self.delete(delete),
            ast::Statement::Load(load) => {
                let replaces = load.duplicates == ast::LoadDuplicates::Replace;
                self.table(&load.table, if replaces { TableAccess::Replace } else { TableAccess::Insert });
                self.assignments(&load.assignments);
            }
            _ => {}
        }
    }

    fn insert(&mut self, insert: &'s ast::Insert) {
        let access = match (insert.replace, insert.on_duplicate.is_empty()) {
            (true, _) => TableAccess::Replace,
            (false, false) => TableAccess::InsertOrUpdate,
            (false, true) => TableAccess::Insert,
        };
        self.table(&insert.table, access);
        match &insert.source {
            ast::InsertSource::Values(rows) => rows.iter().for_each(|row| self.expressions(row)),
            ast::InsertSource::Query(query) => self.query(query),
        }
        self.assignments(&insert.on_duplicate);
    }

    fn update(&mut self, update: &'s ast::Update) {
        let before = self.with(update.with.as_ref());
        let access = match update.tables.as_slice() {
            [ast::TableReference::Table(_)] => TableAccess::Update,
            _ => TableAccess::UpdateOrSelect,
        };
        self.references(&update.tables, access, None);
        self.assignments(&update.assignments);
        self.option(update.filter.as_ref());
        self.order(&update.order_by);
        self.common.truncate(before);
    }

    fn delete(&mut self, delete: &'s ast::Delete) {
        let before = self.with(delete.with.as_ref());
        match &delete.source {
            ast::DeleteSource::Single(factor) => {
                self.factor(factor, TableAccess::Delete, None);
                self.option(delete.filter.as_ref());
                self.order(&delete.order_by);
            }
            ast::DeleteSource::Multiple { targets, from } => {
                self.references(from, TableAccess::Select, None);
                self.option(delete.filter.as_ref());
                targets.iter().for_each(|target| self.delete_target(target, from));
            }
        }
        self.common.truncate(before);
    }

    /// A target of DELETE names a table of FROM, or its alias; without schema it needs a default schema.
    fn delete_target(&mut self, target: &ast::ObjectName, from: &'s [ast::TableReference]) {
        let mut factors = Vec::new();
        from.iter().for_each(|reference| collect_factors(reference, &mut factors));
        let named = factors.iter().find(|factor| {
            let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
            *alias == target.name
                && target.schema.as_deref().is_none_or(|schema| Some(schema) == self.schema_of(&factor.name))
        });
        if target.schema.is_none() && self.schema.is_none() {
            self.fail_without_schema();
        }
        if let Some(factor) = named
            && self.common_at(&factor.name).is_none()
        {
            self.table(&factor.name, TableAccess::Delete);
        }
    }

    /// Puts common tables in scope; returns how many were there before.
    fn with(&mut self, with: Option<&'s ast::With>) -> usize {
        let before = self.common.len();
        for table in with.into_iter().flat_map(|with| &with.tables) {
            self.common.push(CommonTable {
                name: &table.name,
                query: &table.query,
                recursive: with.is_some_and(|with| with.recursive),
                walked: false,
            });
        }
        before
    }

    fn query(&mut self, query: &'s ast::Query) {
        let before = self.with(query.with.as_ref());
        self.body(&query.body, &query.locking);
        self.order(&query.order_by);
        self.common.truncate(before);
    }

    fn body(&mut self, body: &'s ast::QueryBody, locking: &'s [ast::LockingClause]) {
        match body {
            ast::QueryBody::Select(select) => self.select(select, locking),
            ast::QueryBody::Values(rows) => rows.iter().for_each(|row| self.expressions(row)),
            ast::QueryBody::Table(name) => self.named(name, None, TableAccess::Select, Some(locking)),
            ast::QueryBody::SetOperation(operation) => {
                self.body(&operation.first, locking);
                operation.rest.iter().for_each(|term| self.body(&term.body, locking));
            }
            ast::QueryBody::Nested(query) => self.query(query),
        }
    }

    fn select(&mut self, select: &'s ast::Select, locking: &'s [ast::LockingClause]) {
        self.references(&select.from, TableAccess::Select, Some(locking));
        for item in &select.items {
            if let ast::SelectItem::Expression { expression, .. } = item {
                self.expression(expression);
            }
        }
        self.option(select.filter.as_ref());
        self.expressions(&select.group_by);
        self.option(select.having.as_ref());
        select.windows.iter().for_each(|window| {
            window.specification.each_child(&mut |child| self.child(child));
        });
        self.option(select.qualify.as_ref());
    }

    fn references(
        &mut self,
        references: &'s [ast::TableReference],
        access: TableAccess,
        locking: Option<&'s [ast::LockingClause]>,
    ) {
        for reference in references {
            match reference {
                ast::TableReference::Table(factor) => self.factor(factor, access, locking),
                ast::TableReference::Derived { query, .. } => self.query(query),
                ast::TableReference::JsonTable(table) => self.expression(&table.document),
                ast::TableReference::Join(join) => {
                    self.references(std::slice::from_ref(&join.left), access, locking);
                    self.references(std::slice::from_ref(&join.right), access, locking);
                    if let ast::JoinCondition::On(condition) = &join.condition {
                        self.expression(condition);
                    }
                }
                ast::TableReference::Nested(inner) => self.references(inner, access, locking),
            }
        }
    }

    fn factor(
        &mut self,
        factor: &'s ast::TableFactor,
        access: TableAccess,
        locking: Option<&'s [ast::LockingClause]>,
    ) {
        self.named(&factor.name, factor.alias.as_deref(), access, locking);
    }

    /// A table, or a common table of that name.
    fn named(
        &mut self,
        name: &'s ast::ObjectName,
        alias: Option<&'s str>,
        access: TableAccess,
        locking: Option<&'s [ast::LockingClause]>,
    ) {
        if let Some(at) = self.common_at(name) {
            return self.common_table(at);
        }
        self.table(name, access);
        let shown = alias.unwrap_or(&name.name);
        let is_locked = |clause: &&ast::LockingClause| {
            clause.strength == ast::LockStrength::Update
                && (clause.tables.is_empty() || clause.tables.iter().any(|table| table.name == shown))
        };
        if locking.into_iter().flatten().find(is_locked).is_some()
            && let Some(schema) = self.schema_of(name)
        {
            self.locking.push(PrivilegeRequest {
                schema: schema.to_owned(),
                table: name.name.clone(),
                access: TableAccess::SelectForUpdate,
                extent: Extent::Table,
            });
        }
    }

    /// The common table that a name means.
    fn common_at(&self, name: &ast::ObjectName) -> Option<usize> {
        let unqualified = name.schema.is_none();
        self.common.iter().rposition(|common| unqualified && common.name == name.name)
    }

    /// The query of a common table sees those before it, and itself if it is recursive.
    fn common_table(&mut self, at: usize) {
        if std::mem::replace(&mut self.common[at].walked, true) {
            return;
        }
        if let Err(error) = check_depth(self.depth + 1) {
            return self.fail(error);
        }
        self.depth += 1;
        let visible = at + usize::from(self.common[at].recursive);
        let later = self.common.split_off(visible);
        self.query(if visible > at { self.common[at].query } else { later[0].query });
        self.common.extend(later);
        self.depth -= 1;
    }

    fn schema_of<'n>(&self, name: &'n ast::ObjectName) -> Option<&'n str>
    where
        's: 'n,
    {
        name.schema.as_deref().or(self.schema)
    }

    fn table(&mut self, name: &ast::ObjectName, access: TableAccess) {
        match self.schema_of(name) {
            Some(schema) => self.requests.push(PrivilegeRequest {
                schema: schema.to_owned(),
                table: name.name.clone(),
                access,
                extent: Extent::Table,
            }),
            None => self.fail_without_schema(),
        }
    }

    fn fail_without_schema(&mut self) {
        self.fail(sql_error!(ER_NO_DB_ERROR));
    }

    fn fail(&mut self, error: SqlError) {
        if self.failed.is_ok() {
            self.failed = Err(error);
        }
    }

    fn assignments(&mut self, assignments: &'s [ast::Assignment]) {
        assignments.iter().for_each(|assignment| self.expression(&assignment.value));
    }

    fn order(&mut self, items: &'s [ast::OrderItem]) {
        items.iter().for_each(|item| self.expression(&item.expression));
    }

    fn option(&mut self, expression: Option<&'s ast::Expression>) {
        expression.into_iter().for_each(|expression| self.expression(expression));
    }

    fn expressions(&mut self, expressions: &'s [ast::Expression]) {
        expressions.iter().for_each(|expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &'s ast::Expression) {
        expression.each_child(&mut |child| self.child(child));
    }

    fn child(&mut self, child: Child<'s>) {
        match child {
            Child::Expression(expression) => self.expression(expression),
            Child::Query(query) => self.query(query),
        }
    }
}

fn collect_factors<'s>(reference: &'s ast::TableReference, factors: &mut Vec<&'s ast::TableFactor>) {
    match reference {
        ast::TableReference::Table(factor) => factors.push(factor),
        ast::TableReference::Join(join) => {
            collect_factors(&join.left, factors);
            collect_factors(&join.right, factors);
        }
        ast::TableReference::Nested(inner) => {
            inner.iter().for_each(|reference| collect_factors(reference, factors));
        }
        ast::TableReference::Derived { .. } | ast::TableReference::JsonTable(_) => {}
    }
}
