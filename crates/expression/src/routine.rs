//! Stored functions as expressions call them. Main types: [`Routine`], [`RoutineCall`].

use crate::tree::Expression;
use errors::{SqlResult, sql_error};
use std::any::Any;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use values::ColumnType;

/// A stored function: its names and types, and a body that only the session knows.
pub struct Routine {
    /// The schema that it belongs to, which unqualified names in it mean.
    pub schema: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The types of its parameters.
    pub parameters: Vec<ColumnType>,
    /// The type that it returns.
    pub returns: ColumnType,
    /// What the session runs.
    pub body: Arc<dyn Any + Send + Sync>,
}

impl Debug for Routine {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

impl Routine {
    /// Error 1318 unless the function takes so many arguments.
    pub fn check_arguments(&self, count: usize) -> SqlResult<()> {
        if count == self.parameters.len() {
            return Ok(());
        }
        let name = format!("{self:?}");
        Err(sql_error!(ER_SP_WRONG_NO_OF_ARGS, "FUNCTION", name, self.parameters.len(), count))
    }
}

/// A call of a stored function.
#[derive(Clone, Debug)]
pub struct RoutineCall {
    /// The function, as it was when the statement was planned.
    pub routine: Arc<Routine>,
    /// Its arguments.
    pub arguments: Vec<Expression>,
}
