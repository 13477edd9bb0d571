//! Stored functions as the session keeps and runs them. Main types: [`Program`], [`NestedStatement`].

use super::Runner;
use errors::SqlResult;
use expression::{Routine, SqlMode, TypedValue};
use instance::Planned;
use parser::ParseOptions;
use parser::ast::Statement;
use std::sync::{Arc, Mutex, PoisonError};
use values::Value;

/// What a program does with its statements and the values of its parameters, and what it returns.
pub type ProgramRun = Box<dyn Fn(&Program, &mut Runner<'_>, &[TypedValue]) -> SqlResult<Value> + Send + Sync>;

/// The body of a stored function.
pub struct Program {
    /// The sql_mode under which its statements run, whatever the caller's is.
    pub sql_mode: SqlMode,
    /// Its statements: what they use is locked by the statement that calls.
    pub statements: Vec<NestedStatement>,
    /// How it runs.
    pub run: ProgramRun,
}

/// A statement of a program, with its plan once it has run.
pub struct NestedStatement {
    pub(crate) statement: Statement,
    plan: Mutex<Option<Arc<Planned>>>,
}

impl NestedStatement {
    /// Reads a statement. Errors: 1064.
    pub fn parse(text: &str, options: ParseOptions) -> SqlResult<NestedStatement> {
        let statement = parser::parse_one(text.as_bytes(), 0, options)?.statement;
        Ok(NestedStatement { statement, plan: Mutex::new(None) })
    }

    /// The kept plan.
    pub(super) fn plan(&self) -> Option<Arc<Planned>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn keep(&self, plan: Arc<Planned>) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan);
    }
}

/// What a function runs.
pub(crate) fn program_of(routine: &Routine) -> Option<&Program> {
    routine.body.downcast_ref::<Program>()
}
