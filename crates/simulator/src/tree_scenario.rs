//! Crash scenarios of the storage layers alone: one tree over a buffer pool, without transactions. Every
//! mini-transaction is a commit; the log's durable end is what was promised.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use btree::{Cursor, CursorRange, Direction, Placed, Taken, Tree, TreeId, check_space};
use buffer::{BufferPool, NoLogicalRecords, NothingNeeded, PoolOptions, StorageError};
use env::Environment;
use env::simulated::SimulatedDisk;
use page::{SpaceHeaderRef, SpaceKind};
use stdx::ids::{IndexId, Lsn, PageId, PageNumber, SpaceId};

use crate::{Generator, Oracle, Scenario};

const SPACE: SpaceId = SpaceId(3);
const INDEX: IndexId = IndexId(11);
/// The first page that a new space hands out.
const ROOT: PageNumber = PageNumber(1);

/// Contents of the tree; `None` before it exists.
type Contents = Option<BTreeMap<Vec<u8>, Vec<u8>>>;

/// A random workload on one tree.
#[derive(Clone, Copy, Debug)]
pub struct TreeScenario {
    /// Short name.
    pub name: &'static str,
    /// Decides the workload.
    pub seed: u64,
    /// Changes to make.
    pub steps: u64,
    /// Keys are numbers below this.
    pub keys: u64,
    /// Bytes of a key: padding makes inner nodes split.
    pub key_bytes: usize,
    /// Longest value.
    pub value_bytes_max: u64,
    /// Changes out of ten that remove.
    pub removes: u64,
    /// A flush of the log every so many changes.
    pub flush_every: u64,
    /// Pages are written every so many changes.
    pub write_every: u64,
    /// A checkpoint every so many changes.
    pub checkpoint_every: u64,
    /// Frames of the pool.
    pub frames: u64,
    /// Whether pages are written twice.
    pub doublewrite: bool,
}

impl TreeScenario {
    fn open(&self, disk: &SimulatedDisk) -> Result<Arc<BufferPool>, StorageError> {
        let environment = Environment::simulated(disk.clone(), self.seed);
        let options = PoolOptions { doublewrite: self.doublewrite, ..PoolOptions::small(self.frames) };
        let pool = BufferPool::open(environment, options, &mut NoLogicalRecords)?;
        pool.set_checkpoint_participant(Arc::new(NothingNeeded));
        Ok(pool)
    }

    fn tree() -> Tree {
        Tree::open(TreeId { space: SPACE, root: ROOT, index: INDEX }, |_| true)
    }

    fn work(&self, disk: &SimulatedDisk, oracle: &mut Oracle<Contents>) -> Result<(), StorageError> {
        let pool = self.open(disk)?;
        pool.create_space(SPACE, SpaceKind::Table, Path::new("simulated/tree.ibd"))?;
        let mut mini = pool.mini_transaction();
        Tree::create(&mut mini, SPACE, INDEX)?;
        oracle.commit(Some(BTreeMap::new()));
        let mut end = mini.commit();
        let (tree, mut random) = (Self::tree(), Generator::new(self.seed));
        for step in 0..self.steps {
            end = self.change(&pool, &tree, &mut random, oracle)?.unwrap_or(end);
            if random.one_in(self.flush_every) {
                pool.redo().flush_to(end)?;
                oracle.acknowledge();
            }
            if step % self.write_every == self.write_every - 1 {
                pool.flush_some()?;
            }
            if step % self.checkpoint_every == self.checkpoint_every - 1 {
                pool.checkpoint()?;
            }
        }
        pool.redo().flush_to(end)?;
        oracle.acknowledge();
        Ok(())
    }

    fn change(
        &self,
        pool: &BufferPool,
        tree: &Tree,
        random: &mut Generator,
        oracle: &mut Oracle<Contents>,
    ) -> Result<Option<Lsn>, StorageError> {
        let mut key = random.below(self.keys).to_be_bytes().to_vec();
        key.resize(self.key_bytes.max(8), b'k');
        let mut contents = oracle.current().clone().unwrap_or_default();
        if random.below(10) < self.removes {
            let mut mini = pool.mini_transaction();
            let mut edit = tree.edit(&mut mini, &key)?;
            if !edit.found() {
                return Ok(None);
            }
            let underfull = edit.remove(0)?;
            contents.remove(&key);
            oracle.commit(Some(contents));
            let end = mini.commit();
            if underfull {
                tree.merge_at(pool, &key)?;
            }
            return Ok(Some(end));
        }
        let length = random.below(self.value_bytes_max);
        let value = random.bytes(length);
        loop {
            let mut mini = pool.mini_transaction();
            let mut edit = tree.edit(&mut mini, &key)?;
            let placed = if edit.found() { edit.replace(&value, 0)? } else { edit.insert(&value, 0)? };
            if placed == Placed::Done {
                contents.insert(key, value);
                oracle.commit(Some(contents));
                return Ok(Some(mini.commit()));
            }
            drop(mini);
            tree.make_room(pool, &key, value.len())?;
        }
    }

    fn read(&self, disk: &SimulatedDisk) -> Result<Contents, String> {
        let pool = self.open(disk).map_err(|error| format!("open: {error}"))?;
        let root = PageId { space: SPACE, number: ROOT };
        let used = match pool.shared(PageId { space: SPACE, number: PageNumber(0) }) {
            Ok(header) => SpaceHeaderRef::new(&header).map_err(|error| error.to_string())?.used_pages(),
            Err(StorageError::SpaceMissing(_)) => return Ok(None),
            Err(error) => return Err(format!("header of the space: {error}")),
        };
        if used <= root.number.0 {
            return Ok(None);
        }
        let tree = Self::tree();
        let report = tree.check(&pool).map_err(|error| format!("check: {error}"))?;
        if !report.faults.is_empty() {
            return Err(format!("faults of the tree: {:?}", report.faults));
        }
        let faults = check_space(&pool, SPACE, &report.pages).map_err(|error| format!("space: {error}"))?;
        if !faults.is_empty() {
            return Err(format!("faults of the space: {faults:?}"));
        }
        contents_of(&tree, &pool).map(Some).map_err(|error| format!("walk: {error}"))
    }
}

fn contents_of(tree: &Tree, pool: &BufferPool) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, StorageError> {
    let mut contents = BTreeMap::new();
    let mut cursor = Cursor::new(CursorRange::all(), Direction::Forward);
    loop {
        let shown = cursor.next_leaf(tree, pool, |view| {
            let read = (0..view.len()).try_for_each(|at| {
                let (mut key, mut value) = (Vec::new(), Vec::new());
                view.key_into(at, &mut key)?;
                value.extend_from_slice(view.entry(at)?.1);
                contents.insert(key, value);
                Ok::<_, StorageError>(())
            });
            (Taken::All, read)
        })?;
        match shown {
            Some(read) => read?,
            None => return Ok(contents),
        }
    }
}

impl Scenario for TreeScenario {
    type Oracle = Oracle<Contents>;

    fn name(&self) -> &'static str {
        self.name
    }

    fn oracle(&self) -> Self::Oracle {
        Oracle::new(None)
    }

    fn run(&self, disk: &SimulatedDisk, oracle: &mut Self::Oracle) -> Result<(), String> {
        self.work(disk, oracle).map_err(|error| error.to_string())
    }

    fn verify(&self, disk: &SimulatedDisk, oracle: &Self::Oracle) -> Result<usize, String> {
        oracle.judge(&self.read(disk)?)
    }
}
