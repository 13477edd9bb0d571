//! Constants that MySQL converts as soon as an operation is prepared, whether or not a row comes: where warnings end the
//! statement, one that cannot be converted is its error. Main function: [`check_prepared`]. Executions of the plan
//! with other values in the place of literals do the same ([`plan::check_parameters`]).

use super::Binder;
use ::expression::operators::ComparisonMode;
use ::expression::{Expression, ExpressionKind, TypeClass};
use errors::SqlResult;
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

/// Error 1292 of a constant beside a column of integers, or of one in a list of constants that are looked up.
pub(super) fn check_prepared(binder: &mut Binder<'_>, bound: &Expression) -> SqlResult<()> {
    note_stored_parameters(binder, bound);
    if !binder.changes.escalates || !binder.input.runs {
        return Ok(());
    }
    match &bound.kind {
        ExpressionKind::Compare(comparison) => {
            check_compared(binder, &comparison.left, &comparison.right)?;
            check_compared(binder, &comparison.right, &comparison.left)
        }
        ExpressionKind::Between(between) => {
            check_beside(binder, &between.operand, &between.low.1)?;
            check_beside(binder, &between.operand, &between.high.1)
        }
        ExpressionKind::In(list)
            if list.operand.result.kind() != TypeKind::Year && list.listed(true).next().is_none() =>
        {
            check_list(binder, &list.list)
        }
        _ => Ok(()),
    }
}

/// A literal that becomes what a column of dates or times would hold is looked at when the statement is planned: in a change, a
/// plan with a parameter in its place serves no other literals. Text beside dates waits for the rows.
fn note_stored_parameters(binder: &mut Binder<'_>, bound: &Expression) {
    if binder.changes.tables.is_empty() || !binder.facts.literal_parameters {
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
    binder.nature.volatile |= match &bound.kind {
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

/// Texts of a list that is looked up are reported on by each execution, but literals with which nothing is wrong.
pub(super) fn note_listed(binder: &mut Binder<'_>, bound: &Expression) {
    let ExpressionKind::In(list) = &bound.kind else { return };
    for constant in list.listed(binder.changes.escalates) {
        let is_right = constant.constant.literal().is_some()
            && matches!(constant.report(binder.input.context), Ok(None));
        if !is_right {
            binder.parameters.listed.push(constant);
        }
    }
}

/// A text beside a column of integers is turned to what the column would hold.
fn check_beside(binder: &mut Binder<'_>, column: &Expression, constant: &Expression) -> SqlResult<()> {
    if is_integer_column(column) && is_text(constant) && is_known(binder, constant) {
        check_converted(binder, ComparisonMode::Double, constant)?;
    }
    Ok(())
}

/// The same, and in a condition a text beside a column of other numbers.
fn check_compared(binder: &mut Binder<'_>, column: &Expression, constant: &Expression) -> SqlResult<()> {
    let mode = match column.result.class() {
        TypeClass::Decimal => ComparisonMode::Decimal,
        TypeClass::Double => ComparisonMode::Double,
        TypeClass::Integer if column.result.kind() != TypeKind::Year => ComparisonMode::Double,
        _ => return Ok(()),
    };
    check_beside(binder, column, constant)?;
    let in_condition = binder.block().clause.is_condition() && column.column_slot().is_some();
    if in_condition && is_text(constant) && is_known(binder, constant) {
        check_converted(binder, mode, constant)?;
    }
    Ok(())
}

/// Constants of one kind are sorted, in the form in which they are compared.
fn check_list(binder: &mut Binder<'_>, list: &[(ComparisonMode, Expression)]) -> SqlResult<()> {
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
    if list.len() == 1 || !members.clone().all(|member| is_known(binder, member)) {
        return Ok(());
    }
    members.try_for_each(|member| check_converted(binder, mode, member))
}

/// Whether it is known when the statement is prepared, literals that come as parameters included.
fn is_known(binder: &mut Binder<'_>, expression: &Expression) -> bool {
    if expression.is_foldable() || expression.literal().is_some() {
        return true;
    }
    if !binder.facts.literal_parameters || !expression.has_parameter() || !expression.is_constant() {
        return false;
    }
    let is_literal = matches!(expression.kind, ExpressionKind::Parameter(_));
    // What is made of several is not looked at again: then the plan serves no other literals.
    binder.nature.volatile |= !is_literal;
    is_literal
}

fn check_converted(binder: &mut Binder<'_>, mode: ComparisonMode, constant: &Expression) -> SqlResult<()> {
    if constant.has_parameter() {
        binder.parameters.checked.push((mode, constant.clone()));
    }
    plan::check_converted(mode, constant, binder.input.context)?;
    binder.input.context.diagnostics().escalate(false);
    Ok(())
}
