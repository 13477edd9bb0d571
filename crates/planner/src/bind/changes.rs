//! What a statement changes, as far as its queries must know. Main type: [`Changes`].

use dictionary::TableName;
use engine::Table;
use errors::{SqlError, sql_error};
use optimizer::BoundTable;
use stdx::ids::TableId;

/// The tables whose rows a statement changes, and how strictly.
#[derive(Default)]
pub(crate) struct Changes {
    /// Tables that the statement changes: its subqueries may not read them.
    pub tables: Vec<ChangedTable>,
    /// Base tables that subqueries in ON read: they are bound before it is known what the statement changes.
    pub read_before: Vec<TableId>,
    /// For INSERT .. SELECT .. ON DUPLICATE KEY UPDATE.
    pub source: SelectSource,
    /// The error of a statement that reads a table in a subquery whose rows it changes. It comes after all others that
    /// binding finds.
    pub conflict: Option<SqlError>,
    /// The word of the statement.
    pub command: &'static str,
    /// Whether warnings of strict mode end the statement.
    pub escalates: bool,
    /// Whether values go into columns.
    pub stores: bool,
}

/// A table that the statement changes.
pub(crate) struct ChangedTable {
    pub id: TableId,
    /// The name by which the statement changes it.
    pub name: String,
    /// The only name under which subqueries may not read it: INSERT evaluates them before it stores the row. None: under no name.
    pub only_as: Option<String>,
    /// The view through which it changes it.
    pub view: Option<TableName>,
}

/// What ON DUPLICATE KEY UPDATE sees of the SELECT whose rows are inserted.
#[derive(Default)]
pub(crate) struct SelectSource {
    /// Whether the SELECT that is bound next at the top is one.
    pub wanted: bool,
    /// Its tables, and the columns that unqualified names find, once it is bound. Nothing if it groups.
    pub tables: Vec<BoundTable>,
    pub visible: Vec<(usize, usize)>,
    /// Columns of its tables that it hands on behind its result columns.
    pub handed_on: Vec<(usize, usize)>,
}

impl Changes {
    /// From here on no subquery may read that table.
    pub fn add(&mut self, table: ChangedTable) {
        if self.read_before.contains(&table.id) {
            self.refuse(&table.name);
        }
        self.tables.push(table);
    }

    /// Error 1443 at the end of binding: a view, called so, reads what the statement changes, or is what it changes.
    pub fn refuse_view(&mut self, view: &str, name: &str) {
        let command = self.command;
        self.conflict.get_or_insert_with(|| sql_error!(ER_VIEW_PREVENT_UPDATE, view, command, name));
    }

    /// A subquery reads these tables by a view, called `alias`.
    pub fn read_by_view(&mut self, view: &TableName, alias: &str, tables: &[TableId]) {
        let changed = self.tables.iter().find(|changed| tables.contains(&changed.id));
        match changed.map(|changed| (changed.name.clone(), changed.view.as_ref() == Some(view))) {
            Some((name, true)) => self.refuse(&name),
            Some((name, false)) => self.refuse_view(alias, &name),
            None => self.read_before.extend_from_slice(tables),
        }
    }

    /// Error 1093 at the end of binding.
    pub fn refuse(&mut self, name: &str) {
        self.conflict.get_or_insert(sql_error!(ER_UPDATE_TABLE_USED, name));
    }
}

impl ChangedTable {
    /// The target of INSERT under its own name. `own_name`: that of the table, within the view if it is one.
    pub fn by_insert(table: &Table, name: &str, own_name: &str, view: Option<TableName>) -> ChangedTable {
        ChangedTable { id: table.id(), name: name.to_owned(), only_as: Some(own_name.to_owned()), view }
    }
}
