//! Rows of a view that are changed: its table stands in its place, under the names of the view. Main functions: [`bind_changed`] for UPDATE
//! and DELETE, [`insert_target`].
//! Only views of one table whose columns are columns of it, without subqueries and CHECK OPTION, one in another; others are error
//! 1235, those that nobody changes 1288.

use crate::bind::privilege::{Privileges, ViewDefiner};
use crate::bind::view::{Saved, change_refused, check_explained, rights_in};
use crate::bind::{Binder, Wanted, from};
use ::expression::Expression;
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition, TableName, ViewCheck};
use engine::Table;
use errors::{SqlResult, sql_error};
use optimizer::{Block, BoundTable, Clause, JoinTree, Source, conjuncts};
use parser::ast::{self, Child, QueryBody, SelectItem, TableFactor, TableReference};
use plan::{TableAccess, View, ViewPrivileges, error_of_view};
use std::sync::Arc;

/// The name of a column that a view does not show: no statement can write it.
const HIDDEN: &str = "\0";

/// FROM of a statement that changes rows.
pub(super) struct Changed {
    /// The join tree.
    pub tree: Option<JoinTree>,
    /// What the view asks for besides.
    pub conditions: Vec<Expression>,
    /// What each view reads, the outermost first.
    levels: Vec<Level>,
}

/// A view that reads a table or another view.
struct Level {
    /// What is under it, with the names that it has there, in the order of the table's columns.
    below: TableDefinition,
    /// Whose rights count there; None: of who runs the statement.
    definer: Option<ViewDefiner>,
}

/// Binds FROM of an UPDATE or DELETE.
pub(super) fn bind_changed(
    binder: &mut Binder<'_>,
    tables: &[TableReference],
    command: &'static str,
) -> SqlResult<Changed> {
    if let [TableReference::Table(factor)] = tables
        && let Some(view) = named_view(binder, factor)?
    {
        return changed_view(binder, factor, view, command);
    }
    Ok(Changed::of(from::bind_from(binder, tables)?))
}

fn named_view(binder: &Binder<'_>, factor: &TableFactor) -> SqlResult<Option<View>> {
    let is_common = |name: &str| binder.common_tables.in_scope.iter().any(|common| common.name == name);
    if factor.name.schema.is_none() && is_common(&factor.name.name) {
        return Ok(None);
    }
    let schema = binder.schema_of(&factor.name)?;
    binder.input.virtual_tables.view(&schema, &factor.name.name)
}

fn changed_view(
    binder: &mut Binder<'_>,
    factor: &TableFactor,
    view: View,
    command: &'static str,
) -> SqlResult<Changed> {
    let name = view.definition.shape.name.clone();
    let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
    if !view.definition.updatable {
        return Err(change_refused(&view.definition, &alias, command));
    }
    let denied_before = binder.privileges.denied.is_some();
    binder.privileges.view = Some(name.clone());
    let mut changed = Changed::of(None);
    let opened = open(binder, &alias, view, command, &mut changed);
    binder.privileges.view = None;
    if !denied_before {
        let denied = binder.privileges.denied.take();
        binder.privileges.denied = denied.map(|error| error_of_view(error, &name));
    }
    opened.map_err(|error| error_of_view(error, &name))?;
    if binder.input.shows_plan && !denied_before {
        let below = changed.levels.iter().map(|level| &level.below.name);
        let explained = check_explained(binder, &name, below).err();
        binder.privileges.denied = explained.or(binder.privileges.denied.take());
    }
    Ok(changed)
}

/// Puts the table of a view into the block, under the view's names.
fn open(
    binder: &mut Binder<'_>,
    alias: &str,
    view: View,
    command: &'static str,
    changed: &mut Changed,
) -> SqlResult<()> {
    let definition = view.definition.clone();
    let own_name = &definition.shape.name;
    if binder.privileges.open_views.contains(own_name) {
        return Err(sql_error!(ER_VIEW_RECURSIVE, own_name.schema, own_name.table));
    }
    let refused = || sql_error!(ER_NOT_SUPPORTED_YET, format!("{command} through a view of this form"));
    let Some(Plain { factor, filter, columns }) = plain(&view.query) else {
        return Err(match command == "INSERT" && computes(&view.query) {
            true => sql_error!(ER_NON_INSERTABLE_TABLE, alias, command),
            false => refused(),
        });
    };
    if !definition.updatable || definition.check_option != ViewCheck::None {
        return Err(refused());
    }
    let rights = rights_in(binder, &definition)?;
    binder.privileges.open_views.push(own_name.clone());
    let saved = Saved::enter(binder, &view, rights.clone());
    let at = changed.levels.len();
    let opened = (|| {
        let inner_alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
        match named_view(binder, factor)? {
            Some(inner) => open(binder, &inner_alias, inner, command, changed)?,
            None => {
                let reference = TableReference::Table(factor.clone());
                changed.tree = from::bind_from(binder, std::slice::from_ref(&reference))?;
            }
        }
        if let Some(filter) = filter {
            let clause = std::mem::replace(&mut binder.block().clause, Clause::Where);
            let bound = binder.scalar_as(filter, Wanted::integer());
            binder.block().clause = clause;
            changed.conditions.extend(conjuncts(bound?));
        }
        Ok(())
    })();
    saved.leave(binder);
    binder.privileges.open_views.pop();
    opened?;
    let renamed = rename(binder, alias, own_name, &columns, &definition.shape);
    let below = renamed.ok_or_else(|| match command {
        "INSERT" => sql_error!(ER_NON_INSERTABLE_TABLE, alias, command),
        _ => refused(),
    })?;
    changed.levels.insert(at, Level { below, definer: rights });
    Ok(())
}

/// A view of columns of one table.
struct Plain<'q> {
    factor: &'q TableFactor,
    filter: Option<&'q ast::Expression>,
    columns: Vec<&'q str>,
}

fn plain(query: &ast::Query) -> Option<Plain<'_>> {
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableReference::Table(factor)] = select.from.as_slice() else { return None };
    if query.with.is_some() || select.filter.as_ref().is_some_and(asks) {
        return None;
    }
    let mut columns = Vec::with_capacity(select.items.len());
    for item in &select.items {
        let SelectItem::Expression { expression: ast::Expression::Column(found), .. } = item else {
            return None;
        };
        columns.push(found.column.as_str());
    }
    Some(Plain { factor, filter: select.filter.as_ref(), columns })
}

/// Whether a column of the view is none of a table.
fn computes(query: &ast::Query) -> bool {
    let QueryBody::Select(select) = &query.body else { return false };
    let is_column = |item: &SelectItem| {
        matches!(item, SelectItem::Expression { expression: ast::Expression::Column(_), .. })
    };
    !select.items.iter().all(is_column)
}

/// Whether an expression holds a subquery.
fn asks(expression: &ast::Expression) -> bool {
    let mut found = false;
    expression.each_child(&mut |child| {
        found |= match child {
            Child::Query(_) => true,
            Child::Expression(expression) => asks(expression),
        };
    });
    found
}

/// Gives the one table of the block the view's names. Returns what it was before; None where a column has two names.
fn rename(
    binder: &mut Binder<'_>,
    alias: &str,
    name: &TableName,
    columns: &[&str],
    shape: &TableDefinition,
) -> Option<TableDefinition> {
    let block = binder.block();
    let table = block.tables.last_mut()?;
    let Source::Base(base) = &table.source else { return None };
    let below = table.view.as_deref().unwrap_or_else(|| base.definition()).clone();
    let mut seen = below.clone();
    seen.name = name.clone();
    for column in &mut seen.columns {
        // What the view does not show cannot be named.
        column.name = HIDDEN.to_owned();
        column.invisible = true;
    }
    let mut visible = Vec::with_capacity(columns.len());
    for (column, shown) in columns.iter().zip(&shape.columns) {
        let at = table.columns.iter().position(|known| known.name.eq_ignore_ascii_case(column))?;
        if seen.columns[at].name != HIDDEN {
            return None;
        }
        seen.columns[at].name.clone_from(&shown.name);
        seen.columns[at].invisible = false;
        visible.push((0, at));
    }
    for (bound, shown) in table.columns.iter_mut().zip(&seen.columns) {
        bound.name.clone_from(&shown.name);
        bound.invisible = shown.invisible;
    }
    table.alias = alias.to_owned();
    table.schema = Some(name.schema.clone());
    table.view = Some(Arc::new(seen));
    block.visible = visible;
    Some(below)
}

impl Changed {
    /// Of tables alone.
    pub fn of(tree: Option<JoinTree>) -> Changed {
        Changed { tree, conditions: Vec::new(), levels: Vec::new() }
    }

    /// Asks what each view takes of what is under it: the columns that are read, and what is done to the row.
    pub fn require_below(&self, binder: &mut Binder<'_>, assigned: &[usize], access: TableAccess) {
        let Some(view) = binder.block().tables.first().and_then(|table| table.view.clone()) else { return };
        let read: Vec<usize> = binder.block().tables[0].used_columns().iter().map(|(at, _)| *at).collect();
        for level in &self.levels {
            level.ask(binder, &view.name, |privileges| {
                let below = &level.below;
                privileges.require_table(&below.name, access);
                for at in &read {
                    privileges.require_column(&below.name, &below.columns[*at].name, TableAccess::Select);
                }
                for at in assigned {
                    privileges.require_column(&below.name, &below.columns[*at].name, access);
                }
            });
        }
    }
}

impl Level {
    /// Asks with the rights that count here; what is missing is told of the view that the statement names.
    fn ask(&self, binder: &mut Binder<'_>, view: &TableName, ask: impl FnOnce(&mut Privileges<'_>)) {
        let privileges = &mut binder.privileges;
        let denied_before = privileges.denied.is_some();
        let outside = std::mem::replace(&mut privileges.definer, self.definer.clone());
        let requests = std::mem::take(&mut privileges.requests);
        ask(privileges);
        let requests = std::mem::replace(&mut privileges.requests, requests);
        privileges.definer = outside;
        let definer = self.definer.as_ref().map(|one| (one.user.clone(), one.host.clone()));
        privileges.views.push(ViewPrivileges { view: view.clone(), definer, requests });
        if !denied_before {
            let denied = privileges.denied.take();
            privileges.denied = denied.map(|error| error_of_view(error, view));
        }
    }
}

/// What rows are inserted into.
pub(super) struct InsertTarget {
    /// The table.
    pub table: Arc<Table>,
    /// Its definition under the names by which the statement knows it.
    pub names: TableDefinition,
    /// The columns that an INSERT without a list of them means.
    pub order: Vec<usize>,
    /// Of a view.
    changed: Option<Changed>,
}

/// The table, or the view of one, that an INSERT names.
pub(super) fn insert_target(binder: &mut Binder<'_>, insert: &ast::Insert) -> SqlResult<InsertTarget> {
    let factor = TableFactor {
        name: insert.table.clone(),
        partitions: Vec::new(),
        alias: None,
        index_hints: Vec::new(),
    };
    let schema = binder.schema_of(&insert.table)?;
    let Some(view) = binder.input.virtual_tables.view(&schema, &insert.table.name)? else {
        let table = binder.base_table(&insert.table)?;
        let names = table.definition().clone();
        let order = (0..names.columns.len()).filter(|at| !names.columns[*at].invisible).collect();
        return Ok(InsertTarget { table, names, order, changed: None });
    };
    if !insert.on_duplicate.is_empty() || insert.row_alias.is_some() {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "INSERT .. ON DUPLICATE KEY UPDATE through a view"));
    }
    let blocks = std::mem::replace(&mut binder.blocks, vec![Block::default()]);
    let opened = changed_view(binder, &factor, view, "INSERT");
    let block = std::mem::replace(&mut binder.blocks, blocks).pop();
    let changed = opened?;
    if insert.replace && !changed.conditions.is_empty() {
        // Rows that are in the way must be in the view.
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "REPLACE through a view with a condition"));
    }
    let order = block.as_ref().map(|block| block.visible.iter().map(|(_, at)| *at).collect());
    let bound = block.and_then(|mut block| block.tables.pop());
    let (Some(order), Some(BoundTable { source: Source::Base(table), view: Some(names), .. })) =
        (order, bound)
    else {
        return Err(sql_error!(ER_NON_INSERTABLE_TABLE, insert.table.name, "INSERT"));
    };
    let names = (*names).clone();
    if table.definition().auto_increment_column().is_some_and(|at| names.columns[at].invisible) {
        // Its values would have to stay unknown to LAST_INSERT_ID().
        return Err(sql_error!(
            ER_NOT_SUPPORTED_YET,
            "INSERT through a view without the AUTO_INCREMENT column"
        ));
    }
    Ok(InsertTarget { table, names, order, changed: Some(changed) })
}

impl InsertTarget {
    /// The view that it is.
    pub fn view(&self) -> Option<TableName> {
        self.changed.as_ref().map(|_| self.names.name.clone())
    }

    /// What a view takes of what is under it. Error 1423 for a column that no row gives a value.
    pub fn require_below(
        &self,
        binder: &mut Binder<'_>,
        insert: &ast::Insert,
        columns: &[usize],
    ) -> SqlResult<()> {
        let Some(changed) = &self.changed else { return Ok(()) };
        for level in &changed.levels {
            level.ask(binder, &self.names.name, |privileges| {
                privileges.require_insert(insert, &level.below);
                for at in columns {
                    let column = &level.below.columns[*at].name;
                    privileges.require_column(&level.below.name, column, TableAccess::Insert);
                }
            });
        }
        // A row in empty parentheses gives none.
        let gives_nothing =
            matches!(&insert.source, ast::InsertSource::Values(rows) if rows.iter().any(Vec::is_empty));
        let given = if gives_nothing { &[][..] } else { columns };
        let is_missing = |(at, column): (usize, &ColumnDefinition)| {
            let has_none = match column.default {
                ColumnDefault::None => !column.nullable,
                ColumnDefault::Dropped => true,
                _ => false,
            };
            has_none && !column.auto_increment && column.generated.is_none() && !given.contains(&at)
        };
        if binder.changes.escalates && self.table.definition().columns.iter().enumerate().any(is_missing) {
            let name = &self.names.name;
            return Err(sql_error!(ER_NO_DEFAULT_FOR_VIEW_FIELD, name.schema, name.table));
        }
        Ok(())
    }
}
