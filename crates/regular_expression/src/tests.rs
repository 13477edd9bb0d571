//! Patterns and what they match, errors, limits; the automaton and the machine beside one another.

use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits { ticks: 32, stack_bytes: 8_000_000 };

fn go_on() -> SqlResult<()> {
    Ok(())
}

/// All matches with their groups; the number of the error.
fn matches(regex: &Regex, subject: &str, limits: Limits) -> Result<Vec<Vec<Option<Range<usize>>>>, u16> {
    let mut search = Search::new(regex, subject, 0, limits, &go_on).map_err(|error| error.number())?;
    let mut found = Vec::new();
    while let Some(whole) = search.next().map_err(|error| error.number())? {
        let groups = (1..=regex.groups()).map(|group| search.group(group));
        found.push(std::iter::once(Some(whole)).chain(groups).collect());
    }
    Ok(found)
}

fn flags(text: &str) -> Flags {
    Flags {
        insensitive: text.contains('i'),
        multiline: text.contains('m'),
        dot_all: text.contains('n'),
        unix_lines: text.contains('u'),
        unicode_words: false,
    }
}

#[track_caller]
fn check(pattern: &str, with: &str, subject: &str, expected: &[&str]) {
    let regex = Regex::new(pattern, flags(with), &go_on).unwrap();
    let found = matches(&regex, subject, LIMITS).unwrap();
    let texts: Vec<&str> = found.iter().map(|groups| &subject[groups[0].clone().unwrap()]).collect();
    assert_eq!(texts, expected, "{pattern} in {subject}");
}

#[test]
fn repeats_and_groups() {
    check("a{2,3}?", "", "aaaaa", &["aa", "aa"]);
    check("(a|ab)(c|bcd)(d*)", "", "abcd", &["abcd"]);
    check("(a*)*", "", "aab", &["aa", "", ""]);
    check("(?:ab){2,}c|x", "", "abababcx", &["abababc", "x"]);
    check("(?:a|b|)+c", "", "abc", &["abc"]);
    check("a*+a", "", "aaa", &[]);
    check("(?>ab|a)c", "", "abc", &["abc"]);
    check("(?>a|ab)c", "", "abc", &[]);
    check("(a\\1?){3}", "", "aaaa", &["aaaa"]);
    check("(?<x>.)\\k<x>", "", "abccd", &["cc"]);
    check("(?:)", "", "ab", &["", "", ""]);
}

#[test]
fn dots_over_line_ends_step_back_by_characters() {
    check(".*a", "n", "\u{1f600}\u{e9}", &[]);
    check(".*\u{e9}", "n", "\u{e9}\r\n\u{1f600}a", &["\u{e9}"]);
    check(".*\\n\u{e9}", "n", "a\r\n\u{e9}", &["\n\u{e9}"]);
}

#[test]
fn what_is_looked_for() {
    check("(?<=a{1,3})b", "", "aaab", &["b"]);
    check("(?<!a|bc)d", "", "adbcdd", &["d"]);
    check("(?=(a+))a*b\\1", "", "baaabac", &["aba"]);
    check("(?!a).", "", "ab", &["b"]);
    check("a(?=.*c)(?!b).", "", "abaxc", &["ax"]);
    check("\\b\\w+", "", "foo e\u{301}a", &["foo", "e\u{301}a"]);
    check("\\Ga", "", "aab", &["a", "a"]);
}

#[test]
fn lines() {
    check("a$", "", "a\r\n", &["a"]);
    check("a\r$", "", "a\r\n", &[]);
    check("^b$", "m", "a\u{2028}b\r\nb", &["b", "b"]);
    check("a.b", "n", "a\r\nb", &["a\r\nb"]);
    check(".+", "", "a\u{85}b", &["a", "b"]);
    check(".+", "u", "a\rb\nc", &["a\rb", "c"]);
    // A beginning of a line is not looked for between these two, a text is.
    check("^", "m", "\r\nx\n", &["", ""]);
    check("^\nb", "m", "a\r\nb", &["\nb"]);
    check("\\R", "", "\r\n\n\r", &["\r\n", "\n", "\r"]);
}

#[test]
fn case_folds_over_several_characters() {
    check("ss", "i", "ßSSſs", &["ß", "SS", "ſs"]);
    check("s", "i", "ßſ", &["ſ"]);
    check("ß", "i", "ssẞ", &["ss", "ẞ"]);
    check("[ß]", "i", "ssẞ", &["ẞ"]);
    check("[ŉ]", "i", "ʼN", &["ʼN"]);
    check("(ß)\\1", "i", "ßss", &["ßss"]);
    check("\\p{Lu}[^k]", "i", "ak\u{212a}b", &["\u{212a}b"]);
    check("[a-z--A]", "i", "a", &["a"]);
    check("[[a-z]--[A]]", "i", "ab", &["b"]);
}

#[test]
fn sets() {
    check("[a-z--[aeiou]&&[b-e]]+", "", "aebcd", &["bcd"]);
    check("[[a-m]-[b][d]]+", "", "abd", &["a", "d"]);
    check("[^[^a]]", "", "ba", &["a"]);
    check("[]a-]+", "", "]-a^", &["]-a"]);
    check("[[:alpha:]-z]+", "", "a-z1", &["a-z"]);
    check("[:alpha:]+", "", ":ab", &["ab"]);
    check("[[:digit:]&[:digit:]\\]]+", "", "1]", &["1]"]);
    check("[a-z&[b]]+", "", "a&", &["a&"]);
    check("[\\d-z]+", "", "1-zy", &["1-z"]);
}

#[test]
fn errors_are_those_of_icu() {
    for (pattern, number) in [
        ("", 3685),
        ("a**", 3688),
        ("a}", 3688),
        ("(?z)", 3688),
        ("(?iz)", 3900),
        ("(?(1)a)", 3690),
        ("\\x", 3689),
        ("(a", 3691),
        ("a)", 3691),
        ("a{,2}", 3692),
        ("a{2,1}", 3693),
        ("(a)\\2", 3694),
        ("(?<=a*)b", 3695),
        ("[a", 3696),
        ("[z-a]", 3697),
        ("(?<a>b)(?<a>c)", 3887),
        ("a{16777216}", 4007),
        ("(?<=a??)b", 3695),
        ("(?<=(?=a*)b)c", 3695),
        ("[a&-Z]", 3697),
        ("[&-z]", 3697),
        ("\\p{Foo}", 3685),
        ("\\N{DIGIT ONE}", 1235),
        ("(?w)\\b", 1235),
    ] {
        assert_eq!(
            Regex::new(pattern, Flags::default(), &go_on).map(drop).map_err(|error| error.number()),
            Err(number),
            "{pattern}"
        );
    }
    let place = |pattern: &str| {
        Regex::new(pattern, Flags::default(), &go_on).map(drop).map_err(|error| error.message().to_owned())
    };
    let at = |line, character| {
        Err(format!("Syntax error in regular expression on line {line}, character {character}."))
    };
    assert_eq!(place("a**"), at(1, 3));
    assert_eq!(place("a\n\r\nb**"), at(3, 3));
    // A code counts one more than it has characters, and so does a backslash.
    assert_eq!(place("\\x41\\n**"), at(1, 10));
    assert_eq!(place("(?\\d)"), at(1, 4));
    let nested = |times: usize| format!("{}a{}", "(".repeat(times), ")".repeat(times));
    assert!(Regex::new(&nested(99), Flags::default(), &go_on).is_ok());
    assert_eq!(
        Regex::new(&nested(100), Flags::default(), &go_on).map(drop).map_err(|error| error.number()),
        Err(3687)
    );
}

#[test]
fn limits_are_those_of_icu() {
    let outcome = |pattern: &str, subject: &str, ticks, stack_bytes| {
        let regex = Regex::new(pattern, Flags::default(), &go_on).unwrap();
        matches(&regex, subject, Limits { ticks, stack_bytes }).map(|found| found.len())
    };
    assert_eq!(outcome("^a*$", &"a".repeat(9997), 1, 0), Ok(1));
    assert_eq!(outcome("^a*$", &"a".repeat(9998), 1, 0), Err(3699));
    assert_eq!(outcome("^(?=a*)b", &"a".repeat(9996), 1, 0), Ok(0));
    assert_eq!(outcome("^(?=a*)b", &"a".repeat(9997), 1, 0), Err(3699));
    assert_eq!(outcome("a*b", &"a".repeat(138), 1, 0), Ok(0));
    assert_eq!(outcome("a*b", &"a".repeat(139), 1, 0), Err(3699));
    assert_eq!(outcome("(?<=c|d)a", &"a".repeat(3333), 1, 0), Ok(0));
    assert_eq!(outcome("(?<=c|d)a", &"a".repeat(3334), 1, 0), Err(3699));
    assert_eq!(outcome("^(a)*$", &"a".repeat(37), 32, 800), Ok(1));
    assert_eq!(outcome("^(a)*$", &"a".repeat(38), 32, 800), Err(3698));
    assert_eq!(outcome("^(?:ab){1,}$", &"ab".repeat(48), 32, 800), Ok(1));
    assert_eq!(outcome("^(?:ab){1,}$", &"ab".repeat(49), 32, 800), Err(3698));
    assert_eq!(outcome("a", "a", 32, 8), Err(3698));
    assert_eq!(outcome("^*+a", "a", 32, 8_000_000), Err(3699));
    // A loop that could go on for ever, and one that would for years.
    assert_eq!(outcome("(a?)*?b", "aac", 32, 8_000_000), Err(3699));
    assert_eq!(outcome("(a+)+b", &"a".repeat(40), 32, 8_000_000), Err(3699));
}

#[test]
fn a_search_hears_its_interrupt() {
    let regex = Regex::new("(a+)+b", Flags::default(), &go_on).unwrap();
    let stop = || Err(sql_error!(ER_QUERY_INTERRUPTED));
    let subject = "a".repeat(40);
    let unbounded = Limits { ticks: 0, stack_bytes: 0 };
    let mut search = Search::new(&regex, &subject, 0, unbounded, &stop).unwrap();
    assert_eq!(search.next().map_err(|error| error.number()), Err(1317));
    // Neither runs nor places that are no match save states.
    let runs = Regex::new("[ab]*+c", Flags::default(), &go_on).unwrap();
    let subject = "a".repeat(1 << 16);
    let mut search = Search::new(&runs, &subject, 0, unbounded, &stop).unwrap();
    assert_eq!(search.next().map_err(|error| error.number()), Err(1317));
}

/// The same matches with the automaton, made at once.
fn fast_matches(regex: &Regex, subject: &str) -> Option<Vec<Vec<Option<Range<usize>>>>> {
    let fast = regex.fast.as_ref()?;
    let mut subjects = 0..100;
    let automaton = subjects.find_map(|_| fast.automaton(subject, LIMITS))?;
    let mut search = Search::new(regex, subject, 0, LIMITS, &go_on).unwrap();
    assert!(std::ptr::eq(search.automaton.unwrap(), automaton));
    let mut found = Vec::new();
    while let Some(whole) = search.next().unwrap() {
        found.push(
            std::iter::once(Some(whole))
                .chain((1..=regex.groups()).map(|group| search.group(group)))
                .collect(),
        );
    }
    Some(found)
}

#[test]
fn some_patterns_have_a_fast_path() {
    for (pattern, with, is_fast) in [
        ("abc|abd", "", true),
        ("^a.*b$", "", true),
        ("(a)(b+)?c", "i", true),
        ("\\bfoo\\b", "", true),
        ("(?:ab)*c", "", true),
        ("(a|b)*c", "", false),
        ("(a+)+b", "", false),
        ("(a)\\1", "", false),
        ("(?=a)a", "", false),
        ("a*+", "", false),
        ("(?:a|)+", "", false),
    ] {
        let regex = Regex::new(pattern, flags(with), &go_on).unwrap();
        assert_eq!(fast_matches(&regex, "xx").is_some(), is_fast, "{pattern}");
    }
}

/// Patterns of the syntax that both know.
fn pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        8 => "[abcsx]",
        2 => "[\u{e9}ß\u{1f600}]",
        1 => Just(".".to_owned()),
        1 => prop_oneof![Just("[ab]"), Just("[^a]"), Just("[a-c--b]"), Just("\\w"), Just("\\d"), Just("\\p{L}")]
            .prop_map(str::to_owned),
        1 => prop_oneof![Just("^"), Just("$"), Just("\\b"), Just("\\B"), Just("\\A"), Just("\\z")].prop_map(str::to_owned),
    ];
    let repeat = prop_oneof![
        6 => Just(""),
        1 => prop_oneof![Just("*"), Just("+"), Just("?"), Just("{2}"), Just("{1,3}"), Just("{1,}")],
        1 => prop_oneof![Just("*?"), Just("+?"), Just("??"), Just("{1,3}?")],
    ];
    let leaf = (atom, repeat.clone()).prop_map(|(atom, repeat)| match atom.as_str() {
        // What takes no characters is not repeated.
        "^" | "$" | "\\b" | "\\B" | "\\A" | "\\z" => atom,
        _ => format!("{atom}{repeat}"),
    });
    leaf.prop_recursive(3, 12, 4, move |inner| {
        let repeat = repeat.clone();
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (prop::collection::vec(inner, 1..3), repeat)
                .prop_map(|(parts, repeat)| format!("({}){repeat}", parts.join("|"))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn automaton_and_machine_agree(
        pattern in pattern(),
        subject in "[abcsxS1 \u{e9}ß\u{1f600}\n\r]{0,12}",
        insensitive in any::<bool>(),
        multiline in any::<bool>(),
        dot_all in any::<bool>(),
    ) {
        let flags = Flags { insensitive, multiline, dot_all, ..Flags::default() };
        let regex = Regex::new(&pattern, flags, &go_on).unwrap();
        if let Some(fast) = fast_matches(&regex, &subject) {
            // With less than the default no automaton is asked.
            let slow = matches(&regex, &subject, Limits { ticks: 31, ..LIMITS }).unwrap();
            prop_assert_eq!(slow, fast);
        }
    }

    /// Also of patterns that no automaton takes: each match begins and ends between characters.
    #[test]
    fn machine_cuts_between_characters(
        parts in prop::collection::vec(
            prop_oneof![
                3 => "[ab\u{e9}\u{1f600}]",
                2 => prop_oneof![Just("."), Just("\\R"), Just("\\X"), Just("\\W"), Just("[^b]"), Just("\\b"), Just("$"), Just("\\1")]
                    .prop_map(str::to_owned),
                1 => prop_oneof![Just("(?<=.)"), Just("(?<!\u{e9}|ab)"), Just("(?=.)"), Just("(.)"), Just("(.*?)")]
                    .prop_map(str::to_owned),
                1 => prop_oneof![Just("(?>.*)"), Just(".*+"), Just("(?:\u{e9}|.){1,2}"), Just("(?:.|)*")]
                    .prop_map(str::to_owned),
            ],
            1..5,
        ),
        repeats in prop::collection::vec(prop_oneof![3 => Just(""), 1 => Just("*"), 1 => Just("+?"), 1 => Just("{1,2}")], 5),
        subject in "[ab\u{e9}ß\u{1f600}\u{301}\n\r]{0,12}",
        with in "i?m?n?u?",
    ) {
        let pattern: String = parts.iter().zip(repeats).flat_map(|(part, repeat)| [part.as_str(), repeat]).collect();
        if let Ok(regex) = Regex::new(&pattern, flags(&with), &go_on) {
            for range in matches(&regex, &subject, LIMITS).into_iter().flatten().flatten().flatten() {
                prop_assert!(subject.get(range).is_some());
            }
        }
    }
}

/// Patterns that took minutes, and memory by the gigabyte.
#[test]
fn long_patterns_share_their_sets_and_can_be_interrupted() {
    let looks = std::cell::Cell::new(0);
    let interrupt = || {
        looks.set(looks.get() + 1);
        if looks.get() > 20 { Err(sql_error!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
    };
    for part in ["\\p{L}", "[[:alpha:]]", "[\\p{Lu}\\p{Ll}]", "a|", "()", "(?:a|b)"] {
        looks.set(0);
        let failed = Regex::new(&part.repeat(50_000), Flags::default(), &interrupt);
        assert_eq!(failed.map(drop).map_err(|error| error.number()), Err(1317), "{part}");
    }
    let regex = Regex::new(&"\\p{L}".repeat(2_000), flags("i"), &go_on).unwrap();
    assert_eq!(matches(&regex, &"é".repeat(2_000), LIMITS).unwrap().len(), 1);
}

/// Rounds that save no state took memory for each slot that they changed.
#[test]
fn rounds_that_save_nothing_take_no_memory() {
    let pattern = format!("(?:|b)(?:{}){{100000}}c", "()".repeat(50));
    let regex = Regex::new(&pattern, Flags::default(), &go_on).unwrap();
    let mut search = Search::new(&regex, "bb", 0, LIMITS, &go_on).unwrap();
    let ended = search.next().map_err(|error| error.number());
    assert!(matches!(ended, Ok(None) | Err(3699)), "{ended:?}");
    assert!(search.machine.changes_kept() < 10_000, "{}", search.machine.changes_kept());
    let regex = Regex::new("(?:x|)(?:(a)|(b)){3,}?c", Flags::default(), &go_on).unwrap();
    let found = matches(&regex, "ababc", LIMITS).unwrap();
    assert_eq!(found, [[Some(0..5), Some(2..3), Some(3..4)]]);
}
