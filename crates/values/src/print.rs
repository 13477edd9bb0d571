//! Text forms of values, names and patterns that statements of this crate print or compare.

use crate::value::Value;

/// A value as MySQL prints it in messages and in SHOW. A time has its fraction if that is not zero.
pub fn display(value: &Value) -> String {
    let digits = |microseconds: u32| if microseconds == 0 { 0 } else { 6 };
    let mut text = Vec::new();
    match value {
        Value::Null => return "NULL".to_owned(),
        Value::Int(number) => return number.to_string(),
        Value::UInt(number) => return number.to_string(),
        Value::Float(number) => return number.to_string(),
        Value::Double(number) => return number.to_string(),
        Value::Bytes(bytes) => text.extend_from_slice(bytes),
        Value::Decimal(number) => number.append_text(&mut text),
        Value::Date(date) => date.append_text(&mut text),
        Value::Time(time) => time.append_text(digits(time.microseconds), &mut text),
        Value::DateTime(moment) => moment.append_text(digits(moment.microsecond), &mut text),
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A name between backticks.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Whether `text` matches a LIKE pattern with escape character `\`, without regard to case.
pub fn like(text: &str, pattern: &str) -> bool {
    if text.is_ascii() && pattern.is_ascii() && !pattern.contains(['%', '_', '\\']) {
        return text.eq_ignore_ascii_case(pattern);
    }
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let pattern: Vec<char> = pattern.chars().flat_map(char::to_lowercase).collect();
    matches_like(&text, &pattern)
}

/// Greedy matching with one point of return: the last `%`.
fn matches_like(text: &[char], pattern: &[char]) -> bool {
    let (mut at, mut part) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(part) {
            Some('%') => {
                retry = Some((at, part));
                part += 1;
                continue;
            }
            Some('_') => (at < text.len()).then_some(1),
            Some('\\') if part + 1 < pattern.len() => (text.get(at) == pattern.get(part + 1)).then_some(2),
            Some(wanted) => (text.get(at) == Some(wanted)).then_some(1),
            None if at == text.len() => return true,
            None => None,
        };
        match (step, retry) {
            (Some(length), _) => {
                at += 1;
                part += length;
            }
            (None, Some((from, star))) if from < text.len() => {
                retry = Some((from + 1, star));
                at = from + 1;
                part = star + 1;
            }
            _ => return false,
        }
    }
}

/// Text between quotes, as it is printed in definitions.
pub fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("''"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_patterns() {
        assert!(like("sql_mode", "SQL%"));
        assert!(like("sql_mode", "sql\\_mode"));
        assert!(!like("sqlxmode", "sql\\_mode"));
        assert!(like("sqlxmode", "sql_mode"));
        assert!(like("", "%") && !like("", "_"));
        assert!(like("abcabd", "%abd"));
        assert!(!like("abc", "ab"));
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a`b"), "`a``b`");
    }
}
