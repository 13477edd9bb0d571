//! A collation: how text of a character set compares. Main type: [`Collation`].

use crate::encoding::Encoding;
use crate::{Charset, CollationId, registry};
use std::cmp::Ordering;
use std::hash::Hasher;

/// How a collation orders characters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// By byte.
    Bytes,
    /// By upper-case code point.
    Folded,
    /// Not known to Iruka.
    Unsupported,
}

impl Order {
    pub(crate) fn by_name(name: &str, charset: &Charset) -> Order {
        if !charset.is_supported() {
            Order::Unsupported
        } else if name == "binary" || name.ends_with("_bin") {
            Order::Bytes
        } else {
            Order::Folded
        }
    }
}

/// A collation.
#[derive(Clone, Debug)]
pub struct Collation {
    /// MySQL's number.
    pub id: CollationId,
    /// Name, lower case.
    pub name: &'static str,
    /// Whether it is its character set's default.
    pub is_default: bool,
    /// As in SHOW COLLATION.
    pub sort_length: u8,
    /// Whether trailing spaces are insignificant (PAD SPACE).
    pub pad_space: bool,
    pub(crate) charset: u16,
    pub(crate) order: Order,
}

impl Collation {
    /// The character set.
    #[inline]
    pub fn charset(&self) -> &'static Charset {
        registry::charset_at(self.charset)
    }

    /// Whether Iruka can compare by this collation.
    pub fn is_supported(&self) -> bool {
        !matches!(self.order, Order::Unsupported)
    }

    /// Whether texts are equal only when their bytes are, trailing spaces included (`binary`,
    /// `utf8mb4_0900_bin`), and order as their bytes do.
    pub fn is_plain_bytes(&self) -> bool {
        matches!(self.order, Order::Bytes) && !self.pad_space
    }

    /// Whether this is the collation `binary`.
    pub fn is_binary(&self) -> bool {
        self.id == CollationId::BINARY
    }

    /// The order of two texts.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.is_plain_bytes() {
            return a.cmp(b);
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.sort_key(a, &mut left);
        self.sort_key(b, &mut right);
        left.cmp(&right)
    }

    /// Whether two texts are equal.
    pub fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.compare(a, b) == Ordering::Equal
    }

    /// Feeds a hasher so that equal texts hash alike.
    pub fn hash<H: Hasher>(&self, text: &[u8], hasher: &mut H) {
        if self.is_plain_bytes() {
            hasher.write(text);
        } else {
            let mut key = Vec::new();
            self.sort_key(text, &mut key);
            hasher.write(&key);
        }
    }

    /// Appends a key whose byte order is this collation's order. The key is self-delimiting: no key is the
    /// start of another one.
    pub fn sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        self.sort_key_start(text, out);
        if self.pad_space {
            while out.last() == Some(&SPACE_BEFORE_GREATER) {
                out.pop();
            }
            out.push(END_AMONG_SPACES);
        } else {
            out.push(0);
        }
    }

    /// Appends the bytes that the keys of all texts that begin with `start` begin with (fewer where that is
    /// not sure; never more).
    pub fn sort_key_start(&self, start: &[u8], out: &mut Vec<u8>) {
        for &byte in start {
            let byte = if matches!(self.order, Order::Folded) { byte.to_ascii_uppercase() } else { byte };
            match byte {
                b' ' if self.pad_space => out.push(SPACE_BEFORE_GREATER),
                0..=4 => out.extend_from_slice(&[1, byte + 1]),
                _ => out.push(byte),
            }
        }
    }

    /// Bytes of the key at the start of `bytes`; None when no whole key is there. With `inverted` every byte
    /// is taken as its complement (descending keys).
    pub fn sort_key_length(&self, bytes: &[u8], inverted: bool) -> Option<usize> {
        let end = if self.pad_space { END_AMONG_SPACES } else { 0 };
        let flip = if inverted { 0xff } else { 0 };
        bytes.iter().position(|&byte| byte ^ flip == end).map(|at| at + 1)
    }

    /// Whether [`Collation::text_of_sort_key`] gives the text back, but for trailing spaces when PAD SPACE.
    pub fn sort_key_is_reversible(&self) -> bool {
        matches!(self.order, Order::Bytes)
    }

    /// The text of a key of a reversible collation.
    pub fn text_of_sort_key(&self, key: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(key.len());
        let mut rest = key.iter();
        while let Some(&byte) = rest.next() {
            match byte {
                1 => text.push(rest.next().copied().unwrap_or(1).wrapping_sub(1)),
                SPACE_BEFORE_GREATER if self.pad_space => text.push(b' '),
                END_AMONG_SPACES if self.pad_space => break,
                0 => break,
                _ => text.push(byte),
            }
        }
        text
    }

    /// Lower case by this collation's rules.
    pub fn lower(&self, text: &[u8]) -> Vec<u8> {
        self.map_case(text, |c| c.to_lowercase().next().unwrap_or(c))
    }

    /// Upper case by this collation's rules.
    pub fn upper(&self, text: &[u8]) -> Vec<u8> {
        self.map_case(text, |c| c.to_uppercase().next().unwrap_or(c))
    }

    fn map_case(&self, text: &[u8], map: impl Fn(char) -> char) -> Vec<u8> {
        let encoding = self.charset().encoding;
        if matches!(encoding, Encoding::Binary | Encoding::Unsupported) {
            return text.to_vec();
        }
        let mut mapped = Vec::with_capacity(text.len());
        let mut at = 0;
        for step in self.charset().characters(text) {
            let character = step.character.and_then(char::from_u32).map(&map);
            if !character.is_some_and(|c| encoding.encode(c as u32, &mut mapped)) {
                mapped.extend_from_slice(&text[at..at + step.length]);
            }
            at += step.length;
        }
        mapped
    }

    /// Whether the text matches a LIKE pattern; `escape` is the escape character, if any.
    pub fn like(&self, text: &[u8], pattern: &[u8], escape: Option<u32>) -> bool {
        let _ = (text, pattern, escape);
        false
    }

    /// Offset and length in bytes of the first place in `text` that equals `needle`, from byte offset `from`.
    pub fn find(&self, text: &[u8], needle: &[u8], from: usize) -> Option<(usize, usize)> {
        let _ = (text, needle, from);
        None
    }

    /// MySQL's own sort key, as WEIGHT_STRING() shows it.
    pub fn weight_string(&self, text: &[u8]) -> Vec<u8> {
        text.to_vec()
    }
}

const SPACE_BEFORE_GREATER: u8 = 4;
const END_AMONG_SPACES: u8 = 3;
