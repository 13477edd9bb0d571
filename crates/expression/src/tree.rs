//! The bound expression: names resolved to slots, types derived. Main type: [`Expression`].
//! Built by `plan` through the constructors in `build.rs`, run by `evaluate.rs`. Immutable, shared by threads.

use crate::builtin::FunctionDefinition;
use crate::context::VariableScope;
use crate::operators::{
    Arithmetic, Between, BitOperation, Case, Cast, Comparison, DateArithmetic, InList, Like, Regexp,
};
use crate::result_type::ResultType;
use crate::routine::RoutineCall;
use std::sync::Arc;
use values::Value;

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it does.
    pub kind: ExpressionKind,
    /// What it yields.
    pub result: ResultType,
}

/// What an expression does.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A constant.
    Literal(Value),
    /// A prepared statement's parameter, or a literal that the plan cache lifted out.
    Parameter(usize),
    /// A value of the current row.
    Column(ColumnSlot),
    /// A value of the enclosing query's row: its place in the subquery's list of outer references.
    Outer(usize),
    /// `@name` (lower case).
    UserVariable(Arc<str>),
    /// `@name := value`.
    AssignUserVariable(Arc<str>, Box<Expression>),
    /// `@@name` (lower case).
    SystemVariable(VariableScope, Arc<str>),
    /// `+ - * / DIV %`.
    Arithmetic(Box<Arithmetic>),
    /// Unary minus.
    Negate(Box<Expression>),
    /// `& | ^ << >> ~`.
    Bit(Box<BitOperation>),
    /// `= <> < <= > >= <=>`.
    Compare(Box<Comparison>),
    /// AND of two or more.
    And(Vec<Expression>),
    /// OR of two or more.
    Or(Vec<Expression>),
    /// XOR.
    Xor(Box<[Expression; 2]>),
    /// NOT.
    Not(Box<Expression>),
    /// IS NULL.
    IsNull(Box<Expression>),
    /// IS TRUE (true) and IS FALSE (false).
    IsTruth(Box<Expression>, bool),
    /// BETWEEN.
    Between(Box<Between>),
    /// IN with a list.
    In(Box<InList>),
    /// LIKE.
    Like(Box<Like>),
    /// REGEXP.
    Regexp(Box<Regexp>),
    /// CASE.
    Case(Box<Case>),
    /// CAST, CONVERT and conversions that the binder put in.
    Cast(Box<Cast>),
    /// A COLLATE clause, or a value whose type alone differs.
    Retyped(Box<Expression>),
    /// `date + INTERVAL n unit`.
    DateArithmetic(Box<DateArithmetic>),
    /// A function of the registry.
    Function(Box<FunctionCall>),
    /// A stored function: its statements run while the expression is evaluated.
    Routine(Box<RoutineCall>),
    /// An aggregate of the query block, by its number. Replaced by a column before the plan runs.
    Aggregate(usize),
    /// A window function of the query block, by its number. Replaced by a column before the plan runs.
    Window(usize),
    /// A subquery.
    Subquery(Box<SubqueryCall>),
    /// A row `(a, b)`. Only as an operand; it has no value of its own.
    Row(Vec<Expression>),
}

/// A value of the current row.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSlot {
    /// Its place in the row.
    pub slot: usize,
    /// Its name as errors and EXPLAIN show it: `schema.table.column` as far as known.
    pub name: Arc<str>,
    /// Whether it is the least or greatest value of a group.
    pub picked: bool,
}

/// A call of a registered function.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// The function.
    pub definition: &'static FunctionDefinition,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// Unique within the plan: the key of what the call keeps between rows.
    pub site: usize,
}

/// What the enclosing expression wants of a subquery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubqueryUse {
    /// One value.
    Scalar,
    /// One row of several values.
    Row,
    /// EXISTS.
    Exists,
    /// `operands IN (subquery)` and `= ANY`.
    In,
    /// NOT IN and `<> ALL`; differs from NOT over In only in how the plan may turn it to a join.
    NotIn,
    /// `operand op ANY (subquery)`.
    Any(crate::operators::ComparisonOperator),
    /// `operand op ALL (subquery)`.
    All(crate::operators::ComparisonOperator),
}

/// Which part of the one row of a subquery an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPart {
    /// A column of it; NULL where there is no row.
    Column(usize),
    /// Whether there is a row.
    Presence,
}

/// A subquery in an expression.
#[derive(Clone, Debug)]
pub struct SubqueryCall {
    /// Its number in the plan.
    pub id: usize,
    /// What is wanted.
    pub wanted: SubqueryUse,
    /// Of a row subquery, what this expression shows. `(SELECT a, b)` is an [`ExpressionKind::Row`] of such parts.
    pub part: Option<RowPart>,
    /// Left operands of IN, ANY and ALL.
    pub operands: Vec<Expression>,
    /// Expressions over the enclosing row whose values the subquery reads as [`ExpressionKind::Outer`], in order.
    /// Empty for a subquery that does not depend on the row.
    pub outer: Vec<Expression>,
    /// Whether it must run again for each row, though its outer values are the same: it uses user variables, or functions
    /// that differ from call to call.
    pub repeats: bool,
}

impl Expression {
    /// Whether it is a constant known at planning time.
    pub fn literal(&self) -> Option<&Value> {
        match &self.kind {
            ExpressionKind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The slot, if it is a plain column.
    pub fn column_slot(&self) -> Option<usize> {
        match &self.kind {
            ExpressionKind::Column(column) => Some(column.slot),
            _ => None,
        }
    }
}
