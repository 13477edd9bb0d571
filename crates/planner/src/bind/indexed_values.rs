//! The generated columns of the tables of a block that indexes have, with their expressions. Main function: [`indexed_values`].

use super::Binder;
use super::change::push_target;
use super::column::column_at;
use super::stored_text::{bind_stored, parse_stored};
use dictionary::TableDefinition;
use expression::Expression;
use optimizer::Source;
use rewrite::IndexedValue;
use std::collections::BTreeSet;
use std::sync::Arc;
use values::TypeKind;

/// Those of the block on top of the stack.
pub(crate) fn indexed_values(binder: &mut Binder<'_>) -> Vec<IndexedValue> {
    let mut values = Vec::new();
    for number in 0..binder.block().tables.len() {
        let Source::Base(table) = &binder.block().tables[number].source else { continue };
        let table = Arc::clone(table);
        let definition = table.definition();
        for place in indexed_columns(definition) {
            let Some(expression) = bound_value(binder, definition, place) else { continue };
            let shown = column_at(&binder.block().tables[number], place);
            let mut result = shown.result.clone();
            result.coercibility = expression.result.coercibility;
            let column = match &definition.columns[place] {
                hidden if hidden.is_hidden() => {
                    Expression::slot(place, Arc::from(hidden.shown_name().as_ref()), result)
                }
                _ => Expression { result, ..shown },
            };
            values.push(IndexedValue { table: number, place, column, expression });
        }
    }
    values
}

fn indexed_columns(definition: &TableDefinition) -> BTreeSet<usize> {
    let used = definition.indexes.iter().filter(|index| !index.invisible);
    let parts = used.flat_map(|index| &index.parts).filter(|part| part.prefix_length.is_none());
    parts.map(|part| part.column).filter(|column| definition.columns[*column].generated.is_some()).collect()
}

/// The expression of a generated column. None if it depends on the session's time zone, or is no more than a column or a constant.
fn bound_value(binder: &mut Binder<'_>, definition: &TableDefinition, at: usize) -> Option<Expression> {
    let column = &definition.columns[at];
    let text = &column.generated.as_ref()?.text;
    let parsed = parse_stored(text).ok()?;
    let reported = binder.input.context.diagnostics().mark();
    push_target(binder, definition, &definition.name.table);
    let bound = bind_stored(binder, &parsed);
    binder.blocks.pop();
    binder.input.context.diagnostics().forget_since(reported);
    let expression = bound.ok()?;
    let reads_moment = |part: &Expression| {
        part.column_slot()
            .is_some_and(|slot| definition.columns[slot].column_type.kind == TypeKind::Timestamp)
    };
    let is_computed = expression.reads_columns() && expression.column_slot().is_none();
    // A value that the column's type cut is another.
    let is_kept = expression.result.column_type == column.column_type || column.is_hidden();
    (is_computed && is_kept && !expression.any(&reads_moment)).then_some(expression)
}
