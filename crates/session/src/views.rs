//! CREATE, ALTER, DROP and RENAME of views: what is asked first, the query bound and printed in its one form, the change of the
//! dictionary. Main functions: [`create_view`], [`drop_views`].

use crate::planning;
use crate::session::Session;
use crate::view_query::{check_query, is_mergeable, tables_of};
use accounts::{AccountName, Privileges};
use catalog::{LockKey, LockMode};
use ddl::{check_selected_name, locks_to_change};
use dictionary::{TableDefinition, TableName, TableOptions, ViewAlgorithm, ViewCheck, ViewDefinition};
use engine::EngineError;
use errors::{SqlError, SqlResult, code, sql_error};
use parser::ast::{
    CheckOption, CreateView, JoinKind, ObjectName, Query, QueryBody, Show, SqlSecurity, Statement,
    TableReference, UserName,
};
use parser::{PrintedQuery, PrintedTables, QueryStyle, print_query};
use plan::physical::OriginPath;
use std::sync::Arc;
use stdx::ids::TableId;
use variables::id;
use wire::result::{ResultColumn, ResultSink};

/// Columns with their names and types, and how the query comes by them.
type Described = Vec<(ResultColumn, OriginPath)>;

/// The catalogue as the printer asks for it.
struct Tables<'s>(&'s instance::Instance);

impl PrintedTables for Tables<'_> {
    fn columns(&self, schema: &str, table: &str) -> Option<Vec<(String, bool)>> {
        let dictionary = self.0.engine().dictionary();
        let named = |definition: &TableDefinition| {
            definition.columns.iter().map(|column| (column.name.clone(), !column.invisible)).collect()
        };
        if let Some(table) = dictionary.table(schema, table) {
            return Some(named(table.definition()));
        }
        if let Some(view) = dictionary.views.get(schema, table) {
            return Some(named(&view.shape));
        }
        sysviews::definition(schema, table).map(|definition| named(&definition))
    }
}

/// CREATE VIEW and ALTER VIEW.
pub(crate) fn create_view(
    session: &mut Session,
    create: &CreateView,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let name = session.table_name(&create.name)?;
    session.user.require_table(&session.instance, Privileges::CREATE_VIEW, &name)?;
    if create.alter || create.or_replace {
        session.user.require_table(&session.instance, Privileges::DROP, &name)?;
    }
    let definer = stated_definer(session, create)?;
    check_query(&create.query)?;
    let statement = Statement::Query(create.query.clone());
    let own = (session.schema.as_deref(), &session.temporary);
    session.user.require_statement(&session.instance, &statement, own)?;
    session.commit_implicitly()?;
    refuse_locked_tables(session)?;
    let reads = session.locks_needed(&statement);
    if let Some(name) = temporary_table_of(session, &statement) {
        return Err(sql_error!(ER_VIEW_SELECT_TMPTABLE, name));
    }
    let own = LockKey::table(&name.schema, &name.table);
    let reads_itself = reads.locks.iter().any(|lock| lock.key == own);
    let mut wanted = locks_to_change(std::slice::from_ref(&name));
    wanted.extend(
        reads.locks.iter().filter(|lock| lock.key != own).map(|lock| (lock.key.clone(), LockMode::Read)),
    );
    session.with_definition_locks(wanted, |session| {
        if is_there_already(session, create, &name)? {
            return Ok(());
        }
        if reads_itself {
            return Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table));
        }
        let definer = definer.map_or_else(|| kept_definer(session, create), Ok)?;
        let view = defined(session, create, &name, definer)?;
        let replaced = session.instance.engine().dictionary().views.get(&name.schema, &name.table).is_some();
        let removed = if replaced { vec![name.clone()] } else { Vec::new() };
        let kill = session.shared.kill.clone();
        let changed = session.instance.engine().change_views(&removed, vec![view], &kill);
        changed.map_err(|error| view_error(error, &name))
    })?;
    session.send_ok(sink)
}

/// Views are not changed under LOCK TABLES, whatever is locked: error 1192.
fn refuse_locked_tables(session: &Session) -> SqlResult<()> {
    match session.locks.explicit.in_force() {
        true => Err(sql_error!(ER_LOCK_OR_ACTIVE_TRANSACTION)),
        false => Ok(()),
    }
}

fn view_error(error: EngineError, name: &TableName) -> SqlError {
    match error {
        EngineError::TableExists(_) => sql_error!(ER_TABLE_EXISTS_ERROR, name.table),
        EngineError::NoSuchSchema(schema) => sql_error!(ER_BAD_DB_ERROR, schema),
        other => other.into_sql(&name.table),
    }
}

/// The account whose rights count; None: that of the view which ALTER VIEW changes. Error 1227 for another's.
fn stated_definer(session: &mut Session, create: &CreateView) -> SqlResult<Option<AccountName>> {
    let definer = match &create.definer {
        None if create.alter => return Ok(None),
        None | Some(UserName::CurrentUser) => session.user.account.clone(),
        Some(UserName::Account { name, host }) => AccountName::new(name, host.as_deref().unwrap_or("%")),
    };
    check_definer(session, &definer)?;
    Ok(Some(definer))
}

/// The definer of the view that ALTER VIEW changes, which is locked. Error 1227 for another's.
fn kept_definer(session: &mut Session, create: &CreateView) -> SqlResult<AccountName> {
    let definer = match altered_view(session, create) {
        Some(view) => AccountName::new(&view.definer_user, &view.definer_host),
        None => session.user.account.clone(),
    };
    check_definer(session, &definer)?;
    Ok(definer)
}

/// Error 1227 for the rights of another account; a note if there is no such one.
fn check_definer(session: &mut Session, definer: &AccountName) -> SqlResult<()> {
    if *definer == session.user.account {
        return Ok(());
    }
    session.user.require_dynamic(&session.instance, "SET_ANY_DEFINER")?;
    session.user.require_power_over(&session.instance, definer)?;
    if session.instance.accounts().get(definer).is_none() {
        session.user.require_dynamic(&session.instance, "ALLOW_NONEXISTENT_DEFINER")?;
        session.diagnostics.note(sql_error!(ER_NO_SUCH_USER, definer.user, definer.host));
    }
    Ok(())
}

/// The view that ALTER VIEW changes: what the statement does not say stays as it is.
fn altered_view(session: &Session, create: &CreateView) -> Option<Arc<ViewDefinition>> {
    let name = session.table_name(&create.name).ok().filter(|_| create.alter)?;
    session.instance.engine().dictionary().views.get(&name.schema, &name.table)
}

/// Errors 1049, 1050, 1146 and 1347; true where IF NOT EXISTS has nothing to do.
fn is_there_already(session: &mut Session, create: &CreateView, name: &TableName) -> SqlResult<bool> {
    if !session.schema_exists(&name.schema) {
        return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
    }
    let dictionary = session.instance.engine().dictionary();
    let (is_view, is_table) = (
        dictionary.views.get(&name.schema, &name.table).is_some(),
        dictionary.has_table(&name.schema, &name.table),
    );
    let exists = || sql_error!(ER_TABLE_EXISTS_ERROR, name.table);
    match (is_view, is_table) {
        (false, true) if create.alter || create.or_replace => {
            Err(sql_error!(ER_WRONG_OBJECT, name.schema, name.table, "VIEW"))
        }
        (true, _) if create.alter || create.or_replace => Ok(false),
        (false, false) if create.alter => Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table)),
        (false, false) => Ok(false),
        _ if create.if_not_exists => {
            session.diagnostics.note(exists());
            Ok(true)
        }
        _ => Err(exists()),
    }
}

/// The definition: the query bound as it was written, printed, and bound once more as it was printed.
fn defined(
    session: &mut Session,
    create: &CreateView,
    name: &TableName,
    definer: AccountName,
) -> SqlResult<ViewDefinition> {
    let described = described(session, &create.query)?;
    if !create.columns.is_empty() && create.columns.len() != described.len() {
        return Err(sql_error!(ER_VIEW_WRONG_LIST));
    }
    let printed = printed(session, &create.query)?;
    let names = if create.columns.is_empty() { &printed.columns } else { &create.columns };
    printed.columns.iter().chain(&create.columns).try_for_each(|name| check_selected_name(name))?;
    check_unique(names)?;
    let merges = is_mergeable(&create.query);
    let algorithm = algorithm_of(session, create, merges);
    let updatable = merges
        && algorithm != ViewAlgorithm::TempTable
        && reads_changeable(session, &create.query)
        && !joins_outer(&create.query);
    let check_option = match create.check_option {
        None => ViewCheck::None,
        Some(_) if !updatable => return Err(sql_error!(ER_VIEW_NONUPD_CHECK, name.schema, name.table)),
        Some(CheckOption::Local) => ViewCheck::Local,
        Some(CheckOption::Cascaded) => ViewCheck::Cascaded,
    };
    let mut columns = crate::definitions::columns_of_view(session, &described);
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    let collation = session.instance.engine().dictionary().schema(&name.schema);
    let shape = TableDefinition {
        id: TableId(0),
        name: name.clone(),
        columns,
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        collation: collation.map_or(charset::CollationId::UTF8MB4_0900_AI_CI, |schema| schema.collation),
        options: TableOptions { comment: "VIEW".to_owned(), ..TableOptions::default() },
    };
    let variable = |id: variables::VariableId| session.state.variables.get(id).text(id.variable());
    let view = ViewDefinition {
        shape,
        query: printed.text,
        columns: create.columns.clone(),
        algorithm,
        definer_user: definer.user,
        definer_host: definer.host,
        invoker_security: match (create.security, altered_view(session, create)) {
            (Some(security), _) => security == SqlSecurity::Invoker,
            (None, altered) => altered.is_some_and(|view| view.invoker_security),
        },
        check_option,
        updatable,
        client_charset: variable(id::CHARACTER_SET_CLIENT),
        connection_collation: variable(id::COLLATION_CONNECTION),
        created_microseconds: session.instance.wall_microseconds(),
    };
    check_printed(session, &view)?;
    Ok(view)
}

/// Error 1060.
fn check_unique(names: &[String]) -> SqlResult<()> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].iter().any(|other| other.to_lowercase() == name.to_lowercase()) {
            return Err(sql_error!(ER_DUP_FIELDNAME, name));
        }
    }
    Ok(())
}

/// Warning 1354 where MERGE cannot be had.
fn algorithm_of(session: &mut Session, create: &CreateView, merges: bool) -> ViewAlgorithm {
    match create.algorithm.as_deref() {
        Some(word) if word.eq_ignore_ascii_case("temptable") => ViewAlgorithm::TempTable,
        Some(word) if word.eq_ignore_ascii_case("merge") => {
            if merges {
                return ViewAlgorithm::Merge;
            }
            session.diagnostics.warning(sql_error!(ER_WARN_VIEW_MERGE));
            ViewAlgorithm::Undefined
        }
        Some(_) => ViewAlgorithm::Undefined,
        None => altered_view(session, create)
            .map(|view| view.algorithm)
            .filter(|algorithm| merges || *algorithm != ViewAlgorithm::Merge)
            .unwrap_or_default(),
    }
}

/// Whether FROM has an outer join: then nothing of the view can be changed.
fn joins_outer(query: &Query) -> bool {
    fn is_outer(reference: &TableReference) -> bool {
        match reference {
            TableReference::Join(join) => {
                matches!(join.kind, JoinKind::Left | JoinKind::Right)
                    || is_outer(&join.left)
                    || is_outer(&join.right)
            }
            TableReference::Nested(inner) => inner.iter().any(is_outer),
            _ => false,
        }
    }
    match &query.body {
        QueryBody::Select(select) => select.from.iter().any(is_outer),
        QueryBody::Nested(query) => joins_outer(query),
        _ => false,
    }
}

fn reads_changeable(session: &Session, query: &Query) -> bool {
    let dictionary = session.instance.engine().dictionary();
    tables_of(query).into_iter().any(|table| {
        session.table_name(table).is_ok_and(|name| {
            dictionary.has_table(&name.schema, &name.table)
                || dictionary.views.get(&name.schema, &name.table).is_some_and(|view| view.updatable)
        })
    })
}

/// The columns of a query.
fn described(session: &mut Session, query: &Query) -> SqlResult<Described> {
    described_as(session, query, false)
}

/// The same; `trusted`: whatever the user may do.
fn described_as(session: &mut Session, query: &Query, trusted: bool) -> SqlResult<Described> {
    let statement = Statement::Query(Box::new(query.clone()));
    let locks = session.locks_needed(&statement);
    session.run_in_transaction(&locks, false, |session, reads_lock| {
        let described = session.with_context(&locks, reads_lock, &[], |context| {
            if trusted {
                context.privileges = &plan::AllPrivileges;
            }
            planning::describe_for_view(&statement, context)
        });
        session.transaction.only_planned = true;
        described
    })
}

/// The query in its one form. Error 1235 where that is not known.
fn printed(session: &Session, query: &Query) -> SqlResult<PrintedQuery> {
    let charset = session.connection_collation().charset().name;
    let style = QueryStyle {
        tables: &Tables(&session.instance),
        schema: session.schema.as_deref(),
        hidden_schema: None,
        charset,
        introducers: true,
    };
    print_query(query, &style).ok_or_else(|| sql_error!(ER_NOT_SUPPORTED_YET, "this query in a view"))
}

/// What was printed must mean what was written: it is what will be bound.
fn check_printed(session: &mut Session, view: &ViewDefinition) -> SqlResult<()> {
    let refused = || sql_error!(ER_NOT_SUPPORTED_YET, "this query in a view");
    let query = instance::view_query(view).map_err(|_| refused())?;
    let told = session.diagnostics.mark();
    let found = described(session, &query);
    session.diagnostics.forget_since(told);
    let found = found.map_err(|_| refused())?;
    let is_same = |(one, column): (&(ResultColumn, OriginPath), &dictionary::ColumnDefinition)| {
        one.0.column_type == column.column_type
    };
    match found.len() == view.shape.columns.len() && found.iter().zip(&view.shape.columns).all(is_same) {
        true => Ok(()),
        false => Err(refused()),
    }
}

/// DROP VIEW: all or none. Errors 1051 and 1347; notes with IF EXISTS.
pub(crate) fn drop_views(
    session: &mut Session,
    views: &[ObjectName],
    if_exists: bool,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let mut names: Vec<TableName> = Vec::with_capacity(views.len());
    for view in views {
        let name = session.table_name(view)?;
        session.user.require_table(&session.instance, Privileges::DROP, &name)?;
        if names.contains(&name) {
            return Err(sql_error!(ER_NONUNIQ_TABLE, name.table));
        }
        names.push(name);
    }
    session.commit_implicitly()?;
    refuse_locked_tables(session)?;
    session.with_definition_locks(locks_to_change(&names), |session| {
        let dictionary = session.instance.engine().dictionary();
        let (mut present, mut notes) = (Vec::new(), Vec::new());
        let (mut wrong, mut unknown) = (None, Vec::new());
        for name in &names {
            session.shared.check_killed()?;
            if let Some(view) = dictionary.views.get(&name.schema, &name.table) {
                let definer = AccountName::new(&view.definer_user, &view.definer_host);
                session.user.require_power_over(&session.instance, &definer)?;
                present.push(name.clone());
            } else if dictionary.has_table(&name.schema, &name.table) {
                let error = sql_error!(ER_WRONG_OBJECT, name.schema, name.table, "VIEW");
                wrong.get_or_insert_with(|| error.clone());
                notes.push(error);
            } else {
                unknown.push(format!("{}.{}", name.schema, name.table));
                notes.extend(unknown.last().map(|name| sql_error!(ER_BAD_TABLE_ERROR, name)));
            }
        }
        let missing = (!unknown.is_empty()).then(|| sql_error!(ER_BAD_TABLE_ERROR, unknown.join(",")));
        if !if_exists && let Some(error) = wrong.or(missing) {
            return Err(error);
        }
        notes.into_iter().for_each(|error| session.diagnostics.note(error));
        let kill = session.shared.kill.clone();
        let dropped = match present.is_empty() {
            true => Ok(()),
            false => session.instance.engine().change_views(&present, Vec::new(), &kill),
        };
        dropped.map_err(|error| error.into_sql(""))
    })?;
    session.send_ok(sink)
}

/// RENAME TABLE of views, whose names are locked: None if none of them is one. Errors 1050, 1146, 1450; 1235 for tables among them.
pub(crate) fn rename_views(session: &Session, renames: &[(TableName, TableName)]) -> Option<SqlResult<()>> {
    let dictionary = session.instance.engine().dictionary();
    let is_view = |name: &TableName| dictionary.views.get(&name.schema, &name.table).is_some();
    if !renames.iter().any(|(from, _)| is_view(from)) {
        return None;
    }
    if renames.iter().any(|(from, _)| dictionary.has_table(&from.schema, &from.table)) {
        return Some(Err(sql_error!(ER_NOT_SUPPORTED_YET, "RENAME of tables and views together")));
    }
    Some(rename_only_views(session, renames))
}

fn rename_only_views(session: &Session, renames: &[(TableName, TableName)]) -> SqlResult<()> {
    let dictionary = session.instance.engine().dictionary();
    let mut moved: Vec<(TableName, ViewDefinition)> = Vec::new();
    let mut vacated: Vec<TableName> = Vec::new();
    for (from, to) in renames {
        session.shared.check_killed()?;
        if from.schema != to.schema {
            return Err(sql_error!(ER_FORBID_SCHEMA_CHANGE, from.schema, to.schema));
        }
        let is_taken = moved.iter().any(|(name, _)| name == to)
            || !vacated.contains(to)
                && (dictionary.views.get(&to.schema, &to.table).is_some()
                    || dictionary.has_table(&to.schema, &to.table));
        if is_taken {
            return Err(sql_error!(ER_TABLE_EXISTS_ERROR, to.table));
        }
        let view = match moved.iter().position(|(name, _)| name == from) {
            Some(at) => moved.swap_remove(at).1,
            None if vacated.contains(from) => {
                return Err(sql_error!(ER_NO_SUCH_TABLE, from.schema, from.table));
            }
            None => match dictionary.views.get(&from.schema, &from.table) {
                Some(view) => {
                    vacated.push(from.clone());
                    (*view).clone()
                }
                None => return Err(sql_error!(ER_NO_SUCH_TABLE, from.schema, from.table)),
            },
        };
        moved.push((to.clone(), view));
    }
    let added = moved
        .into_iter()
        .map(|(name, view)| ViewDefinition { shape: TableDefinition { name, ..view.shape.clone() }, ..view });
    let added: Vec<ViewDefinition> = added.collect();
    let kill = session.shared.kill.clone();
    let changed = session.instance.engine().change_views(&vacated, added, &kill);
    changed.map_err(|error| error.into_sql(""))
}

/// What SHOW needs of a view: SHOW COLUMNS one that can be bound, SHOW CREATE warns of one that cannot.
pub(crate) fn check_shown(session: &mut Session, show: &Show) -> SqlResult<()> {
    match show {
        Show::CreateTable(name) if session.names_temporary(name) => Ok(()),
        Show::Columns { table, .. } | Show::Index { table, .. } => check_described(session, table),
        Show::CreateTable(name) | Show::CreateView(name) => {
            let Ok(name) = session.table_name(name) else { return Ok(()) };
            let view = session.instance.engine().dictionary().views.get(&name.schema, &name.table);
            if let Some(view) = view.filter(|view| !view.invoker_security) {
                note_missing_definer(session, &view);
            }
            if let Err(error) = check_valid(session, &name, true) {
                session.diagnostics.warning(error);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A temporary table that a query reads.
fn temporary_table_of(session: &Session, statement: &Statement) -> Option<String> {
    if session.temporary.is_empty() {
        return None;
    }
    let used = instance::names_used(statement).tables;
    used.into_iter().map(|used| used.name).find(|name| session.names_temporary(name)).map(|name| name.name)
}

fn note_missing_definer(session: &mut Session, view: &ViewDefinition) {
    let definer = AccountName::new(&view.definer_user, &view.definer_host);
    if session.instance.accounts().get(&definer).is_none() {
        session.diagnostics.note(sql_error!(ER_NO_SUCH_USER, definer.user, definer.host));
    }
}

/// The same by the name as a statement writes it.
pub(crate) fn check_described(session: &mut Session, name: &ObjectName) -> SqlResult<()> {
    match session.table_name(name) {
        _ if session.names_temporary(name) => Ok(()),
        Ok(name) => check_valid(session, &name, true),
        Err(_) => Ok(()),
    }
}

/// Error 1356 for a view that reads what is not there. `trusted`: whether anybody may read it does not matter; where it does, a
/// definer that is no more is error 1449 or 1045.
pub(crate) fn check_valid(session: &mut Session, name: &TableName, trusted: bool) -> SqlResult<()> {
    if session.instance.engine().dictionary().views.get(&name.schema, &name.table).is_none() {
        return Ok(());
    }
    let name = ObjectName { schema: Some(name.schema.clone()), name: name.table.clone() };
    let query = sysviews::plain_query(QueryBody::Table(name));
    match described_as(session, &query, trusted) {
        Err(error) if is_of_view(&error) || !trusted && is_of_definer(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_of_view(error: &SqlError) -> bool {
    [&code::ER_VIEW_INVALID, &code::ER_VIEW_RECURSIVE].iter().any(|code| error.is(code))
}

fn is_of_definer(error: &SqlError) -> bool {
    [&code::ER_NO_SUCH_USER, &code::ER_ACCESS_DENIED_ERROR].iter().any(|code| error.is(code))
}
