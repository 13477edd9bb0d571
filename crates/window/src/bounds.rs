//! The first and the last row of frames. Main type: [`Bounds`]. As the row at hand goes on, neither end of its frame goes back, so that
//! each is found by a walk over the partition.

use crate::entry::{Layout, constant, range_slots};
use crate::kept::Kept;
use crate::numbers::Peers;
use crate::reader::Reader;
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use expression::operators::compare_values;
use plan::window::{Frame, FrameBound, RangeBound, WindowStep, is_no_distance, whole_count};
use spill::Workspace;
use std::cmp::Ordering;
use std::ops::Range;
use std::rc::Rc;
use values::{ColumnType, RowRef, Value};

/// The row at hand.
#[derive(Clone, Copy)]
pub(crate) struct At<'r> {
    /// Its number in the partition.
    pub number: u64,
    /// As it is kept.
    pub row: RowRef<'r>,
    pub peers: Peers,
    /// Behind the last of its peers; the number of rows if nothing asks for it.
    pub peers_end: u64,
}

/// Both ends of a frame.
pub(crate) struct Bounds<'p> {
    start: End<'p>,
    end: End<'p>,
    is_descending: bool,
}

/// One end: how many rows are before it.
enum End<'p> {
    Unbounded,
    Current,
    Peers,
    Rows { by: u64, following: bool },
    Value(Box<ByValue<'p>>),
}

/// A walk to the value at a bound of RANGE.
struct ByValue<'p> {
    range: &'p RangeBound,
    key_type: &'p ColumnType,
    key_slot: usize,
    limit_slot: usize,
    /// Rows that are before the bound.
    passed: u64,
    reader: Reader,
}

impl Bounds<'_> {
    /// Whether the first row of the frame is always that of the partition.
    pub fn starts_with_partition(&self) -> bool {
        matches!(self.start, End::Unbounded)
    }

    /// Goes back to the first row, of another partition.
    pub fn restart(&mut self) {
        for end in [&mut self.start, &mut self.end] {
            if let End::Value(by_value) = end {
                by_value.passed = 0;
                by_value.reader.rewind();
            }
        }
    }

    /// The rows of the frame of the row at hand.
    pub fn of(
        &mut self,
        at: At<'_>,
        rows: &Kept,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Range<u64>> {
        let count = rows.len();
        let start = match &mut self.start {
            End::Unbounded => 0,
            End::Current => at.number,
            End::Peers => at.peers.start,
            End::Rows { by, following: false } => at.number.saturating_sub(*by),
            End::Rows { by, following: true } => at.number.saturating_add(*by),
            End::Value(by_value) => by_value.start(at, rows, self.is_descending, context)?,
        };
        let end = match &mut self.end {
            End::Unbounded => count,
            End::Current => at.number + 1,
            End::Peers => at.peers_end,
            End::Rows { by, following: false } => (at.number + 1).saturating_sub(*by),
            End::Rows { by, following: true } => (at.number + 1).saturating_add(*by),
            End::Value(by_value) => by_value.end(at, rows, self.is_descending, context)?,
        };
        let end = end.min(count);
        Ok(start.min(end)..end)
    }
}

/// Bounds before the layout of rows is settled.
pub(crate) struct BoundsToRead<'p> {
    start: Unread<'p>,
    end: Unread<'p>,
    is_descending: bool,
}

enum Unread<'p> {
    Known(End<'p>),
    Value { range: &'p RangeBound, key_type: &'p ColumnType, key_slot: usize, limit_slot: usize },
}

impl<'p> BoundsToRead<'p> {
    /// The bounds of a frame. Error 3586 for an offset that is none.
    pub fn new(
        step: &'p WindowStep,
        frame: &'p Frame,
        layout: &mut Layout<'p>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<BoundsToRead<'p>> {
        let start = Unread::new(step, frame, &frame.start, layout, context)?;
        let end = Unread::new(step, frame, &frame.end, layout, context)?;
        let is_descending = step.order.first().is_some_and(|key| key.descending);
        Ok(BoundsToRead { start, end, is_descending })
    }

    /// Whether it asks where the peers of a row end.
    pub fn asks_for_peers(&self) -> bool {
        let by_peers = |end: &Unread<'_>| matches!(end, Unread::Known(End::Peers) | Unread::Value { .. });
        by_peers(&self.start) || by_peers(&self.end)
    }

    /// The bounds, over kept rows of that width.
    pub fn over(self, kept_width: usize, workspace: &Rc<Workspace>) -> Bounds<'p> {
        Bounds {
            start: self.start.over(kept_width, workspace),
            end: self.end.over(kept_width, workspace),
            is_descending: self.is_descending,
        }
    }
}

impl<'p> Unread<'p> {
    fn new(
        step: &'p WindowStep,
        frame: &'p Frame,
        bound: &'p FrameBound,
        layout: &mut Layout<'p>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Unread<'p>> {
        let illegal = || sql_error!(ER_WINDOW_FRAME_ILLEGAL, frame.window);
        Ok(Unread::Known(match bound {
            FrameBound::Unbounded => End::Unbounded,
            FrameBound::CurrentRow => End::Current,
            FrameBound::Peers => End::Peers,
            FrameBound::Rows { offset, following } => {
                let by = whole_count(&constant(offset, context)?).ok_or_else(illegal)?;
                End::Rows { by, following: *following }
            }
            FrameBound::Range(range) => {
                if is_no_distance(&constant(&range.offset, context)?) {
                    return Err(illegal());
                }
                let (Some((key_slot, limit_slot)), Some(key)) =
                    (range_slots(layout, step, bound), step.order.first())
                else {
                    return Err(illegal());
                };
                let key_type = &key.expression.result.column_type;
                return Ok(Unread::Value { range, key_type, key_slot, limit_slot });
            }
        }))
    }

    fn over(self, kept_width: usize, workspace: &Rc<Workspace>) -> End<'p> {
        match self {
            Unread::Known(end) => end,
            Unread::Value { range, key_type, key_slot, limit_slot } => {
                let reader = Reader::new(kept_width, workspace);
                End::Value(Box::new(ByValue { range, key_type, key_slot, limit_slot, passed: 0, reader }))
            }
        }
    }
}

impl ByValue<'_> {
    /// Rows before the first one that is not too far before the row at hand. Where its limit is no value, there is none.
    fn start(
        &mut self,
        at: At<'_>,
        rows: &Kept,
        is_descending: bool,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<u64> {
        if at.row.get(self.key_slot).is_null() {
            return Ok(at.peers.start);
        }
        if at.row.get(self.limit_slot).is_null() {
            return Ok(rows.len());
        }
        let before = if is_descending { Ordering::Greater } else { Ordering::Less };
        // NULLs come first in ascending order, and last in the other.
        self.pass(at, rows, !is_descending, &|order| order == before, context)
    }

    /// Rows up to the last one that is not too far behind the row at hand.
    fn end(
        &mut self,
        at: At<'_>,
        rows: &Kept,
        is_descending: bool,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<u64> {
        if at.row.get(self.key_slot).is_null() {
            return Ok(at.peers_end);
        }
        if at.row.get(self.limit_slot).is_null() {
            return Ok(rows.len());
        }
        let behind = if is_descending { Ordering::Less } else { Ordering::Greater };
        self.pass(at, rows, !is_descending, &|order| order != behind, context)
    }

    /// Passes rows while their keys compare so with the limit of the row at hand.
    fn pass(
        &mut self,
        at: At<'_>,
        rows: &Kept,
        passes_nulls: bool,
        passes: &dyn Fn(Ordering) -> bool,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<u64> {
        let limit = at.row.get(self.limit_slot);
        let limit_type = &self.range.limit.result.column_type;
        while self.passed < rows.len() {
            let key = self.reader.row(rows, self.passed)?.get(self.key_slot);
            let is_passed = match key.is_null() {
                true => passes_nulls,
                false => compare_values(self.range.mode, key, self.key_type, limit, limit_type, context)?
                    .is_some_and(passes),
            };
            if !is_passed {
                break;
            }
            self.passed += 1;
            if self.passed.is_multiple_of(1024) {
                context.check_killed()?;
            }
        }
        Ok(self.passed)
    }
}

/// A number of rows or of buckets that a function is given; error 1210.
pub(crate) fn count_of(name: &str, value: &Value) -> SqlResult<u64> {
    let counts = whole_count(value).filter(|count| i64::try_from(*count).is_ok());
    counts.ok_or_else(|| sql_error!(ER_WRONG_ARGUMENTS, name))
}
