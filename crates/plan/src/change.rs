//! Plans of statements that change rows. Main types: [`InsertPlan`], [`UpdatePlan`], [`DeletePlan`], [`LoadPlan`].

use crate::physical::{Node, QueryPlan};
use engine::Table;
use expression::Expression;
use std::sync::Arc;
use values::Value;
use values::row::ColumnSet;

/// What a column gets when a row gives it no value.
#[derive(Clone, Debug)]
pub enum DefaultValue {
    /// A value in stored form.
    Stored(Value),
    /// CURRENT_TIMESTAMP or DEFAULT (expression).
    Expression(Expression),
    /// Nothing: error 1364, or the type's implicit default where sql_mode is lenient.
    Missing,
}

/// `column = value`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Position of the column in its table.
    pub column: usize,
    /// Value; None for DEFAULT.
    pub value: Option<Expression>,
}

/// Where the rows of an INSERT come from.
#[derive(Clone, Debug)]
pub enum InsertRows {
    /// VALUES and SET; None for DEFAULT. The expressions may read earlier columns of the row being built.
    Values(Vec<Vec<Option<Expression>>>),
    /// A query.
    Query(QueryPlan),
}

/// INSERT and REPLACE.
#[derive(Clone, Debug)]
pub struct InsertPlan {
    /// Target.
    pub table: Arc<Table>,
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// Target column of each value of a row.
    pub columns: Vec<usize>,
    /// Rows.
    pub rows: InsertRows,
    /// Default of every column.
    pub defaults: Vec<DefaultValue>,
    /// ON DUPLICATE KEY UPDATE: over a row of the existing columns followed by the columns to be inserted.
    pub on_duplicate: Vec<Assignment>,
    /// Columns that get the statement's time when the row changes, with the expression.
    pub on_update: Vec<Assignment>,
    /// ON DUPLICATE KEY UPDATE: columns of the existing row that stay as they are and that nothing reads, because they may be long.
    pub kept: ColumnSet,
}

/// A table whose rows are changed.
#[derive(Clone, Debug)]
pub struct TargetTable {
    /// The table.
    pub table: Arc<Table>,
    /// Alias.
    pub alias: String,
    /// Slot of each column; None where a column is not read (DELETE, and those that UPDATE keeps).
    pub slots: Vec<Option<usize>>,
    /// UPDATE: columns that stay as they are and that nothing reads, because they may be long.
    pub kept: ColumnSet,
    /// UPDATE: some of the assigned columns are not read, because they may be long. Whether a row changes is for the engine to tell.
    pub unread: bool,
    /// Slot of the clustered key.
    pub key_slot: usize,
    /// UPDATE: what is assigned, in order.
    pub assignments: Vec<Assignment>,
    /// UPDATE: columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned.
    pub on_update: Vec<Assignment>,
    /// Default of every column.
    pub defaults: Vec<DefaultValue>,
    /// UPDATE: expressions see what was assigned before them. So it is where the table alone is changed, and where MySQL changes it
    /// at once: it is read first, its rows stay where they are in what is read, and no condition of the others looks at what is
    /// assigned. The others are changed when all rows are found, with the values of then.
    pub sees_changes: bool,
    /// UPDATE of several tables: such a table is changed here too as its rows are found.
    pub changes_at_once: bool,
}

/// UPDATE.
#[derive(Clone, Debug)]
pub struct UpdatePlan {
    /// Rows to be changed.
    pub node: Node,
    /// Tables to be changed.
    pub targets: Vec<TargetTable>,
    /// IGNORE.
    pub ignore: bool,
    /// All rows must be found before the first is changed: the change could move a row into the path of the scan, or there is
    /// an order.
    pub buffered: bool,
    /// Its rows are looked for without a key, and there is no LIMIT.
    pub reads_whole: bool,
}

/// DELETE.
#[derive(Clone, Debug)]
pub struct DeletePlan {
    /// Rows to be removed.
    pub node: Node,
    /// Tables to be changed.
    pub targets: Vec<TargetTable>,
    /// IGNORE.
    pub ignore: bool,
    /// All rows must be found before the first is removed.
    pub buffered: bool,
    /// Its rows are looked for without a key, and there is no LIMIT.
    pub reads_whole: bool,
}

/// Where a field of a file goes.
#[derive(Clone, Debug)]
pub enum LoadTarget {
    /// A column.
    Column(usize),
    /// A user variable (lower case).
    Variable(String),
}

/// LOAD DATA.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// How rows are put in: an INSERT without rows.
    pub insert: InsertPlan,
    /// Where each field goes.
    pub fields: Vec<LoadTarget>,
    /// SET, over the row of the table's columns.
    pub assignments: Vec<Assignment>,
    /// The statement.
    pub load: parser::ast::Load,
    /// Collation of the file's text.
    pub collation: charset::CollationId,
}
