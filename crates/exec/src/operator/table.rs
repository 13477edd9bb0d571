//! Rows of a base table by scan, range or key. Main type: [`TableReader`].

use super::all_hold;
use super::direct::column::StoredColumn;
use super::direct::filter::DirectFilter;
use super::nested_loop::InnerReader;
use super::union_keys::UnionKeys;
use crate::actuals::{Loop, StepId};
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::run::{Run, engine_error};
use crate::spill::key_counts::KeyCounts;
use engine::{Direction, Isolation, KeyRange, Scan, ScanOptions};
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use expression::silent::is_silent;
use plan::physical::{RowLock, TableAccess};
use plan::range::{conditions_are_implied, key_ranges, point_key};
use std::cell::OnceCell;
use std::ops::Bound;
use std::rc::Rc;
use std::time::Duration;
use values::row::{ColumnSet, RowLayout, RowView};
use values::rows::Mark;
use values::{RowRef, Rows, TypeKind, Value, ValueRef};

/// Rows asked of the engine at first; doubled with each batch, so that a small LIMIT reads little.
const FIRST_ROWS: usize = 16;

/// Rows asked of the engine at once from which on conditions are looked at for what stored bytes can decide.
const FILTERED_ROWS_MIN: usize = 128;

/// The layout of the rows that an access reads.
pub(crate) fn stored_layout(access: &TableAccess) -> &RowLayout {
    match access.path.covering {
        true => access.table.indexes()[access.path.index].row_layout(),
        false => access.table.layout(),
    }
}

/// The place of a table's column in the rows that an access reads.
pub(crate) fn stored_position(access: &TableAccess, column: usize) -> usize {
    if !access.path.covering {
        return column;
    }
    let held = access.table.indexes()[access.path.index].row_columns();
    held.iter().position(|held| *held == column).unwrap_or(column)
}

/// How columns of a stored row become slots.
struct Decoder {
    /// Column in the stored row, slot, and whether it is a TIMESTAMP.
    columns: Vec<(usize, usize, bool)>,
}

impl Decoder {
    fn new(access: &TableAccess) -> Decoder {
        let definition = access.table.definition();
        let column = |(column, slot): &(usize, usize)| {
            let is_timestamp = definition.columns[*column].column_type.kind == TypeKind::Timestamp;
            (stored_position(access, *column), *slot, is_timestamp)
        };
        Decoder { columns: access.columns.iter().map(column).collect() }
    }

    /// Fills the slots of the last of those rows.
    fn fill(&self, layout: &RowLayout, bytes: &[u8], rows: &mut Rows, run: &Run<'_, '_>) -> SqlResult<()> {
        let view = RowView::new(layout, bytes).map_err(|error| sql_error!(ER_GET_ERRNO, 126, error))?;
        rows.reserve_bytes(bytes.len());
        for (column, slot, is_timestamp) in &self.columns {
            if *is_timestamp && let Value::DateTime(utc) = view.value(*column) {
                let local = run.statement.facts.time_zone.utc_to_local(utc);
                rows.set(*slot, ValueRef::DateTime(local));
            } else {
                view.copy_to(*column, rows, *slot);
            }
        }
        Ok(())
    }
}

/// Reads the rows of an access for one outer row after another.
pub struct TableReader<'p> {
    access: &'p TableAccess,
    /// Columns whose long values are fetched.
    fetched: &'p ColumnSet,
    /// Made for the first row whose slots are filled.
    decoder: OnceCell<Decoder>,
    ranges: std::vec::IntoIter<KeyRange>,
    scan: Option<Scan>,
    /// What is left of the range that is being scanned.
    range: KeyRange,
    buffer: engine::RowBatch,
    at: usize,
    rows_wanted: usize,
    /// Rows that the caller wants: a locking read locks no more before it has looked at them.
    rows_max: usize,
    /// The key that is still to be looked up, for accesses that can find one row only.
    wanted_key: Option<Vec<u8>>,
    /// The keys that are still to be looked up, for unions.
    union: Option<UnionKeys>,
    /// Conditions that are decided on stored bytes before anything is decoded. All conditions are checked afterwards.
    filters: Option<Vec<DirectFilter>>,
    /// What is asked of rows beside the conditions.
    narrowed: Vec<DirectFilter>,
    /// The row that was found by its whole key.
    found: Vec<u8>,
    found_key: Vec<u8>,
    /// Every row of the ranges meets the conditions.
    implied: bool,
    /// Bytes of rows that were read since somebody asked.
    bytes_read: usize,
    measured: Option<Box<MeasuredReading>>,
}

/// What EXPLAIN ANALYZE is told of a reader.
#[derive(Default)]
struct MeasuredReading {
    /// Rows that were read, and the time in the engine, since that was told.
    rows: u64,
    spent: Duration,
    /// The rows that meet the conditions, and all rows, of this execution.
    kept: Loop,
    read: Loop,
}

impl MeasuredReading {
    #[cold]
    fn add(&mut self, rows: u64, began: Duration, run: &Run<'_, '_>) {
        self.rows += rows;
        self.spent += run.began().map_or(Duration::ZERO, |now| now.saturating_sub(began));
    }
}

impl<'p> TableReader<'p> {
    pub fn new(access: &'p TableAccess) -> TableReader<'p> {
        TableReader::fetching(access, &access.wanted, conditions_are_implied(access))
    }

    /// A reader that fetches long values of these columns only. `implied`: what [`conditions_are_implied`] says of the access.
    pub fn fetching(access: &'p TableAccess, fetched: &'p ColumnSet, implied: bool) -> TableReader<'p> {
        TableReader {
            access,
            fetched,
            decoder: OnceCell::new(),
            ranges: Vec::new().into_iter(),
            scan: None,
            range: KeyRange::all(),
            buffer: engine::RowBatch::new(),
            at: 0,
            rows_wanted: FIRST_ROWS,
            rows_max: BATCH_ROWS_MAX,
            wanted_key: None,
            union: None,
            filters: None,
            narrowed: Vec::new(),
            found: Vec::new(),
            found_key: Vec::new(),
            implied,
            bytes_read: 0,
            measured: None,
        }
    }

    /// Says how many more rows are wanted.
    pub fn want(&mut self, rows_max: usize) {
        self.rows_max = rows_max.max(1);
    }

    /// Whether the row is found by one descent instead of a scan. A locked row of a secondary index is scanned for,
    /// because its clustered key is wanted too.
    fn is_lookup(&self) -> bool {
        let path = &self.access.path;
        run_lookups(self.access) && path.single_row
    }

    /// Whether rows are looked up: the switch is for tests that compare with scans.
    fn looks_up(&self, run: &Run<'_, '_>) -> bool {
        self.is_lookup() && run.statement.settings.fast_plans
    }

    /// Looks the row of the next key of a union up. One that is gone was seen by a read that sees what is not committed.
    fn look_up_next(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        loop {
            run.check_killed()?;
            let mut key = std::mem::take(&mut self.found_key);
            let Some(union) = &mut self.union else { return Ok(false) };
            if !union.next(&mut key)? {
                return Ok(false);
            }
            let began = run.began();
            if self.look_up(key, run)? {
                run.rows_examined += 1;
                self.spent_since(began, 1, run);
                return Ok(true);
            }
        }
    }

    /// Looks the row of a key up.
    fn look_up(&mut self, key: Vec<u8>, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let table = &self.access.table;
        let mode = run.read_mode(self.access.lock);
        let found = &mut self.found;
        found.clear();
        let is_there = run
            .statement
            .transaction
            .get_columns(table, self.access.path.index, &key, mode, self.fetched, &mut |row| {
                found.extend_from_slice(row);
            })
            .map_err(|error| engine_error(error, table))?;
        self.bytes_read += self.found.len();
        self.found_key = key;
        Ok(is_there)
    }

    /// Fills the slots of the last of those rows with the row that was read.
    fn fill(&self, rows: &mut Rows, run: &Run<'_, '_>) -> SqlResult<()> {
        let (bytes, key) = self.current(run);
        let decoder = self.decoder.get_or_init(|| Decoder::new(self.access));
        decoder.fill(self.layout(), bytes, rows, run)?;
        if let Some(slot) = self.access.key_slot {
            rows.set(slot, ValueRef::Bytes(key));
        }
        Ok(())
    }

    /// The row that was read, in the layout of [`TableReader::layout`], and its clustered key (for a look-up: the key
    /// that it was found by).
    fn current(&self, run: &Run<'_, '_>) -> (&[u8], &[u8]) {
        if self.looks_up(run) || self.union.is_some() {
            return (&self.found, &self.found_key);
        }
        (self.buffer.row(self.at - 1), self.buffer.key(self.at - 1))
    }

    /// The next row of the ranges, whether or not it meets the conditions.
    fn read(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if self.looks_up(run) {
            let Some(key) = self.wanted_key.take() else { return Ok(false) };
            run.check_killed()?;
            let began = run.began();
            let found = self.look_up(key, run)?;
            run.rows_examined += u64::from(found);
            self.spent_since(began, u64::from(found), run);
            return Ok(found);
        }
        if self.union.is_some() {
            return self.look_up_next(run);
        }
        if self.at >= self.buffer.len() && !self.refill(run)? {
            return Ok(false);
        }
        self.at += 1;
        run.rows_examined += 1;
        Ok(true)
    }

    /// The stored form of the next row that meets the conditions; None at the end. The last of `rows` is room for the slots that
    /// the conditions read, `empty` what it holds without them: what they read of the row before is forgotten.
    pub fn next_stored(
        &mut self,
        rows: &mut Rows,
        empty: Mark,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<&[u8]>> {
        rows.rewind(empty);
        let found = if self.implied { self.read(run)? } else { self.next_row(rows, run)? };
        Ok(found.then(|| self.current(run).0))
    }

    /// Starts reading for an outer row.
    pub fn start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if run.actuals.is_some() { self.start_measured(row, run) } else { self.find_start(row, run) }
    }

    #[cold]
    fn start_measured(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let began = run.began();
        self.measured = Some(Box::default());
        self.find_start(row, run)?;
        self.spent_since(began, 0, run);
        Ok(())
    }

    /// Counts time in the engine, and rows that it gave, if the statement is measured.
    #[inline]
    fn spent_since(&mut self, began: Option<Duration>, rows: u64, run: &Run<'_, '_>) {
        if let (Some(measured), Some(began)) = (&mut self.measured, began) {
            measured.add(rows, began, run);
        }
    }

    fn find_start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if self.looks_up(run) {
            self.wanted_key = point_key(&self.access.table, &self.access.path, row, run)?;
            return Ok(());
        }
        // Without fast plans all of the clustered index is read, whose order is the same.
        if !self.access.path.union.is_empty() && run.statement.settings.fast_plans {
            self.union = Some(UnionKeys::read(self.access, row, run)?);
            return Ok(());
        }
        let mut ranges = key_ranges(&self.access.table, &self.access.path, row, run)?;
        if self.access.path.backward {
            ranges.reverse();
        }
        self.ranges = ranges.into_iter();
        self.scan = None;
        self.filters = None;
        self.buffer.clear();
        self.at = 0;
        Ok(())
    }

    fn layout(&self) -> &'p RowLayout {
        stored_layout(self.access)
    }

    /// Fills slots of the last of those rows with the next row that meets the conditions; false at the end.
    pub fn next_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if run.actuals.is_some() { self.next_measured(rows, run) } else { self.find_row(rows, run) }
    }

    #[cold]
    fn next_measured(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let began = run.began();
        let found = self.find_row(rows, run)?;
        if let Some(measured) = &mut self.measured {
            let (rows, spent) = (std::mem::take(&mut measured.rows), std::mem::take(&mut measured.spent));
            run.gave_in(StepId::input(self.access), rows, spent, &mut measured.read);
            run.gave(StepId::output(self.access), u64::from(found), began, &mut measured.kept);
        }
        Ok(found)
    }

    fn find_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let mark = rows.mark();
        while self.read(run)? {
            if !self.passes(run)? {
                self.unlock(run);
                continue;
            }
            rows.rewind(mark);
            self.fill(rows, run)?;
            let holds = self.implied || {
                let holds = all_hold(&self.access.conditions, rows.row(rows.len() - 1), run)?;
                run.check_raised()?;
                holds
            };
            match holds {
                true if self.is_unlocked() => {
                    self.lock_current(run)?;
                    continue;
                }
                true => return Ok(true),
                false => {}
            }
            // As in MySQL, a SELECT keeps the lock of a row that it looked up by its whole key.
            if !self.looks_up(run) || self.access.key_slot.is_some() {
                self.unlock(run);
            }
        }
        Ok(false)
    }

    /// Whether the row that was read may meet the conditions, as far as its stored bytes tell.
    fn passes(&self, run: &Run<'_, '_>) -> SqlResult<bool> {
        let filters = self.filters.as_deref().unwrap_or_default();
        if filters.is_empty() && self.narrowed.is_empty() {
            return Ok(true);
        }
        let row = self.current(run).0;
        let view = RowView::new(self.layout(), row).map_err(|error| sql_error!(ER_GET_ERRNO, 126, error))?;
        let mut all = filters.iter().chain(&self.narrowed);
        Ok(all.all(|filter| filter.holds(row, &view)))
    }

    /// Finds out which conditions stored bytes can decide, once many rows are read.
    fn prepare_filters(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let mut filters = Vec::new();
        if run.statement.settings.fast_plans && !self.implied {
            for condition in &self.access.conditions {
                match DirectFilter::of(self.access, condition, run)? {
                    Some(more) => filters.extend(more),
                    // What it may report of a row is not to depend on conditions behind it.
                    None if !is_silent(condition) => break,
                    None => {}
                }
            }
        }
        self.filters = Some(filters);
        Ok(())
    }

    /// READ COMMITTED gives back the lock of the row that was read if it does not meet the conditions.
    fn unlock(&self, run: &Run<'_, '_>) {
        let transaction = run.statement.transaction;
        let keeps = matches!(transaction.isolation(), Isolation::RepeatableRead | Isolation::Serializable);
        if keeps || run.read_mode(self.access.lock) == engine::ReadMode::Consistent || self.is_unlocked() {
            return;
        }
        let is_buffered = !self.looks_up(run) && self.union.is_none();
        let entry = if is_buffered { self.buffer.entry_key(self.at - 1) } else { None };
        match entry {
            Some(entry) => transaction.unlock_entry(&self.access.table, self.access.path.index, entry),
            None => transaction.unlock_row(&self.access.table, self.current(run).1),
        }
    }

    /// How scans read rows for the access's lock.
    fn scan_mode(&self, run: &Run<'_, '_>) -> engine::ReadMode {
        match self.access.lock {
            // Whoever has a row's whole key waits for it.
            RowLock::Change(policy) if !self.is_lookup() => engine::ReadMode::Exclusive(policy),
            lock => run.read_mode(lock),
        }
    }

    /// Whether the row that was read is locked by another transaction, and was read as it was last committed.
    #[inline]
    fn is_unlocked(&self) -> bool {
        self.buffer.last_is_unlocked() && self.at == self.buffer.len()
    }

    /// Waits for the row that was read, and puts it before what is read next as it is by then, if it still is there.
    #[cold]
    fn lock_current(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let at = self.at - 1;
        if self.look_up(self.buffer.key(at).to_vec(), run)? {
            let table = &self.access.table;
            let replaced = self.buffer.replace_row(at, |bytes| bytes.extend_from_slice(&self.found));
            replaced.map_err(|error| engine_error(error, table))?;
            self.at = at;
        }
        self.buffer.set_last_unlocked(false);
        Ok(())
    }

    /// Goes on behind all rows that have the first parts of the row that was read.
    fn skip_on(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let (access, table) = (self.access, &self.access.table);
        let index = &table.indexes()[access.path.index];
        let view = RowView::new(self.layout(), self.buffer.row(0))
            .map_err(|error| sql_error!(ER_GET_ERRNO, 126, error))?;
        let mut key = Vec::new();
        for (part, column) in index.key_columns().iter().take(access.path.skip_parts).enumerate() {
            let value = view.value(stored_position(access, *column));
            // A key that is too long for the index, or that was cut: its rows are read one by one.
            if !index.orders_rows() || index.key_layout().encode_part(part, &value, &mut key).is_err() {
                return Ok(());
            }
        }
        match access.path.backward {
            true => self.range.upper = KeyRange::before(&key),
            false => self.range.lower = KeyRange::past_prefix(&key),
        }
        self.scan = None;
        if !self.range.is_empty() && !matches!(self.range.lower, Bound::Excluded(_)) {
            let mode = run.read_mode(access.lock);
            let options = scan_options(access, self.fetched, self.range.clone(), mode);
            let scan = run.statement.transaction.scan(table, options);
            self.scan = Some(scan.map_err(|error| engine_error(error, table))?);
        }
        Ok(())
    }

    /// The next rows of the engine into the buffer.
    fn refill(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let transaction = run.statement.transaction;
        let table = &self.access.table;
        let skips = self.access.path.skip_parts > 0 && run.statement.settings.fast_plans;
        if skips && self.scan.is_some() && !self.buffer.is_empty() {
            self.skip_on(run)?;
        }
        loop {
            run.check_killed()?;
            if self.scan.is_none() {
                let Some(range) = self.ranges.next() else { return Ok(false) };
                if skips {
                    self.range = range.clone();
                }
                let options = scan_options(self.access, self.fetched, range, self.scan_mode(run));
                let scan = transaction.scan(table, options).map_err(|error| engine_error(error, table))?;
                self.scan = Some(scan);
            }
            self.at = 0;
            let Some(scan) = &mut self.scan else { return Ok(false) };
            let rows_max = match run.read_mode(self.access.lock) {
                _ if skips => 1,
                engine::ReadMode::Consistent => self.rows_wanted,
                _ => self.rows_wanted.min(self.rows_max),
            };
            let began = run.began();
            let more = scan
                .next_batch(transaction, &mut self.buffer, rows_max)
                .map_err(|error| engine_error(error, table))?;
            // Rows of the batch that are not looked at in the end were read, too.
            self.spent_since(began, if more { self.buffer.len() as u64 } else { 0 }, run);
            if more {
                self.bytes_read += self.buffer.bytes();
                if self.rows_wanted >= FILTERED_ROWS_MIN && self.filters.is_none() {
                    self.prepare_filters(run)?;
                }
                self.rows_wanted = (self.rows_wanted * 2).min(BATCH_ROWS_MAX);
                return Ok(true);
            }
            self.scan = None;
        }
    }
}

/// Whether rows of the access can be found by `get`: in the table's layout, and with their clustered key known.
fn run_lookups(access: &TableAccess) -> bool {
    !access.path.covering
        && (access.path.index == 0 || access.lock == RowLock::None && access.key_slot.is_none())
}

fn scan_options(
    access: &TableAccess,
    fetched: &ColumnSet,
    range: KeyRange,
    mode: engine::ReadMode,
) -> ScanOptions {
    let path = &access.path;
    let direction = if path.backward { Direction::Backward } else { Direction::Forward };
    debug_assert!(!matches!(range.lower, Bound::Excluded(_)));
    ScanOptions {
        index: path.index,
        range,
        direction,
        mode,
        covering: path.covering,
        // Where MySQL knows the end of the range only when it has the row.
        locks_row_beyond: matches!(access.lock, RowLock::Change(_)) || path.covering,
        columns: fetched.clone(),
    }
}

impl InnerReader for TableReader<'_> {
    fn start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        TableReader::start(self, row, run)
    }

    fn want(&mut self, rows_max: usize) {
        TableReader::want(self, rows_max);
    }

    fn next_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        TableReader::next_row(self, rows, run)
    }

    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        let column = self.access.columns.iter().find(|(_, filled)| *filled == slot);
        let reader =
            column.and_then(|(column, _)| StoredColumn::at(self.access, *column).integer(self.layout()));
        self.narrowed.extend(reader.map(|reader| DirectFilter::Among(reader, keys.clone())));
    }

    #[inline]
    fn charge(&mut self, batch: &mut RowBatch, _found: bool) {
        batch.count_bytes(std::mem::take(&mut self.bytes_read));
    }

    fn width(&self) -> usize {
        self.access.width
    }

    fn clear(&self, batch: &mut RowBatch) {
        let columns = self.access.columns.iter().map(|(_, slot)| *slot);
        columns.chain(self.access.key_slot).for_each(|slot| batch.set(slot, ValueRef::Null));
    }
}
