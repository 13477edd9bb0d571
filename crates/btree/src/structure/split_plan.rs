//! Where a node is cut in two, and whether a cell has room: decisions over nodes, no latches, no changes.

use page::{CELL_BYTES_MAX, CELL_OVERHEAD_BYTES, CorruptPage, Fence, NODE_CAPACITY_BYTES, NodeRef, Position};

/// Bytes that ascending inserts leave free in a leaf: one sixteenth, for rows that grow later.
pub(crate) const APPEND_RESERVE_BYTES: usize = NODE_CAPACITY_BYTES / 16;

const _: () = assert!(CELL_BYTES_MAX + APPEND_RESERVE_BYTES < NODE_CAPACITY_BYTES);

/// Bytes of a leaf cell with its slot, for a whole key (a node's prefix is to be subtracted).
pub(crate) fn cell_bytes(key_bytes: usize, value_bytes: usize) -> usize {
    CELL_OVERHEAD_BYTES + key_bytes + value_bytes
}

/// Whether a key and a value of those lengths fit a cell. What does not is stored some other way by the layer above.
pub fn fits(key_bytes: usize, value_bytes: usize) -> bool {
    cell_bytes(key_bytes, value_bytes) <= CELL_BYTES_MAX
}

/// Whether a cell of `bytes` (slot included) can be put at `position`, in place of the one there if it was found.
pub(crate) fn has_room(node: &NodeRef<'_>, position: Position, bytes: usize) -> Result<bool, CorruptPage> {
    let mut free = node.free_bytes();
    if position.found {
        free += node.footprint_bytes(usize::from(position.slot))?;
    }
    if bytes > free {
        return Ok(false);
    }
    Ok(!is_append(node, position) || node.count() == 0 || bytes + APPEND_RESERVE_BYTES <= free)
}

/// Whether a new cell at `position` ends the tree: ascending inserts.
pub(crate) fn is_append(node: &NodeRef<'_>, position: Position) -> bool {
    node.is_leaf() && node.right().is_none() && !position.found && usize::from(position.slot) == node.count()
}

/// A cut: cells before `slot` stay left; `separator` is the right node's lower fence.
pub(crate) struct Cut {
    pub slot: usize,
    pub separator: Vec<u8>,
}

/// Where to cut a leaf so that a cell of `bytes` for `key` finds room, perhaps after further cuts.
pub(crate) fn cut_leaf(
    node: &NodeRef<'_>,
    key: &[u8],
    position: Position,
    bytes: usize,
) -> Result<Cut, CorruptPage> {
    let at = usize::from(position.slot);
    if is_append(node, position) && node.count() > 0 {
        let cut = Cut { slot: at, separator: separator_between(node, at - 1, Some(key), at)? };
        if halves_fit(node, &cut)? {
            return Ok(cut);
        }
    }
    // The cells as they would be with the new one: `(bytes, cell of the node)`; the new one has no cell yet.
    let mut cells = Vec::with_capacity(node.count() + 1);
    for slot in 0..node.count() {
        if slot == at {
            cells.push((bytes, position.found.then_some(slot)));
        }
        if slot != at || !position.found {
            cells.push((node.footprint_bytes(slot)?, Some(slot)));
        }
    }
    if at == node.count() {
        cells.push((bytes, None));
    }
    if cells.len() < 2 {
        return Err(CorruptPage::new("leaf with one cell has no room for it"));
    }
    let cut = middle(&cells);
    let left = match cells[cut - 1].1 {
        Some(slot) => slot + 1,
        None => at,
    };
    let separator = match (cells[cut - 1].1, cells[cut].1) {
        (Some(before), Some(after)) => separator_between(node, before, None, after)?,
        (Some(before), None) => separator_between(node, before, Some(key), 0)?,
        (None, Some(after)) => shortest_above(key, &whole_key(node, after)?),
        (None, None) => return Err(CorruptPage::new("cut between one cell and itself")),
    };
    let cut = Cut { slot: left, separator };
    match halves_fit(node, &cut)? {
        false if node.count() > 1 => cut_between_cells(node),
        _ => Ok(cut),
    }
}

/// Whether each half has room for its cells between its fences. The separator is longer than the fence that a half had before if the
/// new key and its neighbour begin alike for long.
fn halves_fit(node: &NodeRef<'_>, cut: &Cut) -> Result<bool, CorruptPage> {
    let (mut left, mut right) = (0, 0);
    for slot in 0..node.count() {
        *(if slot < cut.slot { &mut left } else { &mut right }) += node.footprint_bytes(slot)?;
    }
    let upper = match node.upper_fence()? {
        Fence::Key(key) => key.len(),
        Fence::Infinite => 0,
    };
    let (free, lower) = (node.free_bytes(), node.lower_fence()?.len());
    let separator = cut.separator.len();
    Ok(separator <= free + right + upper && separator <= free + left + lower)
}

/// A cut between two cells that the node has. Its halves always have room: the separator is no longer than the key on either side of it
/// and one byte, and each half loses the cell with one of these keys, and the fence with the beginning that it shares with all.
fn cut_between_cells(node: &NodeRef<'_>) -> Result<Cut, CorruptPage> {
    let cell = |slot| Ok((node.footprint_bytes(slot)?, Some(slot)));
    let slot = middle(&(0..node.count()).map(cell).collect::<Result<Vec<_>, CorruptPage>>()?);
    Ok(Cut { slot, separator: separator_between(node, slot - 1, None, slot)? })
}

/// Where to cut a leaf of a tree that is filled in runs: behind the run if it ends the leaf, so that the leaf stays full, or else
/// between the run and what follows, so that the run has the leaf for itself. None if the leaf begins behind the run.
pub(crate) fn cut_in_run(
    node: &NodeRef<'_>,
    key: &[u8],
    position: Position,
) -> Result<Option<Cut>, CorruptPage> {
    let slot = usize::from(position.slot);
    if position.found || slot == 0 {
        return Ok(None);
    }
    let separator = match slot == node.count() {
        true => separator_between(node, slot - 1, Some(key), slot)?,
        false => shortest_above(key, &whole_key(node, slot)?),
    };
    let cut = Cut { slot, separator };
    Ok(halves_fit(node, &cut)?.then_some(cut))
}

/// Where to cut an inner node. `toward` is the cell that the descent took: ascending inserts take the last of the
/// last node and leave nearly all cells left.
pub(crate) fn cut_inner(node: &NodeRef<'_>, toward: usize) -> Result<Cut, CorruptPage> {
    if node.count() < 2 {
        return Err(CorruptPage::new("inner node with one child has no room"));
    }
    let slot = if node.right().is_none() && toward + 1 == node.count() {
        node.count() - 1
    } else {
        let mut cells = Vec::with_capacity(node.count());
        for slot in 0..node.count() {
            cells.push((node.footprint_bytes(slot)?, Some(slot)));
        }
        middle(&cells)
    };
    Ok(Cut { slot, separator: whole_key(node, slot)? })
}

/// The cut that makes both sides most equal in bytes: at least one cell on each.
fn middle(cells: &[(usize, Option<usize>)]) -> usize {
    let total: usize = cells.iter().map(|cell| cell.0).sum();
    let (mut best, mut best_distance, mut left) = (1, usize::MAX, 0);
    for cut in 1..cells.len() {
        left += cells[cut - 1].0;
        let distance = (2 * left).abs_diff(total);
        if distance < best_distance {
            (best, best_distance) = (cut, distance);
        }
    }
    best
}

pub(crate) fn whole_key(node: &NodeRef<'_>, slot: usize) -> Result<Vec<u8>, CorruptPage> {
    let mut key = Vec::new();
    node.key_into(slot, &mut key)?;
    Ok(key)
}

/// The shortest separator above the key of cell `before` and not above `key` (or the key of cell `after`).
fn separator_between(
    node: &NodeRef<'_>,
    before: usize,
    key: Option<&[u8]>,
    after: usize,
) -> Result<Vec<u8>, CorruptPage> {
    let before = whole_key(node, before)?;
    match key {
        Some(key) => Ok(shortest_above(&before, key)),
        None => Ok(shortest_above(&before, &whole_key(node, after)?)),
    }
}

/// The shortest prefix of `high` that is above `low`; `low` is below `high`.
fn shortest_above(low: &[u8], high: &[u8]) -> Vec<u8> {
    let common = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    high[..high.len().min(common + 1)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::shortest_above;

    #[test]
    fn separators_are_short_and_between() {
        for (low, high, expected) in [
            ("abc", "abd", "abd"),
            ("abc", "b", "b"),
            ("ab", "abx", "abx"),
            ("a", "bcd", "b"),
            ("", "x", "x"),
        ] {
            let separator = shortest_above(low.as_bytes(), high.as_bytes());
            assert_eq!(separator, expected.as_bytes());
            assert!(low.as_bytes() < &separator[..] && &separator[..] <= high.as_bytes());
        }
    }
}
