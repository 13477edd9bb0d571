//! The first words of a statement decide which parser reads the rest.

use crate::parser::account::grant::{grant, revoke};
use crate::parser::admin::maintenance::table_maintenance;
use crate::parser::admin::server::{flush, kill, reset};
use crate::parser::admin::show::show;
use crate::parser::ddl::{alter_statement, create_statement, drop_statement, rename_statement};
use crate::parser::dml::delete::delete;
use crate::parser::dml::handler::handler;
use crate::parser::dml::insert::insert;
use crate::parser::dml::load::load;
use crate::parser::dml::update::update;
use crate::parser::explain::explain;
use crate::parser::expression::call::call_arguments;
use crate::parser::expression::expression;
use crate::parser::query::select::optional_alias;
use crate::parser::query::{optional_with, query_with, whole_query};
use crate::parser::session::diagnostics::{get_diagnostics, signal};
use crate::parser::session::prepared::prepared_statement;
use crate::parser::session::set::set;
use crate::parser::session::transaction::transaction_statement;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// One statement, up to its semicolon or the end.
pub(crate) fn statement(parser: &mut Parser) -> SqlResult<Statement> {
    let T::Word(word) = parser.kind() else {
        return if parser.kind() == T::OpenParenthesis { query_statement(parser) } else { parser.fail() };
    };
    if let Some(statement) = recognised(parser)? {
        return Ok(statement);
    }
    match word {
        K::Select | K::Table | K::Values => query_statement(parser),
        K::With => with_statement(parser),
        K::Insert | K::Replace => insert(parser),
        K::Update => update(parser, None),
        K::Delete => delete(parser, None),
        K::Set => set(parser),
        K::Create => create_statement(parser),
        K::Alter => alter_statement(parser),
        K::Drop => drop_statement(parser),
        K::Show => show(parser),
        K::Begin
        | K::Start
        | K::Commit
        | K::Rollback
        | K::Savepoint
        | K::Release
        | K::Xa
        | K::Lock
        | K::Unlock => transaction_statement(parser, word),
        _ => other_statement(parser, word),
    }
}

fn other_statement(parser: &mut Parser, word: Keyword) -> SqlResult<Statement> {
    match word {
        K::Load => load(parser),
        K::Do => do_statement(parser),
        K::Call => call_statement(parser),
        K::Handler => handler(parser),
        K::Describe | K::Desc | K::Explain => explain(parser),
        K::Grant => grant(parser),
        K::Revoke => revoke(parser),
        K::Truncate => {
            parser.advance();
            parser.accept(K::Table);
            Ok(Statement::TruncateTable(parser.object_name()?))
        }
        K::Rename => rename_statement(parser),
        K::Use => {
            parser.advance();
            Ok(Statement::Use(parser.name()?))
        }
        K::Help => {
            parser.advance();
            Ok(Statement::Help(parser.name_or_string()?.into_bytes()))
        }
        K::Prepare | K::Execute | K::Deallocate => prepared_statement(parser, word),
        K::Kill => kill(parser),
        K::Flush => flush(parser),
        K::Reset => reset(parser),
        K::Analyze | K::Check | K::Checksum | K::Optimize | K::Repair => table_maintenance(parser, word),
        K::Shutdown | K::Restart => {
            parser.advance();
            Ok(if word == K::Shutdown { Statement::Shutdown } else { Statement::Restart })
        }
        K::Signal | K::Resignal => signal(parser, word),
        K::Get => get_diagnostics(parser),
        _ => parser.fail(),
    }
}

fn query_statement(parser: &mut Parser) -> SqlResult<Statement> {
    Ok(Statement::Query(Box::new(whole_query(parser)?)))
}

/// WITH before SELECT, UPDATE or DELETE.
fn with_statement(parser: &mut Parser) -> SqlResult<Statement> {
    let with = optional_with(parser)?;
    match parser.kind() {
        T::Word(K::Update) => update(parser, with),
        T::Word(K::Delete) => delete(parser, with),
        _ => {
            parser.is_first_select = true;
            Ok(Statement::Query(Box::new(query_with(parser, with)?)))
        }
    }
}

fn recognised(parser: &mut Parser) -> SqlResult<Option<Statement>> {
    let found = RECOGNISED.iter().find(|(words, _)| {
        words.iter().enumerate().all(|(ahead, &word)| parser.kind_at(ahead) == T::Word(word))
    });
    let Some(&(words, command)) = found else { return Ok(None) };
    if parser.kind_at(words.len()) == T::Invalid {
        parser.at += words.len();
        return parser.fail();
    }
    let first = parser.at;
    while !parser.at_end() {
        if parser.kind() == T::Invalid {
            return parser.fail();
        }
        parser.advance();
    }
    Ok(Some(Statement::Recognised { command, text: parser.string_since(first) }))
}

/// Statements that are only recognised, by their leading words.
const RECOGNISED: &[(&[Keyword], &str)] = &[
    (&[K::Alter, K::Instance], "ALTER INSTANCE"),
    (&[K::Alter, K::Resource, K::Group], "ALTER RESOURCE GROUP"),
    (&[K::Alter, K::Server], "ALTER SERVER"),
    (&[K::Alter, K::Tablespace], "ALTER TABLESPACE"),
    (&[K::Alter, K::Undo, K::Tablespace], "ALTER UNDO TABLESPACE"),
    (&[K::Alter, K::Logfile, K::Group], "ALTER LOGFILE GROUP"),
    (&[K::Binlog], "BINLOG"),
    (&[K::Cache, K::Index], "CACHE INDEX"),
    (&[K::Change], "CHANGE REPLICATION"),
    (&[K::Clone], "CLONE"),
    (&[K::Create, K::Aggregate, K::Function], "CREATE FUNCTION"),
    (&[K::Create, K::Logfile, K::Group], "CREATE LOGFILE GROUP"),
    (&[K::Create, K::Masking], "CREATE MASKING POLICY"),
    (&[K::Create, K::Or, K::Replace, K::Spatial], "CREATE SPATIAL REFERENCE SYSTEM"),
    (&[K::Create, K::Resource, K::Group], "CREATE RESOURCE GROUP"),
    (&[K::Create, K::Server], "CREATE SERVER"),
    (&[K::Create, K::Spatial, K::Reference], "CREATE SPATIAL REFERENCE SYSTEM"),
    (&[K::Create, K::Tablespace], "CREATE TABLESPACE"),
    (&[K::Create, K::Undo, K::Tablespace], "CREATE UNDO TABLESPACE"),
    (&[K::Drop, K::Logfile, K::Group], "DROP LOGFILE GROUP"),
    (&[K::Drop, K::Masking], "DROP MASKING POLICY"),
    (&[K::Drop, K::Resource, K::Group], "DROP RESOURCE GROUP"),
    (&[K::Drop, K::Server], "DROP SERVER"),
    (&[K::Drop, K::Spatial, K::Reference], "DROP SPATIAL REFERENCE SYSTEM"),
    (&[K::Drop, K::Tablespace], "DROP TABLESPACE"),
    (&[K::Drop, K::Undo, K::Tablespace], "DROP UNDO TABLESPACE"),
    (&[K::Import, K::Table], "IMPORT TABLE"),
    (&[K::Install, K::Component], "INSTALL COMPONENT"),
    (&[K::Install, K::Plugin], "INSTALL PLUGIN"),
    (&[K::Load, K::Index], "LOAD INDEX"),
    (&[K::Purge], "PURGE BINARY LOGS"),
    (&[K::Set, K::Resource, K::Group], "SET RESOURCE GROUP"),
    (&[K::Show, K::Create, K::Masking], "SHOW CREATE MASKING POLICY"),
    (&[K::Start, K::Replica], "START REPLICA"),
    (&[K::Start, K::GroupReplication], "START GROUP_REPLICATION"),
    (&[K::Stop, K::Replica], "STOP REPLICA"),
    (&[K::Stop, K::GroupReplication], "STOP GROUP_REPLICATION"),
    (&[K::Uninstall, K::Component], "UNINSTALL COMPONENT"),
    (&[K::Uninstall, K::Plugin], "UNINSTALL PLUGIN"),
];

fn do_statement(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let expressions = parser.list(|parser| {
        let expression = expression(parser)?;
        optional_alias(parser)?;
        Ok(expression)
    })?;
    Ok(Statement::Do(expressions))
}

fn call_statement(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let procedure = parser.object_name()?;
    let arguments = if parser.kind() == T::OpenParenthesis { call_arguments(parser)? } else { Vec::new() };
    Ok(Statement::Call { procedure, arguments })
}
