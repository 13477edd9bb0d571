//! Bound expressions: their tree, types, evaluation, and the registry of built-in functions.
//! Main types: [`Expression`], [`EvaluationContext`], [`FunctionDefinition`]. See README.md for how to add functions.
#![forbid(unsafe_code)]

pub mod context;
pub mod facts;
pub mod result_type;
pub mod time_zone;

pub use context::{CallState, EvaluationContext, SessionView, SubqueryValue, TypedValue, VariableScope};
pub use facts::{SqlMode, StatementFacts};
pub use result_type::{Coercibility, ResultType, TypeClass};
pub use time_zone::{TimeZone, ZoneRules};
