//! `+ - * / DIV %` and unary minus with MySQL's result types, overflow and division by zero.
//! Main type: [`Arithmetic`].

use crate::common_type::approximate_size;
use crate::context::EvaluationContext;
use crate::convert;
use crate::facts::SqlMode;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::Expression;
use errors::{SqlError, SqlResult, sql_error};
use std::sync::Arc;
use values::{Decimal, RowRef, Value, ValueRef};

/// The operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `DIV`
    IntegerDivide,
    /// `%`
    Modulo,
}

impl ArithmeticOperator {
    /// The sign, as it is printed.
    pub fn sign(self) -> &'static str {
        match self {
            ArithmeticOperator::Add => "+",
            ArithmeticOperator::Subtract => "-",
            ArithmeticOperator::Multiply => "*",
            ArithmeticOperator::Divide => "/",
            ArithmeticOperator::IntegerDivide => "DIV",
            ArithmeticOperator::Modulo => "%",
        }
    }
}

/// In which numbers the operation is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticMode {
    /// 64-bit integers, checked.
    Integer,
    /// Exact numbers.
    Decimal,
    /// Floating point.
    Double,
}

/// An operation over two operands.
#[derive(Clone, Debug)]
pub struct Arithmetic {
    /// The operator.
    pub operator: ArithmeticOperator,
    /// In which numbers.
    pub mode: ArithmeticMode,
    /// Left operand.
    pub left: Expression,
    /// Right operand.
    pub right: Expression,
    /// How errors show operands of which only the value is left.
    pub shown: [Option<Arc<str>>; 2],
}

impl Arithmetic {
    /// An operand as errors show it.
    pub(crate) fn shown(&self, operand: usize) -> ShownOperand<'_> {
        let expression = if operand == 0 { &self.left } else { &self.right };
        ShownOperand(expression, self.shown[operand].as_deref())
    }
}

/// An operand in errors and EXPLAIN.
pub(crate) struct ShownOperand<'e>(&'e Expression, Option<&'e str>);

impl std::fmt::Display for ShownOperand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.1.filter(|_| self.0.literal().is_some()) {
            Some(text) => f.write_str(text),
            None => write!(f, "{}", self.0),
        }
    }
}

fn mode_of(result: &ResultType) -> ArithmeticMode {
    match result.class() {
        TypeClass::Integer => ArithmeticMode::Integer,
        TypeClass::Text if result.is_number_bytes() => ArithmeticMode::Integer,
        TypeClass::Decimal => ArithmeticMode::Decimal,
        TypeClass::Double | TypeClass::Text | TypeClass::Null | TypeClass::Json => ArithmeticMode::Double,
        TypeClass::DateTime | TypeClass::Time if result.scale() == 0 => ArithmeticMode::Integer,
        TypeClass::DateTime | TypeClass::Time => ArithmeticMode::Decimal,
    }
}

/// DIV: numbers that are no integers are divided exactly.
fn division_mode(widest: ArithmeticMode) -> ArithmeticMode {
    match widest {
        ArithmeticMode::Integer => ArithmeticMode::Integer,
        _ => ArithmeticMode::Decimal,
    }
}

/// An integer of so many digits.
fn integer(digits: u32, unsigned: bool) -> ResultType {
    let mut result = ResultType::integer(digits + u32::from(!unsigned));
    result.column_type.unsigned = unsigned;
    result
}

/// Digits of what DIV makes of an operand: of a text as many as it has characters.
fn quotient_digits(operand: &ResultType) -> u32 {
    const DIGITS_MAX: u32 = 21;
    match operand.class() {
        TypeClass::Text if !operand.is_number_bytes() => operand.text_length().min(DIGITS_MAX),
        TypeClass::Json => DIGITS_MAX,
        TypeClass::Double if operand.column_type.decimals.is_none() => DIGITS_MAX,
        _ => operand.integer_digits(),
    }
}

fn is_bit_or_unsigned(result: &ResultType) -> bool {
    result.column_type.unsigned || matches!(result.kind(), values::TypeKind::Bit | values::TypeKind::Year)
}

impl Arithmetic {
    /// The mode and result type of an operation.
    pub fn derive(
        operator: ArithmeticOperator,
        left: &ResultType,
        right: &ResultType,
        sql_mode: SqlMode,
        division_precision_increment: u8,
    ) -> (ArithmeticMode, ResultType) {
        let (left_mode, right_mode) = (mode_of(left), mode_of(right));
        let widest = match (left_mode, right_mode) {
            (ArithmeticMode::Double, _) | (_, ArithmeticMode::Double) => ArithmeticMode::Double,
            (ArithmeticMode::Decimal, _) | (_, ArithmeticMode::Decimal) => ArithmeticMode::Decimal,
            _ => ArithmeticMode::Integer,
        };
        let nullable = left.nullable || right.nullable;
        let unsigned = is_bit_or_unsigned(left) || is_bit_or_unsigned(right);
        let (scale_left, scale_right) = (left.scale().min(30), right.scale().min(30));
        let (digits_left, digits_right) = (left.integer_digits(), right.integer_digits());
        let double = || {
            let (length, decimals) = approximate_size(&[left, right]);
            ResultType::double_of(length, decimals)
        };
        use ArithmeticOperator::{Add, Divide, IntegerDivide, Modulo, Multiply, Subtract};
        let (mode, result) = match (operator, widest) {
            (IntegerDivide, mode) => {
                (division_mode(mode), integer(quotient_digits(left), unsigned).nullable())
            }
            (Divide, ArithmeticMode::Double) => {
                let result = double_quotient(left, right, division_precision_increment);
                (ArithmeticMode::Double, result.nullable())
            }
            (Divide, _) => {
                let scale = (u32::from(scale_left) + u32::from(division_precision_increment)).min(30);
                let increment = u32::from(scale_left) + u32::from(division_precision_increment);
                let precision = digits_left + u32::from(scale_right) + increment;
                (ArithmeticMode::Decimal, decimal_of(left, right, precision, scale as u8).nullable())
            }
            (Modulo, ArithmeticMode::Integer | ArithmeticMode::Double) => {
                let mut result = match widest {
                    ArithmeticMode::Double => double(),
                    _ => ResultType::integer(digits_left.max(digits_right) + 1),
                };
                result.column_type.unsigned = is_bit_or_unsigned(left);
                (widest, result.nullable())
            }
            (Modulo, ArithmeticMode::Decimal) => {
                let precision =
                    (digits_left + u32::from(scale_left)).max(digits_right + u32::from(scale_right));
                (widest, remainder_of(left, precision, scale_left.max(scale_right)).nullable())
            }
            (_, ArithmeticMode::Double) => (widest, double()),
            (Add | Subtract, ArithmeticMode::Decimal) => {
                let scale = scale_left.max(scale_right);
                (widest, sum_of(left, right, digits_left.max(digits_right) + 1 + u32::from(scale), scale))
            }
            (Multiply, ArithmeticMode::Decimal) => {
                let scale = (u32::from(scale_left) + u32::from(scale_right)).min(30);
                (widest, decimal_of(left, right, digits_left + digits_right + scale, scale as u8))
            }
            (Subtract, ArithmeticMode::Integer) => {
                let unsigned = unsigned && !sql_mode.contains(SqlMode::NO_UNSIGNED_SUBTRACTION);
                (widest, integer(digits_left.max(digits_right) + 1, unsigned))
            }
            (Multiply, ArithmeticMode::Integer) => (widest, integer(digits_left + digits_right, unsigned)),
            (Add, ArithmeticMode::Integer) => (widest, integer(digits_left.max(digits_right) + 1, unsigned)),
        };
        (mode, result.nullable_if(nullable))
    }

    /// The value for one row. `whole` is the expression that this operation is, for its type and for errors.
    pub fn evaluate(
        &self,
        whole: &Expression,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        if self.mode == ArithmeticMode::Integer
            && let (Some(left), Some(right)) = (self.left.at_hand(row), self.right.at_hand(row))
            && let (Some(left), Some(right)) = (left.integer(), right.integer())
        {
            return self.integers(whole, left, right, context);
        }
        let left = self.left.operand(row, context)?;
        if left.is_null() {
            // The right operand counts for what it warns of.
            match self.mode {
                ArithmeticMode::Decimal => {}
                ArithmeticMode::Integer => drop(self.right.operand(row, context)?),
                ArithmeticMode::Double => {
                    let right = self.right.operand(row, context)?;
                    convert::to_double(right.as_ref(), &self.right.result.column_type, context)?;
                }
            }
            return Ok(Value::Null);
        }
        let right = self.right.operand(row, context)?;
        if right.is_null() {
            // So does the left one.
            if self.mode == ArithmeticMode::Double {
                convert::to_double(left.as_ref(), &self.left.result.column_type, context)?;
            }
            return Ok(Value::Null);
        }
        let (left_type, right_type) = (&self.left.result.column_type, &self.right.result.column_type);
        match self.mode {
            ArithmeticMode::Integer => {
                let left = convert::to_integer(left.as_ref(), left_type, context)?;
                let right = convert::to_integer(right.as_ref(), right_type, context)?;
                match (left, right) {
                    (Some(left), Some(right)) => self.integers(whole, left, right, context),
                    _ => Ok(Value::Null),
                }
            }
            ArithmeticMode::Decimal => {
                if let (ValueRef::Decimal(left), ValueRef::Decimal(right)) = (left.as_ref(), right.as_ref()) {
                    return self.decimals(whole, left, right, context);
                }
                let left = convert::operand_to_decimal(&self.left, left.as_ref(), context)?;
                let right = convert::operand_to_decimal(&self.right, right.as_ref(), context)?;
                match (left, right) {
                    (Some(left), Some(right)) => self.decimals(whole, &left, &right, context),
                    _ => Ok(Value::Null),
                }
            }
            ArithmeticMode::Double => {
                let left = convert::operand_to_double(&self.left, left.as_ref(), context)?;
                let right = convert::operand_to_double(&self.right, right.as_ref(), context)?;
                match (left, right) {
                    (Some(left), Some(right)) => self.doubles(whole, left, right, context),
                    _ => Ok(Value::Null),
                }
            }
        }
    }

    fn integers(
        &self,
        whole: &Expression,
        left: i128,
        right: i128,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let exact = match self.operator {
            ArithmeticOperator::Add => left + right,
            ArithmeticOperator::Subtract => left - right,
            ArithmeticOperator::Multiply => left.checked_mul(right).unwrap_or(i128::MAX),
            _ if right == 0 => return Ok(division_by_zero(context)),
            ArithmeticOperator::Modulo => left % right,
            // Never `/` in this mode: `derive` gives it exact numbers.
            ArithmeticOperator::IntegerDivide | ArithmeticOperator::Divide => left / right,
        };
        integer_result(whole, exact)
    }

    fn decimals(
        &self,
        whole: &Expression,
        left: &Decimal,
        right: &Decimal,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let exact = match self.operator {
            ArithmeticOperator::Add => left.add(right),
            ArithmeticOperator::Subtract => left.subtract(right),
            ArithmeticOperator::Multiply => left.multiply(right),
            _ if right.is_zero() => return Ok(division_by_zero(context)),
            ArithmeticOperator::Divide => left
                .divide(right, context.facts().division_precision_increment)
                .or_else(|_| left.divide_to_scale(right, whole.result.scale())),
            ArithmeticOperator::Modulo => left.remainder(right),
            ArithmeticOperator::IntegerDivide => {
                let quotient = left.divide_to_integer(right).ok();
                let exact = quotient.as_ref().and_then(|quotient| quotient.unscaled_i128());
                let result = integer_result(whole, exact.unwrap_or(i128::MAX));
                if let (Err(_), Some(quotient)) = (&result, quotient) {
                    // The error of a strict change.
                    let warning = sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", quotient);
                    context.diagnostics().warning(warning);
                    if let Some(raised) = context.diagnostics().raised() {
                        return Err(raised.clone());
                    }
                }
                return result;
            }
        };
        match exact {
            Ok(exact) if exact.is_negative() && whole.result.column_type.unsigned => {
                Err(out_of_range("DECIMAL UNSIGNED", whole))
            }
            Ok(exact) => Ok(Value::Decimal(exact.shown_with(whole.result.scale()))),
            Err(_) => Err(out_of_range("DECIMAL", whole)),
        }
    }

    fn doubles(
        &self,
        whole: &Expression,
        left: f64,
        right: f64,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let result = match self.operator {
            ArithmeticOperator::Add => left + right,
            ArithmeticOperator::Subtract => left - right,
            ArithmeticOperator::Multiply => left * right,
            _ if right == 0.0 => return Ok(division_by_zero(context)),
            ArithmeticOperator::Divide => left / right,
            // Never in this mode: `derive` gives it exact numbers.
            ArithmeticOperator::Modulo | ArithmeticOperator::IntegerDivide => left % right,
        };
        if result.is_finite() { Ok(Value::Double(result)) } else { Err(out_of_range("DOUBLE", whole)) }
    }
}

/// An exact integer as the value of an expression, checked against the range of its type.
pub fn integer_result(whole: &Expression, exact: i128) -> SqlResult<Value> {
    if whole.result.column_type.unsigned {
        return match u64::try_from(exact) {
            Ok(value) => Ok(Value::UInt(value)),
            Err(_) => Err(out_of_range("BIGINT UNSIGNED", whole)),
        };
    }
    match i64::try_from(exact) {
        Ok(value) => Ok(Value::Int(value)),
        Err(_) => Err(out_of_range("BIGINT", whole)),
    }
}

/// Error 1690.
pub fn out_of_range(kind: &str, whole: &Expression) -> SqlError {
    sql_error!(ER_DATA_OUT_OF_RANGE, kind, whole)
}

/// NULL; with a warning where sql_mode asks for it.
pub fn division_by_zero(context: &mut dyn EvaluationContext) -> Value {
    if context.facts().sql_mode.contains(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        context.diagnostics().warning(sql_error!(ER_DIVISION_BY_ZERO));
    }
    Value::Null
}

/// A DECIMAL that is unsigned if both operands are.
fn decimal_of(left: &ResultType, right: &ResultType, precision: u32, scale: u8) -> ResultType {
    let mut result = ResultType::decimal(precision, scale);
    result.column_type.unsigned = left.column_type.unsigned && right.column_type.unsigned;
    result
}

/// The type of a remainder: MySQL makes room for a sign in any case.
fn remainder_of(left: &ResultType, precision: u32, scale: u8) -> ResultType {
    let is_unsigned = is_bit_or_unsigned(left);
    let mut result = decimal_of(left, left, precision + u32::from(is_unsigned), scale);
    result.column_type.unsigned = is_unsigned;
    result
}

/// The type of a sum: it is shown with the digits that it may have, more than a DECIMAL holds.
fn sum_of(left: &ResultType, right: &ResultType, precision: u32, scale: u8) -> ResultType {
    let mut result = decimal_of(left, right, precision, scale);
    result.column_type.length = Some(precision);
    result
}

/// The type of a division of floating point numbers.
fn double_quotient(left: &ResultType, right: &ResultType, increment: u8) -> ResultType {
    let decimals = left.scale().max(right.scale()).saturating_add(increment).min(31);
    let whole = left.text_length().saturating_sub(u32::from(left.scale()));
    ResultType::double_of(whole + u32::from(decimals), decimals)
}

/// In which numbers unary minus works: in floating point ones for all that is no number itself.
fn negation_mode(operand: &ResultType) -> ArithmeticMode {
    match operand.class() {
        TypeClass::Null | TypeClass::DateTime | TypeClass::Time | TypeClass::Text => ArithmeticMode::Double,
        _ => mode_of(operand),
    }
}

/// Unary minus: the type of its result.
pub fn derive_negation(operand: &ResultType) -> ResultType {
    match negation_mode(operand) {
        ArithmeticMode::Integer => ResultType::integer(operand.integer_digits() + 1),
        ArithmeticMode::Decimal => {
            ResultType::decimal(operand.integer_digits() + u32::from(operand.scale()), operand.scale())
        }
        ArithmeticMode::Double => ResultType::scaled_double(operand.scale()),
    }
    .nullable_if(operand.nullable)
}

/// Unary minus for one row.
pub fn negate(
    whole: &Expression,
    operand: &Expression,
    row: RowRef<'_>,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let value = operand.operand(row, context)?;
    let column_type = &operand.result.column_type;
    if value.is_null() {
        return Ok(Value::Null);
    }
    match negation_mode(&operand.result) {
        ArithmeticMode::Integer => match convert::to_integer(value.as_ref(), column_type, context)? {
            Some(value) => integer_result(whole, -value),
            None => Ok(Value::Null),
        },
        ArithmeticMode::Decimal => Ok(convert::to_decimal(value.as_ref(), column_type, context)?
            .map_or(Value::Null, |value| Value::Decimal(value.negated().shown_with(whole.result.scale())))),
        ArithmeticMode::Double => Ok(convert::argument_to_double(operand, value.as_ref(), context)?
            .map_or(Value::Null, |value| Value::Double(-value))),
    }
}
