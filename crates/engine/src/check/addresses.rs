//! Whether rows of unfinished writers lead to what they were before (rule H3 in entry's README).

use super::FAULTS_MAX;
use crate::inner::EngineInner;
use btree::LeafView;
use engine_error::EngineResult;
use entry::{Entry, EntryKind, bad_header};
use stdx::ids::IndexId;
use txn::TransactionState;
use undo::{Before, Row};

/// Checks the rows of unfinished writers in a leaf.
pub(super) fn check_leaf(
    engine: &EngineInner,
    index: IndexId,
    leaf: &LeafView<'_>,
    name: &str,
    faults: &mut Vec<String>,
) -> EngineResult<()> {
    let mut value = Vec::new();
    for at in 0..leaf.len() {
        value.clear();
        value.extend_from_slice(leaf.entry(at)?.1);
        let entry = Entry::parse(EntryKind::Clustered, &value).ok_or_else(bad_header)?;
        // Its end takes a writer out of the registry, a rollback needs the leaf's latch.
        if engine.undo.writers.get(entry.writer).is_none() {
            continue;
        }
        if engine.system.commits.state(entry.writer) != TransactionState::Active {
            continue;
        }
        let mut key = Vec::new();
        leaf.key_into(at, &mut key)?;
        let record = |id, position| engine.system.undo_record(id, position);
        let before = Row { index, key: &key }.state_before(entry, &record)?;
        if !is_finished_state(engine, &before)? && faults.len() < FAULTS_MAX {
            faults.push(format!("{name}: the undo address of row {key:02x?} leads to {before:02x?}"));
        }
    }
    Ok(())
}

/// Whether a state from before an unfinished writer is one that a committed writer left, or none.
fn is_finished_state(engine: &EngineInner, before: &Before) -> EngineResult<bool> {
    Ok(match before {
        Before::Nothing => true,
        Before::State(state) => {
            matches!(engine.system.commits.state(state.entry()?.writer), TransactionState::Committed(_))
        }
        Before::Astray => false,
    })
}
