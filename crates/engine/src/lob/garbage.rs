//! Notes of long values that committed transactions have taken out of their rows: a tree in the system tablespace, by which a start
//! knows what purge had still to remove. Main type: [`GarbageNotes`].
//!
//! Key: the transaction that took the value out (6 bytes, big-endian), the clustered index (8), the reference (24). No value. A note
//! is made after the row's change and removed before the change is undone, so that a transaction's notes tell what its commit
//! makes garbage; what unfinished transactions noted counts for nothing.

use super::{LobReference, LongValues};
use btree::{CursorRange, Direction, Tree};
use buffer::BufferPool;
use engine_error::{EngineError, EngineResult};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use stdx::ids::{CommitTimestamp, IndexId, TransactionId};
use txn::CommitTable;
use values::row::REFERENCE_BYTES;

/// Notes that are read at once after a start.
const NOTES_AT_ONCE: usize = 256;

/// The notes.
#[derive(Debug)]
pub(crate) struct GarbageNotes {
    tree: Tree,
    /// Notes from before the start may be left.
    has_old: AtomicBool,
}

impl GarbageNotes {
    pub(crate) fn new(tree: Tree) -> GarbageNotes {
        GarbageNotes { tree, has_old: AtomicBool::new(true) }
    }

    /// The tree, for checks.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Notes values that a writer has taken out of a row.
    pub(crate) fn add(
        &self,
        pool: &BufferPool,
        writer: TransactionId,
        index: IndexId,
        dead: &[u8],
    ) -> EngineResult<()> {
        for key in keys_of(writer, index, dead) {
            self.tree.put(pool, &key, &[])?;
        }
        Ok(())
    }

    /// Takes notes back.
    pub(crate) fn remove(
        &self,
        pool: &BufferPool,
        writer: TransactionId,
        index: IndexId,
        dead: &[u8],
    ) -> EngineResult<()> {
        for key in keys_of(writer, index, dead) {
            self.tree.remove(pool, &key)?;
        }
        Ok(())
    }
}

impl LongValues {
    /// Removes values that no snapshot needs any more, and the notes of them. Nothing is done for a table that was dropped.
    pub(crate) fn remove_dead(&self, writer: TransactionId, index: IndexId, dead: &[u8]) -> EngineResult<()> {
        if let Some(table) = self.tables.open_index(index)?.and_then(|open| open.table) {
            for reference in dead.as_chunks::<REFERENCE_BYTES>().0 {
                let reference = LobReference::decode(reference).ok_or_else(corrupt)?;
                self.remove_value(table.lob_tree()?, &reference)?;
            }
        }
        // What nobody else can meet was not noted.
        if index.is_temporary() { Ok(()) } else { self.garbage.remove(&self.pool, writer, index, dead) }
    }

    /// Shows all values that are noted, with the clustered index of their table, for checks.
    pub(crate) fn visit_garbage(&self, visit: &mut dyn FnMut(IndexId, LobReference)) -> EngineResult<()> {
        let mut range = CursorRange::all();
        loop {
            let keys =
                self.garbage.tree.keys(&self.pool, range.clone(), Direction::Forward, NOTES_AT_ONCE)?;
            let Some(last) = keys.last() else { return Ok(()) };
            range.lower = Bound::Excluded(last.clone());
            for key in &keys {
                let (_, index, reference) = parse(key).ok_or_else(corrupt)?;
                let reference = reference.try_into().ok().and_then(LobReference::decode);
                visit(index, reference.ok_or_else(corrupt)?);
            }
        }
    }

    /// Removes what transactions from before the start, whose first id that was, had left to purge, if every snapshot sees them. What a
    /// closed table or a damaged page keeps stays noted for the next start; the history has what was prepared and commits now.
    pub(crate) fn remove_old_garbage(
        &self,
        first_id: TransactionId,
        commits: &CommitTable,
        horizon: CommitTimestamp,
    ) -> EngineResult<()> {
        if !self.garbage.has_old.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut range = CursorRange {
            lower: Bound::Unbounded,
            upper: Bound::Excluded(first_id.0.to_be_bytes()[2..].to_vec()),
        };
        loop {
            let tree = &self.garbage.tree;
            let keys = tree.keys(&self.pool, range.clone(), Direction::Forward, NOTES_AT_ONCE)?;
            let Some(last) = keys.last() else { break };
            range.lower = Bound::Excluded(last.clone());
            for key in &keys {
                let (writer, index, reference) = parse(key).ok_or_else(corrupt)?;
                // The notes of a transaction that is still being rolled back go with its changes, before it has ended. So it is asked about
                // first: who has ended since the keys were read has no note any more.
                let is_over =
                    commits.is_visible(writer, horizon) && tree.get(&self.pool, key, |_| ())?.is_some();
                let table = self.tables.open_index(index)?.and_then(|open| open.table);
                self.shared.check_running()?;
                self.pool.check_writable()?;
                if is_over && table.is_none_or(|table| table.check_usable().is_ok()) {
                    match self.remove_dead(writer, index, reference) {
                        Err(EngineError::Corrupt(_)) => {}
                        result => result?,
                    }
                }
            }
        }
        self.garbage.has_old.store(false, Ordering::Release);
        Ok(())
    }
}

fn keys_of(writer: TransactionId, index: IndexId, dead: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let references = dead.as_chunks::<REFERENCE_BYTES>().0.iter();
    references
        .map(move |reference| [&writer.0.to_be_bytes()[2..], &index.0.to_be_bytes(), &reference[..]].concat())
}

fn parse(key: &[u8]) -> Option<(TransactionId, IndexId, &[u8])> {
    let (writer, rest) = key.split_first_chunk::<6>()?;
    let (index, reference) = rest.split_first_chunk::<8>()?;
    let writer = writer.iter().fold(0u64, |id, byte| id << 8 | u64::from(*byte));
    (reference.len() == REFERENCE_BYTES).then_some((
        TransactionId(writer),
        IndexId(u64::from_be_bytes(*index)),
        reference,
    ))
}

fn corrupt() -> EngineError {
    EngineError::Corrupt("note of a long value does not make sense".to_owned())
}
