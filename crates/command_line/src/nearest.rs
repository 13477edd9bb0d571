//! The names that a mistyped one may have meant. Main function: [`nearest`].

/// So many are told at most.
const TOLD_MAX: usize = 3;
/// A name that ends with what was typed is near it, from so many characters on: `buffer-pool-size` of `innodb-buffer-pool-size`.
const PART_MIN: usize = 5;

/// The names nearest to `word`, the nearest first; none if nothing is near. `-` and `_` are the same, and case does not count.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = plain(word);
    // A third of the characters may be wrong, but not the only one.
    let distance_max = (word.len() / 3).clamp(1, 4).min(word.len().saturating_sub(1));
    let mut near: Vec<(usize, &str)> = Vec::new();
    for name in names {
        let compared = plain(name);
        let is_part = word.len() >= PART_MIN && compared.ends_with(&word);
        let distance = if is_part { 1 } else { distance(&word, &compared) };
        if distance <= distance_max {
            near.push((distance, name));
        }
    }
    near.sort();
    near.dedup();
    // What is much farther than the nearest was not meant.
    let best = near.first().map_or(0, |(distance, _)| *distance);
    near.into_iter()
        .filter(|(distance, _)| *distance <= best + 1)
        .take(TOLD_MAX)
        .map(|(_, name)| name)
        .collect()
}

fn plain(name: &str) -> Vec<u8> {
    name.bytes().map(|byte| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() }).collect()
}

/// How many characters are to be put in, left out, changed, or swapped with the next one.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, byte) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let changed = last[column] + usize::from(byte != other);
            let mut least = changed.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swapped = row > 0 && column > 0 && left[row - 1] == *other && right[column - 1] == *byte;
            if is_swapped {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("kitten", "sitting", 3),
            ("ab", "", 2),
        ] {
            assert_eq!(distance(left.as_bytes(), right.as_bytes()), expected, "{left} {right}");
            assert_eq!(distance(right.as_bytes(), left.as_bytes()), expected, "{left} {right}");
        }
    }

    #[test]
    fn what_was_meant_is_found_and_nothing_else() {
        let names =
            ["port", "socket", "max-connections", "max-user-connections", "innodb-buffer-pool-size", "ssl"];
        assert_eq!(nearest("max_conections", names), ["max-connections"]);
        assert_eq!(nearest("Prot", names), ["port"]);
        assert_eq!(nearest("buffer_pool_size", names), ["innodb-buffer-pool-size"]);
        assert!(nearest("nonsense", names).is_empty());
        assert!(nearest("", names).is_empty());
        assert!(nearest("x", names).is_empty() && nearest("a", ["b"]).is_empty());
        assert!(nearest("tcsh", ["bash", "zsh", "fish"]).is_empty());
    }
}
