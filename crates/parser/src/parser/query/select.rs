//! SELECT: options, items, grouping, windows.

use crate::deprecation::is_blank;
use crate::parser::expression::window::window_specification;
use crate::parser::expression::{expression, expression_list};
use crate::parser::query::from::table_reference;
use crate::parser::query::hints::optional_hints;
use crate::parser::query::into::optional_into;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// `is_first`: of the statement's own query.
pub(crate) fn select(parser: &mut Parser, is_first: bool) -> SqlResult<Select> {
    parser.expect(K::Select)?;
    let (hints, execution_time_max) = optional_hints(parser);
    let mut select = Select { hints, execution_time_max, ..Select::default() };
    select_options(parser, is_first, &mut select.options)?;
    select.items = select_items(parser)?;
    optional_into(parser)?;
    if parser.accept(K::From) {
        select.dual = parser.accept(K::Dual);
        if !select.dual {
            select.from = parser.list(table_reference)?;
        }
    }
    select.filter = optional_where(parser)?;
    if parser.accept(K::Group) {
        parser.expect(K::By)?;
        grouping(parser, &mut select)?;
    }
    select.having = if parser.accept(K::Having) { Some(expression(parser)?) } else { None };
    if parser.accept(K::Window) {
        select.windows = parser.list(|parser| {
            let name = parser.name()?;
            parser.expect(K::As)?;
            Ok(NamedWindow { name, specification: parser.parenthesised(window_specification)? })
        })?;
    }
    select.qualify = if parser.accept(K::Qualify) { Some(expression(parser)?) } else { None };
    Ok(select)
}

#[inline(never)]
fn grouping(parser: &mut Parser, select: &mut Select) -> SqlResult<()> {
    if parser.at_word(K::Rollup) && parser.kind_at(1) == T::OpenParenthesis {
        parser.advance();
        select.group_by = parser.parenthesised(expression_list)?;
        select.rollup = true;
        return Ok(());
    }
    select.group_by = expression_list(parser)?;
    select.rollup = parser.accept_all(&[K::With, K::Rollup]);
    Ok(())
}

#[inline(never)]
pub(crate) fn optional_where(parser: &mut Parser) -> SqlResult<Option<Expression>> {
    if parser.accept(K::Where) { expression(parser).map(Some) } else { Ok(None) }
}

/// Error 1234 for SQL_CALC_FOUND_ROWS anywhere but first.
fn select_options(parser: &mut Parser, is_first: bool, options: &mut SelectOptions) -> SqlResult<()> {
    loop {
        if parser.kind() == T::Name && asks_for_cache(parser) {
            options.cache = true;
            parser.advance();
            continue;
        }
        let T::Word(word) = parser.kind() else { return Ok(()) };
        match word {
            K::All => options.all = true,
            K::Distinct | K::Distinctrow => options.distinct = true,
            K::HighPriority => options.high_priority = true,
            K::StraightJoin => options.straight_join = true,
            K::SqlSmallResult => options.small_result = true,
            K::SqlBigResult => options.big_result = true,
            K::SqlBufferResult => options.buffer_result = true,
            K::SqlNoCache => {
                parser.deprecate(Deprecation::NoCache);
                options.no_cache = true;
            }
            K::SqlCalcFoundRows if !is_first => {
                return Err(sql_error!(ER_CANT_USE_OPTION_HERE, "SQL_CALC_FOUND_ROWS"));
            }
            K::SqlCalcFoundRows => {
                parser.deprecate(Deprecation::CalcFoundRows);
                options.calc_found_rows = true;
            }
            _ => return Ok(()),
        }
        if options.all && options.distinct {
            return Err(sql_error!(ER_WRONG_USAGE, "ALL", "DISTINCT"));
        }
        parser.advance();
    }
}

/// Whether SQL_CACHE is the option of MySQL 5.7 and before. It is a name to MySQL 8, and so it is here where nothing follows that a select item
/// begins with.
#[cold]
fn asks_for_cache(parser: &Parser) -> bool {
    parser.at_text("SQL_CACHE")
        && match parser.kind_at(1) {
            T::Name | T::QuotedName | T::String | T::Integer | T::Decimal | T::Float | T::UserVariable => {
                true
            }
            T::DoubleAt | T::OpenParenthesis | T::Parameter => true,
            T::Star => matches!(parser.kind_at(2), T::Word(K::From) | T::Comma),
            T::Word(word) => matches!(word, K::Distinct | K::Case | K::If | K::Not | K::Null),
            _ => false,
        }
}

#[inline(never)]
fn select_items(parser: &mut Parser) -> SqlResult<Vec<SelectItem>> {
    let mut items = Vec::new();
    if parser.accept_kind(T::Star) {
        items.push(SelectItem::Wildcard);
        if !parser.accept_comma() {
            return Ok(items);
        }
    }
    loop {
        items.push(select_item(parser)?);
        if !parser.accept_comma() {
            return Ok(items);
        }
    }
}

#[inline(never)]
fn select_item(parser: &mut Parser) -> SqlResult<SelectItem> {
    if let Some(table) = optional_table_wildcard(parser)? {
        return Ok(SelectItem::TableWildcard(table));
    }
    let first = parser.at;
    let expression = expression(parser)?;
    let text = item_name(parser, first, &expression);
    let mut alias = optional_alias(parser)?;
    if let Some(name) = alias.as_mut().filter(|name| name.starts_with(is_blank)) {
        let shown = name.trim_start_matches(is_blank).to_owned();
        parser.deprecate(Deprecation::BlankAlias(std::mem::replace(name, shown)));
    }
    Ok(SelectItem::Expression { expression, alias, text })
}

/// The name that MySQL gives a column without alias, up to the length that it keeps.
fn item_name(parser: &Parser, first: usize, expression: &Expression) -> String {
    let mut name = whole_item_name(parser, first, expression);
    name.truncate(name.floor_char_boundary(ITEM_NAME_BYTES_MAX));
    name
}

/// Parentheses and plus signs round a column or literal do not count, of joined strings the first does, up to a zero
/// byte, and everything else is the source.
fn whole_item_name(parser: &Parser, first: usize, expression: &Expression) -> String {
    let mut inner = expression;
    while let Expression::Unary { operator: UnaryOperator::Plus, operand } = inner {
        inner = operand;
    }
    let Expression::Literal(literal) = inner else {
        let Expression::Column(column) = inner else { return written(parser, first) };
        return column.column.clone();
    };
    let is_skipped = |kind: TokenKind| match literal {
        Literal::String { .. } => !matches!(kind, T::String | T::NationalString),
        _ => matches!(kind, T::OpenParenthesis | T::Plus),
    };
    let place = first + parser.tokens[first..].iter().take_while(|token| is_skipped(token.kind)).count();
    let text = parser.text_of(parser.tokens[place]);
    match literal {
        Literal::String { .. } => {
            let quoted = text.strip_prefix(b"N").or(text.strip_prefix(b"n")).unwrap_or(text);
            let value = values::string_value(quoted, parser.options);
            let shown = parser.options.shown(&value);
            shown.split('\0').next().unwrap_or_default().trim_start().to_owned()
        }
        Literal::Null | Literal::Integer(_) | Literal::Decimal(_) | Literal::Float(_) => {
            parser.options.shown(text)
        }
        _ => written(parser, first),
    }
}

/// The source of an item. Under IGNORE_SPACE the blanks behind a word belong to it, unless it follows a point or `@@`.
fn written(parser: &Parser, first: usize) -> String {
    let (text, last) = (parser.text_since(first), parser.tokens[parser.at - 1]);
    let is_word = matches!(last.kind, T::Name | T::Word(_)) && !parser.text_of(last)[0].is_ascii_digit();
    let start = last.end as usize - text.len();
    let follows_mark = matches!(parser.source[..last.start as usize].last(), Some(b'.' | b'@'));
    if !parser.options.ignore_space || !is_word || follows_mark {
        return parser.options.shown(text);
    }
    let blanks =
        parser.source[last.end as usize..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    parser.options.shown(&parser.source[start..last.end as usize + blanks])
}

/// `table.*` or `schema.table.*`.
fn optional_table_wildcard(parser: &mut Parser) -> SqlResult<Option<ObjectName>> {
    if parser.kind_at(1) != T::Point || !parser.kind().is_name() {
        return Ok(None);
    }
    let qualified = parser.kind_at(3) == T::Point && parser.kind_at(4) == T::Star;
    if !qualified && parser.kind_at(2) != T::Star {
        return Ok(None);
    }
    let first = parser.name()?;
    parser.advance();
    let name = if qualified {
        let name = parser.name_behind_point()?;
        parser.advance();
        ObjectName { schema: Some(first), name }
    } else {
        ObjectName { schema: None, name: first }
    };
    parser.expect_kind(T::Star)?;
    Ok(Some(name))
}

/// `AS name`, `AS 'name'` or the same without AS.
pub(crate) fn optional_alias(parser: &mut Parser) -> SqlResult<Option<Name>> {
    let explicit = parser.accept(K::As);
    if explicit || parser.kind().is_name() || parser.kind() == T::String {
        return parser.name_or_string().map(Some);
    }
    Ok(None)
}

/// Bytes of a column name that is taken from the statement's text.
const ITEM_NAME_BYTES_MAX: usize = 255;
