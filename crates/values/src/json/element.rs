//! Elements of arrays as values of a column's type, which is how a multi-valued index keeps them. Main function: [`element_value`].

use super::Node;
use super::opaque::code;
use crate::column_type::ColumnType;
use crate::value::Value;

/// The value of an element that was made for a type ([`ColumnType`] of an integer, DECIMAL, DATE, TIME, DATETIME, VARCHAR or
/// VARBINARY). None for an element of another form, which is damage.
pub fn element_value(element: Node<'_>, element_type: &ColumnType) -> Option<Value> {
    let is_integer = element_type.kind.is_integer();
    match element {
        Node::Int(number) if is_integer && !element_type.unsigned => Some(Value::Int(number)),
        Node::UInt(number) if is_integer && element_type.unsigned => Some(Value::UInt(number)),
        Node::String(text) if element_type.kind.is_string() => Some(Value::Bytes(text.to_vec())),
        Node::Opaque(opaque) if opaque.type_code == code::VARBINARY => {
            element_type.kind.is_string().then(|| Value::Bytes(opaque.bytes.to_vec()))
        }
        Node::Opaque(opaque) => opaque.value(),
        _ => None,
    }
}
