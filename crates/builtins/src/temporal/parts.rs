//! Functions that give one part of a date or time: YEAR, MONTH, HOUR, WEEK, DAYNAME, EXTRACT and their kin.

use super::{calendar_moment, counted_moment, is_zero, optional, unsigned_value};
use crate::{Call, Derivation, FunctionDefinition, acting, of_moments};
use errors::{Diagnostics, SqlResult, sql_error};
use expression::convert::{self, MomentKind, ZeroDates};
use expression::result_type::{ResultType, TypeClass};
use functions::locale::Locale;
use functions::temporal::parts;
use functions::text::to_utf8;
use values::decimal::Rounding;
use values::temporal::{DateRules, DateTime, IntervalUnit, Time, WeekMode, parse_date_time};
use values::{ColumnType, TypeKind, Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_moments("year", 1, 1, derive_year, |call| date_part(call, |moment| u64::from(moment.date.year))),
    of_moments("month", 1, 1, width3, |call| date_part(call, |moment| u64::from(moment.date.month))),
    of_moments("day", 1, 1, width3, |call| date_part(call, |moment| u64::from(moment.date.day))),
    of_moments("dayofmonth", 1, 1, width3, |call| date_part(call, |moment| u64::from(moment.date.day))),
    of_moments("quarter", 1, 1, width2, |call| {
        date_part(call, |moment| u64::from(moment.date.month.div_ceil(3)))
    }),
    of_moments("hour", 1, 1, width4, |call| time_part(call, |time| u64::from(time.hours))),
    of_moments("minute", 1, 1, width3, |call| time_part(call, |time| u64::from(time.minutes))),
    of_moments("second", 1, 1, width3, |call| time_part(call, |time| u64::from(time.seconds))),
    of_moments("microsecond", 1, 1, width21, |call| time_part(call, |time| u64::from(time.microseconds))),
    of_moments("dayofweek", 1, 1, width2, |call| {
        calendar_part(call, |moment| u64::from((moment.date.weekday() + 1) % 7 + 1))
    }),
    of_moments("weekday", 1, 1, width2, |call| {
        calendar_part(call, |moment| u64::from(moment.date.weekday()))
    }),
    of_moments("dayofyear", 1, 1, width4, |call| {
        calendar_part(call, |moment| moment.date.day_of_year().unsigned_abs())
    }),
    of_moments("to_days", 1, 1, width8, |call| {
        optional(counted_moment(call, 0)?.map(|moment| unsigned_value(u64::from(moment.date.day_number()))))
    }),
    of_moments("to_seconds", 1, 1, width21, to_seconds),
    of_moments("last_day", 1, 1, |_| Ok(ResultType::date().nullable()), last_day),
    acting("dayname", 1, 1, |derivation| derive_name(derivation, |locale| &locale.days), day_name),
    acting("monthname", 1, 1, |derivation| derive_name(derivation, |locale| &locale.months), month_name),
    acting("week", 1, 2, width3, week),
    of_moments("weekofyear", 1, 1, width3, |call| {
        calendar_part(call, |moment| u64::from(moment.date.week(WeekMode::new(3)).0))
    }),
    of_moments("yearweek", 1, 2, width7, year_week),
    of_moments("time_to_sec", 1, 1, width10, time_to_seconds),
    of_moments("extract", 2, 2, derive_extract, extract),
];

fn derive_year(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let column_type = ColumnType { unsigned: true, length: Some(4), ..ColumnType::new(TypeKind::Year) };
    Ok(ResultType { column_type, ..ResultType::integer(4) }.nullable())
}

macro_rules! width {
    ($($name:ident $width:expr),*) => {
        $(fn $name(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
            Ok(ResultType::integer($width).nullable())
        })*
    };
}
width!(width2 2, width3 3, width4 4, width7 7, width8 8, width10 10, width21 21);

fn date_part(call: &mut Call<'_>, part: fn(&DateTime) -> u64) -> SqlResult<Value> {
    optional(call.date(0)?.map(|moment| unsigned_value(part(&moment))))
}

fn calendar_part(call: &mut Call<'_>, part: fn(&DateTime) -> u64) -> SqlResult<Value> {
    optional(calendar_moment(call, 0, MomentKind::Date)?.map(|moment| unsigned_value(part(&moment))))
}

fn to_seconds(call: &mut Call<'_>) -> SqlResult<Value> {
    let moment = calendar_moment(call, 0, MomentKind::DateTime)?;
    optional(moment.map(|moment| unsigned_value(parts::to_seconds(&moment))))
}

fn time_part(call: &mut Call<'_>, part: fn(&Time) -> u64) -> SqlResult<Value> {
    optional(call.time(0)?.map(|time| unsigned_value(part(&time))))
}

fn last_day(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = call.date(0)? else { return Ok(Value::Null) };
    let last = moment.date.last_day();
    if last.is_none() {
        let text = expression::convert::date_text(moment.date);
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "date", text));
    }
    optional(last.map(Value::Date))
}

/// As long as the longest name.
fn derive_name(
    derivation: &mut Derivation<'_>,
    names: fn(&Locale) -> &[&'static str],
) -> SqlResult<ResultType> {
    let names = names(derivation.facts.time_names);
    let characters = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    Ok(derivation.connection_text(characters as u32).nullable())
}

fn day_name(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = calendar_moment(call, 0, MomentKind::Date)? else { return Ok(Value::Null) };
    let days = &call.context().facts().time_names.days;
    optional((!is_zero(moment.date)).then(|| call.text_result(days[usize::from(moment.date.weekday())])))
}

fn month_name(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = call.date(0)? else { return Ok(Value::Null) };
    let months = &call.context().facts().time_names.months;
    let month = usize::from(moment.date.month);
    optional((month > 0).then(|| call.text_result(months[month - 1])))
}

fn week(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = calendar_moment(call, 0, MomentKind::Date)? else { return Ok(Value::Null) };
    let mode = if call.count() > 1 {
        let Some(mode) = call.unsigned(1)? else { return Ok(Value::Int(0)) };
        parts::written_week_mode(mode).unwrap_or(0)
    } else {
        u64::from(call.context().facts().default_week_format)
    };
    Ok(Value::Int(i64::from(moment.date.week(WeekMode::new(mode & 7)).0)))
}

fn year_week(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = calendar_moment(call, 0, MomentKind::Date)? else { return Ok(Value::Null) };
    let number = if call.count() > 1 { call.unsigned(1)? } else { Some(0) };
    let Some(number) = number else { return Ok(Value::Int(0)) };
    Ok(Value::Int(parts::year_week(moment.date, number)))
}

fn time_to_seconds(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(time) = call.time(0)? else { return Ok(Value::Null) };
    Ok(Value::Int(time.to_microseconds() / 1_000_000))
}

fn unit(call_or_literal: Option<&Value>) -> Option<IntervalUnit> {
    match call_or_literal {
        Some(Value::Bytes(name)) => std::str::from_utf8(name).ok().and_then(IntervalUnit::from_name),
        _ => None,
    }
}

fn derive_extract(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    use IntervalUnit::*;
    let width = match unit(derivation.constant(0)) {
        Some(Year) => 5,
        Some(YearMonth) => 7,
        Some(Quarter) => 2,
        Some(Month | Week | Day | Minute | Second) => 3,
        Some(DayHour) => 9,
        Some(DayMinute) => 11,
        Some(DaySecond) => 13,
        Some(Hour) => 4,
        Some(HourMinute) => 6,
        Some(HourSecond) => 8,
        Some(MinuteSecond) => 5,
        Some(Microsecond) => 7,
        Some(SecondMicrosecond) => 9,
        Some(MinuteMicrosecond) => 11,
        Some(HourMicrosecond) => 14,
        Some(DayMicrosecond) => 20,
        _ => 21,
    };
    Ok(ResultType::integer(width).nullable())
}

fn extract(call: &mut Call<'_>) -> SqlResult<Value> {
    use IntervalUnit::*;
    let Some(unit) = unit(call.expression(0).literal()) else { return Ok(Value::Null) };
    if matches!(unit, Year | YearMonth | Quarter | Month | Week | Day) {
        let Some(moment) = call.datetime(1)? else { return Ok(Value::Null) };
        let week_mode = u64::from(call.context().facts().default_week_format);
        return Ok(Value::Int(parts::date_number(unit, moment.date, week_mode)));
    }
    let Some((negative, day, time)) = day_and_time(call)? else { return Ok(Value::Null) };
    let number = parts::clock_number(unit, day, time);
    Ok(Value::Int(if negative { -number } else { number }))
}

/// The clock of an argument: of a moment with its day of the month, of a span with all of its hours.
fn day_and_time(call: &mut Call<'_>) -> SqlResult<Option<(bool, i64, Time)>> {
    let column_type = &call.argument(1).column_type;
    let class = call.argument(1).class();
    let value = call.look_for_date(1)?;
    if matches!(class, TypeClass::Integer | TypeClass::Decimal | TypeClass::Double)
        && column_type.kind != TypeKind::Year
    {
        return clock_of_number(call, value.as_ref(), column_type);
    }
    if has_date(value.as_ref(), column_type, class) {
        let (kind, zero_dates) = (MomentKind::DateTime, ZeroDates::Parts);
        let found = convert::to_moment(value.as_ref(), column_type, kind, zero_dates, call.context())?;
        return Ok(found.map(|moment| (false, i64::from(moment.date.day), moment.time())));
    }
    let Some(time) = convert::to_time(value.as_ref(), column_type, call.context())? else { return Ok(None) };
    Ok(Some((time.negative, 0, time)))
}

/// The clock of a number: a moment if it is one, otherwise a span. What has a fraction and fewer digits than a moment is no moment; what
/// could have one and has none is nothing else.
fn clock_of_number(
    call: &mut Call<'_>,
    value: ValueRef<'_>,
    column_type: &ColumnType,
) -> SqlResult<Option<(bool, i64, Time)>> {
    let (has_fraction, is_whole) = match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Decimal(number) => {
            let is_whole = number.with_scale(0, Rounding::Floor).is_ok_and(|whole| whole == *number);
            (!is_whole && number.to_f64() < MOMENT_NUMBER_MIN, is_whole && !number.is_zero())
        }
        ValueRef::UInt(number) => (i64::try_from(number).is_err(), false),
        _ => (false, false),
    };
    let rules = ZeroDates::Parts.rules(false, call.context().facts());
    let moment = values::convert::date_time_of_number(value, column_type, rules);
    if let Some(moment) = moment.filter(|moment| !has_fraction && !moment.date.is_zero()) {
        return Ok(Some((false, i64::from(moment.date.day), moment.time())));
    }
    // A date that is written with a fraction is one.
    if call.expression(1).literal().is_some()
        && let Some(moment) = convert::date_with_fraction(value, column_type, rules)
    {
        convert::warn_no_moment(MomentKind::Date, value, column_type, call.context());
        return Ok(Some((false, i64::from(moment.date.day), moment.time())));
    }
    if is_whole {
        convert::warn_no_moment(MomentKind::DateTime, value, column_type, call.context());
        return Ok(None);
    }
    let time = convert::to_time(value, column_type, call.context())?;
    Ok(time.map(|time| (time.negative, 0, time)))
}

/// Whether a value is a moment rather than a span: by its type, as a number of more digits than a time has or that is a date
/// but no time, or as a text that is wholly a date, or looks like one and is none.
pub(super) fn has_date(value: ValueRef<'_>, column_type: &ColumnType, class: TypeClass) -> bool {
    match (value, class) {
        (ValueRef::Null, _) => false,
        (_, TypeClass::DateTime) => true,
        (value, TypeClass::Text) => {
            let Some(text) = values::convert::to_text(value, column_type) else { return false };
            let text = to_utf8(&text, column_type.collation);
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let dated = digits > 0 && matches!(text.as_bytes().get(digits), None | Some(b'-' | b'/'));
            match parse_date_time(text.as_bytes(), DateRules::default()) {
                Some(parsed) => dated && !parsed.notes.truncated,
                None => dated && digits < text.len(),
            }
        }
        // Beyond BIGINT the bits count, which are a negative number.
        (ValueRef::UInt(number), TypeClass::Integer) if i64::try_from(number).is_err() => false,
        (value, TypeClass::Integer | TypeClass::Decimal | TypeClass::Double) => {
            let number = values::convert::to_f64(value, column_type, &mut Diagnostics::new(0));
            let mut unheard = Diagnostics::new(1);
            let is_date =
                || values::convert::date_of_number(value, column_type, DateRules::default()).is_some();
            let mut is_no_time = || {
                values::convert::to_time(value, column_type, &mut unheard);
                unheard.count() > 0
            };
            number.is_some_and(|number| number >= MOMENT_NUMBER_MIN || is_no_time() && is_date())
        }
        _ => false,
    }
}

/// From here on a number is a date with a time, not a time.
pub(super) const MOMENT_NUMBER_MIN: f64 = 1e10;
