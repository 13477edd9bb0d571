//! Tables whose files lack changes: damaged pages, headers, missing files. Main type: [`ClosedSpaces`]. See rule R7 in the engine's
//! README.
//!
//! What recovery could not bring into a file is noted in the dictionary before the log may forget it. The table stays closed,
//! over later starts too, until it is dropped or its file has every page with the LSN that the notes ask for.

use crate::{TableState, Tables};
use dictionary_store::DamageMark;
use engine_error::{EngineError, EngineResult};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stdx::ids::{IndexId, Lsn, SpaceId};

/// Spaces whose tables are closed and whose undo is passed over.
#[derive(Debug, Default)]
pub struct ClosedSpaces {
    any: AtomicBool,
    /// Whether it was noted that undo was passed over.
    spaces: Mutex<BTreeMap<SpaceId, bool>>,
}

impl ClosedSpaces {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SpaceId, bool>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes a space.
    pub fn add(&self, space: SpaceId) {
        self.lock().entry(space).or_insert(false);
        self.any.store(true, Ordering::Release);
    }

    /// Whether a space is one of them.
    #[inline]
    pub fn contains(&self, space: SpaceId) -> bool {
        self.any.load(Ordering::Acquire) && self.lock().contains_key(&space)
    }
}

impl Tables {
    /// Notes what files lack, durably; false if the disk is full: then the log must be kept.
    pub fn put_damage_marks(&self, marks: &[DamageMark]) -> EngineResult<bool> {
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
    pub fn is_restored(&self, marks: &[&DamageMark]) -> bool {
        marks.iter().all(|mark| {
            let page = self.pool.shared(mark.page);
            page.is_ok_and(|bytes| page::lsn(&bytes) >= mark.needed)
        })
    }

    /// Closes the table of an index whose pages do not let a change be undone: what is in it is not true any more. False if it
    /// is no table's.
    pub fn close_table_of(&self, index: IndexId, reason: &str) -> EngineResult<bool> {
        let Some(table) = self.dictionary.table_of_index(index) else { return Ok(false) };
        self.note_undo_passed_over(table.space, reason)?;
        if !self.shared.is_forced() {
            table.close(TableState::DAMAGED);
        }
        let name = &table.definition.name;
        self.shared.tell(format!(
            "Table `{}`.`{}` is closed, because a change of it cannot be undone: {reason}.",
            name.schema, name.table
        ));
        Ok(true)
    }

    /// Notes, for good, that changes were not undone in a space.
    pub fn note_undo_passed_over(&self, space: SpaceId, reason: &str) -> EngineResult<()> {
        self.closed.add(space);
        let is_noted = self.closed.lock().get(&space).copied().unwrap_or_default();
        if !is_noted {
            self.store.put_damage(&self.pool, &DamageMark::for_good(space, reason))?;
            self.closed.lock().insert(space, true);
        }
        Ok(())
    }
}
