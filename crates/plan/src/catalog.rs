//! What binding asks of the world above it: tables that are not the engine's, views, privileges.
//! Main traits: [`VirtualTables`], [`VirtualCursor`], [`PrivilegeCheck`]. Implemented by `session`.

use charset::CollationId;
use dictionary::{TableDefinition, ViewDefinition};
use errors::{SqlError, SqlResult, sql_error};
use expression::Routine;
use std::num::NonZeroU64;
use std::sync::Arc;
use values::Value;
use values::row::ColumnSet;

/// A view's definition, ready to be bound in place of a table.
#[derive(Clone, Debug)]
pub struct View {
    /// The query.
    pub query: Arc<parser::ast::Query>,
    /// Column names, if the view gives them; otherwise the query's own.
    pub columns: Vec<String>,
    /// The schema that unqualified names in the query mean.
    pub schema: String,
    /// Its definition, if it is in the dictionary.
    pub definition: Arc<ViewDefinition>,
}

/// What is read of a table without storage.
#[derive(Clone, Debug)]
pub struct VirtualRequest {
    /// The table.
    pub table: Arc<TableDefinition>,
    /// Key columns with the values of which each is to have one. Rows that have none may come, too: the caller looks again.
    pub wanted: Vec<WantedValues>,
    /// The columns that are looked at; what the others of a row hold does not matter.
    pub columns: ColumnSet,
}

/// What a key column of a table without storage is to have.
#[derive(Clone, Debug)]
pub struct WantedValues {
    /// The column.
    pub column: usize,
    /// One of these values.
    pub values: Vec<Value>,
    /// In which text is compared.
    pub collation: CollationId,
}

impl VirtualRequest {
    /// All of a table.
    pub fn whole(table: Arc<TableDefinition>) -> VirtualRequest {
        let columns = ColumnSet::of(0..table.columns.len());
        VirtualRequest { table, wanted: Vec::new(), columns }
    }
}

/// Reading a table without storage: rows are made as they are pulled, a few ahead at most.
pub trait VirtualCursor {
    /// The next row; None at the end.
    fn next(&mut self) -> SqlResult<Option<Vec<Value>>>;
}

/// Tables without storage (information_schema, performance_schema, mysql.user, ...), views and stored functions.
pub trait VirtualTables {
    /// The definition of such a table; None if there is none of that name.
    fn table(&self, schema: &str, name: &str) -> Option<Arc<TableDefinition>>;

    /// The view of that name.
    fn view(&self, _schema: &str, _name: &str) -> SqlResult<Option<View>> {
        Ok(None)
    }

    /// The stored function of that name.
    fn routine(&self, _schema: &str, _name: &str) -> Option<Arc<Routine>> {
        None
    }

    /// The columns of such a table by which its rows are found without making the others: any of them, alone or together.
    fn key_columns(&self, table: &TableDefinition) -> Vec<usize>;

    /// What who reads such a table is warned of.
    fn deprecation(&self, _table: &TableDefinition) -> Option<SqlError> {
        None
    }

    /// Begins to read such a table.
    fn open<'t>(&'t self, request: VirtualRequest) -> SqlResult<Box<dyn VirtualCursor + 't>>;

    /// Whether results name that table's columns as it does, not as the statement writes them.
    fn keeps_column_names(&self, _schema: &str, _name: &str) -> bool {
        false
    }

    /// Whether that schema exists although the engine does not know it (information_schema).
    fn has_schema(&self, _schema: &str) -> bool {
        false
    }
}

/// What a statement does with a table, as far as privileges go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableAccess {
    /// Reads it.
    Select,
    /// Reads it FOR UPDATE: SELECT was asked for already.
    SelectForUpdate,
    /// INSERT, LOAD DATA.
    Insert,
    /// INSERT .. ON DUPLICATE KEY UPDATE.
    InsertOrUpdate,
    /// REPLACE, LOAD DATA .. REPLACE.
    Replace,
    /// UPDATE.
    Update,
    /// Names it in an UPDATE of several tables: which of them are changed is known when columns are.
    UpdateOrSelect,
    /// DELETE.
    Delete,
    /// LOCK TABLES.
    Lock,
}

/// How much of a table a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The table: a privilege on any of its columns will do, for those that are used are asked for one by one.
    Table,
    /// These columns.
    Columns(Vec<String>),
    /// These columns, which are all that `*` or an INSERT without a list of columns means.
    EveryColumn(Vec<String>),
}

/// What a statement wants to do with a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivilegeRequest {
    /// Schema.
    pub schema: String,
    /// Table.
    pub table: String,
    /// What for.
    pub access: TableAccess,
    /// How much of it.
    pub extent: Extent,
}

/// Which files on the server's disk a statement uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// LOAD DATA without LOCAL.
    Load,
    /// INTO OUTFILE and INTO DUMPFILE.
    Write,
}

/// Names what a [`PrivilegeCheck`] goes by: of two checks with one id, what one allows the other allows. No id is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantsId(pub NonZeroU64);

/// Grants of the session's user.
pub trait PrivilegeCheck {
    /// Whose grants they are; None: nothing may be concluded from an earlier check.
    fn grants_id(&self) -> Option<GrantsId> {
        None
    }

    /// Names the state of all accounts: while it is the same, what any definer may do is the same. None: nothing may be concluded.
    fn accounts_id(&self) -> Option<NonZeroU64> {
        None
    }

    /// What the definer of a view may do, of one within another too: who runs the statement is told, by error 1449, if there is no such
    /// account. It is asked of the grants of who runs the statement.
    fn of_definer(&self, user: &str, host: &str) -> SqlResult<Arc<dyn PrivilegeCheck>> {
        Err(sql_error!(ER_NO_SUCH_USER, user, host))
    }

    /// Whether the user may see the text of that view.
    fn sees_view(&self, _schema: &str, _view: &str) -> bool {
        true
    }

    /// Error 1142 for a table, 1143 for a column unless the user may do that; 1044 where nobody may.
    fn check(&self, request: &PrivilegeRequest) -> SqlResult<()>;

    /// Error 1045 (LOAD DATA) or 1227 without the FILE privilege.
    fn check_file(&self, access: FileAccess) -> SqlResult<()>;

    /// Whether the user may do anything with the table, so that messages may tell of it.
    fn sees_table(&self, schema: &str, table: &str) -> bool;

    /// Whether the user may read the whole table, so that it is no secret which columns it has.
    fn reads_whole(&self, schema: &str, table: &str) -> bool;
}

/// May do everything: internal statements and tests.
#[derive(Debug)]
pub struct AllPrivileges;

impl PrivilegeCheck for AllPrivileges {
    fn of_definer(&self, _user: &str, _host: &str) -> SqlResult<Arc<dyn PrivilegeCheck>> {
        Ok(Arc::new(AllPrivileges))
    }

    fn check(&self, _request: &PrivilegeRequest) -> SqlResult<()> {
        Ok(())
    }

    fn check_file(&self, _access: FileAccess) -> SqlResult<()> {
        Ok(())
    }

    fn sees_table(&self, _schema: &str, _table: &str) -> bool {
        true
    }

    fn reads_whole(&self, _schema: &str, _table: &str) -> bool {
        true
    }
}

/// No virtual table at all: tests.
#[derive(Debug)]
pub struct NoVirtualTables;

impl VirtualTables for NoVirtualTables {
    fn table(&self, _schema: &str, _name: &str) -> Option<Arc<TableDefinition>> {
        None
    }

    fn key_columns(&self, _table: &TableDefinition) -> Vec<usize> {
        Vec::new()
    }

    fn open<'t>(&'t self, _request: VirtualRequest) -> SqlResult<Box<dyn VirtualCursor + 't>> {
        Ok(Box::new(NoRows))
    }
}

struct NoRows;

impl VirtualCursor for NoRows {
    fn next(&mut self) -> SqlResult<Option<Vec<Value>>> {
        Ok(None)
    }
}

/// Error for a table that a query reads and that is not there: 1049 where its schema is not either, 1109 in information_schema, 1146.
pub fn unknown_table(schema: &str, table: &str, is_schema: bool) -> SqlError {
    if schema.eq_ignore_ascii_case("information_schema") {
        return sql_error!(ER_UNKNOWN_TABLE, table, "information_schema");
    }
    match is_schema {
        true => sql_error!(ER_NO_SUCH_TABLE, schema, table),
        false => sql_error!(ER_BAD_DB_ERROR, schema),
    }
}
