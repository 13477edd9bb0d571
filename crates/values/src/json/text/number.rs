//! Numbers of JSON text: signed integers where they fit, then unsigned ones, else floating point. Neighbour: `text.rs`, which
//! has the reader.

use super::{Reader, TextError};
use crate::json::Node;

/// The exponent that a number without fraction may have.
const EXPONENT_MAX: usize = 308;
/// Characters of an integer that fits 64 bits whatever its digits are.
const SHORT_DIGITS_MAX: usize = 18;

impl Reader<'_, '_> {
    /// The number that begins here; what is none is no value at all.
    pub(super) fn number(&mut self) -> Result<(), TextError> {
        let node = self.number_node()?;
        Ok(self.writer.value(node)?)
    }

    fn number_node(&mut self) -> Result<Node<'static>, TextError> {
        let start = self.at;
        let is_negative = self.take(b'-');
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => {
                self.digits();
            }
            _ => return Err(self.error("Invalid value.")),
        }
        let integer_end = self.at;
        let mut fraction_digits = 0;
        if self.take(b'.') {
            fraction_digits = self.digits();
            if fraction_digits == 0 {
                return Err(self.error("Miss fraction part in number."));
            }
        }
        let mantissa_end = self.at;
        if self.take(b'e') || self.take(b'E') {
            self.exponent(start, mantissa_end, fraction_digits)?;
        }
        if let Some(number) = self.short_integer(start, integer_end, is_negative) {
            return Ok(Node::Int(number));
        }
        let text = std::str::from_utf8(self.text.get(start..self.at).unwrap_or_default()).unwrap_or_default();
        if self.at == integer_end {
            // A negative zero is the integer 0.
            if let Ok(number) = text.parse::<i64>() {
                return Ok(Node::Int(number));
            }
            if let (false, Ok(number)) = (is_negative, text.parse::<u64>()) {
                return Ok(Node::UInt(number));
            }
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Node::Double(number)),
            _ => Err(too_big(start)),
        }
    }

    /// An integer of so few digits that no sum overflows.
    fn short_integer(&self, start: usize, end: usize, is_negative: bool) -> Option<i64> {
        if self.at != end || end - start > SHORT_DIGITS_MAX {
            return None;
        }
        let digits = self.text.get(start + usize::from(is_negative)..end)?;
        let magnitude = digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        Some(if is_negative { -magnitude } else { magnitude })
    }

    /// Goes over digits, and says how many there were.
    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    /// Goes over an exponent. One that is too big for its fraction is an error even where the mantissa is zero.
    fn exponent(
        &mut self,
        start: usize,
        mantissa_end: usize,
        fraction_digits: usize,
    ) -> Result<(), TextError> {
        let is_negative = !self.take(b'+') && self.take(b'-');
        let digits_start = self.at;
        if self.digits() == 0 {
            return Err(self.error("Miss exponent in number."));
        }
        let mantissa = self.text.get(start..mantissa_end).unwrap_or_default();
        if is_negative || !mantissa.iter().all(|byte| matches!(byte, b'-' | b'0' | b'.')) {
            return Ok(());
        }
        let exponent_max = EXPONENT_MAX + fraction_digits;
        let mut exponent = 0usize;
        for byte in self.text.get(digits_start..self.at).unwrap_or_default() {
            exponent = exponent * 10 + usize::from(byte - b'0');
            if exponent > exponent_max {
                return Err(too_big(start));
            }
        }
        Ok(())
    }
}

fn too_big(start: usize) -> TextError {
    TextError::Syntax { message: "Number too big to be stored in double.", position: start }
}
