//! Documents as text: [`print`] as MySQL shows them, [`print_pretty`] as JSON_PRETTY does, [`quote`] for one string.

use super::{Node, Opaque, Steps, Unwatched, Watch};
use crate::number;
use crate::value::Value;
use errors::SqlResult;

/// Appends a value as MySQL shows it: `{"a": 1, "b": [true, null]}`.
pub fn print(node: Node<'_>, out: &mut Vec<u8>) {
    // Nobody ends it.
    let _ = print_watched(node, out, &Unwatched);
}

/// The same of a document that may be long: the bytes of the text are asked for.
pub fn print_watched(node: Node<'_>, out: &mut Vec<u8>, watch: &dyn Watch) -> SqlResult<()> {
    print_in_line(node, out, &mut Steps::new(watch))
}

/// Bytes that an integer is counted as, with what stands before it.
const SHORT_BYTES: usize = 8;

fn print_in_line(node: Node<'_>, out: &mut Vec<u8>, steps: &mut Steps<'_>) -> SqlResult<()> {
    match node {
        Node::Array(array) => {
            out.push(b'[');
            for (position, element) in array.iter().enumerate() {
                if position > 0 {
                    out.extend_from_slice(b", ");
                }
                print_in_line(element, out, steps)?;
            }
            out.push(b']');
            steps.next(0)
        }
        Node::Object(object) => {
            out.push(b'{');
            for (position, (key, value)) in object.iter().enumerate() {
                out.extend_from_slice(if position > 0 { b", " } else { b"" });
                quote(key, out);
                out.extend_from_slice(b": ");
                steps.next(key.len())?;
                print_in_line(value, out, steps)?;
            }
            out.push(b'}');
            steps.next(0)
        }
        // Most values are short.
        Node::Int(number) => {
            number::append_i64(number, out);
            steps.next(SHORT_BYTES)
        }
        scalar => {
            let start = out.len();
            print_scalar(scalar, out);
            steps.next(2 + out.len() - start)
        }
    }
}

/// Appends a value on several lines, each level two blanks further to the right: a text that may be a hundred times as long as the
/// document. False if it became longer than so many bytes.
pub fn print_pretty(node: Node<'_>, out: &mut Vec<u8>, bytes_max: u64, watch: &dyn Watch) -> SqlResult<bool> {
    let mut lines = Lines { out, bytes_max, steps: Steps::new(watch) };
    lines.print(node, 0)
}

/// A text of several lines.
struct Lines<'o, 'w> {
    out: &'o mut Vec<u8>,
    bytes_max: u64,
    steps: Steps<'w>,
}

impl Lines<'_, '_> {
    fn print(&mut self, node: Node<'_>, level: usize) -> SqlResult<bool> {
        if self.out.len() as u64 > self.bytes_max {
            return Ok(false);
        }
        match node {
            Node::Array(array) if !array.is_empty() => {
                self.out.push(b'[');
                for (position, element) in array.iter().enumerate() {
                    self.new_line(position > 0, level + 1)?;
                    if !self.print(element, level + 1)? {
                        return Ok(false);
                    }
                }
                self.new_line(false, level)?;
                self.out.push(b']');
            }
            Node::Object(object) if !object.is_empty() => {
                self.out.push(b'{');
                for (position, (key, value)) in object.iter().enumerate() {
                    self.new_line(position > 0, level + 1)?;
                    quote(key, self.out);
                    self.out.extend_from_slice(b": ");
                    if !self.print(value, level + 1)? {
                        return Ok(false);
                    }
                }
                self.new_line(false, level)?;
                self.out.push(b'}');
            }
            flat => print_in_line(flat, self.out, &mut self.steps)?,
        }
        Ok(self.out.len() as u64 <= self.bytes_max)
    }

    fn new_line(&mut self, comma: bool, level: usize) -> SqlResult<()> {
        self.out.extend_from_slice(if comma { b",\n" } else { b"\n" });
        self.out.extend(std::iter::repeat_n(b' ', 2 * level));
        self.steps.next(2 + 2 * level)
    }
}

fn print_scalar(node: Node<'_>, out: &mut Vec<u8>) {
    match node {
        Node::Boolean(true) => out.extend_from_slice(b"true"),
        Node::Boolean(false) => out.extend_from_slice(b"false"),
        Node::Int(number) => number::append_i64(number, out),
        Node::UInt(number) => number::append_u64(number, out),
        Node::Double(number) => print_double(number, out),
        Node::String(text) => quote(text, out),
        Node::Opaque(opaque) => print_opaque(opaque, out),
        Node::Null | Node::Array(_) | Node::Object(_) => out.extend_from_slice(b"null"),
    }
}

/// A point tells a double from an integer.
fn print_double(number: f64, out: &mut Vec<u8>) {
    let start = out.len();
    number::append_f64(number, out);
    if out.iter().skip(start).all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        out.extend_from_slice(b".0");
    }
}

fn print_opaque(opaque: Opaque<'_>, out: &mut Vec<u8>) {
    let value = opaque.value();
    if let Some(Value::Decimal(number)) = value {
        number.append_text(out);
        return;
    }
    out.push(b'"');
    print_opaque_text(opaque, value, out);
    out.push(b'"');
}

/// What is between the quotes of an opaque value that is not a number. No character of it needs an escape.
fn print_opaque_text(opaque: Opaque<'_>, value: Option<Value>, out: &mut Vec<u8>) {
    match value {
        Some(Value::Date(date)) => date.append_text(out),
        Some(Value::Time(time)) => time.append_text(6, out),
        Some(Value::DateTime(moment)) => moment.append_text(6, out),
        _ => {
            out.extend_from_slice(b"base64:type");
            number::append_u64(u64::from(opaque.type_code), out);
            out.push(b':');
            append_base64(opaque.bytes, out);
        }
    }
}

/// Appends a text between quotes, with `\` before what JSON does not let stand for itself.
pub fn quote(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        let (plain, escaped) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = escaped.split_first() else { break };
        match byte {
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].iter().filter_map(|&digit| HEX.get(usize::from(digit))));
            }
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Groups of four digits in a line: 76 characters.
const BASE64_LINE_GROUPS: usize = 19;

/// Appends base64 in lines, with the line feed's escape between them.
fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (number, chunk) in bytes.chunks(3).enumerate() {
        if number > 0 && number.is_multiple_of(BASE64_LINE_GROUPS) {
            out.extend_from_slice(b"\\n");
        }
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            // One byte fills two digits, two bytes three.
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { digit } else { b'=' });
        }
    }
}
