//! Queries: SELECT, VALUES, TABLE and what combines them. Main type: [`Query`].
#![allow(missing_docs)]

use super::{Expression, Hint, Name, ObjectName, WindowSpecification};

/// A query expression, at the top of a statement or anywhere inside one.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub with: Option<With>,
    pub body: QueryBody,
    /// Belongs to the whole body, set operations included.
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locking: Vec<LockingClause>,
    pub into: Option<Box<QueryInto>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum QueryBody {
    Select(Box<Select>),
    /// `VALUES ROW(..), ROW(..)`.
    Values(Vec<Vec<Expression>>),
    /// `TABLE name`.
    Table(ObjectName),
    /// A chain of operators of one precedence; evaluated from left to right.
    SetOperation(SetOperation),
    /// A query in parentheses.
    Nested(Box<Query>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SetOperation {
    pub first: Box<QueryBody>,
    /// At least one.
    pub rest: Vec<SetTerm>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SetTerm {
    pub operator: SetOperator,
    /// ALL; otherwise duplicates are removed.
    pub all: bool,
    pub body: QueryBody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    Except,
    Intersect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct With {
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CommonTable {
    pub name: Name,
    pub columns: Vec<Name>,
    pub query: Box<Query>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Select {
    pub options: SelectOptions,
    /// Optimizer hints for this block.
    pub hints: Vec<Hint>,
    /// MAX_EXECUTION_TIME in milliseconds.
    pub execution_time_max: Option<u64>,
    pub items: Vec<SelectItem>,
    /// The comma-separated references; empty without FROM and for FROM DUAL.
    pub from: Vec<TableReference>,
    /// FROM DUAL was written (it allows WHERE without a table).
    pub dual: bool,
    pub filter: Option<Expression>,
    /// Direction is not allowed any more, but kept as an order item for positions and aliases.
    pub group_by: Vec<Expression>,
    pub rollup: bool,
    pub having: Option<Expression>,
    pub windows: Vec<NamedWindow>,
    pub qualify: Option<Expression>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    pub distinct: bool,
    pub all: bool,
    pub high_priority: bool,
    pub straight_join: bool,
    pub small_result: bool,
    pub big_result: bool,
    pub buffer_result: bool,
    pub no_cache: bool,
    /// SQL_CACHE of MySQL 5.7 and before.
    pub cache: bool,
    pub calc_found_rows: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`.
    Wildcard,
    /// `table.*` or `schema.table.*`.
    TableWildcard(ObjectName),
    Expression {
        expression: Expression,
        alias: Option<Name>,
        /// The column's name when there is no alias: the source text, but a column's own name and a string's value.
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct NamedWindow {
    pub name: Name,
    pub specification: WindowSpecification,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    pub expression: Expression,
    pub descending: bool,
}

/// A count is an integer literal, a parameter or (in stored programs) a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    pub count: Expression,
    pub offset: Option<Expression>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LockingClause {
    pub strength: LockStrength,
    /// OF; empty for all tables.
    pub tables: Vec<ObjectName>,
    pub wait: LockWait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStrength {
    /// FOR SHARE and LOCK IN SHARE MODE.
    Share,
    /// FOR UPDATE.
    Update,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    #[default]
    Wait,
    NoWait,
    SkipLocked,
}

#[derive(Clone, Debug, PartialEq)]
pub enum QueryInto {
    Outfile { path: Vec<u8>, charset: Option<Name>, format: FileFormat },
    Dumpfile(Vec<u8>),
    Variables(Vec<IntoVariable>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntoVariable {
    /// `@name`.
    User(Name),
    /// A variable or parameter of a stored program.
    Local(Name),
}

/// FIELDS and LINES of OUTFILE and LOAD DATA. None: the clause is absent and the default counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFormat {
    pub fields_terminated: Option<Vec<u8>>,
    pub fields_enclosed: Option<Vec<u8>>,
    pub optionally_enclosed: bool,
    pub fields_escaped: Option<Vec<u8>>,
    pub lines_starting: Option<Vec<u8>>,
    pub lines_terminated: Option<Vec<u8>>,
}

impl FileFormat {
    /// Whether what encloses fields, and what escapes characters in them, is one character at most.
    pub fn has_single_marks(&self) -> bool {
        let is_single = |mark: &Option<Vec<u8>>| mark.as_ref().is_none_or(|mark| mark.len() <= 1);
        is_single(&self.fields_enclosed) && is_single(&self.fields_escaped)
    }

    /// Whether fields end in nothing and are enclosed in nothing: they are as wide as their columns are.
    pub fn has_fixed_rows(&self) -> bool {
        let is_empty = |text: &Option<Vec<u8>>| text.as_ref().is_some_and(Vec::is_empty);
        is_empty(&self.fields_terminated)
            && (self.fields_enclosed.is_none() || is_empty(&self.fields_enclosed))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableReference {
    Table(TableFactor),
    Derived {
        query: Box<Query>,
        lateral: bool,
        alias: Name,
        columns: Vec<Name>,
    },
    JsonTable(Box<JsonTable>),
    Join(Box<Join>),
    /// References in parentheses: one (a parenthesised join) or several (`(a, b)`, an inner join).
    Nested(Vec<TableReference>),
}

impl TableReference {
    /// Whether a source in it sees the tables before it.
    pub fn sees_tables_before(&self) -> bool {
        match self {
            TableReference::Table(_) => false,
            TableReference::Derived { lateral, .. } => *lateral,
            TableReference::JsonTable(_) => true,
            TableReference::Join(join) => join.left.sees_tables_before() || join.right.sees_tables_before(),
            TableReference::Nested(items) => items.iter().any(TableReference::sees_tables_before),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableFactor {
    pub name: ObjectName,
    pub partitions: Vec<Name>,
    pub alias: Option<Name>,
    pub index_hints: Vec<IndexHint>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct IndexHint {
    pub kind: IndexHintKind,
    pub scope: Option<IndexHintScope>,
    /// Empty only for USE INDEX ().
    pub indexes: Vec<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintScope {
    Join,
    OrderBy,
    GroupBy,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    pub kind: JoinKind,
    pub natural: bool,
    pub left: TableReference,
    pub right: TableReference,
    pub condition: JoinCondition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// JOIN, INNER JOIN and CROSS JOIN.
    Inner,
    Left,
    Right,
    /// STRAIGHT_JOIN: inner, with the left side read first.
    Straight,
}

#[derive(Clone, Debug, PartialEq)]
pub enum JoinCondition {
    None,
    On(Expression),
    Using(Vec<Name>),
}

/// `JSON_TABLE(document, path COLUMNS (..)) AS alias`.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTable {
    pub document: Expression,
    pub path: Vec<u8>,
    pub columns: Vec<JsonTableColumn>,
    pub alias: Name,
}

#[derive(Clone, Debug, PartialEq)]
pub enum JsonTableColumn {
    Ordinality(Name),
    Path(Box<JsonTablePath>),
    Nested { path: Vec<u8>, columns: Vec<JsonTableColumn> },
}

/// A column of JSON_TABLE that shows what is at a path, or whether something is.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTablePath {
    pub name: Name,
    pub data_type: super::DataType,
    /// EXISTS.
    pub exists: bool,
    pub path: Vec<u8>,
    pub on_empty: Option<super::JsonReaction>,
    pub on_error: Option<super::JsonReaction>,
    /// ON EMPTY is written behind ON ERROR.
    pub errors_first: bool,
}
