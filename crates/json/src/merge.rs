//! Merging: JSON_MERGE_PRESERVE and JSON_MERGE_PATCH (RFC 7396). Members of two objects are merged in the order of their keys, so
//! both take time proportional to their input.

use errors::SqlResult;
use std::borrow::Cow;
use values::json::{Built, Members, Node, Steps, key_order};

/// Both values together: objects with the members of both, where those of one key are merged in turn; else an array of the
/// elements of both, to which values that are no arrays add themselves.
pub fn merge_preserve<'d>(left: Built<'d>, right: Built<'d>, steps: &mut Steps<'_>) -> SqlResult<Built<'d>> {
    Ok(match (level_opened(left, steps)?, level_opened(right, steps)?) {
        (Built::Object(left), Built::Object(right)) => {
            let right = right.into_pairs();
            Built::Object(merged(left, right, steps, |old, new, steps| match old {
                Some(old) => merge_preserve(old, new, steps).map(Some),
                None => Ok(Some(new)),
            })?)
        }
        (left, right) => {
            let mut elements = elements_of(left);
            elements.append(&mut elements_of(right));
            Built::Array(elements)
        }
    })
}

/// A value changed by a patch: a patch that is no object replaces it; else each member of the patch patches the member of its
/// key, and null takes it out.
pub fn merge_patch<'d>(target: Built<'d>, patch: Node<'d>, steps: &mut Steps<'_>) -> SqlResult<Built<'d>> {
    let Built::Object(patch) = level_opened(Built::Kept(patch), steps)? else {
        return Ok(Built::Kept(patch));
    };
    let target = match level_opened(target, steps)? {
        Built::Object(members) => members,
        _ => Members::new(),
    };
    let merge = |old: Option<Built<'d>>, patch, steps: &mut Steps<'_>| match patch {
        Built::Kept(Node::Null) => Ok(None),
        Built::Kept(patch @ Node::Object(_)) => {
            merge_patch(old.unwrap_or(Built::Null), patch, steps).map(Some)
        }
        other => Ok(Some(other)),
    };
    merged(target, patch.into_pairs(), steps, merge).map(Built::Object)
}

/// The value with its first level open.
fn level_opened<'d>(mut value: Built<'d>, steps: &mut Steps<'_>) -> SqlResult<Built<'d>> {
    value.opened(steps)?;
    Ok(value)
}

fn elements_of(value: Built<'_>) -> Vec<Built<'_>> {
    match value {
        Built::Array(elements) => elements,
        other => vec![other],
    }
}

/// The members of the left object, where `merge` makes a value of each right one and of the left one with the same key. Each is a step:
/// there may be many, and many objects that are merged into them.
fn merged<'d>(
    left: Members<'d>,
    right: Vec<(Cow<'d, [u8]>, Built<'d>)>,
    steps: &mut Steps<'_>,
    mut merge: impl FnMut(Option<Built<'d>>, Built<'d>, &mut Steps<'_>) -> SqlResult<Option<Built<'d>>>,
) -> SqlResult<Members<'d>> {
    let mut members = Vec::with_capacity(left.len().max(right.len()));
    let mut left = left.into_pairs().into_iter().peekable();
    for (key, value) in right {
        while let Some(earlier) = left.next_if(|(other, _)| key_order(other, &key).is_lt()) {
            steps.next(0)?;
            members.push(earlier);
        }
        steps.next(0)?;
        let old = left.next_if(|(other, _)| *other == key).map(|(_, old)| old);
        if let Some(value) = merge(old, value, steps)? {
            members.push((key, value));
        }
    }
    for later in left {
        steps.next(0)?;
        members.push(later);
    }
    Ok(Members::from_sorted(members))
}
