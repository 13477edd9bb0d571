//! The generated columns of the tables of a block that indexes have, with their expressions. Main function: [`indexed_values`].

use super::Binder;
use super::change::push_target;
use super::column::column_at;
use super::stored_text::{bind_stored, parse_stored};
use dictionary::TableDefinition;
use expression::builtin::JsonArguments;
use expression::operators::ArithmeticOperator;
use expression::{Expression, ExpressionKind, TypeClass};
use optimizer::Source;
use parser::ast;
use plan::key_part_type;
use rewrite::IndexedValue;
use std::collections::BTreeSet;
use std::sync::Arc;
use values::TypeKind;

/// Those of tables of the block on top of the stack, but for the tables `made_up`, which are bits.
pub(crate) fn indexed_values(binder: &mut Binder<'_>, made_up: u64) -> Vec<IndexedValue> {
    let mut values = Vec::new();
    for number in 0..binder.block().tables.len() {
        let Source::Base(table) = &binder.block().tables[number].source else { continue };
        let places = indexed_columns(table.definition());
        if places.is_empty() || made_up >> number & 1 == 1 {
            continue;
        }
        let table = Arc::clone(table);
        let definition = table.definition();
        push_target(binder, definition, &definition.name.table);
        let bound = places.into_iter().map(|place| (place, bound_value(binder, definition, place)));
        let bound: Vec<_> = bound.collect();
        binder.blocks.pop();
        for (place, expression) in bound {
            let Some(expression) = expression else { continue };
            let shown = column_at(&binder.block().tables[number], place);
            let mut result = shown.result.clone();
            result.coercibility = expression.result.coercibility;
            let hidden = &definition.columns[place];
            let column = if hidden.is_hidden() {
                Expression::slot(place, Arc::from(hidden.shown_name().as_ref()), result)
            } else {
                Expression { result, ..shown }
            };
            values.push(IndexedValue { table: number, place, column, expression });
        }
    }
    values
}

fn indexed_columns(definition: &TableDefinition) -> BTreeSet<usize> {
    let used = definition.indexes.iter().filter(|index| !index.invisible);
    let parts = used.flat_map(|index| &index.parts).filter(|part| part.prefix_length.is_none());
    let columns = &definition.columns;
    // Those of arrays have their elements' values, and are read otherwise.
    let has_value =
        |column: &usize| columns[*column].generated.is_some() && columns[*column].element_type().is_none();
    parts.map(|part| part.column).filter(has_value).collect()
}

/// What a part of a stored expression computes of a row of the table. None if it depends on who computes it.
pub(super) fn bound_in_table(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
    parsed: &ast::Expression,
) -> Option<Expression> {
    push_target(binder, definition, &definition.name.table);
    let bound = bound_silently(binder, parsed);
    binder.blocks.pop();
    bound.filter(|expression| !depends_on_session(expression, definition))
}

/// None for what cannot be bound, or has a literal that the session's time zone decides.
fn bound_silently(binder: &mut Binder<'_>, parsed: &ast::Expression) -> Option<Expression> {
    if has_offset(parsed) {
        return None;
    }
    let reported = binder.input.context.diagnostics().mark();
    let bound = bind_stored(binder, parsed);
    binder.input.context.diagnostics().forget_since(reported);
    bound.ok()
}

/// The expression of a generated column, in the block of its table. None if it depends on who computes it, or is no more than a column or a
/// constant.
fn bound_value(binder: &mut Binder<'_>, definition: &TableDefinition, at: usize) -> Option<Expression> {
    let column = &definition.columns[at];
    let expression = bound_silently(binder, &parse_stored(&column.generated.as_ref()?.text).ok()?)?;
    let is_computed = expression.reads_columns() && expression.column_slot().is_none();
    // A value that the column's type cut is another; and so is what another session's variables gave another type.
    let result = &expression.result;
    let kept = match column.is_hidden() {
        true => key_part_type(result),
        false => result.column_type.clone(),
    };
    let is_kept = kept == column.column_type;
    (is_computed && is_kept && !depends_on_session(&expression, definition)).then_some(expression)
}

/// Pure functions that read variables of the session: EXTRACT(WEEK ..) default_week_format, the others block_encryption_mode.
const OF_SESSION: &[&str] = &["aes_decrypt", "aes_encrypt", "extract"];

/// Whether sessions with other variables would compute other values: the index has those of who wrote the rows.
fn depends_on_session(expression: &Expression, definition: &TableDefinition) -> bool {
    let has = |is_such: &dyn Fn(&Expression) -> bool| expression.any(&|part| is_such(part));
    let is_moment = |part: &Expression| {
        part.column_slot()
            .is_some_and(|slot| definition.columns[slot].column_type.kind == TypeKind::Timestamp)
    };
    let is_text = |part: &Expression| part.result.class() == TypeClass::Text;
    // Of a text that is no date sql_mode says whether it is NULL.
    let reads_text = |part: &Expression| match &part.kind {
        ExpressionKind::Function(call) => {
            call.definition.json == JsonArguments::Moments && call.arguments.iter().any(is_text)
        }
        ExpressionKind::Cast(cast) => {
            is_text(&cast.operand) && matches!(part.result.class(), TypeClass::DateTime | TypeClass::Time)
        }
        ExpressionKind::DateArithmetic(operation) => is_text(&operation.operand),
        _ => false,
    };
    let is_of_session = |part: &Expression| match &part.kind {
        ExpressionKind::Function(call) => {
            call.definition.differs_between_rows() || OF_SESSION.contains(&call.definition.canonical_name())
        }
        ExpressionKind::Arithmetic(operation) => operation.operator == ArithmeticOperator::Divide,
        _ => false,
    };
    let is_of = |class: TypeClass| move |part: &Expression| part.result.class() == class;
    // A time of day becomes a moment of the present day.
    let mixes = has(&is_of(TypeClass::Time)) && has(&is_of(TypeClass::DateTime));
    mixes || has(&is_moment) || has(&reads_text) || has(&is_of_session)
}

/// Whether some literal is, or may be read as, a moment with an offset, which is read in the session's time zone.
fn has_offset(expression: &ast::Expression) -> bool {
    use ast::Literal::{String, Timestamp};
    if let ast::Expression::Literal(Timestamp(text) | String { bytes: text, .. }) = expression {
        let time = text.rsplit(|byte| matches!(byte, b' ' | b'T')).next().unwrap_or_default();
        return time.contains(&b':') && time.iter().any(|byte| matches!(byte, b'+' | b'-'));
    }
    let mut found = false;
    expression.each_child(&mut |child| {
        if let ast::Child::Expression(inner) = child {
            found |= has_offset(inner);
        }
    });
    found
}
