//! Statements as the session runs them: what it must know of one before it runs, and a plan that is kept for further
//! executions. Main types: [`StatementTraits`], [`SourceReads`], [`Planned`].

use crate::growth::GrowthWatch;
use crate::instance::Instance;
use crate::read_watch::ReadWatch;
use catalog::{LockKey, SeenCell, TableLock, TableLocks};
use dictionary::TableName;
use engine::Isolation;
use errors::{SqlResult, sql_error};
use exec::Prepared;
use parser::ast::{ExplainTarget, InsertSource, ObjectName, Query, SetItem, Show, Statement, TableReference};
use std::time::Duration;
use variables::status::StatusId;

/// How a statement reads tables that it neither changes nor names in a locking clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceReads {
    /// From the snapshot.
    Consistent,
    /// The newest rows, locked for reading; at READ COMMITTED and below from the snapshot.
    LockedIfRepeatable,
    /// The newest rows, locked for reading.
    Locked,
}

/// What the session must know of a statement before it runs.
#[derive(Clone, Copy, Debug)]
pub struct StatementTraits {
    /// Its Com_ counter. None where it is not known yet how it is answered.
    pub counter: Option<StatusId>,
    /// The diagnostics of the statement before it stay as they are.
    pub keeps_diagnostics: bool,
    /// max_execution_time holds for it.
    pub is_query: bool,
    /// The limit that its hint sets in place of max_execution_time.
    pub execution_time_max: Option<Duration>,
    /// It changes rows.
    pub changes_rows: bool,
    /// How it reads its sources.
    pub sources: SourceReads,
    /// MAX_UPDATES_PER_HOUR counts it.
    pub counts_as_update: bool,
    /// An account whose password has expired may run it: it does nothing but change passwords.
    pub changes_password: bool,
}

impl StatementTraits {
    /// The traits of a statement.
    #[inline]
    pub fn of(statement: &Statement) -> StatementTraits {
        StatementTraits {
            counter: Some(crate::commands::counter(statement)),
            keeps_diagnostics: keeps_diagnostics(statement),
            is_query: query_of(statement).is_some(),
            execution_time_max: query_of(statement)
                .and_then(parser::max_execution_time)
                .map(Duration::from_millis),
            changes_rows: matches!(
                statement,
                Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Load(_)
            ),
            sources: SourceReads::of(statement),
            counts_as_update: crate::commands::counts_as_update(statement),
            changes_password: match statement {
                Statement::AlterUser(_) => true,
                Statement::Set(items) => items.iter().all(|item| matches!(item, SetItem::Password(_))),
                _ => false,
            },
        }
    }
}

impl SourceReads {
    /// What InnoDB does: what is read for a change, or into a variable, is what is there when that happens. CREATE TABLE .. SELECT is an INSERT
    /// here, and SET says so itself.
    fn of(statement: &Statement) -> SourceReads {
        let is_one_table = |tables: &[TableReference]| matches!(tables, [TableReference::Table(_)]);
        match statement {
            Statement::Insert(insert) => match insert.source {
                InsertSource::Query(_) => SourceReads::LockedIfRepeatable,
                InsertSource::Values(_) => SourceReads::Locked,
            },
            Statement::Update(update) if is_one_table(&update.tables) => SourceReads::LockedIfRepeatable,
            Statement::Update(_) | Statement::Delete(_) | Statement::Load(_) | Statement::Do(_) => {
                SourceReads::Locked
            }
            _ => SourceReads::Consistent,
        }
    }

    /// Whether sources are locked at an isolation level.
    pub fn lock_at(self, isolation: Isolation) -> bool {
        match self {
            SourceReads::Consistent => false,
            SourceReads::LockedIfRepeatable => {
                matches!(isolation, Isolation::RepeatableRead | Isolation::Serializable)
            }
            SourceReads::Locked => true,
        }
    }
}

/// The query that the statement runs or explains: some of its subqueries run while it is planned.
fn query_of(statement: &Statement) -> Option<&Query> {
    match statement {
        Statement::Query(query) => Some(query),
        Statement::Explain(explain) => match &explain.target {
            ExplainTarget::Statement(explained) => query_of(explained),
            ExplainTarget::Connection(_) => None,
        },
        _ => None,
    }
}

/// SHOW WARNINGS and its like leave the diagnostics of the statement before them as they are.
fn keeps_diagnostics(statement: &Statement) -> bool {
    match statement {
        Statement::Show(show) => matches!(
            **show,
            Show::Warnings { .. } | Show::Errors { .. } | Show::WarningCount | Show::ErrorCount
        ),
        Statement::GetDiagnostics(_) => true,
        _ => false,
    }
}

/// A plan that is kept, with what else an execution needs.
pub struct Planned {
    /// The plan.
    pub prepared: Prepared,
    /// [`StatementSettings::fingerprint`](crate::statement_settings::StatementSettings) of the session that made it.
    pub fingerprint: u64,
    /// What it is a plan of.
    pub traits: StatementTraits,
    /// The tables that it uses.
    pub locks: TableLocks,
    /// When their sizes were looked at.
    pub growth: GrowthWatch,
    /// What it expects to read.
    pub reads: ReadWatch,
}

impl Planned {
    /// A plan whose locks are still to be told.
    #[inline]
    pub fn new(prepared: Prepared, fingerprint: u64, traits: StatementTraits) -> Planned {
        let (locks, growth) = (TableLocks::default(), GrowthWatch::default());
        let reads = ReadWatch::of(&prepared);
        Planned { prepared, fingerprint, traits, locks, growth, reads }
    }
}

/// The full name of a table. Error 1046 without a default schema.
#[inline]
pub fn table_name(name: &ObjectName, default_schema: Option<&str>) -> SqlResult<TableName> {
    let Some(schema) = name.schema.as_deref().or(default_schema) else {
        return Err(sql_error!(ER_NO_DB_ERROR));
    };
    // System schemas are looked up without regard to case.
    let schema = crate::system_schemas::system_schema(schema).unwrap_or(schema).to_owned();
    Ok(TableName { schema, table: name.name.clone() })
}

impl Instance {
    /// The tables of a plan as they are, under these locks, which are held.
    pub fn see(&self, locks: &TableLocks) -> Vec<SeenCell> {
        let class = |key: &LockKey| self.row_class(key).unwrap_or_default();
        let see = |lock: &TableLock| self.metadata_locks().see(&lock.key, || class(&lock.key));
        locks.locks.iter().map(see).collect()
    }
}
