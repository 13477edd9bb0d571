//! Which Com_ counter a statement raises. Main function: [`counter`]. And which of them MAX_UPDATES_PER_HOUR counts.

use parser::ast::*;
use variables::status::{StatusId, id};

/// The counter of that statement.
#[inline]
pub fn counter(statement: &Statement) -> StatusId {
    match statement {
        Statement::Query(_) => id::COM_SELECT,
        Statement::Insert(insert) => match (&insert.source, insert.replace) {
            (InsertSource::Values(_), false) => id::COM_INSERT,
            (InsertSource::Values(_), true) => id::COM_REPLACE,
            (InsertSource::Query(_), false) => id::COM_INSERT_SELECT,
            (InsertSource::Query(_), true) => id::COM_REPLACE_SELECT,
        },
        Statement::Update(update) => {
            let single = matches!(update.tables.as_slice(), [TableReference::Table(_)]);
            if single { id::COM_UPDATE } else { id::COM_UPDATE_MULTI }
        }
        Statement::Delete(delete) => match delete.source {
            DeleteSource::Single(_) => id::COM_DELETE,
            DeleteSource::Multiple { .. } => id::COM_DELETE_MULTI,
        },
        Statement::Load(_) => id::COM_LOAD,
        Statement::Do(_) => id::COM_DO,
        Statement::Empty => id::COM_EMPTY_QUERY,
        Statement::Call { .. } => id::COM_CALL_PROCEDURE,
        Statement::CreateTable(_) => id::COM_CREATE_TABLE,
        Statement::AlterTable(_) => id::COM_ALTER_TABLE,
        Statement::DropTable(_) => id::COM_DROP_TABLE,
        Statement::RenameTable(_) => id::COM_RENAME_TABLE,
        Statement::TruncateTable(_) => id::COM_TRUNCATE,
        Statement::CreateIndex(_) => id::COM_CREATE_INDEX,
        Statement::DropIndex(_) => id::COM_DROP_INDEX,
        Statement::CreateDatabase(_) => id::COM_CREATE_DB,
        Statement::AlterDatabase(_) => id::COM_ALTER_DB,
        Statement::DropDatabase { .. } => id::COM_DROP_DB,
        Statement::CreateView(_) => id::COM_CREATE_VIEW,
        Statement::DropView { .. } => id::COM_DROP_VIEW,
        Statement::Show(show) => show_counter(show),
        Statement::Describe { .. } => id::COM_SHOW_FIELDS,
        Statement::Explain(_) => id::COM_SELECT,
        Statement::Help(_) => id::COM_HELP,
        Statement::Set(_) => id::COM_SET_OPTION,
        Statement::Use(_) => id::COM_CHANGE_DB,
        Statement::Begin(_) => id::COM_BEGIN,
        Statement::Commit(_) => id::COM_COMMIT,
        Statement::Rollback(_) => id::COM_ROLLBACK,
        Statement::Savepoint(_) => id::COM_SAVEPOINT,
        Statement::RollbackTo(_) => id::COM_ROLLBACK_TO_SAVEPOINT,
        Statement::ReleaseSavepoint(_) => id::COM_RELEASE_SAVEPOINT,
        _ => other_counter(statement),
    }
}

fn other_counter(statement: &Statement) -> StatusId {
    match statement {
        Statement::LockTables(_) => id::COM_LOCK_TABLES,
        Statement::UnlockTables => id::COM_UNLOCK_TABLES,
        Statement::LockInstance => id::COM_LOCK_INSTANCE,
        Statement::UnlockInstance => id::COM_UNLOCK_INSTANCE,
        Statement::Prepare { .. } => id::COM_PREPARE_SQL,
        Statement::Execute { .. } => id::COM_EXECUTE_SQL,
        Statement::Deallocate(_) => id::COM_DEALLOC_SQL,
        Statement::Kill { .. } => id::COM_KILL,
        Statement::Flush(_) => id::COM_FLUSH,
        Statement::Reset(_) => id::COM_RESET,
        Statement::TableMaintenance(maintenance) => match maintenance.command {
            MaintenanceCommand::Analyze => id::COM_ANALYZE,
            MaintenanceCommand::Check => id::COM_CHECK,
            MaintenanceCommand::Checksum => id::COM_CHECKSUM,
            MaintenanceCommand::Optimize => id::COM_OPTIMIZE,
            MaintenanceCommand::Repair => id::COM_REPAIR,
        },
        Statement::Shutdown => id::COM_SHUTDOWN,
        Statement::Restart => id::COM_RESTART,
        Statement::CreateUser(_) => id::COM_CREATE_USER,
        Statement::AlterUser(_) => id::COM_ALTER_USER,
        Statement::DropUser { .. } => id::COM_DROP_USER,
        Statement::RenameUser(_) => id::COM_RENAME_USER,
        Statement::CreateRole { .. } => id::COM_CREATE_ROLE,
        Statement::DropRole { .. } => id::COM_DROP_ROLE,
        Statement::Grant(_) => id::COM_GRANT,
        Statement::Revoke(_) => id::COM_REVOKE,
        Statement::SetRole(_) => id::COM_SET_ROLE,
        Statement::SetDefaultRole { .. } => id::COM_ALTER_USER_DEFAULT_ROLE,
        Statement::Handler(handler) => match **handler {
            Handler::Open { .. } => id::COM_HA_OPEN,
            Handler::Close(_) => id::COM_HA_CLOSE,
            Handler::Read { .. } => id::COM_HA_READ,
        },
        Statement::GetDiagnostics(_) => id::COM_GET_DIAGNOSTICS,
        Statement::Signal(_) => id::COM_SIGNAL,
        Statement::Resignal(_) => id::COM_RESIGNAL,
        Statement::Xa(xa) => match xa {
            Xa::Start { .. } => id::COM_XA_START,
            Xa::End { .. } => id::COM_XA_END,
            Xa::Prepare(_) => id::COM_XA_PREPARE,
            Xa::Commit { .. } => id::COM_XA_COMMIT,
            Xa::Rollback(_) => id::COM_XA_ROLLBACK,
            Xa::Recover { .. } => id::COM_XA_RECOVER,
        },
        _ => id::COM_ADMIN_COMMANDS,
    }
}

fn show_counter(show: &Show) -> StatusId {
    match show {
        Show::Databases(_) => id::COM_SHOW_DATABASES,
        Show::Tables { .. } => id::COM_SHOW_TABLES,
        Show::TableStatus { .. } => id::COM_SHOW_TABLE_STATUS,
        Show::OpenTables { .. } => id::COM_SHOW_OPEN_TABLES,
        Show::Triggers { .. } => id::COM_SHOW_TRIGGERS,
        Show::Events { .. } => id::COM_SHOW_EVENTS,
        Show::Columns { .. } => id::COM_SHOW_FIELDS,
        Show::Index { .. } => id::COM_SHOW_KEYS,
        Show::CreateTable(_) | Show::CreateView(_) => id::COM_SHOW_CREATE_TABLE,
        Show::CreateDatabase { .. } => id::COM_SHOW_CREATE_DB,
        Show::CreateUser(_) => id::COM_SHOW_CREATE_USER,
        Show::Variables { .. } => id::COM_SHOW_VARIABLES,
        Show::Status { .. } => id::COM_SHOW_STATUS,
        Show::ProcedureStatus(_) => id::COM_SHOW_PROCEDURE_STATUS,
        Show::FunctionStatus(_) => id::COM_SHOW_FUNCTION_STATUS,
        Show::Warnings { .. } | Show::WarningCount => id::COM_SHOW_WARNINGS,
        Show::Errors { .. } | Show::ErrorCount => id::COM_SHOW_ERRORS,
        Show::Engines => id::COM_SHOW_STORAGE_ENGINES,
        Show::Engine { .. } => id::COM_SHOW_ENGINE_STATUS,
        Show::CharacterSets(_) => id::COM_SHOW_CHARSETS,
        Show::Collations(_) => id::COM_SHOW_COLLATIONS,
        Show::Processlist { .. } => id::COM_SHOW_PROCESSLIST,
        Show::Privileges => id::COM_SHOW_PRIVILEGES,
        Show::Plugins => id::COM_SHOW_PLUGINS,
        Show::Grants { .. } => id::COM_SHOW_GRANTS,
        Show::BinaryLogs => id::COM_SHOW_BINLOGS,
        Show::BinaryLogStatus => id::COM_SHOW_BINARY_LOG_STATUS,
        Show::ReplicaStatus { .. } => id::COM_SHOW_REPLICA_STATUS,
        Show::Replicas => id::COM_SHOW_REPLICAS,
        _ => id::COM_ADMIN_COMMANDS,
    }
}

/// Whether MAX_UPDATES_PER_HOUR counts a statement: what changes rows, tables or accounts, and the plan of such a change. Measured on
/// MySQL 9.7.
#[inline]
pub fn counts_as_update(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Load(_)
        | Statement::CreateTable(_)
        | Statement::AlterTable(_)
        | Statement::DropTable(_)
        | Statement::RenameTable(_)
        | Statement::TruncateTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex(_)
        | Statement::CreateDatabase(_)
        | Statement::AlterDatabase(_)
        | Statement::DropDatabase { .. }
        | Statement::CreateUser(_)
        | Statement::AlterUser(_)
        | Statement::DropUser { .. }
        | Statement::RenameUser(_)
        | Statement::CreateRole { .. }
        | Statement::DropRole { .. }
        | Statement::Grant(_)
        | Statement::Revoke(_)
        | Statement::SetDefaultRole { .. } => true,
        Statement::Set(items) => items.iter().any(|item| matches!(item, SetItem::Password(_))),
        Statement::TableMaintenance(maintenance) => maintenance.command == MaintenanceCommand::Optimize,
        Statement::Explain(explain) => match &explain.target {
            ExplainTarget::Statement(inner) => counts_as_update(inner),
            ExplainTarget::Connection(_) => false,
        },
        _ => false,
    }
}
