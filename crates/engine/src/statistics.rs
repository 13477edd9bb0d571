//! Statistics for the optimizer: row counts, distinct prefixes, range estimates, table status. Main type: [`TableStatistics`].
//! ANALYZE samples each index and stores what it finds in the dictionary; row counts follow by estimates of the tree.

use crate::engine::Engine;
use crate::read::KeyRange;
use crate::write::change_dictionary;
use btree::{Cursor, CursorRange, Direction, Taken, Tree};
use dictionary_store::{Change, DictionaryStore, StoredStatistics};
use engine_error::{EngineError, EngineResult};
use engine_types::{Distribution, TableStatistics, TransactionOptions};
use entry::{Entry, EntryKind, parse_head};
use std::sync::{Arc, PoisonError};
use stdx::ids::SpaceId;
use tables::{Index, KeptStatistics, Table};
use values::row::ColumnSample;

/// Leaves of an index that ANALYZE reads, spread over the index.
const SAMPLE_LEAVES: usize = 64;
/// What was found in a table tells nothing of one of more than so many times its rows.
const GROWTH_MAX: u64 = 10;
const PAGE_BYTES: u64 = page::PAGE_BYTES as u64;

/// What a sample of an index shows.
#[derive(Debug, Default)]
struct Sample {
    /// Entries that have one before them in their leaf.
    followers: u64,
    /// Per number of parts: how many of these differ from the one before in these parts.
    changes: Vec<u64>,
    /// The same of all entries: the first one of a leaf is compared with the last one of the sampled leaf before.
    seen: Vec<u64>,
    /// Whether every leaf was read.
    whole: bool,
}

impl Engine {
    /// The table's statistics: distinct values as the last ANALYZE found them, scaled to the present number of rows.
    pub fn statistics(&self, table: &Arc<Table>) -> TableStatistics {
        let known = self.distribution(table);
        let (data_bytes, index_bytes, free_bytes) = self.sizes(table);
        let distinct = known.distinct.clone();
        TableStatistics { rows: known.rows, data_bytes, index_bytes, free_bytes, distinct }
    }

    /// The table's rows, and its distinct values as the last ANALYZE found them, scaled to the present number of rows.
    pub fn distribution(&self, table: &Arc<Table>) -> Arc<Distribution> {
        let changes = table.clustered().tree.changes();
        let kept = || table.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, known)) = &kept().distribution
            && *then == changes
            && table.check_usable().is_ok()
        {
            return known.clone();
        }
        let size = self.estimated_size(table);
        let mut kept = kept();
        let found = Arc::new(distribution_of(table, kept.stored.as_ref(), size.unwrap_or_default()));
        kept.distribution = size.map(|_| (changes, found.clone()));
        found
    }

    /// ANALYZE TABLE: samples every index and stores the result.
    pub fn analyze(&self, table: &Arc<Table>) -> EngineResult<TableStatistics> {
        table.check_usable()?;
        if self.inner.shared.settings.read_only_option {
            return Err(EngineError::ReadOnlyMode);
        }
        let rows = self.estimated_rows(table);
        let mut distinct = Vec::new();
        let mut columns = ColumnSample::new(table.definition().columns.len());
        for index in &table.indexes {
            let mut add = |value: &[u8]| match Entry::parse(EntryKind::Clustered, value) {
                // A value that stands outside counts by its reference: as one of its own.
                Some(entry) if !entry.form().is_row_outside() => {
                    columns.add(&table.view(entry.stored_row().bytes)?);
                    Ok(())
                }
                _ => Ok(()),
            };
            let mut pass_over = |_: &[u8]| Ok(());
            let look: &mut dyn FnMut(&[u8]) -> EngineResult<()> =
                if index.id() == table.clustered().id() { &mut add } else { &mut pass_over };
            let sample = self.sample(index, look)?;
            distinct.push((index.id(), extrapolate(index, &sample, rows)));
        }
        let stored = StoredStatistics { rows, distinct, column_values: columns.distinct(rows) };
        if !table.is_temporary() {
            let put = Change::Put(DictionaryStore::statistics_key(table.id()), stored.encode());
            let transaction = self.begin(TransactionOptions::default());
            change_dictionary(&transaction, &put)?;
            transaction.commit()?;
        }
        let kept = KeptStatistics { stored: Some(stored), distribution: None };
        *table.statistics.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(self.statistics(table))
    }

    /// How many values the first part of an index of few entries has: counts them. None if there are more than a few leaves.
    pub fn few_values(&self, table: &Arc<Table>, index: usize) -> Option<u64> {
        table.check_usable().ok()?;
        let sample =
            self.sample(table.index(index).ok()?, &mut |_| Ok(())).ok().filter(|sample| sample.whole)?;
        sample.seen.first().copied()
    }

    /// Estimated number of entries in a range: two descents, no scan.
    pub fn estimate_range(&self, table: &Arc<Table>, index: usize, range: KeyRange) -> EngineResult<u64> {
        table.check_usable()?;
        if range.is_empty() {
            return Ok(0);
        }
        let range = CursorRange { lower: range.lower, upper: range.upper };
        let estimate = table.index(index)?.tree.estimate(&self.inner.pool, &range)?;
        Ok(estimate.rows.max(0.0).round() as u64)
    }

    /// At most `parts` ranges that together are `range`, for parallel scans; balanced by leaves.
    pub fn partition(
        &self,
        table: &Arc<Table>,
        index: usize,
        range: &KeyRange,
        parts: usize,
    ) -> EngineResult<Vec<KeyRange>> {
        table.check_usable()?;
        let range = CursorRange { lower: range.lower.clone(), upper: range.upper.clone() };
        let parts = table.index(index)?.tree.partition(&self.inner.pool, &range, parts)?;
        Ok(parts.into_iter().map(|part| KeyRange { lower: part.lower, upper: part.upper }).collect())
    }

    /// Estimated number of rows: a descent or two.
    pub fn estimated_rows(&self, table: &Table) -> u64 {
        self.estimated_size(table).unwrap_or_default().0
    }

    /// Rows, and bytes of the clustered index; None if it cannot be read.
    fn estimated_size(&self, table: &Table) -> Option<(u64, u64)> {
        table.check_usable().ok()?;
        let estimate = table.clustered().tree.estimate(&self.inner.pool, &CursorRange::all()).ok()?;
        let leaves = estimate.leaves.max(1.0).round() as u64;
        Some((estimate.rows.max(0.0).round() as u64, leaves * PAGE_BYTES))
    }

    fn sizes(&self, table: &Table) -> (u64, u64, u64) {
        let leaf_bytes = |tree: &Arc<Tree>| {
            let estimate = tree.estimate(&self.inner.pool, &CursorRange::all());
            estimate.map_or(0, |estimate| estimate.leaves.max(1.0).round() as u64 * PAGE_BYTES)
        };
        // Long values are part of the rows; a tree without any is a page that is free as good as.
        let long = table.lobs.iter().map(leaf_bytes).sum::<u64>();
        let data = leaf_bytes(&table.clustered().tree) + long.saturating_sub(PAGE_BYTES);
        let secondary = table.indexes.iter().skip(1).map(|index| leaf_bytes(&index.tree)).sum();
        let file = self.file_bytes(table.space);
        (data, secondary, file.saturating_sub(data + secondary))
    }

    fn file_bytes(&self, space: SpaceId) -> u64 {
        self.inner.pool.space_pages(space).map_or(0, |pages| u64::from(pages) * PAGE_BYTES)
    }

    /// Reads some leaves. `look` is shown each entry that is not deleted.
    fn sample(&self, index: &Index, look: &mut dyn FnMut(&[u8]) -> EngineResult<()>) -> EngineResult<Sample> {
        let parts = index.key_columns.len();
        let ranges = index.tree.partition(&self.inner.pool, &CursorRange::all(), SAMPLE_LEAVES)?;
        let whole = ranges.len() < SAMPLE_LEAVES;
        let mut sample = Sample { changes: vec![0; parts], seen: vec![0; parts], whole, ..Sample::default() };
        let mut previous = Vec::new();
        for range in ranges {
            let mut cursor = Cursor::new(range, Direction::Forward);
            loop {
                let result = cursor.next_leaf(&index.tree, &self.inner.pool, |leaf| {
                    let mut read = || {
                        let mut follows = false;
                        for at in 0..leaf.len() {
                            let (_, value) = leaf.entry(at)?;
                            if parse_head(value)?.deleted {
                                continue;
                            }
                            look(value)?;
                            let mut key = Vec::new();
                            leaf.key_into(at, &mut key)?;
                            sample.add(index, &previous, &key, follows)?;
                            previous = key;
                            follows = true;
                        }
                        Ok::<(), EngineError>(())
                    };
                    (Taken::All, read())
                })?;
                match result {
                    Some(result) => result?,
                    None => break,
                }
                if !sample.whole {
                    break;
                }
            }
        }
        Ok(sample)
    }
}

/// That of a table of so many rows and bytes.
fn distribution_of(
    table: &Table,
    stored: Option<&StoredStatistics>,
    (rows, data_bytes): (u64, u64),
) -> Distribution {
    let stored = stored.filter(|stored| rows <= stored.rows.saturating_mul(GROWTH_MAX));
    let distinct = |index: &Index| {
        let found = stored.and_then(|stored| stored.distinct.iter().find(|(id, _)| *id == index.id()));
        match (found, stored) {
            (Some((_, found)), Some(stored)) => scaled(found, stored.rows, rows),
            _ => guessed(index, rows),
        }
    };
    let distinct = table.indexes.iter().map(distinct).collect();
    let column_values =
        stored.map_or_else(Vec::new, |stored| scaled(&stored.column_values, stored.rows, rows));
    Distribution { rows, data_bytes, distinct, column_values }
}

impl Sample {
    fn add(&mut self, index: &Index, previous: &[u8], key: &[u8], follows: bool) -> EngineResult<()> {
        self.followers += u64::from(follows);
        let same = previous.iter().zip(key).take_while(|(a, b)| a == b).count();
        for (part, (changes, seen)) in self.changes.iter_mut().zip(&mut self.seen).enumerate() {
            let bytes = index
                .own_prefix_bytes(key, part + 1)
                .map_err(|error| EngineError::Corrupt(format!("index {}: {error}", index.id())))?;
            // The key begins with the same parts exactly if it agrees with the one before that far.
            let differs = u64::from(same < bytes);
            *seen += differs;
            *changes += if follows { differs } else { 0 };
        }
        Ok(())
    }
}

/// Distinct values of the whole index from those of a sample. Where values fill whole leaves, that two sampled leaves differ says
/// nothing of those between them: only what changes within leaves stands for the rest. There are at least as many as were seen.
fn extrapolate(index: &Index, sample: &Sample, rows: u64) -> Vec<u64> {
    let parts = sample.changes.len();
    let counted = sample.changes.iter().zip(&sample.seen).enumerate().map(|(part, (changes, seen))| {
        if index.unique && part + 1 == parts {
            return rows;
        }
        if sample.whole || sample.followers == 0 {
            return *seen;
        }
        let share = *changes as f64 / sample.followers as f64;
        ((share * rows as f64).round() as u64).max(*seen).clamp(1, rows.max(1))
    });
    counted.collect()
}

fn scaled(found: &[u64], rows_then: u64, rows_now: u64) -> Vec<u64> {
    let factor = if rows_then == 0 { 1.0 } else { rows_now as f64 / rows_then as f64 };
    found
        .iter()
        // Few values stay few when rows come; values that are nearly unique grow with the rows.
        .map(|count| if *count * 10 > rows_then { ((*count as f64 * factor) as u64).max(1) } else { *count })
        .collect()
}

/// Before the first ANALYZE: unique keys are unique, other keys have ten rows to a value and part.
fn guessed(index: &Index, rows: u64) -> Vec<u64> {
    let parts = index.key_columns.len();
    (0..parts)
        .map(|part| {
            if index.unique && part + 1 == parts {
                rows
            } else {
                (rows / 10u64.pow((parts - part) as u32).min(1000)).max(1)
            }
        })
        .collect()
}
