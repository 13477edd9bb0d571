//! The dictionary on disk: one tree in the system tablespace. Main type: [`DictionaryStore`].
//! Definitions are written by transactions (DDL is atomic over a crash); limits of ids and counters are written at once, because
//! what they promise must hold even if the transaction that needed them rolls back.
//!
//! | key | value behind the entry header |
//! |---|---|
//! | 1, schema name | schema definition |
//! | 2, table id (8 bytes, big-endian) | space u32, number of trees u16, with bit 15 set: store id u64 follows; (index id u64, root u32) each, definition |
//! | 3, "table" / "index" / "space" / "transaction" | first id not given yet, u64 |
//! | 4, table id | first AUTO_INCREMENT value that was not handed out, u64 |
//! | 5, table id | statistics |
//! | 6, space (4 bytes, big-endian) | nothing: an ALTER may have left pages in the space that belong to no index |
//! | 7, space (4 bytes, big-endian) | nothing: a file of the space that no table has is a leftover of ours, and may be removed |
//! | 8, space and page (4 bytes each, big-endian) | LSN that the page must have, u64; why recovery has passed over its changes, text |
//! | 9, table id | nothing: keys of the table's indexes may have been cut (rule K2 in the engine's README) |
//! | 10, table id | nothing: a stop has left delete marks in the table that purge had not removed (rule R12 there) |
//! | 11, schema name, 0, name | view definition |
//!
//! Entries of kinds 1, 2, 5 and 11 may be long: each stands in parts of 5,000 bytes, whose keys end with the part's number (2 bytes,
//! big-endian).

use crate::{DamageMark, StoredStatistics, TableRecord};
use btree::{Cursor, CursorRange, Direction, Taken, Tree};
use buffer::BufferPool;
use dictionary::{ConstraintNames, SchemaDefinition, TableName, ViewDefinition};
use engine_error::{EngineError, EngineResult};
use entry::{Entry, EntryKind, SECONDARY_HEADER_BYTES, secondary_header};
use std::ops::Bound;
use std::sync::{Arc, Mutex};
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId, TableId, TransactionId};
use stdx::sync::lock;

/// Leading byte of each kind of key.
const SCHEMA: u8 = 1;
const TABLE: u8 = 2;
const IDS: u8 = 3;
const AUTO_INCREMENT: u8 = 4;
const STATISTICS: u8 = 5;
const UNFINISHED: u8 = 6;
const LEFTOVER: u8 = 7;
const DAMAGE: u8 = 8;
const CUT_KEYS: u8 = 9;
const DELETE_MARKS: u8 = 10;
const VIEW: u8 = 11;

/// Gets key and value of an entry.
type VisitEntry<'a> = dyn FnMut(&[u8], &[u8]) -> EngineResult<()> + 'a;

/// The dictionary tree.
#[derive(Debug)]
pub struct DictionaryStore {
    /// The tree.
    pub tree: Arc<Tree>,
    /// Held while ids are taken: not all who do have the turn to change the dictionary.
    taking_ids: Mutex<()>,
}

/// A table that a start has found, with what the dictionary knows of it besides.
#[derive(Debug)]
pub struct LoadedTable {
    /// Its id.
    pub id: TableId,
    /// Its name.
    pub name: TableName,
    /// The space of its file.
    pub space: SpaceId,
    /// As the header of the file has it.
    pub store_id: u64,
    /// All of it, as [`TableRecord::encode`] writes it: it can be decoded.
    pub record: Vec<u8>,
    /// The AUTO_INCREMENT value that comes next.
    pub next_auto_increment: u64,
    /// What other tables have to do with its constraints.
    pub constraints: ConstraintNames,
    /// What is known of its keys.
    pub statistics: Option<StoredStatistics>,
    /// Keys of its indexes may have been cut.
    pub cut_keys: bool,
    /// It may hold delete marks that nobody needs.
    pub delete_marks: bool,
}

/// Everything that is committed in the dictionary.
#[derive(Debug, Default)]
pub struct Contents {
    /// Databases.
    pub schemas: Vec<SchemaDefinition>,
    /// By id.
    pub tables: Vec<LoadedTable>,
    /// By schema and name.
    pub views: Vec<ViewDefinition>,
    /// Spaces in which an ALTER was at work.
    pub unfinished: Vec<SpaceId>,
    /// Spaces that were being made or dropped.
    pub leftovers: Vec<SpaceId>,
    /// What the files of closed tables lack.
    pub damage: Vec<DamageMark>,
}

impl DictionaryStore {
    /// The dictionary in a tree.
    pub fn new(tree: Tree) -> DictionaryStore {
        DictionaryStore { tree: Arc::new(tree), taking_ids: Mutex::default() }
    }

    /// The key of a database.
    pub fn schema_key(name: &str) -> Vec<u8> {
        [&[SCHEMA], name.as_bytes()].concat()
    }

    /// The key of a table.
    pub fn table_key(id: TableId) -> Vec<u8> {
        [&[TABLE][..], &id.0.to_be_bytes()].concat()
    }

    /// The key of a view.
    pub fn view_key(name: &TableName) -> Vec<u8> {
        [&[VIEW], name.schema.as_bytes(), &[0], name.table.as_bytes()].concat()
    }

    /// Below the number there, AUTO_INCREMENT values may have been handed out.
    pub fn auto_increment_key(id: TableId) -> Vec<u8> {
        [&[AUTO_INCREMENT][..], &id.0.to_be_bytes()].concat()
    }

    /// Takes `count` ids of that kind ("table", "index", "space") for good.
    pub fn take_ids(&self, pool: &BufferPool, kind: &str, count: u64) -> EngineResult<u64> {
        let key = [&[IDS], kind.as_bytes()].concat();
        let _one_at_a_time = lock(&self.taking_ids);
        let first = self.get_number(pool, &key)?.unwrap_or(FIRST_ID);
        self.put_now(pool, &key, &(first + count).to_le_bytes())?;
        Ok(first)
    }

    /// The first transaction id that may not have been given before.
    pub fn id_limit(&self, pool: &BufferPool) -> EngineResult<TransactionId> {
        let key = [&[IDS], &b"transaction"[..]].concat();
        Ok(TransactionId(self.get_number(pool, &key)?.unwrap_or(1)))
    }

    /// Raises that limit.
    pub fn put_id_limit(&self, pool: &BufferPool, limit: TransactionId) -> EngineResult<()> {
        let key = [&[IDS], &b"transaction"[..]].concat();
        self.put_now(pool, &key, &limit.0.to_le_bytes()).map(|_| ())
    }

    /// Stores that AUTO_INCREMENT values below `limit` may have been handed out.
    pub fn put_auto_increment(&self, pool: &BufferPool, table: TableId, limit: u64) -> EngineResult<Lsn> {
        self.put_now(pool, &DictionaryStore::auto_increment_key(table), &limit.to_le_bytes())
    }

    /// What is known of the keys of a table's indexes.
    pub fn statistics_key(table: TableId) -> Vec<u8> {
        [&[STATISTICS][..], &table.0.to_be_bytes()].concat()
    }

    /// Removes what is kept about a table beside its definition. After a drop; a crash before it leaves a few bytes.
    pub fn forget_table(&self, pool: &BufferPool, table: TableId) -> EngineResult<()> {
        self.tree.remove(pool, &DictionaryStore::auto_increment_key(table))?;
        self.tree.remove(pool, &cut_keys_key(table))?;
        self.remove_delete_marks(pool, table)?;
        let key = DictionaryStore::statistics_key(table);
        for part in 0..=u16::MAX {
            if !self.tree.remove(pool, &part_key(&key, part))? {
                break;
            }
        }
        Ok(())
    }

    /// Notes that keys of a table's indexes may have been cut.
    pub fn put_cut_keys(&self, pool: &BufferPool, table: TableId) -> EngineResult<()> {
        self.put_now(pool, &cut_keys_key(table), &[]).map(|_| ())
    }

    /// Whether that is noted.
    pub fn has_cut_keys(&self, pool: &BufferPool, table: TableId) -> EngineResult<bool> {
        Ok(self.tree.get(pool, &cut_keys_key(table), |_| ())?.is_some())
    }

    /// Notes that a table may hold delete marks that nobody needs.
    pub fn put_delete_marks(&self, pool: &BufferPool, table: TableId) -> EngineResult<()> {
        self.put_now(pool, &delete_marks_key(table), &[]).map(|_| ())
    }

    /// Takes that note back.
    pub fn remove_delete_marks(&self, pool: &BufferPool, table: TableId) -> EngineResult<()> {
        self.tree.remove(pool, &delete_marks_key(table))?;
        Ok(())
    }

    /// Notes that an index is about to be built or freed in a space: after a crash its pages are accounted for.
    pub fn put_unfinished(&self, pool: &BufferPool, space: SpaceId) -> EngineResult<()> {
        self.put_now(pool, &[&[UNFINISHED][..], &space.0.to_be_bytes()].concat(), &[]).map(|_| ())
    }

    /// Takes that note back.
    pub fn remove_unfinished(&self, pool: &BufferPool, space: SpaceId) -> EngineResult<()> {
        self.tree.remove(pool, &[&[UNFINISHED][..], &space.0.to_be_bytes()].concat())?;
        Ok(())
    }

    /// Notes that a space is about to be made or dropped: if a start finds its file and no table for it, the file is ours
    /// to remove. Must be in the log before the file is made, and before the commit that drops its table.
    pub fn put_leftover(&self, pool: &BufferPool, space: SpaceId) -> EngineResult<()> {
        self.put_now(pool, &[&[LEFTOVER][..], &space.0.to_be_bytes()].concat(), &[]).map(|_| ())
    }

    /// Takes that note back: the table is committed, or the file is gone.
    pub fn remove_leftover(&self, pool: &BufferPool, space: SpaceId) -> EngineResult<()> {
        self.tree.remove(pool, &[&[LEFTOVER][..], &space.0.to_be_bytes()].concat())?;
        Ok(())
    }

    /// Notes what a file lacks: its table is closed until the file has it.
    pub fn put_damage(&self, pool: &BufferPool, mark: &DamageMark) -> EngineResult<Lsn> {
        let content = [&mark.needed.0.to_le_bytes()[..], mark.reason.as_bytes()].concat();
        self.put_now(pool, &damage_key(mark.page), &content)
    }

    /// Takes all such notes of a space back.
    pub fn forget_damage(&self, pool: &BufferPool, space: SpaceId) -> EngineResult<()> {
        let first = damage_key(PageId { space, number: PageNumber(0) });
        let last = damage_key(PageId { space, number: PageNumber(u32::MAX) });
        let range = CursorRange { lower: Bound::Included(first), upper: Bound::Included(last) };
        for (key, _) in self.read(pool, range)? {
            self.tree.remove(pool, &key)?;
        }
        Ok(())
    }

    /// Reads the whole dictionary. At start, when every entry is committed.
    pub fn load(&self, pool: &BufferPool) -> EngineResult<Contents> {
        let mut contents = Contents::default();
        let mut whole: Option<(Vec<u8>, Vec<u8>)> = None;
        self.visit(pool, CursorRange::all(), &mut |key, value| {
            let entry = Entry::parse(EntryKind::Secondary, value).ok_or_else(corrupt)?;
            if entry.deleted {
                return Ok(());
            }
            match (&mut whole, part_of(key)) {
                (_, None) => {
                    // What stands in parts before it may be what it is about.
                    contents.add_whole(whole.take())?;
                    contents.add(key, entry.row).ok_or_else(corrupt)?
                }
                (Some((name, bytes)), Some((of, part))) if part > 0 && of == name => {
                    bytes.extend_from_slice(entry.row)
                }
                (_, Some((of, 0))) => {
                    let next = (of.to_vec(), entry.row.to_vec());
                    contents.add_whole(whole.replace(next))?;
                }
                _ => return Err(corrupt()),
            }
            Ok(())
        })?;
        contents.add_whole(whole)?;
        Ok(contents)
    }

    fn read(&self, pool: &BufferPool, range: CursorRange) -> EngineResult<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut entries = Vec::new();
        self.visit(pool, range, &mut |key, value| {
            entries.push((key.to_vec(), value.to_vec()));
            Ok(())
        })?;
        Ok(entries)
    }

    /// Shows key and value of every entry, under its leaf's latch: `visit` must not call the pool.
    fn visit(&self, pool: &BufferPool, range: CursorRange, visit: &mut VisitEntry<'_>) -> EngineResult<()> {
        let mut cursor = Cursor::new(range, Direction::Forward);
        let mut key = Vec::new();
        while let Some(result) = cursor.next_leaf(&self.tree, pool, |leaf| {
            let mut show = || {
                for at in 0..leaf.len() {
                    key.clear();
                    leaf.key_into(at, &mut key)?;
                    visit(&key, leaf.entry(at)?.1)?;
                }
                Ok::<(), EngineError>(())
            };
            (Taken::All, show())
        })? {
            result?;
        }
        Ok(())
    }

    fn get_number(&self, pool: &BufferPool, key: &[u8]) -> EngineResult<Option<u64>> {
        let number =
            self.tree.get(pool, key, |value| value.get(SECONDARY_HEADER_BYTES..).and_then(number))?;
        Ok(number.flatten())
    }

    /// Writes an entry outside of any transaction: it is committed with its redo group.
    fn put_now(&self, pool: &BufferPool, key: &[u8], content: &[u8]) -> EngineResult<Lsn> {
        let mut value = secondary_header(TransactionId(0), false).to_vec();
        value.extend_from_slice(content);
        Ok(self.tree.put(pool, key, &value)?)
    }
}

/// Ids below this are the system's own.
const FIRST_ID: u64 = 16;

/// Bytes of a part of an entry that may be long.
const PART_BYTES: usize = 5000;

/// The key of a part of an entry that may be long.
pub fn part_key(key: &[u8], part: u16) -> Vec<u8> {
    [key, &part.to_be_bytes()].concat()
}

/// The parts of an entry that may be long; one at least. None if there are too many.
pub fn parts_of<'a>(key: &[u8], bytes: &'a [u8]) -> Option<Vec<(Vec<u8>, &'a [u8])>> {
    let count = u16::try_from(bytes.len().div_ceil(PART_BYTES).max(1)).ok()?;
    let part = |part: u16| {
        let start = usize::from(part) * PART_BYTES;
        (part_key(key, part), &bytes[start..bytes.len().min(start + PART_BYTES)])
    };
    Some((0..count).map(part).collect())
}

/// Whether an entry may be long: then it stands in parts.
pub fn has_parts(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(SCHEMA | TABLE | STATISTICS | VIEW)))
}

/// Of the key of a part: the whole's key, and the part's number.
fn part_of(key: &[u8]) -> Option<(&[u8], u16)> {
    let (whole, part) = key.split_last_chunk::<2>()?;
    has_parts(key).then_some((whole, u16::from_be_bytes(*part)))
}

fn corrupt() -> EngineError {
    EngineError::Corrupt("data dictionary entry".to_owned())
}

impl Contents {
    /// The table of that id, which stands before what else is kept about it.
    fn table(&mut self, id: u64) -> Option<&mut LoadedTable> {
        let at = self.tables.binary_search_by_key(&id, |table| table.id.0).ok()?;
        self.tables.get_mut(at)
    }

    fn add_whole(&mut self, whole: Option<(Vec<u8>, Vec<u8>)>) -> EngineResult<()> {
        match whole {
            Some((key, bytes)) => self.add(&key, &bytes).ok_or_else(corrupt),
            None => Ok(()),
        }
    }

    fn add(&mut self, key: &[u8], content: &[u8]) -> Option<()> {
        let (kind, rest) = key.split_first()?;
        match *kind {
            SCHEMA => self.schemas.push(dictionary::decode_schema(content).ok()?),
            TABLE => self.tables.push(LoadedTable::decode(content)?),
            AUTO_INCREMENT => {
                let next = number(content)?;
                if let Some(table) = self.table(big_endian(rest)?) {
                    // ALTER TABLE .. AUTO_INCREMENT writes the definition alone.
                    table.next_auto_increment = table.next_auto_increment.max(next);
                }
            }
            STATISTICS => {
                if let Some(table) = self.table(big_endian(rest)?) {
                    table.statistics = StoredStatistics::decode(content);
                }
            }
            UNFINISHED => self.unfinished.push(SpaceId(u32::from_be_bytes(rest.try_into().ok()?))),
            LEFTOVER => self.leftovers.push(SpaceId(u32::from_be_bytes(rest.try_into().ok()?))),
            DAMAGE => self.damage.push(DamageMark::decode(rest, content)?),
            CUT_KEYS => {
                if let Some(table) = self.table(big_endian(rest)?) {
                    table.cut_keys = true;
                }
            }
            DELETE_MARKS => {
                if let Some(table) = self.table(big_endian(rest)?) {
                    table.delete_marks = true;
                }
            }
            VIEW => self.views.push(dictionary::decode_view(content).ok()?),
            IDS => {}
            _ => return None,
        }
        Some(())
    }
}

impl LoadedTable {
    fn decode(bytes: &[u8]) -> Option<LoadedTable> {
        let record = TableRecord::decode(bytes)?;
        Some(LoadedTable {
            id: record.definition.id,
            next_auto_increment: record.definition.options.auto_increment.unwrap_or(1).max(1),
            constraints: ConstraintNames::of(&record.definition),
            name: record.definition.name,
            space: record.space,
            store_id: record.store_id,
            record: bytes.to_vec(),
            statistics: None,
            cut_keys: false,
            delete_marks: false,
        })
    }
}

fn cut_keys_key(table: TableId) -> Vec<u8> {
    [&[CUT_KEYS][..], &table.0.to_be_bytes()].concat()
}

fn delete_marks_key(table: TableId) -> Vec<u8> {
    [&[DELETE_MARKS][..], &table.0.to_be_bytes()].concat()
}

fn damage_key(page: PageId) -> Vec<u8> {
    [&[DAMAGE][..], &page.space.0.to_be_bytes(), &page.number.0.to_be_bytes()].concat()
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn big_endian(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
