//! Calls: functions with a syntax of their own, and everything else that is `name(arguments)`.

use crate::parser::expression::aggregate::{aggregate, aggregate_kind};
use crate::parser::expression::cast::{cast_operand, json_value};
use crate::parser::expression::interval::{date_arithmetic, interval_unit, timestamp_add, timestamp_diff};
use crate::parser::expression::window::window_function;
use crate::parser::expression::{bit_expression, expression, expression_list};
use crate::parser::query::select::optional_alias;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// `name(`, where the name is not reserved.
#[inline(never)]
pub(crate) fn named_call(parser: &mut Parser) -> SqlResult<Expression> {
    let token = parser.token();
    let text = parser.text_of(token);
    let mut buffer = [0; FUNCTION_NAME_BYTES_MAX];
    let lower: &str = match buffer.get_mut(..text.len()) {
        Some(lower) if token.kind != T::QuotedName => {
            lower.copy_from_slice(text);
            lower.make_ascii_lowercase();
            std::str::from_utf8(lower).unwrap_or_default()
        }
        _ => "",
    };
    let spaced = parser.tokens[parser.at + 1].start != token.end && !parser.options.ignore_space;
    if spaced && is_unspaced_function(lower) {
        return plain_call(parser, true);
    }
    if lower == "json_merge" && parser.kind_at(1) == T::OpenParenthesis {
        parser.deprecate(Deprecation::Replaced("JSON_MERGE", "JSON_MERGE_PRESERVE/JSON_MERGE_PATCH"));
    }
    if lower == "found_rows" && parser.kind_at(1) == T::OpenParenthesis {
        parser.deprecate(Deprecation::FoundRows);
    }
    check_clock_arguments(parser, lower)?;
    match special_call(parser, lower)? {
        Some(expression) => Ok(expression),
        None => plain_call(parser, false),
    }
}

/// Functions of the clock and the session take nothing in their parentheses, or the written number of their digits. Error 1064.
fn check_clock_arguments(parser: &mut Parser, lower: &str) -> SqlResult<()> {
    let takes_digits = match lower {
        "curdate" | "current_date" | "current_user" | "database" | "row_count" | "schema"
        | "session_user" | "system_user" | "user" | "utc_date" => false,
        "current_time" | "current_timestamp" | "curtime" | "localtime" | "localtimestamp" | "now"
        | "sysdate" | "utc_time" | "utc_timestamp" => true,
        _ => return Ok(()),
    };
    if parser.kind_at(1) != T::OpenParenthesis || parser.kind_at(2) == T::CloseParenthesis {
        return Ok(());
    }
    let digits = usize::from(takes_digits && parser.kind_at(2) == T::Integer);
    if digits == 1 && parser.kind_at(3) == T::CloseParenthesis {
        return Ok(());
    }
    parser.at += 2 + digits;
    parser.fail()
}

/// `name(arguments)`.
#[inline(never)]
fn plain_call(parser: &mut Parser, spaced: bool) -> SqlResult<Expression> {
    let name = parser.any_word()?;
    let arguments = call_arguments(parser)?;
    Ok(Expression::Function(FunctionCall { schema: None, name, arguments, spaced }))
}

/// `(a, b)`; loadable functions may name their arguments with AS.
#[inline(never)]
pub(crate) fn call_arguments(parser: &mut Parser) -> SqlResult<Vec<Expression>> {
    parser.expect_kind(T::OpenParenthesis)?;
    if parser.accept_kind(T::CloseParenthesis) {
        return Ok(Vec::new());
    }
    let arguments = parser.list(|parser| {
        let argument = expression(parser)?;
        optional_alias(parser)?;
        Ok(argument)
    })?;
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(arguments)
}

/// A call that does not look like a list of arguments; None without moving where it is plain.
#[inline(never)]
fn special_call(parser: &mut Parser, lower: &str) -> SqlResult<Option<Expression>> {
    if let Some(kind) = aggregate_kind(lower) {
        return aggregate(parser, kind).map(Some);
    }
    Ok(Some(match lower {
        "cast" => cast_operand(parser)?,
        "extract" => extract(parser)?,
        "trim" => trim(parser)?,
        "position" => position(parser)?,
        "substring" | "substr" | "mid" => return substring(parser),
        "date_add" | "date_sub" | "adddate" | "subdate" => return date_arithmetic(parser, lower),
        "timestampadd" => timestamp_add(parser)?,
        "timestampdiff" => timestamp_diff(parser)?,
        "get_format" => get_format(parser)?,
        "weight_string" => weight_string(parser)?,
        "json_value" => json_value(parser)?,
        _ => return Ok(None),
    }))
}

/// Reserved words that are functions or values.
#[inline(never)]
pub(crate) fn reserved_call(parser: &mut Parser, word: Keyword) -> SqlResult<Expression> {
    let called = parser.kind_at(1) == T::OpenParenthesis;
    if called {
        check_clock_arguments(parser, &word.text().to_ascii_lowercase())?;
    }
    match word {
        K::If
        | K::Left
        | K::Right
        | K::Replace
        | K::Insert
        | K::Repeat
        | K::Mod
        | K::Database
        | K::Schema
            if called =>
        {
            plain_call(parser, false)
        }
        K::CurrentUser
        | K::CurrentDate
        | K::CurrentTime
        | K::CurrentTimestamp
        | K::Localtime
        | K::Localtimestamp
        | K::UtcDate
        | K::UtcTime
        | K::UtcTimestamp => {
            let name = parser.any_word()?;
            let arguments = if called { call_arguments(parser)? } else { Vec::new() };
            Ok(Expression::call(&name, arguments))
        }
        K::Char if called => char_call(parser),
        K::Grouping if called => {
            parser.advance();
            Ok(Expression::Grouping(parser.parenthesised_list(expression)?))
        }
        _ => window_function(parser, word),
    }
}

#[inline(never)]
fn char_call(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let arguments = expression_list(parser)?;
    let charset = if parser.accept(K::Using) { Some(parser.charset_name()?) } else { None };
    parser.deprecate_charset(charset.as_deref().unwrap_or_default());
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::Char { arguments, charset })
}

#[inline(never)]
fn extract(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let unit = interval_unit(parser)?;
    parser.expect(K::From)?;
    let operand = Box::new(expression(parser)?);
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::Extract { unit, operand })
}

#[inline(never)]
fn trim(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let side = match parser.accept_any(&[K::Leading, K::Trailing, K::Both]) {
        Some(K::Leading) => Some(TrimSide::Leading),
        Some(K::Trailing) => Some(TrimSide::Trailing),
        Some(_) => Some(TrimSide::Both),
        None => None,
    };
    let mut remove = None;
    let operand = if side.is_some() && parser.accept(K::From) {
        expression(parser)?
    } else {
        let first = expression(parser)?;
        if parser.accept(K::From) {
            remove = Some(Box::new(first));
            expression(parser)?
        } else if side.is_some() {
            return parser.fail();
        } else {
            first
        }
    };
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::Trim { side: side.unwrap_or(TrimSide::Unsaid), remove, operand: Box::new(operand) })
}

#[inline(never)]
fn position(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let needle = bit_expression(parser)?;
    parser.expect(K::In)?;
    let haystack = expression(parser)?;
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::call("locate", vec![needle, haystack]))
}

/// `SUBSTRING(a FROM b FOR c)` and `SUBSTRING(a, b, c)`.
#[inline(never)]
fn substring(parser: &mut Parser) -> SqlResult<Option<Expression>> {
    let name = parser.any_word()?;
    parser.expect_kind(T::OpenParenthesis)?;
    let mut arguments = vec![expression(parser)?];
    if parser.accept(K::From) {
        arguments.push(expression(parser)?);
        if parser.accept(K::For) {
            arguments.push(expression(parser)?);
        }
    } else {
        parser.expect_kind(T::Comma)?;
        arguments.push(expression(parser)?);
        if parser.accept_comma() {
            arguments.push(expression(parser)?);
        }
    }
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Some(Expression::call(&name, arguments)))
}

/// `GET_FORMAT(DATE, 'EUR')`: the type becomes a string.
#[inline(never)]
fn get_format(parser: &mut Parser) -> SqlResult<Expression> {
    let name = parser.any_word()?;
    parser.expect_kind(T::OpenParenthesis)?;
    let kind = match parser.expect_any(&[K::Date, K::Time, K::Datetime, K::Timestamp])? {
        K::Date => "DATE",
        K::Time => "TIME",
        _ => "DATETIME",
    };
    parser.expect_kind(T::Comma)?;
    let region = expression(parser)?;
    parser.expect_kind(T::CloseParenthesis)?;
    let kind = Expression::Literal(Literal::String { bytes: kind.as_bytes().to_vec(), introducer: None });
    Ok(Expression::call(&name, vec![kind, region]))
}

#[inline(never)]
fn weight_string(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let operand = Box::new(expression(parser)?);
    let mut shape = None;
    if parser.accept_comma() {
        let bytes = parser.number()?;
        parser.expect_kind(T::Comma)?;
        let characters = parser.number()?;
        parser.expect_kind(T::Comma)?;
        parser.number()?;
        shape = Some(WeightStringShape::Fitted { bytes, characters });
    } else if parser.accept(K::As) {
        let binary = parser.expect_any(&[K::Char, K::Binary])? == K::Binary;
        let length = parser.parenthesised(Parser::plain_number)?;
        shape = Some(match binary {
            true => WeightStringShape::Binary(length),
            false => WeightStringShape::Characters(length),
        });
    }
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::WeightString { operand, shape })
}

/// Whether a function of that name, in lower case, is a built-in only if its parenthesis follows at once, unless sql_mode has
/// IGNORE_SPACE.
pub fn is_unspaced_function(name: &str) -> bool {
    UNSPACED.contains(&name)
}

/// Those functions.
const UNSPACED: &[&str] = &[
    "adddate",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "count",
    "curdate",
    "curtime",
    "date_add",
    "date_sub",
    "extract",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "mid",
    "min",
    "now",
    "position",
    "session_user",
    "st_collect",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "trim",
    "var_pop",
    "var_samp",
    "variance",
];

/// Longer names are no function of ours.
const FUNCTION_NAME_BYTES_MAX: usize = 32;
