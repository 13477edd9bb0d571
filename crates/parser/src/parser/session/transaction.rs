//! Transactions: their beginning and end, savepoints, LOCK TABLES.

use crate::parser::query::from::table_alias;
use crate::parser::session::xa::xa;
use crate::parser::*;
use Keyword as K;

pub(crate) fn transaction_statement(parser: &mut Parser, word: Keyword) -> SqlResult<Statement> {
    parser.advance();
    match word {
        K::Begin => {
            parser.accept(K::Work);
            Ok(Statement::Begin(TransactionStart::default()))
        }
        K::Start => {
            parser.expect(K::Transaction)?;
            start_transaction(parser)
        }
        K::Commit => {
            parser.accept(K::Work);
            Ok(Statement::Commit(transaction_end(parser)?))
        }
        K::Rollback => {
            parser.accept(K::Work);
            if parser.accept(K::To) {
                parser.accept(K::Savepoint);
                return Ok(Statement::RollbackTo(parser.name()?));
            }
            Ok(Statement::Rollback(transaction_end(parser)?))
        }
        K::Savepoint => Ok(Statement::Savepoint(parser.name()?)),
        K::Release => {
            parser.expect(K::Savepoint)?;
            Ok(Statement::ReleaseSavepoint(parser.name()?))
        }
        K::Xa => xa(parser).map(Statement::Xa),
        K::Lock if parser.accept(K::Instance) => {
            parser.expect_all(&[K::For, K::Backup])?;
            Ok(Statement::LockInstance)
        }
        K::Unlock if parser.accept(K::Instance) => Ok(Statement::UnlockInstance),
        K::Lock => {
            parser.expect_any(&[K::Table, K::Tables])?;
            Ok(Statement::LockTables(parser.list(lock_table)?))
        }
        _ => {
            parser.expect_any(&[K::Table, K::Tables])?;
            Ok(Statement::UnlockTables)
        }
    }
}

fn start_transaction(parser: &mut Parser) -> SqlResult<Statement> {
    let mut start = TransactionStart::default();
    if parser.at_end() {
        return Ok(Statement::Begin(start));
    }
    parser.list(|parser| {
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
fn transaction_end(parser: &mut Parser) -> SqlResult<TransactionEnd> {
    let mut end = TransactionEnd::default();
    if parser.accept(K::And) {
        end.chain = Some(!parser.accept(K::No));
        parser.expect(K::Chain)?;
    }
    if parser.accept_all(&[K::No, K::Release]) {
        end.release = Some(false);
    } else if parser.at_word(K::Release) && end.chain != Some(true) {
        parser.advance();
        end.release = Some(true);
    }
    Ok(end)
}

fn lock_table(parser: &mut Parser) -> SqlResult<LockTable> {
    let table = parser.object_name()?;
    let alias = table_alias(parser)?;
    let mode = match parser.expect_any(&[K::Read, K::Write, K::LowPriority])? {
        K::Read if parser.accept(K::Local) => TableLockMode::ReadLocal,
        K::Read => TableLockMode::Read,
        K::Write => TableLockMode::Write,
        _ => {
            parser.expect(K::Write)?;
            TableLockMode::LowPriorityWrite
        }
    };
    Ok(LockTable { table, alias, mode })
}
