//! Bringing files and dictionary together at start: names, files without a table, tables without a file, damaged files.
//! See rules R6, R7 and D1 in README.md.

use crate::rollback::Rollback;
use buffer::{BufferPool, FileFault, NeededPage, StorageError, space_path};
use dictionary::TableName;
use dictionary_store::{DamageMark, SYSTEM_SPACE, name_path};
use engine_error::{EngineError, EngineResult};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use stdx::ids::SpaceId;
use stdx::sync::lock;
use tables::{Shared, TableEntry, TableState, Tables, missing_text, strange_text};

/// Most pages of a table that a message names.
const PAGES_NAMED_MAX: usize = 3;

/// A table as a start deals with it.
pub(crate) struct KnownTable {
    pub(crate) entry: Arc<TableEntry>,
    pub(crate) name: TableName,
}

impl KnownTable {
    fn space(&self) -> SpaceId {
        self.entry.space()
    }

    fn path(&self) -> PathBuf {
        space_path(self.space())
    }
}

/// What the start finds about files.
struct Findings {
    /// Files by space, as the pool has them open.
    present: BTreeMap<SpaceId, PathBuf>,
    damaged: Vec<(PathBuf, FileFault)>,
    /// Pages that recovery could not bring up to date, with the others of their spaces.
    needed: BTreeMap<SpaceId, Vec<NeededPage>>,
    /// Spaces whose files are of another history than the dictionary and the log.
    strange: BTreeSet<SpaceId>,
    /// What earlier starts noted.
    marks: BTreeMap<SpaceId, Vec<DamageMark>>,
    messages: Vec<String>,
}

/// A start that brings files and dictionary together.
#[derive(Clone, Copy)]
pub(super) struct Reconciliation<'a> {
    pub(super) shared: &'a Shared,
    pub(super) pool: &'a BufferPool,
    pub(super) tables: &'a Tables,
    /// Knows what must be rolled back.
    pub(super) rollback: &'a Rollback,
}

impl Reconciliation<'_> {
    /// Brings files in line with the dictionary: removes those of tables that were dropped or never committed, sets aside those
    /// that nothing is known of, gives the others the name of their table, and closes tables whose files lack something. False
    /// if the log must be kept, because it was not possible to note what they lack.
    pub(crate) fn reconcile_files(
        &self,
        tables: &[KnownTable],
        leftovers: &[SpaceId],
        marks: Vec<DamageMark>,
    ) -> EngineResult<bool> {
        let wanted: HashMap<SpaceId, PathBuf> =
            tables.iter().map(|table| (table.space(), table.path())).collect();
        let looked_at = self.look_at_needed_files(tables, &marks)?;
        let mut findings = self.findings(tables, marks)?;
        findings.present.retain(|_, path| looked_at.iter().all(|(looked_at, _)| looked_at != path));
        findings.damaged.extend(looked_at);
        self.set_strangers_aside(&wanted, leftovers, &mut findings)?;
        self.open_damaged_files(tables, &mut findings)?;
        self.find_missing_files(tables, &mut findings)?;
        self.close_strange_tables(tables, &mut findings)?;
        let noted = self.close_damaged_tables(tables, &mut findings)?;
        for space in findings.marks.keys().filter(|space| !wanted.contains_key(space)) {
            self.tables.store.forget_damage(self.pool, *space)?;
        }
        // What was read meanwhile is told of by table.
        self.pool.take_damage_messages();
        self.rename_misnamed_files(&wanted, &mut findings)?;
        lock(&self.shared.messages).append(&mut findings.messages);
        Ok(noted)
    }

    /// Opens files of tables that a start has to deal with: those that lacked something before, and those that a loser has changed. Gives
    /// what is wrong with them.
    fn look_at_needed_files(
        &self,
        tables: &[KnownTable],
        marks: &[DamageMark],
    ) -> EngineResult<Vec<(PathBuf, FileFault)>> {
        let marked: BTreeSet<SpaceId> = marks.iter().map(|mark| mark.page.space).collect();
        let mut faults = Vec::new();
        for table in tables.iter().filter(|table| self.pool.has_file(table.space())) {
            let is_needed = marked.contains(&table.space())
                || self.rollback.losers_may_have_changed(std::iter::once(&table.entry));
            if is_needed && let Some(fault) = self.pool.open_found_space(table.space())? {
                faults.push((table.path(), fault));
            }
        }
        Ok(faults)
    }

    fn findings(&self, tables: &[KnownTable], marks: Vec<DamageMark>) -> EngineResult<Findings> {
        let mut findings = Findings {
            present: self.pool.spaces().into_iter().collect(),
            damaged: self.pool.damaged_files(),
            needed: BTreeMap::new(),
            strange: BTreeSet::new(),
            marks: BTreeMap::new(),
            messages: Vec::new(),
        };
        // Others were dropped.
        let spaces = tables.iter().map(KnownTable::space).collect();
        let strange = tables.iter().filter(|table| self.strange_id(&table.entry).is_some());
        findings.strange = strange.map(KnownTable::space).collect();
        for page in self.pool.needed_pages_of(&spaces, &findings.strange)? {
            findings.needed.entry(page.page.space).or_default().push(page);
        }
        for mark in marks {
            findings.marks.entry(mark.page.space).or_default().push(mark);
        }
        Ok(findings)
    }

    fn set_strangers_aside(
        &self,
        wanted: &HashMap<SpaceId, PathBuf>,
        leftovers: &[SpaceId],
        findings: &mut Findings,
    ) -> EngineResult<()> {
        if self.shared.settings.is_read_only {
            return Ok(());
        }
        let strangers = findings
            .present
            .iter()
            .filter(|(space, _)| **space != SYSTEM_SPACE && !wanted.contains_key(space));
        for (space, path) in strangers {
            let told = match self.leftover_fault(*space, leftovers) {
                Ok(None) => match self.pool.remove_space(*space) {
                    Ok(()) => continue,
                    // It is gone, unless the machine stops now: then the next start has a stranger.
                    Err(error) if error.is_lack_of_descriptors() => continue,
                    Err(error) => Err(error),
                },
                Ok(Some(FileFault::Damaged)) => self.pool.set_space_aside(*space),
                Ok(Some(fault @ (FileFault::Foreign | FileFault::Unreadable(_)))) => {
                    findings.damaged.push((path.clone(), fault));
                    continue;
                }
                Err(error) => Err(error),
            };
            // Where it cannot be moved, the next start tries again.
            let what = match told {
                Err(StorageError::Stopped) => return Err(EngineError::Stopped),
                Err(error) if error.is_full_disk() => continue,
                Err(error) => format!("It stays where it is: {error}."),
                Ok(target) => format!("It was moved to '{}'.", target.display()),
            };
            findings.messages.push(format!(
                "The file '{}' (tablespace {space}) belongs to no table. {what}",
                path.display()
            ));
        }
        Ok(())
    }

    /// Why a file that no table has is not one that we left behind; None if it is, by our notes and its header: who has put another
    /// in its place may have no copy of it.
    fn leftover_fault(
        &self,
        space: SpaceId,
        leftovers: &[SpaceId],
    ) -> Result<Option<FileFault>, StorageError> {
        match leftovers.contains(&space) {
            true => self.pool.open_found_space(space),
            false => Ok(Some(FileFault::Damaged)),
        }
    }

    /// Files with damaged headers that have the name of a table are opened as its file, so that dropping the table removes them.
    fn open_damaged_files(&self, tables: &[KnownTable], findings: &mut Findings) -> EngineResult<()> {
        for (path, fault) in std::mem::take(&mut findings.damaged) {
            if let FileFault::Unreadable(reason) = &fault {
                findings.messages.push(format!("'{}' is left out: {reason}.", path.display()));
                continue;
            }
            let is_named = |table: &&KnownTable| table.path() == path || name_path(&table.name) == path;
            let table = tables.iter().find(is_named);
            let Some(table) = table.filter(|_| fault == FileFault::Damaged) else {
                findings.messages.push(format!(
                    "The file '{}' is not a tablespace, is one of another server or version, or its header is damaged.",
                    path.display()
                ));
                continue;
            };
            if let Some(other) = findings.present.get(&table.space()) {
                let (damaged, other) = (path.display(), other.display());
                let text =
                    format!("the header of '{damaged}' is damaged, and '{other}' is of the same table");
                // Only a person knows which of two is the copy; but what holds no page of the table is no copy of it.
                if !self.shared.is_forced() && self.pool.holds_pages_of(&path, table.space()) {
                    return Err(EngineError::Corrupt(format!(
                        "{text}: move the one that is not to be used out of the data directory"
                    )));
                }
                findings.messages.push(format!("'{other}' is used: {text}."));
                continue;
            }
            self.pool.open_damaged_space(table.space(), &path)?;
            self.close_unless_forced(table);
            findings.messages.push(format!(
                "The header of the file '{}' is damaged. {}",
                path.display(),
                self.tables.closed_text(&table.name)
            ));
        }
        Ok(())
    }

    /// Tables without a file: they can be told of and dropped, but for those that the log has changes of. Error: Corrupt, which
    /// names all missing files, so that they can be put back before their changes are given up.
    fn find_missing_files(&self, tables: &[KnownTable], findings: &mut Findings) -> EngineResult<()> {
        let mut missing = Vec::new();
        let mut has_lost_changes = false;
        for table in tables.iter().filter(|table| !self.pool.has_file(table.space())) {
            table.entry.close(TableState::FILE_MISSING);
            has_lost_changes |= findings.needed.contains_key(&table.space());
            if self.shared.is_forced() {
                self.tables.closed.add(table.space());
            }
            missing.push(self.missing_file(&table.name, table.space()));
        }
        if has_lost_changes && !self.shared.is_forced() {
            let all = missing.join(" ");
            return Err(EngineError::Corrupt(format!(
                "{all} The redo log has changes for it: put it back. innodb_force_recovery=1 goes on without it, and these \
                 changes are lost for good"
            )));
        }
        findings.messages.append(&mut missing);
        Ok(())
    }

    /// The store id of a table's file if it is not the one that the table has.
    fn strange_id(&self, table: &TableEntry) -> Option<u64> {
        self.pool.store_id(table.space()).filter(|found| *found != table.store_id())
    }

    /// Closes tables in the place of whose files others stand. Error: Corrupt, if the log has changes of such a table, or one of its
    /// transactions must be rolled back: its file must be put back before they are given up.
    fn close_strange_tables(&self, tables: &[KnownTable], findings: &mut Findings) -> EngineResult<()> {
        let mut texts = Vec::new();
        let mut closed = Vec::new();
        let mut has_lost_changes = false;
        for table in tables.iter().filter(|table| findings.strange.contains(&table.space())) {
            let Some(path) = findings.present.get(&table.space()) else { continue };
            texts.push(strange_text(
                &table.name,
                path,
                self.strange_id(&table.entry),
                table.entry.store_id(),
            ));
            has_lost_changes |= findings.needed.contains_key(&table.space());
            closed.push(table);
        }
        if !self.shared.is_forced()
            && (has_lost_changes
                || self.rollback.losers_may_have_changed(closed.iter().map(|table| &table.entry)))
        {
            let all = texts.join(" ");
            return Err(EngineError::Corrupt(format!(
                "{all} The redo log has changes for the right one: put it back. innodb_force_recovery=1 goes on without it, and these \
                 changes are lost for good"
            )));
        }
        for (table, text) in closed.iter().zip(texts) {
            findings.messages.push(format!("{text} {}", self.tables.closed_text(&table.name)));
            self.close_unless_forced(table);
            self.tables.closed.add(table.space());
        }
        Ok(())
    }

    /// Closes tables whose files lack changes, and notes what they lack; opens those again whose files have it.
    fn close_damaged_tables(&self, tables: &[KnownTable], findings: &mut Findings) -> EngineResult<bool> {
        let mut noted = true;
        for table in tables {
            let needed = findings.needed.get(&table.space()).map(Vec::as_slice).unwrap_or_default();
            let marks: Vec<&DamageMark> = findings.marks.get(&table.space()).into_iter().flatten().collect();
            if needed.is_empty() && (marks.is_empty() || table.entry.state().is_file_missing()) {
                continue;
            }
            let file = table.path();
            let is_strange = findings.strange.contains(&table.space());
            if needed.is_empty() && !is_strange && self.tables.is_restored(&marks) {
                self.tables.store.forget_damage(self.pool, table.space())?;
                findings.messages.push(format!("The file '{}' has all its changes again.", file.display()));
                continue;
            }
            let new: Vec<DamageMark> = needed.iter().map(DamageMark::of).collect();
            noted &= self.tables.put_damage_marks(&new)?;
            if !table.entry.state().is_closed() && !is_strange {
                let lacks: BTreeSet<&DamageMark> = new.iter().chain(marks).collect();
                findings.messages.push(format!(
                    "{} {}",
                    self.lacks(&lacks),
                    self.tables.closed_text(&table.name)
                ));
                self.close_unless_forced(table);
            }
            self.tables.closed.add(table.space());
        }
        Ok(noted)
    }

    /// What marks say of pages, the first ones of many.
    fn lacks(&self, marks: &BTreeSet<&DamageMark>) -> String {
        let mut texts: Vec<String> = marks.iter().filter_map(|mark| self.lack(mark)).collect();
        let more = texts.len().saturating_sub(PAGES_NAMED_MAX);
        if more > 0 {
            texts.truncate(PAGES_NAMED_MAX);
            texts.push(format!("{more} other pages are too."));
        }
        texts.join(" ")
    }

    /// Closes a table, unless it is to be read as far as it can be.
    fn close_unless_forced(&self, table: &KnownTable) {
        if !self.shared.is_forced() {
            table.entry.close(TableState::DAMAGED);
        }
    }

    /// What a mark says of its page.
    fn lack(&self, mark: &DamageMark) -> Option<String> {
        if mark.page.number.0 == u32::MAX {
            return Some(format!(
                "Changes of tablespace {} were not undone: {}.",
                mark.page.space, mark.reason
            ));
        }
        (!mark.reason.is_empty()).then(|| self.pool.describe(mark.page, &mark.reason))
    }

    /// Gives the files of the first builds, which have the names of tables, those that files have now. One that cannot have it (something
    /// else has it, the disk is full) keeps the name that it has: what matters is what is in it.
    fn rename_misnamed_files(
        &self,
        wanted: &HashMap<SpaceId, PathBuf>,
        findings: &mut Findings,
    ) -> EngineResult<()> {
        let is_misnamed = |(space, path): &(&SpaceId, &PathBuf)| {
            let name = wanted.get(space).filter(|_| !findings.strange.contains(space));
            name.is_some_and(|name| name != *path)
        };
        let misnamed = findings.present.iter().filter(is_misnamed).map(|(space, _)| *space);
        for (space, error) in self.pool.name_by_space(misnamed)? {
            let (path, name) = (findings.present[&space].display(), wanted[&space].display());
            let reason = match error {
                StorageError::SpaceExists(_) => "another file has that name".to_owned(),
                // The directory of its schema leads to another disk: somebody wants it there.
                StorageError::Disk(error) if error.is_across_file_systems() => continue,
                error => error.to_string(),
            };
            findings.messages.push(format!("The file '{path}' cannot be called '{name}': {reason}."));
        }
        Ok(())
    }

    /// Refuses a start without a file that a rollback needs.
    pub(crate) fn name_missing_files(&self) -> EngineResult<()> {
        let mut missing = self.tables.dictionary.entries();
        missing
            .retain(|entry| entry.state().is_file_missing() && !self.tables.closed.contains(entry.space()));
        if !self.rollback.losers_may_have_changed(missing.iter()) {
            return Ok(());
        }
        let tables = missing.iter().map(|entry| self.tables.dictionary.opened(entry));
        let texts: Vec<String> =
            tables.map(|table| self.missing_file(&table.definition.name, table.space)).collect();
        Err(EngineError::Corrupt(format!(
            "{} A transaction that must be rolled back, or is prepared (XA RECOVER), has changed it: put it back, or go on without it with innodb_force_recovery=1",
            texts.join(" ")
        )))
    }

    fn missing_file(&self, name: &TableName, space: SpaceId) -> String {
        let paths = [space_path(space), name_path(name)];
        // The file itself, or the directory that it would be in.
        let unreadable = self.pool.damaged_files().into_iter().find_map(|(other, fault)| match fault {
            FileFault::Unreadable(reason) if paths.iter().any(|path| path.starts_with(&other)) => {
                Some(reason)
            }
            _ => None,
        });
        missing_text(name, &paths[0], unreadable)
    }
}
