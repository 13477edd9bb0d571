//! Conditions that are known before a row is read: constants, and columns compared with themselves. Main function:
//! [`Binder::settled_from`]. MySQL evaluates such conditions once, while it optimises: what their conversions report is
//! reported once and without rows, and a condition that never holds keeps all tables from being read.

use super::{Binder, JoinTree};
use crate::optimize::tables_of;
use ::expression::operators::{Comparison, ComparisonOperator};
use ::expression::{Expression, ExpressionKind};
use errors::SqlResult;
use values::Value;

/// Whether a condition is a constant that does not hold.
pub(crate) fn is_never(condition: &Expression) -> bool {
    match condition.literal() {
        Some(Value::Null) => true,
        Some(Value::Int(value)) => *value == 0,
        Some(Value::UInt(value)) => *value == 0,
        _ => false,
    }
}

/// Whether a condition is a constant that holds.
pub(crate) fn is_always(condition: &Expression) -> bool {
    matches!(condition.literal(), Some(Value::Int(value)) if *value != 0)
}

/// Whether the statement's execution knows the value before it reads a row.
fn is_known(condition: &Expression) -> bool {
    let waits = |part: &Expression| {
        matches!(
            part.kind,
            ExpressionKind::Outer(_) | ExpressionKind::Subquery(_) | ExpressionKind::SystemVariable(..)
        )
    };
    condition.is_constant() && !condition.any(&waits)
}

/// The truth of a column's comparison with itself for all rows, where it is the same for all; `negated`: below NOT.
fn compared_with_itself(comparison: &Comparison, negated: bool) -> Option<bool> {
    use ComparisonOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, NullSafeEqual};
    let slot = comparison.left.column_slot()?;
    if comparison.right.column_slot() != Some(slot) {
        return None;
    }
    if comparison.operator == NullSafeEqual {
        return Some(!negated);
    }
    let holds = match comparison.operator {
        Equal | LessOrEqual | GreaterOrEqual | NullSafeEqual => !negated,
        NotEqual | Less | Greater => negated,
    };
    // NULL gives unknown, which keeps a row out like false, but not in like true.
    (!holds || !comparison.left.result.nullable).then_some(holds)
}

impl Binder<'_> {
    /// The conditions of WHERE without what is settled; those of the joins of FROM are settled in their places. One FALSE
    /// is left where no row can pass.
    pub fn settled_from(
        &mut self,
        tree: Option<&mut JoinTree>,
        conditions: Vec<Expression>,
    ) -> SqlResult<Vec<Expression>> {
        let conditions = self.settled(conditions)?;
        let Some(tree) = tree.filter(|_| !conditions.iter().any(is_never)) else { return Ok(conditions) };
        let passes = self.settle_joins(tree, &conditions)?;
        Ok(if passes { conditions } else { vec![Expression::boolean(false)] })
    }

    /// Whether a condition of WHERE or ON says that a column of one table equals what is computed of others.
    pub fn has_equal_columns(&mut self, tree: Option<&JoinTree>, conditions: &[Expression]) -> bool {
        let block = &*self.block();
        let is_equality = |condition: &Expression| match &condition.kind {
            ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::Equal => {
                let (left, right) = (tables_of(block, &comparison.left), tables_of(block, &comparison.right));
                left != 0 && right != 0 && left & right == 0
            }
            _ => false,
        };
        conditions.iter().any(is_equality) || tree.is_some_and(|tree| tree.has_condition(&is_equality))
    }

    /// Settles the conditions of ON; says whether rows that pass the filters can come out of the joins.
    fn settle_joins(&mut self, tree: &mut JoinTree, filters: &[Expression]) -> SqlResult<bool> {
        let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return Ok(true) };
        let left_passes = self.settle_joins(left, filters)?;
        let right_passes = self.settle_joins(right, filters)?;
        *conditions = self.settled(std::mem::take(conditions))?;
        let joins = right_passes && !conditions.iter().any(is_never);
        let inner = right.tables();
        let block = self.block();
        let keeps_unmatched = *outer && !filters.iter().any(|filter| block.rejects_null(filter, inner));
        Ok(left_passes && (keeps_unmatched || joins))
    }

    /// Conditions that all must hold, without those that always do; only FALSE if one of them never does.
    fn settled(&mut self, conditions: Vec<Expression>) -> SqlResult<Vec<Expression>> {
        let mut open = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let condition = self.settle(condition)?;
            if is_never(&condition) {
                return Ok(vec![Expression::boolean(false)]);
            }
            if !is_always(&condition) {
                open.push(condition);
            }
        }
        Ok(open)
    }

    fn settle(&mut self, condition: Expression) -> SqlResult<Expression> {
        if is_known(&condition) {
            return self.constant_truth(condition);
        }
        let known = match &condition.kind {
            ExpressionKind::Compare(comparison) => compared_with_itself(comparison, false),
            ExpressionKind::Not(operand) => match &operand.kind {
                ExpressionKind::Compare(comparison) => compared_with_itself(comparison, true),
                _ => None,
            },
            _ => None,
        };
        if let Some(truth) = known {
            return Ok(Expression::boolean(truth));
        }
        match condition.kind {
            ExpressionKind::And(terms) => Ok(Expression::and(self.settled(terms)?)),
            ExpressionKind::Or(terms) => self.settled_or(terms),
            kind => Ok(Expression { kind, result: condition.result }),
        }
    }

    fn settled_or(&mut self, terms: Vec<Expression>) -> SqlResult<Expression> {
        let mut open = Vec::with_capacity(terms.len());
        for term in terms {
            let term = self.settle(term)?;
            if is_always(&term) {
                return Ok(term);
            }
            if !is_never(&term) {
                open.push(term);
            }
        }
        Ok(Expression::or(open))
    }

    /// A constant condition as TRUE or FALSE. One that reports something makes the plan one for this execution only; so
    /// does not one of parameters that reports nothing, which stays as it is.
    fn constant_truth(&mut self, condition: Expression) -> SqlResult<Expression> {
        let escalates = self.escalates;
        let context = &mut *self.input.context;
        let before = context.diagnostics().clone();
        context.diagnostics().escalate(escalates);
        let truth = condition.truth(&[], context);
        let raised = context.diagnostics().take_raised();
        context.diagnostics().escalate(false);
        let silent = truth.is_ok() && raised.is_none() && context.diagnostics().count() == before.count();
        if silent && condition.any(&|part| matches!(part.kind, ExpressionKind::Parameter(_))) {
            return Ok(condition);
        }
        if !silent {
            self.volatile = true;
            if !self.input.runs {
                *self.input.context.diagnostics() = before;
                return Ok(condition);
            }
        }
        match raised {
            Some(error) => Err(error),
            None => Ok(Expression::boolean(truth? == Some(true))),
        }
    }
}
