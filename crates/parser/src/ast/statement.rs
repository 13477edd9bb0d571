//! All statements, and those that change or read rows. Main type: [`Statement`].
#![allow(missing_docs)]

use super::*;

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A comment alone: MySQL answers OK.
    Empty,
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Load(Box<Load>),
    Do(Vec<Expression>),
    Call {
        procedure: ObjectName,
        arguments: Vec<Expression>,
    },
    Handler(Box<Handler>),

    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    DropTable(DropTable),
    RenameTable(Vec<RenameItem>),
    TruncateTable(ObjectName),
    CreateIndex(Box<CreateIndex>),
    DropIndex(Box<DropIndex>),
    CreateDatabase(CreateDatabase),
    AlterDatabase(AlterDatabase),
    DropDatabase {
        name: Name,
        if_exists: bool,
    },
    CreateView(Box<CreateView>),
    DropView {
        views: Vec<ObjectName>,
        if_exists: bool,
        restrict: Option<bool>,
    },
    StoredProgram(StoredProgram),

    Show(Box<Show>),
    /// `DESCRIBE table [column or pattern]`.
    Describe {
        table: ObjectName,
        column: Option<Vec<u8>>,
    },
    Explain(Box<Explain>),
    Help(Vec<u8>),
    Set(Vec<SetItem>),
    Use(Name),

    Begin(TransactionStart),
    Commit(TransactionEnd),
    Rollback(TransactionEnd),
    Savepoint(Name),
    RollbackTo(Name),
    ReleaseSavepoint(Name),
    LockTables(Vec<LockTable>),
    UnlockTables,
    LockInstance,
    UnlockInstance,
    Xa(Xa),

    Prepare {
        name: Name,
        source: PrepareSource,
    },
    Execute {
        name: Name,
        using: Vec<Name>,
    },
    Deallocate(Name),

    Kill {
        query_only: bool,
        id: Expression,
    },
    Flush(Flush),
    Reset(Vec<ResetTarget>),
    TableMaintenance(TableMaintenance),
    Shutdown,
    Restart,

    CreateUser(Box<CreateUser>),
    AlterUser(Box<AlterUser>),
    DropUser {
        users: Vec<UserName>,
        if_exists: bool,
    },
    RenameUser(Vec<(UserName, UserName)>),
    CreateRole {
        roles: Vec<UserName>,
        if_not_exists: bool,
    },
    DropRole {
        roles: Vec<UserName>,
        if_exists: bool,
    },
    Grant(Box<Grant>),
    Revoke(Box<Revoke>),
    SetRole(RoleChoice),
    SetDefaultRole {
        roles: RoleChoice,
        users: Vec<UserName>,
    },

    Signal(Signal),
    Resignal(Signal),
    GetDiagnostics(Box<GetDiagnostics>),

    /// A statement that is only recognised: tablespaces, servers, plugins, replication and the like.
    /// The text runs to the end of the statement; `command` is its leading words, e.g. `INSTALL PLUGIN`.
    Recognised {
        command: &'static str,
        text: String,
    },
}

/// INSERT and REPLACE.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    pub replace: bool,
    pub priority: InsertPriority,
    pub ignore: bool,
    pub hints: Vec<Hint>,
    pub table: ObjectName,
    pub partitions: Vec<Name>,
    /// Empty: all columns in their order (or none, for `INSERT INTO t () VALUES ()`, where each row is empty too).
    pub columns: Vec<ColumnReference>,
    pub source: InsertSource,
    /// `AS row(a, b)`.
    pub row_alias: Option<RowAlias>,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Vec<Assignment>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InsertPriority {
    #[default]
    Normal,
    Low,
    High,
    /// Accepted and ignored with a warning.
    Delayed,
}

#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// VALUES, and SET (one row). A plain DEFAULT is `Expression::Default(None)`.
    Values(Vec<Vec<Expression>>),
    /// SELECT, TABLE, VALUES ROW, WITH.
    Query(Box<Query>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RowAlias {
    pub name: Name,
    pub columns: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub column: ColumnReference,
    pub value: Expression,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub with: Option<With>,
    pub low_priority: bool,
    pub ignore: bool,
    pub hints: Vec<Hint>,
    /// More than one, or a join: multi-table UPDATE.
    pub tables: Vec<TableReference>,
    pub assignments: Vec<Assignment>,
    pub filter: Option<Expression>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Expression>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    pub with: Option<With>,
    pub low_priority: bool,
    pub quick: bool,
    pub ignore: bool,
    pub hints: Vec<Hint>,
    pub source: DeleteSource,
    pub filter: Option<Expression>,
    /// Single-table only.
    pub order_by: Vec<OrderItem>,
    /// Single-table only.
    pub limit: Option<Expression>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DeleteSource {
    Single(TableFactor),
    /// `DELETE a, b.* FROM ..` and `DELETE FROM a USING ..`: targets name references by alias.
    Multiple {
        targets: Vec<ObjectName>,
        from: Vec<TableReference>,
    },
}

/// LOAD DATA and LOAD XML.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    pub xml: bool,
    pub low_priority: bool,
    pub concurrent: bool,
    pub local: bool,
    pub path: Vec<u8>,
    pub duplicates: LoadDuplicates,
    pub table: ObjectName,
    pub partitions: Vec<Name>,
    pub charset: Option<Name>,
    /// XML only.
    pub rows_identified_by: Option<Vec<u8>>,
    pub format: FileFormat,
    pub ignore_lines: u64,
    /// Columns and user variables; empty: all columns.
    pub columns: Vec<LoadColumn>,
    pub assignments: Vec<Assignment>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadDuplicates {
    #[default]
    Error,
    Replace,
    Ignore,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LoadColumn {
    Column(ColumnReference),
    UserVariable(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Handler {
    Open {
        table: ObjectName,
        alias: Option<Name>,
    },
    Close(Name),
    Read {
        table: Name,
        index: Option<Name>,
        step: HandlerStep,
        filter: Option<Expression>,
        limit: Option<Limit>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum HandlerStep {
    First,
    Next,
    Previous,
    Last,
    Key { operator: BinaryOperator, values: Vec<Expression> },
}
