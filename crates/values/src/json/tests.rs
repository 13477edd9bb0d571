//! Recorded from MySQL 9.7.4: the bytes of documents, their texts and their order.

use super::*;
use crate::column_type::{ColumnType, TypeKind};
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};
use crate::value::Value;
use charset::CollationId;
use errors::{SqlResult, sql_error};
use std::borrow::Cow;
use std::cmp::Ordering;

fn text(text: &str) -> Built<'static> {
    Built::String(Cow::Owned(text.as_bytes().to_vec()))
}

fn array(elements: impl IntoIterator<Item = Built<'static>>) -> Built<'static> {
    Built::Array(elements.into_iter().collect())
}

fn object(members: impl IntoIterator<Item = (&'static str, Built<'static>)>) -> Built<'static> {
    let pairs = members.into_iter().map(|(key, value)| (Cow::Borrowed(key.as_bytes()), value)).collect();
    Built::Object(Members::from_pairs(pairs))
}

fn of(value: Value, column_type: ColumnType) -> Built<'static> {
    scalar(value.as_ref(), &column_type, false).unwrap()
}

fn decimal(text: &str) -> Built<'static> {
    of(Value::Decimal(Decimal::parse(text.as_bytes()).number), ColumnType::new(TypeKind::Decimal))
}

fn date(day: u8) -> Built<'static> {
    of(Value::Date(Date::new(2020, 1, day)), ColumnType::new(TypeKind::Date))
}

fn time(negative: bool) -> Built<'static> {
    let time = Time { negative, hours: 10, minutes: 11, seconds: 12, microseconds: 500_000 };
    of(Value::Time(time), ColumnType::temporal(TypeKind::Time, 1))
}

fn moment(kind: TypeKind, day: u8, clock: (u8, u8, u8, u32)) -> Built<'static> {
    let (hour, minute, second, microsecond) = clock;
    let moment = DateTime { date: Date::new(2020, 1, day), hour, minute, second, microsecond };
    of(Value::DateTime(moment), ColumnType::temporal(kind, 6))
}

fn binary(kind: TypeKind, bytes: &[u8]) -> Built<'static> {
    of(Value::Bytes(bytes.to_vec()), ColumnType::new(kind))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn shown(built: &Built<'_>) -> String {
    let document = built.encode().unwrap();
    let mut out = Vec::new();
    print(Node::of(&document), &mut out);
    String::from_utf8(out).unwrap()
}

/// Each document's bytes in hexadecimal, its text and what JSON_TYPE says.
fn images() -> Vec<(Built<'static>, &'static str, &'static str, &'static str)> {
    use Built::{Boolean, Double, Int, Null, UInt};
    let year = of(Value::UInt(2020), ColumnType::new(TypeKind::Year));
    let bits = of(Value::UInt(257), ColumnType::bit(9));
    let clock = (3, 4, 5, 6);
    vec![
        (Null, "0400", "null", "NULL"),
        (Boolean(true), "0401", "true", "BOOLEAN"),
        (Boolean(false), "0402", "false", "BOOLEAN"),
        (Int(1), "050100", "1", "INTEGER"),
        (Int(-1), "05ffff", "-1", "INTEGER"),
        (Int(32768), "0700800000", "32768", "INTEGER"),
        (Int(65536), "0700000100", "65536", "INTEGER"),
        (Int(1 << 31), "090000008000000000", "2147483648", "INTEGER"),
        (UInt(u64::MAX), "0affffffffffffffff", "18446744073709551615", "UNSIGNED INTEGER"),
        (Double(1.5), "0b000000000000f83f", "1.5", "DOUBLE"),
        (text("abc"), "0c03616263", "\"abc\"", "STRING"),
        (array([]), "0200000400", "[]", "ARRAY"),
        (object([]), "0000000400", "{}", "OBJECT"),
        (array([Int(32768)]), "0201000b0007070000800000", "[32768]", "ARRAY"),
        (array([array([])]), "0201000b0002070000000400", "[[]]", "ARRAY"),
        (
            array([Int(1), Int(70000), text("ab"), Null, Double(1.5)]),
            "02050022000501000713000c17000400000b1a0070110100026162000000000000f83f",
            "[1, 70000, \"ab\", null, 1.5]",
            "ARRAY",
        ),
        (
            object([("b", Int(1)), ("aa", text("x")), ("a", array([Boolean(true)]))]),
            "0003002600190001001a0001001b000200021d000501000c240061626161010007000401000178",
            "{\"a\": [true], \"b\": 1, \"aa\": \"x\"}",
            "OBJECT",
        ),
        (decimal("1.10"), "0ff6040302810a", "1.10", "DECIMAL"),
        (decimal("-12345.678"), "0ff60708037fcfc6fd59", "-12345.678", "DECIMAL"),
        (date(2), "0f0a08000000000044a519", "\"2020-01-02\"", "DATE"),
        (time(false), "0f0b0820a107cca2000000", "\"10:11:12.500000\"", "TIME"),
        (
            moment(TypeKind::DateTime, 2, clock),
            "0f0c08060000053144a519",
            "\"2020-01-02 03:04:05.000006\"",
            "DATETIME",
        ),
        (
            moment(TypeKind::Timestamp, 2, clock),
            "0f0708060000053144a519",
            "\"2020-01-02 03:04:05.000006\"",
            "TIMESTAMP",
        ),
        (binary(TypeKind::VarBinary, b"AB"), "0f0f024142", "\"base64:type15:QUI=\"", "BLOB"),
        (binary(TypeKind::Blob, b"ab"), "0ffc026162", "\"base64:type252:YWI=\"", "BLOB"),
        (binary(TypeKind::TinyBlob, b"ab"), "0ff9026162", "\"base64:type249:YWI=\"", "BLOB"),
        (binary(TypeKind::MediumBlob, b"ab"), "0ffa026162", "\"base64:type250:YWI=\"", "BLOB"),
        (binary(TypeKind::LongBlob, b"ab"), "0ffb026162", "\"base64:type251:YWI=\"", "BLOB"),
        (binary(TypeKind::Binary, b"ab"), "0ffe026162", "\"base64:type254:YWI=\"", "BLOB"),
        (bits, "0f10020101", "\"base64:type16:AQE=\"", "BIT"),
        (year, "06e407", "2020", "UNSIGNED INTEGER"),
        (array([Boolean(true), Int(1)]), "0202000a00040100050100", "[true, 1]", "ARRAY"),
    ]
}

#[test]
fn documents_have_the_bytes_of_mysql() {
    for (built, bytes, shown_as, type_name) in images() {
        let document = built.encode().unwrap();
        assert_eq!(hex(&document), bytes, "{shown_as}");
        assert_eq!(shown(&built), shown_as);
        let node = Node::of(&document);
        assert_eq!(node.type_name(), type_name);
        assert_eq!(node.to_document(), document);
        assert!(is_sound(&document), "{shown_as}");
        assert_eq!(
            Built::Kept(node).opened(&mut Steps::new(&Unwatched)).unwrap().encode().unwrap(),
            document
        );
    }
    let long = text(&"x".repeat(130)).encode().unwrap();
    assert_eq!((long.len(), hex(&long[..4])), (133, "0c820178".to_owned()));
}

#[test]
fn doubles_print_as_in_json() {
    for (number, expected) in [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e14, "100000000000000.0"),
        (1e15, "1e15"),
        (1e16, "1e16"),
        (1e20, "1e20"),
        (0.00001, "0.00001"),
        (1.5e-7, "0.00000015"),
        (1e-16, "1e-16"),
        (1.2345678901234567e-5, "0.000012345678901234568"),
        (123456789012345678.0, "1.2345678901234568e17"),
        (2222222221777778.0 + 0.25, "2222222221777778.2"),
        (f64::MAX, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
        (f64::from(1.1f32), "1.100000023841858"),
    ] {
        assert_eq!(shown(&Built::Double(number)), expected);
    }
}

#[test]
fn texts_are_quoted() {
    let odd = "\0\u{1}\u{8}\t\n\u{c}\r\u{1f} \"\\/\u{7f}\u{e9}\u{1f600}";
    let expected = "\"\\u0000\\u0001\\b\\t\\n\\f\\r\\u001f \\\"\\\\/\u{7f}\u{e9}\u{1f600}\"";
    assert_eq!(shown(&text(odd)), expected);
    assert_eq!(shown(&binary(TypeKind::Blob, b"abc")), "\"base64:type252:YWJj\"");
    assert_eq!(shown(&binary(TypeKind::Blob, b"abcd")), "\"base64:type252:YWJjZA==\"");
    assert_eq!(shown(&time(true)), "\"-10:11:12.500000\"");
}

#[test]
fn pretty_text() {
    let inner = object([("a", array([Built::Int(1), object([("b", Built::Int(2))])])), ("c", object([]))]);
    let document = array([Built::Int(1), array([]), object([]), inner]).encode().unwrap();
    let mut out = Vec::new();
    assert_eq!(print_pretty(Node::of(&document), &mut out, u64::MAX, &Unwatched), Ok(true));
    assert_eq!(print_pretty(Node::of(&document), &mut Vec::new(), 2, &Unwatched), Ok(false));
    let expected = "[\n  1,\n  [],\n  {},\n  {\n    \"a\": [\n      1,\n      {\n        \"b\": 2\n      }\n    ],\n    \"c\": {}\n  }\n]";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn sql_values_become_json() {
    let latin1 = charset::collation_by_name("latin1_swedish_ci").unwrap().id;
    let members = vec![b"x".to_vec(), b"\xe9".to_vec()];
    for (value, column_type, expected) in [
        (Value::Null, ColumnType::null(), "null"),
        (Value::UInt(2), ColumnType::enumeration(members.clone(), latin1), "\"\u{e9}\""),
        (Value::UInt(3), ColumnType::set(members, latin1), "\"x,\u{e9}\""),
        (Value::Bytes(b"\xe9".to_vec()), ColumnType::varchar(3, latin1), "\"\u{e9}\""),
        (Value::Float(1.1), ColumnType::new(TypeKind::Float), "1.100000023841858"),
        (Value::UInt(1), ColumnType::big_int_unsigned(), "1"),
        (Value::Decimal(Decimal::parse(b"1.239").number), ColumnType::decimal(10, 2), "1.24"),
        (Value::Bytes(vec![0xff]), ColumnType::varchar(3, CollationId::UTF8MB4_BIN), "\"?\""),
    ] {
        assert_eq!(shown(&of(value, column_type)), expected);
    }
    let truth = scalar(Value::Int(1).as_ref(), &ColumnType::big_int(), true).unwrap();
    assert_eq!(shown(&truth), "true");
}

/// Small containers reach to 65,535 bytes; MySQL's JSON_STORAGE_SIZE of `["aa.."]` and of what lies in a large array.
#[test]
fn containers_become_large() {
    let letters = |count: usize| text(&"a".repeat(count));
    let bytes = |built: Built<'_>| built.encode().unwrap().len();
    for (count, size) in [(65524, 65535), (65525, 65536), (65526, 65543), (65536, 65553)] {
        assert_eq!(bytes(array([letters(count)])), size);
    }
    assert_eq!(bytes(array([letters(65525), Built::Int(1), Built::Int(70000)])), 65552);
    let small = || array([Built::Int(1)]);
    let mixed =
        array([letters(70000), small(), Built::Int(1), Built::Int(70000), array([Built::Int(70000)])]);
    let document = mixed.encode().unwrap();
    assert_eq!(document.len(), 70055);
    assert!(is_sound(&document));
    let Node::Array(elements) = Node::of(&document) else { panic!("no array") };
    assert!(matches!(elements.get(3), Some(Node::Int(70000))));
    assert_eq!(elements.get(1).unwrap().to_document(), small().encode().unwrap());
    assert!(elements.get(5).is_none());
}

#[test]
fn large_objects_find_their_keys() {
    let key = |number: usize| Cow::Owned(format!("key{}", number * 7919 % 20_000).into_bytes());
    let pairs = (0..20_000).map(|number| (key(number), Built::Int(number as i64))).collect();
    let document = Built::Object(Members::from_pairs(pairs)).encode().unwrap();
    assert!(is_sound(&document));
    let Node::Object(object) = Node::of(&document) else { panic!("no object") };
    assert_eq!(object.len(), 20_000);
    for number in 0..20_000 {
        let found = object.get(&key(number));
        assert!(matches!(found, Some(Node::Int(value)) if value == number as i64));
    }
    assert!(object.get(b"key").is_none() && object.get(b"key20000").is_none());
}

#[test]
fn depth_and_keys_have_limits() {
    let nested = |levels: usize| (1..levels).fold(array([]), |inner, _| array([inner]));
    let deepest = nested(DEPTH_MAX).encode().unwrap();
    assert_eq!(Node::of(&deepest).depth(&mut Steps::new(&Unwatched)), Ok(100));
    assert!(is_sound(&deepest));
    assert_eq!(nested(DEPTH_MAX + 1).encode().unwrap_err().number(), 3157);
    let kept = Built::Array(vec![Built::Kept(Node::of(&deepest))]);
    assert_eq!(kept.encode().unwrap_err().number(), 3157);
    let almost = nested(DEPTH_MAX - 1).encode().unwrap();
    let kept = Built::Array(vec![Built::Kept(Node::of(&almost))]);
    assert_eq!(kept.encode().unwrap(), deepest);
    let keyed = |bytes: usize| {
        Built::Object(Members::from_sorted(vec![(Cow::Owned(vec![b'k'; bytes]), Built::Null)])).encode()
    };
    assert!(is_sound(&keyed(KEY_BYTES_MAX).unwrap()));
    assert_eq!(keyed(KEY_BYTES_MAX + 1).unwrap_err().number(), 3151);
}

#[test]
fn members_are_changed() {
    let mut members = Members::new();
    for key in ["b", "aa", "a", "b"] {
        members.insert(key.as_bytes(), text(key));
    }
    members.insert(&b"b"[..], Built::Int(7));
    let removed = members.remove(b"a");
    assert!(removed.is_some() && members.remove(b"a").is_none());
    *members.get_mut(b"aa").unwrap() = Built::Null;
    assert_eq!(shown(&Built::Object(members)), "{\"b\": 7, \"aa\": null}");
    let twice = object([("b", Built::Int(1)), ("a", Built::Int(2)), ("b", Built::Int(3))]);
    assert_eq!(shown(&twice), "{\"a\": 2, \"b\": 3}");
}

/// Documents in the order of their numbers in [`ORDER`].
fn ordered_documents() -> Vec<Built<'static>> {
    use Built::{Boolean, Double, Int, Null, UInt};
    let one = || array([Int(1)]);
    let bits = of(Value::UInt(257), ColumnType::bit(9));
    let at_midnight = |day| moment(TypeKind::DateTime, day, (0, 0, 0, 0));
    vec![
        Null,
        Int(-1),
        Int(0),
        Double(-0.0),
        Int(1),
        Double(1.0),
        decimal("1.10"),
        decimal("1.1000000000"),
        Double(1.1),
        UInt(u64::MAX),
        Double(1.8446744073709552e19),
        UInt(9007199254740993),
        Double(9007199254740992.0),
        Double(1e300),
        Double(-1e300),
        decimal("99999999999999999999999999.5"),
        text(""),
        text("a"),
        text("A"),
        text("ab"),
        text("\u{e9}"),
        object([]),
        object([("a", Int(1))]),
        object([("a", Double(1.0))]),
        object([("a", Int(2))]),
        object([("b", Int(0))]),
        object([("aa", Int(0))]),
        object([("a", Int(1)), ("b", Int(2))]),
        object([("a", Int(2)), ("c", Int(0))]),
        object([("a", Int(0)), ("bb", Int(9))]),
        array([]),
        one(),
        array([Int(1), Int(2)]),
        array([Int(2)]),
        array([Double(1.0)]),
        array([text("a")]),
        array([array([])]),
        array([Null]),
        array([object([])]),
        Boolean(false),
        Boolean(true),
        date(2),
        date(3),
        time(false),
        time(true),
        at_midnight(2),
        at_midnight(3),
        binary(TypeKind::VarBinary, b"AB"),
        binary(TypeKind::VarBinary, b"A"),
        binary(TypeKind::VarBinary, b"B"),
        binary(TypeKind::VarBinary, b"\x05"),
        Int(1),
        bits,
        binary(TypeKind::Binary, b"ab"),
        binary(TypeKind::VarBinary, b"ab"),
        binary(TypeKind::Blob, b"ab"),
        binary(TypeKind::TinyBlob, b"ab"),
        binary(TypeKind::LongBlob, b"ab"),
        binary(TypeKind::MediumBlob, b"ab"),
        moment(TypeKind::Timestamp, 2, (3, 4, 5, 6)),
    ]
}

/// MySQL's answer for each document with each other one.
const ORDER: [&str; 60] = [
    "=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    ">=<<<<<<<<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    ">>==<<<<<<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    ">>==<<<<<<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    ">>>>==<<<<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<=<<<<<<<<",
    ">>>>==<<<<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<=<<<<<<<<",
    ">>>>>>===<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>===<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>===<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>=<>><><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>=>><><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>><<=><><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>><<<=<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>=>><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    "><<<<<<<<<<<<<=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    ">>>>>>>>>>>>><>=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>=><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>><=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>=<<<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>==<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>==<<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>=<<<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>=><<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>><=<<<<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>=<><<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>=><<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>><<=<<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<<<<<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<=<<><<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<><<><<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=><<><<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<=<<><<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<><<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=>><<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><<<<<<=<<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><>=<<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=><<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><=<<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<<><<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<<<<><<<<<<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=><>><<<<<<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><=<>><<<<<<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=>><<<<<<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><<<=><<<<<<<>",
    ">>>>==<<<<<<<<><<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<=<<<<<<<<",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=<><<<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>=>>>>>>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><<=<<<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><>=>>>>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><><=<<>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><><>=>>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><><><=>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>><<<<<><<<<<<<=",
];

/// The numbers of the documents in MySQL's `ORDER BY document, number`.
const SORTED: [usize; 60] = [
    0, 14, 1, 2, 3, 4, 5, 51, 6, 7, 8, 12, 11, 9, 10, 15, 13, 16, 18, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27,
    28, 29, 30, 31, 33, 34, 35, 36, 37, 38, 32, 39, 40, 41, 42, 44, 43, 45, 59, 46, 50, 48, 47, 49, 54, 52,
    56, 58, 57, 55, 53,
];

#[test]
fn documents_order_as_in_mysql() {
    let documents: Vec<Vec<u8>> =
        ordered_documents().iter().map(|document| document.encode().unwrap()).collect();
    assert_eq!(documents.len(), ORDER.len());
    for (a, row) in documents.iter().zip(ORDER) {
        let compared = |b: &Vec<u8>| match compare(Node::of(a), Node::of(b)) {
            Ordering::Less => '<',
            Ordering::Equal => '=',
            Ordering::Greater => '>',
        };
        assert_eq!(documents.iter().map(compared).collect::<String>(), row);
        for b in &documents {
            let key = |document| {
                let mut key = Vec::new();
                group_key(Node::of(document), &mut key, &mut Steps::new(&Unwatched)).unwrap();
                key
            };
            assert_eq!(key(a) == key(b), compared(b) == '=');
        }
    }
    let mut sorted: Vec<usize> = (0..documents.len()).collect();
    sorted.sort_by_key(|&number| {
        let mut key = Vec::new();
        sort_key(Node::of(&documents[number]), &mut key);
        key
    });
    assert_eq!(sorted, SORTED);
}

/// A double counts as the decimal number that it is shown as.
#[test]
fn numbers_compare_exactly() {
    use Built::{Double, Int, UInt};
    for (a, b, expected) in [
        (Int(4611686018427387904), Double(4611686018427387904.0), Ordering::Less),
        (Int(4611686018427388000), Double(4611686018427387904.0), Ordering::Equal),
        (UInt(1 << 63), Double(9223372036854775808.0), Ordering::Less),
        (UInt(9223372036854776000), Double(9223372036854775808.0), Ordering::Equal),
        (decimal("0.00"), Double(1e-35), Ordering::Less),
        (decimal("0.0"), Double(-1e-35), Ordering::Greater),
        (decimal("0.000000000000000000000000000001"), Double(1.4e-30), Ordering::Less),
        (decimal("0.1000000000000000055511151231257"), Double(0.1), Ordering::Greater),
        (decimal(&"9".repeat(65)), Double(1e65), Ordering::Less),
        (decimal("123456789012345.12"), Double(123456789012345.0 + 0.125), Ordering::Equal),
        (decimal("123456789012345.125"), Double(123456789012345.0 + 0.125), Ordering::Greater),
    ] {
        let (a, b) = (a.encode().unwrap(), b.encode().unwrap());
        assert_eq!(compare(Node::of(&a), Node::of(&b)), expected);
        assert_eq!(compare(Node::of(&b), Node::of(&a)), expected.reverse());
    }
}

#[test]
fn members_of_texts_are_put_in_order_and_the_last_of_a_key_stays() {
    // Sizes on both sides of 64 KiB, with numbers of all widths and texts between them.
    for count in [3usize, 700, 900, 40_000] {
        let values = ["1", "70000", "\"x\"", "[1,70000]", "5000000000"];
        let member = |n: usize, value: &str| format!("\"k{n}\":{value}");
        let mut members: Vec<String> = (0..count).rev().map(|n| member(n, values[n % 5])).collect();
        members.extend((0..count).step_by(3).map(|n| member(n, "\"last\"")));
        let document = read(format!("{{{}}}", members.join(",")).as_bytes(), &Unwatched).unwrap();
        assert!(is_sound(&document));
        let Node::Object(object) = Node::of(&document) else { panic!("an object") };
        assert_eq!(object.len(), count);
        let mut printed = Vec::new();
        print(object.get(b"k0").unwrap(), &mut printed);
        print(object.get(format!("k{}", count - 1).as_bytes()).unwrap(), &mut printed);
        let last = if (count - 1) % 3 == 0 { "\"last\"" } else { values[(count - 1) % 5] };
        assert_eq!(String::from_utf8(printed).unwrap(), format!("\"last\"{}", last.replace(',', ", ")));
    }
}

#[test]
fn long_work_ends_when_its_watch_says_so() {
    struct Ended;
    impl Watch for Ended {
        fn go_on(&self, _bytes: usize) -> SqlResult<()> {
            Err(sql_error!(ER_QUERY_INTERRUPTED))
        }
    }
    let ended = || sql_error!(ER_QUERY_INTERRUPTED);
    let numbers = format!("[{}1]", "1,".repeat(50_000));
    let texts = [
        numbers.clone(),
        format!("\"{}\"", "a".repeat(100_000)),
        format!("\"{}\"", "\\n".repeat(100_000)),
        format!("[{}1]", " ".repeat(100_000)),
        format!("[{}1]", "[],".repeat(50_000)),
        format!("{{{}\"a\":1}}", "\"b\":1,".repeat(50_000)),
    ];
    for text in texts {
        assert_eq!(read(text.as_bytes(), &Ended), Err(TextError::Failed(ended())), "{}", &text[..10]);
    }
    let document = read(numbers.as_bytes(), &Unwatched).unwrap();
    let node = Node::of(&document);
    assert_eq!(print_watched(node, &mut Vec::new(), &Ended), Err(ended()));
    assert_eq!(print_pretty(node, &mut Vec::new(), u64::MAX, &Ended), Err(ended()));
    assert_eq!(group_key(node, &mut Vec::new(), &mut Steps::new(&Ended)), Err(ended()));
    assert_eq!(compare_watched(node, node, &mut Steps::new(&Ended)), Err(ended()));
    assert_eq!(node.depth(&mut Steps::new(&Ended)), Err(ended()));
    assert_eq!(Built::Array(vec![Built::Kept(node)]).encode_within(u64::MAX, &Ended), Err(ended()));
    assert!(Built::Kept(node).opened(&mut Steps::new(&Ended)).is_err());
    assert!(Steps::new(&Ended).sort(&mut Vec::from_iter(0..100_000), |a, b| b.cmp(a)).is_err());
    assert_eq!(Built::Kept(node).encode_within(1000, &Unwatched).map_err(|error| error.number()), Err(1301));
}
