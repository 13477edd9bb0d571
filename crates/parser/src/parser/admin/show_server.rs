//! SHOW about the server, engines, stored programs, logs and replication.

use crate::parser::admin::show::show_filter;
use crate::parser::query::optional_limit;
use crate::parser::statement::statement;
use crate::parser::*;
use Keyword as K;

/// The word behind SHOW is read.
pub(crate) fn show_server(parser: &mut Parser, word: Keyword) -> SqlResult<Show> {
    Ok(match word {
        K::Engines => Show::Engines,
        K::Storage => {
            parser.expect(K::Engines)?;
            Show::Engines
        }
        K::Engine => show_engine(parser)?,
        K::Privileges => Show::Privileges,
        K::Plugins => Show::Plugins,
        K::Profiles => Show::Profiles,
        K::Profile => show_profile(parser)?,
        K::Procedure | K::Function | K::Library => show_program(parser, word)?,
        K::Binary => {
            if parser.accept(K::Log) {
                parser.expect(K::Status)?;
                Show::BinaryLogStatus
            } else {
                parser.expect(K::Logs)?;
                Show::BinaryLogs
            }
        }
        K::Binlog | K::Relaylog => {
            parser.expect(K::Events)?;
            show_binlog_events(parser, word == K::Relaylog)?
        }
        K::Replicas => Show::Replicas,
        K::Replica => {
            parser.expect(K::Status)?;
            Show::ReplicaStatus { channel: optional_channel(parser)? }
        }
        K::ParseTree => Show::ParseTree(Box::new(statement(parser)?)),
        _ => {
            parser.at -= 1;
            return parser.fail();
        }
    })
}

fn show_engine(parser: &mut Parser) -> SqlResult<Show> {
    let name = if parser.accept(K::All) { "ALL".to_owned() } else { parser.name_or_string()? };
    let what = match parser.expect_any(&[K::Status, K::Mutex, K::Logs])? {
        K::Status => EngineShow::Status,
        K::Mutex => EngineShow::Mutex,
        _ => EngineShow::Logs,
    };
    Ok(Show::Engine { name, what })
}

fn show_program(parser: &mut Parser, word: Keyword) -> SqlResult<Show> {
    if word != K::Library && parser.accept(K::Code) {
        let name = parser.object_name()?;
        return Ok(if word == K::Procedure { Show::ProcedureCode(name) } else { Show::FunctionCode(name) });
    }
    parser.expect(K::Status)?;
    let filter = show_filter(parser)?;
    Ok(match word {
        K::Procedure => Show::ProcedureStatus(filter),
        K::Function => Show::FunctionStatus(filter),
        _ => Show::LibraryStatus(filter),
    })
}

fn show_binlog_events(parser: &mut Parser, relay: bool) -> SqlResult<Show> {
    let log = if parser.accept(K::In) { Some(parser.string()?) } else { None };
    let position = if parser.accept(K::From) { Some(parser.number()?) } else { None };
    let limit = optional_limit(parser)?;
    let channel = if relay { optional_channel(parser)? } else { None };
    Ok(Show::BinlogEvents { relay, log, position, limit, channel })
}

/// `FOR CHANNEL name`.
pub(crate) fn optional_channel(parser: &mut Parser) -> SqlResult<Option<Name>> {
    if !parser.accept_all(&[K::For, K::Channel]) {
        return Ok(None);
    }
    parser.name_or_string().map(Some)
}

fn show_profile(parser: &mut Parser) -> SqlResult<Show> {
    let mut types = Vec::new();
    while let Some(kind) = profile_type(parser)? {
        types.push(kind);
        if !parser.accept_comma() {
            break;
        }
    }
    let query = if parser.accept(K::For) {
        parser.expect(K::Query)?;
        Some(parser.number()?)
    } else {
        None
    };
    Ok(Show::Profile { types, query, limit: optional_limit(parser)? })
}

fn profile_type(parser: &mut Parser) -> SqlResult<Option<&'static str>> {
    let words = [K::All, K::Cpu, K::Ipc, K::Memory, K::Source, K::Swaps, K::Block, K::Context, K::Page];
    Ok(Some(match parser.accept_any(&words) {
        None => return Ok(None),
        Some(K::Block) => {
            parser.expect(K::Io)?;
            "BLOCK IO"
        }
        Some(K::Context) => {
            parser.expect(K::Switches)?;
            "CONTEXT SWITCHES"
        }
        Some(K::Page) => {
            parser.expect(K::Faults)?;
            "PAGE FAULTS"
        }
        Some(word) => word.text(),
    }))
}
