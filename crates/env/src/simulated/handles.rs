//! Descriptors of a simulated disk: how many files and directories are open, and how many may be.

use std::path::Path;

use super::SimulatedDisk;
use crate::{DiskError, DiskErrorKind, DiskResult};

/// What the operating system says to a process that has no descriptor left.
const EMFILE: i32 = 24;

/// The count, part of the disk's state.
#[derive(Default)]
pub(super) struct Handles {
    pub open: usize,
    pub maximum: Option<usize>,
}

impl Handles {
    /// Fails if no more may be opened.
    pub fn check(&self, operation: &'static str, path: &Path) -> DiskResult<()> {
        match self.maximum {
            Some(maximum) if self.open >= maximum => {
                let kind = DiskErrorKind::TooManyFiles;
                Err(DiskError { errno: EMFILE, ..DiskError::new(kind, operation, path) })
            }
            _ => Ok(()),
        }
    }

    /// Counts one as open until it is dropped. The disk's state must not be locked then.
    pub fn take(&mut self, disk: &SimulatedDisk) -> Handle {
        self.open += 1;
        Handle { disk: disk.clone() }
    }
}

/// An open file or directory.
pub(super) struct Handle {
    disk: SimulatedDisk,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.disk.state().handles.open -= 1;
    }
}
