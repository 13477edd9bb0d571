//! CHECK constraints in ALTER TABLE: those that go, those that columns take along or are held by, those that come. Neighbour: `check`.

use super::alter::Draft;
use super::check::{DeclaredCheck, add_checks, greatest_number, of_column, of_elements};
use super::computed_column::check_held_columns;
use super::limits;
use super::stored_expression::columns_of;
use crate::definer::Definer;
use dictionary::{CheckDefinition, IndexKind, TableDefinition, TableName, same_name};
use engine::Dictionary;
use errors::{SqlResult, sql_error};
use parser::ast::AlterAction;

/// Adds the CHECK constraints that an ALTER TABLE declares to a definition that has its new columns. Errors: 1049, 1050,
/// 3818, 3822, 3959 and those of [`add_checks`].
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
    check_counted(&draft.definition)?;
    check_names(definer, draft)
}

/// Error 3818 for a constraint that stays and names a column that counts from now on: its values come behind the constraints.
fn check_counted(definition: &TableDefinition) -> SqlResult<()> {
    let Some(counter) = definition.auto_increment_column() else { return Ok(()) };
    let names_it = |check: &&CheckDefinition| columns_of(&check.text, definition).contains(&counter);
    match definition.checks.iter().find(names_it) {
        Some(check) => Err(sql_error!(ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN, check.name)),
        None => Ok(()),
    }
}

/// Whether the names will be free under the new name of the table, before anything is changed: the engine asks again when it has its turn.
/// Errors: 1049, 1050, 1059, 3822.
fn check_names(definer: &Definer<'_>, draft: &Draft) -> SqlResult<()> {
    let dictionary = definer.instance.engine().dictionary();
    if draft.old.id.is_temporary() {
        return check_place_of_temporary(definer, draft.rename.as_ref());
    }
    let Some(to) = &draft.rename else { return check_names_of(dictionary, &draft.old, &draft.definition) };
    if dictionary.schema(&to.schema).is_none() {
        return Err(sql_error!(ER_BAD_DB_ERROR, to.schema));
    }
    if dictionary.has_table(&to.schema, &to.table) {
        return Err(sql_error!(ER_TABLE_EXISTS_ERROR, to.table));
    }
    check_names_of(dictionary, &draft.old, &draft.definition.renamed(to.clone()))
}

/// Whether a temporary table may get a name: its constraints have none that others would know. Errors: 1049, 1050.
fn check_place_of_temporary(definer: &Definer<'_>, to: Option<&TableName>) -> SqlResult<()> {
    match to {
        Some(to) if definer.instance.engine().dictionary().schema(&to.schema).is_none() => {
            Err(sql_error!(ER_BAD_DB_ERROR, to.schema))
        }
        Some(to) if definer.is_temporary(to) => Err(sql_error!(ER_TABLE_EXISTS_ERROR, to.table)),
        _ => Ok(()),
    }
}

/// Errors 1059 and 3822 for names of CHECK constraints that a table cannot have.
pub(super) fn check_names_of(
    dictionary: &Dictionary,
    old: &TableDefinition,
    new: &TableDefinition,
) -> SqlResult<()> {
    for check in &new.checks {
        if check.name.chars().count() > limits::NAME_CHARACTERS_MAX {
            return Err(sql_error!(ER_TOO_LONG_IDENT, check.name));
        }
    }
    if new.checks.is_empty() {
        return Ok(());
    }
    let others = dictionary.constraints(&new.name.schema, &[old.id]);
    let is_taken = |name: &String| others.iter().any(|names| names.checks.contains(name));
    match new.checks.iter().find(|check| is_taken(&check.folded_name())) {
        Some(check) => Err(sql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, check.name)),
        None => Ok(()),
    }
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
        // One that the statement has dropped already may be dropped again.
        match self.definition.check_position(name) {
            Some(at) => drop(self.definition.checks.remove(at)),
            None if self.old.check_position(name).is_some() => {}
            None => return Err(sql_error!(ER_CHECK_CONSTRAINT_NOT_FOUND, name)),
        }
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

    /// DROP CONSTRAINT: a CHECK constraint, a foreign key or a unique key. Errors: 3939, 3940.
    pub(super) fn drop_constraint(&mut self, name: &str) -> SqlResult<()> {
        let check = self.definition.check_position(name);
        let is_key = self
            .old
            .indexes
            .iter()
            .any(|index| index.kind != IndexKind::Plain && same_name(&index.name, name));
        let foreign = self.definition.foreign_key_position(name);
        match (check, foreign, is_key) {
            (Some(at), None, false) => {
                self.definition.checks.remove(at);
                Ok(())
            }
            (None, Some(_), false) => self.drop_foreign_key(name),
            (None, None, true) => self.drop_index(name),
            (None, None, false) => Err(sql_error!(ER_CONSTRAINT_NOT_FOUND, name)),
            _ => Err(sql_error!(ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME, name, "DROP")),
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

/// Columns of the old definition that the new one does not have under their names.
fn changed_columns(
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
) -> Vec<ChangedColumn> {
    let place = |column: usize| sources.iter().position(|source| *source == Some(column));
    let changed = old.columns.iter().enumerate().filter_map(|(column, before)| match place(column) {
        None => Some(ChangedColumn { column, is_gone: true }),
        Some(now) => {
            let is_renamed = !same_name(&new.columns[now].name, &before.name);
            is_renamed.then_some(ChangedColumn { column, is_gone: false })
        }
    });
    changed.collect()
}
