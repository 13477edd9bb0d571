//! Texts that are put together: LPAD, RPAD, INSERT, REPLACE, EXPORT_SET, REVERSE, UPPER, LOWER, QUOTE.

use crate::pieces::{self, Interrupt, KILL_LOOK_CHARACTERS, KILL_LOOK_PLACES};
use charset::{Charset, Collation};
use errors::SqlResult;

/// A text of `wanted` characters: its first ones, or itself with the filler before (`left`) or behind it as often as needed.
/// Without a filler it stays as it is.
pub fn pad(
    text: &[u8],
    wanted: usize,
    filler: &[u8],
    left: bool,
    charset: &Charset,
    interrupt: &dyn Interrupt,
) -> SqlResult<Vec<u8>> {
    let present = charset.character_count(text);
    if wanted <= present {
        return Ok(charset.prefix(text, wanted).to_vec());
    }
    let filler_characters = charset.character_count(filler);
    if filler_characters == 0 {
        return Ok(text.to_vec());
    }
    let missing = wanted - present;
    let mut padding = pieces::repeat(filler, missing / filler_characters, interrupt)?;
    padding.extend_from_slice(charset.prefix(filler, missing % filler_characters));
    let (first, second) = if left { (padding.as_slice(), text) } else { (text, padding.as_slice()) };
    Ok([first, second].concat())
}

/// The bytes of `count` characters from a position (from 1) on, as INSERT replaces them; None outside the text.
pub fn replaced_range(text: &[u8], position: i64, count: i64, charset: &Charset) -> Option<(usize, usize)> {
    let characters = charset.character_count(text);
    if position < 1 || position as u64 > characters as u64 {
        return None;
    }
    let start = position as usize - 1;
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(characters - start);
    Some((charset.offset(text, start), charset.offset(text, start + count)))
}

/// A text with all places of `from`, found byte by byte at borders of characters, replaced. None for more than `limit` bytes.
pub fn replace(
    text: &[u8],
    from: &[u8],
    to: &[u8],
    charset: &Charset,
    limit: u64,
    interrupt: &dyn Interrupt,
) -> SqlResult<Option<Vec<u8>>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut at, mut places) = (0, 0_u64);
    while let Some(found) = charset.find_bytes(text, from, at) {
        places += 1;
        if places.is_multiple_of(KILL_LOOK_PLACES) {
            interrupt.check_killed()?;
        }
        out.extend_from_slice(&text[at..found]);
        out.extend_from_slice(to);
        at = found + from.len();
        if out.len() as u64 > limit {
            return Ok(None);
        }
    }
    out.extend_from_slice(&text[at..]);
    Ok((out.len() as u64 <= limit).then_some(out))
}

/// For each of so many bits, from the lowest, one of two texts.
pub fn export_set(bits: u64, on: &[u8], off: &[u8], separator: &[u8], places: usize) -> Vec<u8> {
    let pieces: Vec<&[u8]> = (0..places).map(|bit| if bits >> bit & 1 == 1 { on } else { off }).collect();
    pieces.join(separator)
}

/// The characters in the opposite order.
pub fn reverse(text: &[u8], charset: &Charset, interrupt: &dyn Interrupt) -> SqlResult<Vec<u8>> {
    let mut out = vec![0; text.len()];
    let (mut from, mut end) = (0, text.len());
    let mut characters = 0_u64;
    while from < text.len() {
        characters += 1;
        if characters.is_multiple_of(KILL_LOOK_CHARACTERS) {
            interrupt.check_killed()?;
        }
        let step = charset.prefix(&text[from..], 1).len().max(1);
        out[end - step..end].copy_from_slice(&text[from..from + step]);
        from += step;
        end -= step;
    }
    Ok(out)
}

/// In upper or lower case; bytes have none.
pub fn change_case(text: Vec<u8>, collation: &Collation, to_upper: bool) -> Vec<u8> {
    match (collation.is_binary(), to_upper) {
        (true, _) => text,
        (_, true) => collation.upper(&text),
        (_, false) => collation.lower(&text),
    }
}

/// A literal of SQL that stands for the text.
pub fn quote(text: &[u8], charset: &Charset, interrupt: &dyn Interrupt) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() + 2);
    charset.push(u32::from(b'\''), &mut out);
    let mut rest = text;
    let mut characters = 0_u64;
    while !rest.is_empty() {
        characters += 1;
        if characters.is_multiple_of(KILL_LOOK_CHARACTERS) {
            interrupt.check_killed()?;
        }
        let step = charset.prefix(rest, 1).len().max(1);
        let (character, tail) = rest.split_at(step);
        let escaped = match character {
            b"'" => Some(b'\''),
            b"\\" => Some(b'\\'),
            b"\0" => Some(b'0'),
            b"\x1a" => Some(b'Z'),
            _ => None,
        };
        match escaped {
            Some(letter) => {
                charset.push(u32::from(b'\\'), &mut out);
                charset.push(u32::from(letter), &mut out);
            }
            None => out.extend_from_slice(character),
        }
        rest = tail;
    }
    charset.push(u32::from(b'\''), &mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;
    use charset::CollationId;

    fn utf8() -> &'static Charset {
        CollationId::UTF8MB4_0900_AI_CI.charset()
    }

    #[test]
    fn padding_counts_characters() {
        let pad = |wanted, filler: &str, left| {
            let padded = pad("\u{e4}b".as_bytes(), wanted, filler.as_bytes(), left, utf8(), &Never).unwrap();
            String::from_utf8(padded).unwrap()
        };
        assert_eq!((pad(5, "xy", true), pad(5, "xy", false)), ("xyx\u{e4}b".into(), "\u{e4}bxyx".into()));
        assert_eq!((pad(1, "x", true), pad(9, "", true)), ("\u{e4}".into(), "\u{e4}b".into()));
    }

    #[test]
    fn places_are_replaced_up_to_the_limit() {
        let replace = |limit| replace(b"a.b.c", b".", b"--", utf8(), limit, &Never).unwrap();
        assert_eq!((replace(7), replace(6)), (Some(b"a--b--c".to_vec()), None));
        assert_eq!(replaced_range("\u{e4}bc".as_bytes(), 2, 9, utf8()), Some((2, 4)));
        assert_eq!(replaced_range(b"abc", 4, 1, utf8()), None);
    }

    #[test]
    fn quoted_and_turned_round() {
        assert_eq!(quote(b"a'\\\0\x1a", utf8(), &Never).unwrap(), b"'a\\'\\\\\\0\\Z'");
        assert_eq!(reverse("\u{e4}b".as_bytes(), utf8(), &Never).unwrap(), "b\u{e4}".as_bytes());
        assert_eq!(export_set(5, b"Y", b"N", b",", 4), b"Y,N,Y,N");
    }
}
