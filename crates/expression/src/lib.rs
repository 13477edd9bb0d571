//! Bound expressions: their tree, types, evaluation, and the registry of built-in functions.
//! Main types: [`Expression`], [`EvaluationContext`], [`FunctionDefinition`]. See README.md for how to add functions.
#![forbid(unsafe_code)]

pub mod build;
mod choice;
mod common_type;
pub mod context;
pub mod convert;
pub mod derive;
pub mod evaluate;
pub mod facts;
pub mod functions;
pub mod locale;
pub mod operand;
pub mod operators;
pub mod parameter;
mod pieces;
mod print;
mod print_call;
pub mod result_type;
pub mod routine;
mod row_comparison;
pub mod silent;
pub mod table_type;
pub mod text;
pub mod time_zone;
pub mod tree;
mod walk;

pub use build::BuildFacts;
pub use common_type::common_type;
pub use context::{
    CallState, EvaluationContext, LONG_BYTES, SessionView, SubqueryValue, TypedValue, VariableScope,
    waiting_bytes,
};
pub use facts::{SqlMode, StatementFacts};
pub use functions::{Call, Derivation, FunctionDefinition};
pub use operand::Operand;
pub use result_type::{Coercibility, ResultType, TypeClass};
pub use routine::{Routine, RoutineCall};
pub use table_type::{TablePurpose, ValueSource, table_type};
pub use time_zone::{TimeZone, ZoneRules};
pub use tree::{ColumnSlot, Expression, ExpressionKind, FunctionCall, RowPart, SubqueryCall, SubqueryUse};
