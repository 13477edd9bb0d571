//! Values as bytes: [`sort_key`] for ORDER BY, [`group_key`] for DISTINCT, GROUP BY and joins.

use super::compare::View;
use super::number_key::NumberKey;
use super::{Node, Steps};
use errors::SqlResult;

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
/// The bytes of the key are asked for.
pub fn group_key(node: Node<'_>, out: &mut Vec<u8>, steps: &mut Steps<'_>) -> SqlResult<()> {
    let start = out.len();
    let view = View::of(node);
    out.push(view.rank());
    match view {
        View::Null | View::Boolean(_) => {}
        View::Number(number) => out.extend_from_slice(NumberKey::of(&number).bytes()),
        View::String(text) => push_counted(text, out),
        View::Array(array) => {
            out.extend_from_slice(&(array.len() as u32).to_le_bytes());
            array.iter().try_for_each(|element| group_key(element, out, steps))?;
            return steps.next(0);
        }
        View::Object(object) => {
            out.extend_from_slice(&(object.len() as u32).to_le_bytes());
            for (key, value) in object.iter() {
                push_counted(key, out);
                steps.next(key.len())?;
                group_key(value, out, steps)?;
            }
            return steps.next(0);
        }
        View::Date(packed) | View::Time(packed) | View::Moment(packed) => {
            out.extend_from_slice(&packed.to_le_bytes());
        }
        View::Opaque(opaque) => {
            out.push(opaque.type_code);
            push_counted(opaque.bytes, out);
        }
    }
    steps.next(out.len() - start)
}

fn push_counted(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}
