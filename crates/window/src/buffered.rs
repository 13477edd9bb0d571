//! Window functions over a partition that is kept: all of them, with any frame. Main type: [`BufferedWindows`].
//!
//! A partition is taken in row by row, beyond a share of memory into a file. Once it is complete it is read again, by as many readers as
//! the functions need, all of which only go forwards: the row at hand, the rows that enter and leave each frame, and single other rows.

use crate::bounds::{At, Bounds, BoundsToRead, count_of};
use crate::entry::{Begins, Entry, Layout, constant};
use crate::kept::Kept;
use crate::numbers::{Peers, bucket};
use crate::reader::Reader;
use crate::total::Total;
use crate::values_at::{Place, Places, with_scale};
use errors::SqlResult;
use expression::EvaluationContext;
use plan::window::{WindowCall, WindowFunction, WindowStep};
use spill::{RowBatch, Workspace};
use std::ops::Range;
use std::rc::Rc;
use values::{RowRef, Value, ValueRef};

/// How a partition is kept and read.
#[derive(Clone, Copy, Debug)]
pub struct Keeping {
    /// Bytes of it in memory.
    pub share_bytes: u64,
    /// Whether the rows of one frame are made of those of the one before, by what enters and what leaves. Otherwise each is read anew: as
    /// slow as it is plain, for comparison.
    pub slides: bool,
}

/// The functions of a step.
pub struct BufferedWindows<'p> {
    step: &'p WindowStep,
    entry: Entry<'p>,
    /// What the row that is looked at begins, if it waits for the partition before it.
    waiting: Option<Begins>,
    rows: Kept,
    is_complete: bool,
    /// The row at hand, and where it is.
    at: u64,
    current: Reader,
    peers: Peers,
    /// Where its peers end, if that is asked for.
    peers_end: Option<u64>,
    peers_reader: Reader,
    frames: Vec<FrameTotals<'p>>,
    /// The frames of the row at hand.
    ranges: Vec<Range<u64>>,
    places: Places,
    calls: Vec<Computed>,
}

/// How a call is computed.
enum Computed {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    /// NTILE of so many buckets.
    Ntile(u64),
    /// The value that another row has in a slot; where there is no such row, that of the row at hand in another.
    ValueAt {
        place: usize,
        slot: usize,
        default: Option<usize>,
        scale: u8,
    },
    /// NTH_VALUE of no number.
    Null,
    /// One of the totals of a frame.
    Total {
        frame: usize,
        number: usize,
    },
}

/// The aggregates over one frame.
struct FrameTotals<'p> {
    bounds: Bounds<'p>,
    /// See [`Keeping::slides`].
    slides: bool,
    /// The rows that are in the totals.
    within: Range<u64>,
    entering: Reader,
    leaving: Reader,
    /// Each with the slot of its argument.
    totals: Vec<(Total<'p>, Option<usize>)>,
}

impl<'p> BufferedWindows<'p> {
    /// Nothing taken in yet. Errors 1210 and 3586 for numbers of rows that are none.
    pub fn new(
        step: &'p WindowStep,
        workspace: &Rc<Workspace>,
        keeping: Keeping,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<BufferedWindows<'p>> {
        let mut layout = Layout::new(step);
        let mut bounds = Vec::with_capacity(step.frames.len());
        for frame in &step.frames {
            bounds.push(BoundsToRead::new(step, frame, &mut layout, context)?);
        }
        // All that rows keep is known before the width of rows is.
        let slots: Vec<Vec<usize>> = step.calls.iter().map(|call| slots_of(call, &mut layout)).collect();
        let kept_width = layout.kept_width();
        let asks_for_peers = bounds.iter().any(|frame| frame.asks_for_peers())
            || step.calls.iter().any(|call| call.function == WindowFunction::CumeDist);
        let reader = || Reader::new(kept_width, workspace);
        let frames = bounds.into_iter().map(|bounds| FrameTotals {
            bounds: bounds.over(kept_width, workspace),
            slides: keeping.slides,
            within: 0..0,
            entering: reader(),
            leaving: reader(),
            totals: Vec::new(),
        });
        let mut windows = BufferedWindows {
            step,
            entry: Entry::new(step, layout, workspace),
            waiting: None,
            rows: Kept::new(kept_width, workspace, keeping.share_bytes),
            is_complete: false,
            at: 0,
            current: reader(),
            peers: Peers::default(),
            peers_end: asks_for_peers.then_some(0),
            peers_reader: reader(),
            ranges: vec![0..0; step.frames.len()],
            frames: frames.collect(),
            places: Places::new(kept_width, workspace),
            calls: Vec::with_capacity(step.calls.len()),
        };
        for (call, slots) in step.calls.iter().zip(slots) {
            let computed = windows.computed(call, &slots, workspace, context)?;
            windows.calls.push(computed);
        }
        Ok(windows)
    }

    /// How a call is computed whose arguments are in those slots.
    fn computed(
        &mut self,
        call: &'p WindowCall,
        slots: &[usize],
        workspace: &Rc<Workspace>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Computed> {
        let name = call.function.name();
        let mut number = |at: usize| match call.arguments.get(at) {
            Some(argument) => constant(argument, context).map(Some),
            None => Ok(None),
        };
        let place = match call.function {
            WindowFunction::RowNumber => return Ok(Computed::RowNumber),
            WindowFunction::Rank => return Ok(Computed::Rank),
            WindowFunction::DenseRank => return Ok(Computed::DenseRank),
            WindowFunction::PercentRank => return Ok(Computed::PercentRank),
            WindowFunction::CumeDist => return Ok(Computed::CumeDist),
            WindowFunction::Ntile => {
                let buckets = count_of(name, &number(0)?.unwrap_or(Value::Null))?;
                // Not even one row has a place in no bucket.
                return if buckets == 0 { count_of(name, &Value::Null) } else { Ok(buckets) }
                    .map(Computed::Ntile);
            }
            WindowFunction::Lag | WindowFunction::Lead => {
                let by = number(1)?.map_or(Ok(1), |by| count_of(name, &by))?;
                if call.function == WindowFunction::Lag { Place::Before(by) } else { Place::Behind(by) }
            }
            WindowFunction::FirstValue => Place::First(call.frame),
            WindowFunction::LastValue => Place::Last(call.frame),
            WindowFunction::NthValue => match number(1)? {
                None | Some(Value::Null) => return Ok(Computed::Null),
                Some(number) => match count_of(name, &number)? {
                    0 => return count_of(name, &Value::Null).map(|_| Computed::Null),
                    number => Place::Nth(call.frame, number),
                },
            },
            WindowFunction::Aggregate(_) => {
                let frame = &mut self.frames[call.frame];
                let grows = !frame.slides || frame.bounds.starts_with_partition();
                let Some(total) = Total::new(call, grows, workspace) else { return Ok(Computed::Null) };
                frame.totals.push((total, slots.first().copied()));
                return Ok(Computed::Total { frame: call.frame, number: frame.totals.len() - 1 });
            }
        };
        let place = self.places.number_of(place);
        let default = slots.get(2).copied();
        Ok(Computed::ValueAt { place, slot: slots[0], default, scale: call.result.scale() })
    }

    /// Takes a row in. False if it is the first of another partition than those before, which is to be handed out first; then the
    /// same row is to be given again.
    pub fn take(&mut self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<bool> {
        debug_assert!(!self.is_complete);
        let begins = match self.waiting.take() {
            Some(begins) => begins,
            None => self.entry.look_at(row, context)?,
        };
        if begins == Begins::Partition && !self.rows.is_empty() {
            self.waiting = Some(begins);
            self.is_complete = true;
            return Ok(false);
        }
        self.rows.push(self.entry.kept(row, begins, context)?)?;
        Ok(true)
    }

    /// Says that no more rows come.
    pub fn end(&mut self) {
        self.is_complete = true;
    }

    /// Hands out the next rows of a complete partition. False where it ends, or if it is not complete yet: the batch is then empty.
    pub fn hand_out(&mut self, context: &mut dyn EvaluationContext, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.step.width + self.step.calls.len());
        if !self.is_complete {
            return Ok(false);
        }
        while self.at < self.rows.len() && !batch.is_full() {
            self.hand_out_row(context, batch)?;
            self.at += 1;
        }
        if batch.is_empty() {
            self.restart();
        } else {
            context.check_killed()?;
        }
        Ok(!batch.is_empty())
    }

    /// Forgets the partition.
    fn restart(&mut self) {
        self.rows.clear();
        self.is_complete = false;
        self.at = 0;
        self.current.rewind();
        self.peers = Peers::default();
        self.peers_reader.rewind();
        if let Some(end) = &mut self.peers_end {
            *end = 0;
        }
        self.places.restart();
        self.frames.iter_mut().for_each(FrameTotals::restart);
    }

    fn hand_out_row(&mut self, context: &mut dyn EvaluationContext, batch: &mut RowBatch) -> SqlResult<()> {
        let peers_slot = self.entry.layout.peers_slot();
        let begins = |row: RowRef<'_>| matches!(row.get(peers_slot), ValueRef::Int(1));
        let row = self.current.row(&self.rows, self.at)?;
        self.peers.go_on(self.at, begins(row));
        let mut peers_end = self.rows.len();
        if let Some(known) = &mut self.peers_end {
            while *known <= self.at
                || *known < self.rows.len() && !begins(self.peers_reader.row(&self.rows, *known)?)
            {
                *known += 1;
                if known.is_multiple_of(1024) {
                    context.check_killed()?;
                }
            }
            peers_end = *known;
        }
        let at = At { number: self.at, row, peers: self.peers, peers_end };
        for (frame, range) in self.frames.iter_mut().zip(&mut self.ranges) {
            *range = frame.bounds.of(at, &self.rows, context)?;
            if !frame.totals.is_empty() {
                frame.move_to(range.clone(), &self.rows, context)?;
            }
        }
        batch.rows_mut().push(row.first(self.step.width));
        batch.count_last();
        for (position, call) in self.calls.iter().enumerate() {
            let slot = self.step.width + position;
            let count = self.rows.len();
            match call {
                Computed::RowNumber => batch.rows_mut().set_uint(slot, self.at + 1),
                Computed::Rank => batch.rows_mut().set_uint(slot, self.peers.start + 1),
                Computed::DenseRank => batch.rows_mut().set_uint(slot, self.peers.group),
                Computed::PercentRank => {
                    batch.set(slot, ValueRef::Double(self.peers.percent_rank(count)));
                }
                Computed::CumeDist => batch.set(slot, ValueRef::Double(peers_end as f64 / count as f64)),
                Computed::Ntile(buckets) => batch.rows_mut().set_uint(slot, bucket(self.at, count, *buckets)),
                Computed::Null => {}
                Computed::Total { frame, number } => {
                    let is_empty = self.ranges[*frame].is_empty();
                    let (total, _) = &self.frames[*frame].totals[*number];
                    let value = if is_empty { total.of_nothing() } else { total.value(context)? };
                    batch.rows_mut().set_value(slot, value);
                }
                Computed::ValueAt { place, slot: from, default, scale } => {
                    let other = self.places.row(*place, self.at, &self.ranges, &self.rows)?;
                    let value = match other {
                        Some(other) => other.get(*from),
                        None => default.map_or(ValueRef::Null, |default| row.get(default)),
                    };
                    match with_scale(value, *scale) {
                        Some(exact) => batch.rows_mut().set_decimal(slot, exact),
                        None => batch.set(slot, value),
                    }
                    batch.count_bytes(value.long_bytes());
                }
            }
        }
        Ok(())
    }
}

impl FrameTotals<'_> {
    fn restart(&mut self) {
        self.bounds.restart();
        self.entering.rewind();
        self.leaving.rewind();
        self.begin_at(0);
    }

    /// Forgets the rows in the totals; the next to enter is the one of that number.
    fn begin_at(&mut self, row: u64) {
        self.totals.iter_mut().for_each(|(total, _)| total.clear());
        self.within = row..row;
    }

    /// Lets rows leave and enter until those in the totals are these. Over no row the totals stay as they are.
    fn move_to(
        &mut self,
        range: Range<u64>,
        rows: &Kept,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<()> {
        if range.is_empty() {
            return Ok(());
        }
        let goes_back = range.start < self.within.start || range.end < self.within.end;
        if !self.slides || goes_back || range.start >= self.within.end {
            self.begin_at(range.start);
        }
        while self.within.start < range.start {
            let row = self.leaving.row(rows, self.within.start)?;
            for (total, slot) in &mut self.totals {
                let value = slot.map_or(ValueRef::Null, |slot| row.get(slot));
                total.remove(self.within.start, value, context)?;
            }
            self.within.start += 1;
        }
        while self.within.end < range.end {
            let row = self.entering.row(rows, self.within.end)?;
            for (total, slot) in &mut self.totals {
                let value = slot.map_or(ValueRef::Null, |slot| row.get(slot));
                total.add(self.within.end, value, context)?;
            }
            self.within.end += 1;
            if self.within.end.is_multiple_of(1024) {
                context.check_killed()?;
            }
        }
        Ok(())
    }
}

/// The slots of what a call reads of rows; numbers of rows are constants, which no row keeps.
fn slots_of<'p>(call: &'p WindowCall, layout: &mut Layout<'p>) -> Vec<usize> {
    let is_number = |at: usize| match call.function {
        WindowFunction::Ntile => true,
        WindowFunction::Lag | WindowFunction::Lead | WindowFunction::NthValue => at == 1,
        _ => false,
    };
    let slot = |(at, argument): (usize, _)| match is_number(at) {
        true => usize::MAX,
        false if call.adds_doubles() => layout.number_slot_of(argument),
        false => layout.slot_of(argument),
    };
    call.arguments.iter().enumerate().map(slot).collect()
}
