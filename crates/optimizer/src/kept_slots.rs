//! Which values of the kept side of a hash join are kept: those that something reads. Main function: [`keep_what_is_read`].

use expression::Expression;
use plan::physical::{AccessPath, HashJoin, KeyCondition, NestedLoop, Node, TableAccess};

/// Slots of a row that something reads.
#[derive(Clone, Default)]
struct ReadSlots(Vec<bool>);

impl ReadSlots {
    fn add_slot(&mut self, slot: usize) {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, false);
        }
        self.0[slot] = true;
    }

    fn add(&mut self, expression: &Expression) {
        expression.for_each_slot(&mut |slot| self.add_slot(slot));
    }

    fn add_all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        expressions.into_iter().for_each(|expression| self.add(expression));
    }

    fn has(&self, slot: usize) -> bool {
        self.0.get(slot).is_some_and(|has| *has)
    }
}

/// Leaves to the hash joins of a SELECT's tree, which ends in a select list, only what is read of their kept sides.
pub fn keep_what_is_read(root: &mut Node) {
    keep_read(root, ReadSlots::default());
}

/// `read`: the slots that are read of the node's rows.
fn keep_read(node: &mut Node, mut read: ReadSlots) {
    match node {
        Node::Project { input, expressions } => {
            let mut own = ReadSlots::default();
            own.add_all(&*expressions);
            keep_read(input, own);
        }
        Node::Aggregate(step) => {
            let mut own = ReadSlots::default();
            own.add_all(&step.keys);
            for call in &step.aggregates {
                own.add_all(&call.arguments);
                own.add_all(call.order_by.iter().map(|key| &key.expression));
            }
            keep_read(&mut step.input, own);
        }
        Node::Window(step) => {
            read.add_all(step.expressions());
            keep_read(&mut step.input, read);
        }
        Node::Filter { input, conditions } => {
            read.add_all(&*conditions);
            keep_read(input, read);
        }
        Node::Sort { input, keys, .. } => {
            read.add_all(keys.iter().map(|key| &key.expression));
            keep_read(input, read);
        }
        Node::Distinct { input, columns } => {
            (0..columns.len()).for_each(|slot| read.add_slot(slot));
            keep_read(input, read);
        }
        Node::Limit { input, .. } => keep_read(input, read),
        Node::NestedLoop(join) => keep_in_loop(join, read),
        Node::VirtualLoop(join) => {
            read.add_all(join.conditions.iter().chain(&join.inner.conditions));
            read.add_all(join.inner.keys.iter().flat_map(|key| &key.points));
            keep_read(&mut join.outer, read);
        }
        Node::LateralLoop(join) => {
            read.add_all(join.conditions.iter().chain(&join.inner.conditions).chain(&join.inner.arguments));
            keep_read(&mut join.outer, read);
        }
        Node::TreeLoop(join) => {
            read.add_all(&join.conditions);
            join.inner.seeds.iter().for_each(|slot| read.add_slot(*slot));
            keep_read(&mut join.outer, read.clone());
            keep_read(&mut join.inner.node, read);
        }
        Node::HashJoin(join) => keep_in_hash_join(join, read),
        // Operands of set operations and queries in FROM have select lists of their own.
        _ => {}
    }
}

fn keep_in_loop(join: &mut NestedLoop<TableAccess>, mut read: ReadSlots) {
    read.add_all(join.conditions.iter().chain(&join.inner.conditions));
    add_keys(&mut read, &join.inner.path);
    keep_read(&mut join.outer, read);
}

fn keep_in_hash_join(join: &mut HashJoin, mut read: ReadSlots) {
    read.add_all(&join.conditions);
    // Keys are computed anew where the kept side goes to disk.
    read.add_all(join.keys.iter().flat_map(|key| [&key.probe, &key.build]));
    join.build_slots.retain(|slot| read.has(*slot));
    keep_read(&mut join.probe, read.clone());
    keep_read(&mut join.build, read);
}

fn add_keys(read: &mut ReadSlots, path: &AccessPath) {
    for condition in path.key_conditions() {
        match condition {
            KeyCondition::Points(points) => read.add_all(points.iter().map(|(point, _)| point)),
            KeyCondition::Range { low, high } => {
                read.add_all(low.iter().chain(high).map(|(bound, _)| bound));
            }
            KeyCondition::Prefix(pattern, _) => read.add(pattern),
        }
    }
}
