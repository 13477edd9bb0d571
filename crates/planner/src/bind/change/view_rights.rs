//! What a statement that changes rows of a view takes of what is under it, asked of those whose rights count there. Main type: [`Level`].

use super::view::Changed;
use crate::bind::Binder;
use crate::bind::privilege::{Privileges, ViewDefiner};
use dictionary::{TableDefinition, TableName};
use plan::{Extent, TableAccess, ViewPrivileges, error_of_view};

/// A view that reads a table or another view.
pub(super) struct Level {
    /// What is under it, with the names that it has there. Columns of the table come first, in their order.
    pub below: TableDefinition,
    /// Whose rights count there; None: of who runs the statement.
    pub definer: Option<ViewDefiner>,
    /// The columns of what is under it that each column of the view reads.
    pub reads: Vec<Vec<usize>>,
    /// Those that its condition reads.
    pub filter: Vec<usize>,
}

/// Columns of a view, and what is done to them.
pub(super) struct Taken {
    /// Positions.
    pub columns: Vec<usize>,
    /// What is done.
    pub access: TableAccess,
}

impl Level {
    /// Asks with the rights that count here; what is missing is told of the view that the statement names.
    pub fn ask(&self, binder: &mut Binder<'_>, view: &TableName, ask: impl FnOnce(&mut Privileges<'_>)) {
        let privileges = &mut binder.privileges;
        let denied_before = privileges.denied.is_some();
        let outside = std::mem::replace(&mut privileges.definer, self.definer.clone());
        let requests = std::mem::take(&mut privileges.requests);
        ask(privileges);
        let requests = std::mem::replace(&mut privileges.requests, requests);
        privileges.definer = outside;
        let definer = self.definer.as_ref().map(|one| (one.user.clone(), one.host.clone()));
        privileges.views.push(ViewPrivileges { view: view.clone(), definer, requests });
        if !denied_before {
            let denied = privileges.denied.take();
            privileges.denied = denied.map(|error| error_of_view(error, view));
        }
    }

    /// The columns of what is under it by which it comes to those.
    fn under(&self, columns: &[usize]) -> Vec<usize> {
        let mut under: Vec<usize> =
            columns.iter().filter_map(|column| self.reads.get(*column)).flatten().copied().collect();
        under.sort_unstable();
        under.dedup();
        under
    }
}

impl Changed {
    /// Asks what each view takes of what is under it: the whole, and columns of the view that the statement names.
    pub fn require_below(
        &self,
        binder: &mut Binder<'_>,
        view: &TableName,
        whole: impl Fn(&mut Privileges<'_>, &TableDefinition),
        taken: &[Taken],
    ) {
        let mut columns: Vec<Vec<usize>> = taken.iter().map(|taken| taken.columns.clone()).collect();
        for level in &self.levels {
            columns.iter_mut().for_each(|columns| *columns = level.under(columns));
            level.ask(binder, view, |privileges| {
                let below = &level.below;
                whole(privileges, below);
                for (columns, taken) in columns.iter().zip(taken) {
                    for column in columns {
                        privileges.require_column(below, &below.columns[*column].name, taken.access);
                    }
                }
            });
            // Its condition reads columns of the views under it.
            for (columns, taken) in columns.iter_mut().zip(taken) {
                if taken.access == TableAccess::Select {
                    columns.extend_from_slice(&level.filter);
                }
            }
        }
    }
}

/// The columns of a view that the statement has asked to read.
pub(super) fn read_columns(binder: &Binder<'_>, view: &TableDefinition) -> Taken {
    let mut columns = Vec::new();
    for request in &binder.privileges.requests {
        let is_read = request.access == TableAccess::Select
            && request.schema == view.name.schema
            && request.table == view.name.table;
        if let (true, Extent::Columns(names)) = (is_read, &request.extent) {
            columns.extend(names.iter().filter_map(|name| view.column_position(name)));
        }
    }
    Taken { columns, access: TableAccess::Select }
}
