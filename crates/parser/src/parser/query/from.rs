//! Table references: tables, derived tables, JSON_TABLE and joins.

use crate::parser::expression::expression;
use crate::parser::expression::operand::opens_query;
use crate::parser::query::json_table::json_table;
use crate::parser::query::query;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// A table with all that is joined to it.
pub(crate) fn table_reference(parser: &mut Parser) -> SqlResult<TableReference> {
    parser.nested(|parser| {
        let first = table_factor_any(parser)?;
        joins(parser, first)
    })
}

/// Joins to the right of `left`, as many as follow.
#[inline(never)]
fn joins(parser: &mut Parser, mut left: TableReference) -> SqlResult<TableReference> {
    let mut count = 0;
    while let Some((kind, natural)) = join_words(parser)? {
        count += 1;
        if count > NESTING_MAX {
            return Err(too_deep());
        }
        let mut right = table_factor_any(parser)?;
        if natural {
            left = joined(kind, true, left, right, JoinCondition::None);
            continue;
        }
        let mut condition = join_condition(parser)?;
        let waits = condition == JoinCondition::None;
        if waits && at_join(parser) {
            // The right side has joins of its own: their conditions come first, ours after them.
            right = parser.nested(|parser| joins(parser, right))?;
            condition = join_condition(parser)?;
        }
        if condition != JoinCondition::None {
            left = joined(kind, false, left, right, condition);
        } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
            return parser.fail();
        } else {
            left = join_leftmost(kind, left, right);
        }
    }
    Ok(left)
}

fn at_join(parser: &Parser) -> bool {
    matches!(
        parser.kind(),
        T::Word(K::Join | K::Inner | K::Cross | K::StraightJoin | K::Natural | K::Left | K::Right)
    )
}

/// The words of a join: its kind and whether it is natural.
fn join_words(parser: &mut Parser) -> SqlResult<Option<(JoinKind, bool)>> {
    let words = [K::Join, K::Inner, K::Cross, K::StraightJoin, K::Natural, K::Left, K::Right];
    let Some(word) = parser.accept_any(&words) else { return Ok(None) };
    let natural = word == K::Natural;
    let word =
        if natural { parser.accept_any(&[K::Inner, K::Left, K::Right]).unwrap_or(K::Inner) } else { word };
    let kind = match word {
        K::StraightJoin => return Ok(Some((JoinKind::Straight, false))),
        K::Join => return Ok(Some((JoinKind::Inner, false))),
        K::Left => JoinKind::Left,
        K::Right => JoinKind::Right,
        _ => JoinKind::Inner,
    };
    if kind != JoinKind::Inner {
        parser.accept(K::Outer);
    }
    parser.expect(K::Join)?;
    Ok(Some((kind, natural)))
}

fn join_condition(parser: &mut Parser) -> SqlResult<JoinCondition> {
    // INSERT .. SELECT .. FROM a JOIN b ON DUPLICATE KEY UPDATE ..
    let is_duplicate_clause =
        parser.kind_at(1) == T::Word(K::Duplicate) && parser.kind_at(2) == T::Word(K::Key);
    if parser.at_word(K::On) && !is_duplicate_clause {
        parser.advance();
        return Ok(JoinCondition::On(expression(parser)?));
    }
    if parser.accept(K::Using) {
        return Ok(JoinCondition::Using(parser.parenthesised_list(Parser::name)?));
    }
    Ok(JoinCondition::None)
}

#[inline(never)]
fn table_factor_any(parser: &mut Parser) -> SqlResult<TableReference> {
    match parser.kind() {
        T::OpenParenthesis if opens_query(parser) => derived(parser, false),
        T::OpenParenthesis => {
            parser.nested(|parser| Ok(TableReference::Nested(parser.parenthesised_list(table_reference)?)))
        }
        T::Word(K::Lateral) => {
            parser.advance();
            derived(parser, true)
        }
        T::Word(K::JsonTable) => json_table(parser),
        T::OpenBrace => odbc_join(parser),
        _ => Ok(TableReference::Table(table_factor(parser)?)),
    }
}

#[inline(never)]
fn derived(parser: &mut Parser, lateral: bool) -> SqlResult<TableReference> {
    let query = Box::new(parser.parenthesised(query)?);
    let explicit = parser.accept(K::As);
    if !explicit && !parser.kind().is_name() {
        return Err(sql_error!(ER_DERIVED_MUST_HAVE_ALIAS));
    }
    let alias = parser.name()?;
    Ok(TableReference::Derived { query, lateral, alias, columns: parser.optional_names()? })
}

/// `{ OJ a LEFT JOIN b ON .. }`.
fn odbc_join(parser: &mut Parser) -> SqlResult<TableReference> {
    parser.advance();
    parser.name()?;
    let inside = table_reference(parser)?;
    parser.expect_kind(T::CloseBrace)?;
    Ok(TableReference::Nested(vec![inside]))
}

/// A table with partitions, alias and index hints.
#[inline(never)]
fn table_factor(parser: &mut Parser) -> SqlResult<TableFactor> {
    let name = parser.object_name()?;
    let partitions = optional_partitions(parser)?;
    let alias = table_alias(parser)?;
    let index_hints = index_hints(parser)?;
    Ok(TableFactor { name, partitions, alias, index_hints })
}

/// `PARTITION (p0, p1)`.
pub(crate) fn optional_partitions(parser: &mut Parser) -> SqlResult<Vec<Name>> {
    if parser.accept(K::Partition) { parser.parenthesised_list(Parser::name) } else { Ok(Vec::new()) }
}

pub(crate) fn table_alias(parser: &mut Parser) -> SqlResult<Option<Name>> {
    let explicit = parser.accept(K::As) || parser.accept_kind(T::Equal);
    if explicit || parser.kind().is_name() { parser.name().map(Some) } else { Ok(None) }
}

fn index_hints(parser: &mut Parser) -> SqlResult<Vec<IndexHint>> {
    let mut hints = Vec::new();
    while matches!(parser.kind_at(1), T::Word(K::Index | K::Key)) {
        let kind = match parser.accept_any(&[K::Use, K::Force, K::Ignore]) {
            Some(K::Use) => IndexHintKind::Use,
            Some(K::Force) => IndexHintKind::Force,
            Some(_) => IndexHintKind::Ignore,
            None => break,
        };
        parser.advance();
        let scope = index_hint_scope(parser)?;
        parser.expect_kind(T::OpenParenthesis)?;
        let empty_allowed = kind == IndexHintKind::Use && parser.kind() == T::CloseParenthesis;
        let indexes = if empty_allowed { Vec::new() } else { parser.list(index_name)? };
        parser.expect_kind(T::CloseParenthesis)?;
        hints.push(IndexHint { kind, scope, indexes });
    }
    Ok(hints)
}

fn index_hint_scope(parser: &mut Parser) -> SqlResult<Option<IndexHintScope>> {
    if !parser.accept(K::For) {
        return Ok(None);
    }
    Ok(Some(match parser.expect_any(&[K::Join, K::Order, K::Group])? {
        K::Join => IndexHintScope::Join,
        K::Order => {
            parser.expect(K::By)?;
            IndexHintScope::OrderBy
        }
        _ => {
            parser.expect(K::By)?;
            IndexHintScope::GroupBy
        }
    }))
}

/// The name of an index; PRIMARY is one.
pub(crate) fn index_name(parser: &mut Parser) -> SqlResult<Name> {
    if parser.at_word(K::Primary) { parser.any_word() } else { parser.name() }
}

fn joined(
    kind: JoinKind,
    natural: bool,
    left: TableReference,
    right: TableReference,
    condition: JoinCondition,
) -> TableReference {
    TableReference::Join(Box::new(Join { kind, natural, left, right, condition }))
}

/// A join without condition to a right side that has joins of its own: `a JOIN b JOIN c ON x` means
/// `(a JOIN b) JOIN c ON x`, so that the condition sees all three.
fn join_leftmost(kind: JoinKind, left: TableReference, mut right: TableReference) -> TableReference {
    let mut place = &mut right;
    while let TableReference::Join(join) = place {
        place = &mut join.left;
    }
    let leaf = std::mem::replace(place, TableReference::Nested(Vec::new()));
    *place = joined(kind, false, left, leaf, JoinCondition::None);
    right
}
