//! CREATE, ALTER and DROP VIEW.

use crate::parser::account::optional_definer;
use crate::parser::ddl::{if_exists, if_not_exists};
use crate::parser::query::whole_query;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind CREATE or ALTER, up to the view's own words.
pub(crate) fn view_statement(parser: &mut Parser, alter: bool) -> SqlResult<Statement> {
    let or_replace = !alter && parser.accept_all(&[K::Or, K::Replace]);
    let algorithm = if parser.accept(K::Algorithm) {
        parser.expect_kind(T::Equal)?;
        Some(parser.expect_any(&[K::Undefined, K::Merge, K::Temptable])?.text().to_owned())
    } else {
        None
    };
    let definer = optional_definer(parser)?;
    let security = if parser.accept_all(&[K::Sql, K::Security]) {
        Some(match parser.expect_any(&[K::Definer, K::Invoker])? {
            K::Definer => SqlSecurity::Definer,
            _ => SqlSecurity::Invoker,
        })
    } else {
        None
    };
    parser.expect(K::View)?;
    create_view(
        parser,
        CreateView {
            alter,
            or_replace,
            if_not_exists: false,
            algorithm,
            definer,
            security,
            name: ObjectName { schema: None, name: String::new() },
            columns: Vec::new(),
            query: Box::new(Query {
                with: None,
                body: QueryBody::Values(Vec::new()),
                order_by: Vec::new(),
                limit: None,
                locking: Vec::new(),
                into: None,
            }),
            text: String::new(),
            check_option: None,
        },
    )
}

/// Behind VIEW, with what stood before it.
fn create_view(parser: &mut Parser, mut view: CreateView) -> SqlResult<Statement> {
    if !view.alter {
        view.if_not_exists = if_not_exists(parser)?;
    }
    view.name = parser.object_name()?;
    view.columns = parser.optional_names()?;
    parser.expect(K::As)?;
    let first = parser.at;
    view.query = Box::new(whole_query(parser)?);
    view.text = parser.string_since(first);
    if parser.accept(K::With) {
        let word = parser.accept_any(&[K::Cascaded, K::Local]);
        parser.expect_all(&[K::Check, K::Option])?;
        view.check_option =
            Some(if word == Some(K::Local) { CheckOption::Local } else { CheckOption::Cascaded });
    }
    Ok(Statement::CreateView(Box::new(view)))
}

/// Behind DROP VIEW.
pub(crate) fn drop_view(parser: &mut Parser) -> SqlResult<Statement> {
    let if_exists = if_exists(parser)?;
    let views = parser.list(Parser::object_name)?;
    let restrict = parser.accept_any(&[K::Restrict, K::Cascade]).map(|word| word == K::Restrict);
    Ok(Statement::DropView { views, if_exists, restrict })
}
