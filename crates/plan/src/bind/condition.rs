//! Conditions that are known before a row is read: constants, and columns compared with themselves. Main function:
//! [`Binder::settled_from`]. MySQL evaluates such conditions once, while it optimises: what their conversions report is
//! reported once and without rows, and a condition that never holds keeps all tables from being read.

use super::{Binder, JoinTree};
use crate::optimize::tables_of;
use crate::physical::Node;
use ::expression::operators::{Comparison, ComparisonOperator};
use ::expression::{Expression, ExpressionKind, SubqueryUse};
use errors::SqlResult;
use values::{TypeKind, Value};

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
        return (!negated).then_some(true);
    }
    let holds = match comparison.operator {
        Equal | LessOrEqual | GreaterOrEqual | NullSafeEqual => !negated,
        NotEqual | Less | Greater => negated,
    };
    // NULL gives unknown, which keeps a row out like false, but not in like true.
    (!holds || !comparison.left.result.nullable).then_some(holds)
}

fn gives_nothing(node: &Node) -> bool {
    match node {
        Node::Nothing => true,
        Node::Project { input, .. } | Node::Filter { input, .. } => gives_nothing(input),
        _ => false,
    }
}

/// Whether no value of an integer column compares so with the constant beside it: a TINYINT is never above 127.
fn is_out_of_range(comparison: &Comparison) -> bool {
    use ComparisonOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
    let (column, operator, constant) = match comparison.left.column_slot() {
        Some(_) => (&comparison.left, comparison.operator, &comparison.right),
        None => (&comparison.right, comparison.operator.mirrored(), &comparison.left),
    };
    let Some((low, high)) = column.result.column_type.integer_range() else { return false };
    let (low, high) = (i128::from(low), i128::from(high));
    let number = match constant.literal() {
        Some(Value::Int(number)) => i128::from(*number),
        Some(Value::UInt(number)) => i128::from(*number),
        _ => return false,
    };
    let is_number = constant.result.kind().is_integer() && column.column_slot().is_some();
    is_number
        && match operator {
            Equal => number < low || number > high,
            Less => number <= low,
            LessOrEqual => number < low,
            Greater => number >= high,
            GreaterOrEqual => number > high,
            _ => false,
        }
}

impl Binder<'_> {
    /// The conditions of WHERE without what is settled; those of the joins of FROM are settled in their places. One FALSE
    /// is left where no row can pass.
    pub fn settled_from(
        &mut self,
        tree: Option<&mut JoinTree>,
        conditions: Vec<Expression>,
    ) -> SqlResult<Vec<Expression>> {
        let mut conditions = self.settled(conditions)?;
        if conditions.iter().any(|condition| self.looks_in_nothing(condition)) {
            conditions = vec![Expression::boolean(false)];
        }
        let Some(tree) = tree.filter(|_| !conditions.iter().any(is_never)) else { return Ok(conditions) };
        let passes = self.settle_joins(tree, &conditions, 0)?;
        Ok(if passes { conditions } else { vec![Expression::boolean(false)] })
    }

    /// Whether it is a column without NULL. A date may be asked for NULL to find the zero date.
    fn is_never_null(&mut self, operand: &Expression) -> bool {
        let may_be_zero_date = matches!(operand.result.kind(), TypeKind::Date | TypeKind::DateTime);
        let is_column = operand.column_slot().is_some() && !operand.result.nullable && !may_be_zero_date;
        is_column && tables_of(self.block(), operand) & self.optional == 0
    }

    /// Whether it asks for a row of a subquery whose own conditions never hold.
    fn looks_in_nothing(&self, condition: &Expression) -> bool {
        let ExpressionKind::Subquery(call) = &condition.kind else { return false };
        matches!(call.wanted, SubqueryUse::In | SubqueryUse::Exists)
            && self.subqueries.get(call.id).is_some_and(|subquery| gives_nothing(&subquery.query.root))
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

    /// Settles the conditions of ON; says whether rows that pass the filters can come out of the joins. `optional`: tables
    /// whose rows may be missing, as bits.
    fn settle_joins(
        &mut self,
        tree: &mut JoinTree,
        filters: &[Expression],
        optional: u64,
    ) -> SqlResult<bool> {
        let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return Ok(true) };
        let inner = right.tables();
        let block = self.block();
        let keeps_unmatched = *outer && !filters.iter().any(|filter| block.rejects_null(filter, inner));
        let within = if keeps_unmatched { optional | inner } else { optional };
        let left_passes = self.settle_joins(left, filters, optional)?;
        let right_passes = self.settle_joins(right, filters, within)?;
        self.optional = within;
        let settled = self.settled(std::mem::take(conditions));
        self.optional = 0;
        *conditions = settled?;
        let joins = right_passes && !conditions.iter().any(is_never);
        Ok(left_passes && (keeps_unmatched || joins))
    }

    /// Conditions that all must hold, without those that always do; only FALSE if one of them never does.
    fn settled(&mut self, conditions: Vec<Expression>) -> SqlResult<Vec<Expression>> {
        let mut open = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let mut condition = self.settle(condition)?;
            if is_never(&condition) {
                return Ok(vec![Expression::boolean(false)]);
            }
            self.compute_constants_once(&mut condition);
            if !is_always(&condition) {
                open.push(condition);
            }
        }
        Ok(open)
    }

    /// Constant operations within a condition, which MySQL computes once.
    fn compute_constants_once(&mut self, condition: &mut Expression) {
        condition.for_each_child_mut(&mut |part| {
            if part.computes() && is_known(part) {
                let site = self.site();
                let constant = std::mem::replace(part, Expression::null());
                *part = constant.once(site);
            } else {
                self.compute_constants_once(part);
            }
        });
    }

    fn settle(&mut self, condition: Expression) -> SqlResult<Expression> {
        if is_known(&condition) {
            return self.constant_truth(condition);
        }
        // Below ON of an outer join MySQL does not look at columns compared with themselves.
        let is_open = self.optional == 0;
        let known = match &condition.kind {
            ExpressionKind::Compare(comparison) if is_open => compared_with_itself(comparison, false)
                .or_else(|| is_out_of_range(comparison).then_some(false)),
            ExpressionKind::Not(operand) => match &operand.kind {
                ExpressionKind::Compare(comparison) if is_open => compared_with_itself(comparison, true),
                ExpressionKind::IsNull(operand) => self.is_never_null(operand).then_some(true),
                _ => None,
            },
            ExpressionKind::IsNull(operand) => self.is_never_null(operand).then_some(false),
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
