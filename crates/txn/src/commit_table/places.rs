//! Where the undo of committed transactions lies in the history. Places of a chunk are in memory while they are young, then in the spill
//! file, until every snapshot sees the chunk. Main type: [`SpilledPlaces`].

use super::slots::{CHUNK_IDS, Places, Slot};
use super::sync::{Ordering, RwLock, read, write};
use super::{CommitTable, HistoryPlace, TransactionState, UndoPlace};
use crate::spill_file::{Extent, SpillError, SpillFile};
use env::DiskError;
use std::collections::HashMap;
use std::sync::Arc;
use stdx::ids::TransactionId;

/// Bytes of a place.
const PLACE_BYTES: usize = 8;

/// Places of chunks in the spill file.
#[derive(Debug)]
pub(super) struct SpilledPlaces {
    file: Arc<SpillFile>,
    by_chunk: RwLock<HashMap<u64, Arc<Extent>>>,
}

impl SpilledPlaces {
    pub(super) fn new(file: Arc<SpillFile>) -> SpilledPlaces {
        SpilledPlaces { file, by_chunk: RwLock::default() }
    }

    fn add(&self, chunk: u64, places: impl Iterator<Item = u64>) -> Result<(), DiskError> {
        let bytes: Vec<u8> = places.flat_map(u64::to_le_bytes).collect();
        let extent = Arc::new(self.file.write(&bytes)?);
        write(&self.by_chunk).insert(chunk, extent);
        Ok(())
    }

    /// Gives the space of a chunk back.
    pub(super) fn remove(&self, chunk: u64) {
        let gone = {
            let mut by_chunk = write(&self.by_chunk);
            by_chunk.remove(&chunk)
        };
        // Without the lock: the disk is given it back.
        drop(gone);
    }

    /// The place of an id; None if its chunk was removed.
    fn get(&self, id: TransactionId) -> Result<Option<u64>, SpillError> {
        let extent = {
            let by_chunk = read(&self.by_chunk);
            by_chunk.get(&(id.0 / CHUNK_IDS)).cloned()
        };
        let Some(extent) = extent else { return Ok(None) };
        let bytes = extent.read((id.0 % CHUNK_IDS) as usize * PLACE_BYTES, PLACE_BYTES)?;
        Ok(bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)))
    }

    pub(super) fn len(&self) -> usize {
        read(&self.by_chunk).len()
    }
}

impl CommitTable {
    /// Where the undo of an id is that was read from a row under the row's latch, or from its undo. Errors: the spill file cannot be
    /// read.
    pub fn undo_place(&self, id: TransactionId) -> Result<UndoPlace, SpillError> {
        let chunk = id.0 / CHUNK_IDS;
        loop {
            match self.state(id) {
                TransactionState::Active => return Ok(UndoPlace::Writer),
                TransactionState::Committed(timestamp) if timestamp.0 != 0 => {}
                _ => return Ok(UndoPlace::Gone),
            }
            if let Some(exception) = self.exceptions.get(id.0) {
                return Ok(UndoPlace::History(exception.place));
            }
            let slot = self.slots.get(chunk);
            let word = slot.places();
            let place = match word.places(chunk) {
                Places::Gone => {
                    // Since the look at the exceptions it may have become one, and its chunk may have been passed.
                    let exception = self.exceptions.get(id.0);
                    return Ok(exception.map_or(UndoPlace::Gone, |one| UndoPlace::History(one.place)));
                }
                Places::Empty => 0,
                Places::Memory(array) => self.entry(array, id.0).load(Ordering::Acquire),
                Places::File => match self.spilled.get(id)? {
                    Some(place) => place,
                    None => continue,
                },
            };
            // As for the entry: it may be another chunk's by now.
            if slot.places() == word {
                return Ok(UndoPlace::History(HistoryPlace(place)));
            }
        }
    }

    /// Under the order of ends, of a chunk that has entries.
    pub(super) fn set_place(&self, slot: &Slot, id: TransactionId, place: HistoryPlace) {
        let chunk = id.0 / CHUNK_IDS;
        let array = match slot.places().places(chunk) {
            Places::Memory(array) => array,
            _ if place.0 == 0 => return,
            places => {
                assert_eq!(places, Places::Empty, "places are spilled behind the last end of a chunk");
                let array = self.arrays.take();
                slot.set_places(chunk, Places::Memory(array));
                array
            }
        };
        self.entry(array, id.0).store(place.0, Ordering::Release);
    }

    /// The place of an id whose chunk has its places in memory, or none.
    pub(super) fn place_in_memory(&self, slot: &Slot, id: u64) -> HistoryPlace {
        match slot.places().places(id / CHUNK_IDS) {
            Places::Memory(array) => HistoryPlace(self.entry(array, id).load(Ordering::Acquire)),
            _ => HistoryPlace(0),
        }
    }

    /// Moves the places of a chunk to the file. No id of it, but for the exceptions, ends any more.
    pub(super) fn spill_places(&self, chunk: u64) -> Result<(), DiskError> {
        let slot = self.slots.get(chunk);
        if let Places::Memory(array) = slot.places().places(chunk) {
            self.spilled
                .add(chunk, self.arrays.get(array).iter().map(|place| place.load(Ordering::Acquire)))?;
            slot.set_places(chunk, Places::File);
            self.arrays.give_back(array);
        }
        Ok(())
    }
}
