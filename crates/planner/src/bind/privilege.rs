//! What binding asks of the user's grants: each table and column at the place where the statement uses it, so that the
//! first mistake or missing privilege in MySQL's order is the one that the client sees. The requests stay with the plan
//! and are checked again at each execution. Tables were asked for before (`access.rs`). Main type: [`Privileges`].

use super::column::find_column;
use dictionary::{TableDefinition, TableName, same_name};
use errors::{SqlError, SqlResult};
use optimizer::{Block, BoundTable, Source};
use parser::ast;
use plan::{Extent, PrivilegeCheck, PrivilegeRequest, TableAccess, ViewPrivileges};
use std::sync::Arc;

/// The definition of the table behind it, if it is one that privileges are granted on.
fn granted_definition(table: &BoundTable) -> Option<&TableDefinition> {
    match &table.source {
        Source::Base(base) if base.is_temporary() => None,
        // A view whose rows are changed stands under its own names.
        Source::Base(base) => Some(table.view.as_deref().unwrap_or_else(|| base.definition())),
        Source::Virtual(definition) => Some(definition),
        Source::Derived(..) => table.view.as_deref(),
        Source::JsonTable(_) | Source::Recursion(_) => None,
    }
}

/// Whose rights count in a view.
#[derive(Clone)]
pub(crate) struct ViewDefiner {
    /// User of the account.
    pub user: String,
    /// Its host.
    pub host: String,
    /// What it may do.
    pub check: Arc<dyn PrivilegeCheck>,
}

/// The user's grants, and what the statement needs of them.
pub(crate) struct Privileges<'a> {
    /// Of who runs the statement.
    pub check: &'a dyn PrivilegeCheck,
    /// Whose rights count in their place: those of the view that is being bound.
    pub definer: Option<ViewDefiner>,
    pub requests: Vec<PrivilegeRequest>,
    /// Room for a column that is asked for alone.
    alone: Vec<String>,
    /// What views ask for.
    pub views: Vec<ViewPrivileges>,
    /// The view that the statement names, while it is being bound with what it reads.
    pub view: Option<TableName>,
    /// The views that are being bound, the outermost first.
    pub open_views: Vec<TableName>,
    /// The first privilege that was asked for and is missing. It goes before mistakes that are found behind it.
    pub denied: Option<SqlError>,
    /// While expressions of a table's definition are bound: they need no privileges.
    pub trusted: bool,
}

impl<'a> Privileges<'a> {
    pub fn new(check: &'a dyn PrivilegeCheck) -> Privileges<'a> {
        let (requests, views) = (Vec::new(), Vec::new());
        Privileges {
            check,
            definer: None,
            requests,
            alone: Vec::new(),
            views,
            view: None,
            open_views: Vec::new(),
            denied: None,
            trusted: false,
        }
    }

    /// Whose rights count now.
    pub fn current(&self) -> &dyn PrivilegeCheck {
        self.definer.as_ref().map_or(self.check, |definer| &*definer.check)
    }

    fn ask(&mut self, request: PrivilegeRequest) {
        if self.trusted || self.requests.contains(&request) {
            return;
        }
        if self.denied.is_none() {
            self.denied = self.current().check(&request).err();
        }
        self.requests.push(request);
    }

    /// The statement uses a table, whatever it does with its columns. Nobody is asked what a session does with its temporary ones.
    pub fn require_table(&mut self, of: &TableDefinition, access: TableAccess) {
        if !of.id.is_temporary() {
            let TableName { schema, table } = of.name.clone();
            self.ask(PrivilegeRequest { schema, table, access, extent: Extent::Table });
        }
    }

    /// The statement uses a column. One request for all columns of a table makes executions cheap.
    pub fn require_column(&mut self, of: &TableDefinition, column: &str, access: TableAccess) {
        if self.trusted || of.id.is_temporary() {
            return;
        }
        let name = &of.name;
        let is_known = |known: &PrivilegeRequest| {
            matches!(known.extent, Extent::Columns(_))
                && known.access == access
                && known.schema == name.schema
                && known.table == name.table
        };
        let known = self.requests.iter().position(is_known).unwrap_or_else(|| {
            let TableName { schema, table } = name.clone();
            self.requests.push(PrivilegeRequest {
                schema,
                table,
                access,
                extent: Extent::Columns(Vec::new()),
            });
            self.requests.len() - 1
        });
        let check = self.definer.as_ref().map_or(self.check, |definer| &*definer.check);
        let request = &mut self.requests[known];
        let Extent::Columns(columns) = &mut request.extent else { return };
        if columns.iter().any(|known| same_name(known, column)) {
            return;
        }
        // Those before it have been checked.
        let mut all = std::mem::replace(columns, std::mem::take(&mut self.alone));
        columns.push(column.to_owned());
        if self.denied.is_none() {
            self.denied = check.check(request).err();
        }
        if let Extent::Columns(columns) = &mut request.extent {
            all.append(columns);
            self.alone = std::mem::replace(columns, all);
        }
    }

    /// An INSERT or REPLACE as a whole.
    pub fn require_insert(&mut self, insert: &ast::Insert, definition: &TableDefinition) {
        let access = match (insert.replace, insert.on_duplicate.is_empty()) {
            (true, _) => TableAccess::Replace,
            (false, false) => TableAccess::InsertOrUpdate,
            (false, true) => TableAccess::Insert,
        };
        self.require_table(definition, access);
    }

    /// The tables of an UPDATE: with several, which of them are changed is known when columns are.
    pub fn require_update(&mut self, block: &Block) {
        let several = block.tables.len() > 1;
        let access = if several { TableAccess::UpdateOrSelect } else { TableAccess::Update };
        self.require_each(block.tables.iter(), access);
    }

    /// The columns that an UPDATE changes; unknown ones are found later. Error 1052.
    pub fn require_updated(&mut self, block: &Block, assignments: &[ast::Assignment]) -> SqlResult<()> {
        for assignment in assignments {
            if let Some((table, column)) = find_column(block, &assignment.column)?
                && let Some(definition) = granted_definition(&block.tables[table])
            {
                let column = as_written(&definition.columns[column].name, &assignment.column.column);
                self.require_column(definition, column, TableAccess::Update);
            }
        }
        Ok(())
    }

    /// The columns that assignments change; unknown ones are found later.
    pub fn require_assigned(
        &mut self,
        definition: &TableDefinition,
        assignments: &[ast::Assignment],
        access: TableAccess,
    ) {
        for one in assignments {
            let written = &one.column.column;
            if let Some(at) = definition.column_position(written) {
                let column = as_written(&definition.columns[at].name, written);
                self.require_column(definition, column, access);
            }
        }
    }

    /// The statement uses all columns of a table without naming them.
    pub fn require_every_column(&mut self, definition: &TableDefinition, access: TableAccess) {
        if definition.id.is_temporary() {
            return;
        }
        let shown = definition.columns.iter().filter(|column| !column.invisible);
        let extent = Extent::EveryColumn(shown.map(|column| column.name.clone()).collect());
        let TableName { schema, table } = definition.name.clone();
        self.ask(PrivilegeRequest { schema, table, access, extent });
    }

    /// The tables of a block are read.
    pub fn require_read(&mut self, block: &Block) {
        self.require_each(block.tables.iter(), TableAccess::Select);
    }

    fn require_each<'t>(&mut self, tables: impl Iterator<Item = &'t BoundTable>, access: TableAccess) {
        for definition in tables.filter_map(granted_definition) {
            self.require_table(definition, access);
        }
    }

    /// Those tables of a block are read FOR UPDATE.
    pub fn require_locking(&mut self, block: &Block, chosen: impl Fn(&BoundTable) -> bool) {
        let tables = block.tables.iter().filter(|table| chosen(table));
        self.require_each(tables, TableAccess::SelectForUpdate);
    }

    /// A column of a table is read.
    pub fn require_column_read(&mut self, bound: &BoundTable, column: usize, written: &str) {
        if let Some(definition) = granted_definition(bound) {
            let column = as_written(&definition.columns[column].name, written);
            self.require_column(definition, column, TableAccess::Select);
        }
    }

    /// A table's `*` is read.
    pub fn require_whole_read(&mut self, table: &BoundTable) {
        if let Some(definition) = granted_definition(table) {
            self.require_every_column(definition, TableAccess::Select);
        }
    }

    /// What a column that nobody found is told as: error 1143 to a user who may not read the whole first table, and
    /// so shall not learn its columns by asking for them.
    pub fn unknown_column_denial(&self, block: &Block, column: &str) -> Option<SqlError> {
        let definition = granted_definition(block.tables.first()?)?;
        let TableName { schema, table } = definition.name.clone();
        if self.current().reads_whole(&schema, &table) {
            return None;
        }
        let (access, extent) = (TableAccess::Select, Extent::Columns(vec![column.to_owned()]));
        self.current().check(&PrivilegeRequest { schema, table, access, extent }).err()
    }
}

/// The name by which an error calls a column: the statement's, where it is the column's own in other letters of ASCII.
pub(super) fn as_written<'n>(own: &'n str, written: &'n str) -> &'n str {
    if own == written || own.eq_ignore_ascii_case(written) { written } else { own }
}
