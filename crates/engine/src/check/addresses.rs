//! Whether rows of unfinished writers lead to what they were before (rule H3 in entry's README).

use super::FAULTS_MAX;
use crate::error::EngineResult;
use crate::inner::EngineInner;
use btree::LeafView;
use entry::{Entry, EntryKind, Head, bad_header};
use stdx::ids::{CommitTimestamp, IndexId};
use txn::TransactionState;
use undo::Before;

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
        let Some(writer) = engine.undo.writers.get(entry.writer) else { continue };
        if engine.system.commits.state(entry.writer) != TransactionState::Active {
            continue;
        }
        let mut key = Vec::new();
        leaf.key_into(at, &mut key)?;
        let before = engine.undo.state_before(&writer, index, &key, entry)?;
        let is_right = if writer.id < engine.system.first_id {
            // The version store knows nothing of what was before the start.
            is_committed_state(engine, &before)?
        } else {
            is_known_state(engine, &before, index, &key)?
        };
        if !is_right && faults.len() < FAULTS_MAX {
            faults.push(format!("{name}: the undo address of row {key:02x?} leads to {before:02x?}"));
        }
    }
    Ok(())
}

/// Whether a state from before a loser is one that every snapshot sees, or none.
fn is_committed_state(engine: &EngineInner, before: &Before) -> EngineResult<bool> {
    Ok(match before {
        Before::Nothing => true,
        Before::Entry(value) => {
            let head = Head::parse(value).ok_or_else(bad_header)?;
            engine.system.commits.is_visible(head.writer, CommitTimestamp(0))
        }
        Before::Astray => false,
    })
}

/// Whether a state from before an unfinished writer is the newest in the version store.
fn is_known_state(engine: &EngineInner, before: &Before, index: IndexId, key: &[u8]) -> EngineResult<bool> {
    let newest = engine.system.versions.find(index, key, |_| true);
    Ok(match (before, newest) {
        (Before::Nothing, newest) => newest.is_none(),
        (Before::Entry(value), Some(version)) => {
            let entry = Entry::parse(EntryKind::Clustered, value).ok_or_else(bad_header)?;
            value.starts_with(&version.head) && *version.body()? == *entry.row
        }
        _ => false,
    })
}
