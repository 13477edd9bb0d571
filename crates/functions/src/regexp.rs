//! Regular expressions as MySQL's REGEXP and REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE, REGEXP_SUBSTR take them. Text is
//! UTF-8, places are bytes of it.

use crate::pieces::Interrupt;
use errors::{SqlError, SqlResult, sql_error};
pub use fancy_regex::Regex;
use fancy_regex::{Captures, RegexBuilder};

/// Steps that a pattern with backtracking may take (regexp_time_limit keeps runaway patterns down in MySQL).
const BACKTRACK_STEPS_MAX: usize = 1_000_000;

/// Compiles a pattern; error 3685 and its like for a bad one. `flags` are those of REGEXP_LIKE: c, i, m, n, u.
pub fn compile(pattern: &str, case_sensitive: bool, flags: &str) -> SqlResult<Regex> {
    if pattern.is_empty() {
        return Err(sql_error!(ER_REGEXP_ILLEGAL_ARGUMENT));
    }
    let mut insensitive = !case_sensitive;
    let (mut multiline, mut dot_all) = (false, false);
    for flag in flags.chars() {
        match flag {
            'c' => insensitive = false,
            'i' => insensitive = true,
            'm' => multiline = true,
            'n' => dot_all = true,
            'u' => {}
            _ => return Err(sql_error!(ER_WRONG_ARGUMENTS, "regexp_like")),
        }
    }
    let mut prefix = String::new();
    for (on, letter) in [(insensitive, 'i'), (multiline, 'm'), (dot_all, 's')] {
        if on {
            prefix.push(letter);
        }
    }
    let pattern = unicode_classes(pattern);
    let whole = if prefix.is_empty() { pattern } else { format!("(?{prefix}){pattern}") };
    RegexBuilder::new(&whole)
        .backtrack_limit(BACKTRACK_STEPS_MAX)
        .build()
        .map_err(|error| regexp_error(&error))
}

/// POSIX classes as the Unicode properties that MySQL's engine takes them for.
fn unicode_classes(pattern: &str) -> String {
    const CLASSES: &[(&str, &str)] = &[
        ("[:alpha:]", r"\p{Alphabetic}"),
        ("[:alnum:]", r"\p{Alphabetic}\p{Nd}"),
        ("[:blank:]", r"\t\p{Zs}"),
        ("[:cntrl:]", r"\p{Cc}"),
        ("[:digit:]", r"\p{Nd}"),
        ("[:lower:]", r"\p{Lowercase}"),
        ("[:punct:]", r"\p{P}"),
        ("[:space:]", r"\s"),
        ("[:upper:]", r"\p{Uppercase}"),
        ("[:word:]", r"\w"),
    ];
    if !pattern.contains("[:") {
        return pattern.to_owned();
    }
    CLASSES.iter().fold(pattern.to_owned(), |text, (class, property)| text.replace(class, property))
}

/// MySQL's error for a pattern that does not compile.
fn regexp_error(error: &fancy_regex::Error) -> SqlError {
    let text = error.to_string();
    if text.contains("unclosed character class") {
        sql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET)
    } else if text.to_lowercase().contains("paren") {
        sql_error!(ER_REGEXP_MISMATCHED_PAREN)
    } else {
        sql_error!(ER_REGEXP_RULE_SYNTAX, 1, 1)
    }
}

/// Whether there is a match.
pub fn is_match(regex: &Regex, subject: &str) -> SqlResult<bool> {
    regex.is_match(subject).map_err(|_| sql_error!(ER_REGEXP_TIME_OUT))
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

/// The match of that number (from 1) from a byte on: its bytes.
pub fn find(
    regex: &Regex,
    subject: &str,
    start: usize,
    occurrence: i64,
    interrupt: &dyn Interrupt,
) -> SqlResult<Option<(usize, usize)>> {
    let mut at = start;
    let mut count = 0;
    while at <= subject.len() {
        interrupt.check_killed()?;
        let found = regex.find_from_pos(subject, at).map_err(|_| sql_error!(ER_REGEXP_TIME_OUT))?;
        let Some(found) = found else { return Ok(None) };
        count += 1;
        if count >= occurrence.max(1) {
            return Ok(Some((found.start(), found.end())));
        }
        at = behind(subject, found.start(), found.end());
    }
    Ok(None)
}

/// Where the next search starts: behind the match, and one character further behind an empty one.
fn behind(subject: &str, start: usize, end: usize) -> usize {
    if end > start {
        return end;
    }
    end + subject[end..].chars().next().map_or(1, char::len_utf8)
}

/// The subject with its matches from a byte on replaced: all for occurrence 0, otherwise that of the number. Error 3693 for
/// a result of more than `limit` bytes.
pub fn replace(
    regex: &Regex,
    subject: &str,
    replacement: &str,
    start: usize,
    occurrence: i64,
    limit: usize,
    interrupt: &dyn Interrupt,
) -> SqlResult<String> {
    let mut out = subject[..start].to_owned();
    let (mut at, mut copied, mut count) = (start, start, 0);
    while at <= subject.len() {
        interrupt.check_killed()?;
        let captures = regex.captures_from_pos(subject, at).map_err(|_| sql_error!(ER_REGEXP_TIME_OUT))?;
        let Some(captures) = captures else { break };
        let Some(whole) = captures.get(0) else { break };
        count += 1;
        if occurrence <= 0 || count == occurrence {
            out.push_str(&subject[copied..whole.start()]);
            append_replacement(&mut out, replacement, &captures)?;
            copied = whole.end();
            if out.len() > limit {
                return Err(sql_error!(ER_REGEXP_BUFFER_OVERFLOW));
            }
        }
        if occurrence > 0 && count == occurrence {
            break;
        }
        at = behind(subject, whole.start(), whole.end());
    }
    out.push_str(&subject[copied..]);
    Ok(out)
}

/// `$1` stands for a group; a backslash takes the next character as it is.
fn append_replacement(out: &mut String, replacement: &str, captures: &Captures<'_>) -> SqlResult<()> {
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            '$' => {
                let Some(first) =
                    characters.next_if(char::is_ascii_digit).and_then(|digit| digit.to_digit(10))
                else {
                    return Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
                };
                let mut group = first as usize;
                if group >= captures.len() {
                    return Err(sql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
                }
                // Further digits belong to the number as long as there is such a group.
                while let Some(digit) = characters.peek().and_then(|next| next.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= captures.len() {
                        break;
                    }
                    group = longer;
                    characters.next();
                }
                out.push_str(captures.get(group).map_or("", |found| found.as_str()));
            }
            other => out.push(other),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    #[test]
    fn flags_and_bad_patterns() {
        assert!(is_match(&compile("^B", true, "m").unwrap(), "a\nB").unwrap());
        assert!(is_match(&compile("b", false, "").unwrap(), "B").unwrap());
        assert!(!is_match(&compile("b", true, "").unwrap(), "B").unwrap());
        for wrong in ["", "(", "[a", "a)"] {
            assert!(compile(wrong, true, "").is_err(), "{wrong}");
        }
    }

    #[test]
    fn matches_are_counted_and_replaced() {
        let regex = compile("(b)(c)?", true, "").unwrap();
        assert_eq!(find(&regex, "abcb", 0, 2, &Never).unwrap(), Some((3, 4)));
        assert_eq!(find(&regex, "abcb", 0, 3, &Never).unwrap(), None);
        let replaced = |occurrence| replace(&regex, "abcb", "<$1>", 0, occurrence, 100, &Never).unwrap();
        assert_eq!((replaced(0), replaced(2)), ("a<b><b>".to_owned(), "abc<b>".to_owned()));
        assert!(replace(&regex, "b", "$9", 0, 0, 100, &Never).is_err());
        assert!(replace(&regex, "b", "xxxx", 0, 0, 3, &Never).is_err());
    }

    #[test]
    fn positions_count_characters() {
        assert_eq!(start_byte("f", "\u{e4}bc", 2, false).unwrap(), 2);
        assert_eq!(start_byte("f", "\u{e4}bc", 4, true).unwrap(), 4);
        assert!(start_byte("f", "\u{e4}bc", 4, false).is_err());
        assert!(start_byte("f", "\u{e4}bc", 0, true).is_err());
    }
}
