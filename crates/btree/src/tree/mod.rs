//! [`Tree`]: one index. A handle without data of its own beside a hint of the rightmost leaf; share it freely. Ways down are in
//! `descent.rs`; walks in `read`, changes of entries in `change`, splits and merges in `structure`.

mod descent;

pub(crate) use descent::{CORRUPT_EMPTY, Toward};

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use buffer::{BufferPool, MiniTransaction, StorageError};
use page::{CellRun, Fence, NodeRef, PageOperation, Stamp};
use stdx::ids::{IndexId, PageId, PageNumber, SpaceId};

/// What identifies a tree: where it is and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeId {
    /// The tablespace of all its pages.
    pub space: SpaceId,
    /// Its root page, which never moves.
    pub root: PageNumber,
    /// The index; every node carries it.
    pub index: IndexId,
}

/// How many leading bytes of a value a [`Liveness`] is shown (fewer if the value is shorter).
pub const LIVENESS_BYTES: usize = 16;

/// Says by the first bytes of a value whether the entry counts as live (not marked as deleted). Leaves keep the
/// number of their live entries; the tree keeps it right through every change, split and merge.
pub type Liveness = fn(&[u8]) -> bool;

/// One index: ordered entries of byte keys and values.
#[derive(Debug)]
pub struct Tree {
    pub(crate) id: TreeId,
    pub(crate) is_live: Liveness,
    /// Keys come in ascending runs, several of them at once.
    pub(crate) in_runs: bool,
    /// The leaf without an upper fence as it was last seen, 0 for unknown. Checked under its latch when used.
    rightmost: AtomicU32,
    /// First eight bytes of that leaf's lower fence: keys below cannot belong there.
    rightmost_head: AtomicU64,
    /// Cursors leave out what cannot be read.
    skips_damage: AtomicBool,
    changes: ChangeCount,
}

/// How often entries came, went, or moved from leaf to leaf, about. In a line of memory of its own: who changes entries does not
/// disturb who looks for others.
#[derive(Debug, Default)]
#[repr(align(64))]
struct ChangeCount(AtomicU64);

impl Tree {
    /// Makes an empty tree in the caller's mini-transaction, before it has applied anything else. Returns the root.
    pub fn create(
        mini: &mut MiniTransaction<'_>,
        space: SpaceId,
        index: IndexId,
    ) -> Result<PageNumber, StorageError> {
        let slot = mini.allocate(space)?;
        mini.apply(
            slot,
            &PageOperation::InitNode {
                level: 0,
                index,
                right: PageNumber(0),
                stamp: Stamp::default(),
                lower: b"",
                upper: Fence::Infinite,
                cells: CellRun::EMPTY,
            },
        );
        Ok(mini.page_id(slot).number)
    }

    /// A handle of a tree that exists.
    pub fn open(id: TreeId, is_live: Liveness) -> Self {
        Self {
            id,
            is_live,
            in_runs: false,
            rightmost: AtomicU32::new(0),
            rightmost_head: AtomicU64::new(0),
            skips_damage: AtomicBool::new(false),
            changes: ChangeCount::default(),
        }
    }

    /// For a tree whose keys come in ascending runs, several at once in different places: a full leaf is cut where the run goes on,
    /// so that each run fills its leaves.
    #[must_use]
    pub fn filled_in_runs(self) -> Self {
        Self { in_runs: true, ..self }
    }

    /// What identifies the tree.
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// A number that is another one once entries came, went, or moved from leaf to leaf: for who keeps an estimate. Of changes
    /// that are made at the same moment one may be missed.
    pub fn changes(&self) -> u64 {
        self.changes.0.load(Ordering::Relaxed)
    }

    pub(crate) fn note_change(&self) {
        self.changes.0.store(self.changes().wrapping_add(1), Ordering::Relaxed);
    }

    /// From now on cursors leave out what cannot be read.
    pub fn skip_damage(&self) {
        self.skips_damage.store(true, Ordering::Relaxed);
    }

    /// Whether cursors leave out what cannot be read.
    pub fn skips_damage(&self) -> bool {
        self.skips_damage.load(Ordering::Relaxed)
    }

    /// Looks up one key and shows its value under the leaf's shared latch. `read` must neither touch other pages nor block.
    pub fn get<R>(
        &self,
        pool: &BufferPool,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, StorageError> {
        let (id, leaf) = self.find_leaf(pool, key)?;
        let found = NodeRef::new(&leaf).and_then(|node| {
            let position = node.search(key)?;
            if position.found { node.value(usize::from(position.slot)).map(Some) } else { Ok(None) }
        });
        match found.map_err(|error| StorageError::corrupt(id, error))? {
            Some(value) => Ok(Some(read(value))),
            None => Ok(None),
        }
    }

    /// 1 for a live entry, else 0.
    pub(crate) fn live(&self, value: &[u8]) -> i32 {
        i32::from((self.is_live)(&value[..value.len().min(LIVENESS_BYTES)]))
    }

    pub(crate) fn page_id(&self, number: PageNumber) -> PageId {
        PageId { space: self.id.space, number }
    }

    pub(crate) fn root_id(&self) -> PageId {
        self.page_id(self.id.root)
    }

    /// The rightmost leaf, if a key may belong there by what was last seen.
    pub(crate) fn rightmost_for(&self, key: &[u8]) -> Option<PageId> {
        let number = self.rightmost.load(Ordering::Relaxed);
        (number != 0 && head8(key) >= self.rightmost_head.load(Ordering::Relaxed))
            .then(|| self.page_id(PageNumber(number)))
    }

    /// Remembers the rightmost leaf.
    pub(crate) fn note_rightmost(&self, number: PageNumber, lower: &[u8]) {
        if self.rightmost.load(Ordering::Relaxed) != number.0 {
            self.rightmost_head.store(head8(lower), Ordering::Relaxed);
            self.rightmost.store(number.0, Ordering::Relaxed);
        }
    }

    /// Whether a latched page is still the leaf of this tree that covers `key`.
    pub(crate) fn is_leaf_for(&self, page: &[u8], key: &[u8]) -> bool {
        NodeRef::new(page).is_ok_and(|node| {
            node.is_leaf() && node.index() == self.id.index && node.covers(key).unwrap_or(false)
        })
    }
}

fn head8(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = key.len().min(8);
    head[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(head)
}
