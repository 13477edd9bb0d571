//! Results that are sent again: how a text finds one, and how one comes to be kept. Entry points: [`run_by_result`],
//! [`answer_prepared`], [`begin_keeping`], [`keep_result`].
//! The rules are in `result_cache`'s README.

use crate::collector::Collector;
use crate::planning::{ParameterTyping, prepare};
use crate::result_key::{self, PreparedExecution, ResultKey, WantedResult};
use crate::session::Session;
use catalog::TableLocks;
use engine::{Isolation, TableStamp, Transaction};
use errors::SqlResult;
use exec::{Prepared, StatementContext, StatementOutcome};
use instance::{ClockValues, KeptResult, StatementTraits, clock_parts};
use parser::ast::{Expression, QueryBody, Select, SelectItem, Statement};
use plan::{PlanKind, PrivilegesNeeded};
use result_cache::{EXPENSIVE_US, Entry};
use std::sync::Arc;
use stdx::ids::CommitTimestamp;
use sysviews::plain_query;
use values::Value;
use variables::id;
use variables::status::id as status;
use wire::recorded::RecordedRows;
use wire::result::{ClientChannel, EncodedColumns};

/// query_cache_type.
const TYPE_OFF: u64 = 0;
const TYPE_DEMAND: u64 = 2;
/// One result may take that part of all: it is in memory beside them until it is kept.
const RECORDED_PART: u64 = 4;
/// Longer texts are not looked up.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Nor are prepared statements that are longer together with their values.
const KEY_BYTES_MAX: usize = TEXT_BYTES_MAX;

/// A result on its way to being kept.
pub(crate) struct Keeping {
    wanted: WantedResult,
    bytes_max: usize,
    /// It is worth being kept, however little it took.
    is_known: bool,
    /// It was not.
    is_cheap: bool,
    /// Also what depends on the clock is kept.
    reads_clock: bool,
    /// The moment of the statement's snapshot.
    read_at: Option<CommitTimestamp>,
    recorded: Option<Recorded>,
}

/// What was sent, and what it was made of.
struct Recorded {
    rows: RecordedRows,
    columns: EncodedColumns,
    stamps: Vec<Arc<TableStamp>>,
    privileges: PrivilegesNeeded,
    clock: Option<ClockValues>,
}

/// Answers a text that is one query by a result that was kept. False if it goes the ordinary way; its result may be kept then.
pub(crate) fn run_by_result(session: &mut Session, text: &[u8], channel: &mut dyn ClientChannel) -> bool {
    if !session.instance.results().has_room() || !may_begin_query(text) || !may_use_results(session, text) {
        return false;
    }
    let key = result_key::of_text(session, text);
    match found(session, &key) {
        Some(entry) => {
            run_entry_of(session, &entry, key, text, channel);
            true
        }
        None => {
            want(session, key, None);
            false
        }
    }
}

/// Whether executions of a prepared statement ask for results, as far as its text and the session say.
pub(crate) fn may_ask_prepared(session: &Session, text: &[u8]) -> bool {
    // What SQL_NO_CACHE gives rise to was reported by PREPARE.
    session.instance.results().has_room()
        && may_use_results(session, text)
        && !has_word(text, b"sql_no_cache")
}

/// Answers the running execution of a prepared statement by a result that was kept. False if it goes the ordinary way; its result may be
/// kept then.
pub(crate) fn answer_prepared(
    session: &mut Session,
    execution: &PreparedExecution<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<bool> {
    let Some(key) = result_key::of_execution(session, execution, KEY_BYTES_MAX) else { return Ok(false) };
    if let Some(entry) = found(session, &key)
        && answer_by(session, &entry, channel)?
    {
        return Ok(true);
    }
    want(session, key, execution.columns.clone());
    Ok(false)
}

/// The entry of a key, if it may be right for anybody.
fn found(session: &Session, key: &ResultKey) -> Option<Arc<Entry<KeptResult>>> {
    let results = session.instance.results();
    let entry = results.find(key.hash, &key.bytes)?;
    if !entry.result.may_be_right() {
        results.remove(&entry);
        return None;
    }
    Some(entry)
}

/// The result of the statement that is about to run may be kept.
fn want(session: &mut Session, key: ResultKey, columns: Option<EncodedColumns>) {
    let since_microseconds = session.instance.monotonic_microseconds();
    session.result_keys.wanted = Some(WantedResult { key, columns, since_microseconds });
}

/// Whether the session may be served results, and the text looks like a query.
fn may_use_results(session: &Session, text: &[u8]) -> bool {
    let variables = &session.state.variables;
    let kind = variables.get(id::QUERY_CACHE_TYPE).unsigned();
    text.len() <= TEXT_BYTES_MAX
        && kind != TYPE_OFF
        && begins_query(text)
        && (kind != TYPE_DEMAND || has_word(text, b"sql_cache"))
        && session.settings().isolation != Isolation::ReadUncommitted
        && (session.settings().autocommit || session.transaction_is_open() || !follows_old_rules(session))
        && !variables.get(id::SQL_AUTO_IS_NULL).is_on()
        && !session.locks.explicit.in_force()
        && session.transaction.xa.uses_tables()
}

/// As MySQL 5.5: with autocommit off the first query of a transaction is not served (bug 42197).
fn follows_old_rules(session: &Session) -> bool {
    session.instance.global_number(id::QUERY_CACHE_COMPATIBILITY) != 0
}

/// The day of the running statement in the session's time zone.
fn day(session: &Session) -> i64 {
    session.settings().facts.time_zone.local_day(session.state.statement_time_microseconds)
}

fn run_entry_of(
    session: &mut Session,
    entry: &Entry<KeptResult>,
    key: ResultKey,
    text: &[u8],
    channel: &mut dyn ClientChannel,
) {
    // How it is answered is not known yet.
    let traits = StatementTraits { counter: None, ..entry.result.traits };
    session.run_guarded(traits, text, channel, |session, channel| {
        if answer_by(session, entry, channel)? {
            return Ok(());
        }
        session.count(status::COM_SELECT, 1);
        want(session, key, None);
        session.run_text(text, channel)
    });
}

/// Answers the running statement by an entry, if that is right for its session.
fn answer_by(
    session: &mut Session,
    entry: &Entry<KeptResult>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<bool> {
    let held = session.locks.mark();
    if !serve(session, &entry.result, channel)? {
        session.release_locks_since(held);
        return Ok(false);
    }
    session.count(status::QCACHE_HITS, 1);
    let KeptResult { rows_sent, found_rows, .. } = entry.result;
    let outcome =
        StatementOutcome { sent_rows: true, rows_sent, row_count: -1, found_rows, ..Default::default() };
    session.answer(outcome, channel).map(|()| true)
}

/// Sends a kept result, under its tables' locks. False if it is not what this session would read.
fn serve(session: &mut Session, result: &KeptResult, channel: &mut dyn ClientChannel) -> SqlResult<bool> {
    session.run_in_transaction(&result.locks, false, |session, reads_lock| {
        let is_right = match session.transaction.current.as_deref() {
            Some(transaction) if !reads_lock && result.locks.are_current() => {
                result.day == day(session)
                    && !session.hides_tables_of(&result.locks)
                    && transaction.reads_the_same(&result.stamps, result.read_at).unwrap_or(false)
            }
            _ => false,
        };
        if !is_right {
            session.transaction.only_planned = true;
            return Ok(false);
        }
        session.user.require_plan(&session.instance, &result.privileges)?;
        if let Some(clock) = &result.clock
            && read_clock(session, &result.locks, clock)? != clock.values
        {
            session.transaction.only_planned = true;
            return Ok(false);
        }
        let reply_lsn = session.transaction.current.as_deref().map(Transaction::reply_lsn);
        channel.require_durable(reply_lsn.unwrap_or_default());
        let Some(rows) = channel.encoded_rows() else { return Ok(false) };
        rows.begin(&result.columns)?;
        rows.recorded(&result.rows)?;
        Ok(true)
    })
}

/// What the clock says now to the expressions of a result.
fn read_clock(session: &mut Session, locks: &TableLocks, clock: &ClockValues) -> SqlResult<Vec<Value>> {
    session.with_context(locks, false, &[], |context| values_of(&clock.prepared, context))
}

/// The only row of a query.
fn values_of(prepared: &Prepared, context: &mut StatementContext<'_>) -> SqlResult<Vec<Value>> {
    let mut collector = Collector::default();
    exec::execute_planned(prepared, context, &mut collector)?;
    Ok(collector.rows.pop().unwrap_or_default())
}

/// The result of the running statement is wanted.
pub(crate) fn begin_keeping(session: &mut Session) -> Option<Keeping> {
    let wanted = session.result_keys.wanted.take()?;
    // Of several statements the key is that of all, and hints are entered for who runs them only.
    if session.more_results || session.hints.statement.is_some() {
        return None;
    }
    let capacity_bytes = session.instance.results().capacity_bytes();
    let bytes_max = session.instance.global_number(id::QUERY_CACHE_LIMIT).min(capacity_bytes / RECORDED_PART);
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let is_known = session.instance.results().was_asked(wanted.key.hash) || follows_old_rules(session);
    Some(Keeping {
        wanted,
        bytes_max,
        is_known,
        is_cheap: false,
        reads_clock: !follows_old_rules(session),
        read_at: None,
        recorded: None,
    })
}

/// Keeps the result of a statement that has just run with these locks, if it is worth it and right for others too.
pub(crate) fn keep_result(
    session: &mut Session,
    keeping: Keeping,
    traits: StatementTraits,
    locks: TableLocks,
    outcome: &StatementOutcome,
) {
    let Keeping {
        wanted: WantedResult { key: ResultKey { hash, bytes: key }, columns: expected, .. },
        read_at,
        recorded,
        is_cheap,
        ..
    } = keeping;
    let has_no_conditions = session.diagnostics.count() == session.kept_conditions;
    if is_cheap && has_no_conditions {
        return;
    }
    let recorded = recorded.filter(|_| has_no_conditions);
    let Some(Recorded { rows, columns, stamps, privileges, clock }) = recorded else {
        session.count(status::QCACHE_NOT_CACHED, 1);
        return;
    };
    if expected.is_some_and(|expected| expected != columns) {
        return;
    }
    let Some(read_at) = read_at.filter(|read_at| has_read_alone(session, &stamps, *read_at)) else { return };
    let instance = Arc::clone(&session.instance);
    let (rows_sent, found_rows, day) = (outcome.rows_sent, outcome.found_rows, day(session));
    let result = KeptResult {
        traits,
        locks,
        stamps,
        read_at,
        clock,
        day,
        privileges,
        columns,
        rows,
        rows_sent,
        found_rows,
    };
    let bytes = result.bytes(key.len());
    instance.results().insert(hash, &key, result, bytes);
}

/// Whether nobody has changed tables with these stamps since that moment, the running transaction neither.
fn has_read_alone(session: &Session, stamps: &[Arc<TableStamp>], read_at: CommitTimestamp) -> bool {
    let transaction = session.transaction.current.as_deref();
    transaction.is_some_and(|transaction| transaction.reads_the_same(stamps, read_at).unwrap_or(false))
}

/// Runs a statement whose result may be kept, if `keeping` says so. Without the statement's tree it may not read the clock.
pub(crate) fn execute(
    keeping: &mut Option<Keeping>,
    statement: Option<&Statement>,
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    match keeping {
        Some(keeping) => keeping.execute(statement, prepared, context, channel),
        None => exec::execute_prepared(prepared, context, channel),
    }
}

impl Keeping {
    fn took_microseconds(&self, context: &StatementContext<'_>) -> u64 {
        let now = context.engine.environment().clock.monotonic().as_micros() as u64;
        now.saturating_sub(self.wanted.since_microseconds)
    }

    /// Takes the statement's snapshot. Called before it is planned: a plan may say that there is no row, and is right only for what was there
    /// when it was made.
    pub(crate) fn take_snapshot(&mut self, transaction: Option<&Transaction>) {
        self.read_at = transaction.and_then(|transaction| transaction.reads_at().ok().flatten());
    }

    /// Runs a statement and records its rows, if its result may be kept.
    fn execute(
        &mut self,
        statement: Option<&Statement>,
        prepared: &Prepared,
        context: &mut StatementContext<'_>,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<StatementOutcome> {
        let mut clock = None;
        let mut is_kept = is_kept(prepared) && !context.settings.reads_lock;
        if is_kept && prepared.plan().clock_calls > 0 {
            clock = statement
                .filter(|_| self.reads_clock)
                .and_then(|statement| clock_of(statement, prepared, context));
            is_kept = clock.is_some();
        }
        if is_kept {
            channel.record_rows(self.bytes_max);
        }
        let outcome = exec::execute_prepared(prepared, context, channel);
        let recorded = channel.take_recorded().filter(|_| is_kept);
        // What is not kept costs little: nothing else is copied of it.
        self.is_cheap =
            recorded.is_some() && !self.is_known && self.took_microseconds(context) < EXPENSIVE_US;
        self.recorded = recorded.filter(|_| !self.is_cheap).map(|rows| Recorded {
            rows,
            columns: EncodedColumns::new(prepared.columns(), context.facts.results_collation),
            stamps: prepared.plan().tables.iter().map(|table| Arc::clone(&table.stamp)).collect(),
            privileges: prepared.plan().privileges.copy(),
            clock,
        });
        outcome
    }
}

/// What a statement asks the clock, and what it says now. None where that cannot be told of all of it, or warns.
fn clock_of(
    statement: &Statement,
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
) -> Option<ClockValues> {
    let parts = clock_parts(statement);
    // A view asks the clock as well, or what was bound is more than the text has.
    if parts.calls != prepared.plan().clock_calls {
        return None;
    }
    let item = |expression: &&Expression| SelectItem::Expression {
        expression: (*expression).clone(),
        alias: None,
        text: String::new(),
    };
    let select = Select { items: parts.expressions.iter().map(item).collect(), ..Select::default() };
    let query = Statement::Query(Box::new(plain_query(QueryBody::Select(Box::new(select)))));
    let reported = context.diagnostics.count();
    let prepared = prepare(&query, ParameterTyping::FromValues, context, true).ok()?;
    let values = values_of(&prepared, context).ok()?;
    // Under sql_select_limit = 0 there is no row.
    let is_told = context.diagnostics.count() == reported && values.len() == parts.expressions.len();
    is_told.then_some(ClockValues { prepared, values })
}

/// Whether a statement's result follows from its tables and what is in its key.
fn is_kept(prepared: &Prepared) -> bool {
    let plan = prepared.plan();
    matches!(plan.kind, PlanKind::Query(_, None)) && !plan.reads_elsewhere && !plan.tables.is_empty()
}

/// Whether a text has a word, in whatever case; also where it means something else.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Whether a text begins with a letter that a query may begin with, or with none: BEGIN and COMMIT are told by it.
#[inline]
fn may_begin_query(text: &[u8]) -> bool {
    text.first().is_some_and(|first| {
        !first.is_ascii_alphabetic() || matches!(first.to_ascii_lowercase(), b's' | b'w' | b't' | b'v')
    })
}

/// Whether a text begins as queries do, behind comments and parentheses.
fn begins_query(text: &[u8]) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        rest = match rest {
            [b'(', behind @ ..] => behind,
            [b'/', b'*', b'!' | b'+', ..] => return false,
            [b'/', b'*', behind @ ..] => match behind.windows(2).position(|end| end == b"*/") {
                Some(end) => &behind[end + 2..],
                None => return false,
            },
            [b'#', ..] | [b'-', b'-', ..] => match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) => &rest[end + 1..],
                None => return false,
            },
            _ => break,
        };
    }
    let word = rest.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    [&b"select"[..], b"with", b"table", b"values"].iter().any(|first| word.eq_ignore_ascii_case(first))
}
