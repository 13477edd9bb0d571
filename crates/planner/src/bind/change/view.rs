//! Rows of a view that are changed: its table stands in its place, under the names of the view. Main function: [`bind_changed`] for UPDATE
//! and DELETE; INSERT and LOAD DATA come by [`super::insert_target`].
//! Only views of one table without subqueries, one in another; others are error 1235, those that nobody changes 1288.

use super::view_columns::{Shown, named_columns, rename, shown_items};
use super::view_join::{open_join, opens_join, refuse_join};
use super::view_rights::Level;
use crate::bind::column::move_slots;
use crate::bind::view::{Saved, change_refused, check_explained, rights_in};
use crate::bind::{Binder, from};
use ::expression::Expression;
use dictionary::{TableName, ViewCheck as CheckOption};
use errors::{SqlResult, sql_error};
use optimizer::{Block, Clause, JoinTree, Source, conjuncts};
use parser::ast::{self, QueryBody, SelectItem, TableFactor, TableReference};
use plan::physical::SortKey;
use plan::{RowExpression, View, ViewCheck, error_of_view};

/// FROM of a statement that changes rows.
pub(super) struct Changed {
    /// The join tree.
    pub tree: Option<JoinTree>,
    /// What the view asks for besides.
    pub conditions: Vec<Expression>,
    /// Those of them that changed rows must meet, too.
    checked: Vec<Expression>,
    /// Whether views under the one that is being bound have their conditions checked.
    cascades: bool,
    /// The order of the outermost view that has one.
    pub order: Vec<SortKey>,
    /// Whether the statement has no order of its own.
    takes_order: bool,
    /// The name of the table in the innermost view.
    pub own_name: String,
    /// What each view reads, the outermost first.
    pub levels: Vec<Level>,
    /// Of a view of several tables: each of them, in the order of FROM.
    pub parts: Vec<Level>,
}

/// Binds FROM of an UPDATE or DELETE. `takes_order`: a view's order is that of the statement.
pub(super) fn bind_changed(
    binder: &mut Binder<'_>,
    tables: &[TableReference],
    command: &'static str,
    takes_order: bool,
) -> SqlResult<Changed> {
    if let [TableReference::Table(factor)] = tables
        && let Some(view) = named_view(binder, factor)?
    {
        return changed_view(binder, factor, view, (command, takes_order));
    }
    Ok(Changed::of(from::bind_from(binder, tables)?))
}

fn named_view(binder: &Binder<'_>, factor: &TableFactor) -> SqlResult<Option<View>> {
    let is_common = |name: &str| binder.common_tables.in_scope.iter().any(|common| common.name == name);
    if factor.name.schema.is_none() && is_common(&factor.name.name) {
        return Ok(None);
    }
    named_view_of(binder, &factor.name)
}

/// The view that a name of a table to change means; none where a table of the session hides it, as it does not within a view.
pub(super) fn named_view_of(binder: &Binder<'_>, name: &ast::ObjectName) -> SqlResult<Option<View>> {
    let schema = binder.schema_of(name)?;
    if binder.privileges.open_views.is_empty() && binder.input.temporary.table(&schema, &name.name).is_some()
    {
        return Ok(None);
    }
    binder.input.virtual_tables.view(&schema, &name.name)
}

/// Binds a view that is all of FROM. Errors: 1288, 1235, 1356 for what goes wrong within it.
pub(super) fn changed_view(
    binder: &mut Binder<'_>,
    factor: &TableFactor,
    view: View,
    (command, takes_order): (&'static str, bool),
) -> SqlResult<Changed> {
    let name = view.definition.shape.name.clone();
    let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
    if !view.definition.updatable {
        return Err(change_refused(&view.definition, &alias, command));
    }
    refuse_join(binder, &view, &alias, command)?;
    let denied_before = binder.privileges.denied.is_some();
    binder.privileges.view = Some(name.clone());
    let mut changed = Changed { takes_order, ..Changed::of(None) };
    let opened = match opens_join(binder, &view, command)? {
        true => open_join(binder, &alias, &view, &mut changed),
        false => open(binder, &alias, view, command, &mut changed),
    };
    binder.privileges.view = None;
    if !denied_before {
        let denied = binder.privileges.denied.take();
        binder.privileges.denied = denied.map(|error| error_of_view(error, &name));
    }
    opened.map_err(|error| error_of_view(error, &name))?;
    if binder.input.shows_plan && !denied_before {
        let below = changed.levels.iter().chain(&changed.parts).map(|level| &level.below.name);
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
    let simple = simple(&view.query).filter(|_| definition.updatable).ok_or_else(refused)?;
    let rights = rights_in(binder, &definition)?;
    binder.privileges.open_views.push(own_name.clone());
    let saved = Saved::enter(binder, &view, rights.clone());
    let at = changed.levels.len();
    let is_checked = changed.cascades || definition.check_option != CheckOption::None;
    let cascades = changed.cascades || definition.check_option == CheckOption::Cascaded;
    let around = std::mem::replace(&mut changed.cascades, cascades);
    let opened = (|| {
        let inner_alias = simple.factor.alias.as_ref().unwrap_or(&simple.factor.name.name);
        match named_view(binder, simple.factor)? {
            Some(inner) => open(binder, inner_alias, inner, command, changed)?,
            None => {
                changed.own_name.clone_from(inner_alias);
                let reference = TableReference::Table(simple.factor.clone());
                changed.tree = from::bind_from(binder, std::slice::from_ref(&reference))?;
            }
        }
        changed.add_condition(binder, simple.filter, is_checked)?;
        if !matches!(binder.block().tables.last().map(|table| &table.source), Some(Source::Base(_))) {
            return Err(refused());
        }
        let mut filter = simple.filter.map_or_else(Vec::new, |filter| named_columns(binder.block(), filter));
        if changed.takes_order && !simple.order_by.is_empty() {
            changed.order = view_order(binder, &simple, &mut filter)?;
        }
        Ok((shown_items(binder, &simple.items)?, filter))
    })();
    changed.cascades = around;
    saved.leave(binder);
    binder.privileges.open_views.pop();
    let (shown, filter): (Vec<Shown>, Vec<usize>) = opened?;
    let (below, reads) = rename(binder.block(), alias, &definition.shape, shown).ok_or_else(refused)?;
    changed.levels.insert(at, Level { below, definer: rights, reads, filter });
    Ok(())
}

/// A view of one table.
struct Simple<'q> {
    factor: &'q TableFactor,
    filter: Option<&'q ast::Expression>,
    items: Vec<&'q ast::Expression>,
    /// What they are called.
    aliases: Vec<&'q str>,
    order_by: &'q [ast::OrderItem],
}

fn simple(query: &ast::Query) -> Option<Simple<'_>> {
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableReference::Table(factor)] = select.from.as_slice() else { return None };
    let order_by = query.order_by.as_slice();
    let mut others = select.filter.iter().chain(order_by.iter().map(|item| &item.expression));
    if query.with.is_some() || others.any(ast::Expression::holds_query) {
        return None;
    }
    let (mut items, mut aliases) = (Vec::with_capacity(select.items.len()), Vec::new());
    for item in &select.items {
        match item {
            SelectItem::Expression { expression, alias, .. } if !expression.holds_query() => {
                items.push(expression);
                aliases.push(alias.as_deref().unwrap_or_default());
            }
            _ => return None,
        }
    }
    Some(Simple { factor, filter: select.filter.as_ref(), items, aliases, order_by })
}

/// ORDER BY of a view. A name alone means a column of the view before one of the table. `named`: the columns that it reads are added.
fn view_order(
    binder: &mut Binder<'_>,
    simple: &Simple<'_>,
    named: &mut Vec<usize>,
) -> SqlResult<Vec<SortKey>> {
    let mut order = Vec::with_capacity(simple.order_by.len());
    for item in simple.order_by {
        let alias = match &item.expression {
            ast::Expression::Column(reference) if reference.table.is_none() => Some(&reference.column),
            _ => None,
        };
        let is_meant =
            |name: &&str| alias.is_some_and(|alias| !name.is_empty() && name.eq_ignore_ascii_case(alias));
        let shown = simple.aliases.iter().position(is_meant);
        let meant = shown.map_or(&item.expression, |at| simple.items[at]);
        named.extend(named_columns(binder.block(), meant));
        let clause = std::mem::replace(&mut binder.block().clause, Clause::OrderBy);
        let bound = binder.scalar(meant);
        binder.block().clause = clause;
        order.push(SortKey { expression: bound?, descending: item.descending });
    }
    order.retain(|key| key.expression.literal().is_none());
    Ok(order)
}

impl Changed {
    /// Of tables alone.
    pub fn of(tree: Option<JoinTree>) -> Changed {
        Changed {
            tree,
            conditions: Vec::new(),
            checked: Vec::new(),
            cascades: false,
            order: Vec::new(),
            takes_order: false,
            own_name: String::new(),
            levels: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Binds the condition of a view.
    pub fn add_condition(
        &mut self,
        binder: &mut Binder<'_>,
        filter: Option<&ast::Expression>,
        is_checked: bool,
    ) -> SqlResult<()> {
        let Some(filter) = filter else { return Ok(()) };
        let clause = std::mem::replace(&mut binder.block().clause, Clause::Where);
        let bound = binder.truth_of(filter);
        binder.block().clause = clause;
        let bound = conjuncts(bound?);
        if is_checked {
            self.checked.extend_from_slice(&bound);
        }
        self.conditions.extend(bound);
        Ok(())
    }

    /// WITH CHECK OPTION of the view that the statement names, or of those under it.
    pub fn check(&self, block: &Block, view: &TableName) -> Option<ViewCheck> {
        let conditions = over_columns(block, &self.checked);
        (!conditions.is_empty()).then(|| ViewCheck { view: view.clone(), conditions })
    }

    /// All conditions of the view, over the columns of its table.
    pub fn conditions_over_columns(&self, block: &Block) -> Vec<RowExpression> {
        over_columns(block, &self.conditions)
    }
}

fn over_columns(block: &Block, conditions: &[Expression]) -> Vec<RowExpression> {
    let count = block.tables.first().map_or(0, |table| table.columns.len());
    let moved = |condition: &Expression| {
        let mut moved = condition.clone();
        move_slots(&mut moved, &mut |slot| block.slots[slot].1);
        RowExpression::new(moved, count)
    };
    conditions.iter().map(moved).collect()
}
