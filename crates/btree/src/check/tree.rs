//! Checks a whole tree: each page by itself, order and fences, levels, right links, live counts.
//! Meant for a tree that nobody changes meanwhile (CHECK TABLE under its lock, tests, after recovery).

use std::collections::HashSet;

use buffer::{BufferPool, StorageError};
use page::{CorruptPage, Fence, NodeRef, verify};
use stdx::ids::{PageId, PageNumber};

use crate::tree::Tree;

/// What a check found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFault {
    /// Where.
    pub page: PageId,
    /// What.
    pub reason: &'static str,
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct TreeReport {
    /// Levels, 1 for a lone leaf.
    pub levels: u8,
    /// Nodes with children.
    pub inner_pages: u64,
    /// Nodes with entries.
    pub leaf_pages: u64,
    /// Entries.
    pub entries: u64,
    /// Entries not marked as deleted.
    pub live_entries: u64,
    /// All pages of the tree.
    pub pages: HashSet<PageNumber>,
    /// What is wrong; empty for a sound tree. At most [`FAULTS_MAX`].
    pub faults: Vec<TreeFault>,
}

/// Faults after which a check gives up.
pub const FAULTS_MAX: usize = 100;

/// A node to visit and what its parent says about it.
struct Expected {
    page: PageNumber,
    level: Option<u8>,
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
}

/// A check under way.
struct Check<'a> {
    tree: &'a Tree,
    /// The leftmost node seen so far of each level: what the next one to its left must link to.
    right_of: Vec<PageNumber>,
    report: TreeReport,
}

impl Tree {
    /// Checks the tree. Damage is reported, not returned as an error; errors are failed reads.
    pub fn check(&self, pool: &BufferPool) -> Result<TreeReport, StorageError> {
        let mut check = Check { tree: self, right_of: Vec::new(), report: TreeReport::default() };
        check.run(pool)?;
        Ok(check.report)
    }
}

impl Check<'_> {
    fn run(&mut self, pool: &BufferPool) -> Result<(), StorageError> {
        // Depth first, rightmost child last on the stack, so that leaves come in key order from the right.
        let mut stack =
            vec![Expected { page: self.tree.id.root, level: None, lower: Vec::new(), upper: None }];
        while let Some(expected) = stack.pop() {
            let id = self.tree.page_id(expected.page);
            if self.report.faults.len() >= FAULTS_MAX {
                break;
            }
            if !self.report.pages.insert(expected.page) {
                self.report.faults.push(TreeFault { page: id, reason: "page is used twice" });
                continue;
            }
            let page = match pool.shared(id) {
                Ok(page) => page,
                Err(StorageError::Corrupt { page, reason }) => {
                    self.report.faults.push(TreeFault { page, reason });
                    continue;
                }
                Err(error) => return Err(error),
            };
            let visited = self.visit(id, &page, &expected);
            match visited {
                Ok(children) => stack.extend(children),
                Err(StorageError::Corrupt { page, reason }) => {
                    self.report.faults.push(TreeFault { page, reason })
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn visit(&mut self, id: PageId, page: &[u8], expected: &Expected) -> Result<Vec<Expected>, StorageError> {
        let corrupt = |error| StorageError::corrupt(id, error);
        verify(page).map_err(corrupt)?;
        let node = NodeRef::new(page).map_err(corrupt)?;
        self.check_place(&node, expected).map_err(corrupt)?;
        if expected.level.is_none() {
            self.report.levels = node.level() + 1;
        }
        if node.is_leaf() {
            self.visit_leaf(id, &node)?;
            return Ok(Vec::new());
        }
        self.report.inner_pages += 1;
        children_of(&node, expected).map_err(corrupt)
    }

    /// Checks a node against its parent and against its right neighbour.
    fn check_place(&mut self, node: &NodeRef<'_>, expected: &Expected) -> Result<(), CorruptPage> {
        let fault = |reason| Err(CorruptPage { reason });
        if node.index() != self.tree.id.index {
            return fault("node belongs to another index");
        }
        if expected.level.is_some_and(|level| level != node.level()) {
            return fault("node is on the wrong level");
        }
        let upper = expected.upper.as_deref().map_or(Fence::Infinite, Fence::Key);
        if node.lower_fence()? != &expected.lower[..] || node.upper_fence()? != upper {
            return fault("fences do not agree with the parent");
        }
        let level = usize::from(node.level());
        if self.right_of.len() <= level {
            self.right_of.resize(level + 1, PageNumber(0));
        }
        if node.right().unwrap_or_default() != self.right_of[level] {
            return fault("right link does not lead to the next node");
        }
        self.right_of[level] = expected.page;
        Ok(())
    }

    fn visit_leaf(&mut self, id: PageId, node: &NodeRef<'_>) -> Result<(), StorageError> {
        self.report.leaf_pages += 1;
        let mut live = 0;
        for slot in 0..node.count() {
            live += self.tree.live(node.value(slot).map_err(|error| StorageError::corrupt(id, error))?);
        }
        self.report.entries += node.count() as u64;
        self.report.live_entries += live as u64;
        if live != i32::from(node.live_rows()) {
            return Err(StorageError::Corrupt { page: id, reason: "leaf counts its live rows wrongly" });
        }
        Ok(())
    }
}

/// What an inner node says about its children, left to right.
fn children_of(node: &NodeRef<'_>, expected: &Expected) -> Result<Vec<Expected>, CorruptPage> {
    let mut children: Vec<Expected> = Vec::with_capacity(node.count());
    if node.count() == 0 {
        return Err(CorruptPage { reason: "inner node has no children" });
    }
    for slot in 0..node.count() {
        let mut lower = Vec::new();
        node.key_into(slot, &mut lower)?;
        if slot == 0 && lower != expected.lower {
            return Err(CorruptPage { reason: "first child does not start at the lower fence" });
        }
        if let Some(left) = children.last_mut() {
            left.upper = Some(lower.clone());
        }
        let level = node.level().checked_sub(1);
        children.push(Expected { page: node.child(slot)?, level, lower, upper: expected.upper.clone() });
    }
    Ok(children)
}
