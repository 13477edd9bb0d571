//! Writing documents: sizes first, from the leaves up, then the bytes in one pass; both take time by the tree's size.
//! A container is small if that fits 64 KiB, whatever it lies in.

use super::node::is_inlined;
use super::{Built, DEPTH_MAX, KEY_BYTES_MAX, Members, Node, kind, literal};
use errors::{SqlResult, sql_error};

/// The document of a tree; see [`Built::encode`].
pub(super) fn encode(built: &Built<'_>) -> SqlResult<Vec<u8>> {
    let mut containers = Vec::new();
    let measured = measure(built, 1, &mut containers)?;
    // The type byte and the value must have a length that a column can hold.
    let bytes = u32::try_from(measured.bytes + 1).map_err(|_| sql_error!(ER_JSON_VALUE_TOO_BIG))?;
    let mut out = Vec::with_capacity(bytes as usize);
    out.push(measured.code);
    write(built, &mut containers.iter().copied(), &mut out);
    debug_assert_eq!(out.len(), bytes as usize);
    Ok(out)
}

/// What a value will be.
#[derive(Clone, Copy)]
struct Measured {
    code: u8,
    /// Without the type byte.
    bytes: u64,
}

/// Bytes of the containers' counts and offsets, and of their values outside of the entries.
#[derive(Clone, Copy, Default)]
struct Contents {
    count: u64,
    key_bytes: u64,
    /// Values that are outside of the entries of a small container.
    small_bytes: u64,
    /// The same for a large container.
    large_bytes: u64,
}

impl Contents {
    fn add(&mut self, value: Measured) {
        self.count += 1;
        self.small_bytes += if is_inlined(value.code, false) { 0 } else { value.bytes };
        self.large_bytes += if is_inlined(value.code, true) { 0 } else { value.bytes };
    }

    /// The container's kind and size.
    fn container(&self, is_object: bool) -> SqlResult<Measured> {
        let entry = |offset_bytes: u64| (if is_object { offset_bytes + 2 } else { 0 }) + 1 + offset_bytes;
        let small = 4 + self.count * entry(2) + self.key_bytes + self.small_bytes;
        if small <= u64::from(u16::MAX) {
            let code = if is_object { kind::SMALL_OBJECT } else { kind::SMALL_ARRAY };
            return Ok(Measured { code, bytes: small });
        }
        let large = 8 + self.count * entry(4) + self.key_bytes + self.large_bytes;
        if large > u64::from(u32::MAX) {
            return Err(sql_error!(ER_JSON_VALUE_TOO_BIG));
        }
        let code = if is_object { kind::LARGE_OBJECT } else { kind::LARGE_ARRAY };
        Ok(Measured { code, bytes: large })
    }
}

/// Measures a value on a level from 1, and notes each array and object of the tree in the order in which they begin.
fn measure(built: &Built<'_>, level: usize, containers: &mut Vec<Measured>) -> SqlResult<Measured> {
    if let Some(node) = built.node() {
        check_levels(node, level)?;
        return measure_node(node);
    }
    if level > DEPTH_MAX {
        return Err(sql_error!(ER_JSON_DOCUMENT_TOO_DEEP));
    }
    let at = containers.len();
    containers.push(Measured { code: 0, bytes: 0 });
    let mut contents = Contents::default();
    let container = match built {
        Built::Object(members) => {
            for (key, value) in members.iter() {
                if key.len() > KEY_BYTES_MAX {
                    return Err(sql_error!(ER_JSON_KEY_TOO_BIG));
                }
                contents.key_bytes += key.len() as u64;
                contents.add(measure(value, level + 1, containers)?);
            }
            contents.container(true)?
        }
        Built::Array(elements) => {
            for element in elements {
                contents.add(measure(element, level + 1, containers)?);
            }
            contents.container(false)?
        }
        _ => contents.container(false)?,
    };
    if let Some(place) = containers.get_mut(at) {
        *place = container;
    }
    Ok(container)
}

/// A kept part may lie deeper here than it did in its document.
fn check_levels(node: Node<'_>, level: usize) -> SqlResult<()> {
    let is_deep = |levels: usize| level - 1 + levels > DEPTH_MAX;
    if is_deep(node.container_levels_max()) && is_deep(node.container_levels()) {
        return Err(sql_error!(ER_JSON_DOCUMENT_TOO_DEEP));
    }
    Ok(())
}

fn measure_node(node: Node<'_>) -> SqlResult<Measured> {
    let counted = |length: usize| varint_bytes(length) + length as u64;
    let (code, bytes) = match node {
        Node::Null | Node::Boolean(_) => (kind::LITERAL, 1),
        Node::Int(number) if i16::try_from(number).is_ok() => (kind::INT16, 2),
        Node::Int(number) if i32::try_from(number).is_ok() => (kind::INT32, 4),
        Node::Int(_) => (kind::INT64, 8),
        Node::UInt(number) if u16::try_from(number).is_ok() => (kind::UINT16, 2),
        Node::UInt(number) if u32::try_from(number).is_ok() => (kind::UINT32, 4),
        Node::UInt(_) => (kind::UINT64, 8),
        Node::Double(_) => (kind::DOUBLE, 8),
        Node::String(text) => (kind::STRING, counted(text.len())),
        Node::Opaque(opaque) => (kind::OPAQUE, 1 + counted(opaque.bytes.len())),
        Node::Array(_) | Node::Object(_) => {
            let (code, bytes) = node.container_bytes().unwrap_or((kind::SMALL_ARRAY, &[]));
            (code, bytes.len() as u64)
        }
    };
    if bytes > u64::from(u32::MAX) {
        return Err(sql_error!(ER_JSON_VALUE_TOO_BIG));
    }
    Ok(Measured { code, bytes })
}

fn varint_bytes(length: usize) -> u64 {
    u64::from((usize::BITS - length.leading_zeros()).max(1).div_ceil(7))
}

/// Appends a value without its type byte. The containers are the measured ones in order.
fn write(built: &Built<'_>, containers: &mut (impl Iterator<Item = Measured> + Clone), out: &mut Vec<u8>) {
    match built {
        Built::Array(elements) => {
            let Some(container) = containers.next() else { return };
            let writer = Writer::begin(container, elements.len(), out);
            writer.values(elements.iter(), containers, out);
        }
        Built::Object(members) => {
            let Some(container) = containers.next() else { return };
            let mut writer = Writer::begin(container, members.len(), out);
            writer.keys(members, out);
            writer.values(members.iter().map(|(_, value)| value), containers, out);
        }
        _ => {
            if let Some(node) = built.node() {
                write_node(node, out);
            }
        }
    }
}

/// A container that is written.
struct Writer {
    /// Where its count is.
    start: usize,
    is_large: bool,
    /// Where the next entry is.
    entry: usize,
}

impl Writer {
    /// Writes count and size, and leaves place for the entries.
    fn begin(container: Measured, count: usize, out: &mut Vec<u8>) -> Writer {
        let is_large = matches!(container.code, kind::LARGE_OBJECT | kind::LARGE_ARRAY);
        let is_object = matches!(container.code, kind::SMALL_OBJECT | kind::LARGE_OBJECT);
        let start = out.len();
        let mut writer = Writer { start, is_large, entry: start };
        let offset_bytes = writer.offset_bytes();
        let entry_bytes = 1 + offset_bytes + if is_object { offset_bytes + 2 } else { 0 };
        out.resize(start + 2 * offset_bytes + count * entry_bytes, 0);
        writer.put_offset(count, out);
        writer.put_offset(container.bytes as usize, out);
        writer
    }

    fn offset_bytes(&self) -> usize {
        if self.is_large { 4 } else { 2 }
    }

    /// Puts bytes in the entries.
    fn put(&mut self, bytes: &[u8], out: &mut [u8]) {
        if let Some(place) = out.get_mut(self.entry..self.entry + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.entry += bytes.len();
    }

    fn put_offset(&mut self, number: usize, out: &mut [u8]) {
        let bytes = (number as u32).to_le_bytes();
        self.put(if self.is_large { &bytes } else { &bytes[..2] }, out);
    }

    fn keys(&mut self, members: &Members<'_>, out: &mut Vec<u8>) {
        for (key, _) in members.iter() {
            self.put_offset(out.len() - self.start, out);
            self.put(&(key.len() as u16).to_le_bytes(), out);
            out.extend_from_slice(key);
        }
    }

    fn values<'b>(
        mut self,
        values: impl Iterator<Item = &'b Built<'b>>,
        containers: &mut (impl Iterator<Item = Measured> + Clone),
        out: &mut Vec<u8>,
    ) {
        for value in values {
            let code = code_of(value, containers);
            self.put(&[code], out);
            if is_inlined(code, self.is_large) {
                let inlined = value.node().map_or([0; 4], inlined_bytes);
                self.put(&inlined[..self.offset_bytes()], out);
            } else {
                self.put_offset(out.len() - self.start, out);
                write(value, containers, out);
            }
        }
    }
}

/// The type byte of a value; for an array or object, the next of the measured containers is that one.
fn code_of(built: &Built<'_>, containers: &(impl Iterator<Item = Measured> + Clone)) -> u8 {
    match built.node() {
        Some(node) => measure_node(node).map_or(kind::LITERAL, |measured| measured.code),
        None => containers.clone().next().map_or(kind::SMALL_ARRAY, |measured| measured.code),
    }
}

/// A literal or a number of up to 32 bits, lowest byte first.
fn inlined_bytes(node: Node<'_>) -> [u8; 4] {
    match node {
        Node::Boolean(true) => [literal::TRUE, 0, 0, 0],
        Node::Boolean(false) => [literal::FALSE, 0, 0, 0],
        Node::Int(number) => (number as i32).to_le_bytes(),
        Node::UInt(number) => (number as u32).to_le_bytes(),
        _ => [literal::NULL, 0, 0, 0],
    }
}

fn write_node(node: Node<'_>, out: &mut Vec<u8>) {
    match node {
        Node::Null => out.push(literal::NULL),
        Node::Boolean(truth) => out.push(if truth { literal::TRUE } else { literal::FALSE }),
        Node::Int(number) => match (i16::try_from(number), i32::try_from(number)) {
            (Ok(number), _) => out.extend_from_slice(&number.to_le_bytes()),
            (_, Ok(number)) => out.extend_from_slice(&number.to_le_bytes()),
            _ => out.extend_from_slice(&number.to_le_bytes()),
        },
        Node::UInt(number) => match (u16::try_from(number), u32::try_from(number)) {
            (Ok(number), _) => out.extend_from_slice(&number.to_le_bytes()),
            (_, Ok(number)) => out.extend_from_slice(&number.to_le_bytes()),
            _ => out.extend_from_slice(&number.to_le_bytes()),
        },
        Node::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
        Node::String(text) => put_counted(text, out),
        Node::Opaque(opaque) => {
            out.push(opaque.type_code);
            put_counted(opaque.bytes, out);
        }
        Node::Array(_) | Node::Object(_) => {
            out.extend_from_slice(node.container_bytes().map_or(&[], |(_, bytes)| bytes));
        }
    }
}

/// Bytes after their length in groups of seven bits, lowest first.
fn put_counted(bytes: &[u8], out: &mut Vec<u8>) {
    stdx::varint::put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
