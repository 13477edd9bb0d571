//! The columns of a table: types with their attributes, generated columns, defaults.

use crate::parser::ddl::constraint::{check_constraint, references};
use crate::parser::ddl::data_type::data_type;
use crate::parser::expression::expression;
use crate::parser::expression::literal::signed_literal;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// `name type attributes`.
pub(crate) fn column_specification(parser: &mut Parser) -> SqlResult<ColumnSpecification> {
    let name = parser.column_reference()?.column;
    let data_type = data_type(parser)?;
    Ok(ColumnSpecification { name, data_type, attributes: column_attributes(parser)? })
}

fn column_attributes(parser: &mut Parser) -> SqlResult<Vec<ColumnAttribute>> {
    let mut attributes = Vec::new();
    if parser.at_word(K::Collate) {
        attributes.extend(optional_column_attribute(parser)?);
    }
    if parser.at_word(K::Generated) || parser.at_word(K::As) {
        attributes.push(generated_column(parser)?);
    }
    while let Some(attribute) = optional_column_attribute(parser)? {
        attributes.push(attribute);
    }
    Ok(attributes)
}

fn optional_column_attribute(parser: &mut Parser) -> SqlResult<Option<ColumnAttribute>> {
    use ColumnAttribute as A;
    let T::Word(word) = parser.kind() else { return Ok(None) };
    Ok(Some(match word {
        K::Check => A::Check(check_constraint(parser, None)?),
        K::Constraint => {
            parser.advance();
            let name = if parser.at_word(K::Check) { None } else { Some(parser.name()?) };
            A::Check(check_constraint(parser, name)?)
        }
        K::Default => default_attribute(parser)?,
        _ => return simple_column_attribute(parser, word),
    }))
}

fn simple_column_attribute(parser: &mut Parser, word: Keyword) -> SqlResult<Option<ColumnAttribute>> {
    use ColumnAttribute as A;
    let start = parser.at;
    parser.advance();
    Ok(Some(match word {
        K::Null => A::Null,
        K::Not => match parser.accept_any(&[K::Null, K::Secondary]) {
            Some(K::Null) => A::NotNull,
            Some(_) => A::NotSecondary,
            None => return parser.fail(),
        },
        K::On => {
            parser.expect(K::Update)?;
            A::OnUpdateNow(now_decimals(parser)?)
        }
        K::AutoIncrement => A::AutoIncrement,
        K::Serial => {
            parser.expect_all(&[K::Default, K::Value])?;
            A::SerialDefaultValue
        }
        K::Primary => {
            parser.expect(K::Key)?;
            A::PrimaryKey
        }
        K::Key => A::PrimaryKey,
        K::Unique => {
            parser.accept(K::Key);
            A::Unique
        }
        K::Comment => A::Comment(parser.string()?),
        K::Collate => A::Collate(parser.charset_name()?),
        K::ColumnFormat => {
            A::ColumnFormat(parser.expect_any(&[K::Default, K::Fixed, K::Dynamic])?.text().to_owned())
        }
        K::Storage => A::Storage(parser.expect_any(&[K::Default, K::Disk, K::Memory])?.text().to_owned()),
        K::Srid => A::SpatialReference(parser.number()?),
        K::Visible => A::Visible,
        K::Invisible => A::Invisible,
        K::References => A::References(references(parser)?),
        K::EngineAttribute => {
            parser.accept_equal();
            A::EngineAttribute(parser.string()?)
        }
        K::SecondaryEngineAttribute => {
            parser.accept_equal();
            A::SecondaryEngineAttribute(parser.string()?)
        }
        _ => {
            parser.at = start;
            return Ok(None);
        }
    }))
}

fn generated_column(parser: &mut Parser) -> SqlResult<ColumnAttribute> {
    if parser.accept(K::Generated) {
        parser.expect(K::Always)?;
    }
    parser.expect(K::As)?;
    let expression = parser.parenthesised(expression)?;
    let stored = parser.accept_any(&[K::Virtual, K::Stored]) == Some(K::Stored);
    Ok(ColumnAttribute::Generated { expression, stored })
}

/// DEFAULT with a literal, CURRENT_TIMESTAMP or an expression in parentheses.
pub(crate) fn default_attribute(parser: &mut Parser) -> SqlResult<ColumnAttribute> {
    parser.expect(K::Default)?;
    if parser.kind() == T::OpenParenthesis {
        return Ok(ColumnAttribute::DefaultExpression(parser.parenthesised(expression)?));
    }
    if at_now(parser) {
        let decimals = now_decimals(parser)?;
        let argument = Expression::Literal(Literal::Integer(decimals));
        let arguments = if decimals == 0 { Vec::new() } else { vec![argument] };
        return Ok(ColumnAttribute::Default(Expression::call("current_timestamp", arguments)));
    }
    Ok(ColumnAttribute::Default(signed_literal(parser)?))
}

fn at_now(parser: &Parser) -> bool {
    matches!(parser.kind(), T::Word(K::CurrentTimestamp | K::Localtime | K::Localtimestamp))
        || parser.at_text("now")
}

/// `CURRENT_TIMESTAMP`, `NOW(3)` and the like: the fractional digits.
fn now_decimals(parser: &mut Parser) -> SqlResult<u64> {
    if !at_now(parser) {
        return parser.fail();
    }
    parser.advance();
    if !parser.accept_kind(T::OpenParenthesis) {
        return Ok(0);
    }
    let decimals = if parser.kind() == T::CloseParenthesis { 0 } else { parser.plain_number()? };
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(decimals)
}
