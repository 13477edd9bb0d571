//! The printf subset that MySQL's messages use: `%s %d %u %lu %llu %ld %c %zu`, a precision, and `%%`.

use std::fmt::Display;

/// Fills the conversions of `format` with `arguments` in order.
/// A precision (`%-.64s`) cuts text to that many characters. A conversion without argument stays as written.
pub fn fill(format: &str, arguments: &[&dyn Display]) -> String {
    let mut out = String::with_capacity(format.len() + 32);
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(tail) = rest.strip_prefix("%%") {
            out.push('%');
            rest = tail;
            continue;
        }
        let Some(end) = conversion_end(rest) else { break };
        match arguments.next() {
            Some(argument) => push_argument(&mut out, &rest[..end], *argument),
            None => out.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Where the conversion that starts at the `%` of `text` ends.
fn conversion_end(text: &str) -> Option<usize> {
    text.bytes().position(|byte| matches!(byte, b's' | b'd' | b'u' | b'c' | b'i' | b'x')).map(|at| at + 1)
}

fn push_argument(out: &mut String, conversion: &str, argument: &dyn Display) {
    let text = argument.to_string();
    let precision = conversion
        .split_once('.')
        .and_then(|(_, tail)| tail.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().ok());
    match precision {
        Some(limit) if conversion.ends_with('s') => out.extend(text.chars().take(limit)),
        _ => out.push_str(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn conversions() {
        assert_eq!(fill("%s near '%-.3s' at line %d", &[&"E", &"abcdef", &7]), "E near 'abc' at line 7");
        assert_eq!(fill("100%% of %llu", &[&5u64]), "100% of 5");
        assert_eq!(fill("no argument %s", &[]), "no argument %s");
        assert_eq!(fill("%-.192s", &[&"鯨海豚"]), "鯨海豚");
    }
}
