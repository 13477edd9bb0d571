//! Rows in the order of byte keys: in memory up to a share, beyond it as sorted runs in a temporary file that are merged
//! when the rows are read. Rows of equal keys keep their order. Main types: [`Sorter`], [`Sorted`].

use crate::batch::RowBatch;
use crate::row_codec::{Decoder, encode};
use crate::runs::{HEADER_BYTES, Merge, RunFile, entry_lengths, key_prefix};
use crate::workspace::corrupt;
use crate::{Held, Workspace};
use errors::{SqlResult, sql_error};
use std::rc::Rc;
use stdx::sort::sort_unless;
use values::{RowRef, Rows};

/// Entries lie in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;
/// Memory is counted in steps of this size.
const HELD_STEP_BYTES: u64 = 1 << 16;
/// What an entry costs beside its bytes, the scratch space of the sort included.
const ITEM_BYTES: usize = 24;
/// Buffers of runs have a sixteenth of the share, between these sizes, where the statement has as much left.
const BUFFER_BYTES_MAX: usize = 1 << 20;
const BUFFER_BYTES_MIN: usize = 1 << 12;
/// What is kept before a run is written, however little memory is left: else each row would be a run.
const RUN_BYTES_MIN: u64 = 1 << 14;
/// Runs that are merged at once, at most.
const FAN_IN_MAX: usize = 128;
/// Rows that are gathered beyond the wanted ones before the surplus is dropped.
const SURPLUS_ROWS_MIN: usize = 1024;

/// An entry in memory.
#[derive(Clone, Copy)]
struct Item {
    /// The first bytes of the key.
    prefix: u64,
    piece: u32,
    at: u32,
}

/// Entries in memory.
#[derive(Default)]
struct Entries {
    pieces: Vec<Vec<u8>>,
    items: Vec<Item>,
    bytes: usize,
}

impl Entries {
    #[inline]
    fn entry(&self, item: Item) -> &[u8] {
        let bytes = &self.pieces[item.piece as usize][item.at as usize..];
        let (key, row) = entry_lengths(bytes).unwrap_or_default();
        &bytes[..HEADER_BYTES + key + row]
    }

    #[inline]
    fn key(&self, item: Item) -> &[u8] {
        key_of(self.entry(item))
    }

    /// Begins an entry behind the last one, in a piece of its own if that one is full.
    fn open(&mut self) -> &mut Vec<u8> {
        match self.pieces.last() {
            None => self.pieces.push(Vec::new()),
            Some(piece) if piece.len() >= PIECE_BYTES - PIECE_BYTES / 8 => {
                self.pieces.push(Vec::with_capacity(PIECE_BYTES));
            }
            Some(_) => {}
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    fn push(&mut self, key: &[u8], write_row: impl FnOnce(&mut Vec<u8>)) -> SqlResult<()> {
        let piece = self.open();
        let start = piece.len();
        piece.extend_from_slice(&[0; HEADER_BYTES]);
        piece.extend_from_slice(key);
        write_row(piece);
        let row_length = piece.len() - start - HEADER_BYTES - key.len();
        let lengths = u32::try_from(key.len()).and_then(|key| Ok((key, u32::try_from(row_length)?)));
        let (key_length, row_length) = lengths.map_err(|_| sql_error!(ER_OUT_OF_SORTMEMORY))?;
        piece[start..start + 4].copy_from_slice(&key_length.to_le_bytes());
        piece[start + 4..start + HEADER_BYTES].copy_from_slice(&row_length.to_le_bytes());
        self.bytes += piece.len() - start;
        let piece = (self.pieces.len() - 1) as u32;
        self.items.push(Item { prefix: key_prefix(key), piece, at: start as u32 });
        Ok(())
    }

    /// Rows with equal keys stay in the order in which they came: that of their places. Error 1317.
    fn sort(&mut self, workspace: &Workspace) -> SqlResult<()> {
        let mut items = std::mem::take(&mut self.items);
        let order = |left: &Item, right: &Item| {
            left.prefix
                .cmp(&right.prefix)
                .then_with(|| self.key(*left).cmp(self.key(*right)))
                .then_with(|| (left.piece, left.at).cmp(&(right.piece, right.at)))
        };
        if !sort_unless(&mut items, order, || workspace.is_killed()) {
            return Err(sql_error!(ER_QUERY_INTERRUPTED));
        }
        self.items = items;
        Ok(())
    }

    /// Keeps the first entries, in pieces of their own.
    fn keep_first(&mut self, count: usize) {
        let old = std::mem::take(self);
        for item in old.items.iter().take(count) {
            let entry = old.entry(*item);
            let piece = self.open();
            let at = piece.len() as u32;
            piece.extend_from_slice(entry);
            self.bytes += entry.len();
            let piece = (self.pieces.len() - 1) as u32;
            self.items.push(Item { prefix: item.prefix, piece, at });
        }
    }

    fn held_bytes(&self) -> u64 {
        (self.bytes + self.items.len() * ITEM_BYTES) as u64
    }
}

#[inline]
fn key_of(entry: &[u8]) -> &[u8] {
    let (key, _) = entry_lengths(entry).unwrap_or_default();
    &entry[HEADER_BYTES..HEADER_BYTES + key]
}

fn row_of(entry: &[u8]) -> &[u8] {
    let (key, _) = entry_lengths(entry).unwrap_or_default();
    &entry[HEADER_BYTES + key..]
}

/// Takes rows and their keys.
pub struct Sorter {
    entries: Entries,
    /// Only the first so many rows are wanted.
    wanted: Option<usize>,
    /// The key of the last wanted row so far: what does not come before it is surplus.
    last_wanted: Option<Vec<u8>>,
    share_bytes: u64,
    held: Held,
    file: Option<RunFile>,
}

impl Sorter {
    /// No rows yet. Beyond `share_bytes` in memory rows go to disk; of all, only the first `wanted` matter.
    pub fn new(workspace: Rc<Workspace>, share_bytes: u64, wanted: Option<usize>) -> Sorter {
        Sorter {
            entries: Entries::default(),
            wanted,
            last_wanted: None,
            share_bytes: workspace.share_of(share_bytes),
            held: Held::new(workspace),
            file: None,
        }
    }

    /// Whether a row with that key is among the wanted ones so far.
    #[inline]
    pub fn wants(&self, key: &[u8]) -> bool {
        self.last_wanted.as_ref().is_none_or(|last| key < last.as_slice())
    }

    /// Adds a row. Errors: 1317, 1114 when the disk is full.
    pub fn push(&mut self, key: &[u8], row: RowRef<'_>) -> SqlResult<()> {
        self.entries.push(key, |out| encode(row, out))?;
        if self.entries.held_bytes() > self.held.bytes() {
            self.hold_more()?;
        }
        if let Some(wanted) = self.wanted
            && self.entries.items.len() >= wanted.saturating_mul(2).saturating_add(SURPLUS_ROWS_MIN)
        {
            self.drop_surplus(wanted)?;
        }
        Ok(())
    }

    fn drop_surplus(&mut self, wanted: usize) -> SqlResult<()> {
        self.entries.sort(self.held.workspace())?;
        self.entries.keep_first(wanted);
        self.last_wanted = self.entries.items.last().map(|last| self.entries.key(*last).to_vec());
        Ok(())
    }

    fn hold_more(&mut self) -> SqlResult<()> {
        let bytes = self.entries.held_bytes();
        let more = (bytes - self.held.bytes()).max(HELD_STEP_BYTES.min(self.share_bytes / 4));
        if bytes <= self.share_bytes && self.held.try_grow(more) {
            return Ok(());
        }
        let least = RUN_BYTES_MIN.min(self.share_bytes);
        if bytes <= least {
            self.held.grow_anyway(least - self.held.bytes());
            return Ok(());
        }
        self.write_run()
    }

    fn buffer_bytes(&self) -> usize {
        let wanted = usize::try_from(self.share_bytes / 16).unwrap_or(BUFFER_BYTES_MAX);
        wanted.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX)
    }

    /// Holds no memory from now on until more rows come or all are read. For rows that wait until others were read.
    pub fn rest(&mut self) -> SqlResult<()> {
        self.write_run()
    }

    /// Moves what is in memory to disk.
    fn write_run(&mut self) -> SqlResult<()> {
        if self.entries.items.is_empty() {
            return Ok(());
        }
        self.entries.sort(self.held.workspace())?;
        if let Some(wanted) = self.wanted
            && self.entries.items.len() >= wanted
        {
            self.entries.items.truncate(wanted);
            let last = self.entries.items.last().map(|last| self.entries.key(*last).to_vec());
            if last.as_ref().is_some_and(|last| self.wants(last)) {
                self.last_wanted = last;
            }
        }
        if self.file.is_none() {
            self.file = Some(RunFile::new(self.held.workspace(), self.buffer_bytes())?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        for item in &self.entries.items {
            file.write(self.entries.entry(*item))?;
        }
        file.end_run()?;
        self.entries = Entries::default();
        self.held.shrink_to(0);
        Ok(())
    }

    /// Ends the input.
    pub fn finish(mut self) -> SqlResult<Sorted> {
        let remaining = self.wanted.unwrap_or(usize::MAX);
        if self.file.is_none() {
            self.entries.sort(self.held.workspace())?;
            return Ok(Sorted {
                remaining,
                source: Source::Memory { entries: self.entries, at: 0, held: self.held },
            });
        }
        self.write_run()?;
        let of_share = self.share_bytes / self.buffer_bytes() as u64;
        let fan_in_max = usize::try_from(of_share).unwrap_or(FAN_IN_MAX).clamp(2, FAN_IN_MAX);
        let Some(mut file) = self.file.take() else { return Err(corrupt()) };
        loop {
            if file.fan_in(&file.runs, fan_in_max) == file.runs.len() {
                break;
            }
            file = merged(&file, fan_in_max, self.wanted)?;
        }
        let merge = Merge::new(&file.runs, &file)?;
        Ok(Sorted { remaining, source: Source::Runs { merge: Box::new(merge), file } })
    }
}

/// A file with fewer, longer runs: neighbours are merged, so that equal keys stay in order.
fn merged(source: &RunFile, fan_in_max: usize, wanted: Option<usize>) -> SqlResult<RunFile> {
    let mut target = source.sibling()?;
    let mut rest = &source.runs[..];
    while !rest.is_empty() {
        let (runs, behind) = rest.split_at(source.fan_in(rest, fan_in_max));
        rest = behind;
        let mut merge = Merge::new(runs, source)?;
        let mut count = 0;
        while let Some(entry) = merge.entry()
            && wanted.is_none_or(|wanted| count < wanted)
        {
            target.write(entry)?;
            merge.advance(source)?;
            count += 1;
        }
        target.end_run()?;
    }
    Ok(target)
}

enum Source {
    Memory { entries: Entries, at: usize, held: Held },
    Runs { merge: Box<Merge>, file: RunFile },
}

/// Rows in order.
pub struct Sorted {
    source: Source,
    /// Rows that are still wanted.
    remaining: usize,
}

impl Sorted {
    /// Hands out the next rows, which have that width. False at the end: the batch is then empty. Errors: 1317, 1030.
    pub fn next(&mut self, width: usize, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(width);
        while !batch.is_full()
            && let Some(entry) = self.entry()
        {
            let row = row_of(entry);
            batch.count_bytes(row.len());
            Decoder::new(row).row(width, batch.rows_mut())?;
            self.advance()?;
        }
        Ok(!batch.is_empty())
    }

    /// The next entry's key.
    pub fn key(&self) -> Option<&[u8]> {
        self.entry().map(key_of)
    }

    /// Appends the next entry's row, which is as wide as those rows, and moves behind it. False at the end.
    pub fn next_row(&mut self, rows: &mut Rows) -> SqlResult<bool> {
        let Some(entry) = self.entry() else { return Ok(false) };
        Decoder::new(row_of(entry)).row(rows.width(), rows)?;
        self.advance()?;
        Ok(true)
    }

    /// Moves behind the next entry.
    pub fn skip(&mut self) -> SqlResult<()> {
        if self.entry().is_some() { self.advance() } else { Ok(()) }
    }

    /// The next entry.
    fn entry(&self) -> Option<&[u8]> {
        if self.remaining == 0 {
            return None;
        }
        match &self.source {
            Source::Memory { entries, at, .. } => entries.items.get(*at).map(|item| entries.entry(*item)),
            Source::Runs { merge, .. } => merge.entry(),
        }
    }

    /// Moves behind the next entry.
    fn advance(&mut self) -> SqlResult<()> {
        self.remaining -= 1;
        match &mut self.source {
            Source::Memory { entries, at, held } => {
                *at += 1;
                if *at == entries.items.len() {
                    // Who has read all of it may live on for long: an operator below others.
                    *entries = Entries::default();
                    held.shrink_to(0);
                }
            }
            Source::Runs { merge, file } => merge.advance(file)?,
        }
        Ok(())
    }
}
