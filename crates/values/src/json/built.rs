//! A document as a tree that is built and changed: [`Built`]. [`Built::encode`] makes the bytes of it.

use super::encode;
use super::{Members, Node, Opaque, Steps, Unwatched, Watch};
use errors::SqlResult;
use std::borrow::Cow;

/// Room that an opened array has for what a change adds: a large one that had to grow would be in memory twice.
const SPARE_ELEMENTS: usize = 16;

/// A JSON value that is put together or changed. Parts of other documents stay where they are until the tree is encoded.
#[derive(Clone, Debug)]
pub enum Built<'d> {
    /// The JSON literal null.
    Null,
    /// true or false.
    Boolean(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A finite number in floating point.
    Double(f64),
    /// Text in valid utf8mb4.
    String(Cow<'d, [u8]>),
    /// A value of another SQL type.
    Opaque {
        /// MySQL's number of the type.
        type_code: u8,
        /// The value as MySQL holds it in documents.
        bytes: Cow<'d, [u8]>,
    },
    /// An array.
    Array(Vec<Built<'d>>),
    /// An object.
    Object(Members<'d>),
    /// A part of another document. Its bytes are copied as they are.
    Kept(Node<'d>),
}

impl<'d> Built<'d> {
    /// The document, for what is small. Fails with ER_JSON_DOCUMENT_TOO_DEEP beyond [`super::DEPTH_MAX`] containers in each other, with
    /// ER_JSON_KEY_TOO_BIG for a key over 65,535 bytes and with ER_JSON_VALUE_TOO_BIG beyond 4 GiB.
    pub fn encode(&self) -> SqlResult<Vec<u8>> {
        self.encode_within(u64::MAX, &Unwatched)
    }

    /// The same of at most so many bytes: ER_WARN_ALLOWED_PACKET_OVERFLOWED for more; and the errors of the watch.
    pub fn encode_within(&self, bytes_max: u64, watch: &dyn Watch) -> SqlResult<Vec<u8>> {
        encode::encode(self, bytes_max, watch)
    }

    /// The value with one level open for changes: the values in it are kept. Each is a step, of the bytes that it takes in the tree.
    fn open(node: Node<'d>, steps: &mut Steps<'_>) -> SqlResult<Built<'d>> {
        Ok(match node {
            Node::Null => Built::Null,
            Node::Boolean(truth) => Built::Boolean(truth),
            Node::Int(number) => Built::Int(number),
            Node::UInt(number) => Built::UInt(number),
            Node::Double(number) => Built::Double(number),
            Node::String(text) => Built::String(Cow::Borrowed(text)),
            Node::Opaque(opaque) => {
                Built::Opaque { type_code: opaque.type_code, bytes: Cow::Borrowed(opaque.bytes) }
            }
            Node::Array(array) => {
                let mut elements = Vec::with_capacity(array.len() + SPARE_ELEMENTS);
                for element in array {
                    steps.next(size_of::<Built<'_>>())?;
                    elements.push(Built::Kept(element));
                }
                Built::Array(elements)
            }
            Node::Object(object) => {
                let mut members = Vec::with_capacity(object.len());
                for (key, value) in object {
                    steps.next(size_of::<(Cow<'_, [u8]>, Built<'_>)>())?;
                    members.push((Cow::Borrowed(key), Built::Kept(value)));
                }
                Built::Object(Members::from_sorted(members))
            }
        })
    }

    /// A scalar or a kept part as it is read; None for arrays and objects that are built.
    pub fn node(&self) -> Option<Node<'_>> {
        Some(match self {
            Built::Null => Node::Null,
            Built::Boolean(truth) => Node::Boolean(*truth),
            Built::Int(number) => Node::Int(*number),
            Built::UInt(number) => Node::UInt(*number),
            Built::Double(number) => Node::Double(*number),
            Built::String(text) => Node::String(text),
            Built::Opaque { type_code, bytes } => Node::Opaque(Opaque { type_code: *type_code, bytes }),
            Built::Kept(node) => *node,
            Built::Array(_) | Built::Object(_) => return None,
        })
    }

    /// The value with one level open, in its place: a kept part is opened, all others are as they are.
    pub fn opened(&mut self, steps: &mut Steps<'_>) -> SqlResult<&mut Built<'d>> {
        if let Built::Kept(node) = *self {
            *self = Built::open(node, steps)?;
        }
        Ok(self)
    }
}
