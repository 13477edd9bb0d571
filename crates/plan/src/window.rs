//! Window functions as a plan has them: one step for each way to part and order the rows, which computes all functions over windows
//! of that way. Main types: [`WindowStep`], [`WindowCall`], [`Frame`].

use crate::physical::{AggregateKind, Node, SortKey};
use expression::operators::ComparisonMode;
use expression::{Expression, ResultType, TypeClass};
use std::sync::Arc;
use values::Value;

/// Rows with the values of window functions behind theirs. The input comes in the order of the partition, then of `order`: each
/// partition lies together.
#[derive(Clone, Debug)]
pub struct WindowStep {
    /// Rows.
    pub input: Node,
    /// Slots of a row of the input: the values of the functions follow, one a call.
    pub width: usize,
    /// Rows that are equal in these are one partition.
    pub partition: Vec<Expression>,
    /// The order in a partition. Rows that are equal in it are peers.
    pub order: Vec<SortKey>,
    /// Frames that calls have.
    pub frames: Vec<Frame>,
    /// The functions.
    pub calls: Vec<WindowCall>,
}

/// A window function.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Its arguments, over a row of the input.
    pub arguments: Vec<Expression>,
    /// Its frame among those of the step.
    pub frame: usize,
    /// Type of the result.
    pub result: ResultType,
}

impl WindowCall {
    /// Whether it adds floating point numbers up.
    pub fn adds_doubles(&self) -> bool {
        use AggregateKind::{Average, Sum, Variance};
        matches!(self.function, WindowFunction::Aggregate(Sum | Average | Variance { .. }))
            && self.result.class() == TypeClass::Double
    }
}

/// Which window function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowFunction {
    /// ROW_NUMBER.
    RowNumber,
    /// RANK.
    Rank,
    /// DENSE_RANK.
    DenseRank,
    /// PERCENT_RANK.
    PercentRank,
    /// CUME_DIST.
    CumeDist,
    /// NTILE.
    Ntile,
    /// LEAD.
    Lead,
    /// LAG.
    Lag,
    /// FIRST_VALUE.
    FirstValue,
    /// LAST_VALUE.
    LastValue,
    /// NTH_VALUE.
    NthValue,
    /// An aggregate over the frame.
    Aggregate(AggregateKind),
}

impl WindowFunction {
    /// Its name in errors and in EXPLAIN.
    pub fn name(self) -> &'static str {
        match self {
            WindowFunction::RowNumber => "row_number",
            WindowFunction::Rank => "rank",
            WindowFunction::DenseRank => "dense_rank",
            WindowFunction::PercentRank => "percent_rank",
            WindowFunction::CumeDist => "cume_dist",
            WindowFunction::Ntile => "ntile",
            WindowFunction::Lead => "lead",
            WindowFunction::Lag => "lag",
            WindowFunction::FirstValue => "first_value",
            WindowFunction::LastValue => "last_value",
            WindowFunction::NthValue => "nth_value",
            WindowFunction::Aggregate(kind) => kind.name(),
        }
    }

    /// Whether it looks at the rows of its frame; the others look at the partition.
    pub fn uses_frame(self) -> bool {
        matches!(
            self,
            WindowFunction::FirstValue
                | WindowFunction::LastValue
                | WindowFunction::NthValue
                | WindowFunction::Aggregate(_)
        )
    }
}

/// The rows around a row that a function looks at.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What the window is called in errors.
    pub window: Arc<str>,
    /// Whether that is a name of its own.
    pub is_named: bool,
    /// The frame in words, if it is written.
    pub written: Option<Arc<str>>,
    /// The first row.
    pub start: FrameBound,
    /// The last row.
    pub end: FrameBound,
}

/// One end of a frame.
#[derive(Clone, Debug)]
pub enum FrameBound {
    /// The partition's: its first row where a frame starts, its last where it ends.
    Unbounded,
    /// CURRENT ROW of ROWS.
    CurrentRow,
    /// CURRENT ROW of RANGE: the first peer where a frame starts, the last where it ends.
    Peers,
    /// So many rows away.
    Rows {
        /// A constant.
        offset: Expression,
        /// In which direction.
        following: bool,
    },
    /// The rows whose value of the one order key is as far away at most.
    Range(Box<RangeBound>),
}

/// A bound of RANGE by value.
#[derive(Clone, Debug)]
pub struct RangeBound {
    /// How far: a constant.
    pub offset: Expression,
    /// The value at the bound: that of the order key of the row, less or more the offset.
    pub limit: Expression,
    /// How values of the order key are compared with it.
    pub mode: ComparisonMode,
}

/// How many rows a value counts, as a number of ROWS, NTILE and their like; None for what is none: NULL, negative, a fraction.
pub fn whole_count(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::UInt(number) => Some(*number),
        _ => None,
    }
}

/// Whether a value is none that a bound of RANGE may be away: NULL or negative.
pub fn is_no_distance(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Int(number) => *number < 0,
        Value::Decimal(number) => number.is_negative(),
        Value::Float(number) => *number < 0.0,
        Value::Double(number) => *number < 0.0,
        Value::Bytes(text) => text.trim_ascii_start().starts_with(b"-"),
        Value::UInt(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => false,
    }
}

impl WindowStep {
    /// Whether a function needs no row but the one at hand and what was gathered of those before: rows pass then, and none is kept.
    pub fn passes(&self, call: &WindowCall) -> bool {
        use WindowFunction::{Aggregate, DenseRank, FirstValue, LastValue, NthValue, Rank, RowNumber};
        let frame = &self.frames[call.frame];
        let is_running =
            matches!((&frame.start, &frame.end), (FrameBound::Unbounded, FrameBound::CurrentRow));
        match call.function {
            RowNumber | Rank | DenseRank => true,
            FirstValue | LastValue | NthValue | Aggregate(_) => is_running,
            _ => false,
        }
    }

    /// Calls `visit` for each expression but those of the input.
    pub fn for_each_expression(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        self.partition.iter_mut().for_each(&mut *visit);
        self.order.iter_mut().for_each(|key| visit(&mut key.expression));
        for bound in self.frames.iter_mut().flat_map(|frame| [&mut frame.start, &mut frame.end]) {
            match bound {
                FrameBound::Rows { offset, .. } => visit(offset),
                FrameBound::Range(range) => {
                    visit(&mut range.offset);
                    visit(&mut range.limit);
                }
                FrameBound::Unbounded | FrameBound::CurrentRow | FrameBound::Peers => {}
            }
        }
        self.calls.iter_mut().flat_map(|call| &mut call.arguments).for_each(visit);
    }

    /// What it computes of a row of its input.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let limits =
            self.frames.iter().flat_map(|frame| [&frame.start, &frame.end]).filter_map(|bound| match bound {
                FrameBound::Range(range) => Some(&range.limit),
                _ => None,
            });
        let keys = self.order.iter().map(|key| &key.expression);
        let arguments = self.calls.iter().flat_map(|call| &call.arguments);
        self.partition.iter().chain(keys).chain(limits).chain(arguments)
    }
}
