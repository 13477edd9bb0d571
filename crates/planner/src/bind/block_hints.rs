//! Optimizer hints of a block: which of the statement's are for it, and what they say of its tables. Main function:
//! [`enter`]. What is said twice and names that nothing has are warnings (3126, 3127, 3128), as in MySQL.

use super::Binder;
use errors::{DiagnosticsMark, SqlError, SqlResult, sql_error};
use optimizer::{BoundTable, Source};
use parser::ast::{Hint, HintKind};
use parser::print_name;
use plan::BlockHints;

/// Finds the hints of the block that was entered last: its own, and those of other blocks that name it.
/// A comment may hold a hint for each of its bytes. Error 1317.
pub(super) fn enter(binder: &mut Binder<'_>, own: &[Hint]) -> SqlResult<()> {
    let elsewhere = binder.input.hints;
    if own.is_empty() && elsewhere.is_empty() {
        return Ok(());
    }
    let plain = format!("select#{}", binder.block().number);
    let named = own.iter().find(|hint| hint.kind == HintKind::QueryBlockName);
    let name = named.and_then(|hint| hint.words.first()).cloned().unwrap_or_else(|| plain.clone());
    let mut hints = BlockHints::of_block(name.clone());
    let mut warnings = Vec::new();
    let mut add = |hint: &Hint| {
        if !hints.add(hint) {
            warnings.push(sql_error!(ER_WARN_CONFLICTING_HINT, hint.printed()));
        }
    };
    for hint in own {
        binder.input.context.check_killed()?;
        add(hint);
    }
    for (at, hint) in elsewhere.iter().enumerate() {
        let is_meant =
            |block: &String| block.eq_ignore_ascii_case(&name) || block.eq_ignore_ascii_case(&plain);
        if hint.block.as_ref().is_some_and(is_meant) {
            binder.input.context.check_killed()?;
            binder.hints_found.insert(at);
            add(hint);
        }
    }
    binder.block().hints = hints;
    binder.hint_conflicts.append(&mut warnings);
    Ok(())
}

/// Warns of hints that were said twice, and then of those for blocks that the statement has not got, before all that was reported
/// since the mark.
pub(crate) fn warn_of_hints(binder: &mut Binder<'_>, mark: DiagnosticsMark) {
    if !binder.input.warns_of_hints {
        return;
    }
    let unknown = binder.input.hints.iter().enumerate().filter(|(at, _)| !binder.hints_found.contains(at));
    let warning = |(_, hint): (usize, &Hint)| {
        let block = quoted(hint.block.as_deref().unwrap_or_default());
        sql_error!(ER_WARN_UNKNOWN_QB_NAME, block, hint.kind.name(hint.on))
    };
    let mut warnings = std::mem::take(&mut binder.hint_conflicts);
    warnings.extend(unknown.map(warning));
    for (at, warning) in warnings.into_iter().enumerate() {
        binder.input.context.diagnostics().insert_warning(mark.place() + at, warning);
    }
}

/// Warns of names in the block's hints that its tables and their indexes have not. FROM has been bound.
pub(super) fn check_names(binder: &mut Binder<'_>) {
    if binder.block().hints.is_empty() {
        return;
    }
    let block = &*binder.block();
    let at = quoted(&block.hints.name);
    let mut warnings = Vec::new();
    for hint in block.hints.iter() {
        let kind = hint.kind.name(hint.on);
        let mut unresolved = |name: String| warnings.push(sql_error!(ER_UNRESOLVED_HINT_NAME, name, &kind));
        for table in &hint.tables {
            let found = block.tables.iter().find(|known| known.alias == table.name);
            let is_order = hint.kind.is_order();
            if found.is_none() {
                let own = table.block.as_ref().map(|block| format!("@{}", quoted(block)));
                let place = if is_order { own.unwrap_or_default() } else { format!("@{at}") };
                unresolved(format!("{}{place}", quoted(&table.name)));
            }
            for word in hint.words.iter().filter(|word| !found.is_some_and(|found| has_index(found, word))) {
                unresolved(format!("{}@{at} {}", quoted(&table.name), quoted(word)));
            }
        }
    }
    warn(binder, warnings);
}

fn warn(binder: &mut Binder<'_>, warnings: Vec<SqlError>) {
    if !binder.input.warns_of_hints {
        return;
    }
    for warning in warnings {
        binder.input.context.diagnostics().warning(warning);
    }
}

fn quoted(name: &str) -> String {
    let mut text = String::new();
    print_name(&mut text, name);
    text
}

fn has_index(table: &BoundTable, name: &str) -> bool {
    let Source::Base(table) = &table.source else { return false };
    table.definition().indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name))
}
