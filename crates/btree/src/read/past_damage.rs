//! Walking past pages that cannot be read: a tree that was told to ([`Tree::skip_damage`]) leaves out what lies below them. For
//! saving what is left of a damaged table; the rows that are left out are not counted or told of.

use buffer::{BufferPool, SharedPage, StorageError};
use page::{CorruptPage, Fence, NodeRef};

use crate::tree::{Toward, Tree};

/// What a descent has met.
pub(super) enum Met {
    /// Nothing: the way is free.
    Nothing,
    /// A page that cannot be read, below which lie keys up to this one (backward: from this one on); None: to the tree's end.
    Damage(Option<Vec<u8>>),
}

/// Looks for the page that cannot be read on the way to a leaf.
pub(super) fn find_damage(
    tree: &Tree,
    pool: &BufferPool,
    toward: Toward<'_>,
    forward: bool,
) -> Result<Met, StorageError> {
    let mut id = tree.root_id();
    let mut bound = None;
    let mut level = None;
    loop {
        let page = match sound_node(tree, pool, id, level) {
            Ok(page) => page,
            Err(error) if error.damage().is_some() => return Ok(Met::Damage(bound)),
            Err(error) => return Err(error),
        };
        let step = || -> Result<_, CorruptPage> {
            let node = NodeRef::new(&page)?;
            let Some(slot) = (if node.is_leaf() { None } else { toward.slot(&node)? }) else {
                return Ok(None);
            };
            Ok(Some((node.child(slot)?, node.level(), bound_of(&node, slot, forward)?)))
        };
        match step() {
            Ok(None) => return Ok(Met::Nothing),
            Ok(Some((child, parent_level, below))) => {
                (id, level) = (tree.page_id(child), Some(parent_level));
                bound = below;
            }
            Err(_) => return Ok(Met::Damage(bound)),
        }
    }
}

fn sound_node<'p>(
    tree: &Tree,
    pool: &'p BufferPool,
    id: stdx::ids::PageId,
    parent_level: Option<u8>,
) -> Result<SharedPage<'p>, StorageError> {
    let page = pool.shared(id)?;
    match parent_level {
        Some(level) => tree.check_child_level(id, &page, level)?,
        None => drop(NodeRef::new(&page).map_err(|error| StorageError::corrupt(id, error))?),
    }
    Ok(page)
}

/// Where the keys of a child end (backward: begin); None where those of the tree do.
fn bound_of(node: &NodeRef<'_>, slot: usize, forward: bool) -> Result<Option<Vec<u8>>, CorruptPage> {
    let mut key = Vec::new();
    if forward && slot + 1 == node.count() {
        return Ok(match node.upper_fence()? {
            Fence::Key(fence) => Some(fence.to_vec()),
            Fence::Infinite => None,
        });
    }
    node.key_into(slot + usize::from(forward), &mut key)?;
    Ok((!key.is_empty()).then_some(key))
}
