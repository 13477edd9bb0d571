//! Reading documents: [`Node`], and the containers [`Array`] and [`Object`]. Cursors are copied freely and borrow the bytes.
//! A container's values lie in the order of its entries and behind them, each within its container and at most
//! [`DEPTH_MAX`] deep. What breaks that reads as null, so no walk is endless or deeper than that, whatever the bytes are.

use super::opaque::Opaque;
use super::{Built, DEPTH_MAX, Steps, kind, literal};
use errors::SqlResult;
use std::cmp::Ordering;

/// Bytes that each container takes on the way to the deepest one: count, size and an entry.
const LEVEL_BYTES_MIN: usize = 7;

/// A value in a document.
#[derive(Clone, Copy, Debug)]
pub enum Node<'d> {
    /// The JSON literal null.
    Null,
    /// true or false.
    Boolean(bool),
    /// An integer that is stored with a sign.
    Int(i64),
    /// An integer that is stored without a sign.
    UInt(u64),
    /// A number in floating point.
    Double(f64),
    /// Text in utf8mb4; it is not validated again.
    String(&'d [u8]),
    /// A value of an SQL type that JSON does not have.
    Opaque(Opaque<'d>),
    /// An array.
    Array(Array<'d>),
    /// An object.
    Object(Object<'d>),
}

/// An array in a document.
#[derive(Clone, Copy, Debug)]
pub struct Array<'d>(Container<'d>);

/// An object in a document. Its members are ordered by the length of their keys, then by the keys' bytes.
#[derive(Clone, Copy, Debug)]
pub struct Object<'d>(Container<'d>);

/// What arrays and objects have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container<'d> {
    /// From the count to the last byte; offsets count from its start.
    bytes: &'d [u8],
    count: u32,
    is_large: bool,
    is_object: bool,
    /// 1 for the document's own container.
    level: u8,
}

impl<'d> Node<'d> {
    /// The value of a document. Damaged bytes and no bytes at all are null.
    pub fn of(document: &'d [u8]) -> Node<'d> {
        Node::measured(document).map_or(Node::Null, |(node, _)| node)
    }

    /// The value of a document and how many bytes it takes; None if they are damaged.
    pub(super) fn measured(document: &'d [u8]) -> Option<(Node<'d>, usize)> {
        let (&code, value) = document.split_first()?;
        let (node, length) = Node::read(code, value, 1)?;
        Some((node, length + 1))
    }

    /// The value of that kind at the start of the bytes, and how many bytes it takes.
    #[inline]
    fn read(code: u8, bytes: &'d [u8], level: u8) -> Option<(Node<'d>, usize)> {
        Some(match code {
            kind::SMALL_OBJECT | kind::LARGE_OBJECT | kind::SMALL_ARRAY | kind::LARGE_ARRAY => {
                let container = Container::read(code, bytes, level)?;
                let node = match container.is_object {
                    true => Node::Object(Object(container)),
                    false => Node::Array(Array(container)),
                };
                (node, container.bytes.len())
            }
            kind::LITERAL => (literal_of(*bytes.first()?)?, 1),
            kind::INT16 => (Node::Int(i64::from(i16::from_le_bytes(*bytes.first_chunk()?))), 2),
            kind::UINT16 => (Node::UInt(u64::from(u16::from_le_bytes(*bytes.first_chunk()?))), 2),
            kind::INT32 => (Node::Int(i64::from(i32::from_le_bytes(*bytes.first_chunk()?))), 4),
            kind::UINT32 => (Node::UInt(u64::from(u32::from_le_bytes(*bytes.first_chunk()?))), 4),
            kind::INT64 => (Node::Int(i64::from_le_bytes(*bytes.first_chunk()?)), 8),
            kind::UINT64 => (Node::UInt(u64::from_le_bytes(*bytes.first_chunk()?)), 8),
            kind::DOUBLE => {
                let number = f64::from_le_bytes(*bytes.first_chunk()?);
                (Node::Double(Some(number).filter(|number| number.is_finite())?), 8)
            }
            kind::STRING => {
                let (text, length) = counted(bytes)?;
                (Node::String(text), length)
            }
            kind::OPAQUE => {
                let (&type_code, rest) = bytes.split_first()?;
                let (bytes, length) = counted(rest)?;
                (Node::Opaque(Opaque { type_code, bytes }), length + 1)
            }
            _ => return None,
        })
    }

    /// A document of this value alone.
    pub fn to_document(self) -> Vec<u8> {
        // A part of a document is neither deeper nor larger than what may be stored.
        Built::Kept(self).encode().unwrap_or_else(|_| vec![kind::LITERAL, literal::NULL])
    }

    /// Whether it is neither an array nor an object.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Node::Array(_) | Node::Object(_))
    }

    /// What JSON_DEPTH counts: 1 for scalars and empty containers, else one more than the deepest value in it.
    pub fn depth(self, steps: &mut Steps<'_>) -> SqlResult<usize> {
        self.deepest(1, steps)
    }

    /// How many containers may be in each other from here downwards, without a look at all of them.
    pub(super) fn container_levels_max(self) -> usize {
        self.container().map_or(0, |container| {
            let by_level = (DEPTH_MAX + 1).saturating_sub(usize::from(container.level));
            by_level.min(1 + container.bytes.len() / LEVEL_BYTES_MIN)
        })
    }

    /// How many containers are in each other from here downwards.
    pub(super) fn container_levels(self, steps: &mut Steps<'_>) -> SqlResult<usize> {
        self.deepest(0, steps)
    }

    /// How many containers are in each other, where a scalar counts as so many. Nothing but containers is looked at.
    fn deepest(self, scalar: usize, steps: &mut Steps<'_>) -> SqlResult<usize> {
        let Some(container) = self.container() else { return Ok(scalar) };
        let mut deepest = if container.count == 0 { 0 } else { scalar };
        let mut floor = 0;
        for (position, code) in container.codes().enumerate() {
            steps.next(0)?;
            if code <= kind::LARGE_ARRAY {
                let (node, end) = container.value(position, floor);
                floor = end;
                deepest = deepest.max(node.deepest(scalar, steps)?);
            }
        }
        Ok(1 + deepest)
    }

    /// What arrays and objects have in common; None for scalars.
    pub(super) fn container(self) -> Option<Container<'d>> {
        match self {
            Node::Array(Array(container)) | Node::Object(Object(container)) => Some(container),
            _ => None,
        }
    }

    /// The kind and the bytes of a container as they are; None for scalars.
    pub(super) fn container_bytes(self) -> Option<(u8, &'d [u8])> {
        self.container().map(|container| (container.code(), container.bytes))
    }

    /// What JSON_TYPE says.
    pub fn type_name(self) -> &'static str {
        match self {
            Node::Null => "NULL",
            Node::Boolean(_) => "BOOLEAN",
            Node::Int(_) => "INTEGER",
            Node::UInt(_) => "UNSIGNED INTEGER",
            Node::Double(_) => "DOUBLE",
            Node::String(_) => "STRING",
            Node::Opaque(opaque) => opaque.type_name(),
            Node::Array(_) => "ARRAY",
            Node::Object(_) => "OBJECT",
        }
    }
}

impl<'d> Array<'d> {
    /// How many elements it has.
    pub fn len(self) -> usize {
        self.0.count as usize
    }

    /// Whether it has no element.
    pub fn is_empty(self) -> bool {
        self.0.count == 0
    }

    /// The element at a position from 0.
    pub fn get(self, position: usize) -> Option<Node<'d>> {
        (position < self.len()).then(|| self.0.value(position, 0).0)
    }

    /// All elements in order.
    pub fn iter(self) -> ArrayIter<'d> {
        ArrayIter::of(self.0)
    }
}

impl<'d> IntoIterator for Array<'d> {
    type Item = Node<'d>;
    type IntoIter = ArrayIter<'d>;

    fn into_iter(self) -> ArrayIter<'d> {
        self.iter()
    }
}

impl<'d> Object<'d> {
    /// How many members it has.
    pub fn len(self) -> usize {
        self.0.count as usize
    }

    /// Whether it has no member.
    pub fn is_empty(self) -> bool {
        self.0.count == 0
    }

    /// The value of a key.
    pub fn get(self, key: &[u8]) -> Option<Node<'d>> {
        self.position(key).map(|position| self.0.value(position, 0).0)
    }

    /// The position of a key.
    pub fn position(self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match key_order(self.0.key(middle, 0).0, key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The member at a position in the order of keys.
    pub fn entry(self, position: usize) -> Option<(&'d [u8], Node<'d>)> {
        (position < self.len()).then(|| (self.0.key(position, 0).0, self.0.value(position, 0).0))
    }

    /// All members in the order of keys.
    pub fn iter(self) -> ObjectIter<'d> {
        ObjectIter { values: ArrayIter::of(self.0), position: 0, key_floor: 0 }
    }
}

impl<'d> IntoIterator for Object<'d> {
    type Item = (&'d [u8], Node<'d>);
    type IntoIter = ObjectIter<'d>;

    fn into_iter(self) -> ObjectIter<'d> {
        self.iter()
    }
}

/// The order of keys in an object: shorter ones first, then by bytes.
pub fn key_order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct ArrayIter<'d> {
    container: Container<'d>,
    /// The entries that are left, and how many bytes each has.
    entries: &'d [u8],
    entry_bytes: usize,
    /// Where the values before this one end. Values that overlap would let a few bytes be a document without end.
    floor: usize,
}

impl<'d> ArrayIter<'d> {
    fn of(container: Container<'d>) -> ArrayIter<'d> {
        let entry_bytes = 1 + container.offset_bytes();
        ArrayIter { container, entries: container.value_entries(), entry_bytes, floor: 0 }
    }
}

impl<'d> Iterator for ArrayIter<'d> {
    type Item = Node<'d>;

    #[inline]
    fn next(&mut self) -> Option<Node<'d>> {
        let (entry, rest) = self.entries.split_at_checked(self.entry_bytes)?;
        self.entries = rest;
        Some(match self.container.inlined(entry) {
            Some(node) => node,
            None => match self.container.outside(entry, self.floor) {
                Some((node, end)) => {
                    self.floor = end;
                    node
                }
                None => Node::Null,
            },
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = self.entries.len() / self.entry_bytes;
        (rest, Some(rest))
    }
}

impl ExactSizeIterator for ArrayIter<'_> {}

/// The members of an object.
#[derive(Clone, Debug)]
pub struct ObjectIter<'d> {
    values: ArrayIter<'d>,
    position: usize,
    /// Where the keys before this one end.
    key_floor: usize,
}

impl<'d> Iterator for ObjectIter<'d> {
    type Item = (&'d [u8], Node<'d>);

    fn next(&mut self) -> Option<(&'d [u8], Node<'d>)> {
        let value = self.values.next()?;
        let (key, floor) = self.values.container.key(self.position, self.key_floor);
        self.position += 1;
        self.key_floor = floor;
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

impl<'d> Container<'d> {
    /// The container at the start of the bytes; None if it is deeper than may be, or its entries are not within it.
    #[inline]
    fn read(code: u8, bytes: &'d [u8], level: u8) -> Option<Container<'d>> {
        if usize::from(level) > DEPTH_MAX {
            return None;
        }
        let is_large = matches!(code, kind::LARGE_OBJECT | kind::LARGE_ARRAY);
        let is_object = matches!(code, kind::SMALL_OBJECT | kind::LARGE_OBJECT);
        let head = Container { bytes, count: 0, is_large, is_object, level };
        let count = head.offset_at(0)?;
        let size = head.offset_at(head.offset_bytes())?;
        let container = Container { bytes: bytes.get(..size)?, count: count as u32, ..head };
        (container.entries_end() <= size).then_some(container)
    }

    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    pub(super) fn is_object(&self) -> bool {
        self.is_object
    }

    fn code(&self) -> u8 {
        kind::of_container(self.is_object, self.is_large)
    }

    #[inline]
    fn offset_bytes(&self) -> usize {
        if self.is_large { 4 } else { 2 }
    }

    /// The count, size or offset that lies there.
    #[inline]
    fn offset_at(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..)?;
        Some(match self.is_large {
            true => u32::from_le_bytes(*bytes.first_chunk()?) as usize,
            false => usize::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        })
    }

    fn key_entry_bytes(&self) -> usize {
        if self.is_object { self.offset_bytes() + 2 } else { 0 }
    }

    fn value_entries_start(&self) -> usize {
        2 * self.offset_bytes() + self.count as usize * self.key_entry_bytes()
    }

    /// Where keys and values may begin.
    pub(super) fn entries_end(&self) -> usize {
        self.value_entries_start() + self.count as usize * (1 + self.offset_bytes())
    }

    /// The kinds of the values.
    fn codes(&self) -> impl Iterator<Item = u8> {
        let entries = self.value_entries().chunks_exact(1 + self.offset_bytes());
        entries.filter_map(|entry| entry.first().copied())
    }

    /// The entries of the values.
    fn value_entries(&self) -> &'d [u8] {
        self.bytes.get(self.value_entries_start()..self.entries_end()).unwrap_or_default()
    }

    /// A value, and where it ends; the floor for those in the entry. A value that begins before the floor is null.
    #[inline]
    fn value(&self, position: usize, floor: usize) -> (Node<'d>, usize) {
        self.sound_value(position, floor).unwrap_or((Node::Null, floor))
    }

    #[inline]
    pub(super) fn sound_value(&self, position: usize, floor: usize) -> Option<(Node<'d>, usize)> {
        let entry = self.value_entries_start() + position * (1 + self.offset_bytes());
        let entry = self.bytes.get(entry..entry + 1 + self.offset_bytes())?;
        match self.inlined(entry) {
            Some(node) => Some((node, floor)),
            None => self.outside(entry, floor),
        }
    }

    /// The value of an entry that has it; damaged ones are null.
    #[inline]
    fn inlined(&self, entry: &'d [u8]) -> Option<Node<'d>> {
        let (&code, bits) = entry.split_first()?;
        let narrow = || u16::from_le_bytes(bits.first_chunk().copied().unwrap_or_default());
        match code {
            kind::INT16 => Some(Node::Int(i64::from(narrow() as i16))),
            kind::UINT16 => Some(Node::UInt(u64::from(narrow()))),
            code if is_inlined(code, self.is_large) => {
                Some(Node::read(code, bits, self.level).map_or(Node::Null, |(node, _)| node))
            }
            _ => None,
        }
    }

    /// The value that an entry says the place of, and where it ends; None if it begins before the floor or is damaged.
    fn outside(&self, entry: &'d [u8], floor: usize) -> Option<(Node<'d>, usize)> {
        let (&code, place) = entry.split_first()?;
        let offset = match self.is_large {
            true => u32::from_le_bytes(*place.first_chunk()?) as usize,
            false => usize::from(u16::from_le_bytes(*place.first_chunk()?)),
        };
        if is_inlined(code, self.is_large) || offset < floor.max(self.entries_end()) {
            return None;
        }
        let (node, length) = Node::read(code, self.bytes.get(offset..)?, self.level.saturating_add(1))?;
        Some((node, offset + length))
    }

    /// A key, and where it ends. One that begins before the floor is empty.
    fn key(&self, position: usize, floor: usize) -> (&'d [u8], usize) {
        self.sound_key(position, floor).unwrap_or((&[], floor))
    }

    pub(super) fn sound_key(&self, position: usize, floor: usize) -> Option<(&'d [u8], usize)> {
        let entry = 2 * self.offset_bytes() + position * self.key_entry_bytes();
        let offset = self.offset_at(entry)?;
        let length = u16::from_le_bytes(*self.bytes.get(entry + self.offset_bytes()..)?.first_chunk()?);
        let end = offset + usize::from(length);
        (offset >= floor).then_some(())?;
        Some((self.bytes.get(offset..end)?, end))
    }
}

/// Whether a value of that kind lies in its entry.
#[inline]
pub(super) fn is_inlined(code: u8, is_large: bool) -> bool {
    match code {
        kind::LITERAL | kind::INT16 | kind::UINT16 => true,
        kind::INT32 | kind::UINT32 => is_large,
        _ => false,
    }
}

#[inline]
fn literal_of<'d>(code: u8) -> Option<Node<'d>> {
    Some(match code {
        literal::NULL => Node::Null,
        literal::TRUE => Node::Boolean(true),
        literal::FALSE => Node::Boolean(false),
        _ => return None,
    })
}

/// Bytes after their length in groups of seven bits, lowest first; and how many bytes both take.
#[inline]
fn counted(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let mut length = 0usize;
    for (at, &byte) in bytes.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let end = (at + 1).checked_add(length)?;
            return Some((bytes.get(at + 1..end)?, end));
        }
    }
    None
}
