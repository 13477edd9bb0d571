//! Saving undo records that are in the way of the log to the undo tree (rule U3 in README.md). Main type: [`Slice`].

use super::UndoLog;
use super::records::{KIND_SAVED, encode_saved};
use super::store::PART_BYTES;
use super::touched::{SavedState, Touched};
use super::writer::{Undo, Writer};
use crate::error::UndoResult;
use entry::CLUSTERED_HEADER_BYTES;
use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use stdx::ids::Lsn;
use txn::undo::put_varint;
use txn::{Old, UndoRecord};

/// Most bytes of records in a chunk, but for a single record that is longer: so that a chunk is one part, which is replaced as a
/// whole, or holds one record, which is not replaced at all.
const CHUNK_BYTES: usize = PART_BYTES;
/// Most bytes of a record's length before it.
const LENGTH_BYTES_MAX: usize = 10;
/// Most bytes of records that are copied at once when they are saved, about. With a small log it is less.
const SLICE_BYTES_MAX: u64 = 4 << 20;
/// Pages that a few new nodes of the undo tree take.
const TREE_PAGES: u32 = 8;
/// On a full disk undo may pin this part of the log files that there are.
pub(super) const STARVED_SHARE: u64 = 12;

impl UndoLog {
    /// Saves the undo of a transaction whose records begin too far back in the log. Called between its writes.
    pub fn save_long_undo(&self, writer: &Writer) -> UndoResult<()> {
        if !writer.is_logged() {
            return Ok(());
        }
        let redo = self.pool.redo();
        let distance = redo.end_lsn().0.saturating_sub(writer.needed_lsn().0);
        let mut distance_max = self.limits.log_bytes_max;
        if redo.is_starved() {
            // The disk has no room for more log files: what there is must be emptied while there is room to save.
            distance_max = distance_max.min(redo.capacity_bytes() / STARVED_SHARE);
        }
        if distance > distance_max { self.save_undo(writer) } else { Ok(()) }
    }

    /// Copies the undo records that are only in the log to the undo tree, durably; then the log need not keep them. Records that are
    /// undone meanwhile are undone in the log behind that, which recovery reads; the tree holds those that never were.
    pub(crate) fn save_undo(&self, writer: &Writer) -> UndoResult<()> {
        let _reserve = writer.frees_room().then(buffer::use_reserve);
        let _one_saver = self.saver.lock().unwrap_or_else(PoisonError::into_inner);
        let _releases = buffer::release_log();
        let (length, mut unsaved, needed) = {
            let undo = writer.undo();
            (undo.list.len(), writer.unsaved_bytes(), self.pool.redo().end_lsn())
        };
        while let Some((slice, end)) = self.save_slice(writer, length)? {
            let bytes = if slice.is_last { unsaved } else { slice.bytes.min(unsaved) };
            unsaved -= bytes;
            let mut saved = Saved { position: slice.end, bytes, needed: Lsn(0) };
            if slice.is_last {
                self.pool.redo().flush_to(end)?;
                saved.needed = needed;
            }
            if self.log_saved(writer, Some(saved)) && slice.is_last {
                writer.set_needed_lsn(needed);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Tells the log that the undo tree may hold something of a transaction, and puts its state there. The record stands before
    /// the end record, so that recovery knows of what has ended that something may be left. False if it has ended.
    fn put_state(&self, writer: &Writer, changes: &Touched) -> UndoResult<bool> {
        if !self.log_saved(writer, None) {
            return Ok(false);
        }
        let state = {
            let mut undo = writer.undo();
            undo.saved_changes.merge(changes);
            let state = SavedState { changes: undo.saved_changes.clone(), prepared: undo.prepared.clone() };
            state.encode()
        };
        self.store.put_state(&self.pool, writer.id, &state)?;
        Ok(true)
    }

    /// Tells the log that the undo tree may hold something of a writer, or that it holds all before a position, which makes older
    /// log needless for it. What was undone since it was looked at counts as not saved. False if the writer has ended.
    pub(crate) fn log_saved(&self, writer: &Writer, saved: Option<Saved>) -> bool {
        let mut mini = self.pool.mini_transaction();
        let mut undo = writer.undo();
        if undo.ended {
            return false;
        }
        undo.in_tree = true;
        let mut needed = Lsn(0);
        if let Some(saved) = saved {
            undo.saved = saved.position.min(undo.least_length);
            needed = saved.needed;
            writer.take_saved(saved.bytes);
        }
        mini.log(KIND_SAVED, &encode_saved(writer.id, undo.saved, needed));
        mini.commit();
        true
    }

    /// Puts the next records below that position into the undo tree, in place of what it holds of them and later ones.
    /// Returns what they were and the end of the log. None if the writer has ended.
    fn save_slice(&self, writer: &Writer, length: u64) -> UndoResult<Option<(Slice, Lsn)>> {
        let slice_bytes_max = SLICE_BYTES_MAX.min(self.limits.log_bytes_max / 4);
        // Before anything is done: a save that is broken off has taken room from the log for nothing. Two parts fit a page at least.
        let bytes = {
            let undo = writer.undo();
            undo.list.bytes_from(undo.saved).min(slice_bytes_max)
        };
        self.pool.require_pages(
            self.store.tree().id().space,
            (bytes / (2 * PART_BYTES as u64)) as u32 + TREE_PAGES,
        )?;
        let (slice, from, tree_end) = {
            let mut undo = writer.undo();
            if undo.ended {
                return Ok(None);
            }
            undo.least_length = u64::MAX;
            (Slice::cut(&undo, length, slice_bytes_max)?, undo.saved, undo.tree_end)
        };
        // Before the records: a start must not find them without it.
        if !self.put_state(writer, &slice.changes)? {
            return Ok(None);
        }
        if tree_end > from {
            self.store.truncate(&self.pool, writer.id, from)?;
        }
        writer.undo().tree_end = slice.end;
        let mut end = self.pool.redo().end_lsn();
        for (first, bytes) in &slice.chunks {
            end = self.store.put_chunk(&self.pool, writer.id, *first, bytes)?;
        }
        Ok(Some((slice, end)))
    }

    /// Saves the undo of all writers that keep log before the wanted LSN. Run by a thread of its own.
    pub fn save_undo_in_the_way(&self) -> UndoResult<()> {
        // A full log on a full disk would stop those who free room too.
        let _reserve = self.pool.redo().is_starved().then(buffer::use_reserve);
        let _busy = self.store.begin_round();
        let wanted = Lsn(self.store.wanted.swap(0, Ordering::AcqRel));
        self.keep_less_log()?;
        // One that cannot be saved keeps the log, but not the others from being saved.
        let in_the_way = self.writers.all().into_iter().filter(|writer| writer.needed_lsn() < wanted);
        let saved = in_the_way.map(|writer| self.save_undo(&writer)).fold(Ok(()), UndoResult::and);
        saved.and(self.discard_finished())
    }
}

/// What a save has come to.
pub(crate) struct Saved {
    /// All records before this position are in the undo tree, but for those that were undone meanwhile.
    position: u64,
    /// Bytes of log that it would have taken.
    bytes: u64,
    /// Log before it is needed no more for this writer; 0 if that is not so yet.
    needed: Lsn,
}

/// Some records that are not saved, in chunks: first position and bytes of each.
struct Slice {
    chunks: Vec<(u64, Vec<u8>)>,
    /// The position behind the last record.
    end: u64,
    /// No record remains below the position up to which the list is saved.
    is_last: bool,
    /// Bytes of the records.
    bytes: u64,
    /// What they have changed.
    changes: Touched,
}

impl Slice {
    /// The first unsaved records below that position: about so many bytes of them, but one at least.
    fn cut(undo: &Undo, length: u64, bytes_max: u64) -> UndoResult<Slice> {
        let end = undo.list.len().min(length).max(undo.saved);
        let mut slice =
            Slice { chunks: Vec::new(), end, is_last: true, bytes: 0, changes: Touched::default() };
        let mut logged = Vec::new();
        undo.list.encoded_from(undo.saved, |position, record| {
            if position >= end {
                return ControlFlow::Break(());
            }
            if slice.bytes > bytes_max {
                (slice.end, slice.is_last) = (position, false);
                return ControlFlow::Break(());
            }
            let decoded = UndoRecord::decode(record);
            let record = match decoded.filter(|record| *record != as_logged(*record)) {
                None => record,
                Some(listed) => {
                    logged.clear();
                    as_logged(listed).encode(&mut logged);
                    &logged
                }
            };
            let fits = |bytes: &Vec<u8>| bytes.len() + record.len() + LENGTH_BYTES_MAX <= CHUNK_BYTES;
            if slice.chunks.last().is_none_or(|(_, bytes)| !fits(bytes)) {
                slice.chunks.push((position, Vec::new()));
            }
            if let Some((_, bytes)) = slice.chunks.last_mut() {
                put_varint(bytes, record.len() as u64);
                bytes.extend_from_slice(record);
            }
            if let Some(record) = decoded {
                slice.changes.add_record(record);
            }
            slice.bytes += record.len() as u64;
            ControlFlow::Continue(())
        })?;
        Ok(slice)
    }
}

/// A record of a list as it stands in the log. What the list has beside that is for snapshots of this run.
fn as_logged(record: UndoRecord<'_>) -> UndoRecord<'_> {
    let old = match record.old {
        Old::Value(value) if record.tombstone => {
            Old::Head(value.get(..CLUSTERED_HEADER_BYTES).unwrap_or(value))
        }
        old => old,
    };
    UndoRecord { old, jumps: &[], ..record }
}
