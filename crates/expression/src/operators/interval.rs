//! `date + INTERVAL n unit` and its spellings. Main type: [`DateArithmetic`]. What it computes is in
//! `functions::temporal::interval`.

use crate::context::EvaluationContext;
use crate::convert::{self, MomentKind, ZeroDates};
use crate::derive::temporal_digits;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::Expression;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use functions::temporal::interval::{self, Interval, add_interval};
use functions::text::{from_utf8, to_utf8};
use values::temporal::{DateRules, DateTime, IntervalUnit, Time, parse_date_time};
use values::{RowRef, TypeKind, Value, ValueRef};

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

/// Digits of the greatest integer.
const INTEGER_DIGITS_MAX: u32 = 20;

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
        let is_date = whole.result.kind() == TypeKind::Date;
        let kind = if is_date { MomentKind::Date } else { MomentKind::DateTime };
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
        Ok(self.shape(whole, operand.as_ref(), operand_type.kind, end))
    }

    /// The amount of the interval, with its sign.
    fn amount(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Amount> {
        let amount = match interval::is_compound(self.unit) {
            true => Some(&self.amount),
            false => self.amount.chosen(row, context)?,
        };
        let Some(amount) = amount else { return Ok(Amount::Null) };
        let value = amount.operand(row, context)?;
        if value.is_null() {
            return Ok(Amount::Null);
        }
        let column_type = &amount.result.column_type;
        let interval = if interval::is_compound(self.unit) {
            let Some(text) = convert::to_text(value.as_ref(), column_type, context) else {
                return Ok(Amount::Null);
            };
            let Some(interval) = interval::of_text(&text, self.unit) else { return Ok(self.beyond()) };
            interval
        } else if self.unit == IntervalUnit::Second {
            let Some(exact) = convert::operand_to_decimal(amount, value.as_ref(), context)? else {
                return Ok(Amount::Null);
            };
            if exact.integer_digits() > INTEGER_DIGITS_MAX {
                context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", exact));
                return Ok(Amount::OutOfRange);
            }
            let microseconds = convert::decimal_micros(&exact);
            let Some(interval) = interval::of_seconds(microseconds) else { return Ok(self.beyond()) };
            interval
        } else {
            let read = match amount.literal() {
                // A written number is cut without a word.
                Some(Value::Double(_)) => convert::operand_integer(value.as_ref(), amount, context)?,
                _ => convert::to_integer(value.as_ref(), column_type, context)?,
            };
            let Some(count) = read else {
                return Ok(Amount::Null);
            };
            // Unsigned amounts are taken for signed ones of the same bits.
            let count = convert::integer_bits(count) as i64;
            let Some(interval) = interval::of_count(count, self.unit) else { return Ok(self.beyond()) };
            interval
        };
        Ok(Amount::Of(if self.subtract { interval.negated() } else { interval }))
    }

    /// An amount that no interval has.
    fn beyond(&self) -> Amount {
        let of_date = self.operand.result.kind() == TypeKind::Date && self.unit.is_date_only();
        if of_date { Amount::Null } else { Amount::OutOfRange }
    }

    /// The result in its type. Text that held only a date stays a date where the unit allows it.
    fn shape(&self, whole: &Expression, operand: ValueRef<'_>, kind: TypeKind, end: DateTime) -> Value {
        match whole.result.class() {
            TypeClass::DateTime if whole.result.kind() == TypeKind::Date => Value::Date(end.date),
            TypeClass::DateTime => Value::DateTime(end),
            _ => {
                let date_only = match operand {
                    _ if kind == TypeKind::Year => false,
                    ValueRef::Bytes(bytes) => {
                        let text = to_utf8(bytes, self.operand.result.collation());
                        parse_date_time(text.as_bytes(), DateRules::default())
                            .is_some_and(|parsed| !parsed.has_time)
                    }
                    ValueRef::Int(number) => number < 100_000_000,
                    ValueRef::UInt(number) => number < 100_000_000,
                    ValueRef::Decimal(number) => number.to_f64() < 1e8,
                    ValueRef::Double(number) => number < 1e8,
                    _ => false,
                };
                let text = if date_only && self.unit.is_date_only() {
                    convert::date_text(end.date)
                } else {
                    convert::datetime_text(end, if end.microsecond == 0 { 0 } else { 6 })
                };
                Value::Bytes(from_utf8(&text, whole.result.collation()))
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

/// What the amount of an interval is.
enum Amount {
    /// An interval.
    Of(Interval),
    /// NULL.
    Null,
    /// More fields than the unit has, or a number that no interval has.
    OutOfRange,
}
