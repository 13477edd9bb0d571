//! Queries in the form that MySQL keeps for views: names with their tables, `*` as columns, joins without USING and RIGHT.
//! Main function: [`print_query`]. `from` has FROM, `scope` what names mean.

use super::scope::{Clause, QueryState, Scope, ScopeCommonTable};
use super::{Printer, print_name};
use crate::ast::*;
use std::slice::from_ref;

/// What the printer asks of the catalogue.
pub trait PrintedTables {
    /// The columns of a table or view; `*` means those whose flag is set. None if there is no such table, and for a text
    /// that names its columns with their tables already.
    fn columns(&self, schema: &str, table: &str) -> Option<Vec<(Name, bool)>>;
}

/// How a query is to be printed.
pub struct QueryStyle<'a> {
    /// The catalogue.
    pub tables: &'a dyn PrintedTables,
    /// The schema of tables without one.
    pub schema: Option<&'a str>,
    /// The schema that is not printed.
    pub hidden_schema: Option<&'a str>,
    /// The name of the character set that texts without introducer have.
    pub charset: &'a str,
    /// Introducers are printed where they were written.
    pub introducers: bool,
}

/// A query as text.
pub struct PrintedQuery {
    /// The text.
    pub text: String,
    /// The names of its columns.
    pub columns: Vec<Name>,
}

/// Prints the query of a view. None where it holds something that cannot be printed.
pub fn print_query(query: &Query, style: &QueryStyle<'_>) -> Option<PrintedQuery> {
    let state = QueryState {
        style,
        scopes: Vec::new(),
        common_tables: Vec::new(),
        names: Vec::new(),
        in_expression: false,
        names_columns: true,
    };
    let mut printer = Printer { text: String::new(), charset: style.charset, query: Some(state) };
    printer.query(query)?;
    let columns = std::mem::take(&mut printer.query.as_mut()?.names);
    Some(PrintedQuery { text: printer.text, columns })
}

impl<'a> Printer<'a> {
    pub(super) fn state(&mut self) -> Option<&mut QueryState<'a>> {
        self.query.as_mut()
    }

    pub(super) fn scope(&mut self) -> Option<&mut Scope> {
        self.query.as_mut()?.scopes.last_mut()
    }

    /// What `print` writes, apart from the text so far.
    pub(super) fn apart(&mut self, print: impl FnOnce(&mut Self) -> Option<()>) -> Option<String> {
        let before = std::mem::take(&mut self.text);
        let printed = print(self);
        let text = std::mem::replace(&mut self.text, before);
        printed.map(|()| text)
    }

    /// A query. The names of its columns are in the state behind it.
    pub(super) fn query(&mut self, query: &Query) -> Option<()> {
        if query.into.is_some() {
            return None;
        }
        let outside = self.state()?.common_tables.len();
        if let Some(with) = &query.with {
            self.with(with)?;
        }
        match &query.body {
            QueryBody::Select(select) => self.select(select, &query.order_by)?,
            QueryBody::Table(name) => self.select(&select_of_table(name), &query.order_by)?,
            QueryBody::Nested(inner) if query.order_by.is_empty() && query.limit.is_none() => {
                self.query(inner)?;
            }
            body => {
                self.operand_of_set(body)?;
                self.order_of_set(&query.order_by)?;
            }
        }
        if let Some(limit) = &query.limit {
            self.limit(limit)?;
        }
        self.state()?.common_tables.truncate(outside);
        Some(())
    }

    fn with(&mut self, with: &With) -> Option<()> {
        self.push(if with.recursive { "with recursive " } else { "with " });
        for (at, table) in with.tables.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            print_name(&mut self.text, &table.name);
            self.push(" ");
            if !table.columns.is_empty() {
                self.names_in_parentheses(&table.columns);
                self.push(" ");
            }
            self.push("as (");
            let seen = self.state()?.scopes.len();
            if with.recursive {
                // It may name itself before its columns are known: they are those of its first part.
                let columns = self.names_of_first_part(&table.query, &table.columns)?;
                self.state()?.common_tables.push(ScopeCommonTable { name: table.name.clone(), columns });
                self.nested(&table.query, seen)?;
            } else {
                self.nested(&table.query, seen)?;
                let columns = self.names_or(&table.columns)?;
                self.state()?.common_tables.push(ScopeCommonTable { name: table.name.clone(), columns });
            }
            self.push(")");
        }
        self.push(" ");
        Some(())
    }

    fn names_of_first_part(&mut self, query: &Query, given: &[Name]) -> Option<Vec<Name>> {
        if !given.is_empty() {
            return Some(given.to_vec());
        }
        let mut body = &query.body;
        while let QueryBody::SetOperation(operation) = body {
            body = &operation.first;
        }
        let names = self.apart(|printer| printer.operand_of_set(body)).map(drop);
        names.and_then(|()| self.names_or(&[]))
    }

    /// The names that were given, or those of the query that was printed last.
    pub(super) fn names_or(&mut self, given: &[Name]) -> Option<Vec<Name>> {
        if given.is_empty() { Some(std::mem::take(&mut self.state()?.names)) } else { Some(given.to_vec()) }
    }

    pub(super) fn names_in_parentheses(&mut self, names: &[Name]) {
        self.push("(");
        for (at, name) in names.iter().enumerate() {
            self.push(if at > 0 { "," } else { "" });
            print_name(&mut self.text, name);
        }
        self.push(")");
    }

    /// A query within FROM or WITH: it sees so many of the blocks around it.
    pub(super) fn nested(&mut self, query: &Query, seen: usize) -> Option<()> {
        let state = self.state()?;
        let unseen = state.scopes.split_off(seen.min(state.scopes.len()));
        let in_expression = std::mem::replace(&mut state.in_expression, false);
        let names_columns = std::mem::replace(&mut state.names_columns, false);
        let printed = self.query(query);
        let state = self.state()?;
        state.scopes.extend(unseen);
        state.in_expression = in_expression;
        state.names_columns = names_columns;
        printed
    }

    /// A query within an expression, in parentheses.
    pub(super) fn subquery(&mut self, query: &Query) -> Option<()> {
        let state = self.state()?;
        let in_expression = std::mem::replace(&mut state.in_expression, true);
        let names_columns = std::mem::replace(&mut state.names_columns, false);
        self.push("(");
        let printed = self.query(query);
        self.push(")");
        let state = self.state()?;
        state.in_expression = in_expression;
        state.names_columns = names_columns;
        printed
    }

    /// What a set operation combines.
    fn operand_of_set(&mut self, body: &QueryBody) -> Option<()> {
        match body {
            QueryBody::Select(select) => self.select(select, &[]),
            QueryBody::Table(name) => self.select(&select_of_table(name), &[]),
            QueryBody::Values(rows) => self.values(rows),
            QueryBody::Nested(query)
                if query.order_by.is_empty()
                    && query.limit.is_none()
                    && query.with.is_none()
                    && matches!(query.body, QueryBody::Select(_) | QueryBody::Table(_)) =>
            {
                self.query(query)
            }
            QueryBody::Nested(query) => {
                self.push("(");
                self.query(query)?;
                self.push(")");
                Some(())
            }
            QueryBody::SetOperation(operation) => self.set_operation(operation),
        }
    }

    fn set_operation(&mut self, operation: &SetOperation) -> Option<()> {
        let mut text = self.apart(|printer| printer.operand_in_set(&operation.first))?;
        let names = std::mem::take(&mut self.state()?.names);
        let names_columns = std::mem::replace(&mut self.state()?.names_columns, false);
        let mut before = None;
        for (at, term) in operation.rest.iter().enumerate() {
            if before.is_some_and(|operator| operator != term.operator) {
                text = format!("({text})");
            }
            before = Some(term.operator);
            text.push_str(match term.operator {
                SetOperator::Union => " union ",
                SetOperator::Except => " except ",
                SetOperator::Intersect => " intersect ",
            });
            // A UNION that removes duplicates removes those of the unions before it.
            let later = operation.rest[at + 1..].iter();
            let mut unions = later.take_while(|later| later.operator == SetOperator::Union);
            let is_undone = term.operator == SetOperator::Union && unions.any(|later| !later.all);
            text.push_str(if term.all && !is_undone { "all " } else { "" });
            text.push_str(&self.apart(|printer| printer.operand_in_set(&term.body))?);
        }
        let state = self.state()?;
        state.names = names;
        state.names_columns = names_columns;
        self.push(&text);
        Some(())
    }

    fn operand_in_set(&mut self, body: &QueryBody) -> Option<()> {
        if !matches!(body, QueryBody::SetOperation(_)) {
            return self.operand_of_set(body);
        }
        self.push("(");
        self.operand_of_set(body)?;
        self.push(")");
        Some(())
    }

    /// ORDER BY of a set operation: columns of its result.
    fn order_of_set(&mut self, items: &[OrderItem]) -> Option<()> {
        let names = self.state()?.names.clone();
        let mut scope = Scope::new();
        scope.items = names.iter().map(|name| (name.clone(), true)).collect();
        scope.clause = Clause::OrderBy;
        self.state()?.scopes.push(scope);
        for (at, item) in items.iter().enumerate() {
            self.push(if at > 0 { "," } else { " order by " });
            match position_of(&item.expression, names.len()) {
                Some(position) => print_name(&mut self.text, &names[position]),
                None => self.expression(&item.expression)?,
            }
            self.push(if item.descending { " desc" } else { "" });
        }
        self.state()?.scopes.pop();
        self.state()?.names = names;
        Some(())
    }

    fn values(&mut self, rows: &[Vec<Expression>]) -> Option<()> {
        self.push("values ");
        for (at, row) in rows.iter().enumerate() {
            self.wrapped(if at > 0 { ",row(" } else { "row(" }, row, ")")?;
        }
        let width = rows.first().map_or(0, Vec::len);
        self.state()?.names = (0..width).map(|column| format!("column_{column}")).collect();
        Some(())
    }

    fn select(&mut self, select: &Select, order_by: &[OrderItem]) -> Option<()> {
        if select.qualify.is_some() {
            return None;
        }
        self.state()?.scopes.push(Scope::new());
        let from = self.apart(|printer| printer.from(&select.from))?;
        self.push("select ");
        self.push(options(&select.options));
        let items = self.items(&select.items)?;
        self.push(&from);
        if let Some(filter) = &select.filter {
            self.push(if select.from.is_empty() { " from DUAL  where " } else { " where " });
            self.condition(filter)?;
        }
        self.group_by(select, &items)?;
        if let Some(having) = &select.having {
            self.scope()?.clause = Clause::Having;
            self.push(" having ");
            self.condition(having)?;
        }
        self.scope()?.clause = Clause::OrderBy;
        let before_order = self.text.len();
        let mut is_first = true;
        for item in order_by {
            let mut text = self.apart(|printer| printer.ordered(&item.expression, &items))?;
            // DISTINCT orders by what is shown: a subquery would not be known again.
            if let Some(shown) = items.iter().find(|shown| select.options.distinct && shown.text == text)
                && text.contains("(select ")
            {
                text.clear();
                print_name(&mut text, &shown.name);
            }
            // An integer orders nothing, and would be a position.
            if text.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            self.push(if is_first { " order by " } else { "," });
            is_first = false;
            self.push(&text);
            self.push(if item.descending { " desc" } else { "" });
        }
        let windows = self.apart(|printer| printer.used_windows(&select.windows))?;
        self.text.insert_str(before_order, &windows);
        let scope = self.state()?.scopes.pop()?;
        self.state()?.names = scope.items.into_iter().map(|(name, _)| name).collect();
        Some(())
    }

    /// A condition of WHERE, HAVING or ON: of its AND, NOT IN is written as what is false.
    pub(super) fn condition(&mut self, condition: &Expression) -> Option<()> {
        self.truth_value(condition)
    }

    /// WINDOW, with those that something is computed over, or that such a one is made of.
    fn used_windows(&mut self, windows: &[NamedWindow]) -> Option<()> {
        self.scope()?.clause = Clause::Plain;
        let mut texts: Vec<Option<String>> = vec![None; windows.len()];
        while let Some(at) = self.next_window(windows, &texts)? {
            let window = &windows[at];
            texts[at] = Some(self.apart(|printer| {
                print_name(&mut printer.text, &window.name);
                printer.push(" AS ");
                printer.window(&window.specification)
            })?);
        }
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        if !texts.is_empty() {
            self.push(" window ");
            self.push(&texts.join(", "));
        }
        Some(())
    }

    /// A window that is used and has no text yet.
    fn next_window(&mut self, windows: &[NamedWindow], texts: &[Option<String>]) -> Option<Option<usize>> {
        let used = &self.scope()?.used_windows;
        let is_used = |window: &NamedWindow| used.iter().any(|name| name.eq_ignore_ascii_case(&window.name));
        Some((0..windows.len()).find(|at| texts[*at].is_none() && is_used(&windows[*at])))
    }

    fn group_by(&mut self, select: &Select, items: &[Item]) -> Option<()> {
        self.scope()?.clause = Clause::GroupBy;
        for (at, expression) in select.group_by.iter().enumerate() {
            self.push(if at > 0 { "," } else { " group by " });
            match position_of(expression, items.len()) {
                Some(position) => self.push(&items[position].text.clone()),
                None => self.expression(expression)?,
            }
        }
        self.push(if select.rollup { " with rollup" } else { "" });
        Some(())
    }

    /// An item of ORDER BY: a position, the name of an item, or any expression.
    fn ordered(&mut self, expression: &Expression, items: &[Item]) -> Option<()> {
        if let Some(position) = position_of(expression, items.len()) {
            self.push(&items[position].text.clone());
            return Some(());
        }
        if let Expression::Column(ColumnReference { table: None, column, .. }) = expression
            && let Some((at, given)) = self.scope()?.item(column)
        {
            // A name that is a column's too does not say which of the two is meant.
            if !given || self.scope()?.table_with(column).is_some() {
                self.push(&items[at].text.clone());
            } else {
                let name = self.scope()?.items[at].0.clone();
                print_name(&mut self.text, &name);
            }
            return Some(());
        }
        self.expression(expression)
    }

    pub(super) fn limit(&mut self, limit: &Limit) -> Option<()> {
        self.push(" limit ");
        if let Some(offset) = &limit.offset {
            self.wrapped("", from_ref(offset), ",")?;
        }
        self.expression(&limit.count)
    }

    /// The select list. Names of a view's columns are made unique.
    fn items(&mut self, items: &[SelectItem]) -> Option<Vec<Item>> {
        let mut printed: Vec<Item> = Vec::new();
        for item in items {
            match item {
                SelectItem::Wildcard => {
                    let scope = self.scope()?;
                    if scope.visible.is_empty() {
                        return None;
                    }
                    let visible = scope.visible.clone();
                    self.columns(&visible, &mut printed)?;
                }
                SelectItem::TableWildcard(name) => {
                    let reference = ColumnReference {
                        schema: name.schema.clone(),
                        table: Some(name.name.clone()),
                        column: String::new(),
                    };
                    let scope = self.scope()?;
                    let table = scope.table_of(&reference)?;
                    let own: Vec<(usize, usize)> = match scope.visible.is_empty() {
                        true => return None,
                        false => {
                            let shown = scope.tables[table].shown.iter().enumerate();
                            shown.filter(|(_, shown)| **shown).map(|(at, _)| (table, at)).collect()
                        }
                    };
                    self.columns(&own, &mut printed)?;
                }
                SelectItem::Expression { expression, alias, text } => {
                    let is_column = matches!(expression, Expression::Column(_));
                    let own = match expression {
                        Expression::Column(column) => column.column.clone(),
                        Expression::Literal(Literal::Null) => "NULL".to_owned(),
                        _ => text.trim_start().to_owned(),
                    };
                    let name = alias.as_deref().map_or(own, |alias| alias.trim_start().to_owned());
                    let text = self.apart(|printer| printer.expression(expression))?;
                    printed.push(Item { text, name, is_given: alias.is_some(), is_column });
                }
            }
        }
        if self.state()?.names_columns {
            super::column_names::make_unique(&mut printed);
        }
        self.list(&printed)?;
        self.scope()?.items = printed.iter().map(|item| (item.name.clone(), item.is_given)).collect();
        Some(printed)
    }

    fn columns(&mut self, places: &[(usize, usize)], printed: &mut Vec<Item>) -> Option<()> {
        for place in places {
            let name = self.scope()?.column_name(*place).to_owned();
            let text = self.apart(|printer| {
                printer.column_in(printer.query.as_ref()?.scopes.len() - 1, place.0, &name)
            })?;
            printed.push(Item { text, name, is_given: false, is_column: true });
        }
        Some(())
    }

    fn list(&mut self, items: &[Item]) -> Option<()> {
        let in_expression = self.state()?.in_expression;
        for (at, item) in items.iter().enumerate() {
            self.push(if at > 0 { "," } else { "" });
            self.push(&item.text);
            if item.is_given || !in_expression {
                self.push(" AS ");
                print_name(&mut self.text, &item.name);
            }
        }
        Some(())
    }
}

/// An item of a select list.
pub(super) struct Item {
    pub text: String,
    pub name: Name,
    /// The query has given it the name.
    pub is_given: bool,
    pub is_column: bool,
}

/// The item that a number in GROUP BY or ORDER BY means.
fn position_of(expression: &Expression, count: usize) -> Option<usize> {
    match expression {
        Expression::Literal(Literal::Integer(number)) => {
            usize::try_from(*number).ok()?.checked_sub(1).filter(|at| *at < count)
        }
        _ => None,
    }
}

fn select_of_table(name: &ObjectName) -> Select {
    let factor =
        TableFactor { name: name.clone(), partitions: Vec::new(), alias: None, index_hints: Vec::new() };
    Select {
        items: vec![SelectItem::Wildcard],
        from: vec![TableReference::Table(factor)],
        ..Select::default()
    }
}

fn options(options: &SelectOptions) -> &'static str {
    match (options.straight_join, options.distinct) {
        (true, true) => "straight_join distinct ",
        (true, false) => "straight_join ",
        (false, true) => "distinct ",
        (false, false) => "",
    }
}
