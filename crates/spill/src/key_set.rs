//! Which keys were there, for DISTINCT, UNION and IN: answers at once, so that rows go on in their order. In memory up to a
//! share; beyond it the keys are written as a sorted run, found again through a filter, the first key of each block and one
//! read. [`TIER_RUNS`] runs of a tier are merged into one of the next. Main type: [`KeySet`].

use crate::key_table::KeyTable;
use crate::runs::{HEADER_BYTES, Merge, Run, RunFile, append_entry, entry_lengths};
use crate::{Held, Workspace};
use errors::SqlResult;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

/// What a key costs in memory beside its bytes.
const KEY_BYTES: u64 = 48;
/// A smaller share is taken as this: runs would be too many.
const SHARE_BYTES_MIN: u64 = 1 << 16;
/// Bytes that are read to find a key.
const BLOCK_BYTES: u64 = 1 << 12;
const BUFFER_BYTES: usize = 1 << 16;
/// So many bytes of a key that begins a block are kept in memory.
const BEGINNING_BYTES_MAX: usize = 64;
/// Runs of one tier.
const TIER_RUNS: usize = 8;
/// Bits of the filter for each key, and how many of them a key sets: 1 in 80 absent keys is looked for on disk.
const FILTER_KEY_BITS: usize = 10;
const FILTER_PROBES: u64 = 4;

/// Keys that were there.
pub struct KeySet {
    memory: KeyTable,
    memory_bytes: u64,
    share_bytes: u64,
    held: Held,
    disk: Option<Box<DiskKeys>>,
}

/// The keys on disk.
struct DiskKeys {
    file: RunFile,
    runs: Vec<KeyRun>,
    hasher: RandomState,
    block: Vec<u8>,
    held: Held,
}

/// A sorted run of keys.
struct KeyRun {
    tier: u32,
    /// Its place among the runs of the file.
    number: usize,
    filter: Filter,
    /// The beginning of the first key of each block, and its place.
    blocks: Vec<(Box<[u8]>, u64)>,
    end: u64,
    keys: usize,
}

/// Tells most absent keys.
struct Filter {
    bits: Vec<u64>,
}

impl Filter {
    fn new(keys: usize) -> Filter {
        let words = (keys * FILTER_KEY_BITS / 64).next_power_of_two();
        Filter { bits: vec![0; words] }
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let bits = self.bits.len() as u64 * 64;
        let step = (hash >> 32) | 1;
        (0..FILTER_PROBES).map(move |probe| {
            let bit = hash.wrapping_add(probe.wrapping_mul(step)) & (bits - 1);
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn add(&mut self, hash: u64) {
        self.places(hash).for_each(|(word, bit)| self.bits[word] |= bit);
    }

    fn may_hold(&self, hash: u64) -> bool {
        self.places(hash).all(|(word, bit)| self.bits[word] & bit != 0)
    }
}

impl KeySet {
    /// An empty set that keeps up to that many bytes in memory.
    pub fn new(workspace: Rc<Workspace>, share_bytes: u64) -> KeySet {
        KeySet {
            memory: KeyTable::default(),
            memory_bytes: 0,
            share_bytes: workspace.share_of(share_bytes).max(SHARE_BYTES_MIN),
            held: Held::new(workspace),
            disk: None,
        }
    }

    /// Bytes in memory.
    pub fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// Whether a key is in.
    pub fn contains(&mut self, key: &[u8]) -> SqlResult<bool> {
        if self.memory.find(key).is_some() {
            return Ok(true);
        }
        match &mut self.disk {
            None => Ok(false),
            Some(disk) => disk.contains(key),
        }
    }

    /// Adds a key. Whether it is new. Errors: 1317, 1114 when the disk is full.
    pub fn insert(&mut self, key: &[u8]) -> SqlResult<bool> {
        if let Some(disk) = &mut self.disk
            && self.memory.find(key).is_none()
            && disk.contains(key)?
        {
            return Ok(false);
        }
        if !self.memory.insert(key).1 {
            return Ok(false);
        }
        self.memory_bytes += key.len() as u64 + KEY_BYTES;
        if self.memory_bytes > self.held.bytes() {
            // A quarter more than needed, so that it is not asked for each key.
            let more = self.memory_bytes - self.held.bytes() + self.memory_bytes / 4;
            if self.memory_bytes > self.share_bytes || !self.held.try_grow(more) {
                self.write_run()?;
            }
        }
        Ok(true)
    }

    fn write_run(&mut self) -> SqlResult<()> {
        let memory = std::mem::take(&mut self.memory);
        let mut keys: Vec<&[u8]> = memory.keys().collect();
        keys.sort_unstable();
        let workspace = self.held.workspace().clone();
        let disk = match &mut self.disk {
            Some(disk) => disk,
            None => {
                workspace.count(|counts| counts.disk_tables += 1);
                self.disk.insert(Box::new(DiskKeys::new(workspace)?))
            }
        };
        let mut writer = RunWriter::new(0, keys.len());
        let mut entry = Vec::new();
        for key in &keys {
            entry.clear();
            append_entry(key, &[], &mut entry);
            writer.add(key, &entry, &mut disk.file, &disk.hasher)?;
        }
        disk.end_run(writer)?;
        drop(memory);
        self.memory_bytes = 0;
        self.held.shrink_to(0);
        disk.merge_tiers()
    }
}

/// Makes a run's filter and index.
struct RunWriter {
    run: KeyRun,
}

impl RunWriter {
    fn new(tier: u32, keys: usize) -> RunWriter {
        let filter = Filter::new(keys);
        RunWriter { run: KeyRun { tier, number: 0, filter, blocks: Vec::new(), end: 0, keys } }
    }

    fn add(&mut self, key: &[u8], entry: &[u8], file: &mut RunFile, hasher: &RandomState) -> SqlResult<()> {
        let position = file.position();
        if self.run.blocks.last().is_none_or(|(_, start)| position - start >= BLOCK_BYTES) {
            self.run.blocks.push((beginning(key).into(), position));
        }
        self.run.filter.add(hasher.hash_one(key));
        file.write(entry)
    }
}

impl DiskKeys {
    fn new(workspace: Rc<Workspace>) -> SqlResult<DiskKeys> {
        Ok(DiskKeys {
            file: RunFile::new(&workspace, BUFFER_BYTES)?,
            runs: Vec::new(),
            hasher: RandomState::new(),
            block: Vec::new(),
            held: Held::new(workspace),
        })
    }

    fn end_run(&mut self, writer: RunWriter) -> SqlResult<()> {
        let mut run = writer.run;
        self.file.end_run()?;
        run.end = self.file.position();
        run.number = self.file.runs.len() - 1;
        self.held.grow_anyway(run.bytes());
        self.runs.push(run);
        Ok(())
    }

    fn contains(&mut self, key: &[u8]) -> SqlResult<bool> {
        let hash = self.hasher.hash_one(key);
        for run in self.runs.iter().filter(|run| run.filter.may_hold(hash)) {
            // Keys of one beginning may begin several blocks: the key is in one of these or in the one before them.
            let mut behind = run.blocks.partition_point(|(first, _)| **first <= *key);
            let mut low = run.blocks[..behind].partition_point(|(first, _)| **first < *beginning(key));
            low = low.saturating_sub(1);
            while behind.saturating_sub(low) > 1 {
                let middle = low + (behind - low) / 2;
                read_block(&mut self.block, &self.file, run, middle)?;
                match first_key(&self.block).is_some_and(|first| first <= key) {
                    true => low = middle,
                    false => behind = middle,
                }
            }
            if behind == 0 {
                continue;
            }
            read_block(&mut self.block, &self.file, run, low)?;
            if block_holds(&self.block, key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes one run of those of a tier that is full.
    fn merge_tiers(&mut self) -> SqlResult<()> {
        while let Some(tier) = self.runs.last().map(|last| last.tier) {
            let first = self.runs.partition_point(|run| run.tier > tier);
            if self.runs.len() - first < TIER_RUNS {
                return Ok(());
            }
            let full = self.runs.split_off(first);
            let mut parts = &full[..];
            while !parts.is_empty() {
                let runs: Vec<_> = parts.iter().map(|part| self.file.runs[part.number]).collect();
                let (now, later) = parts.split_at(self.file.fan_in(&runs, TIER_RUNS));
                self.merge(now, &runs[..now.len()], tier + 1)?;
                parts = later;
            }
        }
        Ok(())
    }

    /// Makes one run of several.
    fn merge(&mut self, parts: &[KeyRun], runs: &[Run], tier: u32) -> SqlResult<()> {
        let mut merge = Merge::new(runs, &self.file)?;
        let mut writer = RunWriter::new(tier, parts.iter().map(|part| part.keys).sum());
        let mut entry = Vec::new();
        while let Some(least) = merge.entry() {
            entry.clear();
            entry.extend_from_slice(least);
            merge.advance(&self.file)?;
            writer.add(&entry[HEADER_BYTES..], &entry, &mut self.file, &self.hasher)?;
        }
        drop(merge);
        let freed = parts.iter().map(KeyRun::bytes).sum::<u64>();
        self.held.shrink_to(self.held.bytes().saturating_sub(freed));
        self.end_run(writer)
    }
}

impl KeyRun {
    /// Memory of filter and index.
    fn bytes(&self) -> u64 {
        let blocks: usize = self.blocks.iter().map(|(first, _)| first.len() + KEY_BYTES as usize).sum();
        (blocks + self.filter.bits.len() * 8) as u64
    }
}

/// What of a key is kept to find its block.
fn beginning(key: &[u8]) -> &[u8] {
    &key[..key.len().min(BEGINNING_BYTES_MAX)]
}

fn read_block(block: &mut Vec<u8>, file: &RunFile, run: &KeyRun, number: usize) -> SqlResult<()> {
    let Some((_, start)) = run.blocks.get(number) else { return Ok(()) };
    let end = run.blocks.get(number + 1).map_or(run.end, |(_, start)| *start);
    block.resize((end - start) as usize, 0);
    file.read(block, *start)
}

fn first_key(block: &[u8]) -> Option<&[u8]> {
    let (length, _) = entry_lengths(block)?;
    block.get(HEADER_BYTES..HEADER_BYTES + length)
}

fn block_holds(mut block: &[u8], key: &[u8]) -> bool {
    while let Some((length, _)) = entry_lengths(block) {
        let end = HEADER_BYTES + length;
        match block.get(HEADER_BYTES..end) {
            Some(found) if found == key => return true,
            Some(found) if found < key => block = &block[end..],
            _ => return false,
        }
    }
    false
}
