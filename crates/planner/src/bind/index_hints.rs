//! USE, FORCE and IGNORE INDEX: the names in them are those of indexes. Entry points: [`checked`], [`limits_of`].

use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use optimizer::IndexLimits;
use parser::ast::{IndexHint, IndexHintKind, IndexHintScope};

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

/// What hints leave of the indexes of a table.
pub(super) fn limits_of(hints: &[IndexHint], definition: &TableDefinition) -> IndexLimits {
    if hints.is_empty() {
        return IndexLimits::default();
    }
    let refused = |scope: IndexHintScope| {
        let names = definition.indexes.iter().map(|index| &index.name);
        names.filter(|name| !is_allowed(hints, name, scope)).cloned().collect()
    };
    let forces = |hint: &IndexHint| hint.kind == IndexHintKind::Force && counts(hint, IndexHintScope::Join);
    IndexLimits {
        not_for_join: refused(IndexHintScope::Join),
        not_for_order: refused(IndexHintScope::OrderBy),
        not_for_groups: refused(IndexHintScope::GroupBy),
        forces: hints.iter().any(forces),
    }
}

/// Whether a hint counts where an index is wanted for that.
fn counts(hint: &IndexHint, scope: IndexHintScope) -> bool {
    hint.scope.is_none_or(|meant| meant == scope)
}

/// Whether the hints of a table let an index be used for that.
fn is_allowed(hints: &[IndexHint], name: &str, scope: IndexHintScope) -> bool {
    let named = |hint: &IndexHint| hint.indexes.iter().any(|index| index.eq_ignore_ascii_case(name));
    let mut allowed = true;
    for hint in hints.iter().filter(|hint| counts(hint, scope)) {
        match hint.kind {
            IndexHintKind::Ignore => allowed &= !named(hint),
            IndexHintKind::Use | IndexHintKind::Force => allowed &= named(hint),
        }
    }
    allowed
}
