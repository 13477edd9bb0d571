//! What binding asks of the world above it: tables that are not the engine's, views, privileges.
//! Main traits: [`VirtualTables`], [`PrivilegeCheck`]. Implemented by `session`.

use dictionary::TableDefinition;
use errors::SqlResult;
use std::sync::Arc;
use values::Value;

/// A view's definition, ready to be bound in place of a table.
#[derive(Clone, Debug)]
pub struct View {
    /// The query.
    pub query: Arc<parser::ast::Query>,
    /// Column names, if the view gives them; otherwise the query's own.
    pub columns: Vec<String>,
    /// The schema that unqualified names in the query mean.
    pub schema: String,
}

/// Tables without storage (information_schema, performance_schema, mysql.user, ...) and views.
pub trait VirtualTables {
    /// The definition of such a table; None if there is none of that name.
    fn table(&self, schema: &str, name: &str) -> Option<Arc<TableDefinition>>;

    /// The view of that name.
    fn view(&self, _schema: &str, _name: &str) -> Option<View> {
        None
    }

    /// Hands out the table's rows. `equal` are columns that the statement compares with a constant (position, value):
    /// the provider may skip rows that differ, the caller filters again. `emit` returns false when it wants no more.
    fn rows(
        &self,
        table: &TableDefinition,
        equal: &[(usize, Value)],
        emit: &mut dyn FnMut(Vec<Value>) -> SqlResult<bool>,
    ) -> SqlResult<()>;

    /// Whether results name that table's columns as it does, not as the statement writes them.
    fn keeps_column_names(&self, _schema: &str, _name: &str) -> bool {
        false
    }

    /// Whether that schema exists although the engine does not know it (information_schema).
    fn has_schema(&self, _schema: &str) -> bool {
        false
    }
}

/// A privilege on a table or on columns of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TablePrivilege {
    /// SELECT.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl TablePrivilege {
    /// The word of error 1142.
    pub fn name(self) -> &'static str {
        match self {
            TablePrivilege::Select => "SELECT",
            TablePrivilege::Insert => "INSERT",
            TablePrivilege::Update => "UPDATE",
            TablePrivilege::Delete => "DELETE",
        }
    }
}

/// What a statement wants to do with a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivilegeRequest {
    /// Schema.
    pub schema: String,
    /// Table.
    pub table: String,
    /// Columns by name. Empty: the table as a whole (COUNT(*), DELETE).
    pub columns: Vec<String>,
    /// What for.
    pub privilege: TablePrivilege,
}

/// Grants of the session's user.
pub trait PrivilegeCheck {
    /// Error 1142 or 1143 unless the user may do that.
    fn check(&self, request: &PrivilegeRequest) -> SqlResult<()>;
}

/// May do everything: internal statements and tests.
#[derive(Debug)]
pub struct AllPrivileges;

impl PrivilegeCheck for AllPrivileges {
    fn check(&self, _request: &PrivilegeRequest) -> SqlResult<()> {
        Ok(())
    }
}

/// No virtual table at all: tests.
#[derive(Debug)]
pub struct NoVirtualTables;

impl VirtualTables for NoVirtualTables {
    fn table(&self, _schema: &str, _name: &str) -> Option<Arc<TableDefinition>> {
        None
    }

    fn rows(
        &self,
        _table: &TableDefinition,
        _equal: &[(usize, Value)],
        _emit: &mut dyn FnMut(Vec<Value>) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        Ok(())
    }
}
