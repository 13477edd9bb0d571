//! [`Segment`]: the bodies of some old versions, in memory or in the spill file. [`Figures`] counts what all segments hold.
//!
//! Versions hold their segment; with the last of them its memory or its space in the file goes. Who reads a body holds
//! the segment too, so space that is being read is never used again.

use crate::spill_file::{Extent, SpillError, SpillFile};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What the segments of a store hold, and what else the store has in memory.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Bytes in memory: bodies, keys, overhead.
    pub memory: AtomicU64,
    /// Bytes of bodies in the file.
    pub spilled_bytes: AtomicU64,
    /// Versions whose bodies are in the file.
    pub spilled_versions: AtomicU64,
}

/// Bodies, one after the other.
#[derive(Debug)]
pub(super) struct Segment {
    place: RwLock<Place>,
    /// Versions that are alive. Changed under the lock of `place`, so that a spill counts exactly those.
    versions: AtomicU32,
    figures: Arc<Figures>,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File(Extent),
}

impl Segment {
    pub fn new(figures: &Arc<Figures>) -> Segment {
        Segment {
            place: RwLock::new(Place::Memory(Vec::new())),
            versions: AtomicU32::new(0),
            figures: figures.clone(),
        }
    }

    /// Adds a body if the segment, which nobody has begun to spill, is empty or has room for it below `bytes_max`. Returns
    /// where it starts. The caller counts its bytes.
    pub fn push(&self, body: &[u8], bytes_max: usize) -> Option<u32> {
        let mut place = self.write();
        let Place::Memory(bytes) = &mut *place else { return None };
        let start = bytes.len();
        let end = start + body.len();
        if start > 0 && end > bytes_max {
            return None;
        }
        if end > bytes.capacity() {
            // Doubles, but never beyond what the segment may hold.
            let wanted = end.next_power_of_two().min(bytes_max).max(end);
            bytes.reserve_exact(wanted - start);
        }
        bytes.extend_from_slice(body);
        self.versions.fetch_add(1, Ordering::Relaxed);
        Some(start as u32)
    }

    /// Notes that a version is gone.
    pub fn forget_version(&self) {
        let place = self.read();
        self.versions.fetch_sub(1, Ordering::Relaxed);
        if matches!(*place, Place::File(_)) {
            self.figures.spilled_versions.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A copy of a body.
    pub fn body(&self, start: u32, length: u32) -> Result<Arc<[u8]>, SpillError> {
        let (start, length) = (start as usize, length as usize);
        match &*self.read() {
            Place::Memory(bytes) => Ok(bytes[start..start + length].into()),
            // Nobody waits for the lock: a segment in the file stays there.
            Place::File(extent) => extent.read(start, length),
        }
    }

    /// Moves the bodies to the file. On an error they stay where they are.
    pub fn spill(&self, file: &Arc<SpillFile>) -> Result<(), env::DiskError> {
        let extent = match &*self.read() {
            Place::Memory(bytes) => file.write(bytes)?,
            Place::File(_) => return Ok(()),
        };
        let length = extent.length() as u64;
        let mut place = self.write();
        let before = std::mem::replace(&mut *place, Place::File(extent));
        let versions = u64::from(self.versions.load(Ordering::Relaxed));
        self.figures.spilled_versions.fetch_add(versions, Ordering::Relaxed);
        drop(place);
        self.figures.spilled_bytes.fetch_add(length, Ordering::Relaxed);
        self.figures.memory.fetch_sub(length, Ordering::Relaxed);
        drop(before);
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Place> {
        self.place.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Place> {
        self.place.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let place = self.place.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (figure, bytes) = match place {
            Place::Memory(bytes) => (&self.figures.memory, bytes.len()),
            Place::File(extent) => (&self.figures.spilled_bytes, extent.length()),
        };
        figure.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}
