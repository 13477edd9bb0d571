//! Temporary tables as statements of this session make and remove them. Nothing of it commits the transaction, and nobody else's locks
//! are in the way; the rows roll back with the transaction, the tables stay.

use crate::definitions::{defaults_of, definer, definer_with, fill, selected_table, settle_expressions};
use crate::session::Session;
use catalog::{LockKey, LockMode};
use ddl::{Creation, Selected, TABLE_BEING_FILLED};
use dictionary::{TableDefinition, TableName};
use errors::SqlResult;
use parser::ast::{CreateTable, Statement};
use wire::result::ClientChannel;

/// CREATE TEMPORARY TABLE in its three forms.
pub(crate) fn create_table(
    session: &mut Session,
    statement: &Statement,
    (name, create): (TableName, &CreateTable),
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    crate::xa::refuse_temporary_tables(session)?;
    crate::xa::refuse_temporary_definition(session, create.like.as_ref())?;
    let made = make_table(session, statement, (name, create), channel);
    settle_memory(session);
    made?;
    session.transaction.temporary_tables.made |= session.in_transaction_block();
    Ok(())
}

fn make_table(
    session: &mut Session,
    statement: &Statement,
    (name, create): (TableName, &CreateTable),
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let mut read = Vec::new();
    if let Some(like) = &create.like {
        let like = session.table_name(like)?;
        if !session.temporary.has(&like) {
            let key = LockKey::table(&like.schema, &like.table);
            session.locks.explicit.check(&key, LockMode::Read)?;
            read.push((key, LockMode::Read));
        }
    }
    let defaults = defaults_of(session, ddl::declared_defaults(statement));
    let creation = match read.is_empty() {
        true => ddl::create_temporary(&mut definer_with(session, defaults), &name, create),
        false => session.with_definition_locks(read, |session| {
            ddl::create_temporary(&mut definer_with(session, defaults), &name, create)
        }),
    };
    match creation? {
        Creation::Done => session.send_ok(channel),
        Creation::ToMake(mut definition) => {
            settle_expressions(session, &mut definition)?;
            make_room(session, &definition)?;
            ddl::make_temporary(&definer(session), *definition)?;
            session.send_ok(channel)
        }
        Creation::AsSelect(selected) => create_as_select(session, selected, create, channel),
    }
}

/// The table is called so only when it is filled: the query may read one that has the name until then.
fn create_as_select(
    session: &mut Session,
    selected: Selected,
    create: &CreateTable,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let Some((definition, insert)) = selected_table(session, selected, create)? else {
        return session.send_ok(channel);
    };
    make_room(session, &definition)?;
    let schema = definition.name.schema.clone();
    ddl::make_temporary_to_fill(&definer(session), definition)?;
    let filled = fill(session, &insert, channel);
    match filled {
        Ok(()) => session.temporary.show(&schema, TABLE_BEING_FILLED),
        Err(_) => {
            session.temporary.drop_table(&TableName { schema, table: TABLE_BEING_FILLED.to_owned() });
        }
    }
    filled
}

/// Removes temporary tables.
pub(crate) fn drop_tables(session: &mut Session, names: &[TableName]) {
    for name in names {
        let is_dropped = session.temporary.drop_table(name);
        session.transaction.temporary_tables.dropped |= is_dropped && session.in_transaction_block();
    }
    settle_memory(session);
}

/// Makes room for one more definition among those of the session's temporary tables. Error 3170.
pub(crate) fn make_room(session: &Session, definition: &TableDefinition) -> SqlResult<()> {
    session.temporary_memory.set(session.temporary.definition_bytes() + definition.memory_bytes())
}

/// From now on what the definitions take is charged: room that was made for others is given back.
pub(crate) fn settle_memory(session: &Session) {
    session.temporary_memory.fall_to(session.temporary.definition_bytes());
}

/// Whether a statement says TEMPORARY, and so leaves the open transaction open: a READ ONLY one refuses it.
pub(crate) fn is_temporary_only(statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => create.temporary,
        Statement::DropTable(drop) => drop.temporary,
        _ => false,
    }
}

/// Whether a statement defines temporary tables alone, which a READ ONLY server admits.
pub(crate) fn defines_own_only(session: &Session, statement: &Statement) -> bool {
    let is_own = |name| session.names_temporary(name);
    match statement {
        Statement::CreateTable(create) => create.temporary,
        Statement::DropTable(drop) => drop.temporary || drop.tables.iter().all(is_own),
        Statement::AlterTable(alter) => is_own(&alter.name),
        Statement::TruncateTable(name) => is_own(name),
        Statement::CreateIndex(create) => is_own(&create.table),
        Statement::DropIndex(drop) => is_own(&drop.table),
        _ => false,
    }
}
