//! The values of HANDLER .. READ as bytes of a key. Main function: [`key_prefix`].

use dictionary::ColumnDefinition;
use engine::Table;
use errors::{Diagnostics, Level, SqlError, SqlResult, sql_error};
use exec::{PlanningContext, StatementContext};
use expression::{EvaluationContext, Expression, ExpressionKind};
use plan::json_table::store_mode;
use values::store::{Documents, Source, StoreContext, store};
use values::{RowRef, TypeKind, Value};

/// What storing one value reports, at most.
const CONDITIONS_MAX: usize = 8;

/// The first parts of an index's key with these values. They become values of its columns as if they were stored, and what does not fit is
/// cut without a word. Errors: 1048, 1210.
pub(super) fn key_prefix(
    table: &Table,
    index: usize,
    values: &[Expression],
    context: &mut StatementContext<'_>,
) -> SqlResult<Vec<u8>> {
    let index = &table.indexes()[index];
    let mut key = Vec::new();
    for (part, (expression, column)) in values.iter().zip(index.key_columns()).enumerate() {
        if expression.reads_rows() || reads_variable(expression) {
            return Err(wrong_arguments());
        }
        let column = &table.definition().columns[*column];
        let mut evaluation = PlanningContext::new(context);
        let value = expression.evaluate(RowRef::EMPTY, &mut evaluation)?;
        let stored = stored(expression, &value, column, &mut evaluation)?;
        // What is too long for a key is in none.
        index.key_layout().encode_part(part, &stored, &mut key).map_err(|_| wrong_arguments())?;
    }
    match values.len() == index.key_columns().len() {
        true => index.fit_key(&mut key),
        false => index.fit_range(&mut key, &mut None),
    }
    Ok(key)
}

fn wrong_arguments() -> SqlError {
    sql_error!(ER_WRONG_ARGUMENTS, "HANDLER ... READ")
}

fn reads_variable(expression: &Expression) -> bool {
    if matches!(expression.kind, ExpressionKind::UserVariable(_) | ExpressionKind::AssignUserVariable(..)) {
        return true;
    }
    let mut found = false;
    expression.for_each_child(&mut |child| found |= reads_variable(child));
    found
}

/// A value as the column holds it.
fn stored(
    expression: &Expression,
    value: &Value,
    column: &ColumnDefinition,
    evaluation: &mut PlanningContext<'_, '_>,
) -> SqlResult<Value> {
    if *value == Value::Null {
        return match column.nullable {
            true => Ok(Value::Null),
            false => Err(sql_error!(ER_BAD_NULL_ERROR, column.name)),
        };
    }
    let mut told = Diagnostics::new(CONDITIONS_MAX);
    let facts = evaluation.facts();
    let mut storing = StoreContext {
        mode: store_mode(facts, false),
        table: "",
        column: &column.name,
        row: 1,
        source: Source::Expression,
        diagnostics: &mut told,
        documents: Documents::ANY,
    };
    // An entry of a multi-valued part is an element.
    let target = column.element_type().unwrap_or(&column.column_type);
    let stored = store(value, &expression.result.column_type, target, &mut storing)?;
    let is_wrong = told.conditions().iter().any(|condition| condition.level != Level::Note);
    if is_wrong && target.kind.is_temporal() {
        return Err(wrong_arguments());
    }
    Ok(match stored {
        Value::DateTime(moment) if column.column_type.kind == TypeKind::Timestamp => {
            Value::DateTime(facts.time_zone.stored(moment))
        }
        stored => stored,
    })
}
