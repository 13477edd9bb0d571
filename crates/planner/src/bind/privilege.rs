//! What binding asks of the user's grants: each table and column at the place where the statement uses it, so that the
//! first mistake or missing privilege in MySQL's order is the one that the client sees. The requests stay with the plan
//! and are checked again at each execution. Tables were asked for before (`access.rs`).

use super::Binder;
use super::column::find_column;
use dictionary::{TableDefinition, TableName};
use errors::{SqlError, SqlResult};
use optimizer::{Block, BoundTable, Source};
use parser::ast;
use plan::{Extent, PrivilegeCheck, PrivilegeRequest, TableAccess};

/// The definition of the table behind it, if it is one that privileges are granted on.
fn granted_definition(table: &BoundTable) -> Option<&TableDefinition> {
    match &table.source {
        Source::Base(table) => Some(table.definition()),
        Source::Virtual(definition) => Some(definition),
        Source::Derived(..) | Source::Recursion(_) => None,
    }
}

impl Binder<'_> {
    fn ask(&mut self, request: PrivilegeRequest) {
        if self.trusted || self.privileges.contains(&request) {
            return;
        }
        if self.denied.is_none() {
            self.denied = self.input.privileges.check(&request).err();
        }
        self.privileges.push(request);
    }

    /// The statement uses a table, whatever it does with its columns.
    pub fn require_table(&mut self, name: &TableName, access: TableAccess) {
        let extent = Extent::Table;
        self.ask(PrivilegeRequest { schema: name.schema.clone(), table: name.table.clone(), access, extent });
    }

    /// The statement uses a column.
    pub fn require_column(&mut self, name: &TableName, column: &str, access: TableAccess) {
        if !self.trusted {
            ask_for_column(
                &mut self.privileges,
                &mut self.denied,
                self.input.privileges,
                name,
                column,
                access,
            );
        }
    }

    /// An INSERT or REPLACE as a whole.
    pub fn require_insert(&mut self, insert: &ast::Insert, definition: &TableDefinition) {
        let access = match (insert.replace, insert.on_duplicate.is_empty()) {
            (true, _) => TableAccess::Replace,
            (false, false) => TableAccess::InsertOrUpdate,
            (false, true) => TableAccess::Insert,
        };
        self.require_table(&definition.name, access);
    }

    /// The tables of an UPDATE: with several, which of them are changed is known when columns are.
    pub fn require_update(&mut self, several: bool) {
        let access = if several { TableAccess::UpdateOrSelect } else { TableAccess::Update };
        self.require_each(access);
    }

    /// The columns that an UPDATE changes; unknown ones are found later. Error 1052.
    pub fn require_updated(&mut self, assignments: &[ast::Assignment]) -> SqlResult<()> {
        for assignment in assignments {
            if let Some((table, column)) = find_column(self.block(), &assignment.column)?
                && let Some(definition) = granted_definition(&self.block().tables[table])
            {
                let name = definition.name.clone();
                let column = as_written(&definition.columns[column].name, &assignment.column.column);
                let column = column.to_owned();
                self.require_column(&name, &column, TableAccess::Update);
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
                self.require_column(
                    &definition.name,
                    as_written(&definition.columns[at].name, written),
                    access,
                );
            }
        }
    }

    /// The statement uses all columns of a table without naming them.
    pub fn require_every_column(&mut self, definition: &TableDefinition, access: TableAccess) {
        let shown = definition.columns.iter().filter(|column| !column.invisible);
        let extent = Extent::EveryColumn(shown.map(|column| column.name.clone()).collect());
        let TableName { schema, table } = definition.name.clone();
        self.ask(PrivilegeRequest { schema, table, access, extent });
    }

    /// The tables of the current block are read.
    pub fn require_read(&mut self) {
        self.require_each(TableAccess::Select);
    }

    fn require_each(&mut self, access: TableAccess) {
        let names: Vec<TableName> = self
            .block()
            .tables
            .iter()
            .filter_map(|table| granted_definition(table))
            .map(|definition| definition.name.clone())
            .collect();
        names.iter().for_each(|name| self.require_table(name, access));
    }

    /// Those tables of the current block are read FOR UPDATE.
    pub fn require_locking(&mut self, chosen: impl Fn(&BoundTable) -> bool) {
        let tables = self.block().tables.iter().filter(|table| chosen(table));
        let names: Vec<TableName> = tables
            .filter_map(|table| granted_definition(table))
            .map(|definition| definition.name.clone())
            .collect();
        names.iter().for_each(|name| self.require_table(name, TableAccess::SelectForUpdate));
    }

    /// A column of a table of the block at that level is read.
    pub fn require_column_read(&mut self, level: usize, table: usize, column: usize, written: &str) {
        let bound = &self.blocks[level].tables[table];
        if let Some(definition) = granted_definition(bound).filter(|_| !self.trusted) {
            let (name, column) = (&definition.name, as_written(&definition.columns[column].name, written));
            let (privileges, denied) = (&mut self.privileges, &mut self.denied);
            ask_for_column(privileges, denied, self.input.privileges, name, column, TableAccess::Select);
        }
    }

    /// A table's `*` is read.
    pub fn require_whole_read(&mut self, table: usize) {
        if let Some(definition) = granted_definition(&self.block().tables[table]).cloned() {
            self.require_every_column(&definition, TableAccess::Select);
        }
    }

    /// What a column that nobody found is told as: error 1143 to a user who may not read the whole first table, and
    /// so shall not learn its columns by asking for them.
    pub fn unknown_column_denial(&self, block: &Block, column: &str) -> Option<SqlError> {
        let definition = granted_definition(block.tables.first()?)?;
        let TableName { schema, table } = definition.name.clone();
        if self.input.privileges.reads_whole(&schema, &table) {
            return None;
        }
        let (access, extent) = (TableAccess::Select, Extent::Columns(vec![column.to_owned()]));
        self.input.privileges.check(&PrivilegeRequest { schema, table, access, extent }).err()
    }
}

/// Asks for a column that was not asked for before. One request for all columns of a table makes executions cheap.
fn ask_for_column(
    asked: &mut Vec<PrivilegeRequest>,
    denied: &mut Option<SqlError>,
    privileges: &dyn PrivilegeCheck,
    name: &TableName,
    column: &str,
    access: TableAccess,
) {
    let known = asked.iter_mut().find_map(|known| match &mut known.extent {
        Extent::Columns(columns)
            if known.access == access && known.schema == name.schema && known.table == name.table =>
        {
            Some(columns)
        }
        _ => None,
    });
    if known.as_ref().is_some_and(|columns| columns.iter().any(|known| known.eq_ignore_ascii_case(column))) {
        return;
    }
    let request = PrivilegeRequest {
        schema: name.schema.clone(),
        table: name.table.clone(),
        access,
        extent: Extent::Columns(vec![column.to_owned()]),
    };
    if denied.is_none() {
        *denied = privileges.check(&request).err();
    }
    match known {
        Some(columns) => columns.push(column.to_owned()),
        None => asked.push(request),
    }
}

/// The name by which an error calls a column: the statement's, where it is the column's own in other letters of ASCII.
pub(super) fn as_written<'n>(own: &'n str, written: &'n str) -> &'n str {
    if own.eq_ignore_ascii_case(written) { written } else { own }
}
