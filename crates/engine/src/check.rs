//! Checking tables and the whole database: what CHECK TABLE and the crash simulation ask for. Pages, trees and
//! tablespaces are compared with each other and with the dictionary; whether rows agree with their index entries
//! beyond their number is the caller's to compare by scans. Nobody may change what is checked meanwhile.

use crate::engine::Engine;
use crate::error::EngineResult;
use crate::open::SYSTEM_SPACE;
use crate::table::Table;
use btree::{Tree, TreeReport, check_space};
use std::collections::{HashMap, HashSet};
use stdx::ids::{PageNumber, SpaceId};

impl Engine {
    /// Checks one table. Returns what is wrong in words; empty for a sound table. Errors are failed reads.
    pub fn check_table(&self, table: &Table) -> EngineResult<Vec<String>> {
        let (mut faults, mut pages, mut live_rows) = (Vec::new(), HashSet::new(), None);
        let name = format!("{}.{}", table.definition().name.schema, table.definition().name.table);
        for (number, index) in table.indexes().iter().enumerate() {
            let report = self.check_tree(&index.tree, &name, &mut pages, &mut faults)?;
            let rows = *live_rows.get_or_insert(report.live_entries);
            if rows != report.live_entries {
                let entries = report.live_entries;
                faults.push(format!("{name}: index {number} has {entries} entries for {rows} rows"));
            }
        }
        self.check_pages(table.space(), &name, &pages, &mut faults)?;
        Ok(faults)
    }

    /// Checks everything: all tables, the system tablespace, and that files and dictionary agree.
    pub fn check(&self) -> EngineResult<Vec<String>> {
        let (mut faults, mut pages) = (Vec::new(), HashSet::new());
        for tree in [&*self.inner.store.tree, self.inner.undo_store.tree()] {
            self.check_tree(tree, "system tablespace", &mut pages, &mut faults)?;
        }
        self.check_pages(SYSTEM_SPACE, "system tablespace", &pages, &mut faults)?;
        let mut files: HashMap<_, _> = self.inner.pool.spaces().into_iter().collect();
        files.remove(&SYSTEM_SPACE);
        for schema in self.dictionary().schemas() {
            for table in self.dictionary().tables(&schema.name) {
                faults.extend(self.check_table(&table)?);
                if files.remove(&table.space()).is_none() {
                    faults.push(format!("{}.{} has no file", schema.name, table.definition().name.table));
                }
            }
        }
        faults.extend(files.values().map(|path| format!("file {} belongs to no table", path.display())));
        Ok(faults)
    }

    fn check_tree(
        &self,
        tree: &Tree,
        name: &str,
        pages: &mut HashSet<PageNumber>,
        faults: &mut Vec<String>,
    ) -> EngineResult<TreeReport> {
        let report = tree.check(&self.inner.pool)?;
        for fault in &report.faults {
            faults.push(format!("{name}: index {}, page {}: {}", tree.id().index, fault.page, fault.reason));
        }
        for page in &report.pages {
            if !pages.insert(*page) {
                faults.push(format!("{name}: page {page} belongs to two indexes"));
            }
        }
        Ok(report)
    }

    fn check_pages(
        &self,
        space: SpaceId,
        name: &str,
        pages: &HashSet<PageNumber>,
        faults: &mut Vec<String>,
    ) -> EngineResult<()> {
        let found = check_space(&self.inner.pool, space, pages)?;
        faults.extend(found.iter().map(|fault| format!("{name}: page {}: {}", fault.page, fault.reason)));
        Ok(())
    }
}
