//! The aggregates of a subquery for all rows around, by the values that tell these apart: made once the subquery has run so often that they
//! cost no more. Main type: [`KeptGroups`]. Belongs to one execution.

use super::group::Group;
use super::{all_hold, append_key, open};
use crate::batch::RowBatch;
use crate::run::{Run, row_bytes};
use crate::spill::Held;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::{Aggregate, Node};
use plan::{OuterKey, PlanKind, SubqueryGroups};
use std::collections::HashMap;
use std::rc::Rc;
use values::{RowRef, Value};

/// What a group costs beside its key and its values.
const GROUP_BYTES: usize = 128;
/// The part of the statement's memory that they may take, at most.
const MEMORY_PART: u64 = 2;

/// Groups that were read.
pub struct Groups {
    /// Their aggregates, by what they are found by.
    by_key: HashMap<Vec<u8>, Vec<Value>>,
    /// What they take.
    held: Held,
}

/// The groups of a subquery.
pub enum KeptGroups {
    /// So many runs were made without them.
    Runs(u64),
    /// They are there.
    Kept(Rc<Groups>),
    /// It runs for each row: groups cannot be kept.
    Refused,
}

impl Default for KeptGroups {
    fn default() -> KeptGroups {
        KeptGroups::Runs(0)
    }
}

/// What the groups know of a subquery's row.
pub(super) enum GroupRow {
    /// It, be it none.
    Found(Option<Vec<Value>>),
    /// Nothing: the subquery has to run.
    Runs,
}

/// The row of a subquery for the values of the row around, which are the last frame.
pub(super) fn row_of_group(run: &mut Run<'_, '_>, id: usize) -> SqlResult<GroupRow> {
    let plan = run.plan;
    let Some(groups) = &plan.subqueries[id].groups else { return Ok(GroupRow::Runs) };
    let Some(kept) = groups_of(run, id, groups)? else { return Ok(GroupRow::Runs) };
    let root = &plan.subqueries[id].query.root;
    let mut key = Vec::new();
    let outer = run.frames.last().cloned().unwrap_or_default();
    let found = match append_outer(&groups.keys, &outer, run, &mut key)? {
        true => kept.by_key.get(&key).cloned(),
        false => None,
    };
    computed(root, found, run).map(GroupRow::Found)
}

/// The groups, if they are to be had: made now if it is time.
fn groups_of(run: &mut Run<'_, '_>, id: usize, groups: &SubqueryGroups) -> SqlResult<Option<Rc<Groups>>> {
    match &mut run.subqueries[id].groups {
        KeptGroups::Kept(kept) => return Ok(Some(kept.clone())),
        KeptGroups::Refused => return Ok(None),
        KeptGroups::Runs(runs) if *runs < groups.after_runs => {
            *runs += 1;
            return Ok(None);
        }
        KeptGroups::Runs(_) => {}
    }
    // A query locks only rows that are asked for (a change would come to nearly all), and routines may change what is not read yet.
    let is_query = matches!(run.plan.kind, PlanKind::Query(..) | PlanKind::Do(_));
    let locks_asked = is_query && run.statement.settings.reads_lock;
    let may = !locks_asked && !run.plan.calls_routines;
    let made = if may { kept_groups(run, groups)? } else { None };
    let (state, found) = match made {
        Some(kept) => {
            let kept = Rc::new(kept);
            (KeptGroups::Kept(kept.clone()), Some(kept))
        }
        None => (KeptGroups::Refused, None),
    };
    run.subqueries[id].groups = state;
    Ok(found)
}

/// Reads all groups; None if they are too much.
fn kept_groups(run: &mut Run<'_, '_>, groups: &SubqueryGroups) -> SqlResult<Option<Groups>> {
    let bytes_max = run.workspace().bytes_left() / MEMORY_PART;
    let mut kept = Groups { by_key: HashMap::new(), held: run.hold() };
    let mut operator = open(&groups.query.root, run);
    let mut batch = RowBatch::new();
    let count = groups.keys.len();
    while operator.next(run, &mut batch)? {
        run.check_killed()?;
        for row in batch.iter() {
            let (keys, aggregates) = row.split_at(count);
            let mut key = Vec::new();
            if !append_key_columns(&groups.keys, keys, run, &mut key)? {
                continue;
            }
            let values = aggregates.to_values();
            let bytes = (key.len() + row_bytes(&values) + GROUP_BYTES) as u64;
            let fits = kept.held.bytes() + bytes <= bytes_max && kept.held.try_grow(bytes);
            // Of two groups that are the same to the row around neither is the whole.
            if !fits || kept.by_key.insert(key, values).is_some() {
                return Ok(None);
            }
        }
    }
    Ok(Some(kept))
}

/// Appends what a group is found by. False if a key is NULL, which nothing is equal to.
fn append_key_columns(
    keys: &[OuterKey],
    values: RowRef<'_>,
    run: &mut Run<'_, '_>,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    for (key, value) in keys.iter().zip(values.iter()) {
        if !append_key(key.mode, value, &key.key_type, run, out)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same of the values of the row around.
fn append_outer(
    keys: &[OuterKey],
    outer: &[Value],
    run: &mut Run<'_, '_>,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    for key in keys {
        let Some(value) = outer.get(key.outer) else { return Ok(false) };
        if !append_key(key.mode, value.as_ref(), &key.outer_type, run, out)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What the query shows of a group; None if HAVING leaves it out. A group that was not found has no rows.
fn computed(node: &Node, group: Option<Vec<Value>>, run: &mut Run<'_, '_>) -> SqlResult<Option<Vec<Value>>> {
    match node {
        Node::Aggregate(step) => match group {
            Some(row) => Ok(Some(row)),
            None => empty_group(step, run).map(Some),
        },
        Node::Filter { input, conditions } => {
            let Some(row) = computed(input, group, run)? else { return Ok(None) };
            Ok(all_hold(conditions, RowRef::Values(&row), run)?.then_some(row))
        }
        Node::Project { input, expressions } => {
            let Some(row) = computed(input, group, run)? else { return Ok(None) };
            let row = RowRef::Values(&row);
            let shown = expressions.iter().map(|shown| Ok(shown.operand(row, run)?.into_value()));
            shown.collect::<SqlResult<Vec<Value>>>().map(Some)
        }
        _ => unreachable!("only what is over one group is computed of groups that were kept"),
    }
}

fn empty_group(step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Vec<Value>> {
    Group::new(step, Vec::new(), 0, 0).finish(step, run)
}
