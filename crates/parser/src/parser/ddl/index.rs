//! CREATE and DROP INDEX, and what they share with the indexes of CREATE TABLE: key parts and options.

use crate::parser::ddl::alter_table::alter_algorithm_or_lock;
use crate::parser::ddl::data_type::optional_length;
use crate::parser::expression::expression;
use crate::parser::query::from::index_name;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind CREATE, at UNIQUE, FULLTEXT, SPATIAL or INDEX.
pub(crate) fn create_index(parser: &mut Parser) -> SqlResult<Statement> {
    let kind = match parser.accept_any(&[K::Unique, K::Fulltext, K::Spatial]) {
        None => IndexType::Plain,
        Some(K::Unique) => IndexType::Unique,
        Some(K::Fulltext) => IndexType::FullText,
        Some(_) => IndexType::Spatial,
    };
    parser.expect(K::Index)?;
    let name = parser.name()?;
    let mut options = Vec::new();
    if !parser.at_word(K::On)
        && let Some(option) = optional_index_option(parser)?
    {
        options.push(option);
    }
    parser.expect(K::On)?;
    let table = parser.object_name()?;
    let mut index = index_body(parser, kind, Some(name))?;
    index.options.splice(0..0, options);
    let (mut algorithm, mut lock) = (None, None);
    while alter_algorithm_or_lock(parser, &mut algorithm, &mut lock)? {}
    Ok(Statement::CreateIndex(Box::new(CreateIndex { table, index, algorithm, lock })))
}

/// Behind DROP INDEX.
pub(crate) fn drop_index(parser: &mut Parser) -> SqlResult<Statement> {
    let index = index_name(parser)?;
    parser.expect(K::On)?;
    let table = parser.object_name()?;
    let (mut algorithm, mut lock) = (None, None);
    while alter_algorithm_or_lock(parser, &mut algorithm, &mut lock)? {}
    Ok(Statement::DropIndex(Box::new(DropIndex { table, index, algorithm, lock })))
}

/// TYPE is also a name: `KEY type (a)`.
pub(crate) fn is_index_type(parser: &Parser) -> bool {
    matches!(parser.kind_at(1), T::Word(K::Btree | K::Hash | K::Rtree))
}

/// `[USING type] (parts) options`.
pub(crate) fn index_body(
    parser: &mut Parser,
    kind: IndexType,
    name: Option<Name>,
) -> SqlResult<IndexSpecification> {
    let mut options = Vec::new();
    if let Some(method) = optional_index_method(parser)? {
        options.push(IndexOption::Using(method));
    }
    let parts = parser.parenthesised_list(key_part)?;
    while let Some(option) = optional_index_option(parser)? {
        options.push(option);
    }
    Ok(IndexSpecification { kind, name, constraint: None, parts, options })
}

fn optional_index_method(parser: &mut Parser) -> SqlResult<Option<Name>> {
    if !parser.accept(K::Using) && !parser.accept(K::Type) {
        return Ok(None);
    }
    match parser.kind() {
        T::Word(K::Btree | K::Hash | K::Rtree) => Ok(Some(parser.any_word()?.to_ascii_uppercase())),
        _ => parser.fail(),
    }
}

fn optional_index_option(parser: &mut Parser) -> SqlResult<Option<IndexOption>> {
    if let Some(method) = optional_index_method(parser)? {
        return Ok(Some(IndexOption::Using(method)));
    }
    let words = [
        K::KeyBlockSize,
        K::With,
        K::Comment,
        K::Visible,
        K::Invisible,
        K::EngineAttribute,
        K::SecondaryEngineAttribute,
    ];
    Ok(Some(match parser.accept_any(&words) {
        None => return Ok(None),
        Some(K::KeyBlockSize) => {
            parser.accept_equal();
            IndexOption::KeyBlockSize(parser.number()?)
        }
        Some(K::With) => {
            parser.expect(K::Parser)?;
            IndexOption::WithParser(parser.name()?)
        }
        Some(K::Comment) => IndexOption::Comment(parser.string()?),
        Some(K::Visible) => IndexOption::Visible,
        Some(K::Invisible) => IndexOption::Invisible,
        Some(word) => {
            parser.accept_equal();
            let text = parser.string()?;
            if word == K::EngineAttribute {
                IndexOption::EngineAttribute(text)
            } else {
                IndexOption::SecondaryEngineAttribute(text)
            }
        }
    }))
}

fn key_part(parser: &mut Parser) -> SqlResult<KeyPart> {
    let target = if parser.kind() == T::OpenParenthesis {
        KeyPartTarget::Expression(parser.parenthesised(expression)?)
    } else {
        let name = parser.name()?;
        KeyPartTarget::Column { name, prefix_length: optional_length(parser)? }
    };
    let descending = parser.accept_any(&[K::Asc, K::Desc]).map(|word| word == K::Desc);
    Ok(KeyPart { target, descending })
}
