//! Views in FROM: the query of one is bound in its place, with the rights of its definer or of who runs the statement, and what
//! goes wrong within is told as error 1356. Main function: [`bind_view`].

use super::Binder;
use super::from::{Visible, add_derived};
use super::privilege::ViewDefiner;
use charset::{CollationId, collation_by_name};
use dictionary::{TableName, ViewAlgorithm, ViewDefinition};
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{Derived, JoinTree, OpenSelect, Source};
use plan::physical::{OriginPath, RowLock};
use plan::{Extent, PrivilegeRequest, TableAccess, View, ViewPrivileges, error_of_view};
use std::sync::Arc;
use stdx::ids::TableId;

/// Uses of tables in a statement beyond which no view is bound.
const TABLES_BY_VIEWS_MAX: usize = 1 << 12;

/// A view, called so in the schema.
pub(super) fn bind_view(
    binder: &mut Binder<'_>,
    alias: &str,
    schema: String,
    view: View,
) -> SqlResult<(JoinTree, Visible)> {
    let definition = view.definition.clone();
    let name = &definition.shape.name;
    if binder.privileges.open_views.contains(name) {
        return Err(sql_error!(ER_VIEW_RECURSIVE, name.schema, name.table));
    }
    // A few views of views may stand for millions of tables.
    if binder.tables.len() > TABLES_BY_VIEWS_MAX {
        return Err(sql_error!(ER_TOO_MANY_TABLES, TABLES_BY_VIEWS_MAX));
    }
    let is_outermost = binder.privileges.view.is_none();
    if is_outermost {
        binder.privileges.view = Some(definition.shape.name.clone());
    }
    let denied_before = binder.privileges.denied.is_some();
    binder.privileges.open_views.push(name.clone());
    let bound = bound_query(binder, view);
    binder.privileges.open_views.pop();
    if is_outermost {
        binder.privileges.view = None;
        // What it was denied is no business of who uses it.
        if !denied_before {
            let denied = binder.privileges.denied.take();
            binder.privileges.denied = denied.map(|error| error_of_view(error, &definition.shape.name));
        }
    }
    if is_outermost && binder.input.shows_plan && bound.is_ok() && !denied_before {
        binder.privileges.denied =
            check_explained(binder, name, []).err().or(binder.privileges.denied.take());
    }
    let query = bound.map_err(|error| match is_outermost {
        true => error_of_view(error, &definition.shape.name),
        false => error,
    })?;
    if binder.blocks.len() > 1
        && let Derived::Open(open) = &query
    {
        let mut tables = Vec::new();
        base_tables(open, &mut tables);
        binder.changes.read_by_view(name, alias, &tables);
    }
    let number = binder.block_number;
    // A column of a view that is merged is that of its table.
    let must_be_kept = definition.algorithm == ViewAlgorithm::TempTable;
    let paths: Vec<Option<OriginPath>> = match must_be_kept || query.is_kept() {
        true => Vec::new(),
        false => {
            query.columns().iter().map(|shown| shown.origin.as_ref().map(|origin| origin.path)).collect()
        }
    };
    let added =
        add_derived(binder, (alias, Some(schema), must_be_kept), query, &definition.columns, (None, number))?;
    let shape = Arc::new(definition.shape.clone());
    if let Some(table) = binder.block().tables.last_mut() {
        for (column, path) in table.columns.iter_mut().zip(paths) {
            if let (Some(origin), Some(path)) = (&mut column.origin, path) {
                origin.path = path;
            }
        }
        table.view = Some(shape);
    }
    Ok(added)
}

/// Its query, bound with the rights that count in it.
fn bound_query(binder: &mut Binder<'_>, view: View) -> SqlResult<Derived> {
    let definition = &view.definition;
    let rights = rights_in(binder, definition)?;
    let saved = Saved::enter(binder, &view, rights);
    let query = binder.detached_query(&view.query, "DERIVED");
    saved.leave(binder);
    let query = query?;
    Ok(match definition.algorithm {
        ViewAlgorithm::TempTable => Derived::Planned(crate::planning::plan_derived(binder, query, None)?),
        ViewAlgorithm::Undefined | ViewAlgorithm::Merge => query,
    })
}

/// Whose rights count in a view; None: those of who runs the statement.
pub(super) fn rights_in(binder: &Binder<'_>, view: &ViewDefinition) -> SqlResult<Option<ViewDefiner>> {
    if view.invoker_security {
        // Within a view that has a definer, that one invokes it.
        return Ok(binder.privileges.definer.clone());
    }
    let (user, host) = (&view.definer_user, &view.definer_host);
    let check = binder.privileges.check.of_definer(user, host)?;
    Ok(Some(ViewDefiner { user: user.clone(), host: host.clone(), check }))
}

/// What the statement around a view has of its own.
pub(super) struct Saved {
    schema: Option<String>,
    common_tables: Vec<super::CommonTable>,
    connection: CollationId,
    requests: Vec<plan::PrivilegeRequest>,
    rights: Option<ViewDefiner>,
}

impl Saved {
    pub fn enter(binder: &mut Binder<'_>, view: &View, rights: Option<ViewDefiner>) -> Saved {
        let collation = collation_by_name(&view.definition.connection_collation)
            .map_or(CollationId::UTF8MB4_0900_AI_CI, |found| found.id);
        Saved {
            schema: binder.schema.replace(view.schema.clone()),
            // A view sees no common tables of the statement.
            common_tables: std::mem::take(&mut binder.common_tables.in_scope),
            connection: std::mem::replace(&mut binder.facts.connection, collation),
            requests: std::mem::take(&mut binder.privileges.requests),
            rights: std::mem::replace(&mut binder.privileges.definer, rights),
        }
    }

    /// Back to the statement; what the view has asked for is kept with it.
    pub fn leave(self, binder: &mut Binder<'_>) {
        binder.schema = self.schema;
        binder.common_tables.in_scope = self.common_tables;
        binder.facts.connection = self.connection;
        let privileges = &mut binder.privileges;
        let rights = std::mem::replace(&mut privileges.definer, self.rights);
        let definer = rights.map(|definer| (definer.user, definer.host));
        let requests = std::mem::replace(&mut privileges.requests, self.requests);
        if let Some(view) = &privileges.view {
            privileges.views.push(ViewPrivileges { view: view.clone(), definer, requests });
        }
    }
}

/// What a change of rows of something that is no table ends with: of a view, of nothing.
pub(super) fn unchangeable(binder: &Binder<'_>, schema: &str, name: &str) -> SqlError {
    match binder.input.virtual_tables.view(schema, name) {
        Ok(Some(view)) => change_refused(&view.definition, name, "INSERT"),
        Ok(None) => binder.unknown_table(schema, name),
        Err(error) => error,
    }
}

/// Error 1471 or 1288 for a view whose rows nobody changes; 1235 for others, which is not built.
pub(super) fn change_refused(view: &ViewDefinition, alias: &str, command: &str) -> SqlError {
    match (view.updatable, command) {
        (true, _) => sql_error!(ER_NOT_SUPPORTED_YET, format!("{command} through a view")),
        (false, "INSERT") => sql_error!(ER_NON_INSERTABLE_TABLE, alias, command),
        (false, _) => sql_error!(ER_NON_UPDATABLE_TABLE, alias, command),
    }
}

/// The same for a view that stands in FROM.
pub(super) fn change_of_view_refused(
    binder: &Binder<'_>,
    name: &TableName,
    alias: &str,
    command: &str,
) -> SqlError {
    match binder.input.engine.dictionary().views.get(&name.schema, &name.table) {
        Some(view) => change_refused(&view, alias, command),
        None => sql_error!(ER_NON_UPDATABLE_TABLE, alias, command),
    }
}

/// Error 1345: EXPLAIN shows what a view reads to those alone who may see the texts of it and of the views under it, and read its
/// tables themselves. `below`: what it reads that was not asked for yet.
pub(super) fn check_explained<'t>(
    binder: &Binder<'_>,
    view: &'t TableName,
    below: impl IntoIterator<Item = &'t TableName>,
) -> SqlResult<()> {
    let user = binder.privileges.current();
    let views = &binder.input.engine.dictionary().views;
    let is_shown = |schema: &str, table: &str| {
        let request = PrivilegeRequest {
            schema: schema.to_owned(),
            table: table.to_owned(),
            access: TableAccess::Select,
            extent: Extent::Table,
        };
        user.check(&request).is_ok() && (views.get(schema, table).is_none() || user.sees_view(schema, table))
    };
    let asked = binder.privileges.views.iter().filter(|asked| asked.view == *view);
    let mut requests = asked.flat_map(|asked| &asked.requests);
    let is_allowed = user.sees_view(&view.schema, &view.table)
        && requests.all(|request| is_shown(&request.schema, &request.table))
        && below.into_iter().all(|name| is_shown(&name.schema, &name.table));
    if is_allowed { Ok(()) } else { Err(sql_error!(ER_VIEW_NO_EXPLAIN)) }
}

/// A locking clause locks the rows of the tables that a merged view reads. What a view reads whose rows are kept is not locked, as in MySQL.
pub(super) fn lock_rows(query: &mut Derived, lock: RowLock) {
    let Derived::Open(open) = query else { return };
    for table in &mut Arc::make_mut(open).block.tables {
        table.lock = lock;
        if table.view.is_some()
            && let Source::Derived(query, _) = &mut table.source
        {
            lock_rows(query, lock);
        }
    }
}

/// The tables that a merged view reads.
fn base_tables(open: &OpenSelect, tables: &mut Vec<TableId>) {
    for table in &open.block.tables {
        match &table.source {
            Source::Base(base) => tables.push(base.id()),
            Source::Derived(Derived::Open(open), _) => base_tables(open, tables),
            _ => {}
        }
    }
}
