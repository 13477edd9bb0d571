//! `date + INTERVAL n unit` and its spellings. Main types: [`DateArithmetic`], [`Interval`].

use crate::context::EvaluationContext;
use crate::convert::{self, MomentKind, ZeroDates};
use crate::derive::temporal_digits;
use crate::result_type::{ResultType, TypeClass};
use crate::time_zone::{date_of_day, days_since_1970};
use crate::tree::Expression;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use values::temporal::IntervalUnit;
use values::temporal::{Date, DateTime, Time, days_in_month};
use values::{RowRef, TypeKind, Value, ValueRef};

/// An amount of time in the two measures that do not convert into each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Months.
    pub months: i128,
    /// Microseconds.
    pub microseconds: i128,
}

const SECOND: i128 = 1_000_000;
const DAY: i128 = 86_400 * SECOND;

/// The fields of a compound unit from the left, as factors in microseconds (months for YEAR_MONTH); None for
/// simple units. The last field of the `_MICROSECOND` units is a fraction.
fn unit_fields(unit: IntervalUnit) -> Option<&'static [i128]> {
    use IntervalUnit::*;
    const M: i128 = 60 * SECOND;
    const H: i128 = 3600 * SECOND;
    Some(match unit {
        SecondMicrosecond => &[SECOND, 1],
        MinuteMicrosecond => &[M, SECOND, 1],
        MinuteSecond => &[M, SECOND],
        HourMicrosecond => &[H, M, SECOND, 1],
        HourSecond => &[H, M, SECOND],
        HourMinute => &[H, M],
        DayMicrosecond => &[DAY, H, M, SECOND, 1],
        DaySecond => &[DAY, H, M, SECOND],
        DayMinute => &[DAY, H, M],
        DayHour => &[DAY, H],
        YearMonth => &[12, 1],
        _ => return None,
    })
}

/// Whether an interval of this unit may have days or more: a time plus such a one falls on a day.
fn has_day(unit: IntervalUnit) -> bool {
    use IntervalUnit::{DayHour, DayMicrosecond, DayMinute, DaySecond};
    unit.is_date_only() || matches!(unit, DayHour | DayMinute | DaySecond | DayMicrosecond)
}

/// An addition of an interval to a date, time or text.
#[derive(Clone, Debug)]
pub struct DateArithmetic {
    /// What is added to.
    pub operand: Expression,
    /// How much.
    pub amount: Expression,
    /// Of what.
    pub unit: IntervalUnit,
    /// Whether it is taken away.
    pub subtract: bool,
}

impl DateArithmetic {
    /// The type of the result.
    pub fn derive(
        operand: &ResultType,
        amount: &ResultType,
        unit: IntervalUnit,
        connection: CollationId,
    ) -> ResultType {
        let digits = if unit.has_microseconds() {
            6
        } else if unit == IntervalUnit::Second {
            temporal_digits(amount).max(temporal_digits(operand))
        } else {
            temporal_digits(operand)
        };
        let result = match operand.kind() {
            TypeKind::Date if unit.is_date_only() => ResultType::date(),
            TypeKind::Date => ResultType::datetime(if unit.has_microseconds() { 6 } else { digits }),
            TypeKind::DateTime | TypeKind::Timestamp => ResultType::datetime(digits),
            TypeKind::Time if !has_day(unit) => ResultType::time(digits),
            TypeKind::Time => ResultType::datetime(digits),
            _ => ResultType::moment_text(connection),
        };
        result.nullable()
    }

    /// The value for one row. `whole` carries the type of the result.
    pub fn evaluate(
        &self,
        whole: &Expression,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let Some(chosen) = self.operand.chosen(row, context)? else { return Ok(Value::Null) };
        let operand = chosen.operand(row, context)?;
        let operand_type = &chosen.result.column_type;
        if operand.is_null() {
            return Ok(Value::Null);
        }
        // The amount is not looked at where there is nothing to add it to.
        if whole.result.kind() == TypeKind::Time {
            let Some(time) = convert::to_time(operand.as_ref(), operand_type, context)? else {
                return Ok(Value::Null);
            };
            let Amount::Of(interval) = self.amount(row, context)? else { return Ok(Value::Null) };
            let sum = i128::from(time.to_microseconds()) + interval.microseconds;
            let (end, cut) = Time::from_microseconds(cut_to_i64(sum));
            if cut {
                context.diagnostics().warning(out_of_range("TIME", whole));
                return Ok(Value::Null);
            }
            return Ok(Value::Time(end));
        }
        let kind = MomentKind::DateTime;
        let Some(start) = convert::to_moment(operand.as_ref(), operand_type, kind, ZeroDates::None, context)?
        else {
            return Ok(Value::Null);
        };
        let interval = match self.amount(row, context)? {
            Amount::Of(interval) => interval,
            Amount::Null => return Ok(Value::Null),
            Amount::OutOfRange => {
                let kind = if whole.result.kind() == TypeKind::Date { "DATE" } else { "DATETIME" };
                context.diagnostics().warning(out_of_range(kind, whole));
                return Ok(Value::Null);
            }
        };
        let Some(end) = add_interval(start, interval) else {
            context.diagnostics().warning(match whole.result.kind() {
                TypeKind::Date => out_of_range("DATE", whole),
                _ => sql_error!(ER_DATETIME_FUNCTION_OVERFLOW, "datetime"),
            });
            return Ok(Value::Null);
        };
        Ok(self.shape(whole, operand.as_ref(), end))
    }

    /// The amount of the interval, with its sign.
    fn amount(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Amount> {
        let amount = match unit_fields(self.unit) {
            Some(_) => Some(&self.amount),
            None => self.amount.chosen(row, context)?,
        };
        let Some(amount) = amount else { return Ok(Amount::Null) };
        let value = amount.operand(row, context)?;
        if value.is_null() {
            return Ok(Amount::Null);
        }
        let column_type = &amount.result.column_type;
        let interval = if let Some(factors) = unit_fields(self.unit) {
            let Some(text) = convert::to_text(value.as_ref(), column_type, context) else {
                return Ok(Amount::Null);
            };
            match compound(&text, factors, self.unit) {
                Some(interval) => interval,
                None => return Ok(self.beyond()),
            }
        } else if self.unit == IntervalUnit::Second {
            let Some(exact) = convert::to_decimal(value.as_ref(), column_type, context)? else {
                return Ok(Amount::Null);
            };
            let microseconds = convert::decimal_micros(&exact);
            // Unsigned seconds are taken for signed ones of the same bits.
            let seconds = microseconds / SECOND;
            let bits = i64::try_from(seconds).ok().or(u64::try_from(seconds).ok().map(|bits| bits as i64));
            let Some(bits) = bits.filter(|bits| *bits != i64::MIN) else { return Ok(self.beyond()) };
            let microseconds = microseconds - seconds * SECOND + i128::from(bits) * SECOND;
            Interval { months: 0, microseconds }
        } else {
            let Some(count) = convert::to_integer(value.as_ref(), column_type, context)? else {
                return Ok(Amount::Null);
            };
            // Unsigned amounts are taken for signed ones of the same bits.
            let count = convert::integer_bits(count) as i64;
            let times = match self.unit {
                IntervalUnit::Week => 7,
                IntervalUnit::Quarter => 3,
                _ => 1,
            };
            if count == i64::MIN || count.checked_mul(times).is_none() {
                return Ok(self.beyond());
            }
            simple(i128::from(count), self.unit)
        };
        Ok(Amount::Of(if self.subtract {
            Interval { months: -interval.months, microseconds: -interval.microseconds }
        } else {
            interval
        }))
    }

    /// An amount that no interval has.
    fn beyond(&self) -> Amount {
        let of_date = self.operand.result.kind() == TypeKind::Date && self.unit.is_date_only();
        if of_date { Amount::Null } else { Amount::OutOfRange }
    }

    /// The result in its type. Text that held only a date stays a date where the unit allows it.
    fn shape(&self, whole: &Expression, operand: ValueRef<'_>, end: DateTime) -> Value {
        match whole.result.class() {
            TypeClass::DateTime if whole.result.kind() == TypeKind::Date => Value::Date(end.date),
            TypeClass::DateTime => Value::DateTime(end),
            _ => {
                let date_only = match operand {
                    ValueRef::Bytes(bytes) => {
                        !bytes.iter().any(|byte| matches!(byte, b':' | b' ' | b'T')) && bytes.len() <= 10
                    }
                    ValueRef::Int(number) => number < 100_000_000,
                    ValueRef::UInt(number) => number < 100_000_000,
                    ValueRef::Decimal(number) => number.to_f64() < 1e8,
                    _ => false,
                };
                let text = if date_only && self.unit.is_date_only() {
                    convert::date_text(end.date)
                } else {
                    convert::datetime_text(end, if end.microsecond == 0 { 0 } else { 6 })
                };
                Value::Bytes(crate::text::from_utf8(&text, whole.result.collation()))
            }
        }
    }
}

fn cut_to_i64(number: i128) -> i64 {
    number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// Warning 6527: a sum that values of that kind cannot be.
pub fn out_of_range(kind: &str, whole: &Expression) -> SqlError {
    sql_error!(ER_TEMPORAL_FUNCTION_OVERFLOW, kind, whole)
}

/// A date and time plus an interval; None beyond the years 0 to 9999.
pub fn add_interval(start: DateTime, interval: Interval) -> Option<DateTime> {
    let mut date = start.date;
    if interval.months != 0 {
        let month = i128::from(date.year) * 12 + i128::from(date.month) - 1 + interval.months;
        if !(0..120_000).contains(&month) {
            return None;
        }
        date.year = (month / 12) as u16;
        date.month = (month % 12) as u8 + 1;
        date.day = date.day.min(days_in_month(date.year, date.month));
    }
    if interval.microseconds == 0 {
        return Some(DateTime { date, ..start });
    }
    let clock = (i128::from(start.hour) * 3600 + i128::from(start.minute) * 60 + i128::from(start.second))
        * SECOND
        + i128::from(start.microsecond);
    let total = i128::from(days_since_1970(date)) * DAY + clock + interval.microseconds;
    let days = i64::try_from(total.div_euclid(DAY)).ok()?;
    let (first, last) = (
        days_since_1970(Date { year: 0, month: 1, day: 1 }),
        days_since_1970(Date { year: 9999, month: 12, day: 31 }),
    );
    if !(first..=last).contains(&days) {
        return None;
    }
    let clock = total.rem_euclid(DAY);
    let seconds = (clock / SECOND) as u32;
    Some(DateTime {
        date: date_of_day(days),
        hour: (seconds / 3600) as u8,
        minute: (seconds / 60 % 60) as u8,
        second: (seconds % 60) as u8,
        microsecond: (clock % SECOND) as u32,
    })
}

/// What the amount of an interval is.
enum Amount {
    /// An interval.
    Of(Interval),
    /// NULL.
    Null,
    /// More fields than the unit has, or a number that no interval has.
    OutOfRange,
}

/// So many of a simple unit.
fn simple(count: i128, unit: IntervalUnit) -> Interval {
    let (months, microseconds) = match unit {
        IntervalUnit::Year => (12, 0),
        IntervalUnit::Quarter => (3, 0),
        IntervalUnit::Month => (1, 0),
        IntervalUnit::Week => (0, 7 * DAY),
        IntervalUnit::Day => (0, DAY),
        IntervalUnit::Hour => (0, 3600 * SECOND),
        IntervalUnit::Minute => (0, 60 * SECOND),
        _ => (0, 1),
    };
    Interval { months: count * months, microseconds: count * microseconds }
}

/// `'1 10:30'` and the like: digits are taken as fields from the right when some are missing. None for more numbers than
/// the unit has fields and for those beyond 64 bits.
fn compound(text: &[u8], factors: &[i128], unit: IntervalUnit) -> Option<Interval> {
    let negative = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'-');
    let mut numbers: Vec<(i128, u32)> = Vec::new();
    let mut digits = text.iter().peekable();
    while let Some(byte) = digits.next() {
        if !byte.is_ascii_digit() {
            continue;
        }
        if numbers.len() == factors.len() {
            return None;
        }
        let (mut value, mut length) = (i64::from(byte - b'0'), 1);
        while let Some(next) = digits.next_if(|next| next.is_ascii_digit()) {
            if value > (i64::MAX - 10) / 10 {
                return None;
            }
            value = value * 10 + i64::from(next - b'0');
            length += 1;
        }
        numbers.push((i128::from(value), length));
    }
    let fraction_last = unit.has_microseconds();
    let missing = factors.len() - numbers.len();
    let mut total = 0;
    for (index, (value, length)) in numbers.iter().enumerate() {
        let field = missing + index;
        let scale = if fraction_last && field + 1 == factors.len() && *length < 6 {
            10i128.pow(6 - length)
        } else {
            1
        };
        total += value * scale * factors[field];
    }
    if negative {
        total = -total;
    }
    Some(match unit {
        IntervalUnit::YearMonth => Interval { months: total, microseconds: 0 },
        _ => Interval { months: 0, microseconds: total },
    })
}
