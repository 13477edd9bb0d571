//! Changes of definitions as the session runs them: what is asked first, the commit of what was open, locks on the names, the
//! change (`ddl`), the answer.

use crate::planning;
use crate::session::Session;
use accounts::Privileges;
use catalog::{LockKey, LockMode, TableLocks};
use ddl::{Alteration, Asked, Creation, Defaults, Definer, Selected, locks_to_change};
use dictionary::{ColumnDefinition, TableDefinition, TableName};
use engine::Table;
use errors::{Diagnostics, SqlResult, sql_error};
use exec::StatementContext;
use instance::StatementSettings;
use parser::ast::{
    AlterAction, AlterDatabase, AlterTable, CreateDatabase, CreateIndex, CreateTable, DropIndex, DropTable,
    Expression, ObjectName, RenameItem, Statement,
};
use plan::RowPlan;
use plan::physical::OriginPath;
use std::sync::Arc;
use wire::result::{ClientChannel, ResultColumn, ResultSink};

/// A literal warns once, at most.
const DEFAULT_CONDITIONS_MAX: usize = 8;

pub(crate) fn definer(session: &mut Session) -> Definer<'_> {
    let facts = session.facts().clone();
    let settings = session.settings.get_or_init(|| StatementSettings::of(&session.settings_source()));
    Definer {
        instance: &session.instance,
        shared: &session.shared,
        user: &mut session.user,
        variables: &session.state.variables,
        settings,
        facts,
        schema: session.schema.as_deref(),
        diagnostics: &mut session.diagnostics,
        temporary: &session.temporary,
        locks: &mut session.locks,
        defaults: Defaults::default(),
    }
}

/// The same for a statement that declares columns.
pub(crate) fn definer_with(session: &mut Session, defaults: Defaults) -> Definer<'_> {
    Definer { defaults, ..definer(session) }
}

/// Works out the constants behind DEFAULT. What one fails with or warns of counts only where it is used.
pub(crate) fn defaults_of(session: &mut Session, declared: Vec<&Expression>) -> Defaults {
    let mut defaults = Defaults::default();
    for expression in declared {
        let before = std::mem::replace(&mut session.diagnostics, Diagnostics::new(DEFAULT_CONDITIONS_MAX));
        let value = session.evaluate(expression);
        let told = std::mem::replace(&mut session.diagnostics, before);
        defaults.add(expression, value, told.conditions().to_vec());
    }
    defaults
}

fn check_locked_tables(session: &Session, names: &[TableName]) -> SqlResult<()> {
    let key = |name: &TableName| LockKey::table(&name.schema, &name.table);
    names.iter().try_for_each(|name| session.locks.explicit.check(&key(name), LockMode::Exclusive))
}

/// CREATE TABLE in its three forms.
pub(crate) fn create_table(
    session: &mut Session,
    statement: &Statement,
    create: &CreateTable,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let name = definer(session).check_create(create)?;
    if create.temporary {
        return crate::temporary::create_table(session, statement, (name, create), channel);
    }
    session.commit_implicitly()?;
    let mut wanted = Vec::new();
    if let (Some(query), None) = (&create.query, &create.like) {
        let locks = session.locks_needed(&Statement::Query(query.clone())).locks;
        wanted.extend(locks.into_iter().map(|lock| (lock.key, lock.mode)));
    }
    wanted.extend(definer(session).locks_to_create(create, &name)?);
    session.with_definition_locks(wanted, |session| {
        let defaults = defaults_of(session, ddl::declared_defaults(statement));
        match definer_with(session, defaults).create_locked(name, create)? {
            Creation::Done => session.send_ok(channel),
            Creation::ToMake(mut definition) => {
                settle_expressions(session, &mut definition)?;
                definer(session).make_table(*definition)?;
                session.send_ok(channel)
            }
            Creation::AsSelect(selected) => create_as_select(session, selected, create, channel),
        }
    })
}

/// CREATE TABLE .. SELECT, under the locks of the whole statement.
fn create_as_select(
    session: &mut Session,
    selected: Selected,
    create: &CreateTable,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let Some((definition, insert)) = selected_table(session, selected, create)? else {
        return session.send_ok(channel);
    };
    let made = definer(session).make_hidden(definition)?;
    fill_made_table(session, &made, &insert, channel)
}

/// The table that a CREATE TABLE .. SELECT makes, and the INSERT that fills it. Error 1746 for FOR UPDATE.
pub(crate) fn selected_table(
    session: &mut Session,
    selected: Selected,
    create: &CreateTable,
) -> SqlResult<Option<(TableDefinition, Statement)>> {
    let Some(query) = &create.query else { return Ok(None) };
    let statement = Statement::Query(query.clone());
    let locks = session.locks_needed(&statement);
    if let Some(lock) = locks.locks.iter().find(|lock| lock.mode == LockMode::Write) {
        return Err(sql_error!(
            ER_CANT_UPDATE_TABLE_IN_CREATE_TABLE_SELECT,
            lock.key.object_name(),
            create.name.name
        ));
    }
    let parameters = Arc::clone(&session.parameters);
    let described = session.run_in_transaction(&locks, false, |session, reads_lock| {
        let described = session.with_context(&locks, reads_lock, &parameters, |context| {
            // What the text is told of is told when the query runs.
            let before = context.diagnostics.reported();
            let described = planning::describe_for_table(&statement, context)?;
            context.diagnostics.go_back(before);
            Ok(described)
        });
        session.transaction.only_planned = described.is_err();
        described
    })?;
    let (mut definition, insert) =
        definer(session).selected_definition(selected, create, query.clone(), &described)?;
    settle_expressions(session, &mut definition)?;
    Ok(Some((definition, insert)))
}

/// Runs the INSERT .. SELECT that fills a new table. FOUND_ROWS() stays what it is.
pub(crate) fn fill(
    session: &mut Session,
    insert: &Statement,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let found_rows = session.state.numbers.found_rows;
    let filled = session.run_data_statement(insert, channel);
    session.state.numbers.found_rows = found_rows;
    filled
}

/// Runs the INSERT .. SELECT that fills a hidden table, and commits both.
fn fill_made_table(
    session: &mut Session,
    made: &Arc<Table>,
    insert: &Statement,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    session.transaction.making = Some(Arc::clone(made));
    let mut filled = fill(session, insert, channel);
    if filled.is_ok() && session.transaction.current.is_some() {
        filled = session.commit_open();
    }
    if filled.is_err() && session.transaction.current.is_some() {
        session.rollback_open();
    }
    session.transaction.making = None;
    filled.map_err(|error| match session.instance.engine().abandon_table(made) {
        Ok(()) => error,
        Err(failed) => failed.into_sql(""),
    })
}

/// DROP TABLE: all that exist go in one step; error 1051 names those that do not.
pub(crate) fn drop_tables(
    session: &mut Session,
    drop: &DropTable,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let names = definer(session).check_drop(drop)?;
    let (own, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| session.temporary.has(name));
    if drop.temporary {
        crate::xa::refuse_temporary_tables(session)?;
        crate::xa::refuse_temporary_definition(session, None)?;
        if !names.is_empty() {
            definer(session).missing_tables(&names, drop.if_exists)?;
        }
        crate::temporary::drop_tables(session, &own);
        return session.send_ok(sink);
    }
    session.commit_implicitly()?;
    check_locked_tables(session, &names)?;
    let unknown = match names.is_empty() {
        true => Vec::new(),
        false => session.with_definition_locks(locks_to_change(&names), |session| {
            definer(session).drop_locked(&names, drop)
        })?,
    };
    crate::temporary::drop_tables(session, &own);
    unknown.iter().for_each(|name| session.diagnostics.note(errors::sql_error!(ER_BAD_TABLE_ERROR, name)));
    session.send_ok(sink)
}

/// RENAME TABLE: all renames in one step, from left to right.
pub(crate) fn rename_tables(
    session: &mut Session,
    items: &[RenameItem],
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let renames = definer(session).check_renames(items)?;
    session.commit_implicitly()?;
    let old: Vec<TableName> = renames.iter().map(|(from, _)| from.clone()).collect();
    check_locked_tables(session, &old)?;
    let names: Vec<TableName> = renames.iter().flat_map(|(from, to)| [from, to]).cloned().collect();
    session.with_definition_locks(locks_to_change(&names), |session| {
        if let Some(renamed) = crate::views::rename_views(session, &renames) {
            return renamed;
        }
        let kill = session.shared.kill.clone();
        definer(session).rename_locked(&renames, &kill)
    })?;
    session.send_ok(sink)
}

/// TRUNCATE TABLE.
pub(crate) fn truncate_table(
    session: &mut Session,
    table: &ObjectName,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let name = session.table_name(table)?;
    if session.temporary.has(&name) {
        session.commit_implicitly()?;
        ddl::truncate_temporary(&definer(session), &name)?;
        return session.send_ok(sink);
    }
    session.user.require_table(&session.instance, Privileges::DROP, &name)?;
    session.commit_implicitly()?;
    let names = [name];
    check_locked_tables(session, &names)?;
    session.with_definition_locks(locks_to_change(&names), |session| {
        definer(session).truncate_locked(&names[0])
    })?;
    session.send_ok(sink)
}

/// ALTER TABLE.
pub(crate) fn alter_table(
    session: &mut Session,
    statement: &Statement,
    alter: &AlterTable,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let (name, asked) = definer(session).check_alter(alter)?;
    alter_with(session, &name, &alter.actions, asked, ddl::declared_defaults(statement), sink)
}

/// CREATE INDEX.
pub(crate) fn create_index(
    session: &mut Session,
    create: &CreateIndex,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let (name, action, asked) = definer(session).check_create_index(create)?;
    alter_with(session, &name, &[action], asked, Vec::new(), sink)
}

/// DROP INDEX.
pub(crate) fn drop_index(
    session: &mut Session,
    drop: &DropIndex,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let (name, action, asked) = definer(session).check_drop_index(drop)?;
    alter_with(session, &name, &[action], asked, Vec::new(), sink)
}

/// ALTER on behalf of OPTIMIZE TABLE.
pub(crate) fn alter_for_maintenance(
    session: &mut Session,
    name: &TableName,
    actions: &[AlterAction],
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    alter_with(session, name, actions, Asked::default(), Vec::new(), sink)
}

fn alter_with(
    session: &mut Session,
    name: &TableName,
    actions: &[AlterAction],
    asked: Asked,
    declared: Vec<&Expression>,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    session.commit_implicitly()?;
    let alter = |session: &mut Session| {
        let defaults = defaults_of(session, declared);
        let alteration = definer_with(session, defaults).alter_locked(name, actions, asked)?;
        carry_out(session, alteration)
    };
    let rows = if session.temporary.has(name) {
        let altered = alter(session);
        crate::temporary::settle_memory(session);
        altered?
    } else {
        check_locked_tables(session, std::slice::from_ref(name))?;
        let names = definer(session).names_to_alter(name, actions)?;
        session.with_definition_locks(locks_to_change(&names), alter)?
    };
    let warnings = session.diagnostics.count();
    match rows {
        Some(rows) => {
            let info = format!("Records: {rows}  Duplicates: 0  Warnings: {warnings}");
            session.send_info(rows, info, sink)
        }
        None => session.send_ok(sink),
    }
}

/// Carries out a change that is decided. Returns the number of rows that it reports as copied, if it tells any.
fn carry_out(session: &mut Session, mut alteration: Alteration) -> SqlResult<Option<u64>> {
    if alteration.definition().id.is_temporary() {
        crate::temporary::make_room(session, alteration.definition())?;
    }
    let copied = if alteration.copies_rows() {
        in_own_transaction(session, |context| {
            let plan = planning::plan_rows(alteration.definition(), context)?;
            alteration.settle(&plan)?;
            alteration.copy_rows(&plan, context)
        })?
    } else {
        bound_expressions(session, alteration.definition())?;
        definer(session).change_in_place(&alteration)?;
        0
    };
    definer(session).finish_alteration(alteration, copied)
}

/// Binds the expressions of a table that is to be made, and gives it what their types say.
pub(crate) fn settle_expressions(session: &mut Session, definition: &mut TableDefinition) -> SqlResult<()> {
    match bound_expressions(session, definition)? {
        Some(plan) => ddl::settle_key_columns(definition, &plan),
        None => Ok(()),
    }
}

/// The expressions of a definition, if it has any. Errors: their own.
fn bound_expressions(session: &mut Session, definition: &TableDefinition) -> SqlResult<Option<RowPlan>> {
    if definition.checks.is_empty() && !definition.computes_values() {
        return Ok(None);
    }
    in_own_transaction(session, |context| planning::plan_rows(definition, context)).map(Some)
}

/// Calls `run` with a context in which expressions over rows are bound and computed.
fn in_own_transaction<T>(
    session: &mut Session,
    run: impl FnOnce(&mut StatementContext<'_>) -> SqlResult<T>,
) -> SqlResult<T> {
    let locks = TableLocks::default();
    session.run_in_transaction(&locks, false, |session, reads_lock| {
        session.with_context(&locks, reads_lock, &[], run)
    })
}

/// Error 1007, or a note with IF NOT EXISTS.
pub(crate) fn create_database(
    session: &mut Session,
    create: &CreateDatabase,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let collation = definer(session).check_create_database(create)?;
    session.commit_implicitly()?;
    session.locks.explicit.refuse()?;
    let wanted = vec![(LockKey::schema(&create.name), LockMode::Exclusive)];
    session
        .with_definition_locks(wanted, |session| definer(session).create_schema_locked(create, collation))?;
    session.send_affected(1, sink)
}

/// Error 1049 for a schema that does not exist, 1046 without name and default schema.
pub(crate) fn alter_database(
    session: &mut Session,
    alter: &AlterDatabase,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let (name, collation) = definer(session).check_alter_database(alter)?;
    session.commit_implicitly()?;
    session.locks.explicit.refuse()?;
    let wanted = vec![(LockKey::schema(&name), LockMode::Exclusive)];
    session
        .with_definition_locks(wanted, |session| definer(session).alter_schema_locked(&name, collation))?;
    if session.schema.as_deref() == Some(name.as_str()) {
        session.follow_schema_collation();
    }
    session.send_affected(1, sink)
}

/// Error 1008, or a note with IF EXISTS. Affected rows are the tables that went.
pub(crate) fn drop_database(
    session: &mut Session,
    name: &str,
    if_exists: bool,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    session.user.require_schema(&session.instance, Privileges::DROP, name)?;
    session.commit_implicitly()?;
    session.locks.explicit.refuse()?;
    let wanted = vec![(LockKey::schema(name), LockMode::Exclusive)];
    let tables = session
        .with_definition_locks(wanted, |session| definer(session).drop_schema_locked(name, if_exists))?;
    crate::handler::close_schema(session, name);
    if session.schema.as_deref() == Some(name) {
        session.schema = None;
        session.forget_settings();
        session.shared.describe().schema = None;
        session.follow_schema_collation();
    }
    session.send_affected(tables as u64, sink)
}

/// The columns of a query as a view shows them.
pub(crate) fn columns_of_view(
    session: &mut Session,
    described: &[(ResultColumn, OriginPath)],
) -> Vec<ColumnDefinition> {
    let definer = definer(session);
    described.iter().map(|(column, path)| definer.selected_column(column, *path)).collect()
}
