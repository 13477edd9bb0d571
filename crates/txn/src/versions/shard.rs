//! [`Shard`]: the chains of some keys. No lock of its own; nothing here reads or writes a body.

use super::HEAD_BYTES;
use super::segment::Segment;
use crate::hash::KeyHasher;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use stdx::ids::{IndexId, TransactionId};

/// What a version costs beside its body, about: half of its deque is in use on average, and a lone one has a block to itself.
const VERSION_BYTES: usize = size_of::<Version>() + 16;
/// What a chain costs beside its key and versions: its place in a map that is five eighths full, and the key's block.
const CHAIN_BYTES: usize = (size_of::<Chain>() + 9) * 8 / 5 + 16;
/// Maps with more room than this are let go when they are empty.
const KEPT_CAPACITY: usize = 64;

/// Chains by hash of their key.
#[derive(Debug, Default)]
pub(super) struct Shard {
    chains: HashMap<u64, Chain, KeyHasher>,
    /// The rare chains whose hash another key's chain had first.
    others: Vec<Chain>,
    /// Where bodies are added.
    pub open: Option<Arc<Segment>>,
}

/// The old versions of one row.
#[derive(Debug)]
struct Chain {
    index: IndexId,
    key: Box<[u8]>,
    /// Oldest first.
    versions: VecDeque<Version>,
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
    pub versions: Vec<Version>,
    /// What they and their chain had cost.
    pub overhead_bytes: usize,
}

impl Shard {
    /// Adds the newest version of a row. Returns what it costs beside its body.
    pub fn push(&mut self, hash: u64, index: IndexId, key: &[u8], version: Version) -> usize {
        if let Some(chain) = self.chain(hash, index, key) {
            chain.versions.push_back(version);
            return VERSION_BYTES;
        }
        let mut versions = VecDeque::with_capacity(1);
        versions.push_back(version);
        let chain = Chain { index, key: key.into(), versions };
        match self.chains.entry(hash) {
            Entry::Vacant(vacant) => {
                vacant.insert(chain);
            }
            Entry::Occupied(_) => self.others.push(chain),
        }
        VERSION_BYTES + CHAIN_BYTES + key.len()
    }

    /// The newest version whose head `visible` accepts, which accepts all older ones as well.
    pub fn find(
        &self,
        hash: u64,
        index: IndexId,
        key: &[u8],
        visible: impl Fn(&[u8; HEAD_BYTES]) -> bool,
    ) -> Option<&Version> {
        let chain = self.chains.get(&hash).filter(|chain| chain.is(index, key));
        let chain = chain.or_else(|| self.others.iter().find(|chain| chain.is(index, key)))?;
        let newest = chain.versions.back()?;
        if visible(&newest.head) {
            return Some(newest);
        }
        let seen = chain.versions.partition_point(|version| visible(&version.head));
        chain.versions.get(seen.checked_sub(1)?)
    }

    /// Takes the newest version out if `overwriter` pushed it.
    pub fn pop(&mut self, hash: u64, index: IndexId, key: &[u8], overwriter: TransactionId) -> Removed {
        self.remove(hash, index, key, |versions| {
            let is_last = versions.back().is_some_and(|version| version.overwriter == overwriter);
            if is_last { versions.pop_back().into_iter().collect() } else { Vec::new() }
        })
    }

    /// Takes out the version that `overwriter` pushed and all older ones. It is mostly the first: purge goes in the order of
    /// commits, which is that of the chain.
    pub fn purge(&mut self, hash: u64, index: IndexId, key: &[u8], overwriter: TransactionId) -> Removed {
        self.remove(hash, index, key, |versions| {
            let last = versions.iter().position(|version| version.overwriter == overwriter);
            last.map(|last| versions.drain(..=last).collect()).unwrap_or_default()
        })
    }

    fn remove(
        &mut self,
        hash: u64,
        index: IndexId,
        key: &[u8],
        take: impl FnOnce(&mut VecDeque<Version>) -> Vec<Version>,
    ) -> Removed {
        let Some(chain) = self.chain(hash, index, key) else { return Removed::default() };
        let versions = take(&mut chain.versions);
        let mut overhead_bytes = versions.len() * VERSION_BYTES;
        if chain.versions.is_empty() {
            overhead_bytes += CHAIN_BYTES + key.len();
            self.remove_chain(hash, index, key);
        } else if chain.versions.capacity() > 4 * chain.versions.len() {
            chain.versions.shrink_to(2 * chain.versions.len());
        }
        Removed { versions, overhead_bytes }
    }

    fn remove_chain(&mut self, hash: u64, index: IndexId, key: &[u8]) {
        if let Entry::Occupied(entry) = self.chains.entry(hash)
            && entry.get().is(index, key)
        {
            entry.remove();
        } else {
            self.others.retain(|chain| !chain.is(index, key));
        }
        if self.chains.is_empty() && self.others.is_empty() {
            // Nothing needs what the open segment holds.
            self.open = None;
            if self.chains.capacity() > KEPT_CAPACITY {
                self.chains = HashMap::default();
            }
        }
    }

    fn chain(&mut self, hash: u64, index: IndexId, key: &[u8]) -> Option<&mut Chain> {
        match self.chains.get_mut(&hash) {
            Some(chain) if chain.is(index, key) => Some(chain),
            _ => self.others.iter_mut().find(|chain| chain.is(index, key)),
        }
    }
}

impl Chain {
    fn is(&self, index: IndexId, key: &[u8]) -> bool {
        self.index == index && *self.key == *key
    }
}
