//! Names of columns, indexes and the like: they are compared without regard to case, in any alphabet. Main function: [`same_name`].

/// Whether both are one name. A name is looked for among all of a table's: most differ in their first letter.
#[inline]
pub fn same_name(left: &str, right: &str) -> bool {
    match (left.as_bytes().first(), right.as_bytes().first()) {
        (Some(a), Some(b)) if (a | b).is_ascii() && !a.eq_ignore_ascii_case(b) => false,
        _ => left == right || same_letters(left, right),
    }
}

fn same_letters(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
        || !left.is_ascii()
            && left.chars().flat_map(char::to_lowercase).eq(right.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::same_name;

    #[test]
    fn case_counts_in_no_alphabet() {
        for (left, right) in
            [("a", "A"), ("\u{c9}t\u{e9}", "\u{e9}T\u{c9}"), ("\u{414}", "\u{434}"), ("\u{212a}m", "km")]
        {
            assert!(same_name(left, right), "{left} {right}");
        }
        for (left, right) in [("e", "\u{e9}"), ("ss", "\u{df}"), ("a", "b"), ("\u{e9}", "\u{e8}"), ("", "a")]
        {
            assert!(!same_name(left, right), "{left} {right}");
        }
    }
}
