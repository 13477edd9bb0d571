//! CHECK constraints in ALTER TABLE: those that go, those that columns take along or are held by, those that come. Neighbour: `check`.

use super::alter::Draft;
use super::check::{DeclaredCheck, add_checks, greatest_number, of_column, of_elements};
use super::computed_column::check_held_columns;
use super::stored_expression::columns_of;
use crate::definer::Definer;
use dictionary::{IndexKind, TableDefinition};
use errors::{SqlResult, sql_error};
use parser::ast::AlterAction;

/// Adds the CHECK constraints that an ALTER TABLE declares to a definition that has its new columns. Errors: 3959 and those of
/// [`add_checks`].
pub(super) fn settle_checks(
    definer: &mut Definer<'_>,
    draft: &mut Draft,
    actions: &[AlterAction],
) -> SqlResult<()> {
    draft.follow_columns()?;
    let declared: Vec<DeclaredCheck<'_>> = actions.iter().flat_map(declared_by).collect();
    let number = greatest_number(&draft.old);
    add_checks(definer, &mut draft.definition, &declared, Some(number))?;
    draft.definition.sort_checks();
    Ok(())
}

fn declared_by(action: &AlterAction) -> Vec<DeclaredCheck<'_>> {
    match action {
        AlterAction::AddCheck(constraint) => vec![DeclaredCheck { constraint, column: None }],
        AlterAction::AddElements(elements) => of_elements(elements),
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
            of_column(column).collect()
        }
        _ => Vec::new(),
    }
}

impl Draft {
    /// Error 3821.
    pub(super) fn drop_check(&mut self, name: &str) -> SqlResult<()> {
        let at = self.check(name)?;
        self.definition.checks.remove(at);
        Ok(())
    }

    /// Error 3821.
    pub(super) fn enforce_check(&mut self, name: &str, enforced: bool) -> SqlResult<()> {
        let at = self.check(name)?;
        self.definition.checks[at].enforced = enforced;
        Ok(())
    }

    /// Error 3821.
    fn check(&self, name: &str) -> SqlResult<usize> {
        let found = self.definition.check_position(name);
        found.ok_or_else(|| sql_error!(ER_CHECK_CONSTRAINT_NOT_FOUND, name))
    }

    /// DROP CONSTRAINT: a CHECK constraint or a unique key. Errors: 3939, 3940.
    pub(super) fn drop_constraint(&mut self, name: &str) -> SqlResult<()> {
        let check = self.definition.check_position(name);
        let is_key = self
            .old
            .indexes
            .iter()
            .any(|index| index.kind != IndexKind::Plain && index.name.eq_ignore_ascii_case(name));
        match (check, is_key) {
            (Some(_), true) => Err(sql_error!(ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME, name)),
            (Some(at), false) => {
                self.definition.checks.remove(at);
                Ok(())
            }
            (None, true) => self.drop_index(name),
            (None, false) => Err(sql_error!(ER_CONSTRAINT_NOT_FOUND, name)),
        }
    }

    /// A column that goes takes the constraints along that name no other; others hold it, and none lets it have another name.
    /// Errors 3766, 3959.
    fn follow_columns(&mut self) -> SqlResult<()> {
        let changed = changed_columns(&self.old, &self.definition, &self.sources);
        if changed.is_empty() {
            return Ok(());
        }
        let old = &self.old;
        let mut refused = Ok(());
        self.definition.checks.retain(|check| {
            let columns = columns_of(&check.text, old);
            let Some(changed) = changed.iter().find(|one| columns.contains(&one.column)) else {
                return true;
            };
            if changed.is_gone && columns.len() == 1 {
                return false;
            }
            if refused.is_ok() {
                let column = &old.columns[changed.column].name;
                refused = Err(sql_error!(ER_DEPENDENT_BY_CHECK_CONSTRAINT, check.name, column));
            }
            true
        });
        refused?;
        check_held_columns(&self.old, &self.definition, &changed)
    }
}

/// A column of the old table that is gone or has another name.
#[derive(Clone, Copy)]
pub(super) struct ChangedColumn {
    pub column: usize,
    pub is_gone: bool,
}

fn changed_columns(
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
) -> Vec<ChangedColumn> {
    let place = |column: usize| sources.iter().position(|source| *source == Some(column));
    let changed = old.columns.iter().enumerate().filter_map(|(column, before)| match place(column) {
        None => Some(ChangedColumn { column, is_gone: true }),
        Some(now) => {
            let is_renamed = !new.columns[now].name.eq_ignore_ascii_case(&before.name);
            is_renamed.then_some(ChangedColumn { column, is_gone: false })
        }
    });
    changed.collect()
}
