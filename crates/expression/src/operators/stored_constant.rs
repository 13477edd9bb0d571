//! A constant beside a column of years, dates or times is compared as what the column would store for it. Main functions:
//! [`adapt_stored`], [`adapt_equal_year`]. Called when the operands of a comparison are prepared.

use super::listed_constant::{own_name, wrong_text};
use crate::build::BuildFacts;
use crate::builtin::{Call, FunctionDefinition, inner};
use crate::facts::SqlMode;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind};
use errors::{Diagnostics, Level, SqlError, SqlResult};
use functions::text;
use values::store::{Documents, Source, StoreContext, StoreMode};
use values::temporal::{Date, DateRules, DateTime};
use values::{ColumnType, TypeKind, Value};

/// A constant beside a column of years, dates or times is what the column would store for it: 1 is 2001 beside a YEAR,
/// the fraction of a second is rounded to the column's digits, a moment beside a TIME is its time of day. Text beside
/// dates is not stored, nor are dates beside dates. A number that is no date for the column stays a number;
/// where warnings end the statement, a constant that a column of dates or times cannot hold is error 1292.
pub(super) fn adapt_stored(
    beside: &Expression,
    constant: &mut Expression,
    facts: BuildFacts,
) -> SqlResult<()> {
    use TypeClass::{DateTime, Decimal, Double, Integer, Null, Text, Time};
    let is_stored = match (beside.result.class(), constant.result.class()) {
        (_, Null) => false,
        _ if beside.result.kind() == TypeKind::Year => true,
        (DateTime, Integer | Decimal | Double) => true,
        (Time, Integer | Decimal | Double | Text | DateTime) => true,
        _ => false,
    };
    let is_known = constant.is_constant()
        && (facts.literal_parameters || !constant.has_parameter())
        && !constant.any(&|part| matches!(part.kind, ExpressionKind::Subquery(_) | ExpressionKind::Outer(_)));
    if is_stored && beside.column_slot().is_some() && is_known {
        if facts.escalates && beside.result.kind().is_temporal() {
            check_held(beside, constant, facts)?;
        }
        to_stored(&beside.result, constant, facts.sql_mode);
    }
    Ok(())
}

/// Error 1292 for a literal that the column of dates or times beside it cannot hold.
fn check_held(beside: &Expression, constant: &Expression, facts: BuildFacts) -> SqlResult<()> {
    not_held(beside, constant, facts).map_or(Ok(()), Err)
}

/// What MySQL reports once of a number beside a column of dates that cannot hold it.
pub fn number_not_held(beside: &Expression, constant: &Expression, facts: BuildFacts) -> Option<SqlError> {
    let is_number =
        matches!(constant.result.class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double);
    let is_date = beside.result.class() == TypeClass::DateTime && constant.result.kind() != TypeKind::Year;
    (is_number && is_date).then(|| not_held(beside, constant, facts)).flatten()
}

fn not_held(beside: &Expression, constant: &Expression, facts: BuildFacts) -> Option<SqlError> {
    let (value, column) = (constant.literal()?, own_name(beside)?);
    let given = &constant.result.column_type;
    let mode = store_mode(facts.sql_mode, Date::ZERO, beside.result.kind());
    let (stored, is_warned, _) = store_beside(value, given, &beside.result.column_type, mode);
    if *value == Value::Null || stored.is_ok() && !is_warned {
        return None;
    }
    let shown = values::convert::shown_text(value.as_ref(), given);
    Some(wrong_text(beside.result.kind(), Some(&column), &shown))
}

/// A parameter for a YEAR column that a condition sets equal to it is the year that the column would store.
pub fn adapt_equal_year(beside: &Expression, parameter: &mut Expression) {
    let is_year = |expression: &Expression| expression.result.kind() == TypeKind::Year;
    if is_year(beside) && beside.column_slot().is_some() && is_year(parameter) && parameter.has_parameter() {
        to_stored(&beside.result, parameter, SqlMode::default());
    }
}

/// A parameter that is a year is compared with years in the form of a date, in which greater numbers wrap.
pub(super) fn adapt_year_parameter(beside: &Expression, parameter: &mut Expression) {
    let is_year = |expression: &Expression| expression.result.kind() == TypeKind::Year;
    if is_year(beside) && is_year(parameter) && matches!(parameter.kind, ExpressionKind::Parameter(_)) {
        let result = parameter.result.clone();
        let operand = std::mem::replace(parameter, Expression::null());
        *parameter = Expression::inner_call(&WRAPPED_YEAR, vec![operand], 0, result);
    }
}

/// Bits that a date has for thirteen months of each year.
const YEAR_MONTH_BITS: u32 = 18;

/// A number as the year that it is in a date.
static WRAPPED_YEAR: FunctionDefinition = inner("wrapped_year", 1, wrapped_year);

fn wrapped_year(call: &mut Call<'_>) -> SqlResult<Value> {
    let number = match call.value(0)? {
        Value::Int(number) => i64::from(number as i32),
        other => return Ok(other),
    };
    let months = (number * 13) << (64 - YEAR_MONTH_BITS) >> (64 - YEAR_MONTH_BITS);
    let year = number.rem_euclid(1 << YEAR_MONTH_BITS);
    Ok(Value::Int(if months == year * 13 { year } else { months }))
}

fn to_stored(beside: &ResultType, constant: &mut Expression, sql_mode: SqlMode) {
    let nullable = constant.result.nullable;
    let result = match (beside.kind(), constant.result.class()) {
        (TypeKind::Year, _) if constant.result.kind() == TypeKind::Year => ResultType::integer(5).nullable(),
        (TypeKind::Year, TypeClass::DateTime | TypeClass::Time) => {
            ResultType::integer(5).nullable_if(nullable)
        }
        (_, TypeClass::DateTime) => beside.clone().nullable_if(nullable),
        _ => constant.result.clone(),
    };
    let column = &beside.column_type;
    let operand = std::mem::replace(constant, Expression::null());
    // A time is of the statement's year, which a later execution may not share.
    *constant = match operand.literal().filter(|value| !matches!(value, Value::Time(_))) {
        Some(value) => {
            let mode = store_mode(sql_mode, Date::ZERO, column.kind);
            let from = &operand.result.column_type;
            match held(value, from, column, mode) {
                Some(moment) if becomes_moment(beside, &result) => {
                    let column_type = ColumnType { kind: without_zone(column.kind), ..column.clone() };
                    Expression::constant(
                        moment,
                        ResultType { column_type, ..beside.clone() }.nullable_if(nullable),
                    )
                }
                Some(held) => Expression::constant(number_form(held, column, &result), result),
                None => Expression::constant(value.clone(), result),
            }
        }
        None => {
            let typed = ResultType { column_type: column.clone(), ..ResultType::null() };
            let arguments = vec![operand, Expression::constant(Value::Null, typed)];
            Expression::inner_call(&STORED_FORM, arguments, 0, result)
        }
    };
}

/// A constant as a column of the second argument's type holds it, where only the running statement knows its value.
static STORED_FORM: FunctionDefinition = inner("stored_form", 2, stored_form);

fn stored_form(call: &mut Call<'_>) -> SqlResult<Value> {
    let value = call.value(0)?;
    let (from, column) = (&call.argument(0).column_type, &call.argument(1).column_type);
    let facts = call.context().facts();
    let mode = store_mode(facts.sql_mode, facts.statement_time().date, column.kind);
    Ok(match held(&value, from, column, mode) {
        Some(held) => number_form(held, column, call.result()),
        None => value,
    })
}

/// How a column takes a constant that it is compared with: days up to 31 and the zero date go in every month, months and
/// days of zero only as sql_mode says. A TIMESTAMP takes no date that the calendar lacks.
fn store_mode(sql_mode: SqlMode, today: Date, kind: TypeKind) -> StoreMode {
    let is_instant = kind == TypeKind::Timestamp;
    let dates = DateRules {
        no_zero_date: false,
        no_zero_in_date: is_instant || sql_mode.contains(SqlMode::NO_ZERO_IN_DATE),
        allow_invalid_dates: !is_instant,
    };
    StoreMode { strict: false, dates, today, ..StoreMode::default() }
}

/// What a TIMESTAMP holds does not depend on the zone here.
fn without_zone(kind: TypeKind) -> TypeKind {
    if kind == TypeKind::Timestamp { TypeKind::DateTime } else { kind }
}

/// Whether a constant of that type becomes one of the column's type, not one of its own class.
fn becomes_moment(beside: &ResultType, constant: &ResultType) -> bool {
    match beside.class() {
        TypeClass::DateTime => constant.class() != TypeClass::DateTime,
        TypeClass::Time => constant.is_number_bytes(),
        _ => false,
    }
}

/// What a column would hold for a value; None for one that it cannot hold.
fn held(value: &Value, from: &ColumnType, column: &ColumnType, mode: StoreMode) -> Option<Value> {
    // Bytes without any are no number.
    if matches!(value, Value::Bytes(bytes) if bytes.is_empty()) {
        return None;
    }
    let (stored, is_warned, is_noted) = store_beside(value, from, column, mode);
    let is_kept_in_part = matches!(column.kind, TypeKind::Date | TypeKind::DateTime)
        && matches!(value, Value::Decimal(_) | Value::Double(_));
    match stored {
        Ok(Value::UInt(0)) if is_noted => None,
        Ok(Value::UInt(year)) => Some(Value::Int(year as i64)),
        Ok(stored) if !is_warned => Some(stored),
        // A fraction behind a date is left out.
        Ok(moment @ Value::DateTime(_)) if is_kept_in_part && moment != Value::DateTime(DateTime::ZERO) => {
            Some(moment)
        }
        Ok(date @ Value::Date(_)) if is_kept_in_part && date != Value::Date(Date::ZERO) => Some(date),
        _ => None,
    }
}

/// What a column stores for the value of an expression, whether it warns of that, and whether it says anything.
fn store_beside(
    value: &Value,
    from: &ColumnType,
    column: &ColumnType,
    mode: StoreMode,
) -> (SqlResult<Value>, bool, bool) {
    let mut diagnostics = Diagnostics::new(1);
    let (source, documents) = (Source::Expression, Documents::ANY);
    let mut context = StoreContext {
        mode,
        table: "",
        column: "",
        row: 1,
        source,
        diagnostics: &mut diagnostics,
        documents,
    };
    let column = ColumnType { kind: without_zone(column.kind), ..column.clone() };
    let stored = values::store::store(value, from, &column, &mut context);
    let is_warned = diagnostics.conditions().iter().any(|condition| condition.level != Level::Note);
    (stored, is_warned, diagnostics.count() > 0)
}

/// A year, date or time in the class of the constant that it comes from.
fn number_form(stored: Value, column: &ColumnType, result: &ResultType) -> Value {
    let mut unheard = Diagnostics::new(0);
    let converted = match result.class() {
        TypeClass::Integer => values::convert::to_integer(stored.as_ref(), column, &mut unheard)
            .and_then(|number| i64::try_from(number).ok())
            .map(Value::Int),
        TypeClass::Decimal => {
            values::convert::to_decimal(stored.as_ref(), column, &mut unheard).map(Value::Decimal)
        }
        TypeClass::Double => {
            values::convert::to_f64(stored.as_ref(), column, &mut unheard).map(Value::Double)
        }
        TypeClass::Text if result.is_number_bytes() => {
            values::convert::to_integer(stored.as_ref(), column, &mut unheard)
                .map(|number| Value::Bytes((number as i64).to_be_bytes().to_vec()))
        }
        TypeClass::Text => values::convert::to_text(stored.as_ref(), column)
            .map(|bytes| text::from_utf8(&String::from_utf8_lossy(&bytes), result.collation()))
            .map(Value::Bytes),
        TypeClass::DateTime | TypeClass::Time | TypeClass::Null | TypeClass::Json => None,
    };
    converted.unwrap_or(stored)
}
