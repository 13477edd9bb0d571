//! Names of columns in expressions: which may mean a select item or a group key besides a column of FROM, and which
//! goes first. Main functions: [`find_item`], [`Binder::column`], [`Binder::resolve`].
//!
//! FROM goes first, then a select item, then the enclosing queries. HAVING is otherwise: outside of aggregates it sees
//! select items and group keys only, and of these the key if both have the name. For GROUP BY and ORDER BY by a name
//! alone see `group.rs`.

use super::Binder;
use super::column::{find_column, table_matches};
use ::expression::Expression;
use dictionary::same_name;
use errors::{SqlResult, sql_error};
use optimizer::{Block, Clause, SelectItem, has_window};
use parser::ast;

/// The select item that a name means: one that is called so, else one that shows the column of that name under
/// another. Error 1052 if several do.
pub(super) fn find_item<'b>(
    block: &'b Block,
    reference: &ast::ColumnReference,
) -> SqlResult<Option<&'b SelectItem>> {
    let mut called: Option<&SelectItem> = None;
    let mut showing: Option<&SelectItem> = None;
    let mut several_show = false;
    let ambiguous = || sql_error!(ER_NON_UNIQ_ERROR, reference, block.clause.name());
    for item in &block.items {
        let place = block.place(&item.expression).filter(|(_, column)| *column != usize::MAX);
        let is_called_so = reference.table.is_none() && same_name(&item.name, &reference.column);
        let Some((table, column)) = place else {
            if is_called_so {
                return Ok(Some(item));
            }
            continue;
        };
        let table = &block.tables[table];
        let differs =
            |known: Option<&SelectItem>| known.is_some_and(|known| !known.expression.same(&item.expression));
        if is_called_so {
            if differs(called) {
                return Err(ambiguous());
            }
            called = called.or(Some(item));
        } else if table.columns[column].is_called(&reference.column) && table_matches(table, reference) {
            several_show |= differs(showing);
            showing = Some(item);
        }
    }
    if called.is_none() && several_show {
        return Err(ambiguous());
    }
    Ok(called.or(showing))
}

/// The group key that is a column of that name.
fn group_key<'b>(block: &'b Block, reference: &ast::ColumnReference) -> SqlResult<Option<&'b Expression>> {
    let mut found: Option<&Expression> = None;
    for key in &block.group_keys {
        let Some((table, column)) = block.place(key) else { continue };
        let table = &block.tables[table];
        if !table.columns[column].is_called(&reference.column) || !table_matches(table, reference) {
            continue;
        }
        if found.is_some_and(|known| !known.same(key)) {
            return Err(sql_error!(ER_NON_UNIQ_ERROR, reference, block.clause.name()));
        }
        found = Some(key);
    }
    Ok(found)
}

impl Binder<'_> {
    /// A column by name, as the clause in which it stands sees it.
    pub fn column(&mut self, reference: &ast::ColumnReference) -> SqlResult<Expression> {
        let block = self.block();
        if block.clause != Clause::Having || block.in_aggregate {
            return self.resolve(reference);
        }
        let item = find_item(block, reference)?;
        if let Some(item) = item.filter(|item| has_window(&item.expression)) {
            return Err(sql_error!(ER_WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE, item.name));
        }
        let item = item.map(|item| item.expression.clone());
        let key = group_key(block, reference)?.cloned();
        match (item, key) {
            (Some(item), Some(key)) if !item.same(&key) => {
                self.warn_of_ambiguity(&reference.to_string(), Clause::Having);
                Ok(key)
            }
            (Some(found), _) | (None, Some(found)) => Ok(found),
            (None, None) => self.resolve_from(reference, self.blocks.len().saturating_sub(1)),
        }
    }

    /// Warning 1052: a name means a select item as well, and something else goes first. The statement is planned each
    /// time that it runs, so that it warns each time.
    pub fn warn_of_ambiguity(&mut self, name: &str, clause: Clause) {
        self.nature.volatile = true;
        let warning = sql_error!(ER_NON_UNIQ_ERROR, name, clause.name());
        self.input.context.diagnostics().warning(warning);
    }

    /// A column by name, through the enclosing blocks.
    pub fn resolve(&mut self, reference: &ast::ColumnReference) -> SqlResult<Expression> {
        self.resolve_from(reference, self.blocks.len())
    }

    /// A column by name, through the first `count` blocks. Errors 1054, 1109 (no block has tables), 1143.
    fn resolve_from(&mut self, reference: &ast::ColumnReference, count: usize) -> SqlResult<Expression> {
        let clause = self.blocks.last().map_or(Clause::FieldList, |block| block.clause);
        for level in (0..count).rev() {
            // A name that means several columns is told of with the clause where it stands.
            let found = find_column(&self.blocks[level], reference)
                .map_err(|_| sql_error!(ER_NON_UNIQ_ERROR, reference, clause.name()));
            if let Some((table, column)) = found? {
                if let Some(aggregate) = self.open_aggregates.last_mut() {
                    aggregate.name_column(level);
                }
                let found = self.column_at(level, table, column, &reference.column);
                return Ok(self.lift(level, found));
            }
            if let Some(found) = self.item_in_sight(level, reference)? {
                return Ok(self.lift(level, found));
            }
        }
        if let [block] = self.blocks.as_slice()
            && clause != Clause::Having
            && let Some(denied) = self.privileges.unknown_column_denial(block, &reference.column)
        {
            return Err(denied);
        }
        if let Some(table) = &reference.table
            && clause != Clause::Having
            && self.blocks.len() <= 1
            && self.blocks.iter().all(Block::shows_no_table)
        {
            return Err(sql_error!(ER_UNKNOWN_TABLE, table, clause.name()));
        }
        Err(sql_error!(ER_BAD_FIELD_ERROR, reference, clause.name()))
    }

    /// A select item of the block at that level, if the place where that block is being bound can see its items.
    fn item_in_sight(&self, level: usize, reference: &ast::ColumnReference) -> SqlResult<Option<Expression>> {
        let block = &self.blocks[level];
        let nested = level + 1 < self.blocks.len();
        let sees = match block.clause {
            Clause::GroupBy | Clause::OrderBy | Clause::Having => true,
            Clause::FieldList => nested,
            Clause::From | Clause::Where | Clause::On | Clause::WindowPartition | Clause::WindowOrder => {
                false
            }
        };
        if !sees {
            return Ok(None);
        }
        let Some(item) = find_item(block, reference)? else {
            let is_it = |alias: &String| same_name(alias, &reference.column);
            if nested && reference.table.is_none() && block.later_aliases.iter().any(is_it) {
                let why = "forward reference in item list";
                return Err(sql_error!(ER_ILLEGAL_REFERENCE, reference, why));
            }
            return Ok(None);
        };
        if item.has_aggregate() {
            if block.in_aggregate {
                return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE));
            }
            if nested || block.clause == Clause::GroupBy {
                return Err(sql_error!(ER_ILLEGAL_REFERENCE, reference, "reference to group function"));
            }
        }
        Ok(Some(item.expression.clone()))
    }
}
