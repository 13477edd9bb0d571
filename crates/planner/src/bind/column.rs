//! Name resolution: the tables of a query block, and columns by name through the enclosing blocks.
//! Main types: [`Block`], [`BoundTable`].

use super::Binder;
use super::names::SelectItem;
use crate::logical::Derived;
use crate::optimize::KnownRows;
use ::expression::{Expression, ExpressionKind, ResultType, ValueSource};
use dictionary::{ColumnDefault, IndexDefinition, IndexKind, IndexPart, TableDefinition};
use engine::Table;
use errors::{SqlResult, sql_error};
use parser::ast;
use plan::BlockHints;
use plan::dependence::DerivedDependence;
use plan::physical::{AggregateCall, ColumnOrigin, OriginPath, OutputColumn, RowLock};
use std::sync::Arc;

/// Where in a statement an expression stands. Decides error messages and what is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Clause {
    #[default]
    FieldList,
    Where,
    On,
    GroupBy,
    Having,
    OrderBy,
}

impl Clause {
    /// The name in error 1054.
    pub fn name(self) -> &'static str {
        match self {
            Clause::FieldList => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::GroupBy => "group statement",
            Clause::Having => "having clause",
            Clause::OrderBy => "order clause",
        }
    }

    /// Whether it says which rows there are.
    pub fn is_condition(self) -> bool {
        matches!(self, Clause::Where | Clause::On | Clause::Having)
    }

    /// Whether aggregate functions may stand there.
    pub fn allows_aggregates(self) -> bool {
        matches!(self, Clause::FieldList | Clause::Having | Clause::OrderBy)
    }
}

/// What a table of FROM is.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Base(Arc<Table>),
    Virtual(Arc<TableDefinition>),
    /// A subquery, and the number of the common table that it is.
    Derived(Derived, Option<usize>),
    /// The working table of a recursive common table expression.
    Recursion(usize),
}

/// A column of a table of FROM.
#[derive(Clone, Debug)]
pub(crate) struct BoundColumn {
    pub name: String,
    pub result: ResultType,
    pub invisible: bool,
    pub origin: Option<ColumnOrigin>,
    /// Where its values come from, and whether they are computed as the row is sent: see [`OutputColumn`].
    pub source: ValueSource,
    pub computed: bool,
}

/// A table of FROM.
#[derive(Clone, Debug)]
pub(crate) struct BoundTable {
    pub alias: String,
    /// Schema by which the table can be qualified; None for derived tables.
    pub schema: Option<String>,
    pub source: Source,
    pub columns: Vec<BoundColumn>,
    /// Slot of each column that is used.
    pub slots: Vec<Option<usize>>,
    pub key_slot: Option<usize>,
    pub hints: Vec<ast::IndexHint>,
    pub lock: RowLock,
    /// Number of a derived table's block, for EXPLAIN.
    pub derived_number: Option<u32>,
}

impl BoundTable {
    /// The columns that are used: (column, slot).
    pub fn used_columns(&self) -> Vec<(usize, usize)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(column, slot)| slot.map(|slot| (column, slot))).collect()
    }
}

/// A query block that is being bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub number: u32,
    pub hints: BlockHints,
    /// Whether LIMIT may end the reading of rows.
    pub has_limit: bool,
    pub tables: Vec<BoundTable>,
    /// How many of the tables are those of subqueries that became joins. They stand behind the others.
    pub joined_tables: usize,
    /// Columns that `*` stands for and that unqualified names find: (table, column).
    pub visible: Vec<(usize, usize)>,
    /// Which table and column each slot holds; the clustered key is column `usize::MAX`.
    pub slots: Vec<(usize, usize)>,
    /// Values of the enclosing row that this block reads.
    pub outer: Vec<Expression>,
    pub clause: Clause,
    pub aggregates: Vec<AggregateCall>,
    /// Select items, as far as they are bound: for GROUP BY, HAVING, ORDER BY and subqueries.
    pub items: Vec<SelectItem>,
    /// Aliases of select items that are not bound yet.
    pub later_aliases: Vec<String>,
    /// Within the arguments of an aggregate: another one may not stand there.
    pub in_aggregate: bool,
    /// Whether it groups WITH ROLLUP.
    pub rollup: bool,
    /// What is known of the rows, once FROM and WHERE are bound and if it matters.
    pub known: KnownRows,
    /// Group keys, once bound.
    pub group_keys: Vec<Expression>,
    /// Arguments of GROUPING() with their positions, until they are found among the group keys.
    pub groupings: Vec<(usize, Expression)>,
    /// Of a derived table: what determines what among its columns.
    pub dependence: Option<Arc<DerivedDependence>>,
    /// For ON DUPLICATE KEY UPDATE: the slot of each column of the row to be inserted.
    pub inserted_slots: Vec<usize>,
}

impl Block {
    /// The slot of a column; a new one at its first use.
    pub fn slot(&mut self, table: usize, column: usize) -> usize {
        if let Some(slot) = self.tables[table].slots[column] {
            return slot;
        }
        let slot = self.slots.len();
        self.slots.push((table, column));
        self.tables[table].slots[column] = Some(slot);
        slot
    }

    /// A slot for the clustered key of a table whose rows will be changed.
    pub fn key_slot(&mut self, table: usize) -> usize {
        if let Some(slot) = self.tables[table].key_slot {
            return slot;
        }
        let slot = self.slots.len();
        self.slots.push((table, usize::MAX));
        self.tables[table].key_slot = Some(slot);
        slot
    }

    /// How many tables FROM has.
    pub fn own_tables(&self) -> usize {
        self.tables.len() - self.joined_tables
    }

    /// Adds an outer reference and returns its number.
    pub fn add_outer(&mut self, expression: Expression) -> usize {
        if let Some(known) = self.outer.iter().position(|known| known.same(&expression)) {
            return known;
        }
        self.outer.push(expression);
        self.outer.len() - 1
    }

    /// The table and column that a slot holds.
    pub(crate) fn place(&self, expression: &Expression) -> Option<(usize, usize)> {
        self.slots.get(expression.column_slot()?).copied()
    }

    pub(super) fn table_matches(table: &BoundTable, reference: &ast::ColumnReference) -> bool {
        let Some(wanted) = &reference.table else { return true };
        if table.alias != *wanted {
            return false;
        }
        match (&reference.schema, &table.schema) {
            (Some(wanted), Some(schema)) => wanted == schema,
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    /// The column of that name in the first table.
    pub fn find_in_first(&self, reference: &ast::ColumnReference) -> Option<(usize, usize)> {
        let table = self.tables.first().filter(|table| Block::table_matches(table, reference))?;
        let is_it = |column: &BoundColumn| column.name.eq_ignore_ascii_case(&reference.column);
        table.columns.iter().position(is_it).map(|column| (0, column))
    }

    /// The column of that name; None if there is none, error 1052 if there are several.
    pub fn find(&self, reference: &ast::ColumnReference) -> SqlResult<Option<(usize, usize)>> {
        let matching = |table: usize, column: usize| {
            let bound = &self.tables[table];
            bound.columns[column].name.eq_ignore_ascii_case(&reference.column)
                && Block::table_matches(bound, reference)
        };
        let all_columns = || {
            let count = self.tables.len();
            (0..count)
                .flat_map(|table| (0..self.tables[table].columns.len()).map(move |column| (table, column)))
        };
        let candidates: Vec<(usize, usize)> = if reference.table.is_some() {
            all_columns().filter(|(table, column)| matching(*table, *column)).collect()
        } else {
            // INVISIBLE columns are found by name though `*` leaves them out.
            let hidden =
                all_columns().filter(|(table, column)| self.tables[*table].columns[*column].invisible);
            self.visible
                .iter()
                .copied()
                .chain(hidden)
                .filter(|(table, column)| matching(*table, *column))
                .collect()
        };
        match candidates.as_slice() {
            [] => Ok(None),
            [first, rest @ ..] if rest.iter().all(|other| other == first) => Ok(Some(*first)),
            _ => Err(sql_error!(ER_NON_UNIQ_ERROR, reference, self.clause.name())),
        }
    }
}

/// Protocol flags of a column.
fn column_flags(definition: &TableDefinition, position: usize) -> u16 {
    let column = &definition.columns[position];
    let mut flags = 0;
    let mut set = |on: bool, flag: u16| flags |= if on { flag } else { 0 };
    set(!column.nullable, 1);
    // Without a primary key the first unique key that is never NULL stands for it.
    let has_primary = definition.indexes.iter().any(|index| index.kind == IndexKind::Primary);
    let is_firm = |index: &IndexDefinition| {
        let is_firm =
            |part: &IndexPart| part.prefix_length.is_none() && !definition.columns[part.column].nullable;
        index.kind == IndexKind::Unique && index.parts.iter().all(is_firm)
    };
    let stand_in = definition.indexes.iter().position(is_firm).filter(|_| !has_primary);
    for (number, index) in definition.indexes.iter().enumerate() {
        let Some(part) = index.parts.iter().position(|part| part.column == position) else { continue };
        match index.kind {
            IndexKind::Primary => set(true, 2),
            IndexKind::Unique if stand_in == Some(number) => set(true, 2),
            IndexKind::Unique if part == 0 && index.parts.len() == 1 => set(true, 4),
            IndexKind::Unique | IndexKind::Plain => set(part == 0, 8),
        }
        set(true, 16384);
    }
    let no_default = matches!(column.default, ColumnDefault::None);
    set(!column.nullable && no_default && !column.auto_increment, 4096);
    set(column.auto_increment, 512);
    set(column.on_update_now.is_some(), 8192);
    flags
}

/// The columns of a stored or virtual table.
pub(crate) fn table_columns(definition: &TableDefinition, alias: &str) -> Vec<BoundColumn> {
    let mut columns = Vec::with_capacity(definition.columns.len());
    for (position, column) in definition.columns.iter().enumerate() {
        columns.push(BoundColumn {
            name: column.name.clone(),
            result: ResultType::column(column.column_type.clone(), column.nullable),
            invisible: column.invisible,
            origin: Some(ColumnOrigin {
                schema: definition.name.schema.clone(),
                table: alias.to_owned(),
                original_table: definition.name.table.clone(),
                column: column.name.clone(),
                path: OriginPath::Table,
                flags: column_flags(definition, position),
            }),
            source: ValueSource::Column,
            computed: false,
        });
    }
    columns
}

/// The columns of a subquery in FROM. They hold their collation as stored columns do. Those of a subquery whose
/// rows MySQL keeps in a temporary table have the types of that table.
pub(crate) fn derived_columns(
    columns: &[OutputColumn],
    alias: &str,
    names: &[String],
    kept: bool,
) -> Vec<BoundColumn> {
    let mut bound = Vec::with_capacity(columns.len());
    for (position, column) in columns.iter().enumerate() {
        let column = if kept { column.clone().into_temporary() } else { column.clone() };
        let name = names.get(position).unwrap_or(&column.name).clone();
        let origin = match column.origin {
            Some(origin) => {
                let column = if names.is_empty() { origin.column } else { name.clone() };
                let path = match (kept, origin.path) {
                    (false, _) | (true, OriginPath::Merged) => OriginPath::Merged,
                    (true, OriginPath::Table | OriginPath::Kept) => OriginPath::Kept,
                };
                ColumnOrigin { table: alias.to_owned(), column, path, ..origin }
            }
            None => ColumnOrigin::temporary(alias, &name),
        };
        bound.push(BoundColumn {
            name,
            result: ResultType::column(column.result.column_type, column.result.nullable),
            invisible: false,
            origin: Some(origin),
            source: column.source,
            computed: column.computed,
        });
    }
    bound
}

impl Binder<'_> {
    /// A column of a table of the block at that level, as an expression within that block. The user must be allowed to
    /// read it; `written`: as the statement names it.
    pub fn column_at(&mut self, level: usize, table: usize, column: usize, written: &str) -> Expression {
        self.require_column_read(level, table, column, written);
        self.column_of(level, table, column)
    }

    /// The same for one of all columns of a table, which were asked for together.
    pub fn column_of(&mut self, level: usize, table: usize, column: usize) -> Expression {
        let block = &mut self.blocks[level];
        let slot = block.slot(table, column);
        let bound = &block.tables[table];
        let definition = &bound.columns[column];
        let name: Arc<str> = match &bound.schema {
            Some(schema) => format!("`{schema}`.`{}`.`{}`", bound.alias, definition.name).into(),
            None => format!("`{}`.`{}`", bound.alias, definition.name).into(),
        };
        let result = definition.result.clone();
        Expression::slot(slot, name, result)
    }

    /// Brings an expression over the block at `level` into the innermost block, as an outer reference.
    pub fn lift(&mut self, level: usize, expression: Expression) -> Expression {
        let mut lifted = expression;
        for block in &mut self.blocks[level + 1..] {
            let result = lifted.result.clone();
            let number = block.add_outer(lifted);
            lifted = Expression { kind: ExpressionKind::Outer(number), result };
        }
        lifted
    }
}
