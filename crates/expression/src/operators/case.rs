//! CASE in both forms. Main type: [`Case`].

use crate::context::EvaluationContext;
use crate::convert;
use crate::tree::Expression;
use errors::SqlResult;
use values::{ColumnType, Value};

/// A CASE expression. `CASE x WHEN y` is bound as `CASE WHEN x = y`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Condition and result of each branch.
    pub branches: Vec<(Expression, Expression)>,
    /// ELSE.
    pub otherwise: Option<Expression>,
}

impl Case {
    /// The value for one row, converted to the common type of the branches.
    pub fn evaluate(
        &self,
        column_type: &ColumnType,
        row: &[Value],
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        for (condition, chosen) in &self.branches {
            if condition.truth(row, context)? == Some(true) {
                let value = chosen.evaluate(row, context)?;
                return convert::chosen(value, &chosen.result.column_type, column_type, context);
            }
        }
        match &self.otherwise {
            Some(chosen) => {
                let value = chosen.evaluate(row, context)?;
                convert::chosen(value, &chosen.result.column_type, column_type, context)
            }
            None => Ok(Value::Null),
        }
    }
}
