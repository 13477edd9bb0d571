//! SHOW about the server, engines, stored programs, logs and replication.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// The word behind SHOW is read.
    pub(super) fn show_server(&mut self, word: Keyword) -> SqlResult<Show> {
        Ok(match word {
            K::Engines => Show::Engines,
            K::Storage => {
                self.expect(K::Engines)?;
                Show::Engines
            }
            K::Engine => self.show_engine()?,
            K::Privileges => Show::Privileges,
            K::Plugins => Show::Plugins,
            K::Profiles => Show::Profiles,
            K::Profile => self.show_profile()?,
            K::Procedure | K::Function | K::Library => self.show_program(word)?,
            K::Binary => {
                if self.accept(K::Log) {
                    self.expect(K::Status)?;
                    Show::BinaryLogStatus
                } else {
                    self.expect(K::Logs)?;
                    Show::BinaryLogs
                }
            }
            K::Binlog | K::Relaylog => {
                self.expect(K::Events)?;
                self.show_binlog_events(word == K::Relaylog)?
            }
            K::Replicas => Show::Replicas,
            K::Replica => {
                self.expect(K::Status)?;
                Show::ReplicaStatus { channel: self.optional_channel()? }
            }
            K::ParseTree => Show::ParseTree(Box::new(self.statement()?)),
            _ => {
                self.at -= 1;
                return self.fail();
            }
        })
    }

    fn show_engine(&mut self) -> SqlResult<Show> {
        let name = if self.accept(K::All) { "ALL".to_owned() } else { self.name_or_string()? };
        let what = match self.expect_any(&[K::Status, K::Mutex, K::Logs])? {
            K::Status => EngineShow::Status,
            K::Mutex => EngineShow::Mutex,
            _ => EngineShow::Logs,
        };
        Ok(Show::Engine { name, what })
    }

    fn show_program(&mut self, word: Keyword) -> SqlResult<Show> {
        if word != K::Library && self.accept(K::Code) {
            let name = self.object_name()?;
            return Ok(if word == K::Procedure {
                Show::ProcedureCode(name)
            } else {
                Show::FunctionCode(name)
            });
        }
        self.expect(K::Status)?;
        let filter = self.show_filter()?;
        Ok(match word {
            K::Procedure => Show::ProcedureStatus(filter),
            K::Function => Show::FunctionStatus(filter),
            _ => Show::LibraryStatus(filter),
        })
    }

    fn show_binlog_events(&mut self, relay: bool) -> SqlResult<Show> {
        let log = if self.accept(K::In) { Some(self.string()?) } else { None };
        let position = if self.accept(K::From) { Some(self.number()?) } else { None };
        let limit = self.optional_limit()?;
        let channel = if relay { self.optional_channel()? } else { None };
        Ok(Show::BinlogEvents { relay, log, position, limit, channel })
    }

    /// `FOR CHANNEL name`.
    pub(super) fn optional_channel(&mut self) -> SqlResult<Option<Name>> {
        if !self.accept_all(&[K::For, K::Channel]) {
            return Ok(None);
        }
        self.name_or_string().map(Some)
    }

    fn show_profile(&mut self) -> SqlResult<Show> {
        let mut types = Vec::new();
        while let Some(kind) = self.profile_type()? {
            types.push(kind);
            if !self.accept_comma() {
                break;
            }
        }
        let query = if self.accept(K::For) {
            self.expect(K::Query)?;
            Some(self.number()?)
        } else {
            None
        };
        Ok(Show::Profile { types, query, limit: self.optional_limit()? })
    }

    fn profile_type(&mut self) -> SqlResult<Option<&'static str>> {
        let words = [K::All, K::Cpu, K::Ipc, K::Memory, K::Source, K::Swaps, K::Block, K::Context, K::Page];
        Ok(Some(match self.accept_any(&words) {
            None => return Ok(None),
            Some(K::Block) => {
                self.expect(K::Io)?;
                "BLOCK IO"
            }
            Some(K::Context) => {
                self.expect(K::Switches)?;
                "CONTEXT SWITCHES"
            }
            Some(K::Page) => {
                self.expect(K::Faults)?;
                "PAGE FAULTS"
            }
            Some(word) => word.text(),
        }))
    }
}

impl Parser<'_> {
    /// Whether a token that can end a statement follows.
    pub(super) fn ends_at(&self, ahead: usize) -> bool {
        matches!(self.kind_at(ahead), T::End | T::Semicolon)
    }
}
