//! The rows that a statement changes, as they are found. Main type: [`FoundRows`].

use crate::batch::RowBatch;
use crate::operator::{Operator, open};
use crate::run::Run;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::Node;
use plan::silent::is_silent;

/// Rows as they are found. MySQL changes each row before it looks at the next, so that an error of the search comes after
/// those of the rows that were found before, and a variable that the search sets is as it was for the row.
pub struct FoundRows<'p> {
    operator: Box<dyn Operator + 'p>,
    /// The rows that were found last.
    pub batch: RowBatch,
}

impl<'p> FoundRows<'p> {
    /// Rows one by one.
    pub fn singly(node: &'p Node, run: &Run<'_, '_>) -> FoundRows<'p> {
        let mut batch = RowBatch::new();
        batch.want_singly();
        FoundRows { operator: open(node, run), batch }
    }

    /// Rows one by one, of which the next is not even read before it is asked for.
    pub fn without_reading_ahead(node: &'p Node, run: &Run<'_, '_>) -> FoundRows<'p> {
        let mut batch = RowBatch::new();
        batch.want(1);
        FoundRows { operator: open(node, run), batch }
    }

    /// Rows of a query: many at a time where nobody can tell.
    pub fn of_query(node: &'p Node, run: &Run<'_, '_>) -> FoundRows<'p> {
        if is_silent(node) {
            return FoundRows { operator: open(node, run), batch: RowBatch::new() };
        }
        FoundRows::singly(node, run)
    }

    /// The next rows; false at the end.
    pub fn next(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if run.plan.row_by_row {
            self.batch.want_singly();
        }
        let more = self.operator.next(run, &mut self.batch)?;
        run.check_killed()?;
        Ok(more)
    }
}
