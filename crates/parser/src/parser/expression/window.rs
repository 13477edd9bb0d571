//! Window functions and window specifications.

use crate::parser::expression::interval::interval_unit;
use crate::parser::expression::operand::operand;
use crate::parser::expression::{expression, expression_list};
use crate::parser::query::optional_order_by;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// RANK() and the other functions that need OVER; an error for every other reserved word.
#[inline(never)]
pub(crate) fn window_function(parser: &mut Parser, word: Keyword) -> SqlResult<Expression> {
    use WindowFunctionKind as W;
    let kind = match word {
        K::RowNumber => W::RowNumber,
        K::Rank => W::Rank,
        K::DenseRank => W::DenseRank,
        K::PercentRank => W::PercentRank,
        K::CumeDist => W::CumeDist,
        K::Ntile => W::Ntile,
        K::Lead => W::Lead,
        K::Lag => W::Lag,
        K::FirstValue => W::FirstValue,
        K::LastValue => W::LastValue,
        K::NthValue => W::NthValue,
        _ => return parser.fail(),
    };
    parser.advance();
    let arguments = parser.parenthesised(|parser| window_arguments(parser, kind))?;
    let from_last =
        kind == W::NthValue && parser.accept(K::From) && parser.expect_any(&[K::First, K::Last])? == K::Last;
    let takes_nulls = matches!(kind, W::Lead | W::Lag | W::FirstValue | W::LastValue | W::NthValue);
    let nulls = if takes_nulls { parser.accept_any(&[K::Respect, K::Ignore]) } else { None };
    if nulls.is_some() {
        parser.expect(K::Nulls)?;
    }
    let Some(over) = optional_over(parser)? else { return parser.fail() };
    let ignore_nulls = nulls == Some(K::Ignore);
    Ok(Expression::WindowFunction(Box::new(WindowFunctionCall {
        kind,
        arguments,
        ignore_nulls,
        from_last,
        over,
    })))
}

/// Numbers of rows and of buckets are integers or parameters; a name would be that of a stored program's variable.
fn window_arguments(parser: &mut Parser, kind: WindowFunctionKind) -> SqlResult<Vec<Expression>> {
    use WindowFunctionKind as W;
    let mut arguments = Vec::new();
    match kind {
        W::RowNumber | W::Rank | W::DenseRank | W::PercentRank | W::CumeDist => {}
        W::Ntile => arguments.push(whole_number(parser)?),
        W::FirstValue | W::LastValue => arguments.push(expression(parser)?),
        W::NthValue => {
            arguments.push(expression(parser)?);
            parser.expect_kind(T::Comma)?;
            arguments.push(operand(parser)?);
        }
        W::Lead | W::Lag => {
            arguments.push(expression(parser)?);
            if parser.accept_kind(T::Comma) {
                arguments.push(whole_number(parser)?);
                if parser.accept_kind(T::Comma) {
                    arguments.push(expression(parser)?);
                }
            }
        }
    }
    Ok(arguments)
}

fn whole_number(parser: &mut Parser) -> SqlResult<Expression> {
    let begins =
        matches!(parser.kind(), T::Integer | T::Parameter | T::UserVariable) || parser.kind().is_name();
    let number = if begins { operand(parser)? } else { return parser.fail() };
    match number {
        Expression::Literal(Literal::Integer(_))
        | Expression::Parameter(_)
        | Expression::UserVariable(_)
        | Expression::Column(_) => Ok(number),
        _ => parser.fail(),
    }
}

/// `OVER name` or `OVER (specification)`.
#[inline(never)]
pub(crate) fn optional_over(parser: &mut Parser) -> SqlResult<Option<Over>> {
    if !parser.accept(K::Over) {
        return Ok(None);
    }
    if parser.kind() != T::OpenParenthesis {
        return Ok(Some(Over::Name(parser.name()?)));
    }
    Ok(Some(Over::Window(parser.parenthesised(window_specification)?)))
}

pub(crate) fn window_specification(parser: &mut Parser) -> SqlResult<WindowSpecification> {
    let base = if parser.kind().is_name() { Some(parser.name()?) } else { None };
    let partition_by =
        if parser.accept_all(&[K::Partition, K::By]) { expression_list(parser)? } else { Vec::new() };
    let order_by = optional_order_by(parser)?;
    let frame = optional_frame(parser)?;
    Ok(WindowSpecification { base, partition_by, order_by, frame })
}

fn optional_frame(parser: &mut Parser) -> SqlResult<Option<WindowFrame>> {
    let unit = match parser.accept_any(&[K::Rows, K::Range, K::Groups]) {
        None => return Ok(None),
        Some(K::Rows) => FrameUnit::Rows,
        Some(K::Range) => FrameUnit::Range,
        Some(_) => FrameUnit::Groups,
    };
    let (start, end) = if parser.accept(K::Between) {
        let start = frame_bound(parser)?;
        parser.expect(K::And)?;
        (start, frame_bound(parser)?)
    } else {
        (frame_bound(parser)?, FrameBound::CurrentRow)
    };
    let exclusion = frame_exclusion(parser)?;
    Ok(Some(WindowFrame { unit, start, end, exclusion }))
}

fn frame_bound(parser: &mut Parser) -> SqlResult<FrameBound> {
    if parser.accept_all(&[K::Current, K::Row]) {
        return Ok(FrameBound::CurrentRow);
    }
    if parser.accept(K::Unbounded) {
        return Ok(match parser.expect_any(&[K::Preceding, K::Following])? {
            K::Preceding => FrameBound::UnboundedPreceding,
            _ => FrameBound::UnboundedFollowing,
        });
    }
    let is_interval = parser.accept(K::Interval);
    // Without INTERVAL an offset is a number or a parameter: no sign, no arithmetic.
    let amount = if is_interval {
        expression(parser)?
    } else if matches!(parser.kind(), T::Integer | T::Decimal | T::Float | T::Parameter) {
        operand(parser)?
    } else {
        return parser.fail();
    };
    let amount = Box::new(amount);
    let unit = if is_interval { Some(interval_unit(parser)?) } else { None };
    let offset = FrameOffset { amount, unit };
    Ok(match parser.expect_any(&[K::Preceding, K::Following])? {
        K::Preceding => FrameBound::Preceding(offset),
        _ => FrameBound::Following(offset),
    })
}

fn frame_exclusion(parser: &mut Parser) -> SqlResult<Option<FrameExclusion>> {
    if !parser.accept(K::Exclude) {
        return Ok(None);
    }
    Ok(Some(match parser.expect_any(&[K::Current, K::Group, K::Ties, K::No])? {
        K::Current => {
            parser.expect(K::Row)?;
            FrameExclusion::CurrentRow
        }
        K::Group => FrameExclusion::Group,
        K::Ties => FrameExclusion::Ties,
        _ => {
            parser.expect(K::Others)?;
            FrameExclusion::NoOthers
        }
    }))
}
