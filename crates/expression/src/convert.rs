//! Conversion of values between types while expressions run, with MySQL's warnings (1292) for what does not fit.
//! None stands for NULL. Storing into columns is `values::store`'s business; here only operands are converted.

use crate::context::{EvaluationContext, TypedValue};
use crate::facts::{SqlMode, StatementFacts};
use crate::operand::Operand;
use crate::operators::CastFailure;
use crate::result_type::{TypeClass, class_of};
use crate::tree::{Expression, ExpressionKind, SubqueryUse};
use charset::CollationId;
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use functions::text;
use std::borrow::Cow;
use values::convert::{date_of_number, date_time_of_number, shown_text, time_after};
use values::decimal::Rounding;
use values::temporal::{Date, DateRules, DateTime, Time, parse_date_time};
use values::{ColumnType, Decimal, TypeKind, Value, ValueRef};

/// Which dates with zero parts ('2024-00-10', '0000-00-00') a reader of dates takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroDates {
    /// All: values are compared.
    All,
    /// All but a text of zeros where sql_mode says NO_ZERO_DATE: parts of the date are wanted (DAY, DATE_FORMAT).
    Parts,
    /// The same of days that the calendar has, whatever sql_mode says: the place in the calendar is wanted (WEEKDAY).
    Calendar,
    /// Those that sql_mode lets a column have: the date is the result (CAST, DATE, STR_TO_DATE).
    Stored,
    /// None, nor days that the calendar lacks: the date takes part in arithmetic (DATE_ADD, CONVERT_TZ).
    None,
}

impl ZeroDates {
    /// The dates to be taken; those of texts may be fewer.
    pub fn rules(self, is_text: bool, facts: &StatementFacts) -> DateRules {
        let has = |mode| facts.sql_mode.contains(mode);
        let any_day = has(SqlMode::ALLOW_INVALID_DATES);
        let (no_zero_date, no_zero_in_date, allow_invalid_dates) = match self {
            ZeroDates::All => (false, false, any_day),
            ZeroDates::Parts => (is_text && has(SqlMode::NO_ZERO_DATE), false, any_day || !is_text),
            ZeroDates::Calendar => (is_text && has(SqlMode::NO_ZERO_DATE), false, false),
            ZeroDates::Stored => return written_date_rules(facts.sql_mode),
            ZeroDates::None => (true, true, false),
        };
        DateRules { no_zero_date, no_zero_in_date, allow_invalid_dates }
    }

    /// Whether a date is taken that a column holds. The calendar is looked at where a date alone is wanted: as a moment it
    /// is the day that so many days reach.
    fn takes_held(self, date: Date, kind: MomentKind, rules: DateRules) -> bool {
        let any_day = rules.allow_invalid_dates || self == ZeroDates::All || kind == MomentKind::DateTime;
        date.is_allowed(DateRules { allow_invalid_dates: any_day, ..rules })
    }
}

/// The dates that sql_mode lets a statement write.
pub fn written_date_rules(sql_mode: SqlMode) -> DateRules {
    DateRules {
        no_zero_date: sql_mode.contains(SqlMode::NO_ZERO_DATE),
        no_zero_in_date: sql_mode.contains(SqlMode::NO_ZERO_IN_DATE),
        allow_invalid_dates: sql_mode.contains(SqlMode::ALLOW_INVALID_DATES),
    }
}

/// The bits of a number of BIGINT or BIGINT UNSIGNED.
pub fn integer_bits(value: i128) -> u64 {
    if value < 0 {
        value.max(i128::from(i64::MIN)) as i64 as u64
    } else {
        u64::try_from(value).unwrap_or(u64::MAX)
    }
}

/// An exact number without fraction.
pub fn decimal_of_integer(value: i128) -> Decimal {
    Decimal::from_i128(value, 0).unwrap_or(Decimal::ZERO)
}

/// Microseconds in a number of seconds.
pub fn decimal_micros(seconds: &Decimal) -> i128 {
    seconds
        .with_scale(6, Rounding::HalfUp)
        .ok()
        .and_then(|exact| exact.unscaled_i128())
        .unwrap_or(if seconds.is_negative() { i128::from(i64::MIN) } else { i128::from(i64::MAX) })
}

/// A value as an integer within the range of BIGINT or BIGINT UNSIGNED, rounded half away from zero.
#[inline]
pub fn to_integer(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<i128>> {
    match value.integer() {
        None => Ok(values::convert::to_integer(value, column_type, context.diagnostics())),
        integer => Ok(integer),
    }
}

/// The value of an operand as an integer; error 1690 for a floating point number beyond all integers that an operation made.
/// A column's is cut with a warning, a literal's and a parameter's without.
pub fn operand_integer(
    value: ValueRef<'_>,
    operand: &Expression,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<i128>> {
    let number = match value {
        ValueRef::Double(number) => Some(number),
        ValueRef::Float(number) => Some(f64::from(number)),
        _ => None,
    };
    if let Some(number) = number.filter(|number| !fits_integer(*number)) {
        return match operand.kind {
            ExpressionKind::Column(_) => to_integer(value, &operand.result.column_type, context),
            ExpressionKind::Literal(_) | ExpressionKind::Parameter(_) => Ok(Some(nearest_integer(number))),
            ExpressionKind::Cast(ref cast) if cast.failure == CastFailure::Parameter => {
                Ok(Some(nearest_integer(number)))
            }
            _ => Err(sql_error!(ER_DATA_OUT_OF_RANGE, "BIGINT", operand)),
        };
    }
    match value {
        ValueRef::Bytes(bytes) if shows_moment(operand) => {
            Ok(silent_number(operand, bytes).map(|number| number.round() as i128))
        }
        ValueRef::Time(time) if time.microseconds >= 500_000 && is_made(operand) => {
            let whole = Value::Time(Time { microseconds: 0, ..time });
            let number = to_integer(whole.as_ref(), &operand.result.column_type, context)?;
            Ok(number.map(|number| number + if time.negative { -1 } else { 1 }))
        }
        // What a function over dates made is rounded in its seconds alone.
        ValueRef::DateTime(moment) if moment.microsecond >= 500_000 && is_made(operand) => {
            let whole = Value::DateTime(DateTime { microsecond: 0, ..moment });
            let number = to_integer(whole.as_ref(), &operand.result.column_type, context)?;
            Ok(number.map(|number| number + 1))
        }
        _ => to_integer(value, &operand.result.column_type, context),
    }
}

/// Whether an expression makes a moment of its parts: it is neither read nor converted nor chosen.
pub(crate) fn is_made(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::DateArithmetic(_) => true,
        ExpressionKind::Function(call) => match call.definition.name {
            "str_to_date" | "addtime" | "subtime" | "timestampadd" => true,
            "timestamp" => call.arguments.len() > 1,
            _ => false,
        },
        _ => false,
    }
}

fn nearest_integer(number: f64) -> i128 {
    i128::from(if number < 0.0 { i64::MIN } else { i64::MAX })
}

/// Whether a floating point number is within the range of BIGINT.
pub fn fits_integer(number: f64) -> bool {
    (-INTEGER_BOUND..INTEGER_BOUND).contains(&number)
}

/// 2 to the power of 63.
const INTEGER_BOUND: f64 = 9_223_372_036_854_775_808.0;

/// The whole number at or below a value, and whether the value lies above it. Loses nothing of what is wholly a number.
pub fn to_floor(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<(i128, bool)>> {
    Ok(values::convert::to_floor(value, column_type, context.diagnostics()))
}

/// A value as a floating point number.
pub fn to_double(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<f64>> {
    Ok(values::convert::to_f64(value, column_type, context.diagnostics()))
}

/// A value as an exact number.
pub fn to_decimal(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Decimal>> {
    Ok(values::convert::to_decimal(value, column_type, context.diagnostics()))
}

/// The value of an operand as an exact number. A written text is never nullable; what was made and folded is, where text is
/// checked strictly.
pub fn operand_to_decimal(
    operand: &Expression,
    value: ValueRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Decimal>> {
    let column_type = &operand.result.column_type;
    match &operand.kind {
        ExpressionKind::Column(_) | ExpressionKind::Outer(_) => {
            Ok(values::convert::to_decimal_of(value, column_type, true, context.diagnostics()))
        }
        ExpressionKind::Parameter(_) => to_decimal(value, column_type, context),
        ExpressionKind::Literal(_) if !operand.result.nullable => to_decimal(value, column_type, context),
        _ => Ok(values::convert::to_decimal_of(value, column_type, false, context.diagnostics())),
    }
}

/// Functions that hand on one of their texts, or make one by a regular expression: MySQL takes the number from the start of
/// the text without a warning.
const SILENT: [&str; 7] =
    ["any_value", "coalesce", "ifnull", "greatest", "least", "regexp_replace", "regexp_substr"];

/// Whether an expression that is a text is read as a number without a warning: besides those functions, the least or
/// greatest text of a group, the one row of a subquery, bits, and sums of text and an interval.
pub fn is_read_silently(operand: &Expression) -> bool {
    let reads = match &operand.kind {
        ExpressionKind::Function(call) => {
            SILENT.contains(&call.definition.name) || is_moment_text(call.definition.name)
        }
        ExpressionKind::Column(column) => column.picked,
        ExpressionKind::Subquery(call) => call.wanted == SubqueryUse::Scalar,
        ExpressionKind::Bit(_) | ExpressionKind::DateArithmetic(_) => true,
        _ => false,
    };
    reads && operand.result.class() == TypeClass::Text
}

/// Whether the text of an expression that is read silently would be read otherwise were it written.
pub fn is_misread(operand: &Expression, value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Bytes(bytes) if is_read_silently(operand) => {
            let mut heard = Diagnostics::new(0);
            let written = values::convert::to_f64(value, &operand.result.column_type, &mut heard);
            heard.count() > 0 || written != silent_number(operand, bytes)
        }
        _ => false,
    }
}

/// Functions whose text is a date or time.
fn is_moment_text(name: &str) -> bool {
    matches!(name, "addtime" | "subtime")
}

/// Whether an expression that is a text makes it of a date or time. Its number is that of the digits.
fn shows_moment(operand: &Expression) -> bool {
    let makes = match &operand.kind {
        ExpressionKind::Function(call) => is_moment_text(call.definition.name),
        ExpressionKind::DateArithmetic(_) => true,
        _ => false,
    };
    makes && operand.result.class() == TypeClass::Text
}

/// The value of an operand as a floating point number, with all warnings but those of a text that shows a date or time.
pub fn argument_to_double(
    operand: &Expression,
    value: ValueRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<f64>> {
    match value {
        ValueRef::Bytes(bytes) if shows_moment(operand) => Ok(silent_number(operand, bytes)),
        _ => to_double(value, &operand.result.column_type, context),
    }
}

/// The number of a text that is read without a warning.
fn silent_number(operand: &Expression, bytes: &[u8]) -> Option<f64> {
    if !shows_moment(operand) {
        let value = ValueRef::Bytes(bytes);
        return values::convert::to_f64(value, &operand.result.column_type, &mut Diagnostics::new(0));
    }
    // A date or time is the number of its digits.
    let utf8 = text::to_utf8(bytes, operand.result.collation());
    let (sign, rest) = match utf8.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, utf8.as_str()),
    };
    let digits: String = rest.chars().filter(|sign| sign.is_ascii_digit() || *sign == '.').collect();
    digits.parse::<f64>().ok().map(|number| sign * number)
}

/// The value of an operand as a floating point number.
pub fn operand_to_double(
    operand: &Expression,
    value: ValueRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<f64>> {
    match value {
        ValueRef::Bytes(bytes) if is_read_silently(operand) => Ok(silent_number(operand, bytes)),
        _ => to_double(value, &operand.result.column_type, context),
    }
}

/// A value as text in the character set of its collation (numbers and dates: the connection's).
pub fn to_text<'v>(
    value: ValueRef<'v>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> Option<Cow<'v, [u8]>> {
    let connection = context.facts().connection_collation;
    value_text(value, column_type, connection)
}

/// As [`to_text`], with the connection's collation given.
pub fn value_text<'v>(
    value: ValueRef<'v>,
    column_type: &ColumnType,
    connection: CollationId,
) -> Option<Cow<'v, [u8]>> {
    let text = values::convert::to_text(value, column_type)?;
    let is_own = matches!(value, ValueRef::Bytes(_))
        || matches!(column_type.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Bit);
    if is_own || text::is_ascii_superset(connection) {
        return Some(text);
    }
    Some(Cow::Owned(text::from_utf8(&String::from_utf8_lossy(&text), connection)))
}

/// How a date is wanted: warnings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// A date; a time of day is left out.
    Date,
    /// A date with a time.
    DateTime,
}

/// A value as a date with time.
pub fn to_datetime(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<DateTime>> {
    to_moment(value, column_type, MomentKind::DateTime, ZeroDates::All, context)
}

/// A value as a moment; None for NULL and, with a warning of that kind, for what is none. A value of a temporal type whose
/// zero parts are not wanted gives no warning.
pub fn to_moment(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    kind: MomentKind,
    zero_dates: ZeroDates,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<DateTime>> {
    let rules = zero_dates.rules(matches!(value, ValueRef::Bytes(_)), context.facts());
    let found = match value {
        ValueRef::Null => return Ok(None),
        ValueRef::DateTime(value) => {
            return Ok(zero_dates.takes_held(value.date, MomentKind::DateTime, rules).then_some(value));
        }
        ValueRef::Date(date) => {
            return Ok(zero_dates.takes_held(date, kind, rules).then_some(date.midnight()));
        }
        ValueRef::Time(time) => {
            let now = context.facts().statement_time();
            // Back or further than a day, to a date alone, it counts from now on, not from midnight.
            let from_now = kind == MomentKind::Date && (time.negative || time.hours >= 24);
            let start = if from_now { DateTime { microsecond: 0, ..now } } else { now.date.midnight() };
            return Ok(time_after(time, start));
        }
        ValueRef::Bytes(bytes) => {
            let utf8 = text::to_utf8(bytes, column_type.collation);
            let Some(parsed) = parse_date_time(utf8.as_bytes(), rules) else {
                warn_no_moment(kind, value, column_type, context);
                return Ok(None);
            };
            if parsed.notes.truncated {
                let shown = shown_text(value, column_type);
                // What was found is named, not what was wanted.
                let kind = if parsed.has_time { kind } else { MomentKind::Date };
                context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind.name(), shown));
            }
            parsed.rounded(6).map(|moment| with_offset(moment, parsed.offset_seconds, context.facts()))
        }
        ValueRef::UInt(number) if column_type.kind.has_members() || column_type.kind == TypeKind::Bit => {
            let (text, text_type) = text_of_number(number, column_type);
            return to_moment(text.as_ref(), &text_type, kind, zero_dates, context);
        }
        // A column's year begins on its first of January.
        ValueRef::UInt(year) if column_type.kind == TypeKind::Year => {
            return Ok(Some(Date::new(year as u16, 1, 1).midnight()));
        }
        _ if kind == MomentKind::Date => date_of_number(value, column_type, rules),
        _ => date_time_of_number(value, column_type, rules),
    };
    if found.is_some() {
        return Ok(found);
    }
    if zero_dates != ZeroDates::All
        && let Some(date) = date_with_fraction(value, column_type, rules)
    {
        // As a moment that is the result it is taken without a word.
        if (kind, zero_dates) != (MomentKind::DateTime, ZeroDates::Stored) {
            warn_no_moment(MomentKind::Date, value, column_type, context);
        }
        return Ok(Some(date));
    }
    warn_no_place(kind, value, column_type, context);
    Ok(None)
}

/// Warning 1292 for a value of a number, or of what is one, that is no moment of that kind.
pub fn warn_no_place(
    kind: MomentKind,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) {
    match value {
        ValueRef::Decimal(_) => warn_no_moment(kind, value, column_type, context),
        // As a date it was read as an integer, if it fits one.
        ValueRef::Double(number) if kind == MomentKind::Date && fits_integer(number) => {
            let whole = Value::Int(number as i64);
            warn_no_moment(MomentKind::DateTime, whole.as_ref(), column_type, context);
        }
        ValueRef::Double(_) => warn_no_moment(kind, value, column_type, context),
        _ => warn_no_moment(MomentKind::DateTime, value, column_type, context),
    }
}

/// The text that the number of an ENUM, a SET or a BIT stands for, with its type.
fn text_of_number(number: u64, column_type: &ColumnType) -> (Value, Cow<'_, ColumnType>) {
    if column_type.kind == TypeKind::Bit {
        let bytes = values::text::bit_bytes(number, column_type);
        return (Value::Bytes(bytes), Cow::Owned(values::convert::bit_text_type()));
    }
    let member = values::convert::member_text(Value::UInt(number), column_type);
    (member, Cow::Borrowed(column_type))
}

/// The date of an exact number that has a fraction but no time of day.
pub fn date_with_fraction(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    rules: DateRules,
) -> Option<DateTime> {
    let ValueRef::Decimal(number) = value else { return None };
    if number.is_negative() {
        return None;
    }
    let (whole, _) = values::convert::temporal_number(value, column_type)?;
    DateTime::from_number(whole, rules).filter(|moment| *moment == moment.date.midnight())
}

/// Whether an exact number has digits behind its point.
pub fn has_fraction(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Decimal(number) if number.scale() > 0)
}

impl MomentKind {
    fn name(self) -> &'static str {
        match self {
            MomentKind::Date => "date",
            MomentKind::DateTime => "datetime",
        }
    }
}

/// Warning 1292 for a value that is no moment at all. Its text is that of two errors.
pub fn warn_no_moment(
    kind: MomentKind,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) {
    // MySQL shows the bits of an unsigned number.
    let shown = match value {
        ValueRef::UInt(bits) => (bits as i64).to_string(),
        _ => shown_text(value, column_type),
    };
    match kind {
        MomentKind::Date => {
            context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind.name(), shown));
        }
        MomentKind::DateTime => {
            context.diagnostics().warning(wrong_moment(&shown));
        }
    }
}

fn wrong_moment(shown: &str) -> SqlError {
    let wrong = sql_error!(ER_WRONG_VALUE, MomentKind::DateTime.name(), shown);
    errors::code::ER_TRUNCATED_WRONG_VALUE.message(wrong.message())
}

/// Warning 1292 for a number that is no moment.
pub fn no_moment(value: ValueRef<'_>, column_type: &ColumnType) -> SqlError {
    wrong_moment(&values::convert::quoted_text(value, column_type))
}

/// A text with an offset ('2020-01-01 00:00:00+02:00') names an instant.
fn with_offset(value: DateTime, offset_seconds: Option<i32>, facts: &StatementFacts) -> DateTime {
    match offset_seconds {
        None => value,
        Some(offset) => {
            let instant = functions::temporal::zone::TimeZone::Fixed(offset).instant(value);
            facts.time_zone.local(instant)
        }
    }
}

/// A value as a time span.
pub fn to_time(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Time>> {
    if let (ValueRef::UInt(_), TypeKind::Year) = (value, column_type.kind) {
        return Ok(Some(Time::default()));
    }
    let found = to_span(value, column_type, context)?;
    values::convert::warn_of_blank(value, column_type, context.diagnostics());
    Ok(found)
}

/// The same where it could be a moment too: blanks before it are no matter, and a year is a number like others.
pub fn to_span(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Time>> {
    Ok(values::convert::to_time(value, column_type, context.diagnostics()))
}

/// A value as a truth value.
pub fn truth(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<bool>> {
    Ok(values::convert::to_bool(value, column_type, context.diagnostics()))
}

/// A value of one type as a value of another, for operators that bring operands to a common type.
pub fn to_type(
    value: Operand<'_>,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let seen = value.as_ref();
    if seen.is_null() {
        return Ok(Value::Null);
    }
    match class_of(target.kind) {
        TypeClass::Null => Ok(value.into_value()),
        TypeClass::Integer => integer_of_type(seen, from, target, context),
        TypeClass::Decimal => {
            let exact = to_decimal(seen, from, context)?.unwrap_or(Decimal::ZERO);
            let Some(scale) = target.decimals else { return Ok(Value::Decimal(exact)) };
            match exact.fit(target.precision(), scale) {
                Ok((fitted, _)) => Ok(Value::Decimal(fitted)),
                Err(bound) => {
                    let shown = exact.to_string();
                    context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", shown));
                    Ok(Value::Decimal(bound))
                }
            }
        }
        TypeClass::Double if target.kind == TypeKind::Float => match seen {
            ValueRef::Float(number) => Ok(Value::Float(number)),
            _ => Ok(to_double(seen, from, context)?.map_or(Value::Null, |value| Value::Float(value as f32))),
        },
        TypeClass::Double => Ok(to_double(seen, from, context)?.map_or(Value::Null, Value::Double)),
        TypeClass::DateTime if target.kind == TypeKind::Date => match seen {
            ValueRef::Date(date) => Ok(Value::Date(date)),
            _ => Ok(to_moment(seen, from, MomentKind::Date, ZeroDates::All, context)?
                .map_or(Value::Null, |value| Value::Date(value.date))),
        },
        TypeClass::DateTime => {
            let Some(found) = to_datetime(seen, from, context)? else { return Ok(Value::Null) };
            Ok(moment_of_digits(found, target, context).map_or(Value::Null, Value::DateTime))
        }
        TypeClass::Time => {
            let digits = target.decimals.unwrap_or(6);
            let adjust = if cuts_fractions(context) { Time::truncated } else { Time::rounded };
            Ok(to_time(seen, from, context)?.map_or(Value::Null, |time| Value::Time(adjust(time, digits))))
        }
        TypeClass::Text => text_of_type(value, from, target, context),
        // Of another type it was made JSON before.
        TypeClass::Json => Ok(value.into_value()),
    }
}

fn cuts_fractions(context: &dyn EvaluationContext) -> bool {
    context.facts().sql_mode.contains(SqlMode::TIME_TRUNCATE_FRACTIONAL)
}

/// A moment with the fractional digits of its type, rounded or cut as sql_mode says; None beyond the year 9999.
pub(crate) fn moment_of_digits(
    moment: DateTime,
    target: &ColumnType,
    context: &dyn EvaluationContext,
) -> Option<DateTime> {
    let digits = target.decimals.unwrap_or(6);
    if cuts_fractions(context) { Some(moment.truncated(digits)) } else { moment.rounded(digits) }
}

fn integer_of_type(
    value: ValueRef<'_>,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    if target.kind == TypeKind::Year && matches!(value, ValueRef::Int(_) | ValueRef::UInt(_)) {
        // Only a column's year is padded to four digits.
        return Ok(Value::Int(to_integer(value, from, context)?.unwrap_or(0) as i64));
    }
    match (value, target.unsigned) {
        (ValueRef::Int(_), false) | (ValueRef::UInt(_), true) => return Ok(value.to_value()),
        (ValueRef::Int(number), true) => {
            return Ok(u64::try_from(number).map_or(Value::Int(number), Value::UInt));
        }
        _ => {}
    }
    let number = to_integer(value, from, context)?.unwrap_or(0);
    if target.unsigned {
        return Ok(Value::UInt(integer_bits(number)));
    }
    Ok(i64::try_from(number).map_or_else(|_| Value::UInt(integer_bits(number)), Value::Int))
}

fn text_of_type(
    value: Operand<'_>,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    if matches!(target.kind, TypeKind::Enum | TypeKind::Set) && target == from {
        return Ok(value.into_value());
    }
    let source = match class_of(from.kind) {
        TypeClass::Text => from.collation,
        TypeClass::Json => CollationId::UTF8MB4_BIN,
        _ => context.facts().connection_collation,
    };
    let mut value = value.into_value();
    if from.kind == TypeKind::Json {
        value = Value::Bytes(crate::json::printed(value.as_ref(), context)?);
    }
    if let Value::Bytes(bytes) = value {
        // Bytes that are no text stay what they are until a table keeps them.
        return Ok(Value::Bytes(match text::same_character_set(source, target.collation) {
            true => bytes,
            false => text::convert(bytes, source, target.collation),
        }));
    }
    let bytes = to_text(value.as_ref(), from, context).unwrap_or_default();
    Ok(Value::Bytes(text::convert(bytes.into_owned(), source, target.collation)))
}

/// Text in another character set; error 3854 where that set lacks a character or bytes are no text of it.
pub fn text_of_set(mut bytes: Vec<u8>, from: CollationId, to: CollationId) -> SqlResult<Vec<u8>> {
    let (source, target) = (from.charset(), to.charset());
    let from_bytes = from == CollationId::BINARY && to != CollationId::BINARY;
    if from_bytes {
        text::pad_to_characters(&mut bytes, to);
    }
    if from_bytes && target.is_valid(&bytes) || !from_bytes && source.converts_unchanged(&bytes, target) {
        return Ok(bytes);
    }
    let converted = source.convert(&bytes, target);
    if from_bytes || converted.first_error.is_some() {
        let shown = values::convert::shortened_bytes(&bytes);
        return Err(sql_error!(ER_CANNOT_CONVERT_STRING, shown, source.name, target.name));
    }
    Ok(converted.text)
}

/// The value of a user variable as one of a type that it may have had before, without warnings: a number is cut to an
/// integer as C does it, an exact one is rounded.
pub fn held(found: TypedValue, target: &ColumnType, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
    let from = &found.column_type;
    let (held, wanted) = (class_of(from.kind), class_of(target.kind));
    match found.value {
        Value::Double(number) if wanted == TypeClass::Integer && !target.unsigned => {
            Ok(Value::Int(number as i64))
        }
        value @ Value::Bytes(_) if held != wanted => {
            let before = context.diagnostics().reported();
            let converted = chosen(Operand::Owned(value), from, target, context);
            context.diagnostics().go_back(before);
            converted
        }
        value => chosen(Operand::Owned(value), from, target, context),
    }
}

/// The value that IF and CASE choose, or that a variable has, as a value of their type; an exact number keeps its own decimals.
pub fn chosen(
    value: Operand<'_>,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    match class_of(target.kind) {
        TypeClass::Decimal => {
            Ok(to_decimal(value.as_ref(), from, context)?.map_or(Value::Null, Value::Decimal))
        }
        // A column's year has four digits still.
        _ if from.kind == TypeKind::Year && target.kind == TypeKind::Year => Ok(value.into_value()),
        _ => to_type(value, from, target, context),
    }
}

fn as_string(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    append(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// `YYYY-MM-DD`.
pub fn date_text(date: Date) -> String {
    as_string(|out| date.append_text(out))
}

/// `YYYY-MM-DD hh:mm:ss` with so many fractional digits.
pub fn datetime_text(value: DateTime, digits: u8) -> String {
    as_string(|out| value.append_text(digits, out))
}

/// `hh:mm:ss` with so many fractional digits.
pub fn time_text(value: Time, digits: u8) -> String {
    as_string(|out| value.append_text(digits, out))
}
