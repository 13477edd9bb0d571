//! ALTER TABLE, CREATE INDEX and DROP INDEX: the actions applied to a copy of the definition.
//! What that does to the rows is decided by `alter_plan.rs` and done by `rebuild.rs`.

use super::algorithm::{Asked, Change, Means};
use super::alter_checks::settle_checks;
use super::alter_foreign_keys::{
    locks_on_relatives, new_parents, refuse_unlocked_parents, settle_foreign_keys,
};
use super::alter_plan::{AlterPlan, has_key};
use super::column::ColumnDraft;
use super::computed_column::{check_computed, check_status};
use super::converted::convert_column;
use super::functional_key::put_hidden_last;
use super::index::{
    check_converted_keys, check_index_name, check_index_names, check_key_bytes, sort_indexes,
};
use super::options::default_collation;
use super::rebuild::plan_of;
use super::referred_table::{judge_waiting, require_references};
use super::stored_expression::{Purpose, stored_text};
use super::table::{check_column_names, check_definition, check_table_name};
use crate::definer::Definer;
use accounts::Privileges;
use dictionary::{
    ColumnDefault, IndexKind, TableDefinition, TableName, index_of_key_column, key_column_name, same_name,
};
use engine::{KillFlag, Table};
use errors::{Diagnostics, SqlResult, sql_error};
use parser::ast::*;
use std::sync::Arc;
use values::TypeKind;
use values::store::StoreMode;

/// A change of a table that is decided and not yet carried out.
pub struct Alteration {
    pub(super) table: Arc<Table>,
    pub(super) old: TableDefinition,
    pub(super) draft: Draft,
    pub(super) plan: AlterPlan,
    /// How the session stores values.
    pub(super) mode: StoreMode,
    /// Whether it is told how many rows were copied.
    tells_rows: bool,
}

/// A definition while its actions are applied.
pub(super) struct Draft {
    /// What the table is: names of columns mean its columns, whatever other actions make of them.
    pub(super) old: TableDefinition,
    /// Columns of the old table that actions have named.
    named: Vec<usize>,
    pub definition: TableDefinition,
    /// For each column its place in the old table; None for a new one.
    pub sources: Vec<Option<usize>>,
    drafts: Vec<ColumnDraft>,
    /// Rows must be copied even if the definition allows less (FORCE, ENGINE=, ORDER BY).
    pub rebuild: bool,
    pub rename: Option<TableName>,
    /// MySQL copies the rows and says how many.
    pub copies: bool,
    /// New foreign keys ask for the parents of all rows.
    pub checks_parents: bool,
    /// Definitions of other tables that follow what their foreign keys refer to.
    pub followers: Vec<TableDefinition>,
}

impl Definer<'_> {
    /// The table that an ALTER TABLE names, and how it is to be changed. Errors: 1046, 1142, 1800, 1801.
    pub fn check_alter(&mut self, alter: &AlterTable) -> SqlResult<(TableName, Asked)> {
        let asked = Asked::new(alter.algorithm.as_deref(), alter.lock.as_deref())?
            .of_columns(alter.validation, &alter.actions)?;
        let name = self.table_name(&alter.name)?;
        self.require_alter(&name, &alter.actions)?;
        require_references(self, &new_parents(&name, &alter.actions))?;
        Ok((name, asked))
    }

    /// ALTER, and what a rename takes besides.
    fn require_alter(&mut self, name: &TableName, actions: &[AlterAction]) -> SqlResult<()> {
        let renamed = actions.iter().find_map(|action| match action {
            AlterAction::RenameTable(to) => Some(to),
            _ => None,
        });
        match renamed {
            // Of the new name as much as of a base table's.
            Some(to) if self.is_temporary(name) => {
                let to = self.table_name(to)?;
                self.user.require_table(self.instance, Privileges::INSERT.with(Privileges::CREATE), &to)
            }
            None if self.is_temporary(name) => Ok(()),
            Some(to) => {
                let to = self.table_name(to)?;
                self.user.require_rename(self.instance, name, &to)
            }
            None => self.user.require_table(self.instance, Privileges::ALTER, name),
        }
    }

    /// The table of a CREATE INDEX, and what it does to it.
    pub fn check_create_index(&mut self, create: &CreateIndex) -> SqlResult<(TableName, AlterAction, Asked)> {
        let asked = Asked::new(create.algorithm.as_deref(), create.lock.as_deref())?;
        let name = self.table_name(&create.table)?;
        if !self.is_temporary(&name) {
            self.user.require_table(self.instance, Privileges::INDEX, &name)?;
        }
        Ok((name, AlterAction::AddIndex(create.index.clone()), asked))
    }

    /// The table of a DROP INDEX, and what it does to it.
    pub fn check_drop_index(&mut self, drop: &DropIndex) -> SqlResult<(TableName, AlterAction, Asked)> {
        let asked = Asked::new(drop.algorithm.as_deref(), drop.lock.as_deref())?;
        let name = self.table_name(&drop.table)?;
        if !self.is_temporary(&name) {
            self.user.require_table(self.instance, Privileges::INDEX, &name)?;
        }
        let action = match drop.index.eq_ignore_ascii_case("PRIMARY") {
            true => AlterAction::DropPrimaryKey,
            false => AlterAction::DropIndex(drop.index.clone()),
        };
        Ok((name, action, asked))
    }

    /// The names that the change locks.
    pub fn names_to_alter(&self, name: &TableName, actions: &[AlterAction]) -> SqlResult<Vec<TableName>> {
        let mut names = vec![name.clone()];
        for action in actions {
            if let AlterAction::RenameTable(to) = action {
                names.push(self.table_name(to)?);
            }
        }
        Ok(names)
    }

    /// Decides how a table is changed whose names are locked.
    pub fn alter_locked(
        &mut self,
        name: &TableName,
        actions: &[AlterAction],
        asked: Asked,
    ) -> SqlResult<Alteration> {
        let copies = asked.copies();
        if !self.is_temporary(name) {
            refuse_unlocked_parents(self, name, actions)?;
            self.lock_more_for_statement(locks_on_relatives(self, name, actions))?;
        }
        let engine = self.instance.engine().clone();
        let table = self.table(name).ok_or_else(|| crate::no_base_table(self.instance, name))?;
        let old = table.definition().clone();
        let mut draft = Draft {
            old: old.clone(),
            named: Vec::new(),
            sources: (0..old.columns.len()).map(Some).collect(),
            definition: old.clone(),
            drafts: Vec::new(),
            rebuild: copies,
            rename: None,
            copies,
            checks_parents: false,
            followers: Vec::new(),
        };
        draft.definition.options.auto_increment = None;
        // Columns that say nothing of their collation have the table's new one, wherever it stands among the actions.
        for action in actions {
            if let AlterAction::Options(options) = action
                && let Some(collation) = default_collation(options, &mut Diagnostics::new(0))?
            {
                draft.definition.collation = collation;
            }
        }
        // Indexes and CHECK constraints go first: their names and columns are free for the other actions.
        for action in actions.iter().filter(|action| frees_names(action)) {
            self.apply_action(&mut draft, action)?;
        }
        for action in actions.iter().filter(|action| !frees_names(action)) {
            self.apply_action(&mut draft, action)?;
        }
        draft.settle_columns()?;
        check_column_names(&draft.definition.columns)?;
        settle_checks(self, &mut draft, actions)?;
        settle_foreign_keys(self, &mut draft, actions)?;
        check_computed(&draft.definition)?;
        // Also of indexes that stay: their columns may have become longer.
        let columns = &draft.definition.columns;
        draft.definition.indexes.iter().try_for_each(|index| check_key_bytes(index, columns))?;
        sort_indexes(&mut draft.definition);
        check_definition(&draft.definition)?;
        let means = self.look_at(&mut draft, &old, actions, asked)?;
        if table.is_temporary() {
            // All at once: nobody sees a state between.
            if let Some(to) = draft.rename.take() {
                draft.definition = draft.definition.renamed(to);
            }
        }
        if let Some(to) = &draft.rename {
            judge_waiting(self, &TableDefinition { name: to.clone(), ..draft.definition.clone() })?;
        }
        let numbered = engine.number_foreign_keys(&mut draft.definition, &self.shared.kill);
        numbered.map_err(|error| error.into_sql(""))?;
        let plan = plan_of(&table, &old, &draft);
        let tells_rows = means != Means::Nothing || copies;
        Ok(Alteration { table, old, draft, plan, mode: self.store_mode(), tells_rows })
    }

    /// Ends a change that is carried out: the table gets its new name. Returns the number of rows that it reports as copied; None where
    /// nothing but the name may have changed.
    pub fn finish_alteration(&mut self, alteration: Alteration, copied: u64) -> SqlResult<Option<u64>> {
        let Alteration { old, draft, tells_rows, .. } = alteration;
        if let Some(to) = draft.rename {
            // The rest is done already.
            self.rename_locked(&[(old.name, to)], &KillFlag::default())?;
        }
        Ok(tells_rows.then_some(if draft.copies { copied } else { 0 }))
    }

    /// What the change takes; errors 1845 and 1846 where that is more than was asked for.
    fn look_at(
        &mut self,
        draft: &mut Draft,
        old: &TableDefinition,
        actions: &[AlterAction],
        asked: Asked,
    ) -> SqlResult<Means> {
        // Rows whose NULLs turn to zeros are always copied.
        let gives_up_null = |(column, source): (&dictionary::ColumnDefinition, &Option<usize>)| {
            source.is_some_and(|source| old.columns[source].nullable && !column.nullable)
        };
        let turns_null = !self.sql_mode().is_strict()
            && draft.definition.columns.iter().zip(&draft.sources).any(gives_up_null);
        let (new, sources) = (&draft.definition, &draft.sources);
        let checks_parents = draft.checks_parents;
        let means = match old.id.is_temporary() {
            true => Means::OfTemporary,
            false => {
                let validates = asked.validates;
                Change { actions, old, new, sources, turns_null, checks_parents, validates }.means()
            }
        };
        asked.check(means)?;
        if actions.iter().any(|action| matches!(action, AlterAction::OrderBy(_))) && has_key(new) {
            let text = "ORDER BY ignored as there is a user-defined clustered index in the table";
            let warning = errors::code::ER_UNKNOWN_ERROR.message(format!("{text} '{}'", old.name.table));
            self.diagnostics.warning(warning);
        }
        // What is a change of the dictionary for others is a copy of a temporary table, as in MySQL.
        draft.copies |= means.copies();
        draft.rebuild |= draft.copies;
        Ok(means)
    }

    fn apply_action(&mut self, draft: &mut Draft, action: &AlterAction) -> SqlResult<()> {
        use AlterAction as A;
        self.check_killed()?;
        match action {
            A::AddColumn { column, position } => self.add_column(draft, column, position.as_ref()),
            A::AddElements(elements) => elements.iter().try_for_each(|element| match element {
                TableElement::Column(column) => self.add_column(draft, column, None),
                TableElement::Index(index) => self.add_key(draft, index),
                // Behind all columns: `settle_checks`, `settle_foreign_keys`.
                TableElement::Check(_) | TableElement::ForeignKey(_) => Ok(()),
            }),
            A::AddIndex(index) => self.add_key(draft, index),
            A::DropColumn(name) => draft.drop_column(name),
            A::ChangeColumn { old_name, column, position } => {
                self.change_column(draft, old_name, column, position.as_ref())
            }
            A::RenameColumn { old_name, new_name } => {
                let at = draft.take_column(old_name)?;
                draft.definition.columns[at].name.clone_from(new_name);
                Ok(())
            }
            A::SetDefault { column, default } => self.set_default(draft, column, default),
            A::DropDefault(name) => {
                let at = draft.take_column(name)?;
                draft.definition.columns[at].default = ColumnDefault::Dropped;
                Ok(())
            }
            A::SetColumnVisible { column, visible } => {
                let at = draft.take_column(column)?;
                draft.definition.columns[at].invisible = !visible;
                Ok(())
            }
            _ => self.apply_index_or_option(draft, action),
        }
    }

    fn apply_index_or_option(&mut self, draft: &mut Draft, action: &AlterAction) -> SqlResult<()> {
        use AlterAction as A;
        match action {
            A::DropIndex(name) => draft.drop_index(name),
            A::DropConstraint(name) => draft.drop_constraint(name),
            A::DropPrimaryKey => draft.drop_index("PRIMARY"),
            A::RenameIndex { old_name, new_name } => draft.rename_index(old_name, new_name),
            A::AlterIndexVisible { index, visible } => {
                let at = draft.index(index)?;
                if draft.definition.indexes[at].kind == IndexKind::Primary && !visible {
                    return Err(sql_error!(ER_PK_INDEX_CANT_BE_INVISIBLE));
                }
                draft.definition.indexes[at].invisible = !visible;
                Ok(())
            }
            A::RenameTable(to) => {
                let to = self.table_name(to)?;
                check_table_name(&to.table)?;
                draft.rename = (to != draft.definition.name).then_some(to);
                Ok(())
            }
            A::Options(options) => {
                draft.rebuild |= self.apply_table_options(&mut draft.definition, options)?;
                let engine = draft.definition.options.engine;
                if engine != draft.old.options.engine && takes_part_in_keys(self, &draft.old) {
                    return Err(sql_error!(ER_FK_CANNOT_CHANGE_ENGINE));
                }
                Ok(())
            }
            A::ConvertCharset { charset, collation } => {
                self.convert_charset(draft, charset.as_deref(), collation.as_deref())
            }
            A::OrderBy(_) | A::Force => {
                draft.rebuild = true;
                Ok(())
            }
            A::EnableKeys | A::DisableKeys => {
                self.diagnostics.note(sql_error!(ER_ILLEGAL_HA, draft.definition.name.table));
                Ok(())
            }
            // Behind all columns: `settle_checks`, `settle_foreign_keys`.
            A::AddCheck(_) | A::AddForeignKey(_) => Ok(()),
            A::DropCheck(name) => draft.drop_check(name),
            A::AlterCheckEnforced { name, enforced } => draft.enforce_check(name, *enforced),
            A::DropForeignKey(name) => draft.drop_foreign_key(name),
            A::DiscardTablespace | A::ImportTablespace => {
                Err(sql_error!(ER_NOT_SUPPORTED_YET, "tablespace transport"))
            }
            _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "partitioning")),
        }
    }

    fn add_key(&mut self, draft: &mut Draft, index: &IndexSpecification) -> SqlResult<()> {
        let drafts = std::mem::take(&mut draft.drafts);
        let outcome = self.add_index(&mut draft.definition, index, &drafts);
        draft.drafts = drafts;
        // Those of functional parts.
        draft.sources.resize(draft.definition.columns.len(), None);
        outcome
    }

    /// A key that a column's attributes ask for.
    fn add_column_keys(&mut self, draft: &mut Draft, column: &ColumnDraft) -> SqlResult<()> {
        for (wanted, kind) in [(column.primary, IndexType::Primary), (column.unique, IndexType::Unique)] {
            if wanted {
                let target =
                    KeyPartTarget::Column { name: column.definition.name.clone(), prefix_length: None };
                let parts = vec![KeyPart { target, descending: None }];
                let key =
                    IndexSpecification { kind, name: None, constraint: None, parts, options: Vec::new() };
                self.add_key(draft, &key)?;
            }
        }
        Ok(())
    }

    fn add_column(
        &mut self,
        draft: &mut Draft,
        column: &ColumnSpecification,
        position: Option<&ColumnPosition>,
    ) -> SqlResult<()> {
        let made = self.column_draft(column, draft.definition.collation)?;
        if draft.definition.column_position(&column.name).is_some() {
            return Err(sql_error!(ER_DUP_FIELDNAME, column.name));
        }
        let at = draft.place(position, draft.definition.columns.len())?;
        draft.insert_column(at, made.definition.clone(), None);
        draft.drafts.push(made.clone());
        self.add_column_keys(draft, &made)
    }

    fn change_column(
        &mut self,
        draft: &mut Draft,
        old_name: &str,
        column: &ColumnSpecification,
        position: Option<&ColumnPosition>,
    ) -> SqlResult<()> {
        let at = draft.take_column(old_name)?;
        let mut made = self.column_draft(column, draft.definition.collation)?;
        let in_primary = draft
            .definition
            .primary_key()
            .is_some_and(|primary| primary.parts.iter().any(|part| part.column == at));
        if in_primary {
            if made.explicit_null {
                return Err(sql_error!(ER_PRIMARY_CANT_HAVE_NULL));
            }
            made.definition.nullable = false;
        }
        check_status(&draft.definition.columns[at], &made.definition)?;
        draft.check_parts(at, &made.definition)?;
        draft.definition.columns[at] = made.definition.clone();
        if position.is_some() {
            let to = draft.place(position, at)?;
            draft.move_column(at, to);
        }
        draft.drafts.push(made.clone());
        self.add_column_keys(draft, &made)
    }

    fn set_default(&mut self, draft: &mut Draft, name: &str, default: &ColumnAttribute) -> SqlResult<()> {
        let at = draft.take_column(name)?;
        let column = draft.definition.columns[at].clone();
        if column.generated.is_some() {
            return Err(sql_error!(ER_WRONG_USAGE, "DEFAULT", "generated column"));
        }
        let value = match default {
            ColumnAttribute::Default(_) if column.column_type.kind.may_be_long() => {
                return Err(sql_error!(ER_BLOB_CANT_HAVE_DEFAULT, column.name));
            }
            ColumnAttribute::Default(expression) => self.default_value_of(&column, expression)?,
            // As in MySQL a literal in parentheses is one here, and an expression in a column's own definition.
            ColumnAttribute::DefaultExpression(literal @ Expression::Literal(_)) => {
                self.default_value_of(&column, literal)?
            }
            ColumnAttribute::DefaultExpression(expression) => {
                ColumnDefault::Expression(stored_text(self, expression, Purpose::Default(&column.name))?)
            }
            _ => return Ok(()),
        };
        if value == ColumnDefault::Literal(values::Value::Null) && !column.nullable {
            return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
        }
        draft.definition.columns[at].default = value;
        Ok(())
    }

    /// CONVERT TO CHARACTER SET: every text column and the default.
    fn convert_charset(
        &mut self,
        draft: &mut Draft,
        charset: Option<&str>,
        collation: Option<&str>,
    ) -> SqlResult<()> {
        let found = instance::collations::resolve(charset, collation, self.diagnostics)?;
        let collation = found.unwrap_or(draft.definition.collation);
        draft.definition.collation = collation;
        for column in draft.definition.columns.iter_mut().filter(|column| !column.is_hidden()) {
            convert_column(self, column, collation)?;
        }
        check_converted_keys(&draft.definition)
    }
}

fn takes_part_in_keys(definer: &Definer<'_>, old: &TableDefinition) -> bool {
    let is_referred = || !definer.instance.engine().dictionary().referring(&old.name).is_empty();
    !old.foreign_keys.is_empty() || !old.id.is_temporary() && is_referred()
}

fn frees_names(action: &AlterAction) -> bool {
    use AlterAction as A;
    matches!(
        action,
        A::DropIndex(_)
            | A::DropConstraint(_)
            | A::DropPrimaryKey
            | A::DropCheck(_)
            | A::DropForeignKey(_)
            | A::AlterCheckEnforced { .. }
    )
}

impl Draft {
    /// Error 1054.
    fn column(&self, name: &str) -> SqlResult<usize> {
        let missing = || sql_error!(ER_BAD_FIELD_ERROR, name, self.definition.name.table);
        self.definition.column_position(name).ok_or_else(missing)
    }

    /// Where a column of the old table is now, for the one action that may name it. Error 1054.
    fn take_column(&mut self, name: &str) -> SqlResult<usize> {
        let old = self.old.column_position(name).filter(|old| !self.named.contains(old));
        let place = |old: usize| self.sources.iter().position(|source| *source == Some(old));
        match old.and_then(place) {
            Some(at) => {
                self.named.extend(old);
                Ok(at)
            }
            None => Err(sql_error!(ER_BAD_FIELD_ERROR, name, self.definition.name.table)),
        }
    }

    /// Error 1176.
    fn index(&self, name: &str) -> SqlResult<usize> {
        let found = self.definition.indexes.iter().position(|index| same_name(&index.name, name));
        found.ok_or_else(|| sql_error!(ER_KEY_DOES_NOT_EXITS, name, self.definition.name.table))
    }

    /// Where FIRST or AFTER puts a column, counted before it is put there.
    fn place(&self, position: Option<&ColumnPosition>, otherwise: usize) -> SqlResult<usize> {
        match position {
            None => Ok(otherwise),
            Some(ColumnPosition::First) => Ok(0),
            Some(ColumnPosition::After(name)) => Ok(self.column(name)? + 1),
        }
    }

    fn insert_column(&mut self, at: usize, column: dictionary::ColumnDefinition, source: Option<usize>) {
        self.definition.columns.insert(at, column);
        self.sources.insert(at, source);
        self.renumber(|column| if column >= at { column + 1 } else { column });
    }

    fn move_column(&mut self, from: usize, to: usize) {
        let to = if to > from { to - 1 } else { to };
        let column = self.definition.columns.remove(from);
        let source = self.sources.remove(from);
        self.definition.columns.insert(to, column);
        self.sources.insert(to, source);
        self.renumber(|column| match column {
            _ if column == from => to,
            _ if from < column && column <= to => column - 1,
            _ if to <= column && column < from => column + 1,
            _ => column,
        });
    }

    fn renumber(&mut self, place: impl Fn(usize) -> usize) {
        for part in self.definition.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            part.column = place(part.column);
        }
        for column in self.definition.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
            *column = place(*column);
        }
    }

    /// The column leaves its indexes too; an index that has no part left goes. Errors 1091, 3755.
    fn drop_column(&mut self, name: &str) -> SqlResult<()> {
        if self.old.column_position(name).is_none() {
            let is_hidden = self.old.columns.iter().any(|column| same_name(&column.name, name));
            return Err(match is_hidden {
                true => sql_error!(ER_CANNOT_DROP_COLUMN_FUNCTIONAL_INDEX, name),
                false => sql_error!(ER_CANT_DROP_FIELD_OR_KEY, name),
            });
        }
        let at = self.take_column(name)?;
        self.need_no_key(at)?;
        for index in &mut self.definition.indexes {
            index.parts.retain(|part| part.column != at);
        }
        self.definition.indexes.retain(|index| !index.parts.is_empty());
        self.remove_column(at);
        Ok(())
    }

    /// Takes out a column that no index has.
    fn remove_column(&mut self, at: usize) {
        self.definition.columns.remove(at);
        self.sources.remove(at);
        self.renumber(|column| if column > at { column - 1 } else { column });
    }

    /// Error 1091.
    pub(super) fn drop_index(&mut self, name: &str) -> SqlResult<()> {
        let at = self.definition.indexes.iter().position(|index| same_name(&index.name, name));
        let at = at.ok_or_else(|| sql_error!(ER_CANT_DROP_FIELD_OR_KEY, name))?;
        let mut columns: Vec<usize> =
            self.definition.indexes.remove(at).parts.iter().map(|part| part.column).collect();
        columns.retain(|column| self.definition.columns[*column].is_hidden());
        columns.sort_unstable();
        columns.into_iter().rev().for_each(|column| self.remove_column(column));
        Ok(())
    }

    /// Puts the columns of functional key parts behind the others, whose order they follow. Their values are computed anew where another
    /// column has another type, as theirs may have. Error 1090 if there are no others.
    fn settle_columns(&mut self) -> SqlResult<()> {
        let mut hidden = self.definition.columns.iter().map(dictionary::ColumnDefinition::is_hidden);
        if hidden.clone().all(|is_hidden| is_hidden) {
            return Err(sql_error!(ER_CANT_REMOVE_ALL_FIELDS));
        }
        check_index_names(&self.definition)?;
        if !hidden.any(|is_hidden| is_hidden) {
            return Ok(());
        }
        let order = put_hidden_last(&mut self.definition);
        self.sources = order.into_iter().map(|at| self.sources[at]).collect();
        let (old, new) = (&self.old.columns, &self.definition.columns);
        let has_other_type = |(column, source): (&dictionary::ColumnDefinition, &Option<usize>)| {
            source.is_some_and(|source| old[source].column_type != column.column_type)
        };
        self.rebuild |= new.iter().zip(&self.sources).any(has_other_type);
        Ok(())
    }

    fn rename_index(&mut self, old_name: &str, new_name: &str) -> SqlResult<()> {
        // By the names before the statement: others may exchange theirs.
        let missing = || sql_error!(ER_KEY_DOES_NOT_EXITS, old_name, self.definition.name.table);
        let old = self.old.indexes.iter().find(|index| same_name(&index.name, old_name));
        let id = old.ok_or_else(missing)?.id;
        let at = self.definition.indexes.iter().position(|index| index.id == id).ok_or_else(missing)?;
        if old_name.eq_ignore_ascii_case("PRIMARY") {
            return Err(sql_error!(ER_WRONG_NAME_FOR_INDEX, old_name));
        }
        check_index_name(new_name)?;
        let index = &mut self.definition.indexes[at];
        (index.name, index.generated) = (new_name.to_owned(), false);
        for part in &index.parts {
            let column = &mut self.definition.columns[part.column];
            if let Some((_, place)) = index_of_key_column(&column.name).filter(|_| column.is_hidden()) {
                column.name = key_column_name(new_name, place);
            }
        }
        Ok(())
    }

    /// A changed column must still fit its indexes: error 1170 without a prefix for TEXT and BLOB. Prefixes that
    /// are not shorter than the column any more become whole columns.
    fn check_parts(&mut self, at: usize, column: &dictionary::ColumnDefinition) -> SqlResult<()> {
        let kind = column.column_type.kind;
        for part in self.definition.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            if part.column != at {
                continue;
            }
            match part.prefix_length {
                _ if kind == TypeKind::Json => return Err(sql_error!(ER_JSON_USED_AS_KEY, column.name)),
                None if kind.is_large_object() => {
                    return Err(sql_error!(ER_BLOB_KEY_WITHOUT_LENGTH, column.name));
                }
                Some(_) if !kind.is_string() && !kind.is_large_object() => part.prefix_length = None,
                Some(prefix)
                    if !kind.is_large_object()
                        && column.column_type.length.is_some_and(|length| prefix >= length) =>
                {
                    part.prefix_length = None;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
