//! SHOW: tables, columns, variables, CREATE. Server-wide and replication forms are in `show_server`.

use crate::parser::account::user_name;
use crate::parser::admin::show_server::show_server;
use crate::parser::ddl::if_not_exists;
use crate::parser::query::optional_limit;
use crate::parser::query::select::optional_where;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn show(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    Ok(Statement::Show(Box::new(show_form(parser)?)))
}

fn show_form(parser: &mut Parser) -> SqlResult<Show> {
    let start = parser.at;
    let extended = parser.accept(K::Extended);
    let full = parser.accept(K::Full);
    let T::Word(word) = parser.kind() else {
        return if parser.at_text("count") { show_count(parser) } else { parser.fail() };
    };
    parser.advance();
    match word {
        K::Tables => {
            let schema = optional_from_schema(parser)?;
            Ok(Show::Tables { full, extended, schema, filter: show_filter(parser)? })
        }
        K::Columns | K::Fields => {
            let table = table_from(parser)?;
            Ok(Show::Columns { full, extended, table, filter: show_filter(parser)? })
        }
        K::Index | K::Indexes | K::Keys if !full => {
            let table = table_from(parser)?;
            Ok(Show::Index { extended, table, filter: optional_where(parser)? })
        }
        K::Triggers if !extended => {
            let schema = optional_from_schema(parser)?;
            Ok(Show::Triggers { full, schema, filter: show_filter(parser)? })
        }
        K::Processlist if !extended => Ok(Show::Processlist { full }),
        _ if extended || full => {
            parser.at = start;
            parser.fail()
        }
        _ => show_plain(parser, word),
    }
}

fn show_plain(parser: &mut Parser, word: Keyword) -> SqlResult<Show> {
    match word {
        K::Databases | K::Schemas => Ok(Show::Databases(show_filter(parser)?)),
        K::Table => {
            parser.expect(K::Status)?;
            let schema = optional_from_schema(parser)?;
            Ok(Show::TableStatus { schema, filter: show_filter(parser)? })
        }
        K::Open => {
            parser.expect(K::Tables)?;
            let schema = optional_from_schema(parser)?;
            Ok(Show::OpenTables { schema, filter: show_filter(parser)? })
        }
        K::Events => {
            let schema = optional_from_schema(parser)?;
            Ok(Show::Events { schema, filter: show_filter(parser)? })
        }
        K::Create => show_create(parser),
        K::Global | K::Session | K::Local => {
            let scope = if word == K::Global { VariableScope::Global } else { VariableScope::Session };
            let what = parser.expect_any(&[K::Variables, K::Status])?;
            show_variables(parser, what, Some(scope))
        }
        K::Variables | K::Status => show_variables(parser, word, None),
        K::Character | K::Char => {
            parser.expect(K::Set)?;
            Ok(Show::CharacterSets(show_filter(parser)?))
        }
        K::Charset => Ok(Show::CharacterSets(show_filter(parser)?)),
        K::Collation => Ok(Show::Collations(show_filter(parser)?)),
        K::Warnings => Ok(Show::Warnings { limit: optional_limit(parser)? }),
        K::Errors => Ok(Show::Errors { limit: optional_limit(parser)? }),
        K::Grants => show_grants(parser),
        _ => show_server(parser, word),
    }
}

fn show_variables(parser: &mut Parser, what: Keyword, scope: Option<VariableScope>) -> SqlResult<Show> {
    let filter = show_filter(parser)?;
    Ok(if what == K::Variables { Show::Variables { scope, filter } } else { Show::Status { scope, filter } })
}

/// SHOW COUNT(*) WARNINGS.
fn show_count(parser: &mut Parser) -> SqlResult<Show> {
    parser.advance();
    parser.parenthesised(|parser| parser.expect_kind(T::Star))?;
    Ok(match parser.expect_any(&[K::Warnings, K::Errors])? {
        K::Warnings => Show::WarningCount,
        _ => Show::ErrorCount,
    })
}

fn show_create(parser: &mut Parser) -> SqlResult<Show> {
    let words = [
        K::Table,
        K::View,
        K::Database,
        K::Schema,
        K::User,
        K::Procedure,
        K::Function,
        K::Trigger,
        K::Event,
        K::Library,
    ];
    let kind = match parser.expect_any(&words)? {
        K::Table => return Ok(Show::CreateTable(parser.object_name()?)),
        K::View => return Ok(Show::CreateView(parser.object_name()?)),
        K::Database | K::Schema => {
            let if_not_exists = if_not_exists(parser)?;
            return Ok(Show::CreateDatabase { name: parser.name()?, if_not_exists });
        }
        K::User => return Ok(Show::CreateUser(user_name(parser)?)),
        K::Procedure => ProgramKind::Procedure,
        K::Function => ProgramKind::Function,
        K::Trigger => ProgramKind::Trigger,
        K::Event => ProgramKind::Event,
        _ => ProgramKind::Library,
    };
    Ok(Show::CreateProgram { kind, name: parser.object_name()? })
}

fn show_grants(parser: &mut Parser) -> SqlResult<Show> {
    let user = if parser.accept(K::For) { Some(user_name(parser)?) } else { None };
    let using = if user.is_some() && parser.accept(K::Using) { parser.list(user_name)? } else { Vec::new() };
    Ok(Show::Grants { user, using })
}

/// `FROM table [FROM schema]`.
fn table_from(parser: &mut Parser) -> SqlResult<ObjectName> {
    parser.expect_any(&[K::From, K::In])?;
    let mut table = parser.object_name()?;
    if let Some(schema) = optional_from_schema(parser)? {
        table.schema = Some(schema);
    }
    Ok(table)
}

fn optional_from_schema(parser: &mut Parser) -> SqlResult<Option<Name>> {
    if parser.accept_any(&[K::From, K::In]).is_some() { parser.name().map(Some) } else { Ok(None) }
}

/// LIKE or WHERE.
pub(crate) fn show_filter(parser: &mut Parser) -> SqlResult<ShowFilter> {
    if parser.accept(K::Like) {
        return Ok(ShowFilter::Like(parser.string()?));
    }
    Ok(optional_where(parser)?.map_or(ShowFilter::None, ShowFilter::Where))
}
