//! KILL, FLUSH, RESET, table maintenance, SIGNAL and GET DIAGNOSTICS.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn kill(&mut self) -> SqlResult<Statement> {
        self.advance();
        let query_only = self.accept_any(&[K::Connection, K::Query]) == Some(K::Query);
        Ok(Statement::Kill { query_only, id: self.expression()? })
    }

    pub(super) fn flush(&mut self) -> SqlResult<Statement> {
        self.advance();
        let local = self.accept_any(&[K::NoWriteToBinlog, K::Local]).is_some();
        let target = if self.accept_any(&[K::Table, K::Tables]).is_some() {
            self.flush_tables()?
        } else {
            FlushTarget::Options(self.list(Self::flush_option)?)
        };
        Ok(Statement::Flush(Flush { local, target }))
    }

    fn flush_tables(&mut self) -> SqlResult<FlushTarget> {
        let at_option = matches!(self.kind(), T::Word(K::With | K::For)) || self.ends_at(0);
        let tables = if at_option { Vec::new() } else { self.list(Self::object_name)? };
        let with_read_lock = self.accept(K::With);
        if with_read_lock {
            self.expect_all(&[K::Read, K::Lock])?;
        }
        let for_export = !with_read_lock && self.accept(K::For);
        if for_export {
            self.expect(K::Export)?;
        }
        Ok(FlushTarget::Tables { tables, with_read_lock, for_export })
    }

    fn flush_option(&mut self) -> SqlResult<&'static str> {
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
        ];
        let word = self.expect_any(&words)?;
        let logs = match word {
            K::Binary => "BINARY LOGS",
            K::Engine => "ENGINE LOGS",
            K::Error => "ERROR LOGS",
            K::General => "GENERAL LOGS",
            K::Relay => "RELAY LOGS",
            K::Slow => "SLOW LOGS",
            other => return Ok(other.text()),
        };
        self.expect(K::Logs)?;
        if word == K::Relay {
            self.optional_channel()?;
        }
        Ok(logs)
    }

    pub(super) fn reset(&mut self) -> SqlResult<Statement> {
        self.advance();
        self.list(Self::reset_target).map(Statement::Reset)
    }

    fn reset_target(&mut self) -> SqlResult<ResetTarget> {
        Ok(match self.expect_any(&[K::Binary, K::Replica, K::Persist])? {
            K::Binary => {
                self.expect_all(&[K::Logs, K::And, K::Gtids])?;
                let to = if self.accept(K::To) { Some(self.number()?) } else { None };
                ResetTarget::BinaryLogsAndGtids { to }
            }
            K::Replica => {
                ResetTarget::Replica { all: self.accept(K::All), channel: self.optional_channel()? }
            }
            _ => {
                let if_exists = self.if_exists()?;
                if !if_exists && !self.kind().is_name() {
                    return Ok(ResetTarget::Persist { name: None, if_exists });
                }
                let mut name = self.name()?;
                if self.accept_kind(T::Point) {
                    name = format!("{name}.{}", self.name_behind_point()?);
                }
                ResetTarget::Persist { name: Some(name), if_exists }
            }
        })
    }

    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.
    pub(super) fn table_maintenance(&mut self, word: Keyword) -> SqlResult<Statement> {
        let command = match word {
            K::Analyze => MaintenanceCommand::Analyze,
            K::Check => MaintenanceCommand::Check,
            K::Checksum => MaintenanceCommand::Checksum,
            K::Optimize => MaintenanceCommand::Optimize,
            _ => MaintenanceCommand::Repair,
        };
        self.advance();
        let takes_local = matches!(word, K::Analyze | K::Optimize | K::Repair);
        let local = takes_local && self.accept_any(&[K::NoWriteToBinlog, K::Local]).is_some();
        self.expect_any(&[K::Table, K::Tables])?;
        let tables = self.list(Self::object_name)?;
        let mut options = Vec::new();
        let words: &[Keyword] = match command {
            MaintenanceCommand::Check => &[K::Quick, K::Fast, K::Medium, K::Extended, K::Changed],
            MaintenanceCommand::Checksum => &[K::Quick, K::Extended],
            MaintenanceCommand::Repair => &[K::Quick, K::Extended, K::UseFrm],
            MaintenanceCommand::Analyze | MaintenanceCommand::Optimize => &[],
        };
        loop {
            if let Some(word) = self.accept_any(words) {
                options.push(word.text());
            } else if command == MaintenanceCommand::Check && self.accept(K::For) {
                self.expect(K::Upgrade)?;
                options.push("FOR UPGRADE");
            } else {
                break;
            }
        }
        let histogram =
            if command == MaintenanceCommand::Analyze { self.optional_histogram()? } else { None };
        Ok(Statement::TableMaintenance(TableMaintenance { command, local, tables, options, histogram }))
    }

    fn optional_histogram(&mut self) -> SqlResult<Option<Histogram>> {
        let Some(word) = self.accept_any(&[K::Update, K::Drop]) else { return Ok(None) };
        self.expect_all(&[K::Histogram, K::On])?;
        let columns = self.list(Self::name)?;
        if word == K::Drop {
            return Ok(Some(Histogram::Drop { columns }));
        }
        let (mut buckets, mut data) = (None, None);
        if self.at_word(K::With) && self.kind_at(1) == T::Integer {
            self.advance();
            buckets = Some(self.number()?);
            self.expect(K::Buckets)?;
        } else if self.accept(K::Using) {
            self.expect(K::Data)?;
            data = Some(self.string()?);
        }
        let auto_update = match self.accept_any(&[K::Auto, K::Manual]) {
            Some(word) => {
                self.expect(K::Update)?;
                Some(word == K::Auto)
            }
            None => None,
        };
        Ok(Some(Histogram::Update { columns, buckets, data, auto_update }))
    }

    /// SIGNAL and RESIGNAL.
    pub(super) fn signal(&mut self, word: Keyword) -> SqlResult<Statement> {
        self.advance();
        let optional = word == K::Resignal && (self.ends_at(0) || self.at_word(K::Set));
        let condition = if self.accept(K::Sqlstate) {
            self.accept(K::Value);
            SignalCondition::State(self.string()?)
        } else if optional {
            SignalCondition::None
        } else {
            SignalCondition::Name(self.name()?)
        };
        let items = if self.accept(K::Set) {
            self.list(|parser| {
                let name = parser.name()?.to_ascii_uppercase();
                parser.expect_kind(T::Equal)?;
                Ok((name, parser.expression()?))
            })?
        } else {
            Vec::new()
        };
        let signal = Signal { condition, items };
        Ok(if word == K::Signal { Statement::Signal(signal) } else { Statement::Resignal(signal) })
    }

    pub(super) fn get_diagnostics(&mut self) -> SqlResult<Statement> {
        self.advance();
        let stacked = self.accept_any(&[K::Current, K::Stacked]) == Some(K::Stacked);
        self.expect(K::Diagnostics)?;
        let condition = if self.accept(K::Condition) { Some(self.operand()?) } else { None };
        let items = self.list(|parser| {
            let target = parser.target_variable()?;
            parser.expect_kind(T::Equal)?;
            Ok((target, parser.name()?.to_ascii_uppercase()))
        })?;
        Ok(Statement::GetDiagnostics(Box::new(GetDiagnostics { stacked, condition, items })))
    }
}
