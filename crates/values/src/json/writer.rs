//! Writing documents from their leaves up: [`Writer`]. Values go into one buffer in the order in which they come; where a container
//! ends, its head (count, size, entries and keys) is put before its values. So nothing is held but the document itself, five bytes for
//! each value of the open containers, and their keys. A container is small if that fits 64 KiB, whatever it lies in.

mod order;

use super::node::is_inlined;
use super::{DEPTH_MAX, KEY_BYTES_MAX, Node, SERIALIZER, Steps, Watch, kind, literal};
use errors::{SqlResult, sql_error};
use std::ops::Range;

/// Puts a document together.
pub struct Writer<'w> {
    /// The place of the document's type byte, and what is not in entries.
    out: Vec<u8>,
    /// The kinds of the open containers' values, the outermost container's first.
    codes: Vec<u8>,
    /// For each of them its bits, if they fit into an entry of a large container; else where it begins in `out`.
    places: Vec<u32>,
    /// The keys of the open objects one behind the other, and where each ends.
    keys: Vec<u8>,
    key_ends: Vec<u32>,
    open: Vec<Open>,
    has_long_key: bool,
    /// The last part of a document whose levels were counted, and how many there were.
    counted: Option<(*const u8, usize)>,
    steps: Steps<'w>,
    bytes_max: u64,
}

/// A container that did not end yet, and what was there when it began.
#[derive(Clone, Copy)]
struct Open {
    is_object: bool,
    values: usize,
    entries: usize,
    keys: usize,
    key_ends: usize,
}

/// The form of a container.
#[derive(Clone, Copy)]
struct Shape {
    is_object: bool,
    is_large: bool,
    /// Count, size, entries and keys.
    head_bytes: usize,
    entries_end: usize,
    bytes: usize,
}

impl Shape {
    fn of(is_object: bool, is_large: bool, count: usize, key_bytes: usize, value_bytes: usize) -> Shape {
        let offset_bytes = if is_large { 4 } else { 2 };
        let key_entry = if is_object { offset_bytes + 2 } else { 0 };
        let entries_end = 2 * offset_bytes + count * (key_entry + 1 + offset_bytes);
        let head_bytes = entries_end + key_bytes;
        Shape { is_object, is_large, head_bytes, entries_end, bytes: head_bytes + value_bytes }
    }

    fn code(&self) -> u8 {
        kind::of_container(self.is_object, self.is_large)
    }
}

/// Entries that are written between two looks at the watch.
const ENTRIES_AT_ONCE: usize = 1 << 16;

impl<'w> Writer<'w> {
    /// A writer of a document of at most so many bytes.
    pub fn new(bytes_max: u64, watch: &'w dyn Watch) -> Writer<'w> {
        Writer {
            out: vec![0],
            codes: Vec::new(),
            places: Vec::new(),
            keys: Vec::new(),
            key_ends: Vec::new(),
            open: Vec::new(),
            has_long_key: false,
            counted: None,
            steps: Steps::new(watch),
            bytes_max,
        }
    }

    /// A step of the reader, which holds so many bytes more.
    #[inline]
    pub fn step(&mut self, bytes: usize) -> SqlResult<()> {
        self.steps.next(bytes)
    }

    /// Asks whether to go on.
    pub fn ask(&mut self) -> SqlResult<()> {
        self.steps.ask()
    }

    /// Begins an array or object. Error 3157 where that is too deep.
    pub fn begin(&mut self, is_object: bool) -> SqlResult<()> {
        if self.open.len() == DEPTH_MAX {
            return Err(sql_error!(ER_JSON_DOCUMENT_TOO_DEEP));
        }
        self.open.push(Open {
            is_object,
            values: self.out.len(),
            entries: self.codes.len(),
            keys: self.keys.len(),
            key_ends: self.key_ends.len(),
        });
        Ok(())
    }

    /// The key of the object's next value.
    #[inline]
    pub fn key(&mut self, key: &[u8]) -> SqlResult<()> {
        self.steps.next(key.len() + size_of::<u32>())?;
        self.has_long_key |= key.len() > KEY_BYTES_MAX;
        self.keys.extend_from_slice(key);
        let end = position(self.keys.len())?;
        self.key_ends.push(end);
        Ok(())
    }

    /// The next value: a scalar, or a container of another document, whose bytes are copied.
    #[inline]
    pub fn value(&mut self, node: Node<'_>) -> SqlResult<()> {
        let (code, place) = match node {
            Node::Null => (kind::LITERAL, u32::from(literal::NULL)),
            Node::Boolean(true) => (kind::LITERAL, u32::from(literal::TRUE)),
            Node::Boolean(false) => (kind::LITERAL, u32::from(literal::FALSE)),
            Node::Int(number) => match (i16::try_from(number), i32::try_from(number)) {
                (Ok(_), _) => (kind::INT16, number as u32),
                (_, Ok(_)) => (kind::INT32, number as u32),
                _ => (kind::INT64, self.append(&number.to_le_bytes())?),
            },
            Node::UInt(number) => match (u16::try_from(number), u32::try_from(number)) {
                (Ok(_), _) => (kind::UINT16, number as u32),
                (_, Ok(_)) => (kind::UINT32, number as u32),
                _ => (kind::UINT64, self.append(&number.to_le_bytes())?),
            },
            Node::Double(number) => (kind::DOUBLE, self.append(&number.to_le_bytes())?),
            Node::String(text) => (kind::STRING, self.append_counted(text)?),
            Node::Opaque(opaque) => {
                let place = self.append(&[opaque.type_code])?;
                self.append_counted(opaque.bytes)?;
                (kind::OPAQUE, place)
            }
            Node::Array(_) | Node::Object(_) => {
                self.check_levels(node)?;
                let (code, bytes) = node.container_bytes().unwrap_or((kind::SMALL_ARRAY, &[]));
                (code, self.append(bytes)?)
            }
        };
        self.entry(code, place)
    }

    #[inline]
    fn entry(&mut self, code: u8, place: u32) -> SqlResult<()> {
        self.codes.push(code);
        self.places.push(place);
        self.steps.next(1 + size_of::<u32>())
    }

    /// Appends bytes, and says where they are.
    #[inline]
    fn append(&mut self, bytes: &[u8]) -> SqlResult<u32> {
        self.check_bytes(self.out.len() + bytes.len())?;
        self.steps.next(bytes.len())?;
        let place = position(self.out.len())?;
        self.out.extend_from_slice(bytes);
        Ok(place)
    }

    /// Appends bytes after their length in groups of seven bits, lowest first.
    fn append_counted(&mut self, bytes: &[u8]) -> SqlResult<u32> {
        let place = position(self.out.len())?;
        stdx::varint::put_varint(&mut self.out, bytes.len() as u64);
        self.append(bytes)?;
        Ok(place)
    }

    /// Error 1301 for what is longer than it may be, 3150 for what is longer than a document can be.
    fn check_bytes(&self, bytes: usize) -> SqlResult<()> {
        match bytes as u64 {
            bytes if bytes > u64::from(u32::MAX) => Err(sql_error!(ER_JSON_VALUE_TOO_BIG)),
            bytes if bytes > self.bytes_max => {
                Err(sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, SERIALIZER, self.bytes_max))
            }
            _ => Ok(()),
        }
    }

    /// A part of another document may lie deeper here than it did there. The levels of its containers are counted only then.
    fn check_levels(&mut self, node: Node<'_>) -> SqlResult<()> {
        let left = DEPTH_MAX - self.open.len();
        if node.container_levels_max() <= left {
            return Ok(());
        }
        let start = node.container_bytes().map(|(_, bytes)| bytes.as_ptr());
        let levels = match self.counted {
            Some((known, levels)) if Some(known) == start => levels,
            _ => node.container_levels(&mut self.steps)?,
        };
        self.counted = start.map(|start| (start, levels));
        if levels > left { Err(sql_error!(ER_JSON_DOCUMENT_TOO_DEEP)) } else { Ok(()) }
    }

    /// Ends the array or object that was begun last.
    pub fn end(&mut self) -> SqlResult<()> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        if self.codes.len() == open.entries {
            let place = self.append(&EMPTY)?;
            let code = if open.is_object { kind::SMALL_OBJECT } else { kind::SMALL_ARRAY };
            return self.entry(code, place);
        }
        if open.is_object {
            self.put_in_order(&open)?;
        }
        let shape = self.shape(&open);
        self.check_bytes(shape.bytes)?;
        if !shape.is_large {
            self.move_out_wide(&open);
        }
        self.insert_head(&open, shape)?;
        self.codes.truncate(open.entries);
        self.places.truncate(open.entries);
        self.keys.truncate(open.keys);
        self.key_ends.truncate(open.key_ends);
        self.entry(shape.code(), position(open.values)?)
    }

    fn shape(&self, open: &Open) -> Shape {
        let codes = &self.codes[open.entries..];
        let (key_bytes, value_bytes) = (self.keys.len() - open.keys, self.out.len() - open.values);
        let of = |is_large, bytes| {
            Shape::of(open.is_object, is_large, codes.len(), key_bytes, value_bytes + bytes)
        };
        let small = of(false, 0);
        if small.bytes <= usize::from(u16::MAX) {
            let small = of(false, WIDE_BYTES * codes.iter().filter(|code| is_wide(**code)).count());
            if small.bytes <= usize::from(u16::MAX) {
                return small;
            }
        }
        of(true, 0)
    }

    /// Numbers of 32 bits lie in the entries of large containers alone.
    fn move_out_wide(&mut self, open: &Open) {
        if !self.codes[open.entries..].iter().any(|code| is_wide(*code)) {
            return;
        }
        let values = self.out.split_off(open.values);
        let (codes, places) = (&self.codes[open.entries..], &mut self.places[open.entries..]);
        let ends = value_ends(codes, places, open.values, values.len());
        let mut at = 0;
        for ((code, place), end) in codes.iter().zip(places).zip(ends) {
            let new_place = self.out.len() as u32;
            match *code {
                code if is_wide(code) => self.out.extend_from_slice(&place.to_le_bytes()),
                code if is_inlined(code, true) => continue,
                _ => {
                    self.out.extend_from_slice(&values[at..end as usize]);
                    at = end as usize;
                }
            }
            *place = new_place;
        }
    }

    /// Puts count, size, entries and keys before the values.
    fn insert_head(&mut self, open: &Open, shape: Shape) -> SqlResult<()> {
        self.steps.next(shape.head_bytes)?;
        let end = self.out.len();
        self.out.resize(end + shape.head_bytes, 0);
        self.out.copy_within(open.values..end, open.values + shape.head_bytes);
        let head = &mut self.out[open.values..open.values + shape.head_bytes];
        let (entries, keys) = head.split_at_mut(shape.entries_end);
        keys.copy_from_slice(&self.keys[open.keys..]);
        let (offset_bytes, count) = (if shape.is_large { 4 } else { 2 }, self.codes.len() - open.entries);
        let (counts, entries) = entries.split_at_mut(2 * offset_bytes);
        counts[..offset_bytes].copy_from_slice(&(count as u32).to_le_bytes()[..offset_bytes]);
        counts[offset_bytes..].copy_from_slice(&(shape.bytes as u32).to_le_bytes()[..offset_bytes]);
        let key_entries = if shape.is_object { count * (offset_bytes + 2) } else { 0 };
        let (key_entries, entries) = entries.split_at_mut(key_entries);
        let mut start = open.keys;
        let ends = &self.key_ends[open.key_ends..];
        for (entry, end) in key_entries.chunks_exact_mut(offset_bytes + 2).zip(ends) {
            let offset = (shape.entries_end + start - open.keys) as u32;
            let (place, length) = entry.split_at_mut(offset_bytes);
            place.copy_from_slice(&offset.to_le_bytes()[..offset_bytes]);
            length.copy_from_slice(&((*end as usize - start) as u16).to_le_bytes());
            start = *end as usize;
        }
        // Offsets count from the container's start, with the head before them.
        let shift = (shape.head_bytes as u32).wrapping_sub(open.values as u32);
        let (codes, places) = (&self.codes[open.entries..], &self.places[open.entries..]);
        if !shape.is_large {
            put_entries::<3>(entries, codes, places, shift);
            return Ok(());
        }
        let parts = codes.chunks(ENTRIES_AT_ONCE).zip(places.chunks(ENTRIES_AT_ONCE));
        for (entries, (codes, places)) in entries.chunks_mut(ENTRIES_AT_ONCE * 5).zip(parts) {
            self.steps.ask()?;
            put_entries::<5>(entries, codes, places, shift);
        }
        Ok(())
    }

    /// The document.
    pub fn finish(mut self) -> SqlResult<Vec<u8>> {
        debug_assert!(self.open.is_empty() && self.codes.len() == 1, "one value, and all containers ended");
        if self.has_long_key {
            return Err(sql_error!(ER_JSON_KEY_TOO_BIG));
        }
        let (code, place) = (self.codes.first().copied(), self.places.first().copied());
        let (code, place) = (code.unwrap_or(kind::LITERAL), place.unwrap_or_default().to_le_bytes());
        self.out[0] = code;
        match code {
            kind::LITERAL => self.out.extend_from_slice(&place[..1]),
            kind::INT16 | kind::UINT16 => self.out.extend_from_slice(&place[..2]),
            code if is_wide(code) => self.out.extend_from_slice(&place),
            _ => {}
        }
        self.check_bytes(self.out.len())?;
        if self.out.capacity() - self.out.len() > self.out.len() / 4 {
            self.out.shrink_to_fit();
        }
        Ok(self.out)
    }
}

/// An empty container: no value, four bytes.
const EMPTY: [u8; 4] = [0, 0, 4, 0];
/// Bytes of a number of 32 bits.
const WIDE_BYTES: usize = 4;

/// Whether a value of that kind lies in the entries of large containers, but not of small ones.
fn is_wide(code: u8) -> bool {
    is_inlined(code, true) && !is_inlined(code, false)
}

/// Fills entries of so many bytes: a kind, and bits or an offset.
fn put_entries<const BYTES: usize>(entries: &mut [u8], codes: &[u8], places: &[u32], shift: u32) {
    for (entry, (code, place)) in entries.chunks_exact_mut(BYTES).zip(codes.iter().zip(places)) {
        let is_in_entry = is_inlined(*code, BYTES == 5);
        let number = if is_in_entry { *place } else { place.wrapping_add(shift) };
        entry[0] = *code;
        entry[1..].copy_from_slice(&number.to_le_bytes()[..BYTES - 1]);
    }
}

/// A place in a buffer. Error 3150 where it is beyond 4 GiB.
fn position(bytes: usize) -> SqlResult<u32> {
    u32::try_from(bytes).map_err(|_| sql_error!(ER_JSON_VALUE_TOO_BIG))
}

/// Where a key lies in the buffer of keys.
fn key_range(key_ends: &[u32], keys: usize, at: usize) -> Range<usize> {
    let start = at.checked_sub(1).map_or(keys, |before| key_ends[before] as usize);
    start..key_ends[at] as usize
}

/// Where each value ends, from the start of all: where the next one begins that is not in its entry.
fn value_ends(codes: &[u8], places: &[u32], start: usize, value_bytes: usize) -> Vec<u32> {
    let mut end = value_bytes as u32;
    let mut ends = vec![0; codes.len()];
    for (at, (code, place)) in codes.iter().zip(places).enumerate().rev() {
        ends[at] = end;
        if !is_inlined(*code, true) {
            end = place - start as u32;
        }
    }
    ends
}
