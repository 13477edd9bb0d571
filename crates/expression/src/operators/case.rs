//! CASE in both forms. Main type: [`Case`].

use crate::context::EvaluationContext;
use crate::convert;
use crate::tree::Expression;
use errors::SqlResult;
use values::{ColumnType, RowRef, Value};

/// A CASE expression. `CASE x WHEN y` is bound as `CASE WHEN x = y`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Condition and result of each branch.
    pub branches: Vec<(Expression, Expression)>,
    /// Whether it was written `CASE x WHEN y`.
    pub compares: bool,
    /// ELSE.
    pub otherwise: Option<Expression>,
}

impl Case {
    /// The value for one row, converted to the common type of the branches.
    pub fn evaluate(
        &self,
        column_type: &ColumnType,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let Some(chosen) = self.choose(row, context)? else { return Ok(Value::Null) };
        let value = chosen.operand(row, context)?;
        convert::chosen(value, &chosen.result.column_type, column_type, context)
    }

    /// The branch for one row; None where no condition holds and there is no ELSE.
    pub fn choose(
        &self,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<&Expression>> {
        for (condition, chosen) in &self.branches {
            if condition.truth(row, context)? == Some(true) {
                return Ok(Some(chosen));
            }
        }
        Ok(self.otherwise.as_ref())
    }
}
