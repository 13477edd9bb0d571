//! GREATEST and LEAST. Where the result is a text but an argument is a date, the arguments are compared as dates.

use super::{Call, Derivation, FunctionDefinition, pure};
use errors::SqlResult;
use expression::context::EvaluationContext;
use expression::convert::{self, MomentKind, ZeroDates};
use expression::derive::temporal_digits;
use expression::operand::Operand;
use expression::operators::{ComparisonMode, compare_values};
use expression::result_type::{ResultType, TypeClass};
use expression::tree::Expression;
use std::cmp::Ordering;
use values::convert::shown_text;
use values::temporal::{Date, DateRules, DateTime, parse_date_time};
use values::{ColumnType, TypeKind, Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("greatest", 2, usize::MAX, derive_extreme, |call| extreme(call, Ordering::Greater)),
    pure("least", 2, usize::MAX, derive_extreme, |call| extreme(call, Ordering::Less)),
];

/// What MySQL shows for an argument that is no date, which lies behind all dates.
const NO_DATE_TEXT: &str = "16383-15-31";

fn derive_extreme(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let nullable = derivation.any_nullable();
    Ok(derivation.common_type(0..derivation.count())?.nullable_if(nullable))
}

fn extreme(call: &mut Call<'_>, wanted: Ordering) -> SqlResult<Value> {
    match moment_argument(call) {
        None => extreme_value(call, wanted),
        Some((_, MomentKind::Date)) => extreme_date(call, wanted),
        Some((named, MomentKind::DateTime)) => match extreme_moment(call, named, wanted)? {
            Some(value) => Ok(value),
            None => extreme_value(call, wanted),
        },
    }
}

/// The arguments are compared in the type of the result.
fn extreme_value(call: &mut Call<'_>, wanted: Ordering) -> SqlResult<Value> {
    let result = call.result();
    let mut best = call.as_result(0)?;
    for index in 1..call.count() {
        let next = call.as_result(index)?;
        let mode = ComparisonMode::of_one_type(result);
        let kind = &result.column_type;
        match compare_values(mode, next.as_ref(), kind, best.as_ref(), kind, call.context)? {
            None => return Ok(Value::Null),
            Some(order) if order == wanted => best = next,
            // Of equal texts GREATEST is the last, LEAST the first.
            Some(Ordering::Equal) if wanted == Ordering::Greater => best = next,
            Some(_) => {}
        }
        call.hold_only(if let Value::Bytes(bytes) = &best { bytes.len() } else { 0 })?;
    }
    Ok(best)
}

/// The first argument with a date, if the result is a text: a date with a time before one without.
fn moment_argument(call: &Call<'_>) -> Option<(usize, MomentKind)> {
    if call.result().class() != TypeClass::Text {
        return None;
    }
    let find = |test: &dyn Fn(TypeKind) -> bool| (0..call.count()).find(|at| test(call.argument(*at).kind()));
    let clock = find(&|kind| matches!(kind, TypeKind::DateTime | TypeKind::Timestamp));
    let date = || find(&|kind| kind == TypeKind::Date).map(|at| (at, MomentKind::Date));
    clock.map(|at| (at, MomentKind::DateTime)).or_else(date)
}

/// An argument with its type; None for NULL.
fn argument<'a>(call: &mut Call<'a>, index: usize) -> SqlResult<Option<(Operand<'a>, &'a ColumnType)>> {
    let value = call.operand(index)?;
    Ok((!value.is_null()).then_some((value, &call.argument(index).column_type)))
}

fn extreme_date(call: &mut Call<'_>, wanted: Ordering) -> SqlResult<Value> {
    let mut best: Option<(bool, Date)> = None;
    for index in 0..call.count() {
        call.hold_only(0)?;
        let Some((value, column_type)) = argument(call, index)? else { return Ok(Value::Null) };
        let found = match start_of_year(value.as_ref(), column_type) {
            None => convert::to_moment(
                value.as_ref(),
                column_type,
                MomentKind::Date,
                ZeroDates::Parts,
                call.context,
            )?,
            start => start,
        };
        let next = (found.is_none(), found.map_or(Date::ZERO, |moment| moment.date));
        if best.is_none_or(|best| next.cmp(&best) == wanted) {
            best = Some(next);
        }
    }
    Ok(match best {
        Some((false, date)) => call.text_result(&convert::date_text(date)),
        _ => call.text_result(NO_DATE_TEXT),
    })
}

/// None where a value that is no moment wins: then the texts are compared.
fn extreme_moment(call: &mut Call<'_>, named: usize, wanted: Ordering) -> SqlResult<Option<Value>> {
    let name = column_name(call.expression(named));
    let mut best: Option<DateTime> = None;
    for index in 0..call.count() {
        call.hold_only(0)?;
        let Some((value, column_type)) = argument(call, index)? else { return Ok(Some(Value::Null)) };
        let next = match value.as_ref() {
            ValueRef::Bytes(bytes) => moment_of_text(call, bytes, (value.as_ref(), column_type), &name),
            value => moment_of_number(value, column_type, call.context)?,
        };
        let next = next.unwrap_or(DateTime::ZERO);
        if best.is_none_or(|best| next.cmp(&best) == wanted) {
            best = Some(next);
        }
    }
    let digits = (0..call.count()).map(|index| shown_digits(call, index)).max().unwrap_or(0);
    let best = best.filter(|best| *best != DateTime::ZERO);
    Ok(best.map(|best| call.text_result(&convert::datetime_text(best, digits))))
}

/// The year of a column as its first day; a computed one is a number.
fn start_of_year(value: ValueRef<'_>, column_type: &ColumnType) -> Option<DateTime> {
    let year = match value {
        ValueRef::UInt(year) => u16::try_from(year).ok(),
        _ => None,
    };
    let year = year.filter(|_| column_type.kind == TypeKind::Year)?;
    Some(Date { year, month: 1, day: 1 }.midnight())
}

/// What is no text as a moment. The fraction behind a date alone is left out with a warning.
fn moment_of_number(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<DateTime>> {
    if let Some(start) = start_of_year(value, column_type) {
        return Ok(Some(start));
    }
    if let Some(date) = convert::date_with_fraction(value, column_type, DateRules::default())
        && convert::has_fraction(value)
    {
        convert::warn_no_moment(MomentKind::Date, value, column_type, context);
        return Ok(Some(date));
    }
    convert::to_moment(value, column_type, MomentKind::DateTime, ZeroDates::All, context)
}

fn moment_of_text(
    call: &mut Call<'_>,
    bytes: &[u8],
    shown: (ValueRef<'_>, &ColumnType),
    column: &str,
) -> Option<DateTime> {
    let utf8 = functions::text::to_utf8(bytes, shown.1.collation);
    let rules = DateRules { no_zero_date: true, no_zero_in_date: true, ..DateRules::default() };
    let parsed = parse_date_time(utf8.as_bytes(), rules);
    if parsed.as_ref().is_none_or(|parsed| parsed.notes.truncated) {
        let shown = shown_text(shown.0, shown.1);
        let text = format!("Incorrect datetime value: '{shown}' for column '{column}' at row 1");
        call.warn(errors::code::ER_TRUNCATED_WRONG_VALUE.message(text));
    }
    parsed.and_then(|parsed| parsed.rounded(6))
}

/// Digits of a second's fraction that an argument brings: of a written moment those that it has.
fn shown_digits(call: &Call<'_>, index: usize) -> u8 {
    let (result, literal) = (call.argument(index), call.expression(index).literal());
    let Some(Value::Bytes(bytes)) = literal.filter(|_| !result.is_number_bytes()) else {
        return temporal_digits(result);
    };
    let utf8 = functions::text::to_utf8(bytes, result.collation());
    if parse_date_time(utf8.as_bytes(), DateRules::default()).is_none() {
        return temporal_digits(result);
    }
    let fraction = utf8.rsplit_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).take(6).count() as u8
}

/// How warnings name what a text is compared with.
fn column_name(expression: &Expression) -> String {
    let name = expression.to_string();
    match expression.column_slot() {
        Some(_) => name.rsplit('.').next().unwrap_or_default().replace('`', ""),
        None => name,
    }
}
