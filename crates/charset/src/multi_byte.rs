//! Character sets of several bytes a character whose characters are listed: those of Chinese, Japanese and Korean.
//! Main type: [`MultiByte`]. Tables are made at first use from `data/multi_byte_*.bin`, which hold MySQL's own answers.
//! A well formed sequence without Unicode character is a character nevertheless: it counts as [`UNKNOWN`] plus its code.

use crate::varint::Reader;
use std::sync::LazyLock;

/// First of the numbers, beyond Unicode, that stand for characters without one.
pub(crate) const UNKNOWN: u32 = 0x11_0000;

/// Which bytes make a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Big5,
    EucJapanese,
    EucKorean,
    Gb18030,
    Gb2312,
    Gbk,
    ShiftJis,
}

/// A character set.
#[derive(Debug)]
pub(crate) struct MultiByte {
    name: &'static str,
    form: Form,
    tables: LazyLock<Tables>,
}

#[derive(Debug)]
struct Tables {
    /// Code and code point where they differ, by code.
    to_unicode: Vec<(u32, u32)>,
    /// Code point and code, by code point. Code 0 is for what is read but not written.
    from_unicode: Vec<(u32, u32)>,
    /// Code and weight in the set's own collation where they differ, by code.
    weights: Vec<(u32, u32)>,
}

macro_rules! charsets {
    ($($name:literal $form:ident;)*) => {
        static CHARSETS: [MultiByte; 9] = [$(MultiByte {
            name: $name,
            form: Form::$form,
            tables: LazyLock::new(|| Tables::read(include_bytes!(concat!("../data/multi_byte_", $name, ".bin")))),
        }),*];
    };
}

charsets! {
    "big5" Big5;
    "cp932" ShiftJis;
    "eucjpms" EucJapanese;
    "euckr" EucKorean;
    "gb18030" Gb18030;
    "gb2312" Gb2312;
    "gbk" Gbk;
    "sjis" ShiftJis;
    "ujis" EucJapanese;
}

/// The character set of that name.
pub(crate) fn charset(name: &str) -> Option<&'static MultiByte> {
    CHARSETS.iter().find(|charset| charset.name == name)
}

fn look_up(table: &[(u32, u32)], key: u32) -> Option<u32> {
    table.binary_search_by_key(&key, |pair| pair.0).ok().map(|at| table[at].1)
}

impl Tables {
    fn read(blob: &[u8]) -> Tables {
        let mut from = Reader::new(blob);
        let to_unicode = read_pairs(&mut from);
        let mut from_unicode: Vec<(u32, u32)> =
            to_unicode.iter().map(|&(code, unicode)| (unicode, code)).collect();
        // Of several codes of a character the lowest is written, unless the list that follows says otherwise.
        from_unicode.sort_unstable();
        from_unicode.dedup_by_key(|pair| pair.0);
        let mut unicode = 0;
        for _ in 0..from.unsigned() {
            unicode += from.unsigned();
            let code = from.unsigned();
            match from_unicode.binary_search_by_key(&unicode, |pair| pair.0) {
                Ok(at) => from_unicode[at].1 = code,
                Err(at) => from_unicode.insert(at, (unicode, code)),
            }
        }
        let weights = read_pairs(&mut from);
        Tables { to_unicode, from_unicode, weights }
    }
}

/// Ascending keys with a value each.
fn read_pairs(from: &mut Reader<'_>) -> Vec<(u32, u32)> {
    let count = from.unsigned();
    let mut pairs = Vec::with_capacity(count as usize);
    let (mut key, mut value) = (0u32, 0u32);
    for _ in 0..count {
        key = key.wrapping_add(from.unsigned());
        value = value.wrapping_add_signed(from.signed());
        pairs.push((key, value));
    }
    pairs
}

impl MultiByte {
    /// Whether bytes below 0x80 occur within characters.
    pub(crate) fn masks_ascii(&self) -> bool {
        !matches!(self.form, Form::EucJapanese | Form::Gb2312)
    }

    /// Bytes of the well formed character at the start of a text that is not empty.
    fn length(&self, text: &[u8]) -> Option<usize> {
        let second = text.get(1).copied().unwrap_or(0);
        let double = |lead: bool, trail: bool| (lead && trail).then_some(2);
        match (self.form, text[0]) {
            (_, 0..0x80) => Some(1),
            (Form::ShiftJis, 0xa1..=0xdf) => Some(1),
            (Form::ShiftJis, lead) => {
                double(matches!(lead, 0x81..=0x9f | 0xe0..=0xfc), matches!(second, 0x40..=0x7e | 0x80..=0xfc))
            }
            (Form::EucJapanese, 0x8e) => double(true, matches!(second, 0xa0..=0xdf)),
            (Form::EucJapanese, 0x8f) => {
                let third = text.get(2).copied().unwrap_or(0);
                (matches!(second, 0xa1..=0xfe) && matches!(third, 0xa1..=0xfe)).then_some(3)
            }
            (Form::EucJapanese, lead) => {
                double(lead >= 0xa1, second >= 0xa1 && second != 0xff && lead != 0xff)
            }
            (Form::EucKorean, lead) => {
                double(matches!(lead, 0x81..=0xfe), matches!(second, 0x41..=0x5a | 0x61..=0x7a | 0x81..=0xfe))
            }
            (Form::Gb2312, lead) => double(matches!(lead, 0xa1..=0xf7), matches!(second, 0xa1..=0xfe)),
            (Form::Gbk, lead) => {
                double(matches!(lead, 0x81..=0xfe), matches!(second, 0x40..=0x7e | 0x80..=0xfe))
            }
            (Form::Big5, lead) => {
                double(matches!(lead, 0xa1..=0xf9), matches!(second, 0x40..=0x7e | 0xa1..=0xfe))
            }
            (Form::Gb18030, lead) => match (lead, second) {
                (0x81..=0xfe, 0x40..=0x7e | 0x80..=0xfe) => Some(2),
                (0x81..=0xfe, 0x30..=0x39) => {
                    let rest = text.get(2..4)?;
                    (matches!(rest[0], 0x81..=0xfe) && matches!(rest[1], 0x30..=0x39)).then_some(4)
                }
                _ => None,
            },
        }
    }

    /// The first character of a text that is not empty, and its length.
    pub(crate) fn decode(&self, text: &[u8]) -> Option<(u32, usize)> {
        let length = self.length(text)?;
        let code = code_of(&text[..length]);
        if code < 0x80 {
            return Some((code, 1));
        }
        let known = look_up(&self.tables.to_unicode, code).or_else(|| self.supplementary(code));
        Some((known.unwrap_or(UNKNOWN + (code & 0xff_ffff)), length))
    }

    /// Code points from U+10000 on are in one run of gb18030's four-byte codes.
    fn supplementary(&self, code: u32) -> Option<u32> {
        if self.form != Form::Gb18030 || code < 0x9030_8130 {
            return None;
        }
        let [first, second, third, fourth] = code.to_be_bytes().map(u32::from);
        let index = ((first - 0x90) * 10 + (second - 0x30)) * 1260 + (third - 0x81) * 10 + (fourth - 0x30);
        Some(0x1_0000 + index).filter(|unicode| *unicode < UNKNOWN)
    }

    /// The code of a character; None if the set does not have it.
    pub(crate) fn code(&self, character: u32) -> Option<u32> {
        if character < 0x80 {
            return Some(character);
        }
        if self.form == Form::Gb18030 && (0x1_0000..UNKNOWN).contains(&character) {
            let index = character - 0x1_0000;
            let bytes =
                [index / 12_600 + 0x90, index / 1260 % 10 + 0x30, index / 10 % 126 + 0x81, index % 10 + 0x30];
            return Some(bytes.iter().fold(0, |code, byte| code << 8 | byte));
        }
        look_up(&self.tables.from_unicode, character).filter(|code| *code != 0)
    }

    /// The weight of a character in the set's own collation.
    pub(crate) fn weight(&self, character: u32) -> u32 {
        let code = if character >= UNKNOWN { character } else { self.code(character).unwrap_or(character) };
        look_up(&self.tables.weights, code).unwrap_or(code)
    }

    /// Appends the weights of a text in the set's own collation; bytes that are no character weigh as they are.
    pub(crate) fn append_weights(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            let length = self.length(rest).unwrap_or(1);
            let code = code_of(&rest[..length]);
            push_code(look_up(&self.tables.weights, code).unwrap_or(code), out);
            rest = &rest[length..];
        }
    }
}

fn code_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |code, &byte| code << 8 | u32::from(byte))
}

/// Appends a code in as many bytes as it needs.
pub(crate) fn push_code(code: u32, out: &mut Vec<u8>) {
    let bytes = code.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    out.extend_from_slice(&bytes[zeros.min(3)..]);
}
