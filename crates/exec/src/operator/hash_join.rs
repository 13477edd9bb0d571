//! Hash join: one side is kept by the hash of its keys, the other streams. Without keys every pair is tried.

use super::{Operator, all_hold, append_key, open};
use crate::batch::RowBatch;
use crate::run::{Run, row_bytes};
use errors::SqlResult;
use plan::physical::{HashJoin, JoinKey, JoinKind};
use std::collections::HashMap;
use values::Value;

/// No further row with the same key.
const END: u32 = u32::MAX;

/// A hash join.
pub struct HashJoinRun<'p> {
    join: &'p HashJoin,
    probe: Box<dyn Operator + 'p>,
    table: Option<BuildSide>,
    rows: RowBatch,
    at: usize,
    current: Vec<Value>,
    /// The next kept row to try for the current row.
    candidate: u32,
    reading: bool,
    matched: bool,
    key: Vec<u8>,
}

struct BuildSide {
    /// Rows, reduced to the slots that the side fills.
    rows: Vec<Vec<Value>>,
    first: HashMap<Box<[u8]>, u32>,
    next: Vec<u32>,
}

impl<'p> HashJoinRun<'p> {
    pub fn new(join: &'p HashJoin) -> HashJoinRun<'p> {
        HashJoinRun {
            join,
            probe: open(&join.probe),
            table: None,
            rows: RowBatch::new(),
            at: 0,
            current: Vec::new(),
            candidate: END,
            reading: false,
            matched: false,
            key: Vec::new(),
        }
    }

    fn build(&mut self, run: &mut Run<'_, '_>) -> SqlResult<BuildSide> {
        let join = self.join;
        let mut side = BuildSide { rows: Vec::new(), first: HashMap::new(), next: Vec::new() };
        let mut tails: HashMap<u32, u32> = HashMap::new();
        let mut input = open(&join.build);
        let mut batch = RowBatch::new();
        while input.next(run, &mut batch)? {
            for row in batch.iter() {
                if !row_key(&join.keys, row, false, run, &mut self.key)? {
                    continue;
                }
                let kept: Vec<Value> = join.build_slots.iter().map(|slot| row[*slot].clone()).collect();
                run.charge(row_bytes(&kept) + self.key.len() + 48)?;
                let number = side.rows.len() as u32;
                side.rows.push(kept);
                side.next.push(END);
                // Rows of one key stay in their order.
                match side.first.get(self.key.as_slice()) {
                    Some(first) => {
                        let tail = tails.insert(*first, number).unwrap_or(*first);
                        side.next[tail as usize] = number;
                    }
                    None => {
                        side.first.insert(self.key.clone().into_boxed_slice(), number);
                    }
                }
            }
        }
        Ok(side)
    }

    fn advance(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if self.at >= self.rows.len() {
            self.at = 0;
            if !self.probe.next(run, &mut self.rows)? {
                return Ok(false);
            }
        }
        self.current.clear();
        self.current.extend_from_slice(self.rows.row(self.at));
        self.at += 1;
        let usable = row_key(&self.join.keys, &self.current, true, run, &mut self.key)?;
        let found = self.table.as_ref().and_then(|table| table.first.get(self.key.as_slice()));
        self.candidate = if usable { found.copied().unwrap_or(END) } else { END };
        self.reading = true;
        self.matched = false;
        Ok(true)
    }

    /// Fills in the next kept row with the same key; false when there is none.
    fn next_match(&mut self) -> bool {
        let Some(table) = &self.table else { return false };
        if self.candidate == END {
            return false;
        }
        let kept = &table.rows[self.candidate as usize];
        for (slot, value) in self.join.build_slots.iter().zip(kept) {
            self.current[*slot].clone_from(value);
        }
        self.candidate = table.next[self.candidate as usize];
        true
    }
}

/// The key of a row; false when a NULL in it matches nothing.
fn row_key(
    keys: &[JoinKey],
    row: &[Value],
    probe: bool,
    run: &mut Run<'_, '_>,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    out.clear();
    for key in keys {
        let expression = if probe { &key.probe } else { &key.build };
        let value = expression.operand(row, run)?;
        let present = append_key(key.mode, &value, &expression.result.column_type, run, out)?;
        if !present && !key.null_safe {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Operator for HashJoinRun<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.table.is_none() {
            self.table = Some(self.build(run)?);
        }
        let kind = self.join.kind;
        let mut sized = false;
        batch.reset(0);
        while !batch.is_full() {
            if !self.reading && !self.advance(run)? {
                break;
            }
            if !std::mem::replace(&mut sized, true) {
                batch.reset(self.current.len());
            }
            if self.next_match() {
                if !all_hold(&self.join.conditions, &self.current, run)? {
                    continue;
                }
                self.matched = true;
                match kind {
                    JoinKind::Inner | JoinKind::Left => batch.push(&self.current),
                    JoinKind::Semi => {
                        batch.push(&self.current);
                        self.reading = false;
                    }
                    JoinKind::Anti => self.reading = false,
                }
                continue;
            }
            self.reading = false;
            if !self.matched && matches!(kind, JoinKind::Left | JoinKind::Anti) {
                for slot in &self.join.build_slots {
                    self.current[*slot] = Value::Null;
                }
                batch.push(&self.current);
            }
        }
        Ok(!batch.is_empty())
    }
}
