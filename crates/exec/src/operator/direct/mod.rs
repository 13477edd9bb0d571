//! Aggregates straight over stored rows: one table, or a join of two on integers of which only one side's columns count. Nothing is
//! decoded but what the query asks for, and nothing is allocated per row. Main function: [`aggregate`], which says no to
//! whatever it cannot do; the generic operators do everything. Both give the same groups, in an order of their own.

pub(super) mod column;
pub(super) mod filter;
mod groups;
mod order;
mod scan;
mod totals;

use crate::actuals::{Loop, StepId};
use crate::run::Run;
use crate::spill::Held;
use crate::spill::key_counts::KeyCounts;
use column::{DirectKey, StoredColumn, layout};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use groups::Groups;
pub use order::DirectOrder;
use plan::physical::{Aggregate, HashJoin, JoinKind, Node, TableAccess};
use scan::{DirectScan, is_direct};
use totals::{DirectTotal, TotalState};
use values::Value;
use values::row::{IntegerColumn, RowView};

/// What groups hold is taken from the statement's memory in steps of so many bytes.
const STEP_BYTES: u64 = 32 << 10;

/// How rows of one table are grouped and counted.
struct Shape<'p> {
    key: Option<DirectKey<'p>>,
    totals: Vec<DirectTotal<'p>>,
}

/// The other side of a join: only how often a key occurs there counts.
struct Matches<'p> {
    access: &'p TableAccess,
    /// Its key.
    key: IntegerColumn,
    /// The key of the table whose columns count.
    own_key: IntegerColumn,
    /// A semijoin: once is enough.
    once: bool,
}

/// The rows of an aggregation (keys, then aggregates), if it can be done directly. What outgrows its memory cannot: the
/// generic operators, which go to disk, then read the rows again.
pub fn aggregate(step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Option<Vec<Vec<Value>>>> {
    let examined = run.rows_examined;
    let found = in_memory(step, run)?;
    if found.is_none() {
        run.rows_examined = examined;
    }
    Ok(found)
}

fn in_memory(step: &Aggregate, run: &mut Run<'_, '_>) -> SqlResult<Option<Vec<Vec<Value>>>> {
    if !run.statement.settings.fast_plans || step.rollup || step.keys.len() > 1 {
        return Ok(None);
    }
    match &step.input {
        Node::Table(access) => match Shape::of(step, access) {
            Some(shape) => shape.run(step, access, None, run),
            None => Ok(None),
        },
        Node::HashJoin(join) => {
            for swapped in [false, true] {
                // Groups come in the order of the rows of the side that is counted.
                if !(swapped && step.in_order)
                    && let Some((access, matches)) = sides(join, swapped, run)
                    && let Some(shape) = Shape::of(step, access)
                {
                    return shape.run(step, access, Some(matches), run);
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// The table whose columns count and the other one, if the join is on one pair of integers.
fn sides<'p>(join: &'p HashJoin, swapped: bool, run: &Run<'_, '_>) -> Option<(&'p TableAccess, Matches<'p>)> {
    let ([key], true) = (&join.keys[..], join.conditions.is_empty()) else { return None };
    let (Node::Table(probe), Node::Table(build)) = (&join.probe, &join.build) else { return None };
    let once = match join.kind {
        JoinKind::Inner => false,
        JoinKind::Semi if !swapped => true,
        _ => return None,
    };
    if key.mode != ComparisonMode::Integer
        || key.null_safe
        || !is_direct(probe, run)
        || !is_direct(build, run)
    {
        return None;
    }
    let probe_key = StoredColumn::of(probe, &key.probe)?.integer(layout(probe))?;
    let build_key = StoredColumn::of(build, &key.build)?.integer(layout(build))?;
    Some(match swapped {
        false => (probe, Matches { access: build, key: build_key, own_key: probe_key, once }),
        true => (build, Matches { access: probe, key: probe_key, own_key: build_key, once }),
    })
}

impl<'p> Shape<'p> {
    fn of(step: &Aggregate, access: &'p TableAccess) -> Option<Shape<'p>> {
        let key = match step.keys.first() {
            Some(key) => Some(DirectKey::of(access, key)?),
            None => None,
        };
        let totals =
            step.aggregates.iter().map(|call| DirectTotal::of(access, call)).collect::<Option<_>>()?;
        Some(Shape { key, totals })
    }

    fn run(
        self,
        step: &Aggregate,
        access: &'p TableAccess,
        matches: Option<Matches<'p>>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<Vec<Vec<Value>>>> {
        let Some(scan) = DirectScan::new(access, run)? else { return Ok(None) };
        let mut held = run.hold();
        let counts = match matches {
            None => None,
            Some(matches) => {
                let Some(other) = DirectScan::new(matches.access, run)? else { return Ok(None) };
                let Some(counts) = matches.counts(&other, &mut held, run)? else { return Ok(None) };
                Some((matches.own_key, counts))
            }
        };
        let mut groups = Groups::new(self.key);
        let totals = self.totals;
        let mut states = vec![TotalState::default(); totals.len() * groups.len()];
        let group_bytes = totals.len() * size_of::<TotalState>();
        let kept_bytes_max = usize::try_from(run.statement.settings.kept_bytes_max).unwrap_or(usize::MAX);
        let (mut kept, mut text_bytes, mut fits) = (run.hold(), 0, true);
        let (began, mut joined) = (run.began(), 0u64);
        scan.for_each(run, &mut |row, view| {
            let times = match &counts {
                None => 1,
                Some((key, counts)) => match key.read(row).map_or(0, |key| counts.count(key)) {
                    0 => return true,
                    times => times,
                },
            };
            joined += u64::from(times);
            text_bytes += add(&mut groups, &totals, &mut states, row, view, times);
            let bytes = groups.bytes() + groups.len() * group_bytes + text_bytes;
            fits = bytes <= kept_bytes_max && reach(&mut kept, bytes);
            fits
        })?;
        if let Node::HashJoin(_) = &step.input {
            run.gave(StepId::output(&step.input), joined, began, &mut Loop::default());
        }
        if !fits {
            return Ok(None);
        }
        run.keep(kept);
        let mut states = states.into_iter();
        let mut rows = Vec::with_capacity(groups.len());
        let keys = step.keys.len();
        for key in groups.into_values() {
            let mut row = Vec::with_capacity(keys + totals.len());
            row.extend((keys > 0).then_some(key));
            let finished = totals.iter().zip(&step.aggregates).zip(states.by_ref());
            row.extend(finished.map(|((total, call), state)| total.finish(state, call)));
            rows.push(row);
        }
        Ok(Some(rows))
    }
}

/// Holds so many bytes in all, by steps. False if the statement may not.
#[inline]
fn reach(held: &mut Held, bytes: usize) -> bool {
    let bytes = bytes as u64;
    bytes <= held.bytes() || grow_to(held, bytes)
}

#[cold]
fn grow_to(held: &mut Held, bytes: u64) -> bool {
    let missing = bytes - held.bytes();
    held.try_grow(missing.next_multiple_of(STEP_BYTES)) || held.try_grow(missing)
}

/// Adds a row to its group. Returns by how many bytes its texts have grown.
#[inline]
fn add(
    groups: &mut Groups<'_>,
    totals: &[DirectTotal<'_>],
    states: &mut Vec<TotalState>,
    row: &[u8],
    view: &RowView<'_>,
    times: u32,
) -> usize {
    let start = groups.find(row, view) * totals.len();
    if start >= states.len() {
        states.resize(start + totals.len(), TotalState::default());
    }
    let group = totals.iter().zip(&mut states[start..]);
    group.map(|(total, state)| total.add(state, row, view, times)).sum()
}

impl Matches<'_> {
    /// None if the keys outgrow a join's memory.
    fn counts(
        &self,
        scan: &DirectScan<'_>,
        held: &mut Held,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<KeyCounts>> {
        let (mut keys, mut fits) = (Vec::new(), true);
        let bytes_max = usize::try_from(run.statement.settings.join_bytes_max).unwrap_or(usize::MAX);
        scan.for_each(run, &mut |row, _| {
            keys.extend(self.key.read(row));
            let bytes = size_of_val(&keys[..]);
            fits = bytes <= bytes_max && reach(held, bytes);
            fits
        })?;
        Ok(if fits { KeyCounts::new(&keys, self.once, held) } else { None })
    }
}
