//! Window functions: pulls the rows for `window`, which computes them. Main type: [`Window`].

use super::{Operator, open};
use crate::batch::RowBatch;
use crate::run::Run;
use ::window::BufferedWindows;
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
    windows: Option<BufferedWindows<'p>>,
}

impl<'p> Window<'p> {
    pub fn new(step: &'p WindowStep, run: &Run<'_, '_>) -> Window<'p> {
        let input = open(&step.input, run);
        Window { step, input, rows: run.batch(), at: 0, has_ended: false, windows: None }
    }
}

impl Operator for Window<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let windows = match &mut self.windows {
            Some(windows) => windows,
            None => {
                let workspace = run.workspace().clone();
                let share_bytes = run.statement.settings.kept_bytes_max;
                let windows = BufferedWindows::new(self.step, &workspace, share_bytes, run)?;
                self.windows.insert(windows)
            }
        };
        loop {
            if windows.hand_out(run, batch)? {
                return Ok(true);
            }
            if self.has_ended {
                return Ok(false);
            }
            let mut is_complete = false;
            while !is_complete {
                if self.at >= self.rows.len() {
                    run.check_killed()?;
                    self.at = 0;
                    if !self.input.next(run, &mut self.rows)? {
                        self.has_ended = true;
                        windows.end();
                        break;
                    }
                }
                is_complete = !windows.take(self.rows.row(self.at), run)?;
                self.at += usize::from(!is_complete);
            }
        }
    }
}
