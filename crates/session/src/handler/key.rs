//! The values of HANDLER .. READ as bytes of a key. Main function: [`key_prefix`].

use dictionary::ColumnDefinition;
use engine::Table;
use errors::{Condition, Diagnostics, Level, SqlError, SqlResult, code, sql_error};
use exec::{PlanningContext, StatementContext};
use expression::{EvaluationContext, Expression, ExpressionKind};
use plan::json_table::store_mode;
use values::store::{Documents, Source, StoreContext, store};
use values::{RowRef, TypeKind, Value};

/// What storing one value reports, at most.
const CONDITIONS_MAX: usize = 8;

/// Functions whose value is settled when a statement runs: MySQL takes them for no constants. It does take those that give something else
/// for each row.
const SETTLED_LATE: &[&str] = &[
    "connection_id",
    "curdate",
    "current_user",
    "curtime",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "now",
    "release_all_locks",
    "release_lock",
    "session_user",
    "system_user",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
];

/// The first parts of an index's key with these values. They become values of its columns as if they were stored; what does not fit is
/// cut without a word. `name` is what READ calls the index. Errors: 1048, 1210.
pub(super) fn key_prefix(
    table: &Table,
    index: usize,
    name: &str,
    values: &[Expression],
    context: &mut StatementContext<'_>,
) -> SqlResult<Vec<u8>> {
    let index = &table.indexes()[index];
    let mut key = Vec::new();
    for (part, (expression, column)) in values.iter().zip(index.key_columns()).enumerate() {
        if expression.reads_rows() || expression.any(&is_settled_late) {
            return Err(wrong_arguments());
        }
        let column = &table.definition().columns[*column];
        let mut evaluation = PlanningContext::new(context);
        let value = expression.evaluate(RowRef::EMPTY, &mut evaluation)?;
        if value == Value::Null && !column.nullable {
            return Err(sql_error!(ER_BAD_NULL_ERROR, name));
        }
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

pub(super) fn wrong_arguments() -> SqlError {
    sql_error!(ER_WRONG_ARGUMENTS, "HANDLER ... READ")
}

fn is_settled_late(part: &Expression) -> bool {
    match &part.kind {
        ExpressionKind::UserVariable(_) | ExpressionKind::SystemVariable(..) => true,
        ExpressionKind::Function(call) => {
            let name = call.definition.canonical_name();
            SETTLED_LATE.contains(&name) || name == "unix_timestamp" && call.arguments.is_empty()
        }
        _ => false,
    }
}

/// A value as the column holds it.
fn stored(
    expression: &Expression,
    value: &Value,
    column: &ColumnDefinition,
    evaluation: &mut PlanningContext<'_, '_>,
) -> SqlResult<Value> {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let (mut told, mut wrong) = (Diagnostics::new(CONDITIONS_MAX), false);
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
    let target = column.key_type();
    let stored = store(value, &expression.result.column_type, target, &mut storing)?;
    let is_temporal = target.kind.is_temporal();
    let is_heard = |condition: &&Condition| {
        condition.level == Level::Warning
            && (is_temporal || condition.error.is(&code::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD))
    };
    let is_text = target.kind.is_text();
    for condition in told.conditions().iter().filter(|_| is_temporal || is_text).filter(is_heard) {
        evaluation.diagnostics().warning(condition.error.clone());
        wrong |= is_temporal;
    }
    if wrong {
        return Err(wrong_arguments());
    }
    Ok(match stored {
        Value::DateTime(moment) if column.column_type.kind == TypeKind::Timestamp => {
            Value::DateTime(evaluation.facts().time_zone.stored(moment))
        }
        stored => stored,
    })
}
