//! Plans of statements that change rows. Main types: [`InsertPlan`], [`UpdatePlan`], [`DeletePlan`], [`LoadPlan`].

use crate::Plan;
use crate::physical::{Node, QueryPlan};
use crate::references::{ParentKey, References};
use dictionary::TableName;
use engine::Table;
use expression::Expression;
use std::ops::Range;
use std::sync::Arc;
use values::Value;
use values::row::ColumnSet;

/// An expression of a table over its own rows. Its meaning does not depend on the connection's character set.
#[derive(Clone, Debug)]
pub struct RowExpression {
    /// The expression: a slot is a column's position.
    pub expression: Expression,
    columns: Vec<usize>,
}

impl RowExpression {
    /// One over a table with so many columns.
    pub fn new(expression: Expression, columns: usize) -> RowExpression {
        let is_read = |column: &usize| expression.any(&|part| part.column_slot() == Some(*column));
        let columns =
            if expression.reads_columns() { (0..columns).filter(is_read).collect() } else { Vec::new() };
        RowExpression { expression, columns }
    }

    /// The columns that it looks at, in their order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether it looks at a column.
    pub fn reads(&self, column: usize) -> bool {
        self.columns.contains(&column)
    }
}

/// What a column gets when a row gives it no value.
#[derive(Clone, Debug)]
pub enum DefaultValue {
    /// A value in stored form.
    Stored(Value),
    /// CURRENT_TIMESTAMP or DEFAULT (expression).
    Expression(RowExpression),
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
    /// Whether the value is the column itself: it stays as it is stored, also where this session could not store it anew. So it is with
    /// DEFAULT of a generated column, which follows the others.
    pub is_own: bool,
}

/// Where the rows of an INSERT come from.
#[derive(Clone, Debug)]
pub enum InsertRows {
    /// VALUES and SET; None for DEFAULT. The expressions may read earlier columns of the row being built.
    Values(Vec<Vec<Option<Expression>>>),
    /// A query.
    Query(QueryPlan),
}

/// Which steps the rows of a target take beside those that every row takes, as bits. The steps and their order are in the README of
/// `exec`, "The way of a row".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps(u8);

impl Steps {
    /// A column without a value gets what an expression computes.
    pub const COMPUTED_DEFAULTS: Steps = Steps(1);
    /// A column gets the statement's time when its row changes.
    pub const STAMPS: Steps = Steps(2);
    /// A new row without an AUTO_INCREMENT value gets the next one.
    pub const AUTO_INCREMENT: Steps = Steps(4);
    /// The AUTO_INCREMENT column is assigned: its counter may have to move.
    pub const COUNTER: Steps = Steps(8);
    /// It must meet a view's CHECK OPTION or CHECK constraints.
    pub const CHECKS: Steps = Steps(16);
    /// Columns are computed from others.
    pub const GENERATED: Steps = Steps(32);
    /// It must have parents.
    pub const PARENTS: Steps = Steps(64);
    /// Rows may refer to it.
    pub const CHILDREN: Steps = Steps(128);

    /// Whether rows take that step.
    #[inline]
    pub fn has(self, step: Steps) -> bool {
        self.0 & step.0 != 0
    }

    /// Whether foreign keys have to do with it.
    #[inline]
    pub fn has_references(self) -> bool {
        self.0 & (Steps::PARENTS.0 | Steps::CHILDREN.0) != 0
    }

    fn with(self, step: Steps, on: bool) -> Steps {
        if on { Steps(self.0 | step.0) } else { self }
    }
}

/// A generated column.
#[derive(Clone, Debug)]
pub struct GeneratedValue {
    /// Position of the column in its table.
    pub column: usize,
    /// Its value.
    pub value: RowExpression,
}

/// A CHECK constraint that rows must meet.
#[derive(Clone, Debug)]
pub struct RowCheck {
    /// Its name.
    pub name: String,
    /// The condition. UNKNOWN meets it.
    pub condition: RowExpression,
}

/// WITH CHECK OPTION: what a row must meet to be in a view.
#[derive(Clone, Debug)]
pub struct ViewCheck {
    /// The view that the statement names.
    pub view: TableName,
    /// Conditions of it and of the views under it. UNKNOWN does not meet one.
    pub conditions: Vec<RowExpression>,
}

/// The expressions of a definition, for rows that no statement of SQL makes.
#[derive(Debug)]
pub struct RowPlan {
    /// What runs: a DO of nothing, with the call sites of the expressions.
    pub plan: Plan,
    /// Default of every column.
    pub defaults: Vec<DefaultValue>,
    /// Generated columns, in their order.
    pub generated: Vec<GeneratedValue>,
    /// The enforced CHECK constraints.
    pub checks: Vec<RowCheck>,
    /// All foreign keys.
    pub parents: Vec<ParentKey>,
}

/// Expressions of a table over its own rows, as far as a statement's changes concern them.
#[derive(Clone, Debug, Default)]
pub struct OwnExpressions {
    /// Generated columns that follow changed ones, in their order.
    pub generated: Vec<GeneratedValue>,
    /// CHECK constraints that the statement can break, in the order in which they are asked.
    pub checks: Vec<RowCheck>,
    /// What the view asks of them by which the statement changes them.
    pub view: Option<ViewCheck>,
}

impl OwnExpressions {
    /// Whether any of them looks at a column: its value must be there, and in memory.
    pub fn read(&self, column: usize) -> bool {
        self.checks.iter().any(|check| check.condition.reads(column))
            || self.generated.iter().any(|generated| generated.value.reads(column))
            || self.view.iter().flat_map(|view| &view.conditions).any(|condition| condition.reads(column))
    }

    /// Whether a column is computed.
    pub fn compute(&self, column: usize) -> bool {
        self.generated.iter().any(|generated| generated.column == column)
    }
}

/// A table whose rows a statement changes: what they pass on their way, whichever statement it is.
#[derive(Clone, Debug)]
pub struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// Default of every column.
    pub defaults: Vec<DefaultValue>,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned.
    pub on_update: Vec<Assignment>,
    /// Columns of a row that is there that stay as they are and that nothing reads, because they may be long.
    pub kept: ColumnSet,
    /// The AUTO_INCREMENT column.
    pub auto_increment: Option<usize>,
    /// What the rows' own columns decide.
    pub own: OwnExpressions,
    /// What rows of other tables decide.
    pub references: References,
    /// What its rows pass.
    pub steps: Steps,
}

impl Target {
    /// A target whose rows are changed by these assignments.
    pub fn new(
        table: Arc<Table>,
        defaults: Vec<DefaultValue>,
        on_update: Vec<Assignment>,
        kept: ColumnSet,
        own: OwnExpressions,
        assignments: &[Assignment],
    ) -> Target {
        let auto_increment = table.definition().auto_increment_column();
        let is_computed = |default: &DefaultValue| matches!(default, DefaultValue::Expression(_));
        let steps = Steps::default()
            .with(Steps::COMPUTED_DEFAULTS, defaults.iter().any(is_computed))
            .with(Steps::STAMPS, !on_update.is_empty())
            .with(Steps::AUTO_INCREMENT, auto_increment.is_some())
            .with(Steps::COUNTER, assignments.iter().any(|one| Some(one.column) == auto_increment))
            .with(Steps::CHECKS, !own.checks.is_empty() || own.view.is_some())
            .with(Steps::GENERATED, !own.generated.is_empty());
        let references = References::default();
        Target { table, defaults, on_update, kept, auto_increment, own, references, steps }
    }

    /// The same with foreign keys.
    pub fn with_references(self, references: References) -> Target {
        let steps = self
            .steps
            .with(Steps::PARENTS, !references.parents.is_empty())
            .with(Steps::CHILDREN, !references.children.is_empty());
        Target { references, steps, ..self }
    }

    /// Whether an expression of the table looks at a column: its value must be in memory.
    pub fn reads_own(&self, column: usize) -> bool {
        let by_default =
            |default: &DefaultValue| matches!(default, DefaultValue::Expression(one) if one.reads(column));
        self.own.read(column)
            || self.steps.has(Steps::COMPUTED_DEFAULTS) && self.defaults.iter().any(by_default)
    }

    /// Whether the AUTO_INCREMENT column refers to another table.
    pub fn refers_by_id(&self) -> bool {
        let keys = &self.table.definition().foreign_keys;
        let mut parents = self.references.parents.iter();
        self.auto_increment.is_some_and(|id| parents.any(|parent| keys[parent.key].columns.contains(&id)))
    }

    /// The slots of its rows in what expressions read.
    pub fn variables(&self) -> RowVariables {
        RowVariables { columns: self.table.definition().columns.len() }
    }
}

/// The slots in which expressions over a target's rows find them: NEW in the first ones, by column, where it is also the row that
/// ON DUPLICATE KEY UPDATE changes; behind it INSERTED, the row that was to be put in; behind that what its query read.
#[derive(Clone, Copy, Debug)]
pub struct RowVariables {
    columns: usize,
}

impl RowVariables {
    /// Those of a table with so many columns.
    pub fn of(columns: usize) -> RowVariables {
        RowVariables { columns }
    }

    /// The slots of INSERTED.
    pub fn inserted(self) -> Range<usize> {
        self.columns..2 * self.columns
    }

    /// The first slot of what the query read.
    pub fn source(self) -> usize {
        2 * self.columns
    }
}

/// INSERT and REPLACE.
#[derive(Clone, Debug)]
pub struct InsertPlan {
    /// Target.
    pub target: Target,
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// Target column of each value of a row.
    pub columns: Vec<usize>,
    /// Rows.
    pub rows: InsertRows,
    /// ON DUPLICATE KEY UPDATE, over the target's row variables.
    pub on_duplicate: Vec<Assignment>,
    /// REPLACE through a view: what rows that it deletes must meet, which are in the view then.
    pub deletable: Vec<RowExpression>,
    /// Through a view that does not show the AUTO_INCREMENT column: LAST_INSERT_ID() stays as it is.
    pub hides_id: bool,
}

/// A table whose rows are found and changed.
#[derive(Clone, Debug)]
pub struct TargetTable {
    /// The table, and what its rows pass.
    pub base: Target,
    /// Alias.
    pub alias: String,
    /// Slot of each column; None where a column is not read (DELETE, and those that UPDATE keeps).
    pub slots: Vec<Option<usize>>,
    /// UPDATE: some of the assigned columns are not read, because they may be long. Whether a row changes is for the engine to tell.
    pub unread: bool,
    /// Slot of the clustered key.
    pub key_slot: usize,
    /// UPDATE: what is assigned, in order.
    pub assignments: Vec<Assignment>,
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
