//! Transactions, table locks, XA, and prepared statements in SQL.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn transaction_statement(&mut self, word: Keyword) -> SqlResult<Statement> {
        self.advance();
        match word {
            K::Begin => {
                self.accept(K::Work);
                Ok(Statement::Begin(TransactionStart::default()))
            }
            K::Start => {
                self.expect(K::Transaction)?;
                self.start_transaction()
            }
            K::Commit => {
                self.accept(K::Work);
                Ok(Statement::Commit(self.transaction_end()?))
            }
            K::Rollback => {
                self.accept(K::Work);
                if self.accept(K::To) {
                    self.accept(K::Savepoint);
                    return Ok(Statement::RollbackTo(self.name()?));
                }
                Ok(Statement::Rollback(self.transaction_end()?))
            }
            K::Savepoint => Ok(Statement::Savepoint(self.name()?)),
            K::Release => {
                self.expect(K::Savepoint)?;
                Ok(Statement::ReleaseSavepoint(self.name()?))
            }
            K::Xa => self.xa().map(Statement::Xa),
            K::Lock if self.accept(K::Instance) => {
                self.expect_all(&[K::For, K::Backup])?;
                Ok(Statement::LockInstance)
            }
            K::Unlock if self.accept(K::Instance) => Ok(Statement::UnlockInstance),
            K::Lock => {
                self.expect_any(&[K::Table, K::Tables])?;
                Ok(Statement::LockTables(self.list(Self::lock_table)?))
            }
            _ => {
                self.expect_any(&[K::Table, K::Tables])?;
                Ok(Statement::UnlockTables)
            }
        }
    }

    fn start_transaction(&mut self) -> SqlResult<Statement> {
        let mut start = TransactionStart::default();
        if self.at_end() {
            return Ok(Statement::Begin(start));
        }
        self.list(|parser| {
            if parser.accept(K::With) {
                parser.expect_all(&[K::Consistent, K::Snapshot])?;
                start.consistent_snapshot = true;
                return Ok(());
            }
            parser.expect(K::Read)?;
            let read_only = parser.expect_any(&[K::Only, K::Write])? == K::Only;
            if start.read_only.replace(read_only).is_some_and(|before| before != read_only) {
                return parser.fail();
            }
            Ok(())
        })?;
        Ok(Statement::Begin(start))
    }

    /// `[AND [NO] CHAIN] [[NO] RELEASE]`.
    fn transaction_end(&mut self) -> SqlResult<TransactionEnd> {
        let mut end = TransactionEnd::default();
        if self.accept(K::And) {
            end.chain = Some(!self.accept(K::No));
            self.expect(K::Chain)?;
        }
        if self.accept_all(&[K::No, K::Release]) {
            end.release = Some(false);
        } else if self.at_word(K::Release) && end.chain != Some(true) {
            self.advance();
            end.release = Some(true);
        }
        Ok(end)
    }

    fn lock_table(&mut self) -> SqlResult<LockTable> {
        let table = self.object_name()?;
        let alias = self.table_alias()?;
        let mode = match self.expect_any(&[K::Read, K::Write, K::LowPriority])? {
            K::Read if self.accept(K::Local) => TableLockMode::ReadLocal,
            K::Read => TableLockMode::Read,
            K::Write => TableLockMode::Write,
            _ => {
                self.expect(K::Write)?;
                TableLockMode::LowPriorityWrite
            }
        };
        Ok(LockTable { table, alias, mode })
    }

    fn xa(&mut self) -> SqlResult<Xa> {
        let words = [K::Start, K::Begin, K::End, K::Prepare, K::Commit, K::Rollback, K::Recover];
        Ok(match self.expect_any(&words)? {
            K::Start | K::Begin => {
                let xid = self.xid()?;
                let word = self.accept_any(&[K::Join, K::Resume]);
                Xa::Start { xid, join: word == Some(K::Join), resume: word == Some(K::Resume) }
            }
            K::End => {
                let xid = self.xid()?;
                let suspend = self.accept(K::Suspend);
                let for_migrate = suspend && self.accept(K::For);
                if for_migrate {
                    self.expect(K::Migrate)?;
                }
                Xa::End { xid, suspend, for_migrate }
            }
            K::Prepare => Xa::Prepare(self.xid()?),
            K::Commit => {
                let xid = self.xid()?;
                let one_phase = self.accept(K::One);
                if one_phase {
                    self.expect(K::Phase)?;
                }
                Xa::Commit { xid, one_phase }
            }
            K::Rollback => Xa::Rollback(self.xid()?),
            _ => {
                let convert_xid = self.accept(K::Convert);
                if convert_xid {
                    self.expect(K::Xid)?;
                }
                Xa::Recover { convert_xid }
            }
        })
    }

    fn xid(&mut self) -> SqlResult<Xid> {
        let global = self.string_or_bytes()?;
        let branch = if self.accept_comma() { self.string_or_bytes()? } else { Vec::new() };
        let format = if self.accept_comma() { self.number()? } else { 1 };
        Ok(Xid { global, branch, format })
    }

    /// PREPARE, EXECUTE and DEALLOCATE.
    pub(super) fn prepared_statement(&mut self, word: Keyword) -> SqlResult<Statement> {
        self.advance();
        if word == K::Deallocate {
            self.expect(K::Prepare)?;
            return Ok(Statement::Deallocate(self.name()?));
        }
        let name = self.name()?;
        if word == K::Prepare {
            self.expect(K::From)?;
            let source = if self.kind() == T::UserVariable {
                PrepareSource::UserVariable(self.user_variable()?)
            } else {
                PrepareSource::Text(self.string()?)
            };
            return Ok(Statement::Prepare { name, source });
        }
        let using = if self.accept(K::Using) { self.list(Self::user_variable)? } else { Vec::new() };
        Ok(Statement::Execute { name, using })
    }
}
