//! Foreign keys of other tables in DROP, RENAME and TRUNCATE: tables that they refer to are held, and followed to other names.
//! Neighbours: `referred_table`, `alter_foreign_keys`.

use super::limits;
use super::referred_table::{KeyRules, judge_waiting, locks_on_parents, referring_keys};
use crate::definer::Definer;
use catalog::{LockKey, LockMode};
use dictionary::{TableDefinition, TableName};
use engine::Dictionary;
use errors::{SqlResult, sql_error};
use std::collections::HashSet;

fn children(dictionary: &Dictionary, name: &TableName) -> Vec<TableName> {
    dictionary.referring(name).into_iter().map(|(child, _)| child).collect()
}

/// The locks on tables whose keys wait for one of that name.
pub(super) fn locks_on_waiting(dictionary: &Dictionary, name: &TableName) -> Vec<(LockKey, LockMode)> {
    locks_on_parents(name, &children(dictionary, name), LockMode::Shared)
}

/// The locks of a RENAME TABLE on tables that refer to the renamed ones, whose definitions follow, and on those that wait for the new names.
pub(super) fn locks_to_rename(
    dictionary: &Dictionary,
    renames: &[(TableName, TableName)],
) -> Vec<(LockKey, LockMode)> {
    let named: HashSet<LockKey> = renames
        .iter()
        .flat_map(|(from, to)| [from, to])
        .map(|name| LockKey::table(&name.schema, &name.table))
        .collect();
    let mut wanted: Vec<(LockKey, LockMode)> = Vec::new();
    for (name, mode) in
        renames.iter().flat_map(|(from, to)| [(from, LockMode::Exclusive), (to, LockMode::Shared)])
    {
        for (key, mode) in locks_on_parents(name, &children(dictionary, name), mode) {
            match wanted.iter_mut().find(|(known, _)| *known == key) {
                _ if named.contains(&key) => {}
                Some((_, LockMode::Exclusive)) => {}
                Some((_, known)) => *known = mode,
                None => wanted.push((key, mode)),
            }
        }
    }
    wanted
}

/// Errors 1059 for names of constraints that follow the table's, and 1215 and its like for keys that wait for the new name and do not fit.
pub(super) fn judge_renamed(definer: &Definer<'_>, renames: &[(TableName, TableName)]) -> SqlResult<()> {
    let dictionary = definer.instance.engine().dictionary();
    let vacated: HashSet<&TableName> = renames.iter().map(|(from, _)| from).collect();
    for (from, to) in renames {
        definer.check_killed()?;
        let Some(table) = dictionary.table(&from.schema, &from.table) else { continue };
        let renamed: TableDefinition = table.definition().renamed(to.clone());
        let checks = renamed.checks.iter().map(|check| &check.name);
        let names = checks.chain(renamed.foreign_keys.iter().map(|key| &key.name));
        if let Some(name) = names.into_iter().find(|name| name.chars().count() > limits::NAME_CHARACTERS_MAX)
        {
            return Err(sql_error!(ER_TOO_LONG_IDENT, name));
        }
        // Those of a table that had the name follow it to another.
        if !vacated.contains(to) {
            judge_waiting(definer, &renamed)?;
        }
    }
    Ok(())
}

/// Error 3730 for tables that others refer to which stay.
pub(super) fn need_unreferenced(definer: &Definer<'_>, dropped: &[TableName]) -> SqlResult<()> {
    if !KeyRules::of(definer).checks {
        return Ok(());
    }
    let gone: HashSet<&TableName> = dropped.iter().collect();
    let dictionary = definer.instance.engine().dictionary();
    for name in dropped {
        let referring = referring_keys(dictionary, name);
        let stays = referring.iter().find(|one| !gone.contains(&one.child.definition().name));
        if let Some(one) = stays {
            let child = &one.child.definition().name.table;
            return Err(sql_error!(ER_FK_CANNOT_DROP_PARENT, name.table, one.key().name, child));
        }
    }
    Ok(())
}

/// Error 1701 for a table that others refer to, whatever rows they have.
pub(super) fn need_no_referring(definer: &Definer<'_>, name: &TableName) -> SqlResult<()> {
    if !KeyRules::of(definer).checks {
        return Ok(());
    }
    match referring_keys(definer.instance.engine().dictionary(), name).first() {
        Some(one) => {
            let TableName { schema, table } = &one.child.definition().name;
            let key = format!("`{schema}`.`{table}`, CONSTRAINT `{}`", one.key().name);
            Err(sql_error!(ER_TRUNCATE_ILLEGAL_FK, key))
        }
        None => Ok(()),
    }
}
