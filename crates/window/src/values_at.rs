//! Functions that show the value of another row: LAG, LEAD, FIRST_VALUE and their like. Main type: [`Places`]: the other rows, each
//! of which is found once, however many functions show values of it.

use crate::kept::Kept;
use crate::reader::Reader;
use errors::SqlResult;
use spill::Workspace;
use std::ops::Range;
use std::rc::Rc;
use values::{Decimal, RowRef, ValueRef};

/// Which other row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many rows before the one at hand.
    Before(u64),
    /// So many rows behind it.
    Behind(u64),
    /// The first of that frame.
    First(usize),
    /// The last of it.
    Last(usize),
    /// The n-th of it, from 1.
    Nth(usize, u64),
}

/// The other rows that functions look at.
pub(crate) struct Places {
    kept_width: usize,
    workspace: Rc<Workspace>,
    places: Vec<(Place, Reader)>,
}

impl Places {
    pub fn new(kept_width: usize, workspace: &Rc<Workspace>) -> Places {
        Places { kept_width, workspace: workspace.clone(), places: Vec::new() }
    }

    /// The number of a place.
    pub fn number_of(&mut self, place: Place) -> usize {
        let known = self.places.iter().position(|(known, _)| *known == place);
        known.unwrap_or_else(|| {
            self.places.push((place, Reader::new(self.kept_width, &self.workspace)));
            self.places.len() - 1
        })
    }

    /// Goes back to the first row, of another partition.
    pub fn restart(&mut self) {
        self.places.iter_mut().for_each(|(_, reader)| reader.rewind());
    }

    /// The row of a place; None if there is none.
    pub fn row<'r>(
        &'r mut self,
        place: usize,
        at: u64,
        frames: &[Range<u64>],
        rows: &'r Kept,
    ) -> SqlResult<Option<RowRef<'r>>> {
        let (place, reader) = &mut self.places[place];
        let number = match *place {
            Place::Before(by) => at.checked_sub(by),
            Place::Behind(by) => at.checked_add(by),
            Place::First(frame) => Some(frames[frame].start),
            Place::Last(frame) => frames[frame].end.checked_sub(1),
            Place::Nth(frame, number) => frames[frame].start.checked_add(number - 1),
        };
        let is_there = |number: &u64| match *place {
            Place::Before(_) | Place::Behind(_) => *number < rows.len(),
            Place::First(frame) | Place::Last(frame) | Place::Nth(frame, _) => frames[frame].contains(number),
        };
        number.filter(is_there).map(|number| reader.row(rows, number)).transpose()
    }
}

/// A value as a column of so many digits behind the point shows it: what was computed may have more or fewer.
pub(crate) fn with_scale(value: ValueRef<'_>, scale: u8) -> Option<Decimal> {
    match value {
        ValueRef::Decimal(exact) => Some(exact.padded(scale)),
        _ => None,
    }
}
