//! Constants that MySQL converts as soon as an operation is prepared, whether or not a row comes: where warnings end the
//! statement, one that cannot be converted is its error. Main function: [`Binder::check_prepared`]. Executions of the plan
//! with other values in the place of literals do the same ([`plan::check_parameters`]).

use super::Binder;
use ::expression::operators::ComparisonMode;
use ::expression::{Expression, ExpressionKind, TypeClass};
use errors::SqlResult;
use plan::check_converted;
use values::{TypeKind, Value};

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
        self.note_stored_parameters(bound);
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

    /// A literal that becomes what a column of dates or times would hold is looked at when the statement is planned: in a change, a
    /// plan with a parameter in its place serves no other literals. Text beside dates waits for the rows.
    fn note_stored_parameters(&mut self, bound: &Expression) {
        if self.changed.is_empty() || !self.facts.literal_parameters {
            return;
        }
        let is_stored = |column: &Expression, constant: &Expression| {
            let becomes = match column.result.class() {
                TypeClass::Time => true,
                TypeClass::DateTime => !is_text(constant),
                _ => false,
            };
            becomes && column.column_slot().is_some() && constant.is_constant() && constant.has_parameter()
        };
        self.volatile |= match &bound.kind {
            ExpressionKind::Compare(comparison) => {
                let (left, right) = (&comparison.left, &comparison.right);
                is_stored(left, right) || is_stored(right, left)
            }
            ExpressionKind::Between(between) => {
                [&between.low.1, &between.high.1].iter().any(|bound| is_stored(&between.operand, bound))
            }
            ExpressionKind::In(list) => list.list.iter().any(|(_, member)| is_stored(&list.operand, member)),
            _ => false,
        };
    }

    /// A text beside a column of integers is turned to what the column would hold.
    fn check_beside(&mut self, column: &Expression, constant: &Expression) -> SqlResult<()> {
        if is_integer_column(column) && is_text(constant) && self.is_known(constant) {
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
        if in_condition && is_text(constant) && self.is_known(constant) {
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
        if list.len() == 1 || !members.clone().all(|member| self.is_known(member)) {
            return Ok(());
        }
        members.try_for_each(|member| self.check_converted(mode, member))
    }

    /// Whether it is known when the statement is prepared, literals that come as parameters included.
    fn is_known(&mut self, expression: &Expression) -> bool {
        if expression.is_foldable() || expression.literal().is_some() {
            return true;
        }
        if !self.facts.literal_parameters || !expression.has_parameter() || !expression.is_constant() {
            return false;
        }
        let is_literal = matches!(expression.kind, ExpressionKind::Parameter(_));
        // What is made of several is not looked at again: then the plan serves no other literals.
        self.volatile |= !is_literal;
        is_literal
    }

    fn check_converted(&mut self, mode: ComparisonMode, constant: &Expression) -> SqlResult<()> {
        if constant.has_parameter() {
            self.checked_parameters.push((mode, constant.clone()));
        }
        check_converted(mode, constant, self.input.context)?;
        self.input.context.diagnostics().escalate(false);
        Ok(())
    }
}
