//! Whether a row has a unique key: the live entries of a secondary index, and the marks of rows that have left it, that begin with
//! the key. Main function: [`RowWriter::look_up_unique`].

use super::insert::RowWriter;
use crate::read::WaitPolicy;
use crate::transaction::Conflict;
use btree::{Cursor, CursorRange, Direction, LeafView, Taken};
use engine_error::EngineResult;
use entry::parse_head;
use std::ops::Bound;
use tables::Index;
use txn::locks::LockMode;

/// What a look at a unique key finds.
pub(super) enum Unique {
    /// Nobody has it.
    Free,
    /// The row with that clustered key has it.
    Taken(Vec<u8>),
    /// An unfinished transaction has put it there or taken it away: a lock request is queued.
    Wait,
}

/// What a walk over the entries of one leaf has come to.
enum Met {
    /// Marks alone: the walk goes on.
    Marks,
    /// An entry whose writer has ended meanwhile: it is looked at once more.
    Again,
    /// An entry of another key.
    Behind,
    Taken(Vec<u8>),
    Wait,
}

impl RowWriter<'_> {
    /// Looks whether a live entry begins with that key. Unfinished writers of such entries are waited for.
    pub(super) fn look_up_unique(&self, index: &Index, own_key: &[u8]) -> EngineResult<Unique> {
        if !self.begins_an_entry(index, own_key)? {
            return Ok(Unique::Free);
        }
        let range = CursorRange { lower: Bound::Included(own_key.to_vec()), upper: Bound::Unbounded };
        let mut cursor = Cursor::new(range, Direction::Forward);
        let mut key = Vec::new();
        // An old snapshot keeps as many marks as the key has had rows since.
        while let Some(met) =
            cursor.next_leaf(&index.tree, &self.transaction.engine.pool, |leaf| {
                match self.meet_entries(index, own_key, leaf, &mut key) {
                    Ok((taken, met)) => (taken, Ok(met)),
                    Err(error) => (Taken::All, Err(error)),
                }
            })?
        {
            match met? {
                Met::Marks | Met::Again => self.transaction.check_kill()?,
                Met::Behind => break,
                Met::Wait => return Ok(Unique::Wait),
                Met::Taken(existing) => {
                    self.transaction.close_unique_gap(index, own_key, true)?;
                    return Ok(Unique::Taken(existing));
                }
            }
        }
        self.transaction.close_unique_gap(index, own_key, false)?;
        Ok(Unique::Free)
    }

    /// Whether there is an entry, live or not, that begins with the key: seldom, so that it is asked first.
    fn begins_an_entry(&self, index: &Index, own_key: &[u8]) -> EngineResult<bool> {
        let mut next = Vec::new();
        let mut mini = self.transaction.engine.pool.mini_transaction();
        let edit = index.tree.edit(&mut mini, own_key)?;
        Ok(edit.successor(&mut next)? && next.starts_with(own_key))
    }

    /// Passes the marks that a leaf holds, up to an entry of another kind.
    fn meet_entries(
        &self,
        index: &Index,
        own_key: &[u8],
        leaf: &LeafView<'_>,
        key: &mut Vec<u8>,
    ) -> EngineResult<(Taken, Met)> {
        for at in 0..leaf.len() {
            key.clear();
            leaf.key_into(at, key)?;
            if !key.starts_with(own_key) {
                return Ok((Taken::All, Met::Behind));
            }
            let clustered_key = index.clustered_key(key)?;
            let entry = parse_head(leaf.entry(at)?.1)?;
            if Some(entry.writer) != self.transaction.id()
                && let Some(writer) = self.transaction.engine.system.unfinished_writer(entry.writer)?
            {
                // The writer has the row's clustered entry locked. This is not under that entry's latch: only a lock that is
                // waited for behind the writer is safe from other writers, and none is asked for once it ended.
                let conflict = self.transaction.request_lock(
                    self.table.clustered().id(),
                    clustered_key,
                    LockMode::SHARED_RECORD,
                    Some(&writer),
                    WaitPolicy::Wait,
                )?;
                match conflict {
                    Some(Conflict::Wait | Conflict::Skip) => return Ok((Taken::First(at), Met::Wait)),
                    Some(Conflict::None) => {}
                    None => return Ok((Taken::First(at), Met::Again)),
                }
            } else {
                self.transaction.note_seen(entry.writer);
            }
            if !entry.deleted {
                return Ok((Taken::First(at), Met::Taken(clustered_key.to_vec())));
            }
        }
        Ok((Taken::All, Met::Marks))
    }
}
