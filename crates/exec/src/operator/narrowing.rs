//! Rows that find no partner in a hash join are left out where they are read, before anything is made of them: once the kept side is
//! there, the scans below the other one look for their keys among its keys. Main function: [`may_narrow`].

use super::direct::column::StoredColumn;
use super::table::stored_layout;
use crate::run::Run;
use engine::ReadMode;
use expression::Expression;
use expression::silent::{are_alike, is_silent};
use plan::physical::{HashJoin, JoinKind, Node, RowLock, TableAccess};

/// Whether a table below the tree may leave out rows by the integer in that slot: nothing that could be noticed is computed of them.
pub fn may_narrow(node: &Node, slot: usize, run: &Run<'_, '_>) -> bool {
    match node {
        Node::Table(access) => reads(access, slot) && is_unnoticed(access, run),
        Node::Filter { input, conditions } => are_silent(conditions) && may_narrow(input, slot, run),
        Node::NestedLoop(join) => {
            let is_inner = join.inner.columns.iter().any(|(_, filled)| *filled == slot);
            !is_inner
                && are_silent(&join.conditions)
                && is_unnoticed(&join.inner, run)
                && may_narrow(&join.outer, slot, run)
        }
        Node::HashJoin(join) if is_silent_join(join) => match join.build_slots.contains(&slot) {
            true => join.kind == JoinKind::Inner && may_narrow(&join.build, slot, run),
            false => may_narrow(&join.probe, slot, run),
        },
        _ => false,
    }
}

fn reads(access: &TableAccess, slot: usize) -> bool {
    let is_it = |(_, filled): &&(usize, usize)| *filled == slot;
    let Some((column, _)) = access.columns.iter().find(is_it) else { return false };
    StoredColumn::at(access, *column).integer(stored_layout(access)).is_some()
}

/// Whether nobody sees which rows are read: they are not locked, and conditions on them say nothing.
fn is_unnoticed(access: &TableAccess, run: &Run<'_, '_>) -> bool {
    access.lock == RowLock::None
        && run.read_mode(access.lock) == ReadMode::Consistent
        && access.key_slot.is_none()
        && are_silent(&access.conditions)
}

fn is_silent_join(join: &HashJoin) -> bool {
    let is_silent_key = |key: &plan::physical::JoinKey| {
        is_silent(&key.probe) && is_silent(&key.build) && are_alike(&key.probe, &key.build)
    };
    join.keys.iter().all(is_silent_key) && are_silent(&join.conditions)
}

fn are_silent(conditions: &[Expression]) -> bool {
    conditions.iter().all(is_silent)
}
