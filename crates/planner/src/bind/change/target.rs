//! A table whose rows UPDATE and DELETE change: what is read of it and what its rows pass. Main function: [`target`].

use super::references::{RowEvents, references};
use super::{defaults, on_update, own_expressions};
use crate::bind::Binder;
use dictionary::{IndexDefinition, IndexKind, TableDefinition};
use engine::WaitPolicy;
use errors::{SqlResult, sql_error};
use optimizer::Source;
use plan::physical::RowLock;
use plan::{Assignment, DefaultValue, OwnExpressions, Target, TargetTable, ViewCheck};
use values::row::ColumnSet;

/// Columns of up to so many bytes are read with the row: to leave them out saves nothing.
const SHORT_BYTES: u32 = 1000;

/// What will be done to rows.
pub(super) enum Wanted {
    /// They are taken out.
    Delete,
    /// They get other values. `joins`: rows of several tables are put together. `check`: what a view asks of them.
    Update { joins: bool, check: Option<ViewCheck> },
}

/// A table whose rows will be changed: its key and, for UPDATE, its columns are read under lock, but for long ones that nothing
/// looks at.
pub(super) fn target(
    binder: &mut Binder<'_>,
    number: usize,
    assignments: Vec<Assignment>,
    wanted: Wanted,
) -> SqlResult<TargetTable> {
    let (whole, several, check) = match wanted {
        Wanted::Delete => (false, false, None),
        Wanted::Update { joins, check } => (true, joins, check),
    };
    let bound = &mut binder.block().tables[number];
    // As in MySQL, UPDATE does not wait for rows that it passes over, and DELETE does.
    let policy = if whole { WaitPolicy::LastCommitted } else { WaitPolicy::Wait };
    bound.lock = RowLock::Change(policy);
    let alias = bound.alias.clone();
    let Source::Base(table) = &bound.source else {
        if let Some(view) = bound.view.clone() {
            let command = if whole { "UPDATE" } else { "DELETE" };
            return Err(crate::bind::view::change_of_view_refused(binder, &view.name, &alias, command));
        }
        return Err(sql_error!(ER_NON_UPDATABLE_TABLE, alias, if whole { "UPDATE" } else { "DELETE" }));
    };
    let table = table.clone();
    let definition = table.definition().clone();
    let on_update = on_update(binder, &definition, &assignments)?;
    let is_changed = |column: usize| assignments.iter().chain(&on_update).any(|one| one.column == column);
    let mut own =
        if whole { own_expressions(binder, &definition, is_changed)? } else { OwnExpressions::default() };
    own.view = check;
    let updates = |column: usize| whole && (is_changed(column) || own.compute(column));
    let references =
        references(binder, &table, RowEvents { inserts: false, deletes: !whole, updates: &updates })?;
    let defaults = defaults(binder, &definition)?;
    let is_asked = |column: usize| {
        let reads = |one: &Assignment| matches!(&defaults[one.column], DefaultValue::Expression(default) if one.value.is_none() && default.reads(column));
        own.read(column)
            || own.compute(column)
            || references.columns.contains(column)
            || assignments.iter().any(reads)
    };
    let key_slot = binder.block().key_slot(number);
    let (mut kept, mut unread) = (Vec::new(), false);
    if whole {
        for column in 0..table.definition().columns.len() {
            let is_read = binder.block().tables[number].slots[column].is_some() || is_asked(column);
            let is_assigned = assignments.iter().any(|assignment| assignment.column == column);
            if is_read || !may_stay_unread(table.definition(), column) || is_assigned && several {
                binder.block().slot(number, column);
            } else if is_assigned {
                unread = true;
            } else {
                kept.push(column);
            }
        }
    }
    let mut slots = binder.block().tables[number].slots.clone();
    slots.truncate(table.definition().columns.len());
    let base = Target::new(table, defaults, on_update, ColumnSet::of(kept), own, &assignments)
        .with_references(references);
    let (sees_changes, changes_at_once) = (false, false);
    Ok(TargetTable { base, alias, slots, unread, key_slot, assignments, sees_changes, changes_at_once })
}

/// Whether a change of a row leaves a column where it is, if it does not read it: it may be long, and no message about a key can name it.
pub(super) fn may_stay_unread(definition: &TableDefinition, column: usize) -> bool {
    let column_type = &definition.columns[column].column_type;
    let may_be_long = column_type.kind.may_be_long()
        || column_type.kind.is_string() && column_type.row_bytes() > SHORT_BYTES;
    let of_key = |index: &IndexDefinition| {
        index.kind != IndexKind::Plain && index.parts.iter().any(|part| part.column == column)
    };
    may_be_long && !definition.indexes.iter().any(of_key)
}
