//! [`Shard`]: the chains of some keys. No lock of its own; nothing here reads or writes a body.

use super::HEAD_BYTES;
use super::segment::Segment;
use crate::hash::KeyHasher;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use stdx::ids::{IndexId, TransactionId};

/// What a version behind the newest of its row costs beside its body: deques are two thirds full, about.
const OLDER_BYTES: usize = size_of::<Version>() * 3 / 2;
/// What a chain with one version costs beside its key and body: a block, a place in a map that is five eighths full, what the
/// key's block leaves unused.
const CHAIN_BYTES: usize = size_of::<Chain>() + (size_of::<(u64, Box<Chain>)>() + 1) * 8 / 5 + 8;
/// Maps with more room than this are let go when they are empty.
const KEPT_CAPACITY: usize = 64;

/// Chains by hash of their key.
#[derive(Debug, Default)]
pub(super) struct Shard {
    chains: HashMap<u64, Box<Chain>, KeyHasher>,
    /// The rare chains whose hash another key's chain had first.
    others: Vec<Chain>,
    /// Where bodies are added.
    pub open: Option<Arc<Segment>>,
}

/// The old versions of one row. Most have one.
#[derive(Debug)]
struct Chain {
    index: IndexId,
    key: Box<[u8]>,
    newest: Version,
    /// Oldest first; absent rather than empty.
    #[expect(
        clippy::box_collection,
        reason = "most chains have none, and a deque is 24 bytes larger than a box"
    )]
    older: Option<Box<VecDeque<Version>>>,
}

/// A value that was overwritten.
#[derive(Debug)]
pub(super) struct Version {
    /// Who overwrote it.
    pub overwriter: TransactionId,
    pub head: [u8; HEAD_BYTES],
    pub segment: Arc<Segment>,
    /// Where the body lies in the segment.
    pub start: u32,
    pub length: u32,
}

/// Versions that were taken out.
#[derive(Debug, Default)]
pub(super) struct Removed {
    /// Some of them; apart, so that one alone needs no memory.
    pub older: Vec<Version>,
    pub newest: Option<Version>,
    /// What they and their chain had cost.
    pub overhead_bytes: usize,
}

impl Shard {
    /// Adds the newest version of a row. Returns what it costs beside its body.
    pub fn push(&mut self, hash: u64, index: IndexId, key: &[u8], version: Version) -> usize {
        if let Some(chain) = self.chain(hash, index, key) {
            let before = std::mem::replace(&mut chain.newest, version);
            chain.older.get_or_insert_default().push_back(before);
            return OLDER_BYTES;
        }
        let chain = Box::new(Chain { index, key: key.into(), newest: version, older: None });
        match self.chains.entry(hash) {
            Entry::Vacant(vacant) => {
                vacant.insert(chain);
            }
            Entry::Occupied(_) => self.others.push(*chain),
        }
        CHAIN_BYTES + key.len()
    }

    /// The newest version whose head `visible` accepts, which accepts all older ones as well.
    pub fn find(
        &self,
        hash: u64,
        index: IndexId,
        key: &[u8],
        visible: impl Fn(&[u8; HEAD_BYTES]) -> bool,
    ) -> Option<&Version> {
        let chain = self.chains.get(&hash).map(|chain| &**chain).filter(|chain| chain.is(index, key));
        let chain = chain.or_else(|| self.others.iter().find(|chain| chain.is(index, key)))?;
        if visible(&chain.newest.head) {
            return Some(&chain.newest);
        }
        let older = chain.older.as_deref()?;
        let seen = older.partition_point(|version| visible(&version.head));
        older.get(seen.checked_sub(1)?)
    }

    /// Takes the newest version out if `overwriter` pushed it.
    pub fn pop(&mut self, hash: u64, index: IndexId, key: &[u8], overwriter: TransactionId) -> Removed {
        let chain = self.chain(hash, index, key);
        let Some(chain) = chain.filter(|chain| chain.newest.overwriter == overwriter) else {
            return Removed::default();
        };
        let Some(before) = chain.older.as_mut().and_then(|older| older.pop_back()) else {
            return self.remove_chain(hash, index, key);
        };
        let newest = Some(std::mem::replace(&mut chain.newest, before));
        chain.trim();
        Removed { older: Vec::new(), newest, overhead_bytes: OLDER_BYTES }
    }

    /// Takes out the version that `overwriter` pushed and all older ones. It is mostly the first: purge goes in the order of
    /// commits, which is that of the chain.
    pub fn purge(&mut self, hash: u64, index: IndexId, key: &[u8], overwriter: TransactionId) -> Removed {
        let Some(chain) = self.chain(hash, index, key) else { return Removed::default() };
        if chain.newest.overwriter == overwriter {
            return self.remove_chain(hash, index, key);
        }
        let Some(older) = &mut chain.older else { return Removed::default() };
        let Some(last) = older.iter().position(|version| version.overwriter == overwriter) else {
            return Removed::default();
        };
        let older: Vec<Version> = older.drain(..=last).collect();
        chain.trim();
        let overhead_bytes = older.len() * OLDER_BYTES;
        Removed { older, newest: None, overhead_bytes }
    }

    /// Takes a chain out that is there.
    fn remove_chain(&mut self, hash: u64, index: IndexId, key: &[u8]) -> Removed {
        let chain = match self.chains.entry(hash) {
            Entry::Occupied(entry) if entry.get().is(index, key) => Some(entry.remove()),
            _ => {
                let at = self.others.iter().position(|chain| chain.is(index, key));
                at.map(|at| Box::new(self.others.swap_remove(at)))
            }
        };
        if self.chains.is_empty() && self.others.is_empty() {
            // Nothing needs what the open segment holds.
            self.open = None;
            if self.chains.capacity() > KEPT_CAPACITY {
                self.chains = HashMap::default();
            }
        }
        let Some(chain) = chain else { return Removed::default() };
        let Chain { newest, older, .. } = *chain;
        let older: Vec<Version> = older.map_or(Vec::new(), |older| (*older).into());
        let overhead_bytes = CHAIN_BYTES + key.len() + older.len() * OLDER_BYTES;
        Removed { older, newest: Some(newest), overhead_bytes }
    }

    fn chain(&mut self, hash: u64, index: IndexId, key: &[u8]) -> Option<&mut Chain> {
        match self.chains.get_mut(&hash) {
            Some(chain) if chain.is(index, key) => Some(&mut **chain),
            _ => self.others.iter_mut().find(|chain| chain.is(index, key)),
        }
    }
}

impl Chain {
    fn is(&self, index: IndexId, key: &[u8]) -> bool {
        self.index == index && *self.key == *key
    }

    /// Lets go of room that older versions no longer need.
    fn trim(&mut self) {
        let Some(older) = &mut self.older else { return };
        if older.is_empty() {
            self.older = None;
        } else if older.capacity() > 8 && older.capacity() > 4 * older.len() {
            older.shrink_to(2 * older.len());
        }
    }
}
