//! Hash join: one side is kept by the hash of its keys, the other streams. Without keys every pair is tried. When the kept
//! side outgrows its share of memory, both sides are sorted on disk and merged ([`super::merge_join`]).

use super::merge_join::MergeJoin;
use super::narrowing::may_narrow;
use super::row_order::RowOrder;
use super::{Operator, all_hold, append_key, open};
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::key_table::{KEY_BYTES, KeyTable};
use crate::run::Run;
use crate::spill::key_counts::KeyCounts;
use crate::spill::seeded::{SeededHash, hash_of};
use crate::spill::{Held, Sorter};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{EvaluationContext, convert};
use plan::Rule;
use plan::physical::{HashJoin, JoinKey, JoinKind};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use values::rows::Mark;
use values::{RowRef, Rows, ValueRef};

/// What a kept row costs beside its values and its key.
const ROW_BYTES: usize = 12 + KEY_BYTES;
/// Rows of a piece of the kept side.
const PIECE_ROWS: usize = 4096;
/// No further row with the same key.
const END: u32 = u32::MAX;

/// A hash join.
pub struct HashJoinRun<'p> {
    join: &'p HashJoin,
    probe: Box<dyn Operator + 'p>,
    table: Option<BuildSide>,
    /// The same join on disk, in place of everything below.
    merge: Option<MergeJoin>,
    rows: RowBatch,
    at: usize,
    /// The next kept row to try for the current row.
    candidate: u32,
    reading: bool,
    matched: bool,
    key: Vec<u8>,
    held: Option<Held>,
    order: RowOrder,
    /// Matches that were looked at.
    looked_at: usize,
    /// What is asked of rows of the kept side.
    narrowed: Vec<(usize, Rc<KeyCounts>)>,
}

struct BuildSide {
    /// Values of the slots that the side fills, [`PIECE_ROWS`] rows a piece: what is kept is never copied as a whole to grow.
    pieces: Vec<Rows>,
    width: usize,
    rows: usize,
    by_bytes: KeyTable,
    /// First and last row of each key, by the key's number.
    of_key: Vec<(u32, u32)>,
    by_integer: HashMap<u64, (u32, u32), SeededHash>,
    next: Vec<u32>,
}

/// The key of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowKey {
    /// A NULL in it matches nothing.
    Nothing,
    /// An integer within the signed range.
    Integer(i64),
    /// What the buffer holds.
    Bytes,
}

impl BuildSide {
    fn new(width: usize) -> BuildSide {
        BuildSide {
            pieces: Vec::new(),
            width,
            rows: 0,
            by_bytes: KeyTable::default(),
            of_key: Vec::new(),
            by_integer: HashMap::default(),
            next: Vec::new(),
        }
    }

    /// The first row with that key.
    fn find(&self, key: RowKey, bytes: &[u8]) -> u32 {
        let found = match key {
            RowKey::Nothing => None,
            RowKey::Integer(number) => self.by_integer.get(&hash_of(number as u64)),
            RowKey::Bytes => self.by_bytes.find(bytes).map(|number| &self.of_key[number as usize]),
        };
        found.map_or(END, |(first, _)| *first)
    }

    /// Adds the values of those slots of a row; the bytes that they take.
    fn push(&mut self, row: RowRef<'_>, slots: &[usize]) -> usize {
        if self.rows.is_multiple_of(PIECE_ROWS) {
            if let Some(full) = self.pieces.last_mut() {
                full.shrink_to_fit();
            }
            let mut piece = Rows::default();
            piece.reset(self.width);
            self.pieces.push(piece);
        }
        let Some(piece) = self.pieces.last_mut() else { return 0 };
        let before = piece.bytes();
        piece.push_slots(row, slots);
        self.rows += 1;
        piece.bytes() - before
    }

    /// A row by its number.
    #[inline]
    fn row(&self, number: usize) -> RowRef<'_> {
        self.pieces[number / PIECE_ROWS].row(number % PIECE_ROWS)
    }

    /// Forgets all rows.
    fn clear(&mut self) {
        self.pieces.clear();
        self.rows = 0;
    }

    /// Enters the row that was added last. Rows of one key stay in their order.
    fn link(&mut self, key: RowKey, bytes: &[u8]) {
        let number = self.next.len() as u32;
        self.next.push(END);
        let known = match key {
            RowKey::Nothing => return,
            RowKey::Integer(integer) => match self.by_integer.entry(hash_of(integer as u64)) {
                Entry::Occupied(known) => Some(known.into_mut()),
                Entry::Vacant(vacant) => {
                    vacant.insert((number, number));
                    None
                }
            },
            RowKey::Bytes => match self.by_bytes.insert(bytes) {
                (known, false) => self.of_key.get_mut(known as usize),
                (_, true) => {
                    self.of_key.push((number, number));
                    None
                }
            },
        };
        if let Some((_, last)) = known {
            self.next[*last as usize] = number;
            *last = number;
        }
    }
}

impl<'p> HashJoinRun<'p> {
    pub fn new(join: &'p HashJoin, run: &Run<'_, '_>) -> HashJoinRun<'p> {
        HashJoinRun {
            join,
            probe: open(&join.probe, run),
            table: None,
            merge: None,
            rows: RowBatch::new(),
            at: 0,
            candidate: END,
            reading: false,
            matched: false,
            key: Vec::new(),
            held: None,
            order: RowOrder::default(),
            looked_at: 0,
            narrowed: Vec::new(),
        }
    }

    /// Reads the side that is kept.
    fn build(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let join = self.join;
        let mut side = BuildSide::new(join.build_slots.len());
        let mut held = run.hold();
        let mut input = open(&join.build, run);
        self.narrowed.iter().for_each(|(slot, keys)| input.narrow(*slot, keys));
        let narrowed_slot = self.slot_to_narrow(run);
        let mut numbers: Vec<i64> = Vec::new();
        let mut batch = RowBatch::new();
        let mut sorter: Option<Sorter> = None;
        while input.next(run, &mut batch)? {
            run.check_killed()?;
            for row in batch.iter() {
                let key = row_key(&join.keys, row, false, run, &mut self.key)?;
                if key == RowKey::Nothing {
                    continue;
                }
                if let (RowKey::Integer(number), Some(_), None) = (key, narrowed_slot, &sorter) {
                    numbers.push(number);
                }
                if let Some(sorter) = &mut sorter {
                    side.clear();
                    side.push(row, &join.build_slots);
                    sorter.push(sort_key(key, &mut self.key), side.row(0))?;
                    continue;
                }
                let number_bytes = narrowed_slot.map_or(0, |_| size_of::<i64>());
                let row_bytes = side.push(row, &join.build_slots) + self.key.len() + ROW_BYTES;
                let bytes = (row_bytes + number_bytes) as u64;
                if held.bytes() + bytes > run.statement.settings.join_bytes_max || !held.try_grow(bytes) {
                    sorter = Some(self.sorted_side(&mut side, row.len(), run)?);
                    held.shrink_to(0);
                    numbers = Vec::new();
                } else {
                    side.link(key, &self.key);
                }
            }
        }
        match sorter {
            None => {
                if let Some(slot) = narrowed_slot
                    && let Some(keys) = KeyCounts::new(&numbers, true, &mut held)
                {
                    self.probe.narrow(slot, &Rc::new(keys));
                }
                held.shrink_to(held.bytes() - size_of_val(&numbers[..]) as u64);
                self.held = Some(held);
                self.table = Some(side);
            }
            Some(sorter) => {
                self.merge = Some(MergeJoin::new(join, sorter, &mut *self.probe, run)?);
            }
        }
        Ok(())
    }

    /// The slot of the probe side by whose integers its rows may be left out.
    fn slot_to_narrow(&self, run: &Run<'_, '_>) -> Option<usize> {
        let join = self.join;
        let [key] = &join.keys[..] else { return None };
        let slot = key.probe.column_slot()?;
        let is_plain = key.mode == ComparisonMode::Integer && !key.null_safe;
        let drops = matches!(join.kind, JoinKind::Inner | JoinKind::Semi);
        let settings = &run.statement.settings;
        let is_fast = settings.fast_plans && settings.rules.has(Rule::HashKeysAtScans);
        (drops && is_plain && is_fast && may_narrow(&join.probe, slot, run)).then_some(slot)
    }

    /// Moves the rows that were kept so far, and the one behind them, to a sorter. `width` is that of the rows of both sides.
    fn sorted_side(
        &mut self,
        side: &mut BuildSide,
        width: usize,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Sorter> {
        let join = self.join;
        let old = std::mem::replace(side, BuildSide::new(join.build_slots.len()));
        let mut sorter = Sorter::new(run.workspace().clone(), run.statement.settings.join_bytes_max, None);
        let mut row = Rows::default();
        row.reset(width);
        row.push_empty();
        // Rows without values are alike: there are as many as were linked, and one more.
        let rows = old.next.len() + 1;
        for number in 0..rows {
            let kept = old.row(number);
            row.rewind(Mark::default());
            for (slot, value) in join.build_slots.iter().zip(kept.iter()) {
                row.set(*slot, value);
            }
            let key = row_key(&join.keys, row.row(0), false, run, &mut self.key)?;
            sorter.push(sort_key(key, &mut self.key), kept)?;
        }
        Ok(sorter)
    }

    fn advance(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if self.at >= self.rows.len() {
            self.at = 0;
            if !self.probe.next(run, &mut self.rows)? {
                return Ok(false);
            }
        }
        self.at += 1;
        let key = row_key(&self.join.keys, self.rows.row(self.at - 1), true, run, &mut self.key)?;
        self.candidate = self.table.as_ref().map_or(END, |table| table.find(key, &self.key));
        self.reading = true;
        self.matched = false;
        Ok(true)
    }

    /// Appends the row of the probe side with the next kept row of the same key; false when there is none.
    fn next_match(&mut self, batch: &mut RowBatch) -> bool {
        let Some(table) = self.table.as_ref().filter(|_| self.candidate != END) else { return false };
        batch.rows_mut().push(self.rows.row(self.at - 1));
        batch.rows_mut().set_slots(&self.join.build_slots, table.row(self.candidate as usize));
        self.candidate = table.next[self.candidate as usize];
        true
    }
}

/// What keeps rows of equal keys together when they are sorted. `bytes` are those of the key, and room.
pub(super) fn sort_key(key: RowKey, bytes: &mut Vec<u8>) -> &[u8] {
    match key {
        RowKey::Integer(number) => bytes.extend_from_slice(&number.to_be_bytes()),
        // Integers beyond the signed range are longer than those within.
        RowKey::Bytes | RowKey::Nothing => {}
    }
    bytes
}

/// The key of a row; bytes go to `out`.
pub(super) fn row_key(
    keys: &[JoinKey],
    row: RowRef<'_>,
    probe: bool,
    run: &mut Run<'_, '_>,
    out: &mut Vec<u8>,
) -> SqlResult<RowKey> {
    out.clear();
    if let [key] = keys
        && key.mode == ComparisonMode::Integer
        && !key.null_safe
        && run.statement.settings.fast_plans
    {
        let expression = if probe { &key.probe } else { &key.build };
        let value = expression.operand(row, run)?;
        let number = match value.as_ref() {
            ValueRef::Null => return Ok(RowKey::Nothing),
            ValueRef::Int(number) => i128::from(number),
            ValueRef::UInt(number) => i128::from(number),
            other => convert::to_integer(other, &expression.result.column_type, run)?.unwrap_or(0),
        };
        return Ok(match i64::try_from(number) {
            Ok(number) => RowKey::Integer(number),
            Err(_) => {
                out.extend_from_slice(&number.to_le_bytes());
                RowKey::Bytes
            }
        });
    }
    for key in keys {
        let expression = if probe { &key.probe } else { &key.build };
        let value = expression.operand(row, run)?;
        let present = append_key(key.mode, value.as_ref(), &expression.result.column_type, run, out)?;
        if !present && !key.null_safe {
            return Ok(RowKey::Nothing);
        }
    }
    Ok(RowKey::Bytes)
}

impl HashJoinRun<'_> {
    /// Tries one kept row for the probe side's. False at the end.
    fn join_one(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if !self.reading && !self.advance(run)? {
            return Ok(false);
        }
        if batch.is_empty() {
            batch.reset(self.rows.width());
        }
        let kind = self.join.kind;
        if self.next_match(batch) {
            // Rows of one key may be as many as the table has, and no condition may hold for any of them.
            self.looked_at += 1;
            if self.looked_at.is_multiple_of(BATCH_ROWS_MAX) {
                run.check_killed()?;
            }
            let holds = all_hold(&self.join.conditions, batch.last(), run);
            if !matches!(holds, Ok(true)) || kind == JoinKind::Anti {
                batch.pop();
            }
            if !holds? {
                return Ok(true);
            }
            self.matched = true;
            self.reading = matches!(kind, JoinKind::Inner | JoinKind::Left);
            if kind != JoinKind::Anti {
                batch.count_last();
            }
            return Ok(true);
        }
        self.reading = false;
        if !self.matched && matches!(kind, JoinKind::Left | JoinKind::Anti) {
            batch.push(self.rows.row(self.at - 1));
            for slot in &self.join.build_slots {
                batch.set(*slot, ValueRef::Null);
            }
        }
        Ok(true)
    }
}

impl Operator for HashJoinRun<'_> {
    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        match self.join.build_slots.contains(&slot) {
            true => self.narrowed.push((slot, keys.clone())),
            false => self.probe.narrow(slot, keys),
        }
    }

    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.table.is_none() && self.merge.is_none() {
            self.build(run)?;
        }
        if let Some(merge) = &mut self.merge {
            return merge.next(run, batch);
        }
        batch.reset(0);
        // One row of the probe side may give all that is wanted.
        self.rows.want_for(batch, if batch.is_limited() { 1 } else { BATCH_ROWS_MAX });
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.fill(run, batch, BATCH_ROWS_MAX, |run, batch| self.join_one(run, batch));
        self.order = order;
        outcome
    }
}
