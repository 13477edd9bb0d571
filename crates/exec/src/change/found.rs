//! The rows that a statement changes, as they are found. Main type: [`FoundRows`].

use crate::batch::RowBatch;
use crate::operator::{Operator, open};
use crate::run::Run;
use errors::{SqlError, SqlResult};
use expression::EvaluationContext;
use plan::physical::Node;

/// Rows in batches. MySQL changes each row before it looks at the next, so that an error of the search comes after those of
/// the rows that were found before.
pub struct FoundRows<'p> {
    operator: Box<dyn Operator + 'p>,
    /// The rows that were found last.
    pub batch: RowBatch,
    /// Whether the batch has whole rows when the search fails.
    keeps_rows: bool,
    failed: Option<SqlError>,
}

impl<'p> FoundRows<'p> {
    pub fn new(node: &'p Node) -> FoundRows<'p> {
        let keeps_rows = matches!(node, Node::Table(_));
        FoundRows { operator: open(node), batch: RowBatch::new(), keeps_rows, failed: None }
    }

    /// The next rows; false at the end.
    pub fn next(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if run.plan.row_by_row {
            self.batch.want(1);
        }
        let more = self.operator.next(run, &mut self.batch);
        match more.and_then(|more| run.check_killed().map(|()| more)) {
            Err(error) if self.keeps_rows && !self.batch.is_empty() => {
                let raised = run.diagnostics().take_raised();
                self.failed = Some(raised.unwrap_or(error));
                Ok(true)
            }
            more => more,
        }
    }
}
