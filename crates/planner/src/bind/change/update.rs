//! UPDATE of one table or several. Main function: [`update`].

use super::rows::{Wishes, conditions_of, found_rows};
use super::target::{Wanted, target};
use super::view::{Changed, bind_changed};
use super::view_rights::{Taken, read_columns};
use super::{assigned, change, changing};
use crate::bind::column::find_column;
use crate::bind::privilege::Privileges;
use crate::bind::view::change_of_view_refused;
use crate::bind::{Binder, block_hints};
use crate::changed_rows::{ChangedRows, may_join_subqueries};
use ::expression::operators::ComparisonOperator;
use ::expression::{Expression, ExpressionKind};
use dictionary::TableDefinition;
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{Block, BoundTable, JoinTree, Source, reads_whole, tables_of};
use parser::ast;
use plan::physical::Node;
use plan::{Assignment, TableAccess, TargetTable, UpdatePlan, ViewCheck};

/// UPDATE of one table or several.
pub(crate) fn update(binder: &mut Binder<'_>, update: &ast::Update) -> SqlResult<UpdatePlan> {
    changing(binder, update.with.as_ref(), &update.hints, |binder| update_parts(binder, update))
}

fn update_parts(binder: &mut Binder<'_>, update: &ast::Update) -> SqlResult<UpdatePlan> {
    let changed = bind_changed(binder, &update.tables, "UPDATE", update.order_by.is_empty())?;
    let tree = changed.tree.clone();
    block_hints::check_names(binder);
    let several = binder.block().tables.len() > 1;
    let (block, privileges) = binder.block_and_privileges();
    privileges.require_update(block);
    for assignment in &update.assignments {
        if let Some((table, _)) = find_column(binder.block(), &assignment.column)? {
            change(binder, table);
        }
    }
    // MySQL looks at WHERE first, then at SET, and then at what the statement must not have.
    let mut conditions = changed.conditions.clone();
    conditions.extend(conditions_of(binder, update.filter.as_ref())?);
    let ordered = !update.order_by.is_empty() || !changed.order.is_empty();
    let joins = several || may_join_subqueries(binder, ordered, update.limit.is_some());
    let mut targets = bound_targets(binder, update, &changed, joins)?;
    if several && (!update.order_by.is_empty() || update.limit.is_some()) {
        let clause = if update.order_by.is_empty() { "LIMIT" } else { "ORDER BY" };
        return Err(sql_error!(ER_WRONG_USAGE, "UPDATE", clause));
    }
    let limit = update.limit.as_ref().map(|limit| binder.row_count(limit)).transpose()?;
    let mut all_conditions = tree.as_ref().map(JoinTree::conditions).unwrap_or_default();
    all_conditions.extend_from_slice(&conditions);
    let wishes = Wishes { conditions, view_order: changed.order, order_by: &update.order_by, limit };
    let ChangedRows { node, index, first } = found_rows(binder, tree, wishes, "UPDATE")?;
    check_key_conflicts(&targets)?;
    for target in &mut targets {
        let block = binder.block();
        let is_same = |table: &&BoundTable| matches!(&table.source, Source::Base(base) if base.id() == target.base.table.id());
        let is_first = first.is_some_and(|first| block.tables[first].key_slot == Some(target.key_slot));
        let read_by = index_read_for(&node, target.key_slot);
        // MySQL changes such a table at once; what waits for the end of the search is not in the rows that are found.
        let stays = || {
            !moves_rows(target, read_by.unwrap_or(0))
                && first
                    .is_some_and(|first| !is_read_later(block, first, &target.assignments, &all_conditions))
        };
        let is_alone = block.tables.iter().filter(is_same).count() == 1;
        target.sees_changes = !several || is_first && is_alone && stays();
        target.changes_at_once =
            is_first && target.sees_changes && read_by.is_some_and(|index| !moves_rows(target, index));
    }
    let moves = targets.iter().any(|target| moves_rows(target, index));
    let buffered = several || moves || ordered || !matches!(node, Node::Table(_) | Node::Limit { .. });
    let reads_whole = reads_whole(&mut binder.survey(), &node);
    Ok(UpdatePlan { node, targets, ignore: update.ignore, buffered, reads_whole })
}

/// The tables to which something is assigned, in the order of FROM. `joins`: rows of several tables may be put together.
fn bound_targets(
    binder: &mut Binder<'_>,
    update: &ast::Update,
    changed: &Changed,
    joins: bool,
) -> SqlResult<Vec<TargetTable>> {
    let (block, privileges) = binder.block_and_privileges();
    privileges.require_updated(block, &update.assignments)?;
    require_below(binder, update, changed)?;
    check_assigned(binder.block(), &update.assignments)?;
    let mut all: Vec<(usize, Assignment)> = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        let Some((table, column)) = find_column(binder.block(), &assignment.column)? else {
            return Err(sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"));
        };
        let bound = &binder.block().tables[table];
        let Source::Base(base) = &bound.source else {
            if let Some(view) = &bound.view {
                let (view, alias) = (view.name.clone(), bound.alias.clone());
                return Err(change_of_view_refused(binder, &view, &alias, "UPDATE"));
            }
            return Err(sql_error!(ER_NON_UPDATABLE_TABLE, bound.alias, "UPDATE"));
        };
        let base = base.clone();
        let Some(column) = bound.stored_column(column) else {
            return Err(not_updatable(bound, column));
        };
        let value =
            assigned(binder, &assignment.value, base.definition(), &base.definition().columns[column])?;
        let read = value.as_ref().and_then(|value| binder.block().place(value));
        all.push((
            table,
            Assignment {
                column,
                value,
                is_own: read == Some((table, column))
                    || base.definition().columns[column].generated.is_some(),
            },
        ));
    }
    require_read_below(binder, changed);
    let mut numbers = changed.tree.as_ref().map(JoinTree::leaves).unwrap_or_default();
    numbers.retain(|number| all.iter().any(|(table, _)| table == number));
    let mut targets = Vec::with_capacity(numbers.len());
    for number in numbers {
        let own = all.iter().filter(|(table, _)| *table == number).map(|(_, one)| one.clone()).collect();
        let check = checked_by_view(binder, changed);
        targets.push(target(binder, number, own, Wanted::Update { joins, check })?);
    }
    Ok(targets)
}

/// Columns are looked for before values. Errors: 1054; 1348 for a column that a view computes.
fn check_assigned(block: &Block, assignments: &[ast::Assignment]) -> SqlResult<()> {
    for assignment in assignments {
        let Some((table, column)) = find_column(block, &assignment.column)? else {
            return Err(sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"));
        };
        let bound = &block.tables[table];
        if bound.stored_column(column).is_none() {
            return Err(not_updatable(bound, column));
        }
    }
    Ok(())
}

fn not_updatable(table: &BoundTable, column: usize) -> SqlError {
    sql_error!(ER_NONUPDATEABLE_COLUMN, table.columns[column].name)
}

/// Asks what a view takes of what is under it, before values are bound.
fn require_below(binder: &mut Binder<'_>, update: &ast::Update, changed: &Changed) -> SqlResult<()> {
    let Some(view) = binder.block().tables.first().and_then(|table| table.view.clone()) else {
        return Ok(());
    };
    let mut columns = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        // What is computed is asked of nobody: that it cannot be assigned comes first.
        let found = find_column(binder.block(), &assignment.column)?;
        let is_stored =
            |(table, column): &(usize, usize)| binder.block().tables[*table].stored_column(*column).is_some();
        columns.extend(found.filter(is_stored).map(|(_, column)| column));
    }
    if !changed.parts.is_empty() {
        return require_parts(binder, update, changed);
    }
    let taken = [Taken { columns, access: TableAccess::Update }];
    let whole = |privileges: &mut Privileges<'_>, below: &TableDefinition| {
        privileges.require_table(below, TableAccess::Update);
    };
    changed.require_below(binder, &view.name, whole, &taken);
    Ok(())
}

/// The same of a view of several tables. Error 1393 where more than one of them is changed.
fn require_parts(binder: &mut Binder<'_>, update: &ast::Update, changed: &Changed) -> SqlResult<()> {
    let mut assigned: Vec<(usize, usize)> = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        assigned.extend(find_column(binder.block(), &assignment.column)?);
    }
    for (number, part) in changed.parts.iter().enumerate() {
        let mut columns = assigned.iter().filter(|(table, _)| *table == number).peekable();
        let view = binder.block().tables[number].view.clone();
        if let (Some(view), true) = (view, columns.peek().is_some()) {
            part.ask(binder, &view.name, |privileges| {
                privileges.require_table(&part.below, TableAccess::Update);
                for (_, column) in columns {
                    let name = &part.below.columns[*column].name;
                    privileges.require_column(&part.below, name, TableAccess::Update);
                }
            });
        }
    }
    let view = binder.block().tables.first().and_then(|table| table.view.clone());
    match (assigned.first(), view) {
        (Some((first, _)), Some(view)) if assigned.iter().any(|(table, _)| table != first) => {
            Err(sql_error!(ER_VIEW_MULTIUPDATE, view.name.schema, view.name.table))
        }
        _ => Ok(()),
    }
}

/// The columns of what is under a view that the statement reads.
fn require_read_below(binder: &mut Binder<'_>, changed: &Changed) {
    for (number, part) in changed.parts.iter().enumerate() {
        let Some(view) = binder.block().tables[number].view.clone() else { continue };
        let read = read_columns(binder, &view);
        part.ask(binder, &view.name, |privileges| {
            for column in read.columns {
                privileges.require_column(&part.below, &part.below.columns[column].name, read.access);
            }
        });
    }
    if !changed.parts.is_empty() {
        return;
    }
    let view = binder.block().tables.first().and_then(|table| table.view.clone());
    if let Some(view) = view {
        let read = read_columns(binder, &view);
        changed.require_below(binder, &view.name, |_, _| {}, &[read]);
    }
}

/// WITH CHECK OPTION of the view that is changed.
fn checked_by_view(binder: &mut Binder<'_>, changed: &Changed) -> Option<ViewCheck> {
    let block = binder.block();
    let view = block.tables.first().and_then(|table| table.view.as_ref())?;
    changed.check(block, &view.name)
}

/// Error 1706: a row that is changed under two names must be found again under the second one.
fn check_key_conflicts(targets: &[TargetTable]) -> SqlResult<()> {
    let changes_key = |target: &TargetTable| {
        let key = target.base.table.indexes()[0].definition(&target.base.table);
        let is_part =
            |column: usize| key.is_some_and(|key| key.parts.iter().any(|part| part.column == column));
        target.assignments.iter().any(|assignment| is_part(assignment.column))
            || target.base.own.generated.iter().any(|generated| is_part(generated.column))
    };
    for (at, target) in targets.iter().enumerate() {
        let other = targets[at + 1..].iter().find(|other| other.base.table.id() == target.base.table.id());
        if let Some(other) = other
            && (changes_key(target) || changes_key(other))
        {
            return Err(sql_error!(ER_MULTI_UPDATE_KEY_CONFLICT, target.alias, other.alias));
        }
    }
    Ok(())
}

/// The index by which the table that fills a slot with its keys is read, where it is the outermost of the joins.
fn index_read_for(node: &Node, key_slot: usize) -> Option<usize> {
    match node {
        Node::Table(access) => (access.key_slot == Some(key_slot)).then_some(access.path.index),
        Node::Filter { input, .. } => index_read_for(input, key_slot),
        Node::NestedLoop(join) => index_read_for(&join.outer, key_slot),
        Node::HashJoin(join) => index_read_for(&join.probe, key_slot),
        _ => None,
    }
}

/// Whether the change may move a row within the index by which it was found.
fn moves_rows(target: &TargetTable, index: usize) -> bool {
    let table = &target.base.table;
    let parts: Vec<usize> = [0, index]
        .iter()
        .filter_map(|index| table.indexes()[*index].definition(table))
        .flat_map(|definition| definition.parts.iter().map(|part| part.column))
        .collect();
    let mut assigned = target.assignments.iter().chain(&target.base.on_update).map(|one| one.column);
    let mut computed = target.base.own.generated.iter().map(|one| one.column);
    assigned.any(|column| parts.contains(&column)) || computed.any(|column| parts.contains(&column))
}

/// Whether tables that are read behind the first look at what is assigned to it, other than to look up their keys.
fn is_read_later(block: &Block, first: usize, assigned: &[Assignment], conditions: &[Expression]) -> bool {
    let reads = |condition: &Expression| {
        condition.any(&|part| {
            let place = block.place(part);
            place.is_some_and(|(table, column)| {
                table == first && assigned.iter().any(|one| one.column == column)
            })
        })
    };
    let is_key = |side: &Expression| {
        block.place(side).is_some_and(|(table, column)| {
            let Source::Base(base) = &block.tables[table].source else { return false };
            let mut indexes = base.definition().indexes.iter();
            table != first
                && indexes.any(|index| index.parts.first().is_some_and(|part| part.column == column))
        })
    };
    let looks_up = |condition: &Expression| match &condition.kind {
        ExpressionKind::Compare(comparison) => {
            comparison.operator == ComparisonOperator::Equal
                && (is_key(&comparison.left) || is_key(&comparison.right))
        }
        _ => false,
    };
    let reads_others = |condition: &Expression| tables_of(block, condition) & !(1 << first) != 0;
    let mut terms = conditions.iter().flat_map(|condition| match &condition.kind {
        ExpressionKind::And(terms) => terms.as_slice(),
        _ => std::slice::from_ref(condition),
    });
    terms.any(|term| reads_others(term) && reads(term) && !looks_up(term))
}
