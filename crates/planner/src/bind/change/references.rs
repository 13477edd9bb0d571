//! Foreign keys of a table whose rows a statement changes: the parents that rows must have, and the tables that change with them, as far
//! as cascades go. Main function: [`references`].

use super::super::Binder;
use super::{defaults, own_expressions, target::may_stay_unread};
use dictionary::{ForeignKeyDefinition, IndexDefinition, TableDefinition};
use engine::Table;
use errors::SqlResult;
use plan::{ChildKey, OwnExpressions, ParentKey, References, ReferredIndex, Target};
use std::sync::Arc;
use values::row::ColumnSet;

/// What a statement does to rows that foreign keys have to do with.
#[derive(Clone, Copy)]
pub(super) struct RowEvents<'a> {
    /// It puts rows in.
    pub inserts: bool,
    /// It takes rows out.
    pub deletes: bool,
    /// It gives these columns of rows that are there other values.
    pub updates: &'a dyn Fn(usize) -> bool,
}

/// The foreign keys that concern a statement which does that to rows of a table.
pub(super) fn references(
    binder: &mut Binder<'_>,
    table: &Arc<Table>,
    events: RowEvents<'_>,
) -> SqlResult<References> {
    let definition = table.definition();
    let parents = parents(binder, definition, |key| {
        // A row that gets another place is looked at like a new one.
        let moves = definition.primary_key().is_some_and(|index| reads(index, events.updates));
        events.inserts || moves || key.columns.iter().any(|column| (events.updates)(*column))
    });
    let children = match events.deletes || (0..definition.columns.len()).any(events.updates) {
        true => children(binder, definition, events)?,
        false => Vec::new(),
    };
    Ok(References::new(definition, parents, children))
}

fn reads(index: &IndexDefinition, is_changed: &dyn Fn(usize) -> bool) -> bool {
    index.parts.iter().any(|part| is_changed(part.column))
}

/// The foreign keys of a definition: of a table that is not there yet, or whose rows are copied. Those that refer to the table itself look
/// into the one that is there.
pub(crate) fn row_parents(binder: &Binder<'_>, definition: &TableDefinition) -> Vec<ParentKey> {
    parents(binder, definition, |_| true)
}

fn parents(
    binder: &Binder<'_>,
    definition: &TableDefinition,
    concerns: impl Fn(&ForeignKeyDefinition) -> bool,
) -> Vec<ParentKey> {
    let keys = definition.foreign_keys.iter().enumerate().filter(|(_, key)| concerns(key));
    let parent_key = |(number, key): (usize, &ForeignKeyDefinition)| {
        let is_own = key.parent == definition.name;
        let parent = binder.input.engine.dictionary().table(&key.parent.schema, &key.parent.table);
        ParentKey { key: number, referred: parent.and_then(|parent| referred_index(parent, key)), is_own }
    };
    keys.map(parent_key).collect()
}

/// The index of a parent by which a key finds its rows: a unique one of its columns, else any that begins with them.
fn referred_index(table: Arc<Table>, key: &ForeignKeyDefinition) -> Option<ReferredIndex> {
    let definition = table.definition();
    let columns = definition.column_positions(&key.parent_columns)?;
    let index = table.index_of_definition(definition.index_of_referred(&columns)?);
    Some(ReferredIndex { table, index, columns })
}

/// The keys that refer to a table, but for those whose columns do not change.
fn children(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
    events: RowEvents<'_>,
) -> SqlResult<Vec<ChildKey>> {
    let engine = binder.input.engine;
    let mut children = Vec::new();
    // Keys refer to the base table of that name.
    if definition.id.is_temporary() {
        return Ok(children);
    }
    for (name, ordinal) in engine.dictionary().referring(&definition.name) {
        let Some(table) = engine.dictionary().table(&name.schema, &name.table) else { continue };
        let keys = &table.definition().foreign_keys;
        let Some(key) = keys.iter().position(|key| key.ordinal == ordinal) else { continue };
        let Some(columns) = definition.column_positions(&keys[key].parent_columns) else { continue };
        if !events.deletes && !columns.iter().any(|column| (events.updates)(*column)) {
            continue;
        }
        let Some(index) = table.definition().index_of_referring(&keys[key].columns) else { continue };
        let index = table.index_of_definition(index);
        let is_own = table.definition().name == definition.name;
        let child = cascade(binder, &table)?;
        children.push(ChildKey { child, key, index, columns, is_own });
    }
    Ok(children)
}

/// The number of a table among those that change by foreign keys. What its rows pass is bound once, however many keys lead to it.
fn cascade(binder: &mut Binder<'_>, table: &Arc<Table>) -> SqlResult<usize> {
    binder.input.context.check_killed()?;
    if let Some(known) = binder.cascades.iter().position(|known| known.table.id() == table.id()) {
        return Ok(known);
    }
    let number = binder.cascades.len();
    let blank = |own, kept, defaults| Target::new(table.clone(), defaults, Vec::new(), kept, own, &[]);
    // A circle of keys comes back to it.
    binder.cascades.push(blank(OwnExpressions::default(), ColumnSet::none(), Vec::new()));
    let definition = table.definition();
    let assigned = |column: usize| {
        definition.foreign_keys.iter().any(|key| key.may_assign() && key.columns.contains(&column))
    };
    let own = own_expressions(binder, definition, assigned)?;
    let changes = |column: usize| assigned(column) || own.compute(column);
    let events = RowEvents { inserts: false, deletes: true, updates: &changes };
    let referred = references(binder, table, events)?;
    let kept = (0..definition.columns.len()).filter(|column| {
        let is_referred = referred.columns.contains(*column);
        may_stay_unread(definition, *column) && !changes(*column) && !own.read(*column) && !is_referred
    });
    let kept = ColumnSet::of(kept.collect::<Vec<usize>>());
    let defaults = defaults(binder, definition)?;
    binder.cascades[number] = blank(own, kept, defaults).with_references(referred);
    Ok(number)
}
