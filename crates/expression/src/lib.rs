//! Bound expressions: their tree, types, evaluation, and the registry of built-in functions. What functions compute of values
//! is in crate `functions`.
//! Main types: [`Expression`], [`EvaluationContext`], [`FunctionDefinition`]. See README.md for how to add functions.
#![forbid(unsafe_code)]

pub mod build;
pub mod builtin;
mod choice;
mod common_type;
pub mod context;
pub mod convert;
pub mod derive;
mod document_watch;
pub mod evaluate;
pub mod facts;
pub mod json;
pub mod operand;
pub mod operators;
pub mod parameter;
mod print;
mod print_call;
pub mod result_type;
pub mod routine;
mod row_comparison;
mod same_value;
pub mod silent;
pub mod table_type;
pub mod tree;
mod walk;

pub use build::BuildFacts;
pub use builtin::{Call, Derivation, FunctionDefinition};
pub use common_type::common_type;
pub use context::{
    CallState, EvaluationContext, LONG_BYTES, SessionView, SubqueryValue, TypedValue, VariableScope,
    waiting_bytes,
};
pub use document_watch::DocumentWatch;
pub use facts::{SqlMode, StatementFacts, StatementTime};
pub use functions::cipher::Mode as EncryptionMode;
pub use functions::regexp::Limits as RegexpLimits;
pub use functions::temporal::zone as time_zone;
pub use functions::temporal::zone::{TimeZone, ZoneRules};
pub use functions::{locale, text};
pub use operand::Operand;
pub use print::is_condition;
pub use result_type::{Coercibility, ResultType, TypeClass};
pub use routine::{Routine, RoutineCall};
pub use same_value::yields_same;
pub use table_type::{TablePurpose, ValueSource, table_type};
pub use tree::{ColumnSlot, Expression, ExpressionKind, FunctionCall, RowPart, SubqueryCall, SubqueryUse};
