//! DELETE from one table or several. Main function: [`delete`].

use super::rows::{Wishes, conditions_of, found_rows};
use super::target::{Wanted, target};
use super::view::bind_changed;
use super::view_rights::read_columns;
use super::{change, changing};
use crate::bind::privilege::Privileges;
use crate::bind::{Binder, block_hints};
use crate::changed_rows::ChangedRows;
use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use optimizer::{BoundTable, Source, reads_whole};
use parser::ast;
use plan::physical::Node;
use plan::{DeletePlan, TableAccess};

/// DELETE from one table or several.
pub(crate) fn delete(binder: &mut Binder<'_>, delete: &ast::Delete) -> SqlResult<DeletePlan> {
    changing(binder, delete.with.as_ref(), &delete.hints, |binder| delete_parts(binder, delete))
}

fn delete_parts(binder: &mut Binder<'_>, delete: &ast::Delete) -> SqlResult<DeletePlan> {
    let (changed, numbers) = match &delete.source {
        ast::DeleteSource::Single(factor) => {
            let reference = ast::TableReference::Table(factor.clone());
            let takes_order = delete.order_by.is_empty();
            (bind_changed(binder, std::slice::from_ref(&reference), "DELETE", takes_order)?, vec![0])
        }
        ast::DeleteSource::Multiple { targets, from } => {
            let changed = bind_changed(binder, from, "DELETE", false)?;
            let (block, privileges) = binder.block_and_privileges();
            privileges.require_read(block);
            let mut numbers = Vec::with_capacity(targets.len());
            for target in targets {
                let found = binder.block().tables.iter().position(|table| is_named(table, target));
                let number =
                    found.ok_or_else(|| sql_error!(ER_UNKNOWN_TABLE, target.name, "MULTI DELETE"))?;
                if numbers.contains(&number) {
                    return Err(sql_error!(ER_NONUNIQ_TABLE, target.name));
                }
                numbers.push(number);
            }
            (changed, numbers)
        }
    };
    block_hints::check_names(binder);
    let mut targets = Vec::with_capacity(numbers.len());
    for number in numbers {
        change(binder, number);
        let target = target(binder, number, Vec::new(), Wanted::Delete)?;
        let view = binder.block().tables[number].view.clone();
        let named = view.as_deref().unwrap_or_else(|| target.base.table.definition());
        binder.privileges.require_table(named, TableAccess::Delete);
        targets.push(target);
    }
    let limit = delete.limit.as_ref().map(|limit| binder.row_count(limit)).transpose()?;
    let mut conditions = changed.conditions.clone();
    conditions.extend(conditions_of(binder, delete.filter.as_ref())?);
    if let Some(view) = binder.block().tables.first().and_then(|table| table.view.clone()) {
        let whole = |privileges: &mut Privileges<'_>, below: &TableDefinition| {
            privileges.require_table(below, TableAccess::Delete);
        };
        let read = read_columns(binder, &view);
        changed.require_below(binder, &view.name, whole, &[read]);
    }
    let wishes = Wishes { conditions, view_order: changed.order, order_by: &delete.order_by, limit };
    let ChangedRows { node, .. } = found_rows(binder, changed.tree, wishes, "DELETE")?;
    let buffered = targets.len() > 1 || !matches!(node, Node::Table(_) | Node::Limit { .. });
    let reads_whole = reads_whole(&mut binder.survey(), &node);
    Ok(DeletePlan { node, targets, ignore: delete.ignore, buffered, reads_whole })
}

/// Whether a table of FROM is the one that DELETE names: by its alias, or by its schema and its own name if it has no alias.
fn is_named(table: &BoundTable, target: &ast::ObjectName) -> bool {
    let own_name = match (&table.view, &table.source) {
        (Some(view), _) => &view.name.table,
        (None, Source::Base(base)) => &base.definition().name.table,
        (None, _) => &table.alias,
    };
    let is_qualified = |schema: &String| table.schema.as_ref() == Some(schema) && *own_name == table.alias;
    table.alias == target.name && target.schema.as_ref().is_none_or(is_qualified)
}
