//! Merging: JSON_MERGE_PRESERVE and JSON_MERGE_PATCH (RFC 7396). Members of two objects are merged in the order of their keys, so
//! both take time proportional to their input.

use std::borrow::Cow;
use values::json::{Built, Members, Node, Object, key_order};

/// Both values together: objects with the members of both, where those of one key are merged in turn; else an array of the
/// elements of both, to which values that are no arrays add themselves.
pub fn merge_preserve<'d>(left: Built<'d>, right: Built<'d>) -> Built<'d> {
    match (levels_opened(left), levels_opened(right)) {
        (Built::Object(left), Built::Object(right)) => {
            Built::Object(merged(left, right.into_pairs(), |old, new| match old {
                Some(old) => Some(merge_preserve(old, new)),
                None => Some(new),
            }))
        }
        (left, right) => {
            let mut elements = elements_of(left);
            elements.append(&mut elements_of(right));
            Built::Array(elements)
        }
    }
}

/// A value changed by a patch: a patch that is no object replaces it; else each member of the patch patches the member of its
/// key, and null takes it out.
pub fn merge_patch<'d>(target: Built<'d>, patch: Node<'d>) -> Built<'d> {
    let Node::Object(patch) = patch else { return Built::Kept(patch) };
    let target = match levels_opened(target) {
        Built::Object(members) => members,
        _ => Members::new(),
    };
    Built::Object(merged(target, pairs(patch), |old, patch| match patch {
        Built::Kept(Node::Null) => None,
        Built::Kept(patch @ Node::Object(_)) => Some(merge_patch(old.unwrap_or(Built::Null), patch)),
        other => Some(other),
    }))
}

/// The value with its first level open.
fn levels_opened(mut value: Built<'_>) -> Built<'_> {
    value.opened();
    value
}

fn elements_of(value: Built<'_>) -> Vec<Built<'_>> {
    match value {
        Built::Array(elements) => elements,
        other => vec![other],
    }
}

fn pairs(object: Object<'_>) -> Vec<(Cow<'_, [u8]>, Built<'_>)> {
    object.iter().map(|(key, value)| (Cow::Borrowed(key), Built::Kept(value))).collect()
}

/// The members of the left object, where `merge` makes a value of each right one and of the left one with the same key.
fn merged<'d>(
    left: Members<'d>,
    right: Vec<(Cow<'d, [u8]>, Built<'d>)>,
    mut merge: impl FnMut(Option<Built<'d>>, Built<'d>) -> Option<Built<'d>>,
) -> Members<'d> {
    let mut members = Vec::with_capacity(left.len().max(right.len()));
    let mut left = left.into_pairs().into_iter().peekable();
    for (key, value) in right {
        while let Some(earlier) = left.next_if(|(other, _)| key_order(other, &key).is_lt()) {
            members.push(earlier);
        }
        let old = left.next_if(|(other, _)| *other == key).map(|(_, old)| old);
        if let Some(value) = merge(old, value) {
            members.push((key, value));
        }
    }
    members.extend(left);
    Members::from_sorted(members)
}
