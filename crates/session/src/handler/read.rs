//! HANDLER .. READ: a query of the one table, made to read the keys of the step. Main function: [`read`].
//! It is planned without the optimizer's rules, so that the table is read as the step says, and for nobody's privileges: what OPEN was allowed to
//! see counts, as in MySQL, and it can name no other table.

use super::key::{key_prefix, wrong_arguments};
use super::open::reopen;
use super::place::{Cut, Keys, Place, Way};
use super::sink::KeySink;
use super::{Handler, give_way, unknown};
use crate::planning::plan_to_run;
use crate::session::Session;
use catalog::{LockMode, TableLock, TableLocks};
use dictionary::ColumnDefault;
use engine::{ReadMode, Table};
use errors::{Diagnostics, SqlError, SqlResult, code, sql_error};
use exec::{Prepared, StatementContext, StatementOutcome};
use parser::ast::{
    self, Child, ColumnReference, Expression, HandlerStep, Literal, ObjectName, QueryBody, SelectItem,
    Statement, TableFactor, TableReference,
};
use plan::{CursorRead, PlanKind, QueryPlan, Rules, take_last_columns};
use std::sync::Arc;
use wire::result::ClientChannel;

/// What a READ asks for.
pub(super) struct Asked<'s> {
    pub index: Option<&'s str>,
    pub step: &'s HandlerStep,
    pub filter: Option<&'s Expression>,
    pub limit: Option<&'s ast::Limit>,
}

impl Asked<'_> {
    fn values(&self) -> &[Expression] {
        match self.step {
            HandlerStep::Key { values, .. } => values,
            _ => &[],
        }
    }

    /// Rows that are left out, and rows that are read at most, those included.
    fn bounds(&self) -> (u64, u64) {
        let number = |expression: &Expression| match expression {
            Expression::Literal(Literal::Integer(number)) => *number,
            _ => 0,
        };
        let Some(limit) = self.limit else { return (0, 1) };
        let skipped = limit.offset.as_ref().map_or(0, number);
        (skipped, skipped.saturating_add(number(&limit.count)))
    }
}

/// Reads rows and sends them. Errors: 1048, 1070, 1109, 1111, 1142, 1146, 1176, 1210, 1235, and those of the condition.
pub(super) fn read(
    session: &mut Session,
    alias: &str,
    asked: &Asked<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let at = session.handlers.position(alias).ok_or_else(|| unknown(alias))?;
    give_way(session);
    let mut handler = session.handlers.0[at].clone();
    if !handler.shows_all {
        return Err(session.user.denied_table("SELECT", &handler.table.table));
    }
    reopen(session, &mut handler)?;
    session.handlers.0[at] = Handler { is_read: true, ..handler.clone() };
    let outcome = read_open(session, &mut handler, asked, channel);
    session.handlers.0[at] = handler;
    let mut outcome = outcome?;
    // FOUND_ROWS() is that of the last query.
    outcome.found_rows = None;
    session.answer(outcome, channel)
}

fn read_open(
    session: &mut Session,
    handler: &mut Handler,
    asked: &Asked<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let mut locks = TableLocks { uses_temporary: handler.is_temporary, ..TableLocks::default() };
    if !handler.is_temporary {
        locks.locks.push(TableLock::new(handler.key.clone(), LockMode::Read));
    }
    let held = session.locks.mark();
    let outcome = session.run_in_transaction(&locks, false, |session, _| {
        session.with_context(&locks, false, &[], |context| {
            context.privileges = &plan::AllPrivileges;
            context.settings.rules = Rules::NONE;
            context.settings.fast_plans = false;
            context.settings.select_limit = u64::MAX;
            run(handler, asked, context, channel)
        })
    });
    // Rows are read under a reader's lock, but the transaction does not keep it.
    session.release_locks_since(held);
    outcome
}

fn run(
    handler: &mut Handler,
    asked: &Asked<'_>,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let table = found_table(handler, context)?;
    let way = way_of(&table, handler, asked)?;
    let (skipped, rows_max) = asked.bounds();
    // Which of its entries the last row was found by would not be known.
    if rows_max > 1 && way.is_some_and(|number| table.indexes()[number].is_multi_valued()) {
        let what = "HANDLER .. READ of several rows by a multi-valued index";
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, what));
    }
    let statement = query_of(&table, handler, way, asked, rows_max, context.diagnostics)?;
    let mut plan = plan_to_run(&statement, context).map_err(in_field_list)?;
    let PlanKind::Query(query, None) = &mut plan.kind else {
        return Err(sql_error!(ER_INTERNAL_ERROR, "HANDLER is no query"));
    };
    let keys = keys_of(&table, handler, way, asked, query, context)?;
    let has_key = keys.as_ref().is_some_and(|keys| {
        CursorRead { index: way.unwrap_or(0), keys: keys.range.clone(), backward: keys.backward }.aim(query)
    });
    if keys.is_none() {
        query.root = plan::physical::Node::Nothing;
    }
    let mut sink = KeySink { channel, has_key, to_skip: skipped, rows: 0, key: Vec::new() };
    let prepared = Prepared::new(plan, context);
    let outcome = exec::execute_planned(&prepared, context, &mut sink)?;
    let (rows, key) = (sink.rows, sink.key);
    if rows_max > 0 {
        let at = match keys {
            Some(keys) if rows == rows_max => place_on(&table, way, &keys, key, context)?,
            Some(keys) => Some(keys.end()),
            None => Some(Cut::End),
        };
        handler.place = at.map(|at| Place { way, at });
    }
    Ok(outcome)
}

fn found_table(handler: &Handler, context: &StatementContext<'_>) -> SqlResult<Arc<Table>> {
    let (schema, name) = (&handler.table.schema, &handler.table.table);
    let found = match handler.is_temporary {
        true => context.temporary.table(schema, name),
        false => context.engine.dictionary().table(schema, name),
    };
    found.ok_or_else(|| sql_error!(ER_NO_SUCH_TABLE, schema, name))
}

/// The number of the index that is asked for. Errors: 1070 for more values than it has parts, 1176.
fn way_of(table: &Table, handler: &Handler, asked: &Asked<'_>) -> SqlResult<Way> {
    let Some(name) = asked.index else { return Ok(None) };
    let indexes = &table.definition().indexes;
    let at = indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name));
    let at = at.ok_or_else(|| sql_error!(ER_KEY_DOES_NOT_EXITS, name, handler.alias))?;
    let parts = indexes[at].parts.len();
    if asked.values().len() > parts {
        return Err(sql_error!(ER_TOO_MANY_KEY_PARTS, parts));
    }
    Ok(Some(table.index_of_definition(at)))
}

/// `SELECT *, values FROM table AS alias WHERE filter LIMIT rows_max`. Errors 1111 for aggregates, 1210 for a default that a column has not got.
fn query_of(
    table: &Table,
    handler: &Handler,
    way: Way,
    asked: &Asked<'_>,
    rows_max: u64,
    diagnostics: &mut Diagnostics,
) -> SqlResult<Statement> {
    if asked.values().iter().any(aggregates) {
        return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE));
    }
    let mut items = vec![SelectItem::Wildcard];
    for (value, column) in asked.values().iter().zip(table.indexes()[way.unwrap_or(0)].key_columns()) {
        let expression = match value {
            Expression::Default(None) => {
                let column = &table.definition().columns[*column];
                let has_none = column.default == ColumnDefault::Dropped
                    || column.default == ColumnDefault::None && !column.nullable;
                if has_none {
                    diagnostics.warning(sql_error!(ER_NO_DEFAULT_FOR_FIELD, column.name));
                    return Err(wrong_arguments());
                }
                let column = column.name.clone();
                Expression::Default(Some(ColumnReference { schema: None, table: None, column }))
            }
            value => value.clone(),
        };
        items.push(SelectItem::Expression { expression, alias: None, text: String::new() });
    }
    let factor = TableFactor {
        name: ObjectName { schema: Some(handler.table.schema.clone()), name: handler.table.table.clone() },
        partitions: Vec::new(),
        alias: Some(handler.alias.clone()),
        index_hints: Vec::new(),
    };
    let select = ast::Select {
        items,
        from: vec![TableReference::Table(factor)],
        filter: asked.filter.cloned(),
        ..ast::Select::default()
    };
    let mut query = sysviews::plain_query(QueryBody::Select(Box::new(select)));
    query.limit = Some(ast::Limit { count: Expression::Literal(Literal::Integer(rows_max)), offset: None });
    Ok(Statement::Query(Box::new(query)))
}

fn aggregates(expression: &Expression) -> bool {
    if matches!(expression, Expression::Aggregate(_)) {
        return true;
    }
    let mut found = false;
    expression.each_child(&mut |child| {
        if let Child::Expression(inner) = child {
            found |= aggregates(inner);
        }
    });
    found
}

/// The keys of the step; None if there can be none.
fn keys_of(
    table: &Table,
    handler: &Handler,
    way: Way,
    asked: &Asked<'_>,
    query: &mut QueryPlan,
    context: &mut StatementContext<'_>,
) -> SqlResult<Option<Keys>> {
    let HandlerStep::Key { operator, values } = asked.step else {
        return Ok(Keys::of_step(asked.step, way, handler.place.as_ref()));
    };
    let values = take_last_columns(query, values.len());
    let name = asked.index.unwrap_or_default();
    let prefix = key_prefix(table, way.unwrap_or(0), name, &values, context)?;
    Ok(Some(Keys::compared(*operator, &prefix)))
}

/// The place on what was read of the row of a clustered key: in another index it has another key, or several. None if an uncommitted row
/// is gone meanwhile.
fn place_on(
    table: &Arc<Table>,
    way: Way,
    keys: &Keys,
    key: Vec<u8>,
    context: &StatementContext<'_>,
) -> SqlResult<Option<Cut>> {
    let number = way.unwrap_or(0);
    if number == 0 {
        return Ok(Some(Cut::On(key)));
    }
    let index = &table.indexes()[number];
    let (mut entries, mut encoded) = (Vec::new(), Ok(()));
    let read =
        context.transaction.get_columns(table, 0, &key, ReadMode::Consistent, &index.columns, &mut |row| {
            encoded = table.view(row).and_then(|row| {
                for element in index.elements(&row)? {
                    let mut entry = Vec::new();
                    index.own_key(&row, element, &mut entry)?;
                    entry.extend_from_slice(&key);
                    entries.push(entry);
                }
                Ok(())
            });
        });
    let is_there = read.and_then(|is_there| encoded.map(|()| is_there));
    let is_there = is_there.map_err(|error| error.into_sql(&table.definition().name.table))?;
    Ok(keys.first_of(entries).filter(|_| is_there).map(Cut::On))
}

/// MySQL looks for names of the condition as if they were shown.
fn in_field_list(error: SqlError) -> SqlError {
    match error.is(&code::ER_BAD_FIELD_ERROR) {
        true => SqlError::new(
            error.number(),
            code::ER_BAD_FIELD_ERROR.state,
            error.message().replace("'where clause'", "'field list'"),
        ),
        false => error,
    }
}
