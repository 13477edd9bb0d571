//! USE, FORCE and IGNORE INDEX: the names in them are those of indexes. Entry point: [`checked`].

use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use parser::ast::{IndexHint, IndexHintKind};

/// The hints of a table with the names as they are in the definition. Like MySQL it takes the beginning of a name that only
/// one index has. Errors: 1176 for no index of the table that is called `alias`, 1221 for USE beside FORCE.
pub(super) fn checked(
    hints: &[IndexHint],
    definition: &TableDefinition,
    alias: &str,
) -> SqlResult<Vec<IndexHint>> {
    let has = |kind: IndexHintKind| hints.iter().any(|hint| hint.kind == kind);
    if has(IndexHintKind::Use) && has(IndexHintKind::Force) {
        return Err(sql_error!(ER_WRONG_USAGE, "USE INDEX", "FORCE INDEX"));
    }
    let checked_hint = |hint: &IndexHint| {
        let names = hint.indexes.iter().map(|name| {
            index_name(definition, name).ok_or_else(|| sql_error!(ER_KEY_DOES_NOT_EXITS, name, alias))
        });
        Ok(IndexHint { indexes: names.collect::<SqlResult<_>>()?, ..hint.clone() })
    };
    hints.iter().map(checked_hint).collect()
}

fn index_name(definition: &TableDefinition, written: &str) -> Option<String> {
    let names = || definition.indexes.iter().map(|index| &index.name);
    if let Some(name) = names().find(|name| name.eq_ignore_ascii_case(written)) {
        return Some(name.clone());
    }
    let begins =
        |name: &&String| name.get(..written.len()).is_some_and(|start| start.eq_ignore_ascii_case(written));
    let mut candidates = names().filter(begins);
    candidates.next().filter(|_| candidates.next().is_none()).cloned()
}
