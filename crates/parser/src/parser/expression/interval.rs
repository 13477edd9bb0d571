//! INTERVAL: amounts with their unit, and the calls that take a unit.

use crate::parser::expression::{bit_expression, expression};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Whether INTERVAL starts an amount with a unit and not the function INTERVAL(a, b, ..).
pub(crate) fn at_interval(parser: &mut Parser) -> bool {
    if !parser.at_word(K::Interval) {
        return false;
    }
    if parser.kind_at(1) != T::OpenParenthesis {
        return true;
    }
    // INTERVAL (a) DAY is an amount in parentheses; INTERVAL (a, b) is the function.
    let close = parser.closing_parenthesis(parser.at + 1);
    !has_comma_at_top(parser, parser.at + 1, close)
}

fn has_comma_at_top(parser: &mut Parser, open: usize, close: usize) -> bool {
    let mut at = open + 1;
    while at < close {
        match parser.tokens[at].kind {
            T::Comma => return true,
            T::OpenParenthesis => at = parser.closing_parenthesis(at),
            _ => {}
        }
        at += 1;
    }
    false
}

/// The unit behind the amount of an INTERVAL.
pub(crate) fn interval_unit(parser: &mut Parser) -> SqlResult<IntervalUnit> {
    use IntervalUnit as U;
    let T::Word(word) = parser.kind() else { return parser.fail() };
    let unit = match word {
        K::Microsecond => U::Microsecond,
        K::Second | K::SqlTsiSecond => U::Second,
        K::Minute | K::SqlTsiMinute => U::Minute,
        K::Hour | K::SqlTsiHour => U::Hour,
        K::Day | K::SqlTsiDay => U::Day,
        K::Week | K::SqlTsiWeek => U::Week,
        K::Month | K::SqlTsiMonth => U::Month,
        K::Quarter | K::SqlTsiQuarter => U::Quarter,
        K::Year | K::SqlTsiYear => U::Year,
        K::SecondMicrosecond => U::SecondMicrosecond,
        K::MinuteMicrosecond => U::MinuteMicrosecond,
        K::MinuteSecond => U::MinuteSecond,
        K::HourMicrosecond => U::HourMicrosecond,
        K::HourSecond => U::HourSecond,
        K::HourMinute => U::HourMinute,
        K::DayMicrosecond => U::DayMicrosecond,
        K::DaySecond => U::DaySecond,
        K::DayMinute => U::DayMinute,
        K::DayHour => U::DayHour,
        K::YearMonth => U::YearMonth,
        _ => return parser.fail(),
    };
    parser.advance();
    Ok(unit)
}

/// `INTERVAL amount unit + operand`, or the function INTERVAL(a, b, ..).
#[inline(never)]
pub(crate) fn interval_operand(parser: &mut Parser) -> SqlResult<Expression> {
    let is_amount = at_interval(parser);
    parser.advance();
    if !is_amount {
        let arguments = parser.parenthesised_list(expression)?;
        return Ok(Expression::call("interval", arguments));
    }
    let amount = Box::new(expression(parser)?);
    let unit = interval_unit(parser)?;
    parser.expect_kind(T::Plus)?;
    let operand = Box::new(bit_expression(parser)?);
    Ok(Expression::DateArithmetic { operand, amount, unit, subtract: false })
}

/// `DATE_ADD(a, INTERVAL b unit)`; ADDDATE and SUBDATE also take days.
#[inline(never)]
pub(crate) fn date_arithmetic(parser: &mut Parser, lower: &str) -> SqlResult<Option<Expression>> {
    let subtract = lower.starts_with("sub") || lower.ends_with("sub");
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let operand = Box::new(expression(parser)?);
    parser.expect_kind(T::Comma)?;
    let is_interval = at_interval(parser);
    if !is_interval && lower.starts_with("date") {
        return parser.fail();
    }
    if is_interval {
        parser.advance();
    }
    let amount = Box::new(expression(parser)?);
    let unit = if is_interval { interval_unit(parser)? } else { IntervalUnit::Day };
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Some(Expression::DateArithmetic { operand, amount, unit, subtract }))
}

#[inline(never)]
pub(crate) fn timestamp_add(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let unit = simple_interval_unit(parser)?;
    parser.expect_kind(T::Comma)?;
    let amount = Box::new(expression(parser)?);
    parser.expect_kind(T::Comma)?;
    let operand = Box::new(expression(parser)?);
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::TimestampAdd { unit, amount, operand })
}

#[inline(never)]
pub(crate) fn timestamp_diff(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let unit = simple_interval_unit(parser)?;
    parser.expect_kind(T::Comma)?;
    let from = Box::new(expression(parser)?);
    parser.expect_kind(T::Comma)?;
    let to = Box::new(expression(parser)?);
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::TimestampDiff { unit, from, to })
}

/// A unit of one word.
fn simple_interval_unit(parser: &mut Parser) -> SqlResult<IntervalUnit> {
    let token = parser.token();
    let unit = interval_unit(parser)?;
    if unit.name().contains('_') { Err(parser.syntax_error_at(token)) } else { Ok(unit) }
}
