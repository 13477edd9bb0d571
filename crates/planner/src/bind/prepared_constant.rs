//! Constants that MySQL converts as soon as an operation is prepared, whether or not a row comes: where warnings end the
//! statement, one that cannot be converted is its error. Main function: [`Binder::check_prepared`].

use super::Binder;
use ::expression::operators::{ComparisonMode, compare_values};
use ::expression::{Expression, ExpressionKind, TypeClass};
use errors::SqlResult;
use values::{ColumnType, RowRef, TypeKind, Value};

/// Whether it is known when the statement is prepared.
fn is_known(expression: &Expression) -> bool {
    expression.is_foldable() || expression.literal().is_some()
}

/// Whether it is a BIGINT column. For smaller integers MySQL waits.
fn is_integer_column(expression: &Expression) -> bool {
    expression.column_slot().is_some() && expression.result.kind() == TypeKind::BigInt
}

fn is_text(expression: &Expression) -> bool {
    expression.result.class() == TypeClass::Text && !expression.result.is_number_bytes()
}

fn is_text_or_date(expression: &Expression) -> bool {
    matches!(expression.result.class(), TypeClass::Text | TypeClass::DateTime)
}

impl Binder<'_> {
    /// Error 1292 of a constant beside a column of integers, or of one in a list of constants that are looked up.
    pub fn check_prepared(&mut self, bound: &Expression) -> SqlResult<()> {
        if !self.escalates || !self.input.runs {
            return Ok(());
        }
        match &bound.kind {
            ExpressionKind::Compare(comparison) => {
                self.check_compared(&comparison.left, &comparison.right)?;
                self.check_compared(&comparison.right, &comparison.left)
            }
            ExpressionKind::Between(between) => {
                self.check_beside(&between.operand, &between.low.1)?;
                self.check_beside(&between.operand, &between.high.1)
            }
            ExpressionKind::In(list) if list.operand.result.kind() != TypeKind::Year => {
                self.check_list(&list.list)
            }
            _ => Ok(()),
        }
    }

    /// A text beside a column of integers is turned to what the column would hold.
    fn check_beside(&mut self, column: &Expression, constant: &Expression) -> SqlResult<()> {
        if is_integer_column(column) && is_text(constant) && is_known(constant) {
            self.check_converted(ComparisonMode::Double, constant)?;
        }
        Ok(())
    }

    /// The same, and in a condition a text beside a column of other numbers.
    fn check_compared(&mut self, column: &Expression, constant: &Expression) -> SqlResult<()> {
        let mode = match column.result.class() {
            TypeClass::Decimal => ComparisonMode::Decimal,
            TypeClass::Double => ComparisonMode::Double,
            TypeClass::Integer if column.result.kind() != TypeKind::Year => ComparisonMode::Double,
            _ => return Ok(()),
        };
        self.check_beside(column, constant)?;
        let in_condition = self.block().clause.is_condition() && column.column_slot().is_some();
        if in_condition && is_text(constant) && is_known(constant) {
            self.check_converted(mode, constant)?;
        }
        Ok(())
    }

    /// Constants of one kind are sorted, in the form in which they are compared.
    fn check_list(&mut self, list: &[(ComparisonMode, Expression)]) -> SqlResult<()> {
        let is_null = |member: &Expression| member.literal() == Some(&Value::Null);
        let mut members = list.iter().filter(|(_, member)| !is_null(member));
        let Some((mode, _)) = members.next() else { return Ok(()) };
        let mut mode = *mode;
        let is_alike = members.all(|(other, _)| *other == mode);
        // Texts are looked up as the dates among them.
        let dates = list.iter().any(|(mode, _)| *mode == ComparisonMode::Date);
        let moments = list.iter().all(|(_, member)| is_null(member) || is_text_or_date(member));
        let is_sorted = is_alike && !matches!(mode, ComparisonMode::Text(_) | ComparisonMode::Integer);
        if dates && moments {
            mode = ComparisonMode::Date;
        } else if !is_sorted || !moments && mode == ComparisonMode::DateTime {
            return Ok(());
        }
        let mut members = list.iter().map(|(_, member)| member);
        if list.len() == 1 || !members.clone().all(is_known) {
            return Ok(());
        }
        members.try_for_each(|member| self.check_converted(mode, member))
    }

    fn check_converted(&mut self, mode: ComparisonMode, constant: &Expression) -> SqlResult<()> {
        let context = &mut *self.input.context;
        let before = context.diagnostics().clone();
        context.diagnostics().escalate(true);
        let date = ColumnType::new(TypeKind::Date);
        let compared = constant.evaluate(RowRef::EMPTY, context).and_then(|value| {
            let column_type = &constant.result.column_type;
            let beside = if mode == ComparisonMode::Date { &date } else { column_type };
            compare_values(mode, value.as_ref(), column_type, value.as_ref(), beside, context)
        });
        let raised = context.diagnostics().take_raised();
        context.diagnostics().escalate(false);
        *context.diagnostics() = before;
        match raised {
            Some(error) => Err(error),
            None => compared.map(|_| ()),
        }
    }
}
