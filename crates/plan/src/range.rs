//! From conditions on index parts to ranges of encoded keys. Main function: [`key_ranges`]. Used by the planner to
//! estimate and by the executor to read, so that both mean the same rows. A range may hold rows that do not meet
//! the condition it came from (the caller checks each row), but never misses one that does.

use crate::physical::{AccessPath, KeyCondition, KeyConditions, TableAccess};
use dictionary::{IndexDefinition, IndexPart};
use engine::{Engine, Index, KeyRange, Table};
use errors::SqlResult;
use expression::operators::{
    ComparisonOperator, compared_decimal, compared_moment, compared_time, like_prefix,
};
use expression::{EvaluationContext, Expression, ExpressionKind, convert, text};
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;
use values::decimal::Rounding;
use values::key::Limit;
use values::{ColumnType, Decimal, RowRef, TypeKind, Value};

/// Most ranges that one access is split into; beyond, later parts of the key are left out.
const RANGES_MAX: usize = 65_536;

/// Ranges that are estimated one by one; the rest is scaled.
const ESTIMATED_RANGES_MAX: usize = 16;

/// Room for a usual key.
const POINT_KEY_BYTES: usize = 16;

/// A value seen from a column that may not be able to hold it.
#[derive(Debug, PartialEq)]
enum KeyValue {
    /// The column can hold it.
    Exact(Value),
    /// It lies between this value of the column and the next.
    Above(Value),
    /// It lies below (Less) or above (Greater) all values of the column.
    Outside(Ordering),
    /// NULL.
    Null,
    /// No value of the column is equal to it, and order means nothing (ENUM).
    Nowhere,
    /// No value of the column is equal to it, and it is compared in another way than the index orders (a number that
    /// is no date).
    Unordered,
}

/// The ranges of an access path for a row, in key order and without overlap.
pub fn key_ranges(
    table: &Table,
    path: &AccessPath,
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Vec<KeyRange>> {
    let Some(alternatives) = &path.ranges else {
        return Ok(vec![path.keys.clone().unwrap_or_else(KeyRange::all)]);
    };
    let index = &table.indexes()[path.index];
    let Some(definition) = index.definition(table) else { return Ok(vec![KeyRange::all()]) };
    let mut found = Vec::new();
    for conditions in alternatives {
        let mut builder = Builder { table, index, definition, row, context, found: &mut found };
        builder.build(conditions, &mut Vec::with_capacity(conditions.len()))?;
    }
    found.retain(|(from, to)| to.as_ref().is_none_or(|to| from < to));
    if found.len() > 1 {
        found.sort();
        found = merge(found);
    }
    Ok(found.into_iter().map(engine_range).collect())
}

/// The key of an access that finds one row at most ([`AccessPath::single_row`]); None if no row can have it.
pub fn point_key(
    table: &Table,
    path: &AccessPath,
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Vec<u8>>> {
    let index = &table.indexes()[path.index];
    let (Some([conditions]), Some(definition)) = (path.ranges.as_deref(), index.definition(table)) else {
        return Ok(None);
    };
    let mut key = Vec::with_capacity(POINT_KEY_BYTES);
    for (number, (condition, part)) in conditions.iter().zip(&definition.parts).enumerate() {
        let KeyCondition::Points(points) = condition else { return Ok(None) };
        let [(expression, _)] = points.as_slice() else { return Ok(None) };
        let column = table.definition().columns[part.column].key_type();
        let value = expression.evaluate(row, context)?;
        let value = match is_held(&value, column) {
            true => KeyValue::Exact(value),
            false => key_value(value, expression, column, context)?,
        };
        let KeyValue::Exact(value) = value else { return Ok(None) };
        // A key that is too long for the index cannot be in it.
        if index.key_layout().encode_part(number, &value, &mut key).is_err() {
            return Ok(None);
        }
    }
    index.fit_key(&mut key);
    Ok(Some(key))
}

/// The values, as a column holds them, of which it has one to equal one of the expressions; None if nothing is said of it.
pub fn point_values(
    points: &[Expression],
    column: &ColumnType,
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Vec<Value>>> {
    let mut values = Vec::with_capacity(points.len());
    for expression in points {
        let value = expression.evaluate(row, context)?;
        match key_value(value, expression, column, context)? {
            KeyValue::Exact(value) => values.push(value),
            KeyValue::Unordered => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(values))
}

fn engine_range((from, to): (Vec<u8>, Option<Vec<u8>>)) -> KeyRange {
    KeyRange { lower: Bound::Included(from), upper: to.map_or(Bound::Unbounded, Bound::Excluded) }
}

/// Joins ranges that touch or overlap; they are sorted by their start, and none is empty.
fn merge(ranges: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let mut merged: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match merged.last_mut() {
            Some((_, None)) => break,
            Some((_, Some(end))) if from <= *end => {
                let longer = match to {
                    None => None,
                    Some(to) => Some(to.max(std::mem::take(end))),
                };
                if let Some((_, end)) = merged.last_mut() {
                    *end = longer;
                }
            }
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// How many rows the ranges of a path have whose values are known: the index is asked, some descents. What evaluating the values
/// reports is for nobody. None if that fails.
pub fn estimated_rows(
    engine: &Engine,
    table: &Arc<Table>,
    path: &AccessPath,
    context: &mut dyn EvaluationContext,
) -> Option<f64> {
    let reported = context.diagnostics().reported();
    let ranges = key_ranges(table, path, RowRef::EMPTY, context);
    context.diagnostics().go_back(reported);
    let ranges = ranges.ok()?;
    let (count, asked) = (ranges.len(), ranges.len().min(ESTIMATED_RANGES_MAX));
    let mut rows = 0.0;
    for range in ranges.into_iter().take(asked) {
        rows += engine.estimate_range(table, path.index, range).ok()? as f64;
    }
    Some(if asked == 0 { 0.0 } else { rows * count as f64 / asked as f64 })
}

/// Whether every row of the access's ranges meets its conditions, so that they need not be checked: there is one
/// condition, it made the ranges, and it is on an integer column, whose ranges are exact.
pub fn conditions_are_implied(access: &TableAccess) -> bool {
    let path = &access.path;
    let (condition, ranges) = match (access.conditions.as_slice(), &path.ranges) {
        ([], _) => return true,
        ([condition], Some(ranges)) => (condition, ranges),
        _ => return false,
    };
    let [conditions] = ranges.as_slice() else { return false };
    let [key_condition] = conditions.as_slice() else { return false };
    let Some(definition) = access.table.indexes()[path.index].definition(&access.table) else { return false };
    let Some(part) = definition.parts.first() else { return false };
    let is_part = |operand: &Expression| {
        operand.column_slot().is_some_and(|slot| access.columns.contains(&(part.column, slot)))
    };
    let is_integer = |operand: &Expression| operand.result.kind().is_integer();
    // A condition on the column may be another than the one that made the ranges: its other side says which.
    let exact = |operand: &Expression, others: &[(&Expression, Option<&Expression>)]| {
        let made = |other: &Expression, of: Option<&Expression>| of.is_some_and(|of| of.same(other));
        is_part(operand)
            && is_integer(operand)
            && others.iter().all(|(other, of)| is_integer(other) && made(other, *of))
    };
    match (&condition.kind, key_condition) {
        (ExpressionKind::Compare(comparison), KeyCondition::Points(points)) => {
            let [(of, _)] = points.as_slice() else { return false };
            let (left, right) = (&comparison.left, &comparison.right);
            comparison.operator == ComparisonOperator::Equal
                && (exact(left, &[(right, Some(of))]) || exact(right, &[(left, Some(of))]))
        }
        (ExpressionKind::Between(between), KeyCondition::Range { low, high }) => {
            let of = [low, high].map(|limit| limit.as_ref().map(|(of, _)| of));
            !between.negated && exact(&between.operand, &[(&between.low.1, of[0]), (&between.high.1, of[1])])
        }
        _ => false,
    }
}

struct Builder<'b> {
    table: &'b Table,
    index: &'b Index,
    definition: &'b IndexDefinition,
    row: RowRef<'b>,
    context: &'b mut dyn EvaluationContext,
    found: &'b mut Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Builder<'_> {
    /// Goes through the parts from the left; `prefix` are the points chosen so far.
    fn build(&mut self, conditions: &[KeyCondition], prefix: &mut Vec<Value>) -> SqlResult<()> {
        let part = prefix.len();
        match conditions.get(part) {
            None => self.push(prefix, Limit::None, Limit::None),
            Some(KeyCondition::Points(points)) => {
                if self.found.len() * points.len() > RANGES_MAX {
                    return self.push(prefix, Limit::None, Limit::None);
                }
                for (expression, null_matches) in points {
                    let value = match self.value(part, expression)? {
                        KeyValue::Exact(value) => value,
                        KeyValue::Null if *null_matches => Value::Null,
                        _ => continue,
                    };
                    prefix.push(value);
                    self.build(conditions, prefix)?;
                    prefix.pop();
                }
                Ok(())
            }
            Some(KeyCondition::Range { low, high }) => {
                let low = match low {
                    Some((expression, inclusive)) => match self.value(part, expression)? {
                        KeyValue::Exact(value) => Some((value, *inclusive)),
                        KeyValue::Above(value) => Some((value, false)),
                        KeyValue::Outside(Ordering::Less) | KeyValue::Unordered => None,
                        _ => return Ok(()),
                    },
                    None => None,
                };
                let high = match high {
                    Some((expression, inclusive)) => match self.value(part, expression)? {
                        KeyValue::Exact(value) => Some((value, *inclusive)),
                        KeyValue::Above(value) => Some((value, true)),
                        KeyValue::Outside(Ordering::Greater) | KeyValue::Unordered => None,
                        _ => return Ok(()),
                    },
                    None => None,
                };
                self.push(prefix, limit(&low), limit(&high))
            }
            Some(KeyCondition::Prefix(pattern, escape)) => {
                let value = pattern.evaluate(self.row, self.context)?;
                let Value::Bytes(bytes) = value else { return Ok(()) };
                let (start, whole) = like_prefix(&bytes, *escape, pattern.result.collation());
                if start.is_empty() && !whole {
                    return self.push(prefix, Limit::NotNull, Limit::None);
                }
                // No entry has a key that is too long for the index, or NULL where a part has none.
                if let Ok(range) = self.index.key_layout().starting_with(prefix, &start) {
                    self.add(range);
                }
                Ok(())
            }
        }
    }

    fn push(&mut self, prefix: &[Value], low: Limit<'_>, high: Limit<'_>) -> SqlResult<()> {
        // As above.
        let Ok(range) = self.index.key_layout().range(prefix, low, high) else { return Ok(()) };
        self.add(range);
        Ok(())
    }

    fn add(&mut self, range: values::key::KeyRange) {
        let values::key::KeyRange { mut from, mut to } = range;
        self.index.fit_range(&mut from, &mut to);
        self.found.push((from, to));
    }

    fn value(&mut self, part: usize, expression: &Expression) -> SqlResult<KeyValue> {
        let value = expression.evaluate(self.row, self.context)?;
        let column = self.table.definition().columns[self.definition.parts[part].column].key_type();
        key_value(value, expression, column, self.context)
    }
}

fn limit(bound: &Option<(Value, bool)>) -> Limit<'_> {
    match bound {
        None => Limit::NotNull,
        Some((value, true)) => Limit::Including(value),
        Some((value, false)) => Limit::Excluding(value),
    }
}

/// Whether a value is a number that the column holds as it is. Most keys are such: then [`key_value`] is its value.
#[inline]
fn is_held(value: &Value, column: &ColumnType) -> bool {
    let Value::Int(number) = *value else { return false };
    match column.kind {
        TypeKind::BigInt => !column.unsigned,
        TypeKind::Int => !column.unsigned && i32::try_from(number).is_ok(),
        _ => false,
    }
}

/// The value of an expression as a column holds it, or where it lies among the column's values.
fn key_value(
    value: Value,
    expression: &Expression,
    column: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<KeyValue> {
    use TypeKind as Kind;
    let from = &expression.result.column_type;
    if value == Value::Null {
        return Ok(KeyValue::Null);
    }
    Ok(match column.kind {
        Kind::TinyInt
        | Kind::SmallInt
        | Kind::MediumInt
        | Kind::Int
        | Kind::BigInt
        | Kind::Bit
        | Kind::Year => integer_key(&value, from, column, context)?,
        Kind::Decimal => {
            let Some(exact) = compared_decimal(value.as_ref(), from, context)? else {
                return Ok(KeyValue::Null);
            };
            decimal_key(exact, column)
        }
        Kind::Double => match convert::to_double(value.as_ref(), from, context)? {
            Some(number) => KeyValue::Exact(Value::Double(number)),
            None => KeyValue::Null,
        },
        Kind::Date | Kind::DateTime | Kind::Timestamp | Kind::Time => {
            temporal_key(&value, expression, column, context)?
        }
        Kind::Enum => {
            let Some(bytes) = convert::to_text(value.as_ref(), from, context) else {
                return Ok(KeyValue::Null);
            };
            let same = |member: &Vec<u8>| text::compare(column.collation, member, &bytes) == Ordering::Equal;
            match column.members.iter().position(same) {
                Some(index) => KeyValue::Exact(Value::UInt(index as u64 + 1)),
                None if bytes.is_empty() => KeyValue::Exact(Value::UInt(0)),
                None => KeyValue::Nowhere,
            }
        }
        _ => match convert::to_text(value.as_ref(), from, context) {
            Some(bytes) => KeyValue::Exact(Value::Bytes(bytes.into_owned())),
            None => KeyValue::Null,
        },
    })
}

/// A date or time as a key: what the column cannot hold lies above the key of what it holds before that.
fn temporal_key(
    value: &Value,
    expression: &Expression,
    column: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<KeyValue> {
    use TypeKind as Kind;
    let from = &expression.result.column_type;
    Ok(match column.kind {
        Kind::Date => match compared_moment(value.as_ref(), from, column, context)? {
            Some(moment) if moment == moment.date.midnight() => KeyValue::Exact(Value::Date(moment.date)),
            // Text of the rows is a date.
            Some(moment) if matches!(value, Value::Bytes(_)) && expression.reads_rows() => {
                KeyValue::Exact(Value::Date(moment.date))
            }
            Some(moment) => KeyValue::Above(Value::Date(moment.date)),
            None => KeyValue::Unordered,
        },
        Kind::DateTime | Kind::Timestamp => match compared_moment(value.as_ref(), from, column, context)? {
            // The beginning of a year is no instant.
            Some(moment)
                if column.kind == Kind::Timestamp && moment.date.month == 0 && !moment.date.is_zero() =>
            {
                KeyValue::Unordered
            }
            Some(moment) => {
                let cut = moment.truncated(column.decimals.unwrap_or(0));
                let stored = match column.kind {
                    Kind::Timestamp => context.facts().time_zone.local_to_utc(cut),
                    _ => cut,
                };
                if cut == moment {
                    KeyValue::Exact(Value::DateTime(stored))
                } else {
                    KeyValue::Above(Value::DateTime(stored))
                }
            }
            None => KeyValue::Unordered,
        },
        _ => match compared_time(value.as_ref(), from, context)? {
            Some(span) => {
                let cut = span.truncated(column.decimals.unwrap_or(0));
                if cut == span {
                    KeyValue::Exact(Value::Time(cut))
                } else if span.negative {
                    KeyValue::Nowhere
                } else {
                    KeyValue::Above(Value::Time(cut))
                }
            }
            None => KeyValue::Unordered,
        },
    })
}

/// Smallest and largest value of an integer column.
fn integer_bounds(column: &ColumnType) -> (i128, i128) {
    let bits = match column.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        TypeKind::Bit => return (0, (1i128 << column.length.unwrap_or(1).clamp(1, 64)) - 1),
        TypeKind::Year => return (0, 2155),
        _ => 64,
    };
    if column.unsigned {
        (0, (1i128 << bits) - 1)
    } else {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    }
}

fn integer_key(
    value: &Value,
    from: &ColumnType,
    column: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<KeyValue> {
    let (number, above) = convert::to_floor(value.as_ref(), from, context)?.unwrap_or_default();
    let (low, high) = integer_bounds(column);
    if number < low {
        return Ok(KeyValue::Outside(Ordering::Less));
    }
    if number > high {
        return Ok(KeyValue::Outside(Ordering::Greater));
    }
    // A YEAR column holds 0 and 1901 to 2155.
    if column.kind == TypeKind::Year && (1..=1900).contains(&number) {
        return Ok(KeyValue::Above(Value::UInt(0)));
    }
    let unsigned = column.unsigned || matches!(column.kind, TypeKind::Bit | TypeKind::Year);
    let held = if unsigned { Value::UInt(number as u64) } else { Value::Int(number as i64) };
    Ok(if above { KeyValue::Above(held) } else { KeyValue::Exact(held) })
}

fn decimal_key(exact: Decimal, column: &ColumnType) -> KeyValue {
    let outside = || KeyValue::Outside(if exact.is_negative() { Ordering::Less } else { Ordering::Greater });
    let Ok(cut) = exact.with_scale(column.scale(), Rounding::Floor) else { return outside() };
    match cut.fit(column.precision(), column.scale()) {
        Ok((fitted, _)) if fitted == exact => KeyValue::Exact(Value::Decimal(fitted)),
        Ok((fitted, _)) => KeyValue::Above(Value::Decimal(fitted)),
        Err(_) => outside(),
    }
}

/// Bytes of the key that the conditions use, as EXPLAIN counts them.
pub fn key_length(table: &Table, definition: &IndexDefinition, conditions: &KeyConditions) -> u32 {
    let length = |part: &IndexPart| {
        let column = &table.definition().columns[part.column];
        let (column_type, nullable) = (column.key_type(), column.nullable);
        let variable = matches!(column_type.kind, TypeKind::VarChar | TypeKind::VarBinary)
            || column_type.kind.is_large_object();
        let key_part = values::key::KeyPart {
            column_type: column_type.clone(),
            prefix_length: part.prefix_length,
            descending: part.descending,
            nullable,
        };
        key_part.declared_bytes() + if variable { 2 } else { 0 } + u32::from(nullable)
    };
    definition.parts.iter().take(conditions.len()).map(length).sum()
}
