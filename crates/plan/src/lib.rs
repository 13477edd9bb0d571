//! The plan of a statement, apart from who makes it (`planner`) and who runs it (`exec`). Main type: [`Plan`]. Also what both
//! ask of the world around a statement: tables without storage, privileges.
#![forbid(unsafe_code)]

mod access;
mod asked_first;
mod block_hints;
mod catalog;
mod change;
mod checked_parameter;
mod cursor_read;
pub mod dependence;
mod depth;
mod functional_key;
mod implicit_default;
pub mod json_table;
mod key_text;
pub mod lateral;
mod multi_valued;
pub mod physical;
pub mod physical_walk;
mod privileges_needed;
pub mod range;
mod references;
mod repeatable;
mod repeated;
mod rows_examined;
mod rules;
pub mod silent;
pub mod window;

pub use access::check as check_tables;
pub use asked_first::{differs_between_rows, is_asked_first};
pub use block_hints::BlockHints;
pub use catalog::{
    AllPrivileges, Extent, FileAccess, GrantsId, NoVirtualTables, PrivilegeCheck, PrivilegeRequest,
    TableAccess, View, VirtualCursor, VirtualRequest, VirtualTables, WantedValues, unknown_table,
};
pub use change::{
    Assignment, DefaultValue, DeletePlan, GeneratedValue, InsertPlan, InsertRows, LoadPlan, LoadTarget,
    OwnExpressions, RowCheck, RowExpression, RowPlan, RowVariables, Steps, Target, TargetTable, UpdatePlan,
    ViewCheck,
};
pub use checked_parameter::{CheckedParameter, check_converted, check_parameters, report_listed};
pub use cursor_read::{CursorRead, take_last_columns};
pub use depth::{check_depth, check_set_operation_depth, check_stack};
pub use functional_key::{key_part_type, told_of_index};
pub use implicit_default::implicit_default;
pub use key_text::{in_zone, key_text};
pub use multi_valued::MultiValuedPart;
pub use physical::QueryPlan;
pub use privileges_needed::{PrivilegesNeeded, ViewPrivileges, error_of_view};
pub use references::{ChildKey, ParentKey, References, ReferredIndex};
pub use repeatable::{is_repeatable, reads_alike, varying_access};
pub use repeated::{keep_in_subqueries, keep_repeated};
pub use rows_examined::check_rows_examined;
pub use rules::{Rule, Rules};

use engine::Table;
use errors::SqlResult;
use expression::operators::{ComparisonMode, ListedConstant};
use expression::{EvaluationContext, Expression, SubqueryUse};
use parser::ast;
use physical::{CommonTableUse, ExplainRow};
use std::sync::Arc;
use values::{ColumnType, Value};

/// A bound and optimised statement, separate from any execution of it.
#[derive(Debug)]
pub struct Plan {
    /// What it does.
    pub kind: PlanKind,
    /// Subqueries of its expressions, by number.
    pub subqueries: Vec<SubqueryPlan>,
    /// Conditions, list by list, with subqueries that run before a row is looked at, whether one asks for them or not.
    pub asked_first: Vec<Vec<Expression>>,
    /// Privileges that it needs.
    pub privileges: PrivilegesNeeded,
    /// Base tables that it reads or changes.
    pub tables: Vec<Arc<Table>>,
    /// Tables that change because foreign keys refer to changed ones, by number.
    pub cascades: Vec<Target>,
    /// It depends on variables' types or views: plan again for each execution.
    pub volatile: bool,
    /// How many of the functions in it read the clock.
    pub clock_calls: usize,
    /// It reads more than its tables, its parameters, the clock and what is set: the session, system tables, chance.
    pub reads_elsewhere: bool,
    /// It assigns user variables: each row goes all the way before the next one is read, so that it finds what was
    /// assigned for it.
    pub row_by_row: bool,
    /// It calls stored functions, which may look at what it has changed so far.
    pub calls_routines: bool,
    /// It serves other literals of the same types as well as those that it was made for.
    pub repeatable: bool,
    /// How many call sites keep something between rows.
    pub sites: usize,
    /// How many recursive queries it has.
    pub recursions: usize,
    /// Common tables, by number.
    pub common_tables: Vec<CommonTableUse>,
    /// What it makes of its parameters, where these follow the context.
    pub parameters: Vec<Option<ParameterUse>>,
    /// Parameters that each execution converts before it looks for rows ([`check_parameters`]).
    pub checked_parameters: Vec<CheckedParameter>,
    /// Constants of lists that each execution reports on before it looks for rows ([`report_listed`]).
    pub listed: Vec<ListedConstant>,
    /// Lines of EXPLAIN, if it is of a statement that is explained.
    pub explain: Vec<ExplainRow>,
}

/// What a plan does.
#[derive(Debug)]
pub enum PlanKind {
    /// SELECT, VALUES, TABLE, with where the rows go (None: to the client).
    Query(QueryPlan, Option<ast::QueryInto>),
    /// INSERT and REPLACE.
    Insert(Box<InsertPlan>),
    /// UPDATE.
    Update(Box<UpdatePlan>),
    /// DELETE.
    Delete(Box<DeletePlan>),
    /// LOAD DATA.
    Load(Box<LoadPlan>),
    /// DO.
    Do(Vec<Expression>),
}

/// A subquery of an expression, ready to run.
#[derive(Clone, Debug)]
pub struct SubqueryPlan {
    /// The query.
    pub query: QueryPlan,
    /// What the expression wants of it.
    pub wanted: SubqueryUse,
    /// How each operand of IN, ANY and ALL is compared with the query's column, with the operand's type.
    pub comparisons: Vec<(ComparisonMode, ColumnType)>,
    /// As [`SubqueryCall::repeats`](expression::SubqueryCall).
    pub repeats: bool,
    /// Its value, if it was run while the statement was planned.
    pub known: Option<Value>,
    /// Its aggregates for all rows around at once, where these are told apart by equalities.
    pub groups: Option<SubqueryGroups>,
    /// Numbers of the common tables within it that read columns of the rows around it: each of its runs computes them anew.
    pub common_tables: Vec<usize>,
}

/// A scalar subquery in one implicit group, of which the row around decides by equalities which rows are in it: the same aggregates,
/// grouped by what is equal.
#[derive(Clone, Debug)]
pub struct SubqueryGroups {
    /// Its rows are keys, then the aggregates of the subquery.
    pub query: QueryPlan,
    /// What each key is equal to.
    pub keys: Vec<OuterKey>,
    /// After how many runs of the subquery itself the groups are made.
    pub after_runs: u64,
}

/// What a key of groups is equal to.
#[derive(Clone, Debug)]
pub struct OuterKey {
    /// The outer reference of the subquery.
    pub outer: usize,
    /// How both are compared.
    pub mode: ComparisonMode,
    /// Type of the outer value.
    pub outer_type: ColumnType,
    /// Type of the key.
    pub key_type: ColumnType,
}

/// What a statement makes of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterUse {
    /// The type that the parameter has.
    pub column_type: ColumnType,
    /// What becomes of values that are not of that type.
    pub reading: Reading,
}

/// How an operation reads a parameter whose value is of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// In the parameter's type.
    Typed,
    /// The same by the client, which is shown numbers of a DECIMAL parameter, and texts that became one, as they were given.
    Shown,
    /// In its own way, as far as the value was not brought to the type: a function reads text as text, whatever the
    /// parameter is.
    Own,
    /// A value of any type may stand there and stays as it is: it is stored into a column, or CAST.
    AsGiven,
    /// The same for a number of rows, which executions look at first: a whole number that is not negative, or NULL.
    RowCount,
    /// The same for a number that a window function is given, which says itself what it makes of negative ones.
    WholeNumber,
}

impl Reading {
    /// Whether the value stays as it is.
    pub fn is_as_given(self) -> bool {
        matches!(self, Reading::AsGiven | Reading::RowCount | Reading::WholeNumber)
    }
}

/// What planning may ask of the statement that it plans for.
pub trait PlanningSurroundings: EvaluationContext {
    /// Runs a subquery of a plan, which reads nothing of the rows around it: MySQL runs some while it optimises.
    fn run_subquery(&mut self, plan: &Plan, id: usize) -> SqlResult<Value>;

    /// The rules that may be used.
    fn rules(&self) -> Rules;

    /// From here on, or no more, expressions are those that a table keeps: computed by facts that are the same for every client.
    fn compute_stored(&mut self, is_stored: bool);
}
