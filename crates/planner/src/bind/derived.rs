//! Queries in FROM that are planned before the query that reads them. Main type: [`DerivedQueries`].

use optimizer::OpenSelect;
use plan::physical::QueryPlan;
use std::sync::Arc;

/// Those of a statement into which conditions may go.
#[derive(Default)]
pub(crate) struct DerivedQueries {
    /// With their SELECTs as they were before they were planned: itself, or the operands of a set operation.
    pub pushable: Vec<(Arc<QueryPlan>, Arc<Vec<OpenSelect>>)>,
    /// SELECTs of the set operation that is being bound, while all operands are such.
    pub operands: Option<Vec<OpenSelect>>,
}
