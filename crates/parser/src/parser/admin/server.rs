//! KILL, FLUSH and RESET.

use crate::parser::admin::show_server::optional_channel;
use crate::parser::ddl::if_exists;
use crate::parser::expression::expression;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn kill(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let query_only = parser.accept_any(&[K::Connection, K::Query]) == Some(K::Query);
    Ok(Statement::Kill { query_only, id: expression(parser)? })
}

pub(crate) fn flush(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let local = parser.accept_any(&[K::NoWriteToBinlog, K::Local]).is_some();
    let target = if parser.accept_any(&[K::Table, K::Tables]).is_some() {
        flush_tables(parser)?
    } else {
        FlushTarget::Options(parser.list(flush_option)?)
    };
    Ok(Statement::Flush(Flush { local, target }))
}

fn flush_tables(parser: &mut Parser) -> SqlResult<FlushTarget> {
    let at_option = matches!(parser.kind(), T::Word(K::With | K::For)) || parser.ends_at(0);
    let tables = if at_option { Vec::new() } else { parser.list(Parser::object_name)? };
    let with_read_lock = parser.accept(K::With);
    if with_read_lock {
        parser.expect_all(&[K::Read, K::Lock])?;
    }
    let for_export = !with_read_lock && parser.accept(K::For);
    if for_export {
        parser.expect(K::Export)?;
    }
    Ok(FlushTarget::Tables { tables, with_read_lock, for_export })
}

fn flush_option(parser: &mut Parser) -> SqlResult<&'static str> {
    let words = [
        K::Binary,
        K::Engine,
        K::Error,
        K::General,
        K::Logs,
        K::Privileges,
        K::Relay,
        K::Slow,
        K::Status,
        K::UserResources,
        K::OptimizerCosts,
        K::Query,
    ];
    let word = parser.expect_any(&words)?;
    if word == K::Query {
        parser.expect(K::Cache)?;
        return Ok("QUERY CACHE");
    }
    let logs = match word {
        K::Binary => "BINARY LOGS",
        K::Engine => "ENGINE LOGS",
        K::Error => "ERROR LOGS",
        K::General => "GENERAL LOGS",
        K::Relay => "RELAY LOGS",
        K::Slow => "SLOW LOGS",
        other => return Ok(other.text()),
    };
    parser.expect(K::Logs)?;
    if word == K::Relay {
        optional_channel(parser)?;
    }
    Ok(logs)
}

pub(crate) fn reset(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    parser.list(reset_target).map(Statement::Reset)
}

fn reset_target(parser: &mut Parser) -> SqlResult<ResetTarget> {
    Ok(match parser.expect_any(&[K::Binary, K::Query, K::Replica, K::Persist])? {
        K::Query => {
            parser.expect(K::Cache)?;
            ResetTarget::QueryCache
        }
        K::Binary => {
            parser.expect_all(&[K::Logs, K::And, K::Gtids])?;
            let to = if parser.accept(K::To) { Some(parser.number()?) } else { None };
            ResetTarget::BinaryLogsAndGtids { to }
        }
        K::Replica => ResetTarget::Replica { all: parser.accept(K::All), channel: optional_channel(parser)? },
        _ => {
            let if_exists = if_exists(parser)?;
            if !if_exists && !parser.kind().is_name() {
                return Ok(ResetTarget::Persist { name: None, if_exists });
            }
            let mut name = parser.name()?;
            if parser.accept_kind(T::Point) {
                name = format!("{name}.{}", parser.name_behind_point()?);
            }
            ResetTarget::Persist { name: Some(name), if_exists }
        }
    })
}
