//! Regular expressions as MySQL's REGEXP and REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE, REGEXP_SUBSTR take them. Text is
//! UTF-8, places are bytes of it.

use crate::pieces::Interrupt;
use errors::{SqlError, SqlResult, sql_error};
pub use fancy_regex::Regex;
use fancy_regex::{Captures, RegexBuilder};
use std::collections::HashSet;

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
    check(&pattern)?;
    let flags = if prefix.is_empty() { String::new() } else { format!("(?{prefix})") };
    RegexBuilder::new(&format!("{flags}{pattern}"))
        .backtrack_limit(BACKTRACK_STEPS_MAX)
        .build()
        .map_err(|error| regexp_error(&error, flags.len()))
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

/// Looks for what this engine would take for literal text, or for a name. Errors: 3692 for a `{` that begins no interval,
/// 3685 for a class in brackets that is not known, 3688 and 3887 for a name of a group.
fn check(pattern: &str) -> SqlResult<()> {
    let mut characters = pattern.char_indices();
    let mut in_brackets = false;
    let mut names = HashSet::new();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                let takes_braces = characters.next().is_some_and(|(_, escaped)| "pPxuNkg".contains(escaped));
                if takes_braces && characters.as_str().starts_with('{') {
                    characters.by_ref().find(|(_, character)| *character == '}');
                }
            }
            '[' if in_brackets && pattern[at..].starts_with("[:") => return unknown_class(&pattern[at..]),
            '[' if !in_brackets => {
                in_brackets = true;
                // The first character is one of the set, a bracket too.
                let rest = characters.as_str();
                let first = if rest.starts_with('^') { 1 } else { 0 };
                if rest[first..].starts_with(']') {
                    characters.nth(first);
                }
            }
            ']' => in_brackets = false,
            '(' if !in_brackets => {
                let is_new = group_name(pattern, at)?.is_none_or(|name| names.insert(name));
                if !is_new {
                    return Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
                }
            }
            '{' if !in_brackets && !is_interval(&pattern[at + 1..]) => {
                return Err(sql_error!(ER_REGEXP_BAD_INTERVAL));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The name of the group that begins at `at`, if it has one. Errors 3688 for a name that does not begin with a letter, 3887
/// for one with anything but letters and digits.
fn group_name(pattern: &str, at: usize) -> SqlResult<Option<&str>> {
    let opening = "(?<";
    let text = pattern[at..].strip_prefix(opening).filter(|text| !text.starts_with(['=', '!']));
    let Some(text) = text else { return Ok(None) };
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        let before = pattern[..at].chars().count() + opening.len();
        return Err(sql_error!(ER_REGEXP_RULE_SYNTAX, 1, before + 1));
    }
    match text.split_once('>') {
        Some((name, _)) if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Ok(Some(name)),
        _ => Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME)),
    }
}

/// An opened class that no Unicode property stands for; one without an end is an open bracket.
fn unknown_class(text: &str) -> SqlResult<()> {
    match text.contains(":]") {
        true => Err(sql_error!(ER_REGEXP_ILLEGAL_ARGUMENT)),
        false => Err(sql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET)),
    }
}

/// Whether the text goes on as behind the `{` of an interval.
fn is_interval(text: &str) -> bool {
    let Some((bounds, _)) = text.split_once('}') else { return false };
    let (least, most) = bounds.split_once(',').unwrap_or((bounds, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

/// MySQL's error for a pattern that does not compile, which begins behind `prefix` bytes of our own.
fn regexp_error(error: &fancy_regex::Error, prefix: usize) -> SqlError {
    use fancy_regex::{CompileError, Error, ParseError};
    let syntax = |at: usize| sql_error!(ER_REGEXP_RULE_SYNTAX, 1, at.max(1));
    match error {
        Error::ParseError(at, kind) => match kind {
            ParseError::UnclosedOpenParen => sql_error!(ER_REGEXP_MISMATCHED_PAREN),
            ParseError::InvalidClass => sql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET),
            ParseError::InvalidBackref => sql_error!(ER_REGEXP_INVALID_BACK_REF),
            ParseError::InvalidGroupName | ParseError::InvalidGroupNameBackref(_) => {
                sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME)
            }
            ParseError::TrailingBackslash
            | ParseError::InvalidEscape(_)
            | ParseError::InvalidHex
            | ParseError::InvalidCodepointValue
            | ParseError::UnclosedUnicodeName => sql_error!(ER_REGEXP_BAD_ESCAPE_SEQUENCE),
            ParseError::GeneralParseError(text) if text.contains("end of string not reached") => {
                sql_error!(ER_REGEXP_MISMATCHED_PAREN)
            }
            ParseError::UnknownFlag(_) => syntax((at + 1).saturating_sub(prefix)),
            _ => syntax(1),
        },
        Error::CompileError(kind) => match kind {
            CompileError::InvalidBackref => sql_error!(ER_REGEXP_INVALID_BACK_REF),
            CompileError::InvalidGroupNameBackref(_) => sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME),
            CompileError::LookBehindNotConst => sql_error!(ER_REGEXP_LOOK_BEHIND_LIMIT),
            CompileError::InnerError(inner) => inner_error(inner).unwrap_or_else(|| syntax(1)),
            _ => syntax(1),
        },
        _ => syntax(1),
    }
}

/// MySQL's error for what the inner engine finds, which says it in words only, at the end of its chain of causes.
fn inner_error(error: &dyn std::error::Error) -> Option<SqlError> {
    let mut deepest = error;
    while let Some(cause) = deepest.source() {
        deepest = cause;
    }
    let text = deepest.to_string();
    let says = |words: &str| text.contains(words);
    Some(match () {
        () if says("unclosed character class") => sql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET),
        () if says("invalid character class range") => sql_error!(ER_REGEXP_INVALID_RANGE),
        () if says("invalid repetition count range") => sql_error!(ER_REGEXP_MAX_LT_MIN),
        () if says("decimal literal invalid") => sql_error!(ER_REGEX_NUMBER_TOO_BIG),
        () if says("Unicode property") || says("POSIX") => sql_error!(ER_REGEXP_ILLEGAL_ARGUMENT),
        () if says("unopened group") || says("unclosed group") => sql_error!(ER_REGEXP_MISMATCHED_PAREN),
        () if says("duplicate capture group name") => sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME),
        () if says("escape sequence") => sql_error!(ER_REGEXP_BAD_ESCAPE_SEQUENCE),
        () => return None,
    })
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
            append_replacement(&mut out, replacement, regex, &captures)?;
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

/// `$1` stands for a group, `${name}` for one with a name; a backslash takes the next character as it is. Errors 3686 and
/// 3887 for a group that the pattern has not.
fn append_replacement(
    out: &mut String,
    replacement: &str,
    regex: &Regex,
    captures: &Captures<'_>,
) -> SqlResult<()> {
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            '$' if characters.next_if_eq(&'{').is_some() => {
                let name: String = characters.by_ref().take_while(|next| *next != '}').collect();
                if !regex.capture_names().flatten().any(|known| known == name) {
                    return Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
                }
                out.push_str(captures.name(&name).map_or("", |found| found.as_str()));
            }
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
