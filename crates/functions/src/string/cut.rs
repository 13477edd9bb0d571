//! Pieces of a text: SUBSTRING, RIGHT, TRIM and its kin, SUBSTRING_INDEX.

use crate::pieces::{Interrupt, KILL_LOOK_CHARACTERS, KILL_LOOK_PLACES};
use charset::Charset;
use errors::SqlResult;

/// `count` characters from a position on, which counts from 1, or from the back if negative.
pub fn substring<'t>(text: &'t [u8], position: i64, count: i64, charset: &Charset) -> &'t [u8] {
    if count <= 0 || position == 0 {
        return &[];
    }
    let start = if position > 0 {
        usize::try_from(position - 1).unwrap_or(usize::MAX)
    } else {
        match start_offset(position, charset.character_count(text)) {
            Some(start) => start,
            None => return &[],
        }
    };
    let rest = &text[charset.offset(text, start)..];
    charset.prefix(rest, usize::try_from(count).unwrap_or(usize::MAX))
}

/// A position from the back as an offset in characters; None for what lies outside.
fn start_offset(position: i64, characters: usize) -> Option<usize> {
    usize::try_from((characters as i64).checked_add(position)?).ok()
}

/// The last characters.
pub fn right<'t>(text: &'t [u8], count: usize, charset: &Charset) -> &'t [u8] {
    let start = charset.character_count(text).saturating_sub(count);
    &text[charset.offset(text, start)..]
}

/// The text without the pieces at its ends.
pub fn trim<'t>(
    text: &'t [u8],
    removed: &[u8],
    (leading, trailing): (bool, bool),
    charset: &Charset,
    interrupt: &dyn Interrupt,
) -> SqlResult<&'t [u8]> {
    let mut rest = text;
    let mut places = 0_u64;
    while leading && !removed.is_empty() && rest.starts_with(removed) {
        rest = &rest[removed.len()..];
        places += 1;
        if places.is_multiple_of(KILL_LOOK_PLACES) {
            interrupt.check_killed()?;
        }
    }
    if trailing && !removed.is_empty() {
        rest = &rest[..trimmed_end(rest, removed, charset, interrupt)?];
    }
    Ok(rest)
}

/// Where a text ends without its trailing pieces. From the back they go only where they start at a character's border.
fn trimmed_end(
    text: &[u8],
    removed: &[u8],
    charset: &Charset,
    interrupt: &dyn Interrupt,
) -> SqlResult<usize> {
    let mut end = text.len();
    let mut places = 0_u64;
    while text[..end].ends_with(removed) {
        end -= removed.len();
        places += 1;
        if places.is_multiple_of(KILL_LOOK_PLACES) {
            interrupt.check_killed()?;
        }
    }
    // The text is walked through once: what is no border keeps its piece, and all before that.
    let (mut start, mut at, mut characters) = (end, 0, 0_u64);
    while start < text.len() {
        if charset.is_ascii_based() && text[start].is_ascii() {
            start += removed.len();
            continue;
        }
        while at < start {
            at += charset.prefix(&text[at..], 1).len().max(1);
            characters += 1;
            if characters.is_multiple_of(KILL_LOOK_CHARACTERS) {
                interrupt.check_killed()?;
            }
        }
        start += removed.len();
        if at != start - removed.len() {
            end = start;
        }
    }
    Ok(end)
}

/// How many delimiters there are, up to `most`, and where the last of them starts.
fn delimiters(
    text: &[u8],
    delimiter: &[u8],
    most: u64,
    charset: &Charset,
    interrupt: &dyn Interrupt,
) -> SqlResult<(u64, usize)> {
    let (mut count, mut place, mut at) = (0, 0, 0);
    while count < most
        && let Some(found) = charset.find_bytes(text, delimiter, at)
    {
        (count, place, at) = (count + 1, found, found + delimiter.len());
        if count.is_multiple_of(KILL_LOOK_PLACES) {
            interrupt.check_killed()?;
        }
    }
    Ok((count, place))
}

/// All before a delimiter of that number, or behind it if the number counts from the back; the whole text where there are not
/// so many. Delimiters are found byte by byte, at borders of characters.
pub fn substring_index<'t>(
    text: &'t [u8],
    delimiter: &[u8],
    count: i64,
    charset: &Charset,
    interrupt: &dyn Interrupt,
) -> SqlResult<&'t [u8]> {
    if text.is_empty() || delimiter.is_empty() || count == 0 {
        return Ok(&[]);
    }
    let wanted = count.unsigned_abs();
    let wanted = if count > 0 {
        wanted
    } else {
        delimiters(text, delimiter, u64::MAX, charset, interrupt)?.0.saturating_sub(wanted - 1)
    };
    // The place of the last of so many delimiters; 0 of them if there are fewer from the end.
    let (found, place) = delimiters(text, delimiter, wanted, charset, interrupt)?;
    if found < wanted.max(1) {
        return Ok(text);
    }
    Ok(if count > 0 { &text[..place] } else { &text[place + delimiter.len()..] })
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
    fn pieces_by_position() {
        let cut =
            |position, count| std::str::from_utf8(substring("\u{e4}bc".as_bytes(), position, count, utf8()));
        assert_eq!((cut(1, 1), cut(2, 9), cut(-1, 1)), (Ok("\u{e4}"), Ok("bc"), Ok("c")));
        assert_eq!((cut(-4, 1), cut(0, 1), cut(9, 1), cut(1, -1)), (Ok(""), Ok(""), Ok(""), Ok("")));
        assert_eq!(right("\u{e4}bc".as_bytes(), 3, utf8()), "\u{e4}bc".as_bytes());
    }

    #[test]
    fn ends_are_trimmed_at_borders_of_characters() {
        let trimmed =
            |text: &'static [u8], removed: &[u8], sides| trim(text, removed, sides, utf8(), &Never).unwrap();
        assert_eq!(trimmed(b"xxaxx", b"x", (true, true)), b"a");
        assert_eq!(trimmed(b"xyaxy", b"xy", (false, true)), b"xya");
        assert_eq!(trimmed("a\u{e4}".as_bytes(), b"\xa4", (false, true)), "a\u{e4}".as_bytes());
    }

    #[test]
    fn delimiters_count_from_both_ends() {
        let piece = |count| substring_index(b"a.b.c", b".", count, utf8(), &Never).unwrap();
        assert_eq!((piece(1), piece(2), piece(3)), (&b"a"[..], &b"a.b"[..], &b"a.b.c"[..]));
        assert_eq!((piece(-1), piece(-2), piece(0)), (&b"c"[..], &b"b.c"[..], &b""[..]));
    }
}
