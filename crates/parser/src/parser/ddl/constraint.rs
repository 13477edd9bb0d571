//! Constraints of a table: keys, foreign keys, CHECK.

use crate::parser::ddl::data_type::optional_length;
use crate::parser::ddl::index::{index_body, is_index_type};
use crate::parser::expression::expression;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Whatever can follow ADD in ALTER TABLE and is no column.
pub(crate) fn optional_constraint_element(parser: &mut Parser) -> SqlResult<Option<TableElement>> {
    let mut constraint = None;
    let named = parser.accept(K::Constraint);
    if named && !matches!(parser.kind(), T::Word(K::Primary | K::Unique | K::Foreign | K::Check)) {
        constraint = Some(parser.name()?);
    }
    let T::Word(word) = parser.kind() else { return if named { parser.fail() } else { Ok(None) } };
    let kind = match word {
        K::Primary => IndexType::Primary,
        K::Unique => IndexType::Unique,
        K::Key | K::Index if !named => IndexType::Plain,
        K::Fulltext if !named => IndexType::FullText,
        K::Spatial if !named => IndexType::Spatial,
        K::Foreign => return foreign_key(parser, constraint).map(|key| Some(TableElement::ForeignKey(key))),
        K::Check => {
            return check_constraint(parser, constraint).map(|check| Some(TableElement::Check(check)));
        }
        _ => return if named { parser.fail() } else { Ok(None) },
    };
    parser.advance();
    match kind {
        IndexType::Primary => parser.expect(K::Key)?,
        IndexType::Plain => {}
        _ => {
            parser.accept_any(&[K::Key, K::Index]);
        }
    }
    let name = if parser.kind() == T::OpenParenthesis
        || parser.at_word(K::Using)
        || parser.at_word(K::Type) && is_index_type(parser)
    {
        None
    } else {
        Some(parser.name()?)
    };
    let mut index = index_body(parser, kind, name)?;
    index.constraint = constraint;
    Ok(Some(TableElement::Index(index)))
}

fn foreign_key(parser: &mut Parser, constraint: Option<Name>) -> SqlResult<ForeignKey> {
    parser.expect_all(&[K::Foreign, K::Key])?;
    let index_name = if parser.kind() == T::OpenParenthesis { None } else { Some(parser.name()?) };
    let columns = parser.parenthesised_list(key_column)?;
    parser.expect(K::References)?;
    Ok(ForeignKey { constraint, index_name, columns, references: references(parser)? })
}

/// A column of a foreign key; a length or direction is accepted and has no meaning.
fn key_column(parser: &mut Parser) -> SqlResult<Name> {
    let name = parser.name()?;
    optional_length(parser)?;
    parser.accept_any(&[K::Asc, K::Desc]);
    Ok(name)
}

/// Behind REFERENCES.
pub(crate) fn references(parser: &mut Parser) -> SqlResult<References> {
    let table = parser.object_name()?;
    let columns =
        if parser.kind() == T::OpenParenthesis { parser.parenthesised_list(key_column)? } else { Vec::new() };
    let match_type = if parser.accept(K::Match) {
        let word = parser.expect_any(&[K::Full, K::Partial, K::Simple])?;
        Some(word.text().to_owned())
    } else {
        None
    };
    let mut references = References { table, columns, match_type, on_delete: None, on_update: None };
    while parser.at_words(K::On, K::Delete) || parser.at_words(K::On, K::Update) {
        parser.advance();
        let place =
            if parser.at_word(K::Delete) { &mut references.on_delete } else { &mut references.on_update };
        if place.is_some() {
            return parser.fail();
        }
        parser.advance();
        *place = Some(reference_action(parser)?);
    }
    Ok(references)
}

fn reference_action(parser: &mut Parser) -> SqlResult<ReferenceAction> {
    Ok(match parser.expect_any(&[K::Restrict, K::Cascade, K::Set, K::No])? {
        K::Restrict => ReferenceAction::Restrict,
        K::Cascade => ReferenceAction::Cascade,
        K::Set => match parser.expect_any(&[K::Null, K::Default])? {
            K::Null => ReferenceAction::SetNull,
            _ => ReferenceAction::SetDefault,
        },
        _ => {
            parser.expect(K::Action)?;
            ReferenceAction::NoAction
        }
    })
}

pub(crate) fn check_constraint(parser: &mut Parser, name: Option<Name>) -> SqlResult<CheckConstraint> {
    parser.expect(K::Check)?;
    let expression = parser.parenthesised(expression)?;
    Ok(CheckConstraint { name, expression, enforced: optional_enforced(parser) })
}

pub(crate) fn optional_enforced(parser: &mut Parser) -> Option<bool> {
    if parser.accept(K::Enforced) {
        Some(true)
    } else if parser.accept_all(&[K::Not, K::Enforced]) {
        Some(false)
    } else {
        None
    }
}
