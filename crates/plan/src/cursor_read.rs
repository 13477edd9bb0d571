//! A query of one table made to read one range of one index, and to tell the clustered key of each row: what HANDLER reads. Main type:
//! [`CursorRead`].

use crate::physical::{AccessPath, Node, OutputColumn, QueryPlan, TableAccess};
use engine::{KEY_BYTES_MAX, KeyRange};
use expression::{ColumnSlot, Expression, ExpressionKind, ResultType, ValueSource};

/// What is read.
#[derive(Clone, Debug)]
pub struct CursorRead {
    /// The index, by its number in the table.
    pub index: usize,
    /// The keys.
    pub keys: KeyRange,
    /// From the last of them to the first.
    pub backward: bool,
}

impl CursorRead {
    /// Makes a query read so. Its rows have one more column, the last, which is the clustered key. False if it reads no table, since no row
    /// can be in its result.
    pub fn aim(self, query: &mut QueryPlan) -> bool {
        let Some(access) = table_of(&mut query.root) else { return false };
        let slot = access.width;
        access.path =
            AccessPath { keys: Some(self.keys), backward: self.backward, ..AccessPath::whole(self.index) };
        access.key_slot = Some(slot);
        access.width += 1;
        let Some(shown) = shown_by(&mut query.root) else { return false };
        let result = ResultType::binary(KEY_BYTES_MAX as u32);
        let kind = ExpressionKind::Column(ColumnSlot { slot, name: "".into(), picked: false });
        shown.push(Expression { kind, result: result.clone() });
        query.columns.push(OutputColumn {
            name: String::new(),
            result,
            origin: None,
            source: ValueSource::Column,
            computed: false,
        });
        true
    }
}

/// Takes the last columns of a query's result out of it: what they show.
pub fn take_last_columns(query: &mut QueryPlan, count: usize) -> Vec<Expression> {
    let kept = query.columns.len() - count;
    query.columns.truncate(kept);
    shown_by(&mut query.root).map_or_else(Vec::new, |shown| shown.drain(kept..).collect())
}

fn table_of(node: &mut Node) -> Option<&mut TableAccess> {
    match node {
        Node::Table(access) => Some(access),
        Node::Limit { input, .. } | Node::Project { input, .. } | Node::Filter { input, .. } => {
            table_of(input)
        }
        _ => None,
    }
}

fn shown_by(node: &mut Node) -> Option<&mut Vec<Expression>> {
    match node {
        Node::Project { expressions, .. } => Some(expressions),
        Node::Limit { input, .. } => shown_by(input),
        _ => None,
    }
}
