//! The tables that a statement names, with the metadata lock that each needs. Main function: [`names_used`].
//! Names of common tables are resolved as the binder does it: by the scope in which they stand.

use crate::clock_parts::{ClockParts, clock_calls};
use catalog::LockMode;
use parser::ast::*;

/// One place of a statement where a table is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    /// The table as written.
    pub name: ObjectName,
    /// What it is called in the statement.
    pub alias: String,
    /// What is done to it there.
    pub mode: LockMode,
}

/// Collects uses of tables.
#[derive(Default)]
struct Walk<'s> {
    uses: Vec<TableUse>,
    functions: Vec<&'s FunctionCall>,
    derived: bool,
    /// If these are looked for.
    clock: Option<ClockParts<'s>>,
    /// Common tables in scope, the innermost last, and whether they are named.
    common: Vec<(&'s str, bool)>,
}

/// What a statement names.
pub struct NamesUsed<'s> {
    /// The uses of tables, in no particular order.
    pub tables: Vec<TableUse>,
    /// Calls of functions that are not built in.
    pub functions: Vec<&'s FunctionCall>,
    /// It reads a table that exists only in the statement: of a query, of JSON.
    pub derived: bool,
}

/// The tables and functions that a statement names.
pub fn names_used(statement: &Statement) -> NamesUsed<'_> {
    let mut walk = Walk::default();
    walk.statement(statement);
    NamesUsed { tables: walk.uses, functions: walk.functions, derived: walk.derived }
}

/// The same of a query.
pub fn names_used_by_query(query: &Query) -> NamesUsed<'_> {
    let mut walk = Walk::default();
    walk.query(query, LockMode::Read);
    NamesUsed { tables: walk.uses, functions: walk.functions, derived: walk.derived }
}

/// The parts of a statement that read the clock, each of which is as large as it can be.
pub fn clock_parts(statement: &Statement) -> ClockParts<'_> {
    let mut walk = Walk { clock: Some(ClockParts::default()), ..Walk::default() };
    walk.statement(statement);
    walk.clock.unwrap_or_default()
}

impl<'s> Walk<'s> {
    fn name(&mut self, name: &ObjectName, mode: LockMode) {
        self.table(name, &name.name, mode);
    }

    fn factor(&mut self, factor: &TableFactor, mode: LockMode) {
        self.table(&factor.name, factor.alias.as_ref().unwrap_or(&factor.name.name), mode);
    }

    fn table(&mut self, name: &ObjectName, alias: &str, mode: LockMode) {
        let is_it = |(known, _): &&mut (&str, bool)| name.schema.is_none() && *known == name.name;
        match self.common.iter_mut().rev().find(is_it) {
            None => self.uses.push(TableUse { name: name.clone(), alias: alias.to_owned(), mode }),
            Some((_, is_named)) => {
                *is_named = true;
                self.derived = true;
            }
        }
    }

    fn statement(&mut self, statement: &'s Statement) {
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

    fn insert(&mut self, insert: &'s Insert) {
        self.name(&insert.table, LockMode::Write);
        match &insert.source {
            InsertSource::Values(rows) => rows.iter().for_each(|row| self.expressions(row)),
            InsertSource::Query(query) => self.query(query, LockMode::Read),
        }
        self.assignments(&insert.on_duplicate);
    }

    fn update(&mut self, update: &'s Update) {
        let outside = self.with(update.with.as_ref());
        let first = self.uses.len();
        self.references(&update.tables, LockMode::Read);
        let is_named = |found: &TableUse, target: &Option<String>| {
            target.as_ref().is_some_and(|target| target.eq_ignore_ascii_case(&found.alias))
        };
        let targets = || update.assignments.iter().map(|assignment| &assignment.column.table);
        // An assignment that does not name one of the tables may be to any of them.
        let all = targets().any(|target| !self.uses[first..].iter().any(|found| is_named(found, target)));
        for found in &mut self.uses[first..] {
            if all || targets().any(|target| is_named(found, target)) {
                found.mode = LockMode::Write;
            }
        }
        self.assignments(&update.assignments);
        self.option(update.filter.as_ref());
        self.order(&update.order_by);
        self.leave(outside, update.with.as_ref());
    }

    fn delete(&mut self, delete: &'s Delete) {
        let outside = self.with(delete.with.as_ref());
        match &delete.source {
            DeleteSource::Single(table) => self.factor(table, LockMode::Write),
            DeleteSource::Multiple { targets, from } => {
                let first = self.uses.len();
                self.references(from, LockMode::Read);
                for found in &mut self.uses[first..] {
                    if targets.iter().any(|target| target.name.eq_ignore_ascii_case(&found.alias)) {
                        found.mode = LockMode::Write;
                    }
                }
            }
        }
        self.option(delete.filter.as_ref());
        self.order(&delete.order_by);
        self.leave(outside, delete.with.as_ref());
    }

    /// Puts common tables in scope. Returns how many there were outside.
    fn with(&mut self, with: Option<&'s With>) -> usize {
        let outside = self.common.len();
        let tables = with.iter().flat_map(|with| &with.tables);
        self.common.extend(tables.map(|table| (table.name.as_str(), false)));
        outside
    }

    /// Looks into the common tables that were named, and takes them out of scope: each sees those before it, and itself where it may be
    /// recursive. Nobody looks at what no one names.
    fn leave(&mut self, outside: usize, with: Option<&'s With>) {
        let Some(with) = with else { return };
        for (at, table) in with.tables.iter().enumerate().rev() {
            let is_named = self.common[outside + at].1;
            self.common.truncate(outside + at + usize::from(with.recursive));
            if is_named {
                self.query(&table.query, LockMode::Read);
            }
        }
        self.common.truncate(outside);
    }

    fn query(&mut self, query: &'s Query, mode: LockMode) {
        let outside = self.with(query.with.as_ref());
        let locks = query.locking.iter().any(|clause| clause.strength == LockStrength::Update);
        self.body(&query.body, if locks { LockMode::Write } else { mode });
        self.order(&query.order_by);
        self.leave(outside, query.with.as_ref());
    }

    fn body(&mut self, body: &'s QueryBody, mode: LockMode) {
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

    fn select(&mut self, select: &'s Select, mode: LockMode) {
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

    fn references(&mut self, references: &'s [TableReference], mode: LockMode) {
        for reference in references {
            match reference {
                TableReference::Table(table) => self.factor(table, mode),
                TableReference::Derived { query, .. } => {
                    self.derived = true;
                    self.query(query, LockMode::Read);
                }
                TableReference::JsonTable(table) => {
                    self.derived = true;
                    self.expression(&table.document);
                }
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

    fn assignments(&mut self, assignments: &'s [Assignment]) {
        assignments.iter().for_each(|assignment| self.expression(&assignment.value));
    }

    fn order(&mut self, items: &'s [OrderItem]) {
        items.iter().for_each(|item| self.expression(&item.expression));
    }

    fn window(&mut self, window: &'s WindowSpecification) {
        self.expressions(&window.partition_by);
        self.order(&window.order_by);
    }

    fn over(&mut self, over: &'s Over) {
        if let Over::Window(window) = over {
            self.window(window);
        }
    }

    fn option(&mut self, expression: Option<&'s Expression>) {
        expression.into_iter().for_each(|expression| self.expression(expression));
    }

    fn expressions(&mut self, expressions: &'s [Expression]) {
        expressions.iter().for_each(|expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &'s Expression) {
        if let Some(clock) = &mut self.clock
            && let Some(calls @ 1..) = clock_calls(expression)
        {
            clock.expressions.push(expression);
            clock.calls += calls;
            return;
        }
        self.parts(expression);
    }

    fn parts(&mut self, expression: &'s Expression) {
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
            E::Function(call) => {
                self.expressions(&call.arguments);
                if call.schema.is_some() || builtins::find(&call.name.to_ascii_lowercase()).is_none() {
                    self.functions.push(call);
                }
            }
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

    fn both(&mut self, left: &'s Expression, right: &'s Expression) {
        self.expression(left);
        self.expression(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(sql: &str) -> String {
        let parsed = parser::parse_one(sql.as_bytes(), 0, parser::ParseOptions::default()).unwrap();
        let mut uses: Vec<String> = names_used(&parsed.statement)
            .tables
            .into_iter()
            .map(|found| format!("{} {} {:?}", found.name.name, found.alias, found.mode))
            .collect();
        uses.sort();
        uses.join(", ")
    }

    /// Fails when a common table's name hides tables outside of the query that it belongs to.
    #[test]
    fn common_tables_hide_tables_in_their_scope_only() {
        assert_eq!(used("SELECT * FROM m WHERE EXISTS (WITH m AS (SELECT 1) SELECT * FROM m)"), "m m Read");
        assert_eq!(used("WITH m AS (SELECT * FROM m) SELECT * FROM m"), "m m Read");
        assert_eq!(
            used("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a, b"),
            "b b Read"
        );
        assert_eq!(
            used(
                "WITH a AS (SELECT * FROM s), b AS (SELECT * FROM a, t), c AS (SELECT * FROM b, u) SELECT * FROM a"
            ),
            "s s Read"
        );
        assert_eq!(
            used("WITH a AS (SELECT * FROM s), b AS (SELECT * FROM a, t) SELECT (SELECT 1 FROM b)"),
            "s s Read, t t Read"
        );
        assert_eq!(used("WITH RECURSIVE m AS (SELECT 1 UNION ALL SELECT * FROM m) SELECT * FROM m"), "");
        assert_eq!(used("WITH m AS (SELECT 1) SELECT * FROM m, (SELECT * FROM m) d, s.m"), "m m Read");
        assert_eq!(used("(WITH m AS (SELECT 1) SELECT * FROM m) UNION SELECT * FROM m"), "m m Read");
        assert_eq!(used("WITH m AS (SELECT 1 a) UPDATE t, m SET t.a = m.a"), "t t Write");
        assert_eq!(used("INSERT INTO m WITH m AS (SELECT 1) SELECT * FROM m"), "m m Write");
    }

    #[test]
    fn modes_follow_what_is_done_to_each_table() {
        assert_eq!(used("DELETE x FROM t x JOIN u ON x.a = u.a"), "t x Write, u u Read");
        assert_eq!(used("UPDATE t x, u SET x.a = 1"), "t x Write, u u Read");
        assert_eq!(used("UPDATE t x, u SET x.a = 1, b = 2"), "t x Write, u u Write");
        assert_eq!(used("SELECT * FROM t FOR SHARE"), "t t Read");
        assert_eq!(used("SELECT (SELECT 1 FROM u) FROM t FOR UPDATE"), "t t Write, u u Read");
        assert_eq!(used("INSERT INTO t SELECT * FROM t y"), "t t Write, t y Read");
    }
}
