//! Subqueries of expressions. What depends on no outer row runs once; what does runs once for each set of outer values
//! that was not seen before. Main function: [`run`]. The sets of IN and its like are in `subquery_set.rs`,
//! the groups of all outer values in `subquery_groups.rs`.

use super::open;
use super::subquery_groups::{GroupRow, KeptGroups, row_of_group};
use super::subquery_set::{Extremes, RowSet};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{Held, encode_row};
use errors::{SqlResult, sql_error};
use expression::{SubqueryUse, SubqueryValue};
use plan::physical::Node;
use std::collections::HashMap;
use std::rc::Rc;
use values::{RowRef, Value};

/// Sets of outer values that are remembered for one subquery.
const REMEMBERED_MAX: usize = 10_000;
/// Bytes of what is remembered for them. What comes last is remembered whatever its size.
const REMEMBERED_BYTES_MAX: u64 = 16 << 20;
/// What an entry costs beside its key and its value.
const ENTRY_BYTES: u64 = 128;

/// What an execution keeps of a subquery.
#[derive(Default)]
pub struct KeptSubquery {
    memory: SubqueryMemory,
    /// Of all rows around.
    pub(super) groups: KeptGroups,
}

/// What a subquery found, by the values of the outer row.
#[derive(Default)]
struct SubqueryMemory {
    /// Of one that depends on no outer row.
    only: Option<Rc<Found>>,
    found: HashMap<Vec<u8>, Rc<Found>>,
    bytes: u64,
    held: Option<Held>,
}

/// What one run found.
enum Found {
    Value(Value),
    /// The one row; None where there is none.
    Row(Option<Vec<Value>>),
    Exists(bool),
    Rows(RowSet),
    Extremes(Extremes),
}

impl Found {
    /// Bytes in memory, and how many of them nobody has charged yet.
    fn bytes(&self) -> (u64, u64) {
        let text = |value: &Value| match value {
            Value::Bytes(bytes) => bytes.len() as u64,
            _ => 0,
        };
        match self {
            Found::Exists(_) => (0, 0),
            Found::Value(value) => (text(value), text(value)),
            Found::Row(row) => {
                let bytes = row.iter().flatten().map(text).sum();
                (bytes, bytes)
            }
            Found::Rows(rows) => rows.memory_bytes(),
            Found::Extremes(extremes) => {
                let bytes = extremes.values().map(text).sum();
                (bytes, bytes)
            }
        }
    }
}

impl SubqueryMemory {
    /// Remembers the only thing that can be found. Error 1114 if the statement has no memory left.
    fn remember_only(&mut self, found: Rc<Found>, hold: impl FnOnce() -> Held) -> SqlResult<()> {
        let (_, uncharged) = found.bytes();
        self.held.get_or_insert_with(hold).grow(ENTRY_BYTES + uncharged)?;
        self.only = Some(found);
        Ok(())
    }

    /// Remembers what was found; forgets all before if it is too much. Error 1114 if the statement has no memory left.
    fn remember(&mut self, key: Vec<u8>, found: Rc<Found>, hold: impl FnOnce() -> Held) -> SqlResult<()> {
        let (bytes, uncharged) = found.bytes();
        let own = key.len() as u64 + ENTRY_BYTES;
        if self.found.len() >= REMEMBERED_MAX || self.bytes + own + bytes > REMEMBERED_BYTES_MAX {
            *self = SubqueryMemory::default();
        }
        self.held.get_or_insert_with(hold).grow(own + uncharged)?;
        self.bytes += own + bytes;
        self.found.insert(key, found);
        Ok(())
    }
}

/// Runs a subquery for the values of an outer row.
pub fn run(
    run: &mut Run<'_, '_>,
    id: usize,
    outer: Vec<Value>,
    operands: &[Value],
) -> SqlResult<SubqueryValue> {
    let plan = run.plan;
    let subquery = &plan.subqueries[id];
    let found =
        if subquery.repeats { Rc::new(execute(run, id, outer)?) } else { remembered(run, id, outer)? };
    let value = match (&*found, subquery.wanted) {
        (Found::Value(value), _) => value.clone(),
        (Found::Row(row), _) => return Ok(SubqueryValue::Row(row.clone())),
        (Found::Exists(exists), _) => Value::Int(i64::from(*exists)),
        (Found::Rows(rows), SubqueryUse::NotIn) => {
            truth(rows.holds(subquery, operands, run)?.map(|found| !found))
        }
        (Found::Rows(rows), _) => truth(rows.holds(subquery, operands, run)?),
        (Found::Extremes(extremes), SubqueryUse::Any(operator)) => {
            truth(extremes.quantified(subquery, operands, operator, true, run)?)
        }
        (Found::Extremes(extremes), SubqueryUse::All(operator)) => {
            truth(extremes.quantified(subquery, operands, operator, false, run)?)
        }
        (Found::Extremes(_), _) => Value::Null,
    };
    Ok(SubqueryValue::Scalar(value))
}

/// What was found for the values of an outer row, now or before.
fn remembered(run: &mut Run<'_, '_>, id: usize, outer: Vec<Value>) -> SqlResult<Rc<Found>> {
    let mut key = Vec::new();
    let depends = !outer.is_empty();
    let memory = &run.subqueries[id].memory;
    let known = match depends {
        true => {
            encode_row(RowRef::Values(&outer), &mut key);
            memory.found.get(&key)
        }
        false => memory.only.as_ref(),
    };
    if let Some(found) = known {
        return Ok(found.clone());
    }
    let found = Rc::new(execute(run, id, outer)?);
    let mut memory = std::mem::take(&mut run.subqueries[id].memory);
    let remembered = match depends {
        true => memory.remember(key, found.clone(), || run.hold()),
        false => memory.remember_only(found.clone(), || run.hold()),
    };
    run.subqueries[id].memory = memory;
    remembered.map(|()| found)
}

fn truth(truth: Option<bool>) -> Value {
    expression::evaluate::truth_value(truth)
}

fn execute(run: &mut Run<'_, '_>, id: usize, outer: Vec<Value>) -> SqlResult<Found> {
    let plan = run.plan;
    run.forget_common_tables(&plan.subqueries[id].common_tables);
    run.frames.push(outer);
    let found = find(run, id);
    run.frames.pop();
    found
}

fn find(run: &mut Run<'_, '_>, id: usize) -> SqlResult<Found> {
    let plan = run.plan;
    let subquery = &plan.subqueries[id];
    if let Some(value) = &subquery.known {
        return Ok(match subquery.wanted {
            SubqueryUse::Exists => Found::Exists(*value != Value::Int(0)),
            _ => Found::Value(value.clone()),
        });
    }
    match subquery.wanted {
        SubqueryUse::Exists => {
            let mut batch = RowBatch::new();
            batch.want(1);
            Ok(Found::Exists(open(rows_alone(&subquery.query.root), run).next(run, &mut batch)?))
        }
        SubqueryUse::Scalar => {
            let row = found_row(run, id)?;
            Ok(Found::Value(row.and_then(|row| row.into_iter().next()).unwrap_or(Value::Null)))
        }
        SubqueryUse::Row => Ok(Found::Row(found_row(run, id)?)),
        SubqueryUse::In | SubqueryUse::NotIn => Ok(Found::Rows(RowSet::read(subquery, id, run)?)),
        SubqueryUse::Any(_) | SubqueryUse::All(_) => Ok(Found::Extremes(Extremes::read(subquery, run)?)),
    }
}

/// The part of a query that decides whether it has rows: MySQL computes nothing of the select list of EXISTS.
fn rows_alone(node: &Node) -> &Node {
    match node {
        Node::Project { input, .. } => input,
        Node::Distinct { input, .. } | Node::Sort { input, limit: None, .. } => rows_alone(input),
        other => other,
    }
}

/// The one row, of the groups for all rows around or by a run of its own.
fn found_row(run: &mut Run<'_, '_>, id: usize) -> SqlResult<Option<Vec<Value>>> {
    match row_of_group(run, id)? {
        GroupRow::Found(row) => Ok(row),
        GroupRow::Runs => one_row(run, id),
    }
}

/// The one row; error 1242 if there are more.
fn one_row(run: &mut Run<'_, '_>, id: usize) -> SqlResult<Option<Vec<Value>>> {
    let plan = run.plan;
    let query = &plan.subqueries[id].query;
    let mut operator = open(&query.root, run);
    let mut batch = RowBatch::new();
    batch.want(2);
    let mut found = None;
    while operator.next(run, &mut batch)? {
        for row in batch.iter() {
            if found.replace(row.first(query.columns.len()).to_values()).is_some() {
                return Err(sql_error!(ER_SUBQUERY_NO_1_ROW));
            }
        }
    }
    Ok(found)
}
