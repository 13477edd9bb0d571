//! Windows of a SELECT and the functions over them, as they are bound. Main type: [`BoundWindows`].

use expression::{Expression, ExpressionKind, ResultType};
use plan::physical::SortKey;
use plan::window::WindowFunction;
use std::sync::Arc;
use values::temporal::IntervalUnit;

/// The windows of a block.
#[derive(Clone, Debug, Default)]
pub struct BoundWindows {
    /// Windows, those of the WINDOW clause first.
    pub windows: Vec<BoundWindow>,
    /// Functions: [`ExpressionKind::Window`] has their numbers.
    pub calls: Vec<BoundWindowCall>,
    /// Whether a window function may stand where something is being bound.
    pub are_allowed: bool,
    /// The window whose specification is being bound.
    pub within: Option<Arc<str>>,
}

/// A window.
#[derive(Clone, Debug)]
pub struct BoundWindow {
    /// Its name; None for one that stands behind OVER.
    pub name: Option<Arc<str>>,
    /// PARTITION BY.
    pub partition: Vec<Expression>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// The frame, if it is written.
    pub frame: Option<BoundFrame>,
}

/// A frame as it is written.
#[derive(Clone, Debug)]
pub struct BoundFrame {
    /// ROWS; RANGE otherwise.
    pub is_rows: bool,
    /// Its first row.
    pub start: BoundFrameBound,
    /// Its last row.
    pub end: BoundFrameBound,
}

/// An end of a frame.
#[derive(Clone, Debug)]
pub enum BoundFrameBound {
    /// The end of the partition in that direction.
    Unbounded,
    /// CURRENT ROW.
    Current,
    /// So far away.
    Offset {
        /// How far.
        offset: Expression,
        /// With INTERVAL.
        unit: Option<IntervalUnit>,
        /// FOLLOWING.
        following: bool,
    },
}

/// A window function.
#[derive(Clone, Debug)]
pub struct BoundWindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// The number of its window.
    pub window: usize,
    /// Type of the result.
    pub result: ResultType,
}

impl BoundWindow {
    /// What it is called in errors.
    pub fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or("<unnamed window>")
    }

    fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        self.partition.iter_mut().chain(self.order.iter_mut().map(|key| &mut key.expression))
    }

    /// What rows are sorted by before it.
    pub fn sort_keys(&self) -> Vec<SortKey> {
        let partition =
            self.partition.iter().map(|part| SortKey { expression: part.clone(), descending: false });
        partition.chain(self.order.iter().cloned()).collect()
    }
}

impl BoundWindows {
    /// All that is computed of the rows of the block.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        let arguments = self.calls.iter_mut().flat_map(|call| &mut call.arguments);
        self.windows.iter_mut().flat_map(BoundWindow::expressions_mut).chain(arguments)
    }

    /// Leaves out windows that no function is over.
    pub fn forget_unused(&mut self) {
        let used: Vec<bool> =
            (0..self.windows.len()).map(|at| self.calls.iter().any(|call| call.window == at)).collect();
        let place = |window: usize| used[..window].iter().filter(|used| **used).count();
        self.calls.iter_mut().for_each(|call| call.window = place(call.window));
        let mut at = 0..;
        self.windows.retain(|_| at.next().is_some_and(|at| used[at]));
    }

    /// Windows in the order in which they are computed: those of the same order of rows beside each other, as in MySQL.
    pub fn in_order(&self) -> Vec<usize> {
        let keys: Vec<Vec<SortKey>> = self.windows.iter().map(BoundWindow::sort_keys).collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        for at in 0..order.len().saturating_sub(1) {
            let own = &keys[order[at]];
            let same = |other: &usize| !own.is_empty() && are_same(own, &keys[*other]);
            if let Some(found) = order[at + 1..].iter().position(same) {
                order.swap(at + 1, at + 1 + found);
            }
        }
        order
    }
}

/// Whether rows are in the same order by both.
pub fn are_same(left: &[SortKey], right: &[SortKey]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            left.descending == right.descending && left.expression.same(&right.expression)
        })
}

/// Whether a part of the expression is a window function of the block.
pub fn has_window(expression: &Expression) -> bool {
    expression.any(&|part| matches!(part.kind, ExpressionKind::Window(_)))
}
