//! Laws that hold for all documents, and texts of all kinds that must not end in a panic.

use errors::{SqlResult, sql_error};
use json::{Cell, Leg, Path, Setting};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::borrow::Cow;
use values::json::{
    Built, Members, Node, Steps, Unwatched, Watch, compare, parse, print, print_pretty, read,
};

/// Ended at its first question.
struct Ended;

impl Watch for Ended {
    fn go_on(&self, _bytes: usize) -> SqlResult<()> {
        Err(sql_error!(ER_QUERY_INTERRUPTED))
    }
}

fn find<'d>(document: Node<'d>, path: &Path) -> Vec<Node<'d>> {
    json::find(document, path, &Unwatched).expect("nobody ends it")
}

fn overlaps(a: Node<'_>, b: Node<'_>) -> bool {
    json::overlaps(a, b, &Unwatched) == Ok(true)
}

fn contains(target: Node<'_>, candidate: Node<'_>) -> bool {
    json::contains(target, candidate, &Unwatched) == Ok(true)
}

/// The value that a path leads to, where no value is taken as an array of itself.
fn first_unwrapped<'d>(document: Node<'d>, path: &Path) -> Option<Node<'d>> {
    path.legs().iter().try_fold(document, |node, leg| match (node, leg) {
        (Node::Object(object), Leg::Member(key)) => object.get(key),
        (Node::Array(array), Leg::Cell(cell)) => array.get(cell.position(array.len())?),
        _ => None,
    })
}

fn steps() -> Steps<'static> {
    Steps::new(&Unwatched)
}

fn merge_patch<'d>(target: Built<'d>, patch: Node<'d>) -> Built<'d> {
    json::merge_patch(target, patch, &mut steps()).expect("nobody ends it")
}

fn merge_preserve<'d>(left: Built<'d>, right: Built<'d>) -> Built<'d> {
    json::merge_preserve(left, right, &mut steps()).expect("nobody ends it")
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just("a".to_owned()), Just("b".to_owned()), ".{0,4}"].prop_map(String::into_bytes)
}

fn scalar() -> impl Strategy<Value = Built<'static>> {
    prop_oneof![
        Just(Built::Null),
        any::<bool>().prop_map(Built::Boolean),
        any::<i64>().prop_map(Built::Int),
        // Text has unsigned integers only beyond the signed ones.
        (1u64 << 63..=u64::MAX).prop_map(Built::UInt),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Built::Double),
        ".{0,8}".prop_map(|text| Built::String(Cow::Owned(text.into_bytes()))),
    ]
}

fn value() -> impl Strategy<Value = Built<'static>> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Built::Array),
            btree_map(key(), inner, 0..5).prop_map(|members| {
                let pairs = members.into_iter().map(|(key, value)| (Cow::Owned(key), value));
                Built::Object(Members::from_pairs(pairs.collect()))
            }),
        ]
    })
}

fn document() -> impl Strategy<Value = Vec<u8>> {
    value().prop_map(|value| value.encode().expect("a small document"))
}

fn leg() -> impl Strategy<Value = Leg> {
    let cell = (0..3u32, any::<bool>()).prop_map(|(distance, is_from_end)| Cell { distance, is_from_end });
    prop_oneof![
        key().prop_map(Leg::Member),
        cell.clone().prop_map(Leg::Cell),
        Just(Leg::AnyMember),
        Just(Leg::AnyCell),
        Just(Leg::Descendants),
        (cell.clone(), 0..3u32)
            .prop_map(|(from, more)| Leg::Range(from, Cell { distance: from.distance + more, ..from }))
            .prop_filter("ascending", |leg| !matches!(leg, Leg::Range(from, _) if from.is_from_end)),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    // A path does not end with `**`.
    let last = leg().prop_filter("an end", |leg| *leg != Leg::Descendants);
    (vec(leg(), 0..4), last).prop_map(|(mut legs, last)| {
        legs.push(last);
        Path::of(legs)
    })
}

fn printed(node: Node<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    print(node, &mut out);
    out
}

fn encoded(built: &Built<'_>) -> Vec<u8> {
    built.encode().expect("a small document")
}

/// The places that the path's steps lead to one after another, by the definition of paths; for the order and the number of
/// results. Each value is known by its own way from the root.
fn places_by_definition<'d>(document: Node<'d>, path: &Path) -> Vec<Vec<usize>> {
    let children = |node: Node<'d>| -> Vec<(Option<Vec<u8>>, Node<'d>)> {
        match node {
            Node::Array(array) => array.iter().map(|node| (None, node)).collect(),
            Node::Object(object) => object.iter().map(|(key, node)| (Some(key.to_vec()), node)).collect(),
            _ => Vec::new(),
        }
    };
    fn below<'d>(
        node: Node<'d>,
        way: Vec<usize>,
        children: &dyn Fn(Node<'d>) -> Vec<(Option<Vec<u8>>, Node<'d>)>,
        out: &mut Vec<(Vec<usize>, Node<'d>)>,
    ) {
        out.push((way.clone(), node));
        for (position, (_, child)) in children(node).into_iter().enumerate() {
            below(child, [way.clone(), vec![position]].concat(), children, out);
        }
    }
    let mut reached = vec![(Vec::new(), document)];
    for leg in path.legs() {
        let mut next: Vec<(Vec<usize>, Node<'d>)> = Vec::new();
        for (way, node) in reached {
            let all = children(node);
            let length = if matches!(node, Node::Array(_)) { all.len() } else { 1 };
            let place = |cell: &Cell| match cell.is_from_end {
                true => length as i64 - 1 - i64::from(cell.distance),
                false => i64::from(cell.distance),
            };
            let wanted: Box<dyn Fn(i64) -> bool> = match leg {
                Leg::Cell(cell) => {
                    let wanted = place(cell);
                    Box::new(move |position| position == wanted)
                }
                Leg::Range(from, to) => {
                    let (from, to) = (place(from), place(to));
                    Box::new(move |position| from <= position && position <= to)
                }
                _ => Box::new(|_| true),
            };
            match (leg, node) {
                (Leg::Descendants, _) => below(node, way, &children, &mut next),
                (Leg::Cell(_) | Leg::Range(..) | Leg::AnyCell, Node::Array(_))
                | (Leg::AnyMember | Leg::Member(_), Node::Object(_)) => {
                    for (position, (key, child)) in all.into_iter().enumerate() {
                        let is_named = !matches!(leg, Leg::Member(name) if key.as_ref() != Some(name));
                        if is_named && wanted(position as i64) {
                            next.push(([way.clone(), vec![position]].concat(), child));
                        }
                    }
                }
                (Leg::Cell(_) | Leg::Range(..), _) if wanted(0) => next.push((way, node)),
                _ => (),
            }
        }
        reached = Vec::new();
        for one in next {
            if !reached.iter().any(|(way, _)| *way == one.0) {
                reached.push(one);
            }
        }
    }
    reached.into_iter().map(|(way, _)| way).collect()
}

/// The value at a way of positions.
fn at<'d>(document: Node<'d>, way: &[usize]) -> Node<'d> {
    way.iter().fold(document, |node, position| match node {
        Node::Array(array) => array.get(*position).expect("an element"),
        Node::Object(object) => object.entry(*position).expect("a member").1,
        _ => panic!("no container"),
    })
}

proptest! {
    #[test]
    fn printed_documents_are_parsed_to_the_same_bytes(document in document()) {
        let node = Node::of(&document);
        prop_assert_eq!(&parse(&printed(node), 1, "test", &Unwatched).expect("a text"), &document);
        let mut pretty = Vec::new();
        prop_assert_eq!(print_pretty(node, &mut pretty, u64::MAX, &Unwatched), Ok(true));
        prop_assert_eq!(&parse(&pretty, 1, "test", &Unwatched).expect("a text"), &document);
    }

    #[test]
    fn texts_do_not_panic(text in vec(any::<u8>(), 0..40), json in "[\\[\\]{}\",:\\\\u0-9eE.+ntrufalsd-]{0,40}") {
        for text in [text.as_slice(), json.as_bytes()] {
            if let Ok(document) = read(text, &Unwatched) {
                prop_assert!(values::json::is_sound(&document));
            }
            let _ = json::unquote(text, &Unwatched);
            let _ = Path::parse(text);
        }
    }

    #[test]
    fn paths_do_not_panic(legs in "\\$([.\\[\\]*\"\\\\u 0-9alosté-]|to|last|\\*\\*|\\[1 to 2\\]){0,12}", document in document()) {
        if let Ok(path) = Path::parse(legs.as_bytes()) {
            prop_assert_eq!(&Path::parse(path.to_string().as_bytes()).expect("a printed path"), &path);
            prop_assert_eq!(find(Node::of(&document), &path).is_empty(), json::first(Node::of(&document), &path, &Unwatched).expect("nobody ends it").is_none());
        }
    }

    #[test]
    fn damaged_documents_do_not_panic(document in vec(any::<u8>(), 0..60), path in path(), other in document()) {
        let (damaged, other) = (Node::of(&document), Node::of(&other));
        let _ = find(damaged, &path);
        let _ = contains(damaged, other) || contains(other, damaged) || overlaps(damaged, other);
        let _ = merge_patch(merge_preserve(Built::Kept(damaged), Built::Kept(other)), damaged).encode();
        let _ = json::schema_check(damaged, other, "test", &|_, _| Some(true), &Unwatched);
        let _ = json::schema_check(other, damaged, "test", &|_, _| Some(true), &Unwatched);
    }

    #[test]
    fn paths_are_printed_as_they_are_read(path in path()) {
        prop_assert_eq!(&Path::parse(path.to_string().as_bytes()).expect("a printed path"), &path);
    }

    #[test]
    fn find_follows_the_definition(document in document(), path in path()) {
        let root = Node::of(&document);
        let found: Vec<Vec<u8>> = find(root, &path).into_iter().map(printed).collect();
        let expected: Vec<Vec<u8>> =
            places_by_definition(root, &path).iter().map(|way| printed(at(root, way))).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn what_is_set_is_there(document in document(), path in path(), value in value()) {
        if path.is_single() {
            let mut tree = Built::Kept(Node::of(&document));
            let is_written = json::set(&mut tree, &path, value.clone(), Setting::Both, &mut steps()).expect("nobody ends it");
            let (changed, value) = (encoded(&tree), encoded(&value));
            let found = json::first(Node::of(&changed), &path, &Unwatched).expect("nobody ends it").map(Node::to_document);
            // A cell outside its array goes to the nearer end, and one of a scalar may make an array of it.
            let is_exact = matches!(path.legs().last(), Some(Leg::Member(_)))
                || first_unwrapped(Node::of(&document), &path).is_some();
            match (is_written, is_exact) {
                (true, true) => prop_assert_eq!(found, Some(value)),
                (true, false) => prop_assert!(matches!(path.legs().last(), Some(Leg::Cell(_)))),
                (false, _) => prop_assert_eq!(changed, document),
            }
        }
    }

    #[test]
    fn a_new_member_is_taken_out_again(document in document(), value in value()) {
        let path = Path::parse(b"$.\"a new key\"").expect("a path");
        let mut tree = Built::Kept(Node::of(&document));
        if json::set(&mut tree, &path, value, Setting::New, &mut steps()).expect("nobody ends it") {
            prop_assert!(json::remove(&mut tree, &path, &mut steps()).expect("a path with steps"));
        }
        prop_assert_eq!(encoded(&tree), document);
    }

    #[test]
    fn patches_are_idempotent(target in document(), patch in document()) {
        let (target, patch) = (Node::of(&target), Node::of(&patch));
        let once = encoded(&merge_patch(Built::Kept(target), patch));
        let twice = encoded(&merge_patch(Built::Kept(Node::of(&once)), patch));
        prop_assert_eq!(&once, &twice);
        let empty = parse(b"{}", 1, "test", &Unwatched).expect("a text");
        if let Node::Object(_) = target {
            prop_assert_eq!(encoded(&merge_patch(Built::Kept(target), Node::of(&empty))), target.to_document());
        }
    }

    #[test]
    fn values_contain_themselves(a in document(), b in document()) {
        let (a, b) = (Node::of(&a), Node::of(&b));
        prop_assert!(contains(a, a));
        prop_assert_eq!(overlaps(a, b), overlaps(b, a));
        if json::is_member(a, b, &Unwatched).expect("nobody ends it") {
            prop_assert!(contains(b, a));
            if let Node::Array(_) = b {
                prop_assert!(matches!(a, Node::Array(_)) || overlaps(a, b));
            }
        }
        let merged = encoded(&merge_preserve(Built::Kept(a), Built::Kept(b)));
        match (a, b) {
            (Node::Object(_), Node::Object(_)) => prop_assert!(contains(Node::of(&merged), a)),
            _ => {
                let Node::Array(merged) = Node::of(&merged) else { panic!("an array") };
                let count = |node| if matches!(node, Node::Array(_)) { json::length(node) } else { 1 };
                prop_assert_eq!(merged.len(), count(a) + count(b));
            }
        }
        prop_assert!(compare(a, a).is_eq());
    }
}

#[test]
fn long_inputs_take_neither_stack_nor_quadratic_time() {
    let legs = "[0]".repeat(200_000) + &"**[0]".repeat(50);
    let path = Path::parse(format!("${legs}").as_bytes()).expect("a path");
    let whole = parse(b"[[[1]],2]", 1, "test", &Unwatched).expect("a text");
    assert_eq!(find(Node::of(&whole), &path).len(), 1);

    let numbers = |from: usize| (from..from + 60_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let (a, b) = (format!("[{}]", numbers(0)), format!("[{}]", numbers(60_000)));
    let (a, b) = (
        parse(a.as_bytes(), 1, "test", &Unwatched).expect("a text"),
        parse(b.as_bytes(), 1, "test", &Unwatched).expect("a text"),
    );
    assert!(!overlaps(Node::of(&a), Node::of(&b)));
    assert!(contains(Node::of(&a), Node::of(&a)));
    assert_eq!(json::overlaps(Node::of(&a), Node::of(&b), &Ended), Err(sql_error!(ER_QUERY_INTERRUPTED)));
    assert!(json::find(Node::of(&a), &Path::parse(b"$[*]").expect("a path"), &Ended).is_err());

    let members = |from: usize| {
        let members: Vec<String> = (from..from + 60_000).rev().map(|n| format!("\"k{n}\":{n}")).collect();
        parse(format!("{{{}}}", members.join(",")).as_bytes(), 1, "test", &Unwatched).expect("a text")
    };
    let (a, b) = (members(0), members(30_000));
    for merged in [
        merge_preserve(Built::Kept(Node::of(&a)), Built::Kept(Node::of(&b))),
        merge_patch(Built::Kept(Node::of(&a)), Node::of(&b)),
    ] {
        assert_eq!(json::length(Node::of(&encoded(&merged))), 90_000);
    }
}
