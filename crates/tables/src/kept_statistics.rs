//! What an open table keeps of its statistics. Main type: [`KeptStatistics`]. The engine's `statistics.rs` fills them.

use dictionary_store::StoredStatistics;
use engine_types::Distribution;
use std::sync::Arc;

/// What a table keeps of its statistics.
#[derive(Debug, Default)]
pub struct KeptStatistics {
    /// What the last ANALYZE found.
    pub stored: Option<StoredStatistics>,
    /// What a planner was told last, and the changes of the clustered index by then: it is looked at again once it has others.
    pub distribution: Option<(u64, Arc<Distribution>)>,
}
