//! Statements about the session, the server, accounts and transactions.
//! Main types: [`Show`], [`SetItem`], [`Grant`], [`CreateUser`].
#![allow(missing_docs)]

use super::{Expression, Limit, Name, ObjectName, Statement, SystemVariable, VariableScope};

/// SHOW in all its forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Show {
    Databases(ShowFilter),
    Tables {
        full: bool,
        extended: bool,
        schema: Option<Name>,
        filter: ShowFilter,
    },
    TableStatus {
        schema: Option<Name>,
        filter: ShowFilter,
    },
    OpenTables {
        schema: Option<Name>,
        filter: ShowFilter,
    },
    Triggers {
        full: bool,
        schema: Option<Name>,
        filter: ShowFilter,
    },
    Events {
        schema: Option<Name>,
        filter: ShowFilter,
    },
    Columns {
        full: bool,
        extended: bool,
        table: ObjectName,
        filter: ShowFilter,
    },
    Index {
        extended: bool,
        table: ObjectName,
        filter: Option<Expression>,
    },
    CreateTable(ObjectName),
    CreateView(ObjectName),
    CreateDatabase {
        name: Name,
        if_not_exists: bool,
    },
    CreateUser(UserName),
    CreateProgram {
        kind: super::ProgramKind,
        name: ObjectName,
    },
    Variables {
        scope: Option<VariableScope>,
        filter: ShowFilter,
    },
    Status {
        scope: Option<VariableScope>,
        filter: ShowFilter,
    },
    ProcedureStatus(ShowFilter),
    FunctionStatus(ShowFilter),
    LibraryStatus(ShowFilter),
    ProcedureCode(ObjectName),
    FunctionCode(ObjectName),
    Warnings {
        limit: Option<Limit>,
    },
    Errors {
        limit: Option<Limit>,
    },
    /// SHOW COUNT(*) WARNINGS.
    WarningCount,
    ErrorCount,
    Engines,
    Engine {
        name: Name,
        what: EngineShow,
    },
    CharacterSets(ShowFilter),
    Collations(ShowFilter),
    Processlist {
        full: bool,
    },
    Privileges,
    Plugins,
    Grants {
        user: Option<UserName>,
        using: Vec<UserName>,
    },
    BinaryLogs,
    BinaryLogStatus,
    BinlogEvents {
        relay: bool,
        log: Option<Vec<u8>>,
        position: Option<u64>,
        limit: Option<Limit>,
        channel: Option<Name>,
    },
    Replicas,
    ReplicaStatus {
        channel: Option<Name>,
    },
    Profile {
        types: Vec<&'static str>,
        query: Option<u64>,
        limit: Option<Limit>,
    },
    Profiles,
    ParseTree(Box<Statement>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineShow {
    Status,
    Mutex,
    Logs,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ShowFilter {
    None,
    Like(Vec<u8>),
    Where(Expression),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    pub analyze: bool,
    /// TRADITIONAL, JSON, TREE.
    pub format: Option<Name>,
    /// `INTO @variable`.
    pub into: Option<Name>,
    /// FOR SCHEMA.
    pub schema: Option<Name>,
    pub target: ExplainTarget,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExplainTarget {
    Statement(Box<Statement>),
    Connection(u64),
}

/// One assignment of SET.
#[derive(Clone, Debug, PartialEq)]
pub enum SetItem {
    UserVariable {
        name: Name,
        value: Expression,
    },
    /// None: DEFAULT. A bare word value (`SET sql_mode = ansi`) arrives as a column reference;
    /// ON, ALL, BINARY, ROW and SYSTEM arrive as strings.
    SystemVariable {
        variable: SystemVariable,
        value: Option<Expression>,
        /// Written `@@name`, without a scope: a characteristic of transactions is set for the next one only.
        next_transaction: bool,
    },
    /// A local variable of a stored program or `NEW.column` of a trigger: not distinguished from a variable
    /// without scope except by the qualifier.
    Names {
        charset: Option<Name>,
        collation: Option<Name>,
    },
    /// None: DEFAULT.
    CharacterSet(Option<Name>),
    Password(SetPassword),
    /// SET [GLOBAL | SESSION] TRANSACTION.
    Transaction {
        scope: Option<VariableScope>,
        isolation: Option<IsolationLevel>,
        read_only: Option<bool>,
    },
    ResourceGroup {
        name: Name,
        threads: Vec<u64>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SetPassword {
    /// None: the current user.
    pub user: Option<UserName>,
    /// None: TO RANDOM.
    pub password: Option<Vec<u8>>,
    pub replace: Option<Vec<u8>>,
    pub retain_current: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactionStart {
    pub consistent_snapshot: bool,
    /// READ ONLY (true), READ WRITE (false).
    pub read_only: Option<bool>,
}

/// AND [NO] CHAIN and [NO] RELEASE; None where the text does not say (completion_type counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionEnd {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LockTable {
    pub table: ObjectName,
    pub alias: Option<Name>,
    pub mode: TableLockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLockMode {
    Read,
    ReadLocal,
    Write,
    LowPriorityWrite,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Xa {
    Start { xid: Xid, join: bool, resume: bool },
    End { xid: Xid, suspend: bool, for_migrate: bool },
    Prepare(Xid),
    Commit { xid: Xid, one_phase: bool },
    Rollback(Xid),
    Recover { convert_xid: bool },
}

/// The name of a branch of an XA transaction, in the order of XA RECOVER.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xid {
    /// At most 64 bytes, as the next.
    pub global: Vec<u8>,
    pub branch: Vec<u8>,
    /// 1 where the text gives none; at most 2^63 - 1.
    pub format: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PrepareSource {
    Text(Vec<u8>),
    UserVariable(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Flush {
    /// NO_WRITE_TO_BINLOG or LOCAL.
    pub local: bool,
    pub target: FlushTarget,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FlushTarget {
    Tables {
        tables: Vec<ObjectName>,
        with_read_lock: bool,
        for_export: bool,
    },
    /// PRIVILEGES, STATUS, BINARY LOGS, ERROR LOGS and the like by upper-case name, in order.
    Options(Vec<&'static str>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum ResetTarget {
    QueryCache,
    BinaryLogsAndGtids {
        to: Option<u64>,
    },
    Replica {
        all: bool,
        channel: Option<Name>,
    },
    /// RESET PERSIST [[IF EXISTS] name].
    Persist {
        name: Option<Name>,
        if_exists: bool,
    },
}

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct TableMaintenance {
    pub command: MaintenanceCommand,
    pub local: bool,
    pub tables: Vec<ObjectName>,
    /// QUICK, EXTENDED, USE_FRM, FAST, MEDIUM, CHANGED, FOR UPGRADE.
    pub options: Vec<&'static str>,
    pub histogram: Option<Histogram>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintenanceCommand {
    Analyze,
    Check,
    Checksum,
    Optimize,
    Repair,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Histogram {
    Update { columns: Vec<Name>, buckets: Option<u64>, data: Option<Vec<u8>>, auto_update: Option<bool> },
    Drop { columns: Vec<Name> },
}

/// An account or role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UserName {
    Account {
        name: String,
        /// None: `%`.
        host: Option<String>,
    },
    CurrentUser,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateUser {
    pub if_not_exists: bool,
    pub users: Vec<UserSpecification>,
    pub default_roles: Vec<UserName>,
    pub attributes: UserAttributes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AlterUser {
    pub if_exists: bool,
    pub users: Vec<UserSpecification>,
    /// `ALTER USER u DEFAULT ROLE ..`.
    pub default_role: Option<RoleChoice>,
    pub attributes: UserAttributes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UserSpecification {
    pub user: UserName,
    /// Factors of authentication in order; empty where the text has no IDENTIFIED.
    pub factors: Vec<Authentication>,
    /// REPLACE 'current password'.
    pub replace: Option<Vec<u8>>,
    pub retain_current: bool,
    pub discard_old: bool,
    /// ADD, MODIFY, DROP of 2nd and 3rd FACTOR, registration: the source text of a clause that is only recognised.
    pub factor_changes: Vec<String>,
}

impl UserSpecification {
    /// The account alone.
    pub fn of(user: UserName) -> UserSpecification {
        UserSpecification {
            user,
            factors: Vec::new(),
            replace: None,
            retain_current: false,
            discard_old: false,
            factor_changes: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Authentication {
    /// WITH plugin.
    pub plugin: Option<Name>,
    pub secret: AuthenticationSecret,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum AuthenticationSecret {
    #[default]
    None,
    /// BY 'text'.
    Password(Vec<u8>),
    /// BY RANDOM PASSWORD.
    Random,
    /// AS 'hash'.
    Hash(Vec<u8>),
}

/// The largest number of FAILED_LOGIN_ATTEMPTS, and of days of PASSWORD_LOCK_TIME.
pub const PASSWORD_LOCKING_MAX: u16 = 32_767;

/// What may follow the users of CREATE USER and ALTER USER; None or empty where the text does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserAttributes {
    pub require: Option<TlsRequirement>,
    /// MAX_QUERIES_PER_HOUR and the like by upper-case name.
    pub limits: Vec<(&'static str, u64)>,
    pub password_expire: Option<PasswordExpire>,
    /// PASSWORD HISTORY; inner None: DEFAULT.
    pub password_history: Option<Option<u64>>,
    /// PASSWORD REUSE INTERVAL n DAY; inner None: DEFAULT.
    pub password_reuse_days: Option<Option<u64>>,
    /// PASSWORD REQUIRE CURRENT [DEFAULT | OPTIONAL].
    pub require_current: Option<RequireCurrent>,
    /// FAILED_LOGIN_ATTEMPTS, at most [`PASSWORD_LOCKING_MAX`].
    pub failed_login_attempts: Option<u16>,
    /// PASSWORD_LOCK_TIME, at most [`PASSWORD_LOCKING_MAX`]; inner None: UNBOUNDED.
    pub password_lock_days: Option<Option<u16>>,
    pub account_locked: Option<bool>,
    pub comment: Option<Vec<u8>>,
    pub attribute: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TlsRequirement {
    None,
    Ssl,
    X509,
    Specified { cipher: Option<Vec<u8>>, issuer: Option<Vec<u8>>, subject: Option<Vec<u8>> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordExpire {
    Now,
    Default,
    Never,
    /// Days.
    Interval(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequireCurrent {
    Required,
    Default,
    Optional,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RoleChoice {
    Default,
    None,
    All,
    AllExcept(Vec<UserName>),
    Roles(Vec<UserName>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Grant {
    Privileges {
        privileges: Vec<Privilege>,
        object: ObjectKind,
        level: PrivilegeLevel,
        to: Vec<UserName>,
        grant_option: bool,
        as_user: Option<UserName>,
        with_role: Option<RoleChoice>,
    },
    Roles {
        roles: Vec<UserName>,
        to: Vec<UserName>,
        admin_option: bool,
    },
    Proxy {
        user: UserName,
        to: Vec<UserName>,
        grant_option: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Revoke {
    Privileges {
        privileges: Vec<Privilege>,
        object: ObjectKind,
        level: PrivilegeLevel,
        from: Vec<UserName>,
        if_exists: bool,
        ignore_unknown_user: bool,
    },
    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    All {
        from: Vec<UserName>,
        if_exists: bool,
        ignore_unknown_user: bool,
    },
    Roles {
        roles: Vec<UserName>,
        from: Vec<UserName>,
        if_exists: bool,
        ignore_unknown_user: bool,
    },
    Proxy {
        user: UserName,
        from: Vec<UserName>,
        if_exists: bool,
        ignore_unknown_user: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Privilege {
    /// Upper case with single blanks, e.g. `SELECT`, `CREATE TEMPORARY TABLES`, `ALL`, `GRANT OPTION`;
    /// a dynamic privilege in upper case.
    pub name: String,
    /// Column privileges.
    pub columns: Vec<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// TABLE or nothing.
    Table,
    Function,
    Procedure,
    Library,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `*`: the current schema.
    CurrentSchema,
    /// `schema.*`.
    Schema(Name),
    Object(ObjectName),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    pub condition: SignalCondition,
    pub items: Vec<(Name, Expression)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SignalCondition {
    /// RESIGNAL alone.
    None,
    State(Vec<u8>),
    Name(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GetDiagnostics {
    pub stacked: bool,
    /// None: statement information.
    pub condition: Option<Expression>,
    /// (target, item name): the target is a user variable or a local variable.
    pub items: Vec<(super::IntoVariable, Name)>,
}
