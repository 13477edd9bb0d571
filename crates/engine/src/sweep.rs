//! Removes delete marks that a stop has left: it does not wait for purge, and notes in the dictionary which tables may hold some. The
//! next start looks through those. Main type: [`Sweep`]. Rule R12 in README.md.

use crate::purge::Purge;
use crate::transaction_system::TransactionSystem;
use btree::{Cursor, CursorRange, Direction, LeafView, Taken};
use buffer::BufferPool;
use dictionary_store::DICTIONARY_INDEX;
use engine_error::{EngineError, EngineResult};
use entry::{EntryKind, parse_entry};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex};
use stdx::ids::{CommitTimestamp, IndexId, TableId, TransactionId};
use stdx::sync::lock;
use tables::{Shared, Tables};
use undo::{UndoError, UndoLog};

/// Leaves that a round looks at: with the pause between rounds at most 40 MiB a second are read for this.
const LEAVES_MAX: usize = 256;
/// Delete marks that a round removes, about: some ten milliseconds of work.
const MARKS_MAX: usize = 8192;

/// What is left of it.
pub(crate) struct Sweep {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    tables: Arc<Tables>,
    undo: Arc<UndoLog>,
    system: Arc<TransactionSystem>,
    /// One round at a time.
    left: Mutex<VecDeque<Marked>>,
}

/// A table that the stop before this start has noted.
struct Marked {
    table: TableId,
    /// Its trees that are still to be looked at, the present one first.
    trees: VecDeque<IndexId>,
    /// The rest of the present one.
    rest: CursorRange,
}

/// What a look at a leaf has found: keys of delete marks and who has set them.
type Marks = Vec<(Vec<u8>, TransactionId)>;

impl Sweep {
    /// Nothing is to be done yet.
    pub(crate) fn new(
        shared: Arc<Shared>,
        tables: Arc<Tables>,
        undo: Arc<UndoLog>,
        system: Arc<TransactionSystem>,
    ) -> Sweep {
        Sweep { pool: shared.pool.clone(), shared, tables, undo, system, left: Mutex::default() }
    }

    /// A start has found the note of a table with these trees.
    pub(crate) fn add(&self, table: TableId, trees: Vec<IndexId>) {
        lock(&self.left).push_back(Marked { table, trees: trees.into(), rest: CursorRange::all() });
    }

    /// Whether the last stop has left anything.
    pub(crate) fn is_needed(&self) -> bool {
        !lock(&self.left).is_empty()
    }

    /// Notes the tables that may hold delete marks which purge has not removed: for a stop, when nobody writes any more. Those of the
    /// dictionary itself, which are few, are removed. What cannot be read is left out; scans find those marks (rule R4).
    pub(crate) fn note_marked_tables(&self, purge: &Purge) -> EngineResult<()> {
        let mut trees: BTreeSet<IndexId> = BTreeSet::new();
        let mut of_dictionary = Marks::new();
        let mut add = |index: IndexId, key: &[u8], writer: TransactionId| match index {
            DICTIONARY_INDEX => of_dictionary.push((key.to_vec(), writer)),
            index => drop(trees.insert(index)),
        };
        let read = self.undo.history.visit_left(|writer, record| {
            if record.tombstone {
                add(record.index, record.key, writer);
            }
            Ok::<(), UndoError>(())
        });
        while let Some(stray) = self.system.strays.take_stray() {
            add(stray.index, &stray.key, stray.writer);
        }
        for (key, writer) in of_dictionary {
            purge.remove_tombstone(DICTIONARY_INDEX, &key, writer)?;
        }
        let marked = trees.iter().filter_map(|index| self.tables.dictionary.table_id_of_index(*index));
        for table in marked.collect::<BTreeSet<TableId>>() {
            self.tables.store.put_delete_marks(&self.pool, table)?;
        }
        Ok(read?)
    }

    /// Goes on, by a round. Returns how many marks it has removed, and whether something is left to do now.
    pub(crate) fn sweep_some(&self, purge: &Purge) -> EngineResult<(u64, bool)> {
        let mut left = lock(&self.left);
        let horizon = self.system.snapshots.horizon(self.system.visible());
        let (mut leaves, mut removed) = (0, 0);
        while leaves < LEAVES_MAX && removed < MARKS_MAX as u64 {
            self.shared.check_running()?;
            let Some(marked) = left.front_mut() else { return Ok((removed, false)) };
            match self.next_marks(marked, horizon) {
                Ok(Some((index, marks))) => {
                    leaves += 1;
                    removed += self.remove(purge, index, marks)?;
                }
                // Scans find what is behind a damaged page, where they can.
                Ok(None) | Err(EngineError::Corrupt(_)) => self.end_tree(&mut left)?,
                // The table is closed: the next start tries again.
                Err(EngineError::TableDamaged(..) | EngineError::FileMissing(..)) => {
                    left.pop_front();
                }
                Err(error) => return Err(error),
            }
        }
        Ok((removed, true))
    }

    /// The marks of the next leaf, and the index that it is of; none at the end of the index.
    fn next_marks(
        &self,
        marked: &mut Marked,
        horizon: CommitTimestamp,
    ) -> EngineResult<Option<(IndexId, Marks)>> {
        let Some(id) = marked.trees.front() else { return Ok(None) };
        // It may have been dropped, or hold no entries but long values.
        let Some(table) = self.tables.dictionary.table_of_index(*id) else { return Ok(None) };
        let Some(index) = table.indexes().iter().find(|index| index.id() == *id) else { return Ok(None) };
        table.look_at_file()?;
        let kind = if table.clustered().id() == *id { EntryKind::Clustered } else { EntryKind::Secondary };
        let mut cursor = Cursor::new(marked.rest.clone(), Direction::Forward);
        let found = cursor
            .next_leaf(&index.tree, &self.pool, |leaf| (Taken::All, self.marks_of(leaf, kind, horizon)))?;
        let Some((last, marks)) = found.transpose()? else { return Ok(None) };
        marked.rest.lower = Bound::Excluded(last);
        Ok(Some((*id, marks)))
    }

    /// The last key of a leaf and the marks from before the start in it that nobody needs.
    fn marks_of(
        &self,
        leaf: &LeafView<'_>,
        kind: EntryKind,
        horizon: CommitTimestamp,
    ) -> EngineResult<(Vec<u8>, Marks)> {
        let mut marks = Vec::new();
        for at in 0..leaf.len() {
            let entry = parse_entry(kind, leaf.entry(at)?.1)?;
            // Those of unfinished transactions go with their rollback, later ones are purge's.
            let is_old = entry.deleted && entry.writer < self.system.first_id;
            if is_old && self.system.commits.is_visible(entry.writer, horizon) {
                let mut key = Vec::new();
                leaf.key_into(at, &mut key)?;
                marks.push((key, entry.writer));
            }
        }
        let mut last = Vec::new();
        leaf.key_into(leaf.len() - 1, &mut last)?;
        Ok((last, marks))
    }

    fn remove(&self, purge: &Purge, index: IndexId, marks: Marks) -> EngineResult<u64> {
        let mut removed = 0;
        // It makes room.
        let _reserve = buffer::use_reserve();
        for (key, writer) in marks {
            self.shared.check_running()?;
            self.pool.check_writable()?;
            match purge.remove_tombstone(index, &key, writer) {
                Ok(is_removed) => removed += u64::from(is_removed),
                Err(EngineError::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// Goes on with the next tree. With the last one of a table its note goes.
    fn end_tree(&self, left: &mut VecDeque<Marked>) -> EngineResult<()> {
        let Some(marked) = left.front_mut() else { return Ok(()) };
        if marked.trees.len() <= 1 {
            self.pool.check_writable()?;
            self.tables.store.remove_delete_marks(&self.pool, marked.table)?;
            left.pop_front();
        } else {
            marked.trees.pop_front();
            marked.rest = CursorRange::all();
        }
        Ok(())
    }
}
