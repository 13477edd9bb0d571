//! Opening and closing: recovery of pages (by the pool), of transactions and of the dictionary. See rules R1 to R5 in README.md.

mod forced;
mod start_times;
mod table_files;
mod threads;

use crate::engine::{EndOfThreads, Engine};
use crate::inner::{EngineInner, Found};
use crate::lob::GarbageNotes;
use btree::{Tree, TreeId};
use buffer::{BufferPool, FileFault, SpaceKind, StorageError};
use dictionary_store::{Contents, DICTIONARY_INDEX, DictionaryStore, SYSTEM_SPACE};
use engine_error::{EngineError, EngineResult};
use engine_types::{EngineOptions, ForceRecovery};
use entry::is_live;
use env::Environment;
use forced::{FIRST_ID_WITHOUT_LOG, OpenedPool, open_pool};
use start_times::StartTimes;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stdx::ids::{IndexId, PageId, PageNumber, TransactionId};
use stdx::sync::lock;
use table_files::{KnownTable, Reconciliation};
use tables::TableEntry;
use threads::start_threads;
use undo::{LogNeeds, Losers, UndoStore};

const SYSTEM_FILE: &str = "iruka_system.ibd";
const DICTIONARY_ROOT: PageNumber = PageNumber(1);
const UNDO_INDEX: IndexId = IndexId(2);
const UNDO_ROOT: PageNumber = PageNumber(2);
const GARBAGE_INDEX: IndexId = IndexId(3);
const GARBAGE_ROOT: PageNumber = PageNumber(3);
/// In the order in which they are made.
const ROOTS: [(IndexId, PageNumber, &str); 3] = [
    (DICTIONARY_INDEX, DICTIONARY_ROOT, "the data dictionary"),
    (UNDO_INDEX, UNDO_ROOT, "the undo tree"),
    (GARBAGE_INDEX, GARBAGE_ROOT, "the tree of long values to be removed"),
];

impl Engine {
    /// Opens the data directory that the environment's disk is rooted at, or makes a new one. Recovers after a crash: pages first, then
    /// unfinished DDL is rolled back, then files and dictionary are brought together. Ready for use on return; other
    /// unfinished transactions are rolled back in the background.
    pub fn open(environment: Environment, options: EngineOptions) -> EngineResult<Engine> {
        let opened = open_pool(environment, &options)?;
        let pool = Arc::clone(&opened.pool);
        let opened = Engine::open_over(opened, options);
        opened.map_err(|error| match error {
            EngineError::Stopped => pool.name_failure(StorageError::Stopped).into(),
            EngineError::Corrupt(text) => {
                let pages = pool.take_damage_messages();
                EngineError::Corrupt([&[text][..], &pages].concat().join(". "))
            }
            other => other,
        })
    }

    /// Warnings for the error log, of the start and since: files without a table, tables without a file, damaged pages. Empties
    /// the list.
    pub fn take_messages(&self) -> Vec<String> {
        let mut messages = std::mem::take(&mut *lock(&self.inner.shared.messages));
        messages.append(&mut self.inner.pool.take_damage_messages());
        messages
    }

    /// What the error log says of a start without being odd. Empties the list.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.inner.shared.notes))
    }

    fn open_over(opened: OpenedPool, options: EngineOptions) -> EngineResult<Engine> {
        let OpenedPool { pool, environment, mut losers, is_read_only, messages } = opened;
        let clock = Arc::clone(&environment.clock);
        let pool_opened = clock.monotonic();
        environment.remove_temporary_leftovers().map_err(StorageError::from)?;
        let without_log = options.force_recovery == ForceRecovery::WithoutLog;
        create_system_space(&pool, without_log)?;
        check_system_pages(&pool)?;
        let tree = |index, root, live| Tree::open(TreeId { space: SYSTEM_SPACE, root, index }, live);
        let store = DictionaryStore::new(tree(DICTIONARY_INDEX, DICTIONARY_ROOT, is_live));
        let undo_store = UndoStore::new(tree(UNDO_INDEX, UNDO_ROOT, |_| true));
        let garbage = GarbageNotes::new(tree(GARBAGE_INDEX, GARBAGE_ROOT, |_| true));
        let next_id = if without_log {
            store.tree.skip_damage();
            FIRST_ID_WITHOUT_LOG
        } else {
            losers.complete(&pool, &undo_store)?;
            store.id_limit(&pool)?.max(TransactionId(losers.greatest.0 + 1))
        };
        let background_threads = options.background_threads && !is_read_only;
        let unfinished = losers.ids();
        let found = Found {
            environment,
            pool,
            options,
            store,
            undo_store,
            garbage,
            next_id,
            unfinished,
            is_read_only,
            spill_file: losers.spill_file.clone(),
        };
        let inner = Arc::new(EngineInner::assemble(found));
        lock(&inner.shared.messages).extend(messages);
        let undo = clock.monotonic().saturating_sub(pool_opened);
        let tables = recover(&inner, losers)?;
        let all = clock.monotonic().saturating_sub(pool_opened);
        let dictionary = all.saturating_sub(undo + tables);
        let times = StartTimes { pool: inner.pool.recovery_report(), undo, dictionary, tables };
        lock(&inner.shared.notes).extend(times.notes());
        // On a full disk there is none, until there is room.
        let _ = inner.pool.refill_reserve();
        let engine = Engine { _threads: Arc::new(EndOfThreads(Arc::clone(&inner))), inner };
        if background_threads {
            start_threads(&engine.inner);
        }
        Ok(engine)
    }

    /// Ends background work, writes everything and closes the files. Transactions must have ended: unfinished ones are rolled back by
    /// the next start. Old rows are not purged, for that may take long: the tables are noted, and the next start removes what is left.
    pub fn shutdown(&self) -> EngineResult<()> {
        let inner = &self.inner;
        if inner.shared.stopped.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        inner.background.stop();
        if inner.shared.settings.is_read_only {
            return Ok(());
        }
        // The next start would undo transactions that have ended, of which the undo tree still has something and the log no end.
        let _ = inner.undo.discard_finished();
        // What cannot be noted (a damaged page, a full disk) is no reason not to write the rest.
        let _ = inner.sweep.note_marked_tables(&inner.purge);
        for entry in inner.tables.dictionary.entries() {
            inner.tables.store_exact_counter(&entry)?;
        }
        inner.pool.shutdown()?;
        Ok(())
    }
}

/// Makes what is missing of the system tablespace: all of it in a new directory, the rest after a crash in between. A directory is
/// new while nothing was ever logged, for the first thing that is logged is the dictionary's root. What is missing of any other
/// directory was lost, and to make it anew would lose the rest.
fn create_system_space(pool: &BufferPool, without_log: bool) -> EngineResult<()> {
    let spaces = pool.spaces();
    let is_new = pool.is_new();
    if !spaces.iter().any(|(space, _)| *space == SYSTEM_SPACE) {
        match pool.damaged_files().into_iter().find(|(path, _)| path == Path::new(SYSTEM_FILE)) {
            Some((_, FileFault::Unreadable(reason))) => return Err(EngineError::Io(reason)),
            Some((_, FileFault::Damaged)) => {
                return Err(EngineError::Corrupt(format!(
                    "the header of '{SYSTEM_FILE}' is damaged: put the file back as it was"
                )));
            }
            Some((_, FileFault::Foreign)) => {
                return Err(EngineError::Corrupt(format!(
                    "'{SYSTEM_FILE}' and the redo log are not of one server, or the file is of a newer one: put the one back that \
                     was here before"
                )));
            }
            None => {}
        }
        let sign = match spaces.first() {
            Some((_, path)) => Some(format!("'{}'", path.display())),
            None if !is_new => Some("the redo log".to_owned()),
            None => None,
        };
        if let Some(sign) = sign {
            return Err(EngineError::Corrupt(format!(
                "'{SYSTEM_FILE}' is missing, but {sign} shows that the data directory was in use: put the file back"
            )));
        }
        pool.create_space(SYSTEM_SPACE, SpaceKind::System, Path::new(SYSTEM_FILE))?;
    } else if is_new {
        // From now on the log says that there must be such a file.
        pool.sync_names_in(Path::new(""))?;
    }
    for (index, root, what) in ROOTS {
        if was_made(pool, root)? {
            check_root(pool, index, root, what, without_log)?;
            continue;
        }
        if !is_new && index == DICTIONARY_INDEX {
            return Err(root_damaged(what, root));
        }
        let mut mini = pool.mini_transaction();
        Tree::create(&mut mini, SYSTEM_SPACE, index)?;
        let lsn = mini.commit();
        pool.redo().flush_to(lsn)?;
    }
    // What was not there yet is no damage.
    pool.take_damage_messages();
    Ok(())
}

/// Whether a root page of the system tablespace was ever given away: they are the first pages that are.
fn was_made(pool: &BufferPool, root: PageNumber) -> EngineResult<bool> {
    let page = PageId { space: SYSTEM_SPACE, number: PageNumber(0) };
    let header = pool.shared(page)?;
    let header = page::SpaceHeaderRef::new(&header).map_err(|error| StorageError::corrupt(page, error))?;
    Ok(header.used_pages() > root.0)
}

/// Without the log nothing is undone or purged, so only the dictionary is needed.
fn check_root(
    pool: &BufferPool,
    index: IndexId,
    root: PageNumber,
    what: &str,
    without_log: bool,
) -> EngineResult<()> {
    let page = pool.shared(PageId { space: SYSTEM_SPACE, number: root });
    let is_root = match page {
        Ok(bytes) => page::NodeRef::new(&bytes).is_ok_and(|node| node.index() == index),
        Err(error) if error.damage().is_some() => false,
        Err(error) => return Err(error.into()),
    };
    if is_root || (without_log && index != DICTIONARY_INDEX) { Ok(()) } else { Err(root_damaged(what, root)) }
}

fn root_damaged(what: &str, root: PageNumber) -> EngineError {
    EngineError::Corrupt(format!("the root of {what} (page {root} of '{SYSTEM_FILE}') is damaged"))
}

/// Dictionary and undo say what is true of all tables: without a page of them nothing can be served.
fn check_system_pages(pool: &BufferPool) -> EngineResult<()> {
    let passed_over = pool.passed_over_pages();
    let damaged = passed_over.iter().filter(|page| page.page.space == SYSTEM_SPACE);
    let texts: Vec<String> =
        damaged.filter_map(|page| Some(pool.describe(page.page, page.reason?))).collect();
    if texts.is_empty() { Ok(()) } else { Err(EngineError::Corrupt(texts.join(" "))) }
}

/// Rolls back what the crash left unfinished in the dictionary and loads it. Gives the time since then: that of files and tables.
fn recover(inner: &EngineInner, losers: Losers) -> EngineResult<Duration> {
    let writers = inner.rollback.register_losers(losers);
    inner.rollback.roll_back_dictionary(writers)?;
    let contents = inner.tables.store.load(&inner.pool)?;
    let clock = Arc::clone(&inner.pool.environment().clock);
    let loaded = clock.monotonic();
    let (unfinished, leftovers) = (contents.unfinished.clone(), contents.leftovers.clone());
    // Checkpoints move only now: what a file lacks of the log is not given up before it is noted, or known to be nobody's.
    if know_tables(inner, contents)? {
        let saver = inner.background.undo.clone();
        let has_thread = inner.shared.settings.has_threads;
        let needs = LogNeeds::new(&inner.undo, Box::new(move || saver.wake()), has_thread);
        inner.pool.set_checkpoint_participant(Arc::new(needs));
    }
    inner.rollback.end_losers_of_nothing();
    files(inner).name_missing_files()?;
    if inner.shared.settings.is_read_only {
        return Ok(clock.monotonic().saturating_sub(loaded));
    }
    for space in unfinished {
        inner.tables.finish_alter(space)?;
    }
    inner.tables.forget_leftovers(&leftovers)?;
    inner.pool.redo().flush_to(inner.pool.redo().end_lsn())?;
    Ok(clock.monotonic().saturating_sub(loaded))
}

/// Makes schemas and tables known. False if the log must be kept.
fn know_tables(inner: &EngineInner, contents: Contents) -> EngineResult<bool> {
    for schema in contents.schemas {
        inner.tables.dictionary.put_schema(schema);
    }
    inner.tables.dictionary.views.replace(&[], contents.views);
    let mut tables = Vec::with_capacity(contents.tables.len());
    for mut loaded in contents.tables {
        let entry = Arc::new(TableEntry::loaded(&mut loaded));
        if loaded.delete_marks {
            inner.sweep.add(loaded.id, entry.tree_ids());
        }
        inner.tables.dictionary.add_entry(&loaded.name.schema, &loaded.name.table, &entry);
        tables.push(KnownTable { entry, name: loaded.name });
    }
    let noted = files(inner).reconcile_files(&tables, &contents.leftovers, contents.damage)?;
    // The others' files are looked at when they are used.
    for table in tables.iter().filter(|table| inner.pool.has_opened(table.entry.space())) {
        table.entry.end_check();
    }
    Ok(noted)
}

fn files(inner: &EngineInner) -> Reconciliation<'_> {
    Reconciliation {
        shared: &inner.shared,
        pool: &inner.pool,
        tables: &inner.tables,
        rollback: &inner.rollback,
    }
}
