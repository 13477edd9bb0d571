//! Names of columns, indexes and the like: they are compared without regard to case, in any alphabet. Main function: [`same_name`].

/// Whether both are one name.
#[inline]
pub fn same_name(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
        || !left.is_ascii()
            && left.chars().flat_map(char::to_lowercase).eq(right.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::same_name;

    #[test]
    fn case_counts_in_no_alphabet() {
        for (left, right) in [("a", "A"), ("\u{c9}t\u{e9}", "\u{e9}T\u{c9}"), ("\u{414}", "\u{434}")] {
            assert!(same_name(left, right), "{left} {right}");
        }
        for (left, right) in [("e", "\u{e9}"), ("ss", "\u{df}"), ("a", "b"), ("\u{e9}", "\u{e8}")] {
            assert!(!same_name(left, right), "{left} {right}");
        }
    }
}
