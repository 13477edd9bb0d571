//! CAST, CONVERT and JSON_VALUE: calls that name a type.

use crate::parser::ddl::data_type::{optional_charset_attribute, optional_digits, optional_length};
use crate::parser::expression::literal::{path_literal, signed_literal};
use crate::parser::expression::{expression, simple_expression};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// At CAST or CONVERT.
#[inline(never)]
pub(crate) fn cast_operand(parser: &mut Parser) -> SqlResult<Expression> {
    let is_convert = parser.at_word(K::Convert);
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let operand = Box::new(expression(parser)?);
    let expression = if is_convert && parser.accept(K::Using) {
        let charset = parser.charset_name()?;
        parser.deprecate_charset(&charset);
        Expression::ConvertUsing { operand, charset }
    } else if is_convert {
        parser.expect_kind(T::Comma)?;
        let target = cast_target(parser)?;
        Expression::Cast(Box::new(CastExpression { operand, target, array: false, time_zone: None }))
    } else {
        let time_zone = at_time_zone(parser)?;
        parser.expect(K::As)?;
        if time_zone.is_some() && !parser.at_word(K::Datetime) {
            return parser.fail();
        }
        let target = cast_target(parser)?;
        let array = time_zone.is_none() && parser.accept(K::Array);
        Expression::Cast(Box::new(CastExpression { operand, target, array, time_zone }))
    };
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(expression)
}

fn at_time_zone(parser: &mut Parser) -> SqlResult<Option<Vec<u8>>> {
    if !parser.accept(K::At) {
        return Ok(None);
    }
    if parser.accept(K::Local) {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "AT LOCAL"));
    }
    parser.expect(K::Time)?;
    parser.expect(K::Zone)?;
    parser.accept(K::Interval);
    Ok(Some(parser.string()?))
}

fn cast_target(parser: &mut Parser) -> SqlResult<CastTarget> {
    let T::Word(word) = parser.kind() else { return parser.fail() };
    if GEOMETRIES.iter().any(|name| parser.at_text(name)) {
        return Ok(CastTarget::Geometry(parser.any_word()?.to_ascii_lowercase()));
    }
    parser.advance();
    Ok(match word {
        K::Signed | K::Unsigned => {
            parser.accept_any(&[K::Int, K::Integer]);
            if word == K::Signed { CastTarget::Signed } else { CastTarget::Unsigned }
        }
        K::Char | K::Character => {
            parser.accept(K::Varying);
            let length = optional_length(parser)?;
            let charset = optional_charset_attribute(parser)?;
            parser.deprecate_charset(charset.as_deref().unwrap_or_default());
            CastTarget::Char { length, charset, national: false }
        }
        K::National | K::Nchar => {
            if word == K::National {
                parser.expect_any(&[K::Char, K::Character])?;
            }
            parser.deprecate(Deprecation::National);
            CastTarget::Char { length: optional_length(parser)?, charset: None, national: true }
        }
        K::Binary => CastTarget::Binary { length: optional_length(parser)? },
        K::Date => CastTarget::Date,
        K::Time => CastTarget::Time { decimals: optional_length(parser)? },
        K::Datetime => CastTarget::DateTime { decimals: optional_length(parser)? },
        K::Decimal | K::Dec => {
            let (digits, scale) = optional_digits(parser)?;
            CastTarget::Decimal { digits, scale }
        }
        K::Float => CastTarget::Float { precision: optional_length(parser)? },
        K::Double => {
            parser.accept(K::Precision);
            CastTarget::Double
        }
        K::Real => CastTarget::Real,
        K::Year => CastTarget::Year,
        K::Json => CastTarget::Json,
        _ => {
            parser.at -= 1;
            return parser.fail();
        }
    })
}

#[inline(never)]
pub(crate) fn json_value(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let document = simple_expression(parser)?;
    parser.expect_kind(T::Comma)?;
    let path = path_literal(parser)?;
    let returning = if parser.accept(K::Returning) { Some(cast_target(parser)?) } else { None };
    let JsonReactions { on_empty, on_error, .. } = json_reactions(parser, false)?;
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::JsonValue(Box::new(JsonValue { document, path, returning, on_empty, on_error })))
}

/// What JSON_VALUE and JSON_TABLE give in want of a value.
#[derive(Default)]
pub(crate) struct JsonReactions {
    pub on_empty: Option<JsonReaction>,
    pub on_error: Option<JsonReaction>,
    /// ON ERROR stood before ON EMPTY.
    pub errors_first: bool,
}

/// `reaction ON EMPTY reaction ON ERROR`, each optional; also in the other order for `any_order`.
pub(crate) fn json_reactions(parser: &mut Parser, any_order: bool) -> SqlResult<JsonReactions> {
    let mut found = JsonReactions::default();
    let may_follow = |found: &JsonReactions| found.on_error.is_none() || any_order;
    while may_follow(&found)
        && let Some(word) = parser.accept_any(&[K::Null, K::Error, K::Default])
    {
        let reaction = match word {
            K::Null => JsonReaction::Null,
            K::Error => JsonReaction::Error,
            // NULL is no default: there is a reaction for it.
            _ if parser.at_word(K::Null) => return parser.fail(),
            _ => JsonReaction::Default(signed_literal(parser)?),
        };
        parser.expect(K::On)?;
        match parser.expect_any(&[K::Empty, K::Error])? {
            K::Empty if found.on_empty.is_none() => {
                found.errors_first = found.on_error.is_some();
                found.on_empty = Some(reaction);
            }
            K::Error if found.on_error.is_none() => found.on_error = Some(reaction),
            _ => {
                parser.at -= 1;
                return parser.fail();
            }
        }
    }
    Ok(found)
}

const GEOMETRIES: &[&str] = &[
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
    "geomcollection",
];
