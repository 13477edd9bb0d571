//! Bit operators over BIGINT UNSIGNED and, when an operand is a binary string, over bytes. Main type: [`BitOperation`].

use crate::context::{EvaluationContext, waiting_bytes};
use crate::convert;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::Expression;
use charset::CollationId;
use errors::{SqlResult, sql_error};
use functions::{Interrupt, pieces};
use values::{RowRef, Value, ValueRef};

/// The operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `~`; the right operand is not used.
    Invert,
}

impl BitOperator {
    /// AND, OR or, as of others, XOR of two numbers.
    pub fn of_numbers(self, left: u64, right: u64) -> u64 {
        match self {
            BitOperator::And => left & right,
            BitOperator::Or => left | right,
            _ => left ^ right,
        }
    }

    /// The sign, as it is printed.
    pub fn sign(self) -> &'static str {
        match self {
            BitOperator::And => "&",
            BitOperator::Or => "|",
            BitOperator::Xor => "^",
            BitOperator::ShiftLeft => "<<",
            BitOperator::ShiftRight => ">>",
            BitOperator::Invert => "~",
        }
    }
}

/// An operation over bits.
#[derive(Clone, Debug)]
pub struct BitOperation {
    /// The operator.
    pub operator: BitOperator,
    /// Over bytes, not numbers.
    pub over_bytes: bool,
    /// Left operand.
    pub left: Expression,
    /// Right operand; None for `~`.
    pub right: Option<Expression>,
}

/// Whether an expression counts as a binary string for bit operators: hexadecimal and bit literals
/// and NULL do not.
fn is_binary_string(expression: &Expression) -> bool {
    let result = &expression.result;
    result.class() == TypeClass::Text
        && result.collation() == CollationId::BINARY
        && !result.is_number_bytes()
}

impl BitOperation {
    /// Builds the operation with its type.
    pub fn derive(
        operator: BitOperator,
        left: Expression,
        right: Option<Expression>,
    ) -> (BitOperation, ResultType) {
        let over_bytes = match (operator, &right) {
            (BitOperator::And | BitOperator::Or | BitOperator::Xor, Some(right)) => {
                let both_text = [&left, right].iter().all(|operand| {
                    operand.result.class() == TypeClass::Text
                        && operand.result.collation() == CollationId::BINARY
                });
                both_text && (is_binary_string(&left) || is_binary_string(right))
            }
            _ => is_binary_string(&left),
        };
        let nullable = left.result.nullable || right.as_ref().is_some_and(|right| right.result.nullable);
        let result = if over_bytes {
            ResultType::binary(left.result.text_length()).nullable_if(nullable)
        } else {
            ResultType::unsigned(21).nullable_if(nullable)
        };
        (BitOperation { operator, over_bytes, left, right }, result)
    }

    /// The value for one row.
    pub fn evaluate(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
        let left = self.left.operand(row, context)?;
        if left.is_null() {
            return Ok(Value::Null);
        }
        if self.over_bytes
            && let ValueRef::Bytes(bytes) = left.as_ref()
        {
            return self.bytes(bytes, waiting_bytes(&left), row, context);
        }
        let Some(left) = operand_bits(left.as_ref(), &self.left, context)? else { return Ok(Value::Null) };
        let Some(right) = &self.right else { return Ok(Value::UInt(!left)) };
        let value = right.operand(row, context)?;
        let Some(right) = operand_bits(value.as_ref(), right, context)? else { return Ok(Value::Null) };
        Ok(Value::UInt(match self.operator {
            BitOperator::And => left & right,
            BitOperator::Or => left | right,
            BitOperator::Xor => left ^ right,
            BitOperator::ShiftLeft if right < 64 => left << right,
            BitOperator::ShiftRight if right < 64 => left >> right,
            BitOperator::ShiftLeft | BitOperator::ShiftRight => 0,
            BitOperator::Invert => !left,
        }))
    }

    /// The operation over bytes. `waiting`: what the left operand holds while the right one is computed.
    fn bytes(
        &self,
        left: &[u8],
        waiting: usize,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let Some(right) = &self.right else {
            return Ok(Value::Bytes(pieces::map(left, &context, |byte| !byte)?));
        };
        let value = right.operand_beside(waiting, row, context)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        if matches!(self.operator, BitOperator::ShiftLeft | BitOperator::ShiftRight) {
            let count = convert::to_integer(value.as_ref(), &right.result.column_type, context)?.unwrap_or(0);
            let count = usize::try_from(convert::integer_bits(count)).unwrap_or(usize::MAX);
            return Ok(Value::Bytes(shift(left, count, self.operator == BitOperator::ShiftLeft, &context)?));
        }
        let Some(right) = convert::to_text(value.as_ref(), &right.result.column_type, context) else {
            return Ok(Value::Null);
        };
        if left.len() != right.len() {
            return Err(sql_error!(ER_INVALID_BITWISE_OPERANDS_SIZE, self.operator.sign()));
        }
        let mut rights = right.iter();
        let combined = pieces::map(left, &context, |left| {
            let right = rights.next().copied().unwrap_or(0);
            match self.operator {
                BitOperator::And => left & right,
                BitOperator::Or => left | right,
                _ => left ^ right,
            }
        })?;
        Ok(Value::Bytes(combined))
    }
}

/// The longest binary string that bit aggregates take, in bytes.
const AGGREGATED_BYTES_MAX: u32 = 511;

/// The type of a bit aggregate over that argument: bytes over binary strings, otherwise a number. Error 3514 for strings that may be too
/// long.
pub fn bit_aggregate_type(argument: &Expression) -> SqlResult<ResultType> {
    if !is_binary_string(argument) {
        return Ok(ResultType::unsigned(21));
    }
    let bytes = argument.result.text_length();
    if bytes > AGGREGATED_BYTES_MAX {
        return Err(sql_error!(ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE));
    }
    // MySQL counts a byte that says whether there is a value.
    Ok(ResultType::binary(bytes + 1))
}

/// Combines a value with those before it. Error 3513 where its length is another one.
pub fn combine_bytes(operator: BitOperator, combined: &mut [u8], bytes: &[u8]) -> SqlResult<()> {
    if combined.len() != bytes.len() {
        return Err(sql_error!(ER_INVALID_BITWISE_OPERANDS_SIZE, ""));
    }
    for (combined, byte) in combined.iter_mut().zip(bytes) {
        match operator {
            BitOperator::And => *combined &= byte,
            BitOperator::Or => *combined |= byte,
            _ => *combined ^= byte,
        }
    }
    Ok(())
}

/// What a bit aggregate of that type is over no value: as many ones or zeros as its argument can have.
pub fn bytes_of_nothing(operator: BitOperator, result: &ResultType) -> Value {
    let longest = result.text_length().saturating_sub(1) as usize;
    Value::Bytes(vec![if operator == BitOperator::And { 0xff } else { 0 }; longest])
}

/// The values of a frame that moves, for a bit aggregate over binary strings. They are of one length.
#[derive(Clone, Debug, Default)]
pub struct AggregatedBytes {
    /// How many values have each bit, the highest bit of the first byte first.
    ones: Vec<u64>,
    count: u64,
}

impl AggregatedBytes {
    fn each_bit(&mut self, bytes: &[u8], mut change: impl FnMut(&mut u64)) {
        for (ones, byte) in self.ones.chunks_exact_mut(8).zip(bytes) {
            for (bit, ones) in ones.iter_mut().enumerate() {
                if byte << bit & 0x80 != 0 {
                    change(ones);
                }
            }
        }
    }

    /// Adds a value. Error 3513 where its length is another one.
    pub fn add(&mut self, bytes: &[u8]) -> SqlResult<()> {
        if self.count == 0 {
            self.ones = vec![0; bytes.len() * 8];
        } else if self.ones.len() != bytes.len() * 8 {
            return Err(sql_error!(ER_INVALID_BITWISE_OPERANDS_SIZE, ""));
        }
        self.each_bit(bytes, |ones| *ones += 1);
        self.count += 1;
        Ok(())
    }

    /// Takes out a value that was added.
    pub fn remove(&mut self, bytes: &[u8]) {
        self.each_bit(bytes, |ones| *ones -= 1);
        self.count -= 1;
    }

    /// AND, OR or XOR of the values; of none as many ones or zeros as the argument can have.
    pub fn value(&self, operator: BitOperator, result: &ResultType) -> Value {
        let is_set = |ones: u64| match operator {
            BitOperator::And => ones == self.count,
            BitOperator::Or => ones > 0,
            _ => ones & 1 == 1,
        };
        if self.count == 0 {
            return bytes_of_nothing(operator, result);
        }
        let byte = |ones: &[u64]| ones.iter().fold(0, |byte: u8, ones| byte << 1 | u8::from(is_set(*ones)));
        Value::Bytes(self.ones.chunks_exact(8).map(byte).collect())
    }
}

/// The 64 bits of an operand. None for NULL.
fn operand_bits(
    value: ValueRef<'_>,
    operand: &Expression,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<u64>> {
    Ok(convert::operand_integer(value, operand, context)?.map(convert::integer_bits))
}

/// Shifts a byte string as one number, most significant byte first; the length stays.
fn shift(bytes: &[u8], count: usize, left: bool, interrupt: &dyn Interrupt) -> SqlResult<Vec<u8>> {
    let (whole, part) = (count / 8, (count % 8) as u32);
    let at = |index: Option<usize>| index.and_then(|index| bytes.get(index)).copied().map_or(0u16, u16::from);
    let mut indexes = 0..bytes.len();
    pieces::map(bytes, interrupt, |_| {
        let index = indexes.next();
        if left {
            let high = at(index.and_then(|index| index.checked_add(whole)));
            let low = at(index.and_then(|index| index.checked_add(whole)?.checked_add(1)));
            ((high << part) | (low << part >> 8)) as u8
        } else {
            let low = at(index.and_then(|index| index.checked_sub(whole)));
            let high = at(index.and_then(|index| index.checked_sub(whole)?.checked_sub(1)));
            (((high << 8) | low) >> part) as u8
        }
    })
}
