//! [`LeafEdit`]: one key's place in its leaf, under the leaf's exclusive latch inside a mini-transaction.
//! The caller looks, decides, changes, adds its own log records, and commits. A mini-transaction edits one leaf:
//! latches go down and to the right only (README, rule 1).

use buffer::{MiniTransaction, PageSlot, StorageError};
use page::{
    CELL_OVERHEAD_BYTES, CellRunBuilder, CorruptPage, Fence, KEY_BYTES_MAX, NodeRef, PageOperation, Position,
    Stamp,
};
use stdx::ids::PageId;

use super::difference::Spans;
use crate::structure::{APPEND_RESERVE_BYTES, cell_bytes, fits, has_room, is_append, is_underfull};
use crate::tree::{LIVENESS_BYTES, Toward, Tree};

/// Whether a change found room in its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Placed {
    /// The change is applied.
    Done,
    /// Nothing is changed: drop the mini-transaction, call [`Tree::make_room`], start again.
    NeedsRoom,
}

/// Why the insertion of a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStop {
    /// The run is inserted wholly.
    End,
    /// The next entry belongs to another leaf: [`Tree::edit`] with its key.
    OtherLeaf,
    /// The tree or the run has the next key, or its unique part, already; or it was not admitted; or only a look at other
    /// leaves could tell.
    Refused,
    /// The next value does not fit a cell.
    Long,
    /// The leaf is full: [`Tree::make_room`] for the next entry.
    NeedsRoom,
}

/// An entry of a sorted run.
#[derive(Clone, Copy, Debug)]
pub struct RunEntry<'a> {
    /// The whole key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// Bytes of the key with which no other entry may begin; 0 if any may.
    pub unique_bytes: usize,
}

/// Up to so many entries of a run are inserted one by one; for more the leaf is written afresh.
const SINGLE_CELLS_MAX: usize = 3;

/// A key's place in its leaf.
pub struct LeafEdit<'e, 'pool> {
    tree: &'e Tree,
    mini: &'e mut MiniTransaction<'pool>,
    slot: PageSlot,
    key: &'e [u8],
    position: Position,
}

impl Tree {
    /// Latches the leaf that covers `key` exclusively and finds the key's place in it.
    ///
    /// # Panics
    /// If the key is longer than [`KEY_BYTES_MAX`]: the layer above refuses such keys.
    pub fn edit<'e, 'pool>(
        &'e self,
        mini: &'e mut MiniTransaction<'pool>,
        key: &'e [u8],
    ) -> Result<LeafEdit<'e, 'pool>, StorageError> {
        assert!(key.len() <= KEY_BYTES_MAX, "key of {} bytes", key.len());
        let slot = self.latch_leaf(mini, key)?;
        let node = self.node_at(mini, slot)?;
        let position =
            place_in(&node, key).map_err(|error| StorageError::corrupt(mini.page_id(slot), error))?;
        Ok(LeafEdit { tree: self, mini, slot, key, position })
    }

    fn latch_leaf(&self, mini: &mut MiniTransaction<'_>, key: &[u8]) -> Result<PageSlot, StorageError> {
        if let Some(id) = self.rightmost_for(key) {
            let slot = mini.latch(id)?;
            if self.is_leaf_for(mini.bytes(slot), key) {
                return Ok(slot);
            }
            mini.release(slot);
        }
        let slot = self.latch_at_level(mini, Toward::Key(key), 0)?;
        let slot =
            slot.ok_or(StorageError::Corrupt { page: self.root_id(), reason: "no leaf covers a key" })?;
        let node = self.node_at(mini, slot)?;
        if node.right().is_none() {
            let lower =
                node.lower_fence().map_err(|error| StorageError::corrupt(mini.page_id(slot), error))?;
            self.note_rightmost(mini.page_id(slot).number, lower);
        }
        Ok(slot)
    }
}

/// Finds a key's place; in the last leaf it first looks behind the last cell, where ascending keys go.
fn place_in(node: &NodeRef<'_>, key: &[u8]) -> Result<Position, CorruptPage> {
    if node.right().is_none()
        && let Some(last) = node.count().checked_sub(1)
        && node.compare_key(last, key)?.is_lt()
    {
        return Ok(Position { slot: node.count() as u16, found: false });
    }
    node.search(key)
}

/// Whether nothing in the tree, nor the key before in the run, begins with the unique part of an entry's key; false as
/// well if the leaf alone cannot tell. `slot` is the entry's place.
fn is_alone(
    node: &NodeRef<'_>,
    entry: &RunEntry<'_>,
    slot: u16,
    before: Option<&[u8]>,
    upper: Fence<'_>,
) -> Result<bool, CorruptPage> {
    if entry.unique_bytes == 0 {
        return Ok(true);
    }
    let unique = &entry.key[..entry.unique_bytes];
    let slot = usize::from(slot);
    let shared = |slot: usize| node.key_starts_with(slot, unique);
    // Keys with the same beginning stand side by side; the fences tell whether some may stand in other leaves.
    let beyond = match upper {
        Fence::Key(fence) => fence.starts_with(unique),
        Fence::Infinite => false,
    };
    let taken = node.lower_fence()? > unique
        || beyond
        || before.is_some_and(|key| key.starts_with(unique))
        || slot > 0 && shared(slot - 1)?
        || slot < node.count() && shared(slot)?;
    Ok(!taken)
}

impl<'e, 'pool> LeafEdit<'e, 'pool> {
    fn node(&self) -> Result<NodeRef<'_>, StorageError> {
        self.tree.node_at(self.mini, self.slot)
    }

    fn corrupt(&self, error: CorruptPage) -> StorageError {
        StorageError::corrupt(self.leaf(), error)
    }

    /// The leaf's address.
    pub fn leaf(&self) -> PageId {
        self.mini.page_id(self.slot)
    }

    /// Whether the tree has the key.
    pub fn found(&self) -> bool {
        self.position.found
    }

    /// The greatest writer id that ever changed the leaf.
    pub fn newest_writer(&self) -> Result<u64, StorageError> {
        Ok(self.node()?.newest_writer())
    }

    /// The key's present value.
    pub fn value(&self) -> Result<Option<&[u8]>, StorageError> {
        if !self.position.found {
            return Ok(None);
        }
        self.node()?.value(usize::from(self.position.slot)).map(Some).map_err(|error| self.corrupt(error))
    }

    /// Puts the least key above this one into `key`; false if there is none. Reads on into right neighbours.
    pub fn successor(&self, key: &mut Vec<u8>) -> Result<bool, StorageError> {
        key.clear();
        let node = self.node()?;
        let next = usize::from(self.position.slot) + usize::from(self.position.found);
        if next < node.count() {
            node.key_into(next, key).map_err(|error| self.corrupt(error))?;
            return Ok(true);
        }
        let pool = self.mini.pool();
        let Some(right) = node.right() else { return Ok(false) };
        let mut id = self.tree.page_id(right);
        let mut page = pool.shared(id)?;
        loop {
            let node = NodeRef::new(&page).map_err(|error| StorageError::corrupt(id, error))?;
            if node.count() > 0 {
                node.key_into(0, key).map_err(|error| StorageError::corrupt(id, error))?;
                return Ok(true);
            }
            let Some(right) = node.right() else { return Ok(false) };
            id = self.tree.page_id(right);
            page = pool.shared(id)?;
        }
    }

    /// Puts the greatest key of this leaf below this one into `key`; false if the leaf has none.
    pub fn predecessor_in_leaf(&self, key: &mut Vec<u8>) -> Result<bool, StorageError> {
        key.clear();
        let Some(slot) = usize::from(self.position.slot).checked_sub(1) else { return Ok(false) };
        self.node()?.key_into(slot, key).map_err(|error| self.corrupt(error))?;
        Ok(true)
    }

    /// Moves to another key of the same leaf; false (and no move) if the leaf does not cover it.
    pub fn seek(&mut self, key: &'e [u8]) -> Result<bool, StorageError> {
        let node = self.node()?;
        if !node.covers(key).map_err(|error| self.corrupt(error))? {
            return Ok(false);
        }
        self.position = place_in(&node, key).map_err(|error| self.corrupt(error))?;
        self.key = key;
        Ok(true)
    }

    /// Inserts the key, which must not be there.
    ///
    /// # Panics
    /// If key and value do not fit a cell ([`fits`]), or the tree has the key.
    pub fn insert(&mut self, value: &[u8], writer: u64) -> Result<Placed, StorageError> {
        assert!(!self.position.found, "insert of a key that the tree has");
        assert!(fits(self.key.len(), value.len()), "value of {} bytes", value.len());
        if !self.has_room_for(value)? {
            return Ok(Placed::NeedsRoom);
        }
        let prefix = self.node()?.prefix().map_err(|error| self.corrupt(error))?.len();
        let stamp = Stamp { writer, live_delta: self.tree.live(value) };
        let (slot, suffix) = (self.position.slot, &self.key[prefix..]);
        self.mini.apply(self.slot, &PageOperation::InsertCell { slot, stamp, suffix, value });
        self.tree.note_change();
        self.position.found = true;
        Ok(Placed::Done)
    }

    /// Gives the key, which must be there, another value.
    ///
    /// # Panics
    /// If key and value do not fit a cell ([`fits`]), or the tree lacks the key.
    pub fn replace(&mut self, value: &[u8], writer: u64) -> Result<Placed, StorageError> {
        assert!(self.position.found, "replacement of a key that the tree lacks");
        assert!(fits(self.key.len(), value.len()), "value of {} bytes", value.len());
        if !self.has_room_for(value)? {
            return Ok(Placed::NeedsRoom);
        }
        let live_delta = self.tree.live(value) - self.old_live()?;
        if self.patch_differences(value, Stamp { writer, live_delta })? {
            return Ok(Placed::Done);
        }
        let (slot, stamp) = (self.position.slot, Stamp { writer, live_delta });
        self.mini.apply(self.slot, &PageOperation::ReplaceCell { slot, stamp, value });
        Ok(Placed::Done)
    }

    /// Writes a value over one of the same length by patches, if it differs in few bytes.
    fn patch_differences(&mut self, value: &[u8], stamp: Stamp) -> Result<bool, StorageError> {
        let Some(spans) = self.value()?.and_then(|old| Spans::between(old, value)) else { return Ok(false) };
        let slot = self.position.slot;
        let mut stamp = Some(stamp);
        for span in spans.iter() {
            let (offset, bytes) = (span.start as u16, &value[span]);
            let stamp = stamp.take().unwrap_or_default();
            self.mini.apply(self.slot, &PageOperation::PatchCell { slot, stamp, offset, bytes });
        }
        // Equal values: the counters alone.
        if let Some(stamp) = stamp {
            self.mini.apply(self.slot, &PageOperation::SetStamp { stamp });
        }
        Ok(true)
    }

    /// Overwrites bytes of the key's value; the cheapest change.
    ///
    /// # Panics
    /// If the bytes reach behind the value.
    pub fn patch(&mut self, offset: usize, bytes: &[u8], writer: u64) -> Result<(), StorageError> {
        let old = self.value()?.unwrap_or_default();
        assert!(self.position.found && offset + bytes.len() <= old.len(), "patch reaches behind the value");
        let live_delta = self.live_after_patch(old, offset, bytes) - self.tree.live(old);
        let (slot, stamp) = (self.position.slot, Stamp { writer, live_delta });
        self.mini.apply(self.slot, &PageOperation::PatchCell { slot, stamp, offset: offset as u16, bytes });
        Ok(())
    }

    /// Raises the leaf's newest writer only.
    pub fn note_writer(&mut self, writer: u64) {
        let stamp = Stamp { writer, live_delta: 0 };
        self.mini.apply(self.slot, &PageOperation::SetStamp { stamp });
    }

    /// Takes the key, which must be there, away. True if the leaf has become so empty that
    /// [`Tree::merge_at`] should be called once the mini-transaction is committed.
    pub fn remove(&mut self, writer: u64) -> Result<bool, StorageError> {
        assert!(self.position.found, "removal of a key that the tree lacks");
        let stamp = Stamp { writer, live_delta: -self.old_live()? };
        self.mini.apply(self.slot, &PageOperation::RemoveCell { slot: self.position.slot, stamp });
        self.tree.note_change();
        self.position.found = false;
        Ok(is_underfull(&self.node()?))
    }

    /// Inserts the first entries of a sorted run that belong to this leaf and fit it. `entries` start with this key and
    /// ascend; `admits` is asked about each before it is taken. Returns how many were inserted, and why it stopped there.
    pub fn insert_run(
        &mut self,
        entries: &[RunEntry<'_>],
        writer: u64,
        admits: &mut dyn FnMut(&RunEntry<'_>) -> bool,
    ) -> Result<(usize, RunStop), StorageError> {
        let node = self.node()?;
        let (places, stop) = self.places(&node, entries, admits).map_err(|error| self.corrupt(error))?;
        if places.is_empty() {
            return Ok((0, stop));
        }
        let prefix = node.prefix().map_err(|error| self.corrupt(error))?.len();
        if places.len() <= SINGLE_CELLS_MAX {
            for (at, (place, entry)) in places.iter().zip(entries).enumerate() {
                let stamp = Stamp { writer, live_delta: self.tree.live(entry.value) };
                let (slot, suffix) = (place + at as u16, &entry.key[prefix..]);
                let value = entry.value;
                self.mini.apply(self.slot, &PageOperation::InsertCell { slot, stamp, suffix, value });
            }
            self.tree.note_change();
            return Ok((places.len(), stop));
        }
        let taken = &entries[..places.len()];
        let mut run = CellRunBuilder::new();
        for entry in taken {
            run.push(&entry.key[prefix..], b"", entry.value);
        }
        let live_delta = taken.iter().map(|entry| self.tree.live(entry.value)).sum();
        let stamp = Stamp { writer, live_delta };
        self.mini.apply(self.slot, &PageOperation::InsertCells { stamp, cells: run.run() });
        self.tree.note_change();
        Ok((taken.len(), stop))
    }

    /// The slots before which the first entries go, as far as they may be inserted.
    fn places(
        &self,
        node: &NodeRef<'_>,
        entries: &[RunEntry<'_>],
        admits: &mut dyn FnMut(&RunEntry<'_>) -> bool,
    ) -> Result<(Vec<u16>, RunStop), CorruptPage> {
        let (prefix, upper) = (node.prefix()?.len(), node.upper_fence()?);
        let mut places = Vec::new();
        let mut position = self.position;
        let mut free = node.free_bytes();
        for (at, entry) in entries.iter().enumerate() {
            assert!(at == 0 || entries[at - 1].key <= entry.key, "run is not in order");
            if !upper.is_above(entry.key) {
                return Ok((places, RunStop::OtherLeaf));
            }
            if at > 0 {
                position = place_in(node, entry.key)?;
            }
            let repeated = at > 0 && entries[at - 1].key == entry.key;
            let before = at.checked_sub(1).map(|before| entries[before].key);
            if repeated
                || position.found
                || !is_alone(node, entry, position.slot, before, upper)?
                || !admits(entry)
            {
                return Ok((places, RunStop::Refused));
            }
            if !fits(entry.key.len(), entry.value.len()) {
                return Ok((places, RunStop::Long));
            }
            let bytes = CELL_OVERHEAD_BYTES + entry.key.len() - prefix + entry.value.len();
            let reserve =
                if is_append(node, position) && node.count() + at > 0 { APPEND_RESERVE_BYTES } else { 0 };
            if bytes + reserve > free {
                return Ok((places, RunStop::NeedsRoom));
            }
            free -= bytes;
            places.push(position.slot);
        }
        Ok((places, RunStop::End))
    }

    /// The upper fence of the leaf: keys below it (and not below this key) belong here.
    pub fn upper_fence(&self) -> Result<Fence<'_>, StorageError> {
        self.node()?.upper_fence().map_err(|error| self.corrupt(error))
    }

    fn has_room_for(&self, value: &[u8]) -> Result<bool, StorageError> {
        let node = self.node()?;
        let prefix = node.prefix().map_err(|error| self.corrupt(error))?.len();
        let bytes = cell_bytes(self.key.len(), value.len()) - prefix;
        has_room(&node, self.position, bytes).map_err(|error| self.corrupt(error))
    }

    fn old_live(&self) -> Result<i32, StorageError> {
        Ok(self.value()?.map_or(0, |value| self.tree.live(value)))
    }

    fn live_after_patch(&self, head: &[u8], offset: usize, bytes: &[u8]) -> i32 {
        let mut start = [0; LIVENESS_BYTES];
        let length = head.len().min(LIVENESS_BYTES);
        start[..length].copy_from_slice(&head[..length]);
        if offset < length {
            let patched = bytes.len().min(length - offset);
            start[offset..offset + patched].copy_from_slice(&bytes[..patched]);
        }
        self.tree.live(&start[..length])
    }
}
