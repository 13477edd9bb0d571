//! LIKE patterns and searching for a text within a text, by a collation's equality of characters.

use crate::collation::Order;
use crate::encoding::Encoding;
use crate::weights::Weights;
use crate::{Collation, encoding::Decoded};

const ANY_CHARACTER: u32 = b'_' as u32;
const ANY_TEXT: u32 = b'%' as u32;

/// A pattern element and the bytes that it takes.
enum Element {
    Literal(u32),
    AnyCharacter,
    AnyText,
}

/// A byte that is no character stands for itself, outside the range of characters.
fn code_of(step: Decoded, text: &[u8]) -> u32 {
    step.character.unwrap_or_else(|| 0x8000_0000 | u32::from(text[0]))
}

impl Collation {
    /// Whether the text matches a LIKE pattern; `escape` is the escape character, if any.
    /// Characters are compared one by one; trailing spaces count, whatever the collation.
    pub fn like(&self, text: &[u8], pattern: &[u8], escape: Option<u32>) -> bool {
        let (mut text_at, mut pattern_at) = (0, 0);
        // Where to resume after the last %: one character further into the text each time.
        let mut resume: Option<(usize, usize)> = None;
        loop {
            let element = self.element(&pattern[pattern_at..], escape);
            match element {
                Some((Element::AnyText, length)) => {
                    pattern_at += length;
                    if pattern_at == pattern.len() {
                        return true;
                    }
                    resume = Some((pattern_at, text_at));
                    continue;
                }
                None if text_at == text.len() => return true,
                Some((element, length)) if text_at < text.len() => {
                    let step = self.encoding.decode(&text[text_at..]);
                    let matches = match element {
                        Element::Literal(wanted) => {
                            self.characters_equal(code_of(step, &text[text_at..]), wanted)
                        }
                        _ => true,
                    };
                    if matches {
                        pattern_at += length;
                        text_at += step.length;
                        continue;
                    }
                }
                _ => {}
            }
            let Some((resume_pattern, resume_text)) = resume else { return false };
            if resume_text >= text.len() {
                return false;
            }
            text_at = resume_text + self.encoding.decode(&text[resume_text..]).length;
            pattern_at = resume_pattern;
            resume = Some((resume_pattern, text_at));
        }
    }

    fn element(&self, pattern: &[u8], escape: Option<u32>) -> Option<(Element, usize)> {
        if pattern.is_empty() {
            return None;
        }
        let step = self.encoding.decode(pattern);
        let code = code_of(step, pattern);
        if escape == Some(code) && pattern.len() > step.length {
            let rest = &pattern[step.length..];
            let escaped = self.encoding.decode(rest);
            return Some((Element::Literal(code_of(escaped, rest)), step.length + escaped.length));
        }
        let element = match code {
            ANY_CHARACTER => Element::AnyCharacter,
            ANY_TEXT => Element::AnyText,
            _ => Element::Literal(code),
        };
        Some((element, step.length))
    }

    /// The text that every match of a pattern starts with, as far as it is literal; and whether that is the
    /// whole pattern. For index ranges.
    pub fn like_prefix(&self, pattern: &[u8], escape: Option<u32>) -> (Vec<u8>, bool) {
        let mut prefix = Vec::new();
        let mut at = 0;
        while let Some((element, length)) = self.element(&pattern[at..], escape) {
            let Element::Literal(code) = element else { return (prefix, false) };
            if !self.encoding.encode(code, &mut prefix) {
                return (prefix, false);
            }
            at += length;
        }
        (prefix, true)
    }

    /// Offset and length in bytes of the first place in `text` that equals `needle`, from byte offset `from`.
    /// The place starts at a character.
    pub fn find(&self, text: &[u8], needle: &[u8], from: usize) -> Option<(usize, usize)> {
        let mut at = from;
        while at <= text.len() {
            if let Some(length) = self.prefix_match(&text[at..], needle) {
                return Some((at, length));
            }
            if at == text.len() {
                return None;
            }
            at += self.encoding.decode(&text[at..]).length;
        }
        None
    }

    /// Bytes of `text`'s start that equal `needle`; None when it does not start with it.
    fn prefix_match(&self, text: &[u8], needle: &[u8]) -> Option<usize> {
        match self.order {
            Order::Bytes | Order::Unsupported => text.starts_with(needle).then_some(needle.len()),
            Order::SingleByte(order) => {
                let weight = |byte: &u8| order[usize::from(*byte)];
                let start = text.get(..needle.len())?;
                start.iter().map(weight).eq(needle.iter().map(weight)).then_some(needle.len())
            }
            Order::MultiByte(listed) => {
                let (mut at, mut wanted) = (0, 0);
                while wanted < needle.len() {
                    let left = self.encoding.decode(text.get(at..).filter(|rest| !rest.is_empty())?);
                    let right = self.encoding.decode(&needle[wanted..]);
                    let weight = |step: Decoded, rest: &[u8]| listed.weight(code_of(step, rest));
                    if weight(left, &text[at..]) != weight(right, &needle[wanted..]) {
                        return None;
                    }
                    at += left.length;
                    wanted += right.length;
                }
                Some(at)
            }
            Order::Weights { table, levels, .. } => {
                let mut weights = Weights::new(table, self.encoding, text, 1);
                let starts = Weights::new(table, self.encoding, needle, 1).all(|w| weights.next() == Some(w));
                if !starts {
                    return None;
                }
                let matched = &text[..text.len() - weights.remaining()];
                let same = (2..=levels).all(|level| {
                    let left = Weights::new(table, self.encoding, matched, level);
                    left.eq(Weights::new(table, self.encoding, needle, level))
                });
                same.then_some(matched.len())
            }
        }
    }

    /// Whether a byte offset is at a character's start, counted from the text's start.
    pub fn is_character_start(&self, text: &[u8], offset: usize) -> bool {
        match self.encoding {
            Encoding::Utf8mb3 | Encoding::Utf8mb4 => text.get(offset).is_none_or(|byte| byte & 0xc0 != 0x80),
            Encoding::MultiByte(_) => {
                let mut at = 0;
                while at < offset.min(text.len()) {
                    at += self.encoding.decode(&text[at..]).length;
                }
                at == offset
            }
            _ => offset.is_multiple_of(self.encoding.min_bytes()),
        }
    }
}
