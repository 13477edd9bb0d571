//! The check of whole documents: [`is_sound`].

use super::node::Container;
use super::opaque::code;
use super::{Node, Opaque};

/// Whether a document is one that could have been written: each offset within its container and behind what comes before,
/// keys in order, text in utf8mb4, not too deep, no byte behind the end. Takes time by the document's size;
/// tests ask it of what was written.
pub fn is_sound(document: &[u8]) -> bool {
    Node::measured(document).is_some_and(|(node, length)| length == document.len() && is_sound_node(node))
}

fn is_sound_node(node: Node<'_>) -> bool {
    match node {
        Node::String(text) => std::str::from_utf8(text).is_ok(),
        Node::Opaque(opaque) => is_sound_opaque(opaque),
        Node::Array(_) | Node::Object(_) => node.container().is_some_and(is_sound_container),
        _ => true,
    }
}

/// A value of a type that has a form of its own must have that form.
fn is_sound_opaque(opaque: Opaque<'_>) -> bool {
    let has_form = matches!(
        opaque.type_code,
        code::DECIMAL | code::DATE | code::TIME | code::DATETIME | code::TIMESTAMP
    );
    !has_form || opaque.value().is_some()
}

fn is_sound_container(container: Container<'_>) -> bool {
    let mut floor = container.entries_end();
    if container.is_object() {
        let mut last: Option<&[u8]> = None;
        for position in 0..container.count() {
            let Some((key, end)) = container.sound_key(position, floor) else { return false };
            let in_order = last.is_none_or(|last| super::node::key_order(last, key).is_lt());
            if !in_order || std::str::from_utf8(key).is_err() {
                return false;
            }
            (last, floor) = (Some(key), end);
        }
    }
    for position in 0..container.count() {
        let Some((value, end)) = container.sound_value(position, floor) else { return false };
        if !is_sound_node(value) {
            return false;
        }
        floor = end;
    }
    true
}
