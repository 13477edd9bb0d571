//! information_schema.VIEWS and VIEW_TABLE_USAGE.

use super::SystemTables;
use super::cursor::ViewRows;
use super::keys::Wanted;
use super::row::RowBuilder;
use super::tables::AnyTable;
use crate::result::text;
use accounts::Privileges;
use dictionary::{ViewCheck, ViewDefinition};
use std::collections::BTreeSet;

pub(super) fn views(tables: &SystemTables<'_>, wanted: &Wanted, table: &AnyTable, rows: &mut ViewRows) {
    let AnyTable::View(view) = table else { return };
    let name = &view.shape.name;
    let shown = match sees_query(tables, view) {
        true => crate::view_text::query_text(view, None, false),
        false => String::new(),
    };
    let row = RowBuilder::new(&wanted.view)
        .set("TABLE_CATALOG", text("def"))
        .set("TABLE_SCHEMA", text(&*name.schema))
        .set("TABLE_NAME", text(&*name.table))
        .set("VIEW_DEFINITION", text(shown))
        .set("CHECK_OPTION", text(check_option(view)))
        .set("IS_UPDATABLE", text(if view.updatable { "YES" } else { "NO" }))
        .set("DEFINER", text(format!("{}@{}", view.definer_user, view.definer_host)))
        .set("SECURITY_TYPE", text(if view.invoker_security { "INVOKER" } else { "DEFINER" }))
        .set("CHARACTER_SET_CLIENT", text(&*view.client_charset))
        .set("COLLATION_CONNECTION", text(&*view.connection_collation));
    rows.push(row.finish());
}

pub(super) fn view_table_usage(
    tables: &SystemTables<'_>,
    wanted: &Wanted,
    table: &AnyTable,
    rows: &mut ViewRows,
) {
    let AnyTable::View(view) = table else { return };
    if !sees_query(tables, view) {
        return;
    }
    let name = &view.shape.name;
    let Ok(query) = instance::view_query(view) else { return };
    let statement = parser::ast::Statement::Query(Box::new(query));
    let used = instance::names_used(&statement).tables;
    let used: BTreeSet<(String, String)> = used
        .into_iter()
        .map(|found| (found.name.schema.unwrap_or_else(|| name.schema.clone()), found.name.name))
        .collect();
    for (schema, table) in used {
        if !tables.user.grants.table_or_columns(&schema, &table).intersects(Privileges::ALL_TABLE) {
            continue;
        }
        let row = RowBuilder::new(&wanted.view)
            .set("VIEW_CATALOG", text("def"))
            .set("VIEW_SCHEMA", text(&*name.schema))
            .set("VIEW_NAME", text(&*name.table))
            .set("TABLE_CATALOG", text("def"))
            .set("TABLE_SCHEMA", text(schema))
            .set("TABLE_NAME", text(table));
        rows.push(row.finish());
    }
}

/// Whether the user may see what a view asks: with SHOW VIEW, and SELECT on any of its columns.
fn sees_query(tables: &SystemTables<'_>, view: &ViewDefinition) -> bool {
    let (grants, name) = (&tables.user.grants, &view.shape.name);
    grants.table(&name.schema, &name.table).contains(Privileges::SHOW_VIEW)
        && grants.table_or_columns(&name.schema, &name.table).contains(Privileges::SELECT)
}

fn check_option(view: &ViewDefinition) -> &'static str {
    match view.check_option {
        ViewCheck::None => "NONE",
        ViewCheck::Local => "LOCAL",
        ViewCheck::Cascaded => "CASCADED",
    }
}
