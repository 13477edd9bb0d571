//! Regular expressions as MySQL's REGEXP and REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE, REGEXP_SUBSTR take them. Text is
//! UTF-8, places are bytes of it. Patterns and matches are of the crate `regular_expression`.

use crate::pieces::Interrupt;
use errors::{SqlResult, sql_error};
use regular_expression::{Flags, Search};
pub use regular_expression::{Limits, Regex};
use std::ops::Range;

/// Compiles a pattern; error 3685 and its like for a bad one. `flags` are those of REGEXP_LIKE: c, i, m, n, u.
pub fn compile(
    pattern: &str,
    case_sensitive: bool,
    flags: &str,
    interrupt: &dyn Interrupt,
) -> SqlResult<Regex> {
    let mut read = Flags { insensitive: !case_sensitive, ..Flags::default() };
    for flag in flags.chars() {
        match flag {
            'c' => read.insensitive = false,
            'i' => read.insensitive = true,
            'm' => read.multiline = true,
            'n' => read.dot_all = true,
            'u' => read.unix_lines = true,
            _ => return Err(sql_error!(ER_WRONG_ARGUMENTS, "regexp_like")),
        }
    }
    Regex::new(pattern, read, &|| interrupt.check_killed())
}

/// What a compiled character takes, and what one does that means something else than itself: a node of the tree and its
/// instructions, or those of the literals that it parts.
const CHARACTER_BYTES: usize = 32;
const PART_BYTES: usize = 448;

/// What a pattern takes at most once it is compiled: known before, so that whoever compiles it may ask for it.
pub fn compiled_bytes(pattern: &str) -> usize {
    let parts = pattern.bytes().filter(|byte| br".^$*+?()[]{}|\".contains(byte)).count();
    pattern.len() * CHARACTER_BYTES + parts * PART_BYTES
}

/// What a search may take, and who is asked whether to go on.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// regexp_time_limit and regexp_stack_limit.
    pub limits: Limits,
    /// Asked now and then.
    pub interrupt: &'a dyn Interrupt,
}

impl Bounds<'_> {
    /// Calls `work` with the search for a pattern from a byte on.
    fn search<T>(
        &self,
        regex: &Regex,
        subject: &str,
        start: usize,
        work: impl FnOnce(&mut Search<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let interrupt = || self.interrupt.check_killed();
        work(&mut Search::new(regex, subject, start, self.limits, &interrupt)?)
    }
}

/// Whether there is a match. Errors: 3698, 3699.
pub fn is_match(regex: &Regex, subject: &str, bounds: Bounds<'_>) -> SqlResult<bool> {
    bounds.search(regex, subject, 0, |search| Ok(search.next()?.is_some()))
}

/// The byte where a one-based character position starts. `past_end` tells whether the place behind the last
/// character is one too. Error 3684 and its like for a place outside, which names the function.
pub fn start_byte(name: &str, subject: &str, position: i64, past_end: bool) -> SqlResult<usize> {
    if position < 1 {
        return Err(sql_error!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, name));
    }
    let characters = usize::try_from(position - 1).unwrap_or(usize::MAX);
    if characters == 0 {
        return Ok(0);
    }
    match subject.char_indices().nth(characters) {
        Some((start, _)) => Ok(start),
        None if past_end && subject.chars().count() == characters => Ok(subject.len()),
        None => Err(sql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR)),
    }
}

/// The match of that number (from 1) from a byte on: its bytes. Errors: 3698, 3699.
pub fn find(
    regex: &Regex,
    subject: &str,
    start: usize,
    occurrence: i64,
    bounds: Bounds<'_>,
) -> SqlResult<Option<Range<usize>>> {
    bounds.search(regex, subject, start, |search| {
        for _ in 1..occurrence.max(1) {
            bounds.interrupt.check_killed()?;
            if search.next()?.is_none() {
                return Ok(None);
            }
        }
        search.next()
    })
}

/// The subject with its matches from a byte on replaced: all for occurrence 0, otherwise that of the
/// number, the first for one below. Errors: 3684 for
/// a result of more than `limit` bytes, 3698, 3699, those of a replacement.
pub fn replace(
    regex: &Regex,
    subject: &str,
    replacement: &str,
    start: usize,
    occurrence: i64,
    limit: usize,
    bounds: Bounds<'_>,
) -> SqlResult<String> {
    let mut out = subject[..start].to_owned();
    // There is nothing to replace in an empty text, not even by a pattern that matches it.
    if subject.is_empty() {
        return Ok(out);
    }
    let (mut copied, mut count) = (start, 0);
    bounds.search(regex, subject, start, |search| {
        while let Some(found) = search.next()? {
            bounds.interrupt.check_killed()?;
            count += 1;
            if occurrence != 0 && count < occurrence {
                continue;
            }
            out.push_str(&subject[copied..found.start]);
            append_replacement(&mut out, replacement, regex, subject, search, found.clone())?;
            copied = found.end;
            if out.len() > limit {
                return Err(sql_error!(ER_REGEXP_BUFFER_OVERFLOW));
            }
            if occurrence != 0 {
                break;
            }
        }
        Ok(())
    })?;
    out.push_str(&subject[copied..]);
    Ok(out)
}

/// `$1` stands for a group, `${name}` for one with a name; behind a backslash a code stands for its character, and any other
/// character for itself. Errors 3686 and 3887 for a group that the pattern has not.
fn append_replacement(
    out: &mut String,
    replacement: &str,
    regex: &Regex,
    subject: &str,
    search: &Search<'_>,
    found: Range<usize>,
) -> SqlResult<()> {
    let text_of = |group: usize| match group {
        0 => &subject[found.clone()],
        _ => search.group(group).map_or("", |range| &subject[range]),
    };
    let mut characters = replacement.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match coded(characters.as_str()) {
                Some((character, bytes)) => {
                    out.push(character);
                    characters = characters.as_str()[bytes..].chars();
                }
                None => out.extend(characters.next()),
            },
            '$' => {
                let (group, rest) = referred(characters.as_str(), regex)?;
                out.push_str(text_of(group));
                characters = rest.chars();
            }
            other => out.push(other),
        }
    }
    Ok(())
}

/// The character of `u` with four digits or `U` with eight, and the bytes that they take.
fn coded(text: &str) -> Option<(char, usize)> {
    let digits = match text.as_bytes().first()? {
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let code = text.get(1..=digits).filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    Some((character, 1 + digits))
}

/// The group that is named behind `$`, and what follows. Errors 3686 and 3887.
fn referred<'t>(text: &'t str, regex: &Regex) -> SqlResult<(usize, &'t str)> {
    let bad_name = || sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME);
    if let Some(text) = text.strip_prefix('{') {
        let (name, rest) = text.split_once('}').ok_or_else(bad_name)?;
        return Ok((regex.group_named(name).ok_or_else(bad_name)?, rest));
    }
    let mut group = None;
    let mut rest = text;
    // Further digits belong to the number as long as there is such a group.
    while let Some(digit) = rest.chars().next().and_then(|digit| digit.to_digit(10)) {
        let longer = group.unwrap_or(0) * 10 + digit as usize;
        if longer > regex.groups() {
            break;
        }
        group = Some(longer);
        rest = &rest[1..];
    }
    match group {
        Some(group) => Ok((group, rest)),
        None if text.starts_with(|first: char| first.is_ascii_digit()) => {
            Err(sql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR))
        }
        None => Err(bad_name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    const BOUNDS: Bounds<'static> =
        Bounds { limits: Limits { ticks: 32, stack_bytes: 8_000_000 }, interrupt: &Never };

    #[test]
    fn flags_and_bad_patterns() {
        let is_match = |pattern, case_sensitive, flags, subject| {
            super::is_match(&compile(pattern, case_sensitive, flags, &Never).unwrap(), subject, BOUNDS)
                .unwrap()
        };
        assert!(is_match("^B", true, "m", "a\nB"));
        assert!(is_match("b", false, "", "B"));
        assert!(!is_match("b", true, "", "B"));
        assert!(!is_match("a.b", true, "", "a\rb"));
        assert!(is_match("a.b", true, "u", "a\rb"));
        assert!(compile("a", true, "q", &Never).is_err());
        for wrong in ["", "(", "[a", "a)"] {
            assert!(compile(wrong, true, "", &Never).is_err(), "{wrong}");
        }
    }

    #[test]
    fn matches_are_counted_and_replaced() {
        let regex = compile("(b)(?<n>c)?", true, "", &Never).unwrap();
        assert_eq!(find(&regex, "abcb", 0, 2, BOUNDS).unwrap(), Some(3..4));
        assert_eq!(find(&regex, "abcb", 0, 3, BOUNDS).unwrap(), None);
        let replaced = |with, occurrence| {
            replace(&regex, "abcb", with, 0, occurrence, 100, BOUNDS).map_err(|error| error.number())
        };
        assert_eq!(replaced("<$1>", 0), Ok("a<b><b>".to_owned()));
        assert_eq!(replaced("<$1>", 2), Ok("abc<b>".to_owned()));
        assert_eq!(replaced("[${n}$10$0]", 0), Ok("a[cb0bc][b0b]".to_owned()));
        assert_eq!(replaced("\\u0041\\$\\u12\\", 1), Ok("aA$u12b".to_owned()));
        assert_eq!(
            (replaced("$9", 0), replaced("$", 0), replaced("${x}", 0)),
            (Err(3686), Err(3887), Err(3887))
        );
        assert!(replace(&regex, "b", "xxxx", 0, 0, 3, BOUNDS).is_err());
        assert_eq!(replace(&compile("^", true, "", &Never).unwrap(), "", "x", 0, 0, 9, BOUNDS).unwrap(), "");
    }

    #[test]
    fn positions_count_characters() {
        assert_eq!(start_byte("f", "\u{e4}bc", 2, false).unwrap(), 2);
        assert_eq!(start_byte("f", "\u{e4}bc", 4, true).unwrap(), 4);
        assert!(start_byte("f", "\u{e4}bc", 4, false).is_err());
        assert!(start_byte("f", "\u{e4}bc", 0, true).is_err());
    }
}
