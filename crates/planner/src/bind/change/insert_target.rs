//! What INSERT, REPLACE and LOAD DATA put rows into: a table, or a view of one. Main function: [`insert_target`].

use super::view::{Changed, changed_view};
use super::view_rights::{Taken, read_columns};
use crate::bind::privilege::Privileges;
use crate::bind::{Binder, ChangedTable};
use ::expression::Expression;
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition, TableName};
use engine::Table;
use errors::{SqlResult, sql_error};
use optimizer::{Block, BoundTable, Source};
use parser::ast::{self, TableFactor};
use plan::{RowExpression, TableAccess, View, ViewCheck};
use std::sync::Arc;

/// What rows are inserted into.
pub(super) struct InsertTarget {
    /// The table.
    pub table: Arc<Table>,
    /// Its definition under the names by which the statement knows it. Columns of a view that are none of the table follow.
    pub names: TableDefinition,
    /// The columns that an INSERT without a list of them means.
    pub order: Vec<usize>,
    /// What those columns stand for that are none of the table.
    computed: Vec<Expression>,
    /// What a view asks of the rows.
    pub check: Option<ViewCheck>,
    /// The conditions of a view.
    pub conditions: Vec<RowExpression>,
    /// Of a view.
    changed: Option<Changed>,
}

/// The table that a statement names, or the view of one.
pub(super) fn insert_target(
    binder: &mut Binder<'_>,
    name: &ast::ObjectName,
    command: &'static str,
    view: Option<View>,
) -> SqlResult<InsertTarget> {
    let Some(view) = view else {
        let table = binder.base_table(name)?;
        let names = table.definition().clone();
        let order = (0..names.columns.len()).filter(|at| !names.columns[*at].invisible).collect();
        let (computed, conditions) = (Vec::new(), Vec::new());
        return Ok(InsertTarget { table, names, order, computed, check: None, conditions, changed: None });
    };
    let factor =
        TableFactor { name: name.clone(), partitions: Vec::new(), alias: None, index_hints: Vec::new() };
    let blocks = std::mem::replace(&mut binder.blocks, vec![Block::default()]);
    let opened = changed_view(binder, &factor, view, (command, false));
    let block = std::mem::replace(&mut binder.blocks, blocks).pop().unwrap_or_default();
    let changed = opened?;
    let order = block.visible.iter().map(|(_, at)| *at).collect();
    let Some(BoundTable { source: Source::Base(table), view: Some(names), computed, .. }) =
        block.tables.first()
    else {
        return Err(sql_error!(ER_NON_INSERTABLE_TABLE, name.name, command));
    };
    Ok(InsertTarget {
        table: table.clone(),
        names: (**names).clone(),
        order,
        computed: computed.clone(),
        check: changed.check(&block, &names.name),
        conditions: changed.conditions_over_columns(&block),
        changed: Some(changed),
    })
}

impl InsertTarget {
    /// The view that it is.
    pub fn view(&self) -> Option<TableName> {
        self.changed.as_ref().map(|_| self.names.name.clone())
    }

    /// Whether it has columns that are none of the table's, or that show one once more.
    pub fn has_computed(&self) -> bool {
        !self.computed.is_empty()
    }

    /// Error 1348 for a column that is none of the table's, 1471 for a view that has such columns, or one column twice.
    pub fn check_insertable(&self, columns: &[usize], name: &str) -> SqlResult<()> {
        for column in columns {
            self.stored_column(*column)?;
        }
        match self.has_computed() {
            true => Err(sql_error!(ER_NON_INSERTABLE_TABLE, name, "INSERT")),
            false => Ok(()),
        }
    }

    /// The column of the table that a column is. Error 1348 for one that a view computes.
    pub fn stored_column(&self, column: usize) -> SqlResult<usize> {
        let stored = self.names.columns.len() - self.computed.len();
        let stands = column.checked_sub(stored).and_then(|at| self.computed.get(at));
        let stored = stands.map_or(Some(column), Expression::column_slot);
        stored.ok_or_else(|| sql_error!(ER_NONUPDATEABLE_COLUMN, self.names.columns[column].name))
    }

    /// Shows columns that are none of the table in the block that has them by its names.
    pub fn show_computed(&self, block: &mut Block) {
        if let Some(table) = block.tables.first_mut() {
            table.computed.clone_from(&self.computed);
        }
    }

    /// Whether the AUTO_INCREMENT column is one that nobody sees.
    pub fn hides_id(&self) -> bool {
        let id = self.table.definition().auto_increment_column();
        self.changed.is_some() && id.is_some_and(|id| self.names.columns[id].invisible)
    }

    /// From here on subqueries may not read it under its name.
    pub fn as_changed(&self, name: &str) -> ChangedTable {
        let own_name = self.changed.as_ref().map_or(name, |changed| &changed.own_name);
        ChangedTable::by_insert(&self.table, name, own_name, self.view())
    }

    /// What is done to what is under a view as a whole.
    pub fn require_whole_below(
        &self,
        binder: &mut Binder<'_>,
        whole: impl Fn(&mut Privileges<'_>, &TableDefinition),
    ) {
        if let Some(changed) = &self.changed {
            changed.require_below(binder, &self.names.name, whole, &[]);
        }
    }

    /// The columns of what is under a view that are given values.
    pub fn require_given_below(
        &self,
        binder: &mut Binder<'_>,
        columns: &[usize],
        updated: &[ast::Assignment],
    ) {
        let Some(changed) = &self.changed else { return };
        let updated = updated.iter().filter_map(|one| self.names.column_position(&one.column.column));
        let taken = [
            Taken { columns: columns.to_vec(), access: TableAccess::Insert },
            Taken { columns: updated.collect(), access: TableAccess::Update },
        ];
        changed.require_below(binder, &self.names.name, |_, _| {}, &taken);
    }

    /// The columns of what is under a view that the statement reads.
    pub fn require_read_below(&self, binder: &mut Binder<'_>) {
        let Some(changed) = &self.changed else { return };
        let read = read_columns(binder, &self.names);
        if !read.columns.is_empty() {
            changed.require_below(binder, &self.names.name, |_, _| {}, &[read]);
        }
    }

    /// Error 1423 for a column that a view does not show, or that no row gives a value, and that has no default.
    pub fn check_defaults(
        &self,
        binder: &Binder<'_>,
        insert: &ast::Insert,
        columns: &[usize],
    ) -> SqlResult<()> {
        if self.changed.is_none() || !binder.changes.escalates {
            return Ok(());
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
        if self.table.definition().columns.iter().enumerate().any(is_missing) {
            let name = &self.names.name;
            return Err(sql_error!(ER_NO_DEFAULT_FOR_VIEW_FIELD, name.schema, name.table));
        }
        Ok(())
    }
}
