//! A collation: how text of a character set compares. Main type: [`Collation`].
//! Comparison and equality are MySQL's, bit for bit; sort keys are our own form (see `sort_code`).

use crate::case::{self, CaseTable};
use crate::encoding::Encoding;
use crate::multi_byte::MultiByte;
use crate::search::{KILL_LOOK_STEPS, KeepOn, Stopped};
use crate::sort_code::{self, SortCode};
use crate::weights::{self, WeightTable, Weights};
use crate::{Charset, CollationId, registry, single_byte, tailoring};
use std::cmp::Ordering;
use std::hash::Hasher;
use std::sync::LazyLock;

/// How a collation orders characters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// By byte.
    Bytes,
    /// By the weight of each byte.
    SingleByte(&'static [u8; 256]),
    /// By the bytes that stand for each character (see `multi_byte`).
    MultiByte(&'static MultiByte),
    /// By the weights of each character on that many levels.
    Weights { table: &'static LazyLock<WeightTable>, code: &'static LazyLock<SortCode>, levels: u8 },
    /// Not known to Iruka.
    Unsupported,
}

impl Order {
    pub(crate) fn by_name(name: &'static str, charset: &Charset) -> Order {
        let weights = |table, code, levels| Order::Weights { table, code, levels };
        if let Some(order) = single_byte::order(name) {
            return Order::SingleByte(order);
        }
        if let Encoding::MultiByte(listed) = charset.encoding
            && (name.ends_with("_japanese_ci")
                || name.ends_with("_chinese_ci")
                || name.ends_with("_korean_ci"))
        {
            return Order::MultiByte(listed);
        }
        let suffix = name.strip_prefix(charset.name).unwrap_or(name);
        match suffix {
            _ if !charset.is_supported() => Order::Unsupported,
            "_bin"
                if matches!(charset.encoding, Encoding::Ucs2 | Encoding::Utf16 { .. } | Encoding::Utf32) =>
            {
                weights(&weights::CODE_POINT, &sort_code::CODE_POINT, 1)
            }
            "_bin" | "binary" | "_0900_bin" => Order::Bytes,
            "" if name == "binary" => Order::Bytes,
            "_0900_ai_ci" => weights(&weights::UCA_0900, &sort_code::UCA_0900, 1),
            "_0900_as_ci" => weights(&weights::UCA_0900, &sort_code::UCA_0900, 2),
            "_0900_as_cs" => weights(&weights::UCA_0900, &sort_code::UCA_0900, 3),
            "_unicode_ci" => weights(&weights::UCA_0400, &sort_code::UCA_0400, 1),
            "_unicode_520_ci" => weights(&weights::UCA_0520, &sort_code::UCA_0520, 1),
            "_general_ci" if charset.max_bytes > 1 => weights(&weights::GENERAL, &sort_code::GENERAL, 1),
            "_tolower_ci" => weights(&weights::LOWER_CASE, &sort_code::LOWER_CASE, 1),
            _ if charset.encoding.is_unicode() => match tailoring::of_name(suffix) {
                Some(((table, code), levels)) => weights(table, code, levels),
                None => Order::Unsupported,
            },
            _ => Order::Unsupported,
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
    pub(crate) encoding: Encoding,
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
    #[inline]
    pub fn is_plain_bytes(&self) -> bool {
        matches!(self.order, Order::Bytes | Order::Unsupported) && !self.pad_space
    }

    /// Whether this is the collation `binary`.
    pub fn is_binary(&self) -> bool {
        self.id == CollationId::BINARY
    }

    /// The order of two texts.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.order {
            Order::Bytes | Order::Unsupported => self.compare_bytes(a, b, |byte| byte),
            Order::SingleByte(order) => self.compare_bytes(a, b, |byte| order[usize::from(byte)]),
            Order::MultiByte(_) if a == b => Ordering::Equal,
            Order::MultiByte(listed) => {
                self.compare_bytes(&weight_bytes(listed, a), &weight_bytes(listed, b), |byte| byte)
            }
            Order::Weights { table, levels, .. } => {
                if a == b {
                    return Ordering::Equal;
                }
                let first = self.compare_first_level(table, a, b);
                (2..=levels).fold(first, |so_far, level| {
                    so_far.then_with(|| self.weights(table, a, level).cmp(self.weights(table, b, level)))
                })
            }
        }
    }

    fn compare_bytes(&self, a: &[u8], b: &[u8], weight: impl Fn(u8) -> u8) -> Ordering {
        let common = a.len().min(b.len());
        let head =
            a[..common].iter().map(|&byte| weight(byte)).cmp(b[..common].iter().map(|&byte| weight(byte)));
        if head != Ordering::Equal || !self.pad_space {
            return head.then(a.len().cmp(&b.len()));
        }
        let space = weight(b' ');
        let against_spaces = |rest: &[u8]| {
            rest.iter()
                .map(|&byte| weight(byte).cmp(&space))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        against_spaces(&a[common..]).then_with(|| against_spaces(&b[common..]).reverse())
    }

    fn weights<'a>(&self, table: &'a WeightTable, text: &'a [u8], level: u8) -> Weights<'a> {
        Weights::of_text(table, self.encoding, text, level)
    }

    fn compare_first_level(&self, table: &WeightTable, a: &[u8], b: &[u8]) -> Ordering {
        let mut at = 0;
        if self.is_ascii_compatible() {
            // Pairs of ASCII characters with one weight each need no decoding.
            for (&x, &y) in a.iter().zip(b) {
                let weight = |byte: u8| table.ascii.get(usize::from(byte)).copied().unwrap_or(0);
                let (x, y) = (weight(x), weight(y));
                if x == 0 || y == 0 {
                    break;
                }
                if x != y {
                    return x.cmp(&y);
                }
                at += 1;
            }
        }
        let mut left = self.weights(table, &a[at..], 1);
        let mut right = self.weights(table, &b[at..], 1);
        loop {
            match (left.next(), right.next()) {
                (Some(x), Some(y)) if x == y => {}
                (Some(x), Some(y)) => return x.cmp(&y),
                (None, None) => return Ordering::Equal,
                (Some(x), None) if self.pad_space => {
                    return first_difference(x, left, table.space);
                }
                (None, Some(y)) if self.pad_space => {
                    return first_difference(y, right, table.space).reverse();
                }
                (Some(_), None) => return Ordering::Greater,
                (None, Some(_)) => return Ordering::Less,
            }
        }
    }

    fn is_ascii_compatible(&self) -> bool {
        matches!(self.encoding, Encoding::Utf8mb3 | Encoding::Utf8mb4)
    }

    /// Whether two texts are equal.
    #[inline]
    pub fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.compare(a, b) == Ordering::Equal
    }

    /// Feeds a hasher so that equal texts hash alike.
    pub fn hash<H: Hasher>(&self, text: &[u8], hasher: &mut H) {
        if self.is_plain_bytes() {
            hasher.write(text);
        } else {
            let mut key = Vec::with_capacity(text.len() + 8);
            self.sort_key(text, &mut key);
            hasher.write(&key);
        }
    }

    /// Appends a key whose byte order is this collation's order. The key is self-delimiting: no key is the
    /// start of another one.
    pub fn sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        out.reserve(text.len() + 1);
        match self.order {
            Order::Bytes | Order::Unsupported => {
                byte_key::append(text, |byte| byte, b' ', self.pad_space, out)
            }
            Order::SingleByte(order) => {
                byte_key::append(
                    text,
                    |byte| order[usize::from(byte)],
                    order[usize::from(b' ')],
                    self.pad_space,
                    out,
                );
            }
            Order::MultiByte(listed) => {
                byte_key::append(&weight_bytes(listed, text), |byte| byte, b' ', self.pad_space, out);
            }
            Order::Weights { table, code, levels } => {
                let done = if self.is_ascii_compatible() { code.append_ascii(text, out) } else { 0 };
                code.append(self.weights(table, &text[done..], 1), out);
                if levels == 1 {
                    code.append_end(out);
                } else {
                    sort_code::append_level_end(out);
                }
                for level in 2..=levels {
                    let common = if level == 2 { 0x20 } else { 0x02 };
                    sort_code::append_level(self.weights(table, text, level), common, level == levels, out);
                }
            }
        }
    }

    /// Appends the bytes that the keys of all texts that begin with `start` begin with (fewer where that is
    /// not sure; never more).
    pub fn sort_key_start(&self, start: &[u8], out: &mut Vec<u8>) {
        let part_at = out.len();
        match self.order {
            Order::Bytes | Order::Unsupported => {
                byte_key::append(start, |byte| byte, b' ', self.pad_space, out)
            }
            Order::SingleByte(order) => {
                byte_key::append(
                    start,
                    |byte| order[usize::from(byte)],
                    order[usize::from(b' ')],
                    self.pad_space,
                    out,
                );
            }
            Order::MultiByte(listed) => {
                byte_key::append(&weight_bytes(listed, start), |byte| byte, b' ', self.pad_space, out);
            }
            Order::Weights { table, code, .. } => {
                let start = &start[..self.length_without_contractions(table, start)];
                code.append(self.weights(table, start, 1), out);
                return;
            }
        }
        // The mark of the end does not belong to the start.
        if out.len() > part_at {
            out.pop();
        }
    }

    /// Bytes of a text up to the first character that weighs as one that begins a contraction: what follows may change
    /// its weight, and LIKE, which compares characters one by one, takes it for the same whatever follows.
    fn length_without_contractions(&self, table: &WeightTable, text: &[u8]) -> usize {
        let Some(contractions) = &table.contractions else { return text.len() };
        let mut at = 0;
        while at < text.len() {
            let step = self.encoding.decode(&text[at..]);
            let weights = step.character.map(|character| table.weights_of(character, 1));
            if weights.is_some_and(|weights| contractions.begin_with_equal_of(weights)) {
                break;
            }
            at += step.length;
        }
        at
    }

    /// Whether of two texts the lesser one's first characters are never greater than the other's. They may be where a later level
    /// decides, or where a character weighs otherwise together with the next one.
    pub fn beginnings_keep_order(&self) -> bool {
        !matches!(self.order, Order::Weights { table, levels, .. } if levels > 1 || table.contractions.is_some())
    }

    /// Bytes of the key at the start of `bytes`; None when no whole key is there. With `inverted` every byte
    /// is taken as its complement (descending keys).
    pub fn sort_key_length(&self, bytes: &[u8], inverted: bool) -> Option<usize> {
        let flip = if inverted { 0xff } else { 0 };
        match self.order {
            Order::Weights { code, levels, .. } => code.length(bytes, levels, flip),
            _ => byte_key::length(bytes, self.pad_space, flip),
        }
    }

    /// Whether [`Collation::text_of_sort_key`] gives the text back, but for trailing spaces when PAD SPACE.
    pub fn sort_key_is_reversible(&self) -> bool {
        matches!(self.order, Order::Bytes)
    }

    /// The text of a key of a reversible collation.
    pub fn text_of_sort_key(&self, key: &[u8]) -> Vec<u8> {
        byte_key::text(key, self.pad_space)
    }

    /// Whether a letter of one byte has an upper or lower case of more bytes.
    pub fn case_grows(&self) -> bool {
        case::is_dotless(self.name) && self.is_ascii_compatible()
    }

    /// Lower case by this collation's rules.
    pub fn lower(&self, text: &[u8]) -> Vec<u8> {
        match self.encoding {
            Encoding::SingleByte(charset) => {
                text.iter().map(|&byte| charset.lower[usize::from(byte)]).collect()
            }
            _ if self.is_ascii_compatible() && text.is_ascii() && !case::is_dotless(self.name) => {
                text.to_ascii_lowercase()
            }
            _ => self.map_case(text, CaseTable::lower),
        }
    }

    /// Upper case by this collation's rules.
    pub fn upper(&self, text: &[u8]) -> Vec<u8> {
        match self.encoding {
            Encoding::SingleByte(charset) => {
                text.iter().map(|&byte| charset.upper[usize::from(byte)]).collect()
            }
            _ if self.is_ascii_compatible() && text.is_ascii() && !case::is_dotless(self.name) => {
                text.to_ascii_uppercase()
            }
            _ => self.map_case(text, CaseTable::upper),
        }
    }

    fn map_case(&self, text: &[u8], map: impl Fn(&CaseTable, u32) -> u32) -> Vec<u8> {
        if matches!(self.encoding, Encoding::Binary | Encoding::Unsupported) {
            return text.to_vec();
        }
        let cases = CaseTable::of_collation(self.name);
        let mut mapped = Vec::with_capacity(text.len());
        let mut at = 0;
        for step in self.charset().characters(text) {
            let character = step.character.map(|character| map(cases, character));
            if !character.is_some_and(|c| self.encoding.encode(c, &mut mapped)) {
                mapped.extend_from_slice(&text[at..at + step.length]);
            }
            at += step.length;
        }
        mapped
    }

    /// Whether two characters are equal, as LIKE compares them: one by one.
    pub(crate) fn characters_equal(&self, a: u32, b: u32) -> bool {
        a == b
            || match self.order {
                Order::Bytes | Order::Unsupported => false,
                Order::SingleByte(order) => self.byte_weight(order, a) == self.byte_weight(order, b),
                Order::MultiByte(listed) => listed.weight(a) == listed.weight(b),
                Order::Weights { table, levels, .. } => {
                    match (table.ascii_weight(a), table.ascii_weight(b)) {
                        (Some(a), Some(b)) if levels == 1 || a != b => a == b,
                        _ => weights_equal(table, levels, a, b),
                    }
                }
            }
    }

    fn byte_weight(&self, order: &[u8; 256], character: u32) -> Option<u8> {
        let Encoding::SingleByte(charset) = self.encoding else { return None };
        charset.byte_of(character).map(|byte| order[usize::from(byte)])
    }

    /// MySQL's own sort key, as WEIGHT_STRING() shows it.
    pub fn weight_string(&self, text: &[u8], keep_on: KeepOn<'_>) -> Result<Vec<u8>, Stopped> {
        Ok(match self.order {
            Order::Bytes
                if matches!(self.encoding, Encoding::Utf8mb3 | Encoding::Utf8mb4) && self.pad_space =>
            {
                let code_points = self.charset().characters(text).filter_map(|step| step.character);
                code_points.flat_map(|c| c.to_be_bytes().into_iter().skip(1)).collect()
            }
            Order::Bytes | Order::Unsupported => text.to_vec(),
            Order::SingleByte(order) => text.iter().map(|&byte| order[usize::from(byte)]).collect(),
            Order::MultiByte(listed) => weight_bytes(listed, text),
            Order::Weights { table, levels, .. } => {
                let mut key = Vec::with_capacity(2 * text.len());
                for level in 1..=levels {
                    if level > 1 {
                        key.extend_from_slice(&[0, 0]);
                    }
                    for (index, weight) in self.weights(table, text, level).enumerate() {
                        key.extend_from_slice(&weight.to_be_bytes());
                        if (index + 1).is_multiple_of(KILL_LOOK_STEPS) && !keep_on() {
                            return Err(Stopped);
                        }
                    }
                }
                key
            }
        })
    }
}

fn weight_bytes(listed: &MultiByte, text: &[u8]) -> Vec<u8> {
    let mut weights = Vec::with_capacity(text.len());
    listed.append_weights(text, &mut weights);
    weights
}

/// Whether two characters have the same weights on all levels.
pub(crate) fn weights_equal(table: &WeightTable, levels: u8, a: u32, b: u32) -> bool {
    let same = |level| table.weights_of(a, level).as_slice() == table.weights_of(b, level).as_slice();
    (1..=levels).all(same)
}

/// The order of what one text has more than the other, against endless spaces.
fn first_difference(first: u16, rest: Weights<'_>, space: u16) -> Ordering {
    std::iter::once(first)
        .chain(rest)
        .map(|w| w.cmp(&space))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Keys of collations that order by one byte-sized weight a byte.
/// NO PAD: bytes 0 and 1 are written as 1 and the byte plus 1; 0 ends. PAD SPACE: bytes below the space are
/// written as 1 and the byte; 2, 3 and 4 are a space before less, the end, and a space before more.
mod byte_key {
    const ESCAPE: u8 = 1;
    const SPACE_BEFORE_LESSER: u8 = 2;
    const END_AMONG_SPACES: u8 = 3;
    const SPACE_BEFORE_GREATER: u8 = 4;
    const END: u8 = 0;

    pub(super) fn append(
        text: &[u8],
        weight: impl Fn(u8) -> u8,
        space: u8,
        pad_space: bool,
        out: &mut Vec<u8>,
    ) {
        // Weights up to 4 that are not below the space would meet the marks; no character set has such a space.
        debug_assert!(!pad_space || space > SPACE_BEFORE_GREATER);
        let mut spaces = 0;
        for byte in text.iter().map(|&byte| weight(byte)) {
            if pad_space && byte == space {
                spaces += 1;
                continue;
            }
            if spaces > 0 {
                let mark = if byte < space { SPACE_BEFORE_LESSER } else { SPACE_BEFORE_GREATER };
                out.extend(std::iter::repeat_n(mark, spaces));
                spaces = 0;
            }
            match byte {
                0..=1 if !pad_space => out.extend_from_slice(&[ESCAPE, byte + 1]),
                _ if pad_space && byte < space => out.extend_from_slice(&[ESCAPE, byte]),
                _ => out.push(byte),
            }
        }
        out.push(if pad_space { END_AMONG_SPACES } else { END });
    }

    pub(super) fn length(bytes: &[u8], pad_space: bool, flip: u8) -> Option<usize> {
        let end = if pad_space { END_AMONG_SPACES } else { END };
        let mut at = 0;
        loop {
            let byte = bytes.get(at)? ^ flip;
            at += if byte == ESCAPE { 2 } else { 1 };
            if byte == end {
                return Some(at);
            }
        }
    }

    pub(super) fn text(key: &[u8], pad_space: bool) -> Vec<u8> {
        let mut text = Vec::with_capacity(key.len());
        let mut rest = key.iter();
        while let Some(&byte) = rest.next() {
            match byte {
                ESCAPE => {
                    let escaped = rest.next().copied().unwrap_or(0);
                    text.push(if pad_space { escaped } else { escaped.wrapping_sub(1) });
                }
                SPACE_BEFORE_LESSER | SPACE_BEFORE_GREATER if pad_space => text.push(b' '),
                END_AMONG_SPACES if pad_space => break,
                END if !pad_space => break,
                _ => text.push(byte),
            }
        }
        text
    }
}
