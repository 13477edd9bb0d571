//! What a foreign key asks of the table that it refers to, asked from both sides: of a child that gets a key, and of a table that
//! waiting children name. Main functions: [`judge_parents`], [`judge_waiting`].

use crate::definer::Definer;
use catalog::{LockKey, LockMode};
use charset::CollationId;
use dictionary::{ForeignKeyDefinition, IndexDefinition, TableDefinition, TableName};
use engine::{Dictionary, Table};
use errors::{SqlError, SqlResult, sql_error};
use std::sync::Arc;
use values::{ColumnType, TypeKind};
use variables::id;

/// What the session says of foreign keys.
#[derive(Clone, Copy)]
pub(super) struct KeyRules {
    /// foreign_key_checks: a parent must exist.
    pub checks: bool,
    /// restrict_fk_on_non_standard_key: a key refers to a whole unique one.
    strict: bool,
}

impl KeyRules {
    pub(super) fn of(definer: &Definer<'_>) -> KeyRules {
        let is_on = |variable| definer.variables.get(variable).is_on();
        KeyRules { checks: is_on(id::FOREIGN_KEY_CHECKS), strict: is_on(id::RESTRICT_FK_ON_NON_STANDARD_KEY) }
    }
}

/// Why a key cannot refer to a table.
enum Misfit {
    /// It has no such column.
    NoColumn(String),
    /// The column is virtual.
    Virtual(String),
    /// Columns of other types: of the child, of the parent.
    Types(String, String),
    /// No key consists of the columns.
    NoKey,
    /// Not even an index begins with them.
    NoIndex,
}

impl Misfit {
    fn error(self, key: &ForeignKeyDefinition) -> SqlError {
        let table = &key.parent.table;
        match self {
            Misfit::NoColumn(column) => sql_error!(ER_FK_NO_COLUMN_PARENT, column, key.name, table),
            Misfit::Virtual(column) => sql_error!(ER_FK_CANNOT_USE_VIRTUAL_COLUMN, key.name, column),
            Misfit::Types(child, parent) => sql_error!(ER_FK_INCOMPATIBLE_COLUMNS, child, parent, key.name),
            Misfit::NoKey => sql_error!(ER_FK_NO_UNIQUE_INDEX_PARENT, key.name, table),
            Misfit::NoIndex => sql_error!(ER_FK_NO_INDEX_PARENT, key.name, table),
        }
    }
}

/// REFERENCES for each table that keys refer to. Error 1142.
pub(super) fn require_references<'p>(
    definer: &mut Definer<'_>,
    parents: impl IntoIterator<Item = &'p TableName>,
) -> SqlResult<()> {
    for parent in parents {
        definer.user.require_references(definer.instance, parent)?;
    }
    Ok(())
}

/// The locks on tables that keys refer to: what is made of their rows knows who refers to them, and is made anew.
pub(super) fn locks_on_parents<'p>(
    own: &TableName,
    parents: impl IntoIterator<Item = &'p TableName>,
    mode: LockMode,
) -> Vec<(LockKey, LockMode)> {
    let others = parents.into_iter().filter(|parent| *parent != own);
    let mut keys: Vec<LockKey> = others.map(|parent| LockKey::table(&parent.schema, &parent.table)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().map(|key| (key, mode)).collect()
}

/// Whether the tables that foreign keys of a definition refer to are there and fit. Errors: 1822, 1824, 3733, 3734, 3780, 6125.
pub(super) fn judge_parents<'k>(
    definer: &mut Definer<'_>,
    definition: &TableDefinition,
    keys: impl IntoIterator<Item = &'k ForeignKeyDefinition>,
) -> SqlResult<()> {
    let rules = KeyRules::of(definer);
    let engine = definer.instance.engine().clone();
    for key in keys {
        definer.check_killed()?;
        let there;
        let parent = if key.parent == definition.name {
            definition
        } else {
            match engine.dictionary().table(&key.parent.schema, &key.parent.table) {
                // One that is said to be of an engine without them is no parent.
                Some(table) if rules.checks && !table.definition().options.engine.has_foreign_keys() => {
                    return Err(sql_error!(ER_FK_CANNOT_OPEN_PARENT, key.parent.table));
                }
                Some(table) => {
                    there = table;
                    there.definition()
                }
                None if rules.checks => return Err(sql_error!(ER_FK_CANNOT_OPEN_PARENT, key.parent.table)),
                None => continue,
            }
        };
        match misfit(definition, key, parent, rules) {
            Some(misfit) => return Err(misfit.error(key)),
            None => warn_of_kind(definer, key, parent),
        }
    }
    Ok(())
}

/// Warning 6124 for a key that refers to columns that are no unique key.
fn warn_of_kind(definer: &mut Definer<'_>, key: &ForeignKeyDefinition, parent: &TableDefinition) {
    if referred_key(parent, &key.parent_columns, true).is_none() {
        definer.diagnostics.warning(sql_error!(ER_WARN_DEPRECATED_NON_STANDARD_KEY, key.name));
    }
}

/// A foreign key that refers to a table, with the table that has it.
pub(super) struct ReferringKey {
    pub child: Arc<Table>,
    at: usize,
}

impl ReferringKey {
    pub(super) fn key(&self) -> &ForeignKeyDefinition {
        &self.child.definition().foreign_keys[self.at]
    }
}

/// The keys of other tables that refer to one, in the order in which they were made.
pub(super) fn referring_keys(dictionary: &Dictionary, parent: &TableName) -> Vec<ReferringKey> {
    let found = dictionary.referring(parent).into_iter().filter(|(child, _)| child != parent);
    let with_table = found.filter_map(|(child, ordinal)| {
        let child = dictionary.table(&child.schema, &child.table)?;
        let at = child.definition().foreign_keys.iter().position(|key| key.ordinal == ordinal)?;
        Some(ReferringKey { child, at })
    });
    with_table.collect()
}

/// Whether a table that comes to a name fits the keys that name it already. Error 1215; without foreign_key_checks it is said why: 1822,
/// 3733, 3734, 3780, 6125.
pub(super) fn judge_waiting(definer: &Definer<'_>, definition: &TableDefinition) -> SqlResult<()> {
    let rules = KeyRules::of(definer);
    for referring in referring_keys(definer.instance.engine().dictionary(), &definition.name) {
        let key = referring.key();
        if let Some(misfit) = misfit(referring.child.definition(), key, definition, rules) {
            return Err(if rules.checks { sql_error!(ER_CANNOT_ADD_FOREIGN) } else { misfit.error(key) });
        }
    }
    Ok(())
}

/// Whether a table still fits the keys that refer to it, by the names of its columns. Without foreign_key_checks collations may differ,
/// so that one table after the other can be converted. Errors: 3733, 3780.
pub(super) fn judge_types(
    child: &TableDefinition,
    key: &ForeignKeyDefinition,
    parent: &TableDefinition,
    rules: KeyRules,
) -> SqlResult<()> {
    match misfit_of_columns(child, key, parent, rules.checks) {
        Some(misfit) => Err(misfit.error(key)),
        None => Ok(()),
    }
}

fn misfit(
    child: &TableDefinition,
    key: &ForeignKeyDefinition,
    parent: &TableDefinition,
    rules: KeyRules,
) -> Option<Misfit> {
    if let Some(misfit) = misfit_of_columns(child, key, parent, true) {
        return Some(misfit);
    }
    let columns = parent.column_positions(&key.parent_columns);
    let refers_to_itself = parent.name == child.name && columns.as_ref() == Some(&key.columns);
    if !refers_to_itself && referred_key(parent, &key.parent_columns, rules.strict).is_some() {
        return None;
    }
    Some(if rules.strict { Misfit::NoKey } else { Misfit::NoIndex })
}

fn misfit_of_columns(
    child: &TableDefinition,
    key: &ForeignKeyDefinition,
    parent: &TableDefinition,
    by_collation: bool,
) -> Option<Misfit> {
    for (column, name) in key.columns.iter().zip(&key.parent_columns) {
        let Some(position) = parent.column_position(name) else {
            return Some(Misfit::NoColumn(name.clone()));
        };
        let (own, other) = (&child.columns[*column], &parent.columns[position]);
        if other.is_virtual() {
            return Some(Misfit::Virtual(other.name.clone()));
        }
        if class(&own.column_type, by_collation) != class(&other.column_type, by_collation) {
            return Some(Misfit::Types(own.name.clone(), other.name.clone()));
        }
    }
    None
}

/// The index that a key over columns of those names refers to: `strict`, a unique one of these columns alone; else any that begins with
/// them, if there is no such one.
pub(super) fn referred_key<'t>(
    parent: &'t TableDefinition,
    names: &[String],
    strict: bool,
) -> Option<&'t IndexDefinition> {
    let columns = parent.column_positions(names)?;
    let index = if strict { parent.unique_index_of(&columns) } else { parent.index_of_referred(&columns) };
    Some(&parent.indexes[index?])
}

/// What of a type must be the same on both sides. Lengths, digits and members may differ.
#[derive(PartialEq)]
enum Class {
    Integer { kind: TypeKind, unsigned: bool },
    Text(Option<CollationId>),
    Bytes,
    Other(TypeKind),
}

fn class(column_type: &ColumnType, by_collation: bool) -> Class {
    match column_type.kind {
        kind if kind.is_integer() => Class::Integer { kind, unsigned: column_type.unsigned },
        TypeKind::Char | TypeKind::VarChar => Class::Text(by_collation.then_some(column_type.collation)),
        TypeKind::Binary | TypeKind::VarBinary => Class::Bytes,
        kind => Class::Other(kind),
    }
}
