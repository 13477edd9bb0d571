//! Searching and LIKE against the same done place by place, and on texts that make such a search quadratic.
#![allow(clippy::unwrap_used)]

use super::{Stopped, code_of};
use crate::collation::Order;
use crate::encoding::Decoded;
use crate::weights::Weights;
use crate::{Collation, collation_by_name};
use proptest::prelude::*;

const COLLATIONS: &[&str] = &[
    "binary",
    "utf8mb4_bin",
    "utf8mb4_0900_bin",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_as_ci",
    "utf8mb4_0900_as_cs",
    "utf8mb4_general_ci",
    "utf8mb4_unicode_ci",
    "latin1_swedish_ci",
    "latin1_bin",
    "sjis_japanese_ci",
    "gbk_bin",
    "utf16_general_ci",
];

fn named(name: &str) -> &'static Collation {
    collation_by_name(name).unwrap()
}

/// Bytes of `text`'s start that equal `needle`.
fn start_that_equals(collation: &Collation, text: &[u8], needle: &[u8]) -> Option<usize> {
    match collation.order {
        Order::Bytes | Order::Unsupported => text.starts_with(needle).then_some(needle.len()),
        Order::SingleByte(order) => {
            let weight = |byte: &u8| order[usize::from(*byte)];
            let start = text.get(..needle.len())?;
            start.iter().map(weight).eq(needle.iter().map(weight)).then_some(needle.len())
        }
        Order::MultiByte(listed) => {
            let (mut at, mut wanted) = (0, 0);
            while wanted < needle.len() {
                let left = collation.encoding.decode(text.get(at..).filter(|rest| !rest.is_empty())?);
                let right = collation.encoding.decode(&needle[wanted..]);
                let weight = |step: Decoded, rest: &[u8]| listed.weight(code_of(step, rest));
                if weight(left, &text[at..]) != weight(right, &needle[wanted..]) {
                    return None;
                }
                at += left.length;
                wanted += right.length;
            }
            Some(at)
        }
        Order::Weights { table, levels, .. } => {
            let weights = |text, level| Weights::new(table, collation.encoding, text, level);
            let mut found = weights(text, 1);
            if !weights(needle, 1).all(|weight| found.next() == Some(weight)) {
                return None;
            }
            let place = &text[..text.len() - found.remaining()];
            (2..=levels).all(|level| weights(place, level).eq(weights(needle, level))).then_some(place.len())
        }
    }
}

fn find_by_trying(collation: &Collation, text: &[u8], needle: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while at <= text.len() {
        if let Some(length) = start_that_equals(collation, &text[at..], needle) {
            return Some((at, length));
        }
        if at == text.len() {
            return None;
        }
        at += collation.encoding.decode(&text[at..]).length;
    }
    None
}

/// Letters with and without accents, one of two weights, one of none, broken bytes.
const LETTERS: &[&[u8]] =
    &[b"a", b"a", b"b", b"A", "ä".as_bytes(), "ß".as_bytes(), b"s", "\u{ad}".as_bytes(), b"\x81", b"\x00"];

/// Texts that repeat themselves.
fn texts(length: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(LETTERS), 0..length).prop_map(|letters| letters.concat())
}

proptest! {
    #[test]
    fn a_place_is_found_where_trying_finds_it(text in texts(16), needle in texts(5)) {
        for name in COLLATIONS {
            let collation = named(name);
            let expected = find_by_trying(collation, &text, &needle);
            prop_assert_eq!(collation.find(&text, &needle, 0, &mut || true), Ok(expected), "{}", name);
        }
    }

    #[test]
    fn pieces_match_as_trying_does(
        text in texts(14),
        pattern in prop::collection::vec(prop::sample::select(&["a", "b", "A", "ä", "_", "%", "%", "\\"][..]), 0..8),
    ) {
        let pattern = pattern.concat();
        let escape = Some(u32::from(b'\\'));
        for name in ["utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_bin", "latin1_swedish_ci"] {
            let collation = named(name);
            let tried = collation.like_within(&text, pattern.as_bytes(), escape, usize::MAX, &mut || true);
            let by_pieces = collation.like_by_pieces(&text, pattern.as_bytes(), escape, &mut || true);
            prop_assert_eq!(by_pieces.ok(), tried.ok().flatten(), "{} LIKE {}", name, pattern);
        }
    }
}

#[test]
fn repetitive_texts_take_no_longer_than_others() {
    let text = [b"a".repeat(60_000), b"c".to_vec()].concat();
    let needle = [b"a".repeat(30_000), b"b".to_vec()].concat();
    for name in COLLATIONS.iter().filter(|name| !name.starts_with("utf16")) {
        let collation = named(name);
        assert_eq!(collation.find(&text, &needle, 0, &mut || false), Ok(None), "{name}");
        let pattern = [b"%", needle.as_slice(), b"%"].concat();
        let mut asked = 0;
        let mut count = || {
            asked += 1;
            true
        };
        assert_eq!(collation.like(&text, &pattern, None, &mut count), Ok(false), "{name}");
        assert!(asked <= 8, "{name}: {asked}");
    }
}

#[test]
fn a_long_trial_asks_whether_to_go_on() {
    let text = b"a".repeat(200_000);
    let pattern = [b"%".as_slice(), &b"a%".repeat(20), b"b%"].concat();
    for name in COLLATIONS.iter().filter(|name| !name.starts_with("utf16")) {
        assert_eq!(named(name).like(&text, &pattern, None, &mut || false), Err(Stopped), "{name}");
    }
}

#[test]
fn what_may_take_long_asks_whether_to_go_on() {
    let text = b"a".repeat(20_000);
    let pattern = [b"%".to_vec(), b"a".repeat(5_000), b"_b%".to_vec()].concat();
    let mut asked = 0;
    let mut keep_on = || {
        asked += 1;
        asked < 3
    };
    assert!(named("utf8mb4_bin").like(&text, &pattern, None, &mut keep_on).is_err());
    let needle = [b"a".repeat(5_000), "á".as_bytes().to_vec()].concat();
    assert!(named("utf8mb4_0900_as_ci").find(&text, &needle, 0, &mut || false).is_err());
}
