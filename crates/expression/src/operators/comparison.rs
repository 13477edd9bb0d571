//! Comparison by MySQL's mixed-type rules. The mode is chosen when the expression is bound.
//! Main types: [`Comparison`], [`ComparisonMode`]; main function: [`compare_values`].

use crate::context::EvaluationContext;
use crate::convert;
use crate::result_type::{ResultType, TypeClass};
use crate::text;
use crate::tree::Expression;
use charset::CollationId;
use errors::SqlResult;
use std::cmp::Ordering;
use values::{ColumnType, TypeKind, Value};

/// The operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOperator {
    /// `=`
    Equal,
    /// `<=>`
    NullSafeEqual,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl ComparisonOperator {
    /// The sign, as it is printed.
    pub fn sign(self) -> &'static str {
        match self {
            ComparisonOperator::Equal => "=",
            ComparisonOperator::NullSafeEqual => "<=>",
            ComparisonOperator::NotEqual => "<>",
            ComparisonOperator::Less => "<",
            ComparisonOperator::LessOrEqual => "<=",
            ComparisonOperator::Greater => ">",
            ComparisonOperator::GreaterOrEqual => ">=",
        }
    }

    /// Whether it holds for operands in that order.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => order == Ordering::Equal,
            ComparisonOperator::NotEqual => order != Ordering::Equal,
            ComparisonOperator::Less => order == Ordering::Less,
            ComparisonOperator::LessOrEqual => order != Ordering::Greater,
            ComparisonOperator::Greater => order == Ordering::Greater,
            ComparisonOperator::GreaterOrEqual => order != Ordering::Less,
        }
    }

    /// The operator with its operands exchanged.
    pub fn mirrored(self) -> ComparisonOperator {
        match self {
            ComparisonOperator::Less => ComparisonOperator::Greater,
            ComparisonOperator::LessOrEqual => ComparisonOperator::GreaterOrEqual,
            ComparisonOperator::Greater => ComparisonOperator::Less,
            ComparisonOperator::GreaterOrEqual => ComparisonOperator::LessOrEqual,
            same => same,
        }
    }

    /// The operator that holds exactly when this one does not; None for `<=>`.
    pub fn negated(self) -> Option<ComparisonOperator> {
        Some(match self {
            ComparisonOperator::Equal => ComparisonOperator::NotEqual,
            ComparisonOperator::NotEqual => ComparisonOperator::Equal,
            ComparisonOperator::Less => ComparisonOperator::GreaterOrEqual,
            ComparisonOperator::LessOrEqual => ComparisonOperator::Greater,
            ComparisonOperator::Greater => ComparisonOperator::LessOrEqual,
            ComparisonOperator::GreaterOrEqual => ComparisonOperator::Less,
            ComparisonOperator::NullSafeEqual => return None,
        })
    }
}

/// As what two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonMode {
    /// As text in a collation; `binary` compares bytes.
    Text(CollationId),
    /// As 64-bit integers.
    Integer,
    /// As exact numbers.
    Decimal,
    /// As floating point numbers.
    Double,
    /// As dates with times.
    DateTime,
    /// As time spans.
    Time,
}

impl ComparisonMode {
    /// The mode for two operands. Text operands are taken to have been given a common collation.
    pub fn choose(left: &Expression, right: &Expression) -> ComparisonMode {
        use TypeClass::{DateTime, Decimal, Double, Integer, Null, Text, Time};
        let (left_class, right_class) = (left.result.class(), right.result.class());
        match (left_class, right_class) {
            (Text, Text | Null) | (Null, Text) => ComparisonMode::Text(text_collation(left, right)),
            (DateTime, DateTime | Text | Null | Time) | (Text | Null | Time, DateTime) => {
                ComparisonMode::DateTime
            }
            (Time, Time | Text | Null) | (Text | Null, Time) => ComparisonMode::Time,
            (DateTime, Integer | Decimal | Double) if right.is_constant() => ComparisonMode::DateTime,
            (Integer | Decimal | Double, DateTime) if left.is_constant() => ComparisonMode::DateTime,
            (Time, Integer | Decimal | Double) if right.is_constant() => ComparisonMode::Time,
            (Integer | Decimal | Double, Time) if left.is_constant() => ComparisonMode::Time,
            (Text | Double, _) | (_, Text | Double) => ComparisonMode::Double,
            (Decimal, _) | (_, Decimal) => ComparisonMode::Decimal,
            (DateTime | Time, _) | (_, DateTime | Time) => ComparisonMode::Decimal,
            (Integer | Null, Integer | Null) => ComparisonMode::Integer,
        }
    }

    /// The mode for values that all have this type.
    pub fn of_one_type(result: &ResultType) -> ComparisonMode {
        match result.class() {
            TypeClass::Null | TypeClass::Integer => ComparisonMode::Integer,
            TypeClass::Decimal => ComparisonMode::Decimal,
            TypeClass::Double => ComparisonMode::Double,
            TypeClass::Text => ComparisonMode::Text(result.collation()),
            TypeClass::DateTime => ComparisonMode::DateTime,
            TypeClass::Time => ComparisonMode::Time,
        }
    }

    /// The mode in which values of a column are ordered: ENUM and SET by number.
    pub fn for_ordering(result: &ResultType) -> ComparisonMode {
        match result.kind() {
            TypeKind::Enum | TypeKind::Set => ComparisonMode::Integer,
            _ => ComparisonMode::of_one_type(result),
        }
    }
}

fn text_collation(left: &Expression, right: &Expression) -> CollationId {
    let (left, right) = (&left.result, &right.result);
    let binary = left.class() == TypeClass::Text && left.collation() == CollationId::BINARY
        || right.class() == TypeClass::Text && right.collation() == CollationId::BINARY;
    if binary {
        return CollationId::BINARY;
    }
    if left.class() != TypeClass::Text {
        return right.collation();
    }
    if right.class() != TypeClass::Text || left.coercibility < right.coercibility {
        return left.collation();
    }
    if right.coercibility < left.coercibility {
        return right.collation();
    }
    if text::is_binary_order(right.collation()) { right.collation() } else { left.collation() }
}

/// Compares two values; None when one is NULL or cannot be converted.
pub fn compare_values(
    mode: ComparisonMode,
    left: &Value,
    left_type: &ColumnType,
    right: &Value,
    right_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Ordering>> {
    match (mode, left, right) {
        (_, Value::Null, _) | (_, _, Value::Null) => return Ok(None),
        (ComparisonMode::Integer, Value::Int(left), Value::Int(right)) => return Ok(Some(left.cmp(right))),
        (ComparisonMode::Integer, Value::UInt(left), Value::UInt(right)) => return Ok(Some(left.cmp(right))),
        (ComparisonMode::Text(collation), Value::Bytes(left), Value::Bytes(right)) => {
            return Ok(Some(text::compare(collation, left, right)));
        }
        (ComparisonMode::DateTime, Value::DateTime(left), Value::DateTime(right)) => {
            return Ok(Some(left.cmp(right)));
        }
        (ComparisonMode::DateTime, Value::Date(left), Value::Date(right)) => {
            return Ok(Some(left.cmp(right)));
        }
        (ComparisonMode::Double, Value::Double(left), Value::Double(right)) => {
            return Ok(left.partial_cmp(right));
        }
        _ => {}
    }
    compare_converted(mode, left, left_type, right, right_type, context)
}

fn compare_converted(
    mode: ComparisonMode,
    left: &Value,
    left_type: &ColumnType,
    right: &Value,
    right_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Ordering>> {
    macro_rules! both {
        ($convert:path, $compare:expr) => {{
            let left = $convert(left, left_type, context)?;
            let right = $convert(right, right_type, context)?;
            match (left, right) {
                (Some(left), Some(right)) => $compare(&left, &right),
                _ => None,
            }
        }};
    }
    Ok(match mode {
        ComparisonMode::Integer => {
            both!(convert::to_integer, |left: &i128, right: &i128| Some(left.cmp(right)))
        }
        ComparisonMode::Decimal => {
            both!(convert::to_decimal, |left: &values::Decimal, right: &values::Decimal| Some(
                left.cmp(right)
            ))
        }
        ComparisonMode::Double => {
            both!(convert::to_double, |left: &f64, right: &f64| left.partial_cmp(right))
        }
        ComparisonMode::DateTime => both!(
            convert::to_datetime,
            |left: &values::temporal::DateTime, right: &values::temporal::DateTime| Some(left.cmp(right))
        ),
        ComparisonMode::Time => both!(
            convert::to_time,
            |left: &values::temporal::Time, right: &values::temporal::Time| Some(left.cmp(right))
        ),
        ComparisonMode::Text(collation) => {
            let left = convert::to_text(left, left_type, context);
            let right = convert::to_text(right, right_type, context);
            match (left, right) {
                (Some(left), Some(right)) => Some(text::compare(collation, &left, &right)),
                _ => None,
            }
        }
    })
}

/// A comparison of two operands.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The operator.
    pub operator: ComparisonOperator,
    /// As what the operands are compared.
    pub mode: ComparisonMode,
    /// Left operand.
    pub left: Expression,
    /// Right operand.
    pub right: Expression,
}

impl Comparison {
    /// The truth for one row.
    pub fn truth(&self, row: &[Value], context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        let left = self.left.operand(row, context)?;
        let null_safe = self.operator == ComparisonOperator::NullSafeEqual;
        if *left == Value::Null && !null_safe {
            return Ok(None);
        }
        let right = self.right.operand(row, context)?;
        if null_safe && (*left == Value::Null || *right == Value::Null) {
            return Ok(Some(*left == *right));
        }
        let order = compare_values(
            self.mode,
            &left,
            &self.left.result.column_type,
            &right,
            &self.right.result.column_type,
            context,
        )?;
        Ok(match order {
            Some(order) => Some(self.operator.holds(order)),
            None if null_safe => Some(false),
            None => None,
        })
    }
}
