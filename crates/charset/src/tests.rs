//! Properties of sort keys against comparison, and cases recorded from MySQL 9.7.4.

use super::*;
use crate::collation::{Order, weights_equal};
use proptest::prelude::*;
use std::cmp::Ordering;

fn named(name: &str) -> &'static Collation {
    collation_by_name(name).unwrap()
}

fn key(collation: &Collation, text: &[u8]) -> Vec<u8> {
    let mut key = vec![7];
    collation.sort_key(text, &mut key);
    key.split_off(1)
}

fn supported() -> impl Iterator<Item = &'static Collation> {
    collations().iter().filter(|collation| collation.is_supported())
}

#[test]
fn registry_knows_what_mysql_knows() {
    assert_eq!((collations().len(), charsets().len()), (286, 41));
    assert_eq!(collation_by_name("UTF8_general_ci").map(|c| c.id), Some(CollationId::UTF8MB3_GENERAL_CI));
    assert_eq!(charset_by_name("utf8").map(|c| c.name), Some("utf8mb3"));
    assert_eq!(
        charset_by_name("utf8mb4").map(|c| c.default_collation),
        Some(CollationId::UTF8MB4_0900_AI_CI)
    );
    assert_eq!(charset_by_name("utf8mb4").map(|c| c.binary_collation), Some(CollationId::UTF8MB4_BIN));
    let missing: Vec<&str> = collations().iter().filter(|c| !c.is_supported()).map(|c| c.name).collect();
    assert_eq!(
        missing,
        [
            "latin2_czech_cs",
            "tis620_thai_ci",
            "latin1_german2_ci",
            "cp1250_czech_cs",
            "ucs2_general_mysql500_ci",
            "utf8mb3_general_mysql500_ci",
            "utf8mb4_ja_0900_as_cs",
            "utf8mb4_ja_0900_as_cs_ks",
            "utf8mb4_zh_0900_as_cs",
        ]
    );
    assert!(collation_by_name("klingon_ci").is_none());
    assert_eq!(collation(CollationId(9999)).map(|c| c.id), None);
}

#[test]
fn ascii_characters_are_equal_by_all_their_weights() {
    for collation in supported() {
        let Order::Weights { table, levels, .. } = collation.order else { continue };
        for (a, b) in (0..128).flat_map(|a| (0..128).map(move |b| (a, b))) {
            let expected = a == b || weights_equal(table, levels, a, b);
            assert_eq!(collation.characters_equal(a, b), expected, "{} {a} {b}", collation.name);
        }
    }
}

/// Characters of several bytes, as MySQL converts them: text in the set, the same in UTF-8, and its weights.
#[test]
fn multi_byte_sets_are_mysqls() {
    for (collation, bytes, text, weights) in [
        ("sjis_japanese_ci", &b"a\x95\x5c\xb1"[..], "a\u{8868}\u{ff71}", &b"A\x95\x5c\xb1"[..]),
        ("cp932_japanese_ci", b"\xfa\x5c", "\u{7e8a}", b"\xfa\x5c"),
        (
            "ujis_japanese_ci",
            b"\xa4\xa2\x8e\xb1\x8f\xb0\xa1",
            "\u{3042}\u{ff71}\u{4e02}",
            b"\xa4\xa2\x8e\xb1\x8f\xb0\xa1",
        ),
        ("gb18030_chinese_ci", b"\x90\x30\x81\x30", "\u{10000}", b"\x90\x30\x81\x30"),
        ("big5_chinese_ci", b"\xa4\x40", "\u{4e00}", b""),
        ("euckr_korean_ci", b"\xb0\xa1", "\u{ac00}", b"\xb0\xa1"),
    ] {
        let charset = named(collation).charset();
        let utf8 = CollationId::UTF8MB4_BIN.charset();
        assert_eq!(charset.convert(bytes, utf8).text, text.as_bytes(), "{collation}");
        assert_eq!(utf8.convert(text.as_bytes(), charset).text, bytes, "{collation}");
        assert_eq!(charset.character_count(bytes), text.chars().count(), "{collation}");
        if !weights.is_empty() {
            assert_eq!(named(collation).weight_string(bytes, &mut || true).unwrap(), weights, "{collation}");
        }
    }
}

/// WEIGHT_STRING as MySQL answers.
#[test]
fn weight_strings_are_mysqls() {
    for (collation, text, expected) in [
        (
            "utf8mb4_0900_as_cs",
            "aB \u{e9}",
            "1C471C6002091CAA000000200020002000200024000000020008000200020002",
        ),
        ("utf8mb4_0900_ai_ci", "aB \u{e9}", "1C471C6002091CAA"),
        ("utf8mb4_0900_as_ci", "aB \u{e9}", "1C471C6002091CAA000000200020002000200024"),
        ("utf8mb4_unicode_ci", "a\u{e9}", "0E330E8B"),
        ("utf8mb4_0900_ai_ci", "\u{ac00}\u{4e00}", "3BF53C73FB40CE00"),
        ("utf8mb4_general_ci", "\u{1f600}a", "FFFD0041"),
    ] {
        let shown: String = named(collation)
            .weight_string(text.as_bytes(), &mut || true)
            .unwrap()
            .iter()
            .map(|b| format!("{b:02X}"))
            .collect();
        assert_eq!(shown, expected, "{collation} {text}");
    }
}

/// Texts in collations of languages: contractions, expansions, moved scripts, capitals first.
#[test]
fn languages_are_mysqls() {
    for (collation, ordered) in [
        ("utf8mb4_esperanto_ci", &["c", "\u{109}", "d"][..]),
        ("utf8mb4_czech_ci", &["cz", "\u{10d}", "hz", "ch", "i"]),
        ("utf8mb4_cs_0900_as_cs", &["cz", "\u{10d}", "hz", "ch", "cH", "Ch", "CH", "i"]),
        ("utf8mb4_hu_0900_ai_ci", &["czz", "cs", "csa", "d"]),
        ("utf8mb4_da_0900_as_cs", &["A", "a", "b", "z", "\u{c6}", "\u{e6}", "AA", "Aa", "aa"]),
        ("utf8mb4_ru_0900_ai_ci", &["1", "\u{44f}", "a", "\u{3b1}"]),
        ("utf8mb4_turkish_ci", &["h", "\u{131}", "i", "j"]),
        ("utf8mb3_swedish_ci", &["z", "\u{e5}", "\u{e4}", "\u{f6}"]),
    ] {
        let collation = named(collation);
        for pair in ordered.windows(2) {
            let order = collation.compare(pair[0].as_bytes(), pair[1].as_bytes());
            assert_eq!(order, Ordering::Less, "{} {pair:?}", collation.name);
        }
    }
    let czech = named("utf8mb4_czech_ci");
    let find = |text: &str, needle: &str| {
        czech.find(text.as_bytes(), needle.as_bytes(), 0, &mut || true).unwrap().map(|place| place.0)
    };
    assert_eq!((find("och", "h"), find("och", "c"), find("och", "CH")), (Some(2), None, Some(1)));
    assert_eq!(named("utf8mb4_turkish_ci").lower(b"I"), "\u{131}".as_bytes());
    assert_eq!(named("utf8mb4_turkish_ci").upper(b"i"), "\u{130}".as_bytes());
    assert_eq!(named("utf8mb4_tr_0900_ai_ci").lower(b"I"), b"i");
}

#[test]
fn comparisons_are_mysqls() {
    for (collation, a, b, expected) in [
        ("utf8mb4_0900_ai_ci", "resume", "R\u{e9}sum\u{e9}", Ordering::Equal),
        ("utf8mb4_0900_ai_ci", "a", "a ", Ordering::Less),
        ("utf8mb4_0900_as_cs", "a", "A", Ordering::Less),
        ("utf8mb4_general_ci", "a", "a  ", Ordering::Equal),
        ("utf8mb4_general_ci", "a\t", "a", Ordering::Less),
        ("utf8mb4_general_ci", "\u{df}", "s", Ordering::Equal),
        ("utf8mb3_tolower_ci", "TABLE_\u{c9}", "table_\u{e9} ", Ordering::Equal),
        ("utf8mb3_tolower_ci", "\u{e9}", "e", Ordering::Greater),
        ("utf8mb3_tolower_ci", "name", "PRIMARY", Ordering::Less),
        ("utf8mb3_tolower_ci", "\u{17f}", "s", Ordering::Greater),
        ("utf8mb4_unicode_ci", "\u{df}", "ss", Ordering::Equal),
        ("utf8mb4_bin", "a ", "a", Ordering::Equal),
        ("utf8mb4_0900_bin", "a ", "a", Ordering::Greater),
    ] {
        assert_eq!(named(collation).compare(a.as_bytes(), b.as_bytes()), expected, "{collation} {a:?} {b:?}");
    }
}

#[test]
fn patterns_match_as_mysql_matches() {
    let ai_ci = named("utf8mb4_0900_ai_ci");
    let escape = Some(u32::from(b'\\'));
    for (text, pattern, expected) in [
        ("abc", "A%", true),
        ("abc", "%B%", true),
        ("abc", "a_c", true),
        ("abc", "a_", false),
        ("a%c", "a\\%c", true),
        ("abc", "a\\%c", false),
        ("abcabd", "%abd", true),
        ("", "%", true),
        ("", "_", false),
        ("a ", "a", false),
        ("\u{e9}t\u{e9}", "ete", true),
        ("\u{1f600}", "_", true),
    ] {
        assert_eq!(
            ai_ci.like(text.as_bytes(), pattern.as_bytes(), escape, &mut || true),
            Ok(expected),
            "{text} LIKE {pattern}"
        );
    }
    assert_eq!(ai_ci.like_prefix(b"ab\\%c%d", escape), (b"ab%c".to_vec(), false));
    let find = |text: &str, needle: &[u8]| ai_ci.find(text.as_bytes(), needle, 0, &mut || true);
    assert_eq!(find("xx\u{c9}a", b"ea"), Ok(Some((2, 3))));
    assert_eq!(find("abc", b"d"), Ok(None));
}

#[test]
fn case_and_conversion() {
    let general = named("utf8mb4_general_ci");
    assert_eq!(general.upper("stra\u{df}e \u{e9}".as_bytes()), "STRA\u{df}E \u{c9}".as_bytes());
    assert_eq!(named("latin1_swedish_ci").lower(b"\xc9A"), b"\xe9a");
    assert_eq!(named("utf8mb4_0900_ai_ci").lower("\u{23a}".as_bytes()), "\u{2c65}".as_bytes());
    let (utf8, latin1) = (charset_by_name("utf8mb4").unwrap(), charset_by_name("latin1").unwrap());
    let conversion = utf8.convert("\u{e9}\u{65e5}\u{20ac}".as_bytes(), latin1);
    assert_eq!(conversion, Conversion { text: b"\xe9?\x80".to_vec(), first_error: Some(2) });
    assert_eq!(latin1.convert(b"\xe9", utf8).text, "\u{e9}".as_bytes());
    assert_eq!(utf8.valid_length(b"ab\xffc"), 2);
    assert_eq!(utf8.character_count("a\u{e9}\u{1f600}".as_bytes()), 3);
    assert_eq!(utf8.prefix("a\u{e9}b".as_bytes(), 2), "a\u{e9}".as_bytes());
}

fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        3 => prop::sample::select(vec!['a', 'A', ' ', 'b', '\t', '\u{e1}', '\u{301}', 's', '\u{df}', '0', '\u{1}']),
        2 => prop::sample::select(vec!['c', 'C', 'h', 'H', 'd', 'z', '\u{17e}', 'l', 'j', '\u{307}', '\u{300}', '\u{44f}']),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..40).prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #[test]
    fn sort_keys_order_as_comparison_does(a in text(), b in text(), cut in 0usize..40) {
        let utf8 = charset_by_name("utf8mb4").unwrap();
        for collation in supported() {
            let encode = |text: &str| utf8.convert(text.as_bytes(), collation.charset()).text;
            let (a, b) = (encode(&a), encode(&b));
            let (left, right) = (key(collation, &a), key(collation, &b));
            prop_assert_eq!(collation.compare(&a, &b), left.cmp(&right), "{}", collation.name);
            prop_assert_eq!(collation.sort_key_length(&left, false), Some(left.len()), "{}", collation.name);
            if left != right {
                prop_assert!(!left.starts_with(&right) && !right.starts_with(&left), "{}", collation.name);
            }
            let mut start = vec![9];
            collation.sort_key_start(collation.charset().prefix(&a, cut), &mut start);
            prop_assert!(left.starts_with(&start[1..]), "{}", collation.name);
            if collation.sort_key_is_reversible() {
                let kept = if collation.pad_space { collation.charset().length_without_trailing_spaces(&a) } else { a.len() };
                prop_assert_eq!(collation.text_of_sort_key(&left), &a[..kept], "{}", collation.name);
            }
        }
    }

    #[test]
    fn any_bytes_are_taken(a in prop::collection::vec(any::<u8>(), 0..24), b in prop::collection::vec(any::<u8>(), 0..24)) {
        for collation in supported() {
            let (left, right) = (key(collation, &a), key(collation, &b));
            prop_assert_eq!(collation.compare(&a, &b), left.cmp(&right), "{}", collation.name);
            let _matches = collation.like(&a, &b, Some(u32::from(b'\\')), &mut || true);
            let _place = collation.find(&a, &b, 0, &mut || true);
            collation.sort_key_length(&a, false);
            collation.lower(&a);
            collation.charset().character_count(&a);
        }
    }
}
