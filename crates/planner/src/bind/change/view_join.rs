//! Views of several tables in statements that change rows. INSERT fills one of the tables, for which the view is cut down to a view of that one;
//! UPDATE has all of them in its block, each under the names that the view has for its columns; nobody deletes from such a view. Main functions:
//! [`refuse_join`], [`filled_view`], [`opens_join`], [`open_join`].

use super::view::Changed;
use super::view_columns::HIDDEN;
use super::view_rights::Level;
use crate::bind::column::find_column;
use crate::bind::view::{Saved, rights_in};
use crate::bind::{Binder, from};
use dictionary::{TableDefinition, ViewCheck as CheckOption};
use engine::Table;
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{Block, Source};
use parser::ast::{
    self, Child, ColumnReference, JoinCondition, QueryBody, Select, SelectItem, TableFactor, TableReference,
};
use plan::{TableAccess, View, ViewPrivileges};
use std::sync::Arc;

/// The SELECT that a view is, if it is no set operation.
fn select_of(view: &View) -> Option<&Select> {
    match &view.query.body {
        QueryBody::Select(select) => Some(select),
        _ => None,
    }
}

/// The tables of FROM; None where something else stands there.
fn factors<'q>(references: &'q [TableReference], found: &mut Vec<&'q TableFactor>) -> Option<()> {
    for reference in references {
        match reference {
            TableReference::Table(factor) => found.push(factor),
            TableReference::Join(join) => {
                factors(std::slice::from_ref(&join.left), found)?;
                factors(std::slice::from_ref(&join.right), found)?;
            }
            TableReference::Nested(inner) => factors(inner, found)?,
            TableReference::Derived { .. } | TableReference::JsonTable(_) => return None,
        }
    }
    Some(())
}

fn factors_of(view: &View) -> Option<Vec<&TableFactor>> {
    let mut found = Vec::new();
    factors(&select_of(view)?.from, &mut found)?;
    Some(found)
}

/// The view that stands in FROM of a view: the session's temporary tables are not seen there.
fn inner_view(binder: &Binder<'_>, view: &View, factor: &TableFactor) -> SqlResult<Option<View>> {
    let schema = factor.name.schema.as_deref().unwrap_or(&view.schema);
    binder.input.virtual_tables.view(schema, &factor.name.name)
}

/// Whether a view reads several tables, be it by the one view that it reads.
fn is_join(binder: &Binder<'_>, view: &View) -> SqlResult<bool> {
    let mut known = Vec::new();
    let mut view = view.clone();
    loop {
        let inner = match factors_of(&view).as_deref() {
            Some([factor]) => inner_view(binder, &view, factor)?,
            tables => return Ok(tables.is_some_and(|tables| tables.len() > 1)),
        };
        let Some(inner) = inner else { return Ok(false) };
        // Views in a circle are told of where they are bound.
        let name = inner.definition.shape.name.clone();
        if known.contains(&name) {
            return Ok(false);
        }
        known.push(name);
        view = inner;
    }
}

/// Errors 1395 and 1288 of statements that nobody runs on a view of several tables; 1356 where one of them is not there any more.
pub(super) fn refuse_join(binder: &Binder<'_>, view: &View, alias: &str, command: &str) -> SqlResult<()> {
    if !matches!(command, "DELETE" | "LOAD") || !is_join(binder, view)? {
        return Ok(());
    }
    check_tables(binder, view)?;
    let name = &view.definition.shape.name;
    Err(match command {
        "DELETE" => sql_error!(ER_VIEW_DELETE_MERGE_VIEW, name.schema, name.table),
        _ => sql_error!(ER_NON_UPDATABLE_TABLE, alias, command),
    })
}

/// Error 1356 where a table is gone that a view of several reads.
fn check_tables(binder: &Binder<'_>, view: &View) -> SqlResult<()> {
    for factor in factors_of(view).unwrap_or_default() {
        match inner_view(binder, view, factor)? {
            Some(_) => {}
            None if base_table(binder, view, factor).is_some() => {}
            None => return Err(invalid(view)),
        }
    }
    Ok(())
}

fn base_table(binder: &Binder<'_>, view: &View, factor: &TableFactor) -> Option<Arc<Table>> {
    let schema = factor.name.schema.as_deref().unwrap_or(&view.schema);
    binder.input.engine.dictionary().table(schema, &factor.name.name)
}

fn invalid(view: &View) -> SqlError {
    let name = &view.definition.shape.name;
    sql_error!(ER_VIEW_INVALID, name.schema, name.table)
}

/// Whether an UPDATE is of a view of several tables.
pub(super) fn opens_join(binder: &Binder<'_>, view: &View, command: &str) -> SqlResult<bool> {
    Ok(command == "UPDATE" && is_join(binder, view)?)
}

/// Puts the tables of a view into the block, all under the view's name and each with the columns that the view shows of it. Error 1235 for
/// views of views, and for those that compute columns, show one twice, have subqueries, an order or a CHECK OPTION.
pub(super) fn open_join(
    binder: &mut Binder<'_>,
    alias: &str,
    view: &View,
    changed: &mut Changed,
) -> SqlResult<()> {
    let refused = || sql_error!(ER_NOT_SUPPORTED_YET, "UPDATE through a view of this form");
    let definition = &view.definition;
    let (Some(select), Some(tables)) = (select_of(view), factors_of(view)) else { return Err(refused()) };
    let mut conditions: Vec<&ast::Expression> = select.filter.iter().collect();
    join_conditions(&select.from, &mut conditions);
    let is_built = tables.len() > 1
        && definition.check_option == CheckOption::None
        && view.query.with.is_none()
        && view.query.order_by.is_empty()
        && !conditions.iter().any(|condition| condition.holds_query());
    if !is_built || select.items.len() != definition.shape.columns.len() {
        return Err(refused());
    }
    for table in &tables {
        if inner_view(binder, view, table)?.is_some() {
            return Err(refused());
        }
    }
    let rights = rights_in(binder, definition)?;
    binder.privileges.open_views.push(definition.shape.name.clone());
    let saved = Saved::enter(binder, view, rights.clone());
    let opened = (|| {
        changed.tree = from::bind_from(binder, &select.from)?;
        changed.add_condition(binder, select.filter.as_ref(), false)?;
        select.items.iter().map(|item| place_of(binder, item)).collect::<SqlResult<Vec<_>>>()
    })();
    saved.leave(binder);
    binder.privileges.open_views.pop();
    let places: Option<Vec<(usize, usize)>> = opened?.into_iter().collect();
    let places = places.ok_or_else(refused)?;
    let block = binder.block();
    for number in 0..block.tables.len() {
        let below = show_part(block, number, alias, &definition.shape, &places).ok_or_else(refused)?;
        let reads = (0..below.columns.len()).map(|column| vec![column]).collect();
        changed.parts.push(Level { below, definer: rights.clone(), reads, filter: Vec::new() });
    }
    block.visible = places;
    Ok(())
}

/// The column of a table that an item of the select list is; None for what is computed.
fn place_of(binder: &mut Binder<'_>, item: &SelectItem) -> SqlResult<Option<(usize, usize)>> {
    match item {
        SelectItem::Expression { expression: ast::Expression::Column(reference), .. } => {
            let found = find_column(binder.block(), reference)?;
            found.map(Some).ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))
        }
        _ => Ok(None),
    }
}

/// Gives a table of the block the names that a view has for its columns. Returns what it was before; None where it is no stored table or the
/// view shows a column of it twice.
fn show_part(
    block: &mut Block,
    number: usize,
    alias: &str,
    shape: &TableDefinition,
    places: &[(usize, usize)],
) -> Option<TableDefinition> {
    let table = &mut block.tables[number];
    let Source::Base(base) = &table.source else { return None };
    let below = base.definition().clone();
    let mut seen = below.clone();
    seen.name = shape.name.clone();
    for column in &mut seen.columns {
        column.name = HIDDEN.to_owned();
        column.invisible = true;
    }
    for ((_, column), named) in places.iter().zip(&shape.columns).filter(|((table, _), _)| *table == number) {
        let shown = &mut seen.columns[*column];
        if !std::mem::replace(&mut shown.invisible, false) {
            return None;
        }
        shown.name.clone_from(&named.name);
    }
    for (bound, shown) in table.columns.iter_mut().zip(&seen.columns) {
        bound.name.clone_from(&shown.name);
        bound.invisible = shown.invisible;
    }
    table.alias = alias.to_owned();
    table.schema = Some(shape.name.schema.clone());
    table.view = Some(Arc::new(seen));
    Some(below)
}

/// The view that an INSERT fills: of a view of several tables the part that has the columns, as a view of the one table. What cannot be changed
/// stays as it is, for who refuses it. Errors: 1348, 1393, 1394, 1395, 1471; 1235 for what is not built.
pub(super) fn filled_view(binder: &mut Binder<'_>, insert: &ast::Insert, view: View) -> SqlResult<View> {
    if !view.definition.updatable || !is_join(binder, &view)? {
        return Ok(view);
    }
    let name = &view.definition.shape.name;
    if insert.columns.is_empty() {
        return Err(sql_error!(ER_VIEW_NO_INSERT_FIELD_LIST, name.schema, name.table));
    }
    let (Some(select), Some(tables)) = (select_of(&view), factors_of(&view)) else { return Ok(view) };
    let join = Join { view: &view, select };
    join.check_names(insert)?;
    require_conditions(binder, &join, &tables)?;
    for reference in &insert.columns {
        binder.privileges.require_column(&view.definition.shape, &reference.column, TableAccess::Insert);
    }
    for table in &tables {
        if inner_view(binder, &view, table)?.is_some_and(|inner| !inner.definition.updatable) {
            return Err(sql_error!(ER_NON_INSERTABLE_TABLE, insert.table.name, "INSERT"));
        }
    }
    if insert.replace {
        return Err(sql_error!(ER_VIEW_DELETE_MERGE_VIEW, name.schema, name.table));
    }
    let filled = join.filled_table(insert)?;
    let is_computed = |item: &SelectItem| table_shown(item).is_none();
    if select.items.iter().any(is_computed) {
        return Err(sql_error!(ER_NON_INSERTABLE_TABLE, insert.table.name, "INSERT"));
    }
    let is_filled = |factor: &&&TableFactor| Some(called(factor)) == filled;
    match tables.iter().find(is_filled) {
        Some(factor) if tables.len() > 1 && view.definition.check_option == CheckOption::None => {
            Ok(join.part(factor))
        }
        // Its own FROM is one view; or rows would be asked for columns of tables that they are not in.
        _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "INSERT through a view of this form")),
    }
}

/// Asks what the conditions of a view read of its tables, with the rights that count there: rows are put in, and not asked for it. Error
/// 1235 for a subquery in one.
fn require_conditions(binder: &mut Binder<'_>, join: &Join<'_>, tables: &[&TableFactor]) -> SqlResult<()> {
    let mut conditions: Vec<&ast::Expression> = join.select.filter.iter().collect();
    join_conditions(&join.select.from, &mut conditions);
    let mut columns = Vec::new();
    for condition in conditions {
        if condition.holds_query() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "INSERT through a view of this form"));
        }
        add_columns(condition, &mut columns);
    }
    let definition = &join.view.definition;
    let rights = rights_in(binder, definition)?;
    let outside = std::mem::replace(&mut binder.privileges.definer, rights.clone());
    let around = std::mem::take(&mut binder.privileges.requests);
    let asked = require_tables(binder, join, tables, &columns);
    let requests = std::mem::replace(&mut binder.privileges.requests, around);
    binder.privileges.definer = outside;
    let definer = rights.map(|one| (one.user, one.host));
    let view = definition.shape.name.clone();
    binder.privileges.views.push(ViewPrivileges { view, definer, requests });
    asked
}

/// INSERT on each of the tables, whichever is filled, and SELECT of those columns. Error 1356 for what is not there any more.
fn require_tables(
    binder: &mut Binder<'_>,
    join: &Join<'_>,
    tables: &[&TableFactor],
    columns: &[&ColumnReference],
) -> SqlResult<()> {
    for factor in tables {
        let base = base_table(binder, join.view, factor);
        let inner = inner_view(binder, join.view, factor)?;
        let shape = match (&base, &inner) {
            (_, Some(inner)) => &inner.definition.shape,
            (Some(base), None) => base.definition(),
            (None, None) => return Err(invalid(join.view)),
        };
        binder.privileges.require_table(shape, TableAccess::Insert);
        let is_of = |reference: &&&ColumnReference| reference.table.as_deref() == Some(called(factor));
        for reference in columns.iter().filter(is_of) {
            if shape.column_position(&reference.column).is_none() {
                return Err(invalid(join.view));
            }
            binder.privileges.require_column(shape, &reference.column, TableAccess::Select);
        }
        let shown = join.select.items.iter().filter_map(|item| match item {
            SelectItem::Expression { expression: ast::Expression::Column(reference), .. } => Some(reference),
            _ => None,
        });
        if shown.filter(|one| is_of(&one)).any(|one| shape.column_position(&one.column).is_none()) {
            return Err(invalid(join.view));
        }
    }
    Ok(())
}

fn join_conditions<'q>(references: &'q [TableReference], found: &mut Vec<&'q ast::Expression>) {
    for reference in references {
        match reference {
            TableReference::Join(join) => {
                join_conditions(std::slice::from_ref(&join.left), found);
                join_conditions(std::slice::from_ref(&join.right), found);
                if let JoinCondition::On(condition) = &join.condition {
                    found.push(condition);
                }
            }
            TableReference::Nested(inner) => join_conditions(inner, found),
            _ => {}
        }
    }
}

fn add_columns<'q>(expression: &'q ast::Expression, found: &mut Vec<&'q ColumnReference>) {
    if let ast::Expression::Column(reference) = expression {
        found.push(reference);
    }
    expression.each_child(&mut |child| {
        if let Child::Expression(inner) = child {
            add_columns(inner, found);
        }
    });
}

fn called(factor: &TableFactor) -> &str {
    factor.alias.as_ref().unwrap_or(&factor.name.name)
}

/// The table whose column an item is; None for what is computed.
fn table_shown(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::Expression { expression: ast::Expression::Column(reference), .. } => {
            reference.table.as_deref()
        }
        _ => None,
    }
}

/// A view of several tables.
struct Join<'v> {
    view: &'v View,
    select: &'v Select,
}

impl Join<'_> {
    /// The item of the select list that a column of the view is.
    fn item(&self, column: &str) -> Option<&SelectItem> {
        self.select.items.get(self.view.definition.shape.column_position(column)?)
    }

    /// Error 1054 for a name of the list that is none of the view's columns.
    fn check_names(&self, insert: &ast::Insert) -> SqlResult<()> {
        let schema = &self.view.definition.shape.name.schema;
        let is_own = |reference: &&ColumnReference| {
            self.item(&reference.column).is_some()
                && reference.table.as_ref().is_none_or(|table| *table == insert.table.name)
                && reference.schema.as_ref().is_none_or(|named| named == schema)
        };
        match insert.columns.iter().find(|reference| !is_own(reference)) {
            Some(reference) => Err(sql_error!(ER_BAD_FIELD_ERROR, reference, "field list")),
            None => Ok(()),
        }
    }

    /// The table that has the columns that are given values; None if the view has none of them.
    fn filled_table(&self, insert: &ast::Insert) -> SqlResult<Option<&str>> {
        let mut filled = None;
        for reference in &insert.columns {
            let Some(item) = self.item(&reference.column) else { continue };
            let Some(table) = table_shown(item) else {
                return Err(sql_error!(ER_NONUPDATEABLE_COLUMN, reference.column));
            };
            self.check_same(filled.get_or_insert(table), table)?;
        }
        let Some(table) = filled else { return Ok(None) };
        for assignment in &insert.on_duplicate {
            self.check_column(&assignment.column, insert, table)?;
        }
        if let ast::InsertSource::Values(rows) = &insert.source {
            let updated = insert.on_duplicate.iter().map(|assignment| &assignment.value);
            for expression in rows.iter().flatten().chain(updated) {
                self.check_read(expression, insert, table)?;
            }
        }
        Ok(Some(table))
    }

    fn check_same(&self, filled: &str, table: &str) -> SqlResult<()> {
        let name = &self.view.definition.shape.name;
        match filled == table {
            true => Ok(()),
            false => Err(sql_error!(ER_VIEW_MULTIUPDATE, name.schema, name.table)),
        }
    }

    /// Error 1393 for a column of the view that is of another table.
    fn check_column(&self, reference: &ColumnReference, insert: &ast::Insert, filled: &str) -> SqlResult<()> {
        if reference.table.as_ref().is_some_and(|table| *table != insert.table.name) {
            return Ok(());
        }
        match self.item(&reference.column).and_then(table_shown) {
            Some(table) => self.check_same(filled, table),
            None => Ok(()),
        }
    }

    fn check_read(&self, expression: &ast::Expression, insert: &ast::Insert, filled: &str) -> SqlResult<()> {
        if let ast::Expression::Column(reference) = expression {
            self.check_column(reference, insert, filled)?;
        }
        let mut checked = Ok(());
        expression.each_child(&mut |child| {
            if let (Child::Expression(inner), true) = (child, checked.is_ok()) {
                checked = self.check_read(inner, insert, filled);
            }
        });
        checked
    }

    /// The view without the other tables: what rows that are put in are not asked for.
    fn part(&self, factor: &TableFactor) -> View {
        let is_kept = |item: &SelectItem| table_shown(item) == Some(called(factor));
        let kept: Vec<bool> = self.select.items.iter().map(is_kept).collect();
        let select = Select {
            items: self.select.items.iter().filter(|item| is_kept(item)).cloned().collect(),
            from: vec![TableReference::Table(factor.clone())],
            ..Select::default()
        };
        let query = ast::Query {
            body: QueryBody::Select(Box::new(select)),
            with: None,
            order_by: Vec::new(),
            limit: None,
            locking: Vec::new(),
            into: None,
        };
        let mut definition = (*self.view.definition).clone();
        let mut of_columns = kept.iter();
        definition.shape.columns.retain(|_| of_columns.next().is_some_and(|kept| *kept));
        let columns =
            self.view.columns.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(name, _)| name.clone());
        View {
            query: Arc::new(query),
            columns: columns.collect(),
            schema: self.view.schema.clone(),
            definition: Arc::new(definition),
        }
    }
}
