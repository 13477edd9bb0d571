//! Subqueries of expressions. What depends on no outer row runs once; what does runs once for each set of outer values
//! that was not seen before. Main function: [`run`].

use super::{append_key, open};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{KeySet, RowCursor, RowStore};
use errors::{SqlResult, sql_error};
use expression::operators::{ComparisonMode, ComparisonOperator, compare_values};
use expression::{SubqueryUse, SubqueryValue};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use values::{ColumnType, Value};

/// Sets of outer values that are remembered for one subquery.
const REMEMBERED_MAX: usize = 10_000;

/// What a subquery found, by the values of the outer row.
#[derive(Default)]
pub struct SubqueryMemory {
    /// Key: the outer values' debug form is not canonical, so keys are compared as values.
    found: HashMap<Vec<u8>, Rc<Found>>,
}

/// What one run found.
enum Found {
    Value(Value),
    Exists(bool),
    Rows(RowSet),
}

/// Rows of an IN, ANY or ALL subquery.
struct RowSet {
    rows: RowStore,
    /// Keys of the rows without NULL.
    keys: RefCell<KeySet>,
    has_null: bool,
}

fn outer_key(outer: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    for value in outer {
        let mut text = Vec::new();
        match value {
            Value::Null => key.push(0),
            Value::Bytes(bytes) => {
                key.push(1);
                text.extend_from_slice(bytes);
            }
            other => {
                key.push(2);
                text.extend_from_slice(format!("{other:?}").as_bytes());
            }
        }
        key.extend_from_slice(&(text.len() as u64).to_le_bytes());
        key.extend_from_slice(&text);
    }
    key
}

/// Runs a subquery for the values of an outer row.
pub fn run(
    run: &mut Run<'_, '_>,
    id: usize,
    outer: Vec<Value>,
    operands: &[Value],
) -> SqlResult<SubqueryValue> {
    let subquery = &run.plan.subqueries[id];
    let key = outer_key(&outer);
    let known = run.subqueries[id].found.get(&key).cloned();
    let found = match known {
        Some(found) => found,
        None => {
            run.frames.push(outer);
            let found = execute(run, id);
            run.frames.pop();
            let found = Rc::new(found?);
            let memory = &mut run.subqueries[id];
            if memory.found.len() >= REMEMBERED_MAX {
                memory.found.clear();
            }
            memory.found.insert(key, found.clone());
            found
        }
    };
    let value = match (&*found, subquery.wanted) {
        (Found::Value(value), _) => value.clone(),
        (Found::Exists(exists), _) => Value::Int(i64::from(*exists)),
        (Found::Rows(rows), SubqueryUse::In) => truth(is_in(run, id, rows, operands)?),
        (Found::Rows(rows), SubqueryUse::NotIn) => truth(is_in(run, id, rows, operands)?.map(|found| !found)),
        (Found::Rows(rows), SubqueryUse::Any(operator)) => {
            truth(quantified(run, id, rows, operands, operator, true)?)
        }
        (Found::Rows(rows), SubqueryUse::All(operator)) => {
            truth(quantified(run, id, rows, operands, operator, false)?)
        }
        (Found::Rows(_), _) => Value::Null,
    };
    Ok(SubqueryValue::Scalar(value))
}

fn truth(truth: Option<bool>) -> Value {
    expression::evaluate::truth_value(truth)
}

fn execute(run: &mut Run<'_, '_>, id: usize) -> SqlResult<Found> {
    let plan = run.plan;
    let subquery = &plan.subqueries[id];
    let mut operator = open(&subquery.query.root);
    let mut batch = RowBatch::new();
    match subquery.wanted {
        SubqueryUse::Exists => {
            batch.want(1);
            Ok(Found::Exists(operator.next(run, &mut batch)?))
        }
        SubqueryUse::Scalar | SubqueryUse::Row => {
            let mut value = None;
            while operator.next(run, &mut batch)? {
                for row in batch.iter() {
                    if value.replace(row[0].clone()).is_some() {
                        return Err(sql_error!(ER_SUBQUERY_NO_1_ROW));
                    }
                }
            }
            Ok(Found::Value(value.unwrap_or(Value::Null)))
        }
        _ => {
            let width = subquery.comparisons.len();
            let (mut rows, mut keys) = (run.row_store(), run.key_set());
            let mut has_null = false;
            let mut key = Vec::new();
            while operator.next(run, &mut batch)? {
                for row in batch.iter() {
                    let row = &row[..width];
                    key.clear();
                    let mut whole = true;
                    for (index, value) in row.iter().enumerate() {
                        let column_type = &subquery.query.columns[index].result.column_type;
                        whole &=
                            append_key(subquery.comparisons[index].0, value, column_type, run, &mut key)?;
                    }
                    if whole {
                        keys.insert(&key)?;
                    } else {
                        has_null = true;
                    }
                    rows.push(row)?;
                }
            }
            Ok(Found::Rows(RowSet { rows, keys: RefCell::new(keys), has_null }))
        }
    }
}

fn is_in(run: &mut Run<'_, '_>, id: usize, set: &RowSet, operands: &[Value]) -> SqlResult<Option<bool>> {
    let plan = run.plan;
    let comparisons = &plan.subqueries[id].comparisons;
    if set.rows.len() == 0 {
        return Ok(Some(false));
    }
    let mut key = Vec::new();
    let mut whole = true;
    for ((mode, column_type), operand) in comparisons.iter().zip(operands) {
        whole &= append_key(*mode, operand, column_type, run, &mut key)?;
    }
    if whole && set.keys.borrow_mut().contains(&key)? {
        return Ok(Some(true));
    }
    if whole && !set.has_null {
        return Ok(Some(false));
    }
    // A NULL on either side makes the answer unknown, unless another column differs in every row.
    let (mut cursor, mut batch) = (RowCursor::new(), RowBatch::new());
    while cursor.next(&set.rows, set.rows.len(), &mut batch)? {
        for row in batch.iter() {
            if row_equal(run, id, operands, row)? != Some(false) {
                return Ok(None);
            }
        }
    }
    Ok(Some(false))
}

fn row_equal(run: &mut Run<'_, '_>, id: usize, operands: &[Value], row: &[Value]) -> SqlResult<Option<bool>> {
    let plan = run.plan;
    let subquery = &plan.subqueries[id];
    let mut unknown = false;
    for (index, (mode, column_type)) in subquery.comparisons.iter().enumerate() {
        let inner = &subquery.query.columns[index].result.column_type;
        match order(run, *mode, &operands[index], column_type, &row[index], inner)? {
            Some(std::cmp::Ordering::Equal) => {}
            Some(_) => return Ok(Some(false)),
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(true) })
}

fn order(
    run: &mut Run<'_, '_>,
    mode: ComparisonMode,
    left: &Value,
    left_type: &ColumnType,
    right: &Value,
    right_type: &ColumnType,
) -> SqlResult<Option<std::cmp::Ordering>> {
    compare_values(mode, left, left_type, right, right_type, run)
}

/// `operand op ANY (rows)`, and ALL when not `any`.
fn quantified(
    run: &mut Run<'_, '_>,
    id: usize,
    set: &RowSet,
    operands: &[Value],
    operator: ComparisonOperator,
    any: bool,
) -> SqlResult<Option<bool>> {
    let plan = run.plan;
    let subquery = &plan.subqueries[id];
    let (mode, column_type) = &subquery.comparisons[0];
    let inner = &subquery.query.columns[0].result.column_type;
    let mut unknown = false;
    let (mut cursor, mut batch) = (RowCursor::new(), RowBatch::new());
    while cursor.next(&set.rows, set.rows.len(), &mut batch)? {
        for row in batch.iter() {
            match order(run, *mode, &operands[0], column_type, &row[0], inner)? {
                Some(order) if operator.holds(order) == any => return Ok(Some(any)),
                Some(_) => {}
                None => unknown = true,
            }
        }
    }
    Ok(if unknown { None } else { Some(!any) })
}
