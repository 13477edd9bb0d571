//! Writing one index entry: lock, look, decide, change, log, remember. Main type: [`EntryChange`].
//! Each write is one mini-transaction on one leaf; its undo record rides in the same redo group (rule W1 in README.md).

use crate::inner::EngineInner;
use crate::transaction::{Conflict, Transaction};
use btree::{LeafEdit, Placed, Tree};
use buffer::MiniTransaction;
use engine_error::{EngineError, EngineResult};
use entry::{
    DELETED, Entry, EntryKind, StoredRow, UndoAddress, clustered_header, parse_entry, secondary_header,
};
use std::cell::Cell;
use std::sync::Arc;
use tables::{Index, Table};
use txn::locks::Request;
use txn::{Old, UndoRecord};
use undo::{Row, Writer};

thread_local! {
    /// Kept from one change to the next. One that begins within another has its own.
    static BUFFERS: Cell<WriteBuffers> = Cell::default();
}

/// Buffers for a change of an entry. None outgrows a group of the log by much.
#[derive(Debug, Default)]
struct WriteBuffers {
    old: Vec<u8>,
    new: Vec<u8>,
    log: Vec<u8>,
    jumps: Vec<u8>,
}

/// What shall become of an entry.
#[derive(Clone, Copy)]
pub(crate) enum Action<'a> {
    /// Nothing is written.
    Leave,
    /// The entry holds this row.
    Put(StoredRow<'a>),
    /// The entry holds the whole row that this appends.
    Write(&'a dyn Fn(&mut Vec<u8>)),
    /// The entry gets a delete mark.
    Mark,
}

/// An entry to change.
#[derive(Clone, Copy)]
pub(crate) struct EntryChange<'a> {
    pub(crate) tree: &'a Tree,
    /// Clustered entries are locked, and snapshots find their old values by the undo address.
    pub(crate) clustered: bool,
    pub(crate) key: &'a [u8],
    /// References of the long values that the change takes out of a row.
    pub(crate) dead: &'a [u8],
    /// The writer, if the table is a temporary one.
    pub(crate) temporary: Option<&'a Arc<Writer>>,
}

impl Transaction {
    /// Changes an entry as `decide` says, which is shown the present state with the row locked. It is called again
    /// after a wait or a split.
    pub(crate) fn change_entry<'a>(
        &self,
        change: EntryChange<'_>,
        decide: &mut dyn FnMut(Option<Entry<'_>>) -> EngineResult<Action<'a>>,
    ) -> EngineResult<()> {
        while self.try_change_entry(change, decide)? == Conflict::Wait {
            self.wait_for_lock()?;
        }
        Ok(())
    }

    /// As `change_entry`, but it does not wait: [`Conflict::Wait`] says that nothing was changed and that a request is queued.
    pub(crate) fn try_change_entry<'a>(
        &self,
        change: EntryChange<'_>,
        decide: &mut dyn FnMut(Option<Entry<'_>>) -> EngineResult<Action<'a>>,
    ) -> EngineResult<Conflict> {
        // Asked before anything is changed: a log without room for what was changed would have to stop (I4, I2).
        self.engine.pool.check_writable()?;
        let writer = self.writer_or(change.temporary)?;
        self.engine.undo.save_long_undo(writer)?;
        self.engine.bound_history();
        let mut buffers = BUFFERS.take();
        let result = self.change_with(writer, change, &mut buffers, decide);
        BUFFERS.set(buffers);
        result
    }

    fn change_with<'a>(
        &self,
        writer: &Arc<Writer>,
        change: EntryChange<'_>,
        buffers: &mut WriteBuffers,
        decide: &mut dyn FnMut(Option<Entry<'_>>) -> EngineResult<Action<'a>>,
    ) -> EngineResult<Conflict> {
        let pool = &self.engine.pool;
        let index = change.tree.id().index;
        loop {
            let mut mini = pool.mini_transaction();
            let edit = change.tree.edit(&mut mini, change.key)?;
            let kind = change.kind();
            let current = load_current(kind, &edit, &mut buffers.old)?;
            if change.clustered && self.lock_for_write(index, change.key, current)? == Conflict::Wait {
                return Ok(Conflict::Wait);
            }
            let is_entry = !change.clustered && current.is_some_and(|entry| !entry.deleted);
            if is_entry && self.lock_entry_for_write(index, change.key)? == Conflict::Wait {
                return Ok(Conflict::Wait);
            }
            let action = decide(current)?;
            if matches!(action, Action::Leave) {
                return Ok(Conflict::None);
            }
            // Who has taken a row away itself has it locked, and no read has looked past it.
            let is_new = current.is_none_or(|entry| entry.deleted && entry.writer != writer.id);
            let locks = &self.engine.system.locks;
            if is_new
                && !index.is_temporary()
                && locks.request_insert(&writer.owner, index, change.key) == Request::Queued
            {
                return Ok(Conflict::Wait);
            }
            buffers.new.clear();
            match kind {
                EntryKind::Clustered => append_clustered_header(writer, current, &action, &mut buffers.new)?,
                EntryKind::Secondary => {
                    buffers.new.extend_from_slice(&secondary_header(writer.id, is_mark(&action)))
                }
            }
            if place(edit, writer, current, &action, &mut buffers.new)? == Placed::NeedsRoom {
                drop(mini);
                change.tree.make_room(pool, change.key, buffers.new.len())?;
                continue;
            }
            finish_change(&self.engine, writer, mini, change, &action, buffers);
            if change.clustered && !index.is_temporary() {
                self.engine.system.locks.make_implicit(&writer.owner, index, change.key);
            }
            return Ok(Conflict::None);
        }
    }
}

impl<'a> EntryChange<'a> {
    /// The change of a row's clustered entry.
    pub(crate) fn clustered(table: &'a Table, key: &'a [u8]) -> EntryChange<'a> {
        let temporary = table.temporary.as_ref();
        EntryChange { tree: &table.clustered().tree, clustered: true, key, dead: &[], temporary }
    }

    /// The change of an entry of a secondary index.
    pub(crate) fn secondary(table: &'a Table, index: &'a Index, key: &'a [u8]) -> EntryChange<'a> {
        let temporary = table.temporary.as_ref();
        EntryChange { tree: &index.tree, clustered: false, key, dead: &[], temporary }
    }

    fn kind(&self) -> EntryKind {
        if self.clustered { EntryKind::Clustered } else { EntryKind::Secondary }
    }
}

/// Copies the present value out of the leaf and takes it apart.
fn load_current<'b>(
    kind: EntryKind,
    edit: &LeafEdit<'_, '_>,
    old: &'b mut Vec<u8>,
) -> EngineResult<Option<Entry<'b>>> {
    old.clear();
    let Some(value) = edit.value()? else { return Ok(None) };
    old.extend_from_slice(value);
    Ok(Some(parse_entry(kind, old)?))
}

fn is_mark(action: &Action<'_>) -> bool {
    matches!(action, Action::Mark)
}

/// Makes the header of a clustered entry's new state. It leads to the newest state by another writer: the undo record that is about
/// to be written if that is the present one, otherwise the record that the present state leads to. A row that is put
/// in the place of a mark of the same writer, whose record has no row, leads to its own record, which holds the row
/// and whose header leads on.
fn append_clustered_header(
    writer: &Writer,
    current: Option<Entry<'_>>,
    action: &Action<'_>,
    new: &mut Vec<u8>,
) -> EngineResult<()> {
    let mark = is_mark(action);
    let (mut flags, mut address) = (0, UndoAddress::default());
    if let Some(entry) = current {
        address = entry.undo_address();
        if entry.writer != writer.id || (address.head_only && !mark) {
            address = UndoAddress::of_position(writer.undo().list.len(), mark)?;
        }
        if mark {
            flags = DELETED | entry.row_flags();
        }
    }
    if let Action::Put(row) = action {
        flags = row.form.flags();
    }
    new.extend_from_slice(&clustered_header(writer.id, flags, address));
    Ok(())
}

/// Puts the new state into the leaf; `new` has its header.
fn place(
    mut edit: LeafEdit<'_, '_>,
    writer: &Writer,
    current: Option<Entry<'_>>,
    action: &Action<'_>,
    new: &mut Vec<u8>,
) -> EngineResult<Placed> {
    let id = writer.id.0;
    match (action, current) {
        (Action::Put(row), _) => {
            new.extend_from_slice(row.bytes);
            Ok(if edit.found() { edit.replace(new, id)? } else { edit.insert(new, id)? })
        }
        (Action::Write(write), Some(_)) => {
            write(new);
            Ok(edit.replace(new, id)?)
        }
        (Action::Mark, Some(_)) => {
            edit.patch(0, new, id)?;
            Ok(Placed::Done)
        }
        _ => Err(EngineError::RowNotFound),
    }
}

/// Logs a placed change with its undo record and commits the mini-transaction.
fn finish_change(
    engine: &EngineInner,
    writer: &Writer,
    mini: MiniTransaction<'_>,
    change: EntryChange<'_>,
    action: &Action<'_>,
    buffers: &mut WriteBuffers,
) {
    let WriteBuffers { old, log, jumps, .. } = buffers;
    let current = Entry::parse(change.kind(), old);
    let index = change.tree.id().index;
    // Nobody but its writer looks at a value that the writer itself replaces.
    let other = current.filter(|entry| change.clustered && entry.writer != writer.id);
    let tombstone = is_mark(action);
    let whole = match current {
        None => Old::Absent,
        Some(_) => Old::Value(old),
    };
    let logged = UndoRecord {
        index,
        key: change.key,
        old: match whole {
            Old::Value(old) if tombstone => Old::Head(&old[..change.kind().header_bytes()]),
            whole => whole,
        },
        version: other.is_some(),
        tombstone,
        dead: change.dead,
        jumps: &[],
    };
    let listed = match other.filter(|entry| entry.writer >= engine.system.commits.watermark()) {
        None => logged,
        // There may be snapshots that do not see the old value's writer either. What they jump to is a whole value.
        Some(entry) => {
            jumps.clear();
            let record = |id, position| engine.system.undo_record(id, position);
            if let Some(made) = (Row { index, key: change.key }).jumps_over(entry, &record) {
                made.encode(jumps);
            }
            UndoRecord { old: whole, jumps, ..logged }
        }
    };
    engine.undo.commit_with_listed(writer, mini, logged, listed, log, 1);
}
