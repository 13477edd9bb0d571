//! Whether rows and long values agree: what a row refers to must be there, and every value that no row refers to must be somebody's to
//! remove. For CHECK TABLE.

use crate::inner::EngineInner;
use crate::lob::{LobReference, LongValues, parse_key, references_of};
use crate::rollback::Rollback;
use crate::transaction_system::TransactionSystem;
use btree::{Cursor, CursorRange, Direction, Taken, Tree};
use buffer::BufferPool;
use engine_error::{EngineError, EngineResult};
use entry::{Entry, EntryKind, OwnedRow, StoredRow, bad_header};
use std::ops::Bound;
use std::time::Duration;
use stdx::ids::TransactionId;
use tables::Table;
use txn::{KillFlag, TransactionState};
use values::row::REFERENCE_BYTES;

/// Writer and number of a value.
type ValueId = (TransactionId, u32);

/// Values that are looked for at once: each time all rows are read.
const VALUES_AT_ONCE: usize = 1 << 20;
/// How often rows and notes are read before a value counts as lost: a change takes a value out of its row, or puts it back, in one
/// mini-transaction, and notes that in another.
const LOOKS: u32 = 8;
/// Pause before the second one; each other one is twice as long: on a busy machine a thread may sleep between the two changes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Values whose owners are looked for, in order.
#[derive(Default)]
struct Sought {
    ids: Vec<ValueId>,
    found: Vec<bool>,
}

impl Sought {
    fn note(&mut self, id: ValueId) {
        if let Ok(at) = self.ids.binary_search(&id) {
            self.found[at] = true;
        }
    }

    /// Leaves those of whom nothing was found.
    fn drop_found(&mut self) {
        let mut found = self.found.iter();
        self.ids.retain(|_| found.next() == Some(&false));
        self.found = vec![false; self.ids.len()];
    }
}

/// A check of rows and values.
pub(super) struct ValueCheck<'a> {
    pool: &'a BufferPool,
    values: &'a LongValues,
    system: &'a TransactionSystem,
    rollback: &'a Rollback,
}

impl<'a> ValueCheck<'a> {
    pub(super) fn new(engine: &'a EngineInner) -> ValueCheck<'a> {
        ValueCheck {
            pool: &engine.pool,
            values: &engine.values,
            system: &engine.system,
            rollback: &engine.rollback,
        }
    }

    /// What is wrong with the values that a row refers to; its snapshot keeps them where they are.
    pub(crate) fn check_values(
        &self,
        table: &Table,
        references: &[u8],
        faults: &mut Vec<String>,
    ) -> EngineResult<()> {
        for reference in references.as_chunks::<REFERENCE_BYTES>().0 {
            let Some(reference) = LobReference::decode(reference) else {
                faults.push("a reference to a long value does not make sense".to_owned());
                continue;
            };
            let (chunks, bytes) = count_chunks(self.pool, table.lob_tree()?, &reference)?;
            if bytes != Some(reference.length) {
                let LobReference { writer, sequence, length } = reference;
                faults.push(format!(
                    "value {sequence} of transaction {writer} has {chunks} chunks that are not its {length} bytes"
                ));
            }
        }
        Ok(())
    }

    /// Values of a table that no row refers to, no unfinished transaction has written, and nothing has noted as garbage.
    pub(crate) fn lost_values(&self, table: &Table, kill: &KillFlag) -> EngineResult<Vec<String>> {
        let Some(lobs) = &table.lobs else { return Ok(Vec::new()) };
        let (mut lost, mut lower) = (Vec::new(), Bound::Unbounded);
        loop {
            let mut sought = Sought::default();
            let more = self.next_values(lobs, &mut lower, &mut sought.ids, kill)?;
            sought.found = vec![false; sought.ids.len()];
            for look in 0..LOOKS {
                if sought.ids.is_empty() {
                    break;
                }
                if look > 0 {
                    // What is on its way from a row to a note, or back, gets there.
                    let clock = &self.pool.environment().clock;
                    env::blocking::region(|| clock.sleep(BETWEEN_LOOKS * 2u32.pow(look - 1)));
                    check_kill(kill)?;
                }
                self.look_in_rows(table, &mut sought, kill)?;
                self.look_in_notes(table, &mut sought)?;
                self.look_for_chunks(lobs, &mut sought)?;
                sought.drop_found();
            }
            let describe = |(writer, number)| format!("value {number} of transaction {writer} is nobody's");
            lost.extend(sought.ids.into_iter().map(describe));
            if !more {
                break;
            }
        }
        // A rollback forgets the note of a value before the row has it back: between them only its undo record knows of it, and a crash
        // or an error may be between them.
        if self.rollback.has_unfinished() {
            lost.clear();
        }
        Ok(lost)
    }

    /// The next values of finished transactions; false if these are the last.
    fn next_values(
        &self,
        tree: &Tree,
        lower: &mut Bound<Vec<u8>>,
        ids: &mut Vec<ValueId>,
        kill: &KillFlag,
    ) -> EngineResult<bool> {
        let range = CursorRange { lower: lower.clone(), upper: Bound::Unbounded };
        let mut cursor = Cursor::new(range, Direction::Forward);
        let mut last: Option<ValueId> = None;
        while let Some(result) = cursor.next_leaf(tree, self.pool, |leaf| {
            let mut read = || {
                let mut key = Vec::new();
                for at in 0..leaf.len() {
                    key.clear();
                    leaf.key_into(at, &mut key)?;
                    let id = parse_key(&key).ok_or_else(bad_header)?;
                    if last != Some(id) {
                        last = Some(id);
                        let is_settled = self.system.commits.state(id.0) != TransactionState::Active;
                        ids.extend(is_settled.then_some(id));
                    }
                }
                *lower = Bound::Excluded(key);
                Ok::<(), EngineError>(())
            };
            (Taken::All, read())
        })? {
            result?;
            check_kill(kill)?;
            if ids.len() >= VALUES_AT_ONCE {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks at all that the entries of a table refer to.
    fn look_in_rows(&self, table: &Table, sought: &mut Sought, kill: &KillFlag) -> EngineResult<()> {
        let index = table.clustered();
        let mut cursor = Cursor::new(CursorRange::all(), Direction::Forward);
        let mut rows: Vec<OwnedRow> = Vec::new();
        while let Some(result) = cursor.next_leaf(&index.tree, self.pool, |leaf| {
            let mut read = || {
                for at in 0..leaf.len() {
                    let entry = Entry::parse(EntryKind::Clustered, leaf.entry(at)?.1);
                    let entry = entry.ok_or_else(bad_header)?;
                    // What a mark took out of its row is noted, and may be gone already.
                    if !entry.deleted && !entry.form().is_whole() {
                        rows.push(entry.stored_row().to_owned());
                    }
                }
                Ok::<(), EngineError>(())
            };
            (Taken::All, read())
        })? {
            result?;
            check_kill(kill)?;
            for row in rows.drain(..) {
                self.note_references(table, row.as_stored(), sought)?;
            }
        }
        Ok(())
    }

    fn note_references(&self, table: &Table, row: StoredRow<'_>, sought: &mut Sought) -> EngineResult<()> {
        let mut references = Vec::new();
        if row.form.is_row_outside() {
            references.extend_from_slice(row.bytes);
        }
        // A row that stood outside and was replaced since then refers to nothing any more.
        if let Ok(whole) = self.values.row_with_references(table, row)? {
            references_of(&table.view(&whole)?, &mut references);
        }
        let found = references.as_chunks::<REFERENCE_BYTES>().0.iter().filter_map(LobReference::decode);
        found.for_each(|reference| sought.note((reference.writer, reference.sequence)));
        Ok(())
    }

    /// Of values that nobody knows any more, those that are gone are not looked for.
    fn look_for_chunks(&self, tree: &Tree, sought: &mut Sought) -> EngineResult<()> {
        for ((writer, sequence), found) in sought.ids.iter().zip(&mut sought.found) {
            let reference = LobReference { writer: *writer, sequence: *sequence, length: 0 };
            *found = *found || count_chunks(self.pool, tree, &reference)?.0 == 0;
        }
        Ok(())
    }

    /// Looks at what is noted as garbage of a table.
    fn look_in_notes(&self, table: &Table, sought: &mut Sought) -> EngineResult<()> {
        self.values.visit_garbage(&mut |index, reference| {
            if index == table.clustered().id() {
                sought.note((reference.writer, reference.sequence));
            }
        })
    }
}

/// How many chunks a value has, and their bytes if none is missing between them.
fn count_chunks(
    pool: &BufferPool,
    tree: &Tree,
    reference: &LobReference,
) -> EngineResult<(u32, Option<u64>)> {
    let (mut chunks, mut bytes) = (0u32, Some(0));
    let mut cursor = Cursor::new(chunks_of(reference), Direction::Forward);
    while let Some(result) = cursor.next_leaf(tree, pool, |leaf| {
        let mut read = || {
            let mut key = Vec::new();
            for at in 0..leaf.len() {
                key.clear();
                leaf.key_into(at, &mut key)?;
                let is_next = key.get(10..14) == Some(&chunks.to_be_bytes()[..]);
                let length = leaf.entry(at)?.1.len() as u64;
                bytes = bytes.filter(|_| is_next).map(|bytes| bytes + length);
                chunks += 1;
            }
            Ok::<(), EngineError>(())
        };
        (Taken::All, read())
    })? {
        result?;
        if env::blocking::is_interrupted() {
            return Err(EngineError::Killed);
        }
    }
    Ok((chunks, bytes))
}

fn chunks_of(reference: &LobReference) -> CursorRange {
    let first = [&reference.writer.0.to_be_bytes()[2..], &reference.sequence.to_be_bytes()].concat();
    let last = [&first[..], &[0xFF; 8]].concat();
    CursorRange { lower: Bound::Included(first), upper: Bound::Included(last) }
}

fn check_kill(kill: &KillFlag) -> EngineResult<()> {
    if kill.is_raised() { Err(EngineError::Killed) } else { Ok(()) }
}
