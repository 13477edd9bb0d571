//! Stored functions as the session keeps and runs them. Main types: [`Program`], [`Routines`], [`NestedStatement`].

use super::Runner;
use crate::planned::Planned;
use errors::SqlResult;
use expression::{Routine, SqlMode, TypedValue};
use parser::ParseOptions;
use parser::ast::Statement;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use values::{ColumnType, Value};

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

/// The stored functions of an instance, by schema and by name in lower case.
#[derive(Default)]
pub struct Routines {
    functions: RwLock<HashMap<(String, String), Arc<Routine>>>,
}

impl Routines {
    /// Adds a function, in the place of one of that name.
    pub fn put(
        &self,
        schema: &str,
        name: &str,
        parameters: Vec<ColumnType>,
        returns: ColumnType,
        body: Program,
    ) {
        let (schema, name): (Arc<str>, Arc<str>) = (schema.into(), name.into());
        let key = (schema.to_string(), name.to_lowercase());
        let body = Arc::new(body);
        let routine = Arc::new(Routine { schema, name, parameters, returns, body });
        self.functions.write().unwrap_or_else(PoisonError::into_inner).insert(key, routine);
    }

    /// The function of that name.
    pub fn find(&self, schema: &str, name: &str) -> Option<Arc<Routine>> {
        let key = (schema.to_owned(), name.to_lowercase());
        self.functions.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }
}

/// What a function runs.
pub(crate) fn program_of(routine: &Routine) -> Option<&Program> {
    routine.body.downcast_ref::<Program>()
}
