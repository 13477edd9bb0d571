//! Conditions that are decided on stored bytes. Main type: [`DirectFilter`].

use super::column::{StoredColumn, layout};
use crate::run::Run;
use errors::SqlResult;
use expression::operators::{ComparisonMode, ComparisonOperator};
use expression::{EvaluationContext, Expression, ExpressionKind};
use plan::physical::TableAccess;
use std::cmp::Ordering;
use values::Value;
use values::row::{IntegerColumn, RowView};

/// A condition on one column.
#[derive(Clone, Debug)]
pub enum DirectFilter {
    /// An integer between two others, both included.
    Between(IntegerColumn, i64, i64),
    /// An integer that is not this one.
    Not(IntegerColumn, i64),
    /// Plain bytes compared with others.
    Bytes {
        /// Position in the row.
        position: usize,
        /// How.
        operator: ComparisonOperator,
        /// With what.
        bytes: Vec<u8>,
    },
    /// Holds for no row.
    Never,
}

impl DirectFilter {
    /// The filter that says the same as a condition, if there is one. Constants are taken from the running statement.
    pub fn of(
        access: &TableAccess,
        condition: &Expression,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<Vec<DirectFilter>>> {
        match &condition.kind {
            ExpressionKind::Compare(comparison) => {
                let (operator, mode) = (comparison.operator, comparison.mode);
                let found = match (is_column(&comparison.left), is_column(&comparison.right)) {
                    (true, false) => {
                        Self::compare(access, &comparison.left, operator, mode, &comparison.right, run)
                    }
                    (false, true) => {
                        let operator = operator.mirrored();
                        Self::compare(access, &comparison.right, operator, mode, &comparison.left, run)
                    }
                    _ => Ok(None),
                };
                Ok(found?.map(|filter| vec![filter]))
            }
            ExpressionKind::Between(between) if !between.negated => {
                use ComparisonOperator::{GreaterOrEqual, LessOrEqual};
                let operand = &between.operand;
                let (mode, low) = &between.low;
                let low = Self::compare(access, operand, GreaterOrEqual, *mode, low, run)?;
                let (mode, high) = &between.high;
                let high = Self::compare(access, operand, LessOrEqual, *mode, high, run)?;
                Ok(low.zip(high).map(|(low, high)| vec![low, high]))
            }
            ExpressionKind::And(terms) => {
                let mut all = Vec::new();
                for term in terms {
                    let Some(filters) = Self::of(access, term, run)? else { return Ok(None) };
                    all.extend(filters);
                }
                Ok(Some(all))
            }
            _ => Ok(None),
        }
    }

    fn compare(
        access: &TableAccess,
        column: &Expression,
        operator: ComparisonOperator,
        mode: ComparisonMode,
        constant: &Expression,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<DirectFilter>> {
        let Some(column) = StoredColumn::of(access, column) else { return Ok(None) };
        let Some(constant) = constant_value(constant, run)? else { return Ok(None) };
        if operator == ComparisonOperator::NullSafeEqual {
            return Ok(None);
        }
        if constant == Value::Null {
            return Ok(Some(DirectFilter::Never));
        }
        Ok(match mode {
            ComparisonMode::Integer => {
                let number = match constant {
                    Value::Int(number) => i128::from(number),
                    Value::UInt(number) => i128::from(number),
                    _ => return Ok(None),
                };
                column.integer(layout(access)).map(|integer| Self::integer(integer, operator, number))
            }
            ComparisonMode::Text(collation)
                if collation.get().is_plain_bytes() && column.is_plain_bytes() =>
            {
                let Value::Bytes(bytes) = constant else { return Ok(None) };
                Some(DirectFilter::Bytes { position: column.position, operator, bytes })
            }
            _ => None,
        })
    }

    fn integer(column: IntegerColumn, operator: ComparisonOperator, number: i128) -> DirectFilter {
        let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let (low, high) = match operator {
            ComparisonOperator::Less => (least, number - 1),
            ComparisonOperator::LessOrEqual => (least, number),
            ComparisonOperator::Greater => (number + 1, greatest),
            ComparisonOperator::GreaterOrEqual => (number, greatest),
            ComparisonOperator::NotEqual => {
                return match i64::try_from(number) {
                    Ok(number) => DirectFilter::Not(column, number),
                    Err(_) => DirectFilter::Between(column, i64::MIN, i64::MAX),
                };
            }
            ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => (number, number),
        };
        if low > greatest || high < least {
            return DirectFilter::Never;
        }
        DirectFilter::Between(column, low.max(least) as i64, high.min(greatest) as i64)
    }

    /// Whether a row meets the condition.
    #[inline]
    pub fn holds(&self, row: &[u8], view: &RowView<'_>) -> bool {
        match self {
            DirectFilter::Between(column, low, high) => {
                column.read(row).is_some_and(|number| *low <= number && number <= *high)
            }
            DirectFilter::Not(column, other) => column.read(row).is_some_and(|number| number != *other),
            DirectFilter::Bytes { position, operator, bytes } => {
                let order = view.raw(*position).map(|raw| raw.cmp(&bytes[..]));
                order.is_some_and(|order: Ordering| operator.holds(order))
            }
            DirectFilter::Never => false,
        }
    }
}

fn is_column(expression: &Expression) -> bool {
    expression.column_slot().is_some()
}

/// The value of an expression that is the same for all rows, whatever they are.
fn constant_value(expression: &Expression, run: &mut Run<'_, '_>) -> SqlResult<Option<Value>> {
    Ok(match &expression.kind {
        ExpressionKind::Literal(value) => Some(value.clone()),
        ExpressionKind::Parameter(index) => Some(run.parameter(*index)?),
        ExpressionKind::Outer(index) => Some(run.outer(*index)),
        ExpressionKind::Retyped(operand) => constant_value(operand, run)?,
        _ => None,
    })
}
