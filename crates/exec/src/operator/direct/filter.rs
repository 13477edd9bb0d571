//! Conditions that are decided on stored bytes. Main type: [`DirectFilter`].

use super::column::{StoredColumn, layout};
use crate::run::Run;
use crate::spill::key_counts::KeyCounts;
use charset::CollationId;
use errors::SqlResult;
use expression::operators::{Comparison, ComparisonMode, ComparisonOperator, InList};
use expression::result_type::class_of;
use expression::{EvaluationContext, Expression, ExpressionKind, TypeClass, text};
use plan::physical::TableAccess;
use std::cmp::Ordering;
use std::rc::Rc;
use values::decimal::Rounding;
use values::row::{Form, IntegerColumn, RowView};
use values::temporal::{Date, DateTime};
use values::{ColumnType, Decimal, TypeKind, Value, packed};

/// Longest list of which each member is compared.
const LIST_MAX: usize = 16;

/// A condition on one column.
#[derive(Clone, Debug)]
pub enum DirectFilter {
    /// An integer between two others, both included.
    Between(IntegerColumn, i64, i64),
    /// An integer that is not this one.
    Not(IntegerColumn, i64),
    /// Plain bytes compared with others.
    Bytes {
        /// Position in the row.
        position: usize,
        /// How.
        operator: ComparisonOperator,
        /// With what.
        bytes: Vec<u8>,
    },
    /// Text compared with other text in its collation.
    Text {
        /// Position in the row.
        position: usize,
        /// How.
        operator: ComparisonOperator,
        /// With what.
        bytes: Vec<u8>,
        /// As what.
        collation: CollationId,
    },
    /// Two columns compared with each other.
    Columns(IntegerColumn, ComparisonOperator, IntegerColumn),
    /// All of one of these hold.
    Any(Vec<Vec<DirectFilter>>),
    /// An integer that is among others.
    Among(IntegerColumn, Rc<KeyCounts>),
    /// Holds for no row.
    Never,
}

impl DirectFilter {
    /// The filter that says the same as a condition, if there is one. Constants are taken from the running statement.
    pub fn of(
        access: &TableAccess,
        condition: &Expression,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<Vec<DirectFilter>>> {
        match &condition.kind {
            ExpressionKind::Compare(comparison) => {
                let (operator, mode) = (comparison.operator, comparison.mode);
                let found = match (is_column(&comparison.left), is_column(&comparison.right)) {
                    (true, false) => {
                        Self::compare(access, &comparison.left, operator, mode, &comparison.right, run)
                    }
                    (false, true) => {
                        let operator = operator.mirrored();
                        Self::compare(access, &comparison.right, operator, mode, &comparison.left, run)
                    }
                    (true, true) => Ok(Self::columns(access, comparison)),
                    _ => Ok(None),
                };
                Ok(found?.map(|filter| vec![filter]))
            }
            ExpressionKind::In(list) if !list.negated => {
                Ok(Self::in_list(access, list, run)?.map(|filter| vec![filter]))
            }
            ExpressionKind::Or(terms) => {
                let mut any = Vec::with_capacity(terms.len());
                for term in terms {
                    let Some(filters) = Self::of(access, term, run)? else { return Ok(None) };
                    any.push(filters);
                }
                Ok(Some(vec![DirectFilter::Any(any)]))
            }
            ExpressionKind::Between(between) if !between.negated => {
                use ComparisonOperator::{GreaterOrEqual, LessOrEqual};
                let operand = &between.operand;
                let (mode, low) = &between.low;
                let low = Self::compare(access, operand, GreaterOrEqual, *mode, low, run)?;
                let (mode, high) = &between.high;
                let high = Self::compare(access, operand, LessOrEqual, *mode, high, run)?;
                Ok(low.zip(high).map(|(low, high)| vec![low, high]))
            }
            ExpressionKind::And(terms) => {
                let mut all = Vec::new();
                for term in terms {
                    let Some(filters) = Self::of(access, term, run)? else { return Ok(None) };
                    all.extend(filters);
                }
                Ok(Some(all))
            }
            _ => Ok(None),
        }
    }

    fn compare(
        access: &TableAccess,
        column: &Expression,
        operator: ComparisonOperator,
        mode: ComparisonMode,
        constant: &Expression,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<DirectFilter>> {
        let Some(column) = StoredColumn::of(access, column) else { return Ok(None) };
        let Some(constant) = constant_value(constant, run)? else { return Ok(None) };
        if operator == ComparisonOperator::NullSafeEqual {
            return Ok(None);
        }
        if constant == Value::Null {
            return Ok(Some(DirectFilter::Never));
        }
        Ok(match mode {
            ComparisonMode::Integer => {
                let number = match constant {
                    Value::Int(number) => i128::from(number),
                    Value::UInt(number) => i128::from(number),
                    _ => return Ok(None),
                };
                column.integer(layout(access)).map(|integer| Self::integer(integer, operator, number))
            }
            ComparisonMode::Text(collation) if column.column_type.collation == collation => {
                let Value::Bytes(bytes) = constant else { return Ok(None) };
                let position = column.position;
                match column.is_plain_bytes() {
                    true => Some(DirectFilter::Bytes { position, operator, bytes }),
                    false if column.is_text() => {
                        Some(DirectFilter::Text { position, operator, bytes, collation })
                    }
                    false => None,
                }
            }
            _ => Self::ordered(access, &column, operator, mode, &constant),
        })
    }

    /// A comparison of exact numbers or moments, as one of the integers that they are stored as.
    fn ordered(
        access: &TableAccess,
        column: &StoredColumn<'_>,
        operator: ComparisonOperator,
        mode: ComparisonMode,
        constant: &Value,
    ) -> Option<DirectFilter> {
        use ComparisonOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let reader = column.ordered(layout(access))?;
        let (number, is_exact) = stored_number(mode, column.column_type, constant)?;
        let operator = match operator {
            _ if is_exact => operator,
            // It lies between that integer and the next.
            Less | LessOrEqual => LessOrEqual,
            Greater | GreaterOrEqual => Greater,
            Equal => return Some(DirectFilter::Never),
            NotEqual => return Some(DirectFilter::Between(reader, i64::MIN, i64::MAX)),
            ComparisonOperator::NullSafeEqual => return None,
        };
        Some(Self::integer(reader, operator, number))
    }

    /// A comparison of two columns of one type.
    fn columns(access: &TableAccess, comparison: &Comparison) -> Option<DirectFilter> {
        use ComparisonMode::{DateTime, Decimal, Integer};
        let left = StoredColumn::of(access, &comparison.left)?;
        let right = StoredColumn::of(access, &comparison.right)?;
        let (one, other) = (left.ordered(layout(access))?, right.ordered(layout(access))?);
        let class = |column: &StoredColumn<'_>| class_of(column.column_type.kind);
        let is_own = match comparison.mode {
            Integer => class(&left) == TypeClass::Integer && class(&right) == TypeClass::Integer,
            Decimal => class(&left) == TypeClass::Decimal,
            DateTime => class(&left) == TypeClass::DateTime,
            _ => false,
        };
        let is_alike =
            comparison.mode == Integer || Form::of(left.column_type) == Form::of(right.column_type);
        let operator = comparison.operator;
        (is_own && is_alike && operator != ComparisonOperator::NullSafeEqual)
            .then_some(DirectFilter::Columns(one, operator, other))
    }

    /// `column IN (constants)`.
    fn in_list(
        access: &TableAccess,
        list: &InList,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<DirectFilter>> {
        if list.list.len() > LIST_MAX {
            return Ok(None);
        }
        let mut any = Vec::with_capacity(list.list.len());
        for (mode, member) in &list.list {
            let equal = ComparisonOperator::Equal;
            match Self::compare(access, &list.operand, equal, *mode, member, run)? {
                // Numbers beyond those of the column may be compared by their bits.
                None | Some(DirectFilter::Never) => return Ok(None),
                Some(filter) => any.push(vec![filter]),
            }
        }
        Ok(Some(DirectFilter::Any(any)))
    }

    fn integer(column: IntegerColumn, operator: ComparisonOperator, number: i128) -> DirectFilter {
        let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let (low, high) = match operator {
            ComparisonOperator::Less => (least, number - 1),
            ComparisonOperator::LessOrEqual => (least, number),
            ComparisonOperator::Greater => (number + 1, greatest),
            ComparisonOperator::GreaterOrEqual => (number, greatest),
            ComparisonOperator::NotEqual => {
                return match i64::try_from(number) {
                    Ok(number) => DirectFilter::Not(column, number),
                    Err(_) => DirectFilter::Between(column, i64::MIN, i64::MAX),
                };
            }
            ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => (number, number),
        };
        if low > greatest || high < least {
            return DirectFilter::Never;
        }
        DirectFilter::Between(column, low.max(least) as i64, high.min(greatest) as i64)
    }

    /// Whether a row meets the condition.
    #[inline]
    pub fn holds(&self, row: &[u8], view: &RowView<'_>) -> bool {
        match self {
            DirectFilter::Between(column, low, high) => {
                column.read(row).is_some_and(|number| *low <= number && number <= *high)
            }
            DirectFilter::Not(column, other) => column.read(row).is_some_and(|number| number != *other),
            DirectFilter::Bytes { position, operator, bytes } => {
                let order = view.raw(*position).map(|raw| raw.cmp(&bytes[..]));
                order.is_some_and(|order: Ordering| operator.holds(order))
            }
            DirectFilter::Text { position, operator, bytes, collation } => {
                let order = view.raw(*position).map(|raw| text::compare(*collation, raw, bytes));
                order.is_some_and(|order: Ordering| operator.holds(order))
            }
            DirectFilter::Columns(one, operator, other) => match (one.read(row), other.read(row)) {
                (Some(one), Some(other)) => operator.holds(one.cmp(&other)),
                _ => false,
            },
            DirectFilter::Any(any) => any.iter().any(|all| all.iter().all(|filter| filter.holds(row, view))),
            DirectFilter::Among(column, keys) => column.read(row).is_some_and(|key| keys.count(key) > 0),
            DirectFilter::Never => false,
        }
    }
}

fn is_column(expression: &Expression) -> bool {
    expression.column_slot().is_some()
}

/// What a column would store for a constant that it is compared with, as an integer: that one, or (false) the constant lies between
/// it and the next. None if they are compared as something else.
fn stored_number(mode: ComparisonMode, column: &ColumnType, constant: &Value) -> Option<(i128, bool)> {
    match (mode, column.kind) {
        (ComparisonMode::Decimal, kind) if kind.is_integer() || kind == TypeKind::Decimal => {
            let number = match constant {
                Value::Int(number) => Decimal::from(*number),
                Value::UInt(number) => Decimal::from(*number),
                Value::Decimal(number) => *number,
                _ => return None,
            };
            let scale = if kind == TypeKind::Decimal { column.scale() } else { 0 };
            let floor = number.with_scale(scale, Rounding::Floor).ok()?;
            Some((floor.unscaled_i128()?, floor == number))
        }
        (ComparisonMode::DateTime, TypeKind::Date) => match constant {
            Value::Date(date) => Some((i128::from(packed::date(*date)), true)),
            Value::DateTime(moment) => {
                let is_midnight = *moment == midnight(moment.date);
                Some((i128::from(packed::date(moment.date)), is_midnight))
            }
            _ => None,
        },
        (ComparisonMode::DateTime, TypeKind::DateTime) => {
            let moment = match constant {
                Value::Date(date) => midnight(*date),
                Value::DateTime(moment) => *moment,
                _ => return None,
            };
            let digits = column.fractional_digits();
            let is_exact = digits > 0 || moment.microsecond == 0;
            Some((i128::from(packed::date_time(moment, digits)), is_exact))
        }
        _ => None,
    }
}

fn midnight(date: Date) -> DateTime {
    DateTime { date, ..DateTime::default() }
}

/// The value of an expression that is the same for all rows, whatever they are.
fn constant_value(expression: &Expression, run: &mut Run<'_, '_>) -> SqlResult<Option<Value>> {
    Ok(match &expression.kind {
        ExpressionKind::Literal(value) => Some(value.clone()),
        ExpressionKind::Parameter(index) => Some(run.parameter(*index)?),
        ExpressionKind::Outer(index) => Some(run.outer(*index)),
        ExpressionKind::Retyped(operand) => constant_value(operand, run)?,
        _ => None,
    })
}
