//! Window functions: pulls the rows for `window`, which computes them. Main type: [`Window`].

use super::{Operator, open};
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::run::Run;
use ::window::{BufferedWindows, Keeping, StreamedWindows};
use errors::SqlResult;
use expression::EvaluationContext;
use plan::window::WindowStep;

/// Rows with the values of window functions behind theirs.
pub struct Window<'p> {
    step: &'p WindowStep,
    input: Box<dyn Operator + 'p>,
    rows: RowBatch,
    /// The next row that is taken in.
    at: usize,
    has_ended: bool,
    way: Option<Way<'p>>,
}

/// Known with the first row: it depends on parameters.
enum Way<'p> {
    Streamed(Box<StreamedWindows<'p>>),
    Buffered(Box<BufferedWindows<'p>>),
}

impl<'p> Window<'p> {
    pub fn new(step: &'p WindowStep, run: &Run<'_, '_>) -> Window<'p> {
        let input = open(&step.input, run);
        Window { step, input, rows: run.batch(), at: 0, has_ended: false, way: None }
    }

    fn choose(&self, run: &mut Run<'_, '_>) -> SqlResult<Way<'p>> {
        let workspace = run.workspace().clone();
        let slides = run.statement.settings.fast_plans;
        if slides && let Some(streamed) = StreamedWindows::of(self.step, &workspace, run)? {
            return Ok(Way::Streamed(Box::new(streamed)));
        }
        let keeping = Keeping { share_bytes: run.statement.settings.kept_bytes_max, slides };
        Ok(Way::Buffered(Box::new(BufferedWindows::new(self.step, &workspace, keeping, run)?)))
    }

    /// Whether there is a row to be taken in.
    fn has_row(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if self.at >= self.rows.len() && !self.has_ended {
            run.check_killed()?;
            self.at = 0;
            self.has_ended = !self.input.next(run, &mut self.rows)?;
        }
        Ok(self.at < self.rows.len())
    }

    fn stream(
        &mut self,
        windows: &mut StreamedWindows<'p>,
        run: &mut Run<'_, '_>,
        batch: &mut RowBatch,
    ) -> SqlResult<bool> {
        batch.reset(windows.width());
        self.rows.want_for(batch, batch.wanted().clamp(1, BATCH_ROWS_MAX));
        while !batch.is_full() && self.has_row(run)? {
            windows.pass(self.rows.row(self.at), run, batch)?;
            self.at += 1;
        }
        Ok(!batch.is_empty())
    }

    fn hand_out(
        &mut self,
        windows: &mut BufferedWindows<'p>,
        run: &mut Run<'_, '_>,
        batch: &mut RowBatch,
    ) -> SqlResult<bool> {
        while !windows.hand_out(run, batch)? {
            if self.has_ended {
                return Ok(false);
            }
            let mut is_complete = false;
            while !is_complete && self.has_row(run)? {
                is_complete = !windows.take(self.rows.row(self.at), run)?;
                self.at += usize::from(!is_complete);
            }
            if !is_complete {
                windows.end();
            }
        }
        Ok(true)
    }
}

impl Operator for Window<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        // Steps lie in each other, and subqueries in them have steps of their own.
        plan::check_stack()?;
        let mut way = match self.way.take() {
            Some(way) => way,
            None => self.choose(run)?,
        };
        let outcome = match &mut way {
            Way::Streamed(windows) => self.stream(windows, run, batch),
            Way::Buffered(windows) => self.hand_out(windows, run, batch),
        };
        self.way = Some(way);
        outcome
    }
}
