//! CAST, CONVERT and JSON_VALUE: calls that name a type.

use super::*;
use Keyword as K;
use TokenKind as T;

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

impl Parser<'_> {
    /// At CAST or CONVERT.
    #[inline(never)]
    pub(super) fn cast_operand(&mut self) -> SqlResult<Expression> {
        let is_convert = self.at_word(K::Convert);
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let operand = Box::new(self.expression()?);
        let expression = if is_convert && self.accept(K::Using) {
            let charset = self.charset_name()?;
            self.deprecate_charset(&charset);
            Expression::ConvertUsing { operand, charset }
        } else if is_convert {
            self.expect_kind(T::Comma)?;
            let target = self.cast_target()?;
            Expression::Cast(Box::new(CastExpression { operand, target, array: false, time_zone: None }))
        } else {
            let time_zone = self.at_time_zone()?;
            self.expect(K::As)?;
            let target = self.cast_target()?;
            let array = self.accept(K::Array);
            Expression::Cast(Box::new(CastExpression { operand, target, array, time_zone }))
        };
        self.expect_kind(T::CloseParenthesis)?;
        Ok(expression)
    }

    fn at_time_zone(&mut self) -> SqlResult<Option<Vec<u8>>> {
        if !self.accept(K::At) {
            return Ok(None);
        }
        self.expect(K::Time)?;
        self.expect(K::Zone)?;
        self.accept(K::Interval);
        Ok(Some(self.string()?))
    }

    fn cast_target(&mut self) -> SqlResult<CastTarget> {
        let T::Word(word) = self.kind() else { return self.fail() };
        if GEOMETRIES.iter().any(|name| self.at_text(name)) {
            return Ok(CastTarget::Geometry(self.any_word()?.to_ascii_lowercase()));
        }
        self.advance();
        Ok(match word {
            K::Signed | K::Unsigned => {
                self.accept_any(&[K::Int, K::Integer]);
                if word == K::Signed { CastTarget::Signed } else { CastTarget::Unsigned }
            }
            K::Char | K::Character => {
                self.accept(K::Varying);
                let length = self.optional_length()?;
                let charset = self.optional_charset_attribute()?;
                self.deprecate_charset(charset.as_deref().unwrap_or_default());
                CastTarget::Char { length, charset, national: false }
            }
            K::National | K::Nchar => {
                if word == K::National {
                    self.expect_any(&[K::Char, K::Character])?;
                }
                self.deprecate(Deprecation::National);
                CastTarget::Char { length: self.optional_length()?, charset: None, national: true }
            }
            K::Binary => CastTarget::Binary { length: self.optional_length()? },
            K::Date => CastTarget::Date,
            K::Time => CastTarget::Time { decimals: self.optional_length()? },
            K::Datetime => CastTarget::DateTime { decimals: self.optional_length()? },
            K::Decimal | K::Dec => {
                let (digits, scale) = self.optional_digits()?;
                CastTarget::Decimal { digits, scale }
            }
            K::Float => CastTarget::Float { precision: self.optional_length()? },
            K::Double => {
                self.accept(K::Precision);
                CastTarget::Double
            }
            K::Real => CastTarget::Real,
            K::Year => CastTarget::Year,
            K::Json => CastTarget::Json,
            _ => {
                self.at -= 1;
                return self.fail();
            }
        })
    }

    #[inline(never)]
    pub(super) fn json_value(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let document = self.simple_expression()?;
        self.expect_kind(T::Comma)?;
        let path = self.string()?;
        let returning = if self.accept(K::Returning) { Some(self.cast_target()?) } else { None };
        let (on_empty, on_error) = self.json_reactions()?;
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::JsonValue(Box::new(JsonValue { document, path, returning, on_empty, on_error })))
    }

    /// `reaction ON EMPTY reaction ON ERROR`, each optional.
    pub(super) fn json_reactions(&mut self) -> SqlResult<(Option<JsonReaction>, Option<JsonReaction>)> {
        let mut reactions = (None, None);
        loop {
            let reaction = match self.accept_any(&[K::Null, K::Error, K::Default]) {
                Some(K::Null) => JsonReaction::Null,
                Some(K::Error) => JsonReaction::Error,
                Some(_) => JsonReaction::Default(self.signed_literal()?),
                None => return Ok(reactions),
            };
            self.expect(K::On)?;
            let place = match self.expect_any(&[K::Empty, K::Error])? {
                K::Empty if reactions.0.is_none() => &mut reactions.0,
                K::Error if reactions.1.is_none() => &mut reactions.1,
                _ => return self.fail(),
            };
            *place = Some(reaction);
        }
    }
}
