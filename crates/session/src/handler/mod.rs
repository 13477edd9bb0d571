//! HANDLER: a table that a session keeps open to read it index by index, with a place where the next READ goes on. Main type:
//! [`Handlers`].
//!
//! What is open is locked against changes of its definition until it is closed, and no longer than anybody waits for such a change: whatever
//! next uses a table in this session gives way, and so does READ, which then opens the table anew and has lost its place. A place is a key
//! and holds nothing: rows may come and go around it. DDL of the session itself closes what it changes for good.

mod key;
mod open;
mod place;
mod read;
mod sink;
#[cfg(test)]
mod tests;

use crate::session::Session;
use catalog::{LockKey, LockMode};
use dictionary::TableName;
use errors::{SqlResult, sql_error};
use instance::lock_owner as owner;
use parser::ast::{self, Statement};
use place::Place;
use wire::result::ClientChannel;

/// One HANDLER .. OPEN.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    /// What the session calls it.
    alias: String,
    table: TableName,
    key: LockKey,
    /// It is one of the session's temporary tables, which nobody else changes.
    is_temporary: bool,
    /// Who opened it could read all its columns then.
    shows_all: bool,
    /// Its name is locked. Not while it has given way; the next READ opens it again.
    is_open: bool,
    /// A READ of it runs: it does not give way before that has ended.
    is_read: bool,
    /// Where the last READ ended; None before the first.
    place: Option<Place>,
}

/// The tables that a session has open.
#[derive(Debug, Default)]
pub(crate) struct Handlers(Vec<Handler>);

impl Handlers {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, alias: &str) -> Option<usize> {
        self.0.iter().position(|handler| handler.alias.eq_ignore_ascii_case(alias))
    }
}

impl Handler {
    /// Gives the name back; the place is lost.
    fn shut(&mut self, session: &mut Session) {
        self.place = None;
        if std::mem::replace(&mut self.is_open, false) && !self.is_temporary {
            session.locks.let_go(owner(&session.instance, &session.shared), &self.key);
        }
    }
}

/// Runs a HANDLER statement. Error 1192 under LOCK TABLES, besides those of its three forms.
pub(crate) fn run(
    session: &mut Session,
    handler: &ast::Handler,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    session.locks.explicit.refuse()?;
    match handler {
        ast::Handler::Open { table, alias } => {
            session.transaction.xa.check_tables()?;
            open::open(session, table, alias.as_deref())?;
            session.send_ok(channel)
        }
        ast::Handler::Close(alias) => {
            let at = session.handlers.position(alias).ok_or_else(|| unknown(alias))?;
            session.handlers.0.remove(at).shut(session);
            session.send_ok(channel)
        }
        ast::Handler::Read { table, index, step, filter, limit } => {
            session.transaction.xa.check_tables()?;
            let asked =
                read::Asked { index: index.as_deref(), step, filter: filter.as_ref(), limit: limit.as_ref() };
            read::read(session, table, &asked, channel)
        }
    }
}

fn unknown(alias: &str) -> errors::SqlError {
    sql_error!(ER_UNKNOWN_TABLE, alias, "HANDLER")
}

/// Shuts those that a predicate holds for; their next READ opens them again.
fn shut_those(session: &mut Session, is_meant: impl Fn(&Session, &Handler) -> bool) {
    let mut handlers = std::mem::take(&mut session.handlers);
    for handler in &mut handlers.0 {
        if is_meant(session, handler) {
            handler.shut(session);
        }
    }
    session.handlers = handlers;
}

/// Before the session uses tables: what others wait for is given to them.
pub(crate) fn give_way(session: &mut Session) {
    shut_those(session, |session, handler| {
        let (locks, me) = (session.instance.metadata_locks(), session.shared.id);
        handler.is_open
            && !handler.is_temporary
            && !handler.is_read
            && locks.is_awaited(me, &handler.key, LockMode::Shared)
            // What the transaction holds as well does not come free.
            && !session.locks.has_for_transaction(&handler.key, locks)
    });
}

/// Error 1137 for a temporary table that is open.
fn refuse_open(session: &Session, name: &ast::ObjectName) -> SqlResult<()> {
    let Ok(name) = session.table_name(name) else { return Ok(()) };
    match session.handlers.0.iter().any(|handler| handler.is_temporary && handler.table == name) {
        true => Err(sql_error!(ER_CANT_REOPEN_TABLE, name.table)),
        false => Ok(()),
    }
}

/// Error 1137 for a statement that uses, shows or locks a temporary table that is open.
pub(crate) fn refuse_open_temporary(session: &Session, statement: &Statement) -> SqlResult<()> {
    let refuse = |name: &ast::ObjectName| refuse_open(session, name);
    match statement {
        Statement::Describe { table, .. } => refuse(table),
        Statement::Show(show) => match &**show {
            ast::Show::Columns { table, .. }
            | ast::Show::Index { table, .. }
            | ast::Show::CreateTable(table) => refuse(table),
            _ => Ok(()),
        },
        Statement::LockTables(tables) => tables.iter().try_for_each(|locked| refuse(&locked.table)),
        Statement::CreateView(create) => names_in(&create.query).iter().try_for_each(refuse),
        _ => instance::names_used(statement).tables.iter().try_for_each(|used| refuse(&used.name)),
    }
}

/// The tables that a query names.
fn names_in(query: &ast::Query) -> Vec<ast::ObjectName> {
    let statement = Statement::Query(Box::new(query.clone()));
    instance::names_used(&statement).tables.into_iter().map(|used| used.name).collect()
}

/// No READ runs any more, however it ended.
pub(crate) fn end_reading(session: &mut Session) {
    session.handlers.0.iter_mut().for_each(|handler| handler.is_read = false);
}

/// FLUSH TABLES, of all or of those names.
pub(crate) fn flush(session: &mut Session, names: &[TableName]) {
    shut_those(session, |_, handler| {
        !handler.is_temporary && (names.is_empty() || names.contains(&handler.table))
    });
}

/// Closes for good those of a table that the session is about to change or to look through.
pub(crate) fn close_table(session: &mut Session, name: &TableName) {
    close_those(session, |handler| handler.table == *name);
}

/// The same of base tables by their locks.
pub(crate) fn close_locked(session: &mut Session, wanted: &[(LockKey, LockMode)]) {
    close_those(session, |handler| {
        !handler.is_temporary
            && wanted.iter().any(|(name, mode)| *mode == LockMode::Exclusive && *name == handler.key)
    });
}

/// The end of the session, or of its state.
pub(crate) fn close_all(session: &mut Session) {
    close_those(session, |_| true);
}

fn close_those(session: &mut Session, is_meant: impl Fn(&Handler) -> bool) {
    let (closed, kept) = std::mem::take(&mut session.handlers).0.into_iter().partition(is_meant);
    session.handlers = Handlers(kept);
    let closed: Vec<Handler> = closed;
    closed.into_iter().for_each(|mut handler| handler.shut(session));
}

/// DROP DATABASE.
pub(crate) fn close_schema(session: &mut Session, schema: &str) {
    close_those(session, |handler| !handler.is_temporary && handler.table.schema == schema);
}

/// Before a statement that makes or changes temporary tables: what is open by their names, and of what the new one is made.
pub(crate) fn close_temporary(session: &mut Session, statement: &Statement) {
    let names: Vec<&ast::ObjectName> = match statement {
        Statement::CreateTable(create) => {
            let mut sources: Vec<ast::ObjectName> = create.like.iter().cloned().collect();
            sources.extend(create.query.as_deref().map(names_in).unwrap_or_default());
            for source in sources {
                if let Ok(name) = session.table_name(&source)
                    && session.temporary.has(&name)
                {
                    close_table(session, &name);
                }
            }
            create.temporary.then_some(&create.name).into_iter().collect()
        }
        Statement::DropTable(drop) => drop.tables.iter().collect(),
        Statement::AlterTable(alter) => vec![&alter.name],
        Statement::TruncateTable(name) => vec![name],
        Statement::CreateIndex(create) => vec![&create.table],
        Statement::DropIndex(drop) => vec![&drop.table],
        _ => return,
    };
    let makes_one = matches!(statement, Statement::CreateTable(_));
    for name in names {
        if let Ok(name) = session.table_name(name)
            && (makes_one || session.temporary.has(&name))
        {
            close_table(session, &name);
        }
    }
}
