//! Tables whose files lack changes: damaged pages, headers, missing files. Main type: [`DamageMark`]. See rule R7 in README.md.
//!
//! What recovery could not bring into a file is noted in the dictionary before the log may forget it. The table stays closed,
//! over later starts too, until it is dropped or its file has every page with the LSN that the notes ask for.

use crate::engine::EngineInner;
use crate::error::{EngineError, EngineResult};
use crate::table::TableState;
use crate::writer::Writer;
use buffer::NeededPage;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stdx::ids::{IndexId, Lsn, PageId, PageNumber, SpaceId};
use txn::UndoRecord;

/// A page must have that LSN for the file to have all changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DamageMark {
    pub(crate) page: PageId,
    pub(crate) needed: Lsn,
    /// Why its changes were passed over; empty if they were not.
    pub(crate) reason: String,
}

/// Spaces whose tables are closed and whose undo is passed over.
#[derive(Debug, Default)]
pub(crate) struct ClosedSpaces {
    any: AtomicBool,
    /// Whether it was noted that undo was passed over.
    spaces: Mutex<BTreeMap<SpaceId, bool>>,
}

impl ClosedSpaces {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SpaceId, bool>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, space: SpaceId) {
        self.lock().entry(space).or_insert(false);
        self.any.store(true, Ordering::Release);
    }

    pub(crate) fn contains(&self, space: SpaceId) -> bool {
        self.any.load(Ordering::Acquire) && self.lock().contains_key(&space)
    }
}

impl DamageMark {
    pub(crate) fn of(page: &NeededPage) -> DamageMark {
        let reason = page.reason.unwrap_or_default().to_owned();
        DamageMark { page: page.page, needed: page.needed, reason }
    }

    /// The mark of a file that no copy can mend, because changes were never taken back in it.
    fn for_good(space: SpaceId, reason: &str) -> DamageMark {
        let page = PageId { space, number: PageNumber(u32::MAX) };
        DamageMark { page, needed: Lsn(u64::MAX), reason: reason.to_owned() }
    }
}

impl EngineInner {
    /// Notes what files lack, durably; false if the disk is full: then the log must be kept.
    pub(crate) fn put_damage_marks(&self, marks: &[DamageMark]) -> EngineResult<bool> {
        let _reserve = buffer::use_reserve();
        let mut end = Lsn(0);
        for mark in marks {
            match self.store.put_damage(&self.pool, mark) {
                Ok(lsn) => end = lsn,
                Err(EngineError::NoSpace) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.pool.redo().flush_to(end)?;
        Ok(true)
    }

    /// Whether a file has every page as the marks ask for.
    pub(crate) fn is_restored(&self, marks: &[&DamageMark]) -> bool {
        marks.iter().all(|mark| {
            let page = self.pool.shared(mark.page);
            page.is_ok_and(|bytes| page::lsn(&bytes) >= mark.needed)
        })
    }

    /// Closes the table of an index whose pages do not let a change be undone: what is in it is not true any more. False if it
    /// is no table's.
    pub(crate) fn close_table_of(&self, index: IndexId, reason: &str) -> EngineResult<bool> {
        let Some(table) = self.dictionary.table_of_index(index) else { return Ok(false) };
        self.note_undo_passed_over(table.space, reason)?;
        if !self.is_forced() {
            table.close(TableState::DAMAGED);
        }
        let name = &table.definition.name;
        crate::engine::lock(&self.messages).push(format!(
            "Table `{}`.`{}` is closed, because a change of it cannot be undone: {reason}.",
            name.schema, name.table
        ));
        Ok(true)
    }

    fn note_undo_passed_over(&self, space: SpaceId, reason: &str) -> EngineResult<()> {
        self.closed.add(space);
        let is_noted = self.closed.lock().get(&space).copied().unwrap_or_default();
        if !is_noted {
            self.store.put_damage(&self.pool, &DamageMark::for_good(space, reason))?;
            self.closed.lock().insert(space, true);
        }
        Ok(())
    }

    /// Takes a record off the list without undoing it, if it is of a closed table; false if it is of none.
    pub(crate) fn pass_over_undo(
        &self,
        writer: &Writer,
        space: SpaceId,
        record: &UndoRecord<'_>,
    ) -> EngineResult<bool> {
        if !self.closed.contains(space) {
            return Ok(false);
        }
        self.note_undo_passed_over(space, "a transaction could not be rolled back in it")?;
        if record.version {
            self.versions.pop(record.index, record.key, writer.id);
        }
        self.pop_without_page(writer);
        Ok(true)
    }
}
