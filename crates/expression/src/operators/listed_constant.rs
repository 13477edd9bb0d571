//! Constant texts of an IN list beside a date, a moment or a time. MySQL looks such a list up in the operand's own type: each text
//! is converted once, before any row is read, and what is wrong with it is reported then, whether or not a row comes. Text that is no
//! date stands for the zero date, text that is no time for midnight. Main type: [`ListedConstant`]. Called when a list is prepared.

use super::cast::{Cast, CastFailure};
use super::list::InList;
use crate::build::BuildFacts;
use crate::context::EvaluationContext;
use crate::convert;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind};
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use functions::text;
use std::sync::Arc;
use values::temporal::{DateRules, DateTime, parse_date_time};
use values::{ColumnType, RowRef, TypeKind, Value, ValueRef};

/// A text of a list that is looked up, to be reported once.
#[derive(Clone, Debug)]
pub struct ListedConstant {
    /// The text.
    pub constant: Expression,
    /// Whether what is wrong with it ends the statement.
    pub escalates: bool,
    kind: TypeKind,
    /// The column of moments that would store it.
    column: Option<Arc<str>>,
}

/// Turns the constant texts of a list to what they are looked up as, if it is one of texts beside a date, moment or time.
/// `is_written`: whether a constant is made of literals alone.
pub(super) fn adapt_listed(
    operand: &Expression,
    list: &mut [Expression],
    facts: BuildFacts,
    is_written: fn(&Expression, BuildFacts) -> bool,
) -> bool {
    use TypeClass::{DateTime, Null, Text};
    let is_moment = match operand.result.class() {
        DateTime => true,
        TypeClass::Time => false,
        _ => return false,
    };
    let fits = |member: &Expression| match member.result.class() {
        Text => is_written(member, facts),
        Null => true,
        DateTime => is_moment && member.is_constant(),
        _ => false,
    };
    let has_text = list.iter().any(|member| member.result.class() == Text);
    // What reads no row is computed once as a whole.
    if list.len() < 2 || operand.is_constant() || !has_text || !list.iter().all(fits) {
        return false;
    }
    for member in list.iter_mut().filter(|member| member.result.class() == Text) {
        let result = match is_moment {
            true => ResultType::datetime(digits_of(operand)),
            false => ResultType::time(6),
        };
        let result = result.nullable_if(member.result.nullable);
        let operand = std::mem::replace(member, Expression::null());
        let cast = Cast { operand, failure: CastFailure::Listed, column: None };
        *member = Expression { kind: ExpressionKind::Cast(Box::new(cast)), result };
    }
    true
}

/// A column of moments takes as many digits of a fraction as it has.
fn digits_of(operand: &Expression) -> u8 {
    let is_stored = operand.column_slot().is_some() && operand.result.kind() != TypeKind::Date;
    if is_stored { operand.result.column_type.decimals.unwrap_or(0) } else { 6 }
}

/// The moment or time that a text is looked up as.
pub(super) fn listed_value(
    value: ValueRef<'_>,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let before = context.diagnostics().reported();
    let found = match target.kind {
        TypeKind::Time => {
            convert::to_time(value, from, context).map(|found| Value::Time(found.unwrap_or_default()))
        }
        _ => convert::to_datetime(value, from, context).map(|found| {
            let rounded = found.and_then(|moment| convert::moment_of_digits(moment, target, context));
            Value::DateTime(rounded.unwrap_or(DateTime::ZERO))
        }),
    };
    context.diagnostics().go_back(before);
    found
}

/// The name of a column, without that of its table.
pub(super) fn own_name(expression: &Expression) -> Option<Arc<str>> {
    let ExpressionKind::Column(column) = &expression.kind else { return None };
    Some(Arc::from(unqualified(&column.name)))
}

/// The last part of a column's quoted name.
pub(super) fn unqualified(name: &str) -> &str {
    name.rsplit("`.`").next().unwrap_or(name).trim_matches('`')
}

/// What is reported of a text that is none of the moments of that kind: MySQL names the column beside it.
pub(super) fn wrong_text(kind: TypeKind, column: Option<&str>, shown: &str) -> SqlError {
    let Some(column) = column else { return sql_error!(ER_TRUNCATED_WRONG_VALUE, kind.name(), shown) };
    let kind = if kind == TypeKind::Timestamp { TypeKind::DateTime } else { kind };
    let text = format!("Incorrect {} value: '{shown}' for column '{column}' at row 1", kind.name());
    errors::code::ER_TRUNCATED_WRONG_VALUE.message(text)
}

impl InList {
    /// The texts that are looked up.
    pub fn listed(&self, escalates: bool) -> impl Iterator<Item = ListedConstant> + '_ {
        let kind = self.operand.result.kind();
        let is_stored = matches!(kind, TypeKind::DateTime | TypeKind::Timestamp);
        let column = own_name(&self.operand).filter(|_| is_stored);
        self.list.iter().filter_map(move |(_, member)| match &member.kind {
            ExpressionKind::Cast(cast) if cast.failure == CastFailure::Listed => Some(ListedConstant {
                constant: cast.operand.clone(),
                escalates,
                kind,
                column: column.clone(),
            }),
            _ => None,
        })
    }
}

impl ListedConstant {
    /// What is reported of it.
    pub fn report(&self, context: &mut dyn EvaluationContext) -> SqlResult<Option<SqlError>> {
        let value = self.constant.evaluate(RowRef::EMPTY, context)?;
        let Value::Bytes(bytes) = &value else { return Ok(None) };
        let from = &self.constant.result.column_type;
        let utf8 = text::to_utf8(bytes, from.collation);
        let rules = convert::written_date_rules(context.facts().sql_mode);
        let shown = || values::convert::shown_text(value.as_ref(), from);
        Ok(match (self.kind, &self.column) {
            (TypeKind::Time, _) => {
                let mut heard = Diagnostics::new(1);
                values::convert::to_time(value.as_ref(), from, &mut heard);
                heard.conditions().first().map(|condition| condition.error.clone())
            }
            (TypeKind::Date, _) => (!is_date(&utf8, DateRules { no_zero_in_date: false, ..rules }))
                .then(|| sql_error!(ER_TRUNCATED_WRONG_VALUE, "date", shown())),
            (_, None) => (!is_moment(&utf8, DateRules { no_zero_in_date: false, ..rules }))
                .then(|| sql_error!(ER_TRUNCATED_WRONG_VALUE, "datetime", shown())),
            (kind, Some(column)) => {
                (!is_moment(&utf8, rules)).then(|| wrong_text(kind, Some(column), &shown()))
            }
        })
    }
}

fn is_moment(utf8: &str, rules: DateRules) -> bool {
    parse_date_time(utf8.as_bytes(), rules).is_some_and(|parsed| !parsed.notes.truncated)
}

/// Whether it is a date without a time of day.
fn is_date(utf8: &str, rules: DateRules) -> bool {
    let parsed = parse_date_time(utf8.as_bytes(), rules).filter(|parsed| !parsed.notes.truncated);
    parsed.and_then(|parsed| parsed.rounded(6)).is_some_and(|moment| moment == moment.date.midnight())
}
