//! Comparison by MySQL's mixed-type rules. The mode is chosen when the expression is bound.
//! Main types: [`Comparison`], [`ComparisonMode`]; main function: [`compare_values`].

use super::cast::CastFailure;
use crate::context::{EvaluationContext, waiting_bytes};
use crate::convert::{self, MomentKind, ZeroDates};
use crate::document_watch::DocumentWatch;
use crate::operand::Operand;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind};
use charset::CollationId;
use errors::SqlResult;
use functions::text;
use std::cmp::Ordering;
use std::rc::Rc;
use values::json::{self, Node, Steps};
use values::temporal::{Date, DateTime, Time};
use values::{ColumnType, Decimal, RowRef, TypeKind, Value, ValueRef};

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
    /// As whole numbers, without loss: a column of an integer type beside a constant that is text or a floating point
    /// number, of which not all digits are digits of a double.
    Exact,
    /// As exact numbers.
    Decimal,
    /// As floating point numbers.
    Double,
    /// As dates with times. Text that is no date is the zero date; a number that is none is compared as a number.
    DateTime,
    /// As dates: a date beside text of the rows, whose time of day does not count.
    Date,
    /// As time spans; what is none is compared as text or as a number.
    Time,
    /// As JSON: `operands` makes documents of both.
    Json,
}

impl ComparisonMode {
    /// The mode for two operands. `operands` gives texts the collation that they are compared in.
    pub fn choose(left: &Expression, right: &Expression) -> ComparisonMode {
        use TypeClass::{DateTime, Decimal, Double, Integer, Null, Text, Time};
        let (left_class, right_class) = (left.result.class(), right.result.class());
        match (left_class, right_class) {
            (TypeClass::Json, _) | (_, TypeClass::Json) => ComparisonMode::Json,
            (Text, Text | Null) | (Null, Text) => ComparisonMode::Text(text_collation(left, right)),
            (DateTime, DateTime | Text | Null | Time) | (Text | Null | Time, DateTime) => {
                ComparisonMode::DateTime
            }
            (Time, Time | Null) | (Null, Time) => ComparisonMode::Time,
            (DateTime, Integer) if right.result.kind() == TypeKind::Year => ComparisonMode::DateTime,
            (Integer, DateTime) if left.result.kind() == TypeKind::Year => ComparisonMode::DateTime,
            // A column takes a constant beside it for a value of its own type.
            (DateTime, Integer | Decimal | Double) if takes_for_its_own(left, right) => {
                ComparisonMode::DateTime
            }
            (Integer | Decimal | Double, DateTime) if takes_for_its_own(right, left) => {
                ComparisonMode::DateTime
            }
            (Time, Integer | Decimal | Double | Text) if is_column_with_constant(left, right) => {
                ComparisonMode::Time
            }
            (Integer | Decimal | Double | Text, Time) if is_column_with_constant(right, left) => {
                ComparisonMode::Time
            }
            (Time, Text) | (Text, Time) => ComparisonMode::Text(text_collation(left, right)),
            (Integer, Text | Double) if is_column_with_constant(left, right) => ComparisonMode::Exact,
            (Text | Double, Integer) if is_column_with_constant(right, left) => ComparisonMode::Exact,
            (Decimal, Text | Double) if right.is_constant() && !left.is_constant() => ComparisonMode::Decimal,
            (Text | Double, Decimal) if left.is_constant() && !right.is_constant() => ComparisonMode::Decimal,
            (Text | Double, _) | (_, Text | Double) => ComparisonMode::Double,
            (Decimal, _) | (_, Decimal) => ComparisonMode::Decimal,
            (DateTime | Time, _) | (_, DateTime | Time) => ComparisonMode::Decimal,
            (Integer | Null, Integer | Null) => ComparisonMode::Integer,
        }
    }

    /// The mode for `=`, `<` and their like, and for a subquery whose rows are joined: a date beside text of the rows makes the
    /// text a date.
    #[must_use]
    pub fn with_dates(self, left: &Expression, right: &Expression) -> ComparisonMode {
        let makes_dates = |date: &Expression, text: &Expression| {
            date.result.kind() == TypeKind::Date
                && text.result.class() == TypeClass::Text
                && (!date.is_constant() || date.reads_rows())
                && text.reads_rows()
        };
        match self {
            ComparisonMode::DateTime if makes_dates(left, right) || makes_dates(right, left) => {
                ComparisonMode::Date
            }
            other => other,
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
            TypeClass::Json => ComparisonMode::Json,
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

/// Whether a column stands beside something that does not depend on the row, nor on those around.
pub fn is_column_with_constant(column: &Expression, constant: &Expression) -> bool {
    column.column_slot().is_some() && constant.is_constant() && !constant.reads_rows()
}

/// Whether a column of dates takes what stands beside it for a date: a constant, but not what a subquery finds, nor a
/// literal that is still a number, for the column cannot hold that.
fn takes_for_its_own(column: &Expression, constant: &Expression) -> bool {
    is_column_with_constant(column, constant)
        && (constant.literal().is_none() || constant.result.kind() == TypeKind::Year)
        && !constant.any(&|part| matches!(part.kind, ExpressionKind::Subquery(_)))
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
#[inline]
pub fn compare_values(
    mode: ComparisonMode,
    left: ValueRef<'_>,
    left_type: &ColumnType,
    right: ValueRef<'_>,
    right_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Ordering>> {
    match (mode, left, right) {
        (_, ValueRef::Null, _) | (_, _, ValueRef::Null) => return Ok(None),
        (ComparisonMode::Integer, ValueRef::Int(left), ValueRef::Int(right)) => {
            return Ok(Some(left.cmp(&right)));
        }
        (ComparisonMode::Integer, ValueRef::UInt(left), ValueRef::UInt(right)) => {
            return Ok(Some(left.cmp(&right)));
        }
        (ComparisonMode::Text(collation), ValueRef::Bytes(left), ValueRef::Bytes(right)) => {
            return Ok(Some(text::compare(collation, left, right)));
        }
        (ComparisonMode::DateTime, ValueRef::DateTime(left), ValueRef::DateTime(right)) => {
            return Ok(Some(left.cmp(&right)));
        }
        (ComparisonMode::DateTime, ValueRef::Date(left), ValueRef::Date(right)) => {
            return Ok(Some(left.cmp(&right)));
        }
        (ComparisonMode::Double, ValueRef::Double(left), ValueRef::Double(right)) => {
            return Ok(left.partial_cmp(&right));
        }
        (ComparisonMode::Decimal, ValueRef::Decimal(left), ValueRef::Decimal(right)) => {
            return Ok(Some(left.cmp(right)));
        }
        _ => {}
    }
    compare_converted(mode, left, left_type, right, right_type, context)
}

fn compare_converted(
    mode: ComparisonMode,
    left: ValueRef<'_>,
    left_type: &ColumnType,
    right: ValueRef<'_>,
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
        ComparisonMode::Json => compare_documents(left, right, context)?,
        ComparisonMode::Exact => {
            both!(convert::to_floor, |left: &(i128, bool), right: &(i128, bool)| Some(left.cmp(right)))
        }
        ComparisonMode::Decimal => {
            both!(compared_decimal, |left: &Decimal, right: &Decimal| Some(left.cmp(right)))
        }
        ComparisonMode::Double => {
            both!(convert::to_double, |left: &f64, right: &f64| left.partial_cmp(right))
        }
        ComparisonMode::DateTime => {
            let moments = (
                compared_moment(left, left_type, right_type, context)?,
                compared_moment(right, right_type, left_type, context)?,
            );
            match moments {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => both!(convert::to_double, |left: &f64, right: &f64| left.partial_cmp(right)),
            }
        }
        ComparisonMode::Date => {
            let left = compared_moment(left, left_type, right_type, context)?;
            let right = compared_moment(right, right_type, left_type, context)?;
            left.zip(right).map(|(left, right)| left.date.cmp(&right.date))
        }
        ComparisonMode::Time => {
            match (compared_time(left, left_type, context)?, compared_time(right, right_type, context)?) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ if matches!((left, right), (ValueRef::Bytes(_), _) | (_, ValueRef::Bytes(_))) => {
                    let collation = match left {
                        ValueRef::Bytes(_) => left_type.collation,
                        _ => right_type.collation,
                    };
                    compare_texts(collation, (left, left_type), (right, right_type), context)
                }
                _ => both!(convert::to_double, |left: &f64, right: &f64| left.partial_cmp(right)),
            }
        }
        ComparisonMode::Text(collation) => {
            compare_texts(collation, (left, left_type), (right, right_type), context)
        }
    })
}

/// Both are documents: `operands` sees to that.
fn compare_documents(
    left: ValueRef<'_>,
    right: ValueRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Ordering>> {
    let (ValueRef::Bytes(left), ValueRef::Bytes(right)) = (left, right) else { return Ok(None) };
    let watch = DocumentWatch::new(context);
    json::compare_watched(Node::of(left), Node::of(right), &mut Steps::new(&watch)).map(Some)
}

fn compare_texts(
    collation: CollationId,
    left: (ValueRef<'_>, &ColumnType),
    right: (ValueRef<'_>, &ColumnType),
    context: &mut dyn EvaluationContext,
) -> Option<Ordering> {
    let left = convert::to_text(left.0, left.1, context)?;
    let right = convert::to_text(right.0, right.1, context)?;
    Some(text::compare(collation, &left, &right))
}

/// A value as the exact number that it is compared as: a double beyond all of them is the largest, without a warning.
pub fn compared_decimal(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Decimal>> {
    match value {
        ValueRef::Double(number) => {
            let largest = || Decimal::largest(values::decimal::DIGITS_MAX, 0, number < 0.0);
            Ok(Some(Decimal::from_f64(number).unwrap_or_else(|_| largest())))
        }
        _ => convert::to_decimal(value, column_type, context),
    }
}

/// A value as the moment that it is compared as with a value of the type `beside`; None for a number that is none. A year is
/// the moment before its first.
pub fn compared_moment(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    beside: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<DateTime>> {
    let is_number = match value {
        ValueRef::Int(year) if column_type.kind == TypeKind::Year => {
            return Ok(Some(start_of_year(year as u64)));
        }
        ValueRef::UInt(year) if column_type.kind == TypeKind::Year => return Ok(Some(start_of_year(year))),
        ValueRef::UInt(_) => !column_type.kind.has_members(),
        ValueRef::Int(_) | ValueRef::Decimal(_) | ValueRef::Float(_) | ValueRef::Double(_) => true,
        _ => false,
    };
    // Warnings name the kind of what a text is compared with.
    let is_time = matches!(value, ValueRef::Time(_));
    let kind = if beside.kind == TypeKind::Date && !is_number && !is_time {
        MomentKind::Date
    } else {
        MomentKind::DateTime
    };
    let found = convert::to_moment(value, column_type, kind, ZeroDates::All, context)?;
    if is_number {
        let has_place = |date: Date| date.is_zero() || date.month > 0 && date.day > 0;
        return Ok(found.filter(|moment| has_place(moment.date)));
    }
    Ok(Some(found.unwrap_or(DateTime::ZERO)))
}

fn start_of_year(year: u64) -> DateTime {
    Date { year: year as u16, month: 0, day: 0 }.midnight()
}

/// A value as the time span that it is compared as; None for text and numbers that are not wholly one.
pub fn compared_time(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Time>> {
    let before = context.diagnostics().count();
    let found = convert::to_time(value, column_type, context)?;
    Ok(found.filter(|_| context.diagnostics().count() == before))
}

/// Whether an operand is a parameter with a value, which is not NULL even where its conversion is.
fn is_given(operand: &Expression) -> bool {
    use CastFailure::{DateParameter, Parameter};
    matches!(&operand.kind, ExpressionKind::Cast(cast) if matches!(cast.failure, Parameter | DateParameter))
}

/// A text that is compared as a number, as that number: it is converted, and warned of, once for all it is compared with.
pub(super) fn as_number<'v>(
    mode: ComparisonMode,
    value: Operand<'v>,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Operand<'v>> {
    match (mode, value.as_ref()) {
        (ComparisonMode::Double, ValueRef::Bytes(_)) => {
            let number = convert::to_double(value.as_ref(), column_type, context)?;
            Ok(Operand::Owned(number.map_or(Value::Null, Value::Double)))
        }
        _ => Ok(value),
    }
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
    /// For a constant operand that is converted once: whether it is the left one, and the call site that keeps its number.
    pub once: Option<(bool, usize)>,
}

impl Comparison {
    /// The truth for one row.
    pub fn truth(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        if let Some((is_left, site)) = self.once {
            return self.truth_once(is_left, site, row, context);
        }
        if self.operator != ComparisonOperator::NullSafeEqual
            && let Some(right) = self.right.at_hand(row)
        {
            return match self.left.at_hand(row) {
                Some(left) => self.truth_of(left, right, context),
                None => self.truth_of(self.left.operand(row, context)?.as_ref(), right, context),
            };
        }
        let left = self.left.operand(row, context)?;
        let null_safe = self.operator == ComparisonOperator::NullSafeEqual;
        if left.is_null() && !null_safe {
            return Ok(None);
        }
        let is_moment = matches!(self.mode, ComparisonMode::DateTime | ComparisonMode::Time);
        if left.is_null() && is_moment && is_given(&self.right) {
            return Ok(Some(false));
        }
        let left = match self.right.at_hand(row) {
            Some(_) => left,
            // What the left operand reports as it is read comes before anything of the right one.
            None => as_number(self.mode, left, &self.left.result.column_type, context)?,
        };
        let right = self.right.operand_beside(waiting_bytes(&left), row, context)?;
        if null_safe && (left.is_null() || right.is_null()) {
            return Ok(Some(left.as_ref() == right.as_ref() && !(is_moment && is_given(&self.left))));
        }
        self.truth_of(left.as_ref(), right.as_ref(), context)
    }

    /// The truth for two values; for `<=>` none is NULL.
    #[inline]
    fn truth_of(
        &self,
        left: ValueRef<'_>,
        right: ValueRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<bool>> {
        let (left_type, right_type) = (&self.left.result.column_type, &self.right.result.column_type);
        let order = compare_values(self.mode, left, left_type, right, right_type, context)?;
        let unknown = (self.operator == ComparisonOperator::NullSafeEqual).then_some(false);
        Ok(order.map(|order| self.operator.holds(order)).or(unknown))
    }

    /// Whether the left or the right operand is a constant that is of another kind of type than it is compared as, so that it
    /// is converted once. `remembers`: a parameter of the same kind is, too, as in a condition.
    pub fn converted_constant(&self, remembers: bool) -> Option<bool> {
        use ComparisonMode::{Decimal, Double, Exact};
        if !matches!(self.mode, Double | Decimal | Exact) {
            return None;
        }
        let waits = |part: &Expression| {
            matches!(
                part.kind,
                ExpressionKind::Outer(_) | ExpressionKind::Subquery(_) | ExpressionKind::SystemVariable(..)
            )
        };
        let is_left = self.left.is_constant();
        if is_left == self.right.is_constant() {
            return None;
        }
        let side = if is_left { &self.left } else { &self.right };
        let is_text = side.result.class() == TypeClass::Text && !side.result.is_number_bytes();
        let counts = is_text || remembers && self.mode != Exact && is_given(side);
        (counts && !side.any(&waits)).then_some(is_left)
    }

    /// The truth where one operand is a constant that is converted once.
    fn truth_once(
        &self,
        is_left: bool,
        site: usize,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<bool>> {
        let (constant, other) = if is_left { (&self.left, &self.right) } else { (&self.right, &self.left) };
        let null_safe = self.operator == ComparisonOperator::NullSafeEqual;
        let value = other.operand(row, context)?;
        if value.is_null() && !null_safe {
            return Ok(None);
        }
        let kept =
            context.call_state(site).as_ref().and_then(|state| state.downcast_ref::<Rc<Value>>().cloned());
        let number = match kept {
            Some(number) => number,
            None => {
                let given = constant.operand(row, context)?;
                let number = Rc::new(self.number(given.as_ref(), &constant.result.column_type, context)?);
                *context.call_state(site) = Some(Box::new(number.clone()));
                number
            }
        };
        if null_safe && (value.is_null() || number.is_null()) {
            return Ok(Some(value.as_ref() == (*number).as_ref()));
        }
        let (left, right) =
            if is_left { ((*number).as_ref(), value.as_ref()) } else { (value.as_ref(), (*number).as_ref()) };
        self.truth_of(left, right, context)
    }

    /// A value as the number that it is compared as.
    fn number(
        &self,
        value: ValueRef<'_>,
        column_type: &ColumnType,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let found = match self.mode {
            ComparisonMode::Double => convert::to_double(value, column_type, context)?.map(Value::Double),
            ComparisonMode::Exact => {
                convert::to_floor(value, column_type, context)?.and_then(|(whole, above)| {
                    let tenths = whole.checked_mul(10)? + if above { 5 } else { 0 };
                    Decimal::from_i128(tenths, 1).map(Value::Decimal)
                })
            }
            _ => compared_decimal(value, column_type, context)?.map(Value::Decimal),
        };
        Ok(found.unwrap_or_else(|| value.to_value()))
    }
}
