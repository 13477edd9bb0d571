//! Values as bytes: [`sort_key`] for ORDER BY, [`group_key`] for DISTINCT, GROUP BY and joins, [`hash`].

use super::Node;
use super::compare::View;
use super::number_key::NumberKey;
use std::hash::Hasher;

/// Appends bytes whose order is ORDER BY's: that of [`super::compare`] for scalars, while objects and arrays order by how
/// many members or elements they have. A number takes up to 38 bytes, a string as many as it has and one. A key may begin
/// as another one does: what follows it in a longer key needs an end mark before it.
pub fn sort_key(node: Node<'_>, out: &mut Vec<u8>) {
    let view = View::of(node);
    out.push(view.rank());
    match view {
        View::Null | View::Boolean(_) => {}
        View::Number(number) => out.extend_from_slice(NumberKey::of(&number).bytes()),
        View::String(text) => out.extend_from_slice(text),
        View::Object(object) => out.extend_from_slice(&(object.len() as u32).to_be_bytes()),
        View::Array(array) => out.extend_from_slice(&(array.len() as u32).to_be_bytes()),
        View::Date(packed) | View::Time(packed) | View::Moment(packed) => {
            out.extend_from_slice(&(packed ^ i64::MIN).to_be_bytes());
        }
        View::Opaque(opaque) => {
            out.push(opaque.type_code);
            out.extend_from_slice(opaque.bytes);
        }
    }
}

/// Appends bytes that are equal exactly for values that [`super::compare`] calls equal. No key is the beginning of another.
pub fn group_key(node: Node<'_>, out: &mut Vec<u8>) {
    feed(node, &mut |bytes| out.extend_from_slice(bytes));
}

/// Hashes a value, so that values that [`super::compare`] calls equal have one hash: 1 and 1.0.
pub fn hash(node: Node<'_>, state: &mut impl Hasher) {
    feed(node, &mut |bytes| state.write(bytes));
}

/// Gives the parts of a group key one after the other.
fn feed(node: Node<'_>, give: &mut impl FnMut(&[u8])) {
    let view = View::of(node);
    give(&[view.rank()]);
    match view {
        View::Null | View::Boolean(_) => {}
        View::Number(number) => give(NumberKey::of(&number).bytes()),
        View::String(text) => feed_counted(text, give),
        View::Array(array) => {
            give(&(array.len() as u32).to_le_bytes());
            array.iter().for_each(|element| feed(element, give));
        }
        View::Object(object) => {
            give(&(object.len() as u32).to_le_bytes());
            for (key, value) in object.iter() {
                feed_counted(key, give);
                feed(value, give);
            }
        }
        View::Date(packed) | View::Time(packed) | View::Moment(packed) => give(&packed.to_le_bytes()),
        View::Opaque(opaque) => {
            give(&[opaque.type_code]);
            feed_counted(opaque.bytes, give);
        }
    }
}

fn feed_counted(bytes: &[u8], give: &mut impl FnMut(&[u8])) {
    give(&(bytes.len() as u32).to_le_bytes());
    give(bytes);
}
