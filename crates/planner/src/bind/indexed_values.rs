//! The generated columns of the tables of a block that indexes have, with their expressions. Main function: [`indexed_values`].

use super::Binder;
use super::change::push_target;
use super::column::column_at;
use super::stored_text::{bind_stored, parse_stored};
use dictionary::TableDefinition;
use expression::operators::ArithmeticOperator;
use expression::{Expression, ExpressionKind, TablePurpose, TypeClass, ValueSource, table_type};
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

/// The expression of a generated column. None if it depends on who computes it, or is no more than a column or a constant.
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
    let is_computed = expression.reads_columns() && expression.column_slot().is_none();
    // A value that the column's type cut is another; and so is what another session's variables gave another type.
    let result = &expression.result;
    let kept = match column.is_hidden() {
        true => table_type(result, ValueSource::Function, TablePurpose::Created),
        false => result.column_type.clone(),
    };
    let is_kept = kept == column.column_type;
    (is_computed && is_kept && !depends_on_session(&expression, definition, text)).then_some(expression)
}

/// Functions whose values follow from variables of the session too: language, time zone, sql_mode, default_week_format.
const OF_SESSION: &[&str] = &[
    "convert_tz",
    "date_format",
    "dayname",
    "format",
    "from_unixtime",
    "monthname",
    "str_to_date",
    "time_format",
    "unix_timestamp",
    "week",
    "yearweek",
];

/// Whether sessions with other variables would compute other values: the index has those of who wrote the rows.
fn depends_on_session(expression: &Expression, definition: &TableDefinition, text: &str) -> bool {
    let has = |is_such: &dyn Fn(&Expression) -> bool| expression.any(&|part| is_such(part));
    let is_moment = |part: &Expression| {
        part.column_slot()
            .is_some_and(|slot| definition.columns[slot].column_type.kind == TypeKind::Timestamp)
    };
    let is_of_session = |part: &Expression| match &part.kind {
        ExpressionKind::Function(call) => OF_SESSION.contains(&call.definition.canonical_name()),
        ExpressionKind::Arithmetic(operation) => operation.operator == ArithmeticOperator::Divide,
        // What is no date is NULL or a date, by sql_mode.
        ExpressionKind::Cast(cast) => {
            cast.operand.result.class() == TypeClass::Text
                && matches!(part.result.class(), TypeClass::DateTime | TypeClass::Time)
        }
        _ => false,
    };
    let is_of = |class: TypeClass| move |part: &Expression| part.result.class() == class;
    // A time of day becomes a moment of the present day.
    let mixes = has(&is_of(TypeClass::Time)) && has(&is_of(TypeClass::DateTime));
    mixes || has(&is_moment) || has(&is_of_session) || has_offset(text)
}

/// Whether some literal is a moment with an offset, which is read in the session's time zone.
fn has_offset(text: &str) -> bool {
    text.split("TIMESTAMP'").skip(1).any(|rest| {
        let literal = rest.split('\'').next().unwrap_or_default();
        literal.rsplit(' ').next().is_some_and(|time| time.contains(['+', '-']))
    })
}
