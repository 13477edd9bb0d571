//! What names of a query mean while it is printed: tables of FROM with their columns, names of the select list. Main type: [`Scope`].

use super::QueryStyle;
use crate::ast::*;

/// A table of FROM.
pub(super) struct ScopeTable {
    /// The schema, of a table or view that has no other name in the query.
    pub schema: Option<Name>,
    /// What columns are qualified with.
    pub name: Name,
    /// The schema by which the query may call it.
    pub own_schema: Option<Name>,
    /// Its columns, if they are known.
    pub columns: Vec<Name>,
    /// Those of them that `*` means.
    pub shown: Vec<bool>,
}

/// Which clause is printed: names are looked up in different places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    /// All others.
    Plain,
    GroupBy,
    Having,
    OrderBy,
}

/// A query block.
pub(super) struct Scope {
    pub tables: Vec<ScopeTable>,
    /// What `*` and names without table mean: (table, column).
    pub visible: Vec<(usize, usize)>,
    pub clause: Clause,
    /// The named windows that something is computed over.
    pub used_windows: Vec<Name>,
    /// How often a column of its tables was named.
    pub reads: usize,
    /// Names of the select list, and whether the query has given them.
    pub items: Vec<(Name, bool)>,
}

impl Scope {
    pub fn new() -> Scope {
        Scope {
            tables: Vec::new(),
            visible: Vec::new(),
            clause: Clause::Plain,
            reads: 0,
            used_windows: Vec::new(),
            items: Vec::new(),
        }
    }

    pub fn column_name(&self, (table, column): (usize, usize)) -> &str {
        &self.tables[table].columns[column]
    }

    /// The table that a reference names.
    pub fn table_of(&self, reference: &ColumnReference) -> Option<usize> {
        let wanted = reference.table.as_deref()?;
        self.tables.iter().position(|table| {
            table.name == wanted && (reference.schema.is_none() || reference.schema == table.own_schema)
        })
    }

    /// The table that has a column of that name.
    pub fn table_with(&self, column: &str) -> Option<(usize, usize)> {
        let is_it = |place: &&(usize, usize)| self.column_name(**place).eq_ignore_ascii_case(column);
        if let Some(place) = self.visible.iter().find(is_it) {
            return Some(*place);
        }
        // Invisible columns are found by name.
        self.tables.iter().enumerate().find_map(|(number, table)| {
            let at = table.columns.iter().position(|name| name.eq_ignore_ascii_case(column))?;
            Some((number, at))
        })
    }

    /// The item of the select list that is called so, and whether the query gave it the name.
    pub fn item(&self, name: &str) -> Option<(usize, bool)> {
        let at = self.items.iter().position(|(item, _)| item.eq_ignore_ascii_case(name))?;
        Some((at, self.items[at].1))
    }
}

/// A common table in scope.
pub(super) struct ScopeCommonTable {
    pub name: Name,
    pub columns: Vec<Name>,
}

/// What the printer of a query knows beside the expression printer.
pub(super) struct QueryState<'a> {
    pub style: &'a QueryStyle<'a>,
    pub scopes: Vec<Scope>,
    pub common_tables: Vec<ScopeCommonTable>,
    /// Names of the columns of the query that was printed last.
    pub names: Vec<Name>,
    /// How deep in subqueries of expressions: they need no names of columns.
    pub in_expression: bool,
    /// The outermost select list is being named as a view's is.
    pub names_columns: bool,
}
