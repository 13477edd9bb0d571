//! Foreign keys in ALTER TABLE, from both sides: keys that come and go, columns and indexes that keys hold, and the definitions of other
//! tables that follow a column that they refer to. Neighbours: `foreign_key`, `referred_table`.

use super::alter::Draft;
use super::alter_plan::is_converted;
use super::foreign_key::{
    DeclaredKey, add_foreign_keys, check_actions, declared_key, drop_superseded_indexes, forget_keys_unkept,
    greatest_number, keys_of_column, keys_of_elements, refuse_keys,
};
use super::referred_table::{
    KeyRules, ReferringKey, judge_parents, judge_types, locks_on_parents, referred_key, referring_keys,
};
use crate::definer::Definer;
use catalog::{LockKey, LockMode};
use dictionary::{ForeignKeyDefinition, TableName};
use errors::{SqlResult, sql_error};
use parser::ast::AlterAction;

/// The tables that the keys refer to which an ALTER TABLE adds.
pub(super) fn new_parents(name: &TableName, actions: &[AlterAction]) -> Vec<TableName> {
    let keys = actions.iter().flat_map(declared_by);
    keys.map(|key| key.parent(&name.schema)).collect()
}

/// Error 1100: under LOCK TABLES the tables are locked too that new keys refer to.
pub(super) fn refuse_unlocked_parents(
    definer: &Definer<'_>,
    name: &TableName,
    actions: &[AlterAction],
) -> SqlResult<()> {
    let parents = locks_on_parents(name, &new_parents(name, actions), LockMode::Read);
    parents.iter().try_for_each(|(key, mode)| definer.locks.explicit.check(key, *mode))
}

/// The locks on tables that have to do with the one that is altered: those that new keys refer to, which are used in another way from
/// now on; those that change with it; and the others against changes of their definitions.
pub(super) fn locks_on_relatives(
    definer: &Definer<'_>,
    name: &TableName,
    actions: &[AlterAction],
) -> Vec<(LockKey, LockMode)> {
    let dictionary = definer.instance.engine().dictionary();
    let mut wanted = locks_on_parents(name, &new_parents(name, actions), LockMode::Exclusive);
    let renames = |action: &AlterAction| {
        matches!(
            action,
            AlterAction::RenameTable(_) | AlterAction::RenameColumn { .. } | AlterAction::ChangeColumn { .. }
        )
    };
    let mode = if actions.iter().any(renames) { LockMode::Exclusive } else { LockMode::Shared };
    let children: Vec<TableName> = dictionary.referring(name).into_iter().map(|(child, _)| child).collect();
    let table = dictionary.table(&name.schema, &name.table);
    let keys = table.iter().flat_map(|table| &table.definition().foreign_keys);
    let parents: Vec<TableName> = keys.map(|key| key.parent.clone()).collect();
    for (key, mode) in locks_on_parents(name, &children, mode).into_iter().chain(locks_on_parents(
        name,
        &parents,
        LockMode::Shared,
    )) {
        match wanted.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) if *known == LockMode::Exclusive => {}
            Some((_, known)) => *known = mode,
            None => wanted.push((key, mode)),
        }
    }
    wanted
}

fn declared_by(action: &AlterAction) -> Vec<DeclaredKey<'_>> {
    match action {
        AlterAction::AddForeignKey(key) => vec![declared_key(key)],
        AlterAction::AddElements(elements) => keys_of_elements(elements),
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
            keys_of_column(column).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds the foreign keys that an ALTER TABLE declares to a definition that has its new columns and indexes, and asks whether the others
/// stay what they are. Errors: 1553, 1829 and those of [`add_foreign_keys`] and of [`judge_parents`].
pub(super) fn settle_foreign_keys(
    definer: &mut Definer<'_>,
    draft: &mut Draft,
    actions: &[AlterAction],
) -> SqlResult<()> {
    let rules = KeyRules::of(definer);
    let declared: Vec<DeclaredKey<'_>> = actions.iter().flat_map(declared_by).collect();
    if draft.old.id.is_temporary() {
        return refuse_keys(&declared, &draft.definition);
    }
    drop_superseded_indexes(&mut draft.definition);
    follow_own_columns(draft);
    let number = greatest_number(&draft.old);
    add_foreign_keys(definer, &mut draft.definition, &declared, number, Some(&draft.old))?;
    forget_keys_unkept(&mut draft.definition);
    let definition = &draft.definition;
    for key in &definition.foreign_keys {
        check_actions(definition, key)?;
        need_serving_index(draft, key)?;
    }
    let new = definition.foreign_keys.iter().filter(|key| key.ordinal == 0);
    judge_parents(definer, definition, new)?;
    judge_old_keys(definer, draft, rules)?;
    settle_referring(definer, draft, rules)?;
    draft.checks_parents = rules.checks && (!declared.is_empty() || draft.recomputes_keys());
    Ok(())
}

/// Error 1553 for a key that is left without an index.
fn need_serving_index(draft: &Draft, key: &ForeignKeyDefinition) -> SqlResult<()> {
    if draft.definition.index_of_referring(&key.columns).is_some() {
        return Ok(());
    }
    let before = draft.old.foreign_keys.iter().find(|old| old.ordinal == key.ordinal);
    let index = before.and_then(|old| draft.old.index_of_referring(&old.columns));
    Err(sql_error!(ER_DROP_INDEX_FK, index.map_or(&key.name, |index| &draft.old.indexes[index].name)))
}

/// Error 3780 for a column of a key that is there and gets another type than the one that it refers to, 1832 for one whose values may change.
fn judge_old_keys(definer: &Definer<'_>, draft: &Draft, rules: KeyRules) -> SqlResult<()> {
    let dictionary = definer.instance.engine().dictionary();
    for key in draft.definition.foreign_keys.iter().filter(|key| key.ordinal != 0) {
        if key.parent == draft.old.name {
            judge_types(&draft.definition, key, &draft.definition, rules)?;
        } else if let Some(parent) = dictionary.table(&key.parent.schema, &key.parent.table) {
            judge_types(&draft.definition, key, parent.definition(), rules)?;
        }
        if rules.checks
            && let Some(at) = key.columns.iter().find(|at| draft.converts(**at))
        {
            let name = draft.old_name(*at);
            return Err(sql_error!(ER_FK_COLUMN_CANNOT_CHANGE, name, key.name));
        }
    }
    Ok(())
}

/// What the keys of other tables that refer to this one make of the change: they hold its columns and the index that they use, and
/// follow new names. Errors: 1553, 1829, 3780.
fn settle_referring(definer: &Definer<'_>, draft: &mut Draft, rules: KeyRules) -> SqlResult<()> {
    let referring = referring_keys(definer.instance.engine().dictionary(), &draft.old.name);
    for one in &referring {
        let key = followed(draft, one.key(), &one.child.definition().name.table)?;
        let child = one.child.definition();
        judge_types(child, &key, &draft.definition, rules)?;
        let column = |name: &String| draft.definition.column_position(name);
        if rules.checks
            && let Some(at) = key.parent_columns.iter().filter_map(column).find(|at| draft.converts(*at))
        {
            let name = draft.old_name(at);
            let table = format!("{}.{}", child.name.schema, child.name.table);
            return Err(sql_error!(ER_FK_COLUMN_CANNOT_CHANGE_CHILD, name, key.name, table));
        }
        need_referred_key(draft, one.key(), &key)?;
        if key.parent_columns != one.key().parent_columns {
            follow_in(draft, one, key);
        }
    }
    let own = draft.old.foreign_keys.iter().filter(|key| key.parent == draft.old.name);
    for old in own {
        if let Some(now) = draft.definition.foreign_keys.iter().find(|key| key.ordinal == old.ordinal) {
            need_referred_key(draft, old, now)?;
        }
    }
    Ok(())
}

/// A key that refers to the altered table, by the new names of its columns. Error 1829 if one of them goes.
fn followed(draft: &Draft, key: &ForeignKeyDefinition, child: &str) -> SqlResult<ForeignKeyDefinition> {
    let mut followed = key.clone();
    for column in &mut followed.parent_columns {
        match draft.name_now(column) {
            Some(name) => *column = name,
            None => return Err(sql_error!(ER_FK_COLUMN_CANNOT_DROP_CHILD, column, key.name, child)),
        }
    }
    Ok(followed)
}

/// Error 1553 if no index is left that a key may refer to.
fn need_referred_key(
    draft: &Draft,
    before: &ForeignKeyDefinition,
    now: &ForeignKeyDefinition,
) -> SqlResult<()> {
    let Some(used) = referred_key(&draft.old, &before.parent_columns, false) else { return Ok(()) };
    let strict = referred_key(&draft.old, &before.parent_columns, true).is_some();
    match referred_key(&draft.definition, &now.parent_columns, strict) {
        Some(_) => Ok(()),
        None => Err(sql_error!(ER_DROP_INDEX_FK, used.name)),
    }
}

/// Keeps that another table's definition changes with this one.
fn follow_in(draft: &mut Draft, referring: &ReferringKey, key: ForeignKeyDefinition) {
    let child = referring.child.definition();
    if draft.followers.iter().all(|follower| follower.id != child.id) {
        draft.followers.push(child.clone());
    }
    let follower = draft.followers.iter_mut().find(|follower| follower.id == child.id);
    let place = follower.and_then(|one| one.foreign_keys.iter_mut().find(|one| one.ordinal == key.ordinal));
    if let Some(place) = place {
        *place = key;
    }
}

/// Keys of a table that refer to itself follow its columns.
fn follow_own_columns(draft: &mut Draft) {
    let mut keys = std::mem::take(&mut draft.definition.foreign_keys);
    for key in keys.iter_mut().filter(|key| key.parent == draft.old.name) {
        for column in &mut key.parent_columns {
            // One that goes is told of when the key is judged.
            if let Some(name) = draft.name_now(column) {
                *column = name;
            }
        }
    }
    draft.definition.foreign_keys = keys;
}

impl Draft {
    /// What a column of the old table is called now; None if it goes.
    fn name_now(&self, name: &str) -> Option<String> {
        let old = self.old.column_position(name)?;
        let now = self.sources.iter().position(|source| *source == Some(old))?;
        Some(self.definition.columns[now].name.clone())
    }

    /// Whether values of a column that stays may become others.
    fn converts(&self, at: usize) -> bool {
        self.sources[at].is_some_and(|source| {
            is_converted(
                &self.old.columns[source].column_type,
                &self.definition.columns[at].column_type,
                true,
            )
        })
    }

    /// What a column was called.
    fn old_name(&self, at: usize) -> &str {
        let column =
            self.sources[at].map_or(&self.definition.columns[at], |source| &self.old.columns[source]);
        &column.name
    }

    /// Whether a column gets values that are computed, and had others.
    pub(super) fn recomputes(&self, at: usize) -> bool {
        let now = &self.definition.columns[at].generated;
        self.sources[at].is_none_or(|source| now.is_some() && self.old.columns[source].generated != *now)
    }

    fn recomputes_keys(&self) -> bool {
        self.definition.foreign_keys.iter().flat_map(|key| &key.columns).any(|at| self.recomputes(*at))
    }

    /// Error 1091.
    pub(super) fn drop_foreign_key(&mut self, name: &str) -> SqlResult<()> {
        let at = self.definition.foreign_key_position(name);
        let at = at.ok_or_else(|| sql_error!(ER_CANT_DROP_FIELD_OR_KEY, name))?;
        self.definition.foreign_keys.remove(at);
        Ok(())
    }

    /// Error 1828 for a column of a foreign key.
    pub(super) fn need_no_key(&self, column: usize) -> SqlResult<()> {
        match self.definition.foreign_keys.iter().find(|key| key.columns.contains(&column)) {
            Some(key) => {
                let name = &self.definition.columns[column].name;
                Err(sql_error!(ER_FK_COLUMN_CANNOT_DROP, name, key.name))
            }
            None => Ok(()),
        }
    }
}
