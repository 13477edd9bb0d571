//! What the views of constraints have of foreign keys: rows of KEY_COLUMN_USAGE, TABLE_CONSTRAINTS, REFERENTIAL_CONSTRAINTS, INNODB_FOREIGN and
//! INNODB_FOREIGN_COLS.

use super::SystemTables;
use super::keys::Wanted;
use super::tables::AnyTable;
use super::{ViewRows, row::RowBuilder};
use crate::result::text;
use dictionary::{ForeignKeyDefinition, MatchOption, ReferenceAction, TableDefinition, TableName};
use values::Value;

/// A row for each column of each key.
pub(super) fn key_columns(tables: &SystemTables<'_>, table: &TableDefinition, rows: &mut ViewRows) {
    for key in &table.foreign_keys {
        for (place, (column, parent_column)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
            if !tables.sees_column(table, *column) {
                continue;
            }
            let place = Value::UInt(place as u64 + 1);
            rows.push(vec![
                text("def"),
                text(&*table.name.schema),
                text(&*key.name),
                text("def"),
                text(&*table.name.schema),
                text(&*table.name.table),
                text(&*table.columns[*column].name),
                place.clone(),
                place,
                text(&*key.parent.schema),
                text(&*key.parent.table),
                text(&**parent_column),
            ]);
        }
    }
}

/// A row for each key.
pub(super) fn constraints(table: &TableDefinition, rows: &mut ViewRows) {
    rows.extend(table.foreign_keys.iter().map(|key| {
        vec![
            text("def"),
            text(&*table.name.schema),
            text(&*key.name),
            text(&*table.name.schema),
            text(&*table.name.table),
            text("FOREIGN KEY"),
            text("YES"),
        ]
    }));
}

/// REFERENTIAL_CONSTRAINTS.
pub(super) fn referential_constraints(
    tables: &SystemTables<'_>,
    wanted: &Wanted,
    table: &AnyTable,
    rows: &mut ViewRows,
) {
    let table = table.definition();
    // Members of MATCH_OPTION: NONE, PARTIAL, FULL.
    let matching = |key: &ForeignKeyDefinition| match key.match_option {
        MatchOption::None | MatchOption::Simple => 1,
        MatchOption::Partial => 2,
        MatchOption::Full => 3,
    };
    // Members of UPDATE_RULE and DELETE_RULE.
    let rule = |action: ReferenceAction| match action {
        ReferenceAction::NoAction => 1,
        ReferenceAction::Restrict => 2,
        ReferenceAction::Cascade => 3,
        ReferenceAction::SetNull => 4,
        ReferenceAction::SetDefault => 5,
    };
    rows.extend(table.foreign_keys.iter().map(|key| {
        RowBuilder::new(&wanted.view)
            .set("CONSTRAINT_CATALOG", text("def"))
            .set("CONSTRAINT_SCHEMA", text(&*table.name.schema))
            .set("CONSTRAINT_NAME", text(&*key.name))
            .set("UNIQUE_CONSTRAINT_CATALOG", text("def"))
            .set("UNIQUE_CONSTRAINT_SCHEMA", text(&*key.parent.schema))
            .set("UNIQUE_CONSTRAINT_NAME", unique_constraint(tables, table, key))
            .set("MATCH_OPTION", Value::UInt(matching(key)))
            .set("UPDATE_RULE", Value::UInt(rule(key.on_update)))
            .set("DELETE_RULE", Value::UInt(rule(key.on_delete)))
            .set("TABLE_NAME", text(&*table.name.table))
            .set("REFERENCED_TABLE_NAME", text(&*key.parent.table))
            .finish()
    }));
}

/// The name of the unique key that a key refers to; NULL if there is none, or no such table.
fn unique_constraint(
    tables: &SystemTables<'_>,
    table: &TableDefinition,
    key: &ForeignKeyDefinition,
) -> Value {
    let name = |parent: &TableDefinition| {
        let columns = parent.column_positions(&key.parent_columns)?;
        Some(text(&*parent.indexes[parent.unique_index_of(&columns)?].name))
    };
    if key.parent == table.name {
        return name(table).unwrap_or(Value::Null);
    }
    let parent = tables.instance.engine().dictionary().table(&key.parent.schema, &key.parent.table);
    parent.and_then(|parent| name(parent.definition())).unwrap_or(Value::Null)
}

fn shown_name(name: &TableName) -> Value {
    text(format!("{}/{}", name.schema, name.table))
}

fn shown_key(table: &TableDefinition, key: &ForeignKeyDefinition) -> Value {
    text(format!("{}/{}", table.name.schema, key.name))
}

/// INNODB_FOREIGN.
pub(super) fn innodb_foreign(
    _tables: &SystemTables<'_>,
    wanted: &Wanted,
    table: &AnyTable,
    rows: &mut ViewRows,
) {
    let table = table.definition();
    // Bits of TYPE: 1 and 2 ON DELETE CASCADE and SET NULL, 4 and 8 the same of ON UPDATE, 16 and 32 NO ACTION of both.
    let bits = |action: ReferenceAction, [cascade, set_null, none]: [u64; 3]| match action {
        ReferenceAction::Cascade => cascade,
        ReferenceAction::SetNull => set_null,
        ReferenceAction::NoAction => none,
        ReferenceAction::Restrict | ReferenceAction::SetDefault => 0,
    };
    rows.extend(table.foreign_keys.iter().map(|key| {
        RowBuilder::new(&wanted.view)
            .set("ID", shown_key(table, key))
            .set("FOR_NAME", shown_name(&table.name))
            .set("REF_NAME", shown_name(&key.parent))
            .set("N_COLS", Value::Int(key.columns.len() as i64))
            .set("TYPE", Value::UInt(bits(key.on_delete, [1, 2, 16]) | bits(key.on_update, [4, 8, 32])))
            .finish()
    }));
}

/// INNODB_FOREIGN_COLS.
pub(super) fn innodb_foreign_columns(
    _tables: &SystemTables<'_>,
    wanted: &Wanted,
    table: &AnyTable,
    rows: &mut ViewRows,
) {
    let table = table.definition();
    for key in &table.foreign_keys {
        for (place, (column, parent)) in key.column_names(table).zip(&key.parent_columns).enumerate() {
            let row = RowBuilder::new(&wanted.view)
                .set("ID", shown_key(table, key))
                .set("FOR_COL_NAME", text(column))
                .set("REF_COL_NAME", text(&**parent))
                .set("POS", Value::UInt(place as u64 + 1));
            rows.push(row.finish());
        }
    }
}
