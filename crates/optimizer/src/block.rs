//! The tables and slots of one query block, with what is bound of its clauses: binding fills it, the optimizer reads it. Main
//! types: [`Block`], [`BoundTable`].

use crate::{BoundWindows, Derived, IndexLimits, KnownRows, has_window, tables_of};
use dictionary::{ColumnDefault, IndexDefinition, IndexKind, IndexPart, TableDefinition, same_name};
use engine::Table;
use expression::{Expression, ExpressionKind, ResultType, ValueSource};
use plan::BlockHints;
use plan::dependence::DerivedDependence;
use plan::json_table::JsonTable;
use plan::physical::{AggregateCall, ColumnOrigin, OriginPath, RowLock};
use std::sync::Arc;

/// Where in a statement an expression stands. Decides error messages and what is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clause {
    /// A source of FROM that sees the tables before it.
    From,
    /// The select list, and all that is not elsewhere.
    #[default]
    FieldList,
    /// WHERE.
    Where,
    /// ON and USING.
    On,
    /// GROUP BY.
    GroupBy,
    /// HAVING.
    Having,
    /// ORDER BY.
    OrderBy,
    /// PARTITION BY of a window.
    WindowPartition,
    /// ORDER BY of a window.
    WindowOrder,
}

impl Clause {
    /// The name in error 1054.
    pub fn name(self) -> &'static str {
        match self {
            Clause::From => "a table function argument",
            Clause::FieldList => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::GroupBy => "group statement",
            Clause::Having => "having clause",
            Clause::OrderBy => "order clause",
            Clause::WindowPartition => "window partition by",
            Clause::WindowOrder => "window order by",
        }
    }

    /// Whether it says which rows there are.
    pub fn is_condition(self) -> bool {
        matches!(self, Clause::Where | Clause::On | Clause::Having)
    }

    /// Whether aggregate functions may stand there.
    fn allows_aggregates(self) -> bool {
        !matches!(self, Clause::From | Clause::Where | Clause::On | Clause::GroupBy)
    }
}

/// What a table of FROM is.
#[derive(Clone, Debug)]
pub enum Source {
    /// A stored table.
    Base(Arc<Table>),
    /// A table without storage.
    Virtual(Arc<TableDefinition>),
    /// A subquery, and the number of the common table that it is.
    Derived(Derived, Option<usize>),
    /// JSON_TABLE.
    JsonTable(Arc<JsonTable>),
    /// The working table of a recursive common table expression.
    Recursion(usize),
}

/// A column of a table of FROM.
#[derive(Clone, Debug)]
pub struct BoundColumn {
    /// As it is declared, or as the query in FROM calls it.
    pub name: String,
    /// Type of its values, which may be NULL on the inner side of an outer join.
    pub result: ResultType,
    /// Whether `*` leaves it out.
    pub invisible: bool,
    /// Whether no name finds it either: the value of a functional key part.
    pub hidden: bool,
    /// What clients see of where a column of a query in FROM comes from: see [`BoundTable::origin`].
    pub origin: Option<ColumnOrigin>,
    /// Where its values come from: see [`plan::physical::OutputColumn`].
    pub source: ValueSource,
    /// Whether they are computed as the row is sent.
    pub computed: bool,
    /// Display width of an integer that a temporary table keeps, where it is shown as it is. What is computed of it counts with
    /// the width of its type.
    pub shown_width: Option<u32>,
}

impl BoundColumn {
    /// Whether a name finds it.
    pub fn is_called(&self, name: &str) -> bool {
        same_name(&self.name, name) && !self.hidden
    }
}

/// A table of FROM.
#[derive(Clone, Debug)]
pub struct BoundTable {
    /// The name by which the query knows it.
    pub alias: String,
    /// Schema by which the table can be qualified; None for derived tables.
    pub schema: Option<String>,
    /// What it is.
    pub source: Source,
    /// All its columns.
    pub columns: Vec<BoundColumn>,
    /// Slot of each column that is used.
    pub slots: Vec<Option<usize>>,
    /// Slot of the clustered key, of a table whose rows change.
    pub key_slot: Option<usize>,
    /// Columns by which a table without storage finds its rows.
    pub key_columns: Vec<usize>,
    /// Its rows are not kept for a join: they are read again for each row of the tables before.
    pub is_looped: bool,
    /// What a source that depends on the tables before it reads of their rows: the values of a LATERAL query's outer references,
    /// the document of JSON_TABLE.
    pub reads: Vec<Expression>,
    /// Of a LATERAL query: the common tables within it that read these values too.
    pub common_tables: Vec<usize>,
    /// What index hints leave of its indexes.
    pub limits: IndexLimits,
    /// How its rows are locked.
    pub lock: RowLock,
    /// Number of a derived table's block, for EXPLAIN.
    pub derived_number: Option<u32>,
    /// What the view looks like that it is: privileges are granted on it.
    pub view: Option<Arc<TableDefinition>>,
    /// Of a view whose rows are changed: what its columns stand for that follow those of the table. A slot is the position of a
    /// column of the table.
    pub computed: Vec<Expression>,
}

impl BoundTable {
    /// What a column of a view stands for that is none of the table's own, or has another name besides.
    pub fn computed(&self, column: usize) -> Option<&Expression> {
        self.computed.get(column.checked_sub(self.columns.len() - self.computed.len())?)
    }

    /// The column of the table that a column is; None where it is computed.
    pub fn stored_column(&self, column: usize) -> Option<usize> {
        match self.computed(column) {
            Some(computed) => computed.column_slot(),
            None => Some(column),
        }
    }

    /// Whether it is a query in FROM that shares the outer references of the query that reads it.
    pub fn reads_outer_values(&self) -> bool {
        matches!(&self.source, Source::Derived(Derived::Planned(plan), _) if !plan.outer.is_empty())
    }

    /// The columns that are used: (column, slot).
    pub fn used_columns(&self) -> Vec<(usize, usize)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(column, slot)| slot.map(|slot| (column, slot))).collect()
    }

    /// What clients see of where a column comes from.
    pub fn origin(&self, column: usize) -> Option<ColumnOrigin> {
        let definition = match &self.source {
            Source::Base(table) => table.definition(),
            Source::Virtual(definition) => definition,
            Source::Derived(..) | Source::JsonTable(_) | Source::Recursion(_) => {
                return self.columns[column].origin.clone();
            }
        };
        Some(ColumnOrigin {
            schema: definition.name.schema.clone(),
            table: self.alias.clone(),
            original_table: definition.name.table.clone(),
            column: definition.columns.get(column)?.name.clone(),
            path: OriginPath::Table,
            flags: column_flags(definition, column),
        })
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

/// A query block that is being bound.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its number in EXPLAIN, from 1.
    pub number: u32,
    /// Room in which the full names of columns are put together.
    pub name_room: String,
    /// Whether it is of a SELECT, so that an aggregate may gather its rows.
    pub gathers: bool,
    /// Whether it is of a query behind LATERAL.
    pub is_lateral: bool,
    /// Optimizer hints.
    pub hints: BlockHints,
    /// Whether LIMIT may end the reading of rows.
    pub has_limit: bool,
    /// The tables of FROM.
    pub tables: Vec<BoundTable>,
    /// How many of the tables are those of subqueries that became joins. They stand behind the others.
    pub joined_tables: usize,
    /// Columns that `*` stands for and that unqualified names find: (table, column).
    pub visible: Vec<(usize, usize)>,
    /// Tables that no name finds, as bits: while ON is bound, those that stand before its join; on the right side of a RIGHT JOIN, those
    /// of the left one.
    pub unseen: u64,
    /// Which table and column each slot holds; the clustered key is column `usize::MAX`.
    pub slots: Vec<(usize, usize)>,
    /// Values of the enclosing row that this block reads.
    pub outer: Vec<Expression>,
    /// The clause that is being bound.
    pub clause: Clause,
    /// Aggregates, once over groups: their slots follow those of the group keys.
    pub aggregates: Vec<AggregateCall>,
    /// Select items, as far as they are bound: for GROUP BY, HAVING, ORDER BY and subqueries.
    pub items: Vec<SelectItem>,
    /// Aliases of select items that are not bound yet.
    pub later_aliases: Vec<String>,
    /// Windows and what is computed over them.
    pub windows: BoundWindows,
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

/// A bound select item.
#[derive(Clone, Debug)]
pub struct SelectItem {
    /// Its alias, or what it is called without one.
    pub name: String,
    /// Its value, over the rows of FROM.
    pub expression: Expression,
}

impl SelectItem {
    /// Whether it is computed over groups or windows: not before there are any.
    pub fn has_aggregate(&self) -> bool {
        has_aggregate(&self.expression) || has_window(&self.expression)
    }
}

/// Whether a part of the expression is an aggregate of the block.
pub fn has_aggregate(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part.kind, ExpressionKind::Aggregate(_)))
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

    /// Whether no table can be named.
    pub fn shows_no_table(&self) -> bool {
        (0..self.tables.len()).all(|number| self.unseen >> number & 1 == 1)
    }

    /// The tables whose rows the sources among those tables read, as bits.
    pub fn tables_read_by(&self, tables: u64) -> u64 {
        let read = self.reads_of(tables).map(|read| tables_of(self, read));
        read.fold(0, |bits, read| bits | read)
    }

    /// What the sources among those tables read of other tables.
    pub fn reads_of(&self, tables: u64) -> impl Iterator<Item = &Expression> {
        let among = self.tables.iter().enumerate().filter(move |(number, _)| tables >> number & 1 == 1);
        among.flat_map(|(_, table)| &table.reads)
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

    /// Whether an aggregate of it may stand in the clause that is being bound.
    pub fn allows_aggregates(&self) -> bool {
        self.gathers && self.clause.allows_aggregates()
    }

    /// Whether an expression is a column by which an index finds rows of a base table.
    pub fn begins_index(&self, expression: &Expression) -> bool {
        let Some((number, column)) = self.place(expression) else { return false };
        let Source::Base(table) = &self.tables[number].source else { return false };
        table.definition().indexes.iter().any(|index| {
            let first = index.parts.first();
            !index.invisible
                && first.is_some_and(|part| part.column == column && part.prefix_length.is_none())
        })
    }

    /// The table and column that a slot holds.
    pub fn place(&self, expression: &Expression) -> Option<(usize, usize)> {
        self.slots.get(expression.column_slot()?).copied()
    }
}
