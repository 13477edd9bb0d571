//! Evaluation of a bound expression for one row: [`Expression::evaluate`], [`Expression::operand`],
//! [`Expression::truth`]. Only dispatch; each operator family computes in its own file.

use crate::builtin::{Call, known_once};
use crate::context::{EvaluationContext, LONG_BYTES, SubqueryValue, TypedValue, waiting_bytes};
use crate::convert;
use crate::operand::Operand;
use crate::operators::arithmetic_negate;
use crate::result_type::TypeClass;
use crate::routine::RoutineCall;
use crate::tree::{Expression, ExpressionKind, RowPart, SubqueryCall};
use errors::{SqlResult, sql_error};
use values::{RowRef, Value, ValueRef};

/// MySQL's boolean: 1, 0 or NULL.
pub fn truth_value(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, |truth| Value::Int(i64::from(truth)))
}

impl Expression {
    /// The value for a row.
    pub fn evaluate(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
        match &self.kind {
            ExpressionKind::Literal(value) => Ok(value.clone()),
            ExpressionKind::Column(column) => Ok(row.get(column.slot).to_value()),
            ExpressionKind::Parameter(index) => context.parameter(*index),
            ExpressionKind::Outer(index) => Ok(context.outer(*index)),
            ExpressionKind::Arithmetic(operation) => operation.evaluate(self, row, context),
            ExpressionKind::Negate(operand) => arithmetic_negate(self, operand, row, context),
            ExpressionKind::Bit(operation) => operation.evaluate(row, context),
            ExpressionKind::Case(case) => case.evaluate(&self.result.column_type, row, context),
            ExpressionKind::Cast(cast) => cast.evaluate(self, row, context),
            ExpressionKind::Retyped(operand) => operand.evaluate(row, context),
            ExpressionKind::DateArithmetic(operation) => operation.evaluate(self, row, context),
            ExpressionKind::Function(call) => {
                let mut running = Call { call, whole: self, result: &self.result, row, context, waiting: 0 };
                let outcome = (call.definition.evaluate)(&mut running);
                match (running.waiting, &outcome) {
                    (0, Ok(Value::Bytes(bytes))) if bytes.len() >= LONG_BYTES => {}
                    (0, _) => return outcome,
                    (waiting, _) => context.vacate(waiting),
                }
                within_memory(outcome?, context)
            }
            ExpressionKind::Routine(call) => call_routine(call, row, context),
            ExpressionKind::UserVariable(_)
            | ExpressionKind::AssignUserVariable(..)
            | ExpressionKind::SystemVariable(..) => self.variable(row, context),
            ExpressionKind::Subquery(call) => match run_subquery(call, row, context)? {
                SubqueryValue::Scalar(Value::Decimal(exact)) => {
                    Ok(Value::Decimal(exact.padded(self.result.scale())))
                }
                SubqueryValue::Scalar(value) => Ok(value),
                SubqueryValue::Row(row) => row_part(call, row),
            },
            ExpressionKind::Row(members) => {
                debug_assert!(members.len() != 1);
                Err(sql_error!(ER_OPERAND_COLUMNS, 1))
            }
            ExpressionKind::Aggregate(_) | ExpressionKind::Window(_) => {
                Err(sql_error!(ER_INVALID_GROUP_FUNC_USE))
            }
            _ => Ok(truth_value(self.truth(row, context)?)),
        }
    }

    /// The value of a column or a constant.
    #[inline]
    pub fn at_hand<'r>(&'r self, row: RowRef<'r>) -> Option<ValueRef<'r>> {
        match &self.kind {
            ExpressionKind::Literal(value) => Some(value.as_ref()),
            ExpressionKind::Column(column) => Some(row.get(column.slot)),
            _ => None,
        }
    }

    /// The value for a row, without a copy where it is a column or a constant.
    #[inline]
    pub fn operand<'r>(
        &'r self,
        row: RowRef<'r>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Operand<'r>> {
        match &self.kind {
            ExpressionKind::Literal(value) => Ok(Operand::Borrowed(value.as_ref())),
            ExpressionKind::Column(column) => Ok(Operand::Borrowed(row.get(column.slot))),
            ExpressionKind::Parameter(index) => context.parameter_operand(*index),
            ExpressionKind::Retyped(operand) => operand.operand(row, context),
            ExpressionKind::Function(call) => match known_once(call, context) {
                Some(value) => Ok(Operand::Shared(value)),
                None => Ok(Operand::Owned(self.evaluate(row, context)?)),
            },
            _ => Ok(Operand::Owned(self.evaluate(row, context)?)),
        }
    }

    /// The same while another value waits, of so many bytes that count ([`waiting_bytes`]).
    #[inline]
    pub fn operand_beside<'r>(
        &'r self,
        waiting: usize,
        row: RowRef<'r>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Operand<'r>> {
        if waiting == 0 {
            return self.operand(row, context);
        }
        context.occupy(waiting)?;
        let operand = self.operand(row, context);
        context.vacate(waiting);
        operand
    }

    /// The truth for a row: None is unknown.
    pub fn truth(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        match &self.kind {
            ExpressionKind::Compare(comparison) => comparison.truth(row, context),
            ExpressionKind::And(terms) => {
                let mut unknown = false;
                for term in terms {
                    match term.truth(row, context)? {
                        Some(false) => return Ok(Some(false)),
                        Some(true) => {}
                        None => unknown = true,
                    }
                }
                Ok(if unknown { None } else { Some(true) })
            }
            ExpressionKind::Or(terms) => {
                let mut unknown = false;
                for term in terms {
                    match term.truth(row, context)? {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => unknown = true,
                    }
                }
                Ok(if unknown { None } else { Some(false) })
            }
            ExpressionKind::Xor(terms) => {
                let Some(left) = terms[0].truth(row, context)? else { return Ok(None) };
                Ok(terms[1].truth(row, context)?.map(|right| left != right))
            }
            ExpressionKind::Not(operand) => Ok(operand.truth(row, context)?.map(|truth| !truth)),
            ExpressionKind::IsNull(operand) => Ok(Some(operand.operand(row, context)?.is_null())),
            ExpressionKind::IsTruth(operand, wanted) => {
                Ok(Some(operand.truth(row, context)? == Some(*wanted)))
            }
            ExpressionKind::Between(between) => between.truth(row, context),
            ExpressionKind::In(list) => list.truth(row, context),
            ExpressionKind::Like(like) => like.truth(row, context),
            ExpressionKind::Regexp(regexp) => regexp.truth(row, context),
            _ => {
                let Some(chosen) = self.chosen(row, context)? else { return Ok(None) };
                if !std::ptr::eq(chosen, self) {
                    return chosen.truth(row, context);
                }
                let value = self.operand(row, context)?;
                if matches!(value.as_ref(), ValueRef::Bytes(_)) && convert::is_read_silently(self) {
                    let number = convert::operand_to_double(self, value.as_ref(), context)?;
                    return Ok(number.map(|number| number != 0.0));
                }
                convert::truth(value.as_ref(), &self.result.column_type, context)
            }
        }
    }

    /// Whether a condition holds for a row (unknown does not).
    #[inline]
    pub fn holds(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<bool> {
        Ok(self.truth(row, context)? == Some(true))
    }

    fn variable(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
        match &self.kind {
            ExpressionKind::UserVariable(name) => {
                let Some(found) = context.session().user_variable(name) else { return Ok(Value::Null) };
                convert::held(found, &self.result.column_type, context)
            }
            ExpressionKind::AssignUserVariable(name, operand) => {
                let mut value = operand.evaluate(row, context)?;
                let mut column_type = operand.result.column_type.clone();
                if self.result.class() == TypeClass::Text && !matches!(value, Value::Bytes(_)) {
                    value = convert::to_type(
                        Operand::Owned(value),
                        &column_type,
                        &self.result.column_type,
                        context,
                    )?;
                    column_type = self.result.column_type.clone();
                }
                context
                    .session()
                    .set_user_variable(name, TypedValue { value: value.clone(), column_type })?;
                Ok(value)
            }
            ExpressionKind::SystemVariable(scope, name) => {
                Ok(context.session().system_variable(*scope, name)?.value)
            }
            _ => Ok(Value::Null),
        }
    }
}

fn call_routine(
    call: &RoutineCall,
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let mut arguments = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        let value = argument.evaluate(row, context)?;
        arguments.push(TypedValue { value, column_type: argument.result.column_type.clone() });
    }
    context.call_routine(&call.routine, arguments)
}

/// What an expression shows of the row of its subquery.
fn row_part(call: &SubqueryCall, row: Option<Vec<Value>>) -> SqlResult<Value> {
    match call.part {
        Some(RowPart::Presence) => Ok(Value::Int(i64::from(row.is_some()))),
        Some(RowPart::Column(column)) => {
            Ok(row.and_then(|row| row.into_iter().nth(column)).unwrap_or(Value::Null))
        }
        None => Err(sql_error!(ER_OPERAND_COLUMNS, 1)),
    }
}

/// A value, or error 1114 if it is longer than what the statement may still hold.
pub(crate) fn within_memory(value: Value, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
    if let Value::Bytes(bytes) = &value
        && bytes.len() >= LONG_BYTES
    {
        context.occupy(bytes.len())?;
        context.vacate(bytes.len());
    }
    Ok(value)
}

/// Evaluates expressions one after the other, each while those before it wait.
fn evaluate_all(
    expressions: &[Expression],
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
    values: &mut Vec<Value>,
    waiting: &mut usize,
) -> SqlResult<()> {
    for expression in expressions {
        let value = Operand::Owned(expression.evaluate(row, context)?);
        let bytes = waiting_bytes(&value);
        context.occupy(bytes)?;
        *waiting += bytes;
        values.push(value.into_value());
    }
    Ok(())
}

/// Runs a subquery for a row.
pub fn run_subquery(
    call: &SubqueryCall,
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<SubqueryValue> {
    let (mut outer, mut operands) =
        (Vec::with_capacity(call.outer.len()), Vec::with_capacity(call.operands.len()));
    let mut waiting = 0;
    let outcome = evaluate_all(&call.outer, row, context, &mut outer, &mut waiting)
        .and_then(|()| evaluate_all(&call.operands, row, context, &mut operands, &mut waiting))
        .and_then(|()| context.subquery(call.id, outer, operands));
    context.vacate(waiting);
    outcome
}
