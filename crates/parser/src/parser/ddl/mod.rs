//! Definitions of databases, tables, indexes, views and stored programs: what stands behind CREATE, ALTER, DROP and RENAME
//! decides which file reads the rest.

pub(crate) mod alter_table;
pub(crate) mod column;
pub(crate) mod constraint;
pub(crate) mod data_type;
pub(crate) mod database;
pub(crate) mod index;
pub(crate) mod partition;
pub(crate) mod program;
pub(crate) mod table;
pub(crate) mod table_options;
pub(crate) mod view;

use crate::parser::account::user::{alter_user, create_user, rename_user};
use crate::parser::account::{role_name, user_name};
use crate::parser::ddl::alter_table::alter_table;
use crate::parser::ddl::database::{alter_database, create_database, drop_database};
use crate::parser::ddl::index::{create_index, drop_index};
use crate::parser::ddl::program::optional_program;
use crate::parser::ddl::table::{create_table, drop_table, rename_table};
use crate::parser::ddl::view::{drop_view, view_statement};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn rename_statement(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    match parser.expect_any(&[K::Table, K::Tables, K::User])? {
        K::User => rename_user(parser),
        _ => rename_table(parser),
    }
}

pub(crate) fn create_statement(parser: &mut Parser) -> SqlResult<Statement> {
    let start = parser.at;
    parser.advance();
    if let Some(statement) = optional_program(parser, start, ProgramAction::Create)? {
        return Ok(statement);
    }
    let T::Word(word) = parser.kind() else { return parser.fail() };
    match word {
        K::Temporary => {
            parser.advance();
            parser.expect(K::Table)?;
            create_table(parser, true)
        }
        K::Table => {
            parser.advance();
            create_table(parser, false)
        }
        K::Database | K::Schema => {
            parser.advance();
            create_database(parser)
        }
        K::Unique | K::Fulltext | K::Spatial | K::Index => create_index(parser),
        K::User => {
            parser.advance();
            create_user(parser)
        }
        K::Role => {
            parser.advance();
            let if_not_exists = if_not_exists(parser)?;
            Ok(Statement::CreateRole { roles: parser.list(role_name)?, if_not_exists })
        }
        K::Or | K::Algorithm | K::Definer | K::Sql | K::View => view_statement(parser, false),
        _ => parser.fail(),
    }
}

pub(crate) fn alter_statement(parser: &mut Parser) -> SqlResult<Statement> {
    let start = parser.at;
    parser.advance();
    if let Some(statement) = optional_program(parser, start, ProgramAction::Alter)? {
        return Ok(statement);
    }
    let T::Word(word) = parser.kind() else { return parser.fail() };
    match word {
        K::Table => {
            parser.advance();
            alter_table(parser)
        }
        K::Database | K::Schema => {
            parser.advance();
            alter_database(parser)
        }
        K::User => {
            parser.advance();
            alter_user(parser)
        }
        K::Algorithm | K::Definer | K::Sql | K::View => view_statement(parser, true),
        _ => parser.fail(),
    }
}

pub(crate) fn drop_statement(parser: &mut Parser) -> SqlResult<Statement> {
    let start = parser.at;
    parser.advance();
    if let Some(statement) = optional_program(parser, start, ProgramAction::Drop)? {
        return Ok(statement);
    }
    let temporary = parser.accept(K::Temporary);
    let words: &[Keyword] = if temporary {
        &[K::Table, K::Tables]
    } else {
        &[K::Table, K::Tables, K::Database, K::Schema, K::Index, K::View, K::User, K::Role, K::Prepare]
    };
    match parser.expect_any(words)? {
        K::Table | K::Tables => drop_table(parser, temporary),
        K::Database | K::Schema => drop_database(parser),
        K::Index => drop_index(parser),
        K::View => drop_view(parser),
        K::User => {
            let if_exists = if_exists(parser)?;
            Ok(Statement::DropUser { users: parser.list(user_name)?, if_exists })
        }
        K::Role => {
            let if_exists = if_exists(parser)?;
            Ok(Statement::DropRole { roles: parser.list(role_name)?, if_exists })
        }
        _ => Ok(Statement::Deallocate(parser.name()?)),
    }
}

pub(crate) fn if_exists(parser: &mut Parser) -> SqlResult<bool> {
    if !parser.accept(K::If) {
        return Ok(false);
    }
    parser.expect(K::Exists)?;
    Ok(true)
}

pub(crate) fn if_not_exists(parser: &mut Parser) -> SqlResult<bool> {
    if !parser.accept(K::If) {
        return Ok(false);
    }
    parser.expect_all(&[K::Not, K::Exists])?;
    Ok(true)
}
