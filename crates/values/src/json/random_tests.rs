//! Random trees and random bytes: what is written is read, orders and keys agree, and no bytes lead to a panic.

use super::*;
use crate::decimal::Decimal;
use proptest::prelude::*;
use std::borrow::Cow;
use std::cmp::Ordering;

fn number() -> impl Strategy<Value = Built<'static>> {
    let near = prop_oneof![any::<i64>(), -3i64..3, Just(1 << 53), Just((1 << 53) + 1), Just(1 << 62)];
    prop_oneof![
        near.clone().prop_map(Built::Int),
        near.clone().prop_map(|number| Built::UInt(number.unsigned_abs())),
        near.clone().prop_map(|number| Built::Double(number as f64)),
        any::<f64>().prop_filter("number", |number| number.is_finite()).prop_map(Built::Double),
        (near, 0u8..30).prop_map(|(unscaled, scale)| decimal(unscaled, scale)),
    ]
}

fn decimal(unscaled: i64, scale: u8) -> Built<'static> {
    let number = Decimal::from_i128(i128::from(unscaled) * 1_000_000_007, scale).unwrap();
    Built::Opaque { type_code: 0xf6, bytes: Cow::Owned(super::opaque::decimal_bytes(&number)) }
}

fn leaf() -> impl Strategy<Value = Built<'static>> {
    // Some span, date, and date with a time.
    let temporal = prop::sample::select(vec![
        (11, 0xa2_cc07_a120_u64),
        (11, 0xa2_cc07_a120_u64.wrapping_neg()),
        (10, 0x19a5_4400_0000_0000),
        (10, 0x19a5_4600_0000_0000),
        (12, 0x19a5_4400_0000_0000),
        (12, 0x19a5_4431_0500_0006),
        (7, 0x19a5_4431_0500_0006),
    ]);
    prop_oneof![
        Just(Built::Null),
        any::<bool>().prop_map(Built::Boolean),
        number(),
        ".{0,6}".prop_map(|text| Built::String(Cow::Owned(text.into_bytes()))),
        temporal.prop_map(|(type_code, packed)| {
            Built::Opaque { type_code, bytes: Cow::Owned(packed.to_le_bytes().to_vec()) }
        }),
        (prop::sample::select(vec![15u8, 16, 252]), prop::collection::vec(any::<u8>(), 0..4))
            .prop_map(|(type_code, bytes)| Built::Opaque { type_code, bytes: Cow::Owned(bytes) }),
    ]
}

fn tree() -> impl Strategy<Value = Built<'static>> {
    leaf().prop_recursive(5, 60, 6, |inner| {
        let key = "[a-c]{0,2}".prop_map(|key| Cow::Owned(key.into_bytes()));
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Built::Array),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|pairs| Built::Object(Members::from_pairs(pairs))),
        ]
    })
}

fn is_same(built: &Built<'_>, node: Node<'_>) -> bool {
    match (built, node) {
        (Built::Null, Node::Null) => true,
        (Built::Boolean(a), Node::Boolean(b)) => *a == b,
        (Built::Int(a), Node::Int(b)) => *a == b,
        (Built::UInt(a), Node::UInt(b)) => *a == b,
        (Built::Double(a), Node::Double(b)) => a.to_bits() == b.to_bits(),
        (Built::String(a), Node::String(b)) => a.as_ref() == b,
        (Built::Opaque { type_code, bytes }, Node::Opaque(b)) => {
            *type_code == b.type_code && bytes.as_ref() == b.bytes
        }
        (Built::Array(a), Node::Array(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| is_same(a, b))
                && a.iter().enumerate().all(|(at, a)| b.get(at).is_some_and(|b| is_same(a, b)))
        }
        (Built::Object(a), Node::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((a_key, a), (b_key, b))| a_key == b_key && is_same(a, b))
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => false,
    }
}

/// Opens all of a document.
fn opened(node: Node<'_>) -> Built<'_> {
    let mut built = Built::Kept(node);
    built.opened(&mut Steps::new(&Unwatched)).unwrap();
    match &mut built {
        Built::Array(elements) => elements.iter_mut().for_each(open_kept),
        Built::Object(members) => members.values_mut().for_each(open_kept),
        _ => {}
    }
    built
}

fn open_kept(built: &mut Built<'_>) {
    if let Built::Kept(node) = *built {
        *built = opened(node);
    }
}

fn group_key_of(document: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    group_key(Node::of(document), &mut key, &mut Steps::new(&Unwatched)).unwrap();
    key
}

fn sort_key_of(document: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    sort_key(Node::of(document), &mut key);
    key
}

/// Everything that is asked of a document.
fn use_all(document: &[u8]) {
    let node = Node::of(document);
    let mut out = Vec::new();
    print(node, &mut out);
    print_pretty(node, &mut out, u64::MAX, &Unwatched).unwrap();
    let _ = (node.depth(&mut Steps::new(&Unwatched)), node.type_name(), compare(node, node));
    let _ = (group_key_of(document), sort_key_of(document), is_sound(document));
    let _ = node.to_document();
    let _ = opened(node).encode();
    match node {
        Node::Array(array) => {
            let _ = (array.get(0), array.get(array.len()));
        }
        Node::Object(object) => {
            let _ = (object.get(b"a"), object.entry(0), object.entry(object.len()));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn trees_are_read_as_they_were_written(built in tree()) {
        let document = built.encode().unwrap();
        prop_assert!(is_same(&built, Node::of(&document)));
        prop_assert!(is_sound(&document));
        prop_assert_eq!(Node::of(&document).to_document(), document.clone());
        prop_assert_eq!(Built::Kept(Node::of(&document)).opened(&mut Steps::new(&Unwatched)).unwrap().encode().unwrap(), document.clone());
        prop_assert_eq!(opened(Node::of(&document)).encode().unwrap(), document.clone());
        let mut out = Vec::new();
        print(Node::of(&document), &mut out);
        prop_assert!(String::from_utf8(out).is_ok());
    }

    #[test]
    fn the_order_is_total(documents in prop::collection::vec(prop_oneof![tree(), number(), leaf()], 3)) {
        let documents: Vec<Vec<u8>> = documents.iter().map(|built| built.encode().unwrap()).collect();
        let order = |a: usize, b: usize| compare(Node::of(&documents[a]), Node::of(&documents[b]));
        for (a, b, c) in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)] {
            prop_assert_eq!(order(a, b), order(b, a).reverse());
            prop_assert_eq!(order(a, a), Ordering::Equal);
            if order(a, b).is_le() && order(b, c).is_le() {
                prop_assert!(order(a, c).is_le());
                prop_assert_eq!(order(a, c).is_eq(), order(a, b).is_eq() && order(b, c).is_eq());
            }
            let (x, y) = (&documents[a], &documents[b]);
            prop_assert_eq!(order(a, b).is_eq(), group_key_of(x) == group_key_of(y));
            if Node::of(x).is_scalar() || Node::of(y).is_scalar() {
                prop_assert_eq!(order(a, b), sort_key_of(x).cmp(&sort_key_of(y)));
            }
        }
    }

    #[test]
    fn numbers_order_as_their_keys(a in number(), b in number()) {
        let (a, b) = (a.encode().unwrap(), b.encode().unwrap());
        let order = compare(Node::of(&a), Node::of(&b));
        prop_assert_eq!(order, sort_key_of(&a).cmp(&sort_key_of(&b)));
        prop_assert_eq!(order, group_key_of(&a).cmp(&group_key_of(&b)));
        prop_assert!(sort_key_of(&a).len() <= 38);
    }

    #[test]
    fn damaged_documents_are_read_without_panic(
        built in tree(),
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut document = built.encode().unwrap();
        for (at, byte) in changes {
            let at = at.index(document.len());
            document[at] = byte;
        }
        use_all(&document);
        use_all(&document[..cut.index(document.len())]);
    }

    #[test]
    fn random_bytes_are_read_without_panic(
        code in 0u8..17,
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..20], 0..60),
    ) {
        use_all(&[&[code], bytes.as_slice()].concat());
    }
}

#[test]
fn decimals_of_all_sizes_are_read_as_written() {
    for digits in 1..=65usize {
        for scale in 0..=digits.min(30) {
            let mut text: String = (0..digits).map(|at| char::from(b'1' + (at % 9) as u8)).collect();
            text.insert(digits - scale, '.');
            for text in [text.clone(), format!("-{text}"), text.replace(['1', '2', '3'], "0")] {
                let number = Decimal::parse(text.as_bytes()).number;
                let bytes = super::opaque::decimal_bytes(&number);
                let opaque = Opaque { type_code: 0xf6, bytes: &bytes };
                let Some(crate::Value::Decimal(read)) = opaque.value() else { panic!("{text} is lost") };
                assert_eq!((read, read.scale()), (number, number.scale()), "{text}");
            }
        }
    }
}

/// Entries that point at what other entries point at, or at the container itself, would make a document without end.
#[test]
fn values_that_share_bytes_do_not_multiply() {
    // Each level is an array of two elements that are both the next level.
    let mut document = vec![2u8];
    for level in 0..100u16 {
        let size = 10 * (100 - level) + 4;
        document.extend_from_slice(&[2, 0]);
        document.extend_from_slice(&size.to_le_bytes());
        document.extend_from_slice(&[2, 10, 0, 2, 10, 0]);
    }
    document.extend_from_slice(&[0, 0, 4, 0]);
    use_all(&document);
    assert!(!is_sound(&document));
    // An element that is its own array.
    use_all(&[2, 1, 0, 7, 0, 2, 0, 0]);
    assert!(!is_sound(&[2, 1, 0, 7, 0, 2, 0, 0]));
}

/// A million bytes take milliseconds to write, open and read; quadratic work would take minutes.
#[test]
fn large_documents_take_linear_work() {
    let element = |number: i64| Built::Array(vec![Built::Int(number), Built::Int(number << 20)]);
    let many = Built::Array((0..100_000).map(element).collect());
    let document = many.encode().unwrap();
    assert!(document.len() > 1_000_000 && is_sound(&document));
    assert!(opened(Node::of(&document)).encode().unwrap() == document);
    use_all(&document);
    // Ninety levels around it: each is measured once.
    let nested = (0..90).fold(Built::Kept(Node::of(&document)), |inner, _| Built::Array(vec![inner]));
    assert!(is_sound(&nested.encode().unwrap()));
}
