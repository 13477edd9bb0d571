//! Delete marks outside the undo lists of the history, which purge has to remove too. Main type: [`StrayMarks`].

use std::collections::VecDeque;
use std::sync::Mutex;
use stdx::ids::{IndexId, TransactionId};
use stdx::sync::lock;

/// Most delete marks that are remembered outside the undo lists; those from before the start that are forgotten are found again
/// by the next scan.
const STRAYS_MAX: usize = 10_000;
/// Bytes of their keys.
const STRAY_BYTES_MAX: usize = 1 << 20;

/// A delete mark without an undo list: left from before a restart, or brought back by a rollback.
#[derive(Debug)]
pub struct Stray {
    /// Of the entry.
    pub index: IndexId,
    /// Of the entry.
    pub key: Box<[u8]>,
    /// Who has marked it.
    pub writer: TransactionId,
}

/// Strays in the order in which they came.
#[derive(Debug, Default)]
struct Strays {
    marks: VecDeque<Stray>,
    key_bytes: usize,
}

/// Delete marks that purge has to remove beside those of the history.
#[derive(Debug, Default)]
pub struct StrayMarks {
    strays: Mutex<Strays>,
}

impl StrayMarks {
    /// Notes a delete mark that a reader or a rollback came across.
    pub fn add_stray(&self, index: IndexId, key: &[u8], writer: TransactionId) {
        lock(&self.strays).add(Stray { index, key: key.into(), writer });
    }

    /// Takes the oldest delete mark out.
    pub fn take_stray(&self) -> Option<Stray> {
        lock(&self.strays).take()
    }

    /// Puts back a delete mark that was taken out: it goes to the end.
    pub fn put_back_stray(&self, stray: Stray) {
        lock(&self.strays).add(stray);
    }

    /// How many delete marks are noted.
    pub fn stray_count(&self) -> usize {
        lock(&self.strays).marks.len()
    }
}

impl Strays {
    fn add(&mut self, stray: Stray) {
        if self.marks.len() < STRAYS_MAX && self.key_bytes < STRAY_BYTES_MAX {
            self.key_bytes += stray.key.len();
            self.marks.push_back(stray);
        }
    }

    fn take(&mut self) -> Option<Stray> {
        let stray = self.marks.pop_front()?;
        self.key_bytes -= stray.key.len();
        Some(stray)
    }
}
